// kafscope serve: the browser page, the API and the streams of a cluster.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/decode_flags.h"
#include "cli/kafka_flags.h"
#include "cli/serve_flags.h"

namespace kafscope {

namespace {

struct ServeCommand {
  KafkaFlags kafka;
  RegistryFlags registry;
  ServeFlags serve;
};

// The registry's address without what may stand before the '@'.
std::string PublicRegistry(const RegistryFlags& flags) {
  std::string text;
  const Result<RegistryOptions> options = MakeRegistryOptions(flags);
  if (flags.url.empty() || !options) return text;
  for (const RegistryUrl& url : options->urls) text += (text.empty() ? "" : ", ") + url.Text();
  return text;
}

int RunServe(const ServeCommand& command) {
  StopSignal stop;
  const Result<KafkaOptions> kafka = ToKafkaOptions(command.kafka);
  if (!kafka) return ReportFailure(kafka.error());
  Result<std::shared_ptr<SchemaStore>> schemas = OpenRegistryOf(command.registry);
  if (!schemas) return ReportFailure(schemas.error());
  ServerInfo info;
  info.brokers = kafka->brokers;
  info.registry = PublicRegistry(command.registry);
  Result<std::unique_ptr<Server>> server = MakeServer(command.serve, *kafka, *std::move(schemas), std::move(info));
  if (!server) return ReportFailure(server.error());
  std::printf("kafscope: %s\n", (*server)->url().c_str());
  std::fflush(stdout);
  while (!stop.WaitUntil(std::chrono::steady_clock::time_point::max())) {
  }
  (*server)->Stop();
  // Every stream is delivered and every connection closed. Questions to a cluster that does not answer would hold up
  // the rest for seconds: the system takes it back faster.
  std::fflush(nullptr);
  _exit(kExitGood);
}

}  // namespace

void DefineServe(CLI::App& app, int* exit_code) {
  auto command = std::make_shared<ServeCommand>();
  AddKafkaFlags(app, &command->kafka);
  AddRegistryFlags(app, &command->registry);
  AddServeFlags(app, &command->serve);
  app.callback([command, exit_code] { *exit_code = RunServe(*command); });
}

}  // namespace kafscope
