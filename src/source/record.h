// ConsumerRecord and ConsumerRecords: what a source gives, in Kafka's words.
//
// A ConsumerRecord is a view: its bytes belong to the ConsumerRecords batch (librdkafka's messages, a fetch response,
// or bytes in memory) and live until that batch is cleared or destroyed. Decoders never assume one object per record.
// Threads: a batch belongs to one thread at a time; it may be moved between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace kafscope {

struct RecordHeader {
  std::string_view name;
  std::string_view value;
  bool value_is_null = false;
};

enum class TimestampType : uint8_t { kNone, kCreateTime, kLogAppendTime };

struct ConsumerRecord {
  std::string_view key;
  std::string_view value;
  bool has_key = false;    // false: the key is null, not empty
  bool has_value = false;  // false: tombstone
  TimestampType timestamp_type = TimestampType::kNone;
  int32_t partition = 0;
  int64_t offset = 0;
  int64_t timestamp_ms = -1;              // −1: none; the arrival time stands in
  std::span<const RecordHeader> headers;  // empty unless the source was asked for headers
};

class ConsumerRecords {
 public:
  // Frees what the records point into. Implemented by each source.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void Clear() = 0;
  };

  ConsumerRecords() = default;
  explicit ConsumerRecords(std::unique_ptr<Owner> owner) : owner_(std::move(owner)) {}
  ConsumerRecords(ConsumerRecords&&) = default;
  ConsumerRecords& operator=(ConsumerRecords&&) = default;

  std::span<const ConsumerRecord> records() const { return records_; }
  bool empty() const { return records_.empty(); }
  size_t size() const { return records_.size(); }
  std::vector<ConsumerRecord>& mutable_records() { return records_; }
  Owner* owner() const { return owner_.get(); }
  // When the batch arrived: nanoseconds since the epoch, read once a batch.
  int64_t arrival_ns = 0;

  // Forgets the records, keeps the memory.
  void Clear() {
    records_.clear();
    if (owner_ != nullptr) owner_->Clear();
  }

 private:
  std::vector<ConsumerRecord> records_;
  std::unique_ptr<Owner> owner_;
};

}  // namespace kafscope
