// Api: the server's answers below /api/v1, /metrics and /healthz, and the page's files. docs/web-api.md describes them.
// Threads: Handle() from any thread; it may wait for the cluster, so not from one that does I/O.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/memory_budget.h"
#include "pipeline/stream_manager.h"
#include "web/access.h"
#include "web/cluster.h"
#include "web/http_message.h"

namespace kafscope {

struct ServerInfo {
  std::string brokers;
  std::string registry;  // empty: none; without credentials
  bool demo = false;
};

// Counted by the server, shown in /metrics.
struct ServerCounters {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> refused{0};  // by access rules
  std::atomic<uint64_t> sockets_opened{0};
  std::atomic<int64_t> sockets_open{0};
  std::atomic<uint64_t> frames_sent{0};
  std::atomic<uint64_t> bytes_sent{0};
  std::atomic<uint64_t> frames_dropped{0};
};

class Api {
 public:
  Api(ServerInfo info, const AccessPolicy* access, Cluster* cluster, const StreamManager* streams,
      const ServerCounters* counters, std::shared_ptr<MemoryBudget> budget);

  HttpResponse Handle(const HttpRequest& request);
  // The stream that a WebSocket's parameters ask for.
  static Result<StreamQuery> ParseStreamQuery(const Target& target);

 private:
  HttpResponse HandleAllowed(const HttpRequest& request);
  HttpResponse StatusReport() const;
  HttpResponse Topics() const;
  HttpResponse Topic(const std::string& name);
  HttpResponse Metrics() const;

  const ServerInfo info_;
  const AccessPolicy* access_;
  Cluster* cluster_;
  const StreamManager* streams_;
  const ServerCounters* counters_;
  const std::shared_ptr<MemoryBudget> budget_;
};

// `{ok, messages?, error?: {message, line, column}}` for `{format, schema}`.
HttpResponse CheckSchema(const std::string& body);
HttpResponse Formats();

}  // namespace kafscope
