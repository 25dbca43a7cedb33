#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
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

// `prefix=a&limit=5` of a URL.
std::map<std::string, std::string> Parameters(const std::string& url) {
  std::map<std::string, std::string> parameters;
  const size_t question = url.find('?');
  if (question == std::string::npos) return parameters;
  std::string name;
  std::string value;
  bool in_value = false;
  const auto keep = [&] {
    if (!name.empty()) parameters[name] = value;
    name.clear();
    value.clear();
    in_value = false;
  };
  for (size_t i = question + 1; i < url.size(); ++i) {
    char c = url[i];
    if (c == '&') {
      keep();
      continue;
    }
    if (c == '=' && !in_value) {
      in_value = true;
      continue;
    }
    if (c == '+') c = ' ';
    if (c == '%' && i + 2 < url.size()) {
      const std::string hex = url.substr(i + 1, 2);
      if (hex.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) {
        c = static_cast<char>(std::stoi(hex, nullptr, 16));
        i += 2;
      }
    }
    (in_value ? value : name).push_back(c);
  }
  keep();
  return parameters;
}

using Request = pluginv2::CallResourceRequest;
using Parameter = std::map<std::string, std::string>;

Answer Topics(Instance& instance, const Request&, Parameter parameters) {
  const auto admin = instance.admin();
  if (!admin) return Failed(admin.error());
  const auto topics = (*admin)->ListTopics(kTimeout);
  if (!topics) return Failed(topics.error());
  const std::string& prefix = parameters["prefix"];
  const std::string& limit_text = parameters["limit"];
  const size_t limit =
      limit_text.empty() || limit_text.find_first_not_of("0123456789") != std::string::npos || limit_text.size() > 6
          ? 5
          : std::stoul(limit_text);
  Json names = Json::array();
  for (const TopicSummary& topic : *topics) {
    if (names.size() >= limit) break;
    if (!topic.internal && topic.name.starts_with(prefix)) names.push_back(topic.name);
  }
  return {200, {{"topics", names}, {"prefix", prefix}, {"limit", limit}}};
}

Answer Partitions(Instance& instance, const Request&, Parameter parameters) {
  const std::string& topic = parameters["topic"];
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

Answer ValidateAvro(Instance&, const Request& request, Parameter) {
  const auto schema = AvroSchema::Parse(SchemaText(request));
  return Verdict(schema ? Status() : schema.error());
}

Answer ValidateProtobuf(Instance&, const Request& request, Parameter) {
  ProtobufSource source;
  source.text = SchemaText(request);
  const auto schema = ProtobufSchema::Compile(source);
  return Verdict(schema ? Status() : schema.error());
}

Answer ValidateRegistry(Instance& instance, const Request&, Parameter) {
  if (!instance.settings().has_registry) return {400, {{"error", "schemaRegistryUrl is not set"}}};
  return {200, {{"status", "ok"}, {"message", "the address is valid; it is asked when a record needs a schema"}}};
}

// Field names, and distinct values of one, of the newest records: for template variables and the editor.
Answer Recent(Instance& instance, const Request& request, Parameter parameters, bool values) {
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
  const int index = rows->frame->schema().IndexOf(parameters["field"]);
  if (index < 0) return {404, {{"error", "no record of the last hour has the field '" + parameters["field"] + "'"}}};
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
    std::function<Answer(Instance&, const Request&, Parameter)> handle;
  };
  static const std::vector<Entry> kRoutes = {
      {"GET", "topics", Topics},
      {"GET", "partitions", Partitions},
      {"GET", "validate-schema-registry", ValidateRegistry},
      {"POST", "validate-avro-schema", ValidateAvro},
      {"POST", "validate-protobuf-schema", ValidateProtobuf},
      {"POST", "fields", [](Instance& i, const Request& r, Parameter p) { return Recent(i, r, std::move(p), false); }},
      {"POST", "values", [](Instance& i, const Request& r, Parameter p) { return Recent(i, r, std::move(p), true); }},
  };
  std::string path = request.path();
  if (path.starts_with('/')) path.erase(0, 1);
  bool known = false;
  for (const Entry& entry : kRoutes) {
    if (entry.path != path) continue;
    known = true;
    if (entry.method == request.method()) return entry.handle(instance, request, Parameters(request.url()));
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
