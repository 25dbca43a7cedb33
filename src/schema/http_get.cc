#include "schema/http_get.h"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/version.hpp>
#include <utility>

namespace kafscope {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

struct HttpTls::Impl {
  asio::ssl::context context{asio::ssl::context::tls_client};
};

HttpTls::HttpTls(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpTls::~HttpTls() = default;

Result<std::unique_ptr<HttpTls>> HttpTls::Make(const Files& files) {
  auto impl = std::make_unique<Impl>();
  error_code error;
  const auto bad_file = [&](const char* option, const std::string& file) {
    return Fail(Status::InvalidArgument(std::string(option) + ": " + file + " is not usable: " + error.message()));
  };
  impl->context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                            asio::ssl::context::no_tlsv1_1);
  impl->context.set_verify_mode(asio::ssl::verify_peer);
  if (files.ca.empty()) {
    impl->context.set_default_verify_paths(error);
  } else if (impl->context.load_verify_file(files.ca, error); error) {
    return bad_file("--registry-ca", files.ca);
  }
  if (!files.cert.empty()) {
    if (impl->context.use_certificate_chain_file(files.cert, error); error)
      return bad_file("--registry-cert", files.cert);
    if (impl->context.use_private_key_file(files.key, asio::ssl::context::pem, error); error) {
      return bad_file("--registry-key", files.key);
    }
  }
  return std::unique_ptr<HttpTls>(new HttpTls(std::move(impl)));
}

// One connection and one request on it. Every step is asynchronous, so that the one deadline can end it.
class HttpGetConnection {
 public:
  explicit HttpGetConnection(const HttpGetRequest& request)
      : request_(request), deadline_(Clock::now() + request.timeout), stream_(io_) {
    if (request.tls != nullptr) {
      tls_ = std::make_unique<TlsStream>(stream_, const_cast<asio::ssl::context&>(request.tls->impl_->context));
    }
  }

  Result<HttpGetResponse> Run() {
    KAFSCOPE_FAIL_IF_ERROR(Connect());
    if (tls_ == nullptr) return Exchange(stream_);
    KAFSCOPE_FAIL_IF_ERROR(Handshake());
    return Exchange(*tls_);
  }

 private:
  using TlsStream = asio::ssl::stream<asio::ip::tcp::socket&>;

  // Starts one step with a handler and runs it to its end, the deadline or a cancellation.
  template <typename Start>
  Status Await(std::string_view step, Start start) {
    bool done = false;
    error_code result;
    start([&](error_code error, const auto&...) {
      result = error;
      done = true;
    });
    io_.restart();
    Status stopped;
    while (!done) {
      const auto now = Clock::now();
      const bool cancelled = request_.cancelled != nullptr && request_.cancelled->load(std::memory_order_relaxed);
      if (stopped.ok() && (cancelled || now >= deadline_)) {
        stopped = cancelled ? Status::Cancelled("the registry is being closed")
                            : Status::DeadlineExceeded(std::string(step) + ": no answer within " +
                                                       std::to_string(request_.timeout.count()) + " ms");
        error_code ignored;
        stream_.close(ignored);
        resolver_.cancel();
      }
      const auto slice = now + std::chrono::milliseconds(100);
      io_.run_one_until(stopped.ok() ? std::min(slice, deadline_) : slice);
      io_.restart();
    }
    if (!stopped.ok()) return stopped;
    if (!result) return Status::Ok();
    return Failure(step, result);
  }

  static Status Failure(std::string_view step, const error_code& error) {
    if (error == http::error::body_limit) {
      return Status::ResourceExhausted("the answer is larger than the limit");
    }
    if (error.category() == http::make_error_code(http::error::end_of_stream).category()) {
      const bool cut = error == http::error::end_of_stream || error == http::error::partial_message;
      if (cut) return Status::Unavailable(std::string(step) + ": the connection was closed");
      return Status::DataLoss("the answer is not HTTP: " + error.message());
    }
    return Status::Unavailable(std::string(step) + ": " + error.message());
  }

  Status Connect() {
    asio::ip::tcp::resolver::results_type endpoints;
    KAFSCOPE_RETURN_IF_ERROR(Await("looking up " + request_.host, [&](auto handler) {
      resolver_.async_resolve(request_.host, request_.port,
                              [&endpoints, handler](error_code error, const auto& found) mutable {
                                endpoints = found;
                                handler(error);
                              });
    }));
    return Await("connecting to " + request_.host_header,
                 [&](auto handler) { asio::async_connect(stream_, endpoints, std::move(handler)); });
  }

  Status Handshake() {
    if (SSL_set_tlsext_host_name(tls_->native_handle(), request_.host.c_str()) != 1) {
      return Status::Unavailable("TLS: the host name is not usable");
    }
    tls_->set_verify_callback(asio::ssl::host_name_verification(request_.host));
    Status status = Await("TLS with " + request_.host_header, [&](auto handler) {
      tls_->async_handshake(asio::ssl::stream_base::client, std::move(handler));
    });
    const long verdict = SSL_get_verify_result(tls_->native_handle());
    if (!status.ok() && verdict != X509_V_OK) {
      return Status::Unavailable("TLS with " + request_.host_header + ": the certificate is refused: " +
                                 X509_verify_cert_error_string(verdict) + " (see --registry-ca)");
    }
    return status;
  }

  template <typename Stream>
  Result<HttpGetResponse> Exchange(Stream& stream) {
    http::request<http::empty_body> request(http::verb::get, request_.target, 11);
    request.set(http::field::host, request_.host_header);
    request.set(http::field::user_agent, "kafscope");
    request.set(http::field::accept, request_.accept);
    request.set(http::field::connection, "close");
    if (!request_.authorization.empty()) request.set(http::field::authorization, request_.authorization);
    KAFSCOPE_FAIL_IF_ERROR(
        Await("asking", [&](auto handler) { http::async_write(stream, request, std::move(handler)); }));
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(request_.max_body);
    // The header on its own first: Beast 1.74 forgets that Content-Length is beyond the limit when it reads on at once.
    KAFSCOPE_FAIL_IF_ERROR(Await("reading the answer", [&](auto handler) {
      http::async_read_header(stream, buffer, parser, std::move(handler));
    }));
    KAFSCOPE_FAIL_IF_ERROR(Await("reading the answer",
                                 [&](auto handler) { http::async_read(stream, buffer, parser, std::move(handler)); }));
    HttpGetResponse response;
    response.status = static_cast<int>(parser.get().result_int());
    const auto location = parser.get().find(http::field::location);
    if (location != parser.get().end()) response.location = std::string(location->value());
    response.body = std::move(parser.get().body());
    return response;
  }

  const HttpGetRequest& request_;
  const Clock::time_point deadline_;
  asio::io_context io_{1};
  asio::ip::tcp::resolver resolver_{io_};
  asio::ip::tcp::socket stream_;
  std::unique_ptr<TlsStream> tls_;
};

Result<HttpGetResponse> HttpGet(const HttpGetRequest& request) {
  try {
    return HttpGetConnection(request).Run();
  } catch (const std::exception& e) {
    return Fail(Status::Unavailable(e.what()));
  }
}

}  // namespace kafscope
