#include "core/expr/template.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace detent {
namespace {

constexpr std::string_view kOpen = "${";

// The inside of the reference that begins at `open`, or an empty view if there is none of ours.
std::string_view ReferenceAt(std::string_view text, size_t open) {
  text.remove_prefix(open + kOpen.size());
  // "${job.name and ${task.name}": the first one has lost its end. No further is looked than to the
  // next one, so that many of that sort cost no more than their text is long.
  text = text.substr(0, text.find(kOpen));
  const size_t close = text.find('}');
  if (close == std::string_view::npos) return {};
  const std::string_view inside = text.substr(0, close);
  return HasKnownPrefix(inside.substr(0, inside.find('|'))) ? inside : std::string_view();
}

Result<TemplateSegment> ParseReference(std::string_view inside, size_t column) {
  const size_t bar = inside.find('|');
  const std::string_view name = inside.substr(0, bar);
  if (bar == std::string_view::npos) {
    return TemplateSegment{TemplateSegment::Kind::kText, name, column};
  }
  const std::string_view filter = inside.substr(bar + 1);
  if (filter == "int") {
    return TemplateSegment{TemplateSegment::Kind::kInteger, name, column};
  }
  return Error(Code::kInvalid, "column " + std::to_string(column + kOpen.size() + bar) +
                                   ": unknown filter '" + std::string(filter) +
                                   "'; there is only |int, as in ${task.index_num|int}");
}

}  // namespace

Result<std::vector<TemplateSegment>> SplitTemplate(std::string_view text) {
  std::vector<TemplateSegment> segments;
  size_t literal = 0;  // Where the literal begins that is not in `segments` yet.
  const auto end_literal = [&](size_t end) {
    if (end > literal) {
      segments.push_back(
          {TemplateSegment::Kind::kLiteral, text.substr(literal, end - literal), literal + 1});
    }
  };
  size_t open = text.find(kOpen);
  for (; open != std::string_view::npos; open = text.find(kOpen, open)) {
    if (open > literal && text[open - 1] == '$') {
      end_literal(open - 1);
      literal = open;
      open += kOpen.size();
      continue;
    }
    const std::string_view inside = ReferenceAt(text, open);
    if (inside.empty()) {
      open += kOpen.size();
      continue;
    }
    auto reference = ParseReference(inside, open + 1);
    if (!reference) return std::move(reference).error();
    end_literal(open);
    segments.push_back(*reference);
    open += kOpen.size() + inside.size() + 1;
    literal = open;
  }
  end_literal(text.size());
  return segments;
}

Result<void> AppendInteger(std::string_view name, std::string_view value, std::string& out) {
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, number);
  if (failure != std::errc() || stop != end) {
    constexpr size_t kShown = 64;
    return Error(Code::kInvalid, "${" + std::string(name) + "|int}: '" +
                                     std::string(value.substr(0, kShown)) + "' is not an integer");
  }
  char digits[24];
  const auto written = std::to_chars(std::begin(digits), std::end(digits), number);
  out.append(digits, written.ptr);
  return {};
}

Result<CompiledTemplate> CompiledTemplate::Parse(std::string_view text) {
  if (text.size() > UINT32_MAX) return Error(Code::kTooLarge, "a template is limited to 4 GiB");
  auto split = SplitTemplate(text);
  if (!split) return std::move(split).error();
  CompiledTemplate compiled;
  for (const TemplateSegment& segment : *split) {
    compiled.segments_.push_back({segment.kind, static_cast<uint32_t>(compiled.pool_.size()),
                                  static_cast<uint32_t>(segment.text.size())});
    compiled.pool_ += segment.text;
  }
  return compiled;
}

Result<void> CompiledTemplate::Render(const Variables& variables, std::string& out) const {
  const size_t size_before = out.size();
  for (const Segment& segment : segments_) {
    const auto text = std::string_view(pool_).substr(segment.begin, segment.size);
    if (segment.kind == TemplateSegment::Kind::kLiteral) {
      out += text;
      continue;
    }
    const std::string* value = variables.Find(text);
    if (segment.kind == TemplateSegment::Kind::kText) {
      if (value != nullptr) out += *value;
      continue;
    }
    auto appended = AppendInteger(text, value == nullptr ? std::string_view() : *value, out);
    if (!appended) {
      out.resize(size_before);
      return appended;
    }
  }
  return {};
}

std::vector<std::string> CompiledTemplate::names() const {
  std::vector<std::string> names;
  for (const Segment& segment : segments_) {
    if (segment.kind == TemplateSegment::Kind::kLiteral) continue;
    std::string name = pool_.substr(segment.begin, segment.size);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace detent
