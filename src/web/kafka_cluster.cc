#include "web/kafka_cluster.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace kafscope {

namespace {

constexpr std::chrono::milliseconds kInterval{1000};
constexpr std::chrono::milliseconds kTimeout{5000};
constexpr std::chrono::milliseconds kDescribeTimeout{10000};
// Offsets of more topics are not asked for: the list would wait for them.
constexpr size_t kMaxSampledTopics = 1000;

}  // namespace

Result<std::unique_ptr<KafkaCluster>> KafkaCluster::Make(const KafkaOptions& options) {
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<KafkaAdmin> admin, KafkaAdmin::Make(options));
  return std::unique_ptr<KafkaCluster>(new KafkaCluster(std::move(admin)));
}

KafkaCluster::KafkaCluster(std::unique_ptr<KafkaAdmin> admin) : admin_(std::move(admin)), thread_([this] { Run(); }) {}

KafkaCluster::~KafkaCluster() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_signal_.notify_all();
  thread_.join();
}

void KafkaCluster::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    Topics sample = Sample();
    lock.lock();
    if (sample.status.ok()) {
      topics_ = std::move(sample);
    } else {
      topics_.status = sample.status;  // the last rows stay, with their time
    }
    stop_signal_.wait_for(lock, kInterval, [this] { return stop_; });
  }
}

Cluster::Topics KafkaCluster::Sample() {
  Topics sample;
  Result<std::vector<TopicSummary>> topics = admin_->ListTopics(kTimeout);
  if (!topics) {
    sample.status = topics.error();
    return sample;
  }
  std::vector<TopicSummary> asked(*topics);
  std::erase_if(asked, [](const TopicSummary& topic) { return !topic.error.empty(); });
  if (asked.size() > kMaxSampledTopics) asked.resize(kMaxSampledTopics);
  const Result<std::map<std::string, std::vector<OffsetRange>>> offsets = admin_->Offsets(asked, kTimeout);
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_sample_).count();
  std::map<std::string, int64_t> ends;
  for (const TopicSummary& topic : *topics) {
    TopicRow& row = sample.rows.emplace_back();
    row.name = topic.name;
    row.internal = topic.internal;
    row.partitions = topic.partitions;
    row.error = topic.error;
    if (!offsets) continue;
    const auto found = offsets->find(topic.name);
    if (found == offsets->end()) continue;
    int64_t records = 0;
    int64_t end = 0;
    const bool known = std::ranges::all_of(found->second, [&](const OffsetRange& range) {
      records += range.end - range.start;
      end += range.end;
      return range.start >= 0 && range.end >= 0;
    });
    if (!known) continue;
    row.records = records;
    ends[topic.name] = end;
    const auto before = last_ends_.find(topic.name);
    if (before != last_ends_.end() && end >= before->second && seconds > 0) {
      row.rate = static_cast<double>(end - before->second) / seconds;
    }
  }
  if (!ends.empty() || sample.rows.empty()) {
    last_ends_ = std::move(ends);
    last_sample_ = now;
  }
  sample.sampled_at_ms = NowMs();
  return sample;
}

Cluster::Topics KafkaCluster::topics() const {
  const std::lock_guard lock(mutex_);
  return topics_;
}

Result<std::vector<PartitionRow>> KafkaCluster::Describe(const std::string& topic) {
  KAFSCOPE_ASSIGN_OR_FAIL(const TopicInfo info, admin_->DescribeTopic(topic, kDescribeTimeout));
  const std::vector<TopicSummary> asked = {{info.name, info.internal, static_cast<int>(info.partitions.size()), ""}};
  KAFSCOPE_ASSIGN_OR_FAIL(auto offsets, admin_->Offsets(asked, kDescribeTimeout));
  std::vector<OffsetRange>& ranges = offsets[info.name];
  ranges.resize(info.partitions.size());
  std::vector<PartitionRow> rows;
  for (size_t i = 0; i < info.partitions.size(); ++i) {
    rows.push_back({info.partitions[i].id, info.partitions[i].leader, ranges[i].start, ranges[i].end});
  }
  return rows;
}

}  // namespace kafscope
