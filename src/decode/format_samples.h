// For tests and fuzzing over the whole of DecoderTable(): good records of each format, and its options. A new format
// adds one entry.
#pragma once

#include <string>
#include <vector>

#include "decode/decode_options.h"

namespace kafscope {

struct FormatSamples {
  DecodeOptions options;
  std::vector<std::string> good;  // of one stream, in order; they all hold an integer, most of them a text
  std::string deep;               // nested far beyond every bound; empty: the format does not nest
};

// Samples for options of `format`; no `good` ones: this format has no entry.
FormatSamples SamplesOf(Format format);

}  // namespace kafscope
