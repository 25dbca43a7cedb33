#include "source/kafka_admin.h"

#include <gtest/gtest.h>

#include "source/embedded_broker.h"
#include "source/kafka_producer.h"

namespace kafscope {
namespace {

constexpr std::chrono::milliseconds kPatience{30'000};

TEST(KafkaAdmin, ListsAndDescribesTopicsWithTheirOffsets) {
  Result<std::unique_ptr<EmbeddedBroker>> broker = EmbeddedBroker::Make(1);
  ASSERT_TRUE(broker);
  ASSERT_TRUE((*broker)->CreateTopic("b", 2).ok());
  ASSERT_TRUE((*broker)->CreateTopic("a", 1).ok());
  KafkaOptions options;
  options.brokers = (*broker)->bootstrap();
  Result<std::unique_ptr<KafkaProducer>> producer = KafkaProducer::Make(options);
  ASSERT_TRUE(producer);
  ProducerRecord record;
  record.partition = 1;
  record.value = "x";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*producer)->Send("b", record));
  ASSERT_TRUE((*producer)->Flush(kPatience).ok());
  EXPECT_EQ((*producer)->delivered(), 3U);
  EXPECT_EQ((*producer)->failed(), 0U);

  Result<std::unique_ptr<KafkaAdmin>> admin = KafkaAdmin::Make(options);
  ASSERT_TRUE(admin);
  const Result<std::vector<TopicSummary>> topics = (*admin)->ListTopics(kPatience);
  ASSERT_TRUE(topics) << topics.error().ToString();
  ASSERT_EQ(topics->size(), 2U);
  EXPECT_EQ((*topics)[0].name, "a");
  EXPECT_EQ((*topics)[1].partitions, 2);
  EXPECT_FALSE((*topics)[1].internal);

  const auto offsets = (*admin)->Offsets(*topics, kPatience);
  ASSERT_TRUE(offsets) << offsets.error().ToString();
  EXPECT_EQ(offsets->at("a")[0].end, 0);
  EXPECT_EQ(offsets->at("b")[1].start, 0);
  EXPECT_EQ(offsets->at("b")[1].end, 3);

  const Result<TopicInfo> described = (*admin)->DescribeTopic("b", kPatience);
  ASSERT_TRUE(described) << described.error().ToString();
  ASSERT_EQ(described->partitions.size(), 2U);
  EXPECT_EQ(described->partitions[1].leader, 1);
  const Result<TopicInfo> missing = (*admin)->DescribeTopic("none", kPatience);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.error().message().find("'none'"), std::string::npos);
}

TEST(KafkaAdmin, CreatesTopicsOnceAndDeletesThem) {
  Result<std::unique_ptr<EmbeddedBroker>> broker = EmbeddedBroker::Make(1);
  ASSERT_TRUE(broker);
  KafkaOptions options;
  options.brokers = (*broker)->bootstrap();
  Result<std::unique_ptr<KafkaAdmin>> admin = KafkaAdmin::Make(options);
  ASSERT_TRUE(admin);
  NewTopic topic;
  topic.name = "made";
  topic.partitions = 3;
  const Status created = (*admin)->CreateTopic(topic, kPatience);
  ASSERT_TRUE(created.ok()) << created.ToString();
  const Result<TopicInfo> described = (*admin)->DescribeTopic("made", kPatience);
  ASSERT_TRUE(described) << described.error().ToString();
  EXPECT_EQ(described->partitions.size(), 3U);
  const Status again = (*admin)->CreateTopic(topic, kPatience);
  EXPECT_EQ(again.code(), StatusCode::kInvalidArgument) << again.ToString();
  EXPECT_NE(again.message().find("made"), std::string::npos) << again.ToString();
  const Status deleted = (*admin)->DeleteTopic("made", kPatience);
  ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  EXPECT_EQ((*admin)->DeleteTopic("made", kPatience).code(), StatusCode::kNotFound);
}

TEST(KafkaAdmin, AnUnreachableBrokerIsNamed) {
  KafkaOptions options;
  options.brokers = "127.0.0.1:1";
  Result<std::unique_ptr<KafkaAdmin>> admin = KafkaAdmin::Make(options);
  ASSERT_TRUE(admin);
  const Result<std::vector<TopicSummary>> topics = (*admin)->ListTopics(std::chrono::milliseconds(300));
  ASSERT_FALSE(topics);
  EXPECT_EQ(topics.error().code(), StatusCode::kUnavailable);
  EXPECT_NE(topics.error().message().find("127.0.0.1:1"), std::string::npos) << topics.error().ToString();
}

}  // namespace
}  // namespace kafscope
