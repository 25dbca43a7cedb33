// Numbers, sizes and durations as users write them.
//
// The error of each tells what was expected, not which option it was: callers add that by Status::WithContext().
// Cost: allocates for errors only. Threads: free functions, safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kafscope {

// Digits only, from `min` to `max`.
Result<uint64_t> ParseUnsigned(std::string_view text, uint64_t min, uint64_t max);
// "65536", "64KiB", "1MiB", "2GiB"; kB, MB, GB are powers of 1000.
Result<uint64_t> ParseSize(std::string_view text);
// "250us", "50ms", "10s", "5m", "1h"; a fraction is allowed ("1.5s"), a number alone is not (but 0).
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);
// The parts between `separator`; none for an empty text.
std::vector<std::string_view> SplitText(std::string_view text, char separator);

}  // namespace kafscope
