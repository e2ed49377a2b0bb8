#!/usr/bin/env bash
# Installs missing dependencies, builds the preset release, and runs all tests except the tests with
# the label thorough: the proofs, builds with the installed library, every entry of large tables,
# and hundreds of tables for the judge. Arguments go to ctest. If they select tests, they select
# from all tests: scripts/test.sh -R rotation, scripts/test.sh -L thorough. All output goes to a
# log. The terminal shows the progress, failed and skipped tests, and ctest's summary. The script
# installs packages, and otherwise writes only below build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/test.log

# Shows one of 200 tests that passed, and everything about the other tests.
filter='/ Passed +[0-9.]+ sec$/ { if (++passed % 200) next } /^ +Start +[0-9]+: |^$/ { next } 1'

[[ " $*" == *" -"[LREI]* ]] || set -- -LE thorough "$@"
./scripts/install_dependencies.sh build test peers
./scripts/build.sh release
mkdir -p "$(dirname "$log")"
echo "== Testing preset release (log: $log)"
ctest --preset release -j2 "$@" 2>&1 | tee "$log" | awk "$filter"
