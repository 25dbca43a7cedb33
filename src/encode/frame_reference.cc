#include "encode/frame_reference.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/base64.h"
#include "base/time_text.h"
#include "base/utf8.h"

namespace kafscope {

namespace {

using nlohmann::json;

// Bytes one after another; zeroes when they have run out.
class Feed {
 public:
  explicit Feed(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return at_ >= bytes_.size(); }
  uint8_t Byte() { return empty() ? uint8_t{0} : bytes_[at_++]; }
  uint64_t Word() {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | Byte();
    return word;
  }
  std::string Text() {
    std::string text;
    for (size_t left = Byte() % 40; left > 0; --left) text.push_back(static_cast<char>(Byte()));
    return text;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

int64_t AnyInteger(Feed& feed) {
  const uint8_t kind = feed.Byte();
  if (kind % 4 == 0) return std::bit_cast<int64_t>(feed.Word());
  if (kind % 4 == 1) return feed.Byte();
  if (kind % 4 == 2) return int64_t{1'700'000'000'000'000'000} + feed.Byte() * int64_t{250'000};
  return -int64_t{feed.Byte()};
}

double AnyDouble(Feed& feed) {
  switch (feed.Byte() % 6) {
    case 0: return std::bit_cast<double>(feed.Word());
    case 1: return std::numeric_limits<double>::quiet_NaN();
    case 2: return std::numeric_limits<double>::infinity();
    case 3: return -std::numeric_limits<double>::infinity();
    default: return static_cast<double>(feed.Byte()) / 8 - 3;
  }
}

// The type that a column is mostly given; now and then another one, so that it widens.
void AppendAny(Column& column, size_t index, Feed& feed) {
  const uint8_t pick = feed.Byte();
  if (pick % 8 == 0) return column.AppendNull();
  switch (pick == 255 ? feed.Byte() % 7 : index % 7) {
    case 0: return column.AppendBool(feed.Byte() % 2 == 0);
    case 1: return column.AppendInt64(AnyInteger(feed));
    case 2: return column.AppendUint64(feed.Word());
    case 3: return column.AppendFloat64(AnyDouble(feed));
    case 4: return column.AppendTime(AnyInteger(feed));
    case 5: {
      std::string text;
      AppendReplacedUtf8(feed.Text(), &text);
      return column.AppendString(text);
    }
    default: return column.AppendBytes(feed.Text());
  }
}

int64_t FloorMillis(int64_t nanos) {
  const int64_t millis = nanos / 1'000'000;
  return nanos % 1'000'000 < 0 ? millis - 1 : millis;
}

bool IsWideText(const Field& field, bool wide_as_text) {
  return wide_as_text && field.wide_integers && (field.type == DataType::kInt64 || field.type == DataType::kUint64);
}

json GrafanaValue(const ColumnData& column, size_t row, bool as_text) {
  if (column.type == DataType::kNull || column.IsNull(row)) return nullptr;
  switch (column.type) {
    case DataType::kNull: return nullptr;
    case DataType::kBool: return column.Bool(row);
    case DataType::kInt32: return column.Int32(row);
    case DataType::kInt64: return as_text ? json(std::to_string(column.Int64(row))) : json(column.Int64(row));
    case DataType::kUint64: return as_text ? json(std::to_string(column.Uint64(row))) : json(column.Uint64(row));
    case DataType::kFloat64: return std::isfinite(column.Float64(row)) ? json(column.Float64(row)) : json(nullptr);
    case DataType::kTime: return FloorMillis(column.Int64(row));
    case DataType::kString: return std::string(column.Text(row));
    case DataType::kBytes: return ToBase64(column.Text(row));
  }
  return nullptr;
}

json SchemaField(const Field& field, bool as_text) {
  static const std::pair<const char*, const char*> kTypes[] = {
      {"string", "string"},  {"boolean", "bool"},   {"number", "int32"},  {"number", "int64"}, {"number", "uint64"},
      {"number", "float64"}, {"time", "time.Time"}, {"string", "string"}, {"string", "string"}};
  const auto& [type, frame] = kTypes[static_cast<size_t>(as_text ? DataType::kString : field.type)];
  json info = {{"frame", frame}};
  if (field.role != FieldRole::kPartition && field.role != FieldRole::kOffset) info["nullable"] = true;
  return {{"name", field.name}, {"type", type}, {"typeInfo", info}};
}

}  // namespace

std::vector<FramePtr> FramesFromBytes(std::span<const uint8_t> bytes) {
  Feed feed(bytes);
  FrameBuilder builder({.max_rows = 64, .sort_value_columns = feed.Byte() % 2 == 0});
  const size_t max_columns = 1 + feed.Byte() % 16;
  std::vector<FramePtr> frames;
  Column* offset = builder.FindOrAddColumn("offset", FieldRole::kOffset);
  int64_t next_offset = AnyInteger(feed);
  while (!feed.empty() && frames.size() < 8) {
    builder.BeginRow();
    offset->AppendInt64(next_offset);
    const size_t columns = feed.Byte() % (max_columns + 1);
    for (size_t i = 0; i < columns; ++i) {
      std::string name("\"c\n");
      name += std::to_string(i);
      AppendAny(*builder.FindOrAddColumn(name, FieldRole::kValue), i, feed);
    }
    if (feed.Byte() % 16 == 0) {
      builder.AbortRow();
    } else {
      next_offset = next_offset == std::numeric_limits<int64_t>::max() ? 0 : next_offset + 1;
      builder.CommitRow();
    }
    if (builder.Full() || feed.Byte() % 32 == 0) frames.push_back(builder.Finish());
  }
  frames.push_back(builder.Finish());
  return frames;
}

std::vector<FramePtr> RandomFrames(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(random() % 6000);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return FramesFromBytes(bytes);
}

json ReferenceGrafanaJson(const Frame& frame, bool wide_as_text) {
  json fields = json::array();
  json values = json::array();
  json entities = json::array();
  json nanos = json::array();
  bool any_entity = false;
  bool any_nanos = false;
  for (size_t i = 0; i < frame.num_columns(); ++i) {
    const Field& field = frame.schema().fields()[i];
    const ColumnData& column = frame.column(i);
    const bool as_text = IsWideText(field, wide_as_text);
    fields.push_back(SchemaField(field, as_text));
    json column_values = json::array();
    json entity;
    json rests = json::array();
    bool any_rest = false;
    for (size_t row = 0; row < frame.num_rows(); ++row) {
      column_values.push_back(GrafanaValue(column, row, as_text));
      const bool is_null = column.type == DataType::kNull || column.IsNull(row);
      if (column.type == DataType::kFloat64 && !is_null && !std::isfinite(column.Float64(row))) {
        const double value = column.Float64(row);
        entity[std::isnan(value) ? "NaN" : value > 0 ? "Inf" : "NegInf"].push_back(row);
      }
      int64_t rest = 0;
      if (column.type == DataType::kTime && !is_null) rest = (column.Int64(row) % 1'000'000 + 1'000'000) % 1'000'000;
      any_rest |= rest != 0;
      rests.push_back(rest);
    }
    values.push_back(column_values);
    any_entity |= !entity.is_null();
    any_nanos |= any_rest;
    entities.push_back(entity);
    nanos.push_back(any_rest ? rests : json(nullptr));
  }
  json data = {{"values", values}};
  if (any_entity) data["entities"] = entities;
  if (any_nanos) data["nanos"] = nanos;
  return {{"schema", {{"fields", fields}}}, {"data", data}};
}

std::vector<nlohmann::ordered_json> ReferenceRows(const Frame& frame) {
  std::vector<nlohmann::ordered_json> rows;
  for (size_t row = 0; row < frame.num_rows(); ++row) {
    auto object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < frame.num_columns(); ++i) {
      const ColumnData& column = frame.column(i);
      json value = GrafanaValue(column, row, false);
      const bool is_null = column.type == DataType::kNull || column.IsNull(row);
      if (!is_null && column.type == DataType::kTime) value = ToRfc3339(column.Int64(row));
      if (!is_null && column.type == DataType::kFloat64 && !std::isfinite(column.Float64(row))) {
        const double number = column.Float64(row);
        value = std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
      }
      object[frame.schema().fields()[i].name] = value;
    }
    rows.push_back(object);
  }
  return rows;
}

}  // namespace kafscope
