# The control groups that a cluster's containers run in: one root per cluster, in each hierarchy of
# cgroup v1, or in the only one of v2. Sourced; needs directory.sh.

cgroups_of() {
  local group
  for group in /sys/fs/cgroup/"$(short_name "$1")" /sys/fs/cgroup/*/"$(short_name "$1")"; do
    [ ! -d "$group" ] || echo "$group"
  done
}

# make_cgroups DIRECTORY PATH: the root and PATH below it.
make_cgroups() {
  local hierarchy
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mkdir -p "/sys/fs/cgroup/$(short_name "$1")/$2"
    return
  fi
  for hierarchy in /sys/fs/cgroup/*/; do
    [ ! -e "${hierarchy}cgroup.procs" ] || mkdir -p "$hierarchy$(short_name "$1")/$2"
  done
}

# processes_in_cgroups_of DIRECTORY: what runs in its containers carries no mark.
processes_in_cgroups_of() {
  local group
  for group in $(cgroups_of "$1"); do
    find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null || true
  done | sort -u
}

remove_cgroups() {
  local group
  for group in $(cgroups_of "$1"); do
    find "$group" -depth -type d -exec rmdir {} + || return 1
  done
}
