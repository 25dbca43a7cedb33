#include <chrono>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "grafana/answer_frame.h"
#include "grafana/history.h"
#include "grafana/services.h"

namespace kafscope {

namespace {

void Refuse(const Status& status, pluginv2::DataResponse* response) {
  int http = 500;
  switch (status.code()) {
    case StatusCode::kInvalidArgument: http = 400; break;
    case StatusCode::kUnauthenticated: http = 401; break;
    case StatusCode::kPermissionDenied: http = 403; break;
    case StatusCode::kNotFound: http = 404; break;
    case StatusCode::kResourceExhausted: http = 413; break;
    case StatusCode::kUnsupported: http = 501; break;
    case StatusCode::kUnavailable: http = 502; break;
    case StatusCode::kDeadlineExceeded: http = 504; break;
    default: break;
  }
  std::string clean;
  AppendReplacedUtf8(status.message(), &clean);
  response->set_error(clean);
  response->set_status(http);
  const bool ours = status.code() == StatusCode::kInternal;
  response->set_errorsource(ours ? "plugin" : "downstream");
}

// A live query's answer is an empty frame that names its channel; the front end subscribes to it.
std::string ChannelFrame(const Instance& instance, const PanelQuery& query) {
  FrameBuilder builder({});
  builder.FindOrAddColumn("time", FieldRole::kTime);
  const FramePtr empty = builder.Finish();
  const nlohmann::json meta = {{"channel", "ds/" + instance.uid() + "/" + query.Path()}};
  AnswerFrame answer{"", query.ref_id, meta.dump(), {}, {}};
  answer.fields.push_back({"time", &empty->column(0), {}, {}});
  return WriteArrowFile(answer);
}

Status Answer(Instance& instance, const pluginv2::DataQuery& wire, bool from_alert, pluginv2::DataResponse* response) {
  auto query = ParsePanelQuery(wire.json(), instance.settings(), instance.schemas());
  if (!query) return query.error();
  query->ref_id = wire.refid();
  response->set_status(200);
  // An alert rule cannot follow a stream: it gets the window read once.
  const bool live = query->mode != PanelQuery::Mode::kHistory && query->reduce == PanelQuery::Reduce::kNone;
  if (live && !from_alert) {
    instance.RememberPath(query->Path(), wire.json());
    response->add_frames(ChannelFrame(instance, *query));
    return {};
  }
  const HistoryRange range{wire.timerange().fromepochms(), wire.timerange().toepochms(), wire.maxdatapoints()};
  if (range.from_ms > range.to_ms) return Status::InvalidArgument("the time range ends before it begins");
  auto rows = ReadHistory(instance, *query, range);
  if (!rows) return rows.error();
  auto frames = MakeAnswer(*rows, *query, range);
  if (!frames) return frames.error();
  for (std::string& frame : *frames) response->add_frames(std::move(frame));
  return {};
}

}  // namespace

grpc::Status DataService::QueryData(grpc::ServerContext*, const pluginv2::QueryDataRequest* request,
                                    pluginv2::QueryDataResponse* response) {
  const auto instance = instances_.Get(request->plugincontext());
  const auto alert = request->headers().find("FromAlert");
  const bool from_alert = alert != request->headers().end() && alert->second == "true";
  for (const pluginv2::DataQuery& query : request->queries()) {
    pluginv2::DataResponse& answer = (*response->mutable_responses())[query.refid()];
    const Status status = instance ? Answer(**instance, query, from_alert, &answer) : instance.error();
    if (!status.ok()) Refuse(status, &answer);
  }
  return grpc::Status::OK;
}

}  // namespace kafscope
