#include "base/url.h"

#include "base/utf8.h"

namespace kafscope {

namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
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

}  // namespace kafscope
