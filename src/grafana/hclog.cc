#include "grafana/hclog.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/json_escape.h"
#include "base/time_text.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

constexpr size_t kMaxText = 8 * 1024;

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
  }
  return "info";
}

void AppendText(std::string_view text, std::string* line) {
  std::string clean;
  AppendReplacedUtf8(text.substr(0, kMaxText), &clean);
  AppendJsonString(clean, line);
}

// RFC 3339 with just six digits: with any other number the host does not take the line for one of ours.
std::string Timestamp() {
  const int64_t micros = NowNs() / 1000;
  std::string text = ToRfc3339((micros / 1'000'000) * 1'000'000'000).substr(0, 20);
  const std::string fraction = std::to_string(1'000'000 + micros % 1'000'000);
  return text + fraction.substr(1) + "Z";
}

}  // namespace

void Log(LogLevel level, std::string_view text,
         std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string line = "{\"@level\":\"";
  line.append(LevelName(level)).append("\",\"@message\":");
  AppendText(text, &line);
  line.append(",\"@timestamp\":\"").append(Timestamp()).append("\"");
  for (const auto& [key, value] : values) {
    line.append(",\"").append(key).append("\":");
    AppendText(value, &line);
  }
  line.append("}\n");
  // A log that cannot be written is not worth a failure.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace kafscope
