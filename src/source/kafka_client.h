// KafkaClient: one librdkafka handle with its configuration checked and its complaints understood.
//
// librdkafka reports most set-up faults as "Broker transport failure" and tells the cause in its log only. This class
// keeps the log to itself (nothing is printed), finds the cause in it and says which setting to change.
// Use: Make(), then handle() with librdkafka's own calls. TakeFault() tells what keeps it from connecting.
// Cost: one client is two threads and a connection per broker. Ownership: shared, because librdkafka's messages point
// into it. Threads: all.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "source/kafka_options.h"

struct rd_kafka_s;
struct rd_kafka_conf_s;
struct rd_kafka_message_s;

namespace kafscope {

// Why a broker cannot be used. Those from kNeedsTls on do not pass by themselves.
enum class KafkaFault {
  kNone,
  kUnreachable,  // refused, timed out
  kUnknownHost,
  kNeedsTls,           // our plaintext, their TLS
  kNotTls,             // our TLS, their plaintext
  kNeedsSasl,          // they hang up after the greeting
  kCredentials,        // wrong user or password
  kMechanism,          // a SASL mechanism that the broker does not have
  kUnknownCa,          // the certificate's issuer is not trusted
  kHostName,           // the certificate is for another host
  kExpired,            // the certificate's dates
  kClientCertificate,  // the broker wants one of us
};

// The fault that a line of librdkafka's log tells of; kNone for all other lines.
KafkaFault FaultOfLog(std::string_view line);
// In plain words, with the setting to change. `broker` may be empty.
Status FaultStatus(KafkaFault fault, const std::string& broker);
// A fault that a broker which is just starting or stopping shows as well.
bool IsAmbiguous(KafkaFault fault);
// Whether the user has to change something.
inline bool IsPermanent(KafkaFault fault) { return fault >= KafkaFault::kNeedsTls; }

class KafkaClient {
 public:
  enum class Kind { kConsumer, kProducer };
  // Called in librdkafka's poll with each delivered or failed message of a producer.
  using DeliveryCallback = void (*)(rd_kafka_s*, const rd_kafka_message_s*, void* opaque);
  struct Settings {
    Kind kind = Kind::kConsumer;
    // Kafscope's own values: those of `defaults` yield to the user's properties, those of `fixed` are refused there.
    std::map<std::string, std::string> defaults;
    std::map<std::string, std::string> fixed;
    DeliveryCallback on_delivery = nullptr;
    void* opaque = nullptr;  // for `on_delivery`
  };

  // Checks names and values; connects in the background.
  static Result<std::shared_ptr<KafkaClient>> Make(const KafkaOptions& options, const Settings& settings);
  ~KafkaClient();
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;

  rd_kafka_s* handle() const { return handle_; }

  // Something answered: faults seen so far are over.
  void MarkConnected();
  // What keeps the client from connecting, with confidence; kNone while that is not known. A fault that could also be a
  // broker that is just starting counts only when it has lasted for three seconds.
  KafkaFault fault() const;
  Status FaultAsStatus() const;
  // Set when no broker can be reached, cleared by MarkConnected().
  bool all_brokers_down() const { return all_down_.load(std::memory_order_relaxed); }
  // A failed call as a Status: the known fault if there is one, else librdkafka's words.
  Status ErrorStatus(int error, std::string_view what) const;

 private:
  KafkaClient() = default;
  static void OnLog(const rd_kafka_s* handle, int level, const char* facility, const char* text);
  static void OnError(rd_kafka_s* handle, int error, const char* reason, void* opaque);
  static int OnCertificate(rd_kafka_s* handle, const char* broker, int32_t broker_id, int* x509_error, int depth,
                           const char* buffer, size_t size, char* message, size_t message_size, void* opaque);
  static void OnDelivery(rd_kafka_s* handle, const rd_kafka_message_s* message, void* opaque);
  void SetCallbacks(rd_kafka_conf_s* conf, const Settings& settings);
  void Saw(KafkaFault fault, std::string_view broker);

  rd_kafka_s* handle_ = nullptr;
  DeliveryCallback on_delivery_ = nullptr;
  void* delivery_opaque_ = nullptr;
  std::atomic<bool> all_down_{false};
  mutable std::mutex mutex_;
  KafkaFault fault_ = KafkaFault::kNone;              // guarded by mutex_
  KafkaFault certificate_fault_ = KafkaFault::kNone;  // of the handshake that is going on; guarded by mutex_
  std::chrono::steady_clock::time_point first_seen_;  // of fault_; guarded by mutex_
  std::string broker_;                                // that showed it; guarded by mutex_
};

}  // namespace kafscope
