#include "cli/decode_flags.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/clock.h"
#include "pipeline/query_options.h"
#include "schema/registry_store.h"

namespace kafscope {

namespace {

// Options whose value is a file here and a text elsewhere.
bool IsFileOption(std::string_view name) { return name == "schema" || name == "key-schema"; }

void AddOption(CLI::App& app, const QueryOption& option, DecodeFlags* flags) {
  const std::string name(option.name);
  const auto keep = [flags, name](const std::string& value) { flags->options.emplace_back(name, value); };
  if (name == "headers") {
    // Only `--headers=a,b` gives it a value: the next word may be the topic.
    app.add_flag("--headers{all}", flags->headers,
                 "all headers in one column; --headers=a,b: a column for each of these");
    return;
  }
  app.add_option_function<std::string>("--" + name, keep, std::string(option.help))
      ->type_name(std::string(option.value));
}

}  // namespace

void AddDecodeFlags(CLI::App& app, DecodeFlags* flags) {
  for (const QueryOption& option : QueryOptions()) {
    if (option.decoding && !IsFileOption(option.name)) AddOption(app, option, flags);
  }
  app.add_option("--schema", flags->schema_file, "schema of the values: a .avsc or .proto file")->type_name("FILE");
  app.add_option("--key-schema", flags->key_schema_file, "schema of the keys")->type_name("FILE");
  app.add_option("--descriptor-set", flags->descriptor_set_file, "protobuf: a compiled schema (protoc -o)")
      ->type_name("FILE");
  app.add_option("-I,--include", flags->include_dirs, "protobuf: where imports are looked for")
      ->type_name("DIR")
      ->expected(1)
      ->take_all();
  AddRegistryFlags(app, &flags->registry);
}

void AddRegistryFlags(CLI::App& app, RegistryFlags* flags) {
  app.add_option("--registry", flags->url, "schema registry: http[s]://HOST[:PORT][/PREFIX], several with commas")
      ->type_name("URL")
      ->envname("KAFSCOPE_REGISTRY");
  app.add_option("--registry-user", flags->user, "its user; the password from a file or KAFSCOPE_REGISTRY_PASSWORD")
      ->type_name("NAME");
  app.add_option("--registry-password-file", flags->password_file, "a file that holds the password")->type_name("FILE");
  app.add_option("--registry-token-file", flags->token_file, "a bearer token, or KAFSCOPE_REGISTRY_TOKEN")
      ->type_name("FILE");
  app.add_option("--registry-ca", flags->ca, "certificate authorities instead of the system's")->type_name("FILE");
  app.add_option("--registry-cert", flags->cert, "client certificate, PEM")->type_name("FILE");
  app.add_option("--registry-key", flags->key, "its key, PEM")->type_name("FILE");
}

Result<std::shared_ptr<SchemaStore>> OpenRegistryOf(const RegistryFlags& flags) {
  if (flags.url.empty()) return std::shared_ptr<SchemaStore>();
  KAFSCOPE_ASSIGN_OR_FAIL(RegistryOptions options, MakeRegistryOptions(flags));
  return OpenRegistry(std::move(options));
}

void AddStreamFlags(CLI::App& app, DecodeFlags* flags) {
  AddDecodeFlags(app, flags);
  for (const QueryOption& option : QueryOptions()) {
    if (!option.decoding) AddOption(app, option, flags);
  }
}

Result<std::string> ReadFile(const std::string& path, const std::string& what, size_t max_bytes) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  errno = 0;
  if (!file || !(text << file.rdbuf()) || file.bad()) {
    // An empty file sets the fail bit of `text` only.
    if (!file.is_open() || errno != 0) {
      return Fail(Status::InvalidArgument(what + ": cannot read '" + path + "': " + std::strerror(errno)));
    }
  }
  std::string content = std::move(text).str();
  if (content.size() > max_bytes) {
    return Fail(Status::InvalidArgument(what + ": '" + path + "' is larger than " + std::to_string(max_bytes)));
  }
  return content;
}

Status ApplyDecodeFlags(const DecodeFlags& flags, StreamQuery* query) {
  const int64_t now_ms = NowMs();
  for (const auto& [name, value] : flags.options) {
    const Status status = SetQueryOption(name, value, now_ms, query);
    if (!status.ok()) return Status(status.code(), "--" + std::string(status.message()));
  }
  KAFSCOPE_RETURN_IF_ERROR(SetQueryOption("headers", flags.headers, now_ms, query));
  if (!flags.schema_file.empty()) {
    Result<std::string> text = ReadFile(flags.schema_file, "--schema");
    if (!text) return text.error();
    query->decode.value_schema.text = *std::move(text);
    query->decode.value_schema.file_name = flags.schema_file;
    if (query->decode.value_schema.text.empty()) return Status::InvalidArgument("--schema: the file is empty");
  }
  if (!flags.key_schema_file.empty()) {
    Result<std::string> text = ReadFile(flags.key_schema_file, "--key-schema");
    if (!text) return text.error();
    query->decode.key_schema.text = *std::move(text);
    query->decode.key_schema.file_name = flags.key_schema_file;
  }
  if (!flags.descriptor_set_file.empty()) {
    Result<std::string> bytes = ReadFile(flags.descriptor_set_file, "--descriptor-set");
    if (!bytes) return bytes.error();
    query->decode.value_schema.descriptor_set = *std::move(bytes);
    query->decode.value_schema.file_name = flags.descriptor_set_file;
  }
  Result<std::shared_ptr<SchemaStore>> registry = OpenRegistryOf(flags.registry);
  if (!registry) return registry.error();
  query->decode.schemas = *std::move(registry);
  query->decode.value_schema.include_dirs = flags.include_dirs;
  query->decode.key_schema.include_dirs = flags.include_dirs;
  return {};
}

}  // namespace kafscope
