# Nodes that run containers: kubelet, containerd, runc. Sourced; needs the files beside it,
# $directory, $pki and $here.
#
# Each node real-N is three components: real-N, which holds its mount namespace open, and
# containerd-N and kubelet-N in there.

node_packages=(containerd runc containernetworking-plugins busybox-static iproute2)

install_for_real_nodes() {
  [ "$(id -u)" -eq 0 ] || fail "real nodes need root: they mount, and run containers"
  "$here/../install_dependencies.sh" "${node_packages[@]}" >&2
}

# in_world N COMMAND...: runs it where the node lives.
in_world() {
  nsenter "$(world_of "$1")" "${@:2}"
}

world_of() {
  echo "--mount=/proc/$(pid_of "real-$1")/ns/mnt"
}

define_containerd() {
  local node=$directory/nodes/real-$1
  mkdir -p "$node/cni"
  cat >"$node/cni/10-bridge.conflist" <<TEXT
{"cniVersion": "0.4.0", "name": "detent", "plugins": [
  {"type": "bridge", "bridge": "$(short_name "$directory")", "isGateway": false, "ipMasq": false,
   "ipam": {"type": "host-local", "dataDir": "$directory/addresses",
            "ranges": [[{"subnet": "10.88.$network.0/24", "gateway": "10.88.$network.1"}]],
            "routes": [{"dst": "0.0.0.0/0", "gw": "10.88.$network.1"}]}}]}
TEXT
  cat >"$node/containerd.toml" <<TEXT
version = 2
root = "$node/containerd"
state = "$node/state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.internal.v1.opt"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  # A machine may lack the capability to lower it, and every sandbox would fail.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$node/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
TEXT
  define "containerd-$1" nsenter "$(world_of "$1")" \
    containerd --config "$node/containerd.toml" --log-level warn
  define_health "containerd-$1" nsenter "$(world_of "$1")" ctr version
}

define_kubelet() {
  local node=$directory/nodes/real-$1
  make_certificate ca "real-$1" "/O=system:nodes/CN=system:node:real-$1" \
    "IP:10.88.$network.1,DNS:real-$1"
  write_kubeconfig "$node/kubeconfig" "https://127.0.0.1:$(port_of apiserver)" "real-$1"
  cat >"$node/kubelet.yaml" <<TEXT
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 10.88.$network.1
port: $(port_of "kubelet-$1")
healthzPort: $(port_of "kubelet-health-$1")
readOnlyPort: 0
tlsCertFile: $pki/real-$1.crt
tlsPrivateKeyFile: $pki/real-$1.key
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: $pki/ca.crt}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$(short_name "$directory")/real-$1
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
makeIPTablesUtilChains: false
volumePluginDir: $node/kubelet/volume-plugins
# A machine that is short of disk or memory is no reason for a test to fail.
evictionHard:
  {memory.available: 1Mi, nodefs.available: 1Mi, nodefs.inodesFree: "1", imagefs.available: 1Mi}
imageGCHighThresholdPercent: 100
TEXT
  define "kubelet-$1" nsenter "$(world_of "$1")" "$(tool kubelet)" \
    --config "$node/kubelet.yaml" --kubeconfig "$node/kubeconfig" --root-dir "$node/kubelet" \
    --hostname-override "real-$1" --node-ip "10.88.$network.1" --node-labels detent.dev/node=real
  define_health "kubelet-$1" "$(tool kubectl)" \
    --server "http://127.0.0.1:$(port_of "kubelet-health-$1")" get --raw /healthz
}

# load_image N ARCHIVE
load_image() {
  in_world "$1" ctr --namespace k8s.io images import "$2" >/dev/null
}

# What a node has from the start: its sandboxes' image and one with a shell.
make_images() {
  mkdir -p "$directory/images"
  make_busybox_root "$directory/images/root"
  make_image localhost/busybox:1 "$directory/images/root" "$directory/images/busybox.tar" sh
  make_image localhost/pause:1 "$directory/images/root" "$directory/images/pause.tar" sleep infinity
}

start_real_node() {
  local node=$directory/nodes/real-$1 archive
  mkdir -p "$node"
  define "real-$1" unshare --mount "$here/lib/node_world.sh" "$node"
  define_health "real-$1" test -e "$node/ready"
  start "real-$1"
  wait_healthy "real-$1"
  make_cgroups "$directory" "real-$1"
  choose_ports "kubelet-$1" "kubelet-health-$1"
  define_containerd "$1"
  define_kubelet "$1"
  start "containerd-$1"
  wait_healthy "containerd-$1"
  for archive in "$directory"/images/*.tar; do load_image "$1" "$archive"; done
  start "kubelet-$1"
}

# define_service_address: https://10.89.N.1, as pods know the API; nothing here plays kube-proxy.
define_service_address() {
  define service-address "$(tool fault-proxy)" -forward "10.89.$network.1:443" \
    "127.0.0.1:$(port_of apiserver)"
  define_health service-address "$(tool kubectl)" --kubeconfig "$kubeconfig" \
    --server "https://10.89.$network.1:443" get --raw /livez
}

start_real_nodes() {
  make_images
  define_service_address
  start service-address
  wait_healthy service-address
  local i
  for ((i = 1; i <= $1; i++)); do start_real_node "$i"; done
  for ((i = 1; i <= $1; i++)); do wait_healthy "kubelet-$i"; done
}
