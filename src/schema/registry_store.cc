#include "schema/registry_store.h"

#include <algorithm>

namespace kafscope {
namespace {

// A registry that does not answer is asked again this soon while records wait.
constexpr std::chrono::milliseconds kFirstRetry{100};

bool MayPass(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kDeadlineExceeded;
}

}  // namespace

RegistryStore::RegistryStore(std::unique_ptr<RegistryClient> client) : client_(std::move(client)) {
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Run(); });
}

RegistryStore::~RegistryStore() {
  client_->Cancel();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

size_t RegistryStore::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

SchemaStore::Answer RegistryStore::Find(int32_t id) { return FindEntry(std::to_string(id), false, id); }

SchemaStore::Answer RegistryStore::FindByGuid(std::string_view guid_hex) {
  return FindEntry(std::string(guid_hex), true, 0);
}

SchemaStore::Answer RegistryStore::FindEntry(std::string key, bool by_guid, int32_t id) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const auto [it, is_new] = entries_.try_emplace(key);
  Entry& entry = it->second;
  if (is_new) {
    entry.by_guid = by_guid;
    entry.id = id;
    entry.first_asked = now;
    entry.in_flight = true;
    entry.in_use_order = use_order_.insert(use_order_.end(), key);
    Push(key, now);
    if (entries_.size() > client_->options().max_entries) EvictOne();
    return {};
  }
  use_order_.splice(use_order_.end(), use_order_, entry.in_use_order);
  if (entry.state == State::kFailed && !entry.in_flight && now >= entry.retry_at) {
    entry.in_flight = true;
    Push(std::move(key), now);
  }
  return {entry.state, entry.schema, entry.error};
}

void RegistryStore::EvictOne() {
  for (auto it = use_order_.begin(); it != use_order_.end(); ++it) {
    const auto entry = entries_.find(*it);
    if (entry->second.in_flight) continue;
    entries_.erase(entry);
    use_order_.erase(it);
    return;
  }
}

void RegistryStore::Push(std::string key, Clock::time_point due) {
  jobs_.push_back({std::move(key), due});
  wake_.notify_one();
}

std::chrono::milliseconds RegistryStore::BackOff(int failures) const {
  const RegistryOptions& options = client_->options();
  auto wait = options.first_back_off;
  for (int i = 1; i < failures && wait < options.longest_back_off; ++i) wait *= 2;
  return std::min(wait, options.longest_back_off);
}

void RegistryStore::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto job =
        std::min_element(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) { return a.due < b.due; });
    if (job == jobs_.end()) {
      wake_.wait(lock);
      continue;
    }
    if (job->due > Clock::now()) {
      const auto due = job->due;
      wake_.wait_until(lock, due);
      continue;
    }
    const std::string key = std::move(job->key);
    jobs_.erase(job);
    const Entry& entry = entries_.at(key);  // in flight, so not evicted
    const bool by_guid = entry.by_guid;
    const int32_t id = entry.id;
    lock.unlock();
    auto fetched = by_guid ? client_->FetchByGuid(key) : client_->FetchById(id);
    lock.lock();
    Settle(key, std::move(fetched));
  }
}

void RegistryStore::Settle(const std::string& key, Result<RegisteredSchema> fetched) {
  Entry& entry = entries_.at(key);
  entry.in_flight = false;
  if (fetched) {
    entry.state = State::kReady;
    entry.schema = std::make_shared<const RegisteredSchema>(*std::move(fetched));
    entry.error = {};
    return;
  }
  ++entry.failures;
  const auto now = Clock::now();
  if (entry.state == State::kPending && MayPass(fetched.error())) {
    const auto next = now + std::min(kFirstRetry * (1 << std::min(entry.failures - 1, 4)), client_->options().max_wait);
    if (next < entry.first_asked + client_->options().max_wait) {
      entry.in_flight = true;
      Push(key, next);
      return;
    }
  }
  if (entry.state == State::kPending) entry.failures = 1;
  entry.state = State::kFailed;
  entry.error = fetched.error();
  entry.retry_at = now + BackOff(entry.failures);
}

Result<std::shared_ptr<SchemaStore>> OpenRegistry(RegistryOptions options) {
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<RegistryClient> client, RegistryClient::Make(std::move(options)));
  return std::make_shared<RegistryStore>(std::move(client));
}

}  // namespace kafscope
