# Nodes that kwok plays. Sourced; needs the files beside it, $directory and $here.
#
# What their pods do is described in ../fake/pods.yaml.

define_kwok() {
  define kwok "$(tool kwok)" --kubeconfig "$kubeconfig" --v WARN \
    --config "$here/fake/kwok.yaml" --config "$here/fake/nodes.yaml" --config "$here/fake/pods.yaml"
  # It serves nothing that would have to be waited for: its nodes become ready, or do not.
  define_health kwok true
}

# fake_node_list COUNT: Node objects fake-1 to fake-COUNT. They are made ready and untainted by
# kwok's first stage.
fake_node_list() {
  local i
  for ((i = 1; i <= $1; i++)); do
    cat <<TEXT
---
apiVersion: v1
kind: Node
metadata:
  name: fake-$i
  labels: {detent.dev/node: fake, kubernetes.io/hostname: fake-$i, kubernetes.io/os: linux}
  annotations: {kwok.x-k8s.io/node: fake}
TEXT
  done
}

# start_fake_nodes COUNT: kwok runs for none, too, so that a test can create nodes of its own.
start_fake_nodes() {
  define_kwok
  start kwok
  [ "$1" -eq 0 ] || fake_node_list "$1" | kubectl create -f - >/dev/null ||
    fail "the fake nodes could not be created"
}
