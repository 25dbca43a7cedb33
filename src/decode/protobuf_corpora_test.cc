// The public corpora of Protobuf: every case is run and counted; deviations are named.
// With KAFSCOPE_CONFORMANCE_OUT=DIR each corpus leaves its counts there for scripts/conformance.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/time_text.h"
#include "decode/protobuf_test_util.h"
#include "schema/protobuf_schema.h"

namespace kafscope {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// The whole corpora where they lie beside the repository, else ours. KAFSCOPE_CORPORA names another place.
fs::path Corpus(const std::string& name) {
  if (const char* place = std::getenv("KAFSCOPE_CORPORA")) return fs::path(place) / name;
  const fs::path whole = fs::path(KAFSCOPE_SOURCE_DIR) / "../shared/corpora" / name;
  return fs::exists(whole) ? whole : fs::path(KAFSCOPE_SOURCE_DIR) / "tests/corpora" / name;
}

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Json> Lines(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::vector<Json> cases;
  for (std::string line; std::getline(in, line);) cases.push_back(Json::parse(line));
  return cases;
}

class Tally {
 public:
  explicit Tally(std::string corpus) : corpus_(std::move(corpus)) {}
  ~Tally() {
    const char* directory = std::getenv("KAFSCOPE_CONFORMANCE_OUT");
    if (directory == nullptr) return;
    const Json out = {{"corpus", corpus_}, {"total", total_}, {"passed", passed_}, {"deviations", deviations_}};
    std::ofstream(fs::path(directory) / (corpus_ + ".json")) << out.dump(1) << "\n";
  }
  void Pass() { ++total_, ++passed_; }
  // A difference that a rule explains.
  void Deviates(const std::string& rule) { ++total_, ++deviations_[rule]; }
  size_t passed() const { return passed_; }
  size_t deviating() const { return total_ - passed_; }

 private:
  std::string corpus_;
  size_t total_ = 0;
  size_t passed_ = 0;
  std::map<std::string, size_t> deviations_;
};

// --- equality of a row and ProtoJSON ---

bool IsDefault(const Json& value) {
  if (value.is_null() || value.empty()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  // The first name of an enum: no corpus has another text by default.
  const std::string text = value.is_string() ? value.get<std::string>() : "-";
  return text.empty() || text == "0" || text == "false" || text == "[]" || text == "NULL_VALUE" || text == "{}" ||
         text == "FOO" || text == "FOREIGN_FOO" || text.ends_with("_UNSPECIFIED") || text.ends_with("ZERO") ||
         text == "ALIAS_FOO";
}

// Of the last comparison that failed: where.
std::string g_difference;

bool Differ(const std::string& name) {
  g_difference = name + (g_difference.empty() ? "" : ".") + g_difference;
  return false;
}

bool Same(const Json& ours, const Json& expected) {
  g_difference.clear();
  if (expected.is_object()) {
    if (ours.is_string()) {
      const Json parsed = Json::parse(ours.get<std::string>(), nullptr, false);
      return !parsed.is_discarded() && !parsed.is_string() && Same(parsed, expected);
    }
    if (ours.is_null()) return expected.empty();
    if (!ours.is_object()) return false;
    for (const auto& [name, value] : expected.items()) {
      if (!ours.contains(name) ? !IsDefault(value) : !Same(ours[name], value)) return Differ(name);
    }
    for (const auto& [name, value] : ours.items()) {
      if (expected.contains(name) || IsDefault(value)) continue;
      // A message all of whose fields have their defaults.
      if (!value.is_object() || !Same(value, Json::object())) {
        const Json text = value.is_string() ? Json::parse(value.get<std::string>(), nullptr, false) : Json();
        if (text.is_discarded() || !text.is_object() || !Same(text, Json::object())) return Differ(name);
      }
    }
    return true;
  }
  if (expected.is_array()) {
    const Json parsed = ours.is_string() ? Json::parse(ours.get<std::string>(), nullptr, false) : ours;
    if (!parsed.is_array() || parsed.size() != expected.size()) return false;
    for (size_t i = 0; i < parsed.size(); ++i) {
      if (!Same(parsed[i], expected[i])) return false;
    }
    return true;
  }
  if (ours == expected || (expected.is_null() && ours == "NULL_VALUE")) return true;
  const std::string a = ours.is_string() ? ours.get<std::string>() : ours.dump();
  const std::string b = expected.is_string() ? expected.get<std::string>() : expected.dump();
  if (a == b) return true;
  if (const auto time = ParseRfc3339(a)) return time == ParseRfc3339(b);
  if (expected.is_number()) {
    char* end = nullptr;
    const double value = std::strtod(a.c_str(), &end);
    return !a.empty() && *end == '\0' && value == expected.get<double>();
  }
  return false;
}

// The row as one object; columns with dots become objects again.
Json ObjectOf(const Frame& frame) {
  Json object = Json::object();
  for (size_t c = 0; c < frame.num_columns(); ++c) {
    const Field& field = frame.schema().fields()[c];
    if (field.role != FieldRole::kValue || frame.column(c).IsNull(0)) continue;
    Json* at = &object;
    std::string part;
    bool in_brackets = false;  // the name of an extension
    for (const char letter : field.name) {
      if (letter == '[') in_brackets = true;
      if (letter == ']') in_brackets = false;
      if (letter == '.' && !in_brackets) {
        at = &(*at)[part];
        part.clear();
      } else {
        part += letter;
      }
    }
    (*at)[part] = TextOfCell(frame.column(c), 0);
  }
  return object;
}

std::string ErrorOf(const Frame& frame) {
  const int column = frame.schema().IndexOf("error");
  if (column < 0 || frame.column(static_cast<size_t>(column)).IsNull(0)) return "";
  return std::string(frame.column(static_cast<size_t>(column)).Text(0));
}

// Extension declarations are newer than protobuf 3.21; they say nothing about the wire.
std::string WithoutDeclarations(std::string text) {
  for (size_t at = text.find("[declaration"); at != std::string::npos; at = text.find("[declaration")) {
    text.erase(at, text.find(']', at) + 1 - at);
  }
  return text;
}

std::unique_ptr<ProtobufUnderTest> DecoderOf(const fs::path& root, const std::string& file, const std::string& message,
                                             uint32_t depth) {
  DecodeOptions options;
  options.format = Format::kProtobuf;
  options.max_depth = depth;
  options.value_schema.text = WithoutDeclarations(Read(root / file));
  options.value_schema.file_name = file;
  options.value_schema.include_dirs = {root.string()};
  options.value_schema.message = message;
  if (!MakeDecoder(options)) return nullptr;
  return std::make_unique<ProtobufUnderTest>(options, FrameBuilder::Options{.max_fields = 100'000});
}

constexpr const char* kNoEditions = "editions: the compiler of protobuf 3.21 does not know them (docs/limits.md)";

const std::set<std::string> kWrongWireType = {"maps/message#protoscope7", "maps/message#protoscope10",
                                              "maps/wrong#protoscope2"};

// Both with messages as columns and with messages as JSON text.
void RunPayloads(const std::vector<Json>& cases, const fs::path& protos,
                 const std::map<std::string, std::string>& files, Tally* tally) {
  std::map<std::string, std::vector<std::unique_ptr<ProtobufUnderTest>>> decoders;
  for (const Json& test : cases) {
    const std::string type = test["type"];
    const std::string package = type.substr(0, type.rfind('.'));
    if (!decoders.contains(type)) {
      for (const uint32_t depth : {1u, 5u}) {
        decoders[type].push_back(
            DecoderOf(protos, files.contains(type) ? files.at(type) : files.at(package), type, depth));
      }
    }
    if (decoders[type][0] == nullptr) {
      tally->Deviates(kNoEditions);
      continue;
    }
    const std::string payload = BytesOfHex(test["payload_hex"].get<std::string>());
    const std::string expect = test["expect"];
    bool passed = true;
    std::string rule;
    for (const auto& decoder : decoders[type]) {
      const FramePtr frame = decoder->FrameOf(payload);
      const std::string error = ErrorOf(*frame);
      if (expect == "either" || test.contains("json_error")) continue;
      if (expect != "ok") {
        passed &= !error.empty();
        if (error.empty()) ADD_FAILURE() << test["id"] << " is not refused: " << test.dump();
        continue;
      }
      if (error.empty() && (!test.contains("json") || Same(ObjectOf(*frame), test["json"]))) continue;
      const std::string text = test.dump();
      passed = false;
      if (text.find("UnknownEnum") != std::string::npos || text.find("UNKNOWN_ENUM") != std::string::npos) {
        rule = "enum number without a name in proto2: shown as its digits (design §7)";
      }
      if (kWrongWireType.contains(test["id"].get<std::string>())) {
        rule =
            "a map entry's field of the wrong wire type: unknown, as in protoc's parsers; the corpus' reader takes it";
      }
      if (rule.empty()) {
        ADD_FAILURE() << test["id"] << " " << error << " differs at " << g_difference << "; case " << text;
      }
    }
    if (passed) {
      tally->Pass();
    } else {
      tally->Deviates(rule);
    }
  }
}

TEST(ProtobufCorpora, Conformance) {
  Tally tally("pb-conformance");
  const fs::path root = Corpus("pb-conformance");
  const std::string base = "google/protobuf/test_messages_";
  RunPayloads(Lines(root / "conformance.jsonl"), root / "_common/protos",
              {{"protobuf_test_messages.proto2", base + "proto2.proto"},
               {"protobuf_test_messages.proto3", base + "proto3.proto"},
               {"protobuf_test_messages.editions.proto2", base + "proto2_editions.proto"},
               {"protobuf_test_messages.editions.proto3", base + "proto3_editions.proto"},
               {"protobuf_test_messages.editions", base + "edition2023.proto"}},
              &tally);
  EXPECT_GE(tally.passed(), 600u);
}

TEST(ProtobufCorpora, Hyperpb) {
  Tally tally("pb-hyperpb");
  const fs::path root = Corpus("pb-hyperpb");
  const std::vector<Json> cases = Lines(root / "hyperpb.jsonl");
  std::map<std::string, std::string> files;
  for (const Json& test : cases) {
    const std::string type = test["type"];
    const std::string name = type.substr(type.rfind('.') + 1);
    for (const char* file : {"test/test.proto", "test/proto2.proto", "test/editions.proto", "test/descriptor.proto",
                             "example/weather.proto"}) {
      const std::string text = Read(root / "_common/protos" / file);
      if (text.find("message " + name + " ") != std::string::npos) files.emplace(type, file);
    }
  }
  RunPayloads(cases, root / "_common/protos", files, &tally);
  EXPECT_GE(tally.passed(), 200u);
}

TEST(ProtobufCorpora, Golden) {
  Tally tally("pb-golden");
  const fs::path root = Corpus("pb-golden");
  const Json expected = Json::parse(Read(root / "golden_message.expected.json"))["json"];
  for (const uint32_t depth : {1u, 5u}) {
    auto decoder =
        DecoderOf(root / "_common", "objectivec/Tests/unittest.proto", "objc.protobuf.tests.TestAllTypes", depth);
    ASSERT_NE(decoder, nullptr);
    const FramePtr frame = decoder->FrameOf(Read(root / "golden_message"));
    EXPECT_EQ(ErrorOf(*frame), "");
    EXPECT_TRUE(Same(ObjectOf(*frame), expected)) << ObjectOf(*frame).dump() << "\n" << expected.dump();
    EXPECT_EQ(decoder->counters().unknown_fields, 0u);
  }
  tally.Pass();
}

TEST(ProtobufCorpora, MapboxTile) {
  Tally tally("pb-mapbox");
  const fs::path root = Corpus("pb-mapbox");
  auto decoder = DecoderOf(root, "vector_tile.proto", "vector_tile.Tile", 5);
  ASSERT_NE(decoder, nullptr);
  const FramePtr frame = decoder->FrameOf(Read(root / "12665.vector.pbf"));
  ASSERT_EQ(ErrorOf(*frame), "");
  const Json layers = Json::parse(ObjectOf(*frame)["layers"].get<std::string>());
  const Json summary = Json::parse(Read(root / "tile-summary.json"))["layers"];
  ASSERT_EQ(layers.size(), summary.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(layers[i]["name"], summary[i]["name"]);
    EXPECT_EQ(layers[i]["features"].size(), summary[i]["features"].get<size_t>());
    EXPECT_EQ(layers[i]["keys"].size(), summary[i]["keys"].get<size_t>());
    EXPECT_EQ(layers[i]["values"].size(), summary[i]["values"].get<size_t>());
    size_t geometry = 0;
    for (const Json& feature : layers[i]["features"]) geometry += feature["geometry"].size();
    EXPECT_EQ(geometry, summary[i]["geometry_ints"].get<size_t>());
  }
  tally.Pass();
  for (const Json& test : Lines(root / "cases.jsonl")) {
    if (test["class"] != "schema") continue;
    ProtobufSource source;
    source.text = Read(root / test["files"][0].get<std::string>());
    if (ProtobufSchema::Compile(source)) {
      tally.Pass();
    } else {
      tally.Deviates("not valid by protoc 3.21 either: proto2 fields without a label, defaults of the wrong type");
    }
  }
  EXPECT_LE(tally.deviating(), 4u);
}

TEST(ProtobufCorpora, Protoscope) {
  Tally tally("pb-protoscope");
  const fs::path root = Corpus("pb-protoscope");
  for (const Json& test : Lines(root / "cases.jsonl")) {
    const std::string payload = Read(root / test["files"][0].get<std::string>());
    DecodeOptions options;
    options.format = Format::kProtobuf;
    // These are wire-level cases: some are no message of any type, so only that nothing breaks is asked.
    ProtobufUnderTest raw(options);
    EXPECT_TRUE(raw.FrameOf(payload)) << test["id"];
    tally.Pass();
  }
}

void AddImport(const fs::path& file, ProtobufSource& source) {
  const std::string pattern = file.filename().string();
  std::vector<std::string> texts = {source.text};
  for (const ProtobufSource::Import& import : source.imports) texts.push_back(import.text);
  for (const std::string& text : texts) {
    for (size_t at = text.find("import \""); at != std::string::npos; at = text.find("import \"", at + 1)) {
      const std::string path = text.substr(at + 8, text.find('"', at + 8) - at - 8);
      const auto known = [&](const ProtobufSource::Import& import) { return import.path == path; };
      if (fs::path(path).filename() != pattern || std::any_of(source.imports.begin(), source.imports.end(), known)) {
        continue;
      }
      source.imports.push_back({path, Read(file)});
    }
  }
}

TEST(ProtobufCorpora, SchemasOfKafkaTools) {
  Tally tally("pb-schemas");
  const fs::path root = Corpus("pb-schemas");
  for (const Json& test : Lines(root / "cases.jsonl")) {
    const std::string file = test["files"][0];
    ProtobufSource source;
    source.text = Read(root / file);
    const std::string kind = test["class"];
    if (kind == "asyncapi") {
      tally.Deviates("AsyncAPI YAML is no .proto text: nothing of ours reads it");
      continue;
    }
    source.file_name = file.substr(file.find('/') + 1);
    // Imports by the paths of their origin: any file of the corpus with that name will do.
    for (int round = 0; round < 3; ++round) {  // imports of imports
      for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (entry.path().extension() == ".proto") AddImport(entry.path(), source);
      }
    }
    const auto schema = ProtobufSchema::Compile(source);
    if (!schema && schema.error().message().find("no such file") != std::string_view::npos) {
      tally.Deviates("imports files that the corpus does not have");
      continue;
    }
    EXPECT_TRUE(schema) << test["id"] << " " << (schema ? "" : schema.error().ToString());
    tally.Pass();
  }
}

// Sources that another compiler takes or refuses. libprotobuf's own verdict is ours: what differs is counted, and none
// may crash.
TEST(ProtobufCorpora, Sources) {
  const fs::path root = Corpus("pb-protosrc");
  if (!fs::exists(root)) GTEST_SKIP() << "../shared/corpora/pb-protosrc is not here";
  Tally tally("pb-protosrc");
  for (const Json& test : Lines(root / "cases.jsonl")) {
    if (test["class"] == "desc") continue;
    const std::string file = test["files"][0];
    const std::string text = Read(root / file);
    if (file.ends_with(".yaml")) {
      tally.Deviates("several files in one YAML: not run");
      continue;
    }
    ProtobufSource source;
    source.text = text;
    source.file_name = "schema.proto";
    const auto schema = ProtobufSchema::Compile(source);
    const bool refused = test["expect"] == "error" || test.value("buf_build", "") == "error";
    if (refused != static_cast<bool>(schema)) {
      tally.Pass();
    } else if (text.find("edition") != std::string::npos) {
      tally.Deviates(kNoEditions);
    } else if (schema) {
      tally.Deviates("protobuf 3.21's compiler is less strict");
    } else {
      tally.Deviates("protobuf 3.21's compiler refuses it");
    }
  }
  EXPECT_GE(tally.passed(), 80u);
}

}  // namespace
}  // namespace kafscope
