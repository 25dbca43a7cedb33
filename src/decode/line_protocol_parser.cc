#include "decode/line_protocol_parser.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/utf8.h"

namespace kafscope {

namespace {

constexpr uint64_t kMaxExactMantissa = uint64_t{1} << 53;
constexpr int kMaxExactPower = 22;
constexpr double kPowers[kMaxExactPower + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kMaxDigits = 19;  // as many always fit into 64 bits

template <typename T>
T Load(const char* p) {
  T word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// Does [p, end) begin with `text`?
bool StartsWith(const char* p, const char* end, std::string_view text) {
  const size_t size = text.size();
  const char* t = text.data();
  if (static_cast<size_t>(end - p) < size) return false;
  if (size >= 8) {
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
      if (Load<uint64_t>(p + i) != Load<uint64_t>(t + i)) return false;
    }
    return Load<uint64_t>(p + size - 8) == Load<uint64_t>(t + size - 8);
  }
  if (size >= 4) {
    return Load<uint32_t>(p) == Load<uint32_t>(t) && Load<uint32_t>(p + size - 4) == Load<uint32_t>(t + size - 4);
  }
  for (size_t i = 0; i < size; ++i) {
    if (p[i] != t[i]) return false;
  }
  return true;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What may stand behind a field's value.
constexpr std::array<bool, 256> MakeValueEnds() {
  std::array<bool, 256> ends{};
  for (const char c : {',', ' ', '\n', '\r'}) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}
constexpr std::array<bool, 256> kValueEnds = MakeValueEnds();
bool EndsValue(const char* p, const char* end) { return p == end || kValueEnds[static_cast<unsigned char>(*p)]; }

// Eight characters as a number, by halves: pairs, fours, eights. False if one of them is no digit.
bool ReadEightDigits(const char* p, uint64_t* value) {
  auto word = Load<uint64_t>(p);
  const uint64_t digits = word ^ 0x3030303030303030;  // 0…9 where there are digits
  if (((digits | (digits + 0x7676767676767676)) & 0x8080808080808080) != 0) return false;
  word = digits * 10 + (digits >> 8);
  word = ((word & 0x00ff00ff00ff00ff) * (1 + (uint64_t{100} << 16))) >> 16;
  word = ((word & 0x0000ffff0000ffff) * (1 + (uint64_t{10000} << 32))) >> 32;
  *value = word;
  return true;
}
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The end of a token that a space, a comma, an '=' (if `equals`) or a control character ends. One of the first three
// after a backslash does not.
const char* TokenEnd(const char* p, const char* end, bool equals) {
  for (const char* begin = p; p < end; ++p) {
    if (IsControl(*p)) return p;
    const bool ends = *p == ' ' || *p == ',' || (equals && *p == '=');
    if (ends && (p == begin || p[-1] != '\\')) return p;
  }
  return end;
}

// Takes the backslashes from before the characters that they protect.
void Unescape(std::string_view raw, bool equals, std::string* out) {
  out->clear();
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' && i + 1 < raw.size()) {
      const char next = raw[i + 1];
      if (next == ' ' || next == ',' || (equals && next == '=')) ++i;
    }
    out->push_back(raw[i]);
  }
}

// The first '"' or '\' at or after `p`, or `end`.
const char* FindQuoteOrBackslash(const char* p, const char* end) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto mask = static_cast<uint32_t>(
        _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash))));
    if (mask != 0) return p + std::countr_zero(mask);
  }
  while (p < end && *p != '"' && *p != '\\') ++p;
  return p;
}

// A float of any length that is known to be well formed. False if it is too large.
bool ReadAnyFloat(std::string_view text, double* value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (result.ec == std::errc()) return true;
  // Too large or too small: only the former is a fault.
  *value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(*value);
}

// [-] digits [. digits] [e [+|-] digits], with a digit before the exponent.
bool IsFloat(std::string_view text) {
  size_t i = text.starts_with('-') ? 1 : 0;
  size_t digits = 0;
  const auto take_digits = [&] {
    const size_t from = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i - from;
  };
  digits += take_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    digits += take_digits();
  }
  if (digits == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (take_digits() == 0) return false;
  }
  return i == text.size();
}

// Whole text as an integer. An empty result of `out_of_range` false means: no integer.
template <typename T>
bool ReadInteger(std::string_view text, T* value, bool* out_of_range) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *value);
  *out_of_range = result.ec == std::errc::result_out_of_range;
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace

LineProtocolParser::LineProtocolParser(bool remember) : remember_(remember) {}

void LineProtocolParser::Start(std::string_view payload) {
  begin_ = at_ = counted_to_ = line_begin_ = payload.data();
  end_ = begin_ + payload.size();
  line_ = 1;
  texts_.clear();
  valid_utf8_ = IsValidUtf8(payload);
  ForgetIfFull();
}

void LineProtocolParser::ForgetIfFull() {
  if (series_by_raw_.size() <= kMaxSeries && names_by_raw_.size() <= kMaxSeries) return;
  series_by_raw_.clear();
  names_by_raw_.clear();
  series_ = nullptr;
  scratch_.fields.clear();
}

void LineProtocolParser::DropPlans() {
  for (auto& [raw, series] : series_by_raw_) series->plan.reset();
  for (auto& [raw, name] : names_by_raw_) name->plan.reset();
  scratch_.plan.reset();
}

bool LineProtocolParser::Fail(const char* at, std::string_view what) {
  failure_at_ = at;
  failure_ = what;
  return false;
}

const DecodeError& LineProtocolParser::MakeError(ErrorReason reason, const char* at, std::string_view text) {
  line_ += static_cast<uint64_t>(std::count(counted_to_, line_begin_, '\n'));
  counted_to_ = line_begin_;
  error_text_ = "byte ";
  error_text_ += std::to_string(at - line_begin_ + 1);
  error_text_ += ": ";
  error_text_ += text;
  error_ = {reason, line_, error_text_};
  return error_;
}

bool LineProtocolParser::AtLineEnd() const {
  if (at_ == end_ || *at_ == '\n') return true;
  return *at_ == '\r' && (at_ + 1 == end_ || at_[1] == '\n');
}

void LineProtocolParser::TakeLineEnd() {
  if (at_ < end_ && *at_ == '\r') ++at_;
  if (at_ < end_) ++at_;
}

// Passes blank lines and comments; false at the end.
bool LineProtocolParser::SkipToPoint() {
  while (true) {
    while (at_ < end_ && *at_ == ' ') ++at_;
    if (at_ == end_) return false;
    if (*at_ == '#') {
      const void* line_feed = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
      at_ = line_feed == nullptr ? end_ : static_cast<const char*>(line_feed);
    } else if (!AtLineEnd()) {
      return true;
    }
    TakeLineEnd();
    line_begin_ = at_;
  }
}

LineProtocolParser::Item LineProtocolParser::Next() {
  line_begin_ = at_;
  if (!SkipToPoint()) return Item::kEnd;
  if (ReadPoint()) {
    if (valid_utf8_) [[likely]]
      return Item::kPoint;
    const std::string_view line(line_begin_, static_cast<size_t>(at_ - line_begin_));
    const size_t valid = ValidUtf8Prefix(line);
    if (valid == line.size()) return Item::kPoint;
    MakeError(ErrorReason::kInvalidUtf8, line_begin_ + valid, "text is not UTF-8");
    return Item::kError;
  }
  MakeError(ErrorReason::kInvalidLine, failure_at_, failure_);
  // The next line begins after the place of the fault: an open quote does not swallow the lines behind it.
  at_ = std::find(failure_at_, end_, '\n');
  if (at_ < end_) ++at_;
  return Item::kError;
}

bool LineProtocolParser::ReadPoint() {
  values_.clear();
  has_time_ = false;
  if (!ReadSeries()) return false;
  while (at_ < end_ && *at_ == ' ') ++at_;
  for (size_t index = 0;; ++index) {
    if (!ReadField(index)) return false;
    if (at_ == end_ || *at_ != ',') break;
    ++at_;
  }
  if (at_ < end_ && *at_ == ' ') {
    while (at_ < end_ && *at_ == ' ') ++at_;
    if (!AtLineEnd() && !ReadTime()) return false;
  }
  if (!AtLineEnd()) return Fail(at_, "unexpected character after the field");
  TakeLineEnd();
  return true;
}

bool LineProtocolParser::ReadSeries() {
  if (remember_) {
    Series* guess = series_ != nullptr ? series_->next : nullptr;
    if (guess != nullptr && StartsWith(at_, end_, guess->raw)) {
      const char* after = at_ + guess->raw.size();
      if (after < end_ && *after == ' ') [[likely]] {
        at_ = after;
        series_ = guess;
        return true;
      }
    }
  }
  // A space ends it, unless a backslash stands before; so does any control character.
  const char* p = at_;
  while (p < end_ && !IsControl(*p) && (*p != ' ' || (p > at_ && p[-1] == '\\'))) ++p;
  const std::string_view raw(at_, static_cast<size_t>(p - at_));
  if (!remember_) {
    scratch_.plan.reset();
    if (!ParseSeries(raw, &scratch_)) return false;
    series_ = &scratch_;
    return true;
  }
  Series* previous = series_;
  const auto found = series_by_raw_.find(raw);
  if (found != series_by_raw_.end() && p < end_ && *p == ' ') {
    series_ = found->second.get();
    at_ = p;
  } else {
    auto fresh = std::make_unique<Series>();
    if (!ParseSeries(raw, fresh.get())) return false;
    fresh->raw = raw;
    series_ = fresh.get();
    series_by_raw_.emplace(fresh->raw, std::move(fresh));
  }
  if (previous != nullptr) previous->next = series_;
  return true;
}

// `raw` ends before a space, a control character or the end; the former only is right.
bool LineProtocolParser::ParseSeries(std::string_view raw, Series* series) {
  const char* p = raw.data();
  const char* end = p + raw.size();
  const char* token_end = TokenEnd(p, end, /*equals=*/false);
  if (token_end == p) return Fail(p, "expected a measurement");
  Unescape({p, token_end}, /*equals=*/false, &series->measurement);
  series->tags.clear();
  for (p = token_end; p < end;) {
    // Only a comma can stand here: TokenEnd() stopped at it, or at an '=' that is reported.
    if (*p != ',') return Fail(p, "expected ',' or ' ' after a tag");
    ++p;
    token_end = TokenEnd(p, end, /*equals=*/true);
    if (token_end == p) return Fail(p, "expected a tag key");
    Tag tag;
    Unescape({p, token_end}, /*equals=*/true, &tag.key);
    if (token_end == end || *token_end != '=') return Fail(token_end, "expected '=' after the tag key");
    p = token_end + 1;
    token_end = TokenEnd(p, end, /*equals=*/true);
    if (token_end == p) return Fail(p, "expected a tag value");
    Unescape({p, token_end}, /*equals=*/true, &tag.value);
    for (const Tag& other : series->tags) {
      if (other.key == tag.key) return Fail(p, "the tag key comes twice");
    }
    series->tags.push_back(std::move(tag));
    p = token_end;
  }
  if (end == end_ || *end != ' ') return Fail(end, "expected ' ' and a field");
  at_ = end;
  return true;
}

bool LineProtocolParser::ReadField(size_t index) {
  FieldName* name = ReadFieldName(index);
  if (name == nullptr) return false;
  Value value{name, Kind::kFloat, {}, {}};
  if (!ReadValue(&value)) return false;
  values_.push_back(value);
  return true;
}

LineProtocolParser::FieldName* LineProtocolParser::ReadFieldName(size_t index) {
  std::vector<FieldName*>& expected = series_->fields;
  if (index < expected.size() && StartsWith(at_, end_, expected[index]->raw)) [[likely]] {
    at_ += expected[index]->raw.size();
    return expected[index];
  }
  const char* key_end = TokenEnd(at_, end_, /*equals=*/true);
  if (key_end == at_) {
    Fail(at_, "expected a field key");
    return nullptr;
  }
  if (key_end == end_ || *key_end != '=') {
    Fail(key_end, "expected '=' after the field key");
    return nullptr;
  }
  const std::string_view raw(at_, static_cast<size_t>(key_end - at_ + 1));
  auto found = names_by_raw_.find(raw);
  if (found == names_by_raw_.end()) {
    auto name = std::make_unique<FieldName>();
    name->raw = raw;
    name->name.reserve(std::max(raw.size(), kNamePadding));
    Unescape(raw.substr(0, raw.size() - 1), /*equals=*/true, &name->name);
    const std::string_view key = name->raw;
    found = names_by_raw_.emplace(key, std::move(name)).first;
  }
  if (index >= expected.size()) expected.resize(index + 1, found->second.get());
  expected[index] = found->second.get();
  at_ = key_end + 1;
  return found->second.get();
}

bool LineProtocolParser::ReadValue(Value* value) {
  if (at_ == end_) return Fail(at_, "expected a field value");
  switch (*at_) {
    case '"': return ReadText(value);
    case 't':
    case 'T':
    case 'f':
    case 'F': return ReadBool(value);
    default: break;
  }
  if (IsDigit(*at_) || *at_ == '-' || *at_ == '.') return ReadNumber(value);
  return Fail(at_, "the field value is no number, boolean or text in quotes");
}

// What stands up to the next comma, space or line end.
std::string_view LineProtocolParser::Token() const {
  const char* p = at_;
  while (p < end_ && *p != ',' && *p != ' ' && *p != '\n' && *p != '\r') ++p;
  return {at_, static_cast<size_t>(p - at_)};
}

// Integers and plain decimals of at most 19 digits; what is longer or has an exponent goes the long way.
bool LineProtocolParser::ReadNumber(Value* value) {
  const bool negative = *at_ == '-';
  const char* p = at_ + (negative ? 1 : 0);
  const char* first = p;
  uint64_t mantissa = 0;
  while (p < end_ && IsDigit(*p)) mantissa = mantissa * 10 + static_cast<uint64_t>(*p++ - '0');
  ptrdiff_t digits = p - first;
  int decimals = 0;
  if (p < end_ && *p == '.') {
    const char* point = p++;
    while (p < end_ && IsDigit(*p)) mantissa = mantissa * 10 + static_cast<uint64_t>(*p++ - '0');
    decimals = static_cast<int>(p - point - 1);
    digits += decimals;
  } else if (p < end_ && (*p == 'i' || *p == 'u') && digits > 0 && digits < kMaxDigits) {
    const bool is_signed = *p == 'i';
    const char* after = p + 1;
    if (!EndsValue(after, end_) || (negative && !is_signed)) return ReadLongNumber(value);
    value->kind = is_signed ? Kind::kInt : Kind::kUint;
    if (is_signed) {
      value->integer = negative ? -static_cast<int64_t>(mantissa) : static_cast<int64_t>(mantissa);
    } else {
      value->unsigned_integer = mantissa;
    }
    at_ = after;
    return true;
  }
  if (!EndsValue(p, end_) || digits == 0 || digits > kMaxDigits || mantissa > kMaxExactMantissa ||
      decimals > kMaxExactPower) {
    return ReadLongNumber(value);
  }
  // Both are exact doubles, so the one division is rounded correctly.
  const auto whole = static_cast<double>(mantissa);
  const double number = decimals == 0 ? whole : whole / kPowers[decimals];
  value->kind = Kind::kFloat;
  value->number = negative ? -number : number;
  at_ = p;
  return true;
}

bool LineProtocolParser::ReadLongNumber(Value* value) {
  const std::string_view token = Token();
  bool out_of_range = false;
  if (token.ends_with('i')) {
    value->kind = Kind::kInt;
    if (!ReadInteger(token.substr(0, token.size() - 1), &value->integer, &out_of_range)) {
      return Fail(at_, out_of_range ? "the integer is out of range" : "not an integer");
    }
  } else if (token.ends_with('u')) {
    value->kind = Kind::kUint;
    if (!ReadInteger(token.substr(0, token.size() - 1), &value->unsigned_integer, &out_of_range)) {
      return Fail(at_, out_of_range ? "the unsigned integer is out of range" : "not an unsigned integer");
    }
  } else {
    value->kind = Kind::kFloat;
    if (!IsFloat(token)) return Fail(at_, "not a number");
    if (!ReadAnyFloat(token, &value->number)) return Fail(at_, "the number is out of range");
  }
  at_ += token.size();
  return true;
}

bool LineProtocolParser::ReadBool(Value* value) {
  static constexpr std::string_view kTrue[] = {"true", "t", "T", "True", "TRUE"};
  static constexpr std::string_view kFalse[] = {"false", "f", "F", "False", "FALSE"};
  const std::string_view token = Token();
  value->kind = Kind::kBool;
  value->boolean = std::find(std::begin(kTrue), std::end(kTrue), token) != std::end(kTrue);
  if (!value->boolean && std::find(std::begin(kFalse), std::end(kFalse), token) == std::end(kFalse)) {
    return Fail(at_, "not a boolean");
  }
  at_ += token.size();
  return true;
}

bool LineProtocolParser::ReadText(Value* value) {
  const char* begin = at_ + 1;
  bool escapes = false;
  const char* p = FindQuoteOrBackslash(begin, end_);
  while (p < end_ && *p == '\\') {
    escapes = true;
    p = FindQuoteOrBackslash(std::min(p + 2, end_), end_);
  }
  if (p == end_) return Fail(at_, "the text has no closing quote");
  const std::string_view raw(begin, static_cast<size_t>(p - begin));
  value->kind = Kind::kText;
  value->text = escapes ? Unescaped(raw) : raw;
  at_ = p + 1;
  return true;
}

std::string_view LineProtocolParser::Unescaped(std::string_view raw) {
  // Once for all texts of the payload, so that views into it stay.
  if (texts_.empty()) texts_.reserve(static_cast<size_t>(end_ - begin_));
  const size_t from = texts_.size();
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' && i + 1 < raw.size()) {
      const char next = raw[i + 1];
      if (next == '"' || next == '\\' || next == '\n' || next == '\r') ++i;
    }
    texts_.push_back(raw[i]);
  }
  return std::string_view(texts_).substr(from);
}

bool LineProtocolParser::ReadTime() {
  const char* begin = at_;
  const bool negative = *at_ == '-';
  const char* first = begin + (negative ? 1 : 0);
  uint64_t magnitude = 0;
  const char* p = first;
  uint64_t eight = 0;
  for (int i = 0; i < 2 && end_ - p >= 8 && ReadEightDigits(p, &eight); ++i, p += 8) {
    magnitude = magnitude * 100'000'000 + eight;
  }
  while (p < end_ && IsDigit(*p)) magnitude = magnitude * 10 + static_cast<uint64_t>(*p++ - '0');
  // 19 digits fit into 64 bits; 2^63 is the first that is too large.
  if (p - first <= kMaxDigits && magnitude <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    if (p == first) return Fail(begin, "not a timestamp");
    time_ = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  } else {
    bool out_of_range = false;
    if (!ReadInteger({begin, static_cast<size_t>(p - begin)}, &time_, &out_of_range)) {
      return Fail(begin, "the timestamp is out of range");
    }
  }
  has_time_ = true;
  at_ = p;
  if (!AtLineEnd() && *at_ != ' ') return Fail(begin, "not a timestamp");
  while (at_ < end_ && *at_ == ' ') ++at_;
  return AtLineEnd() || Fail(at_, "unexpected text after the timestamp");
}

}  // namespace kafscope
