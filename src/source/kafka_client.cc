#include "source/kafka_client.h"

#include <librdkafka/rdkafka.h>
#include <openssl/x509_vfy.h>

namespace kafscope {
namespace {

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "127.0.0.1:9092" of "[thrd:sasl_ssl://127.0.0.1:9092/bootstrap]: sasl_ssl://127.0.0.1:9092/bootstrap: …".
std::string BrokerOfLog(std::string_view line) {
  const size_t scheme = line.find("://");
  if (scheme != std::string_view::npos) {
    const std::string_view rest = line.substr(scheme + 3);
    return std::string(rest.substr(0, rest.find_first_of("/]: ", rest.find(':') + 1)));
  }
  // Plaintext has no scheme: "[thrd:127.0.0.1:9092/bootstrap]: …".
  const size_t thread = line.find("[thrd:");
  if (thread == std::string_view::npos) return {};
  const std::string_view rest = line.substr(thread + 6);
  return std::string(rest.substr(0, rest.find_first_of("/]")));
}

// How long nothing else may happen until such a fault is believed. (librdkafka logs equal faults once in 30 s: they
// cannot be counted.)
constexpr std::chrono::milliseconds kCertain{3000};

Status SetProperty(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char text[512] = "";
  const rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof text);
  if (result == RD_KAFKA_CONF_OK) return {};
  if (result == RD_KAFKA_CONF_UNKNOWN) return Status::InvalidArgument("-X " + name + ": no such property");
  // librdkafka repeats the value.
  if (IsSecretProperty(name)) return Status::InvalidArgument("-X " + name + ": this value is not accepted");
  return Status::InvalidArgument("-X " + name + ": " + text);
}

Status Configure(rd_kafka_conf_t* conf, const KafkaOptions& options, const KafkaClient::Settings& settings) {
  if (options.brokers.empty()) return Status::InvalidArgument("--brokers: give HOST:PORT of a Kafka broker");
  std::map<std::string, std::string> all = settings.defaults;
  all.try_emplace("client.id", options.client_id);
  for (const auto& [name, value] : options.properties) {
    if (settings.fixed.contains(name)) {
      return Status::InvalidArgument("-X " + name + ": Kafscope sets this property itself");
    }
    if (name == "bootstrap.servers" || name == "metadata.broker.list") {
      return Status::InvalidArgument("-X " + name + ": use --brokers");
    }
    if (name.find("_cb") != std::string::npos || name == "opaque" || name == "plugin.library.paths") {
      return Status::InvalidArgument("-X " + name + ": only for programs");
    }
    all[name] = value;
  }
  for (const auto& [name, value] : settings.fixed) all[name] = value;
  for (const auto& [name, value] : all) KAFSCOPE_RETURN_IF_ERROR(SetProperty(conf, name, value));
  if (const Status status = SetProperty(conf, "bootstrap.servers", options.brokers); !status.ok()) {
    return Status::InvalidArgument("--brokers '" + options.brokers + "': give HOST:PORT, several with commas");
  }
  return {};
}

}  // namespace

bool IsAmbiguous(KafkaFault fault) {
  return fault == KafkaFault::kNeedsTls || fault == KafkaFault::kNotTls || fault == KafkaFault::kNeedsSasl ||
         fault == KafkaFault::kClientCertificate;
}

KafkaFault FaultOfLog(std::string_view line) {
  // Hung up at the greeting. A broker that misses our certificate says so with TLS 1.3 only after the handshake.
  if (Has(line, "Disconnected") && Has(line, "in state APIVERSION_QUERY")) {
    return Has(line, "ssl://") ? KafkaFault::kClientCertificate : KafkaFault::kNeedsTls;
  }
  if (Has(line, "SSL listener?") || Has(line, "likely a TLS") || Has(line, "Invalid response size 352518") ||
      Has(line, "Invalid response size 369295") || Has(line, "might be caused by incorrect security.protocol")) {
    return KafkaFault::kNeedsTls;
  }
  if (Has(line, "PLAINTEXT broker listener?") || Has(line, "wrong version number") ||
      Has(line, "SSL routines::packet length too long") || Has(line, "SSL routines::record layer failure")) {
    return KafkaFault::kNotTls;
  }
  if (Has(line, "SSL authentication might be required") || Has(line, "certificate required") ||
      Has(line, "alert bad certificate") || Has(line, "alert handshake failure")) {
    return KafkaFault::kClientCertificate;
  }
  if (Has(line, "unsupported SASL mechanism") || Has(line, "Unsupported SASL mechanism") ||
      Has(line, "SASL mechanism handshake failed") || Has(line, "not supported by broker")) {
    return KafkaFault::kMechanism;
  }
  if (Has(line, "SASL") && (Has(line, "uthentication fail") || Has(line, "authentication error") ||
                            Has(line, "nvalid credentials") || Has(line, "uthentication failure"))) {
    return KafkaFault::kCredentials;
  }
  if (Has(line, "certificate verify failed") || Has(line, "certificate could not be verified")) {
    return KafkaFault::kUnknownCa;
  }
  if (Has(line, "Failed to resolve")) return KafkaFault::kUnknownHost;
  // `localhost` is tried by IPv6 first, where brokers often do not listen: no news.
  if (Has(line, "ipv6#[::1]") && Has(line, "Connection refused")) return KafkaFault::kNone;
  if (Has(line, "Connection refused") || Has(line, "timed out in state CONNECT") ||
      Has(line, "Connection setup timed out") || Has(line, "Connect to ")) {
    return KafkaFault::kUnreachable;
  }
  if (Has(line, "in state UP") && Has(line, "Disconnected") && !Has(line, "ApiVersion")) return KafkaFault::kNeedsSasl;
  return KafkaFault::kNone;
}

Status FaultStatus(KafkaFault fault, const std::string& broker) {
  const std::string where = broker.empty() ? "the broker" : "broker " + broker;
  switch (fault) {
    case KafkaFault::kNone: return {};
    case KafkaFault::kUnreachable:
      return Status::Unavailable(where + " does not accept connections: is it running, and is --brokers right?");
    case KafkaFault::kUnknownHost:
      return Status::Unavailable("the host name of " + where + " cannot be resolved: check --brokers");
    case KafkaFault::kNeedsTls:
      return Status::Unavailable(where +
                                 " hangs up on a plaintext greeting: its port seems to expect TLS. Set -X "
                                 "security.protocol=ssl (or sasl_ssl), or use the plaintext port in --brokers");
    case KafkaFault::kNotTls:
      return Status::Unavailable(where +
                                 " does not speak TLS on this port. Set -X security.protocol=plaintext (or "
                                 "sasl_plaintext), or use the TLS port in --brokers");
    case KafkaFault::kNeedsSasl:
      return Status::Unauthenticated(where +
                                     " hangs up after the greeting: its port seems to expect a login. Set -X "
                                     "security.protocol=sasl_plaintext (or sasl_ssl), sasl.mechanism, sasl.username "
                                     "and sasl.password");
    case KafkaFault::kCredentials:
      return Status::Unauthenticated(where +
                                     " refuses the user name or password: check -X sasl.username, sasl.password and "
                                     "sasl.mechanism");
    case KafkaFault::kMechanism:
      return Status::Unauthenticated(where +
                                     " does not offer this login mechanism: check -X sasl.mechanism (PLAIN, "
                                     "SCRAM-SHA-256, SCRAM-SHA-512)");
    case KafkaFault::kUnknownCa:
      return Status::Unauthenticated("the certificate of " + where +
                                     " is from an authority that is not trusted here: set -X ssl.ca.location to the "
                                     "PEM file of that authority");
    case KafkaFault::kHostName:
      return Status::Unauthenticated("the certificate of " + where +
                                     " is for another host name: use the name that it holds in --brokers, or set -X "
                                     "ssl.endpoint.identification.algorithm=none if you must");
    case KafkaFault::kExpired:
      return Status::Unauthenticated(
          "the certificate of " + where +
          " is not valid today: it has expired or is not valid yet (or this clock is wrong)");
    case KafkaFault::kClientCertificate:
      return Status::Unauthenticated(where +
                                     " wants a certificate of this client: set -X ssl.certificate.location and "
                                     "ssl.key.location");
  }
  return {};
}

Result<std::shared_ptr<KafkaClient>> KafkaClient::Make(const KafkaOptions& options, const Settings& settings) {
  std::unique_ptr<rd_kafka_conf_t, void (*)(rd_kafka_conf_t*)> conf(rd_kafka_conf_new(), rd_kafka_conf_destroy);
  KAFSCOPE_FAIL_IF_ERROR(Configure(conf.get(), options, settings));
  std::shared_ptr<KafkaClient> client(new KafkaClient);
  client->SetCallbacks(conf.get(), settings);
  char text[512] = "";
  client->handle_ = rd_kafka_new(settings.kind == Kind::kConsumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, conf.get(),
                                 text, sizeof text);
  if (client->handle_ == nullptr) return Fail(Status::InvalidArgument(std::string("-X: ") + text));
  [[maybe_unused]] rd_kafka_conf_t* owned_by_librdkafka = conf.release();
  return client;
}

KafkaClient::~KafkaClient() {
  if (handle_ != nullptr) rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

void KafkaClient::SetCallbacks(rd_kafka_conf_t* conf, const Settings& settings) {
  on_delivery_ = settings.on_delivery;
  delivery_opaque_ = settings.opaque;
  rd_kafka_conf_set_opaque(conf, this);
  rd_kafka_conf_set_log_cb(conf, &OnLog);
  rd_kafka_conf_set_error_cb(conf, &OnError);
  rd_kafka_conf_set_ssl_cert_verify_cb(conf, &OnCertificate);
  if (on_delivery_ != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, &OnDelivery);
}

void KafkaClient::OnLog(const rd_kafka_t* handle, int /*level*/, const char* /*facility*/, const char* text) {
  auto* self = static_cast<KafkaClient*>(rd_kafka_opaque(handle));
  if (self == nullptr) return;
  const KafkaFault fault = FaultOfLog(text);
  if (fault != KafkaFault::kNone) self->Saw(fault, BrokerOfLog(text));
}

// Only what librdkafka says of the whole cluster; causes come from the log.
void KafkaClient::OnError(rd_kafka_t* /*handle*/, int error, const char* reason, void* opaque) {
  auto* self = static_cast<KafkaClient*>(opaque);
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) self->all_down_.store(true, std::memory_order_relaxed);
  // Authentication faults are told here and, at some places, not in the log.
  const KafkaFault fault = FaultOfLog(reason);
  if (error == RD_KAFKA_RESP_ERR__AUTHENTICATION) {
    self->Saw(fault == KafkaFault::kMechanism ? fault : KafkaFault::kCredentials, BrokerOfLog(reason));
  }
}

// OpenSSL's own verdict stands; only its reason is noted, since the log says the same for all of them.
int KafkaClient::OnCertificate(rd_kafka_t* /*handle*/, const char* /*broker*/, int32_t /*broker_id*/, int* x509_error,
                               int /*depth*/, const char* /*buffer*/, size_t /*size*/, char* /*message*/,
                               size_t /*message_size*/, void* opaque) {
  if (*x509_error == X509_V_OK) return 1;
  KafkaFault fault = KafkaFault::kUnknownCa;
  if (*x509_error == X509_V_ERR_HOSTNAME_MISMATCH || *x509_error == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    fault = KafkaFault::kHostName;
  } else if (*x509_error == X509_V_ERR_CERT_HAS_EXPIRED || *x509_error == X509_V_ERR_CERT_NOT_YET_VALID) {
    fault = KafkaFault::kExpired;
  }
  auto* self = static_cast<KafkaClient*>(opaque);
  const std::lock_guard lock(self->mutex_);
  self->certificate_fault_ = fault;
  return 0;
}

void KafkaClient::OnDelivery(rd_kafka_t* handle, const rd_kafka_message_t* message, void* opaque) {
  const auto* self = static_cast<KafkaClient*>(opaque);
  self->on_delivery_(handle, message, self->delivery_opaque_);
}

void KafkaClient::Saw(KafkaFault fault, std::string_view broker) {
  const std::lock_guard lock(mutex_);
  if (fault == KafkaFault::kUnknownCa && certificate_fault_ != KafkaFault::kNone) {
    fault = std::exchange(certificate_fault_, KafkaFault::kNone);
  }
  // What is certain is not overwritten by what may be its echo (a connection that is closed, a port that rests).
  if (IsPermanent(fault_) && !IsAmbiguous(fault_) && (IsAmbiguous(fault) || !IsPermanent(fault))) return;
  if (fault != fault_) first_seen_ = std::chrono::steady_clock::now();
  fault_ = fault;
  if (!broker.empty()) broker_ = broker;
}

void KafkaClient::MarkConnected() {
  all_down_.store(false, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  fault_ = KafkaFault::kNone;
}

KafkaFault KafkaClient::fault() const {
  const std::lock_guard lock(mutex_);
  const bool wait = IsAmbiguous(fault_) && std::chrono::steady_clock::now() - first_seen_ < kCertain;
  return wait ? KafkaFault::kNone : fault_;
}

Status KafkaClient::FaultAsStatus() const {
  const KafkaFault known = fault();
  const std::lock_guard lock(mutex_);
  return FaultStatus(known, broker_);
}

Status KafkaClient::ErrorStatus(int error, std::string_view what) const {
  const auto code = static_cast<rd_kafka_resp_err_t>(error);
  const std::string text = std::string(what) + ": " + rd_kafka_err2str(code);
  switch (code) {
    case RD_KAFKA_RESP_ERR_NO_ERROR: return {};
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_ID:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return Status::NotFound(text);
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED: return Status::PermissionDenied(text);
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR__INVALID_ARG: return Status::InvalidArgument(text);
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE: return Status::Unsupported(text);
    default: break;
  }
  if (const Status fault = FaultAsStatus(); !fault.ok()) return fault.WithContext(what);
  return Status::Unavailable(text);
}

}  // namespace kafscope
