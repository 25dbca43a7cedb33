// ProtobufSchema: the message types of .proto texts or a descriptor set, ready to compile a decode plan from.
//
// Use: `ProtobufSchema::Compile(source)`, then FindMessage(name) or FindByPath(message indexes) for the message of the
// records. Types are nodes in arrays and refer to each other by index, so recursive types are cycles. Extensions that
// the files know are fields of the type they extend, named `[full.name]`.
// Imports are looked up, in this order, among the well-known types (google/protobuf/*.proto, confluent/*.proto: built
// in), the imports given as text (a registry's references), and the include directories.
// Errors: kInvalidArgument with "FILE:LINE:COLUMN: text" of the first faults; kUnsupported for editions.
// Cost: allocates; milliseconds; off the hot path. Bounds: kMaxTextSize, kMaxFiles, kMaxMessages, kMaxNesting.
// Threads: immutable once compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace kafscope {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kStartGroup = 3, kEndGroup = 4, kFixed32 = 5 };

// The numbers of descriptor.proto.
enum class ProtobufType : uint8_t {
  kDouble = 1,
  kFloat,
  kInt64,
  kUint64,
  kInt32,
  kFixed64,
  kFixed32,
  kBool,
  kString,
  kGroup,
  kMessage,
  kBytes,
  kUint32,
  kEnum,
  kSfixed32,
  kSfixed64,
  kSint32,
  kSint64,
};

// Messages that have a form of their own as values.
enum class ProtobufWellKnown : uint8_t {
  kNone,
  kTimestamp,
  kDuration,
  kWrapper,  // Int64Value, StringValue, …: one field `value`
  kStruct,
  kValue,
  kListValue,
  kFieldMask,
  kAny,
};

struct ProtobufField {
  std::string name;  // as in the .proto, "[full.name]" for an extension
  uint32_t number = 0;
  ProtobufType type = ProtobufType::kInt32;
  bool repeated = false;
  bool map = false;       // repeated entries of a map
  bool presence = false;  // unset is null; else unset is the type's default
  bool required = false;
  bool check_utf8 = false;  // proto3 strings: other text is an error
  int32_t oneof = -1;       // index of the oneof in its message, synthetic ones excepted
  uint32_t type_index = 0;  // of messages or enums

  // Numbers, bool and enums: repeated ones may come packed.
  bool is_packable() const {
    return type != ProtobufType::kString && type != ProtobufType::kBytes && type != ProtobufType::kMessage &&
           type != ProtobufType::kGroup;
  }
  // The wire type of one value.
  WireType wire() const;
  // Whether a value of this wire type is one of the field; else it is an unknown field.
  bool Takes(WireType given) const {
    return given == wire() || (repeated && is_packable() && given == WireType::kLength);
  }
};

struct ProtobufMessage {
  static constexpr uint32_t kNoField = UINT32_MAX;

  std::string name;  // full name
  ProtobufWellKnown well_known = ProtobufWellKnown::kNone;
  std::vector<ProtobufField> fields;  // by number

  // Index of the field with this number, or kNoField. Cost: one look if it is fields[guess], else a search.
  uint32_t FindField(uint32_t number, uint32_t guess = 0) const {
    if (guess < fields.size() && fields[guess].number == number) return guess;
    return Search(number);
  }

 private:
  uint32_t Search(uint32_t number) const;
};

struct ProtobufEnum {
  struct Value {
    int32_t number;
    std::string name;
  };
  std::string name;
  bool closed = false;        // proto2: a number without a name is an unknown field
  std::vector<Value> values;  // by number; of aliases the first

  // Null if no value has this number. Cost: one look for the usual 0, 1, 2, …; else a search.
  const std::string* Name(int32_t number) const {
    const auto index = static_cast<uint32_t>(number);
    if (index < values.size() && values[index].number == number) return &values[index].name;
    return Search(number);
  }

 private:
  const std::string* Search(int32_t number) const;
};

// What to compile.
struct ProtobufSource {
  struct Import {
    std::string path;  // as in the import statement
    std::string text;
  };
  std::string text;                        // of the .proto file; or
  std::string descriptor_set;              // a serialised FileDescriptorSet (protoc -o)
  std::string file_name = "schema.proto";  // for messages
  std::vector<Import> imports;
  std::vector<std::string> include_dirs;  // files are read from these, and nowhere else
};

class ProtobufSchema {
 public:
  static constexpr size_t kMaxTextSize = 4 << 20;  // a file
  static constexpr size_t kMaxFiles = 1000;
  static constexpr size_t kMaxMessages = 20000;
  static constexpr size_t kMaxNesting = 60;  // brackets in a text
  static constexpr uint32_t kNoMessage = UINT32_MAX;

  static Result<std::shared_ptr<const ProtobufSchema>> Compile(const ProtobufSource& source);

  const ProtobufMessage& message(uint32_t index) const { return messages_[index]; }
  const ProtobufEnum& enumeration(uint32_t index) const { return enums_[index]; }
  size_t num_messages() const { return messages_.size(); }
  // Full names of the messages that a record may hold: those of the file itself (of all files of a descriptor set but
  // the well-known ones), in the order of the text.
  const std::vector<std::string>& names() const { return names_; }

  // The message of this full name, or the only one whose name ends in `.name`. An empty name: the first message. The
  // error lists the names there are.
  Result<uint32_t> FindMessage(std::string_view name) const;
  // By message indexes: of the file's messages the path[0]-th, in it the path[1]-th, ….
  Result<uint32_t> FindByPath(std::span<const int64_t> path) const;
  // Any message that the files know, well-known ones included (for Any); kNoMessage if there is none.
  uint32_t FindFullName(std::string_view name) const;

 private:
  friend class ProtobufModelBuilder;
  ProtobufSchema() = default;

  std::vector<ProtobufMessage> messages_;
  std::vector<ProtobufEnum> enums_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> by_name_;
  struct Nested {  // the file's messages as a tree, for FindByPath()
    uint32_t message;
    std::vector<Nested> nested;
  };
  std::vector<Nested> roots_;
};

}  // namespace kafscope
