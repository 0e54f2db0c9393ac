# Where a cluster lives, and what on this machine is its own. Sourced by the scripts beside it.
#
# Everything about the cluster NAME is in one directory. Each process that belongs to it carries the
# directory in its environment, under the name below, and so do the processes that it starts in
# turn. What is found by that mark is found also when a script was killed before it could write down
# what it had started.

clusters=${DETENT_CLUSTER_DIR:-/tmp/detent-clusters}
mark=DETENT_CLUSTER_MARK

fail() {
  echo "tests/cluster: $*" >&2
  exit 1
}

# directory_of NAME: its path, which exists only while the cluster does.
directory_of() {
  [[ $1 =~ ^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$ ]] ||
    fail "cluster name '$1': use up to 32 of a-z, 0-9 and '-', not at the ends"
  mkdir -p "$clusters"
  echo "$(cd "$clusters" && pwd -P)/$1"
}

# processes_of DIRECTORY: ids of the live processes that carry its mark.
processes_of() {
  grep -lzsxF "$mark=$1" /proc/[0-9]*/environ | cut -d / -f 3 || true
}

# short_name DIRECTORY: eleven letters and digits that differ between clusters, for names with
# little room.
short_name() {
  echo "dtc$(sha256sum <<<"$1" | cut -c 1-8)"
}

# in_milliseconds: a clock for deadlines.
in_milliseconds() {
  local now=${EPOCHREALTIME/[.,]/}
  echo $((now / 1000))
}

# wait_until SECONDS WHAT COMMAND...: asks again and again until the command succeeds; 1 when time
# is over.
wait_until() {
  local what=$2 deadline=$(($(in_milliseconds) + $1 * 1000))
  shift 2
  until "$@"; do
    [ "$(in_milliseconds)" -lt "$deadline" ] || {
      echo "tests/cluster: still not so: $what" >&2
      return 1
    }
    sleep 0.05 # Between two looks; the condition decides.
  done
}
