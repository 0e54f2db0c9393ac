#!/usr/bin/env bash
# Removes a cluster, whatever state it is in: running, half started, with components killed, or
# already gone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in directory network cgroups; do source "$here/lib/$part.sh"; done

case ${1:-} in
  '' | -*)
    echo "Usage: tests/cluster/down.sh NAME" >&2
    [ "${1:-}" = --help ] || exit 2
    exit 0
    ;;
esac
directory=$(directory_of "$1")

# Nothing of it is kept, so nothing has to end in order. Again until none is found: what is killed
# may just have started another.
end_processes() {
  local ids
  mapfile -t ids < <(processes_of "$directory"; processes_in_cgroups_of "$directory")
  [ ${#ids[@]} -gt 0 ] || return 0
  kill -KILL "${ids[@]}" 2>/dev/null || true
  return 1
}
wait_until 30 "all processes of '$1' are gone" end_processes ||
  fail "still there: $(processes_of "$directory" | tr '\n' ' ')"
remove_bridge "$directory"
# A group stays busy for a moment after its last process has ended.
wait_until 10 "the control groups of '$1' are gone" remove_cgroups "$directory" ||
  fail "still there: $(cgroups_of "$directory" | tr '\n' ' ')"
rm -rf "$directory"
