// HttpRequest and HttpResponse: what the handlers see of HTTP, free of any library, so that they can be fuzzed.
// Cost: parsing allocates per parameter. Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/url.h"

namespace kafscope {

// Bounds of what a client may send.
inline constexpr size_t kMaxHeaderBytes = 512 * 1024;
inline constexpr size_t kMaxBodyBytes = size_t{2} << 20;

// The value of one cookie of a Cookie header.
std::optional<std::string_view> FindCookie(std::string_view header, std::string_view name);

struct HttpRequest {
  std::string method;
  Target target;
  std::string host;  // headers, empty if absent
  std::string origin;
  std::string authorization;
  std::string cookie;
  std::string content_type;
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string_view static_body;                              // instead of `body`, for embedded files
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
};

// `{"error":{"code":…,"message":…}}` with the HTTP status that fits.
HttpResponse ErrorResponse(const Status& status);
HttpResponse ErrorResponse(int http_status, std::string_view code, std::string_view message);

}  // namespace kafscope
