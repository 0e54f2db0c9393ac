# The cluster's keys, made when it starts and thrown away with it. Sourced; needs $directory and
# $pki.
#
# As in other clusters, one authority signs for servers and clients, and one for front proxies: were
# they one, the API server would check each client certificate twice with each request. Keys are
# P-256: making one takes a few milliseconds.

make_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$pki/$1.key"
}

# make_authority NAME SUBJECT
make_authority() {
  mkdir -p "$pki"
  make_key "$1"
  openssl req -x509 -new -key "$pki/$1.key" -sha256 -days 3650 -subj "$2" -out "$pki/$1.crt"
}

# make_certificate AUTHORITY NAME SUBJECT [ADDRESSES]: a pair that is good for serving and for being
# a client; ADDRESSES as openssl writes them: IP:127.0.0.1,DNS:localhost.
make_certificate() {
  local authority=$pki/$1
  shift
  make_key "$1"
  {
    echo 'extendedKeyUsage=serverAuth,clientAuth'
    echo 'keyUsage=critical,digitalSignature'
    [ -z "${3:-}" ] || echo "subjectAltName=$3"
  } >"$pki/$1.extensions"
  openssl req -new -key "$pki/$1.key" -subj "$2" -out "$pki/$1.request"
  openssl x509 -req -in "$pki/$1.request" -CA "$authority.crt" -CAkey "$authority.key" \
    -set_serial "0x$(openssl rand -hex 8)" -sha256 -days 3650 -extfile "$pki/$1.extensions" \
    -out "$pki/$1.crt" 2>"$pki/$1.told" || {
    cat "$pki/$1.told" >&2
    return 1
  }
}

# make_service_account_key: the pair that signs and checks the tokens of service accounts.
make_service_account_key() {
  make_key service-account
  openssl ec -in "$pki/service-account.key" -pubout -out "$pki/service-account.pub" 2>/dev/null
}

# write_kubeconfig FILE URL CERTIFICATE: everything is inside the file, so it may be copied.
write_kubeconfig() {
  cat >"$1" <<TEXT
apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {server: "$2", certificate-authority-data: $(base64 -w 0 "$pki/ca.crt")}
users:
- name: test
  user:
    client-certificate-data: $(base64 -w 0 "$pki/$3.crt")
    client-key-data: $(base64 -w 0 "$pki/$3.key")
contexts:
- name: test
  context: {cluster: test, user: test}
current-context: test
TEXT
  chmod 600 "$1"
}
