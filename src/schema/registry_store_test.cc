#include "schema/registry_store.h"

#include <gtest/gtest.h>

#include <string>

#include "schema/registry_test_server.h"

namespace kafscope {
namespace {

using namespace std::chrono_literals;

TestResponse SchemaOf(const std::string& target) {
  return {.status = 200, .body = R"({"schema":")" + target.substr(target.rfind('/') + 1) + "\"}"};
}

std::shared_ptr<SchemaStore> StoreFor(const TestServer& server,
                                      const std::function<void(RegistryOptions&)>& change = {}) {
  auto options = MakeRegistryOptions({.url = server.Url()});
  options->timeout = 60s;
  options->max_wait = 60s;
  options->first_back_off = 1ms;
  options->longest_back_off = 1ms;
  if (change) change(*options);
  auto store = OpenRegistry(*options);
  EXPECT_TRUE(store);
  return *store;
}

// Asks until the answer is not kPending.
SchemaStore::Answer Wait(SchemaStore& store, int32_t id) {
  for (;;) {
    const SchemaStore::Answer answer = store.Find(id);
    if (answer.state != SchemaStore::State::kPending) return answer;
    std::this_thread::sleep_for(1ms);
  }
}

// Asks until the schema is there; it must not be refused for good.
std::shared_ptr<const RegisteredSchema> WaitReady(SchemaStore& store, int32_t id) {
  for (;;) {
    const SchemaStore::Answer answer = store.Find(id);
    if (answer.state == SchemaStore::State::kReady) return answer.schema;
    std::this_thread::sleep_for(1ms);
  }
}

TEST(RegistryStore, FetchesOnceAndKeeps) {
  TestServer server([](const TestRequest& request) { return SchemaOf(request.target); });
  const auto store = StoreFor(server);
  EXPECT_EQ(store->Find(5).state, SchemaStore::State::kPending);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Wait(*store, 5).schema->text, "5");
  EXPECT_EQ(server.requests().size(), 1u);
  while (store->FindByGuid("g").state == SchemaStore::State::kPending) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(store->FindByGuid("g").schema->text, "g");
  EXPECT_EQ(server.Count("/schemas/guids/g"), 1);
}

TEST(RegistryStore, OneRequestPerIdInFlight) {
  std::atomic<bool> open{false};
  TestServer server([&](const TestRequest& request) {
    while (!open) std::this_thread::yield();
    return SchemaOf(request.target);
  });
  const auto store = StoreFor(server);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(store->Find(1).state, SchemaStore::State::kPending);
  open = true;
  EXPECT_EQ(Wait(*store, 1).schema->text, "1");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(RegistryStore, ASlowIdDoesNotHoldUpOthers) {
  TestServer server([](const TestRequest& request) -> TestResponse {
    if (request.target == "/schemas/ids/1") return {.hang = true};
    return SchemaOf(request.target);
  });
  const auto store = StoreFor(server);
  EXPECT_EQ(store->Find(1).state, SchemaStore::State::kPending);
  EXPECT_EQ(Wait(*store, 2).schema->text, "2");
  EXPECT_EQ(store->Find(1).state, SchemaStore::State::kPending);
}

TEST(RegistryStore, AnUnknownIdIsAskedForAgainLater) {
  std::atomic<bool> known{false};
  TestServer server([&](const TestRequest& request) -> TestResponse {
    if (known) return SchemaOf(request.target);
    return {.status = 404, .body = R"({"error_code":40403,"message":"no"})"};
  });
  const auto store = StoreFor(server);
  const auto answer = Wait(*store, 1);
  EXPECT_EQ(answer.state, SchemaStore::State::kFailed);
  EXPECT_EQ(answer.error.code(), StatusCode::kNotFound);
  known = true;
  EXPECT_EQ(WaitReady(*store, 1)->text, "1");
}

TEST(RegistryStore, AMissIsKeptUntilTheBackOffIsOver) {
  TestServer server(
      [](const TestRequest&) { return TestResponse{.status = 404, .body = R"({"error_code":40403,"message":"no"})"}; });
  const auto store = StoreFor(server, [](RegistryOptions& options) {
    options.first_back_off = 1h;
    options.longest_back_off = 1h;
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Wait(*store, 1).state, SchemaStore::State::kFailed);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(RegistryStore, RecordsWaitForARegistryThatComesBack) {
  std::atomic<int> left{3};
  TestServer server([&](const TestRequest& request) -> TestResponse {
    if (left.fetch_sub(1) > 0) return {.status = 503};
    return SchemaOf(request.target);
  });
  EXPECT_EQ(Wait(*StoreFor(server), 1).state, SchemaStore::State::kReady);
}

TEST(RegistryStore, TheWaitIsBoundedAndKnownSchemasStay) {
  std::atomic<bool> up{true};
  TestServer server([&](const TestRequest& request) -> TestResponse {
    if (up) return SchemaOf(request.target);
    return {.status = 503};
  });
  const auto store = StoreFor(server, [](RegistryOptions& options) { options.max_wait = 50ms; });
  // A loaded machine may take longer than the wait, so the first answer may be a failure that passes.
  EXPECT_EQ(WaitReady(*store, 1)->text, "1");
  up = false;
  const auto answer = Wait(*store, 2);
  EXPECT_EQ(answer.state, SchemaStore::State::kFailed);
  EXPECT_EQ(answer.error.code(), StatusCode::kUnavailable);
  EXPECT_EQ(store->Find(1).state, SchemaStore::State::kReady);
  up = true;
  EXPECT_EQ(WaitReady(*store, 2)->text, "2");
}

TEST(RegistryStore, KeepsTheLastUsed) {
  TestServer server([](const TestRequest& request) { return SchemaOf(request.target); });
  const auto store = StoreFor(server, [](RegistryOptions& options) { options.max_entries = 3; });
  for (int32_t id : {1, 2, 3}) WaitReady(*store, id);
  EXPECT_EQ(store->Find(1).state, SchemaStore::State::kReady);
  WaitReady(*store, 4);  // 2 was used least recently
  EXPECT_EQ(store->Find(1).state, SchemaStore::State::kReady);
  EXPECT_EQ(store->Find(3).state, SchemaStore::State::kReady);
  WaitReady(*store, 2);
  EXPECT_EQ(server.Count("/schemas/ids/1"), 1);
  EXPECT_EQ(server.Count("/schemas/ids/2"), 2);
  EXPECT_LE(static_cast<RegistryStore&>(*store).size(), 3u);
}

TEST(RegistryStore, EndsWhileItWaits) {
  TestServer server([](const TestRequest&) { return TestResponse{.hang = true}; });
  auto store = StoreFor(server);
  EXPECT_EQ(store->Find(1).state, SchemaStore::State::kPending);
  while (server.requests().empty()) std::this_thread::yield();
  store.reset();
}

}  // namespace
}  // namespace kafscope
