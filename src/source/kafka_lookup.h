// KafkaLookup: questions to the cluster that do not block: what a topic looks like, and where its offsets are.
//
// Use: ask (Describe, ListOffsets), then call Next() until the answer with your tag comes. Questions may overlap.
// Each is answered exactly once, by a failed Status after `timeout` at the latest. Threads: one; Wake() from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "source/kafka_client.h"

struct rd_kafka_queue_s;
struct rd_kafka_op_s;
struct rd_kafka_AdminOptions_s;

namespace kafscope {

struct PartitionInfo {
  int32_t id = 0;
  int32_t leader = -1;  // −1: none now
  std::vector<int32_t> replicas;
  std::vector<int32_t> in_sync;
};

struct TopicInfo {
  std::string name;
  std::string id;  // of this incarnation of the topic; empty if the broker has none
  bool internal = false;
  std::vector<PartitionInfo> partitions;  // by id
};

// For ListOffsets, besides a time in epoch milliseconds.
inline constexpr int64_t kLogStart = -2;
inline constexpr int64_t kLogEnd = -1;

struct LookupAnswer {
  enum class Kind { kTopic, kOffsets };
  Kind kind = Kind::kTopic;
  int tag = 0;
  Status status;  // of the question as a whole
  TopicInfo topic;
  // By partition. A time past the last record gives −1.
  std::map<int32_t, Result<int64_t>> offsets;
};

class KafkaLookup {
 public:
  explicit KafkaLookup(std::shared_ptr<KafkaClient> client);
  ~KafkaLookup();
  KafkaLookup(const KafkaLookup&) = delete;
  KafkaLookup& operator=(const KafkaLookup&) = delete;

  void Describe(const std::string& topic, int tag, std::chrono::milliseconds timeout);
  // `when`: kLogStart, kLogEnd (with `read_committed`: the last stable offset) or a time.
  void ListOffsets(const std::string& topic, std::span<const int32_t> partitions, int64_t when, bool read_committed,
                   int tag, std::chrono::milliseconds timeout);
  // The next answer, waiting for it no longer than `wait`.
  std::optional<LookupAnswer> Next(std::chrono::milliseconds wait);
  int outstanding() const { return outstanding_; }
  // Lets a waiting Next() return.
  void Wake();

 private:
  rd_kafka_AdminOptions_s* Options(int operation, int tag, std::chrono::milliseconds timeout) const;
  void ReadTopic(rd_kafka_op_s* event, LookupAnswer* answer) const;
  void ReadOffsets(rd_kafka_op_s* event, LookupAnswer* answer) const;

  std::shared_ptr<KafkaClient> client_;
  rd_kafka_queue_s* queue_;
  int outstanding_ = 0;
};

}  // namespace kafscope
