// Pipelines on sources in memory: nothing lost but what a policy drops and counts, ends in time, order kept.
#include "pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/fake_source.h"
#include "pipeline/stream_manager.h"
#include "schema/schema_store.h"

namespace kafscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{60};

StreamQuery Query() {
  StreamQuery query;
  query.topic = "t";
  query.batch.max_rows = 10;
  return query;
}

struct TestStream {
  FakeSource* source = nullptr;
  std::unique_ptr<Pipeline> pipeline;
};

TestStream MakeRun(size_t count, const StreamQuery& query = Query(), std::shared_ptr<MemoryBudget> budget = nullptr,
                   HistoryLimits history = {}, std::string prefix = "") {
  TestStream run;
  auto source = std::make_unique<FakeSource>(count, std::move(prefix));
  run.source = source.get();
  auto pipeline = Pipeline::Make({std::move(source), query, history, std::move(budget)});
  EXPECT_TRUE(pipeline) << pipeline.error().message();
  run.pipeline = *std::move(pipeline);
  return run;
}

struct Taken {
  std::vector<int64_t> offsets;
  std::vector<SourceEvent> events;
  bool ended = false;
  Status end;
};

void TakeItem(StreamItem& item, Taken* taken) {
  switch (item.kind) {
    case StreamItem::Kind::kEvent: taken->events.push_back(item.event); break;
    case StreamItem::Kind::kEnd:
      taken->ended = true;
      taken->end = item.status;
      break;
    case StreamItem::Kind::kPacket: {
      const Frame& frame = *item.packet.frame;
      const ColumnData& column = frame.column(static_cast<size_t>(frame.schema().IndexOf("offset")));
      for (size_t row = 0; row < frame.num_rows(); ++row) taken->offsets.push_back(column.Int64(row));
      break;
    }
  }
}

// Takes until the end, or until `rows` are there.
Taken TakeAll(Subscriber& subscriber, size_t rows = SIZE_MAX) {
  Taken taken;
  StreamItem item;
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (!taken.ended && taken.offsets.size() < rows && subscriber.Pop(deadline, &item)) TakeItem(item, &taken);
  return taken;
}

std::vector<int64_t> Count(int64_t from, int64_t to) {
  std::vector<int64_t> numbers;
  for (int64_t i = from; i < to; ++i) numbers.push_back(i);
  return numbers;
}

TEST(Pipeline, GivesEveryRowToEverySubscriber) {
  TestStream run = MakeRun(5'000);
  const auto a = run.pipeline->fanout().Subscribe({});
  const auto b = run.pipeline->fanout().Subscribe({});
  const auto arrow = run.pipeline->fanout().Subscribe({.kind = PacketKind::kArrow});
  run.pipeline->Start();
  EXPECT_EQ(TakeAll(*a).offsets, Count(0, 5'000));
  const Taken taken = TakeAll(*b);
  EXPECT_EQ(taken.offsets, Count(0, 5'000));
  EXPECT_TRUE(taken.ended);
  EXPECT_TRUE(taken.end.ok());
  run.pipeline->Join();
  // The same bytes were made once for all of that kind.
  StreamItem item;
  ASSERT_TRUE(arrow->TryPop(&item));
  ASSERT_NE(item.packet.bytes, nullptr);
  EXPECT_EQ(item.packet.rows, 10u);
  const StreamStats stats = run.pipeline->stats();
  EXPECT_EQ(stats.received, 5'000u);
  EXPECT_EQ(stats.decode.rows, 5'000u);
  EXPECT_EQ(stats.frames, 500u);
  EXPECT_EQ(stats.lag_records, 0u);
}

TEST(Pipeline, SlowSubscriberLosesItsOwnOldestFramesAndSaysSo) {
  TestStream run = MakeRun(20'000);
  SubscriberOptions slow_options;
  slow_options.max_queued_frames = 5;
  const auto slow = run.pipeline->fanout().Subscribe(slow_options);
  SubscriberOptions waiting;
  waiting.overflow = SubscriberOptions::Overflow::kWait;
  waiting.max_queued_frames = 3;
  const auto whole = run.pipeline->fanout().Subscribe(waiting);
  run.pipeline->Start();
  EXPECT_EQ(TakeAll(*whole).offsets, Count(0, 20'000));
  run.pipeline->Join();
  const Taken taken = TakeAll(*slow);
  // It took nothing while the stream ran: the last five frames are left, and all others are counted.
  EXPECT_EQ(taken.offsets, Count(19'950, 20'000));
  const DeliveryStats stats = slow->stats();
  EXPECT_EQ(stats.rows + stats.dropped_rows_slow, 20'000u);
  EXPECT_EQ(stats.dropped_frames_slow, 1'995u);
  EXPECT_EQ(whole->stats().dropped_rows_slow, 0u);
}

TEST(Pipeline, LateSubscriberGetsTheLastRowsAndMissesNothingAfter) {
  StreamQuery query = Query();
  HistoryLimits history;
  history.max_rows = 50;
  TestStream run = MakeRun(2'000, query, nullptr, history);
  run.source->Hold();
  const auto first = run.pipeline->fanout().Subscribe({});
  run.pipeline->Start();
  run.source->Release(1'000);
  EXPECT_EQ(TakeAll(*first, 1'000).offsets.size(), 1'000u);
  EXPECT_FALSE(run.pipeline->fanout().complete());
  const auto late = run.pipeline->fanout().Subscribe({});
  run.source->Release(1'000);
  EXPECT_EQ(TakeAll(*late).offsets, Count(950, 2'000));
}

TEST(Pipeline, SealsByTimeWhenFewRecordsCome) {
  StreamQuery query = Query();
  query.batch.max_rows = 0;
  TestStream run = MakeRun(100, query);
  run.source->Hold();
  const auto subscriber = run.pipeline->fanout().Subscribe({});
  run.pipeline->Start();
  run.source->Release(3);  // far from full: only the window can seal them
  EXPECT_EQ(TakeAll(*subscriber, 3).offsets, Count(0, 3));
  run.pipeline->Stop();
  const Taken rest = TakeAll(*subscriber);
  EXPECT_TRUE(rest.ended);
}

TEST(Pipeline, StopDeliversWhatWasDecoded) {
  StreamQuery query = Query();
  query.batch.max_rows = 0;
  query.batch.max_latency = std::chrono::hours(1);  // nothing is sealed before the end
  TestStream run = MakeRun(1'000, query);
  run.source->Hold();
  const auto subscriber = run.pipeline->fanout().Subscribe({});
  run.pipeline->Start();
  run.source->Release(70);
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (run.pipeline->stats().decode.rows < 70 && Clock::now() < deadline) std::this_thread::yield();
  run.pipeline->Stop();
  const Taken taken = TakeAll(*subscriber);
  EXPECT_EQ(taken.offsets, Count(0, 70));
  EXPECT_TRUE(taken.ended);
}

TEST(Pipeline, EndsThoughAWaitingSubscriberTakesNothing) {
  TestStream run = MakeRun(1'000'000);
  SubscriberOptions waiting;
  waiting.overflow = SubscriberOptions::Overflow::kWait;
  waiting.max_queued_frames = 1;
  const auto dead = run.pipeline->fanout().Subscribe(waiting);
  run.pipeline->Start();
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (run.pipeline->stats().frames < 2 && Clock::now() < deadline) std::this_thread::yield();
  run.pipeline->Stop();
  run.pipeline->Join();  // the test is that this returns
  EXPECT_TRUE(run.pipeline->finished());
}

TEST(Pipeline, FailureOfTheSourceIsTheEnd) {
  TestStream run = MakeRun(100);
  run.source->Hold();
  const auto subscriber = run.pipeline->fanout().Subscribe({});
  run.pipeline->Start();
  run.source->Release(20);
  EXPECT_EQ(TakeAll(*subscriber, 20).offsets.size(), 20u);
  run.source->Break();
  const Taken taken = TakeAll(*subscriber);
  EXPECT_TRUE(taken.ended);
  EXPECT_EQ(taken.end, Status::Unavailable("the broker is gone"));
}

TEST(Pipeline, EventsReachSubscribersLateOnesToo) {
  TestStream run = MakeRun(100);
  run.source->Hold();
  const auto subscriber = run.pipeline->fanout().Subscribe({});
  run.source->Tell({SourceEvent::Kind::kDisconnected, "refused", 0});
  run.source->Tell({SourceEvent::Kind::kGap, "gap", 7});
  run.pipeline->Start();
  run.source->Release(10);
  const Taken taken = TakeAll(*subscriber, 10);
  ASSERT_EQ(taken.events.size(), 2u);
  EXPECT_EQ(taken.events[0].message, "refused");
  EXPECT_EQ(run.pipeline->stats().gap_records, 7u);
  const auto late = run.pipeline->fanout().Subscribe({});
  const Taken news = TakeAll(*late, 10);
  ASSERT_EQ(news.events.size(), 1u);
  EXPECT_EQ(news.events[0].message, "refused");
}

TEST(Pipeline, MemoryBudgetHoldsAndItsDropsAreCounted) {
  auto budget = std::make_shared<MemoryBudget>(64 * 1024);
  TestStream run = MakeRun(50'000, Query(), budget);
  const auto lazy = run.pipeline->fanout().Subscribe({});
  run.pipeline->Start();
  run.pipeline->Join();
  EXPECT_LE(budget->used(), budget->limit());
  const Taken taken = TakeAll(*lazy);
  EXPECT_EQ(taken.offsets.back(), 49'999);
  const DeliveryStats stats = lazy->stats();
  EXPECT_EQ(stats.rows + stats.dropped_rows_memory, 50'000u);
  EXPECT_GT(stats.dropped_rows_memory, 0u);
  run.pipeline.reset();
  EXPECT_EQ(budget->used(), 0u);
}

// Answers "being fetched" a number of times.
class SlowStore final : public SchemaStore {
 public:
  Answer Find(int32_t) override {
    if (++asked_ <= 5) return {};
    auto schema = std::make_shared<RegisteredSchema>();
    schema->id = 1;
    schema->text = R"({"type":"record","name":"R","fields":[{"name":"n","type":"int"}]})";
    return {State::kReady, std::move(schema), {}};
  }
  Answer FindByGuid(std::string_view) override { return {}; }

 private:
  int asked_ = 0;
};

TEST(Pipeline, RecordsWaitForTheirSchemaInOrder) {
  StreamQuery query = Query();
  query.decode.format = Format::kAvro;
  query.decode.schemas = std::make_shared<SlowStore>();
  // Framed: id 1, then the number '{' as zig-zag and bytes that do not belong there: error rows, in order all the same.
  TestStream run = MakeRun(100, query, nullptr, {}, std::string("\0\0\0\0\1", 5));
  const auto subscriber = run.pipeline->fanout().Subscribe({});
  run.pipeline->Start();
  EXPECT_EQ(TakeAll(*subscriber).offsets, Count(0, 100));
}

StreamManager::Options ManagerOptions(std::vector<FakeSource*>* sources) {
  StreamManager::Options options;
  options.max_pipelines = 3;
  options.make_source = [sources](const StreamQuery&) -> Result<std::unique_ptr<Source>> {
    auto source = std::make_unique<FakeSource>(1'000'000);
    source->Hold();
    sources->push_back(source.get());
    return source;
  };
  return options;
}

TEST(StreamManager, EqualQueriesShareAPipelineUntilTheLastLeaves) {
  std::vector<FakeSource*> sources;
  StreamManager manager(ManagerOptions(&sources));
  auto a = manager.Open(Query(), {});
  auto b = manager.Open(Query(), {});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(&(*a)->pipeline(), &(*b)->pipeline());
  ASSERT_EQ(sources.size(), 1u);
  sources[0]->Release(100);
  EXPECT_EQ(TakeAll((*a)->subscriber(), 100).offsets, Count(0, 100));
  EXPECT_EQ(TakeAll((*b)->subscriber(), 100).offsets, Count(0, 100));
  a->reset();
  EXPECT_EQ(manager.running().size(), 1u);
  sources[0]->Release(100);
  EXPECT_EQ(TakeAll((*b)->subscriber(), 100).offsets, Count(100, 200));
  b->reset();
  EXPECT_TRUE(manager.running().empty());
  // The pipeline is joined, and counted, on a thread of the manager.
  while (manager.past().received < 200u) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto c = manager.Open(Query(), {});
  EXPECT_EQ(sources.size(), 2u);
}

TEST(StreamManager, AStreamFromTheBeginningIsJoinedOnlyWhileNothingWouldBeMissed) {
  std::vector<FakeSource*> sources;
  StreamManager::Options options = ManagerOptions(&sources);
  options.history.max_rows = 100;
  StreamManager manager(std::move(options));
  StreamQuery query = Query();
  query.from.kind = StartPosition::Kind::kEarliest;
  auto a = manager.Open(query, {});
  sources[0]->Release(50);
  TakeAll((*a)->subscriber(), 50);
  auto b = manager.Open(query, {});
  EXPECT_EQ(sources.size(), 1u);
  EXPECT_EQ(TakeAll((*b)->subscriber(), 50).offsets, Count(0, 50));
  sources[0]->Release(150);
  TakeAll((*a)->subscriber(), 150);
  auto c = manager.Open(query, {});
  ASSERT_EQ(sources.size(), 2u);
  sources[1]->Release(50);
  EXPECT_EQ(TakeAll((*c)->subscriber(), 50).offsets, Count(0, 50));
}

TEST(StreamManager, BoundsItsPipelinesAndRefusesWhileStopping) {
  std::vector<FakeSource*> sources;
  StreamManager manager(ManagerOptions(&sources));
  std::vector<std::unique_ptr<StreamManager::Stream>> streams;
  for (const char* topic : {"a", "b", "c"}) {
    StreamQuery query = Query();
    query.topic = topic;
    streams.push_back(*manager.Open(query, {}));
  }
  EXPECT_EQ(manager.Open(Query(), {}).error().code(), StatusCode::kResourceExhausted);
  manager.StopAll();
  for (const auto& stream : streams) EXPECT_TRUE(TakeAll(stream->subscriber()).ended);
  EXPECT_EQ(manager.Open(Query(), {}).error().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace kafscope
