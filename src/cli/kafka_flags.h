// KafkaFlags: how to reach a cluster, on the command line: `--brokers`, `-X key=value`, `--config FILE`.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "source/kafka_options.h"

namespace CLI {
class App;
}

namespace kafscope {

struct KafkaFlags {
  std::string brokers;
  std::vector<std::string> properties;
  std::string config;
};

void AddKafkaFlags(CLI::App& app, KafkaFlags* flags);
// KAFSCOPE_BROKERS stands in for `--brokers`. A failure names the option.
Result<KafkaOptions> ToKafkaOptions(const KafkaFlags& flags);

}  // namespace kafscope
