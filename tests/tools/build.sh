#!/usr/bin/env bash
# Builds the test tools that are Go programs, once per version, and prints the path of each that was
# asked for.
#
#   tests/tools/build.sh            all of them
#   tests/tools/build.sh kubectl    one, or several
#
# They are kept in ${DETENT_TOOLS_CACHE:-$HOME/.cache/detent-tools} as TOOL-VERSION, and shared by
# all checkouts. Without Go (1.21 or newer, which fetches the toolchain that go.mod names) they are
# left out, nothing is printed, and one line on stderr says so; that is an error where CI=true,
# because tests that quietly leave things out prove nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${DETENT_TOOLS_CACHE:-$HOME/.cache/detent-tools}
kubernetes=1.37.0
etcd=3.7.3
kwok=0.8.0
all_tools=(kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet kwok etcd
  fault-proxy)

# The fault proxy is our own: its version is what it is made of.
proxy_version() { cat "$here"/../cluster/proxy/{go.mod,*.go} | sha256sum | cut -c 1-12; }

path_of() {
  case $1 in
    etcd) echo "$cache/etcd-$etcd" ;;
    kwok) echo "$cache/kwok-$kwok" ;;
    fault-proxy) echo "$cache/fault-proxy-$(proxy_version)" ;;
    *) echo "$cache/$1-$kubernetes" ;;
  esac
}

find_go() {
  local go
  for go in "$(command -v go || true)" /usr/local/go/bin/go; do
    [ -x "$go" ] || continue
    # GOTOOLCHAIN=local: ask what is installed, without fetching anything.
    local found
    found=$(cd / && GOTOOLCHAIN=local "$go" env GOVERSION 2>/dev/null) || continue
    if [ "$(printf '%s\n' go1.21 "$found" | sort -V | head -n 1)" = go1.21 ]; then
      echo "$go"
      return 0
    fi
  done
  return 1
}

missing() {
  local tool
  for tool in "$@"; do
    [ -x "$(path_of "$tool")" ] || echo "$tool"
  done
}

# build MODULE LDFLAGS OUTPUT PACKAGE: without symbols and DWARF, which take time and room and which
# nobody reads, and with a compiler that collects garbage only where it has much: a sixth less of
# its cpu. Quiet unless it fails.
build() {
  echo "tests/tools: building $(basename "$1"), once per version" >&2
  (cd "$1" && CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off GOGC=off GOMEMLIMIT=2GiB \
    "$go" build -trimpath -gcflags=all=-dwarf=false -ldflags "-s -w $2" -o "$3" "$4") \
    >"$partial/.log" 2>&1 9>&- || {
    cat "$partial/.log" >&2
    exit 1
  }
}

# One module and one `go build` for all that shares packages, so that these are compiled once: kwok
# with the libraries of this Kubernetes takes a few seconds, with its own it takes a minute.
build_module_of() {
  local stamp=k8s.io/component-base/version minor=${kubernetes#*.}
  case $1 in
    etcd) build "$here/etcd" "" "$partial/etcd" go.etcd.io/etcd/server/v3 ;;
    fault-proxy) build "$here/../cluster/proxy" "" "$partial/fault-proxy" . ;;
    *)
      build "$here/kubernetes" "-X $stamp.gitVersion=v$kubernetes \
        -X $stamp.gitMajor=${kubernetes%%.*} -X $stamp.gitMinor=${minor%.*} \
        -X sigs.k8s.io/kwok/pkg/consts.Version=v$kwok" "$partial/" tool
      ;;
  esac
  local built
  for built in "$partial"/*; do mv "$built" "$(path_of "$(basename "$built")")"; done
}

# Two runs at once build once: the second waits for the lock and finds the files.
build_missing() {
  mkdir -p "$cache"
  exec 9>"$cache/.lock"
  flock 9
  partial=$(mktemp -d "$cache/.partial-XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  local tool
  for tool in "$@"; do
    [ -z "$(missing "$tool")" ] || build_module_of "$tool"
  done
}

for tool in "$@"; do
  [[ " ${all_tools[*]} " == *" $tool "* ]] || {
    echo "tests/tools: there is no tool '$tool'; there are: ${all_tools[*]}" >&2
    exit 2
  }
done
[ $# -gt 0 ] || set -- "${all_tools[@]}"

if [ -n "$(missing "$@")" ]; then
  if ! go=$(find_go); then
    echo "tests/tools: Go 1.21 or newer is not installed, so tests are skipped that need:" \
      "$(missing "$@" | paste -s -d ' ')" >&2
    [ "${CI:-}" != true ] || exit 1
  else
    build_missing "$@"
  fi
fi
for tool in "$@"; do
  [ -n "$(missing "$tool")" ] || path_of "$tool"
done
