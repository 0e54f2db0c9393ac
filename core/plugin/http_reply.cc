#include "core/plugin/http_reply.h"

#include "core/plugin/abi_convert.h"
#include "core/plugin/buffer.h"

namespace detent {
namespace {

detent_status StatusOf(HttpOutcome outcome) {
  switch (outcome) {
    case HttpOutcome::kOk:
      return DETENT_OK;
    case HttpOutcome::kCancelled:
      return DETENT_E_CANCELLED;
    case HttpOutcome::kDenied:
      return DETENT_E_DENIED;
    case HttpOutcome::kConnectTimeout:
    case HttpOutcome::kReadTimeout:
    case HttpOutcome::kIdleTimeout:
    case HttpOutcome::kTotalTimeout:
      return DETENT_E_DEADLINE;
    case HttpOutcome::kHeadersTooLarge:
      return DETENT_E_TOO_LARGE;
    case HttpOutcome::kInvalid:
      return DETENT_E_INVALID;
    default:
      return DETENT_E_UNAVAILABLE;
  }
}

uint64_t Micros(std::chrono::microseconds time) {
  return static_cast<uint64_t>(time.count());
}

}  // namespace

AbiHttpReply::AbiHttpReply(HttpReply&& reply, std::atomic<int64_t>* leaks)
    : reply_(std::move(reply)), reason_(ReasonOf(reply_.outcome)) {
  response_.size = sizeof response_;
  response_.code = StatusOf(reply_.outcome);
  response_.http_status = reply_.status;
  response_.version = static_cast<uint32_t>(reply_.version);
  FillFlags();
  FillHeaders();
  if (reply_.retry_after) {
    response_.retry = DETENT_HINT_LATER;
    const auto ms = std::chrono::milliseconds(*reply_.retry_after).count();
    response_.retry_after_ms = static_cast<uint32_t>(std::min<int64_t>(ms, UINT32_MAX));
  }
  if (!reply_.body.empty()) response_.body = NewBuffer(std::move(reply_.body), leaks);
  response_.dns_us = Micros(reply_.dns);
  response_.connect_us = Micros(reply_.connect);
  response_.tls_us = Micros(reply_.tls);
  response_.first_byte_us = Micros(reply_.first_byte);
  response_.total_us = Micros(reply_.total);
  response_.bytes_sent = reply_.bytes_sent;
  response_.bytes_received = reply_.bytes_received;
  response_.reason = View(reason_);
  response_.message = View(reply_.message);
  response_.local_address = View(reply_.local_address);
  response_.peer_address = View(reply_.peer_address);
}

AbiHttpReply::~AbiHttpReply() {
  ReleaseBuffer(response_.body);
}

void AbiHttpReply::FillFlags() {
  if (reply_.body_truncated) response_.flags |= DETENT_HTTP_BODY_TRUNCATED;
  if (reply_.not_sent) response_.flags |= DETENT_HTTP_NOT_SENT;
  if (reply_.connection_closed) response_.flags |= DETENT_HTTP_CONNECTION_CLOSED;
  if (reply_.request_sent) response_.flags |= DETENT_HTTP_REQUEST_SENT;
}

void AbiHttpReply::FillHeaders() {
  const size_t count = reply_.headers.size();
  headers_.resize(count);
  pointers_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    headers_[i] = {sizeof(detent_http_header), 0, View(reply_.headers.name(i)),
                   View(reply_.headers.value(i))};
    pointers_[i] = &headers_[i];
  }
  response_.headers = pointers_.data();
  response_.header_count = static_cast<uint32_t>(count);
}

}  // namespace detent
