#include "core/http/api.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/http/delete.h"
#include "core/http/discovery.h"
#include "core/http/get_list.h"
#include "core/http/operations.h"
#include "core/http/patch.h"
#include "core/http/router.h"
#include "core/http/status_error.h"
#include "core/http/task_log.h"
#include "core/http/write.h"

namespace detent {
namespace {

constexpr std::string_view kMethods = " GET POST PUT PATCH DELETE ";

using Action = std::function<Response(const ApiContext&, const Request&, const Target&)>;

// What an action is called with: captures are a namespace and a name, as far as the pattern has
// them.
Router::Route RouteOf(const ApiContext& context, Kind kind, Part part, Action action) {
  return [&context, kind, part, action = std::move(action)](const Request& request,
                                                            const Router::Captures& captures) {
    Target target;
    target.kind = kind;
    target.part = part;
    if (!captures.empty()) target.ns = captures[0];
    if (captures.size() > 1) target.name = captures[1];
    return action(context, request, target);
  };
}

// Where the parts of one object are, below its own path.
std::vector<std::pair<Part, std::string>> PartsOf(Kind kind) {
  std::vector<std::pair<Part, std::string>> parts = {{Part::kAll, ""}, {Part::kStatus, "/status"}};
  if (kind == Kind::kJobConfig) parts.emplace_back(Part::kScale, "/scale");
  return parts;
}

void AddResource(Router& router, const ApiContext& context, Kind kind) {
  const std::string version = std::string("/apis/") + kApiGroup + "/" + kApiVersion;
  const std::string all = version + "/" + PluralOf(kind);
  const std::string collection = version + "/namespaces/{}/" + PluralOf(kind);
  const std::string object = collection + "/{}";
  const auto add = [&](std::string_view method, const std::string& pattern, Action action,
                       Part part = Part::kAll) {
    router.Add(method, pattern, RouteOf(context, kind, part, std::move(action)));
  };
  add("GET", all, ListOrWatch);
  add("GET", collection, ListOrWatch);
  add("POST", collection, Create);
  add("DELETE", collection, DeleteCollection);
  add("DELETE", object, Delete);
  for (const auto& [part, path] : PartsOf(kind)) {
    add("GET", object + path, GetObject, part);
    add("PUT", object + path, Replace, part);
    add("PATCH", object + path, Patch, part);
  }
  add("GET", object + "/why",
      [](const ApiContext& c, const Request&, const Target& t) { return Why(c, t); });
  if (kind == Kind::kTask) add("GET", object + "/log", TaskLog);
  if (kind == Kind::kJob) add("GET", object + "/log", JobLog);
}

void AddRoot(Router& router) {
  std::vector<std::string> paths = router.Patterns();
  std::erase_if(paths, [](const std::string& path) { return path.find("{}") != path.npos; });
  Json list;
  for (const std::string& path : paths) list.Append(path);
  Json document;
  document.Set("paths", std::move(list));
  router.Add("GET", "/", [text = DumpJson(document)](const Request&, const Router::Captures&) {
    return JsonResponse(text + "\n");
  });
}

}  // namespace

Handler MakeStandbyApi(const ApiContext& context, std::function<std::string()> why) {
  auto router = std::make_shared<Router>();
  AddHealth(*router, context);
  const std::vector<std::string> paths = router->Patterns();
  return [router, paths, why = std::move(why)](const Request& request) -> Response {
    if (std::find(paths.begin(), paths.end(), request.path) != paths.end()) {
      return router->Dispatch(request);
    }
    ApiStatus status;
    status.code = 503;
    status.reason = "ServiceUnavailable";
    status.message = why();
    status.retry_after_seconds = 1;
    return status;
  };
}

Handler MakeApi(const ApiContext& context) {
  auto router = std::make_shared<Router>();
  AddOperations(*router, context);
  AddDiscovery(*router, context);
  for (const Kind kind : kKinds) AddResource(*router, context, kind);
  AddRoot(*router);
  return [router = std::shared_ptr<const Router>(router), &context](const Request& request) {
    const MonoTime begin = context.clock->Mono();
    Response response = router->Dispatch(request);
    const auto taken =
        std::chrono::duration_cast<std::chrono::microseconds>(context.clock->Mono() - begin);
    // A method outside of the few would make a series of its own for whatever clients invent.
    const bool known = kMethods.find(" " + request.method + " ") != kMethods.npos;
    context.metrics
        ->AddCounter("detent_http_requests_total", "Requests answered, streams at their begin.",
                     "method=\"" + (known ? request.method : "other") + "\",code=\"" +
                         std::to_string(response.status) + "\"")
        .Add();
    context.metrics
        ->AddHistogram("detent_http_request_seconds", "Time to make a response, without sending.")
        .ObserveMicros(taken.count());
    return response;
  };
}

}  // namespace detent
