#!/usr/bin/env bash
# The main job: builds the programs, measures the errors and the speed of every backend, draws a
# page of figures, and picks the fastest backends for this CPU. It installs what is missing, and
# otherwise writes below build/ alone: documents to build/results/, the page to
# build/results/report/, logs to build/logs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

processes=3  # 7, the default of posenc measure, for figures that are quoted
bin=build/release/bin
results=build/results
measured=$results/measurements.json
torch=$results/torch.json
profile=$results/profile.json
answer=$results/pick.txt
page=$results/report/index.html
check_failed=1
skipped=77

step() { printf '\n== %s  (%d s since the build)\n\n' "$1" "$((SECONDS - start))"; }

# may_fail CODE COMMAND...: the command may end with that code, which it has explained.
may_fail() {
  local allowed=$1 status=0
  shift
  "$@" || status=$?
  [[ $status -eq 0 || $status -eq $allowed ]] || exit "$status"
}

# Each writes a document. Exit code 1 of `measure`: other work ran meanwhile, as the document says.
documents=()
accuracy() {
  local document=$results/accuracy_$1.json
  documents+=("$document")
  "$bin/posenc_peers" accuracy "${@:2}" --format json --output "$document"
}
measure() {
  documents+=("$2")
  may_fail "$check_failed" "$bin/$1" measure "${@:3}" --processes "$processes" --format json \
    --output "$2"
}

./scripts/install_dependencies.sh build report peers
targets=(posenc_cli posenc_peers)
# PyTorch's times need the Python package, which is built where Debian's packages are there.
left_out=$(./scripts/install_dependencies.sh --left-out torch)
if command -v dpkg-query >/dev/null && [[ -z $left_out ]]; then targets+=(posenc_python); fi
./scripts/build.sh release "${targets[@]}"
start=$SECONDS

# Keeps caches and temporary files below build/: nothing of the user's is written, and no figure
# depends on the user's settings.
export XDG_CACHE_HOME=$PWD/build/cache TMPDIR=$PWD/build/tmp
export MPLCONFIGDIR=$XDG_CACHE_HOME/matplotlib PYTHONPYCACHEPREFIX=$XDG_CACHE_HOME/python
unset POSENC_BACKEND
mkdir -p "$TMPDIR" "$MPLCONFIGDIR" "$results"
rm -f "$profile" "$measured" "$torch" "$page"  # of an earlier run

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

step "Times, errors and the limits of the memory, for tables of all sizes and types"
measure posenc_peers "$measured"
may_fail "$skipped" ./scripts/compare_torch.py --processes "$processes" --output "$torch"
if [[ -e $torch ]]; then documents+=("$torch"); fi
for type in float64 float16 bfloat16; do
  measure posenc "$results/measurements_$type.json" --preset tutorial --preset wide \
    --backend rotation --backend rotation32 --dtype "$type"
done

step "Gfloat/s of each backend at its best ISA"
./scripts/report.py "$measured"
may_fail "$check_failed" "$bin/posenc" pick "$measured" --output "$answer"
may_fail "$skipped" ./scripts/report.py "${documents[@]}" --answer "$answer" --page "${page%/*}"
./scripts/install_dependencies.sh --left-out report torch peers

step "The answer"
may_fail "$check_failed" "$bin/posenc" pick "$measured" --save "$profile"
printf '\nDocuments: %s\n' "$results"
if [[ -e $page ]]; then echo "Figures:   $page"; fi
if [[ -e $profile ]]; then echo "Profile:   $profile, for posenc::suite::Profile::load()"; fi
