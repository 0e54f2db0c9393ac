#!/usr/bin/env bash
# Makes a container image of a directory and gives it to the real nodes of a cluster.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in directory component images real_nodes; do source "$here/lib/$part.sh"; done

if [ $# -lt 4 ]; then
  cat >&2 <<'TEXT'
Usage: tests/cluster/image.sh NAME REFERENCE ROOT COMMAND [ARGUMENT...]

  NAME       of the cluster
  REFERENCE  localhost/NAME:TAG, as pods will name it; not the tag `latest`, which is always pulled
  ROOT       a directory that becomes the container's root; `busybox`: one with the usual programs
  COMMAND    what runs when a pod does not say
TEXT
  exit 2
fi
directory=$(directory_of "$1")
[ -d "$directory/images" ] || fail "there is no cluster '$1' with real nodes"
root=$3
[ "$root" != busybox ] || root=$directory/images/root
[ -d "$root" ] || fail "$root is not a directory"
archive=$directory/images/$(sha256sum <<<"$2" | cut -c 1-12).tar
make_image "$2" "$root" "$archive" "${@:4}"
for node in "$directory"/nodes/*/; do
  load_image "$(basename "$node" | cut -d - -f 2)" "$archive"
done
