#!/usr/bin/env bash
# Cross-compiles the library and its tests for another processor and runs the tests of its numerics
# under qemu-user: test-emulated.sh aarch64|riscv64|powerpc64le|s390x [ARGUMENT...]. s390x is
# big-endian. The arguments go to the tests and replace the default selection:
#   tests/emulated/test-emulated.sh riscv64 --gtest_filter='*KernelTest*'
# Exits with 77 if the cross compiler or the emulator is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage="usage: test-emulated.sh aarch64|riscv64|powerpc64le|s390x [ARGUMENT...]"
target=${1:?$usage}
shift
# Debian and qemu name some processors differently.
case $target in
  aarch64) package=aarch64 emulator=aarch64 isa=neon64 ;;
  riscv64) package=riscv64 emulator=riscv64 isa=scalar ;;
  powerpc64le) package=powerpc64le emulator=ppc64le isa=scalar ;;
  s390x) package=s390x emulator=s390x isa=scalar ;;
  *)
    allowed="aarch64, riscv64, powerpc64le, s390x"
    echo "test-emulated.sh: processor is '$target'; allowed: $allowed" >&2
    exit 2
    ;;
esac

# Tests whose result depends on the processor: the kernels against the exact values, the pinned
# hashes, every kind of encode call, threads, the error bounds, the layers. Only some of the error
# bounds: the reference is slow on these processors, where long double is emulated in software, or
# is no wider than double, so that the reference computes in integers.
selection=(
  '*KernelTest.*' 'FrequencyRule*' 'HalfTypes*'
  '*PinnedHash.*' '*RotationHash.*' '*RotationBits.*' '*RotationType.*'
  '*Rotation32*' 'CApi*' '*EncoderRows.*'
  '*EveryEncoder.*' '*Threads*' '*BoundsOfBackend.*'
  "*Bounds.*/*_${isa}_whisper" "*Bounds.HoldAtLargePositions/*_${isa}_tutorial"
  'DivTerm.*' 'Registry.*' 'Philox.*' 'Dropout.*' 'Layers/*' 'Rotary.*' 'Softmax.*'
  'LittleEndian.*' '*Axes.*' '*NegativePositions.*' 'JoinKernels.*' 'ExtentKernels.*'
  '*Rotary*' '*TableFile*' 'Parity.*'
)
too_slow='*HoldForEveryRuleOfFrequencies*'  # many exact values

step() { printf '\n== %s  (%d s since the start)\n' "$1" "$SECONDS"; }

prefix=$PWD/build/$target-prefix

# stage PACKAGE TARGET FOLDER [DEFINITION]: makes a header-only library of the host visible to the
# cross compiler, as a CMake package with one target. Only its own folder is copied, since
# /usr/include also holds the host's libc.
stage() {
  local package=$1 library=$2 folder=$3 definition=${4:-}
  mkdir -p "$prefix/include" "$prefix/lib/cmake/$package"
  cp -rLu "/usr/include/$folder" "$prefix/include/"
  cat >"$prefix/lib/cmake/$package/${package}Config.cmake" <<CMAKE
add_library($library INTERFACE IMPORTED)
set_target_properties($library PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "$prefix/include"
                      INTERFACE_COMPILE_DEFINITIONS "$definition")
CMAKE
}

step "Dependencies"
./scripts/install_dependencies.sh build "$target"
command -v "$package-linux-gnu-g++" "qemu-$emulator" >/dev/null || {
  echo "Skipped: $package-linux-gnu-g++ or qemu-$emulator is not there."
  exit 77
}
stage xsimd xsimd xsimd
stage fmt fmt::fmt-header-only fmt FMT_HEADER_ONLY=1
stage nlohmann_json nlohmann_json::nlohmann_json nlohmann
stage Eigen3 Eigen3::Eigen eigen3/Eigen
if [[ ! -f $prefix/lib/libgmock.a ]]; then
  cmake -S /usr/src/googletest -B "build/$target-googletest" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    --toolchain "$PWD/tests/emulated/cross.cmake" -DPOSENC_CROSS_TARGET="$target" \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build "build/$target-googletest" --target install
fi

./scripts/build.sh "$target"

step "Testing under qemu-$emulator"
arguments=("$@")
[[ $# -gt 0 ]] ||
  arguments=(--gtest_brief=1 "--gtest_filter=$(IFS=:; echo "${selection[*]}")-$too_slow")
run_tests() { "qemu-$emulator" -L "/usr/$package-linux-gnu" "build/$target/bin/posenc_tests" "$@"; }
selected=$(run_tests "${arguments[@]}" --gtest_list_tests | grep -c '^  ') ||
  { echo "FAILED: no test is selected" >&2; exit 1; }
echo "$selected tests"
shards=$(nproc)
children=()
for ((shard = 0; shard < shards; ++shard)); do
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard run_tests "${arguments[@]}" &
  children+=($!)
done
failed=0
for child in "${children[@]}"; do wait "$child" || failed=1; done
[[ $failed -eq 0 ]] || { echo "FAILED under qemu-$emulator" >&2; exit 1; }
step "All passed on $target"
