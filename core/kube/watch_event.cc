#include "core/kube/watch_event.h"

#include <optional>
#include <utility>

#include "core/api/labels.h"
#include "core/base/json_writer.h"
#include "core/kube/proto_json.h"

namespace detent {
namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
constexpr std::string_view kBlank = " \t\n\r";

std::string TextOf(JsonScan::Value& value) {
  return std::string(value.Text().value_or(""));
}

// `text` without a member of it, which is a part of the same text, and without one comma: the one
// behind the member or, of the last one, the one in front.
std::string Without(std::string_view text, std::string_view member) {
  if (member.empty()) return std::string(text);
  auto from = static_cast<size_t>(member.data() - text.data());
  size_t to = from + member.size();
  const size_t behind = text.find_first_not_of(kBlank, to);
  const size_t before = text.find_last_not_of(kBlank, from - 1);
  if (text[behind] == ',') {
    to = behind + 1;
  } else if (text[before] == ',') {
    from = before;
  }
  std::string kept;
  kept.reserve(text.size() - (to - from));
  return kept.append(text.substr(0, from)).append(text.substr(to));
}

// What one pass over an object, or over what stands in its place in an event, finds.
struct Found {
  std::string ns, name, uid, resource_version, task_key, json;  // Of the object.
  bool has_metadata = false;
  bool has_type = false;  // apiVersion
  bool initial_events_end = false;
  int status = 0;
  std::string reason, message;
};

void ReadMetadata(JsonScan::Value& metadata, Found& found, std::string_view& managed_fields) {
  const auto in_labels = [&](std::string_view name, JsonScan::Value& value) {
    if (name != labels::kTaskKey) return true;
    found.task_key = TextOf(value);
    return false;
  };
  const auto in_annotations = [&](std::string_view name, JsonScan::Value& value) {
    if (name != kInitialEventsEnd) return true;
    found.initial_events_end = value.Text() == "true";
    return false;
  };
  metadata.Members([&](std::string_view name, JsonScan::Value& value) {
    if (name == "name") {
      found.name = TextOf(value);
    } else if (name == "namespace") {
      found.ns = TextOf(value);
    } else if (name == "uid") {
      found.uid = TextOf(value);
    } else if (name == "resourceVersion") {
      found.resource_version = TextOf(value);
    } else if (name == "labels") {
      value.Members(in_labels);
    } else if (name == "annotations") {
      value.Members(in_annotations);
    } else if (name == "managedFields") {
      managed_fields = value.RawMember();
    }
    return true;
  });
}

// What of a Status says why: read of every object, since the type of an event may stand behind it.
void ReadStatusWord(std::string_view name, JsonScan::Value& member, Found& found) {
  if (name == "code") found.status = static_cast<int>(member.Int().value_or(0));
  if (name == "reason") found.reason = TextOf(member);
  if (name == "message") found.message = TextOf(member);
}

// With as much of its text as the shape keeps.
void ReadObject(JsonScan::Value& value, const WatchShape& shape, Found& found) {
  const bool all = shape.keeps_all();
  const std::string_view raw = all ? value.Raw() : std::string_view();
  std::string_view managed_fields;
  std::string kept = "{";
  const auto keep = [&](std::string_view member) {
    if (!all) kept.append(member).push_back(',');
  };
  value.Members([&](std::string_view name, JsonScan::Value& member) {
    if (name == "metadata") {
      const std::string_view whole = member.RawMember();
      found.has_metadata = member.IsObject();
      ReadMetadata(member, found, managed_fields);
      if (!all) keep(Without(whole, managed_fields));
    } else if (name == "apiVersion" || name == "kind") {
      found.has_type = found.has_type || name == "apiVersion";
      keep(member.RawMember());
    } else if (name == "code" || name == "reason" || name == "message") {
      if (shape.Keeps(name)) keep(member.RawMember());
      ReadStatusWord(name, member, found);
    } else if (!all) {
      shape.AppendMember(name, member, kept);
    }
    return true;
  });
  if (all) {
    found.json = Without(raw, managed_fields);
    return;
  }
  if (kept.size() > 1) kept.pop_back();
  kept.push_back('}');
  found.json = std::move(kept);
}

WatchedObjectPtr Kept(const Found& found) {
  return std::make_shared<const WatchedObject>(WatchedObject::Parts{
      found.ns, found.name, found.uid, found.resource_version, found.task_key, found.json});
}

std::optional<WatchEvent::Type> EventTypeOf(std::string_view name) {
  if (name == "ADDED" || name == "MODIFIED") return WatchEvent::Type::kUpsert;
  if (name == "DELETED") return WatchEvent::Type::kDelete;
  if (name == "BOOKMARK") return WatchEvent::Type::kBookmark;
  if (name == "ERROR") return WatchEvent::Type::kError;
  return std::nullopt;
}

Error NoEvent(const std::string& why) {
  return Error(Code::kInvalid, "not an event of a watch: " + why);
}

}  // namespace

Result<WatchEvent> WatchEventReader::ReadEvent(std::string_view line) {
  std::string type_name;
  Found found;
  auto read = scan_.Read(line, [&](std::string_view name, JsonScan::Value& value) {
    if (name == "type") type_name = TextOf(value);
    if (name == "object") ReadObject(value, shape_, found);
    return true;
  });
  if (!read) return NoEvent(read.error().message());
  const auto type = EventTypeOf(type_name);
  if (!type) return NoEvent("its type is '" + type_name + "'");
  WatchEvent event;
  event.type = *type;
  if (event.type == WatchEvent::Type::kError) {
    event.status = found.status;
    event.reason = std::move(found.reason);
    event.message = std::move(found.message);
    return event;
  }
  if (found.resource_version.empty()) {
    return NoEvent("its object has no metadata.resourceVersion");
  }
  event.resource_version = found.resource_version;
  event.initial_events_end = found.initial_events_end;
  if (event.type == WatchEvent::Type::kBookmark) return event;
  if (found.name.empty()) return NoEvent("its object has no metadata.name");
  event.object = Kept(found);
  return event;
}

Result<WatchEvent> WatchEventReader::ReadProtoEvent(std::string_view frame) {
  line_.clear();
  auto appended = AppendProtoEvent(frame, line_);
  if (!appended) return NoEvent(appended.error().message());
  return ReadEvent(line_);
}

Result<ListPage> ReadListPage(std::string_view body, const WatchShape& shape) {
  ListPage page;
  bool has_items = false;
  std::string api_version, kind;
  std::vector<Found> items;
  JsonScan scan;
  const auto in_metadata = [&](std::string_view name, JsonScan::Value& value) {
    if (name == "resourceVersion") page.resource_version = TextOf(value);
    if (name == "continue") page.continue_token = TextOf(value);
    return true;
  };
  const auto in_items = [&](JsonScan::Value& value) {
    ReadObject(value, shape, items.emplace_back());
    return true;
  };
  auto read = scan.Read(body, [&](std::string_view name, JsonScan::Value& value) {
    if (name == "apiVersion") api_version = TextOf(value);
    if (name == "kind") kind = TextOf(value);
    if (name == "metadata") value.Members(in_metadata);
    if (name == "items") {
      has_items = value.IsArray() || value.IsNull();
      value.Items(in_items);
    }
    return true;
  });
  if (!read) return std::move(read).error().While("read a list");
  if (!has_items) return Error(Code::kInvalid, "not a list: it has no items");
  if (page.resource_version.empty()) {
    return Error(Code::kInvalid, "not a list: it has no metadata.resourceVersion");
  }
  if (kind.ends_with("List")) kind.resize(kind.size() - 4);
  std::string type = "{\"kind\":";
  AppendJsonString(type, kind);
  type += ",\"apiVersion\":";
  AppendJsonString(type, api_version);
  type += ',';
  page.objects.reserve(items.size());
  for (Found& item : items) {
    if (item.name.empty()) {
      return Error(Code::kInvalid, "not a list: an item has no metadata.name");
    }
    // The items of Kubernetes' own kinds leave it to the list to say what they are.
    if (!item.has_type) item.json.replace(0, 1, type);
    page.objects.push_back(Kept(item));
  }
  return page;
}

}  // namespace detent
