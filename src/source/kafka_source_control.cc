// The control part of KafkaSource: which partitions are read, from where to where, and what happens when the topic, its
// offsets or the connection change. It runs on the consume thread between reads and never blocks.
#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "base/clock.h"
#include "source/kafka_source.h"
#include "source/last_records.h"

namespace kafscope {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookupTimeout{5000};
constexpr milliseconds kRetry{250};        // between questions that failed
constexpr milliseconds kMissingFor{1500};  // a topic counts as missing: news of a new one travel slowly
constexpr milliseconds kSettled{1000};     // an end counts as reached
constexpr milliseconds kSlice{50};         // longest wait while an answer is due
constexpr size_t kMaxEvents = 1000;        // kept for a viewer that does not take them; then the oldest go

std::string Quoted(const std::string& topic) { return "topic '" + topic + "'"; }

}  // namespace

void KafkaSource::Tell(SourceEvent::Kind kind, std::string message, uint64_t count) {
  const std::lock_guard lock(mutex_);
  if (events_.size() >= kMaxEvents) events_.erase(events_.begin());
  events_.push_back({kind, std::move(message), count});
}

std::vector<int32_t> KafkaSource::Ids(Partition::State state) const {
  std::vector<int32_t> ids;
  for (size_t id = 0; id < partitions_.size(); ++id) {
    if (chosen_[id] && partitions_[id].state == state) ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

milliseconds KafkaSource::WaitSlice(Clock::time_point now, Clock::time_point deadline) const {
  Clock::time_point until = std::min(deadline, next_describe_);
  if (lookup_->outstanding() > 0 || phase_ != Phase::kReading) until = std::min(deadline, now + kSlice);
  if (until <= now) return milliseconds(0);
  return std::chrono::ceil<milliseconds>(until - now);
}

Status KafkaSource::Control(Clock::time_point now) {
  while (lookup_->outstanding() > 0) {
    const std::optional<LookupAnswer> answer = lookup_->Next(milliseconds(0));
    if (!answer) break;
    KAFSCOPE_RETURN_IF_ERROR(OnAnswer(*answer, now));
  }
  KAFSCOPE_RETURN_IF_ERROR(NoteConnection());
  if (now < next_describe_) return {};
  if (!describing_) {
    describing_ = true;
    lookup_->Describe(query_.topic, kDescribe, kLookupTimeout);
    if (phase_ == Phase::kReading) NoteOpenTransactions(now);
  }
  next_describe_ = now + query_.refresh;
  if (phase_ == Phase::kOffsets && listing_ == 0) AskOffsets();
  if (phase_ == Phase::kReading && query_.until.kind == EndPosition::Kind::kTime && !asked_end_times_ &&
      NowMs() >= query_.until.value) {
    asked_end_times_ = true;
    AskOffsets();
  }
  return {};
}

// Faults that the user must put right end a stream that never began; later they are events, and the client goes on
// trying.
Status KafkaSource::NoteConnection() {
  const KafkaFault fault = client_->fault();
  if (IsPermanent(fault) && fault != told_fault_) {
    if (!ever_connected_) return client_->FaultAsStatus();
    told_fault_ = fault;
    // A broker that is going down looks like that too.
    if (!IsAmbiguous(fault)) Tell(SourceEvent::Kind::kFailed, std::string(client_->FaultAsStatus().message()));
  }
  if (client_->all_brokers_down() && (connected_ || !told_down_)) {
    connected_ = false;
    told_down_ = true;
    const Status reason = client_->FaultAsStatus();
    Tell(SourceEvent::Kind::kDisconnected,
         "no broker can be reached" + (reason.ok() ? "" : ": " + std::string(reason.message())) + "; trying again");
  }
  return {};
}

void KafkaSource::NoteAnswered() {
  client_->MarkConnected();
  told_fault_ = KafkaFault::kNone;
  told_down_ = false;
  if (!connected_) Tell(SourceEvent::Kind::kConnected, ever_connected_ ? "connected again" : "connected");
  connected_ = true;
  ever_connected_ = true;
}

Status KafkaSource::OnAnswer(const LookupAnswer& answer, Clock::time_point now) {
  if (answer.kind == LookupAnswer::Kind::kTopic) {
    describing_ = false;
    return OnTopic(answer, now);
  }
  return OnOffsets(answer, now);
}

Status KafkaSource::OnTopic(const LookupAnswer& answer, Clock::time_point now) {
  // Until everything has begun, ask again soon.
  if (!answer.status.ok() || phase_ != Phase::kReading) next_describe_ = now + std::min(kRetry, query_.refresh);
  const StatusCode code = answer.status.code();
  if (code == StatusCode::kPermissionDenied) {
    const std::string text = Quoted(query_.topic) + ": this user has no right to see it (Describe is needed)";
    if (!ever_connected_) return Status::PermissionDenied(text);
    if (!std::exchange(told_denied_, true)) Tell(SourceEvent::Kind::kFailed, text);
    return {};
  }
  if (code == StatusCode::kNotFound) {
    NoteAnswered();
    return OnMissingTopic(now);
  }
  if (code == StatusCode::kInvalidArgument && !ever_connected_) return answer.status;  // a name that cannot exist
  if (!answer.status.ok()) return {};
  NoteAnswered();
  told_denied_ = false;
  missing_since_ = {};
  const TopicInfo& topic = answer.topic;
  if (phase_ == Phase::kTopic) {
    topic_id_ = topic.id;
    if (fresh_)
      Tell(SourceEvent::Kind::kTopicRecreated, Quoted(query_.topic) + " is there now: read from its beginning");
    return Choose(topic);
  }
  if (topic.id != topic_id_ || told_missing_) {
    return Restart(Quoted(query_.topic) + " was deleted and created again: reading goes on from its new beginning");
  }
  if (phase_ == Phase::kReading) {
    AddPartitions(topic);
    if (listing_ == 0 && NeedsOffsets()) AskOffsets();
  }
  return {};
}

Status KafkaSource::OnMissingTopic(Clock::time_point now) {
  if (missing_since_ == Clock::time_point{}) missing_since_ = now;
  // Until it is known whether the topic is a new one, nothing of it is given at the old offsets.
  for (const int32_t id : Ids(Partition::State::kReading)) {
    Partition& partition = partitions_[static_cast<size_t>(id)];
    StopPartition(id, &partition);
    partition.state = Partition::State::kBroken;
  }
  if (now - missing_since_ < kMissingFor || told_missing_) return {};
  const std::string text = Quoted(query_.topic) + " does not exist";
  // With an end as seen at the start there is nothing to wait for.
  if (query_.until.kind == EndPosition::Kind::kEnd) return Status::NotFound(text);
  told_missing_ = true;
  Tell(SourceEvent::Kind::kTopicMissing,
       phase_ == Phase::kTopic ? text + ": waiting for it" : text + " any more: waiting for it to come back");
  if (phase_ == Phase::kTopic) {
    fresh_ = true;
    told_missing_ = false;
    missing_since_ = Clock::time_point::max();  // told once is enough
  }
  return {};
}

// Begins anew with the topic of now, all of it. A new client, since librdkafka keeps leader epochs of the old topic.
Status KafkaSource::Restart(const std::string& why) {
  Disconnect();
  partitions_.clear();
  chosen_.clear();
  open_ = 0;
  phase_ = Phase::kTopic;
  fresh_ = true;
  told_missing_ = false;
  missing_since_ = {};
  describing_ = false;
  listing_ = 0;
  asked_end_times_ = false;
  next_describe_ = {};
  {
    const std::lock_guard lock(mutex_);
    progress_.clear();
  }
  Tell(SourceEvent::Kind::kTopicRecreated, why);
  return Connect();
}

// The partitions to read, of those that the topic has at the start.
Status KafkaSource::Choose(const TopicInfo& topic) {
  if (topic.partitions.empty()) return {};  // not yet known everywhere: asked again
  const auto count = static_cast<size_t>(topic.partitions.back().id) + 1;
  partitions_.assign(count, {});
  chosen_.assign(count, query_.partitions.empty());
  for (const int32_t id : query_.partitions) {
    if (static_cast<size_t>(id) >= count) {
      return Status::InvalidArgument("--partitions: " + Quoted(query_.topic) + " has no partition " +
                                     std::to_string(id) + ", only 0 to " + std::to_string(count - 1));
    }
    chosen_[static_cast<size_t>(id)] = true;
  }
  open_ = static_cast<size_t>(std::count(chosen_.begin(), chosen_.end(), true));
  {
    const std::lock_guard lock(mutex_);
    for (size_t id = 0; id < count; ++id) {
      if (chosen_[id]) progress_[static_cast<int32_t>(id)] = {};
    }
  }
  if (fresh_) {
    phase_ = Phase::kReading;
    for (const int32_t id : Ids(Partition::State::kWaiting)) {
      StartPartition(id, &partitions_[static_cast<size_t>(id)], RD_KAFKA_OFFSET_BEGINNING);
    }
    return {};
  }
  phase_ = Phase::kOffsets;
  AskOffsets();
  return {};
}

// Partitions added while streaming are read from their beginning.
void KafkaSource::AddPartitions(const TopicInfo& topic) {
  if (topic.partitions.empty() || !query_.partitions.empty() || asked_end_times_ ||
      query_.until.kind == EndPosition::Kind::kEnd) {
    return;
  }
  const auto count = static_cast<size_t>(topic.partitions.back().id) + 1;
  const size_t before = partitions_.size();
  if (count <= before) return;
  // Makes librdkafka itself learn of them now; without, it does within its own refresh.
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(client_->handle(), 0, topic_, &metadata, 500) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(metadata);
  }
  partitions_.resize(count);
  chosen_.resize(count, true);
  for (size_t id = before; id < count; ++id) {
    {
      const std::lock_guard lock(mutex_);
      progress_[static_cast<int32_t>(id)] = {};
    }
    ++open_;
    StartPartition(static_cast<int32_t>(id), &partitions_[id], RD_KAFKA_OFFSET_BEGINNING);
  }
  Tell(SourceEvent::Kind::kPartitionsAdded,
       Quoted(query_.topic) + " has " + std::to_string(count) +
           " partitions now: the new ones are read from their beginning",
       count - before);
}

// Asks for what the phase needs: where to start and end, the end of a time that has come, or where a broken partition's
// records are now.
void KafkaSource::AskOffsets() {
  std::vector<int32_t> ids = Ids(Partition::State::kWaiting);
  const std::vector<int32_t> broken = Ids(Partition::State::kBroken);
  ids.insert(ids.end(), broken.begin(), broken.end());
  if (phase_ == Phase::kReading && asked_end_times_) {
    const std::vector<int32_t> reading = Ids(Partition::State::kReading);
    ids.insert(ids.end(), reading.begin(), reading.end());
  }
  if (ids.empty()) return;
  const auto ask = [&](int64_t when, bool read_committed, Tag tag) {
    lookup_->ListOffsets(query_.topic, ids, when, read_committed, tag, kLookupTimeout);
    ++listing_;
  };
  for (const int32_t id : ids) {
    Partition& partition = partitions_[static_cast<size_t>(id)];
    partition.log_start.reset();
    partition.log_end.reset();
  }
  ask(kLogStart, query_.read_committed, kStarts);
  ask(kLogEnd, query_.read_committed, kEnds);
  if (phase_ == Phase::kOffsets && query_.from.kind == StartPosition::Kind::kTime) {
    ask(query_.from.value, query_.read_committed, kTimes);
  }
  if (query_.until.kind == EndPosition::Kind::kTime && NowMs() >= query_.until.value) {
    asked_end_times_ = true;
    ask(query_.until.value, query_.read_committed, kEndTimes);
  }
  if (phase_ == Phase::kOffsets && query_.until.kind == EndPosition::Kind::kEnd && query_.read_committed) {
    ask(kLogEnd, false, kHighs);
  }
}

// Whether some partition cannot go on, or not end, without an answer.
bool KafkaSource::NeedsOffsets() const {
  if (!Ids(Partition::State::kBroken).empty()) return true;
  const std::vector<int32_t> reading = Ids(Partition::State::kReading);
  return asked_end_times_ && std::any_of(reading.begin(), reading.end(), [this](int32_t id) {
           return partitions_[static_cast<size_t>(id)].end == INT64_MAX;
         });
}

Status KafkaSource::OnOffsets(const LookupAnswer& answer, Clock::time_point now) {
  --listing_;
  for (const auto& [id, offset] : answer.offsets) {
    if (static_cast<size_t>(id) >= partitions_.size()) continue;
    if (!offset) {
      if (offset.error().code() == StatusCode::kPermissionDenied && !ever_connected_) return offset.error();
      continue;  // no leader at the moment, say: asked again
    }
    Partition& partition = partitions_[static_cast<size_t>(id)];
    if (answer.tag == kStarts) partition.log_start = *offset;
    if (answer.tag == kEnds) partition.log_end = *offset;
    if (answer.tag == kHighs) partition.high = *offset;
    if (answer.tag == kTimes) partition.at_time = *offset;
    if (answer.tag == kEndTimes) partition.at_end_time = *offset;
  }
  if (listing_ > 0) return {};
  if (phase_ == Phase::kOffsets) {
    BeginReading(now);
  } else if (phase_ == Phase::kReading) {
    for (const int32_t id : Ids(Partition::State::kBroken)) Repair(id, &partitions_[static_cast<size_t>(id)]);
    SetEnds();
    if (NeedsOffsets()) next_describe_ = now + kRetry;
  }
  return {};
}

// Starts all partitions once everything is known about them; else the questions are asked again.
void KafkaSource::BeginReading(Clock::time_point now) {
  const std::vector<int32_t> ids = Ids(Partition::State::kWaiting);
  const bool ends_at_time = asked_end_times_;
  const bool needs_high = query_.until.kind == EndPosition::Kind::kEnd && query_.read_committed;
  std::vector<LastRecords::Range> ranges;
  for (const int32_t id : ids) {
    const Partition& partition = partitions_[static_cast<size_t>(id)];
    const bool known = partition.log_start && partition.log_end &&
                       (query_.from.kind != StartPosition::Kind::kTime || partition.at_time) &&
                       (!ends_at_time || partition.at_end_time) && (!needs_high || partition.high);
    if (!known) {
      next_describe_ = now + kRetry;
      return;
    }
    ranges.push_back({id, *partition.log_start, *partition.log_end});
  }
  if (query_.from.kind == StartPosition::Kind::kLastN && query_.from.value > 0) {
    phase_ = Phase::kLastN;
    last_n_ = std::make_unique<LastRecords>(client_, topic_, query_.from.value, ranges);
    return;
  }
  StartAll();
}

void KafkaSource::StepLastN(milliseconds wait) {
  if (!last_n_->Step(wait)) return;
  StartAll();
  last_n_.reset();
}

void KafkaSource::StartAll() {
  phase_ = Phase::kReading;
  for (const int32_t id : Ids(Partition::State::kWaiting)) {
    Partition& partition = partitions_[static_cast<size_t>(id)];
    if (query_.until.kind == EndPosition::Kind::kEnd) {
      partition.end = *partition.log_end;
      if (partition.high.value_or(0) > partition.end)
        TellTransaction(id, *partition.high - partition.end, partition.end);
    }
    const int64_t offset = StartOffset(id, &partition);
    {
      const std::lock_guard lock(mutex_);
      progress_[id] = {offset, *partition.log_end, *partition.log_start};
    }
    StartPartition(id, &partition, offset);
  }
  SetEnds();
}

int64_t KafkaSource::StartOffset(int32_t id, Partition* partition) {
  const int64_t log_start = *partition->log_start;
  const int64_t log_end = *partition->log_end;
  switch (query_.from.kind) {
    case StartPosition::Kind::kLatest: return log_end;
    case StartPosition::Kind::kEarliest: return log_start;
    case StartPosition::Kind::kTime: return *partition->at_time < 0 ? log_end : *partition->at_time;
    case StartPosition::Kind::kLastN: return last_n_ == nullptr ? log_end : last_n_->start(id);
    case StartPosition::Kind::kOffset: break;
  }
  if (query_.from.value < log_start) {
    Tell(SourceEvent::Kind::kGap,
         "partition " + std::to_string(id) + " begins at offset " + std::to_string(log_start) + ", after offset " +
             std::to_string(query_.from.value) + " that was asked for",
         static_cast<uint64_t>(log_start - query_.from.value));
  }
  partition->first_wanted = query_.from.value;
  return std::clamp(query_.from.value, log_start, std::max(log_start, log_end));
}

// Ends at a time that has passed: before the first record of that time or later, else where the log ends now.
void KafkaSource::SetEnds() {
  for (const int32_t id : Ids(Partition::State::kReading)) {
    Partition& partition = partitions_[static_cast<size_t>(id)];
    if (asked_end_times_ && partition.at_end_time && partition.log_end) {
      partition.end = *partition.at_end_time < 0 ? *partition.log_end : *partition.at_end_time;
    }
    FinishIfAtEnd(id, &partition);
  }
}

void KafkaSource::StartPartition(int32_t id, Partition* partition, int64_t offset) {
  if (offset >= 0) partition->next = offset;
  partition->eof = -1;
  partition->state = Partition::State::kReading;
  partition->started = true;
  rd_kafka_consume_start_queue(topic_, id, offset, queue_);
}

void KafkaSource::StopPartition(int32_t id, Partition* partition) {
  if (std::exchange(partition->started, false)) rd_kafka_consume_stop(topic_, id);
}

void KafkaSource::FinishIfAtEnd(int32_t id, Partition* partition) {
  if (partition->state != Partition::State::kReading || partition->end == INT64_MAX) return;
  if (std::max(partition->next, partition->eof) < partition->end) return;
  StopPartition(id, partition);
  partition->state = Partition::State::kFinished;
  --open_;
}

// A message that carries an error instead of a record.
Status KafkaSource::OnError(const rd_kafka_message_t* message) {
  const int32_t id = message->partition;
  Partition* partition =
      id >= 0 && static_cast<size_t>(id) < partitions_.size() ? &partitions_[static_cast<size_t>(id)] : nullptr;
  switch (message->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
      if (partition == nullptr || partition->state != Partition::State::kReading) return {};
      partition->eof = message->offset;
      partition->eof_since = Clock::now();
      partition->told_transaction = false;
      if (partition->next < message->offset) partition->next = message->offset;
      {
        const std::lock_guard lock(mutex_);
        progress_[id].next_offset = partition->next;
      }
      FinishIfAtEnd(id, partition);
      return {};
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
      if (partition == nullptr || partition->state != Partition::State::kReading) return {};
      StopPartition(id, partition);
      partition->state = Partition::State::kBroken;
      next_describe_ = {};  // first see whether it is still the same topic
      return {};
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      next_describe_ = std::min(next_describe_, Clock::now() + kRetry);
      return {};
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return Status::PermissionDenied(Quoted(query_.topic) + ": this user has no right to read it (Read is needed)");
    default: break;
  }
  if (told_errors_.insert(message->err).second) {
    Tell(SourceEvent::Kind::kFailed,
         Quoted(query_.topic) + " partition " + std::to_string(id) + ": " + rd_kafka_message_errstr(message));
  }
  return {};
}

// Goes on where records are now, after an offset that the broker does not have.
void KafkaSource::Repair(int32_t id, Partition* partition) {
  if (!partition->log_start || !partition->log_end) return;  // asked again
  const int64_t wanted = partition->next < 0 ? *partition->log_start : partition->next;
  const std::string where = "partition " + std::to_string(id);
  int64_t offset = wanted;
  if (*partition->log_start > wanted) {
    offset = *partition->log_start;
    Tell(SourceEvent::Kind::kGap,
         where + ": retention passed the reader; offsets " + std::to_string(wanted) + " to " +
             std::to_string(offset - 1) + " are gone",
         static_cast<uint64_t>(offset - wanted));
  } else if (*partition->log_end < wanted) {
    // The topic is the same one (if the broker tells), so its log was cut: what was cut has been shown already.
    offset = topic_id_.empty() ? *partition->log_start : *partition->log_end;
    Tell(SourceEvent::Kind::kGap,
         where + " was cut back from offset " + std::to_string(wanted) + " to " + std::to_string(*partition->log_end) +
             ": reading goes on at " + std::to_string(offset),
         0);
  }
  StartPartition(id, partition, offset);
  FinishIfAtEnd(id, partition);
}

void KafkaSource::TellTransaction(int32_t id, int64_t count, int64_t stable) {
  Tell(SourceEvent::Kind::kOpenTransaction,
       "partition " + std::to_string(id) + ": " + std::to_string(count) + " records after offset " +
           std::to_string(stable) +
           " (the last stable offset) wait for an open transaction; --isolation "
           "read_uncommitted shows them",
       static_cast<uint64_t>(count));
}

// Tells of records that are there and not shown: at the last stable offset for a while, with a log that goes on.
void KafkaSource::NoteOpenTransactions(Clock::time_point now) {
  if (!query_.read_committed) return;
  for (const int32_t id : Ids(Partition::State::kReading)) {
    Partition& partition = partitions_[static_cast<size_t>(id)];
    if (partition.told_transaction || partition.eof < 0 || partition.next > partition.eof ||
        now - partition.eof_since < kSettled) {
      continue;
    }
    int64_t low = -1;
    int64_t high = -1;
    rd_kafka_get_watermark_offsets(client_->handle(), query_.topic.c_str(), id, &low, &high);
    if (high <= partition.eof) continue;
    partition.told_transaction = true;
    TellTransaction(id, high - partition.eof, partition.eof);
  }
}

}  // namespace kafscope
