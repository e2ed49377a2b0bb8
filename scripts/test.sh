#!/usr/bin/env bash
# Installs missing dependencies, builds the preset release, and runs every test. Arguments go to
# ctest: scripts/test.sh -R rotation. All output goes to a log; the terminal shows the progress, the
# tests that did not pass with their output, and ctest's summary, 150 lines at most. With -V it
# shows everything. It installs packages, and otherwise writes below build/ alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/test.log

most_lines=80  # of tests that did not pass, and what they printed
most_summary_lines=35

# Prints a line unless too many were.
left=$most_lines
say() {
  if ((left > 0)); then printf '%s\n' "$1"; fi
  if ((left == 0)); then echo "... (the rest is in $log)"; fi
  left=$((left - 1))
}

# Lines of ctest's: "  12/1700 Test   #12: name ....   Passed    0.01 sec". What a failed test
# printed follows its line, up to the next line of ctest's.
show() {
  local line tenth=0 shown=false result='^ *([0-9]+)/([0-9]+) Test +#[0-9]+: '
  while IFS= read -r line; do
    if [[ $line =~ $result ]]; then
      if ((10 * BASH_REMATCH[1] / BASH_REMATCH[2] > tenth)); then
        tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        printf '%4d %% of %d tests\n' "$((10 * tenth))" "${BASH_REMATCH[2]}"
      fi
      shown=true
      [[ $line != *" Passed "* ]] || shown=false
    elif [[ $line =~ ^\ +Start\ +[0-9]+:\  ]]; then
      shown=false
    elif [[ $line =~ ^[0-9]+%\ tests\ passed|^No\ tests\ were\ found ]]; then
      shown=true left=$most_summary_lines
    elif [[ $line =~ ^Errors\ while ]]; then
      shown=true
    fi
    if $shown; then say "$line"; fi
  done
}

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
./scripts/install_dependencies.sh --left-out build test peers
exit "$status"
