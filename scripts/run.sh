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
long=$results/accuracy_long_context.json
far=$results/accuracy_far.json
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
"$bin/posenc_peers" accuracy --shape 131072x128 --output "$long"
"$bin/posenc" accuracy --shape 256x64 --first "$firsts" --output "$far" \
  --backend naive,div_term,xsimd,rotation,rotation32

step "How the backends compare: bench_encode"
"$bin/bench_encode" --benchmark_min_time=0.1

step "Times, errors and the limits of the memory, for tables of all sizes"
# Exit code 1 means that other work disturbed the times, or that a bound is broken.
may_fail "$check_failed" "$bin/posenc_peers" measure --processes "$processes" --format json \
  --output "$measured"
PYTHONPATH=$PWD/build/release/python may_fail "$skipped" ./scripts/python_with.sh \
  torch numpy posenc -- ./scripts/compare_torch.py --processes "$processes" --output "$torch"

step "Gfloat/s of each backend at its best ISA"
./scripts/report.py "$measured"
if [[ ! -e $torch ]]; then torch=; fi
may_fail "$skipped" ./scripts/python_with.sh matplotlib numpy -- \
  ./scripts/report.py "$measured" "$long" "$far" ${torch:+"$torch"} --page "${page%/*}"

step "The answer"
may_fail "$check_failed" "$bin/posenc" pick "$measured" --save "$profile"
printf '\nDocuments: %s\n' "$results"
if [[ -e $page ]]; then echo "Figures:   $page"; fi
if [[ -e $profile ]]; then echo "Profile:   $profile, for posenc::suite::Profile::load()"; fi
echo "README.md shows how to measure a shape of your own, and how to pick for another CPU."
