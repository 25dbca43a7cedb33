#include "pipeline/stream_manager.h"

#include <algorithm>
#include <utility>

namespace kafscope {

void AddCounters(const StreamStats& from, StreamStats* to) {
  to->received += from.received;
  to->frames += from.frames;
  to->gap_records += from.gap_records;
  to->skipped_records += from.skipped_records;
  to->reconnects += from.reconnects;
  to->decode.records += from.decode.records;
  to->decode.rows += from.decode.rows;
  to->decode.payload_bytes += from.decode.payload_bytes;
  to->decode.filtered += from.decode.filtered;
  for (size_t i = 0; i < kErrorReasonCount; ++i) to->decode.errors[i] += from.decode.errors[i];
}

StreamManager::StreamManager(Options options) : options_(std::move(options)), reaper_([this] { Reap(); }) {}

StreamManager::~StreamManager() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  reap_.notify_all();
  reaper_.join();
}

Result<std::unique_ptr<StreamManager::Stream>> StreamManager::Open(const StreamQuery& query,
                                                                   SubscriberOptions options) {
  const std::string fingerprint = query.Fingerprint();
  const bool live = query.from.kind == StartPosition::Kind::kLatest && query.until.kind == EndPosition::Kind::kNever;
  // Held throughout: two equal queries at once must meet in one pipeline. Nothing in here waits for the network.
  const std::lock_guard lock(mutex_);
  if (stopping_) return Fail(Status::Unavailable("the server is stopping"));
  const auto found = joinable_.find(fingerprint);
  if (found != joinable_.end()) {
    const std::shared_ptr<Pipeline>& pipeline = found->second;
    if (!pipeline->finished() && (live || pipeline->fanout().complete())) {
      return std::make_unique<Stream>(this, pipeline, pipeline->fanout().Subscribe(std::move(options)));
    }
  }
  if (pipelines_.size() >= options_.max_pipelines) {
    return Fail(Status::ResourceExhausted("too many different streams are open at once (" +
                                          std::to_string(options_.max_pipelines) + "): close some"));
  }
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Source> source, options_.make_source(query));
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Pipeline> made,
                          Pipeline::Make({std::move(source), query, options_.history, options_.budget}));
  std::shared_ptr<Pipeline> pipeline = std::move(made);
  std::shared_ptr<Subscriber> subscriber = pipeline->fanout().Subscribe(std::move(options));
  pipeline->Start();
  pipelines_.push_back(pipeline);
  joinable_[fingerprint] = pipeline;
  return std::make_unique<Stream>(this, std::move(pipeline), std::move(subscriber));
}

void StreamManager::Leave(const std::shared_ptr<Pipeline>& pipeline, const std::shared_ptr<Subscriber>& subscriber) {
  subscriber->Cancel();
  {
    const std::lock_guard lock(mutex_);
    if (pipeline->fanout().Unsubscribe(subscriber) > 0) return;
    std::erase_if(joinable_, [&](const auto& entry) { return entry.second == pipeline; });
    if (std::erase(pipelines_, pipeline) == 0) return;
    AddCounters(pipeline->stats(), &past_);
    leaving_.push_back(pipeline);
  }
  pipeline->Stop();
  reap_.notify_all();
}

void StreamManager::StopAll() {
  std::vector<std::shared_ptr<Pipeline>> pipelines;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    pipelines = pipelines_;
  }
  for (const auto& pipeline : pipelines) pipeline->Stop();
}

void StreamManager::Reap() {
  std::unique_lock lock(mutex_);
  for (;;) {
    reap_.wait(lock, [this] { return stopping_ || !leaving_.empty(); });
    if (leaving_.empty()) return;
    std::shared_ptr<Pipeline> pipeline = std::move(leaving_.front());
    leaving_.pop_front();
    lock.unlock();
    pipeline->Join();
    pipeline.reset();
    lock.lock();
  }
}

std::vector<StreamManager::Running> StreamManager::running() const {
  std::vector<std::shared_ptr<Pipeline>> pipelines;
  {
    const std::lock_guard lock(mutex_);
    pipelines = pipelines_;
  }
  std::vector<Running> running;
  for (const auto& pipeline : pipelines) running.push_back({pipeline->query().topic, pipeline->stats()});
  return running;
}

StreamStats StreamManager::past() const {
  const std::lock_guard lock(mutex_);
  return past_;
}

}  // namespace kafscope
