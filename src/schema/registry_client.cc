#include "schema/registry_client.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/base64.h"

namespace kafscope {
namespace {

using nlohmann::json;

constexpr int kSubjectNotFound = 40401;
constexpr int kVersionNotFound = 40402;
constexpr int kSchemaNotFound = 40403;
constexpr size_t kMaxQuotedAnswer = 200;

// A path segment: everything but unreserved characters is escaped.
std::string Segment(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[static_cast<uint8_t>(c) >> 4];
      out += kDigits[static_cast<uint8_t>(c) & 15];
    }
  }
  return out;
}

// What of a body may stand in a message: one short line of printable text.
std::string Excerpt(std::string_view body) {
  std::string out;
  for (char c : body.substr(0, kMaxQuotedAnswer)) out += static_cast<uint8_t>(c) < ' ' || c == 0x7f ? ' ' : c;
  while (!out.empty() && (static_cast<uint8_t>(out.back()) & 0x80) != 0) out.pop_back();  // perhaps half a character
  return out;
}

bool MayTryNext(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kDeadlineExceeded ||
         status.code() == StatusCode::kDataLoss;
}

// What an answer that is not 200 means.
Status StatusOf(const HttpGetResponse& response, const std::string& place) {
  const json body = json::parse(response.body, nullptr, false);
  int code = 0;
  std::string message;
  if (body.is_object()) {
    if (const auto it = body.find("error_code"); it != body.end() && it->is_number_integer()) code = it->get<int>();
    if (const auto it = body.find("message"); it != body.end() && it->is_string()) {
      message = Excerpt(it->get_ref<const std::string&>());
    }
  }
  const std::string words = message.empty() ? "HTTP " + std::to_string(response.status) : message;
  switch (response.status) {
    case 401: return Status::Unauthenticated(place + ": " + words + " (see --registry-user, --registry-token-file)");
    case 403: return Status::PermissionDenied(place + ": " + words);
    case 404:
      if (code == kSchemaNotFound || code == kSubjectNotFound || code == kVersionNotFound || code == 404) {
        return Status::NotFound("the registry does not know it: " + words);
      }
      return Status::DataLoss(place +
                              ": not found, and not a schema registry's answer (is the path of --registry right?)");
    default: break;
  }
  if (response.status >= 500 || response.status == 429) return Status::Unavailable(place + ": " + words);
  return Status::DataLoss(place + ": unexpected answer: " + words);
}

}  // namespace

// What the registry says about one schema.
struct RegistryClient::Answer {
  struct Reference {
    std::string name;
    std::string subject;
    int32_t version = 0;
  };
  int32_t id = 0;
  std::string guid;
  SchemaType type = SchemaType::kAvro;
  std::string text;
  std::vector<Reference> references;

  static Result<Answer> Parse(const std::string& body, const std::string& place) {
    const auto refuse = [&](const std::string& why) {
      return Fail(Status::DataLoss(place + ": not a schema registry's answer: " + why));
    };
    const json root = json::parse(body, nullptr, false);
    if (!root.is_object()) return refuse("'" + Excerpt(body) + "'");
    Answer answer;
    const auto schema = root.find("schema");
    if (schema == root.end() || !schema->is_string()) return refuse("no \"schema\"");
    answer.text = schema->get<std::string>();
    if (const auto id = root.find("id"); id != root.end() && id->is_number_integer()) answer.id = id->get<int32_t>();
    if (const auto guid = root.find("guid"); guid != root.end() && guid->is_string())
      answer.guid = guid->get<std::string>();
    if (const auto type = root.find("schemaType"); type != root.end() && type->is_string()) {
      const auto& name = type->get_ref<const std::string&>();
      if (name == "PROTOBUF") {
        answer.type = SchemaType::kProtobuf;
      } else if (name == "JSON") {
        answer.type = SchemaType::kJson;
      } else if (name != "AVRO") {
        return Fail(Status::Unsupported(place + ": schema type '" + Excerpt(name) + "' is not supported"));
      }
    }
    const auto references = root.find("references");
    if (references == root.end() || references->is_null()) return answer;
    if (!references->is_array()) return refuse("\"references\" is not an array");
    for (const json& entry : *references) {
      if (!entry.is_object() || !entry.contains("subject") || !entry["subject"].is_string() ||
          !entry.contains("version") || !entry["version"].is_number_integer()) {
        return refuse("a reference without subject and version");
      }
      Reference reference;
      if (entry.contains("name") && entry["name"].is_string()) reference.name = entry["name"].get<std::string>();
      reference.subject = entry["subject"].get<std::string>();
      reference.version = entry["version"].get<int32_t>();
      answer.references.push_back(std::move(reference));
    }
    return answer;
  }
};

Result<std::unique_ptr<RegistryClient>> RegistryClient::Make(RegistryOptions options) {
  std::unique_ptr<HttpTls> tls;
  if (std::any_of(options.urls.begin(), options.urls.end(), [](const RegistryUrl& url) { return url.tls; })) {
    KAFSCOPE_ASSIGN_OR_FAIL(tls, HttpTls::Make({options.ca_file, options.cert_file, options.key_file}));
  }
  return std::unique_ptr<RegistryClient>(new RegistryClient(std::move(options), std::move(tls)));
}

RegistryClient::RegistryClient(RegistryOptions options, std::unique_ptr<HttpTls> tls)
    : options_(std::move(options)), tls_(std::move(tls)) {}

Result<RegisteredSchema> RegistryClient::FetchById(int32_t id) {
  auto schema = Fetch("/schemas/ids/" + std::to_string(id));
  if (schema) schema->id = id;
  return schema;
}

Result<RegisteredSchema> RegistryClient::FetchByGuid(std::string_view guid) {
  auto schema = Fetch("/schemas/guids/" + Segment(guid));
  if (schema) schema->guid = guid;
  return schema;
}

Result<RegisteredSchema> RegistryClient::FetchBySubject(std::string_view subject, std::string_view version) {
  return Fetch("/subjects/" + Segment(subject) + "/versions/" + Segment(version));
}

Result<RegisteredSchema> RegistryClient::Fetch(const std::string& path) {
  KAFSCOPE_ASSIGN_OR_FAIL(Answer answer, Ask(path));
  RegisteredSchema schema;
  Seen seen;
  KAFSCOPE_FAIL_IF_ERROR(AddReferences(answer, 0, &seen, &schema));
  schema.id = answer.id;
  schema.guid = std::move(answer.guid);
  schema.type = answer.type;
  schema.text = std::move(answer.text);
  return schema;
}

Status RegistryClient::AddReferences(const Answer& answer, int depth, Seen* seen, RegisteredSchema* schema) {
  for (const Answer::Reference& reference : answer.references) {
    if (!seen->emplace(reference.subject, reference.version).second) continue;
    if (seen->size() > kMaxReferences || depth >= kMaxReferenceDepth) {
      return Status::DataLoss("the schema has too many references");
    }
    const std::string path =
        "/subjects/" + Segment(reference.subject) + "/versions/" + std::to_string(reference.version);
    auto inner = Ask(path);
    // A version that was deleted since is still what the schema was written with.
    if (!inner && inner.error().code() == StatusCode::kNotFound) inner = Ask(path + "?deleted=true");
    if (!inner) {
      return inner.error().WithContext("reference " + Excerpt(reference.subject) + " version " +
                                       std::to_string(reference.version));
    }
    KAFSCOPE_RETURN_IF_ERROR(AddReferences(*inner, depth + 1, seen, schema));
    schema->references.push_back({reference.name, reference.subject, reference.version, std::move(inner->text)});
  }
  return Status::Ok();
}

Result<RegistryClient::Answer> RegistryClient::Ask(const std::string& path) {
  const size_t count = options_.urls.size();
  const size_t first = first_url_.load(std::memory_order_relaxed);
  Status failure = Status::InvalidArgument("--registry: no address");
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (first + i) % count;
    auto answer = AskOne(options_.urls[at], path);
    if (answer || !MayTryNext(answer.error())) {
      first_url_.store(at, std::memory_order_relaxed);
      return answer;
    }
    failure = answer.error();
  }
  return Fail(std::move(failure));
}

Result<RegistryClient::Answer> RegistryClient::AskOne(const RegistryUrl& url, const std::string& path) {
  const std::string place = "registry " + url.Text();
  auto response = GetFollowing(url, url.prefix + path);
  if (!response) return Fail(response.error().WithContext(place));
  if (response->status != 200) return Fail(StatusOf(*response, place));
  return Answer::Parse(response->body, place);
}

Result<HttpGetResponse> RegistryClient::GetFollowing(RegistryUrl url, std::string target) {
  for (int redirects = 0;; ++redirects) {
    HttpGetRequest request;
    request.tls = url.tls ? tls_.get() : nullptr;
    if (url.tls && tls_ == nullptr) {
      return Fail(Status::Unavailable("it redirects to https: give that address to --registry"));
    }
    request.host = url.host;
    request.port = url.port;
    request.host_header = url.HostHeader();
    request.target = target;
    request.accept = "application/vnd.schemaregistry.v1+json, application/json;q=0.9, */*;q=0.1";
    if (url.has_user) {
      request.authorization = "Basic " + ToBase64(url.user + ":" + url.password);
    } else if (!options_.user.empty()) {
      request.authorization = "Basic " + ToBase64(options_.user + ":" + options_.password);
    } else if (!options_.token.empty()) {
      request.authorization = "Bearer " + options_.token;
    }
    request.timeout = options_.timeout;
    request.max_body = options_.max_body;
    request.cancelled = &cancelled_;
    KAFSCOPE_ASSIGN_OR_FAIL(HttpGetResponse response, HttpGet(request));
    if (response.status < 301 || response.status > 308 || response.status == 304 || response.status == 305) {
      return response;
    }
    if (redirects == kMaxRedirects) return Fail(Status::DataLoss("too many redirects"));
    if (response.location.starts_with('/') && !response.location.starts_with("//")) {
      target = response.location;
      continue;
    }
    // `https://host:port/path?query`: the query is not part of an address of ours.
    const size_t query = response.location.find('?');
    const auto to = ParseRegistryUrl(std::string_view(response.location).substr(0, query));
    if (!to || to->host != url.host || (url.tls && !to->tls) || to->has_user) {
      return Fail(Status::DataLoss("a redirect to another host is not followed"));
    }
    url.tls = to->tls;
    url.port = to->port;
    target =
        (to->prefix.empty() ? "/" : to->prefix) + (query == std::string::npos ? "" : response.location.substr(query));
  }
}

}  // namespace kafscope
