#!/usr/bin/env bash
# Makes the host's container image of a finished build, without a registry and without a builder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/make_image.sh"

if [ $# -ne 3 ]; then
  cat >&2 <<'TEXT'
Usage: config/image/build.sh BUILD REFERENCE ARCHIVE

  BUILD      a finished build, such as build/
  REFERENCE  the image's name, such as localhost/detent:0.1.0
  ARCHIVE    the file to write, for `docker load`, `podman load` or `ctr images import`
TEXT
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/root.sh" "$1" "$work/root"
make_image "$2" "$work/root" "$3" /usr/bin/detent serve
echo "$3 holds the image $2"
