// Random schemas and random data, decoded by libavro (C) and flattened by slow, obvious code: every value must agree.
#include <avro.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/time_text.h"
#include "decode/avro_test_util.h"

namespace kafscope {
namespace {

using nlohmann::json;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int Below(int n) { return static_cast<int>(engine_() % static_cast<uint32_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }
  int64_t Int64() {  // of every magnitude
    const uint64_t bits = static_cast<uint64_t>(engine_()) << 32 | engine_();
    return static_cast<int64_t>(bits) >> Below(64);
  }

 private:
  std::mt19937 engine_;
};

// Makes a schema text; named types get numbers, and may be used again by their names.
class SchemaMaker {
 public:
  explicit SchemaMaker(Random& random) : random_(random) {}
  json Record(int depth) {
    const std::string name = "R" + std::to_string(++names_);
    json fields = json::array();
    open_.push_back(name);
    const int count = 1 + random_.Below(5);
    for (int i = 0; i < count; ++i) {
      fields.push_back({{"name", "f" + std::to_string(i)}, {"type", Type(depth - 1, true)}});
    }
    open_.pop_back();
    return {{"type", "record"}, {"name", name}, {"fields", fields}};
  }

 private:
  json Logical(const char* base, const char* logical) { return {{"type", base}, {"logicalType", logical}}; }
  json Leaf() {
    switch (random_.Below(17)) {
      case 0: return "null";
      case 1: return "boolean";
      case 2: return "int";
      case 3: return "long";
      case 4: return "float";
      case 5: return "double";
      case 6: return "bytes";
      case 7: return "string";
      case 8: return {{"type", "fixed"}, {"name", "F" + std::to_string(++names_)}, {"size", 1 + random_.Below(20)}};
      case 9: {
        json symbols = json::array();
        for (int i = random_.Below(5); i >= 0; --i) symbols.push_back("S" + std::to_string(i));
        return {{"type", "enum"}, {"name", "E" + std::to_string(++names_)}, {"symbols", symbols}};
      }
      case 10: return Logical("int", "date");
      case 11: return Logical("long", "timestamp-millis");
      case 12: return Logical("long", "timestamp-micros");
      case 13: return Logical("int", "time-millis");
      case 14: return Logical("long", "time-micros");
      case 15: return {{"type", "bytes"}, {"logicalType", "decimal"}, {"precision", 38}, {"scale", random_.Below(6)}};
      default: return Logical("string", "uuid");
    }
  }
  json Type(int depth, bool union_allowed) {
    const int kind = depth <= 0 ? 0 : random_.Below(12);
    if (union_allowed && kind >= 9) return Union(depth - 1);
    if (kind == 8) return {{"type", "array"}, {"items", Type(depth - 1, true)}};
    if (kind == 7) return {{"type", "map"}, {"values", Type(depth - 1, true)}};
    if (kind >= 5) return Record(depth - 1);
    return Leaf();
  }
  // Arms of different kinds; a record around it may be an arm, which makes it recursive.
  json Union(int depth) {
    json arms = json::array({"null"});
    if (random_.Chance(20)) arms.clear();
    if (random_.Chance(20)) {
      arms = json::array({"null"});  // or the data would never end
      arms.push_back(open_[static_cast<size_t>(random_.Below(static_cast<int>(open_.size())))]);
    } else if (random_.Chance(40)) {
      arms.push_back("long");
      arms.push_back("string");
      if (random_.Chance(50)) arms.push_back(Record(depth));
      if (random_.Chance(50)) arms.push_back({{"type", "array"}, {"items", "int"}});
    } else {
      json arm = Type(depth, false);
      if (arm == "null") arm = "double";
      arms.push_back(arm);
    }
    if (random_.Chance(10) && arms.size() > 1) std::swap(arms.front(), arms.back());
    return arms;
  }

  Random& random_;
  int names_ = 0;
  std::vector<std::string> open_;
};

// A use of a named type, as its definition.
class Definitions {
 public:
  explicit Definitions(const json& schema) { Collect(schema); }
  const json& Resolve(const json& type) const {
    const auto it = type.is_string() ? found_.find(type.get<std::string>()) : found_.end();
    return it == found_.end() ? type : it->second;
  }

 private:
  void Collect(const json& type) {
    if (type.is_object()) {
      if (type.contains("name")) found_[type.at("name")] = type;
      for (const char* key : {"items", "values"}) {
        if (type.contains(key)) Collect(type.at(key));
      }
      if (type.contains("fields")) {
        for (const json& field : type.at("fields")) Collect(field.at("type"));
      }
    } else if (type.is_array()) {
      for (const json& arm : type) Collect(arm);
    }
  }
  std::map<std::string, json> found_;
};

std::string MinimalBigEndian(int64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

// Fills a value of libavro with random data.
void Fill(Random& random, avro_value_t* value, const json& use, const Definitions& definitions, int depth) {
  const json& schema = definitions.Resolve(use);
  const auto is_decimal = [&] { return schema.is_object() && schema.value("logicalType", "") == "decimal"; };
  switch (avro_value_get_type(value)) {
    case AVRO_NULL: avro_value_set_null(value); break;
    case AVRO_BOOLEAN: avro_value_set_boolean(value, random.Below(2)); break;
    case AVRO_INT32: avro_value_set_int(value, static_cast<int32_t>(random.Int64())); break;
    case AVRO_INT64: avro_value_set_long(value, random.Int64()); break;
    case AVRO_FLOAT: {
      const float special[] = {0, -0.0f, NAN, INFINITY, 1.1f};
      const bool plain = random.Chance(70);
      avro_value_set_float(value, plain ? static_cast<float>(random.Int64()) / 256 : special[random.Below(5)]);
      break;
    }
    case AVRO_DOUBLE: {
      const double special[] = {0, -0.0, NAN, -INFINITY, 0.1};
      const bool plain = random.Chance(70);
      avro_value_set_double(value, plain ? static_cast<double>(random.Int64()) / 1024 : special[random.Below(5)]);
      break;
    }
    case AVRO_BYTES: {
      std::string bytes = is_decimal() ? MinimalBigEndian(random.Int64()) : std::string();
      if (!is_decimal()) {
        for (int i = random.Below(30); i > 0; --i) bytes += static_cast<char>(random.Below(256));
      }
      avro_value_set_bytes(value, bytes.data(), bytes.size());
      break;
    }
    case AVRO_STRING: {
      static const char* const kTexts[] = {"",
                                           "a",
                                           "value-17",
                                           "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                                           "quote\"d\n\\",
                                           "a text longer than sixteen bytes, and some"};
      avro_value_set_string(value, kTexts[random.Below(6)]);
      break;
    }
    case AVRO_FIXED: {
      size_t size = 0;
      const void* old = nullptr;
      avro_value_get_fixed(value, &old, &size);
      std::string bytes;
      for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random.Below(256));
      avro_value_set_fixed(value, bytes.data(), size);
      break;
    }
    case AVRO_ENUM: {
      const int count = static_cast<int>(avro_schema_enum_number_of_symbols(avro_value_get_schema(value)));
      avro_value_set_enum(value, random.Below(count));
      break;
    }
    case AVRO_ARRAY:
    case AVRO_MAP: {
      const bool map = avro_value_get_type(value) == AVRO_MAP;
      for (int i = depth > 12 ? 0 : random.Below(4); i > 0; --i) {
        avro_value_t item;
        if (map) {
          avro_value_add(value, ("k" + std::to_string(i)).c_str(), &item, nullptr, nullptr);
        } else {
          avro_value_append(value, &item, nullptr);
        }
        Fill(random, &item, schema.at(map ? "values" : "items"), definitions, depth + 1);
      }
      break;
    }
    case AVRO_UNION: {
      const auto arms = static_cast<int>(schema.size());
      int arm = random.Below(arms);
      for (int i = 0; depth > 12 && i < arms; ++i) {
        if (schema[static_cast<size_t>(i)] == "null") arm = i;  // so that recursion ends
      }
      avro_value_t branch;
      avro_value_set_branch(value, arm, &branch);
      Fill(random, &branch, schema[static_cast<size_t>(arm)], definitions, depth + 1);
      break;
    }
    default: break;
  }
  if (avro_value_get_type(value) == AVRO_RECORD) {
    size_t count = 0;
    avro_value_get_size(value, &count);
    for (size_t i = 0; i < count; ++i) {
      avro_value_t field;
      avro_value_get_by_index(value, i, &field, nullptr);
      Fill(random, &field, schema.at("fields")[i].at("type"), definitions, depth + 1);
    }
  }
}

std::string FloorTime(int64_t value, int64_t per_second) {  // any year; RFC 3339 by the obvious way
  __int128 nanos = static_cast<__int128>(value) * (1'000'000'000 / per_second);
  if (nanos >= INT64_MIN && nanos <= INT64_MAX) return ToRfc3339(static_cast<int64_t>(nanos));
  // 400 years repeat: move it into reach, then put the year right.
  const __int128 cycle = static_cast<__int128>(146097) * 86400 * 1'000'000'000;
  int64_t cycles = 0;
  const __int128 low = static_cast<__int128>(INT64_MIN) / 2;
  while (nanos < low) {
    const __int128 many = std::max<__int128>((low - nanos) / cycle, 1);
    nanos += many * cycle;
    cycles -= static_cast<int64_t>(many);
  }
  while (nanos > low + cycle) {
    const __int128 many = std::max<__int128>((nanos - low - cycle) / cycle, 1);
    nanos -= many * cycle;
    cycles += static_cast<int64_t>(many);
  }
  // [low, low + cycle] ends beyond the reach of nanoseconds only after the year 2262.
  std::string text = ToRfc3339(static_cast<int64_t>(nanos));
  const int64_t year = std::stoll(text.substr(0, 4)) + cycles * 400;
  std::string digits = std::to_string(std::abs(year));
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return (year < 0 ? "-" : year > 9999 ? "+" : "") + digits + text.substr(4);
}

std::string TimeOfDay(int64_t value, int64_t per_second) {
  if (value < 0 || value >= 86400 * per_second) return std::to_string(value);
  char text[32];
  const auto seconds = static_cast<int>(value / per_second);
  std::snprintf(text, sizeof text, per_second == 1000 ? "%02d:%02d:%02d.%03d" : "%02d:%02d:%02d.%06d", seconds / 3600,
                seconds / 60 % 60, seconds % 60, static_cast<int>(value % per_second));
  return text;
}

std::string Decimal(int64_t value, int scale) {
  std::string digits = std::to_string(value);
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  if (static_cast<int>(digits.size()) <= scale) digits.insert(0, static_cast<size_t>(scale) + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - static_cast<size_t>(scale), ".");
  return (negative ? "-" : "") + digits;
}

std::string DoubleText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text;
  AppendDoubleText(value, &text);
  return text;
}

class Reference {
 public:
  Reference(const Definitions& definitions, int max_depth) : definitions_(definitions), max_depth_(max_depth) {}

  std::map<std::string, std::string> Flatten(avro_value_t* value, const json& schema) {
    cells_.clear();
    Add(value, schema, "", 0);
    return cells_;
  }

 private:
  static avro_value_t Branch(const avro_value_t* value, int* arm) {
    avro_value_t branch;
    avro_value_get_discriminant(value, arm);
    avro_value_get_current_branch(value, &branch);
    return branch;
  }
  std::string ArmName(const json& arm) const {
    const json& type = definitions_.Resolve(arm);
    if (type.is_string()) return type;
    if (type.contains("name")) return type.at("name");
    return type.at("type");
  }

  void Add(avro_value_t* value, const json& use, const std::string& path, int depth) {
    const json& schema = definitions_.Resolve(use);
    const avro_type_t type = avro_value_get_type(value);
    if (type == AVRO_UNION) {
      int arm = 0;
      avro_value_t branch = Branch(value, &arm);
      int others = 0;
      for (const json& a : schema) others += a == "null" ? 0 : 1;
      const json& taken = schema[static_cast<size_t>(arm)];
      if (taken == "null") return;
      return Add(&branch, taken, others > 1 ? path + "." + ArmName(taken) : path, depth);
    }
    if (type == AVRO_RECORD && depth < max_depth_) {
      for (size_t i = 0; i < schema.at("fields").size(); ++i) {
        avro_value_t field;
        const char* name = nullptr;
        avro_value_get_by_index(value, i, &field, &name);
        Add(&field, schema.at("fields")[i].at("type"), path.empty() ? name : path + "." + name, depth + 1);
      }
      return;
    }
    if (type == AVRO_NULL) return;
    if (type == AVRO_RECORD || type == AVRO_ARRAY || type == AVRO_MAP) {
      cells_[path] = "json:" + Text(value, schema).dump();
      return;
    }
    const std::string text = Scalar(value, schema);
    if (type == AVRO_BYTES || type == AVRO_FIXED) {
      const bool decimal = schema.is_object() && schema.value("logicalType", "") == "decimal";
      cells_[path] = (decimal ? "string:" : "bytes:") + text;
    } else {
      cells_[path] = (type == AVRO_STRING || type == AVRO_ENUM || IsTimeOfDay(schema) ? "string:" : "") + text;
    }
  }

  static bool IsTimeOfDay(const json& schema) {
    const std::string logical = schema.is_object() ? schema.value("logicalType", "") : "";
    return logical == "time-millis" || logical == "time-micros";
  }

  // A leaf as text, without quotes; dates as instants.
  std::string Scalar(avro_value_t* value, const json& schema) {
    const std::string logical = schema.is_object() ? schema.value("logicalType", "") : "";
    size_t size = 0;
    const void* bytes = nullptr;
    switch (avro_value_get_type(value)) {
      case AVRO_BOOLEAN: {
        int b = 0;
        avro_value_get_boolean(value, &b);
        return b != 0 ? "true" : "false";
      }
      case AVRO_INT32: {
        int32_t n = 0;
        avro_value_get_int(value, &n);
        if (logical == "date") return FloorTime(int64_t{n} * 86400, 1);
        return logical == "time-millis" ? TimeOfDay(n, 1000) : std::to_string(n);
      }
      case AVRO_INT64: {
        int64_t n = 0;
        avro_value_get_long(value, &n);
        if (logical == "timestamp-millis") return FloorTime(n, 1000);
        if (logical == "timestamp-micros") return FloorTime(n, 1'000'000);
        return logical == "time-micros" ? TimeOfDay(n, 1'000'000) : std::to_string(n);
      }
      case AVRO_FLOAT: {
        float f = 0;
        avro_value_get_float(value, &f);
        return DoubleText(static_cast<double>(f));
      }
      case AVRO_DOUBLE: {
        double d = 0;
        avro_value_get_double(value, &d);
        return DoubleText(d);
      }
      case AVRO_STRING: {
        const char* text = nullptr;
        avro_value_get_string(value, &text, &size);
        return {text, size - 1};
      }
      case AVRO_ENUM: {
        int symbol = 0;
        avro_value_get_enum(value, &symbol);
        return schema.at("symbols")[static_cast<size_t>(symbol)];
      }
      case AVRO_BYTES: avro_value_get_bytes(value, &bytes, &size); break;
      default: avro_value_get_fixed(value, &bytes, &size);
    }
    const std::string_view view(static_cast<const char*>(bytes), size);
    if (logical != "decimal") return ToBase64(view);
    int64_t number = 0;
    for (char c : view) number = static_cast<int64_t>(static_cast<uint64_t>(number) << 8 | static_cast<uint8_t>(c));
    return Decimal(number, schema.at("scale"));
  }

  json Text(avro_value_t* value, const json& use) {
    const json& schema = definitions_.Resolve(use);
    size_t count = 0;
    switch (avro_value_get_type(value)) {
      case AVRO_NULL: return nullptr;
      case AVRO_UNION: {
        int arm = 0;
        avro_value_t branch = Branch(value, &arm);
        return Text(&branch, schema[static_cast<size_t>(arm)]);
      }
      case AVRO_RECORD: {
        json object = json::object();
        for (size_t i = 0; i < schema.at("fields").size(); ++i) {
          avro_value_t field;
          const char* name = nullptr;
          avro_value_get_by_index(value, i, &field, &name);
          object[name] = Text(&field, schema.at("fields")[i].at("type"));
        }
        return object;
      }
      case AVRO_ARRAY:
      case AVRO_MAP: {
        const bool map = avro_value_get_type(value) == AVRO_MAP;
        json out = map ? json::object() : json::array();
        avro_value_get_size(value, &count);
        for (size_t i = 0; i < count; ++i) {
          avro_value_t item;
          const char* key = nullptr;
          avro_value_get_by_index(value, i, &item, &key);
          if (map) {
            out[key] = Text(&item, schema.at("values"));
          } else {
            out.push_back(Text(&item, schema.at("items")));
          }
        }
        return out;
      }
      case AVRO_BOOLEAN: return Scalar(value, schema) == "true";
      case AVRO_INT32:
        if (schema.is_object() && schema.value("logicalType", "") == "date") {
          const std::string instant = Scalar(value, schema);
          return instant.substr(0, instant.find('T'));
        }
        [[fallthrough]];
      case AVRO_INT64: {
        const std::string text = Scalar(value, schema);
        if (schema.is_object() && schema.contains("logicalType")) return text;
        return static_cast<int64_t>(std::stoll(text));
      }
      case AVRO_FLOAT:
      case AVRO_DOUBLE: {
        const std::string text = Scalar(value, schema);
        if (text == "NaN" || text.ends_with("Infinity")) return text;
        return std::stod(text);
      }
      default: return Scalar(value, schema);
    }
  }

  const Definitions& definitions_;
  const int max_depth_;
  std::map<std::string, std::string> cells_;
};

// JSON text is compared as values: numbers may be spelled in several ways.
bool SameCell(const std::string& mine, const std::string& wanted) {
  if (!wanted.starts_with("json:") || !mine.starts_with("string:")) return mine == wanted;
  return json::parse(mine.substr(7), nullptr, false) == json::parse(wanted.substr(5));
}

void Compare(uint32_t seed, int* values) {
  Random random(seed);
  SchemaMaker maker(random);
  const json schema = maker.Record(4);
  const std::string text = schema.dump();
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
  avro_schema_t c_schema = nullptr;
  ASSERT_EQ(avro_schema_from_json_length(text.data(), text.size(), &c_schema), 0) << avro_strerror();
  avro_value_iface_t* iface = avro_generic_class_from_schema(c_schema);
  const int max_depth = 1 + random.Below(5);
  AvroRunner runner(text, static_cast<uint32_t>(max_depth));
  ASSERT_TRUE(runner.ok()) << runner.error();
  const Definitions definitions(schema);
  Reference reference(definitions, max_depth);
  std::vector<std::map<std::string, std::string>> expected;
  for (int i = 0; i < 20; ++i) {
    avro_value_t value;
    avro_generic_value_new(iface, &value);
    Fill(random, &value, schema, definitions, 0);
    size_t size = 0;
    avro_value_sizeof(&value, &size);
    std::string bytes(size, '\0');
    avro_writer_t writer = avro_writer_memory(bytes.data(), static_cast<int64_t>(bytes.size()));
    ASSERT_EQ(avro_value_write(writer, &value), 0) << avro_strerror();
    avro_writer_free(writer);
    expected.push_back(reference.Flatten(&value, schema));
    avro_value_decref(&value);
    ASSERT_EQ(runner.Add(bytes), AvroFault::kNone) << ToBase64(bytes) << " at " << runner.position();
    if (!bytes.empty()) {  // cut anywhere, it is an error or another value, never a crash
      AvroRunner cut(text, static_cast<uint32_t>(max_depth));
      static_cast<void>(
          cut.Add(std::string_view(bytes).substr(0, static_cast<size_t>(random.Below(static_cast<int>(size))))));
    }
  }
  const FramePtr frame = runner.Finish();
  ASSERT_EQ(frame->num_rows(), expected.size());
  for (size_t row = 0; row < expected.size(); ++row) {
    std::map<std::string, std::string> left = expected[row];
    for (size_t i = 0; i < frame->num_columns(); ++i) {
      const Field& field = frame->schema().fields()[i];
      const std::string cell = CellText(*frame, i, row);
      const auto it = left.find(field.name);
      if (it == left.end()) {
        ASSERT_EQ(cell, "null") << field.name;
        continue;
      }
      std::string want = it->second;
      // A column of times that held one beyond nanoseconds is text.
      if (field.type == DataType::kString && !want.starts_with("string:") && !want.starts_with("json:"))
        want = "string:" + want;
      ASSERT_TRUE(SameCell(cell, want)) << field.name << ": " << cell << ", libavro: " << want;
      ++*values;
      left.erase(it);
    }
    ASSERT_TRUE(left.empty()) << left.begin()->first;
  }
  avro_value_iface_decref(iface);
  avro_schema_decref(c_schema);
}

TEST(AvroDifferential, AgreesWithLibavro) {
  int values = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    Compare(seed, &values);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(values, 10000);
}

}  // namespace
}  // namespace kafscope
