#!/usr/bin/env bash
# Configures and builds a preset: build.sh PRESET [TARGET ...]; all targets unless some are named.
# The output of CMake and the compiler goes to a log. If one of them fails, this prints the failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: build.sh PRESET [TARGET ...]}
shift
log=build/logs/build-$preset.log

mkdir -p "$(dirname "$log")"
echo "== Building preset $preset (log: $log)"
{
  cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}
} >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  echo "build.sh: building preset $preset failed (log: $log)" >&2
  exit 1
}
