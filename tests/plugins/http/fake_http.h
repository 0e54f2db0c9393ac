// FakeHttp: a detent.http/1 whose answers the test gives. Requests are remembered in the order in
// which they were sent; each is answered once, on the thread of the test. One at a time, because
// the border's functions know no more than the instance.

#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detent/services/http.h"

namespace detent::testing {

struct SentRequest {
  std::string method, url, body;
  std::vector<std::pair<std::string, std::string>> headers;
  uint32_t total_timeout_ms = 0;
  detent_task task = 0;
  bool cancelled = false;
  bool answered = false;
  detent_http_cb cb = nullptr;
  void* ctx = nullptr;
};

struct FakeAnswer {
  detent_status code = DETENT_OK;
  uint32_t status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  uint32_t flags = DETENT_HTTP_REQUEST_SENT;
  std::string reason = {};
  std::string message = {};
};

class FakeHttp {
 public:
  FakeHttp();
  ~FakeHttp();  // answers what is open with E_CLOSING
  FakeHttp(const FakeHttp&) = delete;
  FakeHttp& operator=(const FakeHttp&) = delete;

  const detent_http* table() const;

  // What further requests are answered with at once; OK: taken.
  void RefuseWith(detent_status code) { refusal_ = code; }

  void Answer(size_t index, const FakeAnswer& answer);
  void AnswerAllClosing();

  const SentRequest& sent(size_t index) const { return sent_[index]; }
  size_t count() const { return sent_.size(); }

 private:
  friend struct FakeHttpTable;
  std::deque<SentRequest> sent_;
  detent_status refusal_ = DETENT_OK;
};

}  // namespace detent::testing
