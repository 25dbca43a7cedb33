// For the registry tests: an HTTP(S) server on a free port of the loopback, and certificates made on the spot.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kafscope {

struct TestRequest {
  std::string target;
  std::string authorization;
};
struct TestResponse {
  int status = 200;
  std::string body;
  std::string location;
  bool hang = false;  // never answer
  std::string raw;    // send these bytes instead
};

class TestServer {
 public:
  using Handler = std::function<TestResponse(const TestRequest&)>;

  // `tls` may be null. The handler is called from several threads.
  explicit TestServer(Handler handler, boost::asio::ssl::context* tls = nullptr)
      : handler_(std::move(handler)), tls_(tls), acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}) {
    port_ = acceptor_.local_endpoint().port();
    thread_ = std::thread([this] { Accept(); });
  }
  ~TestServer() { Stop(); }

  void Stop() {
    if (stopped_.exchange(true)) return;
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    thread_.join();
    {
      const std::lock_guard lock(mutex_);
      for (auto& connection : connections_) ::shutdown(connection.socket->native_handle(), SHUT_RDWR);
    }
    for (auto& connection : connections_) connection.thread.join();
  }

  std::string port() const { return std::to_string(port_); }
  std::string Url(const std::string& prefix = "") const {
    return std::string(tls_ == nullptr ? "http" : "https") + "://127.0.0.1:" + port() + prefix;
  }
  std::vector<TestRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  int Count(const std::string& target) const {
    int count = 0;
    for (const TestRequest& request : requests()) count += request.target == target ? 1 : 0;
    return count;
  }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  struct Connection {
    std::unique_ptr<Socket> socket;
    std::thread thread;
  };

  void Accept() {
    for (;;) {
      auto socket = std::make_unique<Socket>(io_);
      boost::system::error_code error;
      acceptor_.accept(*socket, error);
      if (error) return;
      const std::lock_guard lock(mutex_);
      connections_.push_back({std::move(socket), {}});
      Socket* connected = connections_.back().socket.get();
      connections_.back().thread = std::thread([this, connected] { Serve(*connected); });
    }
  }

  void Serve(Socket& socket) {
    boost::system::error_code error;
    if (tls_ == nullptr) {
      Answer(socket);
    } else {
      boost::asio::ssl::stream<Socket&> stream(socket, *tls_);
      stream.handshake(boost::asio::ssl::stream_base::server, error);
      if (!error) Answer(stream);
      if (!error) stream.shutdown(error);
    }
    ::shutdown(socket.native_handle(), SHUT_RDWR);
  }

  template <typename Stream>
  void Answer(Stream& stream) {
    namespace http = boost::beast::http;
    boost::system::error_code error;
    boost::beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    http::read(stream, buffer, request, error);
    if (error) return;
    TestRequest seen{std::string(request.target()), std::string(request[http::field::authorization])};
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(seen);
    }
    const TestResponse answer = handler_(seen);
    if (answer.hang) {
      char byte = 0;  // until the client gives up or the server stops
      boost::asio::read(stream, boost::asio::buffer(&byte, 1), error);
      return;
    }
    if (!answer.raw.empty()) {
      boost::asio::write(stream, boost::asio::buffer(answer.raw), error);
      return;
    }
    http::response<http::string_body> response;
    response.version(11);
    response.result(static_cast<unsigned>(answer.status));
    response.set(http::field::content_type, "application/vnd.schemaregistry.v1+json");
    if (!answer.location.empty()) response.set(http::field::location, answer.location);
    response.body() = answer.body;
    response.keep_alive(false);
    response.prepare_payload();
    http::write(stream, response, error);
  }

  Handler handler_;
  boost::asio::ssl::context* tls_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  unsigned short port_ = 0;
  mutable std::mutex mutex_;
  std::vector<TestRequest> requests_;
  std::list<Connection> connections_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

// An authority with a server's and a client's certificate, as PEM files in a directory of their own.
class TestCertificates {
 public:
  TestCertificates() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kafscope-tls-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    EVP_PKEY* ca_key = EVP_EC_gen("P-256");
    X509* ca = Sign("kafscope test CA", nullptr, ca_key, nullptr, ca_key);
    WriteCert("ca", ca);
    for (const auto& [name, alternative] : {std::pair{"server", "IP:127.0.0.1"}, std::pair{"client", "DNS:client"},
                                            std::pair{"other", "DNS:elsewhere.example"}}) {
      EVP_PKEY* key = EVP_EC_gen("P-256");
      X509* certificate = Sign(name, alternative, key, ca, ca_key);
      WriteCert(name, certificate);
      std::FILE* file = std::fopen(File(std::string(name) + ".key").c_str(), "w");
      PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
      std::fclose(file);
      X509_free(certificate);
      EVP_PKEY_free(key);
    }
    X509_free(ca);
    EVP_PKEY_free(ca_key);
  }
  ~TestCertificates() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string File(const std::string& name) const { return directory_ + "/" + name; }
  // A server's side; with `ask_client` it demands a certificate of our authority.
  std::unique_ptr<boost::asio::ssl::context> Server(const std::string& name, bool ask_client = false) const {
    auto context = std::make_unique<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
    context->use_certificate_chain_file(File(name + ".pem"));
    context->use_private_key_file(File(name + ".key"), boost::asio::ssl::context::pem);
    if (ask_client) {
      context->load_verify_file(File("ca.pem"));
      context->set_verify_mode(boost::asio::ssl::verify_peer | boost::asio::ssl::verify_fail_if_no_peer_cert);
    }
    return context;
  }

 private:
  static X509* Sign(const char* name, const char* alternative, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
    static long serial = 1;
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -86400);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509_set_issuer_name(certificate, issuer == nullptr ? subject : X509_get_subject_name(issuer));
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer == nullptr ? certificate : issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = issuer == nullptr
                                    ? X509V3_EXT_conf_nid(nullptr, &context, NID_basic_constraints, "critical,CA:TRUE")
                                    : X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, alternative);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(certificate, issuer_key, EVP_sha256());
    return certificate;
  }
  void WriteCert(const std::string& name, X509* certificate) const {
    std::FILE* file = std::fopen(File(name + ".pem").c_str(), "w");
    PEM_write_X509(file, certificate);
    std::fclose(file);
  }

  std::string directory_;
};

}  // namespace kafscope
