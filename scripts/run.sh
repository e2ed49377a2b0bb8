#!/usr/bin/env bash
# The main job: builds the programs, measures the errors and the speed of every backend, and picks
# the fastest within an error budget for this CPU. It installs what is missing, and otherwise writes
# below build/ alone: documents to build/results/, a page of figures to build/results/report/, logs
# to build/logs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

max_error=1e-6
processes=3  # 7, the default of posenc measure, for figures that are quoted
bin=build/release/bin
results=build/results
profile=$results/profile.json
measured=$results/measurements.json
torch=$results/torch.json
fresh=$results/fresh_memory.json
types=(float64 float16 bfloat16)
page=$results/report/index.html
check_failed=1
skipped=77

step() { printf '\n== %s  (%d s since the build)\n\n' "$1" "$((SECONDS - start))"; }

# Keeps caches, temporary files and the profile below build/: nothing of the user's is written, and
# no figure depends on the user's settings.
stay_below_build() {
  export XDG_CACHE_HOME=$PWD/build/cache
  export MPLCONFIGDIR=$XDG_CACHE_HOME/matplotlib PYTHONPYCACHEPREFIX=$XDG_CACHE_HOME/python
  export POSENC_PROFILE=$PWD/$profile
  unset POSENC_BACKEND
  local old
  for old in build/tmp/run.*; do  # left by runs that were killed
    kill -0 "${old##*.}" 2>/dev/null || rm -rf "$old"
  done
  export TMPDIR=$PWD/build/tmp/run.$$
  mkdir -p "$TMPDIR" "$MPLCONFIGDIR" "$results"
  trap 'rm -rf "$TMPDIR"' EXIT
  rm -f "$profile" "$measured" "$torch" "$fresh" "$page"  # of an earlier run
}

# accuracy NAME OPTION...: a document of the errors of every backend, other libraries too.
documents=()
accuracy() {
  local document=$results/accuracy_$1.json
  shift
  "$bin/posenc_peers" accuracy "$@" --format json --output "$document"
  documents+=("$document")
}

# may_fail CODE COMMAND...: the command may end with that code, which it has explained.
may_fail() {
  local allowed=$1 status=0
  shift
  "$@" || status=$?
  [[ $status -eq 0 || $status -eq $allowed ]] || exit "$status"
}

./scripts/install_dependencies.sh build report peers
targets=(posenc_cli posenc_peers bench_encode)
[[ -n $(./scripts/install_dependencies.sh --left-out torch) ]] || targets+=(posenc_python)
./scripts/build.sh release "${targets[@]}"
start=$SECONDS
stay_below_build

step "Backends of this build, and other libraries to compare with"
"$bin/posenc_peers" list >"$results/list.txt"
sed -n '1,/^Error bounds/{/^Error bounds/!p;}' "$results/list.txt"
echo "All of it: $results/list.txt"

step "Errors of the tutorial's table"
"$bin/posenc" accuracy --preset tutorial
accuracy tutorial --preset tutorial
accuracy long_context --rows 131072 --d-model 128
accuracy far --first 1000000000000 --rows 1000
printf '\nWith other libraries, by position and by channel: %s\n' "$results/accuracy_*.json"

step "Times, errors and the limits of the memory, for tables of all sizes"
# Exit code 1: other work ran meanwhile. The document says so, and so does the answer.
may_fail "$check_failed" "$bin/posenc_peers" measure --processes "$processes" --format json \
  --output "$measured"
documents+=("$measured")
may_fail "$skipped" ./scripts/compare_torch.py --kept-table-only --processes "$processes" \
  --output "$torch"
if [[ -e $torch ]]; then documents+=("$torch"); fi

step "Other element types, and memory that nobody has touched"
for type in "${types[@]}"; do
  document=$results/measurements_$type.json
  may_fail "$check_failed" "$bin/posenc" measure --preset tutorial --preset wide \
    --backend rotation --backend rotation32 --dtype "$type" --processes "$processes" \
    --format json --output "$document"
  documents+=("$document")
done
"$bin/bench_encode" --benchmark_filter='^encode_fresh/.*/rows:(512|8192)/' \
  --benchmark_min_time=0.1 --benchmark_repetitions=3 --benchmark_out="$fresh" \
  >"$results/fresh_memory.txt" 2>&1
documents+=("$fresh")
echo "Shown on the page: $results/measurements_*.json, $fresh"

step "The page of figures"
may_fail "$skipped" ./scripts/report.py "${documents[@]}" --output "$(dirname "$page")"

step "Gfloat/s of each backend at its best ISA"
./scripts/summary.py "$measured" --format text
./scripts/summary.py "${documents[@]}" --peers --output "$results/summary.md"
printf '\nWith other libraries, as Markdown: %s\n' "$results/summary.md"
./scripts/install_dependencies.sh --left-out report torch peers

step "The answer"
may_fail "$check_failed" "$bin/posenc" pick "$measured" --max-error "$max_error" --save "$profile"
printf '\nDocuments: %s\n' "$results"
if [[ -e $page ]]; then echo "Figures:   $page"; fi
if [[ -e $profile ]]; then
  printf 'Use it:    POSENC_PROFILE=%q PROGRAM\n' "$PWD/$profile"
  echo "Keep it:   $bin/posenc pick $measured --save    (for all programs of this user)"
fi
