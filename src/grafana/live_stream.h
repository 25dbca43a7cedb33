// LiveStream: one Grafana Live channel: a subscription to the shared pipeline of its query, as packets of frame JSON.
//
// A packet has schema and data, so that a subscriber may join at any time; columns are only appended. What goes wrong
// is told by a packet whose frame carries `meta.notices` and `meta.custom.state`, never by an extra column. Use:
// Open(), then Next() until it gives false; Cancel-aware by its deadline. Threads: one, but for the destructor of the
// stream manager.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "encode/grafana_json_encoder.h"
#include "grafana/instance.h"
#include "grafana/panel_query.h"

namespace kafscope {

class LiveStream {
 public:
  static Result<std::unique_ptr<LiveStream>> Open(std::shared_ptr<Instance> instance, PanelQuery query, int64_t now_ms);

  // The next packet within `wait`: kPacket, kNothing, or kEnd once all has been said.
  enum class Outcome { kPacket, kNothing, kEnd };
  Outcome Next(std::chrono::milliseconds wait, std::string* packet);

 private:
  LiveStream(std::shared_ptr<Instance> instance, PanelQuery query);
  std::string Decorate(std::string packet) const;
  std::string NoticePacket(std::string_view severity, std::string_view state, const std::string& text);

  std::shared_ptr<Instance> instance_;
  PanelQuery query_;
  std::unique_ptr<StreamManager::Stream> stream_;
  GrafanaJsonEncoder encoder_;
  std::shared_ptr<const Schema> schema_;  // of the last packet
  bool ended_ = false;
};

}  // namespace kafscope
