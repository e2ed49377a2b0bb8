#!/usr/bin/env bash
# The main job: builds preset release, measures what every backend gets wrong and what it costs, and picks the fastest
# within an error budget for this CPU. Leaves its results in build/results/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The shapes of bench_encode --quick, so that its last table has an error for every speed.
presets=(chunk model_garden m2m_100 tutorial whisper long_context wide)
bin=build/release/bin
results=build/results

step() { printf '\n== %s\n\n' "$1"; }

step "Building preset release"
./scripts/install_dependencies.sh build
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

step "Speed"
"$bin/bench_encode" --quick --benchmark_out="$results/benchmark.json" --benchmark_out_format=json

step "What the memory system allows"
"$bin/bench_limits" --benchmark_filter='bytes:(16384|524288|10240000|134217728)$' \
  --benchmark_out="$results/limits.json" --benchmark_out_format=json

step "What planning costs"
"$bin/bench_plan" --benchmark_filter='d:512/spacing:paper|plan_and_encode' \
  --benchmark_out="$results/plan.json" --benchmark_out_format=json

step "Picking the fastest within an error of 1e-6"
"$bin/posenc" pick --max-error 1e-6

step "Shape, backend, speed, error"
python3 scripts/summary.py --benchmark "$results/benchmark.json" --accuracy "${reports[@]}" \
  --markdown "$results/summary.md" "$results/accuracy_far.txt" "$results/limits.json" "$results/plan.json"
printf '\nMeasured in %d s after the build.\n' "$((SECONDS - start))"
