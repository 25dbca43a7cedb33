// For the Avro tests: one value decoded to "path=text" lines, so that a case is one line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "decode/avro_plan.h"
#include "frame/frame_builder.h"
#include "frame/widen.h"

namespace kafscope {

inline std::string BytesFromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// "null" for nulls, else the value as text; `string:` in front of texts, `bytes:` in front of base64.
inline std::string CellText(const Frame& frame, size_t column, size_t row) {
  const ColumnData& data = frame.column(column);
  if (data.type == DataType::kNull || data.IsNull(row)) return "null";
  std::string text;
  AppendValueText(data, row, &text);
  if (data.type == DataType::kBytes) return "bytes:" + ToBase64(data.Text(row));
  if (data.type == DataType::kString) return "string:" + text;
  return text;
}

// A plan with a builder of its own.
class AvroRunner {
 public:
  explicit AvroRunner(std::string_view schema_text, uint32_t max_depth = 5, uint32_t max_fields = 1000)
      : builder_({.max_fields = max_fields}) {
    auto schema = AvroSchema::Parse(schema_text);
    if (!schema) {
      error_ = schema.error().ToString();
      return;
    }
    AvroPlan::Options options;
    options.max_depth = max_depth;
    options.column = [this](const std::string& path) {
      return builder_.FindOrAddColumn(path.empty() ? "value" : path, FieldRole::kValue);
    };
    auto plan = AvroPlan::Compile(*schema, options);
    if (!plan) {
      error_ = plan.error().ToString();
      return;
    }
    plan_ = std::move(*plan);
  }

  const std::string& error() const { return error_; }
  bool ok() const { return plan_ != nullptr; }
  // Decodes one value into a new row; a fault leaves no row.
  AvroFault Add(std::string_view bytes) {
    // A copy of exactly this size, so that a sanitizer sees a read beyond the end.
    const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
    AvroCursor cursor{copy.data(), copy.data() + copy.size()};
    plan_->Prepare(cursor, state_);
    builder_.BeginRow();
    const AvroFault fault = plan_->Run(cursor, state_);
    position_ = static_cast<uint64_t>(cursor.at - copy.data());
    if (fault == AvroFault::kNone) {
      builder_.CommitRow();
    } else {
      builder_.AbortRow();
    }
    return fault;
  }
  // The same value as text only.
  AvroFault Check(std::string_view bytes) {
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    return plan_->Check({begin, begin + bytes.size()}, state_);
  }
  FramePtr Finish() { return builder_.Finish(); }
  FrameBuilder& builder() { return builder_; }
  AvroTextState& state() { return state_; }
  uint64_t position() const { return position_; }

  // "a=1 b=string:x", or the error as an error row shows it.
  std::string Decode(std::string_view bytes) {
    if (!ok()) return error_;
    const AvroFault fault = Add(bytes);
    if (fault != AvroFault::kNone) {
      const DecodeError error = AvroError(fault, position_);
      return "at " + std::to_string(error.position) + ": " + std::string(error.text);
    }
    const FramePtr frame = builder_.Finish();
    std::string out;
    for (size_t i = 0; i < frame->num_columns(); ++i) {
      if (i > 0) out += ' ';
      out += frame->schema().fields()[i].name + "=" + CellText(*frame, i, 0);
    }
    return out;
  }
  std::string DecodeHex(std::string_view hex) { return Decode(BytesFromHex(hex)); }

 private:
  FrameBuilder builder_;
  AvroTextState state_;
  std::unique_ptr<AvroPlan> plan_;
  std::string error_;
  uint64_t position_ = 0;
};

}  // namespace kafscope
