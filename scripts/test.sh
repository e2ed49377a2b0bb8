#!/usr/bin/env bash
# Installs missing dependencies, builds the preset release, and runs every test. Arguments go to
# ctest: scripts/test.sh -R rotation. All output goes to a log; the terminal shows the progress, the
# tests that failed with their output, ctest's summary and why tests were skipped, 150 lines at
# most. With -V it shows everything. It installs packages, and otherwise writes below build/ alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/test.log
outputs=build/release/Testing/Temporary/LastTest.log  # of ctest: what each test printed

most_lines=80  # of tests that failed, and what they printed
most_lines_of_test=30
most_summary_lines=35

# Prints a line unless too many were.
left=$most_lines
say() {
  if ((left > 0)); then printf '%s\n' "$1"; fi
  if ((left == 0)); then echo "... (the rest is in $log)"; fi
  left=$((left - 1))
}

# Prints the end of what a test printed, which says why it failed.
printed="" printed_lines=0
say_printed() {
  local line
  if ((printed_lines > most_lines_of_test)); then say "... (all of it is in $log)"; fi
  if ((printed_lines > 0)); then
    while IFS= read -r line; do say "$line"; done \
      < <(printf '%s' "$printed" | tail -n "$most_lines_of_test")
  fi
  printed="" printed_lines=0
}

# "why (35); why else", the most frequent first: the first reason that each test printed, in the way
# of GoogleTest or of the scripts.
reasons() {
  awk '
    /^Output:$/ { is_said = 0; follows = 0 }
    !is_said && (follows || sub(/^.*[Ss]kipped: /, "")) { ++count[$0]; is_said = 1 }
    { follows = /: Skipped$/ }
    END { for (why in count) printf "%d\t%s\n", count[why], why }
  ' "$outputs" | sort -rn | awk -F '\t' '
    { printf "%s%s%s", separator, $2, ($1 > 1 ? " (" $1 ")" : ""); separator = "; " }'
}

# Lines of ctest's: "  12/1700 Test   #12: name ....   Passed    0.01 sec". What a failed test
# printed follows its line, up to the next line of ctest's.
show() {
  local line tenth=0 skipped=0 state=ignore heading=""
  local result='^ *([0-9]+)/([0-9]+) Test +#[0-9]+: ' not_run='The following tests did not run:'
  while IFS= read -r line; do
    if [[ $line =~ $result || $line =~ ^\ +Start\ +[0-9]+:\  ]]; then
      say_printed
      state=ignore
    fi
    if [[ $line =~ $result ]]; then
      if ((10 * BASH_REMATCH[1] / BASH_REMATCH[2] > tenth)); then
        tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        printf '%4d %% of %d tests\n' "$((10 * tenth))" "${BASH_REMATCH[2]}"
      fi
      case $line in
        *" Passed "*) ;;
        *"***Skipped "*) skipped=$((skipped + 1)) ;;
        *) say "$line"; state=collect ;;
      esac
    elif [[ $line =~ ^[0-9]+%\ tests\ passed|^No\ tests\ were\ found|^Errors\ while ]]; then
      say_printed
      [[ $state == summary ]] || left=$most_summary_lines
      state=summary
      say "$line"
    elif [[ $state == summary ]]; then
      case $line in
        "" | "$not_run") heading=$line ;;  # said if a test follows that was not skipped
        *"(Skipped)") ;;
        *) [[ -z $heading ]] || say "$heading"; say "$line"; heading="" ;;
      esac
    elif [[ $state == collect ]]; then
      printed+=$line$'\n' printed_lines=$((printed_lines + 1))
    fi
  done
  say_printed
  if ((skipped > 0)); then echo "$skipped tests were skipped: $(reasons)"; fi
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
./scripts/install_dependencies.sh --left-out build test peers
exit "$status"
