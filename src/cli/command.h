// Command: one subcommand of the program. `main.cc` walks the table; each command has a file of its own.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"

namespace CLI {
class App;
}

namespace kafscope {

// What the program ends with.
inline constexpr int kExitGood = 0;
inline constexpr int kExitFailed = 1;     // the run failed
inline constexpr int kExitUsage = 2;      // the words on the command line are wrong
inline constexpr int kExitUndecided = 3;  // noise: nothing can be said

struct Command {
  std::string_view name;
  std::string_view help;
  // Adds options to `app` and a callback that runs the command and leaves its exit code in `exit_code`.
  void (*define)(CLI::App& app, int* exit_code);
};
std::span<const Command> CommandTable();

void DefineBench(CLI::App& app, int* exit_code);
void DefineDecode(CLI::App& app, int* exit_code);
void DefineDemo(CLI::App& app, int* exit_code);
void DefineProduce(CLI::App& app, int* exit_code);
void DefineServe(CLI::App& app, int* exit_code);
void DefineTail(CLI::App& app, int* exit_code);
void DefineTopics(CLI::App& app, int* exit_code);

// Tells the failure on standard error and gives the exit code for it.
int ReportFailure(const Status& status);

}  // namespace kafscope
