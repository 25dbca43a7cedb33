// kafscope tail: a topic's records, decoded, in the terminal or into a pipe.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/decode_flags.h"
#include "cli/kafka_flags.h"
#include "cli/row_output.h"
#include "cli/stop_signal.h"
#include "pipeline/pipeline.h"
#include "pipeline/query_options.h"
#include "pipeline/stream_source.h"

namespace kafscope {

namespace {

struct TailCommand {
  StreamQuery query;
  KafkaFlags kafka;
  DecodeFlags flags;
  OutputFlags output;
  bool quiet = false;
};

void Tell(const std::string& message) { std::fprintf(stderr, "kafscope: %s\n", message.c_str()); }

// What the reader of the rows should know at the end.
void TellSummary(const StreamStats& stats) {
  for (size_t i = 0; i < kErrorReasonCount; ++i) {
    if (stats.decode.errors[i] == 0) continue;
    Tell(std::to_string(stats.decode.errors[i]) +
         " error rows: " + std::string(ErrorReasonName(static_cast<ErrorReason>(i))));
  }
  if (stats.decode.fields_cut > 0) Tell(std::to_string(stats.decode.fields_cut) + " fields beyond --max-fields");
  if (stats.decode.replaced_utf8 > 0) {
    Tell(std::to_string(stats.decode.replaced_utf8) + " texts were not UTF-8: U+FFFD stands for the rest");
  }
  for (const std::string& note : stats.notes) Tell("note: " + note);
}

// Writes what comes until the end; the status of the stream.
Status Deliver(Subscriber& subscriber, Pipeline& pipeline, RowOutput& output, bool quiet) {
  StreamItem item;
  for (;;) {
    if (!subscriber.Pop(Subscriber::Clock::time_point::max(), &item)) continue;
    switch (item.kind) {
      case StreamItem::Kind::kPacket:
        KAFSCOPE_RETURN_IF_ERROR(output.Write(*item.packet.frame));
        item.packet = {};
        break;
      case StreamItem::Kind::kEvent:
        if (item.event.kind == SourceEvent::Kind::kFailed) {
          pipeline.Stop();
          return Status::Unavailable(item.event.message);
        }
        if (!quiet && item.event.kind != SourceEvent::Kind::kConnected) Tell(item.event.message);
        break;
      case StreamItem::Kind::kEnd: return item.status;
    }
  }
}

int RunTail(TailCommand& command) {
  StopSignal stop;
  if (Status status = ApplyDecodeFlags(command.flags, &command.query); !status.ok()) return ReportFailure(status);
  if (Status status = CheckQuery(command.query); !status.ok()) return ReportFailure(status);
  FinishQuery(&command.query);
  Result<KafkaOptions> kafka = ToKafkaOptions(command.kafka);
  if (!kafka) return ReportFailure(kafka.error());
  Result<RowOutput> output = RowOutput::Make(command.output);
  if (!output) return ReportFailure(output.error());
  Result<std::unique_ptr<Source>> source = MakeKafkaStreamSource(*kafka, command.query, nullptr);
  if (!source) return ReportFailure(source.error());
  HistoryLimits no_history;
  no_history.max_rows = 0;
  Result<std::unique_ptr<Pipeline>> made =
      Pipeline::Make({*std::move(source), command.query, no_history, /*budget=*/nullptr});
  if (!made) return ReportFailure(made.error());
  Pipeline& pipeline = **made;

  // Every row counts here: the pipeline waits for the reader of our output.
  SubscriberOptions options;
  options.overflow = SubscriberOptions::Overflow::kWait;
  const std::shared_ptr<Subscriber> subscriber = pipeline.fanout().Subscribe(options);
  pipeline.Start();
  stop.SetCallback([&pipeline] { pipeline.Stop(); });
  Status status = Deliver(*subscriber, pipeline, *output, command.quiet);
  stop.SetCallback(nullptr);
  subscriber->Cancel();
  pipeline.Stop();
  const bool reader_gone = status.code() == StatusCode::kCancelled;
  if (!reader_gone) {
    const Status finished = output->Finish();
    if (status.ok() && finished.code() != StatusCode::kCancelled) status = finished;
  }
  if (!command.quiet) TellSummary(pipeline.stats());
  return reader_gone ? kExitGood : ReportFailure(status);
}

}  // namespace

void DefineTail(CLI::App& app, int* exit_code) {
  auto command = std::make_shared<TailCommand>();
  app.add_option("topic", command->query.topic, "the topic to read")->type_name("TOPIC")->required();
  AddKafkaFlags(app, &command->kafka);
  AddStreamFlags(app, &command->flags);
  AddOutputFlags(app, &command->output);
  app.add_flag("--quiet", command->quiet, "say nothing on standard error but failures");
  app.callback([command, exit_code] { *exit_code = RunTail(*command); });
}

}  // namespace kafscope
