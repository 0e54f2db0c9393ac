# The fault proxy in front of the API server. Sourced; needs the files beside it, $directory and
# $pki.
#
# kubeconfig.proxy goes through it, proxy.url is where it is told its rules.

start_fault_proxy() {
  choose_ports proxy proxy-control
  make_certificate ca fault-proxy /CN=fault-proxy IP:127.0.0.1,DNS:localhost
  make_certificate front-proxy-ca front-proxy /CN=fault-proxy
  write_kubeconfig "$kubeconfig.proxy" "https://127.0.0.1:$(port_of proxy)" admin
  echo "http://127.0.0.1:$(port_of proxy-control)" >"$directory/proxy.url"
  define fault-proxy "$(tool fault-proxy)" -listen "127.0.0.1:$(port_of proxy)" \
    -control "127.0.0.1:$(port_of proxy-control)" -target "https://127.0.0.1:$(port_of apiserver)" \
    -ca "$pki/ca.crt" -cert "$pki/fault-proxy.crt" -key "$pki/fault-proxy.key" \
    -front-cert "$pki/front-proxy.crt" -front-key "$pki/front-proxy.key"
  define_health fault-proxy "$(tool kubectl)" --kubeconfig "$kubeconfig.proxy" get --raw /readyz
  start fault-proxy
  wait_healthy fault-proxy
}
