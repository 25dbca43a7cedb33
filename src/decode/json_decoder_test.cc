#include "decode/json_decoder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <sstream>
#include <string>

#include "decode/decode_testing.h"

namespace kafscope {
namespace {

using Json = nlohmann::json;

TextRow Decode(const std::string& value, DecodeOptions options = {}, FrameBuilder::Options frames = {}) {
  return DecoderUnderTest(options, frames).Row(value);
}

DataType TypeOf(const std::string& value, const std::string& name) {
  DecoderUnderTest decoder({});
  const FramePtr frame = decoder.Decode(RecordsOf({value}));
  return frame->schema().fields()[static_cast<size_t>(frame->schema().IndexOf(name))].type;
}

// ---- cases.md ----

TEST(JsonCases, A1SixNeighbouringIdsStayDistinct) {
  std::vector<std::string> values;
  for (int64_t id = 12345678901234801; id <= 12345678901235306; id += 101) {
    values.push_back("{\"id\":" + std::to_string(id) + "}");
  }
  const std::vector<TextRow> rows = DecoderUnderTest({}).Rows(values);
  ASSERT_EQ(rows.size(), 6u);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ("{\"id\":" + rows[i].at("id") + "}", values[i]);
}

TEST(JsonCases, A3ExtremesAreExact) {
  EXPECT_EQ(
      Decode(R"({"a":9223372036854775807,"b":1152921504606846976,"c":-7210194211959421178,"d":-9223372036854775808})"),
      (TextRow{{"a", "9223372036854775807"},
               {"b", "1152921504606846976"},
               {"c", "-7210194211959421178"},
               {"d", "-9223372036854775808"}}));
}

TEST(JsonCases, A5A6A7OnlyTheFieldThatDoesNotFitDegrades) {
  EXPECT_EQ(Decode(R"({"num":92233720368547758423,"t":1,"s":"2882377905688543293"})"),
            (TextRow{{"num", "92233720368547758423"}, {"t", "1"}, {"s", "2882377905688543293"}}));
  EXPECT_EQ(Decode(R"({"a":1e400,"b":-1e400,"t":1})"), (TextRow{{"a", "1e400"}, {"b", "-1e400"}, {"t", "1"}}));
  EXPECT_EQ(TypeOf(R"({"a":18446744073709551615})", "a"), DataType::kUint64);
  EXPECT_EQ(Decode(R"({"a":10699247336865531002})"), (TextRow{{"a", "10699247336865531002"}}));
  EXPECT_EQ(TypeOf(R"({"s":"2882377905688543293"})", "s"), DataType::kString);
}

TEST(JsonCases, A10MissingTimestampIsArrivalAndIsSaid) {
  DecoderUnderTest decoder({});
  std::vector<ConsumerRecord> records = RecordsOf({"1"});
  const std::string value = "1";
  records[0].value = value;
  records[0].timestamp_ms = -1;
  const FramePtr frame = decoder.Decode(records);
  EXPECT_EQ(frame->column(0).Int64(0), DecoderUnderTest::kArrival);
  ASSERT_EQ(decoder.decoder().notes().size(), 1u);
  EXPECT_NE(decoder.decoder().notes()[0].find("arrival time"), std::string::npos);
}

TEST(JsonCases, A12TimeFieldsAreNotRounded) {
  DecodeOptions options;
  options.time_source = TimeSource::kField;
  options.time_field = "ts";
  const auto time_of = [&options](const std::string& value) {
    DecoderUnderTest decoder(options);
    return decoder.Decode({RecordsOf({value})})->column(0).Int64(0);
  };
  const auto time = [&time_of](const std::string& ts) { return time_of("{\"ts\":" + ts + "}"); };
  EXPECT_EQ(time("1654964761"), 1'654'964'761'000'000'000);
  EXPECT_EQ(time("1455362189575"), 1'455'362'189'575'000'000);
  EXPECT_EQ(time("1455362189575123"), 1'455'362'189'575'123'000);
  EXPECT_EQ(time("1700000000000000123"), 1'700'000'000'000'000'123);
  EXPECT_EQ(time("\"2023-11-14T22:13:20.000000123Z\""), 1'700'000'000'000'000'123);
  EXPECT_EQ(time("\"1654964761\""), 1'654'964'761'000'000'000);
  EXPECT_EQ(time("1700000000.25"), 1'700'000'000'250'000'000);
  EXPECT_EQ(time_of("{}"), 1'700'000'000'000'000'000) << "the record's own time stands in";
  options.time_unit = TimeUnit::kMilliseconds;
  EXPECT_EQ(time("1654964761"), 1'654'964'761'000'000) << "a fixed unit is honoured";
}

TEST(JsonCases, B13RegistryPrefixIsLeftOut) {
  const std::string framed("\x00\x00\x00\x00\x0c{\"a\":1}", 12);
  DecoderUnderTest decoder({});
  EXPECT_EQ(decoder.Row(framed), (TextRow{{"a", "1"}}));
  EXPECT_NE(decoder.decoder().notes().at(0).find("12"), std::string::npos);
  DecodeOptions none;
  none.framing = Framing::kNone;
  EXPECT_EQ(Decode(framed, none), (TextRow{{"error", "invalid_json at byte 0: expected a value"}}));
}

TEST(JsonCases, B15LoneValuesGiveOneColumn) {
  for (const auto& [value, text] : std::vector<std::pair<std::string, std::string>>{
           {"25.50", "25.5"}, {"0", "0"}, {"\"ON\"", "ON"}, {"true", "true"}, {" 7 ", "7"}}) {
    EXPECT_EQ(Decode(value), (TextRow{{"value", text}})) << value;
  }
  EXPECT_EQ(Decode("null"), TextRow{});
}

TEST(JsonCases, B16EmptyKeysHaveAStableName) {
  EXPECT_EQ(Decode(R"({"counters":{"155":{"":{"V":"0"}}},"beginTime":"1667562006"})"),
            (TextRow{{"counters.155._empty.V", "0"}, {"beginTime", "1667562006"}}));
  EXPECT_EQ(Decode(R"({"":1})"), (TextRow{{"_empty", "1"}}));
}

TEST(JsonCases, B17InvalidJsonIsARowWithItsPosition) {
  const std::vector<TextRow> rows = DecoderUnderTest({}).Rows({R"({"a":1})", R"({"a":1 "b":2})", R"({"a":3})"});
  EXPECT_EQ(rows[0], (TextRow{{"a", "1"}}));
  EXPECT_EQ(rows[1], (TextRow{{"error", "invalid_json at byte 7: expected ',' or '}'"}}));
  EXPECT_EQ(rows[2], (TextRow{{"a", "3"}}));
}

TEST(JsonCases, B19DuplicateKeysLastWinsTwoTextsFail) {
  DecoderUnderTest decoder({});
  EXPECT_EQ(decoder.Row(R"({"a":1,"a":2})"), (TextRow{{"a", "2"}}));
  EXPECT_EQ(decoder.counters().duplicate_keys, 1u);
  EXPECT_EQ(decoder.Row(R"({"a":{"b":1,"c":2},"a":{"c":3}})"), (TextRow{{"a.c", "3"}}));
  EXPECT_EQ(decoder.Row(R"({"a":1,"a":null})"), TextRow{});
  EXPECT_EQ(decoder.Row(R"({"a":1}{"a":2})"),
            (TextRow{{"error", "invalid_json at byte 7: text after the JSON value"}}));
}

TEST(JsonCases, B20LiteralDotAndPathBothStay) {
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(Decode(R"({"a.b":1,"a":{"b":2}})"), (TextRow{{"a.b", "1"}, {"a.b#2", "2"}}));
  }
}

TEST(JsonCases, B21TheFieldCapIsByFirstSeenOrder) {
  DecoderUnderTest decoder({}, {.max_fields = 2});
  EXPECT_EQ(decoder.Row(R"({"e":1,"d":2,"c":3,"b":4,"a":5})"), (TextRow{{"e", "1"}, {"d", "2"}}));
  EXPECT_EQ(decoder.counters().fields_cut, 3u);
}

TEST(JsonCases, B22TheDeepestPartIsKept) {
  const std::string value = R"({"a":{"b":{"c":{"d":{"e":1}}}}})";
  EXPECT_EQ(Decode(value), (TextRow{{"a.b.c.d.e", "1"}}));
  DecodeOptions options;
  options.max_depth = 2;
  EXPECT_EQ(Decode(value, options), (TextRow{{"a.b", R"({"c":{"d":{"e":1}}})"}}));
  options.max_depth = 1;
  EXPECT_EQ(Decode(value, options), (TextRow{{"a", R"({"b":{"c":{"d":{"e":1}}}})"}}));
}

TEST(JsonCases, B23EmptyContainersAreColumns) {
  EXPECT_EQ(Decode(R"({"a":{},"b":[], "c":[ 1 ,2]})"), (TextRow{{"a", "{}"}, {"b", "[]"}, {"c", "[ 1 ,2]"}}));
  EXPECT_EQ(Decode("{}"), (TextRow{{"value", "{}"}}));
  EXPECT_EQ(Decode("[]"), (TextRow{{"value", "[]"}}));
}

TEST(JsonCases, B24OneWideningNoSecondGroup) {
  DecoderUnderTest decoder({});
  const FramePtr frame = decoder.Decode(RecordsOf({R"({"a":null,"b":1})", R"({"a":"x","b":1.5})", R"({"b":2})"}));
  EXPECT_EQ(frame->schema().version(), 1u);
  EXPECT_EQ(RowsOf(*frame), (std::vector<TextRow>{{{"b", "1"}}, {{"a", "x"}, {"b", "1.5"}}, {{"b", "2"}}}));
}

TEST(JsonCases, TopLevelArrays) {
  EXPECT_EQ(Decode(R"([1,{"a":2,"b":{"c":3}},[4]])"),
            (TextRow{{"item_0", "1"}, {"item_1.a", "2"}, {"item_1.b.c", "3"}, {"item_2", "[4]"}}));
}

TEST(JsonCases, ValuesNamedLikeMetadataArePrefixed) {
  EXPECT_EQ(Decode(R"({"time":1,"offset":2,"partition":3,"key":4,"headers":5,"error":6,"key.a":7})"),
            (TextRow{{"value.time", "1"},
                     {"value.offset", "2"},
                     {"value.partition", "3"},
                     {"value.key", "4"},
                     {"value.headers", "5"},
                     {"value.error", "6"},
                     {"value.key.a", "7"}}));
}

TEST(JsonCases, EscapesAndSurrogates) {
  EXPECT_EQ(Decode(R"({"a\u0062":"\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t"})"),
            (TextRow{{"ab", "\xc3\xa9\xf0\x9f\x98\x80\"\\/\b\f\n\r\t"}}));
  DecoderUnderTest decoder({});
  EXPECT_EQ(decoder.Row(R"({"a":"x\ud800y"})"), (TextRow{{"a", "x\xef\xbf\xbdy"}}));
  EXPECT_EQ(decoder.counters().replaced_utf8, 1u);
}

TEST(JsonCases, InvalidUtf8IsAnErrorRow) {
  EXPECT_EQ(Decode("{\"a\":\"\xff\"}"), (TextRow{{"error", "invalid_utf8 at byte 6: not UTF-8"}}));
}

TEST(JsonCases, NestingIsBounded) {
  const TextRow row = Decode(std::string(100'000, '['));
  ASSERT_TRUE(row.contains("error"));
  EXPECT_NE(row.at("error").find("nested too deep"), std::string::npos);
}

TEST(JsonCases, ManyNewKeysDoNotGrowWithoutBound) {
  DecoderUnderTest decoder({}, {.max_fields = 10});
  for (int i = 0; i < 70'000; ++i) {
    decoder.Decode(RecordsOf({"{\"k" + std::to_string(i) + "\":{\"x\":1}}"}));
  }
  EXPECT_EQ(decoder.Decode(RecordsOf({"{}"}))->num_columns(), 2u + 1u + 10u) << "time, partition, offset, ten values";
}

// ---- against a slow reference ----

void Flatten(const Json& value, const std::string& name, uint32_t level, uint32_t max_depth,
             std::map<std::string, Json>* out) {
  if (value.is_object() && !value.empty() && level < max_depth) {
    for (const auto& [key, child] : value.items()) {
      const std::string part = key.empty() ? "_empty" : key;
      Flatten(child, name.empty() ? part : name + "." + part, level + 1, max_depth, out);
    }
  } else if (level == 0 && value.is_array() && !value.empty()) {
    for (size_t i = 0; i < value.size(); ++i) Flatten(value[i], "item_" + std::to_string(i), 1, max_depth, out);
  } else if (!value.is_null()) {
    (*out)[level == 0 ? "value" : name] = value;
  }
}

// Whether our text of a value means the reference's value.
bool Same(const Json& expected, const std::string& actual) {
  if (expected.is_string()) return expected.get<std::string>() == actual;
  if (expected.is_structured()) return Json::parse(actual, nullptr, false) == expected;
  if (expected.is_number_float()) return std::strtod(actual.c_str(), nullptr) == expected.get<double>();
  return expected.dump() == actual;
}

class DocumentMaker {
 public:
  explicit DocumentMaker(uint64_t seed) : random_(seed) {}

  std::string Make() { return Value(0); }
  uint64_t Pick(uint64_t n) { return random_() % n; }

 private:
  std::string Space() { return Pick(10) == 0 ? std::string(Pick(4), " \n\t\r"[Pick(4)]) : ""; }
  std::string Text() {
    static const std::vector<std::string> kParts = {"a",
                                                    "value",
                                                    "\\n",
                                                    "\\u00e9",
                                                    "\\\"",
                                                    "\xc3\xa9",
                                                    "\xf0\x9f\x98\x80",
                                                    "\\ud83d\\ude00",
                                                    "long text that fills more than one register of sixteen",
                                                    "",
                                                    "\\\\",
                                                    "/",
                                                    "0123456789abcde",
                                                    "0123456789abcdef"};
    std::string text = "\"";
    for (uint64_t n = Pick(4); n > 0; --n) text += kParts[Pick(kParts.size())];
    return text + "\"";
  }
  std::string Key() {
    static const std::vector<std::string> kKeys = {"a",
                                                   "b",
                                                   "c",
                                                   "field_1",
                                                   "field_10",
                                                   "",
                                                   "\\u0061",
                                                   "with space",
                                                   "a key that is longer than thirty-two bytes, said 1",
                                                   "a key that is longer than thirty-two bytes, said 2",
                                                   "\xc3\xa9"};
    return "\"" + kKeys[Pick(kKeys.size())] + "\"";
  }
  std::string Number() {
    std::string text = Pick(3) == 0 ? "-" : "";
    text += Pick(4) == 0 ? "0" : std::to_string(random_() >> Pick(64));
    if (Pick(3) == 0) text += "." + std::to_string(random_() >> Pick(64));
    if (Pick(6) == 0)
      text += std::string(Pick(2) == 0 ? "e" : "E") +
              (Pick(2) == 0   ? "-"
               : Pick(2) == 0 ? "+"
                              : "") +
              std::to_string(Pick(40));
    return text;
  }
  std::string Value(int depth) {
    switch (Pick(depth > 6 ? 6 : 9)) {
      case 0: return "null";
      case 1: return "true";
      case 2: return "false";
      case 3: return Text();
      case 4:
      case 5: return Number();
      case 6: {
        std::string text = "[" + Space();
        for (uint64_t n = Pick(4); n > 0; --n) text += Value(depth + 1) + Space() + (n > 1 ? "," + Space() : "");
        return text + "]";
      }
      default: {
        std::string text = "{" + Space();
        for (uint64_t n = Pick(6); n > 0; --n) {
          text += Key() + Space() + ":" + Space() + Value(depth + 1) + Space() + (n > 1 ? "," + Space() : "");
        }
        return text + "}";
      }
    }
  }

  std::mt19937_64 random_;
};

// The decoder and the reference on one text; `decoder` may be used before, with other types in its columns.
void Compare(DecoderUnderTest& decoder, const std::string& text, uint32_t max_depth) {
  const Json reference = Json::parse(text, nullptr, false);
  const TextRow row = decoder.Row(text);
  if (reference.is_discarded()) {
    // What the reference refuses and we take, by rule: numbers beyond double, lone surrogates.
    static const std::regex kOurs(R"([eE][+-]?\d{3}|\d{300}|\\u[dD][89a-fA-F])");
    if (!row.contains("error")) {
      EXPECT_TRUE(std::regex_search(text, kOurs)) << text;
    }
    return;
  }
  std::map<std::string, Json> expected;
  Flatten(reference, "", 0, max_depth, &expected);
  if (!reference.is_structured() || reference.empty()) {
    expected.clear();
    if (!reference.is_null()) expected["value"] = reference;
  }
  ASSERT_EQ(row.size(), expected.size()) << text << "\n" << (row.contains("error") ? row.at("error") : "");
  for (const auto& [path, value] : expected) {
    const std::string name = ColumnNames(ValueScope::Value()).Spell(path);
    ASSERT_TRUE(row.contains(name)) << text << " lacks " << name;
    EXPECT_TRUE(Same(value, row.at(name))) << text << ": " << name << " is " << row.at(name);
  }
}

// Real documents: every leaf is in its column.
TEST(JsonDifferential, Documents) {
  const std::filesystem::path corpus = std::filesystem::path(KAFSCOPE_SOURCE_DIR) / "tests" / "corpora" / "json-docs";
  size_t documents = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(corpus)) {
    if (file.path().extension() != ".json") continue;
    std::ifstream stream(file.path(), std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    DecoderUnderTest decoder({}, {.max_fields = 1'000'000});
    Compare(decoder, text.str(), 5);
    if (HasFatalFailure()) return;
    ++documents;
  }
  EXPECT_GT(documents, 100u);
}

TEST(JsonDifferential, RandomDocuments) {
  for (uint64_t seed = 0; seed < 5'000; ++seed) {
    DocumentMaker maker(seed);
    DecodeOptions options;
    options.max_depth = 1 + static_cast<uint32_t>(seed % 7);
    DecoderUnderTest decoder(options, {.max_fields = 1'000'000});
    Compare(decoder, maker.Make(), options.max_depth);
    if (HasFatalFailure()) return;
  }
}

// Streams of documents that share their columns. Each ends before its columns are so many that a test takes minutes on
// a loaded machine.
constexpr uint64_t kStreams = 20;
constexpr int kDocumentsOfAStream = 200;

TEST(JsonDifferential, StreamsOfRandomDocuments) {
  DecodeOptions options;
  options.max_depth = 4;
  for (uint64_t stream = 0; stream < kStreams; ++stream) {
    DecoderUnderTest decoder(options, {.max_fields = 1'000'000});
    DocumentMaker maker(stream + 99);
    for (int i = 0; i < kDocumentsOfAStream; ++i) {
      Compare(decoder, maker.Make(), options.max_depth);
      if (HasFatalFailure()) return;
    }
  }
}

void Damage(DocumentMaker& maker, std::string* text) {
  switch (maker.Pick(4)) {
    case 0: text->resize(maker.Pick(text->size())); break;
    case 1: (*text)[maker.Pick(text->size())] = static_cast<char>(maker.Pick(256)); break;
    case 2: text->insert(maker.Pick(text->size()), 1, "{}[],:\"\\0-.e"[maker.Pick(12)]); break;
    default: text->erase(maker.Pick(text->size()), 1); break;
  }
}

TEST(JsonDifferential, StreamsOfDamagedDocuments) {
  DecodeOptions options;
  for (uint64_t stream = 0; stream < 2 * kStreams; ++stream) {
    DecoderUnderTest decoder(options, {.max_fields = 1'000'000});
    DocumentMaker maker(stream + 7);
    for (int i = 0; i < kDocumentsOfAStream; ++i) {
      std::string text = maker.Make();
      Damage(maker, &text);
      // The reference takes a zero byte for the end of the text.
      if (text.empty() || text.find('\0') != std::string::npos) continue;
      Compare(decoder, text, options.max_depth);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace kafscope
