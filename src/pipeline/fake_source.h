// For tests: a source that gives records when it is told to. Threads: all.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "source/source.h"

namespace kafscope {

// Gives records `{"n":i}` from 0: those released so far, until `count` are given.
class FakeSource final : public Source {
 public:
  explicit FakeSource(size_t count, std::string prefix = "") : count_(count), prefix_(std::move(prefix)) {}

  // Lets `n` more records out. By default all are.
  void Hold() { released_ = 0; }
  void Release(size_t n) {
    {
      const std::lock_guard lock(mutex_);
      released_ += n;
      changed_.notify_all();  // under the lock: the source may be gone right after it
    }
  }

  Status Poll(size_t max_records, std::chrono::steady_clock::time_point deadline, ConsumerRecords* records) override {
    records->Clear();
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [this] { return woken_ || given_ < std::min(released_, count_) || failed_; });
    if (failed_) return Status::Unavailable("the broker is gone");
    texts_.clear();
    const size_t n = std::min({max_records, std::min(released_, count_) - std::min(given_, released_), size_t{100}});
    for (size_t i = 0; i < n; ++i) texts_.push_back(prefix_ + "{\"n\":" + std::to_string(given_ + i) + "}");
    for (size_t i = 0; i < n; ++i) {
      ConsumerRecord record;
      record.value = texts_[i];
      record.has_value = true;
      record.offset = static_cast<int64_t>(given_ + i);
      record.timestamp_ms = 1'700'000'000'000;
      records->mutable_records().push_back(record);
    }
    given_ += n;
    return {};
  }
  bool AtEnd() const override {
    const std::lock_guard lock(mutex_);
    return given_ == count_;
  }
  std::vector<SourceEvent> TakeEvents() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }
  std::map<int32_t, PartitionProgress> Progress() const override {
    const std::lock_guard lock(mutex_);
    return {{0, {static_cast<int64_t>(given_), static_cast<int64_t>(count_), 0}}};
  }
  void Wake() override {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();  // under the lock: the source may be gone right after it
    }
  }
  void Tell(SourceEvent event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  void Break() {
    {
      const std::lock_guard lock(mutex_);
      failed_ = true;
      changed_.notify_all();  // under the lock: the source may be gone right after it
    }
  }

 private:
  const size_t count_;
  const std::string prefix_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t released_ = SIZE_MAX;
  size_t given_ = 0;
  bool woken_ = false;
  bool failed_ = false;
  std::vector<SourceEvent> events_;
  std::vector<std::string> texts_;
};

}  // namespace kafscope
