#!/usr/bin/env bash
# Configures and builds a preset: build.sh PRESET [TARGET ...]; all targets unless some are named.
# The output of CMake and the compiler goes to a log. If one of them fails, this prints the failure
# and exits with its exit code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: build.sh PRESET [TARGET ...]}
shift
log=build/logs/build-$preset.log

mkdir -p "$(dirname "$log")"
printf '== Building preset %s (log: %s)\n' "$preset" "$log"
status=0
{
  cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
} >"$log" 2>&1 || status=$?
[[ $status -eq 0 ]] && exit 0
{
  tail -n 40 "$log"
  printf 'build.sh: building preset %s failed with exit code %d (log: %s)\n' \
    "$preset" "$status" "$log"
} >&2
exit "$status"
