// The options of a stream as users write them: one table for the command line (`--max-depth 5`), the WebSocket
// (`max_depth=5`) and the documentation.
//
// Use: SetQueryOption() for each name and value, then CheckQuery(). A failure begins with the option's name as the user
// wrote it. Threads: free functions, safe. Cost: set-up only.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "pipeline/stream_query.h"

namespace kafscope {

struct QueryOption {
  std::string_view name;   // "max-depth"; `max_depth` means the same
  std::string_view value;  // what its value is called in help texts
  std::string_view help;
  bool decoding;  // how bytes become columns: `kafscope decode` has it too
  Status (*set)(std::string_view value, int64_t now_ms, StreamQuery* query);
};

std::span<const QueryOption> QueryOptions();
const QueryOption* FindQueryOption(std::string_view name);
// `now_ms` is what relative times count from.
Status SetQueryOption(std::string_view name, std::string_view value, int64_t now_ms, StreamQuery* query);
// What only the options together can tell, the topic's name included.
Status CheckQuery(const StreamQuery& query);
// Kafka's rule: 1 to 249 of letters, digits, '.', '_' and '-', not "." or "..".
Status CheckTopicName(std::string_view topic);

std::string_view FormatName(Format format);
std::span<const std::string_view> KeyFormatNames();

}  // namespace kafscope
