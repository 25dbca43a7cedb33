// Times as RFC 3339 in UTC, exact to the nanosecond.
// Cost: WriteRfc3339 does not allocate. Threads: free functions, safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kafscope {

inline constexpr size_t kMaxRfc3339Size = 30;  // 2262-04-11T23:47:16.854775807Z

// Writes `nanoseconds` since the epoch with 3, 6 or 9 fraction digits, as few as keep it exact; gives the size.
size_t WriteRfc3339(int64_t nanoseconds, char* out);
std::string ToRfc3339(int64_t nanoseconds);
// Nanoseconds since the epoch; nothing if `text` is not RFC 3339 (zone required, a space may stand for `T`, at most
// nine fraction digits are kept) or lies outside of 1677-09-21 … 2262-04-11.
std::optional<int64_t> ParseRfc3339(std::string_view text);

}  // namespace kafscope
