// kafscope produce, in its simplest useful form: made-up records at a rate. A record counts as sent only when the
// broker has confirmed it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/number_format.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/kafka_flags.h"
#include "cli/stop_signal.h"
#include "pipeline/query_options.h"
#include "source/kafka_producer.h"

namespace kafscope {

namespace {

using Clock = std::chrono::steady_clock;

struct ProduceCommand {
  KafkaFlags kafka;
  std::string topic;
  uint64_t count = 0;  // 0: until Ctrl-C
  double rate = 0;     // records a second; 0: as fast as it goes
  std::string format = "json";
  int fields = 20;
  std::string key = "none";
};

// Field i of record n by i mod 4: a number with fraction, a whole number, a text, a truth value.
void AppendJson(uint64_t n, int fields, std::string* out) {
  *out += '{';
  for (int i = 0; i < fields; ++i) {
    *out += (i == 0 ? "\"field_" : ",\"field_") + std::to_string(i) + "\":";
    const uint64_t value = n + static_cast<uint64_t>(i);
    switch (i % 4) {
      case 0: *out += std::to_string(value) + ".5"; break;
      case 1: *out += std::to_string(value); break;
      case 2: *out += "\"value-" + std::to_string(value) + "\""; break;
      default: *out += value % 2 == 0 ? "true" : "false";
    }
  }
  *out += '}';
}

void AppendText(uint64_t n, std::string* out) {
  *out += ToRfc3339(NowMs() * 1'000'000) + " sensor-" + std::to_string(n % 100) +
          " value=" + std::to_string(20 + n % 10) + ".5";
}

// Sends until count, Ctrl-C or a failure.
Status SendAll(const ProduceCommand& command, const StopSignal& stop, KafkaProducer& producer, uint64_t* sent) {
  const Clock::time_point start = Clock::now();
  std::string value;
  std::string key;
  for (uint64_t n = 0; (command.count == 0 || n < command.count) && !stop.stopped(); ++n) {
    if (command.rate > 0) {
      const auto due = start + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(static_cast<double>(n) / command.rate));
      if (stop.WaitUntil(due)) return {};
    }
    value.clear();
    if (command.format == "json") {
      AppendJson(n, command.fields, &value);
    } else {
      AppendText(n, &value);
    }
    ProducerRecord record;
    record.value = value;
    if (command.key == "sequence") {
      key = std::to_string(n);
      record.key = key;
    } else if (command.key != "none") {
      record.key = command.key;
    }
    KAFSCOPE_RETURN_IF_ERROR(producer.SendWaiting(command.topic, record, Clock::now() + std::chrono::seconds(30)));
    ++*sent;
    if (n % 1024 == 0 || command.rate > 0) producer.Serve(std::chrono::milliseconds(0));
  }
  return {};
}

int RunProduce(const ProduceCommand& command) {
  StopSignal stop;
  if (Status status = CheckTopicName(command.topic); !status.ok()) return ReportFailure(status);
  const Result<KafkaOptions> options = ToKafkaOptions(command.kafka);
  if (!options) return ReportFailure(options.error());
  Result<std::unique_ptr<KafkaProducer>> producer = KafkaProducer::Make(*options);
  if (!producer) return ReportFailure(producer.error());

  const Clock::time_point start = Clock::now();
  uint64_t sent = 0;
  Status status = SendAll(command, stop, **producer, &sent);
  // After Ctrl-C only what is on its way is waited for, and not for long.
  const Status flushed =
      (*producer)->Flush(stop.stopped() ? std::chrono::milliseconds(1500) : std::chrono::seconds(60));
  if (status.ok()) status = flushed;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const uint64_t delivered = (*producer)->delivered();
  const uint64_t failed = (*producer)->failed();
  std::printf("attempted %llu, delivered %llu, failed %llu, in %.3f s: %.0f records/s\n",
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(delivered),
              static_cast<unsigned long long>(failed), seconds, static_cast<double>(delivered) / seconds);
  if (status.ok() && failed > 0) status = (*producer)->last_error();
  return ReportFailure(status);
}

}  // namespace

void DefineProduce(CLI::App& app, int* exit_code) {
  auto command = std::make_shared<ProduceCommand>();
  app.add_option("topic", command->topic, "the topic to send to")->type_name("TOPIC")->required();
  AddKafkaFlags(app, &command->kafka);
  app.add_option("--count", command->count, "records; 0: until Ctrl-C (default)")->type_name("N");
  app.add_option("--rate", command->rate, "records a second; 0: as fast as it goes (default)")
      ->type_name("R")
      ->check(CLI::Range(0.0, 1e8));
  app.add_option("--format", command->format, "json (default) or plaintext")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "plaintext"}));
  app.add_option("--fields", command->fields, "fields of a JSON record (default 20)")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--key", command->key, "none (default), sequence (the record's number), or a fixed text")
      ->type_name("KEY");
  app.callback([command, exit_code] { *exit_code = RunProduce(*command); });
}

}  // namespace kafscope
