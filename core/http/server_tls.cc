#include "core/http/server_tls.h"

#include <Poco/Crypto/EVPPKey.h>
#include <Poco/Crypto/X509Certificate.h>
#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/SecureStreamSocket.h>

#include <sstream>
#include <utility>

namespace detent {
namespace {

using PocoContext = Poco::Net::Context;
using Poco::Crypto::X509Certificate;

void SetManners(PocoContext& context) {
  context.requireMinimumProtocol(PocoContext::PROTO_TLSV1_2);
  // A resumed session would need a session id context; clients connect seldom.
  context.disableStatelessSessionResumption();
  context.enableSessionCache(true, "detent");
}

PocoContext::Ptr MakeContext(const TlsFiles& files) {
  PocoContext::Params params;
  params.certificateFile = files.certificate;
  params.privateKeyFile = files.key;
  params.caLocation = files.client_ca;
  params.verificationMode =
      files.client_ca.empty() ? PocoContext::VERIFY_NONE : PocoContext::VERIFY_STRICT;
  params.loadDefaultCAs = false;
  PocoContext::Ptr context = new PocoContext(PocoContext::TLS_SERVER_USE, params);
  SetManners(*context);
  return context;
}

PocoContext::Ptr MakeContext(const TlsPem& pem) {
  PocoContext::Params params;
  params.verificationMode = PocoContext::VERIFY_NONE;
  params.loadDefaultCAs = false;
  PocoContext::Ptr context = new PocoContext(PocoContext::TLS_SERVER_USE, params);
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::string_view rest = pem.certificate;
  bool first = true;
  for (size_t end = rest.find(kEnd); end != rest.npos; end = rest.find(kEnd)) {
    std::istringstream text(std::string(rest.substr(0, end + kEnd.size())) + "\n");
    const X509Certificate certificate(text);
    if (first) {
      context->useCertificate(certificate);
    } else {
      context->addChainCertificate(certificate);
    }
    first = false;
    rest.remove_prefix(end + kEnd.size());
  }
  if (first) throw Poco::InvalidArgumentException("the text holds no PEM certificate");
  std::istringstream key(pem.key);
  context->usePrivateKey(Poco::Crypto::EVPPKey(nullptr, &key));
  SetManners(*context);
  return context;
}

}  // namespace

struct ServerTls::Context {
  PocoContext::Ptr poco;

  template <typename Source>
  static Result<std::shared_ptr<const Context>> Make(const Source& source) {
    try {
      return std::shared_ptr<const Context>(new Context{MakeContext(source)});
    } catch (const Poco::Exception& error) {
      return Error(Code::kInvalid, error.displayText());
    }
  }
};

ServerTls::ServerTls(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
ServerTls::~ServerTls() = default;

Result<std::unique_ptr<ServerTls>> ServerTls::Open(const TlsFiles& files) {
  return std::unique_ptr<ServerTls>(new ServerTls(TRY(Context::Make(files))));
}

Result<std::unique_ptr<ServerTls>> ServerTls::Open(const TlsPem& pem) {
  return std::unique_ptr<ServerTls>(new ServerTls(TRY(Context::Make(pem))));
}

Result<void> ServerTls::Renew(const TlsPem& pem) {
  auto context = TRY(Context::Make(pem));
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  return {};
}

Poco::Net::StreamSocket ServerTls::Attach(const Poco::Net::StreamSocket& socket) const {
  std::shared_ptr<const Context> context;
  {
    const std::lock_guard lock(mutex_);
    context = context_;
  }
  return Poco::Net::SecureStreamSocket::attach(socket, context->poco);
}

}  // namespace detent
