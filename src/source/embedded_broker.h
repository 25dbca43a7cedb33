// EmbeddedBroker: a Kafka broker inside this process (librdkafka's mock cluster), for `kafscope demo` and tests.
//
// Use: Make(), CreateTopic(), then give bootstrap() as `--brokers`. It listens on loopback, on free ports, keeps
// records in memory (the oldest of each partition are dropped beyond its bound), and ends with the object. It has no
// transactions, compaction, groups on disk or access control. Threads: all.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

struct rd_kafka_s;
struct rd_kafka_mock_cluster_s;

namespace kafscope {

class EmbeddedBroker {
 public:
  static Result<std::unique_ptr<EmbeddedBroker>> Make(int brokers = 1);
  ~EmbeddedBroker();
  EmbeddedBroker(const EmbeddedBroker&) = delete;
  EmbeddedBroker& operator=(const EmbeddedBroker&) = delete;

  const std::string& bootstrap() const { return bootstrap_; }
  Status CreateTopic(const std::string& name, int partitions);
  Status DeleteTopic(const std::string& name);
  // As retention does: the partition then begins at `before`.
  Status DeleteRecords(const std::string& topic, int32_t partition, int64_t before);
  // Takes a broker (numbered from 1) off the network and back; its records stay.
  Status SetDown(int broker);
  Status SetUp(int broker);

 private:
  EmbeddedBroker() = default;

  rd_kafka_s* handle_ = nullptr;
  rd_kafka_mock_cluster_s* cluster_ = nullptr;
  std::string bootstrap_;
};

}  // namespace kafscope
