#include "pipeline/fanout.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "encode/arrow_ipc_encoder.h"
#include "encode/grafana_json_encoder.h"

namespace kafscope {

namespace {

using Clock = std::chrono::steady_clock;
// How often a waiting publisher looks whether it is to stop.
constexpr std::chrono::milliseconds kWaitSlice{50};

std::unique_ptr<FrameEncoder> MakeEncoder(PacketKind kind) {
  if (kind == PacketKind::kArrow) return std::make_unique<ArrowIpcEncoder>(ArrowMode::kSelfContained);
  return std::make_unique<GrafanaJsonEncoder>();
}

}  // namespace

Fanout::Fanout(HistoryLimits limits, std::shared_ptr<MemoryBudget> budget)
    : limits_(limits), budget_(std::move(budget)) {}

// REQUIRES: mutex_ held.
Packet Fanout::MakePacket(Shared* shared, PacketKind kind) {
  Packet packet;
  packet.held = shared->held;
  packet.rows = shared->frame->num_rows();
  if (kind == PacketKind::kFrame) {
    packet.frame = shared->frame;
    packet.size = shared->frame->byte_size();
    return packet;
  }
  const auto index = static_cast<size_t>(kind);
  if (shared->bytes[index] == nullptr) {
    if (encoders_[index] == nullptr) encoders_[index] = MakeEncoder(kind);
    auto bytes = std::make_shared<std::string>();
    encoders_[index]->Encode(*shared->frame, bytes.get());
    shared->bytes[index] = std::move(bytes);
  }
  packet.bytes = shared->bytes[index];
  packet.size = packet.bytes->size();
  return packet;
}

std::shared_ptr<Subscriber> Fanout::Subscribe(SubscriberOptions options) {
  auto subscriber = std::make_shared<Subscriber>(std::move(options));
  const std::lock_guard lock(mutex_);
  if (connection_) subscriber->PushEvent(*connection_);
  for (Shared& shared : history_) {
    // A full queue of policy kWait ends the history early: its bound is larger than the history's.
    subscriber->Push(MakePacket(&shared, subscriber->options().kind));
  }
  if (end_) subscriber->PushEnd(*end_);
  subscribers_.push_back(subscriber);
  return subscriber;
}

size_t Fanout::Unsubscribe(const std::shared_ptr<Subscriber>& subscriber) {
  subscriber->Cancel();
  const std::lock_guard lock(mutex_);
  std::erase(subscribers_, subscriber);
  return subscribers_.size();
}

bool Fanout::complete() const {
  const std::lock_guard lock(mutex_);
  return complete_;
}

// Frees something for the memory budget; false if there is nothing left to free. REQUIRES: mutex_ held.
bool Fanout::MakeRoom() {
  if (!history_.empty()) {
    history_rows_ -= history_.front().frame->num_rows();
    history_bytes_ -= history_.front().size;
    history_.pop_front();
    complete_ = false;
    return true;
  }
  // The longest queue gives first.
  std::shared_ptr<Subscriber> longest;
  size_t most = 0;
  for (const auto& subscriber : subscribers_) {
    const size_t queued = subscriber->stats().queued_bytes;
    if (queued > most && subscriber->options().overflow == SubscriberOptions::Overflow::kDropOldest) {
      most = queued;
      longest = subscriber;
    }
  }
  return longest != nullptr && longest->DropForMemory();
}

// `lost`: nobody will free enough, the frame is not to be sent. REQUIRES: mutex_ held.
std::shared_ptr<const MemoryReservation> Fanout::Reserve(size_t bytes, bool* lost) {
  *lost = false;
  if (budget_ == nullptr) return nullptr;
  while (!budget_->TryReserve(bytes)) {
    if (MakeRoom()) continue;
    // Only readers that wait, or other streams, hold memory now.
    const bool waits = std::ranges::any_of(subscribers_, [](const auto& subscriber) {
      return subscriber->options().overflow == SubscriberOptions::Overflow::kWait && !subscriber->cancelled();
    });
    if (waits && bytes <= budget_->limit() && !stop_waiting_.load(std::memory_order_relaxed)) {
      if (budget_->WaitAndReserve(bytes, Clock::now() + kWaitSlice)) break;
      continue;
    }
    *lost = true;
    return nullptr;
  }
  return std::make_shared<const MemoryReservation>(budget_, bytes);
}

// REQUIRES: mutex_ not held: it may wait.
void Fanout::Deliver(const std::shared_ptr<Subscriber>& subscriber, const Packet& packet) {
  while (!subscriber->Push(packet)) {
    if (stop_waiting_.load(std::memory_order_relaxed)) {
      subscriber->CountMemoryDrop(packet.rows);
      return;
    }
    subscriber->WaitForRoom(packet.size, Clock::now() + kWaitSlice);
  }
}

// REQUIRES: mutex_ held.
void Fanout::Remember(Shared shared) {
  history_rows_ += shared.frame->num_rows();
  history_bytes_ += shared.size;
  history_.push_back(std::move(shared));
  while (!history_.empty() && (history_rows_ > limits_.max_rows || history_bytes_ > limits_.max_bytes)) {
    history_rows_ -= history_.front().frame->num_rows();
    history_bytes_ -= history_.front().size;
    history_.pop_front();
    complete_ = false;
  }
}

void Fanout::Publish(const FramePtr& frame) {
  std::vector<std::pair<std::shared_ptr<Subscriber>, Packet>> deliveries;
  {
    const std::lock_guard lock(mutex_);
    bool encoded = false;
    for (const auto& subscriber : subscribers_) encoded |= subscriber->options().kind != PacketKind::kFrame;
    Shared shared;
    shared.frame = frame;
    // An encoding is about as large as the frame; what is reserved is an estimate made once.
    shared.size = frame->byte_size() * (encoded ? 2 : 1);
    bool lost = false;
    shared.held = Reserve(shared.size, &lost);
    if (lost) {
      for (const auto& subscriber : subscribers_) subscriber->CountMemoryDrop(frame->num_rows());
      complete_ = false;
      return;
    }
    deliveries.reserve(subscribers_.size());
    for (const auto& subscriber : subscribers_) {
      deliveries.emplace_back(subscriber, MakePacket(&shared, subscriber->options().kind));
    }
    Remember(std::move(shared));
  }
  for (const auto& [subscriber, packet] : deliveries) Deliver(subscriber, packet);
}

void Fanout::PublishEvent(const SourceEvent& event) {
  const std::lock_guard lock(mutex_);
  switch (event.kind) {
    case SourceEvent::Kind::kConnected:
    case SourceEvent::Kind::kDisconnected:
    case SourceEvent::Kind::kTopicMissing:
    case SourceEvent::Kind::kFailed: connection_ = event; break;
    default: break;
  }
  for (const auto& subscriber : subscribers_) subscriber->PushEvent(event);
}

void Fanout::Finish(const Status& status) {
  const std::lock_guard lock(mutex_);
  end_ = status;
  for (const auto& subscriber : subscribers_) subscriber->PushEnd(status);
}

}  // namespace kafscope
