#include "base/parse.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace kafscope {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// The number at the beginning of `text` and, in `unit`, what follows it; negative if there is no number.
double SplitNumber(std::string_view text, std::string_view* unit) {
  size_t digits = 0;
  while (digits < text.size() && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.')) ++digits;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (digits == 0 || error != std::errc() || end != text.data() + digits) return -1;
  *unit = text.substr(digits);
  return value;
}

}  // namespace

Result<uint64_t> ParseUnsigned(std::string_view text, uint64_t min, uint64_t max) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= min && value <= max) return value;
  return Fail(Status::InvalidArgument("'" + std::string(text) + "' is not a whole number from " + std::to_string(min) +
                                      " to " + std::to_string(max)));
}

Result<uint64_t> ParseSize(std::string_view text) {
  static constexpr std::array<Unit, 8> kUnits = {{{"", 1},
                                                  {"B", 1},
                                                  {"KiB", 1024.0},
                                                  {"MiB", 1048576.0},
                                                  {"GiB", 1073741824.0},
                                                  {"kB", 1e3},
                                                  {"MB", 1e6},
                                                  {"GB", 1e9}}};
  std::string_view name;
  const double value = SplitNumber(text, &name);
  for (const Unit& unit : kUnits) {
    const double bytes = value * unit.factor;
    if (value >= 0 && unit.name == name && bytes < 9e15) return static_cast<uint64_t>(std::llround(bytes));
  }
  return Fail(Status::InvalidArgument("'" + std::string(text) + "' is not a size such as 65536, 64KiB or 1MiB"));
}

Result<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  static constexpr std::array<Unit, 6> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
  if (text == "0") return std::chrono::nanoseconds(0);
  std::string_view name;
  const double value = SplitNumber(text, &name);
  for (const Unit& unit : kUnits) {
    const double nanoseconds = value * unit.factor;
    if (value >= 0 && unit.name == name && nanoseconds < 9e18) {
      return std::chrono::nanoseconds(std::llround(nanoseconds));
    }
  }
  return Fail(Status::InvalidArgument("'" + std::string(text) + "' is not a duration such as 50ms, 10s or 5m"));
}

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace kafscope
