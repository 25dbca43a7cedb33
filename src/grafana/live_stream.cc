#include "grafana/live_stream.h"

#include <nlohmann/json.hpp>

namespace kafscope {

namespace {

// What a stream's event means to a panel: the notice's severity, and the state.
std::pair<std::string_view, std::string_view> SeverityAndState(SourceEvent::Kind kind) {
  switch (kind) {
    case SourceEvent::Kind::kConnected: return {"info", "live"};
    case SourceEvent::Kind::kDisconnected: return {"warning", "reconnecting"};
    case SourceEvent::Kind::kTopicMissing: return {"warning", "topic_missing"};
    case SourceEvent::Kind::kTopicRecreated: return {"info", "live"};
    case SourceEvent::Kind::kPartitionsAdded: return {"info", "live"};
    case SourceEvent::Kind::kGap: return {"warning", "live"};
    case SourceEvent::Kind::kRecordSkipped: return {"warning", "live"};
    case SourceEvent::Kind::kOpenTransaction: return {"info", "waiting_for_transaction"};
    case SourceEvent::Kind::kFailed: return {"error", "failed"};
  }
  return {"info", "live"};
}

}  // namespace

LiveStream::LiveStream(std::shared_ptr<Instance> instance, PanelQuery query)
    : instance_(std::move(instance)),
      query_(std::move(query)),
      encoder_(GrafanaJsonOptions{.name = query_.alias.empty() ? std::string() : ExpandAlias(query_, ""),
                                  .ref_id = query_.ref_id}) {}

Result<std::unique_ptr<LiveStream>> LiveStream::Open(std::shared_ptr<Instance> instance, PanelQuery query,
                                                     int64_t now_ms) {
  if (query.mode == PanelQuery::Mode::kHistoryLive && query.lookback_ms > 0) {
    // History and live are one reading of the log: there is no seam between them that could hold a gap or a repeat.
    query.stream.from = {StartPosition::Kind::kTime, now_ms - query.lookback_ms};
  }
  std::unique_ptr<LiveStream> live(new LiveStream(std::move(instance), std::move(query)));
  SubscriberOptions options;
  options.kind = PacketKind::kFrame;
  options.overflow = SubscriberOptions::Overflow::kWait;
  KAFSCOPE_ASSIGN_OR_FAIL(live->stream_, live->instance_->streams().Open(live->query_.stream, std::move(options)));
  return live;
}

LiveStream::Outcome LiveStream::Next(std::chrono::milliseconds wait, std::string* packet) {
  if (ended_) return Outcome::kEnd;
  StreamItem item;
  if (!stream_->subscriber().Pop(std::chrono::steady_clock::now() + wait, &item)) return Outcome::kNothing;
  switch (item.kind) {
    case StreamItem::Kind::kPacket:
      packet->clear();
      encoder_.Encode(*item.packet.frame, packet);
      schema_ = item.packet.frame->shared_schema();
      *packet = Decorate(std::move(*packet));
      return Outcome::kPacket;
    case StreamItem::Kind::kEvent: {
      const auto [severity, state] = SeverityAndState(item.event.kind);
      *packet = NoticePacket(severity, state, item.event.message);
      return Outcome::kPacket;
    }
    case StreamItem::Kind::kEnd:
      ended_ = true;
      *packet = item.status.ok() ? NoticePacket("info", "finished", "all records that were asked for have been shown")
                                 : NoticePacket("error", "failed", std::string(item.status.message()));
      return Outcome::kPacket;
  }
  return Outcome::kNothing;
}

// The alias as each field's display name, the time field excepted.
std::string LiveStream::Decorate(std::string packet) const {
  if (query_.alias.empty()) return packet;
  constexpr std::string_view kFields = "\"fields\":[";
  size_t at = packet.find(kFields);
  if (at == std::string::npos) return packet;
  at += kFields.size();
  for (const Field& field : schema_->fields()) {
    const size_t name = packet.find("{\"name\":", at);
    if (name == std::string::npos) break;
    at = name + 1;
    if (field.role == FieldRole::kTime) continue;
    const nlohmann::json config = {{"displayNameFromDS", ExpandAlias(query_, field.name)}};
    const std::string text = "\"config\":" + config.dump() + ",";
    packet.insert(at, text);
    at += text.size();
  }
  return packet;
}

std::string LiveStream::NoticePacket(std::string_view severity, std::string_view state, const std::string& text) {
  const nlohmann::json meta = {{"notices", {{{"severity", severity}, {"text", text}}}},
                               {"custom", {{"state", state}, {"message", text}}}};
  const std::string meta_text = meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string packet;
  if (schema_ == nullptr) {
    return R"({"schema":{"meta":)" + meta_text +
           R"(,"fields":[{"name":"time","type":"time","typeInfo":{"frame":"time.Time","nullable":true}}]},)"
           R"("data":{"values":[[]]}})";
  }
  encoder_.EncodeSchema(schema_, &packet);
  packet = Decorate(std::move(packet));
  constexpr std::string_view kBegin = "{\"schema\":{";
  packet.insert(kBegin.size(), "\"meta\":" + meta_text + ",");
  packet.pop_back();
  packet.append(",\"data\":{\"values\":[");
  for (size_t i = 0; i < schema_->num_fields(); ++i) packet.append(i == 0 ? "[]" : ",[]");
  return packet.append("]}}");
}

}  // namespace kafscope
