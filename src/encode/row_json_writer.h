// RowJsonWriter: a Frame as one JSON object a row and line, for `--json`.
//
//   {"time":"2023-11-14T22:13:20.000Z","offset":17,"temperature":21.5,"ok":null}
//
// Columns in frame order. Integers with all digits; doubles in the shortest form, "NaN", "Infinity", "-Infinity" as
// text; times RFC 3339 in UTC with 3, 6 or 9 fraction digits; bytes base64; what is absent or null is null.
//
// Cost: the names are escaped once a schema; no allocation once warm. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "encode/frame_encoder.h"
#include "encode/text_buffer.h"

namespace kafscope {

class RowJsonWriter final : public FrameEncoder {
 public:
  void Encode(const Frame& frame, std::string* out) override;

 private:
  void UseSchema(const std::shared_ptr<const Schema>& schema);
  void WriteValue(const ColumnData& column, size_t row);

  std::shared_ptr<const Schema> schema_;
  std::vector<std::string> names_;  // `{"time":`, `,"offset":`, …
  TextBuffer text_;
};

}  // namespace kafscope
