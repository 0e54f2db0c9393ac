#include "core/api/schema.h"

#include <algorithm>

#include "core/api/schema_fields.h"
#include "core/base/clock.h"
#include "core/base/spelling.h"

namespace detent {
namespace {

using Reason = Diagnostic::Reason;

// How a message shows a value that does not fit: short, and never a whole document.
std::string Shown(const Json& value) {
  constexpr size_t kMost = 60;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (!value.is_string()) return DumpJson(value);
  const std::string& text = value.as_string();
  if (text.size() <= kMost) return "the string '" + text + "'";
  size_t cut = kMost;
  // Not in the middle of a character.
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return "the string '" + text.substr(0, cut) + "...'";
}

std::string Join(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::string Hint(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestWord(word, candidates);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'?";
}

class Checker {
 public:
  explicit Checker(Diagnostics& mistakes) : mistakes_(mistakes) {}

  void Object(const Fields& fields, const Json& object, const std::string& pointer) {
    for (const auto& [name, value] : object.as_object()) {
      if (value.is_null()) continue;
      const std::string inner = pointer + PointerToken(name);
      const Field* field = FindField(fields, name);
      if (field == nullptr) {
        Unknown(fields, name, inner);
      } else if (!field->offered) {
        Add(inner, Reason::kForbidden, "is not offered by this version of Detent; remove it");
      } else {
        Value(*field, value, inner);
      }
    }
    for (const Field& field : fields) {
      if (!field.required) continue;
      const Json* value = object.Find(field.name);
      if (value != nullptr && !value->is_null()) continue;
      Add(pointer + PointerToken(field.name), Reason::kRequired, "is required");
    }
  }

 private:
  void Value(const Field& field, const Json& value, const std::string& pointer) {
    switch (field.type) {
      case FieldType::kAny:
        return;
      case FieldType::kObject:
        if (!value.is_object()) return WrongType(pointer, "an object", value);
        if (!field.fields.empty()) Object(field.fields, value, pointer);
        return;
      case FieldType::kArray:
        if (!value.is_array()) return WrongType(pointer, "a list", value);
        return Elements(field, value, pointer);
      case FieldType::kStringMap:
        if (!value.is_object()) return WrongType(pointer, "an object", value);
        for (const auto& [key, text] : value.as_object()) {
          if (!text.is_string()) WrongType(pointer + PointerToken(key), "a string", text);
        }
        return;
      default:
        return Scalar(field.type, field, value, pointer);
    }
  }

  void Scalar(FieldType type, const Field& field, const Json& value, const std::string& pointer) {
    if (type == FieldType::kInteger) {
      if (!value.is_int()) WrongType(pointer, "an integer", value);
    } else if (type == FieldType::kBoolean) {
      if (!value.is_bool()) WrongType(pointer, "true or false", value);
    } else if (!value.is_string()) {
      WrongType(pointer, "a string", value);
    } else if (type == FieldType::kTime) {
      if (ParseTime(value.as_string())) return;
      Add(pointer, Reason::kInvalid,
          "must be a time in RFC 3339 such as 2026-01-31T08:00:00Z, not '" + value.as_string() +
              "'");
    } else if (!field.values.empty()) {
      Enumerated(field, value.as_string(), pointer);
    }
  }

  void Elements(const Field& field, const Json& list, const std::string& pointer) {
    size_t position = 0;
    for (const Json& element : list.as_array()) {
      const std::string inner = pointer + "/" + std::to_string(position++);
      if (field.element != FieldType::kObject) {
        Scalar(field.element, field, element, inner);
      } else if (!element.is_object()) {
        WrongType(inner, "an object", element);
      } else {
        Object(field.fields, element, inner);
      }
    }
  }

  void Enumerated(const Field& field, const std::string& value, const std::string& pointer) {
    const auto holds = [&](const std::vector<std::string_view>& values) {
      return std::find(values.begin(), values.end(), value) != values.end();
    };
    if (holds(field.values)) return;
    if (holds(field.values_not_offered)) {
      Add(pointer, Reason::kForbidden,
          "'" + value +
              "' is not offered by this version of Detent; use one of: " + Join(field.values));
      return;
    }
    Add(pointer, Reason::kNotSupported,
        "must be one of: " + Join(field.values) + "; not '" + value + "'",
        Hint(value, std::vector<std::string>(field.values.begin(), field.values.end())));
  }

  void Unknown(const Fields& fields, const std::string& name, const std::string& pointer) {
    std::vector<std::string> known;
    for (const Field& field : fields) known.emplace_back(field.name);
    Add(pointer, Reason::kUnknownField, "unknown field", Hint(name, known));
  }

  void WrongType(const std::string& pointer, const char* wanted, const Json& found) {
    Add(pointer, Reason::kTypeInvalid, std::string("must be ") + wanted + ", not " + Shown(found));
  }

  void Add(const std::string& pointer, Reason reason, std::string message, std::string hint = "") {
    mistakes_.push_back({pointer, reason, std::move(message), std::move(hint)});
  }

  Diagnostics& mistakes_;
};

void DropFromValue(const Field& field, Json& value) {
  if (field.fields.empty()) return;
  if (field.type == FieldType::kObject) DropUnknown(field.fields, value);
  if (field.type != FieldType::kArray || !value.is_array()) return;
  for (Json& element : value.as_array()) DropUnknown(field.fields, element);
}

}  // namespace

const std::vector<Field>& FieldsOf(Kind kind) {
  static const Fields job_config = JobConfigFields();
  static const Fields job = JobFields();
  static const Fields task = TaskFields();
  return kind == Kind::kJobConfig ? job_config : kind == Kind::kJob ? job : task;
}

const Field* FindField(const Fields& fields, std::string_view name) {
  const Field* others = nullptr;
  for (const Field& field : fields) {
    if (field.name == name) return &field;
    if (field.name == "*") others = &field;
  }
  return others;
}

void DropUnknown(const Fields& fields, Json& object) {
  if (!object.is_object()) return;
  std::erase_if(object.as_object(), [&](Json::Member& member) {
    const Field* field = FindField(fields, member.first);
    if (field == nullptr || member.second.is_null()) return true;
    DropFromValue(*field, member.second);
    return false;
  });
}

void CheckObject(const Fields& fields, const Json& object, const std::string& pointer,
                 Diagnostics& mistakes) {
  if (object.is_object()) return Checker(mistakes).Object(fields, object, pointer);
  mistakes.push_back(
      {pointer, Reason::kTypeInvalid, "must be an object, not " + Shown(object), ""});
}

void CheckFields(Kind kind, const Json& document, Diagnostics& mistakes) {
  CheckObject(FieldsOf(kind), document, "", mistakes);
}

}  // namespace detent
