#include "web/api.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/version.h"
#include "decode/decoder.h"
#include "pipeline/query_options.h"
#include "schema/avro_schema.h"
#include "schema/protobuf_schema.h"
#include "web/assets.h"
#include "web/metrics.h"

namespace kafscope {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kTopicsPrefix = "/api/v1/topics/";

HttpResponse JsonResponse(const Json& json) {
  HttpResponse response;
  // Text of others (error messages of brokers and compilers) may hold anything.
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// "line 3, column 9: …" and "FILE:3:9: …" as the numbers, if the message begins so.
void AddPlace(std::string_view message, Json* error) {
  int line = 0;
  int column = 0;
  const std::string text(message);
  const size_t at = text.find("line ");
  if (at != std::string::npos && std::sscanf(text.c_str() + at, "line %d, column %d", &line, &column) == 2) {
    (*error)["line"] = line;
    (*error)["column"] = column;
    return;
  }
  for (size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    if (std::sscanf(text.c_str() + colon, ":%d:%d:", &line, &column) == 2) {
      (*error)["line"] = line;
      (*error)["column"] = column;
      return;
    }
  }
}

Result<std::vector<std::string>> CompileSchema(const std::string& format, const std::string& text) {
  if (format == "avro") {
    KAFSCOPE_ASSIGN_OR_FAIL(const auto schema, AvroSchema::Parse(text));
    return std::vector<std::string>();
  }
  if (format == "protobuf") {
    ProtobufSource source;
    source.text = text;
    KAFSCOPE_ASSIGN_OR_FAIL(const auto schema, ProtobufSchema::Compile(source));
    return schema->names();
  }
  return Fail(Status::InvalidArgument("format: '" + format + "' has no schema: avro or protobuf"));
}

HttpResponse StaticFile(const std::string& path) {
  const Asset* asset = FindAsset(path == "/" ? "/index.html" : path);
  if (asset == nullptr) return ErrorResponse(404, "not_found", "no such page");
  HttpResponse response;
  response.content_type = asset->content_type;
  response.static_body = asset->content;
  // Files with a hash in their name never change; the page itself is asked for each time.
  response.headers.emplace_back("Cache-Control",
                                path.starts_with("/assets/") ? "public, max-age=31536000, immutable" : "no-cache");
  return response;
}

}  // namespace

Api::Api(ServerInfo info, const AccessPolicy* access, Cluster* cluster, const StreamManager* streams,
         const ServerCounters* counters, std::shared_ptr<MemoryBudget> budget)
    : info_(std::move(info)),
      access_(access),
      cluster_(cluster),
      streams_(streams),
      counters_(counters),
      budget_(std::move(budget)) {}

HttpResponse Api::Handle(const HttpRequest& request) {
  const std::string& path = request.target.path;
  if (path == "/healthz") {
    HttpResponse response;
    response.content_type = "text/plain; charset=utf-8";
    response.body = "ok\n";
    return response;
  }
  // The first page load brings the token, which then lives in a cookie and not in the address.
  if (access_->needs_token() && path == "/" && request.method == "GET") {
    const std::optional<std::string> token = request.target.Find("token");
    if (token && access_->IsToken(*token)) {
      HttpResponse response;
      response.status = 303;
      response.headers = {{"Set-Cookie", access_->CookieHeader()}, {"Location", "/"}, {"Cache-Control", "no-store"}};
      return response;
    }
  }
  if (Status status = access_->CheckToken(request); !status.ok()) return ErrorResponse(status);
  return HandleAllowed(request);
}

HttpResponse Api::HandleAllowed(const HttpRequest& request) {
  const std::string& path = request.target.path;
  const bool get = request.method == "GET" || request.method == "HEAD";
  if (path == "/api/v1/schema/check") {
    if (request.method != "POST") return ErrorResponse(405, "method_not_allowed", "POST is needed here");
    if (!request.content_type.starts_with("application/json")) {
      return ErrorResponse(415, "unsupported_media_type", "Content-Type must be application/json");
    }
    return CheckSchema(request.body);
  }
  if (!get) return ErrorResponse(405, "method_not_allowed", "only GET is allowed here");
  if (path == "/metrics") return Metrics();
  if (path == "/api/v1/status") return StatusReport();
  if (path == "/api/v1/topics") return Topics();
  if (path == "/api/v1/formats") return Formats();
  if (path.starts_with(kTopicsPrefix)) return Topic(path.substr(kTopicsPrefix.size()));
  if (path == "/ws") {
    // The page asks without an upgrade to learn what is wrong with a query.
    const Result<StreamQuery> query = ParseStreamQuery(request.target);
    if (!query) return ErrorResponse(query.error());
    return ErrorResponse(426, "upgrade_required", "a WebSocket is expected here");
  }
  return StaticFile(path);
}

Result<StreamQuery> Api::ParseStreamQuery(const Target& target) {
  StreamQuery query;
  query.batch.max_latency = std::chrono::milliseconds(50);
  const int64_t now_ms = NowMs();
  for (const auto& [name, value] : target.parameters) {
    if (name == "topic") {
      query.topic = value;
    } else if (!value.empty()) {
      KAFSCOPE_FAIL_IF_ERROR(SetQueryOption(name, value, now_ms, &query));
    } else if (FindQueryOption(name) == nullptr) {
      return Fail(Status::InvalidArgument("unknown option '" + name + "'"));
    }
  }
  KAFSCOPE_FAIL_IF_ERROR(CheckQuery(query));
  return query;
}

HttpResponse Api::StatusReport() const {
  const Status broker = cluster_->topics().status;
  const bool known = cluster_->topics().sampled_at_ms != 0 || !broker.ok();
  Json state = {{"connected", known && broker.ok()}};
  state["reason"] = broker.ok() ? (known ? Json() : Json("connecting")) : Json(broker.message());
  return JsonResponse({{"version", kVersion},
                       {"brokers", info_.brokers},
                       {"broker_state", state},
                       {"registry", info_.registry.empty() ? Json() : Json(info_.registry)},
                       {"demo", info_.demo}});
}

HttpResponse Api::Topics() const {
  const Cluster::Topics topics = cluster_->topics();
  if (topics.sampled_at_ms == 0 && !topics.status.ok()) return ErrorResponse(topics.status);
  Json rows = Json::array();
  for (const TopicRow& row : topics.rows) {
    Json& json = rows.emplace_back(Json{{"name", row.name},
                                        {"internal", row.internal},
                                        {"partitions", row.partitions},
                                        {"records", OrNull(row.records)},
                                        {"rate", OrNull(row.rate)}});
    if (!row.error.empty()) json["error"] = row.error;
  }
  return JsonResponse({{"topics", std::move(rows)}, {"sampled_at_ms", topics.sampled_at_ms}});
}

HttpResponse Api::Topic(const std::string& name) {
  if (Status status = CheckTopicName(name); !status.ok()) return ErrorResponse(status);
  const Result<std::vector<PartitionRow>> partitions = cluster_->Describe(name);
  if (!partitions) return ErrorResponse(partitions.error());
  Json rows = Json::array();
  for (const PartitionRow& row : *partitions) {
    rows.push_back(
        {{"id", row.id}, {"leader", row.leader}, {"start_offset", row.start_offset}, {"end_offset", row.end_offset}});
  }
  return JsonResponse({{"name", name}, {"partitions", std::move(rows)}});
}

HttpResponse Api::Metrics() const {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = MetricsText(*streams_, *counters_, budget_.get());
  return response;
}

HttpResponse Formats() {
  Json formats = Json::array();
  for (const DecoderEntry& entry : DecoderTable()) {
    formats.push_back({{"name", entry.name},
                       {"help", entry.help},
                       {"schema", entry.format == Format::kAvro || entry.format == Format::kProtobuf},
                       {"message", entry.format == Format::kProtobuf}});
  }
  Json keys = Json::array();
  for (const std::string_view name : KeyFormatNames()) keys.push_back(name);
  return JsonResponse({{"formats", std::move(formats)}, {"key_formats", std::move(keys)}});
}

HttpResponse CheckSchema(const std::string& body) {
  const Json request = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object() || !request.contains("format") || !request["format"].is_string() ||
      !request.contains("schema") || !request["schema"].is_string()) {
    return ErrorResponse(400, "invalid_argument", "the body must be {\"format\": …, \"schema\": …}");
  }
  const auto names = CompileSchema(request["format"].get<std::string>(), request["schema"].get<std::string>());
  if (names) return JsonResponse({{"ok", true}, {"messages", *names}});
  Json error = {{"message", names.error().message()}};
  AddPlace(names.error().message(), &error);
  return JsonResponse({{"ok", false}, {"error", std::move(error)}});
}

}  // namespace kafscope
