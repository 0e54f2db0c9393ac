#include "core/http/get_list.h"

#include <algorithm>
#include <memory>

#include "core/base/limits.h"
#include "core/http/view.h"
#include "core/http/watch.h"

namespace detent {
namespace {

// Lists larger than this are written while they are encoded, so that the text of a large list is
// never in memory at once.
constexpr size_t kObjectsInOneBody = 1000;
constexpr size_t kPieceBytes = 64 * 1024;

bool WriteList(BodySink& sink, const View& view, const View::ListMetadata& metadata,
               const std::vector<ObjectPtr>& objects) {
  std::string piece;
  view.OpenList(piece, metadata);
  bool first = true;
  for (const ObjectPtr& object : objects) {
    if (!first) piece += ',';
    first = false;
    view.Item(piece, *object);
    if (piece.size() < kPieceBytes) continue;
    if (!sink.Write(piece)) return false;
    piece.clear();
  }
  view.CloseList(piece);
  return sink.Write(piece);
}

class StringSink final : public BodySink {
 public:
  bool Write(std::string_view piece) override {
    text.append(piece);
    return true;
  }
  bool Alive() override { return true; }
  std::string text;
};

Response ListResponse(const View& view, View::ListMetadata metadata,
                      std::vector<ObjectPtr> objects) {
  if (objects.size() <= kObjectsInOneBody) {
    StringSink sink;
    WriteList(sink, view, metadata, objects);
    return JsonResponse(std::move(sink.text));
  }
  Response response;
  response.stream = [view, metadata = std::move(metadata), objects = std::move(objects)](
                        BodySink& sink) { return WriteList(sink, view, metadata, objects); };
  return response;
}

Response List(const ApiContext& context, const Request& request, const Target& target,
              const ListOptions& options) {
  const View view = TRY(View::Of(target.kind, request, context.clock->Now()));
  ListQuery query;
  query.kind = target.kind;
  query.ns = target.ns;
  query.limit = std::min(options.limit, limits::kListPageMax);
  if (!options.selectors.empty()) {
    query.keep = [&](const Object& object) { return options.selectors.Matches(object); };
  }
  if (options.from) query.after.emplace(options.from->ns, options.from->name);
  Result<Page> page = context.store->List(query);
  if (!page) return FromError(page.error(), target.kind, "");
  TRY(CheckVersion(options, page->version));
  View::ListMetadata metadata;
  metadata.version = options.from ? options.from->version : page->version;
  if (page->more && !page->objects.empty()) {
    const ObjectMeta& last = page->objects.back()->meta;
    metadata.continue_token = ContinueToken{metadata.version, last.ns, last.name}.Encode();
  }
  return ListResponse(view, std::move(metadata), std::move(page->objects));
}

}  // namespace

Outcome<bool> CheckVersion(const ListOptions& options, int64_t current) {
  if (!options.version || *options.version == 0) return true;
  if (*options.version > current) return VersionTooLarge(*options.version, current);
  // Without a match, a limited list asks for exactly its version (the pages of a snapshot); we have
  // one snapshot, the newest, and give that where a newer one is allowed.
  if (options.match == VersionMatch::kExact && *options.version != current) {
    return Expired("The resourceVersion for the provided list is too old.");
  }
  return true;
}

Response GetObject(const ApiContext& context, const Request& request, const Target& target) {
  const bool scale = target.part == Part::kScale;
  // Of a Scale there is no list, and so nothing that could be watched.
  if (!scale && IsTrue(request, "watch")) return ListOrWatch(context, request, target);
  const View view = TRY(View::Of(target.kind, request, context.clock->Now()));
  const ListOptions options = TRY(ReadListOptions(target.kind, request));
  TRY(CheckVersion(options, context.store->changes(target.kind).version()));
  const Result<ObjectPtr> object = context.store->Read(target.key());
  if (!object) return FromError(object.error(), target.kind, target.name);
  return scale ? ScaleResponse(**object) : JsonResponse(view.One(**object));
}

Response ListOrWatch(const ApiContext& context, const Request& request, const Target& target) {
  const ListOptions options = TRY(ReadListOptions(target.kind, request));
  if (options.watch) return Watch(context, request, target, options);
  return List(context, request, target, options);
}

}  // namespace detent
