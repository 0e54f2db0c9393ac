#include "core/cli/local_fields.h"

#include <algorithm>

#include "core/api/job.h"
#include "core/api/labels.h"
#include "core/api/selectable_fields.h"
#include "core/api/task.h"
#include "core/base/names.h"

namespace detent {
namespace {

constexpr const char* kJobNameField = "spec.jobName";

// What an object that nobody has written a status of is taken to be.
const char* AbsentValue(const std::string& field) {
  if (field == "status.phase") return NameOf(JobPhase::kQueued);
  return field == "status.state" ? NameOf(TaskState::kHeld) : "";
}

std::string PointerOfField(std::string field) {
  std::replace(field.begin(), field.end(), '.', '/');
  return "/" + field;
}

void AddTerm(std::string& selector, const std::string& term) {
  selector += (selector.empty() ? "" : ",") + term;
}

}  // namespace

LocalFields LocalFields::TakeFrom(Selection& selection) {
  LocalFields fields;
  const std::string text = std::move(selection.field_selector);
  selection.field_selector.clear();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string term = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t sign = std::min(term.find("!="), term.find('='));
    const std::string field = term.substr(0, sign);
    if (sign == term.npos || !IsSelectable(selection.kind, field)) {
      AddTerm(selection.field_selector, term);
      continue;
    }
    Term local;
    local.pointer = PointerOfField(field);
    local.absent = AbsentValue(field);
    local.equal = term[sign] == '=';
    local.value = term.substr(std::min(term.find_first_not_of("!=", sign), term.size()));
    if (field == kJobNameField && local.equal) {
      AddTerm(selection.label_selector,
              std::string(labels::kJobName) + "=" + JobLabelValue(local.value));
    }
    fields.terms_.push_back(std::move(local));
  }
  return fields;
}

bool LocalFields::Match(const Json& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    std::string value = TextAt(object, term.pointer);
    if (value.empty()) value = term.absent;
    return (value == term.value) == term.equal;
  });
}

void LocalFields::Filter(Json& list) const {
  if (empty()) return;
  if (Json* items = list.Find("items"); items != nullptr && items->is_array()) {
    std::erase_if(items->as_array(), [&](const Json& item) { return !Match(item); });
  }
  if (Json* rows = list.Find("rows"); rows != nullptr && rows->is_array()) {
    std::erase_if(rows->as_array(), [&](const Json& row) {
      const Json* object = row.Find("object");
      return object == nullptr || !Match(*object);
    });
  }
}

}  // namespace detent
