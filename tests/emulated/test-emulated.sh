#!/usr/bin/env bash
# Cross-compiles the library and its tests for another processor and runs the tests of the numerics
# under qemu-user: test-emulated.sh aarch64|riscv64|powerpc64le|s390x [ARGUMENT...]. s390x is
# big-endian. x86_64-w64-mingw32 is Windows: the tests and the command run under wine. wasm32 is
# WebAssembly: the tests run under node. It needs emscripten of Debian 13, whose library has C++20.
# The arguments go to the tests and replace the default selection:
#   tests/emulated/test-emulated.sh riscv64 --gtest_filter='*RotationErrors*'
# Exits with 77 if the cross compiler or the emulator is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

target=${1:?usage: test-emulated.sh TARGET [ARGUMENT...]}
shift
emulator=qemu-$target compiler=$target-linux-gnu-g++ program=posenc_tests
case $target in
  powerpc64le) emulator=qemu-ppc64le ;;  # qemu's name of the processor
  x86_64-w64-mingw32)
    # Debian's wine64 has no command on the path.
    PATH+=:/usr/lib/wine emulator=wine64 compiler=$target-g++-posix program+=.exe
    ;;
  wasm32) emulator=node compiler=em++ program+=.js ;;
esac

# Tests whose result depends on the processor: the kernels against the exact values, the pinned
# hashes, every kind of encode call, threads, the error bounds, the layers. Only some error bounds
# are tested, because the reference is slow on these processors: long double is emulated in
# software, or is no wider than double, and the reference then computes in integers.
selection=(
  '*RotationErrors.OfAnchors/*' 'FrequencyRule*' 'HalfTypes*'
  '*PinnedHash.*' '*RotationHash.*' '*RotationBits.*' '*RotationType.*'
  '*Rotation32*' 'CApi*' '*EncoderRows.*'
  '*EveryEncoder.*' '*Threads*' '*BoundsOfBackend.*' 'Bounds.*'
  '*BoundsOfPreset.*/whisper' '*BoundsOfPreset.*/tutorial'
  'DivTerm.*' 'Registry.*' 'Philox.*' 'Dropout.*' 'Layers/*' 'Rotary.*'
  'LittleEndian.*' '*Axes.*' '*NegativePositions.*' 'JoinKernels.*' 'ExtentKernels.*'
  '*Rotary*' '*TableFile*' 'Parity.*' 'ParallelFor/*'
)
# Tests of files, threads and memory on another system. (qemu-user fails if a program with threads
# forks.)
if [[ $emulator == wine64 ]]; then
  selection+=('ParallelFor.*' 'ReadDocument.*' 'Profile.*' 'Measurement*' '*Timing*')
fi
# Tests of many exact values, and of methods that are the same plain loops on every processor.
left_out='*HoldForEveryRuleOfFrequencies*:Parity.ErrorsAre*:*EncoderRows.*/naive*'
left_out+=':*EncoderRows.*/div_term*'

step() { printf '\n== %s  (%d s since the start)\n' "$1" "$SECONDS"; }

prefix=$PWD/build/$target-prefix

step "Dependencies"
./scripts/install_dependencies.sh build "$target"
for needed in "$compiler" "$emulator"; do
  command -v "$needed" >/dev/null || {
    echo "Skipped: $needed is not there."
    exit 77
  }
done
./scripts/stage_headers.sh "$prefix"
if [[ ! -f $prefix/lib/libgmock.a ]]; then
  cmake -S /usr/src/googletest -B "build/$target-googletest" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    --toolchain "$PWD/tests/emulated/cross.cmake" -DPOSENC_CROSS_TARGET="$target" \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build "build/$target-googletest" --target install
fi

targets=(posenc_tests)
[[ $emulator != wine64 && $emulator != node ]] || targets+=(posenc_cli)
./scripts/build.sh "$target" "${targets[@]}"

if [[ $emulator == wine64 ]]; then
  # Make a new folder for the Windows of wine; it takes 0.7 GB.
  WINEPREFIX=$(mktemp -d)
  export WINEPREFIX WINEDEBUG=-all
  trap 'wineserver -k || true; rm -rf "$WINEPREFIX"' EXIT
  run() { timeout 1200 wine64 "$@"; }
  step "The command"
  tests/emulated/command_test.sh build/$target/bin/posenc.exe
  step "Objects"
  ctest --test-dir "build/$target" -R '^(aligned_moves|isa_symbols)' --output-on-failure
elif [[ $emulator == node ]]; then
  run() { timeout 1200 node "$@"; }
  left_out+=':*Threads*:ParallelFor*'  # there are no threads
else
  run() { timeout 1200 "$emulator" -L "/usr/$target-linux-gnu" "$@"; }
fi

step "Testing under $emulator"
arguments=("$@")
[[ $# -gt 0 ]] ||
  arguments=(--gtest_brief=1 "--gtest_filter=$(IFS=:; echo "${selection[*]}")-$left_out")
run_tests() { run "build/$target/bin/$program" "$@"; }
selected=$(run_tests "${arguments[@]}" --gtest_list_tests | grep -c '^  ') ||
  { echo "FAILED: no test is selected" >&2; exit 1; }
echo "$selected tests"
shards=$(nproc)
[[ $emulator != node ]] || shards=1  # the program does not see the variables below
children=()
for ((shard = 0; shard < shards; ++shard)); do
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard run_tests "${arguments[@]}" &
  children+=($!)
done
failed=0
for child in "${children[@]}"; do wait "$child" || failed=$?; done
[[ $failed -eq 0 ]] || { echo "FAILED under $emulator (status $failed; 124: it hung)" >&2; exit 1; }
step "All passed on $target"
