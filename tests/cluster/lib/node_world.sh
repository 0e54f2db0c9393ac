#!/usr/bin/env bash
# The mount namespace that a real node lives in: node_world.sh NODE_DIRECTORY, under `unshare
# --mount`. It mounts, says so, and then only holds the namespace open.
#
# What containerd, its shims, CNI and the kubelet write below /var and /run stays in the node's
# directory, what they mount is seen by them alone and is gone with the last of them, and the
# kernel's settings that the kubelet would change for the whole machine are files of its own.
set -euo pipefail

node=$1
cluster=${node%/nodes/*}
mkdir -p "$node"/{var,run,work-var,work-run,sysctl}
cd "$cluster"
for tree in var run; do
  mount -t overlay overlay "/$tree" \
    -o "lowerdir=/$tree,upperdir=$node/$tree,workdir=$node/work-$tree"
done
# The cluster's own directory may be below /var or /run. `.` is still the real one.
mkdir -p "$cluster"
mount --bind . "$cluster"

for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops \
  kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  own=$node/sysctl/${setting//\//.}
  cat "/proc/sys/$setting" >"$own"
  mount --bind "$own" "/proc/sys/$setting"
done
touch "$node/ready"
exec sleep infinity
