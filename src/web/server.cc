#include "web/server.h"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "base/parse.h"
#include "web/server_context.h"
#include "web/stream_socket.h"

namespace kafscope {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// A request must come within this time, and an answer be taken.
constexpr std::chrono::seconds kRequestTime{30};
constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string HeaderOf(const http::request<http::string_body>& message, http::field field) {
  const auto value = message[field];
  return {value.data(), value.size()};
}

// One connection: requests in turn, until it becomes a WebSocket or ends.
class HttpSession final : public Connection, public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(std::shared_ptr<ServerContext> context, tcp::socket socket)
      : context_(std::move(context)), stream_(std::move(socket)), executor_(stream_.get_executor()) {}

  void Abort() override {
    asio::post(executor_, [self = shared_from_this()] {
      if (!self->upgraded_) self->stream_.close();
    });
  }
  void Start() {
    context_->Add(weak_from_this());
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->Read(); });
  }

 private:
  using Message = http::response<http::string_body>;

  void Read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(kMaxBodyBytes);
    stream_.expires_after(kRequestTime);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) {
      if (error) return self->ReadFailed(error);
      self->HandleRequest();
    });
  }

  void ReadFailed(const error_code& error) {
    if (error == http::error::header_limit) return Refuse(431, "the request's headers are too large");
    if (error == http::error::body_limit) return Refuse(413, "the request's body is too large");
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return Refuse(400, "the request is malformed");
    }
    Shutdown();
  }

  void Refuse(int status, std::string_view message) {
    context_->counters.refused.fetch_add(1);
    keep_alive_ = false;
    version_ = 11;
    Write(ErrorResponse(status, "invalid_request", message));
  }

  void HandleRequest() {
    const auto& message = parser_->get();
    context_->counters.requests.fetch_add(1);
    keep_alive_ = message.keep_alive();
    version_ = message.version();
    head_ = message.method() == http::verb::head;
    Result<Target> target = ParseTarget({message.target().data(), message.target().size()});
    if (!target) return Write(ErrorResponse(target.error()));
    HttpRequest request;
    request.method = std::string(message.method_string());
    request.target = *std::move(target);
    request.host = HeaderOf(message, http::field::host);
    request.origin = HeaderOf(message, http::field::origin);
    request.authorization = HeaderOf(message, http::field::authorization);
    request.cookie = HeaderOf(message, http::field::cookie);
    request.content_type = HeaderOf(message, http::field::content_type);
    if (Status status = context_->access.CheckPlace(request); !status.ok()) return Forbid(status);
    if (beast::websocket::is_upgrade(message)) return Upgrade(request);
    request.body = std::move(parser_->get().body());
    // Answers may wait for the cluster: not on an I/O thread.
    asio::post(context_->workers, [self = shared_from_this(), request = std::move(request)] {
      HttpResponse response = self->context_->api.Handle(request);
      asio::post(self->stream_.get_executor(),
                 [self, response = std::move(response)]() mutable { self->Write(std::move(response)); });
    });
  }

  void Forbid(const Status& status) {
    context_->counters.refused.fetch_add(1);
    keep_alive_ = false;
    Write(ErrorResponse(status));
  }

  void Upgrade(const HttpRequest& request) {
    if (Status status = context_->access.CheckToken(request); !status.ok()) return Forbid(status);
    if (request.target.path != "/ws") return Write(ErrorResponse(404, "not_found", "WebSockets are at /ws"));
    if (context_->stopping.load()) return Write(ErrorResponse(503, "unavailable", "the server is stopping"));
    stream_.expires_never();
    upgraded_ = true;
    std::make_shared<StreamSocket>(context_, std::move(stream_), request.target)->Accept(parser_->get());
  }

  void Write(HttpResponse response) {
    auto message = std::make_shared<Message>(static_cast<http::status>(response.status), version_);
    message->set(http::field::server, "kafscope");
    message->set(http::field::content_type, response.content_type);
    message->set("Content-Security-Policy", kContentSecurityPolicy);
    message->set("X-Content-Type-Options", "nosniff");
    message->set("X-Frame-Options", "DENY");
    message->set("Referrer-Policy", "no-referrer");
    message->set("Cross-Origin-Resource-Policy", "same-origin");
    message->set("Cross-Origin-Opener-Policy", "same-origin");
    if (response.headers.empty()) message->set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : response.headers) message->set(name, value);
    if (response.static_body.empty()) {
      message->body() = std::move(response.body);
    } else {
      message->body().assign(response.static_body);
    }
    const size_t size = message->body().size();
    if (head_) message->body().clear();
    message->keep_alive(keep_alive_);
    message->content_length(size);
    stream_.expires_after(kRequestTime);
    auto serializer = std::make_shared<http::response_serializer<http::string_body>>(*message);
    const auto done = [self = shared_from_this(), message, serializer](error_code error, size_t) {
      if (error || !self->keep_alive_ || self->context_->stopping.load()) return self->Shutdown();
      self->Read();
    };
    if (head_) {
      http::async_write_header(stream_, *serializer, done);
    } else {
      http::async_write(stream_, *serializer, done);
    }
  }

  void Shutdown() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.close();
  }

  std::shared_ptr<ServerContext> context_;
  beast::tcp_stream stream_;
  const beast::tcp_stream::executor_type executor_;  // of the stream, also once that has become a WebSocket
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool keep_alive_ = false;
  bool upgraded_ = false;
  bool head_ = false;
  unsigned version_ = 11;
};

struct ListenAddress {
  std::string host;
  uint16_t port = 0;
};

Result<ListenAddress> ParseListen(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string_view view(text);
  if (colon == std::string::npos) return Fail(Status::InvalidArgument("--listen: ADDRESS:PORT is needed"));
  const Result<uint64_t> port = ParseUnsigned(view.substr(colon + 1), 0, 65535);
  if (!port) return Fail(port.error().WithContext("--listen: port"));
  ListenAddress address;
  address.host = HostNameOf(view.substr(0, colon));
  address.port = static_cast<uint16_t>(*port);
  if (address.host.empty()) return Fail(Status::InvalidArgument("--listen: ADDRESS:PORT is needed"));
  return address;
}

}  // namespace

class Server::Impl : public std::enable_shared_from_this<Server::Impl> {
 public:
  Impl(ServerOptions options, std::unique_ptr<Cluster> cluster)
      : context_(std::make_shared<ServerContext>(std::move(options), std::move(cluster))),
        acceptor_(asio::make_strand(context_->io)) {}

  Status Start(const ListenAddress& address) {
    const std::string& listen = context_->options.listen;
    error_code error;
    tcp::resolver resolver(context_->io);
    const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
    if (error || found.empty()) return Status::InvalidArgument("--listen: '" + address.host + "' is no address here");
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return Status::Unavailable("--listen: cannot listen on " + listen + ": " + error.message());
    local_ = acceptor_.local_endpoint();
    Accept();
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { context_->io.run(); });
    return {};
  }

  void Stop() {
    if (context_->stopping.exchange(true)) return;
    asio::post(acceptor_.get_executor(), [self = shared_from_this()] {
      error_code ignored;
      self->acceptor_.close(ignored);
    });
    // Every stream ends; its socket sends what is left, then closes.
    context_->streams.StopAll();
    const auto deadline = std::chrono::steady_clock::now() + kStopPatience;
    while (context_->counters.sockets_open.load() > 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    context_->AbortAll();
  }

  // Waits until nothing of the server runs any more: handlers refer to the context, so all must have run.
  void Destroy() {
    Stop();
    context_->workers.stop();
    context_->workers.join();
    context_->AbortAll();  // connections that were being made
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    context_->io.restart();
    context_->io.run();
  }

  const tcp::endpoint& local() const { return local_; }
  const ServerContext& context() const { return *context_; }

 private:
  void Accept() {
    acceptor_.async_accept(asio::make_strand(context_->io),
                           [self = shared_from_this()](error_code error, tcp::socket socket) {
                             if (!self->acceptor_.is_open()) return;
                             if (!error) self->Admit(std::move(socket));
                             self->Accept();
                           });
  }

  void Admit(tcp::socket socket) {
    // Beyond the bound the connection is closed at once: answering would need what is bounded.
    if (context_->CountConnections() >= context_->options.max_connections) return;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::make_shared<HttpSession>(context_, std::move(socket))->Start();
  }

  std::shared_ptr<ServerContext> context_;
  tcp::acceptor acceptor_;
  tcp::endpoint local_;
  std::vector<std::thread> threads_;
};

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { impl_->Destroy(); }

Result<std::unique_ptr<Server>> Server::Make(ServerOptions options, std::unique_ptr<Cluster> cluster) {
  KAFSCOPE_ASSIGN_OR_FAIL(const ListenAddress address, ParseListen(options.listen));
  if (!IsLoopback(address.host) && options.token.empty()) {
    return Fail(Status::InvalidArgument("--listen: " + options.listen +
                                        " can be reached from other machines: that needs a --token (or --token-file)"));
  }
  if (!IsIpAddress(address.host)) options.allowed_hosts.push_back(address.host);
  auto impl = std::make_shared<Impl>(std::move(options), std::move(cluster));
  if (Status status = impl->Start(address); !status.ok()) {
    impl->Destroy();
    return Fail(status);
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const { return impl_->local().port(); }

std::string Server::url() const {
  const auto& endpoint = impl_->local();
  const std::string host =
      endpoint.address().is_v6() ? "[" + endpoint.address().to_string() + "]" : endpoint.address().to_string();
  return "http://" + host + ":" + std::to_string(endpoint.port());
}

void Server::Stop() { impl_->Stop(); }

const ServerCounters& Server::counters() const { return impl_->context().counters; }

}  // namespace kafscope
