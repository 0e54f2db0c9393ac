#include "core/kube/identity_source.h"

#include <strings.h>

#include <algorithm>
#include <utility>

#include "core/kube/base64.h"
#include "core/kube/local_file.h"

namespace detent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Nothing is had anew so soon that who waited for it finds it stale again.
constexpr seconds kLeastUse{1};

bool IsFile(const PemSource& source) {
  return source.data.empty() && !source.file.empty();
}

Result<std::string> PemOf(const PemSource& source, const char* what) {
  if (!IsFile(source)) return source.data;
  auto text = ReadLocalFile(source.file);
  if (!text) return std::move(text).error().While(what);
  if (text->find("-----BEGIN ") != text->npos) return text;
  return Error(Code::kInvalid, std::string(what) + ": '" + source.file + "' holds no PEM block");
}

bool Same(const HttpTls& a, const HttpTls& b) {
  return a.ca_pem == b.ca_pem && a.certificate_pem == b.certificate_pem && a.key_pem == b.key_pem &&
         a.server_name == b.server_name && a.insecure == b.insecure;
}

// A field name can hold letters, digits and these marks (RFC 9110, section 5.6.2); everything else
// of a key is percent-encoded, and so is '%'.
std::string FieldNamePart(const std::string& key) {
  constexpr std::string_view kMarks = "!#$&'*+-.^_`|~";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string name;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kMarks.find(c) != kMarks.npos) {
      name += c;
    } else {
      name += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return name;
}

}  // namespace

IdentitySource::IdentitySource(const ClusterAccess& access, CredentialTimes times,
                               const Clock& clock, const StopSignal& stop)
    : access_(access),
      times_(times),
      clock_(clock),
      stop_(stop),
      plain_(strncasecmp(access.server.c_str(), "https://", 8) != 0) {
  const auto& client = access.tls.client;
  reads_files_ = std::holds_alternative<BearerTokenFile>(access.credentials) ||
                 (!plain_ && (IsFile(access.tls.authority) ||
                              (client && (IsFile(client->certificate) || IsFile(client->key)))));
  runs_plugin_ = std::holds_alternative<ExecPlugin>(access.credentials);
}

Result<KubeIdentity> IdentitySource::Make(bool refused) {
  const MonoTime now = clock_.Mono();
  std::string ca_pem;
  if (!plain_) ca_pem = TRY(PemOf(access_.tls.authority, "the cluster's certificate authority"));
  if (runs_plugin_) TRY(RenewPlugin(ca_pem, refused));
  KubeIdentity identity;
  identity.headers = HeadersWith(TRY(Authorization()));
  if (!plain_) {
    HttpTls tls = TRY(MakeTls(ca_pem));
    if (tls_ == nullptr || !Same(*tls_, tls)) tls_ = std::make_shared<HttpTls>(std::move(tls));
    identity.tls = tls_;
  }
  if (reads_files_) {
    identity.renew_at = now + times_.reread_files;
    identity.wait_at = now + std::max<milliseconds>(2 * times_.reread_files, kLeastUse);
  }
  identity.renew_at = std::min(identity.renew_at, plugin_renew_at_);
  identity.wait_at = std::min(identity.wait_at, plugin_valid_until_);
  identity.valid_until = plugin_valid_until_;
  return identity;
}

Result<void> IdentitySource::RenewPlugin(const std::string& ca_pem, bool refused) {
  if (printed_ && !refused && clock_.Mono() < plugin_renew_at_) return {};
  ExecCredential credential =
      TRY(RunExecPlugin(access_, ca_pem, {times_.exec_timeout, stop_, clock_}));
  plugin_renew_at_ = plugin_valid_until_ = MonoTime::max();
  if (credential.expires) {
    const auto left = *credential.expires - clock_.Now();
    if (left < kLeastUse) {
      return Error(Code::kUnauthorized, "exec credential plugin: what '" +
                                            std::get<ExecPlugin>(access_.credentials).command +
                                            "' printed is spent at " +
                                            FormatTime(*credential.expires));
    }
    // Far beyond any lifetime, and within what a MonoTime holds.
    plugin_valid_until_ =
        clock_.Mono() + std::min<std::chrono::nanoseconds>(left, std::chrono::hours(24 * 3650));
    plugin_renew_at_ =
        plugin_valid_until_ - std::min<std::chrono::nanoseconds>(left / 5, seconds(60));
  }
  printed_ = std::move(credential);
  return {};
}

Result<HttpTls> IdentitySource::MakeTls(const std::string& ca_pem) const {
  HttpTls tls;
  tls.ca_pem = ca_pem;
  tls.server_name = access_.tls.server_name;
  tls.insecure = access_.tls.insecure_skip_verify;
  if (const auto& client = access_.tls.client) {
    tls.certificate_pem = TRY(PemOf(client->certificate, "the client certificate"));
    tls.key_pem = TRY(PemOf(client->key, "the client key"));
  } else if (printed_) {
    tls.certificate_pem = printed_->certificate_pem;
    tls.key_pem = printed_->key_pem;
  }
  return tls;
}

// The value of the header; empty: none.
Result<std::string> IdentitySource::Authorization() {
  if (const auto* token = std::get_if<BearerToken>(&access_.credentials)) {
    return "Bearer " + token->token;
  }
  if (const auto* file = std::get_if<BearerTokenFile>(&access_.credentials)) {
    return "Bearer " + TRY(TokenIn(*file));
  }
  if (const auto* login = std::get_if<BasicLogin>(&access_.credentials)) {
    return "Basic " + EncodeBase64(login->username + ":" + login->password);
  }
  if (printed_ && !printed_->token.empty()) return "Bearer " + printed_->token;
  return std::string();
}

Result<std::string> IdentitySource::TokenIn(const BearerTokenFile& file) const {
  auto text = ReadLocalFile(file.path);
  if (!text) {
    if (!file.fallback.empty()) return file.fallback;
    return std::move(text).error().While("the bearer token");
  }
  constexpr const char* kSpace = " \t\r\n";
  const size_t first = text->find_first_not_of(kSpace);
  if (first == text->npos) {
    return Error(Code::kInvalid, "the bearer token: '" + file.path + "' is empty");
  }
  std::string token = text->substr(first, text->find_last_not_of(kSpace) - first + 1);
  const bool bad = std::any_of(token.begin(), token.end(),
                               [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  if (!bad) return token;
  return Error(Code::kInvalid,
               "the bearer token: '" + file.path + "' contains a space or a control character");
}

HttpHeaders IdentitySource::HeadersWith(const std::string& authorization) const {
  HttpHeaders headers;
  if (!authorization.empty()) headers.Add("Authorization", authorization);
  const Impersonation& as = access_.impersonation;
  if (!as.user.empty()) headers.Add("Impersonate-User", as.user);
  if (!as.uid.empty()) headers.Add("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.Add("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) {
      headers.Add("Impersonate-Extra-" + FieldNamePart(key), value);
    }
  }
  return headers;
}

}  // namespace detent
