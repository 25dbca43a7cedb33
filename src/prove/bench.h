// The benchmarks of `kafscope bench`: the workflow matrix (every fixture × sink), one thread, record bytes in memory →
// decode → columns → frames of 32 rows → sink. The operation is one record.
//
// Output: Go's benchmark text format, which benchstat and `kafscope compare` read. Each benchmark checks its answer
// against a slow reference before it is timed, and logs nothing while it is.
// Threads: one run at a time.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "base/status.h"

namespace kafscope {

struct BenchOptions {
  std::string filter;                    // regular expression over names; empty: all
  int count = 1;                         // runs of each benchmark
  std::chrono::milliseconds time{1000};  // least time of a run
  bool list = false;                     // print the names only
  bool check = false;                    // check the answers only
};

// A failed Status: bad options, or an answer that differs from the reference (nothing is timed then).
Status RunBench(const BenchOptions& options, std::ostream& out);
// The table of performance switches, for `bench --switches`.
void PrintSwitches(std::ostream& out);

}  // namespace kafscope
