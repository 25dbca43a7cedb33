// TableWriter: a Frame as lines of aligned cells for a terminal. The heading is written at the first frame and again
// when the columns change; column widths follow the first rows and then stay.
//
// Cells: null is `-`, control characters are shown as escapes, long texts are cut with `…`. For exact values use
// --json. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "encode/frame_encoder.h"

namespace kafscope {

class TableWriter final : public FrameEncoder {
 public:
  static constexpr size_t kMaxWidth = 48;  // characters of a cell

  void Encode(const Frame& frame, std::string* out) override;

 private:
  void StartTable(const Frame& frame, std::string* out);

  std::shared_ptr<const Schema> schema_;
  std::vector<size_t> widths_;
};

// One cell's text. For tests too.
std::string TableCell(const ColumnData& column, size_t row);

}  // namespace kafscope
