#include "schema/protobuf_schema.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "schema/protobuf_compiler.h"

namespace kafscope {

namespace pb = google::protobuf;

namespace {

using Field = pb::FieldDescriptor;

bool Is(const pb::Descriptor& message, int number, Field::Type type, bool repeated) {
  const Field* field = message.FindFieldByNumber(number);
  return field != nullptr && field->type() == type && field->is_repeated() == repeated;
}

// A message of such a name but another shape is a message like any other: texts may define what they like.
ProtobufWellKnown WellKnown(const pb::Descriptor& message) {
  const auto only_if = [](bool right, ProtobufWellKnown known) { return right ? known : ProtobufWellKnown::kNone; };
  const int fields = message.field_count();
  switch (message.well_known_type()) {
    case pb::Descriptor::WELLKNOWNTYPE_UNSPECIFIED: return ProtobufWellKnown::kNone;
    case pb::Descriptor::WELLKNOWNTYPE_ANY:
      return only_if(
          fields == 2 && Is(message, 1, Field::TYPE_STRING, false) && Is(message, 2, Field::TYPE_BYTES, false),
          ProtobufWellKnown::kAny);
    case pb::Descriptor::WELLKNOWNTYPE_FIELDMASK:
      return only_if(fields == 1 && Is(message, 1, Field::TYPE_STRING, true), ProtobufWellKnown::kFieldMask);
    case pb::Descriptor::WELLKNOWNTYPE_DURATION:
    case pb::Descriptor::WELLKNOWNTYPE_TIMESTAMP:
      return only_if(
          fields == 2 && Is(message, 1, Field::TYPE_INT64, false) && Is(message, 2, Field::TYPE_INT32, false),
          message.well_known_type() == pb::Descriptor::WELLKNOWNTYPE_DURATION ? ProtobufWellKnown::kDuration
                                                                              : ProtobufWellKnown::kTimestamp);
    case pb::Descriptor::WELLKNOWNTYPE_VALUE:
      return only_if(Is(message, 1, Field::TYPE_ENUM, false), ProtobufWellKnown::kValue);
    case pb::Descriptor::WELLKNOWNTYPE_LISTVALUE:
      return only_if(fields == 1 && Is(message, 1, Field::TYPE_MESSAGE, true) && !message.field(0)->is_map(),
                     ProtobufWellKnown::kListValue);
    case pb::Descriptor::WELLKNOWNTYPE_STRUCT:
      return only_if(fields == 1 && message.field(0)->is_map(), ProtobufWellKnown::kStruct);
    default:
      return only_if(fields == 1 && message.field(0)->number() == 1 && !message.field(0)->is_repeated() &&
                         message.field(0)->cpp_type() != Field::CPPTYPE_MESSAGE,
                     ProtobufWellKnown::kWrapper);
  }
}

// The names there are, for an error.
std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) list += ", …";
  return list.empty() ? "none" : list;
}

}  // namespace

// Turns libprotobuf's descriptors into ours.
class ProtobufModelBuilder {
 public:
  explicit ProtobufModelBuilder(const ProtobufCompiler& compiler) : compiler_(compiler), schema_(new ProtobufSchema) {}

  Result<std::shared_ptr<const ProtobufSchema>> Build() {
    for (const pb::FileDescriptor* file : compiler_.files()) AddFile(file);
    // An Any may hold what no file imports.
    for (const std::string& name : ProtobufCompiler::WellKnownFiles()) {
      if (name == "google/protobuf/descriptor.proto" || name == "confluent/meta.proto") continue;
      if (const pb::FileDescriptor* file = compiler_.pool().FindFileByName(name)) AddFile(file);
    }
    if (schema_->messages_.size() > ProtobufSchema::kMaxMessages) {
      return Fail(
          Status::ResourceExhausted("more than " + std::to_string(ProtobufSchema::kMaxMessages) + " message types"));
    }
    for (const pb::Descriptor* message : order_) FillFields(*message);
    ListNames();
    return std::shared_ptr<const ProtobufSchema>(std::move(schema_));
  }

 private:
  void AddFile(const pb::FileDescriptor* file) {
    if (!seen_.insert(file).second) return;
    for (int i = 0; i < file->message_type_count(); ++i) AddMessage(file->message_type(i));
    for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i));
  }

  void AddMessage(const pb::Descriptor* message) {
    if (order_.size() > ProtobufSchema::kMaxMessages) return;
    const auto index = static_cast<uint32_t>(order_.size());
    order_.push_back(message);
    index_of_.emplace(message, index);
    ProtobufMessage& entry = schema_->messages_.emplace_back();
    entry.name = message->full_name();
    entry.well_known = WellKnown(*message);
    schema_->by_name_.emplace(entry.name, index);
    for (int i = 0; i < message->nested_type_count(); ++i) AddMessage(message->nested_type(i));
  }

  void FillFields(const pb::Descriptor& message) {
    std::vector<const pb::FieldDescriptor*> fields;
    for (int i = 0; i < message.field_count(); ++i) fields.push_back(message.field(i));
    if (message.extension_range_count() > 0) compiler_.pool().FindAllExtensions(&message, &fields);
    std::vector<ProtobufField> made;
    for (const pb::FieldDescriptor* field : fields) made.push_back(MakeField(*field));
    std::sort(made.begin(), made.end(),
              [](const ProtobufField& a, const ProtobufField& b) { return a.number < b.number; });
    schema_->messages_[index_of_.at(&message)].fields = std::move(made);
  }

  ProtobufField MakeField(const pb::FieldDescriptor& field) {
    ProtobufField made;
    made.name = field.is_extension() ? "[" + field.full_name() + "]" : field.name();
    made.number = static_cast<uint32_t>(field.number());
    made.type = static_cast<ProtobufType>(field.type());
    made.repeated = field.is_repeated();
    made.map = field.is_map();
    made.presence = !field.is_repeated() && field.has_presence();
    made.required = field.is_required();
    made.check_utf8 =
        field.type() == pb::FieldDescriptor::TYPE_STRING && field.file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO3;
    if (const pb::OneofDescriptor* oneof = field.real_containing_oneof()) made.oneof = oneof->index();
    if (field.message_type() != nullptr) {
      made.type_index = index_of_.at(field.message_type());
    } else if (field.enum_type() != nullptr) {
      made.type_index = EnumIndex(*field.enum_type());
    }
    return made;
  }

  uint32_t EnumIndex(const pb::EnumDescriptor& type) {
    const auto [place, added] = enum_of_.emplace(&type, static_cast<uint32_t>(schema_->enums_.size()));
    if (!added) return place->second;
    ProtobufEnum& made = schema_->enums_.emplace_back();
    made.name = type.full_name();
    made.closed = type.file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO2;
    // Of the names of one number (allow_alias) the first one counts.
    std::map<int32_t, std::string> names;
    for (int i = 0; i < type.value_count(); ++i) names.emplace(type.value(i)->number(), type.value(i)->name());
    for (auto& [number, name] : names) made.values.push_back({number, std::move(name)});
    return place->second;
  }

  void ListNames() {
    const std::vector<std::string>& known = ProtobufCompiler::WellKnownFiles();
    std::vector<const pb::FileDescriptor*> own;
    for (const pb::FileDescriptor* file : compiler_.files()) {
      if (std::find(known.begin(), known.end(), file->name()) == known.end()) own.push_back(file);
    }
    if (own.empty()) own = compiler_.files();  // a schema of the well-known types themselves
    // A descriptor set lists what a file needs before the file: the last one is what it was made for.
    for (const pb::FileDescriptor* file : own) {
      if (file->message_type_count() == 0) continue;
      schema_->roots_.clear();
      for (int i = 0; i < file->message_type_count(); ++i) schema_->roots_.push_back(List(*file->message_type(i)));
    }
  }

  ProtobufSchema::Nested List(const pb::Descriptor& message) {
    ProtobufSchema::Nested node{index_of_.at(&message), {}};
    if (!message.options().map_entry()) schema_->names_.push_back(message.full_name());
    for (int i = 0; i < message.nested_type_count(); ++i) node.nested.push_back(List(*message.nested_type(i)));
    return node;
  }

  const ProtobufCompiler& compiler_;
  std::unique_ptr<ProtobufSchema> schema_;
  std::unordered_set<const pb::FileDescriptor*> seen_;
  std::vector<const pb::Descriptor*> order_;
  std::unordered_map<const pb::Descriptor*, uint32_t> index_of_;
  std::unordered_map<const pb::EnumDescriptor*, uint32_t> enum_of_;
};

WireType ProtobufField::wire() const {
  switch (type) {
    case ProtobufType::kDouble:
    case ProtobufType::kFixed64:
    case ProtobufType::kSfixed64: return WireType::kFixed64;
    case ProtobufType::kFloat:
    case ProtobufType::kFixed32:
    case ProtobufType::kSfixed32: return WireType::kFixed32;
    case ProtobufType::kString:
    case ProtobufType::kBytes:
    case ProtobufType::kMessage: return WireType::kLength;
    case ProtobufType::kGroup: return WireType::kStartGroup;
    default: return WireType::kVarint;
  }
}

uint32_t ProtobufMessage::Search(uint32_t number) const {
  const auto place =
      std::lower_bound(fields.begin(), fields.end(), number,
                       [](const ProtobufField& field, uint32_t wanted) { return field.number < wanted; });
  return place != fields.end() && place->number == number ? static_cast<uint32_t>(place - fields.begin()) : kNoField;
}

const std::string* ProtobufEnum::Search(int32_t number) const {
  const auto place = std::lower_bound(values.begin(), values.end(), number,
                                      [](const Value& value, int32_t wanted) { return value.number < wanted; });
  return place != values.end() && place->number == number ? &place->name : nullptr;
}

Result<std::shared_ptr<const ProtobufSchema>> ProtobufSchema::Compile(const ProtobufSource& source) {
  ProtobufCompiler compiler;
  KAFSCOPE_FAIL_IF_ERROR(compiler.Compile(source));
  return ProtobufModelBuilder(compiler).Build();
}

Result<uint32_t> ProtobufSchema::FindMessage(std::string_view name) const {
  if (name.empty()) {
    if (!roots_.empty()) return roots_.front().message;
    return Fail(Status::NotFound("the schema has no message type"));
  }
  if (name.front() == '.') name.remove_prefix(1);
  if (const auto exact = by_name_.find(std::string(name)); exact != by_name_.end()) return exact->second;
  const std::string* found = nullptr;
  for (const std::string& candidate : names_) {
    if (!candidate.ends_with(name) || candidate.size() == name.size()) continue;
    if (candidate[candidate.size() - name.size() - 1] != '.') continue;
    if (found != nullptr) {
      return Fail(
          Status::InvalidArgument("message '" + std::string(name) + "' is ambiguous: " + *found + ", " + candidate));
    }
    found = &candidate;
  }
  if (found != nullptr) return by_name_.at(*found);
  return Fail(Status::NotFound("no message '" + std::string(name) + "' in the schema; it has: " + Listed(names_)));
}

Result<uint32_t> ProtobufSchema::FindByPath(std::span<const int64_t> path) const {
  const std::vector<Nested>* level = &roots_;
  const Nested* node = nullptr;
  std::string text;
  for (const int64_t index : path) {
    text += (text.empty() ? "" : ", ") + std::to_string(index);
    if (index < 0 || static_cast<uint64_t>(index) >= level->size()) {
      return Fail(Status::NotFound("message index [" + text + "]: the schema has " + std::to_string(level->size()) +
                                   " message types there"));
    }
    node = &(*level)[static_cast<size_t>(index)];
    level = &node->nested;
  }
  if (node == nullptr) return FindMessage("");
  return node->message;
}

uint32_t ProtobufSchema::FindFullName(std::string_view name) const {
  const auto place = by_name_.find(std::string(name));
  return place == by_name_.end() ? kNoMessage : place->second;
}

}  // namespace kafscope
