#!/usr/bin/env bash
# Installs what is missing of the named groups: install_dependencies.sh [build] [test] [ci] [aarch64] [avx512] [pictures] [torch] [report] [peers]
set -euo pipefail

declare -A groups=(
  [build]="g++ cmake ninja-build git python3 libxsimd-dev libbenchmark-dev libgtest-dev libgmock-dev libcli11-dev
           libfmt-dev nlohmann-json3-dev libmpfr-dev libeigen3-dev"
  [test]="qemu-user binutils groff-base python3-matplotlib python3-numpy"
  [pictures]="python3-matplotlib python3-numpy"
  [torch]="python3-torch python3-numpy"
  [report]="python3-matplotlib python3-numpy"
  [peers]="libsleef-dev libhwy-dev libeigen3-dev"
  [aarch64]="g++-aarch64-linux-gnu googletest qemu-user"
  [riscv64]="g++-riscv64-linux-gnu googletest qemu-user"
  [powerpc64le]="g++-powerpc64le-linux-gnu googletest qemu-user"
  [avx512]="bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio"
  [ci]="libsleef-dev libhwy-dev clang clang-format libomp-dev libclang-rt-dev python3-torch chromium"
)

packages=()
for group in "${@:-build}"; do
  if [[ -z ${groups[$group]:-} ]]; then
    echo "install_dependencies.sh: unknown group '$group', allowed: ${!groups[*]}" >&2
    exit 2
  fi
  read -r -d '' -a members <<<"${groups[$group]}" || true
  packages+=("${members[@]}")
done

name_and_stop() {
  echo "$1 Install the equivalents of these Debian packages, then build with: cmake --preset release" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 2
}

command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
  name_and_stop "This system has no apt-get, so nothing was installed."

missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed* ]] ||
    missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  packages=("${missing[@]}")
  command -v sudo >/dev/null || name_and_stop "Installing needs root, and there is no sudo."
  as_root=(sudo)
fi
echo "== Installing: ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
