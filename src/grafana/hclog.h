// Hclog: log lines as Grafana's plugin host reads them from standard error: one JSON object a line, with the keys
// `@level`, `@message`, `@timestamp` (six fraction digits) always strings; a number there would crash the host.
//
// Lines are cut at 8 KiB and written by a single write(2). Nothing is logged per record, and no secret.
// Threads: safe.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

namespace kafscope {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// What follows `text` are keys and values; a key is one of ours, never of data.
void Log(LogLevel level, std::string_view text,
         std::initializer_list<std::pair<std::string_view, std::string_view>> values = {});

}  // namespace kafscope
