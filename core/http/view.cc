#include "core/http/view.h"

#include "core/api/codec.h"
#include "core/api/scale.h"
#include "core/base/json_writer.h"

namespace detent {
namespace {

std::string ListMetadataJson(int64_t version, std::string_view continue_token) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("resourceVersion", std::to_string(version));
  json.MemberIfSet("continue", continue_token).EndObject();
  return text;
}

// The metadata of a bookmark's object: a version, and nothing else that means anything.
std::string BookmarkMetadata(int64_t version, bool initial_end) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("resourceVersion", std::to_string(version));
  json.Key("creationTimestamp").Raw("null");
  if (initial_end) {
    json.Key("annotations").BeginObject().Member("k8s.io/initial-events-end", "true").EndObject();
  }
  json.EndObject();
  return text;
}

}  // namespace

Outcome<View> View::Of(Kind kind, const Request& request, WallTime now) {
  const std::optional<Negotiated> negotiated = NegotiateForm(request.Header("accept"));
  if (!negotiated) return NotAcceptable();
  View view;
  view.kind_ = kind;
  view.form_ = negotiated->form;
  view.table_.version = negotiated->version;
  view.table_.now = now;
  const std::string_view include = request.ParameterOr("includeObject");
  if (include == "None") {
    view.table_.object = RowObject::kNone;
  } else if (include == "Object") {
    view.table_.object = RowObject::kObject;
  } else if (!include.empty() && include != "Metadata") {
    return BadRequest("unrecognized includeObject value: \"" + std::string(include) + "\"");
  }
  return view;
}

std::string View::One(const Object& object) const {
  std::string text;
  if (form_ == Form::kTable) {
    OpenTable(text, kind_, ListMetadataJson(object.meta.resource_version, ""), table_);
    AppendRow(text, object, table_);
    CloseTable(text);
  } else {
    Item(text, object);
  }
  text += '\n';
  return text;
}

void View::OpenList(std::string& out, const ListMetadata& metadata) const {
  const std::string json = ListMetadataJson(metadata.version, metadata.continue_token);
  if (form_ == Form::kTable) {
    OpenTable(out, kind_, json, table_);
    return;
  }
  const bool partial = form_ == Form::kMetadata;
  out += "{\"kind\":\"";
  out += partial ? "PartialObjectMetadata" : NameOf(kind_);
  out += "List\",\"apiVersion\":\"";
  out += partial ? "meta.k8s.io/" + table_.version : kGroupVersion;
  out += "\",\"metadata\":" + json + ",\"items\":[";
}

void View::Item(std::string& out, const Object& object) const {
  switch (form_) {
    case Form::kTable:
      AppendRow(out, object, table_);
      break;
    case Form::kMetadata:
      AppendPartialMetadata(out, object, table_.version);
      break;
    case Form::kObject:
      AppendObject(out, object);
      break;
  }
}

void View::CloseList(std::string& out) const {
  out += "]}\n";
}

void View::Event(std::string& out, std::string_view type, const Object& object, WallTime now) {
  table_.now = now;
  out += "{\"type\":\"";
  out += type;
  out += "\",\"object\":";
  if (form_ == Form::kTable) {
    OpenTable(out, kind_, ListMetadataJson(object.meta.resource_version, ""), table_);
    AppendRow(out, object, table_);
    CloseTable(out);
    table_.header = false;
  } else {
    Item(out, object);
  }
  out += "}\n";
}

void View::Bookmark(std::string& out, int64_t version, bool initial_end) {
  const std::string metadata = BookmarkMetadata(version, initial_end);
  out += "{\"type\":\"BOOKMARK\",\"object\":";
  if (form_ == Form::kTable) {
    // A table carries its bookmark in a row without cells, whose object has the annotation.
    OpenTable(out, kind_, ListMetadataJson(version, ""), table_);
    if (table_.object != RowObject::kNone) {
      out +=
          "{\"cells\":[],\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":"
          "\"meta.k8s.io/" +
          table_.version + "\",\"metadata\":" + metadata + "}}";
    }
    CloseTable(out);
    table_.header = false;
  } else {
    const bool partial = form_ == Form::kMetadata;
    out += "{\"kind\":\"";
    out += partial ? "PartialObjectMetadata" : NameOf(kind_);
    out += "\",\"apiVersion\":\"";
    out += partial ? "meta.k8s.io/" + table_.version : kGroupVersion;
    out += "\",\"metadata\":" + metadata + "}";
  }
  out += "}\n";
}

Response ScaleResponse(const Object& config) {
  const Result<Json> scale = ScaleOf(config);
  if (!scale) return Internal(scale.error().message());
  return JsonResponse(DumpJson(*scale) + "\n");
}

std::string ErrorEvent(const ApiStatus& status) {
  return "{\"type\":\"ERROR\",\"object\":" + ToJson(status) + "}\n";
}

}  // namespace detent
