// ArrowIpcEncoder: Frames as an Arrow IPC stream (Apache Arrow columnar format 1.x, "streaming format").
//
//   stream  = schema batch* end            message = ff ff ff ff | int32 size | flatbuffer, padded to 8 | body
//   end     = ff ff ff ff 00 00 00 00
//
// A stream cannot change its schema: at a new schema version it ends and a new one begins, so readers loop. In mode
// kSelfContained every Encode() gives a whole stream of one batch, which a WebSocket client can read by itself.
// Types: bool, int32, int64, uint64, float64, timestamp[ns, UTC], utf8, binary, null; all fields are nullable. Field
// metadata `kafscope.role` (time, partition, offset, key, header, value, error) and, where a column held an integer
// beyond ±2^53, `kafscope.wide_integers` = true; schema metadata `kafscope.schema_version`.
//
// Cost: buffers are copied as they are, once; no allocation when warm. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "encode/frame_encoder.h"

namespace kafscope {

enum class ArrowMode : uint8_t { kStream, kSelfContained };

// "time", "value", …: as in the field metadata.
std::string_view FieldRoleName(FieldRole role);

class ArrowIpcEncoder final : public FrameEncoder {
 public:
  explicit ArrowIpcEncoder(ArrowMode mode = ArrowMode::kStream);
  ~ArrowIpcEncoder() override;

  void Encode(const Frame& frame, std::string* out) override;
  // Ends an open stream; nothing in mode kSelfContained or before the first frame.
  void Finish(std::string* out) override;

 private:
  struct Impl;

  ArrowMode mode_;
  bool open_ = false;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kafscope
