#include "cli/table_writer.h"

#include <algorithm>

#include "base/base64.h"
#include "base/time_text.h"
#include "frame/widen.h"

namespace kafscope {

namespace {

constexpr std::string_view kEllipsis = "…";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return !IsContinuation(c); }));
}

// At most `max` characters of `text`, control characters escaped.
std::string Printable(std::string_view text, size_t max) {
  std::string out;
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!IsContinuation(c)) {
      if (characters == max) return out + std::string(kEllipsis);
      ++characters;
    }
    static constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      out += "\\u00";  // C1 controls, which terminals obey too
      out += kHex[static_cast<unsigned char>(text[i + 1]) >> 4];
      out += kHex[static_cast<unsigned char>(text[i + 1]) & 15];
      ++i;
    } else {
      out += c;
    }
  }
  return out;
}

bool IsNumber(DataType type) {
  return type == DataType::kInt32 || type == DataType::kInt64 || type == DataType::kUint64 ||
         type == DataType::kFloat64;
}

void PutCell(std::string_view text, size_t width, bool right, bool last, std::string* out) {
  const size_t size = CountCharacters(text);
  const size_t padding = size < width ? width - size : 0;
  if (right) out->append(padding, ' ');
  out->append(text);
  if (!right && !last) out->append(padding, ' ');
  out->append(last ? "\n" : "  ");
}

}  // namespace

std::string TableCell(const ColumnData& column, size_t row) {
  if (column.type == DataType::kNull || column.IsNull(row)) return "-";
  switch (column.type) {
    case DataType::kNull: break;
    case DataType::kBool: return column.Bool(row) ? "true" : "false";
    case DataType::kInt32: return std::to_string(column.Int32(row));
    case DataType::kInt64: return std::to_string(column.Int64(row));
    case DataType::kUint64: return std::to_string(column.Uint64(row));
    case DataType::kFloat64: {
      std::string text;
      AppendDoubleText(column.Float64(row), &text);
      return text;
    }
    case DataType::kTime: return ToRfc3339(column.Int64(row));
    case DataType::kString: return Printable(column.Text(row), TableWriter::kMaxWidth);
    case DataType::kBytes: return Printable(ToBase64(column.Text(row).substr(0, 64)), TableWriter::kMaxWidth);
  }
  return "-";
}

void TableWriter::StartTable(const Frame& frame, std::string* out) {
  static constexpr size_t kRowsLookedAt = 100;
  if (schema_ != nullptr) out->push_back('\n');
  schema_ = frame.shared_schema();
  widths_.resize(frame.num_columns(), 0);
  for (size_t i = 0; i < frame.num_columns(); ++i) {
    const Field& field = schema_->fields()[i];
    widths_[i] = std::max(widths_[i], CountCharacters(Printable(field.name, kMaxWidth)));
    for (size_t row = 0; row < std::min(frame.num_rows(), kRowsLookedAt); ++row) {
      widths_[i] = std::max(widths_[i], CountCharacters(TableCell(frame.column(i), row)));
    }
  }
  for (size_t i = 0; i < frame.num_columns(); ++i) {
    const Field& field = schema_->fields()[i];
    PutCell(Printable(field.name, kMaxWidth), widths_[i], IsNumber(field.type), i + 1 == frame.num_columns(), out);
  }
}

void TableWriter::Encode(const Frame& frame, std::string* out) {
  if (frame.num_rows() == 0) return;
  if (schema_ == nullptr || schema_->version() != frame.schema().version()) StartTable(frame, out);
  for (size_t row = 0; row < frame.num_rows(); ++row) {
    for (size_t i = 0; i < frame.num_columns(); ++i) {
      PutCell(TableCell(frame.column(i), row), widths_[i], IsNumber(frame.schema().fields()[i].type),
              i + 1 == frame.num_columns(), out);
    }
  }
}

}  // namespace kafscope
