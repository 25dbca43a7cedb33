#include "schema/protobuf_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "schema/protobuf_compiler.h"

namespace kafscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<const ProtobufSchema> Compiled(const ProtobufSource& source) {
  auto schema = ProtobufSchema::Compile(source);
  EXPECT_TRUE(schema) << (schema ? "" : schema.error().ToString());
  return schema ? *schema : nullptr;
}

std::shared_ptr<const ProtobufSchema> CompiledText(std::string text) {
  ProtobufSource source;
  source.text = std::move(text);
  return Compiled(source);
}

Status Fault(std::string text) {
  ProtobufSource source;
  source.text = std::move(text);
  auto schema = ProtobufSchema::Compile(source);
  EXPECT_FALSE(schema);
  return schema ? Status() : schema.error();
}

TEST(ProtobufSchemaTest, FieldsStandByNumberWithTheirRules) {
  const auto schema = CompiledText(
      "syntax = \"proto3\";\n"
      "message A {\n"
      "  string s = 9; int32 i = 2; optional bool b = 3;\n"
      "  oneof o { bytes x = 4; B y = 5; }\n"
      "  repeated double d = 6; map<int64, B> m = 7;\n"
      "}\n"
      "message B { E e = 1; }\n"
      "enum E { ZERO = 0; FIVE = 5; MINUS = -1; }\n");
  ASSERT_NE(schema, nullptr);
  const ProtobufMessage& a = schema->message(*schema->FindMessage("A"));
  ASSERT_EQ(a.fields.size(), 7u);
  EXPECT_EQ(a.fields[0].name, "i");
  EXPECT_FALSE(a.fields[0].presence);
  EXPECT_EQ(a.fields[1].name, "b");
  EXPECT_TRUE(a.fields[1].presence);
  EXPECT_EQ(a.fields[1].oneof, -1);  // the oneof of `optional` is synthetic
  EXPECT_EQ(a.fields[2].oneof, 0);
  EXPECT_EQ(a.fields[3].oneof, 0);
  EXPECT_EQ(schema->message(a.fields[3].type_index).name, "B");
  EXPECT_TRUE(a.fields[4].repeated);
  EXPECT_TRUE(a.fields[5].map);
  EXPECT_TRUE(a.fields[6].check_utf8);
  const ProtobufMessage& b = schema->message(*schema->FindMessage("B"));
  const ProtobufEnum& e = schema->enumeration(b.fields[0].type_index);
  EXPECT_EQ(*e.Name(0), "ZERO");
  EXPECT_EQ(*e.Name(5), "FIVE");
  EXPECT_EQ(*e.Name(-1), "MINUS");
  EXPECT_EQ(e.Name(2), nullptr);
  EXPECT_FALSE(e.closed);
}

TEST(ProtobufSchemaTest, MessagesAreFoundByNameAndByPath) {
  const auto schema = CompiledText(
      "syntax = \"proto3\"; package p.q;\n"
      "message A { message X {} message Y { message Z {} } map<int32, int32> m = 1; }\n"
      "message B { message X {} }\n");
  ASSERT_NE(schema, nullptr);
  EXPECT_THAT(schema->names(), ElementsAre("p.q.A", "p.q.A.X", "p.q.A.Y", "p.q.A.Y.Z", "p.q.B", "p.q.B.X"));
  const auto name = [&](const Result<uint32_t>& index) {
    return index ? schema->message(*index).name : index.error().ToString();
  };
  EXPECT_EQ(name(schema->FindMessage("")), "p.q.A");
  EXPECT_EQ(name(schema->FindMessage("p.q.B")), "p.q.B");
  EXPECT_EQ(name(schema->FindMessage(".p.q.B")), "p.q.B");
  EXPECT_EQ(name(schema->FindMessage("Z")), "p.q.A.Y.Z");
  EXPECT_EQ(name(schema->FindMessage("B.X")), "p.q.B.X");
  EXPECT_THAT(name(schema->FindMessage("X")), HasSubstr("ambiguous: p.q.A.X, p.q.B.X"));
  EXPECT_THAT(name(schema->FindMessage("Nope")), HasSubstr("no message 'Nope' in the schema; it has: p.q.A, p.q.A.X"));
  const auto path = [&](std::vector<int64_t> indexes) { return name(schema->FindByPath(indexes)); };
  EXPECT_EQ(path({}), "p.q.A");
  EXPECT_EQ(path({1}), "p.q.B");
  EXPECT_EQ(path({0, 1, 0}), "p.q.A.Y.Z");
  EXPECT_THAT(path({0, 9}), HasSubstr("message index [0, 9]"));
  EXPECT_THAT(path({-1}), HasSubstr("message index [-1]"));
}

TEST(ProtobufSchemaTest, WellKnownTypesAreBuiltIn) {
  std::string text = "syntax = \"proto3\";\n";
  for (const std::string& file : ProtobufCompiler::WellKnownFiles()) text += "import \"" + file + "\";\n";
  const auto schema = CompiledText(
      text +
      "message A { google.protobuf.Timestamp t = 1; google.protobuf.Int64Value w = 2; google.protobuf.Any a = 3;\n"
      "  confluent.type.Decimal d = 4 [(confluent.field_meta).doc = \"money\"]; }\n");
  ASSERT_NE(schema, nullptr);
  const ProtobufMessage& a = schema->message(*schema->FindMessage("A"));
  EXPECT_EQ(schema->message(a.fields[0].type_index).well_known, ProtobufWellKnown::kTimestamp);
  EXPECT_EQ(schema->message(a.fields[1].type_index).well_known, ProtobufWellKnown::kWrapper);
  EXPECT_EQ(schema->message(a.fields[2].type_index).well_known, ProtobufWellKnown::kAny);
  EXPECT_THAT(schema->names(), ElementsAre("A"));
  EXPECT_NE(CompiledText("syntax = \"proto3\"; message A {}")->FindFullName("google.protobuf.Struct"),
            ProtobufSchema::kNoMessage);
}

TEST(ProtobufSchemaTest, ImportsByTextAndByDirectory) {
  ProtobufSource source;
  source.text = "syntax = \"proto3\"; import \"x/b.proto\"; message A { x.B b = 1; }";
  source.imports = {
      {"x/c.proto", "syntax = \"proto3\"; package x; message C { int32 c = 1; }"},
      {"x/b.proto", "syntax = \"proto3\"; package x; import public \"x/c.proto\"; message B { C c = 1; }"}};
  auto schema = Compiled(source);
  ASSERT_NE(schema, nullptr);
  EXPECT_THAT(schema->names(), ElementsAre("A"));
  EXPECT_NE(schema->FindFullName("x.C"), ProtobufSchema::kNoMessage);

  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / ("protobuf_schema_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory / "x");
  for (const ProtobufSource::Import& import : source.imports) std::ofstream(directory / import.path) << import.text;
  source.imports.clear();
  source.include_dirs = {"/nonexistent", directory.string()};
  EXPECT_NE(Compiled(source), nullptr);
  source.text = "syntax = \"proto3\"; import \"../x/b.proto\"; message A {}";
  EXPECT_THAT(ProtobufSchema::Compile(source).error().message(), HasSubstr("no '..'"));
  std::filesystem::remove_all(directory);
}

TEST(ProtobufSchemaTest, FaultsNameLineAndColumn) {
  EXPECT_THAT(Fault("syntax = \"proto3\";\nmessage A {\n  int32 x 1;\n}\n").message(),
              StartsWith("schema.proto:3:11: Missing field number."));
  EXPECT_THAT(Fault("syntax = \"proto3\";\nmessage A {\n  Missing x = 1;\n}\n").message(),
              StartsWith("schema.proto:3:3: \"Missing\" is not defined."));
  EXPECT_THAT(Fault("syntax = \"proto3\";\nimport \"nope.proto\";\n").message(),
              HasSubstr("nope.proto: no such file among the references"));
  EXPECT_THAT(Fault("syntax = \"proto4\";\n").message(), HasSubstr("schema.proto:1:10: Unrecognized syntax"));
  EXPECT_EQ(Fault("hello").code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Fault("syntax = \"proto3\"; message A { A a = 1; A b = 1; }").message(),
              HasSubstr("has already been used"));
}

TEST(ProtobufSchemaTest, EditionsAreNamedAsUnsupported) {
  const Status status = Fault("// licence\n/* more */ edition = \"2023\";\nmessage A {}\n");
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), StartsWith("schema.proto:2:12: editions are not supported"));
}

TEST(ProtobufSchemaTest, BoundsHold) {
  std::string deep = "syntax = \"proto3\";";
  for (int i = 0; i < 5000; ++i) deep += "message A {";
  EXPECT_EQ(Fault(deep).code(), StatusCode::kResourceExhausted);
  std::string option = "syntax = \"proto3\"; option (x) = ";
  EXPECT_EQ(Fault(option + std::string(100000, '{')).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Fault(std::string(ProtobufSchema::kMaxTextSize + 1, ' ')).code(), StatusCode::kResourceExhausted);
  ProtobufSource loop;
  loop.text = "syntax = \"proto3\"; import \"b.proto\"; message A {}";
  loop.imports = {{"b.proto", "syntax = \"proto3\"; import \"schema.proto\";"}};
  EXPECT_THAT(ProtobufSchema::Compile(loop).error().message(), HasSubstr("recursively imports itself"));
}

// libprotobuf 3.21 throws here, and a second time from its destructor.
TEST(ProtobufSchemaTest, FaultsOfTheCompilerAreErrors) {
  EXPECT_THAT(Fault("syntax = \"proto2\"; package t; import \"google/protobuf/descriptor.proto\";\n"
                    "message Foo { optional int32 a = 1; extensions 10 to 20; }\n"
                    "message Bar { extensions 10 to 20; }\n"
                    "extend Bar { optional int32 x = 10; }\n"
                    "extend google.protobuf.FileOptions { optional Foo foo = 50000; }\n"
                    "option (foo).(x) = 1;\n")
                  .message(),
              HasSubstr("schema.proto"));
}

TEST(ProtobufSchemaTest, BadTextsInTheWayOfLexing) {
  for (const char* text : {"", "\"", "'", "/*", "//", "syntax = \"proto3", "message A { // }", "\xff\xfe", "edition"}) {
    ProtobufSource source;
    source.text = text;
    EXPECT_FALSE(ProtobufSchema::Compile(source) && std::string_view(text) != "" && std::string_view(text) != "//")
        << text;
  }
}

}  // namespace
}  // namespace kafscope
