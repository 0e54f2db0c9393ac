#!/usr/bin/env bash
# Measures the figures that Detent promises, and prints each beside its goal.
set -euo pipefail

all=(latency http_throughput plugin_call idle recovery jobconfigs_100k)
clusters=(pod_tracking pod_recovery pod_growth)  # Named only: they take minutes, Go, a cluster.

usage() {
  cat <<TEXT
Usage: tests/bench/run.sh [NAME...] [-o json] [--host BINARY] [--build DIR]

  NAME           which figures: ${all[*]} (all);
                 ${clusters[*]} only when they are named
  -o json        one JSON array instead of a table
  --host BINARY  measure this detent (its plugins in ../lib/detent/plugins) and do not build one
  --build DIR    where programs are built (build)
  --help         this text

Exits 0 also when a goal is missed, and says so; 1 when a figure could not be taken. Hosts keep
their data under \${TMPDIR:-/tmp}: put it on the disk that is to be measured. A busy machine shows in
every figure, so its load is printed beside them.
TEXT
}

names=() format=table host='' build=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o | --host | --build)
      [ $# -ge 2 ] || { echo "tests/bench/run.sh: $1 needs a value" >&2; exit 2; }
      case $1 in
        -o) format=$2 ;;
        --host) host=$(realpath -- "$2") ;;
        --build) build=$(realpath -m -- "$2") ;;
      esac
      shift
      ;;
    *)
      if [[ " ${all[*]} ${clusters[*]} " != *" $1 "* ]]; then
        echo "tests/bench/run.sh: no figure '$1'; there are: ${all[*]} ${clusters[*]}" >&2
        exit 2
      fi
      names+=("$1")
      ;;
  esac
  shift
done
case $format in
  table | json) ;;
  *) echo "tests/bench/run.sh: -o takes json, not '$format'" >&2; exit 2 ;;
esac
[ "${#names[@]}" -gt 0 ] || names=("${all[@]}")

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tests/install_dependencies.sh
build=${build:-$PWD/build}
[ -f "$build/build.ninja" ] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo >&2
targets=(bench_programs)
[ -n "$host" ] || targets+=(detent exec http pod)
cmake --build "$build" --target "${targets[@]}" >&2

export DETENT_BENCH_PROGRAMS=$build/bench
export DETENT_BENCH_HOST=${host:-$build/bin/detent}
export PYTHONDONTWRITEBYTECODE=1
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
trap 'exit 130' INT TERM   # What the figure under way has started, it ends itself.
failed=0
for name in "${names[@]}"; do
  echo "measuring $name (load $(cut -d' ' -f1 /proc/loadavg))" >&2
  python3 "tests/bench/$name.py" >>"$rows" || { echo "$name could not be measured" >&2; failed=1; }
done
python3 tests/bench/table.py "$format" <"$rows"
exit "$failed"
