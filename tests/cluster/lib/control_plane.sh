# etcd, API server, controller manager and scheduler. Sourced; needs the files beside it,
# $directory, $pki and the options of up.sh: $job_controller, $limits, $service_accounts, $gangs
# (true or false each), $service_network.

define_control_plane() {
  choose_ports etcd apiserver controller-manager scheduler
  make_authority ca /CN=detent-test-cluster
  make_authority front-proxy-ca /CN=detent-test-front-proxies
  make_service_account_key
  local names=IP:127.0.0.1,IP:${service_network%.*}.1,DNS:localhost,DNS:kubernetes
  names+=,DNS:kubernetes.default,DNS:kubernetes.default.svc
  make_certificate ca apiserver /CN=kube-apiserver "$names"
  make_certificate ca admin /O=system:masters/CN=admin
  write_kubeconfig "$kubeconfig" "https://127.0.0.1:$(port_of apiserver)" admin
  define_etcd
  define_apiserver
  define_controller_manager
  define_scheduler
}

define_etcd() {
  local url
  url=http://127.0.0.1:$(port_of etcd)
  define etcd "$(tool etcd)" --name etcd --data-dir "$directory/etcd" --unsafe-no-fsync=true \
    --listen-client-urls "$url" --advertise-client-urls "$url" \
    --listen-peer-urls http://127.0.0.1:0 \
    --quota-backend-bytes 8589934592 --log-level warn
  define_health etcd "$(tool kubectl)" --server "$url" get --raw /health
}

# Feature gates belong together: native gangs are an API, a scheduler plugin and a part of the Job
# controller.
gates() {
  if $gangs; then echo --feature-gates "$1"; fi
}

define_apiserver() {
  local flags=()
  $service_accounts || flags+=(--disable-admission-plugins ServiceAccount)
  $limits || flags+=(--max-requests-inflight 0 --max-mutating-requests-inflight 0
    --enable-priority-and-fairness=false)
  if $gangs; then flags+=(--runtime-config scheduling.k8s.io/v1beta1=true); fi
  # shellcheck disable=SC2046 # Two words or none.
  define apiserver "$(tool kube-apiserver)" \
    --etcd-servers "http://127.0.0.1:$(port_of etcd)" \
    --bind-address 127.0.0.1 --secure-port "$(port_of apiserver)" \
    --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
    --client-ca-file "$pki/ca.crt" \
    --kubelet-client-certificate "$pki/admin.crt" --kubelet-client-key "$pki/admin.key" \
    --kubelet-preferred-address-types InternalIP \
    --requestheader-client-ca-file "$pki/front-proxy-ca.crt" \
    --requestheader-allowed-names fault-proxy \
    --requestheader-username-headers X-Remote-User --requestheader-group-headers X-Remote-Group \
    --service-account-issuer https://kubernetes.default \
    --service-account-key-file "$pki/service-account.pub" \
    --service-account-signing-key-file "$pki/service-account.key" \
    --service-cluster-ip-range "$service_network" \
    --authorization-mode Node,RBAC --allow-privileged=true \
    $(gates GenericWorkload=true,WorkloadWithJob=true) "${flags[@]}"
  define_health apiserver "$(tool kubectl)" --kubeconfig "$kubeconfig" get --raw /readyz
}

define_controller_manager() {
  local controllers='*'
  $job_controller || controllers='*,-job-controller'
  # shellcheck disable=SC2046
  define controller-manager "$(tool kube-controller-manager)" \
    --kubeconfig "$kubeconfig" --leader-elect=false --controllers "$controllers" \
    --bind-address 127.0.0.1 --secure-port "$(port_of controller-manager)" \
    --service-account-private-key-file "$pki/service-account.key" --root-ca-file "$pki/ca.crt" \
    --kube-api-qps 10000 --kube-api-burst 10000 $(gates GenericWorkload=true,WorkloadWithJob=true)
  define_own_health controller-manager
}

define_scheduler() {
  # shellcheck disable=SC2046
  define scheduler "$(tool kube-scheduler)" --kubeconfig "$kubeconfig" --leader-elect=false \
    --bind-address 127.0.0.1 --secure-port "$(port_of scheduler)" \
    --kube-api-qps 10000 --kube-api-burst 10000 $(gates GenericWorkload=true)
  define_own_health scheduler
}

# They serve with a certificate that they make themselves. They do not look at ours; without one
# kubectl asks for a name.
define_own_health() {
  define_health "$1" "$(tool kubectl)" --server "https://127.0.0.1:$(port_of "$1")" \
    --insecure-skip-tls-verify --client-certificate "$pki/admin.crt" \
    --client-key "$pki/admin.key" get --raw /healthz
}

start_control_plane() {
  start etcd
  start apiserver # It waits for etcd by itself.
  wait_healthy apiserver
  start controller-manager
  start scheduler
  wait_healthy controller-manager
  wait_healthy scheduler
  if $service_accounts; then
    wait_until 30 "the namespace default has its service account" \
      quietly kubectl get serviceaccount default || fail "the controller manager made none"
  fi
}
