// What every format of DecoderTable() must do, whatever its bytes mean.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "decode/decode_testing.h"
#include "decode/format_samples.h"
#include "prove/allocation_counter.h"

namespace kafscope {
namespace {

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  Conformance() : samples_(SamplesOf(FindDecoder(GetParam())->format)) {}

  DecoderUnderTest Make(FrameBuilder::Options frames = {}) const { return DecoderUnderTest(samples_.options, frames); }

  FormatSamples samples_;
};

uint64_t ErrorsOf(const DecodeCounters& counters) {
  uint64_t sum = 0;
  for (const uint64_t count : counters.errors) sum += count;
  return sum;
}

std::vector<TextRow> WithoutErrors(std::vector<TextRow> rows) {
  std::erase_if(rows, [](const TextRow& row) { return row.contains("error"); });
  return rows;
}

// Damaged forms of `text`: cut, a byte changed, one too many.
std::vector<std::string> Damage(const std::string& text, std::mt19937& random) {
  std::vector<std::string> damaged;
  for (size_t size = 0; size < text.size(); ++size) {
    damaged.push_back(text.substr(0, size));
    damaged.push_back(text);
    damaged.back()[size] = static_cast<char>(random());
    damaged.push_back(text);
    damaged.back()[size] = static_cast<char>(damaged.back()[size] ^ (1 << random() % 8));
    damaged.push_back(text.substr(0, size) + static_cast<char>(random()) + text.substr(size));
  }
  return damaged;
}

TEST_P(Conformance, HasSamplesThatDecode) {
  ASSERT_FALSE(samples_.good.empty()) << "format_samples.cc has no entry";
  DecoderUnderTest decoder = Make();
  for (const std::string& value : samples_.good) {
    for (const TextRow& row : decoder.Rows({value})) {
      EXPECT_FALSE(row.contains("error")) << row.at("error");
      EXPECT_FALSE(row.empty());
    }
  }
  EXPECT_EQ(decoder.counters().records, samples_.good.size());
  EXPECT_EQ(ErrorsOf(decoder.counters()), 0u);
}

// Where frames end changes nothing about rows; a full builder stops the decoder, the rest goes on after it.
TEST_P(Conformance, FrameBordersChangeNoRow) {
  std::vector<std::string> values;
  for (int i = 0; i < 20; ++i) values.insert(values.end(), samples_.good.begin(), samples_.good.end());
  // The second round is compared: texts of rows depend on their columns' types, which have settled by then.
  DecoderUnderTest whole(samples_.options, {.max_rows = 0, .max_bytes = 0});
  whole.Rows(values);
  const std::vector<TextRow> expected = whole.Rows(values);
  const std::vector<ConsumerRecord> records = RecordsOf(values);
  for (const uint32_t max_rows : {1u, 2u, 7u, 32u}) {
    FrameBuilder builder({.max_rows = max_rows});
    auto decoder = MakeDecoder(samples_.options).value();
    std::vector<TextRow> rows;
    for (int round = 0; round < 2; ++round) {
      rows.clear();
      std::span<const ConsumerRecord> left = records;
      while (!left.empty()) {
        const size_t taken = decoder->Decode(left, DecoderUnderTest::kArrival, builder);
        ASSERT_GT(taken, 0u);
        left = left.subspan(taken);
        const FramePtr frame = builder.Finish();
        EXPECT_LE(frame->num_rows(), max_rows + 1) << "only the rows of one record may go beyond";
        for (TextRow& row : RowsOf(*frame)) rows.push_back(std::move(row));
      }
    }
    EXPECT_EQ(rows, expected) << max_rows;
  }
}

TEST_P(Conformance, TombstonesAreRowsOfNulls) {
  DecoderUnderTest decoder = Make();
  std::vector<ConsumerRecord> records = RecordsOf({samples_.good[0], "", samples_.good[0]});
  const std::string good = samples_.good[0];
  records[0].value = good;
  records[1].has_value = false;
  records[2].value = good;
  const std::vector<TextRow> rows = RowsOf(*decoder.Decode(records));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1], TextRow{});
  EXPECT_EQ(rows[0], rows[2]);
  EXPECT_EQ(decoder.counters().tombstones, 1u);
}

// An empty value is one: it gives a row, an error row, or is counted as filtered; never silence, never a tombstone.
TEST_P(Conformance, EmptyValuesAreNoTombstones) {
  DecoderUnderTest decoder = Make();
  const std::vector<TextRow> rows = decoder.Rows({""});
  EXPECT_EQ(rows.size() + decoder.counters().filtered, 1u);
  EXPECT_EQ(decoder.counters().tombstones, 0u);
  EXPECT_EQ(decoder.counters().records, 1u);
}

TEST_P(Conformance, DeepNestingIsBounded) {
  if (samples_.deep.empty()) return;  // this format does not nest
  DecoderUnderTest decoder = Make();
  const TextRow good = decoder.Row(samples_.good[0]);
  const std::vector<TextRow> rows = decoder.Rows({samples_.deep});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].contains("error"));
  EXPECT_EQ(decoder.Row(samples_.good[0]), good);
}

// A bad record costs its own row and nothing else: neighbours keep their values, columns their types.
TEST_P(Conformance, DamagedRecordsLeaveTheirNeighboursAlone) {
  std::mt19937 random(20240101);
  for (const std::string& sample : samples_.good) {
    for (const std::string& bad : Damage(sample, random)) {
      DecoderUnderTest alone = Make();
      const std::vector<TextRow> bad_rows = alone.Rows({bad});
      EXPECT_EQ(bad_rows.size(), alone.counters().rows);
      const bool failed =
          std::any_of(bad_rows.begin(), bad_rows.end(), [](const auto& r) { return r.contains("error"); });
      EXPECT_EQ(failed, ErrorsOf(alone.counters()) > 0);
      if (!failed || bad_rows.size() != 1) continue;  // it is another good record, or has good lines of its own
      DecoderUnderTest plain = Make();
      const FramePtr expected = plain.Decode(RecordsOf({samples_.good[0], sample}));
      DecoderUnderTest mixed = Make();
      const FramePtr actual = mixed.Decode(RecordsOf({samples_.good[0], bad, sample}));
      ASSERT_EQ(WithoutErrors(RowsOf(*actual)), RowsOf(*expected)) << testing::PrintToString(bad);
      ASSERT_EQ(actual->num_columns(), expected->num_columns() + 1) << testing::PrintToString(bad);
      for (const Field& field : expected->schema().fields()) {
        const int index = actual->schema().IndexOf(field.name);
        ASSERT_GE(index, 0) << field.name;
        ASSERT_EQ(actual->schema().fields()[static_cast<size_t>(index)].type, field.type) << field.name;
      }
    }
  }
}

// One long stream of good and damaged records in every order: every record is accounted for.
TEST_P(Conformance, EveryRecordOfABadStreamIsAccountedFor) {
  std::mt19937 random(7);
  std::vector<std::string> values;
  for (const std::string& sample : samples_.good) {
    for (std::string& bad : Damage(sample, random)) values.push_back(std::move(bad));
    values.push_back(sample);
  }
  for (int i = 0; i < 500; ++i) {
    std::string noise(random() % 64, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    values.push_back(noise);
  }
  std::shuffle(values.begin(), values.end(), random);
  DecoderUnderTest decoder = Make({.max_fields = 200});
  size_t rows = 0;
  for (size_t begin = 0; begin < values.size(); begin += 10) {
    const std::vector<std::string> some(values.begin() + static_cast<ptrdiff_t>(begin),
                                        values.begin() + static_cast<ptrdiff_t>(std::min(begin + 10, values.size())));
    rows += decoder.Rows(some).size();
  }
  EXPECT_EQ(decoder.counters().records, values.size());
  EXPECT_EQ(decoder.counters().rows, rows);
  EXPECT_GE(rows + decoder.counters().filtered, values.size());
}

TEST_P(Conformance, WarmDecodingAllocatesNothing) {
  DecodeOptions options = samples_.options;
  options.key_format = KeyFormat::kString;
  options.headers = HeaderMode::kAll;
  DecoderUnderTest decoder(options);
  const RecordHeader header{"name", "value", false};
  std::vector<std::string> values;
  for (int i = 0; i < 10; ++i) values.insert(values.end(), samples_.good.begin(), samples_.good.end());
  std::vector<ConsumerRecord> records = RecordsOf(values);
  for (ConsumerRecord& record : records) {
    record.key = "key";
    record.has_key = true;
    record.headers = {&header, 1};
  }
  for (int warm = 0; warm < 4; ++warm) decoder.Decode(records);
  const AllocationCount before = AllocationsOfThisThread();
  for (int i = 0; i < 4; ++i) decoder.Decode(records);
  EXPECT_EQ(AllocationsOfThisThread().calls, before.calls);
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const DecoderEntry& entry : DecoderTable()) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Formats, Conformance, testing::ValuesIn(FormatNames()),
                         [](const auto& format) { return format.param; });

}  // namespace
}  // namespace kafscope
