// DecodeFlags: the options of a stream on the command line, as every command that decodes takes them.
//
// Use: AddDecodeFlags() (for `decode`) or AddStreamFlags() (with position, partitions, …), then ApplyDecodeFlags() once
// the command line is parsed. `--schema` and the like name files here; their text goes into the query.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "pipeline/stream_query.h"
#include "schema/registry_options.h"

namespace CLI {
class App;
}

namespace kafscope {

struct DecodeFlags {
  std::vector<std::pair<std::string, std::string>> options;  // as given, in order
  std::string headers;                                       // "all", names, or nothing
  std::string schema_file;
  std::string key_schema_file;
  std::string descriptor_set_file;
  std::vector<std::string> include_dirs;
  RegistryFlags registry;
};

void AddDecodeFlags(CLI::App& app, DecodeFlags* flags);
void AddStreamFlags(CLI::App& app, DecodeFlags* flags);
// `--registry` and friends; part of the two above.
void AddRegistryFlags(CLI::App& app, RegistryFlags* flags);
// Null without `--registry`.
Result<std::shared_ptr<SchemaStore>> OpenRegistryOf(const RegistryFlags& flags);
// Failures name the option with its dashes.
Status ApplyDecodeFlags(const DecodeFlags& flags, StreamQuery* query);

// The whole of a file; `what` names the option in errors.
Result<std::string> ReadFile(const std::string& path, const std::string& what, size_t max_bytes = 64u << 20);

}  // namespace kafscope
