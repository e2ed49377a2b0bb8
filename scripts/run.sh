#!/usr/bin/env bash
# The main job: builds the programs, measures the error and the speed of every backend, and picks
# the fastest within an error budget for this CPU. It writes only below build/: results to
# build/results/, a page of figures to build/results/report/, logs to build/logs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The tables of bench_encode --quick: presets, and benchmark shapes, which are not presets. The
# summary at the end needs an error for every speed.
declare -A tables=(
  [chunk]="--rows 8 --d-model 512"
  [model_garden]="--preset model_garden"
  [m2m_100]="--preset m2m_100"
  [tutorial]="--preset tutorial"
  [whisper]="--preset whisper"
  [long_context]="--rows 131072 --d-model 128"
  [wide]="--rows 8192 --d-model 4096"
)
max_error=1e-6
bin=build/release/bin
results=build/results
profile=$results/profile.json
pick=$results/pick.json
page=$results/report/index.html
check_failed=1
skipped=77

step() { printf '\n== %s\n\n' "$1"; }

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
  rm -f "$profile" "$pick" "$results/torch.json" "$page"  # of an earlier run
}

# Runs a Python script that is skipped if a module is missing.
may_be_skipped() { ./scripts/python_with.sh "$@" || [[ $? -eq $skipped ]]; }

./scripts/install_dependencies.sh build report peers
targets=(posenc_cli posenc_peers bench_encode bench_limits bench_plan bench_rows bench_threads)
[[ -n $(./scripts/install_dependencies.sh --left-out torch) ]] || targets+=(posenc_python)
./scripts/build.sh release "${targets[@]}"
start=$SECONDS
stay_below_build

step "Backends of this build, and other libraries to compare with"
"$bin/posenc_peers" list

step "Accuracy of the tutorial's table; reports of ${#tables[@]} shapes go to $results"
"$bin/posenc_peers" accuracy --preset tutorial
reports=()
for table in "${!tables[@]}"; do
  report=$results/accuracy_$table.json
  read -r -a shape <<<"${tables[$table]}"
  "$bin/posenc_peers" accuracy "${shape[@]}" --format json --output "$report"
  reports+=("$report")
done

step "Accuracy at position 10^12"
"$bin/posenc_peers" accuracy --first 1000000000000 --rows 1000 | tee "$results/accuracy_far.txt"

# bench NAME BINARY [ARGUMENT...]: runs a benchmark binary, which prints its table. Every repetition
# goes to $results/NAME.json.
figures=()
bench() {
  local name=$1 binary=$2
  shift 2
  "$bin/$binary" --benchmark_out="$results/$name.json" --benchmark_out_format=json "$@"
  figures+=("$results/$name.json")
}
# Enough for an overview of what the summary does not show. The defaults of the binaries take longer
# and vary less.
brief=(--benchmark_min_time=0.005 --benchmark_repetitions=3)

step "Speed of presets, other libraries too"
# One repetition in each process: times vary more between processes than within one.
./scripts/measure.py --output "$results/benchmark.json" --processes 3 --floor-pairs 3 -- \
  --quick --peers --benchmark_repetitions=1 --benchmark_min_time=0.01

step "The same tables from PyTorch and NumPy"
speeds=("$results/benchmark.json")
may_be_skipped torch numpy -- ./scripts/compare_torch.py --kept-table-only --threads 1 \
  --repetitions 3 --shapes 8x512 5000x512 131072x128 --output "$results/torch.json"
if [[ -e $results/torch.json ]]; then speeds+=("$results/torch.json"); fi

step "Speed from L1 to memory, against copying a cached table"
bench cache_to_memory bench_encode --set cache-to-memory --backend xsimd --backend rotation \
  --backend rotation32 "${brief[@]}"

step "What the memory system allows"
bench limits bench_limits --benchmark_filter='bytes:(16384|524288|10240000|134217728)$' \
  "${brief[@]}"

step "Element types"
bench dtypes bench_encode --set dtypes --backend rotation --backend rotation32 "${brief[@]}"

step "Fresh memory against warm"
bench fresh bench_encode --set fresh --backend rotation "${brief[@]}"

step "Single rows, decoding, gathers"
bench rows bench_rows --benchmark_filter='d:4096' "${brief[@]}"

step "Threads"
bench threads bench_threads "${brief[@]}"

step "What planning costs"
bench plan bench_plan --benchmark_filter='d:4096/spacing:paper|plan_and_encode' "${brief[@]}"

step "Picking the fastest within an error of $max_error"
# Exit code 1: other work disturbed the pick, or no backend is within the budget; its message says
# which, and so does the answer.
picked=0 status=0
"$bin/posenc" pick --max-error "$max_error" --processes 3 --save "$profile" --format json \
  --output "$pick" || picked=$?
[[ $picked -le $check_failed ]] || exit "$picked"
if [[ -e $pick ]]; then "$bin/posenc" pick --from "$pick" || true; fi

step "Report"
inputs=("${speeds[@]}" "${reports[@]}" "${figures[@]}")
if [[ -e $pick ]]; then inputs+=("$pick"); fi
may_be_skipped matplotlib numpy -- ./scripts/report.py "${inputs[@]}" --output "$(dirname "$page")"

step "Shape, backend, speed, error"
python3 scripts/summary.py --benchmark "${speeds[@]}" --accuracy "${reports[@]}" \
  --markdown "$results/summary.md" "$results/accuracy_far.txt" "${figures[@]}" || status=$?
printf '\nMeasured in %d s after the build.\n' "$((SECONDS - start))"
./scripts/install_dependencies.sh --left-out report torch peers

step "The answer"
if [[ -e $pick ]]; then
  python3 scripts/conclusion.py "$pick" --report "$page" --profile "$profile" --results "$results" \
    --posenc "$bin/posenc"
else
  echo "The pick gave no answer (its reason stands above). Run this again when the machine is idle."
  echo "Results: $results"
fi
exit "$status"
