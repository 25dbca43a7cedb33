// StopSignal: Ctrl-C and SIGTERM, told on a thread of its own, with a bound on how long the end may take.
//
// Use: make it before any other thread starts (they inherit the blocked signals). At the first signal `on_stop` is
// called; the program then has kGrace until the object is gone, else it is ended. A second signal ends it at once.
// Threads: `on_stop` runs on the object's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace kafscope {

class StopSignal {
 public:
  static constexpr std::chrono::milliseconds kGrace{1900};

  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Called at once if the signal has come already.
  void SetCallback(std::function<void()> on_stop);
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  // Waits for the signal until `deadline`; true if it came.
  bool WaitUntil(std::chrono::steady_clock::time_point deadline) const;

 private:
  void Watch();

  std::atomic<bool> stopped_{false};
  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::function<void()> on_stop_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace kafscope
