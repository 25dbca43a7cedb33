#include "decode/avro_decoder.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/perf_switches.h"
#include "decode/avro_test_util.h"
#include "decode/decoder.h"

namespace kafscope {
namespace {

using namespace std::string_view_literals;

// Schemas at hand; an id can be held back to see records wait.
class FakeStore final : public SchemaStore {
 public:
  void Add(int32_t id, std::string text, std::vector<std::string> references = {}) {
    auto schema = std::make_shared<RegisteredSchema>();
    schema->id = id;
    schema->text = std::move(text);
    for (std::string& reference : references) schema->references.push_back({"", "", 1, std::move(reference)});
    schemas_[std::to_string(id)] = std::move(schema);
  }
  void AddGuid(const std::string& guid, int32_t id) { schemas_[guid] = schemas_.at(std::to_string(id)); }
  void SetType(int32_t id, SchemaType type) {
    auto schema = std::make_shared<RegisteredSchema>(*schemas_.at(std::to_string(id)));
    schema->type = type;
    schemas_[std::to_string(id)] = schema;
  }
  Answer Find(int32_t id) override { return FindByGuid(std::to_string(id)); }
  Answer FindByGuid(std::string_view name) override {
    ++asked;
    if (pending) return {};
    if (!failure.ok()) return {State::kFailed, nullptr, failure};
    const auto it = schemas_.find(std::string(name));
    if (it == schemas_.end()) return {State::kFailed, nullptr, Status::NotFound("not in the registry")};
    return {State::kReady, it->second, Status::Ok()};
  }

  bool pending = false;
  Status failure;
  int asked = 0;

 private:
  std::map<std::string, std::shared_ptr<const RegisteredSchema>> schemas_;
};

std::string LongRecord(std::string_view name, std::string_view field) {
  return R"({"type":"record","name":")" + std::string(name) + R"(","fields":[{"name":")" + std::string(field) +
         R"(","type":"long"}]})";
}

class AvroDecoder : public testing::Test {
 protected:
  AvroDecoder() : store_(std::make_shared<FakeStore>()) {
    options_.format = Format::kAvro;
    options_.partition_column = false;
    options_.time_column = false;
    options_.schemas = store_;
  }

  void Make() {
    auto decoder = MakeDecoder(options_);
    ASSERT_TRUE(decoder) << decoder.error().ToString();
    decoder_ = *std::move(decoder);
  }
  std::string MakeError() {
    auto decoder = MakeDecoder(options_);
    return decoder ? "made" : std::string(decoder.error().message());
  }
  void Record(std::string_view value_hex) {
    bytes_.push_back(std::make_unique<std::string>(BytesFromHex(value_hex)));
    ConsumerRecord record;
    record.value = *bytes_.back();
    record.has_value = true;
    record.timestamp_ms = 1;
    record.offset = static_cast<int64_t>(records_.size());
    records_.push_back(record);
  }
  // The rows so far, one line each, without `offset`.
  std::vector<std::string> Rows() {
    const size_t taken = decoder_->Decode(records_, 0, builder_);
    EXPECT_EQ(taken, records_.size());
    records_.clear();
    const FramePtr frame = builder_.Finish();
    std::vector<std::string> rows(frame->num_rows());
    for (size_t row = 0; row < rows.size(); ++row) {
      for (size_t i = 0; i < frame->num_columns(); ++i) {
        const std::string& name = frame->schema().fields()[i].name;
        if (name == "offset") continue;
        rows[row] += (rows[row].empty() ? "" : " ") + name + "=" + CellText(*frame, i, row);
      }
    }
    return rows;
  }

  std::shared_ptr<FakeStore> store_;
  DecodeOptions options_;
  FrameBuilder builder_{{}};
  std::unique_ptr<Decoder> decoder_;
  std::vector<std::unique_ptr<std::string>> bytes_;
  std::vector<ConsumerRecord> records_;
};

using Lines = std::vector<std::string>;

TEST_F(AvroDecoder, EachRecordByItsOwnSchema) {  // cases.md 28
  store_->Add(1, R"({"type":"enum","name":"Pet","symbols":["CAT","DOG"]})");
  store_->Add(2, R"({"type":"enum","name":"Pet","symbols":["MOUSE","CAT","DOG"]})");
  Make();
  for (int i = 0; i < 2; ++i) {
    Record("000000000100");
    Record("000000000200");
    Record("000000000204");
  }
  EXPECT_EQ(Rows(), (Lines{"value=string:CAT", "value=string:MOUSE", "value=string:DOG", "value=string:CAT",
                           "value=string:MOUSE", "value=string:DOG"}));
  EXPECT_EQ(store_->asked, 2);
  EXPECT_EQ(decoder_->notes(), (Lines{"schema ids 1, 2"}));
}

TEST_F(AvroDecoder, ColumnsOnlyGrow) {
  store_->Add(1, LongRecord("A", "a"));
  store_->Add(2, LongRecord("A", "b"));
  Make();
  Record("000000000102");
  EXPECT_EQ(Rows(), (Lines{"a=1"}));
  Record("000000000204");
  Record("000000000106");
  EXPECT_EQ(Rows(), (Lines{"a=null b=2", "a=3 b=null"}));
}

TEST_F(AvroDecoder, UsesReferences) {  // cases.md 29
  store_->Add(7, R"({"type":"record","name":"Envelope","fields":[{"name":"source","type":"io.Source"},
    {"name":"op","type":"string"}]})",
              {R"({"type":"enum","name":"io.Kind","symbols":["A","B"]})",
               R"({"type":"record","name":"io.Source","fields":[{"name":"kind","type":"Kind"}]})"});
  Make();
  Record(
      "000000000702"
      "0263");
  EXPECT_EQ(Rows(), (Lines{"op=string:c source.kind=string:B"}));
}

TEST_F(AvroDecoder, RefusesWhatIsNotFramed) {  // cases.md 14
  Make();
  Record("61626364");
  Record("6162636465666768");
  Record("0000");
  EXPECT_EQ(Rows(), (Lines{"error=string:not_framed at byte 0: not registry-framed: first byte 0x61",
                           "error=string:not_framed at byte 0: not registry-framed: first byte 0x61",
                           "error=string:not_framed at byte 0: not registry-framed: shorter than the 5 bytes of a "
                           "prefix"}));
  EXPECT_EQ(store_->asked, 0);
}

TEST_F(AvroDecoder, TombstoneAndEmptyValueAskNobody) {  // cases.md 31
  options_.key_format = KeyFormat::kString;
  Make();
  ConsumerRecord record;
  record.key = "k";
  record.has_key = true;
  records_.push_back(record);
  record.has_value = true;
  records_.push_back(record);
  EXPECT_EQ(Rows(), (Lines{"key=string:k error=null",
                           "key=string:k error=string:empty_value at byte 0: not registry-framed: empty"}));
  EXPECT_EQ(store_->asked, 0);
  EXPECT_EQ(decoder_->counters().tombstones, 1u);
}

TEST_F(AvroDecoder, SchemaIdFromHeaders) {  // cases.md 32
  store_->Add(1, LongRecord("A", "a"));
  store_->AddGuid("89791762-2336-4186-9674-299b90a802e2", 1);
  Make();
  const std::string guid = BytesFromHex("0189791762233641869674299b90a802e2");
  const std::vector<RecordHeader> by_id = {{"__value_schema_id", "\0\0\0\0\x01"sv}};
  const std::vector<RecordHeader> by_guid = {{"__value_schema_id", guid}};
  Record("02");
  records_.back().headers = by_id;
  Record("04");
  records_.back().headers = by_guid;
  Record("000000000106");
  EXPECT_EQ(Rows(), (Lines{"a=1", "a=2", "a=3"}));
}

TEST_F(AvroDecoder, InlineSchemaIsNotFramedUnlessAsked) {  // cases.md 30
  options_.value_schema.text = R"(["null","long"])";
  Make();
  Record("00");
  Record("0204");
  Record("00000000010204");
  EXPECT_EQ(Rows(), (Lines{"value=null error=null", "value=2 error=null",
                           "value=null error=string:trailing_bytes at byte 1: bytes remain after the last field"}));
  EXPECT_EQ(store_->asked, 0);
}

TEST_F(AvroDecoder, InlineSchemaFramed) {
  options_.value_schema.text = R"("long")";
  options_.framing = Framing::kConfluent;
  Make();
  Record("000000000104");
  Record("000000000180");
  EXPECT_EQ(Rows(), (Lines{"value=2 error=null",
                           "value=null error=string:truncated at byte 5: the value ends inside of a field"}));
}

TEST_F(AvroDecoder, AutoFramingIsACheckNotAGuess) {
  options_.value_schema.text = R"({"type":"record","name":"R","fields":[{"name":"a","type":["null","long"]}]})";
  options_.framing = Framing::kAuto;
  Make();
  const uint64_t fingerprint = (*AvroSchema::Parse(options_.value_schema.text))->Fingerprint();
  Record("00");
  Record("00000000010204");
  Record("00000000010207ff");  // framed, but not a value of this schema
  Record("c301");
  bytes_.back()->append(reinterpret_cast<const char*>(&fingerprint), 8).append("\x02\x08");
  records_.back().value = *bytes_.back();
  EXPECT_EQ(Rows(), (Lines{"a=null error=null", "a=2 error=null",
                           "a=null error=string:trailing_bytes at byte 1: bytes remain after the last field",
                           "a=4 error=null"}));
  EXPECT_EQ(decoder_->notes(), (Lines{"framing auto: 2 records framed, 2 not"}));
}

TEST_F(AvroDecoder, WaitsForItsSchemaInOrder) {
  store_->Add(1, LongRecord("A", "a"));
  store_->Add(2, LongRecord("A", "a"));
  Make();
  Record("000000000102");
  EXPECT_EQ(Rows(), (Lines{"a=1"}));
  store_->pending = true;
  Record("000000000104");
  Record("000000000206");
  Record("000000000108");
  EXPECT_EQ(decoder_->Decode(records_, 0, builder_), 1u) << "the known schema goes on, the unknown one waits";
  EXPECT_TRUE(decoder_->waiting());
  EXPECT_EQ(decoder_->Decode(std::span(records_).subspan(1), 0, builder_), 0u);
  EXPECT_TRUE(decoder_->waiting());
  store_->pending = false;
  EXPECT_EQ(decoder_->Decode(std::span(records_).subspan(1), 0, builder_), 2u);
  EXPECT_FALSE(decoder_->waiting());
  records_.clear();
  EXPECT_EQ(Rows(), (Lines{"a=2", "a=3", "a=4"}));
}

TEST_F(AvroDecoder, RegistryFailuresAreErrorRows) {
  store_->Add(1, LongRecord("A", "a"));
  store_->Add(3, "{\"type\": \"record\"");
  store_->Add(4, "");
  store_->SetType(4, SchemaType::kProtobuf);
  Make();
  Record("000000000102");
  Record("000000000202");
  Record("000000000302");
  Record("000000000402");
  const Lines rows = Rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], "a=1 error=null");
  EXPECT_EQ(rows[1], "a=null error=string:unknown_schema at byte 0: schema 2: not in the registry");
  EXPECT_TRUE(rows[2].starts_with("a=null error=string:invalid_schema at byte 0: line 1, column")) << rows[2];
  EXPECT_EQ(rows[3], "a=null error=string:invalid_schema at byte 0: schema 4 of the registry is not an Avro schema");
  // An outage does not stop records whose schema is known.
  store_->failure = Status::Unavailable("no answer");
  Record("000000000104");
  Record("000000000502");
  EXPECT_EQ(Rows(),
            (Lines{"a=2 error=null", "a=null error=string:registry_unavailable at byte 0: schema 5: no answer"}));
}

TEST_F(AvroDecoder, KeysBySchema) {
  options_.key_format = KeyFormat::kAvro;
  store_->Add(1, LongRecord("A", "a"));
  store_->Add(2, R"(["long","string"])");
  store_->Add(3, R"("string")");
  Make();
  const std::string first = BytesFromHex("000000000108");
  const std::string third = BytesFromHex("00000000030278");
  const std::string bad = "oops";
  for (const std::string* key : {&first, &third, &bad}) {
    Record("000000000102");
    records_.back().key = *key;
    records_.back().has_key = true;
  }
  Record("0000000001");  // the value fails, its key is still there
  records_.back().key = first;
  records_.back().has_key = true;
  const Lines rows = Rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], "key=null key.a=4 a=1 error=null");
  EXPECT_EQ(rows[1], "key=string:x key.a=null a=1 error=null");
  EXPECT_EQ(rows[2],
            "key=null key.a=null a=1 error=string:invalid_key at byte 0: not registry-framed: first byte 0x6f");
  EXPECT_EQ(rows[3], "key=null key.a=4 a=null error=string:truncated at byte 5: the value ends inside of a field");
}

TEST_F(AvroDecoder, MetadataNamesAreLeftAlone) {
  options_.value_schema.text = R"({"type":"record","name":"R","fields":[{"name":"offset","type":"long"}]})";
  Make();
  Record("02");
  EXPECT_EQ(Rows(), (Lines{"value.offset=1"}));
}

TEST_F(AvroDecoder, WithoutTheCacheTheRowsAreTheSame) {
  store_->Add(1, LongRecord("A", "a"));
  store_->Add(2, R"(["null","string"])");
  const auto run = [&] {
    builder_.~FrameBuilder();
    new (&builder_) FrameBuilder({});
    Make();
    Record("000000000102");
    Record("0000000002020278");
    Record("000000000104");
    return Rows();
  };
  const Lines with = run();
  const int asked = store_->asked;
  const ScopedPerfSwitch off(PerfSwitch::kAvroCodecCache, true);
  EXPECT_EQ(run(), with);
  EXPECT_EQ(store_->asked - asked, 3);
}

TEST_F(AvroDecoder, KeepsABoundedNumberOfPlans) {
  for (int id = 0; id < 600; ++id) store_->Add(id, LongRecord("A", "a"));
  Make();
  for (int round = 0; round < 2; ++round) {
    for (int id = 0; id < 600; ++id) {
      char hex[16];
      std::snprintf(hex, sizeof hex, "00%08x02", id);
      Record(hex);
    }
    EXPECT_EQ(Rows(), Lines(600, "a=1"));
  }
  EXPECT_EQ(store_->asked, 1200) << "600 schemas in turn do not fit 256 entries";
}

TEST_F(AvroDecoder, BadOptionsNameTheOption) {
  options_.value_schema.text = "{";
  options_.value_schema.file_name = "a.avsc";
  EXPECT_TRUE(MakeError().starts_with("--schema a.avsc: line 1, column")) << MakeError();
  options_.value_schema = {};
  options_.framing = Framing::kNone;
  EXPECT_EQ(MakeError(), "--framing none needs --schema: nothing else names the schema");
  options_.schemas = nullptr;
  EXPECT_EQ(MakeError(), "Avro needs --schema FILE.avsc or --registry URL");
}

}  // namespace
}  // namespace kafscope
