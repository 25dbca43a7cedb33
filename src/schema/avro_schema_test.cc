#include "schema/avro_schema.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace kafscope {
namespace {

const std::string kCorpora = KAFSCOPE_SOURCE_DIR "/tests/corpora/";

std::shared_ptr<const AvroSchema> Parse(std::string_view text, std::vector<std::string_view> references = {}) {
  auto schema = AvroSchema::Parse(text, references);
  EXPECT_TRUE(schema) << text << ": " << schema.error().ToString();
  return schema ? *schema : nullptr;
}

std::string ErrorOf(std::string_view text) {
  auto schema = AvroSchema::Parse(text);
  if (schema) return "accepted";
  EXPECT_EQ(schema.error().code(), StatusCode::kInvalidArgument);
  return std::string(schema.error().message());
}

TEST(AvroSchema, ReadsEveryKindOfType) {
  const auto schema = Parse(R"({"type":"record","name":"a.R","fields":[
    {"name":"n","type":["null","long"],"default":null,"doc":"x","aliases":["m"]},
    {"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]}},
    {"name":"f","type":{"type":"fixed","name":"F","size":4}},
    {"name":"l","type":{"type":"array","items":"E"}},
    {"name":"m","type":{"type":"map","values":"a.R"}}]})");
  ASSERT_TRUE(schema);
  const AvroNode& root = schema->root();
  ASSERT_EQ(root.fields.size(), 5u);
  EXPECT_EQ(root.name, "a.R");
  EXPECT_EQ(schema->node(root.fields[0].node).branches.size(), 2u);
  EXPECT_EQ(schema->node(root.fields[1].node).name, "a.E");
  EXPECT_EQ(schema->node(root.fields[2].node).size, 4u);
  EXPECT_EQ(schema->node(root.fields[3].node).branches[0], root.fields[1].node);
  EXPECT_EQ(schema->node(root.fields[4].node).branches[0], schema->root_index());
}

TEST(AvroSchema, NamesFollowTheirNamespace) {
  const auto schema = Parse(R"({"type":"record","name":"R","namespace":"a.b","fields":[
    {"name":"x","type":{"type":"record","name":"c.X","fields":[
        {"name":"y","type":{"type":"enum","name":"Y","symbols":[]}}]}},
    {"name":"z","type":{"type":"fixed","name":"Z","namespace":"","size":0}},
    {"name":"again","type":["c.Y","Z"]}]})");
  ASSERT_TRUE(schema);
  const AvroNode& x = schema->node(schema->root().fields[0].node);
  EXPECT_EQ(x.name, "c.X");
  EXPECT_EQ(schema->node(x.fields[0].node).name, "c.Y");
  EXPECT_EQ(schema->node(schema->root().fields[1].node).name, "Z");
}

TEST(AvroSchema, ReadsLogicalTypes) {
  const auto logical = [](std::string_view text) {
    const auto schema = Parse(text);
    return schema ? schema->root().logical : AvroLogicalType::kNone;
  };
  EXPECT_EQ(logical(R"({"type":"bytes","logicalType":"decimal","precision":10,"scale":2})"), AvroLogicalType::kDecimal);
  EXPECT_EQ(logical(R"({"type":"bytes","logicalType":"decimal","precision":1,"scale":2})"), AvroLogicalType::kNone);
  EXPECT_EQ(logical(R"({"type":"bytes","logicalType":"decimal"})"), AvroLogicalType::kNone);
  EXPECT_EQ(logical(R"({"type":"fixed","name":"U","size":16,"logicalType":"uuid"})"), AvroLogicalType::kUuid);
  EXPECT_EQ(logical(R"({"type":"fixed","name":"U","size":15,"logicalType":"uuid"})"), AvroLogicalType::kNone);
  EXPECT_EQ(logical(R"({"type":"long","logicalType":"local-timestamp-nanos"})"), AvroLogicalType::kTimestampNanos);
  EXPECT_EQ(logical(R"({"type":"int","logicalType":"timestamp-millis"})"), AvroLogicalType::kNone);
  EXPECT_EQ(logical(R"({"type":"long","logicalType":"martian"})"), AvroLogicalType::kNone);
}

TEST(AvroSchema, UsesReferences) {
  const auto schema = Parse(R"({"type":"record","name":"Envelope","fields":[{"name":"source","type":"io.Source"}]})",
                            {R"({"type":"enum","name":"io.Kind","symbols":["A"]})",
                             R"({"type":"record","name":"io.Source","fields":[{"name":"kind","type":"Kind"}]})"});
  ASSERT_TRUE(schema);
  EXPECT_EQ(
      schema->CanonicalForm(),
      R"({"name":"Envelope","type":"record","fields":[{"name":"source","type":{"name":"io.Source",)"
      R"("type":"record","fields":[{"name":"kind","type":{"name":"io.Kind","type":"enum","symbols":["A"]}}]}}]})");
}

TEST(AvroSchema, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(
      ErrorOf("{\"type\": \"record\",\n \"name\": \"R\",\n \"fields\": [{\"name\": \"a\", \"type\": \"strng\"}]}"),
      "line 3, column 35: field 'a' of record 'R': unknown type 'strng'");
  EXPECT_NE(ErrorOf("{\"type\":\n ]").find("line 2, column 2"), std::string::npos) << ErrorOf("{\"type\":\n ]");
  EXPECT_NE(ErrorOf("").find("line 1"), std::string::npos) << ErrorOf("");
  EXPECT_EQ(ErrorOf(R"({"type":"record","name":"R"})"), "line 1, column 25: record 'R' without an array \"fields\"");
  EXPECT_EQ(ErrorOf(R"(["int","int"])"), "line 1, column 2: type 'int' twice in one union");
  EXPECT_EQ(ErrorOf(R"(["int",["null"]])"), "a union directly inside a union");
  EXPECT_EQ(ErrorOf(R"({"type":"fixed","name":"F","size":-1})"),
            "line 1, column 24: fixed 'F' needs a \"size\" of 0 or more");
  EXPECT_EQ(ErrorOf(R"({"type":"enum","name":"1E","symbols":[]})"), "line 1, column 23: invalid name '1E'");
  EXPECT_EQ(ErrorOf(R"({"type":"array"})"), "line 1, column 2: array without \"items\"");
  EXPECT_EQ(ErrorOf("42"), "a type must be a name, an object or an array, not 42");
}

TEST(AvroSchema, BoundsHostileSchemas) {
  std::string deep(100000, '[');
  EXPECT_NE(ErrorOf(deep), "accepted");
  std::string nested = "\"int\"";
  for (int i = 0; i < 1000; ++i) nested = R"({"type":"array","items":)" + nested + "}";
  EXPECT_EQ(ErrorOf(nested), "types are nested deeper than 200");
  EXPECT_EQ(ErrorOf(std::string(AvroSchema::kMaxTextSize + 1, ' ')), "Avro schema text is larger than 4 MiB");
}

TEST(AvroSchema, CorpusCanonicalForms) {
  std::ifstream in(kCorpora + "avro-apache/canonical.jsonl");
  std::string line;
  int run = 0;
  while (std::getline(in, line)) {
    const auto c = nlohmann::json::parse(line);
    const auto schema = Parse(c.at("input").get<std::string>());
    ASSERT_TRUE(schema);
    EXPECT_EQ(schema->CanonicalForm(), c.at("canonical").get<std::string>());
    if (!c.at("crc64_avro").is_null()) {
      EXPECT_EQ(std::to_string(static_cast<int64_t>(schema->Fingerprint())), c.at("crc64_avro").get<std::string>())
          << line;
    }
    ++run;
  }
  EXPECT_EQ(run, 24);
}

TEST(AvroSchema, CorpusSchemas) {
  std::ifstream in(kCorpora + "avro-datums/cases.jsonl");
  std::string line;
  int run = 0;
  while (std::getline(in, line)) {
    const auto c = nlohmann::json::parse(line);
    std::ifstream file(kCorpora + "avro-datums/" + c.at("files")[0].get<std::string>());
    std::ostringstream text;
    text << file.rdbuf();
    const auto schema = AvroSchema::Parse(text.str());
    if (c.at("class") == "invalid") {
      EXPECT_FALSE(schema) << line;
    } else if (c.at("class") != "either") {
      EXPECT_TRUE(schema) << line << schema.error().ToString();
    }
    ++run;
  }
  EXPECT_EQ(run, 96);
}

}  // namespace
}  // namespace kafscope
