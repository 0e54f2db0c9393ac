// Certificates for tests, made when they are needed: an authority, and what it signs.

#pragma once

#include <memory>
#include <string>

namespace detent::testing {

struct Identity {
  std::string ca_pem;  // The authority that signed the certificate.
  std::string certificate_pem;
  std::string key_pem;
};

class Authority {
 public:
  Authority();
  ~Authority();

  // For a server of these names ("IP:127.0.0.1,DNS:localhost").
  Identity ForServer(const std::string& names) const;
  // For a client; the name is its common name.
  Identity ForClient(const std::string& name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A certificate for a server, by an authority of its own.
Identity MakeIdentity(const std::string& names);

}  // namespace detent::testing
