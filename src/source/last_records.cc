#include "source/last_records.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>

namespace kafscope {

LastRecords::LastRecords(std::shared_ptr<KafkaClient> client, rd_kafka_topic_t* topic, int64_t count,
                         const std::vector<Range>& ranges)
    : client_(std::move(client)), topic_(topic), queue_(rd_kafka_queue_new(client_->handle())) {
  for (const Range& range : ranges) {
    Scan& scan = scans_[range.partition];
    scan.log_start = range.log_start;
    scan.missing = count;
    scan.to = range.log_end;
    if (range.log_end <= range.log_start) {
      scan.start = range.log_end;
      continue;
    }
    scan.from = std::max(range.log_start, range.log_end - count);
    ++open_;
    BeginWindow(range.partition, &scan);
  }
}

LastRecords::~LastRecords() {
  for (const auto& [partition, scan] : scans_) {
    if (scan.start < 0) rd_kafka_consume_stop(topic_, partition);
  }
  rd_kafka_queue_destroy(queue_);
}

bool LastRecords::Step(std::chrono::milliseconds wait) {
  if (open_ == 0) return true;
  std::array<rd_kafka_message_t*, 1000> messages;
  ssize_t count = rd_kafka_consume_batch_queue(queue_, static_cast<int>(wait.count()), messages.data(), 1);
  while (count > 0) {
    for (ssize_t i = 0; i < count; ++i) {
      Take(messages[static_cast<size_t>(i)]);
      rd_kafka_message_destroy(messages[static_cast<size_t>(i)]);
    }
    // Only now: until the queue is emptied of it, a partition's messages could be taken for those of its next window.
    for (auto& [partition, scan] : scans_) {
      if (scan.window_done) FinishWindow(partition, &scan);
    }
    count = rd_kafka_consume_batch_queue(queue_, 0, messages.data(), messages.size());
  }
  return open_ == 0;
}

void LastRecords::Take(const rd_kafka_message_t* message) {
  const auto found = scans_.find(message->partition);
  if (found == scans_.end() || found->second.window_done || found->second.start >= 0) return;
  Scan& scan = found->second;
  if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF || message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
    // The second: retention has just taken the window; what was found so far is all there is.
    if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) scan.log_start = scan.from;
    scan.window_done = true;
    return;
  }
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  if (message->offset < scan.to) {
    scan.offsets.push_back(message->offset);
    if (static_cast<int64_t>(scan.offsets.size()) > scan.missing) scan.offsets.pop_front();
  }
  scan.window_done = message->offset >= scan.to - 1;
}

void LastRecords::FinishWindow(int32_t partition, Scan* scan) {
  scan->window_done = false;
  rd_kafka_consume_stop(topic_, partition);
  scan->missing -= static_cast<int64_t>(scan->offsets.size());
  if (scan->missing <= 0 || scan->from <= scan->log_start) {
    scan->start = scan->missing <= 0 ? scan->offsets.front() : scan->log_start;
    --open_;
    return;
  }
  const int64_t width = std::max(2 * (scan->to - scan->from), scan->missing);
  scan->to = scan->from;
  scan->from = std::max(scan->log_start, scan->to - width);
  scan->offsets.clear();
  BeginWindow(partition, scan);
}

void LastRecords::BeginWindow(int32_t partition, Scan* scan) {
  rd_kafka_consume_start_queue(topic_, partition, scan->from, queue_);
}

}  // namespace kafscope
