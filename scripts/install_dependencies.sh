#!/usr/bin/env bash
# Installs the missing Debian packages of the named groups. If some cannot be installed, the script
# names them in one line and still exits with 0: a dependency may come from elsewhere, and CMake
# reports what a build lacks.
#   install_dependencies.sh [GROUP ...]   the default group is build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/install.log

packages_of() {
  local python="python3-dev pybind11-dev python3-numpy"
  case $1 in
    build) echo "g++ cmake ninja-build git python3 libxsimd-dev libbenchmark-dev libgtest-dev \
      libgmock-dev libcli11-dev libfmt-dev nlohmann-json3-dev libmpfr-dev" ;;
    test) echo "qemu-user valgrind binutils groff-base help2man libbenchmark-tools \
      python3-matplotlib $python" ;;
    report) echo "python3-matplotlib python3-numpy" ;;
    python) echo "$python" ;;
    pip) echo "python3-scikit-build-core python3-pybind11 python3-pip python3-venv $python" ;;
    torch) echo "python3-torch $python" ;;
    peers) echo "libsleef-dev" ;;
    proofs) echo "g++ python3 sollya gappa coq libcoq-flocq libcoq-interval" ;;
    avx512) echo "bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio \
      busybox-static" ;;
    ci) echo "clang clang-format mypy pyflakes3 ccache yamllint libclang-rt-dev python3-torch \
      debootstrap pkg-config python3-venv doxygen rustc $python libsleef-dev" ;;
    aarch64 | riscv64 | powerpc64le | s390x) echo "g++-$1-linux-gnu googletest qemu-user" ;;
    wasm32) echo "emscripten googletest nodejs" ;;
    x86_64-w64-mingw32) echo "g++-mingw-w64-x86-64-posix googletest wine64" ;;
    *)
      echo "install_dependencies.sh: group is '$1'; allowed: build test report python pip torch" \
        "peers proofs avx512 ci aarch64 riscv64 powerpc64le s390x x86_64-w64-mingw32 wasm32" >&2
      return 2 ;;
  esac
}

# Sets `missing` to the wanted packages that are not installed.
look() {
  local package
  missing=""
  for package in $wanted; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ||
      " $missing " == *" $package "* ]] || missing+=${missing:+ }$package
  done
}

# On a terminal, sudo asks for the password.
apt() {
  local sudo=()
  if [[ $(id -u) -ne 0 ]]; then
    sudo=(sudo)
    [[ -t 0 ]] || sudo+=(-n)
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=60 "$@" \
    </dev/null >>"$log" 2>&1
}

wanted=""
for group in "${@:-build}"; do wanted+=" $(packages_of "$group")" || exit 2; done

look
[[ -n $missing ]] || exit 0
mkdir -p "$(dirname "$log")"
echo "== Installing $missing (log: $log)"
apt update || true  # The package lists that are already there may be enough.
# Install all packages at once. If that fails, install one by one, so that a package that cannot be
# installed does not stop the others.
# shellcheck disable=SC2086
apt install -y --no-install-recommends $missing || for package in $missing; do
  apt install -y --no-install-recommends "$package" || true
done
look
[[ -z $missing ]] ||
  echo "install_dependencies.sh: warning: not installed by apt: $missing (see $log)" >&2
