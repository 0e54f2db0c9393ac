#!/usr/bin/env bash
# Detent's main job, from nothing: installs what is needed, builds, and runs it for real.
#
# Starts a host on a fresh data directory and a small HTTP server, applies two JobConfigs (an HTTP
# task every two seconds, three processes every five), kills the host with SIGKILL in the middle,
# starts it again, and checks that no slot and no task was lost or doubled. Ends all that it started.
# Exit code 0, or 1 with a sentence that says what was not so.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
case "${1:-}" in
  -h|--help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
  '') ;;
  *) echo "unknown argument '$1'; see --help" >&2; exit 2 ;;
esac

"$root/tests/install_dependencies.sh"
say() { printf '\n== %s\n' "$*"; }
if [ ! -f "$root/build/build.ninja" ]; then
  say "Configuring"
  cmake -S "$root" --preset default > /dev/null
fi
say "Building (a few minutes the first time)"
cmake --build "$root/build" --target detent exec http | tail -n 1

work=$(mktemp -d)
detent=$root/build/bin/detent
host_pid='' server_pid=''

finish() {
  status=$?
  set +e   # What follows must be done whatever comes of each step.
  for pid in $host_pid $server_pid; do
    kill "$pid" 2> /dev/null
    wait "$pid" 2> /dev/null
  done
  if [ "$status" -ne 0 ] && [ -f "$work/host.log" ]; then
    echo "--- the host's last lines:" >&2
    tail -n 20 "$work/host.log" >&2
  fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() { echo "quickstart failed: $*" >&2; exit 1; }

# until_true SECONDS WHAT COMMAND...: waits for a condition.
until_true() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" > /dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "$what"
    read -r -t 0.1 <> <(:) || true
  done
}

start_host() {
  "$detent" serve --data "$work/data" --listen 127.0.0.1:0 >> "$work/host.out" 2>> "$work/host.log" &
  host_pid=$!
  local seen=$1
  until_true 10 "the host did not begin to serve" \
    sh -c "[ \$(grep -c '^detent serves' '$work/host.out') -ge $seen ]"
  DETENT_SERVER=$(sed -n 's/^detent serves //p' "$work/host.out" | tail -n 1)
  export DETENT_SERVER
}

jobs_of() { "$detent" get jobs -l "execution.detent.dev/job-config=$1" -o json; }
finished() { # finished JOBCONFIG COUNT: at least that many of its Jobs succeeded
  [ "$(jobs_of "$1" | python3 -c 'import json,sys
print(sum(j["status"].get("phase") == "Succeeded" for j in json.load(sys.stdin)["items"]))')" -ge "$2" ]
}
running_exec() { "$detent" get tasks -o json | grep -q '"state": *"Running"'; }

say "A real HTTP server, and the host"
python3 "$root/examples/quickstart/server.py" "$work/port" "$work/requests" &
server_pid=$!
touch "$work/requests" "$work/record"
until_true 10 "the HTTP server did not start" test -s "$work/port"
start_host 1
echo "the host serves $DETENT_SERVER"

say "Two JobConfigs"
for name in ticker shards; do
  sed -e "s#__PORT__#$(cat "$work/port")#; s#__RECORD__#$work/record#" \
    "$root/examples/quickstart/$name.yaml" > "$work/$name.yaml"
done
"$detent" apply -f "$work/ticker.yaml" -f "$work/shards.yaml"
"$detent" next ticker --count 3
until_true 20 "no Job of ticker succeeded" finished ticker 2
until_true 20 "no process is running" running_exec
"$detent" get jobs
"$detent" get tasks

say "The host is killed (SIGKILL), with processes running"
kill -9 "$host_pid"
wait "$host_pid" 2> /dev/null || true
host_pid=''
read -r -t 3 <> <(:) || true   # The outage itself: slots fall due while nobody is there.
start_host 2
echo "it is back, and serves $DETENT_SERVER"
until_true 30 "Jobs did not go on after the restart" finished ticker 6
until_true 30 "processes did not go on after the restart" finished shards 2

say "No more slots; what is under way comes to its end"
for name in ticker shards; do
  "$detent" apply -f - <<YAML
$(sed 's#^  schedule: {cron#  schedule: {disabled: true, cron#' "$work/$name.yaml")
YAML
done
all_ended() {
  "$detent" get jobs -o json | python3 -c 'import json,sys
sys.exit(any("finishTime" not in j.get("status", {}) for j in json.load(sys.stdin)["items"]))'
}
until_true 30 "some Job never ended" all_ended
"$detent" get jobconfigs
"$detent" get jobs

say "Logs, a result, and the reasons"
task=$("$detent" get tasks -o name | grep shards | head -n 1)
"$detent" logs "$task"
"$detent" get "$("$detent" get tasks -o name | grep ticker | head -n 1)" -o json |
  python3 -c 'import json,sys; print("result:", json.dumps(json.load(sys.stdin)["status"]["output"])[:200])'
"$detent" why jobconfig/ticker

say "Nothing was lost, nothing was doubled"
"$detent" get jobs -o json > "$work/jobs.json"
"$detent" get tasks -o json > "$work/tasks.json"
python3 "$root/examples/quickstart/verify.py" "$work" || fail "see the line above"
