#include "core/http/watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/limits.h"
#include "core/http/view.h"

namespace detent {
namespace {

constexpr auto kBookmarkEvery = std::chrono::minutes(1);
// How long a wait for changes lasts before the client's and the server's state are looked at.
constexpr auto kWait = std::chrono::milliseconds(200);
constexpr auto kLongest = std::chrono::minutes(30);
constexpr size_t kChangesAtOnce = 256;
constexpr size_t kPageObjects = 1000;
constexpr size_t kPieceBytes = 64 * 1024;

// A watch that begins with the current state reads it in pages, each of its own version. Changes
// up to a page's version are already in what it showed, and would take the client back in time.
struct Shown {
  std::pair<std::string, std::string> last;  // Namespace and name of the page's last object.
  int64_t version = 0;
};

class WatchStream {
 public:
  WatchStream(const ApiContext& context, Target target, ListOptions options, View view)
      : context_(context),
        target_(std::move(target)),
        options_(std::move(options)),
        view_(std::move(view)) {}

  bool Run(BodySink& sink) {
    const MonoTime begin = context_.clock->Mono();
    deadline_ = begin + options_.timeout.value_or(kLongest);
    next_bookmark_ = begin + kBookmarkEvery;
    // Even an empty piece sends the response's head, which clients wait for.
    if (!sink.Write("")) return false;
    const int64_t asked = options_.version.value_or(0);
    const int64_t current = context_.store->changes(target_.kind).version();
    if (asked > current) {
      sink.Write(ErrorEvent(VersionTooLarge(asked, current)));
      return true;
    }
    cursor_ = asked;
    if ((asked == 0 || options_.initial_events) && !ShowState(sink)) return true;
    while (Step(sink)) {
    }
    return true;
  }

 private:
  // The current state as ADDED events. False: the stream is over.
  bool ShowState(BodySink& sink) {
    ListQuery query;
    query.kind = target_.kind;
    query.ns = target_.ns;
    query.limit = kPageObjects;
    query.keep = [this](const Object& object) { return Concerns(object); };
    for (bool more = true; more;) {
      Result<Page> page = context_.store->List(query);
      if (!page) {
        sink.Write(ErrorEvent(FromError(page.error(), target_.kind, "")));
        return false;
      }
      if (!query.after) cursor_ = page->version;
      std::string piece;
      for (const ObjectPtr& object : page->objects) {
        view_.Event(piece, "ADDED", *object, context_.clock->Now());
        if (piece.size() < kPieceBytes) continue;
        if (!sink.Write(piece)) return false;
        piece.clear();
      }
      if (!piece.empty() && !sink.Write(piece)) return false;
      newest_shown_ = page->version;
      more = page->more && !page->objects.empty();
      if (page->objects.empty()) break;
      const ObjectMeta& last = page->objects.back()->meta;
      query.after.emplace(last.ns, last.name);
      shown_.push_back({*query.after, page->version});
    }
    std::string bookmark;
    if (options_.initial_events && options_.bookmarks) {
      // The first page's version: from there on a later watch would miss nothing.
      view_.Bookmark(bookmark, cursor_, true);
    }
    return bookmark.empty() || sink.Write(bookmark);
  }

  // One wait and what came of it. False: the stream is over.
  bool Step(BodySink& sink) {
    const MonoTime now = context_.clock->Mono();
    if (!sink.Alive()) return false;
    if (now >= deadline_) {
      if (options_.bookmarks) SendBookmark(sink);
      return false;
    }
    if (options_.bookmarks && now >= next_bookmark_) {
      next_bookmark_ = now + kBookmarkEvery;
      if (!SendBookmark(sink)) return false;
    }
    const auto wait = std::min<std::chrono::nanoseconds>(kWait, deadline_ - now);
    switch (context_.store->changes(target_.kind).Read(cursor_, kChangesAtOnce, wait, changes_)) {
      case ChangeLog::ReadResult::kTimeout:
        return true;
      case ChangeLog::ReadResult::kClosed:
        return false;
      case ChangeLog::ReadResult::kExpired:
        sink.Write(ErrorEvent(
            Expired("too old resource version: " + std::to_string(cursor_) + " (" +
                    std::to_string(context_.store->changes(target_.kind).version()) + ")")));
        return false;
      case ChangeLog::ReadResult::kChanges:
        break;
    }
    return SendChanges(sink);
  }

  bool SendChanges(BodySink& sink) {
    std::string piece;
    for (const Change& change : changes_) {
      cursor_ = change.version;
      const Object& object = *change.object;
      if (object.kind != target_.kind || !IsAddressed(object) || IsShown(change)) continue;
      const auto type = EventFor(change, options_.selectors);
      if (!type) continue;
      view_.Event(piece, *type, object, context_.clock->Now());
      if (piece.size() < kPieceBytes) continue;
      if (!sink.Write(piece)) return false;
      piece.clear();
    }
    // Objects must not live on because a quiet watch still holds them.
    changes_.clear();
    if (cursor_ >= newest_shown_) shown_.clear();
    return piece.empty() || sink.Write(piece);
  }

  bool SendBookmark(BodySink& sink) {
    std::string piece;
    view_.Bookmark(piece, cursor_, false);
    return sink.Write(piece);
  }

  bool IsAddressed(const Object& object) const {
    return (target_.ns.empty() || object.meta.ns == target_.ns) &&
           (target_.name.empty() || object.meta.name == target_.name);
  }

  bool Concerns(const Object& object) const {
    return IsAddressed(object) && options_.selectors.Matches(object);
  }

  bool IsShown(const Change& change) const {
    const std::pair<std::string, std::string> key(change.object->meta.ns, change.object->meta.name);
    for (const Shown& page : shown_) {
      if (key <= page.last) return change.version <= page.version;
    }
    // Behind the last object: the last page's range has no end.
    return !shown_.empty() && change.version <= newest_shown_;
  }

  const ApiContext& context_;
  const Target target_;
  const ListOptions options_;
  View view_;
  int64_t cursor_ = 0;
  MonoTime deadline_;
  MonoTime next_bookmark_;
  std::vector<Shown> shown_;
  int64_t newest_shown_ = 0;
  std::vector<Change> changes_;
};

}  // namespace

std::optional<std::string_view> EventFor(const Change& change, const Selectors& selectors) {
  const bool matches = selectors.Matches(*change.object);
  if (change.type == ChangeType::kAdded) {
    return matches ? std::optional<std::string_view>("ADDED") : std::nullopt;
  }
  const bool known = change.previous != nullptr;
  // Labels do not change without `previous` (store.h); fields of a status may.
  const bool matched =
      known ? selectors.Matches(*change.previous) : matches || selectors.fields.SelectsMutable();
  if (change.type == ChangeType::kDeleted) {
    return matches || matched ? std::optional<std::string_view>("DELETED") : std::nullopt;
  }
  if (matches) return matched ? "MODIFIED" : "ADDED";
  return matched ? std::optional<std::string_view>("DELETED") : std::nullopt;
}

Response Watch(const ApiContext& context, const Request& request, const Target& target,
               const ListOptions& options) {
  View view = TRY(View::Of(target.kind, request, context.clock->Now()));
  Response response;
  response.content_type = "application/json;stream=watch";
  // The context outlives the server and so every stream.
  response.stream = [&context, target, options, view](BodySink& sink) {
    return WatchStream(context, target, options, view).Run(sink);
  };
  return response;
}

}  // namespace detent
