#include "decode/line_protocol_parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "base/base64.h"
#include "decode/line_protocol_reference.h"

namespace kafscope {
namespace {

using nlohmann::json;
using Item = LineProtocolParser::Item;

// All of a payload: points, and errors by their line.
std::vector<ReferencePoint> ReadAll(LineProtocolParser& parser, std::string_view payload) {
  std::vector<ReferencePoint> points;
  parser.Start(payload);
  for (Item item = parser.Next(); item != Item::kEnd; item = parser.Next()) {
    ReferencePoint& point = points.emplace_back();
    if (item == Item::kError) {
      point.error_line = parser.error().position;
      EXPECT_FALSE(parser.error().text.empty());
      continue;
    }
    point.measurement = parser.series().measurement;
    for (const auto& tag : parser.series().tags) point.tags.emplace_back(tag.key, tag.value);
    for (const auto& value : parser.values()) {
      ReferenceField& field = point.fields.emplace_back();
      field.key = value.name->name;
      field.kind = value.kind;
      switch (value.kind) {
        case LineProtocolParser::Kind::kFloat: field.number = value.number; break;
        case LineProtocolParser::Kind::kInt: field.integer = value.integer; break;
        case LineProtocolParser::Kind::kUint: field.unsigned_integer = value.unsigned_integer; break;
        case LineProtocolParser::Kind::kBool: field.boolean = value.boolean; break;
        case LineProtocolParser::Kind::kText: field.text = value.text; break;
      }
    }
    if (parser.has_time()) point.time = parser.time();
  }
  return points;
}

std::vector<ReferencePoint> ReadAll(std::string_view payload) {
  LineProtocolParser parser(true);
  return ReadAll(parser, payload);
}

ReferencePoint One(std::string_view payload) {
  const std::vector<ReferencePoint> points = ReadAll(payload);
  EXPECT_EQ(points.size(), 1u) << payload;
  return points.empty() ? ReferencePoint() : points.front();
}

TEST(LineProtocol, APointOfEveryKind) {
  const ReferencePoint point =
      One(R"(cpu\ load,ho\=st=a\,b,z=ü f=1.5,i=-42i,u=18446744073709551615u,b=t,s="x \"y\" \\ \z",e=1e3 -17)");
  EXPECT_EQ(point.error_line, 0u);
  EXPECT_EQ(point.measurement, "cpu load");
  EXPECT_EQ(point.tags, (std::vector<std::pair<std::string, std::string>>{{"ho=st", "a,b"}, {"z", "ü"}}));
  ASSERT_EQ(point.fields.size(), 6u);
  EXPECT_EQ(point.fields[0].number, 1.5);
  EXPECT_EQ(point.fields[1].integer, -42);
  EXPECT_EQ(point.fields[2].unsigned_integer, 18446744073709551615u);
  EXPECT_TRUE(point.fields[3].boolean);
  EXPECT_EQ(point.fields[4].text, "x \"y\" \\ \\z");
  EXPECT_EQ(point.fields[5].number, 1000);
  EXPECT_EQ(point.time, -17);
}

// cases.md 40 and 41
TEST(LineProtocol, LineEndsWithinText) {
  EXPECT_EQ(One("m f=\"a\nb\" 1").fields[0].text, "a\nb");
  // The backslash protects the comma, so the tag's value is `C:,host`; then an '=' is one too many.
  EXPECT_EQ(One("Disk,check=C:\\,host=h value=52.45 1453319535802451556").error_line, 1u);
  EXPECT_EQ(One("Disk,check=C:\\\\,host=h value=52.45").error_line, 1u);
  EXPECT_EQ(One("Disk,check=C:\\x value=52.45").tags[0].second, "C:\\x");
}

// cases.md 42 to 45
TEST(LineProtocol, WhatIsRefused) {
  for (const char* line : {"foo value=\"a \"b\" c\"",
                           "m f=NaN",
                           "m f=Inf",
                           "m f=-inf",
                           "m f=0x1p-2",
                           "m f=1_000",
                           "m ,f=1",
                           "m =1",
                           "m,t= f=1",
                           "m,t=a,t=b f=1",
                           "m f=\"",
                           "m",
                           "m ",
                           "m,t=a",
                           "m f",
                           "m f=",
                           "m f=1,",
                           "m f=1, g=2",
                           ",t=a f=1",
                           "m, f=1",
                           "m,=a f=1",
                           "m,t f=1",
                           "m f=1 x",
                           "m f=1 1 2",
                           "m f=1 1i",
                           "m f=1 -",
                           "m f=1 9223372036854775808",
                           "m f=9223372036854775808i",
                           "m f=-1u",
                           "m f=1ii",
                           "m f=1.0i",
                           "m f=i",
                           "m f=-i",
                           "m f=.",
                           "m f=-",
                           "m f=1e",
                           "m f=+1",
                           "m f=1e400",
                           "m f=tru",
                           "m f=\"a\"b",
                           "m\tf=1",
                           "m f=1\t",
                           "m\x7f f=1",
                           "m f=18446744073709551616u"}) {
    EXPECT_EQ(One(line).error_line, 1u) << line;
  }
}

TEST(LineProtocol, ABadLineLeavesTheOthers) {
  const auto points = ReadAll("# comment\r\nm f=1 1\n\n  \r\nm f=NaN\nm s=\"x\ny\" 2\r\nm f=\"open\nm f=3 3\n");
  ASSERT_EQ(points.size(), 5u);
  EXPECT_EQ(points[0].time, 1);
  EXPECT_EQ(points[1].error_line, 5u);
  EXPECT_EQ(points[2].fields[0].text, "x\ny");
  EXPECT_EQ(points[3].error_line, 8u);
  EXPECT_EQ(points[4].time, 3);
}

TEST(LineProtocol, InvalidUtf8IsTheErrorOfItsLineOnly) {
  LineProtocolParser parser(true);
  const auto points = ReadAll(parser, "m f=1\nm,t=\xff f=2\nm s=\"\xe2\x82\" 3\nm f=4");
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].error_line, 0u);
  EXPECT_EQ(points[1].error_line, 2u);
  EXPECT_EQ(points[2].error_line, 3u);
  EXPECT_EQ(points[3].error_line, 0u);
}

TEST(LineProtocol, SeriesAreRememberedAcrossPayloads) {
  LineProtocolParser parser(true);
  const LineProtocolParser::Series* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    parser.Start("m,t=a f=1,g=2 1\nm,t=b g=1,f=2,h=3 2\n");
    ASSERT_EQ(parser.Next(), Item::kPoint);
    if (round == 0) first = &parser.series();
    EXPECT_EQ(&parser.series(), first);
    ASSERT_EQ(parser.Next(), Item::kPoint);
    EXPECT_EQ(parser.series().next, round == 0 ? nullptr : first);
    ASSERT_EQ(parser.values().size(), 3u);
    EXPECT_EQ(parser.values()[2].name->name, "h");
    ASSERT_EQ(parser.Next(), Item::kEnd);
  }
}

TEST(LineProtocol, TooManySeriesAreForgotten) {
  LineProtocolParser parser(true);
  for (size_t i = 0; i < 3 * LineProtocolParser::kMaxSeries; ++i) {
    const std::string n = std::to_string(i);
    const auto points = ReadAll(parser, "m,t=" + n + " f" + n + "=1 5");
    ASSERT_EQ(points.size(), 1u);
    ASSERT_EQ(points[0].tags[0].second, n);
    ASSERT_EQ(points[0].fields[0].key, "f" + n);
  }
}

// Lines made of pieces that meet every rule, whole and damaged, against a reader that is written to be obvious.
TEST(LineProtocol, RandomPayloadsEqualTheReference) {
  static const char* const kPieces[] = {"m",
                                        ",",
                                        "=",
                                        " ",
                                        "\n",
                                        "\r\n",
                                        "\"",
                                        "\\",
                                        "t",
                                        "f",
                                        "1",
                                        "-",
                                        ".",
                                        "e",
                                        "i",
                                        "u",
                                        "#",
                                        "true",
                                        "ü",
                                        "\xff",
                                        "m f=",
                                        "m,t=",
                                        "=1",
                                        "\\ ",
                                        "\\,",
                                        "\\=",
                                        "\\\"",
                                        "\\\\",
                                        "0",
                                        "\t",
                                        " f=1",
                                        "17",
                                        "T",
                                        "False",
                                        "m,a=b f=\"x\" 1\n",
                                        "9223372036854775807"};
  std::mt19937 random(41);
  LineProtocolParser remembering(true);
  LineProtocolParser forgetting(false);
  for (int round = 0; round < 15'000; ++round) {
    std::string payload;
    for (size_t pieces = random() % 24; pieces > 0; --pieces) payload += kPieces[random() % std::size(kPieces)];
    const auto expected = ReferenceLines(payload);
    ASSERT_EQ(ReadAll(remembering, payload), expected) << payload;
    ASSERT_EQ(ReadAll(forgetting, payload), expected) << payload;
  }
}

// --- corpora ---

std::vector<json> ReadJsonLines(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(json::parse(line));
  }
  return lines;
}

bool SameField(const ReferenceField& field, const json& value) {
  if (value.contains("float")) {
    // NaN-free; huge floats are written as numbers that parse back.
    return field.kind == LineProtocolParser::Kind::kFloat && field.number == value["float"].get<double>();
  }
  if (value.contains("int")) {
    return field.kind == LineProtocolParser::Kind::kInt && field.integer == value["int"].get<int64_t>();
  }
  if (value.contains("uint")) {
    return field.kind == LineProtocolParser::Kind::kUint && field.unsigned_integer == value["uint"].get<uint64_t>();
  }
  if (value.contains("bool")) {
    return field.kind == LineProtocolParser::Kind::kBool && field.boolean == value["bool"].get<bool>();
  }
  if (value["string"].is_object()) {
    std::string bytes;
    FromBase64(value["string"]["binary"].get<std::string>(), &bytes);
    return field.kind == LineProtocolParser::Kind::kText && field.text == bytes;
  }
  return field.kind == LineProtocolParser::Kind::kText && field.text == value["string"].get<std::string>();
}

void ExpectCorpusPoint(const ReferencePoint& point, const json& expected, int64_t unit, int64_t default_time,
                       const std::string& payload) {
  EXPECT_EQ(point.error_line, 0u) << payload;
  EXPECT_EQ(point.measurement, expected["name"].get<std::string>()) << payload;
  std::map<std::string, std::string> tags;
  for (const json& tag : expected["tags"]) tags[tag["key"]] = tag["value"];
  EXPECT_EQ((std::map<std::string, std::string>(point.tags.begin(), point.tags.end())), tags) << payload;
  ASSERT_EQ(point.fields.size(), expected["fields"].size()) << payload;
  for (size_t i = 0; i < point.fields.size(); ++i) {
    EXPECT_EQ(point.fields[i].key, expected["fields"][i]["key"].get<std::string>()) << payload;
    EXPECT_TRUE(SameField(point.fields[i], expected["fields"][i]["value"])) << payload;
  }
  EXPECT_EQ(point.time.has_value() ? *point.time * unit : default_time, expected["time"].get<int64_t>()) << payload;
}

std::filesystem::path Corpus(std::string_view name) {
  const std::filesystem::path whole = std::filesystem::path(KAFSCOPE_SOURCE_DIR) / "../shared/corpora" / name;
  if (std::filesystem::exists(whole)) return whole;
  return std::filesystem::path(KAFSCOPE_SOURCE_DIR) / "tests/corpora" / name;
}

TEST(LineProtocol, CorpusOfInflux) {
  size_t cases = 0;
  for (const json& line : ReadJsonLines(Corpus("lp-corpus/decode.jsonl"))) {
    const json& input = line["input"];
    const json& output = line["output"];
    std::string payload;
    if (input["text"].is_object()) {
      FromBase64(input["text"]["binary"].get<std::string>(), &payload);
    } else {
      payload = input["text"].get<std::string>();
    }
    static const std::map<std::string, int64_t> kUnits = {
        {"1ns", 1}, {"1µs", 1'000}, {"1ms", 1'000'000}, {"1s", 1'000'000'000}};
    const int64_t unit = kUnits.at(input["precision"].get<std::string>());
    // The reference cuts a missing time to its precision.
    const int64_t default_time = input["defaultTime"].get<int64_t>() / unit * unit;
    const auto points = ReadAll(payload);
    ++cases;
    if (output.contains("error")) {
      EXPECT_TRUE(std::any_of(points.begin(), points.end(), [](const auto& p) { return p.error_line != 0; }))
          << payload << output["error"];
      continue;
    }
    ASSERT_EQ(points.size(), output["result"].size()) << payload;
    for (size_t i = 0; i < points.size(); ++i) {
      ExpectCorpusPoint(points[i], output["result"][i], unit, default_time, payload);
    }
  }
  EXPECT_GE(cases, 200u);
  RecordProperty("cases", static_cast<int>(cases));
}

// Files of real plugins: each line is a point, name, tags, fields and time as influxdata/line-protocol reads them.
TEST(LineProtocol, CorpusOfTelegraf) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Corpus("lp-telegraf"))) {
    if (entry.path().extension() != ".lp") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string payload((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto expected = ReadJsonLines(entry.path().string() + ".expected.jsonl");
    const auto points = ReadAll(payload);
    ASSERT_EQ(points.size(), expected.size()) << entry.path();
    ++files;
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(points[i].measurement, expected[i]["name"].get<std::string>()) << entry.path();
      std::map<std::string, std::string> tags;
      if (expected[i].contains("tags") && !expected[i]["tags"].is_null()) {
        for (const json& tag : expected[i]["tags"]) tags[tag[0]] = tag[1];
      }
      EXPECT_EQ((std::map<std::string, std::string>(points[i].tags.begin(), points[i].tags.end())), tags);
      std::map<std::string, json> fields;
      for (const json& field : expected[i]["fields"]) fields[field[0]] = field;
      ASSERT_EQ(points[i].fields.size(), fields.size()) << entry.path() << i;
      for (const ReferenceField& field : points[i].fields) {
        json given = fields.at(field.key);
        // The newer reader takes `\n` in text for a line end; InfluxDB's corpus (and we) keep the backslash.
        if (given[2] == "hello\nworld") given[2] = "hello\\nworld";
        EXPECT_TRUE(SameField(field, {{given[1].get<std::string>(), given[2]}})) << entry.path() << given;
      }
      if (expected[i].contains("time_ns")) {
        EXPECT_EQ(points[i].time, expected[i]["time_ns"].get<int64_t>());
      }
    }
  }
  EXPECT_GE(files, 5u);
}

// Four of the six lines; QuestDB's own dialect (a point without fields, decimals with `d`) is refused: docs/limits.md.
TEST(LineProtocol, CorpusOfQuestDb) {
  size_t good = 0;
  size_t dialect = 0;
  for (const json& test : ReadJsonLines(Corpus("lp-questdb/interop.jsonl"))) {
    std::vector<std::string> lines;
    if (test["result"].contains("line")) lines.push_back(test["result"]["line"]);
    if (test["result"].contains("anyLines")) {
      for (const json& line : test["result"]["anyLines"]) lines.push_back(line);
    }
    for (const std::string& line : lines) {
      const bool is_dialect = test["columns"].empty() || test["columns"][0]["type"] == "DECIMAL";
      if (is_dialect) {
        for (const ReferencePoint& point : ReadAll(line)) EXPECT_NE(point.error_line, 0u) << line;
        ++dialect;
        continue;
      }
      const ReferencePoint point = One(line);
      ++good;
      EXPECT_EQ(point.error_line, 0u) << line;
      EXPECT_EQ(point.measurement, test["table"].get<std::string>());
      ASSERT_EQ(point.fields.size(), test["columns"].size());
      for (size_t i = 0; i < point.fields.size(); ++i) {
        const json& column = test["columns"][i];
        static const std::map<std::string, std::string> kKinds = {
            {"STRING", "string"}, {"LONG", "int"}, {"DOUBLE", "float"}, {"BOOLEAN", "bool"}};
        EXPECT_EQ(point.fields[i].key, column["name"].get<std::string>());
        EXPECT_TRUE(SameField(point.fields[i], {{kKinds.at(column["type"]), column["value"]}})) << line;
      }
    }
  }
  EXPECT_GE(good, 4u);
  EXPECT_EQ(dialect, 2u);
}

}  // namespace
}  // namespace kafscope
