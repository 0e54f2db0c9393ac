#!/usr/bin/env bash
# Kills and starts single components of a running cluster.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/cluster/component.sh NAME                   lists the components and their process ids
       tests/cluster/component.sh NAME kill COMPONENT    SIGKILL, and waits until it is gone
       tests/cluster/component.sh NAME start COMPONENT   same ports and data; waits until it serves
       tests/cluster/component.sh NAME restart COMPONENT both
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in directory component; do source "$here/lib/$part.sh"; done

case "$# ${1:-}" in
  '1 -h' | '1 --help') usage; exit 0 ;;
  '1 '* | '3 '*) ;;
  *) usage >&2; exit 2 ;;
esac
directory=$(directory_of "$1")
[ -d "$directory/components" ] || fail "there is no cluster '$1'; tests/cluster/up.sh $1 starts one"

if [ $# -eq 1 ]; then
  for component in "$directory"/components/*/; do
    component=$(basename "$component")
    echo "$component $(if is_running "$component"; then pid_of "$component"; else echo -; fi)"
  done
  exit 0
fi

[ -x "$directory/components/$3/command" ] ||
  fail "'$1' has no component '$3'; it has: $(ls -m "$directory/components")"
start_again() {
  ! is_running "$1" || fail "$1 runs already"
  start "$1"
  wait_healthy "$1"
}
case $2 in
  kill) kill_component "$3" ;;
  start) start_again "$3" ;;
  restart) kill_component "$3"; start_again "$3" ;;
  *) usage >&2; exit 2 ;;
esac
