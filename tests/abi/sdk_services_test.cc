// HttpCall and FdWatch over fake services: what is destroyed is cancelled, and never called again.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "detent/sdk/http.h"
#include "detent/sdk/io.h"

namespace detent::test {
namespace {

using sdk::FdWatch;
using sdk::Host;
using sdk::HttpCall;
using sdk::HttpRequest;
using sdk::HttpResponse;

// One request and one watch at a time; the tests say what becomes of them.
struct Seen {
  std::string url, header, body, allow;
  detent_http_cb answer = nullptr;
  void* answer_ctx = nullptr;
  int cancels = 0;
  detent_status refusal = DETENT_OK;
  detent_fd_cb ready = nullptr;
  void* ready_ctx = nullptr;
  int unwatches = 0;
};
Seen* seen = nullptr;

detent_status Request(detent_instance, const detent_http_request* request, detent_http_cb cb,
                      void* ctx, detent_op* out) {
  if (seen->refusal != DETENT_OK) return seen->refusal;
  seen->url = sdk::View(request->url);
  seen->body = sdk::View(request->body);
  if (request->header_count > 0) seen->header = sdk::View(request->headers[0]->name);
  if (request->policy != nullptr) seen->allow = sdk::View(*request->policy->allow[0]);
  seen->answer = cb;
  seen->answer_ctx = ctx;
  *out = 5;
  return DETENT_OK;
}
detent_status CancelRequest(detent_instance, detent_op request) {
  EXPECT_EQ(request, 5u);
  ++seen->cancels;
  return DETENT_OK;
}
detent_status Watch(detent_instance, int32_t, uint32_t, detent_fd_cb cb, void* ctx,
                    detent_watch* out) {
  if (seen->refusal != DETENT_OK) return seen->refusal;
  seen->ready = cb;
  seen->ready_ctx = ctx;
  *out = 6;
  return DETENT_OK;
}
detent_status Modify(detent_instance, detent_watch, uint32_t) {
  return DETENT_OK;
}
detent_status Unwatch(detent_instance, detent_watch) {
  ++seen->unwatches;
  return DETENT_OK;
}

const detent_http http_table{sizeof(detent_http), 0, &Request, &CancelRequest};
const detent_io io_table{sizeof(detent_io), 0, &Watch, &Modify, &Unwatch};

const void* Service(detent_instance, const char* id) {
  if (std::strcmp(id, DETENT_SVC_HTTP) == 0) return &http_table;
  return std::strcmp(id, DETENT_SVC_IO) == 0 ? &io_table : nullptr;
}

class Services : public testing::Test {
 protected:
  Services() {
    table_.size = sizeof(table_);
    table_.service = &Service;
    seen = &seen_;
  }
  ~Services() override { seen = nullptr; }

  void Answer(detent_status code) {
    const detent_http_header header{sizeof(header), 0, sdk::Str("Retry-AFTER"), sdk::Str("7")};
    const detent_http_header* headers[] = {&header};
    detent_http_response response{};
    response.size = sizeof(response);
    response.code = code;
    response.http_status = 503;
    response.headers = headers;
    response.header_count = 1;
    seen_.answer(seen_.answer_ctx, &response);
  }

  detent_host table_{};
  Seen seen_;
  const Host host{&table_, 1};
};

TEST_F(Services, SendsWhatTheRequestSaysAndBringsTheAnswer) {
  HttpRequest request;
  request.url = "http://127.0.0.1/";
  request.headers = {{"Accept", "text/plain"}};
  request.body = "hello";
  request.allow = {"127.0.0.0/8"};
  std::string retry;
  auto call = HttpCall::Send(host, request, [&](const HttpResponse& response) {
    retry = response.Header("retry-after");
    EXPECT_EQ(response.http_status(), 503u);
    EXPECT_TRUE(response.Header("accept").empty());
  });
  ASSERT_TRUE(call);
  EXPECT_EQ(seen_.url + " " + seen_.header + " " + seen_.body + " " + seen_.allow,
            "http://127.0.0.1/ Accept hello 127.0.0.0/8");
  Answer(DETENT_OK);
  EXPECT_EQ(retry, "7");
  EXPECT_FALSE(call->active());
  call->Cancel();
  EXPECT_EQ(seen_.cancels, 0) << "there is nothing left to cancel";
}

TEST_F(Services, StillBringsTheAnswerAfterACancel) {
  detent_status code = DETENT_OK;
  auto call = HttpCall::Send(host, {}, [&](const HttpResponse& r) { code = r.code(); });
  call->Cancel();
  EXPECT_EQ(seen_.cancels, 1);
  EXPECT_TRUE(call->active());
  Answer(DETENT_E_CANCELLED);
  EXPECT_EQ(code, DETENT_E_CANCELLED);
}

TEST_F(Services, CancelsACallThatIsDestroyedAndDropsItsAnswer) {
  bool called = false;
  {
    const auto call = HttpCall::Send(host, {}, [&](const HttpResponse&) { called = true; });
  }
  EXPECT_EQ(seen_.cancels, 1);
  Answer(DETENT_E_CANCELLED);
  EXPECT_FALSE(called);
}

TEST_F(Services, LetsAnAnswerDestroyItsOwnCall) {
  HttpCall call;
  auto sent = HttpCall::Send(host, {}, [&](const HttpResponse&) { call = HttpCall(); });
  call = *std::move(sent);
  Answer(DETENT_OK);
  EXPECT_FALSE(call.active());
}

TEST_F(Services, SaysAtOnceWhatTheHostRefuses) {
  seen_.refusal = DETENT_E_BUSY;
  const auto call = HttpCall::Send(host, {}, nullptr);
  EXPECT_EQ(call.status().code(), DETENT_E_BUSY);
  const auto watch = FdWatch::Start(host, 0, DETENT_IO_READ, nullptr);
  EXPECT_EQ(watch.status().code(), DETENT_E_BUSY);
  EXPECT_EQ(seen_.cancels + seen_.unwatches, 0);
}

TEST_F(Services, LetsAWatchEndItselfFromItsCallback) {
  FdWatch watch;
  std::vector<uint32_t> events;
  auto started = FdWatch::Start(host, 0, DETENT_IO_READ, [&](uint32_t e) {
    events.push_back(e);
    if (events.size() == 2) watch.Stop();
    EXPECT_FALSE(events.empty()) << "what the callback holds is still there";
  });
  watch = *std::move(started);
  seen_.ready(seen_.ready_ctx, 0, DETENT_IO_READ);
  EXPECT_EQ(seen_.unwatches, 0);
  seen_.ready(seen_.ready_ctx, 0, DETENT_IO_HANGUP);
  EXPECT_EQ(seen_.unwatches, 1);
  EXPECT_FALSE(watch.active());
  EXPECT_EQ(events, (std::vector<uint32_t>{DETENT_IO_READ, DETENT_IO_HANGUP}));
}

}  // namespace
}  // namespace detent::test
