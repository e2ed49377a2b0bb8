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
cmake --preset release
cmake --build --preset release
mkdir -p "$results"
start=$SECONDS

step "Backends of this build"
"$bin/posenc" list

step "Accuracy of the tutorial's table; reports of ${#presets[@]} shapes go to $results"
"$bin/posenc" accuracy --preset tutorial
reports=()
for preset in "${presets[@]}"; do
  report=$results/accuracy_$preset.json
  "$bin/posenc" accuracy --preset "$preset" --format json --output "$report"
  reports+=("$report")
done

step "Accuracy at position 10^12"
"$bin/posenc" accuracy --first 1000000000000 --rows 1000 | tee "$results/accuracy_far.txt"

# One benchmark binary, its table on the screen and every repetition in $results. A name that is used below.
bench() {
  local name=$1 binary=$2
  shift 2
  "$bin/$binary" --benchmark_out="$results/$name.json" --benchmark_out_format=json "$@"
}
# Enough for a look at what is not in the last table: the binaries' own defaults take longer and spread less.
brief=(--benchmark_min_time=0.01 --benchmark_repetitions=5)

step "Speed of presets"
bench benchmark bench_encode --quick

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
"$bin/posenc" pick --max-error 1e-6

profile=${POSENC_PROFILE:-${XDG_CONFIG_HOME:-$HOME/.config}/posenc/profile.json}
cp "$profile" "$results/profile.json"

step "Report"
# Without matplotlib it says so, and the results stand without it.
./scripts/python_with.sh matplotlib numpy -- ./scripts/report.py "$results" --output "$results/report" || [[ $? -eq 77 ]]

step "Shape, backend, speed, error"
python3 scripts/summary.py --benchmark "$results/benchmark.json" --accuracy "${reports[@]}" \
  --markdown "$results/summary.md" "$results/accuracy_far.txt" \
  "$results"/{cache_to_memory,limits,dtypes,fresh,rows,threads,plan}.json
printf '\nMeasured in %d s after the build.\n' "$((SECONDS - start))"
