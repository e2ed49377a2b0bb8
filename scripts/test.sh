#!/usr/bin/env bash
# Installs missing dependencies, builds the preset release, and runs all tests except the tests with
# the label thorough (the proofs, and builds with the installed library). Arguments go to ctest. If
# they select tests, they select from all tests: scripts/test.sh -R rotation, scripts/test.sh -L
# thorough. All output goes to a log. The terminal shows the progress, failed and skipped tests, and
# ctest's summary; with -V it shows everything. The script installs packages, and otherwise writes
# only below build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/test.log

# Filters ctest's lines, such as "  12/1700 Test   #12: name ....   Passed    0.01 sec". Prints the
# progress after every tenth of the tests. Prints each test that did not pass, with the output of
# the test, in at most 80 lines, and at most 35 lines of the summary.
show() {
  awk -v log_file="$log" '
    BEGIN { left = 80 }
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
      is_shown = !/ Passed /
      split($1, of_all, "/")
      if (int(10 * of_all[1] / of_all[2]) > tenth) {
        tenth = int(10 * of_all[1] / of_all[2])
        printf "%4d %% of %d tests\n", 10 * tenth, of_all[2]
        fflush()
      }
    }
    /^[0-9]+% tests passed|^No tests were found/ { is_shown = 1; left = 35 }
    /^ +Start +[0-9]+: |^$/ { next }
    is_shown && left > 0 { print }
    is_shown && left == 0 { print "... (the rest is in " log_file ")" }
    is_shown { --left }'
}

[[ " $*" == *" -"[LREI]* ]] || set -- -LE thorough "$@"
./scripts/install_dependencies.sh build test peers
./scripts/build.sh release
filter=show
for argument; do
  case $argument in -V | -VV | --verbose | --extra-verbose | -N | --show-only) filter=cat ;; esac
done
mkdir -p "$(dirname "$log")"
echo "== Testing preset release (log: $log)"
status=0
ctest --preset release -j2 "$@" 2>&1 | tee "$log" | "$filter" || status=$?
exit "$status"
