#include "schema/registry_client.h"

#include <gtest/gtest.h>

#include <string>

#include "schema/registry_test_server.h"

namespace kafscope {
namespace {

using namespace std::chrono_literals;

RegistryOptions OptionsFor(const std::string& urls) {
  auto options = MakeRegistryOptions({.url = urls});
  EXPECT_TRUE(options) << options.error().ToString();
  options->timeout = 60s;  // a loaded machine; tests of time-outs set their own
  return *options;
}

std::unique_ptr<RegistryClient> ClientFor(RegistryOptions options) {
  auto client = RegistryClient::Make(std::move(options));
  EXPECT_TRUE(client) << client.error().ToString();
  return *std::move(client);
}
std::unique_ptr<RegistryClient> ClientFor(const std::string& urls) { return ClientFor(OptionsFor(urls)); }

// "CODE: message" of a failed fetch of schema 1.
std::string ErrorOf(RegistryClient& client) {
  const auto schema = client.FetchById(1);
  return schema ? "fetched " + schema->text : schema.error().ToString();
}

TestResponse Ok(const std::string& body) { return {.status = 200, .body = body}; }
const std::string kLong = R"({"schema":"\"long\""})";

TEST(RegistryUrl, Parses) {
  const auto text = [](std::string_view url) {
    const auto parsed = ParseRegistryUrl(url);
    if (!parsed) return std::string(parsed.error().message());
    return parsed->Text() + " port " + parsed->port + (parsed->has_user ? " user " + parsed->user : "") +
           (parsed->password.empty() ? "" : " password " + parsed->password);
  };
  EXPECT_EQ(text("http://a"), "http://a port 80");
  EXPECT_EQ(text("https://a:8081/"), "https://a:8081 port 8081");
  EXPECT_EQ(text("https://a/apis/ccompat/v7/"), "https://a/apis/ccompat/v7 port 443");
  EXPECT_EQ(text("http://[::1]:8081/x"), "http://[::1]:8081/x port 8081");
  EXPECT_EQ(text("http://us%40er:p%3Aw@a:1"), "http://a:1 port 1 user us@er password p:w");
  EXPECT_EQ(text("ftp://a"), "--registry: an address begins with http:// or https://");
  EXPECT_EQ(text("http://"), "--registry: no host");
  EXPECT_EQ(text("http://a:0"), "--registry: the port must be a number from 1 to 65535");
  EXPECT_EQ(text("http://a:65536"), "--registry: the port must be a number from 1 to 65535");
  EXPECT_EQ(text("http://a:x"), "--registry: the port must be a number from 1 to 65535");
  EXPECT_EQ(text("http://[::1"), "--registry: '[' without ']' in the host");
  EXPECT_EQ(text("http://a/?b"), "--registry: an address has no '?' or '#'");
  EXPECT_EQ(text("http://a\r\nX: y"), "--registry: invalid character in the host");
  EXPECT_EQ(text("http://a/ b"), "--registry: invalid character in the path");
}

TEST(RegistryOptions, ChecksItsFlags) {
  const auto error = [](const RegistryFlags& flags) {
    const auto options = MakeRegistryOptions(flags);
    return options ? std::string("good") : std::string(options.error().message());
  };
  EXPECT_EQ(error({.url = "http://a, http://b"}), "good");
  EXPECT_EQ(error({.url = ""}), "--registry: no address");
  EXPECT_EQ(error({.url = "http://a", .password_file = "/nowhere"}), "--registry-password-file: cannot read /nowhere");
  EXPECT_EQ(error({.url = "http://a", .cert = "/x"}), "--registry-cert and --registry-key belong together");
  EXPECT_EQ(error({.url = "http://a", .ca = "/nowhere"}), "--registry-ca: cannot read /nowhere");
}

TEST(RegistryClient, FetchesByIdGuidAndSubject) {
  TestServer server([](const TestRequest& request) -> TestResponse {
    if (request.target == "/pre/fix/schemas/ids/7") return Ok(R"({"schema":"\"long\"","guid":"g-7"})");
    if (request.target == "/pre/fix/schemas/guids/g-7") return Ok(R"({"schema":"\"long\"","id":7})");
    if (request.target == "/pre/fix/subjects/a%2Fb%20c/versions/latest") {
      return Ok(R"({"schema":"message M {}","schemaType":"PROTOBUF","id":8,"version":3,"references":null})");
    }
    return {.status = 404, .body = "{}"};
  });
  const auto client = ClientFor(server.Url("/pre/fix/"));
  const auto by_id = client->FetchById(7);
  ASSERT_TRUE(by_id) << by_id.error().ToString();
  EXPECT_EQ(by_id->id, 7);
  EXPECT_EQ(by_id->guid, "g-7");
  EXPECT_EQ(by_id->text, "\"long\"");
  EXPECT_EQ(by_id->type, SchemaType::kAvro);
  const auto by_guid = client->FetchByGuid("g-7");
  ASSERT_TRUE(by_guid) << by_guid.error().ToString();
  EXPECT_EQ(by_guid->id, 7);
  const auto by_subject = client->FetchBySubject("a/b c", "latest");
  ASSERT_TRUE(by_subject) << by_subject.error().ToString();
  EXPECT_EQ(by_subject->id, 8);
  EXPECT_EQ(by_subject->type, SchemaType::kProtobuf);
}

TEST(RegistryClient, ResolvesReferencesOnceDependenciesFirst) {  // cases.md 29
  TestServer server([](const TestRequest& request) -> TestResponse {
    if (request.target == "/schemas/ids/1") {
      return Ok(R"({"schema":"top","references":[{"name":"b","subject":"b","version":2},
                                                 {"name":"c","subject":"c","version":1}]})");
    }
    if (request.target == "/subjects/b/versions/2") {
      return Ok(R"({"schema":"B","references":[{"name":"c","subject":"c","version":1}]})");
    }
    if (request.target == "/subjects/c/versions/1") return {.status = 404, .body = R"({"error_code":40402})"};
    if (request.target == "/subjects/c/versions/1?deleted=true") return Ok(R"({"schema":"C"})");
    return {.status = 500};
  });
  const auto schema = ClientFor(server.Url())->FetchById(1);
  ASSERT_TRUE(schema) << schema.error().ToString();
  ASSERT_EQ(schema->references.size(), 2u);
  EXPECT_EQ(schema->references[0].text, "C");
  EXPECT_EQ(schema->references[1].text, "B");
  EXPECT_EQ(schema->references[1].version, 2);
  EXPECT_EQ(server.requests().size(), 4u);
}

TEST(RegistryClient, ReferencesThatNeverEndAreRefused) {
  TestServer server([](const TestRequest& request) {
    const int depth = static_cast<int>(request.target.size());
    return Ok(R"({"schema":"x","references":[{"subject":")" + std::string(static_cast<size_t>(depth), 'a') +
              R"(","version":1}]})");
  });
  EXPECT_NE(ErrorOf(*ClientFor(server.Url())).find("too many references"), std::string::npos);
}

TEST(RegistryClient, SaysWhatTheRegistrySaid) {
  TestResponse answer;
  TestServer server([&](const TestRequest&) { return answer; });
  const auto client = ClientFor(server.Url());
  const std::string place = "registry " + server.Url();
  answer = {.status = 404, .body = R"({"error_code":40403,"message":"Schema 1 not found"})"};
  EXPECT_EQ(ErrorOf(*client), "not_found: the registry does not know it: Schema 1 not found");
  answer = {.status = 404, .body = "<html>"};
  EXPECT_EQ(ErrorOf(*client), "data_loss: " + place +
                                  ": not found, and not a schema registry's answer (is the path of --registry right?)");
  answer = {.status = 401, .body = R"({"error_code":401,"message":"Unauthorized"})"};
  EXPECT_EQ(ErrorOf(*client),
            "unauthenticated: " + place + ": Unauthorized (see --registry-user, --registry-token-file)");
  answer = {.status = 403};
  EXPECT_EQ(ErrorOf(*client), "permission_denied: " + place + ": HTTP 403");
  answer = {.status = 503, .body = "busy"};
  EXPECT_EQ(ErrorOf(*client), "unavailable: " + place + ": HTTP 503");
  answer = {.status = 200, .body = "<html>\nhello"};
  EXPECT_EQ(ErrorOf(*client), "data_loss: " + place + ": not a schema registry's answer: '<html> hello'");
  answer = {.status = 200, .body = R"({"schema":1})"};
  EXPECT_EQ(ErrorOf(*client), "data_loss: " + place + ": not a schema registry's answer: no \"schema\"");
  answer = {.status = 200, .body = R"({"schema":"x","schemaType":"THRIFT"})"};
  EXPECT_EQ(ErrorOf(*client), "unsupported: " + place + ": schema type 'THRIFT' is not supported");
  answer = {.raw = "SSH-2.0-OpenSSH\r\n\r\n"};
  EXPECT_NE(ErrorOf(*client).find("data_loss: " + place + ": the answer is not HTTP"), std::string::npos)
      << ErrorOf(*client);
  answer = {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"sch"};
  EXPECT_NE(ErrorOf(*client).find("the connection was closed"), std::string::npos) << ErrorOf(*client);
}

TEST(RegistryClient, BoundsTimeAndSize) {
  TestServer server([](const TestRequest& request) -> TestResponse {
    if (request.target == "/schemas/ids/2") return Ok(R"({"schema":")" + std::string(100000, 'x') + "\"}");
    return {.hang = true};
  });
  RegistryOptions options = OptionsFor(server.Url());
  options.timeout = 200ms;
  EXPECT_NE(ErrorOf(*ClientFor(options)).find("deadline_exceeded"), std::string::npos);
  options.timeout = 60s;
  options.max_body = 1000;
  const auto large = ClientFor(options)->FetchById(2);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), StatusCode::kResourceExhausted) << large.error().ToString();
}

TEST(RegistryClient, CancelEndsARequest) {
  std::atomic<bool> asked{false};
  TestServer server([&](const TestRequest&) -> TestResponse {
    asked = true;
    return {.hang = true};
  });
  const auto client = ClientFor(server.Url());
  std::thread canceller([&] {
    while (!asked) std::this_thread::yield();
    client->Cancel();
  });
  EXPECT_NE(ErrorOf(*client).find("cancelled"), std::string::npos);
  canceller.join();
}

TEST(RegistryClient, FailsOverAndStaysWithTheOneThatAnswers) {
  std::string dead;
  {
    TestServer gone([](const TestRequest&) { return TestResponse{}; });
    dead = gone.Url();
  }
  TestServer broken([](const TestRequest&) { return TestResponse{.status = 500}; });
  TestServer good([](const TestRequest&) { return Ok(kLong); });
  const auto client = ClientFor(dead + "," + broken.Url() + "," + good.Url());
  EXPECT_EQ(ErrorOf(*client), "fetched \"long\"");
  EXPECT_EQ(ErrorOf(*client), "fetched \"long\"");
  EXPECT_EQ(broken.requests().size(), 1u);
  EXPECT_EQ(good.requests().size(), 2u);
}

TEST(RegistryClient, SendsItsCredentials) {
  TestServer server([](const TestRequest&) { return Ok(kLong); });
  RegistryOptions options = OptionsFor(server.Url());
  options.user = "me";
  options.password = "secret";
  EXPECT_EQ(ErrorOf(*ClientFor(options)), "fetched \"long\"");
  options.user.clear();
  options.token = "tok";
  EXPECT_EQ(ErrorOf(*ClientFor(options)), "fetched \"long\"");
  EXPECT_EQ(ErrorOf(*ClientFor("http://u:p@127.0.0.1:" + server.port())), "fetched \"long\"");
  const auto requests = server.requests();
  EXPECT_EQ(requests[0].authorization, "Basic bWU6c2VjcmV0");
  EXPECT_EQ(requests[1].authorization, "Bearer tok");
  EXPECT_EQ(requests[2].authorization, "Basic dTpw");
}

TEST(RegistryClient, FollowsRedirectsOnTheSameHostOnly) {
  std::string location;
  TestServer server([&](const TestRequest& request) -> TestResponse {
    if (request.target.starts_with("/there")) return Ok(kLong);
    return {.status = 302, .location = location};
  });
  const auto client = ClientFor(server.Url());
  location = "/there";
  EXPECT_EQ(ErrorOf(*client), "fetched \"long\"");
  location = server.Url("/there?x=1");
  EXPECT_EQ(ErrorOf(*client), "fetched \"long\"");
  EXPECT_EQ(server.Count("/there?x=1"), 1);
  location = "http://localhost:" + server.port() + "/there";
  EXPECT_NE(ErrorOf(*client).find("a redirect to another host is not followed"), std::string::npos);
  location = "//elsewhere.example/there";
  EXPECT_NE(ErrorOf(*client).find("a redirect to another host is not followed"), std::string::npos);
  location = "/again";
  EXPECT_NE(ErrorOf(*client).find("too many redirects"), std::string::npos);
}

TEST(RegistryClient, ChecksCertificates) {
  const TestCertificates certificates;
  const auto context = certificates.Server("server");
  TestServer server([](const TestRequest&) { return Ok(kLong); }, context.get());
  RegistryOptions options = OptionsFor(server.Url());
  options.timeout = 60s;
  EXPECT_NE(ErrorOf(*ClientFor(options)).find("the certificate is refused"), std::string::npos)
      << ErrorOf(*ClientFor(options));
  options.ca_file = certificates.File("ca.pem");
  EXPECT_EQ(ErrorOf(*ClientFor(options)), "fetched \"long\"");

  const auto other_context = certificates.Server("other");
  TestServer other([](const TestRequest&) { return Ok(kLong); }, other_context.get());
  options.urls = OptionsFor(other.Url()).urls;
  EXPECT_NE(ErrorOf(*ClientFor(options)).find("the certificate is refused"), std::string::npos) << "wrong host name";

  // http to a TLS port, https to a plain port.
  EXPECT_FALSE(ClientFor("http://127.0.0.1:" + server.port())->FetchById(1));
  TestServer plain([](const TestRequest&) { return Ok(kLong); });
  EXPECT_FALSE(ClientFor("https://127.0.0.1:" + plain.port())->FetchById(1));
}

TEST(RegistryClient, ShowsItsCertificate) {
  const TestCertificates certificates;
  const auto context = certificates.Server("server", true);
  TestServer server([](const TestRequest&) { return Ok(kLong); }, context.get());
  RegistryOptions options = OptionsFor(server.Url());
  options.ca_file = certificates.File("ca.pem");
  EXPECT_NE(ErrorOf(*ClientFor(options)), "fetched \"long\"");
  options.cert_file = certificates.File("client.pem");
  options.key_file = certificates.File("client.key");
  EXPECT_EQ(ErrorOf(*ClientFor(options)), "fetched \"long\"");
  options.key_file = certificates.File("ca.pem");
  const auto bad = RegistryClient::Make(options);
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message().starts_with("--registry-key: ")) << bad.error().ToString();
}

}  // namespace
}  // namespace kafscope
