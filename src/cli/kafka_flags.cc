#include "cli/kafka_flags.h"

#include <CLI/CLI.hpp>

namespace kafscope {

void AddKafkaFlags(CLI::App& app, KafkaFlags* flags) {
  app.add_option("--brokers", flags->brokers, "where the cluster is, several with commas")
      ->type_name("HOST:PORT")
      ->envname("KAFSCOPE_BROKERS");
  app.add_option("-X", flags->properties,
                 "a property of librdkafka, such as security.protocol=SASL_SSL; NAME.file=PATH and NAME.env=VARIABLE "
                 "read a secret from there")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  app.add_option("--config", flags->config, "a file of such properties, one a line")->type_name("FILE");
}

Result<KafkaOptions> ToKafkaOptions(const KafkaFlags& flags) {
  KafkaOptions options;
  options.brokers = flags.brokers;
  for (const std::string& property : flags.properties) KAFSCOPE_FAIL_IF_ERROR(options.AddProperty(property));
  if (!flags.config.empty()) KAFSCOPE_FAIL_IF_ERROR(options.LoadPropertyFile(flags.config));
  if (options.brokers.empty()) {
    return Fail(Status::InvalidArgument("--brokers: HOST:PORT is needed (or KAFSCOPE_BROKERS)"));
  }
  return options;
}

}  // namespace kafscope
