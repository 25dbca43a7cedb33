// For the Protobuf tests: one value in hexadecimal in, one row as "name=text name=text" out.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "decode/decoder.h"
#include "frame/frame_builder.h"
#include "frame/widen.h"

namespace kafscope {

inline std::string BytesOfHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

inline std::string TextOfCell(const ColumnData& column, size_t row) {
  if (column.type == DataType::kBytes) return ToBase64(column.Text(row));
  std::string text;
  AppendValueText(column, row, &text);
  return text;
}

class ProtobufUnderTest {
 public:
  explicit ProtobufUnderTest(const DecodeOptions& options, FrameBuilder::Options frames = {})
      : builder_(frames), decoder_(MakeDecoder(options).value()) {}

  // The row that `value` gives, as a frame of its own; null if it waits.
  FramePtr FrameOf(std::string_view value, const std::string* key = nullptr) {
    // A copy of exactly this size, so that a sanitizer sees a read beyond the end.
    const std::vector<char> copy(value.begin(), value.end());
    ConsumerRecord record;
    record.value = {copy.data(), copy.size()};
    record.has_value = true;
    record.timestamp_ms = 1'700'000'000'000;
    record.has_key = key != nullptr;
    if (key != nullptr) record.key = *key;
    if (decoder_->Decode({&record, 1}, 0, builder_) == 0) return {};
    return builder_.Finish();
  }
  std::string RowOf(std::string_view value, const std::string* key = nullptr) {
    const FramePtr frame = FrameOf(value, key);
    if (!frame) return "waiting";
    std::string text;
    std::vector<std::string> cells;
    for (size_t c = 0; c < frame->num_columns(); ++c) {
      const Field& field = frame->schema().fields()[c];
      if (field.role != FieldRole::kValue && field.role != FieldRole::kError && field.role != FieldRole::kKey) continue;
      if (!frame->column(c).IsNull(0)) cells.push_back(field.name + "=" + TextOfCell(frame->column(c), 0));
    }
    std::sort(cells.begin(), cells.end());
    for (const std::string& cell : cells) text += (text.empty() ? "" : " ") + cell;
    return text;
  }
  std::string Row(std::string_view hex) { return RowOf(BytesOfHex(hex)); }
  std::string RowWithKey(std::string_view key_hex, std::string_view hex) {
    const std::string key = BytesOfHex(key_hex);
    return RowOf(BytesOfHex(hex), &key);
  }
  std::vector<std::string> ColumnNames() {
    std::vector<std::string> names;
    for (const Field& field : builder_.CurrentSchema()->fields()) {
      if (field.role == FieldRole::kValue) names.push_back(field.name);
    }
    return names;
  }
  const DecodeCounters& counters() const { return decoder_->counters(); }
  Decoder& decoder() { return *decoder_; }

 private:
  FrameBuilder builder_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace kafscope
