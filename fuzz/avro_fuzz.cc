// Any bytes as an Avro schema and values of it: never a crash, a read out of bounds, or a value that decodes in one way
// as columns and in another as text. Input: schema text, a zero byte, then values split by ff fe.
#include <cstdlib>
#include <string_view>

#include "decode/avro_test_util.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  static constexpr std::string_view kSchemas[] = {
      R"({"type":"record","name":"R","fields":[{"name":"a","type":["null","long"]},{"name":"b","type":"string"},
         {"name":"c","type":{"type":"array","items":["null","double","R"]}},
         {"name":"d","type":{"type":"map","values":{"type":"bytes","logicalType":"decimal","precision":40,"scale":3}}},
         {"name":"e","type":{"type":"enum","name":"E","symbols":["X","Y"]}}]})",
      R"(["null","boolean","int","float",{"type":"fixed","name":"F","size":12,"logicalType":"duration"},
         {"type":"long","logicalType":"timestamp-micros"},{"type":"array","items":"null"}])",
      R"({"type":"array","items":{"type":"record","name":"I","fields":[{"name":"d","type":{"type":"int",
         "logicalType":"date"}},{"name":"u","type":{"type":"fixed","name":"U","size":16,"logicalType":"uuid"}}]}})",
  };
  if (input.empty()) return 0;
  // The first byte chooses one of the schemas above, or one in the input.
  const auto choice = static_cast<uint8_t>(input[0]);
  input.remove_prefix(1);
  std::string_view schema;
  if (choice < std::size(kSchemas)) {
    schema = kSchemas[choice];
  } else {
    const size_t zero = input.find('\0');
    schema = input.substr(0, zero);
    input.remove_prefix(zero == std::string_view::npos ? input.size() : zero + 1);
    if (const auto parsed = kafscope::AvroSchema::Parse(schema)) {
      static_cast<void>((*parsed)->Fingerprint());
    }
  }
  kafscope::AvroRunner runner(schema);
  if (!runner.ok()) return 0;
  for (int values = 0; values < 8; ++values) {
    const size_t end = input.find("\xff\xfe");
    const std::string_view value = input.substr(0, end);
    const kafscope::AvroFault checked = runner.Check(value);
    const kafscope::AvroFault decoded = runner.Add(value);
    // Text has its own bounds of depth and size; apart from them both agree.
    const bool bounded = checked == kafscope::AvroFault::kTooDeep || checked == kafscope::AvroFault::kTooLarge ||
                         checked == kafscope::AvroFault::kTooManyEmpty;
    if (!bounded && checked != decoded) std::abort();
    if (end == std::string_view::npos) break;
    input.remove_prefix(end + 2);
  }
  static_cast<void>(runner.Finish());
  return 0;
}
