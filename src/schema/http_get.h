// HttpGet: one GET request over HTTP/1.1 or HTTPS, with a time-out that covers all of it.
//
// Use: from any thread that may wait; nothing is shared between calls but `tls`, which is immutable once made.
// Cost: a connection a call. Errors: kUnavailable (no connection, TLS, cut off), kDeadlineExceeded, kCancelled,
// kResourceExhausted (answer too large), kDataLoss (not HTTP). Certificates are always checked, the host name too.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace kafscope {

// Certificates for https; made once, shared by all requests.
class HttpTls {
 public:
  struct Files {
    std::string ca;    // empty: the system's authorities
    std::string cert;  // client certificate and its key; empty: none
    std::string key;
  };
  static Result<std::unique_ptr<HttpTls>> Make(const Files& files);
  ~HttpTls();

 private:
  friend class HttpGetConnection;
  struct Impl;
  explicit HttpTls(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct HttpGetRequest {
  const HttpTls* tls = nullptr;  // null: plain
  std::string host;
  std::string port;
  std::string host_header;
  std::string target;  // "/schemas/ids/1"
  std::string accept;
  std::string authorization;  // empty: none
  std::chrono::milliseconds timeout{10000};
  size_t max_body = 8 << 20;
  const std::atomic<bool>* cancelled = nullptr;  // looked at every 100 ms; may be null
};

struct HttpGetResponse {
  int status = 0;
  std::string location;  // of a redirect
  std::string body;
};

Result<HttpGetResponse> HttpGet(const HttpGetRequest& request);

}  // namespace kafscope
