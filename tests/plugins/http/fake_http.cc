#include "tests/plugins/http/fake_http.h"

#include "core/plugin/buffer.h"

namespace detent::testing {
namespace {

FakeHttp* the_one = nullptr;

std::string Copy(const detent_str& text) {
  return std::string(text.ptr, text.len);
}
detent_str Lend(const std::string& text) {
  return {text.data(), text.size()};
}

}  // namespace

struct FakeHttpTable {
  static detent_status Request(detent_instance, const detent_http_request* request,
                               detent_http_cb cb, void* ctx, detent_op* out) {
    if (the_one->refusal_ != DETENT_OK) return the_one->refusal_;
    SentRequest sent;
    sent.method = Copy(request->method);
    sent.url = Copy(request->url);
    sent.body.assign(reinterpret_cast<const char*>(request->body.ptr), request->body.len);
    for (uint32_t i = 0; i < request->header_count; ++i) {
      sent.headers.emplace_back(Copy(request->headers[i]->name), Copy(request->headers[i]->value));
    }
    sent.total_timeout_ms = request->total_timeout_ms;
    sent.task = request->task;
    sent.cb = cb;
    sent.ctx = ctx;
    the_one->sent_.push_back(std::move(sent));
    *out = the_one->sent_.size();
    return DETENT_OK;
  }
  static detent_status Cancel(detent_instance, detent_op request) {
    SentRequest& sent = the_one->sent_[request - 1];
    sent.cancelled = true;
    return sent.answered ? DETENT_E_STALE : DETENT_OK;
  }
  static constexpr detent_http kTable{sizeof(detent_http), 0, &Request, &Cancel};
};

FakeHttp::FakeHttp() {
  the_one = this;
}

FakeHttp::~FakeHttp() {
  AnswerAllClosing();
  the_one = nullptr;
}

const detent_http* FakeHttp::table() const {
  return &FakeHttpTable::kTable;
}

void FakeHttp::Answer(size_t index, const FakeAnswer& answer) {
  SentRequest& sent = sent_[index];
  if (std::exchange(sent.answered, true)) return;
  const std::string name = "Content-Type";
  const detent_http_header header{sizeof(header), 0, Lend(name), Lend(answer.content_type)};
  const detent_http_header* const headers[] = {&header};
  detent_http_response response{};
  response.size = sizeof(response);
  response.code = answer.code;
  response.flags = answer.flags;
  if (answer.code == DETENT_OK) {
    response.http_status = answer.status;
    response.headers = headers;
    response.header_count = 1;
  }
  if (!answer.body.empty()) response.body = NewBuffer(answer.body);
  response.total_us = 1500;
  response.reason = Lend(answer.reason);
  response.message = Lend(answer.message);
  sent.cb(sent.ctx, &response);
  if (response.body != 0) ReleaseBuffer(response.body);
}

void FakeHttp::AnswerAllClosing() {
  for (size_t i = 0; i < sent_.size(); ++i) Answer(i, {.code = DETENT_E_CLOSING, .status = 0});
}

}  // namespace detent::testing
