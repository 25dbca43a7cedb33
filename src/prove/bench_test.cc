#include "prove/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/perf_switches.h"
#include "prove/fixtures.h"
#include "prove/workflow.h"

namespace kafscope {
namespace {

TEST(Bench, EveryFixtureEqualsItsReference) {
  for (const FixtureEntry& entry : FixtureTable()) {
    EXPECT_EQ(CheckFixture(entry.make()), Status::Ok()) << entry.name;
  }
}

TEST(Bench, TheCheckNoticesAWrongAnswer) {
  Fixture fixture = MakePlaintextFixture();
  fixture.expected_rows = [](size_t) { return std::vector<std::string>{R"({"message":"other"})"}; };
  EXPECT_EQ(CheckFixture(fixture).code(), StatusCode::kInternal);
}

// Every switch gives the same rows; the same bytes too where frame borders stay.
TEST(Bench, SwitchesChangeNoRow) {
  // Three frames and a part: more records show no more, and some switches make each of them slow.
  constexpr size_t kRecords = 100;
  for (const FixtureEntry& entry : FixtureTable()) {
    Fixture fixture = entry.make();
    fixture.records.resize(std::min(fixture.records.size(), kRecords));
    std::string plain;
    (*Workflow::Make(fixture, BenchSink::kGrafanaJson))->RunOnce(&plain);
    for (const PerfSwitchInfo& info : PerfSwitches()) {
      const ScopedPerfSwitch off(info.id, true);
      EXPECT_EQ(CheckFixture(fixture), Status::Ok()) << entry.name << " without " << info.name;
      std::string bytes;
      (*Workflow::Make(fixture, BenchSink::kGrafanaJson))->RunOnce(&bytes);
      if (!info.moves_frame_borders) {
        EXPECT_EQ(bytes, plain) << entry.name << " without " << info.name;
      }
    }
  }
}

TEST(Bench, WarmWorkflowsAllocateNothingPerRecord) {
  for (const FixtureEntry& entry : FixtureTable()) {
    const Fixture fixture = entry.make();
    std::ostringstream out;
    BenchOptions options{.filter = std::string("/") + std::string(entry.name) + "$",
                         .time = std::chrono::milliseconds(1)};
    ASSERT_EQ(RunBench(options, out), Status::Ok());
    std::istringstream lines(out.str());
    int benchmarks = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("Benchmark")) continue;
      ++benchmarks;
      EXPECT_NE(line.find("0.00 allocs/op"), std::string::npos) << line;
    }
    EXPECT_EQ(benchmarks, 3);
  }
}

TEST(Bench, BadOptionsAreNamed) {
  std::ostringstream out;
  EXPECT_EQ(RunBench({.filter = "("}, out).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(RunBench({.count = 0}, out).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kafscope
