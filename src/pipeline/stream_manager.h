// StreamManager: one pipeline per distinct query, shared by its subscribers.
//
// Use: Open() gives a Stream: a subscription that leaves when it is destroyed. The pipeline ends when the last has
// left. A query whose stream runs already is joined if nothing is missed by that: it follows the newest records, or its
// history still holds everything since its beginning; else a pipeline of its own begins.
// Cost: Open() compiles schemas and starts two threads. Pipelines are joined on a thread of the manager, so that
// leaving never waits. Threads: all. Lifetime: streams must be gone before the manager is destroyed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_budget.h"
#include "pipeline/pipeline.h"

namespace kafscope {

class StreamManager {
 public:
  // Makes the source of a query.
  using SourceFactory = std::function<Result<std::unique_ptr<Source>>(const StreamQuery&)>;
  struct Options {
    SourceFactory make_source;
    HistoryLimits history;
    std::shared_ptr<MemoryBudget> budget;
    size_t max_pipelines = 64;
  };
  // A subscription to a pipeline.
  class Stream {
   public:
    Stream(StreamManager* manager, std::shared_ptr<Pipeline> pipeline, std::shared_ptr<Subscriber> subscriber)
        : manager_(manager), pipeline_(std::move(pipeline)), subscriber_(std::move(subscriber)) {}
    ~Stream() { manager_->Leave(pipeline_, subscriber_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    Subscriber& subscriber() { return *subscriber_; }
    Pipeline& pipeline() { return *pipeline_; }

   private:
    StreamManager* manager_;
    std::shared_ptr<Pipeline> pipeline_;
    std::shared_ptr<Subscriber> subscriber_;
  };

  explicit StreamManager(Options options);
  ~StreamManager();
  StreamManager(const StreamManager&) = delete;
  StreamManager& operator=(const StreamManager&) = delete;

  Result<std::unique_ptr<Stream>> Open(const StreamQuery& query, SubscriberOptions options);
  // Stops all pipelines; their subscribers get what was decoded and then the end.
  void StopAll();

  struct Running {
    std::string topic;
    StreamStats stats;
  };
  // All running pipelines, for metrics.
  std::vector<Running> running() const;
  // Counters of pipelines that are gone.
  StreamStats past() const;

 private:
  void Leave(const std::shared_ptr<Pipeline>& pipeline, const std::shared_ptr<Subscriber>& subscriber);
  void Reap();

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable reap_;
  std::map<std::string, std::shared_ptr<Pipeline>> joinable_;  // by fingerprint; guarded by mutex_, as all below
  std::vector<std::shared_ptr<Pipeline>> pipelines_;
  std::deque<std::shared_ptr<Pipeline>> leaving_;
  StreamStats past_;
  bool stopping_ = false;
  std::thread reaper_;
};

// Adds the counters of `from`.
void AddCounters(const StreamStats& from, StreamStats* to);

}  // namespace kafscope
