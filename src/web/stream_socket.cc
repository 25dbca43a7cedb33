#include "web/stream_socket.h"

#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/version.h"
#include "pipeline/query_options.h"
#include "pipeline/stream_source.h"

namespace kafscope {

namespace {

namespace beast = boost::beast;
namespace asio = boost::asio;
namespace websocket = beast::websocket;
using boost::system::error_code;
using Json = nlohmann::ordered_json;

constexpr size_t kMaxIncomingMessage = 64 * 1024;

std::string Text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string_view EventName(SourceEvent::Kind kind) {
  switch (kind) {
    case SourceEvent::Kind::kConnected: return "connected";
    case SourceEvent::Kind::kDisconnected: return "disconnected";
    case SourceEvent::Kind::kTopicMissing: return "topic_missing";
    case SourceEvent::Kind::kTopicRecreated: return "topic_recreated";
    case SourceEvent::Kind::kPartitionsAdded: return "partitions_added";
    case SourceEvent::Kind::kGap: return "gap";
    case SourceEvent::Kind::kRecordSkipped: return "record_skipped";
    case SourceEvent::Kind::kOpenTransaction: return "open_transaction";
    case SourceEvent::Kind::kFailed: return "failed";
  }
  return "unknown";
}

}  // namespace

StreamSocket::StreamSocket(std::shared_ptr<ServerContext> context, beast::tcp_stream stream, Target target)
    : context_(std::move(context)),
      socket_(std::move(stream)),
      timer_(socket_.get_executor()),
      target_(std::move(target)) {
  context_->counters.sockets_opened.fetch_add(1);
  context_->counters.sockets_open.fetch_add(1);
}

StreamSocket::~StreamSocket() { context_->counters.sockets_open.fetch_sub(1); }

void StreamSocket::Abort() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->Fail();
    beast::get_lowest_layer(self->socket_).close();  // a closing handshake under way too
  });
}

void StreamSocket::Accept(const HttpMessage& request) {
  context_->Add(weak_from_this());
  // The time-outs of the WebSocket take over: a peer that answers no ping is closed.
  beast::get_lowest_layer(socket_).expires_never();
  websocket::stream_base::timeout timeout = websocket::stream_base::timeout::suggested(beast::role_type::server);
  timeout.idle_timeout = context_->options.idle_timeout;
  timeout.keep_alive_pings = true;
  socket_.set_option(timeout);
  socket_.read_message_max(kMaxIncomingMessage);
  socket_.auto_fragment(false);
  socket_.async_accept(request, [self = shared_from_this()](error_code error) {
    if (error) return self->Fail();
    self->Read();
    self->Open();
  });
}

// Compiling schemas and making a client may take milliseconds: not on an I/O thread.
void StreamSocket::Open() {
  Result<StreamQuery> query = Api::ParseStreamQuery(target_);
  if (!query) return EndWith(Text({{"type", "error"}, {"message", query.error().message()}}));
  query_ = *std::move(query);
  query_.decode.schemas = context_->options.schemas;
  FinishQuery(&query_);
  SubscriberOptions options;
  options.kind = PacketKind::kArrow;
  options.max_queued_bytes = context_->options.max_queued_bytes;
  options.on_ready = [weak = weak_from_this(), executor = socket_.get_executor()] {
    asio::post(executor, [weak] {
      if (const auto self = weak.lock()) self->Pump();
    });
  };
  asio::post(context_->workers, [self = shared_from_this(), options = std::move(options)]() mutable {
    auto stream = self->context_->streams.Open(self->query_, std::move(options));
    auto* executor = &self->socket_;
    asio::post(executor->get_executor(),
               [self, stream = std::move(stream)]() mutable { self->Opened(std::move(stream)); });
  });
}

void StreamSocket::Opened(Result<std::unique_ptr<StreamManager::Stream>> stream) {
  if (closed_) return;
  if (!stream) return EndWith(Text({{"type", "error"}, {"message", stream.error().message()}}));
  stream_ = *std::move(stream);
  SendText(HelloText());
  StartTimer();
}

// The page sends nothing that matters; reading answers pings and notices the end.
void StreamSocket::Read() {
  socket_.async_read(incoming_, [self = shared_from_this()](error_code error, size_t) {
    if (error) return self->Fail();
    self->incoming_.clear();
    self->Read();
  });
}

void StreamSocket::StartTimer() {
  timer_.expires_after(context_->options.stats_interval);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error || self->closed_ || self->ending_ || self->stream_ == nullptr) return;
    if (self->texts_.empty()) self->SendText(self->StatsText());
    self->StartTimer();
  });
}

void StreamSocket::SendText(std::string text) {
  if (closed_ || ending_) return;
  texts_.push_back(std::move(text));
  Pump();
}

void StreamSocket::EndWith(std::string text) {
  if (closed_ || ending_) return;
  texts_.push_back(std::move(text));
  ending_ = true;
  Pump();
}

void StreamSocket::Pump() {
  while (!writing_ && !closed_) {
    if (!texts_.empty()) return WriteText();
    if (ending_) return Close();
    if (stream_ == nullptr || !TakeItem()) return;
  }
}

// Takes one item off the subscriber's queue; false if there was none.
bool StreamSocket::TakeItem() {
  StreamItem item;
  if (!stream_->subscriber().TryPop(&item)) return false;
  switch (item.kind) {
    case StreamItem::Kind::kPacket: WritePacket(std::move(item.packet)); break;
    case StreamItem::Kind::kEvent:
      // What a user has to change ends it; a topic that is not there from the start does too.
      if (item.event.kind == SourceEvent::Kind::kFailed ||
          (item.event.kind == SourceEvent::Kind::kTopicMissing && stream_->pipeline().stats().received == 0)) {
        EndWith(Text({{"type", "error"}, {"message", item.event.message}}));
      } else {
        texts_.push_back(Text({{"type", "event"},
                               {"kind", EventName(item.event.kind)},
                               {"message", item.event.message},
                               {"count", item.event.count}}));
      }
      break;
    case StreamItem::Kind::kEnd:
      texts_.push_back(StatsText());
      if (context_->stopping.load()) {
        EndWith(Text({{"type", "error"}, {"message", "the server is stopping"}}));
      } else if (item.status.ok()) {
        EndWith(Text({{"type", "end"}}));
      } else {
        EndWith(Text({{"type", "error"}, {"message", item.status.message()}}));
      }
      break;
  }
  return true;
}

void StreamSocket::WriteText() {
  writing_ = true;
  text_ = std::move(texts_.front());
  texts_.pop_front();
  socket_.text(true);
  socket_.async_write(asio::buffer(text_),
                      [self = shared_from_this()](error_code error, size_t) { self->Written(error); });
}

void StreamSocket::WritePacket(Packet packet) {
  writing_ = true;
  packet_ = std::move(packet);
  context_->counters.frames_sent.fetch_add(1);
  context_->counters.bytes_sent.fetch_add(packet_.size);
  socket_.binary(true);
  socket_.async_write(asio::buffer(*packet_.bytes),
                      [self = shared_from_this()](error_code error, size_t) { self->Written(error); });
}

void StreamSocket::Written(const error_code& error) {
  writing_ = false;
  packet_ = {};
  if (error) return Fail();
  Pump();
}

void StreamSocket::NoteDrops() {
  if (stream_ == nullptr) return;
  const DeliveryStats delivery = stream_->subscriber().stats();
  context_->counters.frames_dropped.fetch_add(delivery.dropped_frames_slow + delivery.dropped_frames_memory);
}

void StreamSocket::Close() {
  closed_ = true;
  NoteDrops();
  timer_.cancel();
  stream_.reset();
  socket_.async_close(websocket::close_code::normal, [self = shared_from_this()](error_code) {});
}

void StreamSocket::Fail() {
  if (closed_) return;
  NoteDrops();
  closed_ = true;
  timer_.cancel();
  stream_.reset();
  beast::get_lowest_layer(socket_).close();
}

std::string StreamSocket::HelloText() const {
  Json query = Json::object();
  for (const auto& [name, value] : target_.parameters) query[name] = value;
  return Text({{"type", "hello"}, {"version", kVersion}, {"query", std::move(query)}});
}

std::string StreamSocket::StatsText() const {
  const StreamStats stats = stream_->pipeline().stats();
  const DeliveryStats delivery = stream_->subscriber().stats();
  Json errors = Json::object();
  for (size_t i = 1; i < kErrorReasonCount; ++i) {
    if (stats.decode.errors[i] > 0)
      errors[std::string(ErrorReasonName(static_cast<ErrorReason>(i)))] = stats.decode.errors[i];
  }
  Json dropped = Json::object();
  if (delivery.dropped_rows_slow > 0) dropped["slow_client"] = delivery.dropped_rows_slow;
  if (delivery.dropped_rows_memory > 0) dropped["memory_budget"] = delivery.dropped_rows_memory;
  if (stats.gap_records > 0) dropped["retention"] = stats.gap_records;
  if (stats.skipped_records > 0) dropped["too_large"] = stats.skipped_records;
  Json partitions = Json::array();
  for (const auto& [id, progress] : stats.partitions) {
    partitions.push_back(
        {{"id", id}, {"next_offset", progress.next_offset}, {"log_end_offset", progress.log_end_offset}});
  }
  Json notes = stats.notes;
  if (stats.decode.fields_cut > 0) {
    notes.push_back(std::to_string(stats.decode.fields_cut) + " fields beyond max_fields are not shown");
  }
  if (stats.decode.replaced_utf8 > 0) {
    notes.push_back(std::to_string(stats.decode.replaced_utf8) + " texts were not UTF-8: U+FFFD stands for the rest");
  }
  if (stats.decode.duplicate_keys > 0) {
    notes.push_back(std::to_string(stats.decode.duplicate_keys) + " duplicate JSON keys: the last one counts");
  }
  return Text({{"type", "stats"},
               {"received", stats.received},
               {"decoded", stats.decode.records},
               {"rows", stats.decode.rows},
               {"frames", stats.frames},
               {"bytes", stats.decode.payload_bytes},
               {"errors", std::move(errors)},
               {"filtered", stats.decode.filtered},
               {"dropped", std::move(dropped)},
               {"lag_records", stats.lag_records ? Json(*stats.lag_records) : Json()},
               {"lag_seconds", stats.lag_seconds ? Json(*stats.lag_seconds) : Json()},
               {"queued_bytes", delivery.queued_bytes},
               {"partitions", std::move(partitions)},
               {"notes", std::move(notes)}});
}

}  // namespace kafscope
