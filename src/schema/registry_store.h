// RegistryStore: the SchemaStore of a real registry. Decoders ask Find(); threads of the store fetch.
//
//   unknown ──Find──▶ pending ──fetched──▶ ready (kept while among the last max_entries used)
//                        │ no answer within max_wait, or the registry's refusal
//                        ▼
//                      failed ──Find after the back-off──▶ failed, and fetched again ──▶ ready | failed
//
// One request per id in flight. While a registry does not answer, records wait at most max_wait, then become error
// rows; schemas that are known are not asked for again, so an outage does not stop their records. Threads: safe. Cost:
// Find() is a lock and a hash look-up.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "schema/registry_client.h"
#include "schema/schema_store.h"

namespace kafscope {

class RegistryStore final : public SchemaStore {
 public:
  static constexpr int kThreads = 2;  // one slow answer does not hold up all others

  explicit RegistryStore(std::unique_ptr<RegistryClient> client);
  ~RegistryStore() override;
  RegistryStore(const RegistryStore&) = delete;
  RegistryStore& operator=(const RegistryStore&) = delete;

  Answer Find(int32_t id) override;
  Answer FindByGuid(std::string_view guid_hex) override;
  // Entries kept, for metrics and tests.
  size_t size() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    State state = State::kPending;
    bool in_flight = false;  // queued or being fetched
    bool by_guid = false;
    int32_t id = 0;
    std::shared_ptr<const RegisteredSchema> schema;
    Status error;
    int failures = 0;
    Clock::time_point first_asked;
    Clock::time_point retry_at;  // failed: not before
    std::list<std::string>::iterator in_use_order;
  };
  struct Job {
    std::string key;
    Clock::time_point due;
  };

  Answer FindEntry(std::string key, bool by_guid, int32_t id);
  void EvictOne();
  void Run();
  // Takes in what a fetch gave; a pending entry without an answer is queued again.
  void Settle(const std::string& key, Result<RegisteredSchema> fetched);
  void Push(std::string key, Clock::time_point due);
  std::chrono::milliseconds BackOff(int failures) const;

  const std::unique_ptr<RegistryClient> client_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::unordered_map<std::string, Entry> entries_;
  std::list<std::string> use_order_;  // least recently used first
  std::deque<Job> jobs_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

// A store for `options`; nothing is asked of the registry yet.
Result<std::shared_ptr<SchemaStore>> OpenRegistry(RegistryOptions options);

}  // namespace kafscope
