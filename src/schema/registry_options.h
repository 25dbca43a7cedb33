// RegistryOptions: where the schema registry is and how to speak to it.
//
// Use: fill RegistryFlags from the command line (or a data source's settings), `MakeRegistryOptions(flags)` checks them
// and reads the secrets, then OpenRegistry(options) (registry_store.h) gives the SchemaStore of DecodeOptions::schemas.
// Errors name the option. Secrets are never logged. Threads: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kafscope {

// As typed. A password or token comes from a file or the environment, since a command line is public on its machine.
struct RegistryFlags {
  std::string url;            // --registry http[s]://[USER:PASSWORD@]HOST[:PORT][/PREFIX], several separated by commas
  std::string user;           // --registry-user
  std::string password_file;  // --registry-password-file, or KAFSCOPE_REGISTRY_PASSWORD
  std::string token_file;     // --registry-token-file, or KAFSCOPE_REGISTRY_TOKEN: bearer token
  std::string ca;             // --registry-ca FILE: instead of the system's authorities
  std::string cert;           // --registry-cert FILE with --registry-key FILE: client certificate, PEM
  std::string key;
};

struct RegistryUrl {
  bool tls = false;
  std::string host;    // without the brackets of an IPv6 address
  std::string port;    // digits
  std::string prefix;  // "" or "/apis/ccompat/v7": no slash at its end
  std::string user;    // from the URL itself
  std::string password;
  bool has_user = false;

  // "https://host:8081/prefix", without user and password.
  std::string Text() const;
  // The value of the Host header.
  std::string HostHeader() const;
};
Result<RegistryUrl> ParseRegistryUrl(std::string_view text);

struct RegistryOptions {
  std::vector<RegistryUrl> urls;  // tried in turn when one does not answer
  std::string user;               // Basic, where not empty
  std::string password;
  std::string token;  // bearer, where not empty
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::chrono::milliseconds timeout{10000};  // of one request: connect, handshake, answer
  size_t max_body = 8 << 20;                 // bytes of an answer
  // Of the store (registry_store.h).
  size_t max_entries = 1000;
  std::chrono::milliseconds max_wait{10000};       // a record waits this long for a registry that does not answer
  std::chrono::milliseconds first_back_off{1000};  // until a failure is asked for again; doubles to
  std::chrono::milliseconds longest_back_off{30000};
};
Result<RegistryOptions> MakeRegistryOptions(const RegistryFlags& flags);

}  // namespace kafscope
