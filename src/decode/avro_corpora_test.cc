// The Avro corpora: data written by other implementations, decoded and compared with their JSON value by value. Logical
// types are taken out of the schemas first, as the corpora's JSON does not apply them; avro_plan_test.cc has those.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/number_format.h"
#include "decode/avro_test_util.h"

namespace kafscope {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kCorpora = KAFSCOPE_SOURCE_DIR "/tests/corpora";

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

json WithoutLogicalTypes(json schema) {
  if (schema.is_object()) {
    schema.erase("logicalType");
    for (const char* key : {"type", "items", "values"}) {
      if (schema.contains(key)) schema[key] = WithoutLogicalTypes(schema[key]);
    }
    if (schema.contains("fields")) {
      for (json& field : schema["fields"]) field = WithoutLogicalTypes(field);
    }
  } else if (schema.is_array()) {
    for (json& arm : schema) arm = WithoutLogicalTypes(arm);
  }
  return schema;
}

std::string ShortName(const std::string& name) { return name.substr(name.rfind('.') + 1); }

// ISO-8859-1 text, as Avro's JSON writes bytes.
std::string Latin1(const std::string& utf8) {
  std::string bytes;
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto c = static_cast<uint8_t>(utf8[i]);
    bytes += static_cast<char>(c < 0x80 ? c : (c & 0x1f) << 6 | (static_cast<uint8_t>(utf8[++i]) & 0x3f));
  }
  return bytes;
}

// Flattens a value in Avro's JSON (unions tagged) by its schema; slow and obvious.
class Flattener {
 public:
  static constexpr int kMaxDepth = 5;

  explicit Flattener(const json& schema) : schema_(schema) { Collect(schema); }

  std::map<std::string, std::string> Flatten(const json& value) {
    cells_.clear();
    Add(value, schema_, "", 0);
    return cells_;
  }

 private:
  void Collect(const json& type) {
    if (type.is_array()) {
      for (const json& arm : type) Collect(arm);
    }
    if (!type.is_object()) return;
    if (type.contains("name")) named_[ShortName(type.at("name"))] = type;
    for (const char* key : {"type", "items", "values"}) {
      if (type.contains(key)) Collect(type.at(key));
    }
    if (type.contains("fields")) {
      for (const json& field : type.at("fields")) Collect(field.at("type"));
    }
  }
  // An object, an array (union) or the name of a primitive type.
  const json& Resolve(const json& type) const {
    if (type.is_string()) {
      const auto it = named_.find(ShortName(type));
      return it == named_.end() ? type : it->second;
    }
    if (!type.is_object()) return type;
    const json& inner = type.at("type");
    const bool own = inner == "record" || inner == "error" || inner == "enum" || inner == "fixed" || inner == "array" ||
                     inner == "map";
    return own ? type : Resolve(inner);
  }
  static std::string Kind(const json& type) { return type.is_string() ? type : type.at("type"); }
  std::string ArmName(const json& arm) const {
    const json& type = Resolve(arm);
    return type.is_object() && type.contains("name") ? ShortName(type.at("name")) : Kind(type);
  }
  // The arm that a tagged value is of, and the value in it.
  const json& TakenArm(const json& arms, const json& value, const json** inner) const {
    *inner = &value;
    for (const json& arm : arms) {
      if (value.is_null() ? Resolve(arm) == "null" : ArmName(arm) == ShortName(value.begin().key())) {
        if (!value.is_null()) *inner = &value.begin().value();
        return arm;
      }
    }
    ADD_FAILURE() << "no arm of " << arms << " for " << value;
    return arms[0];
  }

  void Add(const json& value, const json& use, const std::string& path, int depth) {
    const json& type = Resolve(use);
    if (type.is_array()) {
      const json* inner = nullptr;
      const json& arm = TakenArm(type, value, &inner);
      if (inner->is_null()) return;
      int others = 0;
      for (const json& a : type) others += Resolve(a) == "null" ? 0 : 1;
      const std::string base = path.empty() ? "value" : path;
      return Add(*inner, arm, others > 1 ? base + "." + ArmName(arm) : path, depth);
    }
    const std::string kind = Kind(type);
    if ((kind == "record" || kind == "error") && depth < kMaxDepth && !type.at("fields").empty()) {
      for (const json& field : type.at("fields")) {
        const std::string name = field.at("name");
        Add(value.at(name), field.at("type"), path.empty() ? name : path + "." + name, depth + 1);
      }
      return;
    }
    if (kind == "null" || (path.empty() && (kind == "record" || kind == "error"))) return;
    const std::string column = path.empty() ? "value" : path;
    if (kind == "record" || kind == "error" || kind == "array" || kind == "map") {
      cells_[column] = "json:" + Text(value, use).dump();
    } else if (kind == "string" || kind == "enum") {
      cells_[column] = "string:" + value.get<std::string>();
    } else if (kind == "bytes" || kind == "fixed") {
      cells_[column] = "bytes:" + ToBase64(Latin1(value));
    } else if (kind == "float" || kind == "double") {
      std::string text;
      AppendDouble(value.get<double>(), &text);
      cells_[column] = text;
    } else {
      cells_[column] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }

  json Text(const json& value, const json& use) {
    const json& type = Resolve(use);
    if (type.is_array()) {
      const json* inner = nullptr;
      const json& arm = TakenArm(type, value, &inner);
      return Text(*inner, arm);
    }
    const std::string kind = Kind(type);
    if (kind == "record" || kind == "error") {
      json out = json::object();
      for (const json& field : type.at("fields")) {
        const std::string name = field.at("name");
        out[name] = Text(value.at(name), field.at("type"));
      }
      return out;
    }
    if (kind == "map") {
      json out = json::object();
      for (const auto& [key, item] : value.items()) out[key] = Text(item, type.at("values"));
      return out;
    }
    if (kind == "array") {
      json out = json::array();
      for (const json& item : value) out.push_back(Text(item, type.at("items")));
      return out;
    }
    if (kind == "bytes" || kind == "fixed") return ToBase64(Latin1(value));
    if (kind == "long" && value.is_string()) return static_cast<int64_t>(std::stoll(value.get<std::string>()));
    if (kind == "float" || kind == "double") {
      std::string text;
      AppendDouble(value.get<double>(), &text);
      return json::parse(text);
    }
    return value;
  }

  const json& schema_;
  std::map<std::string, json> named_;
  std::map<std::string, std::string> cells_;
};

struct Datum {
  std::string hex;
  json value;
};

void Check(const json& original, const std::vector<Datum>& datums) {
  const json schema = WithoutLogicalTypes(original);
  AvroRunner runner(schema.dump());
  ASSERT_TRUE(runner.ok()) << runner.error();
  for (const Datum& datum : datums) {
    ASSERT_EQ(runner.Add(BytesFromHex(datum.hex)), AvroFault::kNone) << datum.hex << " at " << runner.position();
  }
  const FramePtr frame = runner.Finish();
  ASSERT_EQ(frame->num_rows(), datums.size());
  if (schema.is_object() && schema.at("type") == "array") return;  // columns item_…: avro_plan_test.cc
  Flattener flattener(schema);
  for (size_t row = 0; row < datums.size(); ++row) {
    SCOPED_TRACE(datums[row].value.dump());
    auto left = flattener.Flatten(datums[row].value);
    for (size_t i = 0; i < frame->num_columns(); ++i) {
      const std::string& name = frame->schema().fields()[i].name;
      std::string cell = CellText(*frame, i, row);
      const auto it = left.find(name);
      if (it == left.end()) {
        ASSERT_EQ(cell, "null") << name;
        continue;
      }
      if (it->second.starts_with("json:")) cell = "json:" + json::parse(cell.substr(7)).dump();
      ASSERT_EQ(cell, it->second) << name;
      left.erase(it);
    }
    ASSERT_TRUE(left.empty()) << left.begin()->first;
  }
}

// Files X.expected.json of a corpus: rows of a container file.
int CheckContainers(const std::string& corpus) {
  int rows = 0;
  for (const auto& entry : fs::directory_iterator(kCorpora / corpus)) {
    if (!entry.path().string().ends_with(".expected.json")) continue;
    SCOPED_TRACE(entry.path().filename());
    const json file = json::parse(ReadFile(entry.path()));
    std::vector<Datum> datums;
    for (const json& record : file.at("records")) datums.push_back({record.at("datum_hex"), record.at("json")});
    Check(file.at("schema"), datums);
    rows += static_cast<int>(datums.size());
  }
  return rows;
}

TEST(AvroCorpora, Apache) { EXPECT_GT(CheckContainers("avro-apache"), 20); }
TEST(AvroCorpora, Fastavro) { EXPECT_GT(CheckContainers("avro-fastavro"), 20); }
TEST(AvroCorpora, Goavro) { EXPECT_GT(CheckContainers("avro-goavro"), 10); }
TEST(AvroCorpora, Hamba) { EXPECT_GE(CheckContainers("avro-hamba"), 2); }

TEST(AvroCorpora, Datums) {
  int rows = 0;
  for (const auto& entry : fs::directory_iterator(kCorpora / "avro-datums")) {
    if (!entry.path().string().ends_with(".datums.jsonl")) continue;
    SCOPED_TRACE(entry.path().filename());
    fs::path schema_path = entry.path();
    schema_path.replace_extension().replace_extension(".avsc");
    const json schema = json::parse(ReadFile(schema_path), nullptr, true, true);
    std::vector<Datum> datums;
    std::istringstream lines(ReadFile(entry.path()));
    std::string line;
    while (std::getline(lines, line)) {
      const json datum = json::parse(line);
      datums.push_back({datum.at("hex"), datum.at("json")});
    }
    Check(schema, datums);
    rows += static_cast<int>(datums.size());
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(rows, 300);
}

TEST(AvroCorpora, Superhero) {
  AvroRunner runner(ReadFile(kCorpora / "avro-hamba/superhero.avsc"));
  const std::string row = runner.Decode(ReadFile(kCorpora / "avro-hamba/superhero.bin"));
  EXPECT_TRUE(row.starts_with("affiliation_id=")) << row;
}

TEST(AvroCorpora, BadUnionBranch) {  // lang__c__tests__avro-1237-bad-union-discriminant
  EXPECT_EQ(AvroRunner(R"(["string","int"])").DecodeHex("a002"), "at 0: a union branch that does not exist");
}

}  // namespace
}  // namespace kafscope
