// Batcher: when the open batch is to be sealed: it is full (rows or bytes, FrameBuilder::Full()), its first row has
// waited for the window, or the stream ends.
//
// The clock is read once a poll, not once a row. With the switch KAFSCOPE_PERF_DISABLE_STREAM_MICROBATCH every record
// is a frame of its own. Threads: the consume thread.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/perf_switches.h"
#include "frame/frame_builder.h"
#include "pipeline/stream_query.h"

namespace kafscope {

class Batcher {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Batcher(const BatchLimits& limits)
      : window_(limits.max_latency), single_(PerfDisabled(PerfSwitch::kStreamMicrobatch)) {}

  // Records to give to the decoder at once.
  size_t RecordsAtOnce(size_t available) const { return single_ ? std::min<size_t>(available, 1) : available; }
  // To be called after rows were added at `now`, or none.
  void Note(const FrameBuilder& builder, Clock::time_point now) {
    if (builder.num_rows() == 0) {
      open_ = false;
    } else if (!open_) {
      open_ = true;
      due_ = now + window_;
    }
  }
  bool ShouldSeal(const FrameBuilder& builder, Clock::time_point now) const {
    return builder.Full() || (open_ && (single_ || now >= due_));
  }
  void Sealed() { open_ = false; }
  // When the open batch is due; `otherwise` if there is none.
  Clock::time_point Deadline(Clock::time_point otherwise) const {
    return open_ ? std::min(due_, otherwise) : otherwise;
  }

 private:
  const Clock::duration window_;
  const bool single_;
  bool open_ = false;
  Clock::time_point due_;
};

}  // namespace kafscope
