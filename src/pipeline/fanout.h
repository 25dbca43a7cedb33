// Fanout: one stream's frames to all of its subscribers, encoded once per kind that somebody wants.
//
// A late subscriber first gets the last rows (the history, bounded) and the latest news of the connection. A slow one
// loses its own oldest frames and delays nobody, unless it asked for policy kWait. Every packet holds its share of the
// memory budget until the last reference is gone; when the budget is used up, history goes first, then the oldest
// frames of droppable queues, then the new frame itself, all counted.
// Threads: Publish, PublishEvent and Finish from the publish thread; Subscribe, Unsubscribe and complete() from any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "encode/frame_encoder.h"
#include "pipeline/subscriber.h"

namespace kafscope {

struct HistoryLimits {
  size_t max_rows = 10'000;
  size_t max_bytes = size_t{4} << 20;
};

class Fanout {
 public:
  explicit Fanout(HistoryLimits limits, std::shared_ptr<MemoryBudget> budget);
  Fanout(const Fanout&) = delete;
  Fanout& operator=(const Fanout&) = delete;

  std::shared_ptr<Subscriber> Subscribe(SubscriberOptions options);
  // Gives the number of subscribers left.
  size_t Unsubscribe(const std::shared_ptr<Subscriber>& subscriber);
  // Whether the history still holds all frames since the beginning: a late subscriber then misses nothing.
  bool complete() const;

  void Publish(const FramePtr& frame);
  void PublishEvent(const SourceEvent& event);
  void Finish(const Status& status);
  // Waiting for slow subscribers of policy kWait ends: what they do not take now is lost to them.
  void StopWaiting() { stop_waiting_.store(true, std::memory_order_relaxed); }

 private:
  // A frame and its encodings so far.
  struct Shared {
    FramePtr frame;
    std::shared_ptr<const MemoryReservation> held;
    std::array<std::shared_ptr<const std::string>, kPacketKinds> bytes;
    size_t size = 0;
  };

  Packet MakePacket(Shared* shared, PacketKind kind);
  void Deliver(const std::shared_ptr<Subscriber>& subscriber, const Packet& packet);
  std::shared_ptr<const MemoryReservation> Reserve(size_t bytes, bool* lost);
  bool MakeRoom();
  void Remember(Shared shared);

  const HistoryLimits limits_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::atomic<bool> stop_waiting_{false};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Subscriber>> subscribers_;  // guarded by mutex_, as all below
  std::array<std::unique_ptr<FrameEncoder>, kPacketKinds> encoders_;
  std::deque<Shared> history_;
  size_t history_rows_ = 0;
  size_t history_bytes_ = 0;
  bool complete_ = true;
  std::optional<SourceEvent> connection_;  // the latest news of it
  std::optional<Status> end_;
};

}  // namespace kafscope
