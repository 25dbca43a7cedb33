#include "grafana/settings.h"

#include "grafana/json_reader.h"

namespace kafscope {

namespace {

std::string Secret(const std::map<std::string, std::string>& secrets, const char* name) {
  const auto found = secrets.find(name);
  return found == secrets.end() ? std::string() : found->second;
}

// TLS and SASL as librdkafka's properties.
void SetSecurity(JsonReader& reader, const std::map<std::string, std::string>& secrets, KafkaOptions* kafka) {
  auto& properties = kafka->properties;
  const std::string protocol = reader.OneOf("securityProtocol", {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"});
  properties["security.protocol"] = protocol;
  if (protocol.starts_with("SASL")) {
    const std::string mechanism =
        reader.OneOf("saslMechanisms", {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"});
    properties["sasl.mechanism"] = mechanism;
    if (mechanism != "OAUTHBEARER") {
      properties["sasl.username"] = reader.Text("saslUsername");
      properties["sasl.password"] = Secret(secrets, "saslPassword");
    }
  }
  if (protocol.ends_with("SSL")) {
    if (reader.Flag("tlsSkipVerify", false)) properties["enable.ssl.certificate.verification"] = "false";
    if (reader.Flag("tlsAuthWithCACert", false)) properties["ssl.ca.pem"] = Secret(secrets, "tlsCACert");
    if (reader.Flag("tlsAuth", false)) {
      properties["ssl.certificate.pem"] = Secret(secrets, "tlsClientCert");
      properties["ssl.key.pem"] = Secret(secrets, "tlsClientKey");
    }
  }
}

// `librdkafka`: an object or lines of `key=value`.
Status SetProperties(JsonReader& reader, KafkaOptions* kafka) {
  for (const std::string& line : reader.List("kafkaProperties")) {
    if (Status status = kafka->AddProperty(line); !status.ok()) return status.WithContext("kafkaProperties");
  }
  return {};
}

}  // namespace

Result<DataSourceSettings> ParseSettings(std::string_view json, const std::map<std::string, std::string>& secrets,
                                         std::string_view url) {
  KAFSCOPE_ASSIGN_OR_FAIL(JsonReader reader, JsonReader::Parse(json, "the data source's settings"));
  DataSourceSettings settings;
  settings.kafka.brokers = reader.Text("bootstrapServers", url);
  if (settings.kafka.brokers.empty()) {
    return Fail(Status::InvalidArgument("bootstrapServers is not set: enter HOST:PORT of a broker"));
  }
  settings.kafka.client_id = reader.Text("clientId", "kafscope");
  SetSecurity(reader, secrets, &settings.kafka);
  if (const int64_t timeout = reader.Integer("timeout", 0, 0, 300'000); timeout > 0) {
    settings.kafka.properties["socket.timeout.ms"] = std::to_string(timeout);
  }
  KAFSCOPE_FAIL_IF_ERROR(SetProperties(reader, &settings.kafka));
  settings.health_timeout = std::chrono::milliseconds(reader.Integer("healthcheckTimeout", 2000, 100, 15'000));
  settings.max_depth = static_cast<uint32_t>(reader.Integer("flattenMaxDepth", 5, 1, 64));
  settings.max_fields = static_cast<uint32_t>(reader.Integer("flattenFieldCap", 1000, 1, 100'000));
  settings.max_rows = static_cast<uint32_t>(reader.Integer("maxRows", 50'000, 1, 65'536));
  settings.query_timeout = std::chrono::milliseconds(reader.Integer("queryTimeout", 20'000, 100, 120'000));
  if (const std::string registry = reader.Text("schemaRegistryUrl"); !registry.empty()) {
    RegistryFlags flags;
    flags.url = registry;
    auto options = MakeRegistryOptions(flags);
    if (!options) return Fail(options.error().WithContext("schemaRegistryUrl"));
    settings.registry = *std::move(options);
    settings.registry.user = reader.Text("schemaRegistryUsername");
    settings.registry.password = Secret(secrets, "schemaRegistryPassword");
    settings.has_registry = true;
  }
  KAFSCOPE_FAIL_IF_ERROR(reader.status());
  return settings;
}

}  // namespace kafscope
