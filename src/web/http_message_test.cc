#include "web/http_message.h"

#include <gtest/gtest.h>

#include "web/access.h"

namespace kafscope {
namespace {

TEST(ErrorResponse, IsJsonWhateverTheMessageHolds) {
  const HttpResponse response = ErrorResponse(Status::NotFound("no \"x\"\n\xff"));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "{\"error\":{\"code\":\"not_found\",\"message\":\"no \\\"x\\\"\\n\xef\xbf\xbd\"}}");
}

TEST(FindCookie, FindsOneAmongOthers) {
  EXPECT_EQ(FindCookie("a=1; kafscope_token=abc; b=2", "kafscope_token"), "abc");
  EXPECT_FALSE(FindCookie("xkafscope_token=abc", "kafscope_token"));
}

HttpRequest From(std::string host, std::string origin = "") {
  HttpRequest request;
  request.host = std::move(host);
  request.origin = std::move(origin);
  return request;
}

TEST(AccessPolicy, AllowsItsOwnNamesOnly) {
  const AccessPolicy access("", {"scope.example"});
  for (const char* host :
       {"127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080", "10.1.2.3:80", "scope.example"}) {
    EXPECT_TRUE(access.CheckPlace(From(host)).ok()) << host;
  }
  for (const char* host :
       {"", "evil.example", "127.0.0.1.evil.example:8080", "localhost.evil.example", "[::1", "a:b:c"}) {
    EXPECT_EQ(access.CheckPlace(From(host)).code(), StatusCode::kPermissionDenied) << host;
  }
}

TEST(AccessPolicy, AllowsItsOwnOriginOnly) {
  const AccessPolicy access("", {});
  EXPECT_TRUE(access.CheckPlace(From("localhost:8080", "http://localhost:8080")).ok());
  for (const char* origin : {"http://evil.example", "http://localhost:9999", "null", "http://localhost"}) {
    EXPECT_FALSE(access.CheckPlace(From("localhost:8080", origin)).ok()) << origin;
  }
}

TEST(AccessPolicy, TakesTheTokenByHeaderOrCookie) {
  const AccessPolicy access("s3cret+/=", {});
  EXPECT_EQ(access.CheckToken(From("localhost")).code(), StatusCode::kUnauthenticated);
  HttpRequest request = From("localhost");
  request.authorization = "Bearer s3cret+/=";
  EXPECT_TRUE(access.CheckToken(request).ok());
  request.authorization = "Bearer s3cret+/";
  EXPECT_FALSE(access.CheckToken(request).ok());
  request.authorization.clear();
  const std::string cookie = access.CookieHeader();
  EXPECT_NE(cookie.find("HttpOnly"), std::string::npos);
  EXPECT_NE(cookie.find("SameSite=Strict"), std::string::npos);
  request.cookie = "x=1; " + cookie.substr(0, cookie.find(';'));
  EXPECT_TRUE(access.CheckToken(request).ok());
  request.cookie = "kafscope_token=wrong";
  EXPECT_FALSE(access.CheckToken(request).ok());
}

TEST(EqualInConstantTime, IsEquality) {
  EXPECT_TRUE(EqualInConstantTime("", ""));
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  EXPECT_FALSE(EqualInConstantTime("abc", "abd"));
  EXPECT_FALSE(EqualInConstantTime("abc", ""));
  EXPECT_FALSE(EqualInConstantTime("", "abc"));
  EXPECT_FALSE(EqualInConstantTime("abab", "ab"));
}

}  // namespace
}  // namespace kafscope
