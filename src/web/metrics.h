// The server's counters in Prometheus' text format. Threads: safe.
#pragma once

#include <string>

#include "base/memory_budget.h"
#include "pipeline/stream_manager.h"

namespace kafscope {

struct ServerCounters;

std::string MetricsText(const StreamManager& streams, const ServerCounters& counters, const MemoryBudget* budget);

}  // namespace kafscope
