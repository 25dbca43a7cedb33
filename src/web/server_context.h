// What the connections of a server share. Internal to src/web. Threads: the members are safe.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "pipeline/stream_manager.h"
#include "web/access.h"
#include "web/api.h"
#include "web/cluster.h"
#include "web/server.h"

namespace kafscope {

// A connection that the server can end.
class Connection {
 public:
  virtual ~Connection() = default;
  // Closes it at once. From any thread.
  virtual void Abort() = 0;
};

struct ServerContext {
  ServerContext(ServerOptions given, std::unique_ptr<Cluster> the_cluster)
      : options(std::move(given)),
        access(options.token, options.allowed_hosts),
        cluster(std::move(the_cluster)),
        streams(options.streams),
        api(options.info, &access, cluster.get(), &streams, &counters, options.streams.budget) {}

  void Add(std::weak_ptr<Connection> connection) {
    const std::lock_guard lock(mutex);
    std::erase_if(connections, [](const std::weak_ptr<Connection>& known) { return known.expired(); });
    connections.push_back(std::move(connection));
  }
  size_t CountConnections() {
    const std::lock_guard lock(mutex);
    std::erase_if(connections, [](const std::weak_ptr<Connection>& known) { return known.expired(); });
    return connections.size();
  }
  void AbortAll() {
    std::vector<std::weak_ptr<Connection>> all;
    {
      const std::lock_guard lock(mutex);
      all = connections;
    }
    for (const auto& known : all) {
      if (const auto connection = known.lock()) connection->Abort();
    }
  }

  const ServerOptions options;
  const AccessPolicy access;
  std::atomic<bool> stopping{false};
  // Older than the streams: their subscribers hold executors of it.
  boost::asio::io_context io{2};
  const std::unique_ptr<Cluster> cluster;
  ServerCounters counters;
  StreamManager streams;
  Api api;
  boost::asio::thread_pool workers{4};
  std::mutex mutex;
  std::vector<std::weak_ptr<Connection>> connections;  // guarded by mutex
};

}  // namespace kafscope
