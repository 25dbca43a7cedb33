// PanelQuery: a query as the query editor saves it, with the keys of the existing Kafka data source and our own
// (docs/grafana.md). Unknown keys are ignored; a wrong value gives an error that names its key.
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "grafana/settings.h"
#include "pipeline/stream_query.h"

namespace kafscope {

struct PanelQuery {
  enum class Mode : uint8_t {
    kLive,         // the stream only: what a query without our key `mode` is, as in the existing plugin
    kHistory,      // the dashboard's range, read once
    kHistoryLive,  // the range so far, then the stream, without gap or repeat
  };
  enum class Reduce : uint8_t { kNone, kCount, kRate, kSum, kAvg, kMin, kMax, kLast, kP50, kP90, kP95, kP99 };

  StreamQuery stream;
  Mode mode = Mode::kLive;
  int64_t lookback_ms = 0;  // kHistoryLive: how far back the stream begins
  std::string ref_id;
  std::string alias;
  std::vector<std::string> series_by;  // fields whose values become labels: one series each
  bool down_sample = true;             // of history, to maxDataPoints
  Reduce reduce = Reduce::kNone;       // of history: one number a series, for alert rules
  std::string reduce_field;            // empty: every numeric value column
  int64_t frame_interval_ms = 100;     // at most one packet in this time while rows are few

  // A text of the allowed characters, equal for equal queries only: the stream's channel path.
  std::string Path() const;
};

// `schemas` may be null: no registry.
Result<PanelQuery> ParsePanelQuery(std::string_view json, const DataSourceSettings& settings,
                                   std::shared_ptr<SchemaStore> schemas);

// `{{topic}}`, `{{partition}}`, `{{refid}}` and `{{field}}` of an alias replaced.
std::string ExpandAlias(const PanelQuery& query, std::string_view field);

}  // namespace kafscope
