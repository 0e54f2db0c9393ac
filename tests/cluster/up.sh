#!/usr/bin/env bash
# Starts a Kubernetes cluster for tests and developers. The last line printed is the path of its
# kubeconfig.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/cluster/up.sh NAME [--nodes KIND:COUNT,...] [FLAG...]

  --nodes LIST          fake:10,real:1 and the like; default fake:2. Fake nodes are played by kwok:
                        fake/pods.yaml says what their pods can be told to do. Real ones run a
                        kubelet and containers, and need root
  --proxy               also a fault proxy in front of the API server, with a kubeconfig of its own
  --no-job-controller   the controller manager does not mind batch/v1 Jobs
  --no-limits           the API server lets any number of requests in, for load
  --no-gangs            without the feature gates and the API of native gangs, as by default
  --service-accounts    pods get a service account and its token

tests/cluster/down.sh NAME removes it. It lives in ${DETENT_CLUSTER_DIR:-/tmp/detent-clusters}/NAME.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib/directory.sh"

wrong() {
  echo "tests/cluster/up.sh: $*" >&2
  usage >&2
  exit 2
}

name='' fake=2 real=0
proxy=false job_controller=true limits=true gangs=true service_accounts=false
parse_nodes() {
  fake=0 real=0
  local part
  for part in ${1//,/ }; do
    [[ $part =~ ^(fake|real):([0-9]{1,4})$ ]] ||
      wrong "--nodes: '$part' is neither fake:COUNT nor real:COUNT"
    printf -v "${BASH_REMATCH[1]}" %d "$((10#${BASH_REMATCH[2]}))"
  done
}
while [ $# -gt 0 ]; do
  case $1 in
    --nodes) [ $# -ge 2 ] || wrong "--nodes needs a value"; parse_nodes "$2"; shift ;;
    --proxy) proxy=true ;;
    --no-job-controller) job_controller=false ;;
    --no-limits) limits=false ;;
    --no-gangs) gangs=false ;;
    --service-accounts) service_accounts=true ;;
    -h | --help) usage; exit 0 ;;
    -*) wrong "unknown flag: $1" ;;
    *) [ -z "$name" ] || wrong "more than one name: $name, $1"; name=$1 ;;
  esac
  shift
done
[ -n "$name" ] || wrong "which cluster? NAME is missing"

directory=$(directory_of "$name")
tools=$(CI=true "$here/../tools/build.sh") || exit 1 # Here nothing can be left out.
mkdir "$directory" 2>/dev/null ||
  fail "there is a cluster '$name' already: $directory/kubeconfig; down.sh $name removes it"

# What starts the cluster carries its mark, this script does not: so it can remove all of it,
# whatever happens.
give_up() {
  trap - INT TERM HUP
  "$here/down.sh" "$name" >&2
  exit "$1"
}
trap 'give_up 130' INT TERM HUP
export fake real proxy job_controller limits gangs service_accounts directory tools
env "$mark=$directory" "$here/lib/bring_up.sh" >&2 &
wait $! || give_up 1
if $proxy; then echo "through the fault proxy: $directory/kubeconfig.proxy" >&2; fi
echo "$directory/kubeconfig"
