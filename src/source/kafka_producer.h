// KafkaProducer: sends records and counts what became of each.
//
// Use: Send() until done, now and then Serve(), then Flush(). Only a confirmed record counts as delivered.
// Cost: Send copies key and value once. A full queue is told by Send, which then takes nothing.
// Threads: Send from several threads; Serve and Flush from one of them; counters from any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "source/kafka_client.h"
#include "source/record.h"

namespace kafscope {

struct ProducerRecord {
  int32_t partition = -1;               // −1: by key, or any
  std::optional<std::string_view> key;  // none: null
  std::optional<std::string_view> value;
  int64_t timestamp_ms = 0;  // 0: now
  std::span<const RecordHeader> headers;
};

class KafkaProducer {
 public:
  static Result<std::unique_ptr<KafkaProducer>> Make(const KafkaOptions& options);
  // Waits up to 1 s for what is in flight, drops the rest.
  ~KafkaProducer();
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  // False if the queue is full: call Serve() and try again. A failed Status: this record can never be sent.
  Result<bool> Send(const std::string& topic, const ProducerRecord& record);
  // As Send, waiting for room until `deadline`.
  Status SendWaiting(const std::string& topic, const ProducerRecord& record,
                     std::chrono::steady_clock::time_point deadline);
  // Takes delivery reports, waiting up to `wait` for the first.
  void Serve(std::chrono::milliseconds wait);
  // Waits until every record sent is delivered or failed. Fails at the timeout, or with the reason if some failed.
  Status Flush(std::chrono::milliseconds timeout);

  uint64_t delivered() const { return delivered_.load(std::memory_order_relaxed); }
  uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }
  // Why the last failed record failed; OK if none did.
  Status last_error() const;

 private:
  KafkaProducer() = default;
  static void OnDelivery(rd_kafka_s* handle, const rd_kafka_message_s* message, void* opaque);

  std::atomic<uint64_t> delivered_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<int> last_error_{0};
  std::shared_ptr<KafkaClient> client_;
};

}  // namespace kafscope
