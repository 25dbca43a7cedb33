#include "grafana/settings.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

TEST(Settings, KeysOfTheExistingDataSource) {
  const auto settings = ParseSettings(
      R"({"bootstrapServers":"a:1,b:2","clientId":"me","securityProtocol":"SASL_SSL","saslMechanisms":"SCRAM-SHA-512",
          "saslUsername":"bob","tlsAuthWithCACert":true,"tlsSkipVerify":true,"flattenMaxDepth":3,"flattenFieldCap":"50",
          "healthcheckTimeout":1000,"timeout":0,"unknown":[1],"apiKey":"x"})",
      {{"saslPassword", "secret"}, {"tlsCACert", "PEM"}}, "");
  ASSERT_TRUE(settings.has_value()) << settings.error().ToString();
  EXPECT_EQ(settings->kafka.brokers, "a:1,b:2");
  EXPECT_EQ(settings->kafka.client_id, "me");
  const auto& properties = settings->kafka.properties;
  EXPECT_EQ(properties.at("security.protocol"), "SASL_SSL");
  EXPECT_EQ(properties.at("sasl.mechanism"), "SCRAM-SHA-512");
  EXPECT_EQ(properties.at("sasl.password"), "secret");
  EXPECT_EQ(properties.at("ssl.ca.pem"), "PEM");
  EXPECT_EQ(properties.at("enable.ssl.certificate.verification"), "false");
  EXPECT_EQ(settings->max_depth, 3u);
  EXPECT_EQ(settings->max_fields, 50u);
}

TEST(Settings, VerificationIsOnByDefault) {
  const auto settings = ParseSettings(R"({"bootstrapServers":"a:1","securityProtocol":"SSL"})", {}, "");
  ASSERT_TRUE(settings.has_value());
  EXPECT_FALSE(settings->kafka.properties.contains("enable.ssl.certificate.verification"));
}

TEST(Settings, WrongValuesNameTheirKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "bootstrapServers"},
      {"[]", "JSON object"},
      {R"({"bootstrapServers":"a:1","securityProtocol":"TLS"})", "securityProtocol"},
      {R"({"bootstrapServers":"a:1","flattenMaxDepth":"deep"})", "flattenMaxDepth"},
      {R"({"bootstrapServers":"a:1","tlsSkipVerify":"yes","securityProtocol":"SSL"})", "tlsSkipVerify"},
      {R"({"bootstrapServers":"a:1","schemaRegistryUrl":"ftp://x"})", "schemaRegistryUrl"},
  };
  for (const auto& [json, key] : cases) {
    const auto settings = ParseSettings(json, {{"saslPassword", "secret"}}, "");
    ASSERT_FALSE(settings.has_value()) << json;
    EXPECT_NE(settings.error().message().find(key), std::string_view::npos) << settings.error().ToString();
    EXPECT_EQ(settings.error().message().find("secret"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace kafscope
