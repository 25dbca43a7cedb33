#include "pipeline/query_options.h"

#include <gtest/gtest.h>

#include <set>

namespace kafscope {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;

TEST(QueryOptions, SetWhatTheySay) {
  StreamQuery query;
  query.topic = "orders";
  const std::pair<const char*, const char*> words[] = {{"format", "plaintext"},
                                                       {"key-format", "base64"},
                                                       {"headers", "a,b"},
                                                       {"max_depth", "7"},
                                                       {"time-field", "ts"},
                                                       {"time_unit", "us"},
                                                       {"partitions", "2,0,2"},
                                                       {"from", "last:10"},
                                                       {"until", "count:5"},
                                                       {"batch-rows", "32"},
                                                       {"batch-bytes", "64KiB"},
                                                       {"batch_latency", "50ms"},
                                                       {"isolation", "read_uncommitted"}};
  for (const auto& [name, value] : words) {
    const Status status = SetQueryOption(name, value, kNow, &query);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
  }
  EXPECT_TRUE(CheckQuery(query).ok());
  EXPECT_EQ(query.decode.format, Format::kPlaintext);
  EXPECT_EQ(query.decode.key_format, KeyFormat::kBase64);
  EXPECT_EQ(query.decode.headers, HeaderMode::kNamed);
  EXPECT_EQ(query.decode.header_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(query.decode.max_depth, 7u);
  EXPECT_EQ(query.decode.time_source, TimeSource::kField);
  EXPECT_EQ(query.decode.time_unit, TimeUnit::kMicroseconds);
  EXPECT_EQ(query.partitions, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(query.from.value, 10);
  EXPECT_EQ(query.until.value, 5);
  EXPECT_EQ(query.batch.max_rows, 32u);
  EXPECT_EQ(query.batch.max_bytes, 65536u);
  EXPECT_EQ(query.batch.max_latency, std::chrono::milliseconds(50));
  EXPECT_FALSE(query.read_committed);
}

TEST(QueryOptions, RefusalsNameTheOptionAndWhatItTakes) {
  StreamQuery query;
  EXPECT_EQ(SetQueryOption("max-depth", "99", kNow, &query).message(),
            "max-depth: '99' is not a whole number from 1 to 64");
  EXPECT_EQ(SetQueryOption("key_format", "xml", kNow, &query).message(),
            "key_format: 'xml' is none of none, string, json, base64, int, avro, protobuf");
  EXPECT_EQ(SetQueryOption("colour", "red", kNow, &query).message(), "unknown option 'colour'");
  EXPECT_FALSE(SetQueryOption("partitions", "0,x", kNow, &query).ok());
  EXPECT_FALSE(SetQueryOption("from", "yesterday", kNow, &query).ok());
  EXPECT_FALSE(SetQueryOption("batch-latency", "1h", kNow, &query).ok());
}

TEST(CheckTopicName, KnowsKafkasRule) {
  EXPECT_TRUE(CheckTopicName("a").ok());
  EXPECT_TRUE(CheckTopicName(std::string(249, 'x')).ok());
  for (const std::string& name : {std::string(), std::string("a b"), std::string(".."), std::string(250, 'x')}) {
    EXPECT_EQ(CheckTopicName(name).code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST(StreamQuery, FingerprintsDifferWhereQueriesDo) {
  std::set<std::string> seen;
  const auto add = [&seen](const StreamQuery& query) { return seen.insert(query.Fingerprint()).second; };
  StreamQuery query;
  query.topic = "t";
  EXPECT_EQ(query.Fingerprint().size(), 64u);
  EXPECT_TRUE(add(query));
  EXPECT_FALSE(add(query));
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"format", "plaintext"},  {"schema", "{}"},
                                                        {"message", "M"},         {"framing", "auto"},
                                                        {"key-format", "json"},   {"key-schema", "{}"},
                                                        {"key-message", "K"},     {"headers", "all"},
                                                        {"headers", "a"},         {"headers", "a,b"},
                                                        {"max-depth", "3"},       {"max-fields", "7"},
                                                        {"time", "arrival"},      {"time-field", "x"},
                                                        {"time-unit", "ms"},      {"text", "hex"},
                                                        {"lp-layout", "long"},    {"lp-precision", "ms"},
                                                        {"lp-measurements", "m"}, {"lp-fields", "f"},
                                                        {"lp-tags", "t"},         {"batch-rows", "1"},
                                                        {"batch-bytes", "2KiB"},  {"batch-latency", "1ms"},
                                                        {"from", "earliest"},     {"until", "end"},
                                                        {"partitions", "1"},      {"isolation", "read_uncommitted"}}) {
    StreamQuery other = query;
    ASSERT_TRUE(SetQueryOption(name, value, kNow, &other).ok()) << name;
    EXPECT_TRUE(add(other)) << name << " " << value;
  }
}

}  // namespace
}  // namespace kafscope
