#include "source/embedded_broker.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

namespace kafscope {
namespace {

void DiscardLog(const rd_kafka_t* /*handle*/, int /*level*/, const char* /*facility*/, const char* /*text*/) {}

Status ToStatus(rd_kafka_resp_err_t error, const std::string& what) {
  const std::string text = what + ": " + rd_kafka_err2str(error);
  switch (error) {
    case RD_KAFKA_RESP_ERR_NO_ERROR: return {};
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: return Status::NotFound(text);
    default: return Status::InvalidArgument(text);
  }
}

}  // namespace

Result<std::unique_ptr<EmbeddedBroker>> EmbeddedBroker::Make(int brokers) {
  std::unique_ptr<EmbeddedBroker> broker(new EmbeddedBroker);
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set_log_cb(conf, &DiscardLog);
  char text[256] = "";
  broker->handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
  if (broker->handle_ == nullptr) {
    rd_kafka_conf_destroy(conf);
    return Fail(Status::Internal(std::string("embedded broker: ") + text));
  }
  broker->cluster_ = rd_kafka_mock_cluster_new(broker->handle_, brokers);
  if (broker->cluster_ == nullptr) return Fail(Status::Internal("embedded broker: cannot listen on 127.0.0.1"));
  // Else it names broker 0, which there is not, and no administrative request finds its way.
  rd_kafka_mock_set_controller_id(broker->cluster_, 1);
  broker->bootstrap_ = rd_kafka_mock_cluster_bootstraps(broker->cluster_);
  return broker;
}

EmbeddedBroker::~EmbeddedBroker() {
  if (cluster_ != nullptr) rd_kafka_mock_cluster_destroy(cluster_);
  if (handle_ != nullptr) rd_kafka_destroy(handle_);
}

Status EmbeddedBroker::CreateTopic(const std::string& name, int partitions) {
  return ToStatus(rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 1), "topic '" + name + "'");
}

Status EmbeddedBroker::DeleteTopic(const std::string& name) {
  return ToStatus(rd_kafka_mock_topic_delete(cluster_, name.c_str()), "topic '" + name + "'");
}

Status EmbeddedBroker::DeleteRecords(const std::string& topic, int32_t partition, int64_t before) {
  return ToStatus(rd_kafka_mock_partition_delete_records(cluster_, topic.c_str(), partition, before),
                  "topic '" + topic + "' partition " + std::to_string(partition));
}

Status EmbeddedBroker::SetDown(int broker) {
  return ToStatus(rd_kafka_mock_broker_set_down(cluster_, broker), "broker " + std::to_string(broker));
}

Status EmbeddedBroker::SetUp(int broker) {
  return ToStatus(rd_kafka_mock_broker_set_up(cluster_, broker), "broker " + std::to_string(broker));
}

}  // namespace kafscope
