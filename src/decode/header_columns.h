// HeaderColumns: a record's headers as columns: one column `headers` (JSON text `[["name","value"],…]`, order,
// duplicates and nulls kept), or `header.NAME` for each name asked for (several values of one name: a JSON array of
// them). A value that is not UTF-8 is shown as base64. Cost: no allocation per record once warm. Threads: the consume
// thread.
#pragma once

#include <string>
#include <vector>

#include "decode/decode_options.h"
#include "frame/frame_builder.h"
#include "source/record.h"

namespace kafscope {

class HeaderColumns {
 public:
  explicit HeaderColumns(const DecodeOptions& options) : options_(options) {}

  void Attach(FrameBuilder& builder);
  void Append(std::span<const RecordHeader> headers);

 private:
  void AppendNamed(const std::string& name, Column& column, std::span<const RecordHeader> headers);

  const DecodeOptions& options_;
  std::vector<Column*> columns_;
  std::string text_;
};

// `bytes` as text: itself if it is UTF-8, else its base64.
void AppendTextOrBase64(std::string_view bytes, std::string* out);

}  // namespace kafscope
