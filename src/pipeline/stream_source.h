// The Kafka source of a stream's query. Threads: free functions, safe.
#pragma once

#include <memory>

#include "base/memory_budget.h"
#include "base/status.h"
#include "pipeline/stream_query.h"
#include "source/kafka_options.h"
#include "source/source.h"

namespace kafscope {

// Connects in the background; a failure names the option.
Result<std::unique_ptr<Source>> MakeKafkaStreamSource(const KafkaOptions& options, const StreamQuery& query,
                                                      std::shared_ptr<MemoryBudget> budget);
// Sets what follows from the rest: whether rows carry their partition (unless exactly one was asked for).
void FinishQuery(StreamQuery* query);

}  // namespace kafscope
