#include "schema/protobuf_compiler.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/api.pb.h>
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/source_context.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/type.pb.h>
#include <google/protobuf/wrappers.pb.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <utility>

namespace kafscope {

namespace pb = google::protobuf;

namespace {

constexpr size_t kMaxShownErrors = 5;

// What Confluent's serialisers import without registering it: options, and a decimal of big-endian bytes.
constexpr std::pair<std::string_view, std::string_view> kBuiltInTexts[] = {
    {"confluent/meta.proto",
     "syntax = \"proto3\"; package confluent; import \"google/protobuf/descriptor.proto\";\n"
     "message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }\n"
     "extend google.protobuf.FileOptions { Meta file_meta = 1088; }\n"
     "extend google.protobuf.MessageOptions { Meta message_meta = 1088; }\n"
     "extend google.protobuf.FieldOptions { Meta field_meta = 1088; }\n"
     "extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }\n"
     "extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }\n"},
    {"confluent/type/decimal.proto",
     "syntax = \"proto3\"; package confluent.type;\n"
     "message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }\n"},
    {"confluent/types/decimal.proto",  // as Confluent's Go client names it
     "syntax = \"proto3\"; import public \"confluent/type/decimal.proto\";\n"},
};

const std::vector<const pb::FileDescriptor*>& WellKnownDescriptors() {
  static const std::vector<const pb::FileDescriptor*> files = {pb::Any::descriptor()->file(),
                                                               pb::Api::descriptor()->file(),
                                                               pb::Duration::descriptor()->file(),
                                                               pb::Empty::descriptor()->file(),
                                                               pb::FieldMask::descriptor()->file(),
                                                               pb::SourceContext::descriptor()->file(),
                                                               pb::Struct::descriptor()->file(),
                                                               pb::Timestamp::descriptor()->file(),
                                                               pb::Type::descriptor()->file(),
                                                               pb::Int32Value::descriptor()->file(),
                                                               pb::FileDescriptorProto::descriptor()->file()};
  return files;
}

void AddWellKnown(const std::vector<std::string>& except, pb::SimpleDescriptorDatabase* database) {
  for (const pb::FileDescriptor* file : WellKnownDescriptors()) {
    if (std::find(except.begin(), except.end(), file->name()) != except.end()) continue;
    pb::FileDescriptorProto proto;
    file->CopyTo(&proto);
    database->Add(proto);
  }
}

// Faults in the order of the text, the first few of them.
class Errors : public pb::compiler::MultiFileErrorCollector, public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, int line, int column, const std::string& message) override {
    std::string text = file;
    if (line >= 0) text += ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1);
    Add(text + ": " + message);
  }
  void AddError(const std::string& file, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& message) override {
    Add(file + ": " + element + ": " + message);
  }
  void AddWarning(const std::string&, int, int, const std::string&) override {}
  void AddWarning(const std::string&, const std::string&, const pb::Message*, ErrorLocation,
                  const std::string&) override {}
  // Wins over what the parser says about the same file.
  void SetCause(Status cause) {
    if (cause_.ok()) cause_ = std::move(cause);
  }

  Status ToStatus() const {
    if (!cause_.ok()) return cause_;
    return Status::InvalidArgument(count_ == 0 ? "the schema does not compile" : text_);
  }
  bool empty() const { return count_ == 0 && cause_.ok(); }

 private:
  void Add(const std::string& text) {
    if (count_ < kMaxShownErrors) text_ += (count_ == 0 ? "" : "\n") + text;
    if (count_ == kMaxShownErrors) text_ += "\n…";
    ++count_;
  }

  std::string text_;
  size_t count_ = 0;
  Status cause_;
};

// Line and column as libprotobuf counts them, for faults that we find before it.
std::string At(const std::string& file, std::string_view text, size_t position) {
  const std::string_view before = text.substr(0, position);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return file + ":" + std::to_string(lines + 1) + ":" + std::to_string(position - line_start + 1) + ": ";
}

// Where the token that begins at or after `at` begins: blanks and comments skipped.
size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::string_view(" \t\r\n\v\f").find(text[at]) != std::string_view::npos) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

size_t SkipQuoted(std::string_view text, size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// The parser recurses with the brackets of its input and knows no editions: both are refused here.
Status Precheck(const std::string& file, std::string_view text) {
  if (text.size() > ProtobufSchema::kMaxTextSize) {
    return Status::ResourceExhausted(file + ": larger than " + std::to_string(ProtobufSchema::kMaxTextSize >> 20) +
                                     " MiB");
  }
  const size_t first = SkipBlanks(text, 0);
  if (text.substr(first, 7) == "edition" && text.substr(SkipBlanks(text, first + 7), 1) == "=") {
    return Status::Unsupported(At(file, text, first) + "editions are not supported: the built-in compiler (protobuf " +
                               std::to_string(GOOGLE_PROTOBUF_VERSION / 1000000) + "." +
                               std::to_string(GOOGLE_PROTOBUF_VERSION / 1000 % 1000) +
                               ") knows syntax = \"proto2\" and \"proto3\"");
  }
  size_t depth = 0;
  for (size_t at = first; (at = SkipBlanks(text, at)) < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = SkipQuoted(text, at);
      continue;
    }
    if (c == '{' || c == '[' || c == '<') ++depth;
    if ((c == '}' || c == ']' || c == '>') && depth > 0) --depth;
    if (depth > ProtobufSchema::kMaxNesting) {
      return Status::ResourceExhausted(At(file, text, at) + "nested deeper than " +
                                       std::to_string(ProtobufSchema::kMaxNesting));
    }
    ++at;
  }
  return Status::Ok();
}

// Paths as protoc wants them: relative, `/`, no `..`.
bool IsPlainPath(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\\') != std::string_view::npos ||
      path.find('\0') != std::string_view::npos) {
    return false;
  }
  for (const auto& part : std::filesystem::path(path)) {
    if (part == ".." || part == ".") return false;
  }
  return true;
}

class MemoryTree : public pb::compiler::SourceTree {
 public:
  MemoryTree(const ProtobufSource& source, Errors* errors) : source_(source), errors_(errors) {}

  pb::io::ZeroCopyInputStream* Open(const std::string& path) override {
    error_ = "no such file among the references and include directories (-I)";
    if (++opened_ > ProtobufSchema::kMaxFiles) {
      errors_->SetCause(
          Status::ResourceExhausted("more than " + std::to_string(ProtobufSchema::kMaxFiles) + " imports"));
      return nullptr;
    }
    if (path == source_.file_name) return Give(path, source_.text);
    for (const pb::FileDescriptor* file : WellKnownDescriptors()) {
      if (file->name() == path) return nullptr;  // the fallback database has it
    }
    for (const auto& [name, text] : kBuiltInTexts) {
      if (name == path) return Give(path, text);
    }
    for (const ProtobufSource::Import& import : source_.imports) {
      if (import.path == path) return Give(path, import.text);
    }
    return OpenFile(path);
  }
  std::string GetLastErrorMessage() override { return error_; }

 private:
  pb::io::ZeroCopyInputStream* OpenFile(const std::string& path) {
    if (source_.include_dirs.empty()) return nullptr;
    if (!IsPlainPath(path)) {
      error_ = "an import path is relative and has no '..'";
      return nullptr;
    }
    for (const std::string& directory : source_.include_dirs) {
      const std::filesystem::path file = std::filesystem::path(directory) / path;
      std::error_code failure;
      const auto size = std::filesystem::file_size(file, failure);
      if (failure) continue;
      if (size > ProtobufSchema::kMaxTextSize) {
        error_ = "larger than " + std::to_string(ProtobufSchema::kMaxTextSize >> 20) + " MiB";
        return nullptr;
      }
      std::ifstream in(file, std::ios::binary);
      std::string& text = texts_.emplace_back(static_cast<size_t>(size), '\0');
      in.read(text.data(), static_cast<std::streamsize>(size));
      if (!in) {
        error_ = "cannot be read";
        return nullptr;
      }
      return Give(path, text);
    }
    return nullptr;
  }

  pb::io::ZeroCopyInputStream* Give(const std::string& path, std::string_view text) {
    if (Status status = Precheck(path, text); !status.ok()) {
      error_ = status.message();
      errors_->SetCause(std::move(status));
      return nullptr;
    }
    return new pb::io::ArrayInputStream(text.data(), static_cast<int>(text.size()));
  }

  const ProtobufSource& source_;
  Errors* errors_;
  std::deque<std::string> texts_;
  std::string error_;
  size_t opened_ = 0;
};

}  // namespace

struct ProtobufCompiler::State {
  Errors errors;
  pb::SimpleDescriptorDatabase well_known;
  pb::SimpleDescriptorDatabase given;
  std::unique_ptr<MemoryTree> tree;
  std::unique_ptr<pb::compiler::SourceTreeDescriptorDatabase> texts;
  std::unique_ptr<pb::MergedDescriptorDatabase> merged;
  std::unique_ptr<pb::DescriptorPool> pool;
};

ProtobufCompiler::ProtobufCompiler() : state_(std::make_unique<State>()) {
  // libprotobuf would print what the collector already has.
  [[maybe_unused]] static const auto silenced = pb::SetLogHandler(nullptr);
}
ProtobufCompiler::~ProtobufCompiler() = default;

const pb::DescriptorPool& ProtobufCompiler::pool() const { return *state_->pool; }

const std::vector<std::string>& ProtobufCompiler::WellKnownFiles() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const pb::FileDescriptor* file : WellKnownDescriptors()) found.push_back(file->name());
    for (const auto& [name, text] : kBuiltInTexts) found.emplace_back(name);
    return found;
  }();
  return names;
}

Status ProtobufCompiler::Compile(const ProtobufSource& source) {
  try {
    return source.descriptor_set.empty() ? CompileText(source) : CompileSet(source);
  } catch (const pb::FatalException& fault) {
    // A text met a fault of libprotobuf (3.21: an option whose value names a field of another message). Its tables are
    // now unfit even for their destructor, which would end the process: they are kept.
    static std::mutex mutex;
    static std::vector<std::unique_ptr<State>>* const broken = new std::vector<std::unique_ptr<State>>;
    const std::lock_guard lock(mutex);
    broken->push_back(std::exchange(state_, std::make_unique<State>()));
    files_.clear();
    return Status::InvalidArgument(source.file_name + ": the compiler gave up: " + fault.message());
  }
}

Status ProtobufCompiler::CompileText(const ProtobufSource& source) {
  AddWellKnown({}, &state_->well_known);
  state_->tree = std::make_unique<MemoryTree>(source, &state_->errors);
  state_->texts = std::make_unique<pb::compiler::SourceTreeDescriptorDatabase>(state_->tree.get(), &state_->well_known);
  state_->texts->RecordErrorsTo(&state_->errors);
  state_->pool =
      std::make_unique<pb::DescriptorPool>(state_->texts.get(), state_->texts->GetValidationErrorCollector());
  state_->pool->EnforceWeakDependencies(true);
  const pb::FileDescriptor* file = state_->pool->FindFileByName(source.file_name);
  if (file == nullptr || !state_->errors.empty()) return state_->errors.ToStatus();
  files_.push_back(file);
  return Status::Ok();
}

Status ProtobufCompiler::CompileSet(const ProtobufSource& source) {
  const std::string& name = source.file_name;
  if (source.descriptor_set.size() > ProtobufSchema::kMaxTextSize) {
    return Status::ResourceExhausted(name + ": larger than " + std::to_string(ProtobufSchema::kMaxTextSize >> 20) +
                                     " MiB");
  }
  pb::FileDescriptorSet set;
  if (!set.ParseFromString(source.descriptor_set) || set.file_size() == 0) {
    return Status::InvalidArgument(name + ": not a FileDescriptorSet (protoc -o FILE --include_imports)");
  }
  if (static_cast<size_t>(set.file_size()) > ProtobufSchema::kMaxFiles) {
    return Status::ResourceExhausted(name + ": more than " + std::to_string(ProtobufSchema::kMaxFiles) + " files");
  }
  std::vector<std::string> names;
  for (const pb::FileDescriptorProto& file : set.file()) {
    if (file.syntax() == "editions") {
      return Status::Unsupported(name + ": " + file.name() +
                                 ": editions are not supported: the built-in compiler knows proto2 and proto3");
    }
    names.push_back(file.name());
    if (!state_->given.Add(file)) {
      return Status::InvalidArgument(name + ": " + file.name() +
                                     ": defines names that another file of the set defines");
    }
  }
  AddWellKnown(names, &state_->well_known);
  state_->merged = std::make_unique<pb::MergedDescriptorDatabase>(&state_->given, &state_->well_known);
  state_->pool = std::make_unique<pb::DescriptorPool>(state_->merged.get(), &state_->errors);
  for (const std::string& file_name : names) {
    const pb::FileDescriptor* file = state_->pool->FindFileByName(file_name);
    if (file == nullptr || !state_->errors.empty()) return state_->errors.ToStatus().WithContext(name);
    files_.push_back(file);
  }
  return Status::Ok();
}

}  // namespace kafscope
