#include "encode/grafana_json_encoder.h"

#include <emmintrin.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "base/base64.h"
#include "base/json_escape.h"
#include "base/number_format.h"
#include "base/perf_switches.h"

namespace kafscope {

namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr size_t kLongTextBytes = 256 << 10;  // beyond it, room is made value by value and exactly
constexpr size_t kNullSize = 4;
constexpr size_t kCopySlack = 32;  // whole words copied at the end of a column

char* WriteNull(char* out) {
  std::memcpy(out, "null", kNullSize);
  return out + kNullSize;
}

// `[a,null,b]`. `write(row, out)` writes one value and gives its end.
template <typename Write>
char* WriteArray(const ColumnData& column, size_t rows, char* out, Write write) {
  *out++ = '[';
  if (column.null_count == 0) {
    for (size_t row = 0; row < rows; ++row) {
      out = write(row, out);
      *out++ = ',';
    }
  } else {
    for (size_t row = 0; row < rows; ++row) {
      out = column.IsNull(row) ? WriteNull(out) : write(row, out);
      *out++ = ',';
    }
  }
  if (rows > 0) --out;
  *out = ']';
  return out + 1;
}

char* WriteNulls(size_t rows, char* out) {
  *out++ = '[';
  for (size_t row = 0; row < rows; ++row) {
    out = WriteNull(out);
    *out++ = ',';
  }
  if (rows > 0) --out;
  *out = ']';
  return out + 1;
}

char* WriteBool(bool value, char* out) {
  std::memcpy(out, value ? "true" : "false", 5);
  return out + (value ? 4 : 5);
}

char* WriteQuoted(char* (*write)(uint64_t, char*), uint64_t value, char* out) {
  *out = '"';
  out = write(value, out + 1);
  *out = '"';
  return out + 1;
}

char* WriteSignedBits(uint64_t bits, char* out) { return WriteInt64(static_cast<int64_t>(bits), out); }

char* WriteBytes(std::string_view bytes, char* out) {
  *out++ = '"';
  WriteBase64(bytes, out);
  out += Base64Size(bytes.size());
  *out = '"';
  return out + 1;
}

// Milliseconds, rounded down, and what is left: 0…999,999 ns.
struct SplitTime {
  int64_t millis;
  int64_t rest;
};
SplitTime Split(int64_t nanos) {
  SplitTime split{nanos / kNanosPerMilli, nanos % kNanosPerMilli};
  if (split.rest < 0) {
    split.rest += kNanosPerMilli;
    --split.millis;
  }
  return split;
}

// Neighbours often fall into the same millisecond: its digits are copied.
class TimeWriter {
 public:
  char* operator()(int64_t nanos, char* out) {
    const SplitTime split = Split(nanos);
    rest_ |= split.rest;
    if (size_ == 0 || split.millis != millis_) {
      millis_ = split.millis;
      size_ = WriteInt64(millis_, text_) - text_;
    }
    std::memcpy(out, text_, kMaxIntegerSize);
    return out + size_;
  }
  bool has_rest() const { return rest_ != 0; }

 private:
  char text_[kMaxIntegerSize] = {};
  ptrdiff_t size_ = 0;
  int64_t millis_ = 0;
  int64_t rest_ = 0;
};

// As TimeWriter, for integers: the offset of a record of many rows.
class Int64Writer {
 public:
  char* operator()(int64_t value, char* out) {
    if (size_ == 0 || value != value_) {
      value_ = value;
      size_ = WriteInt64(value, text_) - text_;
    }
    std::memcpy(out, text_, kMaxIntegerSize);
    return out + size_;
  }

 private:
  char text_[kMaxIntegerSize] = {};
  ptrdiff_t size_ = 0;
  int64_t value_ = 0;
};

// Text that repeats from row to row (tags, names, levels) is copied with its quotes and escapes. Only 1 to 16 bytes: it
// is compared and copied in whole words, which the frame's buffers and ours have room for.
class TextWriter {
 public:
  char* operator()(std::string_view text, char* out) {
    if (text.size() == text_.size() && text.size() - 1 < kShort && size_ <= kMaxCopy && IsSame(text)) {
      Copy(last_, out);
      Copy(last_ + kShort, out + kShort);
      last_ = out;
      return out + size_;
    }
    char* end = WriteJsonStringPadded(text, out);
    text_ = text;
    last_ = out;
    size_ = end - out;
    return end;
  }

 private:
  static constexpr size_t kShort = sizeof(__m128i);
  static constexpr ptrdiff_t kMaxCopy = 2 * kShort;

  static __m128i Load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static void Copy(const char* from, char* to) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), Load(from)); }
  bool IsSame(std::string_view text) const {
    const auto equal = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(Load(text.data()), Load(text_.data()))));
    const uint32_t all = (1u << text.size()) - 1;
    return (equal & all) == all;
  }

  std::string_view text_ = {};
  const char* last_ = nullptr;
  ptrdiff_t size_ = kMaxCopy + 1;  // nothing was written yet
};

// The most characters that one value of this type takes, its comma included; text on top by its bytes.
size_t MaxValueSize(DataType type) {
  switch (type) {
    case DataType::kNull:
    case DataType::kBool: return 6;
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kTime: return kMaxIntegerSize + 3;
    case DataType::kFloat64: return kMaxDoubleSize + 1;
    case DataType::kString: return 5;  // and what the last row's block-wise copy needs: WriteColumn()
    case DataType::kBytes: return 9;
  }
  return 0;
}

struct TypeName {
  std::string_view type;
  std::string_view frame;
};
TypeName GrafanaType(DataType type) {
  switch (type) {
    case DataType::kBool: return {"boolean", "bool"};
    case DataType::kInt32: return {"number", "int32"};
    case DataType::kInt64: return {"number", "int64"};
    case DataType::kUint64: return {"number", "uint64"};
    case DataType::kFloat64: return {"number", "float64"};
    case DataType::kTime: return {"time", "time.Time"};
    case DataType::kNull:
    case DataType::kString:
    case DataType::kBytes: return {"string", "string"};
  }
  return {"string", "string"};
}

void AppendMember(std::string_view key, std::string_view value, std::string* out) {
  AppendJsonString(key, out);
  out->push_back(':');
  AppendJsonString(value, out);
}

// Every row has its partition and offset; all else may be null some day, and must not change its type for it.
bool IsNullable(const Field& field) { return field.role != FieldRole::kPartition && field.role != FieldRole::kOffset; }

}  // namespace

GrafanaJsonEncoder::GrafanaJsonEncoder(GrafanaJsonOptions options) : options_(std::move(options)) {}

bool GrafanaJsonEncoder::IsText(const Field& field) const {
  return field.wide_integers && options_.wide_integers == WideIntegers::kText &&
         (field.type == DataType::kInt64 || field.type == DataType::kUint64);
}

void GrafanaJsonEncoder::UseSchema(const std::shared_ptr<const Schema>& schema) {
  if (schema_ == schema) return;
  schema_ = schema;
  std::string& json = schema_json_;
  json = "\"schema\":{";
  if (!options_.name.empty()) {
    AppendMember("name", options_.name, &json);
    json += ',';
  }
  if (!options_.ref_id.empty()) {
    AppendMember("refId", options_.ref_id, &json);
    json += ',';
  }
  json += "\"fields\":[";
  for (const Field& field : schema->fields()) {
    const TypeName name = GrafanaType(IsText(field) ? DataType::kString : field.type);
    json += '{';
    AppendMember("name", field.name, &json);
    json += ',';
    AppendMember("type", name.type, &json);
    json += ",\"typeInfo\":{";
    AppendMember("frame", name.frame, &json);
    if (IsNullable(field)) json += ",\"nullable\":true";
    json += "}},";
  }
  if (json.back() == ',') json.pop_back();
  json += "]}";
}

void GrafanaJsonEncoder::Encode(const Frame& frame, std::string* out) {
  UseSchema(frame.shared_schema());
  text_.Put('{');
  text_.Put(schema_json_);
  text_.Put(',');
  WriteData(frame);
  text_.Put('}');
  text_.MoveTo(out);
}

void GrafanaJsonEncoder::EncodeSchema(const std::shared_ptr<const Schema>& schema, std::string* out) {
  UseSchema(schema);
  out->append("{").append(schema_json_).append("}");
}

void GrafanaJsonEncoder::EncodeData(const Frame& frame, std::string* out) {
  UseSchema(frame.shared_schema());
  text_.Put('{');
  WriteData(frame);
  text_.Put('}');
  text_.MoveTo(out);
}

void GrafanaJsonEncoder::WriteData(const Frame& frame) {
  has_entities_ = false;
  has_nanos_ = false;
  text_.Put("\"data\":{\"values\":[");
  for (size_t i = 0; i < frame.num_columns(); ++i) {
    if (i > 0) text_.Put(',');
    WriteColumn(frame.column(i), IsText(frame.schema().fields()[i]), frame.num_rows());
  }
  text_.Put(']');
  if (has_entities_) WriteEntities(frame);
  if (has_nanos_) WriteNanos(frame);
  text_.Put('}');
}

void GrafanaJsonEncoder::WriteColumn(const ColumnData& column, bool as_text, size_t rows) {
  const bool is_text = column.type == DataType::kString || column.type == DataType::kBytes;
  if (is_text && column.data_size > kLongTextBytes) return WriteLongText(column, rows);
  char* out = text_.Room(rows * MaxValueSize(column.type) + 6 * (is_text ? column.data_size : 0) + 3 + kCopySlack);
  switch (column.type) {
    case DataType::kNull: out = WriteNulls(rows, out); break;
    case DataType::kBool:
      out = WriteArray(column, rows, out, [&](size_t row, char* to) { return WriteBool(column.Bool(row), to); });
      break;
    case DataType::kInt32:
      out = WriteArray(column, rows, out, [&](size_t row, char* to) { return WriteInt64(column.Int32(row), to); });
      break;
    case DataType::kInt64:
    case DataType::kUint64: {
      char* (*write)(uint64_t, char*) = column.type == DataType::kInt64 ? WriteSignedBits : WriteUint64;
      if (as_text) {
        out = WriteArray(column, rows, out,
                         [&](size_t row, char* to) { return WriteQuoted(write, column.Uint64(row), to); });
      } else if (column.type == DataType::kInt64) {
        Int64Writer writer;
        out = WriteArray(column, rows, out, [&](size_t row, char* to) { return writer(column.Int64(row), to); });
      } else {
        out = WriteArray(column, rows, out, [&](size_t row, char* to) { return WriteUint64(column.Uint64(row), to); });
      }
      break;
    }
    case DataType::kFloat64: {
      char* (*write)(double, char*) = PerfDisabled(PerfSwitch::kShortDoubles) ? WriteDoubleSlow : WriteDouble;
      bool special = false;
      out = WriteArray(column, rows, out, [&](size_t row, char* to) {
        const double value = column.Float64(row);
        if (std::isfinite(value)) [[likely]]
          return write(value, to);
        special = true;
        return WriteNull(to);
      });
      has_entities_ |= special;
      break;
    }
    case DataType::kTime: {
      TimeWriter write;
      out = WriteArray(column, rows, out, [&](size_t row, char* to) { return write(column.Int64(row), to); });
      has_nanos_ |= write.has_rest();
      break;
    }
    case DataType::kString: {
      TextWriter write;
      out = WriteArray(column, rows, out, [&](size_t row, char* to) { return write(column.Text(row), to); });
      break;
    }
    case DataType::kBytes:
      out = WriteArray(column, rows, out, [&](size_t row, char* to) { return WriteBytes(column.Text(row), to); });
      break;
  }
  text_.SetEnd(out);
}

// Six characters a byte would be too much to ask for here.
void GrafanaJsonEncoder::WriteLongText(const ColumnData& column, size_t rows) {
  const bool is_string = column.type == DataType::kString;
  text_.Put('[');
  for (size_t row = 0; row < rows; ++row) {
    if (row > 0) text_.Put(',');
    if (column.IsNull(row)) {
      text_.Put("null");
      continue;
    }
    const std::string_view text = column.Text(row);
    char* out = text_.Room(is_string ? JsonStringSize(text) : Base64Size(text.size()) + 2);
    text_.SetEnd(is_string ? WriteJsonString(text, out) : WriteBytes(text, out));
  }
  text_.Put(']');
}

// `,"entities":[null,{"NaN":[0,3],"Inf":[1],"NegInf":[2]}]`
void GrafanaJsonEncoder::WriteEntities(const Frame& frame) {
  static constexpr std::pair<std::string_view, bool (*)(double)> kKinds[] = {
      {"\"NaN\":[", [](double v) { return std::isnan(v); }},
      {"\"Inf\":[", [](double v) { return std::isinf(v) && v > 0; }},
      {"\"NegInf\":[", [](double v) { return std::isinf(v) && v < 0; }}};
  text_.Put(",\"entities\":[");
  for (size_t i = 0; i < frame.num_columns(); ++i) {
    if (i > 0) text_.Put(',');
    const ColumnData& column = frame.column(i);
    bool any = false;
    for (const auto& [key, is_kind] : kKinds) {
      bool any_of_kind = false;
      for (size_t row = 0; column.type == DataType::kFloat64 && row < frame.num_rows(); ++row) {
        if (column.IsNull(row) || !is_kind(column.Float64(row))) continue;
        if (any_of_kind) {
          text_.Put(',');
        } else {
          text_.Put(any ? "," : "{");
          text_.Put(key);
        }
        any = any_of_kind = true;
        text_.SetEnd(WriteUint64(row, text_.Room(kMaxIntegerSize)));
      }
      if (any_of_kind) text_.Put(']');
    }
    text_.Put(any ? "}" : "null");
  }
  text_.Put(']');
}

// `,"nanos":[[123456,0],null]`
void GrafanaJsonEncoder::WriteNanos(const Frame& frame) {
  const size_t rows = frame.num_rows();
  text_.Put(",\"nanos\":[");
  for (size_t i = 0; i < frame.num_columns(); ++i) {
    if (i > 0) text_.Put(',');
    const ColumnData& column = frame.column(i);
    bool any = false;
    for (size_t row = 0; column.type == DataType::kTime && row < rows; ++row) {
      any |= !column.IsNull(row) && Split(column.Int64(row)).rest != 0;
    }
    if (!any) {
      text_.Put("null");
      continue;
    }
    Int64Writer write;
    char* out = text_.Room(rows * 7 + kMaxIntegerSize);
    *out++ = '[';
    for (size_t row = 0; row < rows; ++row) {
      out = write(column.IsNull(row) ? 0 : Split(column.Int64(row)).rest, out);
      *out++ = ',';
    }
    out[-1] = ']';
    text_.SetEnd(out);
  }
  text_.Put(']');
}

}  // namespace kafscope
