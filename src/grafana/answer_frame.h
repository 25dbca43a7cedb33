// AnswerFrame: a frame of a query's answer: fields that point into the columns of a sealed Frame, a choice of its rows
// in any order, and Grafana's names, labels and meta. Written as one Arrow IPC file, the form in which Grafana takes
// frames.
//
//   "ARROW1" 00 00 | schema message | record batch message, body | end of stream | footer | int32 size | "ARROW1"
//
// Times are timestamp[ns] without a zone; bytes are base64 text; a column without values is one of text.
// Cost: a copy of the chosen values. Threads: free functions, safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frame/frame.h"

namespace kafscope {

struct AnswerField {
  std::string name;
  const ColumnData* column = nullptr;  // borrowed
  std::map<std::string, std::string> labels;
  std::string display_name;  // config.displayNameFromDS; empty: none
};

struct AnswerFrame {
  std::string name;
  std::string ref_id;
  std::string meta_json;  // of the meta object; empty: none
  std::vector<AnswerField> fields;
  std::vector<uint32_t> rows;  // indices into the columns
};

std::string WriteArrowFile(const AnswerFrame& frame);

}  // namespace kafscope
