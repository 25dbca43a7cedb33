#include "web/http_message.h"

#include "base/json_escape.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

int HttpStatus(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return 200;
    case StatusCode::kInvalidArgument: return 400;
    case StatusCode::kUnauthenticated: return 401;
    case StatusCode::kPermissionDenied: return 403;
    case StatusCode::kNotFound: return 404;
    case StatusCode::kResourceExhausted: return 429;
    case StatusCode::kUnsupported: return 501;
    case StatusCode::kUnavailable: return 503;
    case StatusCode::kDeadlineExceeded: return 504;
    case StatusCode::kDataLoss:
    case StatusCode::kCancelled:
    case StatusCode::kInternal: return 500;
  }
  return 500;
}

}  // namespace

std::optional<std::string_view> FindCookie(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = header.find(';');
    std::string_view cookie = header.substr(0, end);
    header = end == std::string_view::npos ? std::string_view() : header.substr(end + 1);
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
    const size_t equals = cookie.find('=');
    if (equals != std::string_view::npos && cookie.substr(0, equals) == name) return cookie.substr(equals + 1);
  }
  return {};
}

HttpResponse ErrorResponse(int http_status, std::string_view code, std::string_view message) {
  HttpResponse response;
  response.status = http_status;
  response.body = "{\"error\":{\"code\":";
  AppendJsonString(code, &response.body);
  response.body += ",\"message\":";
  std::string valid;
  AppendReplacedUtf8(message, &valid);
  AppendJsonString(valid, &response.body);
  response.body += "}}";
  return response;
}

HttpResponse ErrorResponse(const Status& status) {
  return ErrorResponse(HttpStatus(status.code()), StatusCodeName(status.code()), status.message());
}

}  // namespace kafscope
