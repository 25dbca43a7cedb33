// Any payload as Protobuf: what libprotobuf's DynamicMessage takes the decoder takes, and the other way round; the
// guess without a schema survives it. The first byte chooses the message type; with its high bit the rest is .proto
// text for the compiler.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "schema/protobuf_compiler.h"

namespace {

using namespace kafscope;

// No type whose range the decoder checks and libprotobuf does not (Timestamp, Duration, Any of a known type).
constexpr const char* kSchema = R"(syntax = "proto3";
message A { int32 a = 1; string s = 2; repeated int64 r = 3; map<string, A> m = 4; A n = 5; B b = 6;
  oneof o { sint64 x = 7; B y = 8; bytes z = 9; } repeated double d = 16; E e = 300; optional bool p = 17; }
message B { fixed32 f = 1; repeated B c = 2; map<int64, uint64> m = 3; repeated E e = 4; repeated string t = 5; }
enum E { ZERO = 0; ONE = 1; }
)";

struct Target {
  explicit Target(const std::string& message, bool given) : builder({}) {
    DecodeOptions options;
    options.format = Format::kProtobuf;
    if (given) {
      options.value_schema.text = kSchema;
      options.value_schema.message = message;
    }
    decoder = MakeDecoder(options).value();
  }
  // Whether the payload gave a good row.
  bool Takes(std::string_view payload) {
    ConsumerRecord record;
    record.value = payload;
    record.has_value = true;
    uint64_t errors = 0;
    for (const uint64_t count : decoder->counters().errors) errors -= count;
    if (decoder->Decode({&record, 1}, 0, builder) != 1) std::abort();
    for (const uint64_t count : decoder->counters().errors) errors += count;
    static_cast<void>(builder.Finish());
    return errors == 0;
  }
  FrameBuilder builder;
  std::unique_ptr<Decoder> decoder;
};

struct Reference {
  Reference() {
    ProtobufSource source;
    source.text = kSchema;
    if (!compiler.Compile(source).ok()) std::abort();
  }
  bool Takes(int message, const std::string& payload) {
    const std::unique_ptr<google::protobuf::Message> read(
        factory.GetPrototype(compiler.files()[0]->message_type(message))->New());
    return read->ParseFromString(payload);
  }
  ProtobufCompiler compiler;
  google::protobuf::DynamicMessageFactory factory;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] & 0x80) {
    ProtobufSource source;
    source.text.assign(data + 1, data + size);
    static_cast<void>(ProtobufSchema::Compile(source));
    return 0;
  }
  static Target targets[2] = {Target("A", true), Target("B", true)};
  static Target raw("", false);
  static Reference reference;
  const int message = data[0] & 1;
  const std::vector<char> bytes(data + 1, data + size);
  const std::string_view payload(bytes.data(), bytes.size());
  const bool expected = reference.Takes(message, std::string(payload));
  if (targets[message].Takes(payload) != expected) {
    std::fprintf(stderr, "libprotobuf %s it\n", expected ? "takes" : "refuses");
    std::abort();
  }
  raw.Takes(payload);
  return 0;
}
