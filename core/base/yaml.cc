#include "core/base/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "core/base/limits.h"
#include "core/base/yaml_scalar.h"

namespace detent {

namespace {

constexpr size_t kValuesMax = 1'000'000;
constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

// Leaves yaml-cpp's parser from within an event; never leaves this file.
struct Refusal {
  size_t offset;
  std::string message;
};

size_t OffsetOf(const YAML::Mark& mark) {
  return static_cast<size_t>(std::max(mark.pos, 0));
}

// yaml-cpp takes the end of the text for the end of a quoted scalar. `at` may stand on the scalar's
// tag or anchor.
bool HasClosingQuote(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    at = text.find_first_of(" \t\r\n", at);
    at = at == text.npos ? at : text.find_first_not_of(" \t\r\n", at);
  }
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return true;
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 == text.size() || text[at + 1] != quote) return true;
      ++at;
    }
  }
  return false;
}

// Builds one document at a time out of yaml-cpp's events.
class Builder final : public YAML::EventHandler {
 public:
  // `text` is borrowed.
  explicit Builder(std::string_view text) : text_(text) {}

  // The document of the last events; nullopt if it was empty.
  std::optional<YamlDocument> Take() {
    if (document_.value.is_null()) return std::nullopt;
    return std::move(document_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    CheckDocumentStart(std::min(OffsetOf(mark), text_.size()));
    document_ = YamlDocument();
    open_.clear();
    anchors_.clear();
    pointer_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    AddScalar(mark, anchor, Json());
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (tag != "?" && !HasClosingQuote(text_, OffsetOf(mark))) {
      throw Refusal{OffsetOf(mark), "a quoted text has no end"};
    }
    AddScalar(mark, anchor, ReadScalar(mark, tag, text));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    // The anchor of a collection is known only once the collection is complete.
    if (it == anchors_.end())
      throw Refusal{OffsetOf(mark), "an alias stands within its own anchor"};
    if (open_.size() + it->second.height > size_t{limits::kDocumentDepth}) TooDeep(mark);
    Count(mark, it->second.count);
    Place(mark, it->second.value, it->second.height, it->second.count);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CheckCollectionTag(mark, tag, "seq");
    Open(mark, anchor, Json::Array());
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    CheckCollectionTag(mark, tag, "map");
    Open(mark, anchor, Json::Object());
  }
  void OnMapEnd() override { Close(); }

 private:
  // An array or object whose end has not come yet.
  struct Collection {
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    Json value;
    size_t pointer_length = 0;
    size_t count = 1;   // Values in it, with itself.
    size_t height = 1;  // Levels of nesting in it, with itself.
    std::string key;
    bool has_key = false;
    std::set<std::string, std::less<>> keys;
  };

  struct Anchored {
    Json value;
    size_t height;
    size_t count;
  };

  // yaml-cpp begins another document wherever one cannot go on, so that a lost indentation would go
  // unnoticed: one must be announced by a line "---" or follow a line "...".
  void CheckDocumentStart(size_t offset) {
    const bool first = std::exchange(first_document_, false);
    const size_t since = std::min(std::exchange(document_begin_, offset), offset);
    if (first || text_.substr(offset, 3) == "---") return;
    if (text_.substr(since, offset - since).find("\n...") != text_.npos) return;
    throw Refusal{offset, "this does not belong to the document before it"};
  }

  [[noreturn]] static void TooDeep(const YAML::Mark& mark) {
    throw Refusal{OffsetOf(mark), "nested deeper than " + std::to_string(limits::kDocumentDepth)};
  }

  void Count(const YAML::Mark& mark, size_t count) {
    total_ += count;
    if (total_ > kValuesMax) {
      throw Refusal{OffsetOf(mark), "more than " + std::to_string(kValuesMax) + " values"};
    }
  }

  static void CheckCollectionTag(const YAML::Mark& mark, const std::string& tag,
                                 std::string_view known) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (tag == std::string(kTagPrefix) + std::string(known)) return;
    throw Refusal{OffsetOf(mark), "the tag '" + tag + "' is not supported here"};
  }

  static Json ReadScalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    const std::string full = tag.rfind(kTagPrefix, 0) == 0 ? tag.substr(kTagPrefix.size()) : "";
    if (tag == "!" || full == "str") return text;
    const ResolvedScalar scalar = ResolveYamlScalar(text);
    if (scalar.kind == ScalarKind::kNoJson) {
      throw Refusal{OffsetOf(mark), "'" + text + "' has no value in JSON; quote it to mean a text"};
    }
    if (tag == "?" || tag.empty()) return scalar.value;
    const bool matches = (full == "int" && scalar.kind == ScalarKind::kInt) ||
                         (full == "bool" && scalar.kind == ScalarKind::kBool) ||
                         (full == "null" && scalar.kind == ScalarKind::kNull);
    if (matches) return scalar.value;
    if (full == "float" && scalar.value.is_number()) return scalar.value.as_double();
    throw Refusal{OffsetOf(mark), "the tag '" + tag + "' does not suit '" + text + "'"};
  }

  bool AwaitsKey() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().has_key;
  }

  void AddScalar(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    Count(mark, 1);
    if (anchor != 0) anchors_[anchor] = {value, 0, 1};
    Place(mark, std::move(value), 0, 1);
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    if (AwaitsKey()) RefuseKey(mark, value);
    if (open_.size() == size_t{limits::kDocumentDepth}) TooDeep(mark);
    Count(mark, 1);
    const size_t pointer_length = pointer_.size();
    Enter(mark);
    Collection& opened = open_.emplace_back();
    opened.mark = mark;
    opened.anchor = anchor;
    opened.value = std::move(value);
    opened.pointer_length = pointer_length;
  }

  void Close() {
    Collection done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != 0) {
      // The copy that is kept costs memory as an alias does.
      Count(done.mark, done.count);
      anchors_[done.anchor] = {done.value, done.height, done.count};
    }
    pointer_.resize(done.pointer_length);
    Store(std::move(done.value), done.height, done.count);
  }

  // A whole value: a key, or a scalar, or what an alias stands for.
  void Place(const YAML::Mark& mark, Json value, size_t height, size_t count) {
    if (AwaitsKey()) return TakeKey(mark, value);
    const size_t pointer_length = pointer_.size();
    Enter(mark);
    pointer_.resize(pointer_length);
    Store(std::move(value), height, count);
  }

  void TakeKey(const YAML::Mark& mark, const Json& value) {
    if (!value.is_string()) RefuseKey(mark, value);
    Collection& map = open_.back();
    if (!map.keys.insert(value.as_string()).second) {
      throw Refusal{OffsetOf(mark), "the key " + DumpJson(value) + " is given twice"};
    }
    map.key = value.as_string();
    map.has_key = true;
    document_.positions[pointer_ + PointerToken(map.key)] = PositionAtMark(mark);
  }

  [[noreturn]] static void RefuseKey(const YAML::Mark& mark, const Json& value) {
    std::string message = "a key must be a string, not ";
    message += value.type_name();
    if (!value.is_array() && !value.is_object()) message += " (quote it)";
    throw Refusal{OffsetOf(mark), message};
  }

  // Extends the pointer by the step to the value that comes now, and notes where that stands.
  void Enter(const YAML::Mark& mark) {
    if (open_.empty()) {
      document_.positions[""] = PositionAtMark(mark);
    } else if (open_.back().value.is_object()) {
      pointer_ += PointerToken(open_.back().key);
    } else {
      pointer_ += '/' + std::to_string(open_.back().value.as_array().size());
      document_.positions[pointer_] = PositionAtMark(mark);
    }
  }

  void Store(Json value, size_t height, size_t count) {
    if (open_.empty()) {
      document_.value = std::move(value);
      return;
    }
    Collection& parent = open_.back();
    parent.height = std::max(parent.height, height + 1);
    parent.count += count;
    if (parent.value.is_array()) {
      parent.value.as_array().push_back(std::move(value));
    } else {
      parent.value.as_object().emplace_back(std::move(parent.key), std::move(value));
      parent.has_key = false;
    }
  }

  // Counts the characters since the last mark, or back to it: from the start of the line each time
  // would take quadratic time on a document in one line.
  TextPosition PositionAtMark(const YAML::Mark& mark) {
    const size_t offset = std::min(OffsetOf(mark), text_.size());
    if (mark.line != last_line_) {
      last_line_ = mark.line;
      last_offset_ = offset - std::min(offset, static_cast<size_t>(mark.column));
      last_column_ = 1;
    }
    const size_t begin = std::min(offset, last_offset_);
    const size_t length = std::max(offset, last_offset_) - begin;
    const int characters = CountCharacters(text_.substr(begin, length));
    last_column_ += offset < last_offset_ ? -characters : characters;
    last_offset_ = offset;
    return {mark.line + 1, last_column_};
  }

  const std::string_view text_;
  YamlDocument document_;
  std::vector<Collection> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::string pointer_;  // To the collection that is open.
  size_t total_ = 0;
  bool first_document_ = true;
  size_t document_begin_ = 0;
  // Of the last mark that PositionAtMark was asked for.
  size_t last_offset_ = 0;
  int last_line_ = -1;
  int last_column_ = 1;
};

Error ErrorAt(std::string_view text, size_t offset, const std::string& message) {
  return Error(Code::kInvalid, Where(PositionAt(text, offset)) + message);
}

Result<std::vector<YamlDocument>> ParseStream(std::string_view text) {
  std::vector<YamlDocument> documents;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(text);
    while (parser.HandleNextDocument(builder)) {
      if (auto document = builder.Take()) documents.push_back(*std::move(document));
    }
  } catch (const Refusal& refusal) {
    return ErrorAt(text, refusal.offset, refusal.message);
  } catch (const YAML::Exception& e) {
    const size_t offset = e.mark.is_null() ? text.size() : OffsetOf(e.mark);
    return ErrorAt(text, offset, e.msg);
  } catch (const std::exception& e) {
    return ErrorAt(text, 0, e.what());
  }
  return documents;
}

}  // namespace

TextPosition YamlDocument::PositionOf(std::string_view pointer) const {
  for (;;) {
    const auto it = positions.find(pointer);
    if (it != positions.end()) return it->second;
    const size_t slash = pointer.rfind('/');
    if (slash == pointer.npos) return {};
    pointer = pointer.substr(0, slash);
  }
}

Result<std::vector<YamlDocument>> ParseYaml(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  const size_t valid = Utf8Prefix(text);
  if (valid < text.size()) return ErrorAt(text, valid, "invalid UTF-8");
  const size_t nul = text.find('\0');
  if (nul != text.npos) return ErrorAt(text, nul, "a NUL character is not allowed");

  auto documents = ParseStream(text);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool like_json = first != text.npos && (text[first] == '{' || text[first] == '[');
  if (documents || !like_json) return documents;
  // JSON is YAML, but yaml-cpp knows neither surrogate pairs in escapes nor tabs as indentation.
  auto json = ParseJson(text, limits::kDocumentDepth);
  if (!json) return documents;
  YamlDocument document;
  document.value = *std::move(json);
  document.positions[""] = PositionAt(text, first);
  return std::vector<YamlDocument>{std::move(document)};
}

}  // namespace detent
