// The wall clock as integers since the epoch.
// Cost: one read of the clock; not for use per record. Threads: free functions, safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace kafscope {

inline int64_t NowNs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

inline int64_t NowMs() { return NowNs() / 1'000'000; }

}  // namespace kafscope
