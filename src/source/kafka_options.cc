#include "source/kafka_options.h"

#include <cstdlib>
#include <fstream>
#include <optional>

namespace kafscope {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// "sasl.password" of "sasl.password.file", if that names a secret.
std::optional<std::string_view> SecretBehind(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  if (!IsSecretProperty(name)) return {};
  return name;
}

Result<std::string> ReadFirstLine(std::string_view option, const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return Fail(Status::InvalidArgument(std::string(option) + ": cannot read '" + path + "'"));
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace

bool IsSecretProperty(std::string_view name) {
  for (const std::string_view part : {"password", "secret", "key.pem", "sasl.jaas.config", "oauthbearer.config",
                                      "oauthbearer.assertion.private.key.passphrase"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

Status KafkaOptions::AddProperty(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = Trim(text.substr(0, equals));
  if (equals == std::string_view::npos || name.empty()) {
    // Without `=` the whole text may be a secret: it is not repeated.
    return Status::InvalidArgument("-X: give NAME=VALUE, for example -X security.protocol=ssl");
  }
  const std::string value(text.substr(equals + 1));
  const std::string option = "-X " + std::string(name);
  if (const auto secret = SecretBehind(name, ".file")) {
    Result<std::string> line = ReadFirstLine(option, value);
    if (!line) return line.error();
    properties[std::string(*secret)] = *std::move(line);
  } else if (const auto from_env = SecretBehind(name, ".env")) {
    const char* found = std::getenv(value.c_str());
    if (found == nullptr) return Status::InvalidArgument(option + ": no environment variable '" + value + "'");
    properties[std::string(*from_env)] = found;
  } else {
    properties[std::string(name)] = value;
  }
  return {};
}

Status KafkaOptions::LoadPropertyFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::InvalidArgument("--config: cannot read '" + path + "'");
  KafkaOptions loaded;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = Trim(line);
    if (text.empty() || text.front() == '#' || text.front() == '!') continue;
    if (const Status status = loaded.AddProperty(text); !status.ok()) {
      return status.WithContext("--config " + path + " line " + std::to_string(number));
    }
  }
  for (auto& [name, value] : loaded.properties) {
    if (name == "bootstrap.servers" || name == "metadata.broker.list") {
      if (brokers.empty()) brokers = value;
    } else {
      properties.try_emplace(name, std::move(value));
    }
  }
  return {};
}

}  // namespace kafscope
