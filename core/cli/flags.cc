#include "core/cli/flags.h"

#include <algorithm>
#include <charconv>

#include "core/base/spelling.h"

namespace detent {
namespace {

constexpr size_t kHelpColumn = 32;
constexpr int64_t kLongestMillis = int64_t{10} * 366 * 24 * 3'600'000;

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

int64_t MillisOf(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s" || unit.empty()) return 1000;
  if (unit == "m") return 60'000;
  if (unit == "h") return 3'600'000;
  return unit == "d" ? 86'400'000 : 0;
}

class Parser {
 public:
  Parser(const std::vector<Flag>& known, const std::vector<std::string>& args)
      : known_(known), args_(args) {}

  Result<FlagReading> Run(bool stop_at_word) {
    while (at_ < args_.size()) {
      const std::string& arg = args_[at_];
      if (arg == "--") {
        reading_.words.insert(reading_.words.end(), args_.begin() + static_cast<long>(at_) + 1,
                              args_.end());
        at_ = args_.size();
      } else if (arg.starts_with("--")) {
        ++at_;
        TRY(Long(arg.substr(2)));
      } else if (arg.size() > 1 && arg[0] == '-') {
        ++at_;
        TRY(Letters(arg));
      } else {
        if (stop_at_word) break;
        reading_.words.push_back(arg);
        ++at_;
      }
    }
    reading_.consumed = at_;
    return std::move(reading_);
  }

 private:
  Result<void> Long(const std::string& text) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    for (const Flag& flag : known_) {
      if (flag.name != name) continue;
      if (equals != text.npos) return Store(flag, text.substr(equals + 1));
      return flag.type == FlagType::kSwitch ? Store(flag, "true") : StoreNext(flag);
    }
    std::vector<std::string> names;
    for (const Flag& flag : known_) names.push_back(flag.name);
    const std::string nearest = NearestWord(name, names);
    return Error(Code::kInvalid, "unknown flag --" + name +
                                     (nearest.empty() ? "" : " (did you mean --" + nearest + "?)"));
  }

  Result<void> Letters(const std::string& arg) {
    for (size_t i = 1; i < arg.size(); ++i) {
      const auto flag = std::find_if(known_.begin(), known_.end(),
                                     [&](const Flag& f) { return f.letter == arg[i]; });
      if (flag == known_.end()) {
        return Error(Code::kInvalid, std::string("unknown flag -") + arg[i] +
                                         (arg.size() > 2 ? " in '" + arg + "'" : ""));
      }
      if (flag->type == FlagType::kSwitch) {
        TRY(Store(*flag, "true"));
        continue;
      }
      if (i + 1 == arg.size()) return StoreNext(*flag);
      return Store(*flag, arg.substr(arg[i + 1] == '=' ? i + 2 : i + 1));
    }
    return {};
  }

  Result<void> StoreNext(const Flag& flag) {
    if (at_ >= args_.size()) {
      return Error(Code::kInvalid, "--" + flag.name + ": needs a value (" + flag.value_name + ")");
    }
    return Store(flag, args_[at_++]);
  }

  Result<void> Store(const Flag& flag, const std::string& value) {
    const auto refuse = [&](const std::string& why) {
      return Error(Code::kInvalid, "--" + flag.name + ": " + why + ", not '" + value + "'");
    };
    switch (flag.type) {
      case FlagType::kSwitch:
        if (value != "true" && value != "false") return refuse("must be true or false");
        break;
      case FlagType::kNumber:
        if (!WholeNumber(value)) return refuse("must be a whole number, 0 or greater");
        break;
      case FlagType::kDuration:
        if (!ParseDuration(value)) return refuse("must be a duration such as 30s, 5m or 1h30m");
        break;
      case FlagType::kText:
      case FlagType::kTexts:
        break;
    }
    const bool any = flag.choices.empty() || std::find(flag.choices.begin(), flag.choices.end(),
                                                       value) != flag.choices.end();
    if (!any) {
      std::string list;
      for (const std::string& choice : flag.choices) list += (list.empty() ? "" : ", ") + choice;
      return refuse("must be one of " + list);
    }
    reading_.flags.Add(flag.name, value);
    return {};
  }

  const std::vector<Flag>& known_;
  const std::vector<std::string>& args_;
  size_t at_ = 0;
  FlagReading reading_;
};

}  // namespace

std::string ParsedFlags::Text(std::string_view name, std::string_view absent) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::string(absent) : it->second.back();
}

std::vector<std::string> ParsedFlags::Texts(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

std::optional<int64_t> ParsedFlags::Number(std::string_view name) const {
  return WholeNumber(Text(name));
}

std::optional<std::chrono::milliseconds> ParsedFlags::Duration(std::string_view name) const {
  return ParseDuration(Text(name));
}

Result<FlagReading> ReadFlags(const std::vector<Flag>& known, const std::vector<std::string>& args,
                              bool stop_at_word) {
  return Parser(known, args).Run(stop_at_word);
}

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (const auto seconds = WholeNumber(text)) {
    if (*seconds > kLongestMillis / 1000) return std::nullopt;
    return std::chrono::milliseconds(*seconds * 1000);
  }
  int64_t total = 0;
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto value = WholeNumber(text.substr(0, digits));
    text.remove_prefix(digits);
    const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    // A number without a unit is only understood alone.
    const int64_t unit = letters == 0 ? 0 : MillisOf(text.substr(0, letters));
    text.remove_prefix(letters);
    if (!value || unit == 0 || *value > kLongestMillis / unit) return std::nullopt;
    total += *value * unit;
    if (total > kLongestMillis) return std::nullopt;
  }
  return std::chrono::milliseconds(total);
}

std::string DescribeFlags(const std::vector<Flag>& flags) {
  std::string text;
  for (const Flag& flag : flags) {
    std::string line = flag.letter != 0 ? std::string("  -") + flag.letter + ", " : "      ";
    line += "--" + flag.name;
    if (!flag.value_name.empty()) line += " " + flag.value_name;
    line.resize(std::max(line.size() + 2, kHelpColumn), ' ');
    text += line + flag.help + "\n";
  }
  return text;
}

}  // namespace detent
