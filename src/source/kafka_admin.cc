#include "source/kafka_admin.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

namespace kafscope {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kSlice{100};  // how often a wait looks whether a fault has become known

// The first of `results` as a Status.
Status TopicStatus(const KafkaClient& client, const rd_kafka_topic_result_t** results, size_t count,
                   const std::string& name) {
  if (count != 1) return Status::Internal("the cluster answered for " + std::to_string(count) + " topics");
  const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[0]);
  Status status = client.ErrorStatus(error, "topic '" + name + "'");
  const char* detail = rd_kafka_topic_result_error_string(results[0]);
  if (status.ok() || detail == nullptr) return status;
  return {status.code(), "topic '" + name + "': " + detail};
}

}  // namespace

// One administrative request: its options, its queue, its answer.
class KafkaAdmin::Call {
 public:
  Call(const KafkaClient& client, rd_kafka_admin_op_t operation, Milliseconds timeout)
      : client_(client),
        deadline_(Clock::now() + timeout),
        options_(rd_kafka_AdminOptions_new(client.handle(), operation)),
        queue_(rd_kafka_queue_new(client.handle())) {
    char ignored[8];
    const int wait = static_cast<int>(std::max<Milliseconds::rep>(timeout.count(), 1));
    rd_kafka_AdminOptions_set_request_timeout(options_, wait, ignored, sizeof ignored);
    if (operation == RD_KAFKA_ADMIN_OP_CREATETOPICS || operation == RD_KAFKA_ADMIN_OP_DELETETOPICS ||
        operation == RD_KAFKA_ADMIN_OP_CREATEPARTITIONS) {
      rd_kafka_AdminOptions_set_operation_timeout(options_, wait, ignored, sizeof ignored);
    }
  }
  ~Call() {
    if (event_ != nullptr) rd_kafka_event_destroy(event_);
    rd_kafka_queue_destroy(queue_);
    rd_kafka_AdminOptions_destroy(options_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  rd_kafka_AdminOptions_t* options() const { return options_; }
  rd_kafka_queue_t* queue() const { return queue_; }
  rd_kafka_event_t* event() const { return event_; }

  // Waits for the answer. Ends early when it becomes known that the user has to change something.
  Status Wait(const std::string& what) {
    while (event_ == nullptr) {
      event_ = rd_kafka_queue_poll(queue_, static_cast<int>(kSlice.count()));
      if (event_ != nullptr) break;
      rd_kafka_poll(client_.handle(), 0);
      if (IsPermanent(client_.fault())) return client_.FaultAsStatus();
      if (Clock::now() > deadline_ + Milliseconds(1000)) {
        return client_.ErrorStatus(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
      }
    }
    return client_.ErrorStatus(rd_kafka_event_error(event_), what);
  }

 private:
  const KafkaClient& client_;
  const Clock::time_point deadline_;
  rd_kafka_AdminOptions_t* options_;
  rd_kafka_queue_t* queue_;
  rd_kafka_event_t* event_ = nullptr;
};

Result<std::unique_ptr<KafkaAdmin>> KafkaAdmin::Make(const KafkaOptions& options) {
  KafkaClient::Settings settings;
  settings.kind = KafkaClient::Kind::kProducer;  // the kind that has no queue to serve
  settings.defaults = {{"reconnect.backoff.ms", "50"},
                       {"reconnect.backoff.max.ms", "1000"},
                       {"enable.metrics.push", "false"},
                       {"allow.auto.create.topics", "false"}};
  KAFSCOPE_ASSIGN_OR_FAIL(std::shared_ptr<KafkaClient> client, KafkaClient::Make(options, settings));
  return std::unique_ptr<KafkaAdmin>(new KafkaAdmin(std::move(client)));
}

Result<std::vector<TopicSummary>> KafkaAdmin::ListTopics(Milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const rd_kafka_metadata_t* metadata = nullptr;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
  // In slices that grow: a fault that will not pass ends the wait, and so does the loss of a request that went to the
  // bootstrap connection just when librdkafka replaced it by the broker's own.
  for (Milliseconds longest(250); metadata == nullptr; longest *= 2) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
    const auto slice = std::clamp(left, Milliseconds(1), longest);
    error = rd_kafka_metadata(client_->handle(), 1, nullptr, &metadata, static_cast<int>(slice.count()));
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
    rd_kafka_poll(client_->handle(), 0);
    if (IsPermanent(client_->fault()) || left <= Milliseconds(0)) {
      return Fail(client_->ErrorStatus(error, "listing topics"));
    }
  }
  client_->MarkConnected();
  std::vector<TopicSummary> topics;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& topic = metadata->topics[i];
    TopicSummary& summary = topics.emplace_back();
    summary.name = topic.topic;
    summary.internal = summary.name.starts_with("__");
    summary.partitions = topic.partition_cnt;
    if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR) summary.error = rd_kafka_err2str(topic.err);
  }
  rd_kafka_metadata_destroy(metadata);
  std::sort(topics.begin(), topics.end(), [](const TopicSummary& a, const TopicSummary& b) { return a.name < b.name; });
  return topics;
}

Result<TopicInfo> KafkaAdmin::DescribeTopic(const std::string& name, Milliseconds timeout) {
  KafkaLookup lookup(client_);
  lookup.Describe(name, 0, timeout);
  const Clock::time_point deadline = Clock::now() + timeout + Milliseconds(1000);
  while (true) {
    if (const std::optional<LookupAnswer> answer = lookup.Next(kSlice)) {
      if (!answer->status.ok()) return Fail(answer->status);
      client_->MarkConnected();
      return answer->topic;
    }
    rd_kafka_poll(client_->handle(), 0);
    if (IsPermanent(client_->fault())) return Fail(client_->FaultAsStatus());
    if (Clock::now() > deadline)
      return Fail(client_->ErrorStatus(RD_KAFKA_RESP_ERR__TIMED_OUT, "topic '" + name + "'"));
  }
}

Result<std::map<std::string, std::vector<OffsetRange>>> KafkaAdmin::Offsets(std::span<const TopicSummary> topics,
                                                                            Milliseconds timeout) {
  std::map<std::string, std::vector<OffsetRange>> offsets;
  size_t partitions = 0;
  for (const TopicSummary& topic : topics) {
    if (!topic.error.empty()) continue;
    offsets[topic.name].resize(static_cast<size_t>(topic.partitions));
    partitions += static_cast<size_t>(topic.partitions);
  }
  if (partitions == 0) return offsets;
  KAFSCOPE_FAIL_IF_ERROR(OffsetsOf(topics, kLogStart, timeout, &offsets));
  KAFSCOPE_FAIL_IF_ERROR(OffsetsOf(topics, kLogEnd, timeout, &offsets));
  client_->MarkConnected();
  return offsets;
}

Status KafkaAdmin::OffsetsOf(std::span<const TopicSummary> topics, int64_t when, Milliseconds timeout,
                             std::map<std::string, std::vector<OffsetRange>>* offsets) {
  Call call(*client_, RD_KAFKA_ADMIN_OP_LISTOFFSETS, timeout);
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(16);
  for (const TopicSummary& topic : topics) {
    if (!topic.error.empty()) continue;
    for (int32_t id = 0; id < topic.partitions; ++id) {
      rd_kafka_topic_partition_list_add(list, topic.name.c_str(), id)->offset = when;
    }
  }
  rd_kafka_ListOffsets(client_->handle(), list, call.options(), call.queue());
  rd_kafka_topic_partition_list_destroy(list);
  KAFSCOPE_RETURN_IF_ERROR(call.Wait("asking for offsets"));
  size_t count = 0;
  const rd_kafka_ListOffsetsResultInfo_t** infos =
      rd_kafka_ListOffsets_result_infos(rd_kafka_event_ListOffsets_result(call.event()), &count);
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_topic_partition_t* partition = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
    if (partition->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;  // stays −1
    OffsetRange& range = (*offsets)[partition->topic][static_cast<size_t>(partition->partition)];
    (when == kLogStart ? range.start : range.end) = partition->offset;
  }
  return {};
}

Status KafkaAdmin::CreateTopic(const NewTopic& topic, Milliseconds timeout) {
  char text[256] = "";
  rd_kafka_NewTopic_t* request =
      rd_kafka_NewTopic_new(topic.name.c_str(), topic.partitions, topic.replication, text, sizeof text);
  if (request == nullptr) return Status::InvalidArgument("topic '" + topic.name + "': " + text);
  for (const auto& [name, value] : topic.configs) rd_kafka_NewTopic_set_config(request, name.c_str(), value.c_str());
  Call call(*client_, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout);
  rd_kafka_CreateTopics(client_->handle(), &request, 1, call.options(), call.queue());
  rd_kafka_NewTopic_destroy(request);
  KAFSCOPE_RETURN_IF_ERROR(call.Wait("creating topic '" + topic.name + "'"));
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(call.event()), &count);
  return TopicStatus(*client_, results, count, topic.name);
}

Status KafkaAdmin::DeleteTopic(const std::string& name, Milliseconds timeout) {
  rd_kafka_DeleteTopic_t* request = rd_kafka_DeleteTopic_new(name.c_str());
  Call call(*client_, RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout);
  rd_kafka_DeleteTopics(client_->handle(), &request, 1, call.options(), call.queue());
  rd_kafka_DeleteTopic_destroy(request);
  KAFSCOPE_RETURN_IF_ERROR(call.Wait("deleting topic '" + name + "'"));
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(call.event()), &count);
  return TopicStatus(*client_, results, count, name);
}

Status KafkaAdmin::SetPartitions(const std::string& name, int partitions, Milliseconds timeout) {
  char text[256] = "";
  rd_kafka_NewPartitions_t* request =
      rd_kafka_NewPartitions_new(name.c_str(), static_cast<size_t>(std::max(partitions, 0)), text, sizeof text);
  if (request == nullptr) return Status::InvalidArgument("topic '" + name + "': " + text);
  Call call(*client_, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeout);
  rd_kafka_CreatePartitions(client_->handle(), &request, 1, call.options(), call.queue());
  rd_kafka_NewPartitions_destroy(request);
  KAFSCOPE_RETURN_IF_ERROR(call.Wait("changing topic '" + name + "'"));
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(call.event()), &count);
  return TopicStatus(*client_, results, count, name);
}

}  // namespace kafscope
