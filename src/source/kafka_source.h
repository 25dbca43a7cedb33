// KafkaSource: reads the partitions of one topic from where the query says, and goes on whatever happens to the
// cluster.
//
// Use: Make(), then Poll() as of Source. Partitions are assigned by hand: no consumer group appears on the broker, and
// two sources of one topic do not see each other. Nothing blocks longer than Poll's deadline. What it does by itself:
// waits for a missing topic, reads added partitions from their beginning, begins anew when the topic is deleted and
// created again, skips what retention took (counted), reconnects and resumes at the next offset. Cost: librdkafka's
// threads and one connection per broker; its queue holds at most the bytes reserved from the budget. Threads: one
// consume thread; Wake() and Progress() from any.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "source/kafka_client.h"
#include "source/kafka_lookup.h"
#include "source/position.h"
#include "source/source.h"

struct rd_kafka_topic_s;
struct rd_kafka_queue_s;
struct rd_kafka_message_s;

namespace kafscope {

// What to read.
struct SourceQuery {
  std::string topic;
  std::vector<int32_t> partitions;  // empty: all, those added later too
  StartPosition from;
  EndPosition until;
  bool read_committed = true;
  bool headers = false;  // whether records carry their headers; costs a parse
  // A record whose value is larger is skipped and counted.
  size_t max_record_bytes = size_t{64} << 20;
  // How often the topic is looked at for new partitions, deletion and open transactions.
  std::chrono::milliseconds refresh{2000};
};

class LastRecords;
class MessageBatch;

class KafkaSource final : public Source {
 public:
  // Checks options and query; connects in the background. Without a budget the queue is bounded to 64 MiB.
  static Result<std::unique_ptr<KafkaSource>> Make(const KafkaOptions& options, SourceQuery query,
                                                   std::shared_ptr<MemoryBudget> budget = nullptr);
  ~KafkaSource() override;

  Status Poll(size_t max_records, std::chrono::steady_clock::time_point deadline, ConsumerRecords* records) override;
  bool AtEnd() const override;
  std::vector<SourceEvent> TakeEvents() override;
  std::map<int32_t, PartitionProgress> Progress() const override;
  void Wake() override;

 private:
  using Clock = std::chrono::steady_clock;

  struct Partition {
    enum class State : uint8_t {
      kWaiting,  // for its start offset
      kReading,
      kBroken,    // for a look at where its records are now, after an offset out of range
      kFinished,  // at its end offset
    };
    State state = State::kWaiting;
    std::optional<int64_t> log_start;  // as last told by the broker
    std::optional<int64_t> log_end;    // the same; with read_committed the last stable offset
    std::optional<int64_t> high;       // the high watermark
    std::optional<int64_t> at_time;    // offset of the start time, −1: past the last record
    std::optional<int64_t> at_end_time;
    int64_t next = -1;         // offset of the next record to give
    int64_t end = INT64_MAX;   // first offset not to give
    int64_t first_wanted = 0;  // records before it are dropped
    int64_t eof = -1;          // the end that reading last reached
    bool told_transaction = false;
    Clock::time_point eof_since;
    bool started = false;  // in librdkafka
  };
  // What a lookup was asked for.
  enum Tag { kDescribe, kStarts, kEnds, kHighs, kTimes, kEndTimes };
  enum class Phase { kTopic, kOffsets, kLastN, kReading };

  KafkaSource(KafkaOptions options, SourceQuery query);
  Status Connect();
  void Disconnect();

  // The control part, kafka_source_control.cc: everything but reading.
  Status Control(Clock::time_point now);
  Status NoteConnection();
  void NoteAnswered();
  Status OnAnswer(const LookupAnswer& answer, Clock::time_point now);
  Status OnTopic(const LookupAnswer& answer, Clock::time_point now);
  Status OnMissingTopic(Clock::time_point now);
  Status OnOffsets(const LookupAnswer& answer, Clock::time_point now);
  Status Restart(const std::string& why);
  Status Choose(const TopicInfo& topic);
  void AddPartitions(const TopicInfo& topic);
  bool NeedsOffsets() const;
  void AskOffsets();
  void BeginReading(Clock::time_point now);
  void StepLastN(std::chrono::milliseconds wait);
  void StartAll();
  int64_t StartOffset(int32_t id, Partition* partition);
  void SetEnds();
  void Repair(int32_t id, Partition* partition);
  void StartPartition(int32_t id, Partition* partition, int64_t offset);
  void StopPartition(int32_t id, Partition* partition);
  void FinishIfAtEnd(int32_t id, Partition* partition);
  Status OnError(const rd_kafka_message_s* message);
  void NoteOpenTransactions(Clock::time_point now);
  void TellTransaction(int32_t id, int64_t count, int64_t stable);
  void Tell(SourceEvent::Kind kind, std::string message, uint64_t count = 0);
  std::vector<int32_t> Ids(Partition::State state) const;
  std::chrono::milliseconds WaitSlice(Clock::time_point now, Clock::time_point deadline) const;

  // The reading part, kafka_source.cc.
  Status Fetch(size_t max_records, std::chrono::milliseconds wait, ConsumerRecords* records);
  bool Accept(const rd_kafka_message_s* message, Partition* partition);
  void Publish(const std::vector<ConsumerRecord>& records);

  const KafkaOptions options_;
  const SourceQuery query_;
  MemoryReservation reservation_;
  size_t batch_bytes_ = 0;  // a batch ends at the first record past this

  std::shared_ptr<KafkaClient> client_;
  std::unique_ptr<KafkaLookup> lookup_;
  std::unique_ptr<LastRecords> last_n_;
  rd_kafka_queue_s* queue_ = nullptr;
  rd_kafka_topic_s* topic_ = nullptr;

  Phase phase_ = Phase::kTopic;
  std::string topic_id_;
  std::vector<Partition> partitions_;  // by id
  std::vector<bool> chosen_;           // by id: whether it was asked for
  size_t open_ = 0;                    // partitions that are chosen and not finished
  int64_t remaining_ = -1;             // of `count:N`; −1: no such end
  bool fresh_ = false;                 // the topic appeared after the start: all of it is read
  bool asked_end_times_ = false;       // the end time has come
  bool describing_ = false;            // an answer is due
  int listing_ = 0;                    // answers about offsets that are due
  Clock::time_point next_describe_{};
  Clock::time_point missing_since_{};

  bool connected_ = false;
  bool ever_connected_ = false;
  bool told_down_ = false;
  bool told_missing_ = false;
  bool told_denied_ = false;
  KafkaFault told_fault_ = KafkaFault::kNone;
  std::set<int> told_errors_;

  size_t average_bytes_ = 256;  // of recent records, to size the next read
  std::vector<rd_kafka_message_s*> scratch_;
  std::atomic<bool> woken_{false};

  mutable std::mutex mutex_;
  std::vector<SourceEvent> events_;                // guarded by mutex_
  std::map<int32_t, PartitionProgress> progress_;  // guarded by mutex_
};

}  // namespace kafscope
