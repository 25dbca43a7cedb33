// Subscriber: one client's bounded queue of what a stream sends.
//
// Use: Fanout::Subscribe() makes it; the client calls Pop() (waits) or TryPop() with on_ready (does not) until kEnd.
// Overflow policy: kDropOldest (a browser: its own oldest frames go, counted) or kWait (a terminal: the publisher waits
// for room, nothing is lost). Events are never dropped for frames; at most kMaxEvents wait, the oldest go first.
// Threads: one client thread at a time; the publisher calls the rest. stats() from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/memory_budget.h"
#include "base/status.h"
#include "frame/frame.h"
#include "pipeline/stream_stats.h"
#include "source/source.h"

namespace kafscope {

// In which form a subscriber gets frames.
enum class PacketKind : uint8_t { kFrame, kArrow, kGrafanaJson };
inline constexpr size_t kPacketKinds = 3;

// A frame in the form asked for; shared by all subscribers of that kind.
struct Packet {
  FramePtr frame;                                 // kFrame
  std::shared_ptr<const std::string> bytes;       // the other kinds
  std::shared_ptr<const MemoryReservation> held;  // its share of the memory budget
  size_t size = 0;
  size_t rows = 0;
};

struct StreamItem {
  enum class Kind : uint8_t { kPacket, kEvent, kEnd };
  Kind kind = Kind::kPacket;
  Packet packet;      // kPacket
  SourceEvent event;  // kEvent
  Status status;      // kEnd: why; OK if all that was asked for has been given
};

struct SubscriberOptions {
  enum class Overflow : uint8_t { kDropOldest, kWait };
  PacketKind kind = PacketKind::kFrame;
  Overflow overflow = Overflow::kDropOldest;
  size_t max_queued_bytes = size_t{16} << 20;  // one larger frame is let in when the queue is empty
  size_t max_queued_frames = 4096;
  // Called from the publisher when something is there to take, once until the queue was found empty again. It must not
  // block nor call back.
  std::function<void()> on_ready;
};

class Subscriber {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxEvents = 256;

  explicit Subscriber(SubscriberOptions options) : options_(std::move(options)) {}
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  // --- for the client ---
  bool Pop(Clock::time_point deadline, StreamItem* item);
  bool TryPop(StreamItem* item) { return Pop(Clock::time_point::min(), item); }
  // No more is wanted: what waits is dropped, a waiting publisher goes on.
  void Cancel();
  DeliveryStats stats() const;

  // --- for the publisher ---
  const SubscriberOptions& options() const { return options_; }
  // False if it was not taken: policy kWait and no room. Drops the oldest by policy kDropOldest.
  bool Push(const Packet& packet);
  // Waits for room by policy kWait; false at the deadline.
  bool WaitForRoom(size_t bytes, Clock::time_point deadline);
  void PushEvent(const SourceEvent& event);
  void PushEnd(const Status& status);
  // Drops the oldest waiting frame for the sake of the memory budget; false if none waits or none may be dropped.
  bool DropForMemory();
  // A frame was not even queued, for lack of memory.
  void CountMemoryDrop(size_t rows);
  bool cancelled() const;

 private:
  bool HasRoom(size_t bytes) const {
    return packets_.empty() ||
           (queued_bytes_ + bytes <= options_.max_queued_bytes && packets_.size() < options_.max_queued_frames);
  }
  bool DropOldest(uint64_t* frames, uint64_t* rows);
  void Ready(std::unique_lock<std::mutex> lock);

  const SubscriberOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable item_there_;
  std::condition_variable room_there_;
  std::deque<Packet> packets_;  // guarded by mutex_, as all below
  std::deque<SourceEvent> events_;
  size_t queued_bytes_ = 0;
  bool ready_told_ = false;
  bool cancelled_ = false;
  bool ended_ = false;
  bool end_given_ = false;
  Status end_;
  DeliveryStats stats_;
};

}  // namespace kafscope
