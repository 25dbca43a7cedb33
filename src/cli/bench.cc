// kafscope bench: the workflow benchmarks, in Go's benchmark text format.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "base/parse.h"
#include "cli/command.h"
#include "prove/bench.h"

namespace kafscope {

namespace {

struct BenchCommand {
  BenchOptions options;
  std::string time = "1s";
  bool switches = false;
};

int RunBenchCommand(BenchCommand& command) {
  if (command.switches) {
    PrintSwitches(std::cout);
    return kExitGood;
  }
  const Result<std::chrono::nanoseconds> time = ParseDuration(command.time);
  if (!time) return ReportFailure(time.error().WithContext("--time"));
  command.options.time = std::chrono::duration_cast<std::chrono::milliseconds>(*time);
  return ReportFailure(RunBench(command.options, std::cout));
}

}  // namespace

void DefineBench(CLI::App& app, int* exit_code) {
  auto command = std::make_shared<BenchCommand>();
  app.add_option("--filter", command->options.filter, "only benchmarks whose name matches")->type_name("REGEX");
  app.add_option("--count", command->options.count, "runs of each (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app.add_option("--time", command->time, "least time of a run (default 1s)")->type_name("DURATION");
  app.add_flag("--list", command->options.list, "print the names only");
  app.add_flag("--check", command->options.check, "check each answer against the slow reference, time nothing");
  app.add_flag("--switches", command->switches, "list the performance switches and what each reverts to");
  app.callback([command, exit_code] { *exit_code = RunBenchCommand(*command); });
}

}  // namespace kafscope
