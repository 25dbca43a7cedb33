#include "pipeline/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace kafscope {

namespace {

// Records of one poll at most: enough to fill frames, few enough that Stop() is heeded soon.
constexpr size_t kPollRecords = 8192;
constexpr std::chrono::milliseconds kIdlePoll{100};
constexpr std::chrono::milliseconds kSchemaWait{10};
// The queue between the threads; a frame larger than its bytes goes through alone.
constexpr size_t kHandoverFrames = 64;
constexpr size_t kHandoverBytes = size_t{8} << 20;
// How long slow subscribers of policy kWait are waited for after Stop().
constexpr std::chrono::milliseconds kStopPatience{1500};

double SecondsSince(int64_t timestamp_ms) {
  return static_cast<double>(std::max<int64_t>(0, NowMs() - timestamp_ms)) / 1000.0;
}

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::Make(Parts parts) {
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Decoder> decoder, MakeDecoder(parts.query.decode));
  return std::unique_ptr<Pipeline>(new Pipeline(std::move(parts), std::move(decoder)));
}

Pipeline::Pipeline(Parts parts, std::unique_ptr<Decoder> decoder)
    : query_(std::move(parts.query)),
      builder_(query_.BuilderOptions()),
      source_(std::move(parts.source)),
      decoder_(std::move(decoder)),
      batcher_(query_.batch),
      fanout_(parts.history, std::move(parts.budget)) {}

Pipeline::~Pipeline() {
  Stop();
  Join();
}

void Pipeline::Start() {
  publish_thread_ = std::thread([this] { Publish(); });
  consume_thread_ = std::thread([this] { Consume(); });
}

void Pipeline::Stop() {
  {
    const std::lock_guard lock(stop_mutex_);
    stopping_.store(true, std::memory_order_release);
  }
  stop_signal_.notify_all();
  source_->Wake();
}

void Pipeline::Join() {
  if (consume_thread_.joinable()) {
    // A subscriber that does not take its frames must not hold up the end for ever.
    std::unique_lock lock(stop_mutex_);
    const bool done = stop_signal_.wait_for(lock, kStopPatience, [this] { return finished(); });
    lock.unlock();
    if (!done && stopping()) fanout_.StopWaiting();
    consume_thread_.join();
  }
  if (publish_thread_.joinable()) publish_thread_.join();
}

// --- consume thread ---

void Pipeline::Consume() {
  const Status status = ConsumeUntilEnd();
  TakeEvents();
  Seal();
  HandOver({{}, {}, status});
}

Status Pipeline::ConsumeUntilEnd() {
  ConsumerRecords records;
  while (!stopping() && !source_->AtEnd()) {
    const Clock::time_point deadline = batcher_.Deadline(Clock::now() + kIdlePoll);
    const Status status = source_->Poll(kPollRecords, deadline, &records);
    TakeEvents();
    if (!status.ok()) return status;
    if (!records.empty()) {
      const bool went_on = DecodeRecords(records);
      NoteProgress(records);
      if (!went_on) break;
    }
    SealIfDue(Clock::now());
  }
  return {};
}

// False if the stream was stopped while a record waited for its schema.
bool Pipeline::DecodeRecords(const ConsumerRecords& records) {
  std::span<const ConsumerRecord> rest = records.records();
  while (!rest.empty()) {
    const size_t taken =
        decoder_->Decode(rest.first(batcher_.RecordsAtOnce(rest.size())), records.arrival_ns, builder_);
    rest = rest.subspan(taken);
    SealIfDue(Clock::now());
    if (taken == 0 && decoder_->waiting()) {
      std::unique_lock lock(stop_mutex_);
      if (stop_signal_.wait_for(lock, kSchemaWait, [this] { return stopping(); })) return false;
    }
  }
  return true;
}

void Pipeline::SealIfDue(Clock::time_point now) {
  batcher_.Note(builder_, now);
  if (batcher_.ShouldSeal(builder_, now)) Seal();
}

void Pipeline::Seal() {
  if (builder_.num_rows() == 0) return;
  HandOver({builder_.Finish(), {}, {}});
  batcher_.Sealed();
}

void Pipeline::TakeEvents() {
  for (SourceEvent& event : source_->TakeEvents()) {
    {
      const std::lock_guard lock(mutex_);
      if (event.kind == SourceEvent::Kind::kGap) stats_.gap_records += event.count;
      if (event.kind == SourceEvent::Kind::kRecordSkipped) stats_.skipped_records += std::max<uint64_t>(1, event.count);
      if (event.kind == SourceEvent::Kind::kConnected) ++stats_.reconnects;
    }
    HandOver({{}, std::move(event), {}});
  }
}

void Pipeline::NoteProgress(const ConsumerRecords& records) {
  const ConsumerRecord& last = records.records().back();
  const double age = last.timestamp_ms >= 0 ? SecondsSince(last.timestamp_ms) : 0;
  const std::lock_guard lock(mutex_);
  stats_.received += records.size();
  stats_.decode = decoder_->counters();
  stats_.notes = decoder_->notes();
  newest_ms_ = last.timestamp_ms;
  arrival_age_ = age;
}

void Pipeline::HandOver(Handover item) {
  const size_t bytes = item.frame ? item.frame->byte_size() : 0;
  std::unique_lock lock(mutex_);
  handover_room_.wait(lock, [&] {
    return handovers_.empty() || (handovers_.size() < kHandoverFrames && handover_bytes_ + bytes <= kHandoverBytes);
  });
  if (item.frame) ++stats_.frames;
  handover_bytes_ += bytes;
  handovers_.push_back(std::move(item));
  lock.unlock();
  handover_there_.notify_one();
}

// --- publish thread ---

void Pipeline::Publish() {
  for (;;) {
    Handover item;
    {
      std::unique_lock lock(mutex_);
      handover_there_.wait(lock, [this] { return !handovers_.empty(); });
      item = std::move(handovers_.front());
      handovers_.pop_front();
      if (item.frame) handover_bytes_ -= item.frame->byte_size();
    }
    handover_room_.notify_one();
    if (item.frame) {
      fanout_.Publish(item.frame);
    } else if (item.event) {
      fanout_.PublishEvent(*item.event);
    } else {
      fanout_.Finish(item.end);
      {
        const std::lock_guard lock(stop_mutex_);
        finished_.store(true, std::memory_order_release);
      }
      stop_signal_.notify_all();
      return;
    }
  }
}

StreamStats Pipeline::stats() const {
  std::map<int32_t, PartitionProgress> partitions = source_->Progress();
  const std::lock_guard lock(mutex_);
  StreamStats stats = stats_;
  uint64_t lag = 0;
  bool known = !partitions.empty();
  for (const auto& [id, progress] : partitions) {
    if (progress.log_end_offset < 0 || progress.next_offset < 0) {
      known = false;
    } else {
      lag += static_cast<uint64_t>(std::max<int64_t>(0, progress.log_end_offset - progress.next_offset));
    }
  }
  if (known) stats.lag_records = lag;
  if (newest_ms_ >= 0) stats.lag_seconds = known && lag > 0 ? SecondsSince(newest_ms_) : arrival_age_;
  stats.partitions = std::move(partitions);
  return stats;
}

}  // namespace kafscope
