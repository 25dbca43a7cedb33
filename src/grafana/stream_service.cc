#include <chrono>

#include "base/clock.h"
#include "grafana/hclog.h"
#include "grafana/live_stream.h"
#include "grafana/services.h"

namespace kafscope {

namespace {

constexpr std::chrono::milliseconds kWait{50};  // how soon a cancelled call is noticed

// The query of a channel: the subscription's data, or what an answer of ours said of the path.
Result<PanelQuery> QueryOf(const Instance& instance, const std::string& path, const std::string& data) {
  const std::string json = data.empty() || data == "null" ? instance.QueryOfPath(path) : data;
  if (json.empty()) return Fail(Status::NotFound("no query is known for channel path " + path));
  return ParsePanelQuery(json, instance.settings(), instance.schemas());
}

// Counts while alive.
class Running {
 public:
  explicit Running(std::atomic<int>& count) : count_(count), number_(++count) {}
  ~Running() { --count_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  int number() const { return number_; }

 private:
  std::atomic<int>& count_;
  int number_;
};

}  // namespace

grpc::Status StreamService::SubscribeStream(grpc::ServerContext*, const pluginv2::SubscribeStreamRequest* request,
                                            pluginv2::SubscribeStreamResponse* response) {
  using Answer = pluginv2::SubscribeStreamResponse;
  response->set_status(Answer::NOT_FOUND);
  const auto instance = instances_.Get(request->plugincontext());
  if (!instance) {
    response->set_status(Answer::PERMISSION_DENIED);
    return grpc::Status::OK;
  }
  if (!QueryOf(**instance, request->path(), request->data())) return grpc::Status::OK;
  response->set_status(Answer::OK);
  response->set_data((*instance)->LastPacket(request->path()));
  return grpc::Status::OK;
}

grpc::Status StreamService::RunStream(grpc::ServerContext* context, const pluginv2::RunStreamRequest* request,
                                      grpc::ServerWriter<pluginv2::StreamPacket>* writer) {
  const Running running(running_);
  const auto instance = instances_.Get(request->plugincontext());
  if (!instance) return {grpc::StatusCode::FAILED_PRECONDITION, std::string(instance.error().message())};
  if (running.number() > kMaxStreams) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "200 streams are running"};
  auto query = QueryOf(**instance, request->path(), request->data());
  if (!query) return {grpc::StatusCode::INVALID_ARGUMENT, std::string(query.error().message())};
  auto live = LiveStream::Open(*instance, *std::move(query), NowMs());
  if (!live) return {grpc::StatusCode::FAILED_PRECONDITION, std::string(live.error().message())};
  Log(LogLevel::kDebug, "stream begins", {{"path", request->path()}});
  pluginv2::StreamPacket packet;
  // A finished stream stays open, so that late subscribers find it.
  while (!context->IsCancelled() && !stopping_.load()) {
    switch ((*live)->Next(kWait, packet.mutable_data())) {
      case LiveStream::Outcome::kPacket:
        (*instance)->RememberPacket(request->path(), packet.data());
        if (!writer->Write(packet)) return grpc::Status::OK;
        break;
      case LiveStream::Outcome::kNothing: break;
      case LiveStream::Outcome::kEnd: std::this_thread::sleep_for(kWait); break;
    }
  }
  (*instance)->ForgetPacket(request->path());
  Log(LogLevel::kDebug, "stream ends", {{"path", request->path()}});
  return grpc::Status::OK;
}

grpc::Status StreamService::PublishStream(grpc::ServerContext*, const pluginv2::PublishStreamRequest*,
                                          pluginv2::PublishStreamResponse* response) {
  response->set_status(pluginv2::PublishStreamResponse::PERMISSION_DENIED);
  return grpc::Status::OK;
}

}  // namespace kafscope
