// StreamQuery: everything that decides what a stream holds. Command line, WebSocket and Grafana all fill this one
// struct (query_options.h reads the words of users into it); two equal queries share one pipeline (Fingerprint()).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "decode/decode_options.h"
#include "frame/frame_builder.h"
#include "source/position.h"

namespace kafscope {

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

  // A fixed-length text (64 hexadecimal digits) equal for equal queries only. The schema store is not part of it: all
  // streams of a StreamManager share one.
  std::string Fingerprint() const;
  FrameBuilder::Options BuilderOptions() const;
};

}  // namespace kafscope
