#include "tests/net/served_connection.h"

#include <strings.h>

#include <algorithm>
#include <cstdlib>

namespace detent::testing {
namespace {

constexpr uint8_t kData = 0, kHeaders = 1, kRstStream = 3, kSettings = 4, kPing = 6, kGoAway = 7,
                  kWindowUpdate = 8;
constexpr uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8, kPriority = 32;
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kFrameMax = 16384;

std::string Big(uint32_t number, int octets) {
  std::string bytes;
  for (int i = octets - 1; i >= 0; --i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

uint32_t Number(std::string_view bytes) {
  uint32_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  return Big(static_cast<uint32_t>(payload.size()), 3) + Big(type, 1) + Big(flags, 1) +
         Big(stream, 4) + std::string(payload);
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; });
  return text;
}

std::string Head1(int status, const Fields& fields, const std::string& framing) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " Some Reason\r\n" + framing;
  for (const auto& [name, value] : fields) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

}  // namespace

std::string ServedRequest::Field(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return "";
}

void Served::Answer(int status, const std::string& body, const Fields& fields) {
  if (stream_ == 0) {
    return connection_->Write(
        Head1(status, fields, "Content-Length: " + std::to_string(body.size()) + "\r\n") + body);
  }
  Begin(status, fields);
  connection_->WriteData(stream_, body, true);
}

void Served::Begin(int status, const Fields& fields) {
  if (stream_ == 0) {
    return connection_->Write(Head1(status, fields, "Transfer-Encoding: chunked\r\n"));
  }
  Fields all = {{":status", std::to_string(status)}};
  for (const auto& [name, value] : fields) all.emplace_back(Lower(name), value);
  connection_->Write(Frame(kHeaders, kEndHeaders, stream_, HpackLiteral(all)));
}

void Served::Send(std::string_view piece) {
  if (stream_ != 0) return connection_->WriteData(stream_, piece, false);
  char size[32];
  snprintf(size, sizeof size, "%zx\r\n", piece.size());
  connection_->Write(size + std::string(piece) + "\r\n");
}

void Served::End() {
  if (stream_ != 0) return connection_->WriteData(stream_, "", true);
  connection_->Write("0\r\n\r\n");
}

void Served::Reset(uint32_t error) {
  if (stream_ == 0) return Drop();
  connection_->Write(Frame(kRstStream, 0, stream_, Big(error, 4)));
}

void Served::Drop() {
  connection_->Write("", true);
}

void Served::GoAway(uint32_t last) {
  connection_->Write(Frame(kGoAway, 0, 0, Big(last, 4) + Big(0, 4)));
}

bool Served::AwaitReset() {
  std::unique_lock lock(connection_->mutex_);
  return connection_->reset_.wait_for(lock, std::chrono::seconds(20),
                                      [this] { return connection_->streams_[stream_].reset; });
}

ServedConnection::ServedConnection(ServedRequest common, ServedHandler handler,
                                   std::function<void()> wake)
    : common_(std::move(common)), handler_(std::move(handler)), wake_(std::move(wake)) {}

void ServedConnection::Write(const std::string& bytes, bool close) {
  {
    std::lock_guard lock(mutex_);
    out_ += bytes;
    close_ = close_ || close;
  }
  wake_();
}

void ServedConnection::WriteData(uint32_t stream, std::string_view piece, bool end) {
  std::string frames;
  do {
    const std::string_view part = piece.substr(0, kFrameMax);
    piece.remove_prefix(part.size());
    frames += Frame(kData, end && piece.empty() ? kEndStream : 0, stream, part);
  } while (!piece.empty());
  Write(frames);
}

std::string ServedConnection::Take(bool& close) {
  std::lock_guard lock(mutex_);
  close = close_;
  return std::exchange(out_, {});
}

bool ServedConnection::Feed(std::string_view bytes) {
  in_ += bytes;
  return common_.http2 ? FeedHttp2() : FeedHttp1();
}

bool ServedConnection::FeedHttp1() {
  for (;;) {
    const size_t end = in_.find("\r\n\r\n");
    if (end == in_.npos) return in_.size() < 1 << 20;
    ServedRequest request = common_;
    size_t at = in_.find("\r\n");
    const std::string line = in_.substr(0, at);
    const size_t space = line.find(' ');
    if (space == line.npos) return false;
    request.method = line.substr(0, space);
    request.path = line.substr(space + 1, line.rfind(' ') - space - 1);
    for (at += 2; at < end;) {
      const size_t next = in_.find("\r\n", at);
      const size_t colon = in_.find(':', at);
      if (colon > next) return false;
      const size_t value = in_.find_first_not_of(' ', colon + 1);
      request.fields.emplace_back(Lower(in_.substr(at, colon - at)),
                                  in_.substr(value, next - value));
      at = next + 2;
    }
    const size_t length = std::strtoull(request.Field("content-length").c_str(), nullptr, 10);
    if (in_.size() < end + 4 + length) return true;
    request.body = in_.substr(end + 4, length);
    request.authority = request.Field("host");
    in_.erase(0, end + 4 + length);
    Dispatch(std::move(request), 0);
  }
}

bool ServedConnection::FeedHttp2() {
  if (!greeted_) {
    if (in_.size() < kPreface.size()) return true;
    if (!in_.starts_with(kPreface)) return false;
    in_.erase(0, kPreface.size());
    greeted_ = true;
    // Windows as large as they can be: bodies that come in need no care then.
    constexpr uint32_t kInitialWindow = 4, kWindow = 1U << 30;
    Write(Frame(kSettings, 0, 0, Big(kInitialWindow, 2) + Big(kWindow, 4)) +
          Frame(kWindowUpdate, 0, 0, Big(kWindow, 4)));
  }
  while (in_.size() >= 9) {
    const std::string_view head(in_.data(), 9);
    const size_t size = Number(head.substr(0, 3));
    if (in_.size() < 9 + size) return true;
    const auto type = static_cast<uint8_t>(head[3]);
    const auto flags = static_cast<uint8_t>(head[4]);
    const uint32_t stream = Number(head.substr(5));
    const std::string payload = in_.substr(9, size);
    in_.erase(0, 9 + size);
    if (!TakeFrame(type, flags, stream, payload)) return false;
  }
  return true;
}

bool ServedConnection::TakeFrame(uint8_t type, uint8_t flags, uint32_t stream,
                                 std::string_view payload) {
  switch (type) {
    case kSettings:
      if ((flags & kAck) == 0) Write(Frame(kSettings, kAck, 0, ""));
      return true;
    case kPing:
      if ((flags & kAck) == 0) Write(Frame(kPing, kAck, 0, payload));
      return true;
    case kHeaders:
      return TakeHeaders(flags, stream, payload);
    case kRstStream: {
      std::lock_guard lock(mutex_);
      streams_[stream].reset = true;
      reset_.notify_all();
      return true;
    }
    case kData: {
      std::unique_lock lock(mutex_);
      ServedRequest& request = streams_[stream].request;
      request.body += payload;
      if ((flags & kEndStream) == 0) return true;
      ServedRequest whole = std::move(request);
      lock.unlock();
      Dispatch(std::move(whole), stream);
      return true;
    }
    default:
      return true;
  }
}

// libcurl's are short enough for one frame.
bool ServedConnection::TakeHeaders(uint8_t flags, uint32_t stream, std::string_view payload) {
  if ((flags & kEndHeaders) == 0) return false;
  size_t padding = 0;
  if ((flags & kPadded) != 0) {
    padding = static_cast<unsigned char>(payload.front());
    payload.remove_prefix(1);
  }
  if ((flags & kPriority) != 0) payload.remove_prefix(5);
  payload.remove_suffix(padding);
  auto fields = hpack_.Decode(payload);
  if (!fields) return false;
  ServedRequest request = common_;
  for (auto& [name, value] : *fields) {
    if (name == ":method") {
      request.method = value;
    } else if (name == ":path") {
      request.path = value;
    } else if (name == ":authority") {
      request.authority = value;
    } else if (name.front() != ':') {
      request.fields.emplace_back(name, value);
    }
  }
  if ((flags & kEndStream) != 0) {
    Dispatch(std::move(request), stream);
    return true;
  }
  std::lock_guard lock(mutex_);
  streams_[stream].request = std::move(request);
  return true;
}

void ServedConnection::Dispatch(ServedRequest request, uint32_t stream) {
  handler_(request, std::make_shared<Served>(shared_from_this(), stream));
}

}  // namespace detent::testing
