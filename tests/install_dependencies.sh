#!/usr/bin/env bash
# Installs, on Debian 12, the packages that the build and the tests need, and nothing else. Where all are present it
# says nothing, touches no network and takes a few hundredths of a second, so every script may call it first. Arguments
# are more packages that a script needs.
set -euo pipefail

packages=(
  # Tools.
  cmake ninja-build g++ ccache git ca-certificates python3
  # The host: loading plugins, HTTP server, HTTP client, TLS, YAML, storage, time zones, fast JSON, protobuf.
  libboost-dev libboost-filesystem-dev libboost-system-dev libpoco-dev libcurl4-openssl-dev libssl-dev
  libyaml-cpp-dev libsqlite3-dev libhowardhinnant-date-dev libsimdjson-dev libprotozero-dev
  # The tests; the last moves the clock of a process.
  libgtest-dev libgmock-dev libbenchmark-dev libfaketime
  "$@"
)

if ! command -v dpkg-query >/dev/null; then
  echo "install_dependencies: this is not Debian; install what corresponds to: ${packages[*]}" >&2
  exit 1
fi

# dpkg-query fails when it does not know a name, and still prints those it knows.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  [[ $'\n'"$installed"$'\n' == *$'\n'"$package installed"$'\n'* ]] || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies: run as root: apt-get update && apt-get install -y --no-install-recommends" \
      "${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "install_dependencies: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Quiet unless it fails: apt's output is only worth reading then.
if ! { "${as_root[@]}" apt-get update -q &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
