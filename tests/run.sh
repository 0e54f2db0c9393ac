#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests. ctest's closing lines are the last output and its exit code is ours.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/run.sh [--quick] [--preset NAME] [-R REGEX]

  --quick        only the levels of the inner loop: unit, contract, tidy
  --preset NAME  a preset of CMakePresets.json: default, debug, asan, tsan, clang
  -R REGEX       only the tests whose name matches
  --help         this text

The level of a test is its ctest label; `ctest --test-dir build --print-labels` lists them.
TEXT
}

quick=false
preset=default
select=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=true ;;
    --preset | -R)
      [ $# -ge 2 ] || { echo "tests/run.sh: $1 needs a value" >&2; exit 2; }
      if [ "$1" = -R ]; then select+=(-R "$2"); else preset=$2; fi
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) echo "tests/run.sh: unknown argument: $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tests/install_dependencies.sh

if [ "$preset" = default ]; then build=build; else build=build-$preset; fi
mkdir -p "$build"
log=$build/run.log

# Runs a command silently; shows its output only when it fails.
quietly() {
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    echo "tests/run.sh: failed: $*" >&2
    exit 1
  fi
}
quietly cmake --preset "$preset"
quietly cmake --build "$build"

if $quick; then
  select+=(-L 'unit|contract|tidy')
else
  tools=$(tests/tools/build.sh)
  kubectl=$(grep /kubectl- <<<"$tools" || true)
  [ -z "$kubectl" ] || export DETENT_KUBECTL=${DETENT_KUBECTL:-$kubectl}
fi

# A failing binary then shows its failures only, not every test that passed.
export GTEST_BRIEF=${GTEST_BRIEF:-1}
ctest --test-dir "$build" -j2 --output-on-failure --no-tests=error "${select[@]}"
