// StreamSocket: one WebSocket that shows a stream. Internal to src/web.
//
// Binary messages are self-contained Arrow IPC streams, text messages JSON (docs/web-api.md). One write is under way at
// a time; what waits is bounded by the subscriber's queue. Threads: a strand of its own.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <memory>
#include <string>

#include "pipeline/stream_manager.h"
#include "web/server_context.h"

namespace kafscope {

class StreamSocket final : public Connection, public std::enable_shared_from_this<StreamSocket> {
 public:
  using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;

  // REQUIRES: the request was allowed.
  StreamSocket(std::shared_ptr<ServerContext> context, boost::beast::tcp_stream stream, Target target);
  ~StreamSocket() override;
  void Abort() override;
  void Accept(const HttpMessage& request);

 private:
  void Open();
  void Opened(Result<std::unique_ptr<StreamManager::Stream>> stream);
  void Read();
  void Pump();
  bool TakeItem();
  void WriteText();
  void WritePacket(Packet packet);
  void Written(const boost::system::error_code& error);
  void SendText(std::string text);
  void EndWith(std::string text);
  void Close();
  void NoteDrops();
  void Fail();
  void StartTimer();
  std::string HelloText() const;
  std::string StatsText() const;

  std::shared_ptr<ServerContext> context_;
  boost::beast::websocket::stream<boost::beast::tcp_stream> socket_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer incoming_;
  const Target target_;
  StreamQuery query_;
  std::unique_ptr<StreamManager::Stream> stream_;
  std::deque<std::string> texts_;
  std::string text_;  // being written
  Packet packet_;     // being written
  bool writing_ = false;
  bool ending_ = false;  // closes once the texts are out
  bool closed_ = false;
};

}  // namespace kafscope
