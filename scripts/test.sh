#!/usr/bin/env bash
# Installs missing dependencies, builds the preset release, and runs every test. Arguments go to
# ctest: scripts/test.sh -R rotation. All output goes to a log; the terminal shows the progress, the
# tests that failed with their output, ctest's summary and why tests were skipped. With -V it shows
# everything. It installs packages, and otherwise writes below build/ alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/test.log
outputs=build/release/Testing/Temporary/LastTest.log  # of ctest: what each test printed

# Lines of ctest's: "  12/1700 Test   #12: name ....   Passed    0.01 sec". What a failed test
# printed follows its line. Shows 80 lines of failures at most, and 35 of the summary.
show() {
  awk -v log_file="$log" '
    BEGIN { left = 80 }
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
      is_shown = !/ Passed |\*\*\*Skipped /
      split($1, of_all, "/")
      if (int(10 * of_all[1] / of_all[2]) > tenth) {
        tenth = int(10 * of_all[1] / of_all[2])
        printf "%4d %% of %d tests\n", 10 * tenth, of_all[2]
        fflush()
      }
    }
    /^ +Start +[0-9]+: / { is_shown = 0 }
    /^[0-9]+% tests passed|^No tests were found/ { is_shown = 1; left = 35 }
    /^$|\(Skipped\)$|^The following tests did not run:$/ { next }
    is_shown && left > 0 { print }
    is_shown && left == 0 { print "... (the rest is in " log_file ")" }
    is_shown { --left }'
}

# "why; why else": the reasons that tests printed, in the way of GoogleTest or of the scripts.
reasons() {
  awk 'follows { print } { follows = /: Skipped$/ } sub(/^.*[Ss]kipped: /, "")' "$outputs" |
    sort -u | awk '{ printf "%s%s", separator, $0; separator = "; " }'
}

./scripts/install_dependencies.sh build test peers
./scripts/build.sh release
filter=show
for argument; do
  case $argument in -V | -VV | --verbose | --extra-verbose | -N | --show-only) filter=cat ;; esac
done
mkdir -p "$(dirname "$log")"
rm -f "$outputs"  # of an earlier run
echo "== Testing preset release (log: $log)"
status=0
ctest --preset release -j2 "$@" 2>&1 | tee "$log" | "$filter" || status=$?
if skipped=$(grep -c '\*\*\*Skipped ' "$log"); then
  echo "$skipped tests were skipped: $(reasons)"
fi
./scripts/install_dependencies.sh --left-out build test peers
exit "$status"
