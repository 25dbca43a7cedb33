#include "pipeline/subscriber.h"

#include <utility>

namespace kafscope {

bool Subscriber::Pop(Clock::time_point deadline, StreamItem* item) {
  std::unique_lock lock(mutex_);
  const auto something = [this] { return cancelled_ || !events_.empty() || !packets_.empty() || ended_; };
  if (deadline > Clock::time_point::min() && !something()) item_there_.wait_until(lock, deadline, something);
  if (!events_.empty() && !cancelled_) {
    item->kind = StreamItem::Kind::kEvent;
    item->event = std::move(events_.front());
    events_.pop_front();
    return true;
  }
  if (!packets_.empty() && !cancelled_) {
    item->kind = StreamItem::Kind::kPacket;
    item->packet = std::move(packets_.front());
    packets_.pop_front();
    queued_bytes_ -= item->packet.size;
    ++stats_.frames;
    stats_.rows += item->packet.rows;
    stats_.bytes += item->packet.size;
    room_there_.notify_all();
    return true;
  }
  ready_told_ = false;
  if ((ended_ || cancelled_) && !end_given_) {
    end_given_ = true;
    item->kind = StreamItem::Kind::kEnd;
    item->status = cancelled_ ? Status::Cancelled("cancelled") : end_;
    return true;
  }
  return false;
}

void Subscriber::Cancel() {
  std::deque<Packet> dropped;  // freed outside of the lock
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    dropped.swap(packets_);
    queued_bytes_ = 0;
  }
  item_there_.notify_all();
  room_there_.notify_all();
}

DeliveryStats Subscriber::stats() const {
  const std::lock_guard lock(mutex_);
  DeliveryStats stats = stats_;
  stats.queued_bytes = queued_bytes_;
  return stats;
}

bool Subscriber::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void Subscriber::Ready(std::unique_lock<std::mutex> lock) {
  const bool tell = options_.on_ready != nullptr && !std::exchange(ready_told_, true);
  lock.unlock();
  item_there_.notify_one();
  if (tell) options_.on_ready();
}

bool Subscriber::DropOldest(uint64_t* frames, uint64_t* rows) {
  if (packets_.empty()) return false;
  queued_bytes_ -= packets_.front().size;
  ++*frames;
  *rows += packets_.front().rows;
  packets_.pop_front();
  return true;
}

bool Subscriber::Push(const Packet& packet) {
  std::unique_lock lock(mutex_);
  if (cancelled_) return true;
  while (!HasRoom(packet.size)) {
    if (options_.overflow == SubscriberOptions::Overflow::kWait) return false;
    DropOldest(&stats_.dropped_frames_slow, &stats_.dropped_rows_slow);
  }
  packets_.push_back(packet);
  queued_bytes_ += packet.size;
  Ready(std::move(lock));
  return true;
}

bool Subscriber::WaitForRoom(size_t bytes, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return room_there_.wait_until(lock, deadline, [&] { return cancelled_ || HasRoom(bytes); });
}

void Subscriber::PushEvent(const SourceEvent& event) {
  std::unique_lock lock(mutex_);
  if (cancelled_) return;
  if (events_.size() == kMaxEvents) events_.pop_front();
  events_.push_back(event);
  Ready(std::move(lock));
}

void Subscriber::PushEnd(const Status& status) {
  std::unique_lock lock(mutex_);
  if (ended_) return;
  ended_ = true;
  end_ = status;
  Ready(std::move(lock));
}

bool Subscriber::DropForMemory() {
  const std::lock_guard lock(mutex_);
  if (options_.overflow == SubscriberOptions::Overflow::kWait) return false;
  return DropOldest(&stats_.dropped_frames_memory, &stats_.dropped_rows_memory);
}

void Subscriber::CountMemoryDrop(size_t rows) {
  const std::lock_guard lock(mutex_);
  ++stats_.dropped_frames_memory;
  stats_.dropped_rows_memory += rows;
}

}  // namespace kafscope
