// HttpSpec: what stands under `taskTemplate.http`, and HttpConfig: the instance's `config`, each
// read from JSON with all mistakes reported at once. README.md describes every field. Plain values;
// the functions are pure and may run on any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detent/sdk/spec.h"

namespace detent::http {

inline constexpr uint32_t kDefaultConnectMs = 10'000;
inline constexpr uint32_t kDefaultTotalMs = 30'000;
inline constexpr uint64_t kDefaultMaxBytes = 1024 * 1024;
inline constexpr uint64_t kMostBytes = 32 * 1024 * 1024;  // of detent.http/1

// A header, a query parameter or a form field, as it was written.
struct NameValue {
  std::string name;
  std::string value;
  bool operator==(const NameValue&) const = default;
};

struct Cookie {
  std::string name;
  std::string value;
  bool secure = false;  // to be sent over https only
};

// How the response's body is taken: JSON if it says so and is, always JSON, or never.
enum class Format { kAuto, kJson, kText };

struct HttpSpec {
  std::string method = "GET";
  std::string url;
  std::vector<NameValue> headers;  // in the order given, repetitions kept
  std::vector<NameValue> query;    // beside what the URL has already
  std::vector<Cookie> cookies;
  std::string mime_type;            // of the body; empty: not given
  std::optional<std::string> text;  // the body as it stands, or
  std::vector<NameValue> params;    // the body as a form
  bool has_params = false;

  // Milliseconds; 0: no limit (connect: never 0).
  uint32_t connect_ms = kDefaultConnectMs;
  uint32_t read_ms = 0;
  uint32_t socket_ms = 0;
  uint32_t total_ms = kDefaultTotalMs;

  std::optional<bool> idempotent;  // as given; else the method tells
  Format format = Format::kAuto;
  uint64_t max_bytes = kDefaultMaxBytes;  // of the response's body, that are read
};

struct HttpConfig {
  int64_t max_connections = 256;  // requests in flight
  int64_t max_queued = 10'000;    // tasks that wait for one of them
  std::string user_agent;         // sent where a request has none; empty: none
  bool fresh_connections = false;
  std::vector<std::string> allow;  // CIDRs
  std::vector<std::string> deny;
};

// Findings go to fields.diag(); with any error in it the value is not to be used. mode: that of
// `fields`; in a template, texts with "${" are not judged.
HttpSpec ReadSpec(sdk::Fields& fields, sdk::Fields::Mode mode);
HttpConfig ReadConfig(sdk::Fields& fields);

// Whether a request may be repeated when nobody knows if it took effect: what the spec says, or
// else what RFC 9110 section 9.2.2 says of its method.
bool IsRerunSafe(const HttpSpec& spec);

}  // namespace detent::http
