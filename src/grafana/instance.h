// Instance: one data source of one organisation, in one version of its settings: its connections and running streams.
// InstanceCache: the instances in use, by organisation, data source and settings; one whose settings changed is closed
// as soon as its last call has ended.
//
// Threads: all calls from any thread; an Instance is held by shared_ptr while a call uses it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/memory_budget.h"
#include "base/status.h"
#include "grafana/panel_query.h"
#include "grafana/settings.h"
#include "pipeline/stream_manager.h"
#include "source/kafka_admin.h"

namespace pluginv2 {
class PluginContext;
}

namespace kafscope {

class Instance {
 public:
  Instance(std::string uid, DataSourceSettings settings, std::shared_ptr<SchemaStore> schemas,
           std::shared_ptr<MemoryBudget> budget);
  ~Instance();

  const std::string& uid() const { return uid_; }
  const DataSourceSettings& settings() const { return settings_; }
  const std::shared_ptr<SchemaStore>& schemas() const { return schemas_; }
  StreamManager& streams() { return *streams_; }
  // Made with the first call; its connections stay.
  Result<KafkaAdmin*> admin();

  // The query behind a channel path that an answer of ours has named (`meta.channel`).
  void RememberPath(const std::string& path, const std::string& query_json);
  std::string QueryOfPath(const std::string& path) const;
  // What a late subscriber of a channel gets first.
  void RememberPacket(const std::string& path, std::string packet);
  std::string LastPacket(const std::string& path) const;
  void ForgetPacket(const std::string& path);

 private:
  static constexpr size_t kMaxPaths = 1000;

  const std::string uid_;
  const DataSourceSettings settings_;
  const std::shared_ptr<SchemaStore> schemas_;
  std::unique_ptr<StreamManager> streams_;
  mutable std::mutex mutex_;
  std::unique_ptr<KafkaAdmin> admin_;  // guarded by mutex_, as all below
  std::map<std::string, std::string> query_of_path_;
  std::map<std::string, std::string> last_packet_;
};

class InstanceCache {
 public:
  explicit InstanceCache(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  // A failure names the setting to change.
  Result<std::shared_ptr<Instance>> Get(const pluginv2::PluginContext& context);
  std::map<std::string, std::shared_ptr<Instance>> all() const;
  void Clear();

 private:
  static constexpr size_t kMaxInstances = 200;
  struct Entry {
    std::string version;
    std::shared_ptr<Instance> instance;
    std::chrono::steady_clock::time_point used;
  };

  const std::shared_ptr<MemoryBudget> budget_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by organisation and data source; guarded by mutex_
};

}  // namespace kafscope
