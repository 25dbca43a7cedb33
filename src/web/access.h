// AccessPolicy: who may speak to the server.
//
//   Host     a name that could be somebody else's would allow DNS rebinding: only addresses, localhost and names
//   allowed Origin   where a browser sends one, it must be the server itself: no other site's page may open a WebSocket
//   Token    where one is set: `Authorization: Bearer T`, or the cookie that the first page load (`/?token=T`) sets
//
// Threads: immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "web/http_message.h"

namespace kafscope {

inline constexpr std::string_view kTokenCookie = "kafscope_token";

// Compares in a time that depends on the lengths only.
bool EqualInConstantTime(std::string_view a, std::string_view b);
// "host", "host:port", "[::1]:port" → the name in lower case without brackets; empty if malformed.
std::string HostNameOf(std::string_view host_header);
bool IsIpAddress(std::string_view name);
bool IsLoopback(std::string_view name);

class AccessPolicy {
 public:
  // `allowed_hosts`: names besides addresses and localhost.
  AccessPolicy(std::string token, std::vector<std::string> allowed_hosts);

  // Host and Origin.
  Status CheckPlace(const HttpRequest& request) const;
  Status CheckToken(const HttpRequest& request) const;
  bool needs_token() const { return !token_.empty(); }
  bool IsToken(std::string_view text) const { return EqualInConstantTime(text, token_); }
  // The value of Set-Cookie after a first page load with the token.
  std::string CookieHeader() const;

 private:
  const std::string token_;
  const std::vector<std::string> allowed_hosts_;
};

}  // namespace kafscope
