#include "cli/serve_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "base/parse.h"
#include "cli/decode_flags.h"
#include "pipeline/stream_source.h"
#include "web/kafka_cluster.h"

namespace kafscope {

namespace {

// From the option, the file, or the environment, in this order.
Result<std::string> TokenOf(const ServeFlags& flags) {
  if (!flags.token.empty()) return flags.token;
  if (!flags.token_file.empty()) {
    KAFSCOPE_ASSIGN_OR_FAIL(std::string token, ReadFile(flags.token_file, "--token-file", 4096));
    token.erase(std::min(token.find_first_of("\r\n"), token.size()));
    if (token.empty()) return Fail(Status::InvalidArgument("--token-file: its first line is empty"));
    return token;
  }
  const char* token = std::getenv("KAFSCOPE_TOKEN");
  return std::string(token == nullptr ? "" : token);
}

}  // namespace

void AddServeFlags(CLI::App& app, ServeFlags* flags) {
  app.add_option("--listen", flags->listen, "where to serve (default 127.0.0.1:8080); port 0: a free one")
      ->type_name("ADDRESS:PORT");
  app.add_option(
         "--token", flags->token,
         "what clients must know; needed unless --listen is loopback. Better from --token-file or KAFSCOPE_TOKEN")
      ->type_name("TOKEN");
  app.add_option("--token-file", flags->token_file, "a file whose first line is the token")->type_name("FILE");
  app.add_option("--allow-host", flags->allowed_hosts, "a name under which this server is reached")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option("--memory-budget", flags->memory_budget,
                 "bytes that all queues together may hold, at least 16MiB (default 512MiB)")
      ->type_name("SIZE");
}

Result<std::unique_ptr<Server>> MakeServer(const ServeFlags& flags, const KafkaOptions& kafka,
                                           std::shared_ptr<SchemaStore> schemas, ServerInfo info) {
  const Result<uint64_t> bytes = ParseSize(flags.memory_budget);
  if (!bytes) return Fail(bytes.error().WithContext("--memory-budget"));
  if (*bytes < (16u << 20)) return Fail(Status::InvalidArgument("--memory-budget: must be at least 16MiB"));
  const auto budget = std::make_shared<MemoryBudget>(*bytes);
  ServerOptions options;
  options.listen = flags.listen;
  KAFSCOPE_ASSIGN_OR_FAIL(options.token, TokenOf(flags));
  options.allowed_hosts = flags.allowed_hosts;
  options.info = std::move(info);
  options.schemas = std::move(schemas);
  options.streams.budget = budget;
  options.streams.make_source = [kafka, budget](const StreamQuery& query) {
    return MakeKafkaStreamSource(kafka, query, budget);
  };
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Cluster> cluster, KafkaCluster::Make(kafka));
  return Server::Make(std::move(options), std::move(cluster));
}

}  // namespace kafscope
