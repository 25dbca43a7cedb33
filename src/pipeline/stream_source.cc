#include "pipeline/stream_source.h"

#include <utility>

#include "source/kafka_source.h"

namespace kafscope {

Result<std::unique_ptr<Source>> MakeKafkaStreamSource(const KafkaOptions& options, const StreamQuery& query,
                                                      std::shared_ptr<MemoryBudget> budget) {
  SourceQuery source;
  source.topic = query.topic;
  source.partitions = query.partitions;
  source.from = query.from;
  source.until = query.until;
  source.read_committed = query.read_committed;
  // A schema id may stand in the headers of any record.
  source.headers = query.decode.headers != HeaderMode::kNone || query.decode.schemas != nullptr;
  KAFSCOPE_ASSIGN_OR_FAIL(std::unique_ptr<Source> made,
                          KafkaSource::Make(options, std::move(source), std::move(budget)));
  return made;
}

void FinishQuery(StreamQuery* query) { query->decode.partition_column = query->partitions.size() != 1; }

}  // namespace kafscope
