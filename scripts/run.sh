#!/usr/bin/env bash
# The main job: builds the programs and benchmarks, measures the errors and the speed of every
# backend, draws a page of figures, and picks the fastest backends for this CPU. It installs missing
# packages, and otherwise writes only below build/: documents to build/results/, the page to
# build/results/report/, logs to build/logs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

processes=3  # for figures to quote, use 7, the default of posenc measure
bin=build/release/bin
results=build/results
measured=$results/measurements.json
torch=$results/torch.json
profile=$results/profile.json
page=$results/report/index.html
check_failed=1
skipped=77

step() { printf '\n== %s  (%d s since the build)\n\n' "$1" "$((SECONDS - start))"; }

# may_fail CODE COMMAND...: accepts CODE as an exit code; the command has printed the reason.
may_fail() {
  local allowed=$1 status=0
  shift
  "$@" || status=$?
  [[ $status -eq 0 || $status -eq $allowed ]] || exit "$status"
}

# accuracy NAME OPTION...: writes build/results/accuracy_NAME.json.
accuracy() {
  "$bin/posenc_peers" accuracy "${@:2}" --format json --output "$results/accuracy_$1.json"
}

./scripts/install_dependencies.sh build report peers
targets=(posenc_cli posenc_peers bench_encode bench_rows bench_layers)
# PyTorch's times need the Python package; build it only if Debian's packages are installed.
if dpkg-query -W python3-dev pybind11-dev python3-torch &>/dev/null; then
  targets+=(posenc_python)
fi
./scripts/build.sh release "${targets[@]}"
start=$SECONDS

# Keep caches and temporary files below build/, so that no file of the user is written, and no
# figure depends on the user's settings.
export XDG_CACHE_HOME=$PWD/build/cache TMPDIR=$PWD/build/tmp
export MPLCONFIGDIR=$XDG_CACHE_HOME/matplotlib PYTHONPYCACHEPREFIX=$XDG_CACHE_HOME/python
unset POSENC_BACKEND
mkdir -p "$TMPDIR" "$MPLCONFIGDIR" "$results"
rm -f "$profile" "$measured" "$torch" "$page"  # left by an earlier run

step "Backends of this build, and other libraries to compare with"
"$bin/posenc_peers" list | sed '/^Used if/,$d'

step "Errors of the tutorial's table"
"$bin/posenc" accuracy --preset tutorial
# Measure a whole long table, and the first rows of every octave of positions up to 10^12.
firsts=0
for ((first = 256; first <= 10 ** 12; first *= 2)); do firsts+=,$first; done
accuracy long_context --shape 131072x128
accuracy far --shape 256x64 --first "$firsts" --backend naive,div_term,xsimd,rotation,rotation32

step "How the backends compare: bench_encode"
# Google Benchmark describes the machine on standard error.
"$bin/bench_encode" --benchmark_min_time=0.1 2>"$results/bench_encode.log" || {
  cat "$results/bench_encode.log" >&2
  exit 1
}

step "Times, errors and the limits of the memory, for tables of all sizes"
# Exit code 1 means that other work disturbed the times, or that a bound is broken.
may_fail "$check_failed" "$bin/posenc_peers" measure --processes "$processes" --format json \
  --output "$measured"
may_fail "$skipped" ./scripts/python_with.sh torch numpy -- \
  ./scripts/compare_torch.py --processes "$processes" --output "$torch"

step "Gfloat/s of each backend at its best ISA"
./scripts/report.py "$measured"
documents=("$measured" "$results/accuracy_long_context.json" "$results/accuracy_far.json")
if [[ -e $torch ]]; then documents+=("$torch"); fi
may_fail "$skipped" ./scripts/python_with.sh matplotlib numpy -- \
  ./scripts/report.py "${documents[@]}" --page "${page%/*}"

step "The answer"
may_fail "$check_failed" "$bin/posenc" pick "$measured" --save "$profile"
printf '\nDocuments: %s\n' "$results"
if [[ -e $page ]]; then echo "Figures:   $page"; fi
if [[ -e $profile ]]; then echo "Profile:   $profile, for posenc::suite::Profile::load()"; fi
cat <<USAGE

For a shape of your own, or another CPU:
  $bin/bench_encode --shape 777x768     every backend, ISA, type and number of threads
  $bin/bench_rows --shape 100x768       single rows, a cursor, a gather
  $bin/bench_layers --shape 2048x4096   sums and rotary embeddings
  $bin/posenc measure --shape 777x768 --format json --output shape.json
  $bin/posenc pick shape.json
  $bin/posenc pick --cpu "Zen 4"        by measurements that come with posenc
Each takes --help.
USAGE
