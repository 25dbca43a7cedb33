#include "cli/demo_topics.h"

#include <array>
#include <chrono>
#include <cmath>
#include <string_view>

#include "base/clock.h"
#include "base/time_text.h"

namespace kafscope {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::seconds kSendTime{10};
// `clicks` gains a field after this time.
constexpr int64_t kNewFieldAfterMs = 60'000;

struct DemoTopic {
  std::string_view name;
  int partitions;
  double rate;       // records a second
  uint64_t backlog;  // records from before the start
};
constexpr std::array kTopics = {
    DemoTopic{"orders", 3, 50, 3'000},    DemoTopic{"clicks", 3, 5'000, 20'000},
    DemoTopic{"sensors", 1, 200, 12'000}, DemoTopic{"logs", 1, 40, 2'000},
    DemoTopic{"metrics", 1, 100, 5'000},  DemoTopic{"metrics-influx", 1, 100, 5'000},
};
enum Topic : size_t { kOrders, kClicks, kSensors, kLogs, kMetrics, kMetricsInflux };

std::string Number(double value) {
  std::array<char, 32> text;
  return {text.data(), static_cast<size_t>(std::snprintf(text.data(), text.size(), "%.2f", value))};
}
std::string Number(uint64_t value) { return std::to_string(value); }

template <size_t N>
std::string_view Pick(const std::array<std::string_view, N>& words, uint64_t n) {
  return words[n % N];
}

constexpr std::array<std::string_view, 5> kCities = {"Zürich", "Ljubljana", "São Paulo", "東京", "Nairobi"};
constexpr std::array<std::string_view, 4> kStates = {"new", "paid", "shipped", "returned"};
constexpr std::array<std::string_view, 4> kHosts = {"edge-1", "edge-2", "core-1", "core-2"};

// A wave with noise, so that charts show something.
double Wave(int64_t now_ms, double period_s, double phase, uint64_t noise) {
  return std::sin(static_cast<double>(now_ms) / 1000.0 / period_s * 6.283 + phase) +
         static_cast<double>(noise % 100) / 500.0;
}

// Nested, with integers that no double holds.
void MakeOrder(uint64_t n, uint64_t r, int64_t now_ms, std::string* out) {
  *out = R"({"order_id":)" + Number(9'007'199'254'740'993u + n * 2 + 1) + R"(,"customer":{"id":)" +
         Number(1'152'921'504'606'846'976u + r % 1'000) + R"(,"city":")" + std::string(Pick(kCities, r >> 8)) +
         R"(","vip":)" + (r % 7 == 0 ? "true" : "false") + R"(},"items":[{"sku":"A-)" + Number(r % 50) + R"(","n":)" +
         Number(1 + r % 4) + R"(}],"total":)" + Number(5 + static_cast<double>(r % 20'000) / 100) + R"(,"state":")" +
         std::string(Pick(kStates, r >> 16)) + R"(","coupon":)" + (r % 5 == 0 ? "\"SPRING\"" : "null") +
         R"(,"created":")" + ToRfc3339(now_ms * 1'000'000) + R"("})";
}

void MakeClick(uint64_t n, uint64_t r, bool new_field, std::string* out) {
  *out = R"({"click":)" + Number(n) + R"(,"session":"s-)" + Number(r % 5'000) + R"(","user":)" + Number(r >> 40);
  for (int i = 0; i < 14; ++i) {
    const uint64_t value = (r >> (i * 3)) % 1'000;
    *out += ",\"f" + std::to_string(i) + "\":";
    if (i % 3 == 0) {
      *out += Number(static_cast<double>(value) / 10);
    } else if (i % 3 == 1) {
      *out += Number(value);
    } else {
      *out += "\"v" + Number(value) + "\"";
    }
  }
  *out += R"(,"page":"/p/)" + Number(r % 40) + R"(","mobile":)" + (r % 3 == 0 ? "true" : "false") + R"(,"ms":)" +
          Number(r % 900);
  if (new_field) *out += R"(,"experiment":")" + std::string(r % 2 == 0 ? "A" : "B") + "\"";
  *out += '}';
}

void MakeReading(uint64_t n, uint64_t r, int64_t now_ms, std::string* out) {
  const uint64_t sensor = n % 4;
  if (n % 997 == 500) {  // now and then a device sends half a record
    *out = R"({"sensor":"sensor-)" + Number(sensor) + R"(","temperature":)";
    return;
  }
  const double phase = static_cast<double>(sensor);
  *out = R"({"sensor":"sensor-)" + Number(sensor) + R"(","ts":)" + std::to_string(now_ms) + R"(,"temperature":)" +
         Number(21 + 4 * Wave(now_ms, 60, phase, r)) + R"(,"humidity":)" +
         (n % 11 == 0 ? "null" : Number(50 + 20 * Wave(now_ms, 90, phase * 2, r >> 8))) + R"(,"battery":)" +
         Number(3.3 + static_cast<double>(r % 40) / 100) + R"(,"ok":)" + (r % 50 == 0 ? "false" : "true") + "}";
}

void MakeLog(uint64_t n, uint64_t r, int64_t now_ms, std::string* out) {
  static constexpr std::array<std::string_view, 4> kLevels = {"INFO", "INFO", "WARN", "ERROR"};
  *out = ToRfc3339(now_ms * 1'000'000) + " " + std::string(Pick(kLevels, r)) + " " + std::string(Pick(kHosts, r >> 4)) +
         " request " + Number(n) + " took " + Number(r % 800) + " ms";
  if (n % 25 == 3) *out += " from caf\xe9";  // Latin-1: not UTF-8
}

void MakeMetric(uint64_t n, uint64_t r, int64_t now_ms, bool line_protocol, std::string* out) {
  const std::string host(Pick(kHosts, n));
  const std::string cpu = Number(50 + 30 * Wave(now_ms, 45, static_cast<double>(n % 4), r));
  const std::string memory = Number(8'589'934'592u + r % 1'000'000'000);
  if (line_protocol) {
    *out = "system,host=" + host + ",region=eu usage=" + cpu + ",memory=" + memory +
           "i,up=" + (r % 100 == 0 ? "false" : "true") + " " +
           std::to_string(now_ms * 1'000'000 + static_cast<int64_t>(r % 1000));
  } else {
    *out = R"({"host":")" + host + R"(","usage":)" + cpu + R"(,"memory":)" + memory + R"(,"up":)" +
           (r % 100 == 0 ? "false" : "true") + "}";
  }
}

}  // namespace

Result<std::unique_ptr<DemoTopics>> DemoTopics::Make(EmbeddedBroker* broker) {
  for (const DemoTopic& topic : kTopics) {
    KAFSCOPE_FAIL_IF_ERROR(broker->CreateTopic(std::string(topic.name), topic.partitions));
  }
  KafkaOptions options;
  options.brokers = broker->bootstrap();
  options.properties["linger.ms"] = "5";
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<KafkaProducer> producer, KafkaProducer::Make(options));
  auto topics = std::unique_ptr<DemoTopics>(new DemoTopics(std::move(producer)));
  KAFSCOPE_FAIL_IF_ERROR(topics->SendBacklog());
  return topics;
}

DemoTopics::~DemoTopics() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

void DemoTopics::Start() {
  thread_ = std::thread([this] { Run(); });
}

Status DemoTopics::Send(size_t topic, int64_t now_ms) {
  const uint64_t n = sent_[topic]++;
  const uint64_t r = random_();
  ProducerRecord record;
  std::array<RecordHeader, 2> headers;
  std::string trace;
  switch (topic) {
    case kOrders:
      MakeOrder(n, r, now_ms, &value_);
      key_ = "customer-" + Number(r % 1'000);
      record.key = key_;
      trace = Number(r);
      headers = {{{"source", "shop", false}, {"trace-id", trace, false}}};
      record.headers = headers;
      break;
    case kClicks: MakeClick(n, r, now_ms - start_ms_ > kNewFieldAfterMs, &value_); break;
    case kSensors:
      MakeReading(n, r, now_ms, &value_);
      key_ = "sensor-" + Number(n % 4);
      record.key = key_;
      break;
    case kLogs: MakeLog(n, r, now_ms, &value_); break;
    default: MakeMetric(n, r, now_ms, topic == kMetricsInflux, &value_);
  }
  record.value = value_;
  record.timestamp_ms = now_ms;
  return producer_->SendWaiting(std::string(kTopics[topic].name), record, Clock::now() + kSendTime);
}

// Each topic's backlog lies before now at its own rate.
Status DemoTopics::SendBacklog() {
  start_ms_ = NowMs();
  for (size_t topic = 0; topic < kTopics.size(); ++topic) {
    const double interval_ms = 1000.0 / kTopics[topic].rate;
    for (uint64_t i = kTopics[topic].backlog; i > 0; --i) {
      const auto before = static_cast<int64_t>(static_cast<double>(i) * interval_ms);
      KAFSCOPE_RETURN_IF_ERROR(Send(topic, start_ms_ - before));
    }
  }
  return producer_->Flush(std::chrono::seconds(60));
}

void DemoTopics::Run() {
  const Clock::time_point start = Clock::now();
  std::array<uint64_t, kTopics.size()> live = {};
  while (!stop_.load()) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    const int64_t now_ms = NowMs();
    for (size_t topic = 0; topic < kTopics.size(); ++topic) {
      const auto due = static_cast<uint64_t>(elapsed * kTopics[topic].rate);
      // After a stall (a sleeping machine) at most a second's worth is caught up.
      const auto second = static_cast<uint64_t>(kTopics[topic].rate) + 1;
      if (due > live[topic] + second) live[topic] = due - second;
      for (; live[topic] < due && !stop_.load(); ++live[topic]) {
        // A record that could not be sent is one that the demo does not show.
        if (!Send(topic, now_ms).ok()) break;
      }
    }
    producer_->Serve(std::chrono::milliseconds(0));
    std::this_thread::sleep_for(kTick);
  }
}

}  // namespace kafscope
