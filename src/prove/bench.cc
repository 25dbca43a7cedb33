#include "prove/bench.h"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <ostream>
#include <regex>

#include "base/perf_switches.h"
#include "prove/allocation_counter.h"
#include "prove/fixtures.h"
#include "prove/workflow.h"

namespace kafscope {

namespace {

constexpr std::array kSinks = {BenchSink::kNoop, BenchSink::kGrafanaJson, BenchSink::kArrow};

std::string BenchName(std::string_view sink, std::string_view fixture) {
  return fmt::format("BenchmarkWorkflow/{}/{}", sink, fixture);
}

// CPU time of this thread: other processes on a shared machine do not count.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Status Time(const Fixture& fixture, BenchSink sink, std::chrono::milliseconds least, std::ostream& out) {
  auto workflow = Workflow::Make(fixture, sink);
  if (!workflow) return workflow.error();
  for (int warm = 0; warm < 3; ++warm) (*workflow)->RunOnce();
  const Workflow::Totals before = (*workflow)->totals();
  const AllocationCount allocations = AllocationsOfThisThread();
  const double begin = CpuSeconds();
  double seconds = 0;
  do {
    (*workflow)->RunOnce();
    seconds = CpuSeconds() - begin;
  } while (seconds * 1000 < static_cast<double>(least.count()));
  const AllocationCount allocated = AllocationsOfThisThread();
  const Workflow::Totals& after = (*workflow)->totals();
  const auto n = static_cast<double>(after.records - before.records);
  out << fmt::format(
             "{}\t{:8.0f}\t{:10.1f} ns/op\t{:8.2f} MB/s\t{:10.0f} msg/s\t{:8.0f} packets/s\t{:10.0f} out_B/s\t{:6.0f} "
             "B/op\t{:6.2f} allocs/op\n",
             BenchName(BenchSinkName(sink), fixture.name), n, seconds * 1e9 / n,
             static_cast<double>(after.in_bytes - before.in_bytes) / seconds / 1e6, n / seconds,
             static_cast<double>(after.packets - before.packets) / seconds,
             static_cast<double>(after.out_bytes - before.out_bytes) / seconds,
             static_cast<double>(allocated.bytes - allocations.bytes) / n,
             static_cast<double>(allocated.calls - allocations.calls) / n)
      << std::flush;
  return {};
}

Status CompileFilter(const std::string& text, std::regex* filter) {
  try {
    *filter = std::regex(text, std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return Status::InvalidArgument(fmt::format("--filter: not a regular expression: {}", error.what()));
  }
  return {};
}

}  // namespace

Status RunBench(const BenchOptions& options, std::ostream& out) {
  if (options.count < 1) return Status::InvalidArgument("--count must be at least 1");
  std::regex filter;
  KAFSCOPE_RETURN_IF_ERROR(CompileFilter(options.filter, &filter));
  if (!options.list && !options.check) out << "goos: linux\ngoarch: amd64\npkg: kafscope\n";
  for (const FixtureEntry& entry : FixtureTable()) {
    std::vector<BenchSink> sinks;
    for (const BenchSink sink : kSinks) {
      if (!std::regex_search(BenchName(BenchSinkName(sink), entry.name), filter)) continue;
      sinks.push_back(sink);
      if (options.list) out << BenchName(BenchSinkName(sink), entry.name) << "\n";
    }
    if (sinks.empty() || options.list) continue;
    const Fixture fixture = entry.make();
    KAFSCOPE_RETURN_IF_ERROR(CheckFixture(fixture));
    if (options.check) {
      out << "ok " << entry.name << std::endl;
      continue;
    }
    for (const BenchSink sink : sinks) {
      for (int run = 0; run < options.count; ++run) {
        KAFSCOPE_RETURN_IF_ERROR(Time(fixture, sink, options.time, out));
      }
    }
  }
  return {};
}

void PrintSwitches(std::ostream& out) {
  for (const PerfSwitchInfo& info : PerfSwitches()) {
    out << fmt::format("KAFSCOPE_PERF_DISABLE_{:24} {}{}\n", info.name, info.reverts_to,
                       info.moves_frame_borders ? " (moves frame borders)" : "");
  }
}

}  // namespace kafscope
