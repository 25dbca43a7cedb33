// What `serve` and `demo` have in common: the server's options and its run until Ctrl-C.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/stop_signal.h"
#include "source/kafka_options.h"
#include "web/server.h"

namespace CLI {
class App;
}

namespace kafscope {

struct ServeFlags {
  std::string listen = "127.0.0.1:8080";
  std::string token;
  std::string token_file;
  std::vector<std::string> allowed_hosts;
  std::string memory_budget = "512MiB";
};

void AddServeFlags(CLI::App& app, ServeFlags* flags);
// The server for a cluster. A failure names the option.
Result<std::unique_ptr<Server>> MakeServer(const ServeFlags& flags, const KafkaOptions& kafka,
                                           std::shared_ptr<SchemaStore> schemas, ServerInfo info);

}  // namespace kafscope
