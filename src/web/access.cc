#include "web/access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

namespace kafscope {

namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

// A token in a cookie: whatever is not a plain character is escaped.
std::string CookieValue(std::string_view token) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : token) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
    if (plain) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

std::string HostNameOf(std::string_view host) {
  std::string_view name = host;
  std::string_view port;
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    name = host.substr(1, end - 1);
    port = host.substr(end + 1);
  } else if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon);
  }
  if (!port.empty()) {
    if (port.front() != ':') return {};
    if (!std::ranges::all_of(port.substr(1), [](char c) { return c >= '0' && c <= '9'; })) return {};
  }
  return Lower(name);
}

bool IsIpAddress(std::string_view name) {
  const std::string text(name);
  in6_addr address;
  return inet_pton(AF_INET, text.c_str(), &address) == 1 || inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool IsLoopback(std::string_view name) {
  return name == "localhost" || name == "::1" || (IsIpAddress(name) && name.starts_with("127."));
}

AccessPolicy::AccessPolicy(std::string token, std::vector<std::string> allowed_hosts)
    : token_(std::move(token)), allowed_hosts_(std::move(allowed_hosts)) {}

Status AccessPolicy::CheckPlace(const HttpRequest& request) const {
  const std::string name = HostNameOf(request.host);
  const bool known =
      !name.empty() &&
      (name == "localhost" || IsIpAddress(name) ||
       std::ranges::any_of(allowed_hosts_, [&](const std::string& allowed) { return Lower(allowed) == name; }));
  if (!known) {
    return Status::PermissionDenied("this server is not known as '" + request.host +
                                    "': start it with --allow-host NAME to allow that name");
  }
  if (request.origin.empty()) return {};
  const size_t scheme = request.origin.find("://");
  if (scheme == std::string::npos || Lower(request.origin.substr(scheme + 3)) != Lower(request.host)) {
    return Status::PermissionDenied("a page of another site (" + request.origin + ") may not use this server");
  }
  return {};
}

Status AccessPolicy::CheckToken(const HttpRequest& request) const {
  if (token_.empty()) return {};
  static constexpr std::string_view kBearer = "Bearer ";
  if (request.authorization.starts_with(kBearer) && IsToken(request.authorization.substr(kBearer.size()))) return {};
  if (const auto cookie = FindCookie(request.cookie, kTokenCookie); cookie.has_value()) {
    const std::optional<std::string> token = PercentDecode(*cookie, /*plus_is_space=*/false);
    if (token && IsToken(*token)) return {};
  }
  return Status::Unauthenticated("this server needs its token: open /?token=TOKEN once, or send it as a bearer token");
}

std::string AccessPolicy::CookieHeader() const {
  return std::string(kTokenCookie) + "=" + CookieValue(token_) + "; Path=/; HttpOnly; SameSite=Strict";
}

}  // namespace kafscope
