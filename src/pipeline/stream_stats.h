// StreamStats: what a stream has done so far, in one copy. Values only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "source/source.h"

namespace kafscope {

struct StreamStats {
  uint64_t received = 0;  // records given by the source
  DecodeCounters decode;  // decoded, rows, errors by reason, filtered, …
  uint64_t frames = 0;
  uint64_t gap_records = 0;      // taken by retention before they could be read
  uint64_t skipped_records = 0;  // larger than the limit
  uint64_t reconnects = 0;
  std::map<int32_t, PartitionProgress> partitions;
  // Records between what was read and the end of the log; nothing while an end is not known.
  std::optional<uint64_t> lag_records;
  // How old the newest record is: at its arrival while the stream keeps up, now while it is behind.
  std::optional<double> lag_seconds;
  std::vector<std::string> notes;
};

// What became of a subscriber's frames.
struct DeliveryStats {
  uint64_t frames = 0;  // taken by the subscriber
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t dropped_frames_slow = 0;  // the subscriber did not keep up
  uint64_t dropped_rows_slow = 0;
  uint64_t dropped_frames_memory = 0;  // the process' memory budget was used up
  uint64_t dropped_rows_memory = 0;
  size_t queued_bytes = 0;
};

}  // namespace kafscope
