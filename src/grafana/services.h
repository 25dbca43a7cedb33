// The gRPC services that Grafana calls (proto/pluginv2.proto), over the engine. Nothing is thrown through a handler;
// every failure is an answer in words that name what to change.
//
// Threads: gRPC's own; a RunStream holds one for its life. Stop() lets all streams end.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>

#include "goplugin.grpc.pb.h"
#include "grafana/instance.h"
#include "pluginv2.grpc.pb.h"

namespace kafscope {

class DiagnosticsService final : public pluginv2::Diagnostics::Service {
 public:
  explicit DiagnosticsService(InstanceCache& instances) : instances_(instances) {}
  grpc::Status CheckHealth(grpc::ServerContext*, const pluginv2::CheckHealthRequest* request,
                           pluginv2::CheckHealthResponse* response) override;
  grpc::Status CollectMetrics(grpc::ServerContext*, const pluginv2::CollectMetricsRequest* request,
                              pluginv2::CollectMetricsResponse* response) override;

 private:
  InstanceCache& instances_;
};

class DataService final : public pluginv2::Data::Service {
 public:
  explicit DataService(InstanceCache& instances) : instances_(instances) {}
  grpc::Status QueryData(grpc::ServerContext*, const pluginv2::QueryDataRequest* request,
                         pluginv2::QueryDataResponse* response) override;

 private:
  InstanceCache& instances_;
};

class ResourceService final : public pluginv2::Resource::Service {
 public:
  explicit ResourceService(InstanceCache& instances) : instances_(instances) {}
  grpc::Status CallResource(grpc::ServerContext*, const pluginv2::CallResourceRequest* request,
                            grpc::ServerWriter<pluginv2::CallResourceResponse>* writer) override;

 private:
  InstanceCache& instances_;
};

class StreamService final : public pluginv2::Stream::Service {
 public:
  explicit StreamService(InstanceCache& instances) : instances_(instances) {}
  void Stop() { stopping_.store(true); }
  grpc::Status SubscribeStream(grpc::ServerContext*, const pluginv2::SubscribeStreamRequest* request,
                               pluginv2::SubscribeStreamResponse* response) override;
  grpc::Status RunStream(grpc::ServerContext* context, const pluginv2::RunStreamRequest* request,
                         grpc::ServerWriter<pluginv2::StreamPacket>* writer) override;
  grpc::Status PublishStream(grpc::ServerContext*, const pluginv2::PublishStreamRequest* request,
                             pluginv2::PublishStreamResponse* response) override;

 private:
  static constexpr int kMaxStreams = 200;

  InstanceCache& instances_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> running_{0};
};

}  // namespace kafscope
