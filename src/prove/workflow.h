// Workflow: a fixture's records through decoder, columns and frames of 32 rows into a sink, on one thread.
// Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/decoder.h"
#include "encode/frame_encoder.h"
#include "prove/fixtures.h"
#include "source/record.h"

namespace kafscope {

enum class BenchSink : uint8_t { kNoop, kGrafanaJson, kArrow };
std::string_view BenchSinkName(BenchSink sink);

class Workflow {
 public:
  static constexpr uint32_t kRowsPerFrame = 32;

  struct Totals {
    uint64_t records = 0;
    uint64_t rows = 0;
    uint64_t packets = 0;
    uint64_t in_bytes = 0;
    uint64_t out_bytes = 0;
  };

  static Result<std::unique_ptr<Workflow>> Make(const Fixture& fixture, BenchSink sink);

  // All records once. `keep`: what the sink made is appended there (check), else it is overwritten frame by frame.
  void RunOnce(std::string* keep = nullptr);
  const Totals& totals() const { return totals_; }

 private:
  Workflow(const Fixture& fixture, BenchSink sink, std::unique_ptr<Decoder> decoder);
  void Seal(std::string* keep);

  std::vector<ConsumerRecord> records_;
  std::unique_ptr<FrameBuilder> builder_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<FrameEncoder> encoder_;  // null: no sink
  BenchSink sink_;
  std::string out_;
  Totals totals_;
};

// Compares what the workflow makes of a fixture with the fixture's slow reference, value by value.
Status CheckFixture(const Fixture& fixture);

}  // namespace kafscope
