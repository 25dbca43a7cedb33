#include "source/kafka_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kafscope {
namespace {

Status MakeStatus(const KafkaOptions& options) {
  const Result<std::shared_ptr<KafkaClient>> client = KafkaClient::Make(options, {});
  return client ? Status() : client.error();
}

TEST(KafkaOptions, RefusesWhatIsNotAPropertyAndNamesIt) {
  KafkaOptions options;
  options.brokers = "127.0.0.1:9";
  EXPECT_TRUE(MakeStatus(options).ok());
  for (const char* text : {"no.such.property=1", "session.timeout.ms=ten", "security.protocol=carrier_pigeon",
                           "bootstrap.servers=x:1", "log_cb=1"}) {
    KafkaOptions bad = options;
    ASSERT_TRUE(bad.AddProperty(text).ok());
    const Status status = MakeStatus(bad);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    const std::string name(std::string_view(text).substr(0, std::string_view(text).find('=')));
    EXPECT_NE(status.message().find("-X " + name), std::string::npos) << status.ToString();
  }
  EXPECT_FALSE(options.AddProperty("hunter2").ok());
  EXPECT_EQ(options.AddProperty("hunter2").message().find("hunter2"), std::string::npos);
  EXPECT_FALSE(options.AddProperty("=x").ok());
  options.brokers.clear();
  EXPECT_NE(MakeStatus(options).message().find("--brokers"), std::string::npos);
}

TEST(KafkaOptions, OwnPropertiesCannotBeOverridden) {
  KafkaOptions options;
  options.brokers = "127.0.0.1:9";
  ASSERT_TRUE(options.AddProperty("auto.offset.reset=latest").ok());
  KafkaClient::Settings settings;
  settings.fixed = {{"auto.offset.reset", "error"}};
  const Result<std::shared_ptr<KafkaClient>> client = KafkaClient::Make(options, settings);
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().message().find("auto.offset.reset"), std::string::npos);
}

TEST(KafkaOptions, SecretsComeFromFilesAndTheEnvironmentAndAreNeverRepeated) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("kafscope-secret-" + std::to_string(::getpid()));
  std::ofstream(path) << "from=file\nsecond line\n";
  KafkaOptions options;
  options.brokers = "127.0.0.1:9";
  ASSERT_TRUE(options.AddProperty("sasl.password.file=" + path.string()).ok());
  EXPECT_EQ(options.properties["sasl.password"], "from=file");
  ::setenv("KAFSCOPE_TEST_SECRET", "from env", 1);
  ASSERT_TRUE(options.AddProperty("ssl.key.password.env=KAFSCOPE_TEST_SECRET").ok());
  EXPECT_EQ(options.properties["ssl.key.password"], "from env");
  EXPECT_FALSE(options.AddProperty("sasl.password.env=KAFSCOPE_NO_SUCH_VARIABLE").ok());
  EXPECT_FALSE(options.AddProperty("sasl.password.file=/no/such/file").ok());
  std::filesystem::remove(path);

  KafkaOptions bad;
  bad.brokers = "127.0.0.1:9";
  ASSERT_TRUE(bad.AddProperty("ssl.key.pem=hunter2").ok());
  ASSERT_TRUE(bad.AddProperty("security.protocol=ssl").ok());
  EXPECT_EQ(MakeStatus(bad).message().find("hunter2"), std::string::npos);
}

TEST(KafkaOptions, ReadsPropertyFilesBehindTheCommandLine) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("kafscope-properties-" + std::to_string(::getpid()));
  std::ofstream(path) << "# comment\n\nbootstrap.servers = broker:9092\nsecurity.protocol=ssl\n client.id = x \n";
  KafkaOptions options;
  ASSERT_TRUE(options.AddProperty("security.protocol=plaintext").ok());
  ASSERT_TRUE(options.LoadPropertyFile(path.string()).ok());
  EXPECT_EQ(options.brokers, " broker:9092");
  EXPECT_EQ(options.properties["security.protocol"], "plaintext");
  EXPECT_EQ(options.properties["client.id"], " x");
  std::ofstream(path) << "nonsense\n";
  const Status status = options.LoadPropertyFile(path.string());
  EXPECT_NE(status.message().find("line 1"), std::string::npos) << status.ToString();
  std::filesystem::remove(path);
}

TEST(KafkaFault, IsFoundInTheLog) {
  const std::pair<const char*, KafkaFault> cases[] = {
      {"[thrd:127.0.0.1:1/bootstrap]: 127.0.0.1:1/bootstrap: Disconnected: requesting ApiVersion: might be caused by "
       "incorrect security.protocol configuration (connecting to a SSL listener?) or broker version is < 0.10",
       KafkaFault::kNeedsTls},
      {"[thrd:ssl://127.0.0.1:1/bootstrap]: ssl://127.0.0.1:1/bootstrap: SSL handshake failed: Disconnected: "
       "connecting "
       "to a PLAINTEXT broker listener? (after 3ms in state SSL_HANDSHAKE)",
       KafkaFault::kNotTls},
      {"[thrd:ssl://127.0.0.1:1/bootstrap]: SSL handshake failed: error:0A000086:SSL routines::certificate verify "
       "failed: broker certificate could not be verified",
       KafkaFault::kUnknownCa},
      {"[thrd:sasl_plaintext://127.0.0.1:1/bootstrap]: SASL authentication error: Authentication failed: Invalid "
       "username or password (after 310ms in state AUTH_REQ)",
       KafkaFault::kCredentials},
      {"[thrd:127.0.0.1:1/bootstrap]: Connect to ipv4#127.0.0.1:1 failed: Connection refused",
       KafkaFault::kUnreachable},
      {"[thrd:app]: nothing to see", KafkaFault::kNone},
  };
  for (const auto& [line, fault] : cases) EXPECT_EQ(FaultOfLog(line), fault) << line;
}

TEST(KafkaFault, EachHasItsOwnWordsAndNamesASetting) {
  std::vector<std::string> texts;
  for (int i = static_cast<int>(KafkaFault::kUnreachable); i <= static_cast<int>(KafkaFault::kClientCertificate); ++i) {
    const std::string text(FaultStatus(static_cast<KafkaFault>(i), "b:1").message());
    EXPECT_NE(text.find("b:1"), std::string::npos);
    EXPECT_TRUE(text.find("-X ") != std::string::npos || text.find("--brokers") != std::string::npos ||
                static_cast<KafkaFault>(i) == KafkaFault::kExpired)
        << text;
    EXPECT_EQ(std::find(texts.begin(), texts.end(), text), texts.end());
    texts.push_back(text);
  }
}

}  // namespace
}  // namespace kafscope
