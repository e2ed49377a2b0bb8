#!/usr/bin/env bash
# The main job: builds preset release, measures what every backend gets wrong and what it costs, and picks the fastest
# within an error budget for this CPU. Leaves its results in build/results/, and a page of figures in build/results/report/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The shapes of bench_encode --quick, so that its last table has an error for every speed.
presets=(chunk model_garden m2m_100 tutorial whisper long_context wide)
bin=build/release/bin
results=build/results

step() { printf '\n== %s\n\n' "$1"; }

step "Building preset release"
./scripts/install_dependencies.sh build report
./scripts/install_dependencies.sh peers || echo "The comparison is without the libraries that are not there."
cmake --preset release
cmake --build --preset release
mkdir -p "$results"
start=$SECONDS

step "Backends of this build, and other libraries to compare with"
"$bin/posenc_peers" list

step "Accuracy of the tutorial's table; reports of ${#presets[@]} shapes go to $results"
"$bin/posenc_peers" accuracy --preset tutorial
reports=()
for preset in "${presets[@]}"; do
  report=$results/accuracy_$preset.json
  "$bin/posenc_peers" accuracy --preset "$preset" --format json --output "$report"
  reports+=("$report")
done

step "Accuracy at position 10^12"
"$bin/posenc_peers" accuracy --first 1000000000000 --rows 1000 | tee "$results/accuracy_far.txt"

# One benchmark binary, its table on the screen and every repetition in $results. A name that is used below.
bench() {
  local name=$1 binary=$2
  shift 2
  "$bin/$binary" --benchmark_out="$results/$name.json" --benchmark_out_format=json "$@"
}
# Enough for a look at what is not in the last table: the binaries' own defaults take longer and spread less.
brief=(--benchmark_min_time=0.01 --benchmark_repetitions=5)

step "Speed of presets, other libraries too"
# Few repetitions of each process: what differs from process to process is more than what differs within one.
./scripts/measure.py --output "$results/benchmark.json" --processes 5 -- \
  --quick --peers --benchmark_repetitions=2 --benchmark_min_time=0.01

step "The same tables from PyTorch and NumPy"
speeds=("$results/benchmark.json")
rm -f "$results/torch.json"  # of an earlier run
# Without them it says so, and the results stand without it.
./scripts/python_with.sh torch numpy -- ./scripts/compare_torch.py --kept-table-only --threads 1 --repetitions 5 \
  --shapes 8x512 5000x512 131072x128 8192x4096 --output "$results/torch.json" || [[ $? -eq 77 ]]
if [[ -e $results/torch.json ]]; then speeds+=("$results/torch.json"); fi

step "Speed from L1 to memory, against copying a cached table"
bench cache_to_memory bench_encode --set cache-to-memory --backend xsimd --backend rotation --backend rotation32 "${brief[@]}"

step "What the memory system allows"
bench limits bench_limits --benchmark_filter='bytes:(16384|524288|10240000|134217728)$' "${brief[@]}"

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

step "Picking the fastest within an error of 1e-6"
"$bin/posenc_peers" pick --max-error 1e-6

profile=${POSENC_PROFILE:-${XDG_CONFIG_HOME:-$HOME/.config}/posenc/profile.json}
cp "$profile" "$results/profile.json"

step "Report"
# Without matplotlib it says so, and the results stand without it.
./scripts/python_with.sh matplotlib numpy -- ./scripts/report.py "$results" --output "$results/report" || [[ $? -eq 77 ]]

step "Shape, backend, speed, error"
python3 scripts/summary.py --benchmark "${speeds[@]}" --accuracy "${reports[@]}" \
  --markdown "$results/summary.md" "$results/accuracy_far.txt" \
  "$results"/{cache_to_memory,limits,dtypes,fresh,rows,threads,plan}.json
printf '\nMeasured in %d s after the build.\n' "$((SECONDS - start))"
