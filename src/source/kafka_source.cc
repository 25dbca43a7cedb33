// The reading part of KafkaSource, and how it begins and ends. kafka_source_control.cc decides what is read.
#include "source/kafka_source.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "base/clock.h"
#include "source/last_records.h"

namespace kafscope {
namespace {

constexpr size_t kWantedBytes = size_t{64} << 20;  // of the budget, for one source
constexpr size_t kLeastBytes = size_t{1} << 20;
constexpr size_t kMaxChunk = 4096;  // messages taken from librdkafka at a time

// Takes a share of the budget: what is wanted, but never more than a quarter of what is free, so that others fit.
Result<MemoryReservation> Reserve(const std::shared_ptr<MemoryBudget>& budget) {
  if (budget == nullptr) return MemoryReservation();
  for (size_t bytes = std::min(kWantedBytes, std::max(kLeastBytes, budget->free_bytes() / 4)); bytes >= kLeastBytes;
       bytes /= 2) {
    if (budget->TryReserve(bytes)) return MemoryReservation(budget, bytes);
  }
  return Fail(Status::ResourceExhausted("no memory left for another stream: raise --memory-budget or close a stream"));
}

KafkaClient::Settings ConsumerSettings(const SourceQuery& query, size_t bytes) {
  // Half for the queue, a quarter for fetches in flight, an eighth for the batch that is being decoded.
  const size_t fetch = std::max(bytes / 8, size_t{1} << 20);
  KafkaClient::Settings settings;
  settings.kind = KafkaClient::Kind::kConsumer;
  settings.defaults = {
      {"fetch.queue.backoff.ms", "10"},  // 1,000 by default: a fast reader would wait for that long
      {"queued.min.messages", "1000000"},
      {"queued.max.messages.kbytes", std::to_string(bytes / 2 / 1024)},
      {"fetch.max.bytes", std::to_string(fetch)},
      {"max.partition.fetch.bytes", std::to_string(std::min(fetch, size_t{4} << 20))},
      {"fetch.wait.max.ms", "100"},
      {"fetch.error.backoff.ms", "50"},
      {"reconnect.backoff.ms", "50"},
      {"reconnect.backoff.max.ms", "1000"},
      {"check.crcs", "true"},
      {"enable.metrics.push", "false"},
      {"socket.nagle.disable", "true"},
      {"topic.metadata.refresh.interval.ms", std::to_string(std::max<int64_t>(query.refresh.count(), 100))},
  };
  settings.fixed = {
      {"auto.offset.reset", "error"},  // gaps are seen and counted here
      {"enable.partition.eof", "true"},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"allow.auto.create.topics", "false"},
      {"isolation.level", query.read_committed ? "read_committed" : "read_uncommitted"},
  };
  return settings;
}

}  // namespace

// Owns the messages that a batch's records point into.
class MessageBatch final : public ConsumerRecords::Owner {
 public:
  explicit MessageBatch(std::shared_ptr<KafkaClient> client) : client_(std::move(client)) {}
  ~MessageBatch() override { MessageBatch::Clear(); }

  void Clear() override {
    for (rd_kafka_message_t* message : messages_) rd_kafka_message_destroy(message);
    messages_.clear();
    headers_.clear();
    header_counts_.clear();
  }
  const KafkaClient* client() const { return client_.get(); }

  void Add(rd_kafka_message_t* message, bool with_headers, std::vector<ConsumerRecord>* records) {
    ConsumerRecord& record = records->emplace_back();
    record.has_key = message->key != nullptr;
    record.has_value = message->payload != nullptr;
    record.key = {static_cast<const char*>(message->key), message->key_len};
    record.value = {static_cast<const char*>(message->payload), message->len};
    record.partition = message->partition;
    record.offset = message->offset;
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    record.timestamp_ms = rd_kafka_message_timestamp(message, &type);
    if (type == RD_KAFKA_TIMESTAMP_CREATE_TIME) record.timestamp_type = TimestampType::kCreateTime;
    if (type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME) record.timestamp_type = TimestampType::kLogAppendTime;
    if (with_headers) AddHeaders(message);
    messages_.push_back(message);
  }
  // Once all are added, since headers_ moves as it grows.
  void PointToHeaders(std::vector<ConsumerRecord>* records) const {
    const RecordHeader* next = headers_.data();
    for (size_t i = 0; i < header_counts_.size(); ++i) {
      (*records)[i].headers = {next, header_counts_[i]};
      next += header_counts_[i];
    }
  }

 private:
  void AddHeaders(rd_kafka_message_t* message) {
    rd_kafka_headers_t* headers = nullptr;
    size_t count = 0;
    if (rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const char* name = nullptr;
      const void* value = nullptr;
      size_t size = 0;
      while (rd_kafka_header_get_all(headers, count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        headers_.push_back({name, {static_cast<const char*>(value), size}, value == nullptr});
        ++count;
      }
    }
    header_counts_.push_back(count);
  }

  const std::shared_ptr<KafkaClient> client_;  // outlives the messages
  std::vector<rd_kafka_message_t*> messages_;
  std::vector<RecordHeader> headers_;
  std::vector<size_t> header_counts_;
};

Result<std::unique_ptr<KafkaSource>> KafkaSource::Make(const KafkaOptions& options, SourceQuery query,
                                                       std::shared_ptr<MemoryBudget> budget) {
  if (query.topic.empty()) return Fail(Status::InvalidArgument("give the name of a topic"));
  if (query.topic.size() > 249) {
    return Fail(Status::InvalidArgument("topic '" + query.topic + "': a topic's name has at most 249 characters"));
  }
  for (const int32_t id : query.partitions) {
    if (id < 0) return Fail(Status::InvalidArgument("--partitions: " + std::to_string(id) + " is not a partition"));
  }
  KafkaOptions own = options;
  own.properties.erase("group.id");  // often part of a copied configuration; a viewer joins no group
  own.properties.erase("group.instance.id");
  std::unique_ptr<KafkaSource> source(new KafkaSource(std::move(own), std::move(query)));
  KAFSCOPE_ASSIGN_OR_FAIL(source->reservation_, Reserve(budget));
  const size_t bytes = source->reservation_.bytes() == 0 ? kWantedBytes : source->reservation_.bytes();
  source->batch_bytes_ = bytes / 8;
  if (source->query_.until.kind == EndPosition::Kind::kCount) source->remaining_ = source->query_.until.value;
  KAFSCOPE_FAIL_IF_ERROR(source->Connect());
  return source;
}

KafkaSource::KafkaSource(KafkaOptions options, SourceQuery query)
    : options_(std::move(options)), query_(std::move(query)) {}

KafkaSource::~KafkaSource() { Disconnect(); }

Status KafkaSource::Connect() {
  Result<std::shared_ptr<KafkaClient>> client = KafkaClient::Make(options_, ConsumerSettings(query_, batch_bytes_ * 8));
  if (!client) return client.error();
  const std::lock_guard lock(mutex_);
  client_ = *std::move(client);
  lookup_ = std::make_unique<KafkaLookup>(client_);
  queue_ = rd_kafka_queue_new(client_->handle());
  // librdkafka's own events are then served where the records are taken.
  rd_kafka_queue_t* main = rd_kafka_queue_get_main(client_->handle());
  rd_kafka_queue_forward(main, queue_);
  rd_kafka_queue_destroy(main);
  topic_ = rd_kafka_topic_new(client_->handle(), query_.topic.c_str(), nullptr);
  if (topic_ == nullptr) {
    return Status::InvalidArgument("topic '" + query_.topic + "': " + rd_kafka_err2str(rd_kafka_last_error()));
  }
  return {};
}

void KafkaSource::Disconnect() {
  if (client_ == nullptr) return;
  last_n_.reset();
  for (size_t id = 0; id < partitions_.size(); ++id) StopPartition(static_cast<int32_t>(id), &partitions_[id]);
  const std::lock_guard lock(mutex_);
  if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
  topic_ = nullptr;
  lookup_.reset();
  rd_kafka_queue_t* main = rd_kafka_queue_get_main(client_->handle());
  rd_kafka_queue_forward(main, nullptr);
  rd_kafka_queue_destroy(main);
  rd_kafka_queue_destroy(queue_);
  queue_ = nullptr;
  client_.reset();
}

bool KafkaSource::AtEnd() const {
  if (remaining_ == 0) return true;
  return phase_ == Phase::kReading && query_.until.kind != EndPosition::Kind::kNever &&
         query_.until.kind != EndPosition::Kind::kCount && open_ == 0 && !partitions_.empty();
}

Status KafkaSource::Poll(size_t max_records, Clock::time_point deadline, ConsumerRecords* records) {
  records->Clear();
  if (remaining_ >= 0) max_records = std::min(max_records, static_cast<size_t>(remaining_));
  for (bool first = true;; first = false) {
    const Clock::time_point now = Clock::now();
    KAFSCOPE_RETURN_IF_ERROR(Control(now));
    if (AtEnd() || max_records == 0) return {};
    if (woken_.exchange(false) || (now >= deadline && !first)) return {};
    std::chrono::milliseconds wait = WaitSlice(now, deadline);
    if (phase_ == Phase::kLastN) {
      StepLastN(wait);
      wait = std::chrono::milliseconds(0);
    } else if (phase_ != Phase::kReading) {
      // Nothing is read yet: wait for the answer, then only serve librdkafka's events.
      if (const std::optional<LookupAnswer> answer = lookup_->Next(wait)) {
        KAFSCOPE_RETURN_IF_ERROR(OnAnswer(*answer, Clock::now()));
        continue;
      }
      wait = std::chrono::milliseconds(0);
    }
    KAFSCOPE_RETURN_IF_ERROR(Fetch(max_records, wait, records));
    if (!records->empty()) return {};
  }
}

Status KafkaSource::Fetch(size_t max_records, std::chrono::milliseconds wait, ConsumerRecords* records) {
  auto* batch = dynamic_cast<MessageBatch*>(records->owner());
  if (batch == nullptr || batch->client() != client_.get()) {
    auto owner = std::make_unique<MessageBatch>(client_);
    batch = owner.get();
    *records = ConsumerRecords(std::move(owner));
  }
  scratch_.resize(kMaxChunk);
  std::vector<ConsumerRecord>& out = records->mutable_records();
  size_t bytes = 0;
  // One message is waited for; more are taken only as far as they are there. (A batch call waits out its whole
  // timeout.)
  size_t want = 1;
  Status status;
  while (out.size() < max_records && bytes < batch_bytes_) {
    const ssize_t got = rd_kafka_consume_batch_queue(queue_, static_cast<int>(wait.count()), scratch_.data(), want);
    if (got <= 0) break;
    wait = std::chrono::milliseconds(0);
    for (ssize_t i = 0; i < got; ++i) {
      rd_kafka_message_t* message = scratch_[static_cast<size_t>(i)];
      Partition* partition = nullptr;
      if (message->partition >= 0 && static_cast<size_t>(message->partition) < partitions_.size()) {
        partition = &partitions_[static_cast<size_t>(message->partition)];
      }
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && partition != nullptr && Accept(message, partition)) {
        bytes += message->len + message->key_len;
        batch->Add(message, query_.headers, &out);
        continue;
      }
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && status.ok()) status = OnError(message);
      rd_kafka_message_destroy(message);
    }
    if (!out.empty()) average_bytes_ = std::max<size_t>(bytes / out.size(), 16);
    want = std::clamp<size_t>((batch_bytes_ - std::min(bytes, batch_bytes_)) / average_bytes_, 1, kMaxChunk);
    want = std::min(want, max_records - std::min(out.size(), max_records));
  }
  if (!status.ok()) return status;
  if (out.empty()) return {};
  if (query_.headers) batch->PointToHeaders(&out);
  records->arrival_ns = NowNs();
  if (remaining_ >= 0) remaining_ -= static_cast<int64_t>(out.size());
  Publish(out);
  return {};
}

// Whether the record was asked for; moves the partition's position in any case.
bool KafkaSource::Accept(const rd_kafka_message_t* message, Partition* partition) {
  if (partition->state != Partition::State::kReading) return false;  // came too late
  const bool past_end_time = query_.until.kind == EndPosition::Kind::kTime &&
                             rd_kafka_message_timestamp(message, nullptr) >= query_.until.value;
  if (message->offset >= partition->end || past_end_time) {
    partition->end = std::min(partition->end, message->offset);
    partition->next = partition->end;
    FinishIfAtEnd(message->partition, partition);
    return false;
  }
  partition->next = message->offset + 1;
  const bool wanted = message->offset >= partition->first_wanted;
  const bool fits = message->len <= query_.max_record_bytes;
  if (wanted && !fits) {
    Tell(SourceEvent::Kind::kRecordSkipped,
         "record at partition " + std::to_string(message->partition) + " offset " + std::to_string(message->offset) +
             " has " + std::to_string(message->len) + " bytes, more than the limit of " +
             std::to_string(query_.max_record_bytes) + ": skipped",
         1);
  }
  FinishIfAtEnd(message->partition, partition);
  return wanted && fits;
}

void KafkaSource::Publish(const std::vector<ConsumerRecord>& records) {
  const std::lock_guard lock(mutex_);
  // Records come in runs of one partition: one look-up a run.
  for (size_t i = 0; i < records.size(); ++i) {
    if (i + 1 == records.size() || records[i + 1].partition != records[i].partition) {
      progress_[records[i].partition].next_offset = records[i].offset + 1;
    }
  }
}

std::map<int32_t, PartitionProgress> KafkaSource::Progress() const {
  std::shared_ptr<KafkaClient> client;
  std::map<int32_t, PartitionProgress> progress;
  {
    const std::lock_guard lock(mutex_);
    client = client_;
    progress = progress_;
  }
  for (auto& [id, partition] : progress) {
    int64_t low = -1;
    int64_t high = -1;
    if (client == nullptr || rd_kafka_get_watermark_offsets(client->handle(), query_.topic.c_str(), id, &low, &high) !=
                                 RD_KAFKA_RESP_ERR_NO_ERROR) {
      continue;
    }
    partition.log_start_offset = std::max(partition.log_start_offset, low);
    partition.log_end_offset = std::max(partition.log_end_offset, high);
  }
  return progress;
}

std::vector<SourceEvent> KafkaSource::TakeEvents() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void KafkaSource::Wake() {
  woken_.store(true);
  const std::lock_guard lock(mutex_);
  if (queue_ != nullptr) rd_kafka_queue_yield(queue_);
  if (lookup_ != nullptr) lookup_->Wake();
}

}  // namespace kafscope
