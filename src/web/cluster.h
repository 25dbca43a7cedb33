// Cluster: what the server tells of the Kafka cluster. KafkaCluster asks a real one; tests have their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace kafscope {

struct TopicRow {
  std::string name;
  bool internal = false;
  int partitions = 0;
  std::optional<int64_t> records;
  std::optional<double> rate;  // records a second
  std::string error;
};

struct PartitionRow {
  int32_t id = 0;
  int32_t leader = -1;
  int64_t start_offset = -1;
  int64_t end_offset = -1;
};

class Cluster {
 public:
  struct Topics {
    std::vector<TopicRow> rows;
    int64_t sampled_at_ms = 0;  // 0: not yet
    Status status;              // why the cluster cannot be asked; OK if it can
  };
  virtual ~Cluster() = default;
  // The last sample. Does not wait. Threads: all.
  virtual Topics topics() const = 0;
  // Asks the cluster and waits for it. Threads: all.
  virtual Result<std::vector<PartitionRow>> Describe(const std::string& topic) = 0;
};

}  // namespace kafscope
