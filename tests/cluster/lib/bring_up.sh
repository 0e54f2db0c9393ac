#!/usr/bin/env bash
# Brings up the cluster in $directory with the options that up.sh exports. It runs under the
# cluster's mark, and fails with the reason on stderr; removing what it has started is up.sh's
# business.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in directory component ports certificates network cgroups images \
  control_plane fake_nodes real_nodes fault_proxy; do
  source "$here/lib/$part.sh"
done
pki=$directory/pki
kubeconfig=$directory/kubeconfig
service_network=10.0.0.0/24

# tool NAME: the path of a program that tests/tools/build.sh has built.
tool() {
  grep "/$1-[^/]*$" <<<"$tools" || fail "tests/tools/build.sh has not built $1"
}
kubectl() {
  "$(tool kubectl)" --kubeconfig "$kubeconfig" --cache-dir "$directory/kubectl" "$@"
}
quietly() {
  "$@" >/dev/null 2>&1
}

# A node takes pods once it is ready and the taints that it was born with are gone.
nodes_take_pods() {
  local ready='{.status.conditions[?(@.type=="Ready")].status}' taints='{.spec.taints[*].key}' seen
  seen=$(kubectl get nodes -o jsonpath="{range .items[*]}$ready$taints{\"\n\"}{end}") &&
    [ "$(grep -cx True <<<"$seen")" -eq "$1" ]
}

# Fails with the end of the log of a component that has ended.
all_run() {
  local component
  for component in "$directory"/components/*/; do
    component=$(basename "$component")
    if ! is_running "$component"; then
      show_log "$component"
      fail "$component has ended"
    fi
  done
}

nodes_take_pods_or_one_ended() {
  nodes_take_pods "$1" || ! (all_run) 2>/dev/null
}

if [ "$real" -gt 0 ]; then
  install_for_real_nodes
  choose_network
  make_bridge
  service_network=10.89.$network.0/24
fi
define_control_plane
start_control_plane
start_fake_nodes "$fake"
if [ "$real" -gt 0 ]; then start_real_nodes "$real"; fi
if $proxy; then start_fault_proxy; fi
wait_until 60 "all nodes take pods" nodes_take_pods_or_one_ended "$((fake + real))" || {
  kubectl get nodes >&2
  fail "the nodes are not ready; logs: $directory/components/*/log"
}
all_run
