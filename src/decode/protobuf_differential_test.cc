// Random schemas, random messages: our rows against a slow reader over libprotobuf's DynamicMessage.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/json_escape.h"
#include "base/number_format.h"
#include "decode/protobuf_test_util.h"
#include "schema/protobuf_compiler.h"

namespace kafscope {
namespace {

namespace pb = google::protobuf;
using Random = std::mt19937;
using Row = std::map<std::string, std::string>;

constexpr uint32_t kDepth = 3;  // low, so that both columns and JSON text of messages occur

int Pick(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

// --- schemas ---

constexpr const char* kScalars[] = {"double", "float",  "int32",   "int64",   "uint32",   "uint64",
                                    "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64",
                                    "bool",   "string", "bytes",   "E"};
constexpr const char* kKeys[] = {"int32",  "int64",   "uint32",   "uint64", "sint32",
                                 "sint64", "fixed32", "sfixed64", "bool",   "string"};

std::string RandomSchema(Random& random) {
  const bool proto3 = Pick(random, 2) == 0;
  const int messages = 1 + Pick(random, 4);
  std::string text = proto3 ? "syntax = \"proto3\";\n" : "syntax = \"proto2\";\n";
  text += "enum E { E0 = 0; E1 = 1; E7 = 7; E_N = -3; }\n";
  for (int m = 0; m < messages; ++m) {
    text += "message M" + std::to_string(m) + " {\n";
    int number = 1 + Pick(random, 3);
    const auto type = [&]() -> std::string {
      const int kind = Pick(random, 20);
      if (kind >= 16) return "M" + std::to_string(Pick(random, messages));
      return kScalars[kind];
    };
    const int fields = Pick(random, 9);
    for (int f = 0; f < fields; ++f) {
      const std::string name = "f" + std::to_string(f);
      const auto next = [&] {
        number += Pick(random, 8) == 0 ? 1 + Pick(random, 200) : 1;
        return " = " + std::to_string(number);
      };
      switch (Pick(random, 8)) {
        case 0:
        case 1: text += "repeated " + type() + " " + name + next() + ";\n"; break;
        case 2:
          text += "map<" + std::string(kKeys[Pick(random, 10)]) + ", " + type() + "> " + name + next() + ";\n";
          break;
        case 3:
          text += "oneof o" + std::to_string(f) + " {\n";
          for (int arm = 0; arm < 3; ++arm) text += type() + " " + name + "_" + std::to_string(arm) + next() + ";\n";
          text += "}\n";
          break;
        case 4:
          if (!proto3) {
            text += std::string(Pick(random, 2) == 0 ? "optional" : "repeated") + " group G" + name + next() +
                    " { optional int32 a = 1; repeated string b = 3; }\n";
            break;
          }
          [[fallthrough]];
        case 5: text += "optional " + type() + " " + name + next() + ";\n"; break;
        default: text += (proto3 ? "" : "optional ") + type() + " " + name + next() + ";\n"; break;
      }
    }
    text += "}\n";
  }
  return text;
}

// --- messages ---

uint64_t RandomBits(Random& random) {
  const uint64_t bits = (static_cast<uint64_t>(random()) << 32) | random();
  switch (Pick(random, 4)) {
    case 0: return bits;
    case 1: return bits >> (random() % 64);
    case 2: return ~(bits >> (random() % 64));
    default: return bits % 3;
  }
}

std::string RandomText(Random& random) {
  constexpr const char* kParts[] = {"a", "sensor", "é", "\"", "\\", "\n", "漢", "😀", "0", " "};
  std::string text;
  for (int n = Pick(random, 6); n > 0; --n) text += kParts[Pick(random, 10)];
  return text;
}

double RandomDouble(Random& random) {
  switch (Pick(random, 6)) {
    case 0: return std::nan("");
    case 1: return -INFINITY;
    case 2: return -0.0;
    case 3: return static_cast<double>(RandomBits(random));
    default: return static_cast<double>(static_cast<int>(random() % 100000)) / 100;
  }
}

void Fill(pb::Message* message, Random& random, int depth);

void Set(pb::Message* message, const pb::FieldDescriptor* field, Random& random, int depth) {
  const pb::Reflection& reflection = *message->GetReflection();
  const bool add = field->is_repeated();
  switch (field->cpp_type()) {
#define KAFSCOPE_SET(TYPE, NAME, VALUE)            \
  case pb::FieldDescriptor::TYPE: {                \
    if (add) {                                     \
      reflection.Add##NAME(message, field, VALUE); \
    } else {                                       \
      reflection.Set##NAME(message, field, VALUE); \
    }                                              \
    break;                                         \
  }
    KAFSCOPE_SET(CPPTYPE_INT32, Int32, static_cast<int32_t>(RandomBits(random)))
    KAFSCOPE_SET(CPPTYPE_INT64, Int64, static_cast<int64_t>(RandomBits(random)))
    KAFSCOPE_SET(CPPTYPE_UINT32, UInt32, static_cast<uint32_t>(RandomBits(random)))
    KAFSCOPE_SET(CPPTYPE_UINT64, UInt64, RandomBits(random))
    KAFSCOPE_SET(CPPTYPE_DOUBLE, Double, RandomDouble(random))
    KAFSCOPE_SET(CPPTYPE_FLOAT, Float, static_cast<float>(RandomDouble(random)))
    KAFSCOPE_SET(CPPTYPE_BOOL, Bool, Pick(random, 2) == 0)
    KAFSCOPE_SET(CPPTYPE_ENUM, Enum, field->enum_type()->value(Pick(random, field->enum_type()->value_count())))
    KAFSCOPE_SET(CPPTYPE_STRING, String, RandomText(random))
#undef KAFSCOPE_SET
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      if (depth > 0) {
        Fill(add ? reflection.AddMessage(message, field) : reflection.MutableMessage(message, field), random,
             depth - 1);
      }
      break;
  }
}

void Fill(pb::Message* message, Random& random, int depth) {
  const pb::Descriptor* type = message->GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const pb::FieldDescriptor* field = type->field(i);
    if (Pick(random, 3) == 0) continue;
    for (int n = field->is_repeated() ? Pick(random, 4) : 1; n > 0; --n) Set(message, field, random, depth);
  }
}

// --- the slow reader ---

std::vector<const pb::FieldDescriptor*> ByNumber(const pb::Descriptor* type) {
  std::vector<const pb::FieldDescriptor*> fields;
  for (int i = 0; i < type->field_count(); ++i) fields.push_back(type->field(i));
  std::sort(fields.begin(), fields.end(), [](auto* a, auto* b) { return a->number() < b->number(); });
  return fields;
}

// One value; `index` < 0: of a singular field. Text as a column shows it, or as JSON.
std::string ValueText(const pb::Message& message, const pb::FieldDescriptor* field, int index, bool json);

std::string MessageJson(const pb::Message& message);

template <typename T>
std::string Text(T value) {
  return std::to_string(value);
}

std::string DoubleText(double value, bool json) {
  std::string text;
  if (json && !std::isfinite(value)) {
    return std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
  if (json) {
    AppendDouble(value, &text);
  } else {
    AppendDoubleText(value, &text);
  }
  return text;
}

std::string Quoted(const std::string& text, bool json) {
  if (!json) return text;
  std::string quoted;
  AppendJsonString(text, &quoted);
  return quoted;
}

std::string ValueText(const pb::Message& message, const pb::FieldDescriptor* field, int index, bool json) {
  const pb::Reflection& r = *message.GetReflection();
  const bool one = index < 0;
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return Text(one ? r.GetInt32(message, field) : r.GetRepeatedInt32(message, field, index));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return Text(one ? r.GetInt64(message, field) : r.GetRepeatedInt64(message, field, index));
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return Text(one ? r.GetUInt32(message, field) : r.GetRepeatedUInt32(message, field, index));
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return Text(one ? r.GetUInt64(message, field) : r.GetRepeatedUInt64(message, field, index));
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return DoubleText(one ? r.GetDouble(message, field) : r.GetRepeatedDouble(message, field, index), json);
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return DoubleText(one ? r.GetFloat(message, field) : r.GetRepeatedFloat(message, field, index), json);
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return (one ? r.GetBool(message, field) : r.GetRepeatedBool(message, field, index)) ? "true" : "false";
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      const int number = one ? r.GetEnumValue(message, field) : r.GetRepeatedEnumValue(message, field, index);
      const auto* value = field->enum_type()->FindValueByNumber(number);
      return value == nullptr ? Text(number) : Quoted(value->name(), json);
    }
    case pb::FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = one ? r.GetString(message, field) : r.GetRepeatedString(message, field, index);
      return Quoted(field->type() == pb::FieldDescriptor::TYPE_BYTES ? ToBase64(text) : text, json);
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageJson(one ? r.GetMessage(message, field) : r.GetRepeatedMessage(message, field, index));
  }
  return "";
}

// Sorts keys as the product promises: numbers by value, false before true, text by bytes.
std::string MapJson(const pb::Message& message, const pb::FieldDescriptor* field) {
  const pb::Reflection& r = *message.GetReflection();
  const pb::FieldDescriptor* key = field->message_type()->map_key();
  const pb::FieldDescriptor* value = field->message_type()->map_value();
  std::map<std::pair<long double, std::string>, std::string> sorted;
  for (int i = 0; i < r.FieldSize(message, field); ++i) {
    const pb::Message& entry = r.GetRepeatedMessage(message, field, i);
    const std::string text = ValueText(entry, key, -1, false);
    const bool is_text = key->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING;
    const bool is_bool = key->cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL;
    const long double order = is_text ? 0 : is_bool ? static_cast<long double>(text == "true") : std::stold(text);
    sorted[{order, text}] = ValueText(entry, value, -1, true);
  }
  std::string json = "{";
  for (const auto& [name, text] : sorted) {
    if (json.size() > 1) json += ",";
    json += Quoted(name.second, true) + ":" + text;
  }
  return json + "}";
}

std::string FieldJson(const pb::Message& message, const pb::FieldDescriptor* field) {
  if (field->is_map()) return MapJson(message, field);
  if (!field->is_repeated()) return ValueText(message, field, -1, true);
  std::string json = "[";
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
    json += (i > 0 ? "," : "") + ValueText(message, field, i, true);
  }
  return json + "]";
}

// A group's field is named in lower case, as in the descriptor.
std::string MessageJson(const pb::Message& message) {
  std::string json = "{";
  for (const pb::FieldDescriptor* field : ByNumber(message.GetDescriptor())) {
    if (!field->is_repeated() && field->has_presence() && !message.GetReflection()->HasField(message, field)) continue;
    json += (json.size() > 1 ? ",\"" : "\"") + field->name() + "\":" + FieldJson(message, field);
  }
  return json + "}";
}

void Flatten(const pb::Message& message, const std::string& path, uint32_t depth, Row* row) {
  for (const pb::FieldDescriptor* field : ByNumber(message.GetDescriptor())) {
    const std::string name = path.empty() ? field->name() : path + "." + field->name();
    if (field->is_repeated()) {
      (*row)[name] = FieldJson(message, field);
      continue;
    }
    if (field->has_presence() && !message.GetReflection()->HasField(message, field)) continue;
    if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE && depth + 1 < kDepth &&
        field->message_type()->field_count() > 0) {
      Flatten(message.GetReflection()->GetMessage(message, field), name, depth + 1, row);
    } else {
      (*row)[name] = ValueText(message, field, -1, field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE);
    }
  }
}

Row RowOf(const FramePtr& frame) {
  Row row;
  for (size_t c = 0; c < frame->num_columns(); ++c) {
    const Field& field = frame->schema().fields()[c];
    if (field.role != FieldRole::kValue && field.role != FieldRole::kError) continue;
    if (!frame->column(c).IsNull(0)) row[field.name] = TextOfCell(frame->column(c), 0);
  }
  return row;
}

// --- the comparison ---

struct Pair {
  explicit Pair(Random& random) : text(RandomSchema(random)), factory(nullptr) {
    ProtobufSource source;
    source.text = text;
    status = compiler.Compile(source);
    if (!status.ok()) return;
    type = compiler.files()[0]->message_type(0);
    prototype = factory.GetPrototype(type);
    DecodeOptions options;
    options.format = Format::kProtobuf;
    options.max_depth = kDepth;
    options.value_schema.text = text;
    ours = std::make_unique<ProtobufUnderTest>(options, FrameBuilder::Options{.max_fields = 100'000});
  }
  std::string text;
  ProtobufCompiler compiler;
  Status status;
  pb::DynamicMessageFactory factory;
  const pb::Descriptor* type = nullptr;
  const pb::Message* prototype = nullptr;
  std::unique_ptr<ProtobufUnderTest> ours;
};

std::string Printable(const std::string& bytes) {
  std::string hex;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    hex += kDigits[static_cast<uint8_t>(c) >> 4];
    hex += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return hex;
}

TEST(ProtobufDifferential, RandomMessagesEqualDynamicMessage) {
  size_t compared = 0;
  for (unsigned seed = 1; seed <= 250; ++seed) {
    Random random(seed);
    Pair pair(random);
    ASSERT_TRUE(pair.status.ok()) << pair.status.ToString() << pair.text;
    for (int i = 0; i < 12; ++i) {
      // Several messages behind one another are one merged message.
      std::string bytes;
      for (int parts = Pick(random, 4) == 0 ? 3 : 1; parts > 0; --parts) {
        const std::unique_ptr<pb::Message> message(pair.prototype->New());
        Fill(message.get(), random, 5);
        bytes += message->SerializeAsString();
      }
      const std::unique_ptr<pb::Message> read(pair.prototype->New());
      ASSERT_TRUE(read->ParseFromString(bytes));
      Row expected;
      Flatten(*read, "", 0, &expected);
      ASSERT_EQ(RowOf(pair.ours->FrameOf(bytes)), expected) << "seed " << seed << " bytes " << Printable(bytes) << "\n"
                                                            << pair.text;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3000u);
}

TEST(ProtobufDifferential, DamagedMessagesAreTakenOrRefusedAlike) {
  size_t refused = 0;
  size_t taken = 0;
  for (unsigned seed = 1000; seed < 1150; ++seed) {
    Random random(seed);
    Pair pair(random);
    ASSERT_TRUE(pair.status.ok()) << pair.status.ToString();
    for (int i = 0; i < 40; ++i) {
      const std::unique_ptr<pb::Message> message(pair.prototype->New());
      Fill(message.get(), random, 4);
      std::string bytes = message->SerializeAsString();
      if (bytes.empty()) continue;
      for (int n = 1 + Pick(random, 2); n > 0 && !bytes.empty(); --n) {
        const size_t at = random() % bytes.size();
        switch (Pick(random, 4)) {
          case 0: bytes[at] = static_cast<char>(random()); break;
          case 1: bytes.resize(at); break;
          case 2: bytes.erase(at, 1); break;
          default: bytes.insert(at, 1, static_cast<char>(random())); break;
        }
      }
      const std::unique_ptr<pb::Message> read(pair.prototype->New());
      const bool expected = read->ParseFromString(bytes);
      const Row row = RowOf(pair.ours->FrameOf(bytes));
      ASSERT_EQ(!row.contains("error"), expected) << "seed " << seed << " bytes " << Printable(bytes) << "\n"
                                                  << (row.contains("error") ? row.at("error") : "") << "\n"
                                                  << pair.text;
      ++(expected ? taken : refused);
    }
  }
  EXPECT_GT(taken, 500u);
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace kafscope
