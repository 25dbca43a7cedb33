#include "source/replay_source.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

TEST(ReplaySource, GivesRecordsInOrderInPiecesAndAgainAfterRewind) {
  ReplaySource source(std::vector<std::string>{"a", "b", "c"});
  ConsumerRecords batch;
  for (int round = 0; round < 2; ++round) {
    std::string seen;
    while (!source.AtEnd()) {
      ASSERT_TRUE(source.Poll(2, {}, &batch).ok());
      EXPECT_LE(batch.size(), 2U);
      for (const ConsumerRecord& record : batch.records()) {
        seen += std::string(record.value) + std::to_string(record.offset);
        EXPECT_FALSE(record.has_key);
        EXPECT_EQ(record.timestamp_ms, -1);
      }
    }
    EXPECT_EQ(seen, "a0b1c2");
    source.Rewind();
  }
}

TEST(ReplaySource, TellsNullFromEmptyAndKeepsHeaders) {
  std::vector<ReplayRecord> records(2);
  records[0].key = "";
  records[0].headers = {{"h", "a"}, {"h", std::nullopt}};
  records[1].value = "";
  records[1].timestamp_ms = 5;
  records[1].headers = {{"x", "y"}};
  ReplaySource source(std::move(records));
  ConsumerRecords batch;
  ASSERT_TRUE(source.Poll(10, {}, &batch).ok());
  ASSERT_EQ(batch.size(), 2U);
  const ConsumerRecord& first = batch.records()[0];
  EXPECT_TRUE(first.has_key);
  EXPECT_FALSE(first.has_value);
  ASSERT_EQ(first.headers.size(), 2U);
  EXPECT_EQ(first.headers[0].value, "a");
  EXPECT_TRUE(first.headers[1].value_is_null);
  const ConsumerRecord& second = batch.records()[1];
  EXPECT_TRUE(second.has_value);
  EXPECT_EQ(second.timestamp_type, TimestampType::kCreateTime);
  EXPECT_EQ(second.headers[0].name, "x");
}

}  // namespace
}  // namespace kafscope
