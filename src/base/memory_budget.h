// MemoryBudget: the process-wide bound on bytes that wait in queues (records and frames), whatever the topics send.
//
// Use: one object for the process (`--memory-budget`); each holder takes what it needs by Reserve and gives it back,
// most simply by a MemoryReservation. A source takes its share once, when it starts; the fan-out takes each frame's
// bytes. Cost: one atomic operation; WaitForRoom locks. Threads: all.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace kafscope {

class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // False, and nothing taken, if that would pass the limit.
  bool TryReserve(size_t bytes) {
    size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - std::min(used, limit_)) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_acq_rel));
    return true;
  }
  void Release(size_t bytes) {
    used_.fetch_sub(bytes, std::memory_order_acq_rel);
    const std::lock_guard lock(mutex_);  // so that no waiter misses the change between its check and its sleep
    released_.notify_all();
  }
  // Takes `bytes` as soon as there is room; false at the deadline.
  bool WaitAndReserve(size_t bytes, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return released_.wait_until(lock, deadline, [&] { return TryReserve(bytes); });
  }
  size_t used() const { return used_.load(std::memory_order_relaxed); }
  size_t limit() const { return limit_; }
  size_t free_bytes() const { return limit_ - std::min(used(), limit_); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
  std::mutex mutex_;
  std::condition_variable released_;
};

// Bytes taken from a budget, given back when destroyed. Without a budget it holds nothing.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  // Takes over `bytes` that the caller has reserved.
  MemoryReservation(std::shared_ptr<MemoryBudget> budget, size_t bytes) : budget_(std::move(budget)), bytes_(bytes) {}
  MemoryReservation(MemoryReservation&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryReservation& operator=(MemoryReservation&& other) noexcept {
    Reset();
    budget_ = std::move(other.budget_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~MemoryReservation() { Reset(); }

  void Reset() {
    if (budget_ != nullptr && bytes_ != 0) budget_->Release(bytes_);
    budget_ = nullptr;
    bytes_ = 0;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  size_t bytes_ = 0;
};

}  // namespace kafscope
