// Source: where records come from. KafkaSource reads topics; ReplaySource gives bytes in memory, for `decode`,
// benchmarks and tests.
//
// Use: `while (!source.AtEnd()) { source.Poll(max, deadline, &records); … }` on one thread.
// Threads: one consume thread; Wake() and stats() may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "source/record.h"

namespace kafscope {

// Something that happened to the source and that its viewer should know. Each is reported once.
struct SourceEvent {
  enum class Kind {
    kConnected,       // or connected again
    kDisconnected,    // retries by itself
    kTopicMissing,    // waits for it
    kTopicRecreated,  // reading goes on from the new beginning
    kPartitionsAdded,
    kGap,              // offsets skipped because retention passed the reader; `count` records
    kRecordSkipped,    // larger than the limit; `count` 1
    kOpenTransaction,  // `count` records wait behind the last stable offset
    kFailed,           // needs a change by the user: authentication, TLS, right, wrong port
  };
  Kind kind;
  std::string message;  // what, why (the broker's words), what to change
  uint64_t count = 0;
};

struct PartitionProgress {
  int64_t next_offset = -1;     // of the next record to give; −1: not known yet
  int64_t log_end_offset = -1;  // −1: not known yet
  int64_t log_start_offset = -1;
};

class Source {
 public:
  virtual ~Source() = default;

  // Fills `records` (cleared first) with up to `max_records`, waiting at most until `deadline` for the first one.
  // Failures that pass by themselves are events, not a Status; a failed Status ends the stream.
  virtual Status Poll(size_t max_records, std::chrono::steady_clock::time_point deadline, ConsumerRecords* records) = 0;
  // All that was asked for has been given (an end was set, or the bytes are over).
  virtual bool AtEnd() const = 0;
  // Events since the last call.
  virtual std::vector<SourceEvent> TakeEvents() { return {}; }
  // By partition. Cost: a lock and a copy.
  virtual std::map<int32_t, PartitionProgress> Progress() const { return {}; }
  // Lets a waiting Poll() return at once.
  virtual void Wake() {}
};

}  // namespace kafscope
