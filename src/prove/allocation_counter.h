// Counts this thread's calls of operator new and the bytes asked for, for benchmarks and for tests that demand none.
//
// A program that links this replaces the global operator new; the cost is one thread-local addition a call.
// Threads: each counts its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kafscope {

struct AllocationCount {
  uint64_t calls = 0;
  uint64_t bytes = 0;
};

// Since the thread began.
AllocationCount AllocationsOfThisThread();

}  // namespace kafscope
