#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "base/parse.h"
#include "base/url.h"
#include "frame/widen.h"
#include "grafana/history.h"
#include "grafana/services.h"
#include "schema/avro_schema.h"
#include "schema/protobuf_schema.h"

namespace kafscope {

namespace {

using Json = nlohmann::json;
constexpr std::chrono::milliseconds kTimeout{5000};
constexpr size_t kMaxDistinct = 1000;

struct Answer {
  int code = 200;
  Json body;
};

Answer Failed(const Status& status) {
  int code = 502;
  if (status.code() == StatusCode::kInvalidArgument) code = 400;
  if (status.code() == StatusCode::kNotFound) code = 404;
  if (status.code() == StatusCode::kPermissionDenied) code = 403;
  return {code, {{"error", status.message()}}};
}

using Request = pluginv2::CallResourceRequest;

Answer Topics(Instance& instance, const Request&, const Target& target) {
  const auto admin = instance.admin();
  if (!admin) return Failed(admin.error());
  const auto topics = (*admin)->ListTopics(kTimeout);
  if (!topics) return Failed(topics.error());
  const std::string prefix = target.Find("prefix").value_or("");
  constexpr uint64_t kDefaultLimit = 5;
  const uint64_t limit = ParseUnsigned(target.Find("limit").value_or(""), 0, 999'999).value_or(kDefaultLimit);
  Json names = Json::array();
  for (const TopicSummary& topic : *topics) {
    if (names.size() >= limit) break;
    if (!topic.internal && topic.name.starts_with(prefix)) names.push_back(topic.name);
  }
  return {200, {{"topics", names}, {"prefix", prefix}, {"limit", limit}}};
}

Answer Partitions(Instance& instance, const Request&, const Target& target) {
  const std::string topic = target.Find("topic").value_or("");
  if (topic.empty()) return {400, {{"error", "topic is missing"}}};
  const auto admin = instance.admin();
  if (!admin) return Failed(admin.error());
  const auto topics = (*admin)->ListTopics(kTimeout);
  if (!topics) return Failed(topics.error());
  for (const TopicSummary& summary : *topics) {
    if (summary.name != topic) continue;
    Json numbers = Json::array();
    for (int i = 0; i < summary.partitions; ++i) numbers.push_back(i);
    return {200, {{"partitions", numbers}, {"topic", topic}}};
  }
  return {404, {{"error", "topic '" + topic + "' does not exist"}}};
}

std::string SchemaText(const Request& request) {
  const Json body = Json::parse(request.body(), nullptr, false);
  const bool good = body.is_object() && body.contains("schema") && body["schema"].is_string();
  return good ? body["schema"].get<std::string>() : std::string();
}

Answer Verdict(const Status& status) {
  return {
      status.ok() ? 200 : 400,
      {{"status", status.ok() ? "ok" : "error"}, {"message", status.ok() ? "the schema is valid" : status.message()}}};
}

Answer ValidateAvro(Instance&, const Request& request, const Target&) {
  const auto schema = AvroSchema::Parse(SchemaText(request));
  return Verdict(schema ? Status() : schema.error());
}

Answer ValidateProtobuf(Instance&, const Request& request, const Target&) {
  ProtobufSource source;
  source.text = SchemaText(request);
  const auto schema = ProtobufSchema::Compile(source);
  return Verdict(schema ? Status() : schema.error());
}

Answer ValidateRegistry(Instance& instance, const Request&, const Target&) {
  if (!instance.settings().has_registry) return {400, {{"error", "schemaRegistryUrl is not set"}}};
  return {200, {{"status", "ok"}, {"message", "the address is valid; it is asked when a record needs a schema"}}};
}

// Field names, and distinct values of one, of the newest records: for template variables and the editor.
Answer Recent(Instance& instance, const Request& request, const Target& target, bool values) {
  auto query = ParsePanelQuery(request.body(), instance.settings(), instance.schemas());
  if (!query) return Failed(query.error());
  const int64_t now = NowMs();
  const auto rows = ReadHistory(instance, *query, {now - 3'600'000, now, 0});
  if (!rows) return Failed(rows.error());
  Json answer = Json::array();
  if (!values) {
    for (const Field& field : rows->frame->schema().fields()) {
      answer.push_back({{"name", field.name}, {"type", DataTypeName(field.type)}});
    }
    return {200, {{"fields", answer}, {"records", rows->records}}};
  }
  const std::string field = target.Find("field").value_or("");
  const int index = rows->frame->schema().IndexOf(field);
  if (index < 0) return {404, {{"error", "no record of the last hour has the field '" + field + "'"}}};
  std::set<std::string> distinct;
  const ColumnData& column = rows->frame->column(static_cast<size_t>(index));
  for (size_t row = 0; row < rows->frame->num_rows() && distinct.size() < kMaxDistinct; ++row) {
    if (column.IsNull(row)) continue;
    std::string text;
    AppendValueText(column, row, &text);
    distinct.insert(std::move(text));
  }
  return {200, {{"values", distinct}}};
}

Answer Route(Instance& instance, const Request& request) {
  struct Entry {
    std::string_view method;
    std::string_view path;
    std::function<Answer(Instance&, const Request&, const Target&)> handle;
  };
  static const std::vector<Entry> kRoutes = {
      {"GET", "topics", Topics},
      {"GET", "partitions", Partitions},
      {"GET", "validate-schema-registry", ValidateRegistry},
      {"POST", "validate-avro-schema", ValidateAvro},
      {"POST", "validate-protobuf-schema", ValidateProtobuf},
      {"POST", "fields", [](Instance& i, const Request& r, const Target& t) { return Recent(i, r, t, false); }},
      {"POST", "values", [](Instance& i, const Request& r, const Target& t) { return Recent(i, r, t, true); }},
  };
  const std::string_view url = request.url();
  const auto target = ParseTarget(url.starts_with('/') ? std::string(url) : "/" + std::string(url));
  if (!target) return Failed(target.error());
  std::string path = request.path();
  if (path.starts_with('/')) path.erase(0, 1);
  bool known = false;
  for (const Entry& entry : kRoutes) {
    if (entry.path != path) continue;
    known = true;
    if (entry.method == request.method()) return entry.handle(instance, request, *target);
  }
  if (known) return {405, {{"error", request.method() + " is not for " + path}}};
  return {404, {{"error", "no resource " + path}}};
}

}  // namespace

grpc::Status ResourceService::CallResource(grpc::ServerContext*, const pluginv2::CallResourceRequest* request,
                                           grpc::ServerWriter<pluginv2::CallResourceResponse>* writer) {
  const auto instance = instances_.Get(request->plugincontext());
  const Answer answer = instance ? Route(**instance, *request) : Failed(instance.error());
  pluginv2::CallResourceResponse response;
  response.set_code(answer.code);
  (*response.mutable_headers())["Content-Type"].add_values("application/json");
  response.set_body(answer.body.dump(-1, ' ', false, Json::error_handler_t::replace));
  writer->Write(response);
  return grpc::Status::OK;
}

}  // namespace kafscope
