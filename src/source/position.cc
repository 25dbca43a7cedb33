#include "source/position.h"

#include <charconv>
#include <optional>

#include "base/time_text.h"

namespace kafscope {
namespace {

// A whole number ≥ 0, digits only.
std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || text.front() == '-') return {};
  return value;
}

// Milliseconds of "15m" and the like.
std::optional<int64_t> ParseSpan(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return {};
  const std::optional<int64_t> count = ParseCount(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  int64_t scale = 0;
  if (unit == "ms") scale = 1;
  if (unit == "s") scale = 1000;
  if (unit == "m") scale = 60'000;
  if (unit == "h") scale = 3'600'000;
  if (unit == "d") scale = 86'400'000;
  int64_t span = 0;
  if (!count || scale == 0 || __builtin_mul_overflow(*count, scale, &span)) return {};
  return span;
}

// The text behind `prefix`, if it begins with it.
std::optional<std::string_view> After(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return {};
  return text.substr(prefix.size());
}

Status BadCount(std::string_view what, std::string_view text) {
  return Status::InvalidArgument("'" + std::string(text) + "' in '" + std::string(what) +
                                 "' is not a whole number of 0 or more");
}

}  // namespace

Result<int64_t> ParseTime(std::string_view text, int64_t now_ms) {
  if (text == "now") return now_ms;
  if (const std::optional<int64_t> ms = ParseCount(text)) return *ms;
  if (text.starts_with('-')) {
    const std::optional<int64_t> span = ParseSpan(text.substr(1));
    if (span && *span <= now_ms) return now_ms - *span;
  } else if (const std::optional<int64_t> ns = ParseRfc3339(text)) {
    // Rounded towards the past, so that a record of that very instant is included.
    return *ns / 1'000'000 - (*ns % 1'000'000 < 0 ? 1 : 0);
  }
  return Fail(Status::InvalidArgument("'" + std::string(text) +
                                      "' is not a time: give RFC 3339 (2024-01-31T12:00:00Z), epoch milliseconds, or a "
                                      "span back from now such as -15m (ms, s, m, h, d)"));
}

Result<StartPosition> StartPosition::Parse(std::string_view text, int64_t now_ms) {
  if (text == "latest") return StartPosition{Kind::kLatest, 0};
  if (text == "earliest") return StartPosition{Kind::kEarliest, 0};
  if (const auto time = After(text, "time:")) {
    KAFSCOPE_ASSIGN_OR_FAIL(const int64_t ms, ParseTime(*time, now_ms));
    return StartPosition{Kind::kTime, ms};
  }
  for (const auto& [prefix, kind] : {std::pair{"last:", Kind::kLastN}, std::pair{"offset:", Kind::kOffset}}) {
    if (const auto number = After(text, prefix)) {
      const std::optional<int64_t> value = ParseCount(*number);
      if (!value) return Fail(BadCount(text, *number));
      return StartPosition{kind, *value};
    }
  }
  return Fail(Status::InvalidArgument("'" + std::string(text) +
                                      "' is not a start position: latest, earliest, last:N, time:T or offset:N"));
}

std::string StartPosition::ToString() const {
  switch (kind) {
    case Kind::kLatest: return "latest";
    case Kind::kEarliest: return "earliest";
    case Kind::kLastN: return "last:" + std::to_string(value);
    case Kind::kTime: return "time:" + std::to_string(value);
    case Kind::kOffset: return "offset:" + std::to_string(value);
  }
  return {};
}

Result<EndPosition> EndPosition::Parse(std::string_view text, int64_t now_ms) {
  if (text == "never") return EndPosition{Kind::kNever, 0};
  if (text == "end") return EndPosition{Kind::kEnd, 0};
  if (const auto time = After(text, "time:")) {
    KAFSCOPE_ASSIGN_OR_FAIL(const int64_t ms, ParseTime(*time, now_ms));
    return EndPosition{Kind::kTime, ms};
  }
  if (const auto number = After(text, "count:")) {
    const std::optional<int64_t> value = ParseCount(*number);
    if (!value) return Fail(BadCount(text, *number));
    return EndPosition{Kind::kCount, *value};
  }
  return Fail(
      Status::InvalidArgument("'" + std::string(text) + "' is not an end position: never, end, time:T or count:N"));
}

std::string EndPosition::ToString() const {
  switch (kind) {
    case Kind::kNever: return "never";
    case Kind::kEnd: return "end";
    case Kind::kTime: return "time:" + std::to_string(value);
    case Kind::kCount: return "count:" + std::to_string(value);
  }
  return {};
}

}  // namespace kafscope
