#include "web/http_message.h"

#include <algorithm>

#include "base/json_escape.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

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

std::optional<std::string> Target::Find(std::string_view name) const {
  for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
    if (it->first == name) return it->second;
  }
  return {};
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      if (i + 2 >= text.size()) return {};
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return {};
      out.push_back(static_cast<char>(high << 4 | low));
      i += 2;
    }
  }
  return out;
}

Result<Target> ParseTarget(std::string_view text) {
  if (text.size() > kMaxTargetBytes) return Fail(Status::InvalidArgument("the address is too long"));
  const size_t question = text.find('?');
  Target target;
  std::optional<std::string> path = PercentDecode(text.substr(0, question), /*plus_is_space=*/false);
  if (!path || path->empty() || path->front() != '/' || path->find('\0') != std::string::npos) {
    return Fail(Status::InvalidArgument("the address is malformed"));
  }
  target.path = *std::move(path);
  std::string_view rest = question == std::string_view::npos ? std::string_view() : text.substr(question + 1);
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    std::optional<std::string> name = PercentDecode(pair.substr(0, equals), true);
    std::optional<std::string> value =
        equals == std::string_view::npos ? std::string() : PercentDecode(pair.substr(equals + 1), true);
    if (!name || !value || !IsValidUtf8(*name) || !IsValidUtf8(*value)) {
      return Fail(Status::InvalidArgument("the address holds a parameter that is not percent-encoded UTF-8"));
    }
    if (target.parameters.size() == kMaxParameters) {
      return Fail(Status::InvalidArgument("the address holds too many parameters"));
    }
    target.parameters.emplace_back(*std::move(name), *std::move(value));
  }
  return target;
}

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
