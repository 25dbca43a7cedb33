// kafscope: the one program. Exit codes: 0 good, 1 failed run, 2 bad usage, 3 could not judge.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "base/version.h"
#include "cli/command.h"

namespace {

int Run(int argc, char** argv) {
  CLI::App app{"kafscope: Kafka topics, visible while they flow", "kafscope"};
  app.set_version_flag("--version", std::string("kafscope ") + kafscope::kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int exit_code = kafscope::kExitGood;
  for (const kafscope::Command& command : kafscope::CommandTable()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    command.define(*sub, &exit_code);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version come this way too.
    return app.exit(error) == 0 ? kafscope::kExitGood : kafscope::kExitUsage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe is told by write(), which the output classes check.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kafscope: internal error: %s\n", error.what());
    return kafscope::kExitFailed;
  }
}
