#include "source/kafka_producer.h"

#include <librdkafka/rdkafka.h>

namespace kafscope {

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::Make(const KafkaOptions& options) {
  std::unique_ptr<KafkaProducer> producer(new KafkaProducer);
  KafkaClient::Settings settings;
  settings.kind = KafkaClient::Kind::kProducer;
  settings.defaults = {{"linger.ms", "5"}};
  settings.on_delivery = &OnDelivery;
  settings.opaque = producer.get();
  KAFSCOPE_ASSIGN_OR_FAIL(producer->client_, KafkaClient::Make(options, settings));
  return producer;
}

KafkaProducer::~KafkaProducer() {
  if (client_ == nullptr) return;
  rd_kafka_flush(client_->handle(), 1000);
  rd_kafka_purge(client_->handle(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(client_->handle(), 100);
}

void KafkaProducer::OnDelivery(rd_kafka_t* /*handle*/, const rd_kafka_message_t* message, void* opaque) {
  auto* self = static_cast<KafkaProducer*>(opaque);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    self->delivered_.fetch_add(1, std::memory_order_relaxed);
  } else {
    self->last_error_.store(message->err, std::memory_order_relaxed);
    self->failed_.fetch_add(1, std::memory_order_relaxed);
  }
}

Result<bool> KafkaProducer::Send(const std::string& topic, const ProducerRecord& record) {
  rd_kafka_headers_t* headers = nullptr;
  if (!record.headers.empty()) {
    headers = rd_kafka_headers_new(record.headers.size());
    for (const RecordHeader& header : record.headers) {
      rd_kafka_header_add(headers, header.name.data(), static_cast<ssize_t>(header.name.size()),
                          header.value_is_null ? nullptr : header.value.data(),
                          header.value_is_null ? 0 : static_cast<ssize_t>(header.value.size()));
    }
  }
  // An empty value is not a null one: librdkafka tells them apart by the pointer.
  const auto pointer = [](const std::optional<std::string_view>& text) -> void* {
    if (!text) return nullptr;
    return const_cast<char*>(text->data() == nullptr ? "" : text->data());
  };
  const auto size = [](const std::optional<std::string_view>& text) { return text ? text->size() : 0; };
  const rd_kafka_resp_err_t error =
      rd_kafka_producev(client_->handle(), RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(record.partition),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(pointer(record.key), size(record.key)),
                        RD_KAFKA_V_VALUE(pointer(record.value), size(record.value)),
                        RD_KAFKA_V_TIMESTAMP(record.timestamp_ms), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  if (headers != nullptr) rd_kafka_headers_destroy(headers);
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
  return Fail(client_->ErrorStatus(error, "sending to topic '" + topic + "'"));
}

Status KafkaProducer::SendWaiting(const std::string& topic, const ProducerRecord& record,
                                  std::chrono::steady_clock::time_point deadline) {
  while (true) {
    const Result<bool> sent = Send(topic, record);
    if (!sent) return sent.error();
    if (*sent) return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      const Status fault = client_->FaultAsStatus();
      return fault.ok() ? Status::DeadlineExceeded("the queue of records to send stays full") : fault;
    }
    Serve(std::chrono::milliseconds(20));
  }
}

void KafkaProducer::Serve(std::chrono::milliseconds wait) {
  rd_kafka_poll(client_->handle(), static_cast<int>(wait.count()));
}

Status KafkaProducer::Flush(std::chrono::milliseconds timeout) {
  if (rd_kafka_flush(client_->handle(), static_cast<int>(timeout.count())) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const int waiting = rd_kafka_outq_len(client_->handle());
    const Status fault = client_->FaultAsStatus();
    const std::string text = std::to_string(waiting) + " records are not confirmed yet";
    return fault.ok() ? Status::DeadlineExceeded(text) : fault.WithContext(text);
  }
  return last_error();
}

Status KafkaProducer::last_error() const {
  return client_->ErrorStatus(last_error_.load(std::memory_order_relaxed), "sending failed");
}

}  // namespace kafscope
