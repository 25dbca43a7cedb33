// Public collections of JSON texts and of text: each case's outcome is the collection's.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/base64.h"
#include "base/utf8.h"
#include "decode/decode_testing.h"
#include "encode/grafana_json_encoder.h"

namespace kafscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

fs::path Corpus(const std::string& name) { return fs::path(KAFSCOPE_SOURCE_DIR) / "tests" / "corpora" / name; }

std::vector<Json> Lines(const fs::path& path) {
  std::vector<Json> lines;
  std::istringstream text(Read(path));
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.push_back(Json::parse(line));
  }
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

// Decodes the case, then a good record: neither crash nor a decoder that stays confused.
bool Accepts(DecoderUnderTest& decoder, const std::string& text) {
  const bool good = !decoder.Row(text).contains("error");
  EXPECT_FALSE(decoder.Row(R"({"after":1})").contains("error"));
  return good;
}

void RunJsonCases(const std::string& corpus) {
  DecoderUnderTest decoder({});
  for (const Json& entry : Lines(Corpus(corpus) / "cases.jsonl")) {
    const std::string expect = entry.at("expect");
    const bool accepted = Accepts(decoder, Read(Corpus(corpus) / entry.at("files").at(0).get<std::string>()));
    if (expect == "accept") {
      EXPECT_TRUE(accepted) << entry.at("id");
    }
    if (expect == "reject" || expect == "reject-or-transcode") {
      EXPECT_FALSE(accepted) << entry.at("id");
    }
  }
}

TEST(JsonCorpora, JsonTestSuite) { RunJsonCases("json-testsuite"); }
TEST(JsonCorpora, Yyjson) { RunJsonCases("json-yyjson"); }

TEST(JsonCorpora, YyjsonNumbers) {
  DecoderUnderTest decoder({});
  for (const Json& entry : Lines(Corpus("json-yyjson") / "numbers.jsonl")) {
    const std::string expect = entry.at("expect");
    const bool accepted = Accepts(decoder, entry.at("text").get<std::string>());
    if (expect == "accept") {
      EXPECT_TRUE(accepted) << entry;
    }
    if (expect == "reject") {
      EXPECT_FALSE(accepted) << entry;
    }
  }
}

// Each number has just the bits of the correctly rounded double, or is an integer of the same value.
TEST(JsonCorpora, NumbersHaveTheirBits) {
  size_t cases = 0;
  for (const auto& file : fs::directory_iterator(Corpus("json-numbers-f64"))) {
    if (file.path().extension() != ".txt") continue;
    std::istringstream lines(Read(file.path()));
    for (std::string f16, f32, f64, text; lines >> f16 >> f32 >> f64 >> text;) {
      const Json reference = Json::parse(text, nullptr, false);
      DecoderUnderTest decoder({});
      const FramePtr frame = decoder.Decode(RecordsOf({"{\"v\":" + text + "}"}));
      const int column = frame->schema().IndexOf("v");
      const auto bits = std::stoull(f64, nullptr, 16);
      const auto wanted = std::bit_cast<double>(static_cast<uint64_t>(bits));
      if (column < 0) {
        EXPECT_TRUE(reference.is_discarded()) << text;
        continue;
      }
      ++cases;
      const ColumnData& data = frame->column(static_cast<size_t>(column));
      switch (data.type) {
        case DataType::kFloat64: EXPECT_EQ(std::bit_cast<uint64_t>(data.Float64(0)), bits) << text; break;
        case DataType::kInt64: EXPECT_EQ(static_cast<double>(data.Int64(0)), wanted) << text; break;
        case DataType::kUint64: EXPECT_EQ(static_cast<double>(data.Uint64(0)), wanted) << text; break;
        default: EXPECT_EQ(data.Text(0), text); break;  // beyond all of them: its own digits
      }
    }
  }
  EXPECT_GT(cases, 4000u);
}

TEST(JsonCorpora, NdjsonLinesDecode) {
  for (const char* name : {"amazon_cellphones.ndjson", "debezium.ndjson"}) {
    DecoderUnderTest decoder({});
    std::istringstream lines(Read(Corpus("json-docs") / name));
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) {
        EXPECT_FALSE(decoder.Row(line).contains("error")) << line.substr(0, 200);
      }
    }
  }
}

DecodeOptions Plaintext() {
  DecodeOptions options;
  options.format = Format::kPlaintext;
  return options;
}

// Invalid UTF-8: one U+FFFD per maximal subpart; valid text unchanged.
TEST(TextCorpora, Utf8Tests) {
  DecoderUnderTest decoder(Plaintext());
  for (const auto& file : fs::directory_iterator(Corpus("text-utf8"))) {
    if (file.path().extension() != ".jsonl") continue;
    for (const Json& entry : Lines(file.path())) {
      const std::string bytes = FromHex(entry.at("hex"));
      const std::string expected = entry.at("valid").get<bool>() ? bytes : FromHex(entry.at("replace_hex"));
      EXPECT_EQ(decoder.Row(bytes), (TextRow{{"message", expected}})) << entry;
    }
  }
}

// Strings come back unchanged through Grafana's frame JSON.
TEST(TextCorpora, NaughtyStrings) {
  DecoderUnderTest decoder(Plaintext());
  GrafanaJsonEncoder encoder;
  for (const Json& entry : Lines(Corpus("text-blns") / "blns.jsonl")) {
    std::string text;
    ASSERT_TRUE(FromBase64(entry.at("base64").get<std::string>(), &text));
    const FramePtr frame = decoder.Decode(RecordsOf({text}));
    std::string json;
    encoder.Encode(*frame, &json);
    // Some of the list's strings were cut inside a character.
    std::string expected;
    AppendReplacedUtf8(text, &expected);
    EXPECT_EQ(Json::parse(json).at("data").at("values").back().at(0), expected);
  }
}

}  // namespace
}  // namespace kafscope
