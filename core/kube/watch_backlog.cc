#include "core/kube/watch_backlog.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace detent {

size_t WatchBacklog::Hash::operator()(const WatchedObjectPtr& object) const {
  const std::hash<std::string_view> hash;
  return object->uid().empty() ? hash(object->name()) * 31 + hash(object->ns())
                               : hash(object->uid());
}

bool WatchBacklog::Same::operator()(const WatchedObjectPtr& a, const WatchedObjectPtr& b) const {
  return a->uid() == b->uid() && a->name() == b->name() && a->ns() == b->ns();
}

void WatchBacklog::Add(WatchNews::Kind kind, const WatchedObjectPtr& object) {
  const auto found = numbers_.find(object);
  if (found == numbers_.end()) {
    numbers_.emplace(object, first_ + news_.size());
    news_.push_back({kind, object, nullptr});
    if (kind == WatchNews::Kind::kDelete) ++deletes_;
    return;
  }
  WatchNews& news = news_[found->second - first_];
  if (news.kind == WatchNews::Kind::kDelete) --deletes_;
  if (kind == WatchNews::Kind::kDelete) ++deletes_;
  news.kind = kind;
  news.object = object;
  // The key is the object too: it would keep the old text.
  auto node = numbers_.extract(found);
  node.key() = object;
  numbers_.insert(std::move(node));
}

void WatchBacklog::Mark(WatchNews mark) {
  if (mark_ != kNoMark) {
    WatchNews& before = news_[mark_ - first_];
    if (before.kind == mark.kind && mark.kind == WatchNews::Kind::kSynced) return;
    before = {};
    if (mark_ - first_ == news_.size() - 1) news_.pop_back();
  }
  mark_ = first_ + news_.size();
  news_.push_back(std::move(mark));
}

void WatchBacklog::Failed(const KubeReply& reply) {
  Mark({WatchNews::Kind::kFailed, nullptr, std::make_shared<const KubeReply>(reply)});
}

std::vector<WatchNews> WatchBacklog::Take(size_t most) {
  std::vector<WatchNews> taken;
  taken.reserve(std::min(most, news_.size()));
  while (!news_.empty() && taken.size() < most) {
    WatchNews& news = news_.front();
    if (news.object != nullptr) numbers_.erase(news.object);
    if (news.kind == WatchNews::Kind::kDelete) --deletes_;
    if (first_ == mark_) mark_ = kNoMark;
    if (news.kind != WatchNews::Kind::kOvertaken) taken.push_back(std::move(news));
    news_.pop_front();
    ++first_;
  }
  return taken;
}

void WatchBacklog::Clear() {
  first_ += news_.size();
  news_.clear();
  numbers_.clear();
  mark_ = kNoMark;
  deletes_ = 0;
}

}  // namespace detent
