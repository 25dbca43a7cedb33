#include "grafana/instance.h"

#include "pipeline/stream_source.h"
#include "pluginv2.pb.h"
#include "schema/registry_store.h"

namespace kafscope {

Instance::Instance(std::string uid, DataSourceSettings settings, std::shared_ptr<SchemaStore> schemas,
                   std::shared_ptr<MemoryBudget> budget)
    : uid_(std::move(uid)), settings_(std::move(settings)), schemas_(std::move(schemas)) {
  StreamManager::Options options;
  options.make_source = [kafka = settings_.kafka, budget](const StreamQuery& query) {
    return MakeKafkaStreamSource(kafka, query, budget);
  };
  options.history.max_rows = 1000;
  options.budget = budget;
  streams_ = std::make_unique<StreamManager>(std::move(options));
}

Instance::~Instance() = default;

Result<KafkaAdmin*> Instance::admin() {
  const std::lock_guard lock(mutex_);
  if (admin_ == nullptr) {
    KAFSCOPE_ASSIGN_OR_FAIL(admin_, KafkaAdmin::Make(settings_.kafka));
  }
  return admin_.get();
}

void Instance::RememberPath(const std::string& path, const std::string& query_json) {
  const std::lock_guard lock(mutex_);
  if (query_of_path_.size() >= kMaxPaths) query_of_path_.erase(query_of_path_.begin());
  query_of_path_[path] = query_json;
}

std::string Instance::QueryOfPath(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = query_of_path_.find(path);
  return found == query_of_path_.end() ? std::string() : found->second;
}

void Instance::RememberPacket(const std::string& path, std::string packet) {
  const std::lock_guard lock(mutex_);
  last_packet_[path] = std::move(packet);
}

std::string Instance::LastPacket(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_packet_.find(path);
  return found == last_packet_.end() ? std::string() : found->second;
}

void Instance::ForgetPacket(const std::string& path) {
  const std::lock_guard lock(mutex_);
  last_packet_.erase(path);
}

namespace {

// Everything that makes an instance another one. Secrets are compared, never shown.
std::string VersionOf(const pluginv2::DataSourceInstanceSettings& settings) {
  std::string version = std::to_string(settings.lastupdatedms()) + '\0' + settings.url() + '\0' + settings.jsondata();
  const std::map<std::string, std::string> secrets(settings.decryptedsecurejsondata().begin(),
                                                   settings.decryptedsecurejsondata().end());
  for (const auto& [name, value] : secrets) version.append(1, '\0').append(name).append(1, '=').append(value);
  return version;
}

}  // namespace

Result<std::shared_ptr<Instance>> InstanceCache::Get(const pluginv2::PluginContext& context) {
  if (!context.has_datasourceinstancesettings()) {
    return Fail(Status::InvalidArgument("the request names no data source"));
  }
  const auto& wire = context.datasourceinstancesettings();
  const std::string key = std::to_string(context.orgid()) + '/' + context.namespace_() + '/' + wire.uid();
  const std::string version = VersionOf(wire);
  std::shared_ptr<Instance> replaced;  // closed after the lock is gone
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[key];
  entry.used = std::chrono::steady_clock::now();
  if (entry.instance != nullptr && entry.version == version) return entry.instance;
  replaced = std::move(entry.instance);
  const std::map<std::string, std::string> secrets(wire.decryptedsecurejsondata().begin(),
                                                   wire.decryptedsecurejsondata().end());
  auto settings = ParseSettings(wire.jsondata(), secrets, wire.url());
  if (!settings) {
    entries_.erase(key);
    return Fail(settings.error());
  }
  std::shared_ptr<SchemaStore> schemas;
  if (settings->has_registry) {
    auto store = OpenRegistry(settings->registry);
    if (!store) {
      entries_.erase(key);
      return Fail(store.error().WithContext("schemaRegistryUrl"));
    }
    schemas = *std::move(store);
  }
  entry.version = version;
  entry.instance = std::make_shared<Instance>(wire.uid(), *std::move(settings), std::move(schemas), budget_);
  std::shared_ptr<Instance> made = entry.instance;
  if (entries_.size() > kMaxInstances) {
    auto oldest = entries_.begin();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->second.used < oldest->second.used) oldest = it;
    }
    entries_.erase(oldest);
  }
  return made;
}

std::map<std::string, std::shared_ptr<Instance>> InstanceCache::all() const {
  std::map<std::string, std::shared_ptr<Instance>> instances;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    if (entry.instance != nullptr) instances.emplace(key, entry.instance);
  }
  return instances;
}

void InstanceCache::Clear() {
  std::map<std::string, Entry> entries;
  const std::lock_guard lock(mutex_);
  entries.swap(entries_);
}

}  // namespace kafscope
