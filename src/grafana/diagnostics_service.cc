#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "decode/decode_error.h"
#include "grafana/services.h"

namespace kafscope {

namespace {

// protobuf `string` fields must be UTF-8, or the host refuses the whole answer.
std::string Clean(std::string_view text) {
  std::string clean;
  AppendReplacedUtf8(text, &clean);
  return clean;
}

void Refuse(const Status& status, pluginv2::CheckHealthResponse* response) {
  response->set_status(pluginv2::CheckHealthResponse::ERROR);
  response->set_message(Clean(status.message()));
  const nlohmann::json details = {{"code", StatusCodeName(status.code())}};
  response->set_jsondetails(details.dump());
}

void AppendMetric(std::string_view name, std::string_view labels, uint64_t value, std::string* out) {
  out->append(name).append("{").append(labels).append("} ").append(std::to_string(value)).append("\n");
}

}  // namespace

grpc::Status DiagnosticsService::CheckHealth(grpc::ServerContext*, const pluginv2::CheckHealthRequest* request,
                                             pluginv2::CheckHealthResponse* response) {
  const auto instance = instances_.Get(request->plugincontext());
  if (!instance) {
    Refuse(instance.error(), response);
    return grpc::Status::OK;
  }
  const auto admin = (*instance)->admin();
  if (!admin) {
    Refuse(admin.error(), response);
    return grpc::Status::OK;
  }
  const auto topics = (*admin)->ListTopics((*instance)->settings().health_timeout);
  if (!topics) {
    Refuse(topics.error().WithContext("cannot reach Kafka at " + (*instance)->settings().kafka.brokers), response);
    return grpc::Status::OK;
  }
  response->set_status(pluginv2::CheckHealthResponse::OK);
  response->set_message("Kafka answers: " + std::to_string(topics->size()) + " topics");
  return grpc::Status::OK;
}

grpc::Status DiagnosticsService::CollectMetrics(grpc::ServerContext*, const pluginv2::CollectMetricsRequest*,
                                                pluginv2::CollectMetricsResponse* response) {
  std::string text =
      "# TYPE kafscope_records_received_total counter\n# TYPE kafscope_rows_total counter\n"
      "# TYPE kafscope_error_rows_total counter\n# TYPE kafscope_frames_total counter\n"
      "# TYPE kafscope_streams gauge\n# TYPE kafscope_data_sources gauge\n";
  const auto instances = instances_.all();
  text.append("kafscope_data_sources ").append(std::to_string(instances.size())).append("\n");
  for (const auto& [key, instance] : instances) {
    StreamStats sum = instance->streams().past();
    const auto running = instance->streams().running();
    for (const auto& stream : running) AddCounters(stream.stats, &sum);
    const std::string labels = "datasource=\"" + Clean(instance->uid()) + "\"";
    AppendMetric("kafscope_records_received_total", labels, sum.received, &text);
    AppendMetric("kafscope_rows_total", labels, sum.decode.rows, &text);
    for (size_t reason = 1; reason < kErrorReasonCount; ++reason) {
      if (sum.decode.errors[reason] == 0) continue;
      const std::string with_reason =
          labels + ",reason=\"" + std::string(ErrorReasonName(static_cast<ErrorReason>(reason))) + "\"";
      AppendMetric("kafscope_error_rows_total", with_reason, sum.decode.errors[reason], &text);
    }
    AppendMetric("kafscope_frames_total", labels, sum.frames, &text);
    AppendMetric("kafscope_streams", labels, running.size(), &text);
  }
  response->mutable_metrics()->set_prometheus(text);
  return grpc::Status::OK;
}

}  // namespace kafscope
