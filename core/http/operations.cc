#include "core/http/operations.h"

#include "core/base/json_writer.h"
#include "core/http/list_options.h"
#include "core/http/status_error.h"

namespace detent {
namespace {

// In the form of kube-apiserver's health checks, which tools know how to read.
Response Health(const std::string& name, const Request& request, const Result<void>& state) {
  const bool verbose = request.Parameter("verbose") != nullptr;
  std::string text = "[+]ping ok\n";
  text += state ? "[+]host ok\n" : "[-]host failed: " + state.error().message() + "\n";
  if (!state) return TextResponse(text + name + " check failed\n", 503);
  return TextResponse(verbose ? text + name + " check passed\n" : "ok");
}

Response Plugins(const ApiContext& context) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "PluginList").Key("items").BeginArray();
  for (const PluginInfo& plugin : context.admin->Plugins()) {
    json.BeginObject().Member("kind", plugin.kind).MemberIfSet("id", plugin.id);
    json.MemberIfSet("version", plugin.version).Member("path", plugin.path);
    json.Member("state", plugin.state).MemberIfSet("message", plugin.message);
    json.MemberIfSet("sha256", plugin.sha256).Member("activeTasks", plugin.active_tasks);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return JsonResponse(text + "\n");
}

// What a client must know of the host's configuration to foretell what it does.
Response Settings(const ApiContext& context) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "Settings").Key("cron").BeginObject();
  json.Member("defaultTimezone", context.default_timezone);
  json.Member("hashNames", context.hash_names).EndObject().EndObject();
  return JsonResponse(text + "\n");
}

Response Reload(const ApiContext& context, const std::string& kind) {
  const Result<void> reloaded = context.admin->ReloadPlugin(kind);
  if (!reloaded) {
    ApiStatus status = FromError(reloaded.error(), Kind::kTask, kind);
    // The error is of a plugin, not of an object.
    status.kind.clear();
    status.message = reloaded.error().message();
    return status;
  }
  return JsonResponse(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})"
                      "\n");
}

}  // namespace

void AddHealth(Router& router, const ApiContext& context) {
  for (const std::string name : {"healthz", "livez"}) {
    router.Add("GET", "/" + name, [name](const Request& request, const Router::Captures&) {
      return Health(name, request, {});
    });
  }
  router.Add("GET", "/readyz", [&context](const Request& request, const Router::Captures&) {
    return Health("readyz", request, context.ready ? context.ready() : Result<void>());
  });
  router.Add("GET", "/metrics", [&context](const Request&, const Router::Captures&) {
    Response response = TextResponse(context.metrics->Expose());
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
  });
}

void AddOperations(Router& router, const ApiContext& context) {
  AddHealth(router, context);
  router.Add("GET", "/detent/v1/plugins",
             [&context](const Request&, const Router::Captures&) { return Plugins(context); });
  router.Add("GET", "/detent/v1/settings",
             [&context](const Request&, const Router::Captures&) { return Settings(context); });
  router.Add("POST", "/detent/v1/plugins/{}/reload",
             [&context](const Request&, const Router::Captures& captures) {
               return Reload(context, captures[0]);
             });
}

Response Why(const ApiContext& context, const Target& target) {
  const Result<std::vector<std::string>> lines = context.admin->Explain(target.key());
  if (!lines) return FromError(lines.error(), target.kind, target.name);
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Member("kind", "Explanation").Member("apiVersion", kGroupVersion);
  json.Key("metadata").BeginObject().Member("name", target.name);
  json.Member("namespace", target.ns).EndObject();
  json.Key("lines").BeginArray();
  for (const std::string& line : *lines) json.Value(std::string_view(line));
  json.EndArray().EndObject();
  return JsonResponse(text + "\n");
}

}  // namespace detent
