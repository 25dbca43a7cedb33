// PlaintextEngine: the whole value as one text column `message` (`--text utf8|hex|base64`).
// Bytes that are not UTF-8 become U+FFFD, one per maximal subpart, counted. An empty value is an empty text.
// Cost: one pass and a copy. Threads: the consume thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/column_names.h"
#include "decode/decode_options.h"
#include "decode/row_writer.h"

namespace kafscope {

class PlaintextEngine {
 public:
  static Result<std::unique_ptr<PlaintextEngine>> Make(const DecodeOptions& options, ValueScope scope);

  void Attach(FrameBuilder& builder) { column_ = builder.FindOrAddColumn("message", role_); }
  bool Decode(const ConsumerRecord& record, std::string_view payload, RowWriter& rows);
  std::vector<std::string> notes() const { return {}; }

 private:
  PlaintextEngine(TextMode mode, FieldRole role) : mode_(mode), role_(role) {}

  TextMode mode_;
  FieldRole role_;
  Column* column_ = nullptr;
};

}  // namespace kafscope
