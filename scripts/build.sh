#!/usr/bin/env bash
# Configures and builds a preset: build.sh PRESET [TARGET ...]; all targets unless some are named.
# What CMake and the compiler say goes to a log. If one of them fails, the end of the log is shown,
# and the exit code is theirs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: build.sh PRESET [TARGET ...]}
shift
log=build/logs/build-$preset.log
shown_lines=40

build() {
  cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
}

mkdir -p "$(dirname "$log")"
printf '== Building preset %s (log: %s)\n' "$preset" "$log"
status=0
build "$@" >"$log" 2>&1 || status=$?
[[ $status -eq 0 ]] && exit 0
{
  tail -n "$shown_lines" "$log"
  printf 'build.sh: building preset %s failed with exit code %d; these are the last lines of %s\n' \
    "$preset" "$status" "$log"
} >&2
exit "$status"
