// KeyDecoder: a record's key as columns: `key`, or `key.…` for formats with fields. One per key format; called by
// RowWriter for each row.
//
// Threads: the consume thread. Cost: one virtual call per row when keys are asked for, none otherwise.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/column_names.h"
#include "decode/decode_error.h"
#include "decode/decode_options.h"
#include "decode/decoder.h"
#include "frame/frame_builder.h"
#include "source/record.h"

namespace kafscope {

class KeyDecoder {
 public:
  virtual ~KeyDecoder() = default;
  virtual void Attach(FrameBuilder& builder) = 0;
  // Whether the key's schema is still being fetched: the record waits.
  virtual bool Waiting(const ConsumerRecord& record) {
    static_cast<void>(record);
    return false;
  }
  // Writes the key columns of the open row. A failure leaves them null and is shown in the row's error column.
  // REQUIRES: record.has_key.
  virtual DecodeError Append(const ConsumerRecord& record, FrameBuilder& builder, DecodeCounters& counters) = 0;
  virtual std::vector<std::string> notes() const { return {}; }
};

// The decoder for options.key_format; null for kNone.
Result<std::unique_ptr<KeyDecoder>> MakeKeyDecoder(const DecodeOptions& options);

}  // namespace kafscope
