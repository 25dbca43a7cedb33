// LineFilter: which points and fields of line protocol a query wants.
//
// A pattern is a name, a name with `*` for any characters, or a regular expression between slashes (`/^cpu/`, RE2,
// found anywhere). Measurements and fields: any pattern of the list may match. Tags: `key` (the point has it),
// `key=pattern` or `key!=pattern`; entries of one key are alternatives, different keys must all hold. An absent tag
// is empty text. An empty list keeps everything.
//
// Cost: asked once a series and field name, not per row. Threads: immutable after Make().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/decode_options.h"
#include "decode/line_protocol_parser.h"

namespace re2 {
class RE2;
}

namespace kafscope {

class LineFilter {
 public:
  // A failure names the pattern that is wrong.
  static Result<LineFilter> Make(const DecodeOptions& options);

  bool KeepsSeries(std::string_view measurement, std::span<const LineProtocolParser::Tag> tags) const;
  bool KeepsField(std::string_view field) const;
  bool keeps_all_fields() const { return fields_.empty(); }

 private:
  struct Pattern {
    std::string text;
    std::shared_ptr<const re2::RE2> regex;  // null: a name, perhaps with `*`

    bool Matches(std::string_view name) const;
  };
  struct TagRule {
    std::string key;
    enum class Kind : uint8_t { kPresent, kEqual, kDiffers } kind = Kind::kPresent;
    Pattern pattern;
  };

  static Result<Pattern> MakePattern(std::string_view what, std::string_view text);
  static bool MatchesAny(const std::vector<Pattern>& patterns, std::string_view name);

  std::vector<Pattern> measurements_;
  std::vector<Pattern> fields_;
  std::vector<TagRule> tags_;
};

}  // namespace kafscope
