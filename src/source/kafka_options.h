// KafkaOptions: how to reach a Kafka cluster, as the command line, a configuration file or Grafana give it.
//
// Use: fill `brokers`, then AddProperty("key=value") for each `-X`, LoadPropertyFile for `--config`.
// Secrets (IsSecretProperty) never appear in a message of ours. Each may be given as `NAME.file=PATH` (the file's first
// line) or `NAME.env=VARIABLE`, so that it need not stand on a command line.
// Threads: values.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace kafscope {

struct KafkaOptions {
  std::string brokers;                            // `--brokers`: HOST:PORT, several with commas
  std::map<std::string, std::string> properties;  // `-X`: any property of librdkafka
  std::string client_id = "kafscope";

  // Takes "key=value"; the last one of a key wins. Only the form is checked here: KafkaClient::Make checks the rest.
  Status AddProperty(std::string_view text);
  // Lines of `key=value`, as Java's clients have them; `#` and `!` begin a comment. A property that is already set
  // stays, so that `-X` goes before `--config`; `bootstrap.servers` fills `brokers` if that is empty.
  Status LoadPropertyFile(const std::string& path);
};

// Passwords, keys and tokens: whatever must never be shown.
bool IsSecretProperty(std::string_view name);

}  // namespace kafscope
