// The demo's topics: records made up from a seed, a backlog first and then live at each topic's rate.
//
// Threads: one producing thread of its own between Start() and destruction.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "base/status.h"
#include "source/embedded_broker.h"
#include "source/kafka_producer.h"

namespace kafscope {

class DemoTopics {
 public:
  // Creates the topics and fills their backlog. REQUIRES: `broker` outlives the object.
  static Result<std::unique_ptr<DemoTopics>> Make(EmbeddedBroker* broker);
  ~DemoTopics();
  DemoTopics(const DemoTopics&) = delete;
  DemoTopics& operator=(const DemoTopics&) = delete;

  void Start();

 private:
  explicit DemoTopics(std::unique_ptr<KafkaProducer> producer) : producer_(std::move(producer)) {}
  // One record of a topic of kTopics, as of `now_ms`.
  Status Send(size_t topic, int64_t now_ms);
  Status SendBacklog();
  void Run();

  std::unique_ptr<KafkaProducer> producer_;
  std::mt19937_64 random_{20240229};
  uint64_t sent_[16] = {};  // by topic
  int64_t start_ms_ = 0;
  std::string value_;
  std::string key_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace kafscope
