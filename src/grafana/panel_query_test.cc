#include "grafana/panel_query.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

Result<PanelQuery> Parse(std::string_view json) {
  DataSourceSettings settings;
  settings.kafka.brokers = "a:1";
  return ParsePanelQuery(json, settings, nullptr);
}

TEST(PanelQuery, KeysOfTheExistingDataSource) {
  const auto query = Parse(
      R"({"topicName":"t","partition":2,"autoOffsetReset":"lastN","lastN":7,"timestampMode":"now","messageFormat":
          "lineprotocol","lineProtocolTimestampPrecision":"ms","lineProtocolMeasurements":"cpu, mem","keyFormat":"json",
          "alias":"{{topic}}-{{partition}}-{{field}}","avroSchema":"left from another format"})");
  ASSERT_TRUE(query.has_value()) << query.error().ToString();
  EXPECT_EQ(query->stream.topic, "t");
  EXPECT_EQ(query->stream.partitions, std::vector<int32_t>{2});
  EXPECT_EQ(query->stream.from, (StartPosition{StartPosition::Kind::kLastN, 7}));
  const DecodeOptions& decode = query->stream.decode;
  EXPECT_EQ(decode.format, Format::kLineProtocol);
  EXPECT_EQ(decode.line_layout, LineLayout::kLong) << "what migrated panels read";
  EXPECT_EQ(decode.line_precision, TimeUnit::kMilliseconds);
  EXPECT_EQ(decode.line_measurements, (std::vector<std::string>{"cpu", "mem"}));
  EXPECT_EQ(decode.key_format, KeyFormat::kJson);
  EXPECT_EQ(decode.time_source, TimeSource::kArrival);
  EXPECT_EQ(query->mode, PanelQuery::Mode::kLive) << "a query without our key is live only";
  EXPECT_EQ(ExpandAlias(*query, "f"), "t-2-f");
}

TEST(PanelQuery, WrongValuesNameTheirKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "topicName"},
      {R"({"topicName":"a topic"})", "topicName"},
      {R"({"topicName":"t","messageFormat":"xml"})", "messageFormat"},
      {R"({"topicName":"t","partition":"$p"})", "partition"},
      {R"({"topicName":"t","autoOffsetReset":"lastN","lastN":0})", "lastN"},
      {R"({"topicName":"t","messageFormat":"avro"})", "schemaRegistryUrl"},
      {R"({"topicName":"t","messageFormat":"avro","avroSchemaSource":"inlineSchema"})", "avroSchema"},
  };
  for (const auto& [json, key] : cases) {
    const auto query = Parse(json);
    ASSERT_FALSE(query.has_value()) << json;
    EXPECT_NE(query.error().message().find(key), std::string_view::npos) << query.error().ToString();
  }
}

// Case G67: any topic name gives a valid channel; equal queries the same path, others another.
TEST(PanelQuery, PathsAreShortAndTellQueriesApart) {
  const std::string topic(249, 'x');
  const auto path = [](const std::string& json) { return Parse(json)->Path(); };
  const std::string one = path("{\"topicName\":\"" + topic + "\"}");
  EXPECT_LE(one.size(), 60u);
  EXPECT_EQ(one.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789/_-=."), std::string::npos);
  EXPECT_EQ(one, path("{\"topicName\":\"" + topic + "\",\"partition\":\"all\"}"));
  for (const char* other :
       {R"({"topicName":"t"})", R"({"topicName":"t","partition":0})", R"({"topicName":"t","keyFormat":"string"})",
        R"({"topicName":"t","alias":"a"})", R"({"topicName":"t","autoOffsetReset":"earliest"})",
        R"({"topicName":"t","mode":"historyLive"})"}) {
    EXPECT_NE(one, path(other));
    EXPECT_EQ(path(other), path(other));
  }
}

}  // namespace
}  // namespace kafscope
