// FrameEncoder: a sealed Frame → bytes, once per frame and kind; the bytes are shared by all subscribers.
//
// Threads: one encoder per publish thread; EncodedFrame is immutable and shared.
// Cost: no allocation once warm when the caller reuses the output string.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "frame/frame.h"

namespace kafscope {

class FrameEncoder {
 public:
  virtual ~FrameEncoder() = default;
  // Appends the frame to `out`. A schema whose version differs from the last frame's is written first where the
  // kind needs it (Arrow: end of stream, then a new schema message; Grafana JSON: the whole frame with schema).
  virtual void Encode(const Frame& frame, std::string* out) = 0;
  // Bytes that end the stream (Arrow end-of-stream marker; nothing for JSON).
  virtual void Finish(std::string* out) { static_cast<void>(out); }
};

}  // namespace kafscope
