#include "encode/grafana_json_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "encode/frame_reference.h"

namespace kafscope {
namespace {

using nlohmann::json;

std::string Encode(const Frame& frame, GrafanaJsonOptions options = {}) {
  GrafanaJsonEncoder encoder(std::move(options));
  std::string out;
  encoder.Encode(frame, &out);
  return out;
}

TEST(GrafanaJson, ExactText) {
  FrameBuilder builder({});
  Column* time = builder.FindOrAddColumn("time", FieldRole::kTime);
  Column* offset = builder.FindOrAddColumn("offset", FieldRole::kOffset);
  Column* value = builder.FindOrAddColumn("v", FieldRole::kValue);
  Column* text = builder.FindOrAddColumn("s", FieldRole::kValue);
  const double values[] = {1.5, std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), 7};
  for (int row = 0; row < 4; ++row) {
    builder.BeginRow();
    time->AppendTime(1'700'000'000'000'000'123 - (row == 3 ? 123 : 0));
    offset->AppendInt64(row);
    value->AppendFloat64(values[row]);
    if (row != 2) text->AppendString("a\"\n€");
    builder.CommitRow();
  }
  EXPECT_EQ(Encode(*builder.Finish(), {.name = "n", .ref_id = "A"}),
            R"({"schema":{"name":"n","refId":"A","fields":[)"
            R"({"name":"time","type":"time","typeInfo":{"frame":"time.Time","nullable":true}},)"
            R"({"name":"offset","type":"number","typeInfo":{"frame":"int64"}},)"
            R"({"name":"s","type":"string","typeInfo":{"frame":"string","nullable":true}},)"
            R"({"name":"v","type":"number","typeInfo":{"frame":"float64","nullable":true}}]},)"
            R"("data":{"values":[[1700000000000,1700000000000,1700000000000,1700000000000],[0,1,2,3],)"
            R"(["a\"\n€","a\"\n€",null,"a\"\n€"],[1.5,null,null,7]],)"
            R"("entities":[null,null,null,{"NaN":[1],"NegInf":[2]}],"nanos":[[123,123,123,0],null,null,null]}})");
}

TEST(GrafanaJson, NoRowsAndNoColumns) {
  FrameBuilder builder({});
  EXPECT_EQ(Encode(*builder.Finish()), R"({"schema":{"fields":[]},"data":{"values":[]}})");
  builder.FindOrAddColumn("a", FieldRole::kValue);
  builder.FindOrAddColumn("b", FieldRole::kValue);
  EXPECT_EQ(json::parse(Encode(*builder.Finish()))["data"].dump(), R"({"values":[[],[]]})");
}

TEST(GrafanaJson, TimesBefore1970RoundDown) {
  FrameBuilder builder({});
  Column* time = builder.FindOrAddColumn("time", FieldRole::kTime);
  for (const int64_t t : {int64_t{-1}, int64_t{-1'000'000}, std::numeric_limits<int64_t>::min()}) {
    builder.BeginRow();
    time->AppendTime(t);
    builder.CommitRow();
  }
  EXPECT_EQ(json::parse(Encode(*builder.Finish()))["data"].dump(),
            R"({"nanos":[[999999,0,224192]],"values":[[-1,-1,-9223372036855]]})");
}

TEST(GrafanaJson, WideIntegersBecomeTextForTheRestOfTheStream) {
  FrameBuilder builder({});
  Column* id = builder.FindOrAddColumn("id", FieldRole::kValue);
  const auto frame_of = [&](int64_t value) {
    builder.BeginRow();
    id->AppendInt64(value);
    builder.CommitRow();
    return builder.Finish();
  };
  const FramePtr frames[] = {frame_of(1), frame_of(9223372036854775807), frame_of(2)};
  GrafanaJsonEncoder as_text;
  GrafanaJsonEncoder as_number({.wide_integers = WideIntegers::kNumber});
  const char* expected[][2] = {
      {"[[1]]", "[[1]]"}, {"[[\"9223372036854775807\"]]", "[[9223372036854775807]]"}, {"[[\"2\"]]", "[[2]]"}};
  for (size_t i = 0; i < 3; ++i) {
    std::string text;
    as_text.Encode(*frames[i], &text);
    EXPECT_NE(text.find(expected[i][0]), std::string::npos) << text;
    EXPECT_NE(text.find(i == 0 ? R"("type":"number")" : R"("type":"string")"), std::string::npos) << text;
    std::string number;
    as_number.Encode(*frames[i], &number);
    EXPECT_NE(number.find(expected[i][1]), std::string::npos) << number;
    EXPECT_NE(number.find(R"("type":"number")"), std::string::npos) << number;
  }
}

TEST(GrafanaJson, HalvesMakeTheWhole) {
  for (const FramePtr& frame : RandomFrames(77)) {
    GrafanaJsonEncoder encoder;
    std::string schema;
    std::string data;
    encoder.EncodeSchema(frame->shared_schema(), &schema);
    encoder.EncodeData(*frame, &data);
    json whole = json::parse(schema);
    whole.update(json::parse(data));
    EXPECT_EQ(whole, json::parse(Encode(*frame)));
  }
}

TEST(GrafanaJson, RandomFramesEqualTheReference) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    GrafanaJsonEncoder as_text;
    GrafanaJsonEncoder as_number({.wide_integers = WideIntegers::kNumber});
    for (const FramePtr& frame : RandomFrames(seed)) {
      std::string out;
      as_text.Encode(*frame, &out);
      ASSERT_EQ(json::parse(out), ReferenceGrafanaJson(*frame, true)) << seed;
      out.clear();
      as_number.Encode(*frame, &out);
      ASSERT_EQ(json::parse(out), ReferenceGrafanaJson(*frame, false)) << seed;
    }
  }
}

TEST(GrafanaJson, LongTextIsWrittenValueByValue) {
  FrameBuilder builder({.max_bytes = 0});
  Column* text = builder.FindOrAddColumn("s", FieldRole::kValue);
  Column* bytes = builder.FindOrAddColumn("b", FieldRole::kValue);
  for (int row = 0; row < 3; ++row) {
    builder.BeginRow();
    if (row != 1) text->AppendString(std::string(300'000, row == 0 ? '\x01' : 'x'));
    if (row != 1) bytes->AppendBytes(std::string(300'001, '\xff'));
    builder.CommitRow();
  }
  const FramePtr frame = builder.Finish();
  EXPECT_EQ(json::parse(Encode(*frame)), ReferenceGrafanaJson(*frame, true));
}

// --- corpora: frames that Grafana's SDK wrote, read into a Frame and written again ---

struct Corpus {
  json frame;  // as our encoder must write it
  FramePtr as_frame;
};

bool IsOurs(const json& field) {
  const std::string type = field["typeInfo"]["frame"];
  return type != "json.RawMessage" && type != "enum";
}

void Append(Column& column, const std::string& type, const json& value, const json& entity, int64_t nanos, size_t row) {
  const auto has = [&](const char* key) {
    return entity.contains(key) && std::find(entity[key].begin(), entity[key].end(), row) != entity[key].end();
  };
  if (type.starts_with("float")) {
    if (has("NaN")) return column.AppendFloat64(std::numeric_limits<double>::quiet_NaN());
    if (has("Inf")) return column.AppendFloat64(std::numeric_limits<double>::infinity());
    if (has("NegInf")) return column.AppendFloat64(-std::numeric_limits<double>::infinity());
  }
  if (value.is_null()) return column.AppendNull();
  if (type == "bool") return column.AppendBool(value.get<bool>());
  if (type == "string") return column.AppendString(value.get<std::string>());
  if (type == "time.Time") return column.AppendTime(value.get<int64_t>() * 1'000'000 + nanos);
  if (type.starts_with("float")) return column.AppendFloat64(value.get<double>());
  if (type.starts_with("uint")) return column.AppendUint64(value.get<uint64_t>());
  column.AppendInt64(value.get<int64_t>());
}

const char* OurType(const std::string& type) {
  if (type.starts_with("float")) return "float64";
  if (type.starts_with("uint")) return "uint64";
  return "int64";
}

// Gives every column its type by a first frame, then fills it with the rows of `frame`.
Corpus Read(const json& frame) {
  const json& data = frame["data"];
  FrameBuilder builder({.sort_value_columns = false});
  Corpus corpus;
  json fields = json::array();
  json values = json::array();
  json entities = json::array();
  json nanos = json::array();
  std::vector<Column*> columns;
  std::vector<size_t> sources;
  const json& given = frame["schema"].contains("fields") ? frame["schema"]["fields"] : json::array();
  for (size_t i = 0; i < given.size(); ++i) {
    if (!IsOurs(given[i])) continue;
    // Grafana's names repeat, with other labels; ours do not.
    const std::string name = given[i]["name"].get<std::string>() + "@" + std::to_string(i);
    columns.push_back(builder.FindOrAddColumn(name, FieldRole::kValue));
    sources.push_back(i);
    json field = {{"name", name}, {"type", given[i]["type"]}, {"typeInfo", given[i]["typeInfo"]}};
    field["typeInfo"]["nullable"] = true;
    const std::string type = field["typeInfo"]["frame"];
    if (type.find("int") != std::string::npos || type.starts_with("float")) {
      field["type"] = "number";  // one corpus file says otherwise
      field["typeInfo"]["frame"] = OurType(type);
    }
    fields.push_back(field);
    // A frame without rows may leave its arrays out.
    values.push_back(i < data["values"].size() ? data["values"][i] : json::array());
    entities.push_back(data.contains("entities") ? data["entities"][i] : json());
    nanos.push_back(data.contains("nanos") ? data["nanos"][i] : json());
  }
  json expected = {{"values", values}};
  if (data.contains("entities")) expected["entities"] = entities;
  if (data.contains("nanos")) expected["nanos"] = nanos;
  corpus.frame = {{"schema", {{"fields", fields}}}, {"data", expected}};
  const auto type_of = [&](size_t i) { return given[sources[i]]["typeInfo"]["frame"].get<std::string>(); };
  builder.BeginRow();
  for (size_t i = 0; i < columns.size(); ++i) {
    const json one = type_of(i) == "bool" ? json(true) : type_of(i) == "string" ? json("") : json(1);
    Append(*columns[i], type_of(i), one, json(), 0, 0);
  }
  builder.CommitRow();
  static_cast<void>(builder.Finish());
  const size_t rows = values.empty() ? 0 : values[0].size();
  for (size_t row = 0; row < rows; ++row) {
    builder.BeginRow();
    for (size_t i = 0; i < columns.size(); ++i) {
      const int64_t rest = nanos[i].is_null() ? 0 : nanos[i][row].get<int64_t>();
      Append(*columns[i], type_of(i), values[i][row], entities[i].is_null() ? json::object() : entities[i], rest, row);
    }
    builder.CommitRow();
  }
  corpus.as_frame = builder.Finish();
  return corpus;
}

// Every frame within a document, wherever it stands.
void CollectFrames(const json& document, std::vector<json>* frames) {
  if (document.is_object() && document.contains("schema") && document.contains("data")) {
    frames->push_back(document);
    return;
  }
  if (!document.is_structured()) return;
  for (const json& child : document) CollectFrames(child, frames);
}

json ParseJsonc(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return json::parse(text.str(), nullptr, true, /*ignore_comments=*/true);
}

size_t CheckFolder(const std::filesystem::path& folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".json" && extension != ".jsonc") continue;
    if (entry.path().filename().string().ends_with("schema.json")) continue;
    std::vector<json> frames;
    CollectFrames(ParseJsonc(entry.path()), &frames);
    for (const json& frame : frames) {
      const Corpus corpus = Read(frame);
      EXPECT_EQ(json::parse(Encode(*corpus.as_frame, {.wide_integers = WideIntegers::kNumber})), corpus.frame)
          << entry.path();
      ++count;
    }
  }
  return count;
}

TEST(GrafanaJson, FramesOfTheSdk) { EXPECT_GE(CheckFolder(KAFSCOPE_SOURCE_DIR "/tests/corpora/frames-sdk"), 6u); }

TEST(GrafanaJson, FramesOfTheDataplane) {
  EXPECT_GE(CheckFolder(KAFSCOPE_SOURCE_DIR "/tests/corpora/frames-dataplane"), 20u);
}

}  // namespace
}  // namespace kafscope
