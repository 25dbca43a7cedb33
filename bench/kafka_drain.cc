// kafka_drain BROKERS TOPIC: takes every record of a topic from librdkafka and does nothing with it: the yardstick for
// `kafscope tail` (bench/kafka_tail.sh compares the two). Prints records, seconds and CPU seconds.
//
// It is tuned as Kafscope's own reader is; librdkafka's defaults are slower (a full queue rests for 1 s).
#include <librdkafka/rdkafka.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

rd_kafka_t* MakeConsumer(const char* brokers) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char text[256] = "";
  for (const auto& [name, value] : {std::pair{"bootstrap.servers", brokers},
                                    {"fetch.queue.backoff.ms", "10"},
                                    {"queued.min.messages", "1000000"},
                                    {"queued.max.messages.kbytes", "32768"},
                                    {"max.partition.fetch.bytes", "4194304"},
                                    {"fetch.max.bytes", "8388608"},
                                    {"fetch.wait.max.ms", "100"},
                                    {"check.crcs", "true"},
                                    {"enable.partition.eof", "true"},
                                    {"isolation.level", "read_committed"}}) {
    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK) {
      std::fprintf(stderr, "%s: %s\n", name, text);
      std::exit(2);
    }
  }
  rd_kafka_t* consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
  if (consumer == nullptr) {
    std::fprintf(stderr, "%s\n", text);
    std::exit(2);
  }
  return consumer;
}

// Starts every partition at its beginning; gives their number.
int StartAll(rd_kafka_t* consumer, rd_kafka_topic_t* topic, rd_kafka_queue_t* queue) {
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(consumer, 0, topic, &metadata, 30'000) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    std::fprintf(stderr, "no answer from the broker\n");
    std::exit(1);
  }
  const int partitions = metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  for (int32_t id = 0; id < partitions; ++id) {
    rd_kafka_consume_start_queue(topic, id, RD_KAFKA_OFFSET_BEGINNING, queue);
  }
  return partitions;
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kafka_drain BROKERS TOPIC\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  rd_kafka_t* consumer = MakeConsumer(argv[1]);
  rd_kafka_topic_t* topic = rd_kafka_topic_new(consumer, argv[2], nullptr);
  rd_kafka_queue_t* queue = rd_kafka_queue_new(consumer);
  int open = StartAll(consumer, topic, queue);
  uint64_t records = 0;
  std::array<rd_kafka_message_t*, 4096> messages{};
  while (open > 0) {
    // A batch call waits out its whole timeout: wait for one message, then take what is there.
    ssize_t got = rd_kafka_consume_batch_queue(queue, 1000, messages.data(), 1);
    while (got > 0) {
      for (ssize_t i = 0; i < got; ++i) {
        const rd_kafka_message_t* message = messages[static_cast<size_t>(i)];
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) --open;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++records;
        rd_kafka_message_destroy(messages[static_cast<size_t>(i)]);
      }
      got = rd_kafka_consume_batch_queue(queue, 0, messages.data(), messages.size());
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%llu %.3f %.3f\n", static_cast<unsigned long long>(records), seconds, CpuSeconds());
  return 0;
}
