#!/usr/bin/env bash
# Installs the missing Debian packages of the named groups. If some cannot be installed, it names
# them in one line and still exits with 0, since CMake reports what a build needs, wherever it is
# from.
#   install_dependencies.sh [GROUP ...]              the default group is build
#   install_dependencies.sh --left-out [GROUP ...]   installs nothing; lists missing optional parts
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/install.log

packages_of() {
  local python="python3-dev pybind11-dev python3-numpy"
  case $1 in
    build) echo "g++ cmake ninja-build git python3 libxsimd-dev libbenchmark-dev libgtest-dev \
      libgmock-dev libcli11-dev libfmt-dev nlohmann-json3-dev libmpfr-dev" ;;
    test) echo "qemu-user valgrind binutils groff-base help2man python3-matplotlib $python" ;;
    report) echo "python3-matplotlib python3-numpy" ;;
    python) echo "$python" ;;
    pip) echo "python3-scikit-build-core python3-pybind11 python3-pip python3-venv $python" ;;
    torch) echo "python3-torch $python" ;;
    peers) echo "libsleef-dev" ;;
    proofs) echo "g++ python3 sollya gappa coq libcoq-flocq libcoq-interval" ;;
    avx512) echo "bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio" ;;
    ci) echo "clang clang-format mypy pyflakes3 ccache yamllint libclang-rt-dev python3-torch \
      chromium debootstrap pkg-config python3-venv doxygen $python libsleef-dev" ;;
    aarch64 | riscv64 | powerpc64le | s390x) echo "g++-$1-linux-gnu googletest qemu-user" ;;
    wasm32) echo "emscripten googletest nodejs chromium" ;;
    x86_64-w64-mingw32) echo "g++-mingw-w64-x86-64-posix googletest wine64" ;;
    *)
      echo "install_dependencies.sh: group is '$1'; allowed: build test report python pip torch" \
        "peers proofs avx512 ci aarch64 riscv64 powerpc64le s390x x86_64-w64-mingw32 wasm32" >&2
      return 2 ;;
  esac
}

# What is left out without a package; nothing of a package that is needed.
part_of() {
  case $1 in
    libmpfr-dev) echo "the tests against MPFR" ;;
    libsleef-dev) echo "SLEEF among the peers" ;;
    qemu-user) echo "the tests on emulated CPUs" ;;
    valgrind) echo "the test that counts instructions" ;;
    binutils) echo "the test of symbol tables" ;;
    doxygen) echo "the reference of the headers" ;;
    groff-base) echo "the test of the manual pages" ;;
    help2man) echo "the manual pages" ;;
    chromium) echo "the test of the page" ;;
    python3-matplotlib) echo "figures and the report" ;;
    python3-numpy) echo "figures, and NumPy's tables" ;;
    python3-torch) echo "PyTorch's tables" ;;
    debootstrap) echo "the tests on other releases of Debian" ;;
    sollya | gappa | coq | libcoq-*) echo "the test of the proofs" ;;
    pkg-config) echo "the test of the pkg-config file" ;;
    python3-dev | pybind11-dev) echo "the Python package, and PyTorch's tables" ;;
    python3-scikit-build-core | python3-pybind11 | python3-pip)
      echo "the installation of the package by pip" ;;
    python3-venv) echo "the test of the package's installation" ;;
    libclang-rt-dev) echo "sanitizers and fuzzing" ;;
  esac
}

# Sets what is missing of the wanted packages.
look() {
  local package status
  missing=""
  for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed || " $missing " == *" $package "* ]] || missing+=${missing:+ }$package
  done
}

# Prints why nothing can be installed here, or nothing if it can. On a terminal, sudo asks for the
# password once.
obstacle() {
  if ! command -v apt-get >/dev/null; then
    echo "there is no apt-get here"
  elif [[ $(id -u) -eq 0 ]]; then
    return
  elif ! command -v sudo >/dev/null; then
    echo "installing needs root, and there is no sudo"
  elif [[ -t 0 ]]; then
    sudo -v -p "[sudo] password of %p, to install $missing: " || echo "sudo does not give root"
  else
    sudo -n true &>/dev/null || echo "installing needs root, and sudo does not give it"
  fi
}
as_root() {
  local sudo=sudo
  if [[ $(id -u) -eq 0 ]]; then sudo=""; fi
  $sudo env DEBIAN_FRONTEND=noninteractive "$@" </dev/null >>"$log" 2>&1
}
apt() { as_root apt-get -q "$@" -o DPkg::Lock::Timeout=60; }
# Installs all packages at once. If that fails, finishes an installation that was cut off, and
# installs one by one, so that a package that cannot be installed does not stop the others.
install() {
  local package
  apt update || true  # The package lists that are already there may be enough.
  ! apt install -y --no-install-recommends "$@" || return 0
  as_root dpkg --configure -a || true
  apt install -y --fix-broken --no-remove || true
  for package; do apt install -y --no-install-recommends "$package" || true; done
}

is_list=no
if [[ ${1:-} == --left-out ]]; then
  is_list=yes
  shift
fi
wanted=""
for group in "${@:-build}"; do wanted+=" $(packages_of "$group")" || exit 2; done

look
[[ -n $missing ]] || exit 0
if [[ $is_list == yes ]]; then
  parts=$(for package in $missing; do
    part=$(part_of "$package")
    if [[ -n $part ]]; then echo "  $part (Debian: $package)"; fi
  done)
  [[ -z $parts ]] || printf 'Left out, unless installed otherwise than by apt:\n%s\n' "$parts"
  exit 0
fi
reason=$(obstacle)
if [[ -z $reason ]]; then
  mkdir -p "$(dirname "$log")"
  echo "== Installing $missing (log: $log)"
  echo "== $(date): $missing" >>"$log"
  # shellcheck disable=SC2086
  install $missing
  look
  [[ -n $missing ]] || exit 0
  reason="apt-get did not bring it, see $log"
fi
echo "install_dependencies.sh: warning: not installed by apt: $missing ($reason)" >&2
