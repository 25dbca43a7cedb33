// StreamQuery: everything that decides what a stream holds. Command line, WebSocket and Grafana all fill this one
// struct; two equal queries share one pipeline (Fingerprint()).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/decode_options.h"

namespace kafscope {

struct StartPosition {
  enum class Kind : uint8_t { kLatest, kEarliest, kLastN, kTime, kOffset };
  Kind kind = Kind::kLatest;
  int64_t value = 0;  // N per partition, epoch milliseconds, or offset
  // "latest", "earliest", "last:N", "time:T" (RFC 3339, epoch ms or -15m), "offset:N".
  static Result<StartPosition> Parse(std::string_view text, int64_t now_ms);
  std::string ToString() const;
};

struct EndPosition {
  enum class Kind : uint8_t { kNever, kEnd, kTime, kCount };  // kEnd: the end as seen at the start
  Kind kind = Kind::kNever;
  int64_t value = 0;  // epoch milliseconds, or records in total
  // "never", "end", "time:T", "count:N".
  static Result<EndPosition> Parse(std::string_view text, int64_t now_ms);
  std::string ToString() const;
};

struct BatchLimits {
  uint32_t max_rows = 0;  // 0: as many as arrive within the window
  size_t max_bytes = 256 * 1024;
  std::chrono::microseconds max_latency{5000};
};

struct StreamQuery {
  std::string topic;
  std::vector<int32_t> partitions;  // empty: all, those added later too
  StartPosition from;
  EndPosition until;
  bool read_committed = true;
  DecodeOptions decode;
  uint32_t max_fields = 1000;
  BatchLimits batch;

  // A fixed-length text equal for equal queries only.
  std::string Fingerprint() const;
};

}  // namespace kafscope
