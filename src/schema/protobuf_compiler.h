// ProtobufCompiler: libprotobuf's parser and linker over texts in memory. Inside of protobuf_schema.cc; the tests that
// compare with DynamicMessage use it too.
//
// Cost, errors, bounds: see protobuf_schema.h. Threads: one at a time; descriptors live as long as the compiler.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "schema/protobuf_schema.h"

namespace google::protobuf {
class DescriptorPool;
class FileDescriptor;
}  // namespace google::protobuf

namespace kafscope {

class ProtobufCompiler {
 public:
  ProtobufCompiler();
  ~ProtobufCompiler();

  // Once.
  Status Compile(const ProtobufSource& source);

  // Those that the user gave: one, or all of the descriptor set in its order.
  const std::vector<const google::protobuf::FileDescriptor*>& files() const { return files_; }
  const google::protobuf::DescriptorPool& pool() const;
  // Files built in that any text may import without having them.
  static const std::vector<std::string>& WellKnownFiles();

 private:
  struct State;
  Status CompileText(const ProtobufSource& source);
  Status CompileSet(const ProtobufSource& source);

  std::unique_ptr<State> state_;
  std::vector<const google::protobuf::FileDescriptor*> files_;
};

}  // namespace kafscope
