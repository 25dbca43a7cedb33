#include "cli/command.h"

#include <array>
#include <cstdio>
#include <string>

namespace kafscope {

namespace {

constexpr std::array kCommands = {
    Command{"bench", "run the benchmark matrix", &DefineBench},
    Command{"decode", "decode bytes of files or standard input as a stream would be", &DefineDecode},
};

}  // namespace

std::span<const Command> CommandTable() { return kCommands; }

int ReportFailure(const Status& status) {
  if (status.ok()) return kExitGood;
  const std::string message(status.message());
  std::fprintf(stderr, "kafscope: %s\n", message.c_str());
  return status.code() == StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
}

}  // namespace kafscope
