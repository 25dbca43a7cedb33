// KafkaCluster: samples the topics, their records and rates on a thread of its own.
//
// Cost: a connection per broker; three small requests a second. Threads: as Cluster; Make and destruction on any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "source/kafka_admin.h"
#include "web/cluster.h"

namespace kafscope {

class KafkaCluster final : public Cluster {
 public:
  static Result<std::unique_ptr<KafkaCluster>> Make(const KafkaOptions& options);
  ~KafkaCluster() override;

  Topics topics() const override;
  Result<std::vector<PartitionRow>> Describe(const std::string& topic) override;

 private:
  using Clock = std::chrono::steady_clock;
  explicit KafkaCluster(std::unique_ptr<KafkaAdmin> admin);
  void Run();
  Topics Sample();

  const std::unique_ptr<KafkaAdmin> admin_;
  mutable std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stop_ = false;  // guarded by mutex_, as the next
  Topics topics_;
  // Of the last sample; the sampling thread's own.
  std::map<std::string, int64_t> last_ends_;
  Clock::time_point last_sample_;
  std::thread thread_;
};

}  // namespace kafscope
