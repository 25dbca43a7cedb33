// Whatever a client sends as address, headers and body: no crash, and every query that is accepted is within bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pipeline/query_options.h"
#include "web/access.h"
#include "web/api.h"
#include "web/http_message.h"

namespace {

// The part up to the next NUL byte.
std::string_view NextPart(std::string_view* rest) {
  const size_t end = rest->find('\0');
  const std::string_view part = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return part;
}

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kafscope;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view target_text = NextPart(&rest);
  HttpRequest request;
  request.host = NextPart(&rest);
  request.origin = NextPart(&rest);
  request.authorization = NextPart(&rest);
  request.cookie = NextPart(&rest);

  const AccessPolicy access("token", {"name"});
  if (access.CheckPlace(request).ok()) Require(!HostNameOf(request.host).empty());
  if (access.CheckToken(request).ok()) {
    Require(request.authorization == "Bearer token" || FindCookie(request.cookie, kTokenCookie).has_value());
  }
  if (const auto target = ParseTarget(target_text)) {
    Require(target->path.front() == '/' && target->parameters.size() <= kMaxParameters);
    if (const auto query = Api::ParseStreamQuery(*target)) {
      Require(CheckTopicName(query->topic).ok());
      Require(query->decode.max_depth >= 1 && query->decode.max_depth <= 64);
      Require(query->max_fields >= 1 && query->max_fields <= 10'000);
      Require(query->Fingerprint().size() == 64);
    }
  }
  static_cast<void>(CheckSchema(std::string(rest)));
  return 0;
}
