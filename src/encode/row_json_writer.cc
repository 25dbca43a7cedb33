#include "encode/row_json_writer.h"

#include <cmath>

#include "base/base64.h"
#include "base/json_escape.h"
#include "base/number_format.h"
#include "base/time_text.h"

namespace kafscope {

namespace {

constexpr size_t kMaxFixedSize = 40;  // any value but text, its quotes included

char* WriteText(std::string_view text, char* out) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* WriteTime(int64_t nanoseconds, char* out) {
  *out++ = '"';
  out += WriteRfc3339(nanoseconds, out);
  *out = '"';
  return out + 1;
}

char* WriteFloat(double value, char* out) {
  if (std::isfinite(value)) return WriteDouble(value, out);
  if (std::isnan(value)) return WriteText("\"NaN\"", out);
  return WriteText(value < 0 ? "\"-Infinity\"" : "\"Infinity\"", out);
}

char* WriteBytes(std::string_view bytes, char* out) {
  *out++ = '"';
  WriteBase64(bytes, out);
  out += Base64Size(bytes.size());
  *out = '"';
  return out + 1;
}

}  // namespace

void RowJsonWriter::UseSchema(const std::shared_ptr<const Schema>& schema) {
  if (schema_ == schema) return;
  schema_ = schema;
  names_.clear();
  for (const Field& field : schema->fields()) {
    std::string name(names_.empty() ? "{" : ",");
    AppendJsonString(field.name, &name);
    name += ':';
    names_.push_back(std::move(name));
  }
}

void RowJsonWriter::WriteValue(const ColumnData& column, size_t row) {
  if (column.type == DataType::kNull || column.IsNull(row)) return text_.Put("null");
  if (column.type == DataType::kString) {
    const std::string_view text = column.Text(row);
    return text_.SetEnd(WriteJsonString(text, text_.Room(JsonStringSize(text))));
  }
  if (column.type == DataType::kBytes) {
    const std::string_view bytes = column.Text(row);
    return text_.SetEnd(WriteBytes(bytes, text_.Room(Base64Size(bytes.size()) + 2)));
  }
  char* out = text_.Room(kMaxFixedSize);
  switch (column.type) {
    case DataType::kBool: out = WriteText(column.Bool(row) ? "true" : "false", out); break;
    case DataType::kInt32: out = WriteInt64(column.Int32(row), out); break;
    case DataType::kInt64: out = WriteInt64(column.Int64(row), out); break;
    case DataType::kUint64: out = WriteUint64(column.Uint64(row), out); break;
    case DataType::kFloat64: out = WriteFloat(column.Float64(row), out); break;
    case DataType::kTime: out = WriteTime(column.Int64(row), out); break;
    case DataType::kNull:
    case DataType::kString:
    case DataType::kBytes: break;
  }
  text_.SetEnd(out);
}

void RowJsonWriter::Encode(const Frame& frame, std::string* out) {
  UseSchema(frame.shared_schema());
  for (size_t row = 0; row < frame.num_rows(); ++row) {
    for (size_t i = 0; i < names_.size(); ++i) {
      text_.Put(names_[i]);
      WriteValue(frame.column(i), row);
    }
    text_.Put(names_.empty() ? "{}\n" : "}\n");
  }
  text_.MoveTo(out);
}

}  // namespace kafscope
