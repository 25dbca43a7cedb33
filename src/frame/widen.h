// The rules of widening: which type a column takes when a value of another type comes, and how old values are
// rewritten.
//
//   null < bool | int64 | uint64 | time < float64 < string; bytes stay bytes
//
//   int64 + uint64   uint64 if the column never held a negative number, else as with float64
//   integer + float64   float64 if the column never held an integer beyond ±2^53, else string
//   float64 + integer   float64 if that integer lies within ±2^53, else string
//   bool, time or bytes with anything else   string, each value as its own JSON text (times RFC 3339, bytes base64)
//
// docs/values.md prints the table of pairs. Threads: free functions, safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frame/frame.h"

namespace kafscope {

inline constexpr int64_t kMaxExactDouble = int64_t{1} << 53;

inline bool IsWide(int64_t value) { return value > kMaxExactDouble || value < -kMaxExactDouble; }
inline bool IsWide(uint64_t value) { return value > static_cast<uint64_t>(kMaxExactDouble); }

// What a column has held, as far as a widening asks.
struct ColumnHistory {
  bool negative = false;  // a negative integer
  bool wide = false;      // an integer beyond ±2^53
};

// The type of a column of type `column` after a value of type `value` has joined. `value_negative` and `value_wide` are
// of that value, where it is an integer.
DataType WidenedType(DataType column, const ColumnHistory& history, DataType value, bool value_negative,
                     bool value_wide);

// Rewrites the first `rows` rows of `column` as `to`. REQUIRES: a pair that WidenedType() gives.
void ConvertColumn(ColumnData& column, DataType to, uint32_t rows, uint32_t capacity_rows);

// Appends the text that a value of a column takes when the column becomes one of strings. REQUIRES: not null.
void AppendValueText(const ColumnData& column, size_t row, std::string* out);
void AppendDoubleText(double value, std::string* out);
// The same at `out`; gives the end. REQUIRES: room for kMaxDoubleText.
inline constexpr size_t kMaxDoubleText = 32;
char* WriteDoubleText(double value, char* out);

// Bytes a row in ColumnData::values; 0 for null and, with its bits, bool; 4 for text (its offsets).
size_t ValueWidth(DataType type);

}  // namespace kafscope
