#include "core/base/json_scan.h"

#include <simdjson.h>

#include <cstring>
#include <vector>

#include "core/base/text_position.h"

namespace detent {

namespace {
namespace ondemand = simdjson::ondemand;
}  // namespace

struct JsonScan::Core {
  ondemand::parser parser;
  std::vector<char> padded;  // The text, with room behind it that simdjson may read.
  std::string_view text;     // The caller's.
  ondemand::document document;
  simdjson::error_code failure = simdjson::SUCCESS;
  const char* failed_at = nullptr;

  // The same place in the caller's text.
  std::string_view InText(std::string_view in_padded) const {
    const std::string_view found =
        text.substr(static_cast<size_t>(in_padded.data() - padded.data()), in_padded.size());
    return found.substr(0, found.find_last_not_of(" \t\n\r") + 1);
  }

  // After a failure the parser must not be touched any more.
  bool broken() const { return failure != simdjson::SUCCESS; }

  // True if `error` is one; the first is kept.
  bool Failed(simdjson::error_code error) {
    if (error == simdjson::SUCCESS) return false;
    if (broken()) return true;
    failure = error;
    if (document.current_location().get(failed_at) != simdjson::SUCCESS) {
      failed_at = padded.data() + text.size();
    }
    return true;
  }
};

struct JsonScan::Value::State {
  Core& core;
  ondemand::value& value;
  const char* key = nullptr;  // Of a member: its name's opening quote, in the padded text.
  ondemand::json_type type = ondemand::json_type::null;
  // Set by Raw, which has begun the value already.
  std::optional<ondemand::object> object;
  std::optional<ondemand::array> array;
  std::string_view raw;  // What Raw has found, in the padded text.
};

bool JsonScan::Value::IsObject() const {
  return state_.type == ondemand::json_type::object;
}

bool JsonScan::Value::IsArray() const {
  return state_.type == ondemand::json_type::array;
}

bool JsonScan::Value::IsNull() const {
  return state_.type == ondemand::json_type::null;
}

std::string_view JsonScan::Value::Raw() {
  Core& core = state_.core;
  if (core.broken()) return {};
  if (!state_.raw.empty()) return core.InText(state_.raw);
  std::string_view raw;
  if (IsObject()) {
    ondemand::object object;
    if (core.Failed(state_.value.get_object().get(object))) return {};
    if (core.Failed(object.raw_json().get(raw))) return {};
    if (core.Failed(object.reset().error())) return {};
    state_.object = object;
  } else if (IsArray()) {
    ondemand::array array;
    if (core.Failed(state_.value.get_array().get(array))) return {};
    if (core.Failed(array.raw_json().get(raw))) return {};
    if (core.Failed(array.reset().error())) return {};
    state_.array = array;
  } else {
    raw = state_.value.raw_json_token();
  }
  state_.raw = raw;
  return core.InText(raw);
}

std::string_view JsonScan::Value::RawMember() {
  if (state_.key == nullptr) return {};
  Raw();
  if (state_.core.broken()) return {};
  const char* const end = state_.raw.data() + state_.raw.size();
  return state_.core.InText({state_.key, static_cast<size_t>(end - state_.key)});
}

std::optional<std::string_view> JsonScan::Value::Text() {
  if (state_.core.broken() || state_.type != ondemand::json_type::string) return std::nullopt;
  std::string_view text;
  if (state_.core.Failed(state_.value.get_string().get(text))) return std::nullopt;
  return text;
}

std::optional<int64_t> JsonScan::Value::Int() {
  if (state_.core.broken() || state_.type != ondemand::json_type::number) return std::nullopt;
  int64_t number = 0;
  if (state_.value.get_int64().get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

bool JsonScan::Value::IsTrue() {
  if (state_.core.broken() || state_.type != ondemand::json_type::boolean) return false;
  bool truth = false;
  return !state_.core.Failed(state_.value.get_bool().get(truth)) && truth;
}

bool JsonScan::Value::EachMember(MemberCall call, void* visit) {
  if (state_.core.broken() || !IsObject()) return false;
  Core& core = state_.core;
  if (!state_.object) {
    ondemand::object object;
    if (core.Failed(state_.value.get_object().get(object))) return false;
    state_.object = object;
  }
  for (auto member : *state_.object) {
    ondemand::field field;
    if (core.Failed(std::move(member).get(field))) return false;
    State state{core, field.value(), field.key().raw() - 1, {}, {}, {}, {}};
    std::string_view name;
    if (core.Failed(field.unescaped_key().get(name))) return false;
    if (core.Failed(field.value().type().get(state.type))) return false;
    Value value(state);
    if (!call(visit, name, value) || core.broken()) return false;
  }
  return true;
}

void JsonScan::Value::EachItem(ItemCall call, void* visit) {
  if (state_.core.broken() || !IsArray()) return;
  Core& core = state_.core;
  if (!state_.array) {
    ondemand::array array;
    if (core.Failed(state_.value.get_array().get(array))) return;
    state_.array = array;
  }
  for (auto item : *state_.array) {
    ondemand::value element;
    if (core.Failed(item.get(element))) return;
    State state{core, element, nullptr, {}, {}, {}, {}};
    if (core.Failed(element.type().get(state.type))) return;
    Value value(state);
    if (!call(visit, value) || core.broken()) return;
  }
}

JsonScan::JsonScan() : core_(std::make_unique<Core>()) {}
JsonScan::~JsonScan() = default;

Result<void> JsonScan::Run(std::string_view text, Value::MemberCall call, void* visit) {
  Core& core = *core_;
  core.padded.resize(text.size() + simdjson::SIMDJSON_PADDING);
  std::memcpy(core.padded.data(), text.data(), text.size());
  std::memset(core.padded.data() + text.size(), ' ', simdjson::SIMDJSON_PADDING);
  core.text = text;
  core.failure = simdjson::SUCCESS;
  const auto fail = [&](const char* place, std::string what) -> Error {
    const auto at = static_cast<size_t>(place - core.padded.data());
    return Error(Code::kInvalid, Where(PositionAt(text, std::min(at, text.size()))) + what);
  };
  const auto error =
      core.parser.iterate(core.padded.data(), text.size(), core.padded.size()).get(core.document);
  if (error != simdjson::SUCCESS) return fail(core.padded.data(), simdjson::error_message(error));
  ondemand::value root;
  if (core.document.get_value().get(root) != simdjson::SUCCESS) {
    return fail(core.padded.data(), "no JSON object");
  }
  Value::State state{core, root, nullptr, {}, {}, {}, {}};
  if (root.type().get(state.type) != simdjson::SUCCESS ||
      state.type != ondemand::json_type::object) {
    return fail(core.padded.data(), "no JSON object");
  }
  const bool to_its_end = Value(state).EachMember(call, visit);
  if (!core.broken()) {
    const char* rest = nullptr;
    const bool has_rest =
        to_its_end && core.document.current_location().get(rest) == simdjson::SUCCESS;
    if (!has_rest) return {};
    return fail(rest, "unexpected text after the end of the object");
  }
  return fail(core.failed_at, simdjson::error_message(core.failure));
}

}  // namespace detent
