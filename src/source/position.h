// StartPosition and EndPosition: where reading begins and ends, as users write it.
// Cost: parsing allocates only for errors. Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace kafscope {

struct StartPosition {
  enum class Kind : uint8_t { kLatest, kEarliest, kLastN, kTime, kOffset };
  Kind kind = Kind::kLatest;
  int64_t value = 0;  // N per partition, epoch milliseconds, or offset

  // "latest", "earliest", "last:N", "time:T" (RFC 3339, epoch milliseconds, or -15m), "offset:N". `now_ms` is what a
  // relative time counts from.
  static Result<StartPosition> Parse(std::string_view text, int64_t now_ms);
  // What Parse reads back as the same position.
  std::string ToString() const;
  friend bool operator==(const StartPosition&, const StartPosition&) = default;
};

struct EndPosition {
  enum class Kind : uint8_t { kNever, kEnd, kTime, kCount };  // kEnd: the end as seen at the start
  Kind kind = Kind::kNever;
  int64_t value = 0;  // epoch milliseconds (exclusive), or records in total

  // "never", "end", "time:T", "count:N".
  static Result<EndPosition> Parse(std::string_view text, int64_t now_ms);
  std::string ToString() const;
  friend bool operator==(const EndPosition&, const EndPosition&) = default;
};

// Epoch milliseconds of RFC 3339, epoch milliseconds, "now" or a time relative to `now_ms`: `-` and a number with ms,
// s, m, h or d.
Result<int64_t> ParseTime(std::string_view text, int64_t now_ms);

}  // namespace kafscope
