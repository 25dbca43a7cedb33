// SchemaStore: schemas by registry id, fetched off the consume thread.
//
// Use: a decoder asks Find(id) per framed record (an engine caches its own compiled plan by id, so this is asked once
// an id). kPending: the fetch has begun; ask again. kFailed: `error` says why; it is retried after a back-off. Bounds:
// an LRU of `max_entries`; misses and failures are kept briefly. One request per id in flight. Threads: all calls from
// any thread. RegistrySchemaStore (registry_client.h) is the real one; tests use a fake.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kafscope {

enum class SchemaType : uint8_t { kAvro, kProtobuf, kJson };

// A schema as the registry gives it, its references resolved (depth first, each once, dependencies before dependants).
struct RegisteredSchema {
  int32_t id = 0;
  std::string guid;  // where the registry gives one
  SchemaType type = SchemaType::kAvro;
  std::string text;
  struct Reference {
    std::string name;  // import path (Protobuf) or full name (Avro)
    std::string subject;
    int32_t version = 0;
    std::string text;
  };
  std::vector<Reference> references;
};

class SchemaStore {
 public:
  enum class State : uint8_t { kReady, kPending, kFailed };
  struct Answer {
    State state = State::kPending;
    std::shared_ptr<const RegisteredSchema> schema;  // kReady
    Status error;                                    // kFailed
  };
  virtual ~SchemaStore() = default;
  virtual Answer Find(int32_t id) = 0;
  virtual Answer FindByGuid(std::string_view guid_hex) = 0;
};

}  // namespace kafscope
