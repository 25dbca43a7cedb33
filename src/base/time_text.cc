#include "base/time_text.h"

#include <chrono>
#include <limits>

namespace kafscope {

namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kNanosPerDay = 86'400 * kNanosPerSecond;

void WriteDigits(uint32_t value, int digits, char* out) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
}

// Takes exactly `digits` decimal digits from the front of `text`.
bool TakeDigits(std::string_view& text, int digits, int* value) {
  if (text.size() < static_cast<size_t>(digits)) return false;
  *value = 0;
  for (int i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    *value = *value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// `.123456789…`: nine digits count, further ones are read and dropped.
bool TakeFraction(std::string_view& text, int64_t* nanos) {
  *nanos = 0;
  if (text.empty() || text.front() != '.') return true;
  text.remove_prefix(1);
  int64_t scale = kNanosPerSecond / 10;
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    *nanos += (text[digits] - '0') * scale;
    scale /= 10;
    ++digits;
  }
  text.remove_prefix(digits);
  return digits > 0;
}

bool TakeZone(std::string_view& text, int64_t* offset_seconds) {
  *offset_seconds = 0;
  if (TakeChar(text, "Zz")) return true;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return false;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!TakeDigits(text, 2, &hours) || !TakeChar(text, ":") || !TakeDigits(text, 2, &minutes)) return false;
  if (hours > 23 || minutes > 59) return false;
  *offset_seconds = sign * (hours * 3600 + minutes * 60);
  return true;
}

}  // namespace

size_t WriteRfc3339(int64_t nanoseconds, char* out) {
  // By remainders: the day that holds the smallest int64 begins before it.
  const int64_t remainder = nanoseconds % kNanosPerDay;
  const int64_t day = nanoseconds / kNanosPerDay - (remainder < 0 ? 1 : 0);
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  const auto of_day = static_cast<uint64_t>(remainder < 0 ? remainder + kNanosPerDay : remainder);
  const auto seconds = static_cast<uint32_t>(of_day / kNanosPerSecond);
  const auto fraction = static_cast<uint32_t>(of_day % kNanosPerSecond);
  WriteDigits(static_cast<uint32_t>(static_cast<int>(date.year())), 4, out);
  out[4] = '-';
  WriteDigits(static_cast<unsigned>(date.month()), 2, out + 5);
  out[7] = '-';
  WriteDigits(static_cast<unsigned>(date.day()), 2, out + 8);
  out[10] = 'T';
  WriteDigits(seconds / 3600, 2, out + 11);
  out[13] = ':';
  WriteDigits(seconds / 60 % 60, 2, out + 14);
  out[16] = ':';
  WriteDigits(seconds % 60, 2, out + 17);
  out[19] = '.';
  size_t size = 20;
  if (fraction % 1'000'000 == 0) {
    WriteDigits(fraction / 1'000'000, 3, out + size);
    size += 3;
  } else if (fraction % 1000 == 0) {
    WriteDigits(fraction / 1000, 6, out + size);
    size += 6;
  } else {
    WriteDigits(fraction, 9, out + size);
    size += 9;
  }
  out[size++] = 'Z';
  return size;
}

std::string ToRfc3339(int64_t nanoseconds) {
  char text[kMaxRfc3339Size];
  return {text, WriteRfc3339(nanoseconds, text)};
}

std::optional<int64_t> ParseRfc3339(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int64_t nanos = 0;
  int64_t offset = 0;
  if (!TakeDigits(text, 4, &year) || !TakeChar(text, "-") || !TakeDigits(text, 2, &month) || !TakeChar(text, "-") ||
      !TakeDigits(text, 2, &day) || !TakeChar(text, "Tt ") || !TakeDigits(text, 2, &hour) || !TakeChar(text, ":") ||
      !TakeDigits(text, 2, &minute) || !TakeChar(text, ":") || !TakeDigits(text, 2, &second) ||
      !TakeFraction(text, &nanos) || !TakeZone(text, &offset) || !text.empty()) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // 23:59:60 is a leap second; it is read as the second after.
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86400} + hour * 3600 +
                          minute * 60 + second - offset;
  const __int128 result = static_cast<__int128>(seconds) * kNanosPerSecond + nanos;
  if (result < std::numeric_limits<int64_t>::min() || result > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(result);
}

}  // namespace kafscope
