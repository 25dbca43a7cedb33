#include "schema/registry_options.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/url.h"

namespace kafscope {
namespace {

Status BadUrl(std::string_view why) { return Status::InvalidArgument("--registry: " + std::string(why)); }

bool IsPort(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  const int port = std::atoi(std::string(text).c_str());
  return port >= 1 && port <= 65535;
}

// host, host:port, [v6], [v6]:port
Status ParseAuthority(std::string_view text, RegistryUrl* url) {
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return BadUrl("'[' without ']' in the host");
    url->host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port) return BadUrl("unexpected text after ']' in the host");
    if (has_port) port = rest.substr(1);
  } else {
    const size_t colon = text.find(':');
    url->host = text.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = text.substr(colon + 1);
  }
  if (url->host.empty()) return BadUrl("no host");
  const auto bad = [](char c) { return static_cast<uint8_t>(c) <= ' ' || c == '\\' || c == 0x7f; };
  if (std::any_of(url->host.begin(), url->host.end(), bad)) return BadUrl("invalid character in the host");
  if (has_port && !IsPort(port)) return BadUrl("the port must be a number from 1 to 65535");
  url->port = has_port ? std::string(port) : url->tls ? "443" : "80";
  return Status::Ok();
}

// The first line of a file, or of an environment variable where no file is named.
Result<std::string> ReadSecret(const std::string& option, const std::string& file, const char* variable) {
  std::string secret;
  if (file.empty()) {
    const char* value = std::getenv(variable);
    if (value != nullptr) secret = value;
  } else {
    std::ifstream in(file);
    if (!std::getline(in, secret)) return Fail(Status::InvalidArgument(option + ": cannot read " + file));
  }
  while (!secret.empty() && (secret.back() == '\r' || secret.back() == '\n')) secret.pop_back();
  const auto control = [](char c) { return static_cast<uint8_t>(c) < ' '; };
  if (std::any_of(secret.begin(), secret.end(), control)) {
    return Fail(Status::InvalidArgument(option + ": holds a control character"));
  }
  return secret;
}

Status CheckFile(const std::string& option, const std::string& file) {
  if (file.empty() || std::ifstream(file)) return Status::Ok();
  return Status::InvalidArgument(option + ": cannot read " + file);
}

}  // namespace

std::string RegistryUrl::HostHeader() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? "443" : "80") ? name : name + ":" + port;
}

std::string RegistryUrl::Text() const { return (tls ? "https://" : "http://") + HostHeader() + prefix; }

Result<RegistryUrl> ParseRegistryUrl(std::string_view text) {
  RegistryUrl url;
  if (text.starts_with("https://")) {
    url.tls = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return Fail(BadUrl("an address begins with http:// or https://"));
  }
  const size_t slash = text.find_first_of("/?#");
  std::string_view authority = text.substr(0, slash);
  std::string_view path = slash == std::string_view::npos ? std::string_view() : text.substr(slash);
  if (path.find_first_of("?#") != std::string_view::npos) return Fail(BadUrl("an address has no '?' or '#'"));
  const auto bad = [](char c) { return static_cast<uint8_t>(c) <= ' ' || c == 0x7f; };
  if (std::any_of(path.begin(), path.end(), bad)) return Fail(BadUrl("invalid character in the path"));
  while (path.ends_with('/')) path.remove_suffix(1);
  url.prefix = path;
  const size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view login = authority.substr(0, at);
    const size_t colon = login.find(':');
    url.has_user = true;
    std::optional<std::string> user = PercentDecode(login.substr(0, colon), /*plus_is_space=*/false);
    std::optional<std::string> password =
        PercentDecode(colon == std::string_view::npos ? std::string_view() : login.substr(colon + 1), false);
    if (!user || !password) return Fail(BadUrl("'%' without two hexadecimal digits in the user or password"));
    url.user = *std::move(user);
    url.password = *std::move(password);
    authority.remove_prefix(at + 1);
  }
  KAFSCOPE_FAIL_IF_ERROR(ParseAuthority(authority, &url));
  return url;
}

Result<RegistryOptions> MakeRegistryOptions(const RegistryFlags& flags) {
  RegistryOptions options;
  std::string_view rest = flags.url;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    KAFSCOPE_ASSIGN_OR_FAIL(RegistryUrl url, ParseRegistryUrl(one));
    options.urls.push_back(std::move(url));
  }
  if (options.urls.empty()) return Fail(BadUrl("no address"));
  options.user = flags.user;
  KAFSCOPE_ASSIGN_OR_FAIL(options.password,
                          ReadSecret("--registry-password-file", flags.password_file, "KAFSCOPE_REGISTRY_PASSWORD"));
  KAFSCOPE_ASSIGN_OR_FAIL(options.token,
                          ReadSecret("--registry-token-file", flags.token_file, "KAFSCOPE_REGISTRY_TOKEN"));
  if (!options.user.empty() && !flags.token_file.empty()) {
    return Fail(Status::InvalidArgument("--registry-user and --registry-token-file exclude each other"));
  }
  if (flags.cert.empty() != flags.key.empty()) {
    return Fail(Status::InvalidArgument("--registry-cert and --registry-key belong together"));
  }
  KAFSCOPE_FAIL_IF_ERROR(CheckFile("--registry-ca", flags.ca));
  KAFSCOPE_FAIL_IF_ERROR(CheckFile("--registry-cert", flags.cert));
  KAFSCOPE_FAIL_IF_ERROR(CheckFile("--registry-key", flags.key));
  options.ca_file = flags.ca;
  options.cert_file = flags.cert;
  options.key_file = flags.key;
  return options;
}

}  // namespace kafscope
