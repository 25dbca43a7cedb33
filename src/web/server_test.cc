// The server on real sockets: access rules, the API, streams. Every wait is for a condition.
#include "web/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "pipeline/fake_source.h"

namespace kafscope {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using nlohmann::json;
using Response = http::response<http::string_body>;
using WebSocket = beast::websocket::stream<tcp::socket>;

class FakeCluster final : public Cluster {
 public:
  explicit FakeCluster(Status status = {}) : status_(std::move(status)) {}
  Topics topics() const override {
    Topics topics;
    topics.status = status_;
    if (!status_.ok()) return topics;
    topics.sampled_at_ms = 1'700'000'000'000;
    topics.rows = {{"orders", false, 3, 42, 1.5, ""}, {"broken", false, 0, {}, {}, "no leader"}};
    return topics;
  }
  Result<std::vector<PartitionRow>> Describe(const std::string& topic) override {
    if (topic != "orders") return Fail(Status::NotFound("topic '" + topic + "' does not exist"));
    return std::vector<PartitionRow>{{0, 1, 5, 47}};
  }

 private:
  const Status status_;
};

class ServerTest : public testing::Test {
 protected:
  void Start(std::string token = "", Status cluster = {}) {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.token = std::move(token);
    options.info.brokers = "broker:9092";
    options.max_queued_bytes = 64 * 1024;
    options.idle_timeout = std::chrono::minutes(10);  // the slow client answers no ping
    options.stats_interval = std::chrono::milliseconds(50);
    options.streams.budget = std::make_shared<MemoryBudget>(size_t{64} << 20);
    options.streams.history.max_rows = 0;
    options.streams.make_source = [this](const StreamQuery&) -> Result<std::unique_ptr<Source>> {
      auto source = std::make_unique<FakeSource>(records_);
      if (hold_) source->Hold();
      source_ = source.get();
      return source;
    };
    auto server = Server::Make(std::move(options), std::make_unique<FakeCluster>(std::move(cluster)));
    ASSERT_TRUE(server) << server.error().message();
    server_ = *std::move(server);
  }

  std::string Host() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  tcp::socket Connect() {
    tcp::socket socket(io_);
    socket.open(tcp::v4());
    socket.set_option(asio::socket_base::receive_buffer_size(16 * 1024));  // so that slow is slow soon
    socket.connect({asio::ip::make_address("127.0.0.1"), server_->port()});
    return socket;
  }
  http::request<http::string_body> Request(http::verb verb, const std::string& target) const {
    http::request<http::string_body> request(verb, target, 11);
    request.set(http::field::host, Host());
    return request;
  }
  Response Send(http::request<http::string_body> request) {
    tcp::socket socket = Connect();
    request.prepare_payload();
    http::write(socket, request);
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    if (request.method() == http::verb::head) parser.skip(true);
    http::read(socket, buffer, parser);
    return parser.release();
  }
  Response Get(const std::string& target) { return Send(Request(http::verb::get, target)); }
  json GetJson(const std::string& target) { return json::parse(Get(target).body()); }

  std::unique_ptr<WebSocket> OpenSocket(const std::string& target) {
    auto socket = std::make_unique<WebSocket>(Connect());
    error_code error;
    socket->handshake(Host(), target, error);
    return error ? nullptr : std::move(socket);
  }
  // The HTTP status that a WebSocket's request gets; 101 if it is accepted.
  unsigned UpgradeStatus(const std::string& target, const std::string& origin = "") {
    auto request = Request(http::verb::get, target);
    request.set(http::field::connection, "Upgrade");
    request.set(http::field::upgrade, "websocket");
    request.set(http::field::sec_websocket_key, "dGhlIHNhbXBsZSBub25jZQ==");
    request.set(http::field::sec_websocket_version, "13");
    if (!origin.empty()) request.set(http::field::origin, origin);
    return Send(std::move(request)).result_int();
  }
  // Reads until a text message of this type; binary messages are counted.
  json ReadUntil(WebSocket& socket, const std::string& type, size_t* frames = nullptr) {
    for (;;) {
      beast::flat_buffer buffer;
      error_code error;
      socket.read(buffer, error);
      if (error) return {{"type", "closed: " + error.message()}};
      if (socket.got_binary()) {
        if (frames != nullptr) ++*frames;
        continue;
      }
      json message = json::parse(beast::buffers_to_string(buffer.data()));
      if (message["type"] == type) return message;
    }
  }

  size_t records_ = 1'000;
  bool hold_ = false;
  std::atomic<FakeSource*> source_ = nullptr;  // of the stream opened last
  asio::io_context io_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersItsApi) {
  Start();
  EXPECT_EQ(Get("/healthz").body(), "ok\n");
  const json status = GetJson("/api/v1/status");
  EXPECT_EQ(status["brokers"], "broker:9092");
  EXPECT_EQ(status["broker_state"]["connected"], true);
  EXPECT_TRUE(status["registry"].is_null());
  const json topics = GetJson("/api/v1/topics");
  EXPECT_EQ(topics["topics"][0]["records"], 42);
  EXPECT_TRUE(topics["topics"][1]["rate"].is_null());
  EXPECT_EQ(topics["topics"][1]["error"], "no leader");
  EXPECT_EQ(GetJson("/api/v1/topics/orders")["partitions"][0]["end_offset"], 47);
  EXPECT_EQ(Get("/api/v1/topics/other").result_int(), 404);
  EXPECT_EQ(Get("/api/v1/topics/a%20b").result_int(), 400);
  EXPECT_FALSE(GetJson("/api/v1/formats")["formats"].empty());
  EXPECT_NE(Get("/metrics").body().find("kafscope_records_received_total 0\n"), std::string::npos);
  EXPECT_EQ(GetJson("/no/such/page")["error"]["code"], "not_found");
}

TEST_F(ServerTest, ChecksSchemas) {
  Start();
  const auto check = [this](const json& body) {
    auto request = Request(http::verb::post, "/api/v1/schema/check");
    request.set(http::field::content_type, "application/json");
    request.body() = body.dump();
    return json::parse(Send(std::move(request)).body());
  };
  EXPECT_EQ(check({{"format", "protobuf"}, {"schema", "syntax = \"proto3\"; message A {} message B {}"}}),
            json({{"ok", true}, {"messages", {"A", "B"}}}));
  const json wrong = check({{"format", "protobuf"}, {"schema", "syntax = \"proto3\";\nmessage A { x }"}});
  EXPECT_EQ(wrong["ok"], false);
  EXPECT_EQ(wrong["error"]["line"], 2);
  EXPECT_EQ(check({{"format", "avro"}, {"schema", "\"int\""}})["ok"], true);
  EXPECT_EQ(check({{"format", "avro"}, {"schema", "{\"type\":\n"}})["ok"], false);
  EXPECT_EQ(check({{"format", "json"}, {"schema", ""}})["ok"], false);
  EXPECT_EQ(check({{"schema", 1}})["error"]["code"], "invalid_argument");
  EXPECT_EQ(Get("/api/v1/schema/check").result_int(), 405);
}

TEST_F(ServerTest, EveryAnswerHasItsSecurityHeaders) {
  Start();
  for (const char* target : {"/", "/healthz", "/api/v1/status", "/nowhere"}) {
    const Response response = Get(target);
    EXPECT_TRUE(response["Content-Security-Policy"].starts_with("default-src 'none'; script-src 'self';")) << target;
    EXPECT_EQ(response["X-Content-Type-Options"], "nosniff");
    EXPECT_EQ(response["X-Frame-Options"], "DENY");
  }
  const Response head = Send(Request(http::verb::head, "/healthz"));
  EXPECT_EQ(head[http::field::content_length], "3");
  EXPECT_TRUE(head.body().empty());
}

TEST_F(ServerTest, RefusesOtherHostsAndOrigins) {
  Start();
  auto request = Request(http::verb::get, "/api/v1/status");
  request.set(http::field::host, "evil.example");
  EXPECT_EQ(Send(request).result_int(), 403);
  request = Request(http::verb::get, "/api/v1/status");
  request.set(http::field::origin, "http://evil.example");
  EXPECT_EQ(Send(request).result_int(), 403);
  EXPECT_EQ(UpgradeStatus("/ws?topic=t", "http://evil.example"), 403u);
  EXPECT_EQ(UpgradeStatus("/ws?topic=t", "http://" + Host()), 101u);
  EXPECT_EQ(UpgradeStatus("/ws?topic=t"), 101u);
  EXPECT_EQ(server_->counters().refused.load(), 3u);
}

TEST_F(ServerTest, NeedsItsTokenForAllButHealth) {
  Start("s3cret");
  EXPECT_EQ(Get("/healthz").result_int(), 200);
  for (const char* target : {"/", "/metrics", "/api/v1/status", "/?token=wrong"}) {
    EXPECT_EQ(Get(target).result_int(), 401) << target;
  }
  EXPECT_EQ(UpgradeStatus("/ws?topic=t"), 401u);
  auto request = Request(http::verb::get, "/api/v1/status");
  request.set(http::field::authorization, "Bearer s3cret");
  EXPECT_EQ(Send(request).result_int(), 200);
  const Response login = Get("/?token=s3cret");
  EXPECT_EQ(login.result_int(), 303);
  EXPECT_EQ(login[http::field::location], "/");
  const std::string cookie(login[http::field::set_cookie]);
  request = Request(http::verb::get, "/");
  request.set(http::field::cookie, cookie.substr(0, cookie.find(';')));
  EXPECT_EQ(Send(request).result_int(), 200);
}

TEST_F(ServerTest, RefusesWhatIsMalformedOrTooLarge) {
  Start();
  EXPECT_EQ(Get("/%zz").result_int(), 400);
  EXPECT_EQ(Send(Request(http::verb::delete_, "/")).result_int(), 405);
  auto request = Request(http::verb::post, "/api/v1/schema/check");
  request.body() = std::string(kMaxBodyBytes + 1, 'x');
  request.prepare_payload();
  tcp::socket socket = Connect();
  error_code ignored;  // the server may answer and close before all is sent
  http::write(socket, request, ignored);
  beast::flat_buffer buffer;
  Response response;
  error_code error;
  http::read(socket, buffer, response, error);
  EXPECT_TRUE(error || response.result_int() == 413);
  tcp::socket raw = Connect();
  asio::write(raw, asio::buffer(std::string("nonsense\r\n\r\n")));
  beast::flat_buffer raw_buffer;
  Response raw_response;
  http::read(raw, raw_buffer, raw_response);
  EXPECT_EQ(raw_response.result_int(), 400);
}

TEST_F(ServerTest, SaysWhyTheClusterCannotBeAsked) {
  Start("", Status::Unavailable("broker:9092 refuses connections"));
  const json status = GetJson("/api/v1/status");
  EXPECT_EQ(status["broker_state"]["connected"], false);
  EXPECT_EQ(status["broker_state"]["reason"], "broker:9092 refuses connections");
  EXPECT_EQ(Get("/api/v1/topics").result_int(), 503);
}

TEST_F(ServerTest, StreamsRowsStatsAndTheEnd) {
  records_ = 200;  // few enough that the small queue of this test holds them all
  Start();
  const auto socket = OpenSocket("/ws?topic=t&from=earliest&until=end&batch_rows=10");
  ASSERT_NE(socket, nullptr);
  size_t frames = 0;
  const json hello = ReadUntil(*socket, "hello", &frames);
  EXPECT_EQ(hello["query"]["topic"], "t");
  json stats = ReadUntil(*socket, "stats", &frames);
  while (stats["rows"] != 200) stats = ReadUntil(*socket, "stats", &frames);
  EXPECT_EQ(stats["received"], 200);
  EXPECT_EQ(stats["errors"], json::object());
  EXPECT_EQ(stats["partitions"][0]["next_offset"], 200);
  EXPECT_EQ(ReadUntil(*socket, "end", &frames)["type"], "end");
  EXPECT_EQ(frames, 20u);
}

TEST_F(ServerTest, SaysWhatIsWrongWithAQuery) {
  Start();
  const auto socket = OpenSocket("/ws?topic=t&max_depth=99");
  ASSERT_NE(socket, nullptr);
  EXPECT_EQ(ReadUntil(*socket, "error")["message"], "max_depth: '99' is not a whole number from 1 to 64");
  EXPECT_EQ(GetJson("/ws?topic=t&colour=red")["error"]["message"], "unknown option 'colour'");
  EXPECT_EQ(Get("/ws?topic=t").result_int(), 426);
}

TEST_F(ServerTest, EventsAndFailuresAreTold) {
  hold_ = true;
  Start();
  const auto socket = OpenSocket("/ws?topic=t");
  ASSERT_NE(socket, nullptr);
  ReadUntil(*socket, "hello");
  source_.load()->Tell({SourceEvent::Kind::kGap, "7 records were deleted", 7});
  const json event = ReadUntil(*socket, "event");
  EXPECT_EQ(event["kind"], "gap");
  EXPECT_EQ(event["count"], 7);
  source_.load()->Break();
  EXPECT_EQ(ReadUntil(*socket, "error")["message"], "the broker is gone");
}

// A client that reads nothing: the server's queue for it is bounded, and another client gets every row.
TEST_F(ServerTest, SlowClientLosesItsOwnFramesOnly) {
  records_ = 200'000;
  hold_ = true;
  Start();
  const auto slow = OpenSocket("/ws?topic=t&batch_rows=100");
  ASSERT_NE(slow, nullptr);
  ReadUntil(*slow, "hello");
  const auto quick = OpenSocket("/ws?topic=t&batch_rows=100");
  ASSERT_NE(quick, nullptr);
  ReadUntil(*quick, "hello");
  size_t frames = 0;
  // In steps that the quick client has taken before the next: it never falls behind.
  for (size_t step = 1; step <= 400; ++step) {
    source_.load()->Release(500);
    while (frames < step * 5) {
      beast::flat_buffer buffer;
      quick->read(buffer);
      if (quick->got_binary()) ++frames;
    }
  }
  EXPECT_EQ(ReadUntil(*quick, "end", &frames)["type"], "end");
  EXPECT_EQ(frames, 2'000u);
  // The slow one: what the sockets' buffers held arrives, the rest is counted.
  size_t slow_frames = 0;
  uint64_t dropped = 0;
  std::string type;
  while (type != "end") {
    beast::flat_buffer buffer;
    slow->read(buffer);  // throws, and so fails, if the end does not come
    if (slow->got_binary()) {
      ++slow_frames;
      continue;
    }
    const json message = json::parse(beast::buffers_to_string(buffer.data()));
    type = message["type"];
    if (type == "stats") dropped = message["dropped"].value("slow_client", uint64_t{0});
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(slow_frames * 100 + dropped, 200'000u);
}

TEST_F(ServerTest, StopSaysSoAndEndsThoughClientsAreThere) {
  hold_ = true;
  Start();
  const auto reading = OpenSocket("/ws?topic=t");
  ASSERT_NE(reading, nullptr);
  ReadUntil(*reading, "hello");
  source_.load()->Release(10);
  const auto idle = OpenSocket("/ws?topic=u");
  ASSERT_NE(idle, nullptr);
  tcp::socket silent = Connect();
  std::thread stopping([this] { server_->Stop(); });
  EXPECT_EQ(ReadUntil(*reading, "error")["message"], "the server is stopping");
  stopping.join();
  server_.reset();  // the test is that this returns
}

TEST(Server, NeedsATokenBeyondLoopback) {
  ServerOptions options;
  options.listen = "0.0.0.0:0";
  const auto server = Server::Make(std::move(options), std::make_unique<FakeCluster>());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(server.error().message().find("--token"), std::string::npos);
  for (const char* listen : {"127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", ":80", "[::1:80"}) {
    ServerOptions bad;
    bad.listen = listen;
    EXPECT_FALSE(Server::Make(std::move(bad), std::make_unique<FakeCluster>())) << listen;
  }
}

}  // namespace
}  // namespace kafscope
