# Starts, ends and watches the programs of a cluster. Sourced; needs directory.sh and $directory.
#
# A component is a directory: `command` (a script that becomes the program), `pid`, `log`, and
# `healthy` (a script that succeeds once it serves). Starting it again is running the same command:
# same ports, same data.

# define COMPONENT PROGRAM ARGUMENTS...: what it is; nothing runs yet.
define() {
  local component=$directory/components/$1
  shift
  mkdir -p "$component"
  {
    echo '#!/usr/bin/env bash'
    printf 'exec'
    printf ' \\\n  %q' "$@"
    echo
  } >"$component/command"
  chmod +x "$component/command"
}

# define_health COMPONENT COMMAND...: how to ask whether it serves.
define_health() {
  local component=$directory/components/$1
  shift
  { echo '#!/usr/bin/env bash'; printf '%q ' "$@"; echo '>/dev/null 2>&1'; } >"$component/healthy"
  chmod +x "$component/healthy"
}

# start COMPONENT: in a session of its own, so that an interrupt at the terminal does not reach it.
start() {
  local component=$directory/components/$1
  env "$mark=$directory" setsid "$component/command" </dev/null >>"$component/log" 2>&1 9>&- &
  echo "$! $(birth_of $!)" >"$component/pid"
}

# birth_of PID: when it was started; with it a process ID means one process for ever. Fails if it
# has ended.
birth_of() {
  local stat
  read -r -a stat < <(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) &&
    [ "${stat[0]}" != Z ] && echo "${stat[19]}"
}

pid_of() {
  cut -d ' ' -f 1 "$directory/components/$1/pid"
}

is_running() {
  local pid born
  # One that had ended before its birth could be looked up has none.
  read -r pid born <"$directory/components/$1/pid" && [ -n "$born" ] &&
    [ "$(birth_of "$pid")" = "$born" ]
} 2>/dev/null

# The end of its log, for the one who has to find out why.
show_log() {
  echo "tests/cluster: the last lines of $1's log:" >&2
  tail -n "${2:-15}" "$directory/components/$1/log" | cut -c 1-400 | sed 's/^/  /' >&2
}

healthy_or_gone() {
  "$directory/components/$1/healthy" || ! is_running "$1"
}

# wait_healthy COMPONENT [SECONDS]: until it serves; fails with the end of its log when it ends or
# takes too long.
wait_healthy() {
  if ! wait_until "${2:-60}" "$1 serves" healthy_or_gone "$1"; then
    show_log "$1"
    fail "$1 does not serve after ${2:-60} s"
  fi
  is_running "$1" && return
  show_log "$1"
  fail "$1 ended while it started"
}

# kill_component COMPONENT: at once, as a crash would, and waits until it is gone.
kill_component() {
  is_running "$1" || fail "$1 does not run"
  kill -KILL "$(pid_of "$1")"
  wait_until 10 "$1 is gone" is_gone "$1"
}

is_gone() {
  ! is_running "$1"
}
