#!/usr/bin/env bash
# Cross-compiles the library and its tests for AArch64 and runs those that prove its numerics under qemu-aarch64.
# Arguments go to the tests instead of the usual subset: scripts/test-aarch64.sh --gtest_filter='KernelTest*'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What depends on the ISA: the kernels against the exact values, the pinned hashes, every way of asking for rows, threads,
# the bounds, the layers. Long double, and with it the reference, is software there and emulated on top: of the bounds, a part.
subset=(
  '*KernelTest.*' '*PinnedHash.*' '*RotationHash.*' '*RotationBits.*' '*RotationType.*' '*EncoderRows.*' '*EveryEncoder.*' '*Threads*'
  '*Bounds.*/*_neon64_whisper' '*Bounds.HoldFarOut/*_neon64_tutorial' '*BoundsOfBackend.*' 'DivTerm.*' 'Registry.*'
  'Philox.*' 'Dropout.*' 'Layers/*' 'Rotary.*' 'Softmax.*'
)

step() { printf '\n== %s  (%d s since the start)\n' "$1" "$SECONDS"; }

prefix=$PWD/build/aarch64-prefix

# A header-only library of the host: its include folder and a package of one target; all of /usr/include would bring the host's libc.
stage() {
  local package=$1 target=$2 folder=$3 definition=${4:-}
  mkdir -p "$prefix/include" "$prefix/lib/cmake/$package"
  cp -rLu "/usr/include/$folder" "$prefix/include/"
  cat >"$prefix/lib/cmake/$package/${package}Config.cmake" <<CMAKE
add_library($target INTERFACE IMPORTED)
set_target_properties($target PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "$prefix/include"
                      INTERFACE_COMPILE_DEFINITIONS "$definition")
CMAKE
}

step "Dependencies"
./scripts/install_dependencies.sh build aarch64
stage xsimd xsimd xsimd
stage fmt fmt::fmt-header-only fmt FMT_HEADER_ONLY=1
stage nlohmann_json nlohmann_json::nlohmann_json nlohmann
stage Eigen3 Eigen3::Eigen eigen3/Eigen
if [[ ! -f $prefix/lib/libgmock.a ]]; then
  cmake -S /usr/src/googletest -B build/aarch64-googletest -G Ninja -DCMAKE_BUILD_TYPE=Release \
    --toolchain "$PWD/scripts/aarch64.cmake" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build build/aarch64-googletest --target install
fi

./scripts/build.sh aarch64

step "Testing under qemu-aarch64"
arguments=("$@")
[[ $# -gt 0 ]] || arguments=(--gtest_brief=1 "--gtest_filter=$(IFS=:; echo "${subset[*]}")")
shards=$(nproc)
children=()
for ((shard = 0; shard < shards; ++shard)); do
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
    qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/bin/posenc_tests "${arguments[@]}" &
  children+=($!)
done
failed=0
for child in "${children[@]}"; do wait "$child" || failed=1; done
[[ $failed -eq 0 ]] || { echo "FAILED under qemu-aarch64" >&2; exit 1; }
step "All passed on AArch64"
