#include "cli/command.h"

#include <array>
#include <cstdio>
#include <string>

namespace kafscope {

namespace {

constexpr std::array kCommands = {
    Command{"demo", "try it out: an embedded broker, sample topics and the browser page", &DefineDemo},
    Command{"serve", "the browser page for a cluster", &DefineServe},
    Command{"tail", "show a topic's records, decoded", &DefineTail},
    Command{"decode", "decode bytes of files or standard input as a stream would be", &DefineDecode},
    Command{"produce", "send made-up records to a topic", &DefineProduce},
    Command{"topics", "list, describe, create, delete topics", &DefineTopics},
    Command{"bench", "run the benchmark matrix", &DefineBench},
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
