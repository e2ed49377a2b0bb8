#!/usr/bin/env bash
# Installs what is missing of the named groups, or says in one line what could not be installed, and
# exits 0: CMake reports what a build cannot do without. What is there counts as installed, whether
# or not a package manager brought it.
#   install_dependencies.sh [GROUP ...]              the default group is build
#   install_dependencies.sh --left-out [GROUP ...]   installs nothing; lists the optional parts that are missing
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

log=build/logs/install.log

# Packages of Debian by group: those that the group cannot do without, and those that each add one part.
declare -A needed=(
  [build]="g++ cmake ninja-build git python3 libxsimd-dev libbenchmark-dev libgtest-dev libgmock-dev libcli11-dev
           libfmt-dev nlohmann-json3-dev libeigen3-dev"
  [test]=""
  [pictures]=""
  [torch]=""
  [report]=""
  [peers]=""
  [aarch64]="g++-aarch64-linux-gnu googletest qemu-user"
  [riscv64]="g++-riscv64-linux-gnu googletest qemu-user"
  [powerpc64le]="g++-powerpc64le-linux-gnu googletest qemu-user"
  [avx512]="bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio"
  [ci]="clang clang-format"
)
declare -A optional=(
  [build]="libmpfr-dev"
  [test]="qemu-user binutils groff-base python3-matplotlib python3-numpy"
  [pictures]="python3-matplotlib python3-numpy"
  [torch]="python3-torch python3-numpy"
  [report]="python3-matplotlib python3-numpy"
  [peers]="libsleef-dev libhwy-dev"
  [ci]="libsleef-dev libhwy-dev libomp-dev libclang-rt-dev python3-torch chromium debootstrap pkg-config"
)

# How to see without a package manager that a package's content is there: a command, a header, a
# Python module, a file. Words after the first are alternatives.
declare -A sign=(
  [g++]="command g++ clang++ c++"
  [cmake]="command cmake"
  [ninja-build]="command ninja ninja-build"
  [git]="command git"
  [python3]="command python3"
  [libxsimd-dev]="header xsimd/xsimd.hpp"
  [libbenchmark-dev]="header benchmark/benchmark.h"
  [libgtest-dev]="header gtest/gtest.h"
  [libgmock-dev]="header gmock/gmock.h"
  [libcli11-dev]="header CLI/CLI.hpp"
  [libfmt-dev]="header fmt/format.h"
  [nlohmann-json3-dev]="header nlohmann/json.hpp"
  [libmpfr-dev]="header mpfr.h"
  [libeigen3-dev]="header eigen3/Eigen/Core Eigen/Core"
  [libsleef-dev]="header sleef.h"
  [libhwy-dev]="header hwy/highway.h"
  [qemu-user]="command qemu-x86_64"
  [binutils]="command nm"
  [groff-base]="command groff"
  [chromium]="command chromium chromium-browser google-chrome"
  [debootstrap]="command debootstrap"
  [pkg-config]="command pkg-config pkgconf"
  [python3-matplotlib]="module matplotlib"
  [python3-numpy]="module numpy"
  [python3-torch]="module torch"
  [g++-aarch64-linux-gnu]="command aarch64-linux-gnu-g++"
  [g++-riscv64-linux-gnu]="command riscv64-linux-gnu-g++"
  [g++-powerpc64le-linux-gnu]="command powerpc64le-linux-gnu-g++"
  [googletest]="file /usr/src/googletest/CMakeLists.txt"
  [xorriso]="command xorriso"
  [cpio]="command cpio"
  [clang]="command clang++"
  [clang-format]="command clang-format"
)

# What is left out without an optional package.
declare -A part=(
  [libmpfr-dev]="the tests against MPFR"
  [libsleef-dev]="SLEEF among the peers"
  [libhwy-dev]="Highway among the peers"
  [qemu-user]="the tests on emulated CPUs"
  [binutils]="the test of symbol tables"
  [groff-base]="the test of the manual pages"
  [chromium]="the test of the report in a browser"
  [debootstrap]="the tests on other releases of Debian"
  [pkg-config]="the test of the pkg-config file"
  [python3-matplotlib]="figures and the report"
  [python3-numpy]="figures, and NumPy's tables"
  [python3-torch]="PyTorch's tables"
  [libomp-dev]="OpenMP with clang"
  [libclang-rt-dev]="sanitizers and fuzzing"
)

fail() { echo "install_dependencies.sh: $1" >&2; exit 2; }
warn() { echo "install_dependencies.sh: warning: $1" >&2; }

prefixes=(/usr /usr/local /opt/homebrew ${CONDA_PREFIX:+"$CONDA_PREFIX"})
IFS=':;' read -r -a named <<<"${CMAKE_PREFIX_PATH:-}"
IFS=':' read -r -a include_folders <<<"${CPATH:-}:${CPLUS_INCLUDE_PATH:-}"
include_folders+=("${prefixes[@]/%//include}" ${named[@]+"${named[@]/%//include}"})

has_command() { command -v "$1" >/dev/null; }
has_header() {
  local folder
  for folder in "${include_folders[@]}"; do [[ ! -e $folder/$1 ]] || return 0; done
  return 1
}
# As python_with.sh, which runs the scripts: under the first Python of the path, or else Debian's.
has_module() {
  local python find="import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)"
  for python in python3 /usr/bin/python3; do ! "$python" -c "$find" 2>/dev/null || return 0; done
  return 1
}
has_file() { [[ -e $1 ]]; }

is_there() {
  local kind=${sign[$1]:-} name
  if [[ -n $kind ]]; then
    for name in ${kind#* }; do ! "has_${kind%% *}" "$name" || return 0; done
  fi
  has_command dpkg-query && [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Of the packages, those that are not there, each once.
missing_of() {
  local package
  for package in $(printf '%s\n' "$@" | awk '!seen[$0]++'); do is_there "$package" || echo "$package"; done
}

# With a terminal, asks for the password once.
sudo_works() {
  if [[ -t 0 ]]; then sudo -v -p "[sudo] password of %p, to install ${missing[*]}: "; else sudo -n true &>/dev/null; fi
}

# Why nothing can be installed here; empty if it can.
obstacle() {
  if ! has_command apt-get; then
    echo "there is no apt-get here"
  elif [[ $(id -u) -ne 0 ]] && ! has_command sudo; then
    echo "installing needs root, and there is no sudo"
  elif [[ $(id -u) -ne 0 ]] && ! sudo_works; then
    echo "installing needs root, and sudo does not give it"
  fi
}

as_root() { if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi; }
apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null >>"$log" 2>&1; }
apt_install() { apt install -y --no-install-recommends "$@"; }
# A name that this release does not have would end the installation of the others.
is_known() { [[ $(LC_ALL=C apt-cache policy "$1" 2>>"$log") =~ Candidate:\ [^\(] ]]; }

# All at once; if that fails, one by one, so that one package stops no other.
install() {
  local package known=()
  apt update || true  # what is already known may do
  for package in "$@"; do
    if is_known "$package"; then known+=("$package"); else echo "no package $package in this release" >>"$log"; fi
  done
  [[ ${#known[@]} -gt 0 ]] || return 0
  apt_install "${known[@]}" || for package in "${known[@]}"; do apt_install "$package" || true; done
}

mode=install
if [[ ${1:-} == --left-out ]]; then
  mode=left-out
  shift
fi
all_needed=() all_optional=()
for group in "${@:-build}"; do
  [[ -n ${needed[$group]+known} ]] ||
    fail "group is '$group'; allowed: $(printf '%s\n' "${!needed[@]}" | sort | paste -sd ' ')"
  read -r -d '' -a members <<<"${needed[$group]}" || true
  all_needed+=(${members[@]+"${members[@]}"})
  read -r -d '' -a members <<<"${optional[$group]:-}" || true
  all_optional+=(${members[@]+"${members[@]}"})
done

if [[ $mode == left-out ]]; then
  mapfile -t missing < <(missing_of ${all_optional[@]+"${all_optional[@]}"})
  [[ ${#missing[@]} -gt 0 ]] || exit 0
  echo "Left out, since it is not installed:"
  for package in "${missing[@]}"; do echo "  ${part[$package]} (Debian: $package)"; done
  exit 0
fi

look() {
  mapfile -t lacking < <(missing_of ${all_needed[@]+"${all_needed[@]}"})
  mapfile -t lacking_parts < <(missing_of ${all_optional[@]+"${all_optional[@]}"})
  missing=(${lacking[@]+"${lacking[@]}"} ${lacking_parts[@]+"${lacking_parts[@]}"})
}

look
[[ ${#missing[@]} -gt 0 ]] || exit 0

reason=$(obstacle)
if [[ -z $reason ]]; then
  mkdir -p "$(dirname "$log")"
  printf '== Installing %s (log: %s)\n' "${missing[*]}" "$log"
  echo "== $(date): ${missing[*]}" >>"$log"
  install "${missing[@]}"
  look
  [[ ${#missing[@]} -gt 0 ]] || exit 0
  reason="apt-get did not bring it, see $log"
fi
text=${lacking[*]+"needed: ${lacking[*]}"}
[[ ${#lacking_parts[@]} -eq 0 ]] || text+="${text:+; }optional: ${lacking_parts[*]}"
warn "not installed, $text ($reason)"
