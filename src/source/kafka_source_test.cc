#include "source/kafka_source.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "source/embedded_broker.h"
#include "source/kafka_producer.h"

namespace kafscope {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{30};  // for a loaded machine; nothing waits that long if all is well

// What a source gave: "partition:offset=value".
struct Reader {
  std::unique_ptr<KafkaSource> source;
  ConsumerRecords batch;
  std::vector<std::string> rows;
  std::vector<SourceEvent> events;
  Status status;

  // Polls until `done`, or fails the test.
  void Until(const std::function<bool()>& done) {
    const auto deadline = Clock::now() + kPatience;
    while (!done()) {
      ASSERT_LT(Clock::now(), deadline) << "rows: " << rows.size() << ", events: " << Events();
      status = source->Poll(1000, Clock::now() + milliseconds(50), &batch);
      if (!status.ok()) return;
      for (const ConsumerRecord& record : batch.records()) {
        rows.push_back(std::to_string(record.partition) + ":" + std::to_string(record.offset) + "=" +
                       (record.has_value ? std::string(record.value) : "null"));
      }
      for (SourceEvent& event : source->TakeEvents()) events.push_back(std::move(event));
    }
  }
  void UntilRows(size_t count) {
    Until([&] { return rows.size() >= count; });
  }
  void UntilEnd() {
    Until([&] { return source->AtEnd(); });
  }
  void UntilEvent(SourceEvent::Kind kind) {
    Until([&] { return Has(kind); });
  }
  bool Has(SourceEvent::Kind kind) const { return Find(kind) != nullptr; }
  const SourceEvent* Find(SourceEvent::Kind kind) const {
    for (const SourceEvent& event : events) {
      if (event.kind == kind) return &event;
    }
    return nullptr;
  }
  std::string Events() const {
    std::string text;
    for (const SourceEvent& event : events) text += event.message + "; ";
    return text;
  }
};

class KafkaSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<EmbeddedBroker>> broker = EmbeddedBroker::Make(1);
    ASSERT_TRUE(broker) << broker.error().ToString();
    broker_ = *std::move(broker);
    options_.brokers = broker_->bootstrap();
    query_.topic = "t";
    query_.refresh = milliseconds(200);
  }

  void Produce(const std::string& value, int32_t partition = 0, int64_t timestamp_ms = 0) {
    if (producer_ == nullptr) {
      Result<std::unique_ptr<KafkaProducer>> producer = KafkaProducer::Make(options_);
      ASSERT_TRUE(producer) << producer.error().ToString();
      producer_ = *std::move(producer);
    }
    ProducerRecord record;
    record.partition = partition;
    record.value = value;
    record.timestamp_ms = timestamp_ms;
    ASSERT_TRUE(producer_->SendWaiting(query_.topic, record, Clock::now() + kPatience).ok());
  }
  void ProduceMany(int from, int to, int32_t partition = 0) {
    for (int i = from; i < to; ++i) Produce(std::to_string(i), partition);
    Flush();
  }
  void Flush() {
    const Status status = producer_->Flush(kPatience);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  Reader Read() {
    Reader reader;
    Result<std::unique_ptr<KafkaSource>> source = KafkaSource::Make(options_, query_);
    EXPECT_TRUE(source) << source.error().ToString();
    if (source) reader.source = *std::move(source);
    return reader;
  }
  std::vector<std::string> ReadToEnd() {
    query_.until = {EndPosition::Kind::kEnd, 0};
    Reader reader = Read();
    reader.UntilEnd();
    EXPECT_TRUE(reader.status.ok()) << reader.status.ToString();
    return reader.rows;
  }

  std::unique_ptr<EmbeddedBroker> broker_;
  KafkaOptions options_;
  SourceQuery query_;
  std::unique_ptr<KafkaProducer> producer_;
};

using Rows = std::vector<std::string>;

TEST_F(KafkaSourceTest, ReadsFromTheBeginningToTheEndAsSeen) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  ProduceMany(0, 5);
  query_.from = {StartPosition::Kind::kEarliest, 0};
  EXPECT_EQ(ReadToEnd(), (Rows{"0:0=0", "0:1=1", "0:2=2", "0:3=3", "0:4=4"}));
}

TEST_F(KafkaSourceTest, LatestGivesWhatComesAfterTheStart) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  ProduceMany(0, 5);
  Reader reader = Read();
  reader.Until([&] { return reader.source->Progress()[0].next_offset == 5; });
  ProduceMany(5, 7);
  reader.UntilRows(2);
  EXPECT_EQ(reader.rows, (Rows{"0:5=5", "0:6=6"}));
  EXPECT_EQ(reader.source->Progress()[0].next_offset, 7);
  reader.Until([&] { return reader.source->Progress()[0].log_end_offset == 7; });
}

TEST_F(KafkaSourceTest, LastNIsPerPartition) {
  ASSERT_TRUE(broker_->CreateTopic("t", 3).ok());
  ProduceMany(0, 10, 0);
  ProduceMany(0, 2, 1);
  query_.from = {StartPosition::Kind::kLastN, 3};
  Rows rows = ReadToEnd();
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (Rows{"0:7=7", "0:8=8", "0:9=9", "1:0=0", "1:1=1"}));
  query_.from.value = 0;
  EXPECT_EQ(ReadToEnd(), Rows{});
}

TEST_F(KafkaSourceTest, OffsetsBeforeTheLogAreAGapAndThoseBehindItAreWaitedFor) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  for (int i = 0; i < 6; ++i) ProduceMany(i, i + 1);  // one batch each: whole batches are deleted
  ASSERT_TRUE(broker_->DeleteRecords("t", 0, 3).ok());
  query_.from = {StartPosition::Kind::kOffset, 1};
  Reader reader = Read();
  reader.UntilRows(3);
  EXPECT_EQ(reader.rows.front(), "0:3=3");
  ASSERT_TRUE(reader.Has(SourceEvent::Kind::kGap)) << reader.Events();
  EXPECT_EQ(reader.Find(SourceEvent::Kind::kGap)->count, 2U);

  query_.from.value = 8;
  Reader behind = Read();
  behind.Until([&] { return behind.source->Progress()[0].next_offset == 6; });
  ProduceMany(6, 9);
  behind.UntilRows(1);
  EXPECT_EQ(behind.rows, Rows{"0:8=8"});
}

TEST_F(KafkaSourceTest, StartsAndEndsAtTimes) {
  ASSERT_TRUE(broker_->CreateTopic("t", 2).ok());
  for (int i = 0; i < 5; ++i) {
    Produce(std::to_string(i), 0, 1'700'000'000'000 + i * 1000);
    Flush();
  }
  query_.from = {StartPosition::Kind::kTime, 1'700'000'001'500};
  EXPECT_EQ(ReadToEnd(), (Rows{"0:2=2", "0:3=3", "0:4=4"}));
  query_.from.value = 1'800'000'000'000;  // past the last record: the end
  EXPECT_EQ(ReadToEnd(), Rows{});

  query_.from.value = 1'700'000'001'000;
  query_.until = {EndPosition::Kind::kTime, 1'700'000'003'000};
  Reader reader = Read();
  reader.UntilEnd();
  EXPECT_EQ(reader.rows, (Rows{"0:1=1", "0:2=2"}));
}

TEST_F(KafkaSourceTest, EndsAtATimeThatComesWhileReading) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  ProduceMany(0, 2);
  const int64_t now =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  query_.from = {StartPosition::Kind::kEarliest, 0};
  query_.until = {EndPosition::Kind::kTime, now + 1500};
  Reader reader = Read();
  reader.UntilEnd();
  EXPECT_EQ(reader.rows.size(), 2U);
}

TEST_F(KafkaSourceTest, EndsAfterACount) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  ProduceMany(0, 10);
  query_.from = {StartPosition::Kind::kEarliest, 0};
  query_.until = {EndPosition::Kind::kCount, 4};
  Reader reader = Read();
  reader.UntilEnd();
  EXPECT_EQ(reader.rows, (Rows{"0:0=0", "0:1=1", "0:2=2", "0:3=3"}));
  query_.until.value = 0;
  EXPECT_TRUE(Read().source->AtEnd());
}

TEST_F(KafkaSourceTest, ReadsChosenPartitionsAndRefusesOthers) {
  ASSERT_TRUE(broker_->CreateTopic("t", 3).ok());
  for (int32_t partition = 0; partition < 3; ++partition) ProduceMany(partition, partition + 1, partition);
  query_.from = {StartPosition::Kind::kEarliest, 0};
  query_.partitions = {2, 0};
  Rows rows = ReadToEnd();
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (Rows{"0:0=0", "2:0=2"}));

  query_.partitions = {3};
  Reader reader = Read();
  reader.Until([&] { return !reader.status.ok(); });
  EXPECT_EQ(reader.status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(reader.status.message().find("--partitions"), std::string::npos);
}

TEST_F(KafkaSourceTest, GivesKeysHeadersTimestampsAndTombstones) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  Produce("first");
  const RecordHeader headers[] = {{"h", "a", false}, {"h", "b", false}, {"n", {}, true}, {"x", "\xff", false}};
  ProducerRecord record;
  record.partition = 0;
  record.key = std::string_view("\0\0\0\1", 4);
  record.timestamp_ms = 1'700'000'000'123;
  record.headers = headers;
  ASSERT_TRUE(producer_->SendWaiting("t", record, Clock::now() + kPatience).ok());
  record.value = "";
  record.headers = {};
  ASSERT_TRUE(producer_->SendWaiting("t", record, Clock::now() + kPatience).ok());
  Flush();

  query_.from = {StartPosition::Kind::kEarliest, 0};
  query_.until = {EndPosition::Kind::kCount, 3};
  query_.headers = true;
  Reader reader = Read();
  std::vector<std::string> seen;
  const auto deadline = Clock::now() + kPatience;
  while (!reader.source->AtEnd()) {
    ASSERT_LT(Clock::now(), deadline);
    ASSERT_TRUE(reader.source->Poll(10, Clock::now() + milliseconds(50), &reader.batch).ok());
    for (const ConsumerRecord& got : reader.batch.records()) {
      std::string text = got.has_key ? std::to_string(got.key.size()) : "-";
      text += got.has_value ? "=" + std::string(got.value) : "=null";
      if (got.offset > 0) text += "@" + std::to_string(got.timestamp_ms);
      for (const RecordHeader& header : got.headers) {
        text += " " + std::string(header.name) + ":" + (header.value_is_null ? "null" : std::string(header.value));
      }
      seen.push_back(text);
    }
  }
  EXPECT_EQ(seen, (Rows{"-=first", "4=null@1700000000123 h:a h:b n:null x:\xff", "4=@1700000000123"}));
}

TEST_F(KafkaSourceTest, SkipsAndCountsRecordsBeyondTheLimit) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  Produce("a");
  Produce(std::string(5000, 'x'));
  Produce("b");
  Flush();
  query_.from = {StartPosition::Kind::kEarliest, 0};
  query_.until = {EndPosition::Kind::kEnd, 0};
  query_.max_record_bytes = 1000;
  Reader reader = Read();
  reader.UntilEnd();
  for (SourceEvent& event : reader.source->TakeEvents()) reader.events.push_back(event);
  EXPECT_EQ(reader.rows, (Rows{"0:0=a", "0:2=b"}));
  EXPECT_TRUE(reader.Has(SourceEvent::Kind::kRecordSkipped)) << reader.Events();
}

TEST_F(KafkaSourceTest, RetentionPassingTheReaderIsACountedGap) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  constexpr int kRecords = 40;
  for (int i = 0; i < kRecords; ++i) {
    Produce(std::to_string(i) + std::string(3000, ' '));
    Flush();
  }
  // Small queue, small fetches: the source cannot have fetched all before records are taken away.
  for (const char* text : {"queued.min.messages=1", "queued.max.messages.kbytes=1", "max.partition.fetch.bytes=100"}) {
    ASSERT_TRUE(options_.AddProperty(text).ok());
  }
  query_.from = {StartPosition::Kind::kEarliest, 0};
  query_.until = {EndPosition::Kind::kEnd, 0};
  Reader reader = Read();
  reader.Until([&] {
    return reader.source->Poll(1, Clock::now() + milliseconds(50), &reader.batch).ok() && !reader.batch.empty();
  });
  size_t rows = reader.batch.size() + reader.rows.size();
  reader.rows.clear();
  ASSERT_TRUE(broker_->DeleteRecords("t", 0, kRecords - 5).ok());
  reader.UntilEnd();
  rows += reader.rows.size();
  ASSERT_TRUE(reader.Has(SourceEvent::Kind::kGap)) << reader.Events();
  EXPECT_EQ(rows + reader.Find(SourceEvent::Kind::kGap)->count, static_cast<size_t>(kRecords));
  EXPECT_EQ(reader.rows.back().substr(0, 7), "0:39=39");
}

TEST_F(KafkaSourceTest, BrokerLossIsToldAndNothingIsLostOrDoubled) {
  ASSERT_TRUE(broker_->CreateTopic("t", 2).ok());
  ProduceMany(0, 100, 0);
  query_.from = {StartPosition::Kind::kEarliest, 0};
  Reader reader = Read();
  reader.UntilRows(100);
  ASSERT_TRUE(broker_->SetDown(1).ok());
  reader.UntilEvent(SourceEvent::Kind::kDisconnected);
  reader.events.clear();
  ASSERT_TRUE(broker_->SetUp(1).ok());
  ProduceMany(100, 200, 1);
  reader.UntilRows(200);
  reader.UntilEvent(SourceEvent::Kind::kConnected);
  std::vector<std::string> rows = reader.rows;
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(std::unique(rows.begin(), rows.end()), rows.end());
  EXPECT_EQ(rows.size(), 200U);
}

TEST_F(KafkaSourceTest, WaitsForAMissingTopicAndReadsAllOfIt) {
  Reader reader = Read();
  reader.UntilEvent(SourceEvent::Kind::kTopicMissing);
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  ProduceMany(0, 2);
  reader.UntilRows(2);
  EXPECT_EQ(reader.rows, (Rows{"0:0=0", "0:1=1"}));

  query_.topic = "never";
  query_.until = {EndPosition::Kind::kEnd, 0};
  Reader ending = Read();
  ending.Until([&] { return !ending.status.ok(); });
  EXPECT_EQ(ending.status.code(), StatusCode::kNotFound);
  EXPECT_NE(ending.status.message().find("'never'"), std::string::npos);
}

TEST_F(KafkaSourceTest, NoticesDeletionAndReadsTheNewTopicFromItsBeginning) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  ProduceMany(0, 3);
  query_.from = {StartPosition::Kind::kEarliest, 0};
  Reader reader = Read();
  reader.UntilRows(3);
  ASSERT_TRUE(broker_->DeleteTopic("t").ok());
  reader.UntilEvent(SourceEvent::Kind::kTopicMissing);
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  producer_.reset();
  ProduceMany(10, 15);
  reader.UntilRows(8);
  EXPECT_EQ(reader.rows[3], "0:0=10");
  EXPECT_EQ(reader.rows[7], "0:4=14");
  EXPECT_TRUE(reader.Has(SourceEvent::Kind::kTopicRecreated)) << reader.Events();
}

TEST_F(KafkaSourceTest, WakeEndsAWaitingPoll) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  Reader reader = Read();
  reader.Until([&] { return reader.source->Progress()[0].next_offset == 0; });
  std::thread waker([&] { reader.source->Wake(); });
  const auto begin = Clock::now();
  ASSERT_TRUE(reader.source->Poll(10, begin + kPatience, &reader.batch).ok());
  waker.join();
  EXPECT_LT(Clock::now() - begin, kPatience);
}

TEST_F(KafkaSourceTest, TwoSourcesOfOneTopicEachGetEveryRow) {
  ASSERT_TRUE(broker_->CreateTopic("t", 1).ok());
  ProduceMany(0, 50);
  query_.from = {StartPosition::Kind::kEarliest, 0};
  Reader one = Read();
  Reader two = Read();
  one.UntilRows(50);
  two.UntilRows(50);
  EXPECT_EQ(one.rows, two.rows);
}

TEST_F(KafkaSourceTest, TakesItsShareOfTheMemoryBudgetAndGivesItBack) {
  const auto budget = std::make_shared<MemoryBudget>(size_t{3} << 20);
  std::vector<std::unique_ptr<KafkaSource>> sources;
  while (sources.size() < 10) {
    Result<std::unique_ptr<KafkaSource>> source = KafkaSource::Make(options_, query_, budget);
    if (!source) {
      EXPECT_EQ(source.error().code(), StatusCode::kResourceExhausted);
      EXPECT_NE(source.error().message().find("--memory-budget"), std::string::npos);
      break;
    }
    sources.push_back(*std::move(source));
  }
  EXPECT_EQ(sources.size(), 3U);
  EXPECT_LE(budget->used(), budget->limit());
  sources.clear();
  EXPECT_EQ(budget->used(), 0U);
}

TEST(KafkaSourceUnreachable, IsToldAndPollKeepsItsDeadline) {
  KafkaOptions options;
  options.brokers = "127.0.0.1:1";
  SourceQuery query;
  query.topic = "t";
  Reader reader;
  Result<std::unique_ptr<KafkaSource>> source = KafkaSource::Make(options, query);
  ASSERT_TRUE(source);
  reader.source = *std::move(source);
  reader.UntilEvent(SourceEvent::Kind::kDisconnected);
  const std::string text = reader.Find(SourceEvent::Kind::kDisconnected)->message;
  EXPECT_NE(text.find("127.0.0.1:1"), std::string::npos) << text;
  EXPECT_NE(text.find("--brokers"), std::string::npos) << text;
}

}  // namespace
}  // namespace kafscope
