// History: a query's time range read from Kafka once, and what a panel or an alert rule wants of it: the rows in order
// of time, at most as many points as the panel has pixels, one series for each value of `seriesBy`, or one number a
// series.
//
// Bounded by rows and time; what is cut is said in the frame's notices.
// Threads: free functions; each call has its own connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "frame/frame.h"
#include "grafana/instance.h"
#include "grafana/panel_query.h"

namespace kafscope {

struct HistoryRange {
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  int64_t max_data_points = 0;  // 0: no down-sampling
};

struct HistoryRows {
  FramePtr frame;
  std::vector<uint32_t> order;       // rows by time, partition, offset
  std::vector<std::string> notices;  // what is cut, and what a viewer should know
  uint64_t records = 0;
};

Result<HistoryRows> ReadHistory(const Instance& instance, const PanelQuery& query, const HistoryRange& range);

// The answer's frames as Arrow files.
Result<std::vector<std::string>> MakeAnswer(const HistoryRows& rows, const PanelQuery& query,
                                            const HistoryRange& range);

}  // namespace kafscope
