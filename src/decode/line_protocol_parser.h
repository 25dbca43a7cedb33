// LineProtocolParser: InfluxDB line protocol, one point at a time.
//
//   payload  = { line eol }              eol = [CR] LF | end          line = blank | '#' comment | point
//   point    = measurement { ',' key '=' value } ' ' field { ',' field } [ ' ' time ]
//   field    = key '=' ( float | int 'i' | uint 'u' | bool | '"' text '"' )
//   escapes  = in measurements `\,` `\ `; in keys and tag values `\,` `\=` `\ `; in text `\"` `\\` and, as QuestDB
//              writes them, `\LF` `\CR`; any other backslash stands for itself
//
// As influxdata/line-protocol reads it: no NaN, infinities, hexadecimal numbers or digit groups; no control characters
// outside of text; tag keys must differ; text may hold line ends. A bad line is an error, reading goes on with the
// next line.
//
// Cost: one pass. Measurement and tags are parsed once and then known by their raw bytes: the series that came after
// this one last time is compared first, then a hash look-up; the fields of a series are expected in their last order.
// No allocation once warm. Bounds: kMaxSeries series and field names are kept; beyond it all are forgotten.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decode/decode_error.h"

namespace kafscope {

class LineProtocolParser {
 public:
  static constexpr size_t kMaxSeries = 8192;
  static constexpr size_t kNamePadding = 32;

  // What the decoder keeps with a series or a field name; goes with it.
  struct Plan {
    virtual ~Plan() = default;
  };
  struct Tag {
    std::string key;
    std::string value;
  };
  struct FieldName {
    std::string raw;   // as in the text, with its '='
    std::string name;  // without escapes; kNamePadding readable bytes stand behind its begin
    std::unique_ptr<Plan> plan;
  };
  struct Series {
    std::string raw;  // as in the text, up to the space
    std::string measurement;
    std::vector<Tag> tags;
    std::vector<FieldName*> fields;  // in the order of its last point
    Series* next = nullptr;          // the series of the point after, last time
    std::unique_ptr<Plan> plan;
  };
  enum class Kind : uint8_t { kFloat, kInt, kUint, kBool, kText };
  struct Value {
    FieldName* name;
    Kind kind;
    union {
      double number;
      int64_t integer;
      uint64_t unsigned_integer;
      bool boolean;
    };
    std::string_view text;
  };
  enum class Item : uint8_t { kPoint, kError, kEnd };

  // Without `remember`, every line's measurement and tags are parsed anew.
  explicit LineProtocolParser(bool remember);

  // REQUIRES: payload outlives the reading of its points.
  void Start(std::string_view payload);
  Item Next();
  // Of the point that Next() gave, until the next call.
  Series& series() { return *series_; }
  std::span<const Value> values() const { return values_; }
  bool has_time() const { return has_time_; }
  int64_t time() const { return time_; }  // in the writer's unit
  // Of the error that Next() gave, until the next call; its position is the line, counted from 1.
  const DecodeError& error() const { return error_; }
  // An error for the point that Next() gave, at its line.
  const DecodeError& PointError(std::string_view text) {
    return MakeError(ErrorReason::kInvalidLine, line_begin_, text);
  }

  void DropPlans();

 private:
  // Each reads at at_ and moves it on. False: failure_ says what is wrong at at_.
  bool ReadPoint();
  bool ReadSeries();
  bool ParseSeries(std::string_view raw, Series* series);
  bool ReadField(size_t index);
  FieldName* ReadFieldName(size_t index);
  bool ReadValue(Value* value);
  bool ReadNumber(Value* value);
  bool ReadLongNumber(Value* value);
  bool ReadBool(Value* value);
  bool ReadText(Value* value);
  bool ReadTime();

  bool SkipToPoint();
  bool AtLineEnd() const;
  void TakeLineEnd();
  std::string_view Token() const;
  bool Fail(const char* at, std::string_view what);
  const DecodeError& MakeError(ErrorReason reason, const char* at, std::string_view text);
  void ForgetIfFull();
  std::string_view Unescaped(std::string_view raw);

  const bool remember_;
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* line_begin_ = nullptr;
  bool valid_utf8_ = true;

  Series* series_ = nullptr;
  Series scratch_;  // without `remember`
  std::vector<Value> values_;
  bool has_time_ = false;
  int64_t time_ = 0;
  std::string texts_;  // unescaped texts of this payload; never grows beyond what was reserved for it

  std::unordered_map<std::string_view, std::unique_ptr<Series>> series_by_raw_;
  std::unordered_map<std::string_view, std::unique_ptr<FieldName>> names_by_raw_;

  const char* failure_at_ = nullptr;
  std::string_view failure_;
  DecodeError error_;
  std::string error_text_;
  const char* counted_to_ = nullptr;  // lines are counted only where an error asks for it
  uint64_t line_ = 1;
};

}  // namespace kafscope
