#include "source/kafka_lookup.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

namespace kafscope {

KafkaLookup::KafkaLookup(std::shared_ptr<KafkaClient> client)
    : client_(std::move(client)), queue_(rd_kafka_queue_new(client_->handle())) {}

KafkaLookup::~KafkaLookup() { rd_kafka_queue_destroy(queue_); }

void KafkaLookup::Wake() { rd_kafka_queue_yield(queue_); }

rd_kafka_AdminOptions_t* KafkaLookup::Options(int operation, int tag, std::chrono::milliseconds timeout) const {
  rd_kafka_AdminOptions_t* options =
      rd_kafka_AdminOptions_new(client_->handle(), static_cast<rd_kafka_admin_op_t>(operation));
  char ignored[8];
  rd_kafka_AdminOptions_set_request_timeout(options, static_cast<int>(timeout.count()), ignored, sizeof ignored);
  rd_kafka_AdminOptions_set_opaque(options, reinterpret_cast<void*>(static_cast<intptr_t>(tag)));
  return options;
}

void KafkaLookup::Describe(const std::string& topic, int tag, std::chrono::milliseconds timeout) {
  rd_kafka_AdminOptions_t* options = Options(RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, tag, timeout);
  const char* name = topic.c_str();
  rd_kafka_TopicCollection_t* topics = rd_kafka_TopicCollection_of_topic_names(&name, 1);
  rd_kafka_DescribeTopics(client_->handle(), topics, options, queue_);
  rd_kafka_TopicCollection_destroy(topics);
  rd_kafka_AdminOptions_destroy(options);
  ++outstanding_;
}

void KafkaLookup::ListOffsets(const std::string& topic, std::span<const int32_t> partitions, int64_t when,
                              bool read_committed, int tag, std::chrono::milliseconds timeout) {
  rd_kafka_AdminOptions_t* options = Options(RD_KAFKA_ADMIN_OP_LISTOFFSETS, tag, timeout);
  rd_kafka_error_t* error = rd_kafka_AdminOptions_set_isolation_level(
      options, read_committed ? RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED : RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED);
  if (error != nullptr) rd_kafka_error_destroy(error);
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size()));
  for (const int32_t partition : partitions) {
    rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = when;
  }
  rd_kafka_ListOffsets(client_->handle(), list, options, queue_);
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_AdminOptions_destroy(options);
  ++outstanding_;
}

std::optional<LookupAnswer> KafkaLookup::Next(std::chrono::milliseconds wait) {
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue_, static_cast<int>(wait.count()));
  if (event == nullptr) return {};
  const rd_kafka_event_type_t type = rd_kafka_event_type(event);
  if (type != RD_KAFKA_EVENT_DESCRIBETOPICS_RESULT && type != RD_KAFKA_EVENT_LISTOFFSETS_RESULT) {
    rd_kafka_event_destroy(event);
    return {};
  }
  --outstanding_;
  LookupAnswer answer;
  answer.kind =
      type == RD_KAFKA_EVENT_DESCRIBETOPICS_RESULT ? LookupAnswer::Kind::kTopic : LookupAnswer::Kind::kOffsets;
  answer.tag = static_cast<int>(reinterpret_cast<intptr_t>(rd_kafka_event_opaque(event)));
  if (const rd_kafka_resp_err_t error = rd_kafka_event_error(event); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    answer.status = client_->ErrorStatus(error, "asking the cluster");
  } else if (answer.kind == LookupAnswer::Kind::kTopic) {
    ReadTopic(event, &answer);
  } else {
    ReadOffsets(event, &answer);
  }
  rd_kafka_event_destroy(event);
  return answer;
}

void KafkaLookup::ReadTopic(rd_kafka_event_t* event, LookupAnswer* answer) const {
  size_t count = 0;
  const rd_kafka_TopicDescription_t** topics =
      rd_kafka_DescribeTopics_result_topics(rd_kafka_event_DescribeTopics_result(event), &count);
  if (count != 1) {
    answer->status = Status::Internal("the cluster described " + std::to_string(count) + " topics instead of one");
    return;
  }
  const rd_kafka_TopicDescription_t* topic = topics[0];
  answer->topic.name = rd_kafka_TopicDescription_name(topic);
  if (const rd_kafka_error_t* error = rd_kafka_TopicDescription_error(topic); error != nullptr) {
    answer->status = client_->ErrorStatus(rd_kafka_error_code(error), "topic '" + answer->topic.name + "'");
    return;
  }
  if (const rd_kafka_Uuid_t* id = rd_kafka_TopicDescription_topic_id(topic); id != nullptr) {
    if (rd_kafka_Uuid_most_significant_bits(id) != 0 || rd_kafka_Uuid_least_significant_bits(id) != 0) {
      answer->topic.id = std::to_string(rd_kafka_Uuid_most_significant_bits(id)) + ":" +
                         std::to_string(rd_kafka_Uuid_least_significant_bits(id));
    }
  }
  answer->topic.internal = rd_kafka_TopicDescription_is_internal(topic) != 0;
  const rd_kafka_TopicPartitionInfo_t** partitions = rd_kafka_TopicDescription_partitions(topic, &count);
  const auto ids = [](const rd_kafka_Node_t** nodes, size_t node_count) {
    std::vector<int32_t> result;
    for (size_t i = 0; i < node_count; ++i) result.push_back(rd_kafka_Node_id(nodes[i]));
    return result;
  };
  for (size_t i = 0; i < count; ++i) {
    PartitionInfo info;
    info.id = rd_kafka_TopicPartitionInfo_partition(partitions[i]);
    const rd_kafka_Node_t* leader = rd_kafka_TopicPartitionInfo_leader(partitions[i]);
    info.leader = leader == nullptr ? -1 : rd_kafka_Node_id(leader);
    size_t nodes = 0;
    const rd_kafka_Node_t** replicas = rd_kafka_TopicPartitionInfo_replicas(partitions[i], &nodes);
    info.replicas = ids(replicas, nodes);
    const rd_kafka_Node_t** in_sync = rd_kafka_TopicPartitionInfo_isr(partitions[i], &nodes);
    info.in_sync = ids(in_sync, nodes);
    answer->topic.partitions.push_back(std::move(info));
  }
  std::sort(answer->topic.partitions.begin(), answer->topic.partitions.end(),
            [](const PartitionInfo& a, const PartitionInfo& b) { return a.id < b.id; });
}

void KafkaLookup::ReadOffsets(rd_kafka_event_t* event, LookupAnswer* answer) const {
  size_t count = 0;
  const rd_kafka_ListOffsetsResultInfo_t** infos =
      rd_kafka_ListOffsets_result_infos(rd_kafka_event_ListOffsets_result(event), &count);
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_topic_partition_t* partition = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
    if (partition->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      answer->offsets.emplace(partition->partition, partition->offset);
    } else {
      const std::string what =
          "offsets of topic '" + std::string(partition->topic) + "' partition " + std::to_string(partition->partition);
      answer->offsets.emplace(partition->partition, Fail(client_->ErrorStatus(partition->err, what)));
    }
  }
}

}  // namespace kafscope
