// Discards: removes the Pods of tasks that nobody will ask about any more: their Task objects are
// deleted. Where Jobs are objects of the same cluster its garbage collector does so too, and finds
// nothing. Keys are gathered for a moment, since a Job of many tasks goes at once. Strand only.

#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "detent/sdk/host.h"
#include "plugins/pod/pod.h"
#include "plugins/pod/requests.h"

namespace detent::pod {

class Discards {
 public:
  // Both outlive this.
  Discards(const sdk::Host& host, Requests& requests) : host_(host), requests_(requests) {}
  Discards(const Discards&) = delete;
  Discards& operator=(const Discards&) = delete;

  void Add(std::string_view key);
  void Close();

 private:
  void Soon(std::chrono::milliseconds pause);
  void List();
  void OnListed(const std::vector<std::string>& keys, const sdk::KubeAnswer& answer);
  void Remove(const Pod& pod);

  const sdk::Host& host_;
  Requests& requests_;
  std::deque<std::string> keys_;
  bool listing_ = false, closed_ = false;
  sdk::Timer timer_;
};

}  // namespace detent::pod
