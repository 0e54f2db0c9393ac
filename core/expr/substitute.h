// Fills `${...}` into a JSON document, so that no value can change the document's shape.
//
// Compiled once from the text of a spec; rendering then appends stretches of that text and escaped
// values, without building a document. Only string values are templates (see template.h), names of
// members are not. What holds no `${` comes out byte for byte as it went in, so a spec without
// variables costs one append. Immutable once compiled: any thread may render.
//
// A string that is nothing but `${name|int}` becomes a JSON number: {"port": "${option.port|int}"}.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/expr/variables.h"

namespace detent {

class SpecTemplate {
 public:
  // Where a variable is used, for those who want to warn of unknown ones (see ExplainVariable).
  struct Use {
    std::string name;
    std::string pointer;  // RFC 6901, into the document.
    size_t column;        // In that string, in bytes, from 1.
  };

  // Code::kInvalid for what ParseJson refuses, and for a wrong template, with its JSON pointer.
  static Result<SpecTemplate> Compile(std::string_view json);

  // Appends the filled-in JSON to `out_json`, which is unchanged if this fails. Code::kInvalid,
  // with the JSON pointer, if a value for |int| is no integer.
  Result<void> Render(const Variables& variables, std::string& out_json) const;

  // What it renders to, whatever the variables are; null where it uses any.
  const std::shared_ptr<const std::string>& constant() const { return constant_; }

  // In the document's order, repeated where a variable is.
  const std::vector<Use>& uses() const { return uses_; }

 private:
  friend class SpecCompiler;

  struct Segment {
    enum class Kind : uint8_t { kRaw, kText, kInteger };

    Kind kind;
    uint32_t begin;  // kRaw: in pool_; otherwise the number of the use.
    uint32_t size;   // kRaw: in bytes.
  };

  std::shared_ptr<const std::string> constant_;  // Then the next two are empty.
  std::string pool_;
  std::vector<Segment> segments_;
  std::vector<Use> uses_;
};

}  // namespace detent
