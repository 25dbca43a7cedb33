#include "cli/stop_signal.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace kafscope {

namespace {

// How soon the end of the object is noticed.
constexpr std::chrono::milliseconds kSlice{20};
constexpr int kExitInterrupted = 130;

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

bool SignalCame() {
  const sigset_t signals = StopSignals();
  const timespec wait{0, std::chrono::nanoseconds(kSlice).count()};
  return sigtimedwait(&signals, nullptr, &wait) > 0;
}

}  // namespace

StopSignal::StopSignal() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this] { Watch(); });
}

StopSignal::~StopSignal() {
  done_.store(true, std::memory_order_release);
  thread_.join();
}

void StopSignal::SetCallback(std::function<void()> on_stop) {
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex_);
    on_stop_ = std::move(on_stop);
    if (stopped()) call = on_stop_;
  }
  if (call) call();
}

bool StopSignal::WaitUntil(std::chrono::steady_clock::time_point deadline) const {
  while (!stopped()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(deadline - now, kSlice));
  }
  return true;
}

void StopSignal::Watch() {
  while (!SignalCame()) {
    if (done_.load(std::memory_order_acquire)) return;
  }
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex_);
    stopped_.store(true, std::memory_order_release);
    call = on_stop_;
  }
  if (call) call();
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  while (!done_.load(std::memory_order_acquire)) {
    if (SignalCame() || std::chrono::steady_clock::now() >= deadline) _exit(kExitInterrupted);
  }
}

}  // namespace kafscope
