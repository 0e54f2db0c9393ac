#include "core/store/change_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/limits.h"
#include "core/store/object_bytes.h"

namespace detent {
namespace {

// `previous` is usually the object of an older change and so counted twice; counting it keeps the
// bound true when it is not.
size_t BytesOf(const Change& change) {
  size_t bytes = sizeof(Change);
  if (change.object) bytes += sizeof(Object) + BytesOf(*change.object);
  if (change.previous) bytes += sizeof(Object) + BytesOf(*change.previous);
  return bytes;
}

}  // namespace

ChangeLog::ChangeLog(int64_t version) : version_(version), oldest_gone_(version) {}

void ChangeLog::Append(std::vector<Change> changes) {
  if (changes.empty()) return;
  if (listener_) listener_(changes);

  // Objects that nobody else holds are freed after the lock, which readers wait for.
  std::vector<Change> dropped;
  {
    const std::lock_guard lock(mutex_);
    version_ = changes.back().version;
    for (Change& change : changes) {
      change_bytes_.push_back(BytesOf(change));
      bytes_ += change_bytes_.back();
      changes_.push_back(std::move(change));
    }
    while (changes_.size() > limits::kChangesKept || bytes_ > limits::kChangeBytesKept) {
      oldest_gone_ = changes_.front().version;
      bytes_ -= change_bytes_.front();
      dropped.push_back(std::move(changes_.front()));
      changes_.pop_front();
      change_bytes_.pop_front();
    }
  }
  appended_.notify_all();
}

void ChangeLog::TellListener(const std::vector<Change>& changes) {
  if (listener_) listener_(changes);
}

void ChangeLog::Restart(int64_t version) {
  std::deque<Change> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(changes_);
    change_bytes_.clear();
    bytes_ = 0;
    version_ = std::max(version_ + 1, version);
    oldest_gone_ = version_;
  }
  appended_.notify_all();
}

ChangeLog::ReadResult ChangeLog::Read(int64_t after, size_t most, std::chrono::nanoseconds timeout,
                                      std::vector<Change>& out) {
  out.clear();
  // A longer wait would overflow the clock's range inside the condition variable.
  constexpr std::chrono::nanoseconds kLongestWait = std::chrono::hours(24 * 365);
  std::unique_lock lock(mutex_);
  appended_.wait_for(lock, std::min(timeout, kLongestWait),
                     [&] { return closed_ || after < oldest_gone_ || version_ > after; });
  if (closed_) return ReadResult::kClosed;
  if (after < oldest_gone_) return ReadResult::kExpired;

  auto from = std::upper_bound(changes_.begin(), changes_.end(), after,
                               [](int64_t v, const Change& change) { return v < change.version; });
  const size_t count = std::min(most, static_cast<size_t>(std::distance(from, changes_.end())));
  if (count == 0) return ReadResult::kTimeout;
  out.assign(from, from + static_cast<std::ptrdiff_t>(count));
  return ReadResult::kChanges;
}

int64_t ChangeLog::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void ChangeLog::SetListener(std::function<void(const std::vector<Change>&)> listener) {
  listener_ = std::move(listener);
}

void ChangeLog::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  appended_.notify_all();
}

}  // namespace detent
