// Server: the browser page, the HTTP API and the WebSocket streams.
//
// Use: Make() binds and serves until Stop() or destruction. Stop(): streams get what was decoded and their end, then
// all connections are closed; at most kStopPatience. Security: see AccessPolicy; every response carries a strict
// Content-Security-Policy; requests, messages, queues and connections are bounded. A slow client loses its own oldest
// frames only. Threads: own ones (two for I/O, four for answers that wait for the cluster); calls from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"
#include "pipeline/stream_manager.h"
#include "web/api.h"
#include "web/cluster.h"

namespace kafscope {

struct ServerOptions {
  std::string listen = "127.0.0.1:8080";   // ADDRESS:PORT; port 0: a free one
  std::string token;                       // empty: none; needed unless `listen` is loopback
  std::vector<std::string> allowed_hosts;  // names besides addresses and localhost
  ServerInfo info;
  std::shared_ptr<SchemaStore> schemas;  // null: no registry
  StreamManager::Options streams;
  size_t max_connections = 256;
  size_t max_queued_bytes = size_t{16} << 20;  // of one WebSocket
  std::chrono::milliseconds stats_interval{500};
  std::chrono::milliseconds idle_timeout{60'000};  // of a WebSocket whose peer answers no ping
};

class Server {
 public:
  static constexpr std::chrono::milliseconds kStopPatience{1200};

  // A failure names the option.
  static Result<std::unique_ptr<Server>> Make(ServerOptions options, std::unique_ptr<Cluster> cluster);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  std::string url() const;
  void Stop();
  const ServerCounters& counters() const;

 private:
  class Impl;
  explicit Server(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace kafscope
