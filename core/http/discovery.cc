#include "core/http/discovery.h"

#include <string>
#include <string_view>
#include <vector>

#include "core/api/scale.h"
#include "core/api/schema.h"
#include "core/base/json_writer.h"
#include "core/base/names.h"
#include "core/http/media_type.h"

namespace detent {
namespace {

constexpr const char* kGroupPath = "apis/execution.detent.dev/v1alpha1";
constexpr const char* kKubernetesMinor = "37";

using Words = std::vector<std::string_view>;

Words ObjectVerbs() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

struct Subresource {
  std::string_view name;
  std::string_view kind;  // Of the answer; empty: the object's own.
  Words verbs;
  std::string_view group = kApiGroup;  // Of that kind.
  std::string_view version = kApiVersion;
};

std::vector<Subresource> SubresourcesOf(Kind kind) {
  std::vector<Subresource> all = {{"status", "", {"get", "patch", "update"}},
                                  {"why", "Explanation", {"get"}}};
  if (kind == Kind::kJobConfig) {
    all.push_back({"scale", kScaleKind, {"get", "patch", "update"}, kScaleGroup, kScaleVersion});
  } else {
    all.push_back({"log", "", {"get"}});
  }
  return all;
}

void WriteStrings(JsonWriter& json, std::string_view name, const Words& values) {
  json.Key(name).BeginArray();
  for (const std::string_view value : values) json.Value(value);
  json.EndArray();
}

void WriteGroup(JsonWriter& json, bool with_kind) {
  json.BeginObject();
  if (with_kind) json.Member("kind", "APIGroup").Member("apiVersion", "v1");
  json.Member("name", kApiGroup).Key("versions").BeginArray().BeginObject();
  json.Member("groupVersion", kGroupVersion).Member("version", kApiVersion).EndObject().EndArray();
  json.Key("preferredVersion").BeginObject();
  json.Member("groupVersion", kGroupVersion).Member("version", kApiVersion).EndObject();
  json.EndObject();
}

std::string GroupList() {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "APIGroupList").Member("apiVersion", "v1");
  json.Key("groups").BeginArray();
  WriteGroup(json, false);
  json.EndArray().EndObject();
  return text;
}

std::string Group() {
  std::string text;
  JsonWriter json(text);
  WriteGroup(json, true);
  return text;
}

void WriteResource(JsonWriter& json, Kind kind) {
  json.BeginObject().Member("name", PluralOf(kind)).Member("singularName", SingularOf(kind));
  json.Member("namespaced", true).Member("kind", NameOf(kind));
  WriteStrings(json, "verbs", ObjectVerbs());
  WriteStrings(json, "shortNames", {ShortNameOf(kind)});
  WriteStrings(json, "categories", {"all"});
  json.EndObject();
  for (const Subresource& sub : SubresourcesOf(kind)) {
    json.BeginObject().Member("name", std::string(PluralOf(kind)) + "/" + std::string(sub.name));
    json.Member("singularName", "").Member("namespaced", true);
    // Left out, they are the list's own.
    if (sub.group != kApiGroup) json.Member("group", sub.group).Member("version", sub.version);
    json.Member("kind", sub.kind.empty() ? std::string_view(NameOf(kind)) : sub.kind);
    WriteStrings(json, "verbs", sub.verbs);
    json.EndObject();
  }
}

std::string ResourceList() {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "APIResourceList").Member("apiVersion", "v1");
  json.Member("groupVersion", kGroupVersion).Key("resources").BeginArray();
  for (const Kind kind : kKinds) WriteResource(json, kind);
  json.EndArray().EndObject();
  return text;
}

void WriteResponseKind(JsonWriter& json, const Subresource& answer, Kind kind) {
  json.Key("responseKind").BeginObject().Member("group", answer.group);
  json.Member("version", answer.version);
  json.Member("kind", answer.kind.empty() ? std::string_view(NameOf(kind)) : answer.kind);
  json.EndObject();
}

void WriteAggregatedResource(JsonWriter& json, Kind kind) {
  json.BeginObject().Member("resource", PluralOf(kind));
  WriteResponseKind(json, {}, kind);
  json.Member("scope", "Namespaced").Member("singularResource", SingularOf(kind));
  WriteStrings(json, "verbs", ObjectVerbs());
  WriteStrings(json, "shortNames", {ShortNameOf(kind)});
  WriteStrings(json, "categories", {"all"});
  json.Key("subresources").BeginArray();
  for (const Subresource& sub : SubresourcesOf(kind)) {
    json.BeginObject().Member("subresource", sub.name);
    WriteResponseKind(json, sub, kind);
    WriteStrings(json, "verbs", sub.verbs);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

// `core` is of /api: the legacy group, which has a version and nothing in it.
std::string AggregatedList(const std::string& version, bool core) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "APIGroupDiscoveryList");
  json.Member("apiVersion", "apidiscovery.k8s.io/" + version);
  json.Key("metadata").BeginObject().EndObject();
  json.Key("items").BeginArray().BeginObject().Key("metadata").BeginObject();
  if (!core) json.Member("name", kApiGroup);
  json.Key("creationTimestamp").Raw("null").EndObject();
  json.Key("versions").BeginArray().BeginObject();
  json.Member("version", core ? "v1" : kApiVersion).Key("resources").BeginArray();
  if (!core) {
    for (const Kind kind : kKinds) WriteAggregatedResource(json, kind);
  }
  json.EndArray().Member("freshness", "Current").EndObject().EndArray();
  json.EndObject().EndArray().EndObject();
  return text;
}

Response DiscoveryRoot(const Request& request, bool core) {
  if (const auto version = WantsAggregatedDiscovery(request.Header("accept"))) {
    Response response = JsonResponse(AggregatedList(*version, core));
    response.content_type =
        "application/json;g=apidiscovery.k8s.io;v=" + *version + ";as=APIGroupDiscoveryList";
    response.headers.emplace_back("Vary", "Accept");
    return response;
  }
  if (!core) return JsonResponse(GroupList());
  return JsonResponse(R"({"kind":"APIVersions","apiVersion":"v1","versions":["v1"],)"
                      R"("serverAddressByClientCIDRs":[]})");
}

std::string OpenApiDocument(const ApiContext& context) {
  return DumpJson(OpenApiV3(context.admin->ExecutorSchemas()));
}

// Clients keep a document for as long as its address stays the same, so its hash is part of it.
std::string OpenApiIndex(const ApiContext& context) {
  std::string hash = DerivedUid(OpenApiDocument(context));
  std::erase(hash, '-');
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("paths").BeginObject().Key(kGroupPath).BeginObject();
  json.Member("serverRelativeURL", std::string("/openapi/v3/") + kGroupPath + "?hash=" + hash);
  json.EndObject().EndObject().EndObject();
  return text;
}

// For clients that do not know OpenAPI 3: a valid document that describes nothing.
std::string OpenApiV2(const ApiContext& context) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("swagger", "2.0").Key("info").BeginObject();
  json.Member("title", "Detent").Member("version", context.version).EndObject();
  json.Key("paths").BeginObject().EndObject();
  json.Key("definitions").BeginObject().EndObject().EndObject();
  return text;
}

std::string Version(const ApiContext& context) {
  const std::string minor = kKubernetesMinor;
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("major", "1").Member("minor", minor);
  json.Member("gitVersion", "v1." + minor + ".0-detent." + context.version);
  for (const char* name : {"gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler"}) {
    json.Member(name, "");
  }
  json.Member("platform", "linux").EndObject();
  return text;
}

}  // namespace

void AddDiscovery(Router& router, const ApiContext& context) {
  const std::string group = std::string("/apis/") + kApiGroup;
  const auto add = [&](const std::string& path, std::function<std::string()> make) {
    router.Add("GET", path, [make = std::move(make)](const Request&, const Router::Captures&) {
      return JsonResponse(make());
    });
  };
  for (const bool core : {true, false}) {
    router.Add("GET", core ? "/api" : "/apis",
               [core](const Request& request, const Router::Captures&) {
                 return DiscoveryRoot(request, core);
               });
  }
  add("/api/v1", [] {
    return R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[]})";
  });
  add(group, Group);
  add(group + "/" + kApiVersion, ResourceList);
  add("/openapi/v3", [&context] { return OpenApiIndex(context); });
  add(std::string("/openapi/v3/") + kGroupPath, [&context] { return OpenApiDocument(context); });
  add("/openapi/v2", [&context] { return OpenApiV2(context); });
  add("/version", [&context] { return Version(context); });
}

}  // namespace detent
