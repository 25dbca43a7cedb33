#include "schema/wire_format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kafscope {
namespace {

using namespace std::string_view_literals;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(WireFormat, ReadsThePrefix) {
  int32_t id = 0;
  std::string_view payload;
  ASSERT_EQ(ReadSchemaPrefix("\0\x01\x02\x03\x04xyz"sv, &id, &payload), WireFault::kNone);
  EXPECT_EQ(id, 0x01020304);
  EXPECT_EQ(payload, "xyz");
  EXPECT_EQ(ReadSchemaPrefix(""sv, &id, &payload), WireFault::kEmpty);
  EXPECT_EQ(ReadSchemaPrefix("\0\0\0\0"sv, &id, &payload), WireFault::kTooShort);
  EXPECT_EQ(ReadSchemaPrefix("abcdefgh"sv, &id, &payload), WireFault::kNotFramed);
}

TEST(WireFormat, NamesTheFirstByteOfWhatIsNotFramed) {  // cases.md 14
  EXPECT_EQ(NotFramedText('a'), "not registry-framed: first byte 0x61");
  EXPECT_EQ(NotFramedText(0xff), "not registry-framed: first byte 0xff");
}

TEST(WireFormat, HeaderWinsOverPrefix) {  // cases.md 32
  const std::string guid = FromHex("0189791762233641869674299b90a802e2");
  const std::vector<RecordHeader> headers = {
      {"other", "x"}, {"__key_schema_id", guid}, {"__value_schema_id", "\0\0\0\0\x01"sv}};
  FramedPayload framed;
  ASSERT_EQ(Unframe(headers, "payload", SchemaSide::kValue, &framed), WireFault::kNone);
  EXPECT_TRUE(framed.from_header);
  EXPECT_FALSE(framed.schema.by_guid);
  EXPECT_EQ(framed.schema.id, 1);
  EXPECT_EQ(framed.payload, "payload");
  ASSERT_EQ(Unframe(headers, "payload", SchemaSide::kKey, &framed), WireFault::kNone);
  EXPECT_TRUE(framed.schema.by_guid);
  EXPECT_EQ(framed.schema.GuidText(), "89791762-2336-4186-9674-299b90a802e2");
  ASSERT_EQ(Unframe({}, "\0\0\0\0\x07v"sv, SchemaSide::kValue, &framed), WireFault::kNone);
  EXPECT_FALSE(framed.from_header);
  EXPECT_EQ(framed.schema.id, 7);
  EXPECT_EQ(framed.payload, "v");
}

TEST(WireFormat, RefusesBadHeaders) {
  const std::vector<RecordHeader> headers = {{"__value_schema_id", "\x01short"sv}};
  FramedPayload framed;
  EXPECT_EQ(Unframe(headers, "\0\0\0\0\x07v"sv, SchemaSide::kValue, &framed), WireFault::kBadHeader);
  const std::vector<RecordHeader> null_header = {{"__value_schema_id", {}, true}};
  EXPECT_EQ(Unframe(null_header, "\0\0\0\0\x07v"sv, SchemaSide::kValue, &framed), WireFault::kNone);
}

TEST(WireFormat, ReadsMessageIndexes) {  // cases.md 34, 35
  const auto read = [](std::string_view hex) {
    MessageIndexes indexes;
    std::string_view rest;
    const std::string bytes = FromHex(hex);
    const WireFault fault = ReadMessageIndexes(bytes, &indexes, &rest);
    std::string text = fault == WireFault::kNone ? "" : "!";
    for (int64_t i : indexes.path()) text += std::to_string(i) + " ";
    return text + "rest " + std::to_string(rest.size());
  };
  EXPECT_EQ(read("0202082a"), "1 rest 2");
  EXPECT_EQ(read("0204082a"), "2 rest 2");
  EXPECT_EQ(read("040200082a"), "1 0 rest 2");
  EXPECT_EQ(read("00082a"), "0 rest 2");
  EXPECT_EQ(read("00"), "0 rest 0");
}

TEST(WireFormat, Corpus) {
  std::ifstream in(KAFSCOPE_SOURCE_DIR "/tests/corpora/confluent-wire/vectors.jsonl");
  ASSERT_TRUE(in);
  std::string line;
  size_t run = 0;
  while (std::getline(in, line)) {
    const auto c = nlohmann::json::parse(line);
    SCOPED_TRACE(c.at("id").get<std::string>());
    const std::string format = c.at("format");
    // Without zigzag is the deprecated form of one old client; it cannot be told from the right one.
    if (!c.value("zigzag", true)) continue;
    const std::string bytes = FromHex(c.at("hex").get<std::string>());
    SchemaRef schema;
    std::string_view rest = bytes;
    WireFault fault = WireFault::kNone;
    if (format.starts_with("guid")) {
      fault = ReadSchemaHeader(bytes, &schema, &rest);
    } else if (format != "protobuf-index") {
      fault = ReadSchemaPrefix(bytes, &schema.id, &rest);
    }
    MessageIndexes indexes;
    if (fault == WireFault::kNone && (format.find("protobuf") != std::string::npos || format == "json-with-index")) {
      fault = ReadMessageIndexes(rest, &indexes, &rest, c.value("max_length", MessageIndexes::kMax));
    }
    ++run;
    if (c.at("expect") == "error") {
      EXPECT_NE(fault, WireFault::kNone);
      continue;
    }
    ASSERT_EQ(fault, WireFault::kNone) << WireFaultText(fault);
    if (c.contains("schema_id")) {
      EXPECT_EQ(schema.id, c.at("schema_id").get<int32_t>());
    }
    if (c.contains("guid")) {
      EXPECT_EQ(schema.GuidText(), c.at("guid").get<std::string>());
    }
    if (c.contains("payload_utf8")) {
      EXPECT_EQ(rest, c.at("payload_utf8").get<std::string>());
    }
    if (c.contains("message_index")) {
      EXPECT_EQ(std::vector<int64_t>(indexes.path().begin(), indexes.path().end()),
                c.at("message_index").get<std::vector<int64_t>>());
    }
  }
  EXPECT_GE(run, 20u);
}

}  // namespace
}  // namespace kafscope
