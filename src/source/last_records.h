// LastRecords: from which offset there are N real records to the end of each partition.
//
// Offsets are not records: compaction leaves gaps, transactions leave markers, aborted records do not count. So the log
// is read backwards in windows that grow, and counted. What is counted is read a second time afterwards; in return
// nothing has to be kept but N offsets per partition. Use: Step() until it gives true, then start(). Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "source/kafka_client.h"

struct rd_kafka_topic_s;
struct rd_kafka_queue_s;
struct rd_kafka_message_s;

namespace kafscope {

class LastRecords {
 public:
  struct Range {
    int32_t partition = 0;
    int64_t log_start = 0;
    int64_t log_end = 0;
  };
  // REQUIRES: `topic` is a topic of `client` and is not read elsewhere meanwhile; count ≥ 1.
  LastRecords(std::shared_ptr<KafkaClient> client, rd_kafka_topic_s* topic, int64_t count,
              const std::vector<Range>& ranges);
  ~LastRecords();
  LastRecords(const LastRecords&) = delete;
  LastRecords& operator=(const LastRecords&) = delete;

  // Reads for up to `wait`; true once every partition's start is known.
  bool Step(std::chrono::milliseconds wait);
  int64_t start(int32_t partition) const { return scans_.at(partition).start; }

 private:
  struct Scan {
    int64_t log_start = 0;
    int64_t from = 0;  // the window: [from, to)
    int64_t to = 0;
    int64_t missing = 0;          // records still to find
    std::deque<int64_t> offsets;  // of the window's last `missing` records
    bool window_done = false;
    int64_t start = -1;  // −1: not known yet
  };

  void Take(const rd_kafka_message_s* message);
  void FinishWindow(int32_t partition, Scan* scan);
  void BeginWindow(int32_t partition, Scan* scan);

  std::shared_ptr<KafkaClient> client_;
  rd_kafka_topic_s* topic_;
  rd_kafka_queue_s* queue_;
  std::map<int32_t, Scan> scans_;
  size_t open_ = 0;
};

}  // namespace kafscope
