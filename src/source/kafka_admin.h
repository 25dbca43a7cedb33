// KafkaAdmin: asks a cluster about its topics and changes them; each call waits for the answer.
//
// Use: Make() once, keep it: the connections stay. Every call takes the longest time to wait; its failure says what to
// change (wrong port, password, rights, …) where that is known.
// Threads: all; each call has its own queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "source/kafka_client.h"
#include "source/kafka_lookup.h"

struct rd_kafka_op_s;
struct rd_kafka_queue_s;
struct rd_kafka_AdminOptions_s;

namespace kafscope {

struct TopicSummary {
  std::string name;
  bool internal = false;  // the cluster's own, such as __consumer_offsets
  int partitions = 0;
  std::string error;  // why it cannot be used; empty if it can
};

struct OffsetRange {
  int64_t start = -1;  // −1: not known (no leader, no right)
  int64_t end = -1;
};

struct NewTopic {
  std::string name;
  int partitions = 1;
  int replication = -1;  // −1: the broker's default
  std::map<std::string, std::string> configs;
};

class KafkaAdmin {
 public:
  using Milliseconds = std::chrono::milliseconds;

  static Result<std::unique_ptr<KafkaAdmin>> Make(const KafkaOptions& options);

  // All topics by name, with their number of partitions.
  Result<std::vector<TopicSummary>> ListTopics(Milliseconds timeout);
  Result<TopicInfo> DescribeTopic(const std::string& name, Milliseconds timeout);
  // First offset and end of every partition of `topics`, one question for all: by topic, then by partition number.
  Result<std::map<std::string, std::vector<OffsetRange>>> Offsets(std::span<const TopicSummary> topics,
                                                                  Milliseconds timeout);
  // Done when the cluster's controller has it; followers may know a little later.
  Status CreateTopic(const NewTopic& topic, Milliseconds timeout);
  Status DeleteTopic(const std::string& name, Milliseconds timeout);
  // Only raises the number of partitions.
  Status SetPartitions(const std::string& name, int partitions, Milliseconds timeout);

  // OK if the last call reached the cluster.
  Status connection() const { return client_->FaultAsStatus(); }
  const std::shared_ptr<KafkaClient>& client() const { return client_; }

 private:
  class Call;
  explicit KafkaAdmin(std::shared_ptr<KafkaClient> client) : client_(std::move(client)) {}
  Status OffsetsOf(std::span<const TopicSummary> topics, int64_t when, Milliseconds timeout,
                   std::map<std::string, std::vector<OffsetRange>>* offsets);

  std::shared_ptr<KafkaClient> client_;
};

}  // namespace kafscope
