#include "decode/line_protocol_filter.h"

#include <re2/re2.h>

#include <algorithm>

namespace kafscope {

namespace {

// `*` stands for any characters. Linear: after a `*` the first place that fits is as good as any later one.
bool MatchesGlob(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool LineFilter::Pattern::Matches(std::string_view name) const {
  if (regex != nullptr) return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex);
  return MatchesGlob(text, name);
}

Result<LineFilter::Pattern> LineFilter::MakePattern(std::string_view what, std::string_view text) {
  Pattern pattern{std::string(text), nullptr};
  if (text.size() < 2 || !text.starts_with('/') || !text.ends_with('/')) return pattern;
  re2::RE2::Options options;
  options.set_log_errors(false);
  const std::string_view inner = text.substr(1, text.size() - 2);
  auto regex = std::make_shared<const re2::RE2>(re2::StringPiece(inner.data(), inner.size()), options);
  if (!regex->ok()) {
    return Fail(Status::InvalidArgument("line protocol " + std::string(what) + " filter '" + std::string(text) +
                                        "': " + regex->error()));
  }
  pattern.regex = std::move(regex);
  return pattern;
}

Result<LineFilter> LineFilter::Make(const DecodeOptions& options) {
  LineFilter filter;
  for (const std::string& text : options.line_measurements) {
    KAFSCOPE_ASSIGN_OR_FAIL(Pattern pattern, MakePattern("measurement", text));
    filter.measurements_.push_back(std::move(pattern));
  }
  for (const std::string& text : options.line_fields) {
    KAFSCOPE_ASSIGN_OR_FAIL(Pattern pattern, MakePattern("field", text));
    filter.fields_.push_back(std::move(pattern));
  }
  for (const std::string& text : options.line_tags) {
    TagRule rule;
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      rule.key = text;
    } else {
      const bool differs = equals > 0 && text[equals - 1] == '!';
      rule.key = text.substr(0, differs ? equals - 1 : equals);
      rule.kind = differs ? TagRule::Kind::kDiffers : TagRule::Kind::kEqual;
      KAFSCOPE_ASSIGN_OR_FAIL(rule.pattern, MakePattern("tag", std::string_view(text).substr(equals + 1)));
    }
    if (rule.key.empty()) {
      return Fail(Status::InvalidArgument("line protocol tag filter '" + text + "': the tag key is missing"));
    }
    filter.tags_.push_back(std::move(rule));
  }
  return filter;
}

bool LineFilter::MatchesAny(const std::vector<Pattern>& patterns, std::string_view name) {
  if (patterns.empty()) return true;
  return std::any_of(patterns.begin(), patterns.end(), [name](const Pattern& p) { return p.Matches(name); });
}

bool LineFilter::KeepsField(std::string_view field) const { return MatchesAny(fields_, field); }

bool LineFilter::KeepsSeries(std::string_view measurement, std::span<const LineProtocolParser::Tag> tags) const {
  if (!MatchesAny(measurements_, measurement)) return false;
  const auto holds = [tags](const TagRule& rule) {
    const auto tag = std::find_if(tags.begin(), tags.end(), [&](const auto& t) { return t.key == rule.key; });
    if (rule.kind == TagRule::Kind::kPresent) return tag != tags.end();
    const std::string_view value = tag == tags.end() ? std::string_view() : tag->value;
    return rule.pattern.Matches(value) == (rule.kind == TagRule::Kind::kEqual);
  };
  return std::all_of(tags_.begin(), tags_.end(), [&](const TagRule& rule) {
    // Any rule of the same key will do.
    return std::any_of(tags_.begin(), tags_.end(),
                       [&](const TagRule& other) { return other.key == rule.key && holds(other); });
  });
}

}  // namespace kafscope
