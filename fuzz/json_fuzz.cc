// Any bytes as JSON: what is taken has the values of the slow flattener, what is refused is refused by it too; a
// decoder that has seen all sorts of records judges as a new one does.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "decode/decode_testing.h"
#include "decode/json_reference.h"

namespace {

using kafscope::DecoderUnderTest;
using kafscope::TextRow;

void Require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

// With repeated keys names may carry other numbers: every value of the reference must still be in the row.
bool HoldsAll(const kafscope::JsonReference& reference, const TextRow& row) {
  for (const auto& [name, value] : reference.columns) {
    bool found = false;
    for (const auto& [actual_name, actual] : row) found = found || kafscope::MeansTheSame(value, actual);
    if (!found) return false;
  }
  return row.size() == reference.columns.size();
}

void Check(const std::string& text, const TextRow& row, uint32_t max_depth) {
  const auto reference = kafscope::FlattenSlowly(text, max_depth);
  const bool failed = row.contains("error");
  if (!reference.has_value()) {
    Require(failed || kafscope::MayBeTakenAnyway(text), "taken, but the reference refuses", text);
    return;
  }
  if (failed && row.at("error").find("nested too deep") != std::string::npos) return;
  Require(!failed, "refused, but the reference takes", text + (failed ? " " + row.at("error") : ""));
  if (reference->repeated_keys) return Require(HoldsAll(*reference, row), "values differ", text);
  Require(row.size() == reference->columns.size(), "number of columns", text);
  for (const auto& [name, value] : reference->columns) {
    Require(row.contains(name), "missing column", name + " of " + text);
    Require(kafscope::MeansTheSame(value, row.at(name)), "value", name + " = " + row.at(name) + " of " + text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || data[1] == 0) return 0;  // a zero byte begins a registry prefix
  kafscope::DecodeOptions options;
  options.max_depth = 1 + data[0] % 8;
  const std::string text(data + 1, data + size);
  DecoderUnderTest fresh(options, {.max_fields = 1'000'000});
  const TextRow row = fresh.Row(text);
  Check(text, row, options.max_depth);
  Require(fresh.Row(text).contains("error") == row.contains("error"), "another verdict the second time", text);

  static DecoderUnderTest* const seasoned = new DecoderUnderTest({}, {.max_fields = 500});
  Require(seasoned->Row(text).contains("error") == row.contains("error"), "another verdict by a used decoder", text);
  return 0;
}
