// Text with `${...}` in it, compiled once and filled in many times.
//
//   ${job.name}            the variable's value; nothing if it has none
//   ${task.index_num|int}  the same, which must be an integer (int64); written in plain digits
//   $${                    a literal ${
//
// Filling in is one pass: what a value contains is never looked at again, so neither the order of
// variables nor a `${` in a value matters. Only names that begin with job., jobconfig., task. or
// option. are ours: any other `${FOO}` stays as it is, and so does a `${` whose `}` is missing or
// comes after another `${`. Compiled templates are immutable: any thread may render.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/expr/variables.h"

namespace detent {

// One stretch of a text: literal, or the name of a variable.
struct TemplateSegment {
  enum class Kind : uint8_t { kLiteral, kText, kInteger };

  Kind kind = Kind::kLiteral;
  std::string_view text;  // The literal, or the variable's name. Borrowed from the text.
  size_t column = 0;      // Where it begins in the text, in bytes, from 1.
};

// Splits `text`. Code::kInvalid, with the column, for a filter that does not exist.
Result<std::vector<TemplateSegment>> SplitTemplate(std::string_view text);

// Appends the value as an int64 in plain digits ("007" as 7), or says that it is none.
Result<void> AppendInteger(std::string_view name, std::string_view value, std::string& out);

class CompiledTemplate {
 public:
  static Result<CompiledTemplate> Parse(std::string_view text);

  // Appends to `out`, which is unchanged if this fails. Code::kInvalid if a value for |int| is
  // none.
  Result<void> Render(const Variables& variables, std::string& out) const;

  // The variables that it names, each once, in the order of their first use.
  std::vector<std::string> names() const;

 private:
  struct Segment {
    TemplateSegment::Kind kind;
    uint32_t begin;  // In pool_.
    uint32_t size;
  };

  std::string pool_;
  std::vector<Segment> segments_;
};

}  // namespace detent
