#include "frame/widen.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/base64.h"
#include "base/time_text.h"

namespace kafscope {

namespace {

bool IsInteger(DataType type) { return type == DataType::kInt64 || type == DataType::kUint64; }

template <typename T>
void AppendDigits(T value, std::string* out) {
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void ConvertToFloat64(ColumnData& column, uint32_t rows) {
  auto* doubles = reinterpret_cast<double*>(column.values.data());
  for (uint32_t row = 0; row < rows; ++row) {
    const double value = column.type == DataType::kUint64 ? static_cast<double>(column.Uint64(row))
                                                          : static_cast<double>(column.Int64(row));
    doubles[row] = value;
  }
}

void ConvertToString(ColumnData& column, uint32_t rows, uint32_t capacity_rows) {
  Buffer offsets;
  offsets.Reserve((capacity_rows + 1) * sizeof(uint32_t), 0);
  auto* to = reinterpret_cast<uint32_t*>(offsets.data());
  std::string text;
  for (uint32_t row = 0; row < rows; ++row) {
    to[row] = static_cast<uint32_t>(text.size());
    if (!column.IsNull(row)) AppendValueText(column, row, &text);
  }
  column.values = std::move(offsets);
  column.data.Reserve(text.size(), 0);
  if (!text.empty()) std::memcpy(column.data.data(), text.data(), text.size());
  column.data_size = text.size();
}

}  // namespace

size_t ValueWidth(DataType type) {
  switch (type) {
    case DataType::kNull:
    case DataType::kBool: return 0;
    case DataType::kInt32:
    case DataType::kString:
    case DataType::kBytes: return 4;
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64:
    case DataType::kTime: return 8;
  }
  return 0;
}

DataType WidenedType(DataType column, const ColumnHistory& history, DataType value, bool value_negative,
                     bool value_wide) {
  if (column == value || value == DataType::kNull) return column;
  if (column == DataType::kNull) return value;
  const bool all_integers = IsInteger(column) && IsInteger(value);
  if (all_integers && !history.negative && !value_negative) return DataType::kUint64;
  const bool numbers =
      (IsInteger(column) || column == DataType::kFloat64) && (IsInteger(value) || value == DataType::kFloat64);
  if (numbers && !history.wide && !value_wide) return DataType::kFloat64;
  return DataType::kString;
}

char* WriteDoubleText(double value, char* out) {
  const auto word = [out](std::string_view text) { return out + text.copy(out, text.size()); };
  if (std::isnan(value)) return word("NaN");
  if (std::isinf(value)) return word(value < 0 ? "-Infinity" : "Infinity");
  return std::to_chars(out, out + kMaxDoubleText, value).ptr;
}

void AppendDoubleText(double value, std::string* out) {
  char text[kMaxDoubleText];
  out->append(text, WriteDoubleText(value, text));
}

void AppendValueText(const ColumnData& column, size_t row, std::string* out) {
  switch (column.type) {
    case DataType::kNull: break;
    case DataType::kBool: out->append(column.Bool(row) ? "true" : "false"); break;
    case DataType::kInt32: AppendDigits(column.Int32(row), out); break;
    case DataType::kInt64: AppendDigits(column.Int64(row), out); break;
    case DataType::kUint64: AppendDigits(column.Uint64(row), out); break;
    case DataType::kFloat64: AppendDoubleText(column.Float64(row), out); break;
    case DataType::kTime: {
      char text[kMaxRfc3339Size];
      out->append(text, WriteRfc3339(column.Int64(row), text));
      break;
    }
    case DataType::kString: out->append(column.Text(row)); break;
    case DataType::kBytes: out->append(ToBase64(column.Text(row))); break;
  }
}

void ConvertColumn(ColumnData& column, DataType to, uint32_t rows, uint32_t capacity_rows) {
  const DataType from = column.type;
  if (from == DataType::kNull) {
    const size_t width = ValueWidth(to);
    const bool text = to == DataType::kString || to == DataType::kBytes;
    const size_t bytes =
        to == DataType::kBool ? (capacity_rows + 7) / 8 : width * (static_cast<size_t>(capacity_rows) + (text ? 1 : 0));
    column.values.Reserve(bytes, 0);
    if (bytes > 0) std::memset(column.values.data(), 0, bytes);
    column.data_size = 0;
  } else if (to == DataType::kFloat64) {
    ConvertToFloat64(column, rows);
  } else if (to == DataType::kString) {
    ConvertToString(column, rows, capacity_rows);
  }  // int64 → uint64: the same bits
  column.type = to;
}

}  // namespace kafscope
