// Column: one typed column while its batch is open.
//
// A decoder gets a Column* from FrameBuilder::FindOrAddColumn() when it builds its plan, and appends at most one value
// a row to it: Append*(value). A second value for the same row replaces the first (Clear() first for strings is done
// inside). A row that appends nothing holds null. A value of another type widens the column by the rules of
// frame/widen.h; the builder notes the new schema version and can undo it in AbortRow().
//
// Cost: an append of the column's own type is a store, a bit and a compare; nothing allocates once the column has seen
// a batch of this size.
// Lifetime: valid until its FrameBuilder is destroyed, across Finish(). Threads: the builder's thread only.
#pragma once

#include <emmintrin.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "frame/frame.h"

namespace kafscope {

class FrameBuilder;

class Column {
 public:
  Column(FrameBuilder* builder, std::string name, FieldRole role, uint32_t index);
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  const std::string& name() const { return name_; }
  DataType type() const { return data_.type; }
  FieldRole role() const { return role_; }

  void AppendBool(bool value) {
    if (data_.type != DataType::kBool) [[unlikely]]
      return AppendSlow(Value::Of(value));
    SetBit(data_.values.data(), value);
    SetValid();
  }
  // Makes a column without values one of int32. For metadata columns: they never widen.
  void SetInt32();
  void AppendInt32(int32_t value) {
    reinterpret_cast<int32_t*>(data_.values.data())[*row_] = value;
    SetValid();
  }
  void AppendInt64(int64_t value) {
    if (data_.type != DataType::kInt64) [[unlikely]]
      return AppendSlow(Value::Of(value));
    reinterpret_cast<int64_t*>(data_.values.data())[*row_] = value;
    SetValid();
  }
  void AppendUint64(uint64_t value) {
    if (data_.type != DataType::kUint64) [[unlikely]]
      return AppendSlow(Value::Of(value));
    reinterpret_cast<uint64_t*>(data_.values.data())[*row_] = value;
    SetValid();
  }
  void AppendFloat64(double value) {
    if (data_.type != DataType::kFloat64) [[unlikely]]
      return AppendSlow(Value::Of(value));
    reinterpret_cast<double*>(data_.values.data())[*row_] = value;
    SetValid();
  }
  void AppendTime(int64_t nanoseconds) {
    if (data_.type != DataType::kTime) [[unlikely]]
      return AppendSlow(Value::OfTime(nanoseconds));
    reinterpret_cast<int64_t*>(data_.values.data())[*row_] = nanoseconds;
    SetValid();
  }
  // REQUIRES: valid UTF-8.
  void AppendString(std::string_view value) {
    if (data_.type != DataType::kString) [[unlikely]]
      return AppendSlow(Value::OfText(DataType::kString, value));
    CopyText(value);
  }
  // The same for a value with at least 32 readable bytes behind its begin, whatever they are.
  // PERF: most strings are short; two fixed copies beat a call of memcpy. The target has Buffer::kPadding behind it.
  void AppendStringPadded(const char* value, size_t size) {
    if (data_.type != DataType::kString) [[unlikely]]
      return AppendSlow(Value::OfText(DataType::kString, {value, size}));
    char* to = RoomForText(size);
    if (size <= 2 * sizeof(__m128i)) [[likely]] {
      const auto* from = reinterpret_cast<const __m128i*>(value);
      auto* target = reinterpret_cast<__m128i*>(to);
      _mm_storeu_si128(target, _mm_loadu_si128(from));
      _mm_storeu_si128(target + 1, _mm_loadu_si128(from + 1));
    } else {
      std::memcpy(to, value, size);
    }
    EndText(size);
  }
  // One value for this row and the rows after it, `rows` together, as FrameBuilder::BeginRun() opened them.
  // REQUIRES: the column holds nothing in any of them. PERF: copies go from the first value, without a call each.
  void AppendTimeRun(int64_t nanoseconds, uint32_t rows) {
    AppendTime(nanoseconds);
    RepeatWord(rows);
  }
  void AppendInt64Run(int64_t value, uint32_t rows) {
    AppendInt64(value);
    RepeatWord(rows);
  }
  void AppendInt32Run(int32_t value, uint32_t rows) {
    auto* values = reinterpret_cast<int32_t*>(data_.values.data()) + *row_;
    for (uint32_t i = 0; i < rows; ++i) values[i] = value;
    SetValidRun(rows);
  }
  void AppendStringRun(std::string_view value, uint32_t rows);
  void AppendBytes(std::string_view value) {
    if (data_.type != DataType::kBytes) [[unlikely]]
      return AppendSlow(Value::OfText(DataType::kBytes, value));
    CopyText(value);
  }
  // Room for a string of at most `max_size` bytes, written in place: `char* p = BeginString(n); …; EndString(written)`.
  // Nothing else may be appended to this column in between. A column of another type is widened first.
  char* BeginString(size_t max_size);
  void EndString(size_t size);

  // A null is seen: the column exists, its type stays. Takes back a value of this row.
  void AppendNull() {
    if (HasValue()) [[unlikely]]
      Clear();
  }
  bool HasValue() const { return (data_.validity.data()[*row_ >> 3] >> (*row_ & 7) & 1) != 0; }
  // Takes back this row's value.
  void Clear();
  // This row's value. REQUIRES: HasValue() and a time column.
  int64_t RowTime() const { return data_.Int64(*row_); }
  // The open batch's storage, to look at values of the open row that were just appended (not text: OpenText()).
  const ColumnData& open_data() const { return data_; }
  // The open row's text. REQUIRES: HasValue(), a column of text.
  std::string_view OpenText() const {
    const uint32_t begin = reinterpret_cast<const uint32_t*>(data_.values.data())[*row_];
    return {reinterpret_cast<const char*>(data_.data.data()) + begin, data_.data_size - begin};
  }

 private:
  friend class FrameBuilder;

  // A value on its way through the slow path.
  struct Value {
    DataType type;
    union {
      bool boolean;
      int64_t int64;
      uint64_t uint64;
      double float64;
    };
    std::string_view text;

    static Value Of(bool v) {
      Value r{DataType::kBool, {}, {}};
      r.boolean = v;
      return r;
    }
    static Value Of(int64_t v) {
      Value r{DataType::kInt64, {}, {}};
      r.int64 = v;
      return r;
    }
    static Value Of(uint64_t v) {
      Value r{DataType::kUint64, {}, {}};
      r.uint64 = v;
      return r;
    }
    static Value Of(double v) {
      Value r{DataType::kFloat64, {}, {}};
      r.float64 = v;
      return r;
    }
    static Value OfTime(int64_t v) {
      Value r{DataType::kTime, {}, {}};
      r.int64 = v;
      return r;
    }
    static Value OfText(DataType t, std::string_view v) {
      Value r{t, {}, v};
      r.int64 = 0;
      return r;
    }
  };

  void SetBit(uint8_t* bits, bool value) const {
    const uint8_t mask = static_cast<uint8_t>(1u << (*row_ & 7));
    uint8_t& byte = bits[*row_ >> 3];
    byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
  }
  void SetValid() { data_.validity.data()[*row_ >> 3] |= static_cast<uint8_t>(1u << (*row_ & 7)); }
  void CopyText(std::string_view value) {
    char* to = RoomForText(value.size());
    if (!value.empty()) std::memcpy(to, value.data(), value.size());  // an empty view may be null
    EndText(value.size());
  }
  // Offsets of rows that held nothing are filled here, so that rows cost only the fields they have.
  char* RoomForText(size_t size) {
    if (filled_ > *row_) [[unlikely]]
      Clear();
    FillOffsets(*row_);
    const auto end = static_cast<uint32_t>(data_.data_size);
    data_.data.Reserve(end + size + 1, end);  // + 1: there is a place even for an empty text
    return reinterpret_cast<char*>(data_.data.data()) + end;
  }
  void FillOffsets(uint32_t row) {
    auto* offsets = reinterpret_cast<uint32_t*>(data_.values.data());
    const auto end = static_cast<uint32_t>(data_.data_size);
    while (filled_ <= row) offsets[filled_++] = end;
  }
  void EndText(size_t size) {
    data_.data_size += size;
    SetValid();
  }

  // The open row's 8-byte value in the rows after it too.
  void RepeatWord(uint32_t rows) {
    auto* values = reinterpret_cast<uint64_t*>(data_.values.data()) + *row_;
    const uint64_t value = values[0];
    for (uint32_t i = 1; i < rows; ++i) values[i] = value;
    SetValidRun(rows);
  }
  // 32 rows at a time: the buffer has padding, so a word may be read and written at its end.
  void SetValidRun(uint32_t rows) {
    uint8_t* bits = data_.validity.data();
    for (uint32_t row = *row_; rows > 0;) {
      const uint32_t count = rows < 32 ? rows : 32;
      uint64_t word = 0;
      std::memcpy(&word, bits + (row >> 3), sizeof(word));
      word |= ((uint64_t{1} << count) - 1) << (row & 7);
      std::memcpy(bits + (row >> 3), &word, sizeof(word));
      row += count;
      rows -= count;
    }
  }

  void AppendSlow(const Value& value);
  void AppendAsText(const Value& value);
  bool is_text() const { return data_.type == DataType::kString || data_.type == DataType::kBytes; }

  const uint32_t* row_;  // the builder's open row
  ColumnData data_;
  uint32_t filled_ = 0;  // text: number of offsets written; offsets[filled_ - 1] is the start of the last touched row
  // What the column has held in its whole stream, up to the last Finish(); see frame/widen.h.
  bool had_negative_ = false;
  bool had_wide_ = false;  // an integer beyond ±2^53
  FieldRole role_;
  uint32_t index_;
  FrameBuilder* builder_;
  std::string name_;
};

}  // namespace kafscope
