// RegistryClient: the Confluent schema registry interface, as Confluent, Apicurio (/apis/ccompat/v7), Karapace and
// Redpanda serve it. Schemas come with all their references, each once, dependencies first.
//
// Use: from threads that may wait for the network; decoders ask a SchemaStore (registry_store.h) instead.
// A URL that does not answer (no connection, time-out, 5xx, not a registry's answer) hands over to the next one; the
// one that answered last is asked first. Redirects are followed within the same host, never from https to http. Errors:
// kNotFound (the registry does not know it), kUnauthenticated, kPermissionDenied, kUnavailable, kDataLoss (the answer
// is not a registry's), kCancelled. Threads: safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "schema/http_get.h"
#include "schema/registry_options.h"
#include "schema/schema_store.h"

namespace kafscope {

class RegistryClient {
 public:
  static constexpr size_t kMaxReferences = 500;
  static constexpr int kMaxReferenceDepth = 50;
  static constexpr int kMaxRedirects = 3;

  static Result<std::unique_ptr<RegistryClient>> Make(RegistryOptions options);

  Result<RegisteredSchema> FetchById(int32_t id);
  Result<RegisteredSchema> FetchByGuid(std::string_view guid);
  // `version`: a number or "latest".
  Result<RegisteredSchema> FetchBySubject(std::string_view subject, std::string_view version);

  // Ends requests under way with kCancelled, and all later ones.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  const RegistryOptions& options() const { return options_; }

 private:
  struct Answer;
  using Seen = std::set<std::pair<std::string, int32_t>>;

  RegistryClient(RegistryOptions options, std::unique_ptr<HttpTls> tls);

  Result<RegisteredSchema> Fetch(const std::string& path);
  Status AddReferences(const Answer& answer, int depth, Seen* seen, RegisteredSchema* schema);
  // The parsed answer to `path`, from the first URL that gives one.
  Result<Answer> Ask(const std::string& path);
  Result<Answer> AskOne(const RegistryUrl& url, const std::string& path);
  Result<HttpGetResponse> GetFollowing(RegistryUrl url, std::string target);

  const RegistryOptions options_;
  const std::unique_ptr<HttpTls> tls_;
  std::atomic<size_t> first_url_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace kafscope
