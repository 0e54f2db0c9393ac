// Reads a command's flags by a table: `--name value`, `--name=value`, `-n value`, `-nvalue`, and
// switches together (`-Aw`). Values are checked here, once, so that commands only take them. Pure.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace detent {

enum class FlagType : uint8_t {
  kSwitch,  // Present or `=true`, `=false`.
  kText,
  kTexts,     // May be given several times.
  kNumber,    // A whole number, 0 or greater.
  kDuration,  // "90s", "5m", "1h30m", "500ms"; a bare number is seconds.
};

struct Flag {
  std::string name;  // Without "--".
  char letter = 0;   // 0: none.
  FlagType type = FlagType::kSwitch;
  std::string value_name;                 // "FILE", for the help text; empty for a switch.
  std::string help;                       // One sentence.
  std::vector<std::string> choices = {};  // Of a text; empty: any.
};

class ParsedFlags {
 public:
  bool Has(std::string_view name) const { return values_.contains(name); }
  bool IsOn(std::string_view name) const { return Text(name) == "true"; }
  // The last value, or `absent`.
  std::string Text(std::string_view name, std::string_view absent = "") const;
  std::vector<std::string> Texts(std::string_view name) const;
  std::optional<int64_t> Number(std::string_view name) const;
  std::optional<std::chrono::milliseconds> Duration(std::string_view name) const;

  void Add(const std::string& name, std::string value) {
    values_[name].push_back(std::move(value));
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct FlagReading {
  ParsedFlags flags;
  std::vector<std::string> words;  // What is no flag, in order.
  size_t consumed = 0;             // Of the arguments.
};

// Reads `args`; with `stop_at_word` only up to the first word that is no flag. What stands behind
// "--" is words. kInvalid: an unknown flag (with the nearest known), a value that is missing or
// wrong.
Result<FlagReading> ReadFlags(const std::vector<Flag>& known, const std::vector<std::string>& args,
                              bool stop_at_word = false);

// "1h30m", "45s", "500ms", "2d", or bare seconds; nullopt if it is none, or more than ten years.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

// The help text's lines for `flags`, "  -f, --filename FILE   What it is.\n" each.
std::string DescribeFlags(const std::vector<Flag>& flags);

}  // namespace detent
