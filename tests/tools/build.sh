#!/usr/bin/env bash
# Builds the test tools that are pinned as Go modules, once per version, and prints the path of each.
#
#   tests/tools/build.sh            builds kubectl into ${DETENT_TOOLS_CACHE:-$HOME/.cache/detent-tools}
#
# Tests look for kubectl in $DETENT_KUBECTL, then in the path printed here. Without Go (1.21 or newer, which fetches the
# toolchain that go.mod names) the tool is left out and one line says so; that is an error where CI=true, because
# tests that quietly leave things out prove nothing there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${DETENT_TOOLS_CACHE:-$HOME/.cache/detent-tools}
version=1.37.0
out=$cache/kubectl-$version

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

if [ -x "$out" ]; then
  echo "$out"
  exit 0
fi

if ! go=$(find_go); then
  echo "tests/tools: kubectl $version is left out, because Go 1.21 or newer is not installed;" \
    "tests that drive kubectl will be skipped" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
fi

mkdir -p "$cache"
# Two runs at once build once: the second waits for the lock and finds the file.
exec 9>"$cache/.lock"
flock 9
if [ ! -x "$out" ]; then
  echo "tests/tools: building kubectl $version (a few minutes, once)" >&2
  partial=$(mktemp -d "$cache/.partial-XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  package=k8s.io/component-base/version
  stamp="-X $package.gitVersion=v$version -X $package.gitMajor=1 -X $package.gitMinor=37"
  (cd "$here/kubectl" && CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off \
    "$go" build -trimpath -ldflags "-s -w $stamp" -o "$partial/kubectl" k8s.io/kubernetes/cmd/kubectl) >&2
  mv "$partial/kubectl" "$out"
fi
echo "$out"
