#include "core/expr/substitute.h"

#include <algorithm>
#include <utility>

#include "core/base/json.h"
#include "core/expr/template.h"

namespace detent {
namespace {

// True if a JSON string may hold `text` as it is.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

// Appends `text` as the inside of a JSON string.
void AppendEscaped(std::string& out, std::string_view text) {
  if (IsPlain(text)) {
    out += text;
    return;
  }
  const size_t quote = out.size();
  AppendJsonString(out, text);
  out.pop_back();
  out.erase(quote, 1);
}

}  // namespace

// Walks the text of a JSON document that ParseJson has accepted, so it need not look for mistakes.
// It goes over the text, not the parsed document, to keep numbers and spacing as they were written.
class SpecCompiler {
 public:
  SpecCompiler(std::string_view json, SpecTemplate& out) : json_(json), out_(out) {}

  Result<void> Compile() {
    if (auto walked = Value(); !walked) return walked;
    FlushRaw(json_.size());
    return {};
  }

 private:
  Result<void> Value() {
    SkipSpace();
    switch (json_[at_]) {
      case '{':
        return Object();
      case '[':
        return Array();
      case '"':
        return String();
      default:
        while (at_ < json_.size() && !IsEnd(json_[at_])) ++at_;
        return {};
    }
  }

  Result<void> Object() {
    ++at_;
    const size_t parent = pointer_.size();
    for (SkipSpace(); json_[at_] != '}'; SkipSpace()) {
      if (json_[at_] == ',') {
        ++at_;
        continue;
      }
      const size_t begin = at_;
      SkipString();
      pointer_ += PointerToken(Decode(json_.substr(begin, at_ - begin)));
      SkipSpace();
      ++at_;  // The colon.
      if (auto value = Value(); !value) return value;
      pointer_.resize(parent);
    }
    ++at_;
    return {};
  }

  Result<void> Array() {
    ++at_;
    const size_t parent = pointer_.size();
    size_t index = 0;
    for (SkipSpace(); json_[at_] != ']'; SkipSpace()) {
      if (json_[at_] == ',') {
        ++at_;
        continue;
      }
      pointer_ += "/" + std::to_string(index++);
      if (auto value = Value(); !value) return value;
      pointer_.resize(parent);
    }
    ++at_;
    return {};
  }

  Result<void> String() {
    const size_t begin = at_;
    SkipString();
    const std::string_view quoted = json_.substr(begin, at_ - begin);
    // A dollar or a brace may be written as an escape, so any escape needs a closer look.
    if (quoted.find("${") == std::string_view::npos &&
        quoted.find("\\u") == std::string_view::npos) {
      return {};
    }
    const std::string text = Decode(quoted);
    if (text.find("${") == std::string::npos) return {};
    auto split = SplitTemplate(text);
    if (!split) return std::move(split).error().While(pointer_);
    if (split->size() == 1 && split->front().kind == TemplateSegment::Kind::kLiteral &&
        split->front().text == text) {
      return {};
    }
    FlushRaw(begin);
    raw_ = at_;
    if (split->size() == 1 && split->front().kind == TemplateSegment::Kind::kInteger) {
      AddUse(split->front());
      return {};
    }
    AddRaw("\"");
    for (const TemplateSegment& segment : *split) {
      if (segment.kind != TemplateSegment::Kind::kLiteral) {
        AddUse(segment);
        continue;
      }
      std::string escaped;
      AppendEscaped(escaped, segment.text);
      AddRaw(escaped);
    }
    AddRaw("\"");
    return {};
  }

  static bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool IsEnd(char c) { return c == ',' || c == ']' || c == '}' || IsSpace(c); }

  void SkipSpace() {
    while (at_ < json_.size() && IsSpace(json_[at_])) ++at_;
  }

  void SkipString() {
    for (++at_; json_[at_] != '"'; ++at_) {
      if (json_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  static std::string Decode(std::string_view quoted) {
    if (quoted.find('\\') == std::string_view::npos) {
      return std::string(quoted.substr(1, quoted.size() - 2));
    }
    return ParseJson(quoted)->as_string();
  }

  // Adds the text from raw_ to `end`, which goes out as it is.
  void FlushRaw(size_t end) { AddRaw(json_.substr(raw_, end - raw_)); }

  void AddRaw(std::string_view text) {
    if (text.empty()) return;
    auto& segments = out_.segments_;
    if (segments.empty() || segments.back().kind != SpecTemplate::Segment::Kind::kRaw) {
      segments.push_back(
          {SpecTemplate::Segment::Kind::kRaw, static_cast<uint32_t>(out_.pool_.size()), 0});
    }
    segments.back().size += static_cast<uint32_t>(text.size());
    out_.pool_ += text;
  }

  void AddUse(const TemplateSegment& segment) {
    using Kind = SpecTemplate::Segment::Kind;
    const bool integer = segment.kind == TemplateSegment::Kind::kInteger;
    out_.segments_.push_back(
        {integer ? Kind::kInteger : Kind::kText, static_cast<uint32_t>(out_.uses_.size()), 0});
    out_.uses_.push_back({std::string(segment.text), pointer_, segment.column});
  }

  std::string_view json_;
  SpecTemplate& out_;
  size_t at_ = 0;
  size_t raw_ = 0;  // Where the text begins that has not gone to the pool yet.
  std::string pointer_;
};

Result<SpecTemplate> SpecTemplate::Compile(std::string_view json) {
  // A bound with room to spare: escapes make a text at most six times as long, and sizes have 32
  // bits.
  constexpr size_t kBytesMax = size_t{1} << 28;
  if (json.size() > kBytesMax) return Error(Code::kTooLarge, "a spec is limited to 256 MiB");
  if (auto parsed = ParseJson(json); !parsed) return std::move(parsed).error();
  SpecTemplate compiled;
  if (auto walked = SpecCompiler(json, compiled).Compile(); !walked) {
    return std::move(walked).error();
  }
  if (compiled.uses_.empty()) {
    compiled.constant_ = std::make_shared<const std::string>(std::move(compiled.pool_));
    compiled.pool_.clear();
    compiled.segments_.clear();
  }
  return compiled;
}

Result<void> SpecTemplate::Render(const Variables& variables, std::string& out_json) const {
  if (constant_) out_json += *constant_;
  const size_t size_before = out_json.size();
  for (const Segment& segment : segments_) {
    if (segment.kind == Segment::Kind::kRaw) {
      out_json.append(pool_, segment.begin, segment.size);
      continue;
    }
    const Use& use = uses_[segment.begin];
    const std::string* found = variables.Find(use.name);
    const std::string_view value = found == nullptr ? std::string_view() : *found;
    if (segment.kind == Segment::Kind::kText) {
      AppendEscaped(out_json, value);
      continue;
    }
    if (auto appended = AppendInteger(use.name, value, out_json); !appended) {
      out_json.resize(size_before);
      return std::move(appended).error().While(use.pointer);
    }
  }
  return {};
}

}  // namespace detent
