#include "web/metrics.h"

#include <string_view>

#include "base/version.h"
#include "web/api.h"

namespace kafscope {

namespace {

class Writer {
 public:
  void Head(std::string_view name, std::string_view type, std::string_view help) {
    text_ += "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " + std::string(name) + " " +
             std::string(type) + "\n";
  }
  // `labels`: `{a="b"}` or nothing. Their values are from bounded sets and need no escapes.
  void Value(std::string_view name, std::string_view labels, const std::string& value) {
    text_ += std::string(name) + std::string(labels) + " " + value + "\n";
  }
  void Counter(std::string_view name, std::string_view help, uint64_t value) {
    Head(name, "counter", help);
    Value(name, "", std::to_string(value));
  }
  void Gauge(std::string_view name, std::string_view help, int64_t value) {
    Head(name, "gauge", help);
    Value(name, "", std::to_string(value));
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string MetricsText(const StreamManager& streams, const ServerCounters& counters, const MemoryBudget* budget) {
  const std::vector<StreamManager::Running> running = streams.running();
  StreamStats total = streams.past();
  uint64_t lag = 0;
  for (const StreamManager::Running& stream : running) {
    AddCounters(stream.stats, &total);
    lag += stream.stats.lag_records.value_or(0);
  }
  Writer out;
  out.Head("kafscope_build_info", "gauge", "The version.");
  out.Value("kafscope_build_info", "{version=\"" + std::string(kVersion) + "\"}", "1");
  out.Gauge("kafscope_streams", "Streams that run.", static_cast<int64_t>(running.size()));
  out.Counter("kafscope_records_received_total", "Records given by the brokers.", total.received);
  out.Counter("kafscope_records_decoded_total", "Records decoded, error rows included.", total.decode.records);
  out.Counter("kafscope_rows_total", "Rows made of them.", total.decode.rows);
  out.Counter("kafscope_rows_filtered_total", "Rows left out by filters.", total.decode.filtered);
  out.Counter("kafscope_payload_bytes_total", "Bytes of record values.", total.decode.payload_bytes);
  out.Counter("kafscope_frames_total", "Frames sealed.", total.frames);
  out.Head("kafscope_error_rows_total", "counter", "Rows that could not be decoded, by reason.");
  for (size_t i = 1; i < kErrorReasonCount; ++i) {
    out.Value("kafscope_error_rows_total",
              "{reason=\"" + std::string(ErrorReasonName(static_cast<ErrorReason>(i))) + "\"}",
              std::to_string(total.decode.errors[i]));
  }
  out.Counter("kafscope_records_lost_to_retention_total", "Records that the broker deleted before they were read.",
              total.gap_records);
  out.Counter("kafscope_records_too_large_total", "Records skipped for their size.", total.skipped_records);
  out.Gauge("kafscope_lag_records", "Records behind the ends of the logs, all streams together.",
            static_cast<int64_t>(lag));
  out.Gauge("kafscope_websockets", "WebSockets that are open.", counters.sockets_open.load());
  out.Counter("kafscope_websockets_total", "WebSockets opened.", counters.sockets_opened.load());
  out.Counter("kafscope_frames_sent_total", "Frames sent to WebSockets.", counters.frames_sent.load());
  out.Counter("kafscope_bytes_sent_total", "Bytes of those frames.", counters.bytes_sent.load());
  out.Counter("kafscope_frames_dropped_total", "Frames that slow WebSockets lost.", counters.frames_dropped.load());
  out.Counter("kafscope_http_requests_total", "HTTP requests answered.", counters.requests.load());
  out.Counter("kafscope_http_refused_total", "HTTP requests refused by the access rules.", counters.refused.load());
  if (budget != nullptr) {
    out.Gauge("kafscope_memory_budget_bytes", "Bytes that queues may hold.", static_cast<int64_t>(budget->limit()));
    out.Gauge("kafscope_memory_budget_used_bytes", "Bytes that they hold.", static_cast<int64_t>(budget->used()));
  }
  return out.Take();
}

}  // namespace kafscope
