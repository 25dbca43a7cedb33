// DataSourceSettings: what the config editor saves, also as the existing Kafka data source has it (docs/grafana.md).
// Unknown keys are ignored; a wrong value gives an error that names its key. Secrets never appear in a message.
// Threads: values.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "schema/registry_options.h"
#include "source/kafka_options.h"

namespace kafscope {

struct DataSourceSettings {
  KafkaOptions kafka;
  RegistryOptions registry;  // no URL: none
  bool has_registry = false;
  uint32_t max_depth = 5;
  uint32_t max_fields = 1000;
  std::chrono::milliseconds health_timeout{2000};
  uint32_t max_rows = 50'000;  // of one answer to a query
  std::chrono::milliseconds query_timeout{20'000};
};

// `json` is the bytes of jsonData (empty: {}), `secrets` decryptedSecureJsonData, `url` the classic column.
Result<DataSourceSettings> ParseSettings(std::string_view json, const std::map<std::string, std::string>& secrets,
                                         std::string_view url);

}  // namespace kafscope
