#include "frame/column.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/time_text.h"
#include "frame/frame_builder.h"
#include "frame/widen.h"

namespace kafscope {

namespace {

constexpr size_t kMaxValueText = std::max(kMaxDoubleText, kMaxRfc3339Size);

// The batch's open rows and the sealed ones before them.
ColumnHistory Look(const ColumnData& data, uint32_t rows, bool negative, bool wide) {
  ColumnHistory history{negative, wide};
  if (data.type == DataType::kInt64) {
    for (uint32_t row = 0; row < rows; ++row) {
      history.negative |= data.Int64(row) < 0;
      history.wide |= IsWide(data.Int64(row));
    }
  } else if (data.type == DataType::kUint64) {
    for (uint32_t row = 0; row < rows; ++row) history.wide |= IsWide(data.Uint64(row));
  }
  return history;
}

}  // namespace

Column::Column(FrameBuilder* builder, std::string name, FieldRole role, uint32_t index)
    : row_(&builder->row_), role_(role), index_(index), builder_(builder), name_(std::move(name)) {}

void Column::Clear() {
  const uint32_t row = *row_;
  data_.validity.data()[row >> 3] &= static_cast<uint8_t>(~(1u << (row & 7)));
  if (is_text()) {
    if (filled_ > row) {
      data_.data_size = reinterpret_cast<uint32_t*>(data_.values.data())[row];
      filled_ = row;
    }
  } else if (data_.type == DataType::kBool) {
    SetBit(data_.values.data(), false);
  } else if (const size_t width = ValueWidth(data_.type); width > 0) {
    std::memset(data_.values.data() + row * width, 0, width);
  }
}

void Column::SetInt32() {
  if (data_.type != DataType::kNull) return;
  ConvertColumn(data_, DataType::kInt32, *row_, builder_->capacity_rows_);
  builder_->TypeChanged();
}

char* Column::BeginString(size_t max_size) {
  if (data_.type != DataType::kString) [[unlikely]] {
    AppendSlow(Value::OfText(DataType::kString, {}));
    Clear();
  }
  return RoomForText(max_size);
}

void Column::EndString(size_t size) { EndText(size); }

void Column::AppendStringRun(std::string_view value, uint32_t rows) {
  AppendString(value);
  const size_t size = value.size();
  const size_t begin = data_.data_size - size;
  const size_t end = begin + size * rows;
  data_.data.Reserve(end, data_.data_size);
  const uint32_t row = *row_;
  auto* offsets = reinterpret_cast<uint32_t*>(data_.values.data()) + row;
  for (uint32_t i = 1; i < rows; ++i) offsets[i] = static_cast<uint32_t>(begin + i * size);
  char* first = reinterpret_cast<char*>(data_.data.data()) + begin;
  char* const stop = first + size * rows;
  if (size != 0 && size <= sizeof(__m128i)) {  // padding lies behind the buffer, so whole words may be copied
    const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
    for (char* to = first + size; to < stop; to += size) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), word);
  } else if (size != 0) {
    for (char* to = first + size; to < stop; to += size) std::memcpy(to, first, size);
  }
  filled_ = row + rows;
  data_.data_size = end;
  SetValidRun(rows);
}

void Column::AppendSlow(const Value& value) {
  if (HasValue()) Clear();
  bool negative = false;
  bool wide = false;
  if (value.type == DataType::kInt64) {
    negative = value.int64 < 0;
    wide = IsWide(value.int64);
  } else if (value.type == DataType::kUint64) {
    wide = IsWide(value.uint64);
  }
  const ColumnHistory history = Look(data_, *row_, had_negative_, had_wide_);
  const DataType type = WidenedType(data_.type, history, value.type, negative, wide);
  // An unsigned value that fits takes its place among signed ones, so that small ids do not widen.
  const bool fits_signed = data_.type == DataType::kInt64 && value.type == DataType::kUint64 &&
                           value.uint64 <= static_cast<uint64_t>(INT64_MAX);
  if (fits_signed) return AppendInt64(static_cast<int64_t>(value.uint64));
  if (type != data_.type) {
    builder_->SaveForUndo(*this);
    had_negative_ = history.negative;
    had_wide_ = history.wide;
    if (is_text()) FillOffsets(*row_);
    ConvertColumn(data_, type, *row_, builder_->capacity_rows_);
    filled_ = is_text() ? *row_ : 0;
    builder_->TypeChanged();
  }
  switch (type) {
    case DataType::kNull: return;
    case DataType::kBool: return AppendBool(value.boolean);
    case DataType::kInt32: return;
    case DataType::kInt64: return AppendInt64(value.int64);
    case DataType::kUint64: return AppendUint64(value.uint64);
    case DataType::kTime: return AppendTime(value.int64);
    case DataType::kBytes: return AppendBytes(value.text);
    case DataType::kFloat64:
      if (value.type == DataType::kInt64) return AppendFloat64(static_cast<double>(value.int64));
      if (value.type == DataType::kUint64) return AppendFloat64(static_cast<double>(value.uint64));
      return AppendFloat64(value.float64);
    case DataType::kString: return AppendAsText(value);
  }
}

void Column::AppendAsText(const Value& value) {
  // Nothing here allocates: columns of mixed types stay such for the whole stream.
  char text[kMaxValueText];
  const auto append = [&](const char* end) { AppendString({text, static_cast<size_t>(end - text)}); };
  switch (value.type) {
    case DataType::kString: return AppendString(value.text);
    case DataType::kBool: return AppendString(value.boolean ? "true" : "false");
    case DataType::kInt64: return append(std::to_chars(text, text + sizeof(text), value.int64).ptr);
    case DataType::kUint64: return append(std::to_chars(text, text + sizeof(text), value.uint64).ptr);
    case DataType::kFloat64: return append(WriteDoubleText(value.float64, text));
    case DataType::kTime: return append(text + WriteRfc3339(value.int64, text));
    case DataType::kBytes: {
      const size_t size = Base64Size(value.text.size());
      WriteBase64(value.text, RoomForText(size));
      return EndText(size);
    }
    case DataType::kNull:
    case DataType::kInt32: return;  // no value; metadata, which never widens
  }
}

}  // namespace kafscope
