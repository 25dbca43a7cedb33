// kafscope demo: an embedded broker, sample topics with live producers, and the browser page.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/demo_topics.h"
#include "cli/serve_flags.h"
#include "source/embedded_broker.h"

namespace kafscope {

namespace {

int RunDemo(const ServeFlags& flags) {
  StopSignal stop;
  Result<std::unique_ptr<EmbeddedBroker>> broker = EmbeddedBroker::Make();
  if (!broker) return ReportFailure(broker.error());
  Result<std::unique_ptr<DemoTopics>> topics = DemoTopics::Make(broker->get());
  if (!topics) return ReportFailure(topics.error());
  (*topics)->Start();
  KafkaOptions kafka;
  kafka.brokers = (*broker)->bootstrap();
  ServerInfo info;
  info.brokers = kafka.brokers;
  info.demo = true;
  Result<std::unique_ptr<Server>> server = MakeServer(flags, kafka, nullptr, std::move(info));
  if (!server) return ReportFailure(server.error());
  std::printf("page:   %s\nbroker: %s   (embedded: for trying out, its figures are not Kafka's)\nCtrl-C ends it.\n",
              (*server)->url().c_str(), kafka.brokers.c_str());
  std::fflush(stdout);
  while (!stop.WaitUntil(std::chrono::steady_clock::time_point::max())) {
  }
  (*server)->Stop();
  topics->reset();
  // As in serve: the rest is given back faster by the system.
  std::fflush(nullptr);
  _exit(kExitGood);
}

}  // namespace

void DefineDemo(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<ServeFlags>();
  AddServeFlags(app, flags.get());
  app.callback([flags, exit_code] { *exit_code = RunDemo(*flags); });
}

}  // namespace kafscope
