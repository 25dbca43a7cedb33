// Pipeline: one stream, from its source to its subscribers, on two threads of its own.
//
//   consume thread   Poll → Decode → FrameBuilder → Batcher, seals frames
//   publish thread   encodes each frame once per kind, hands it to the subscribers
//
// Between them is a short queue, crossed once per frame. Use: Start(), Subscribe through fanout(), Stop() or let the
// source end; subscribers then get kEnd with the reason. Stop(): what was decoded is still delivered.
// A decoder that waits for a schema is asked again after at most 10 ms; records keep their order.
// Threads: all calls from any thread; destruction stops and joins.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "base/memory_budget.h"
#include "decode/decoder.h"
#include "frame/frame_builder.h"
#include "pipeline/batcher.h"
#include "pipeline/fanout.h"
#include "pipeline/stream_query.h"
#include "pipeline/stream_stats.h"
#include "source/source.h"

namespace kafscope {

class Pipeline {
 public:
  struct Parts {
    std::unique_ptr<Source> source;
    StreamQuery query;
    HistoryLimits history;
    std::shared_ptr<MemoryBudget> budget;  // may be null
  };

  // Makes the decoder and the threads. A failure names the option to change.
  static Result<std::unique_ptr<Pipeline>> Make(Parts parts);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Begins to read; subscribers from before miss nothing.
  void Start();
  // Asks to end: nothing more is read, what was decoded is delivered. Returns at once.
  void Stop();
  // Waits until both threads are done.
  void Join();
  bool finished() const { return finished_.load(std::memory_order_acquire); }

  Fanout& fanout() { return fanout_; }
  const StreamQuery& query() const { return query_; }
  StreamStats stats() const;

 private:
  using Clock = std::chrono::steady_clock;
  // What crosses from the consume to the publish thread.
  struct Handover {
    FramePtr frame;                    // or, if null:
    std::optional<SourceEvent> event;  // or, if none: the end
    Status end;
  };

  Pipeline(Parts parts, std::unique_ptr<Decoder> decoder);
  void Consume();
  Status ConsumeUntilEnd();
  bool DecodeRecords(const ConsumerRecords& records);
  void SealIfDue(Clock::time_point now);
  void Seal();
  void TakeEvents();
  void NoteProgress(const ConsumerRecords& records);
  void Publish();
  void HandOver(Handover item);
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  const StreamQuery query_;
  // The builder is older than the decoder, whose plan points into it.
  FrameBuilder builder_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Decoder> decoder_;
  Batcher batcher_;
  Fanout fanout_;

  std::atomic<bool> stopping_{false};
  std::atomic<bool> finished_{false};
  std::mutex stop_mutex_;  // for waits that Stop() ends
  std::condition_variable stop_signal_;

  mutable std::mutex mutex_;
  std::condition_variable handover_there_;
  std::condition_variable handover_room_;
  std::deque<Handover> handovers_;  // guarded by mutex_, as all below
  size_t handover_bytes_ = 0;
  StreamStats stats_;
  int64_t newest_ms_ = -1;  // timestamp of the newest record
  double arrival_age_ = 0;  // of that record, seconds

  std::thread consume_thread_;
  std::thread publish_thread_;
};

}  // namespace kafscope
