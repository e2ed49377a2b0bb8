#!/usr/bin/env bash
# Installs the missing packages of the named groups. If some cannot be installed, it names them in
# one line and still exits with 0, since CMake reports what a build needs. Software that was not
# installed by a package manager counts as installed too.
#   install_dependencies.sh [GROUP ...]              the default group is build
#   install_dependencies.sh --left-out [GROUP ...]   installs nothing; lists missing optional parts
# The bash of macOS has no associative arrays: tables are text, and lists are strings of words.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=build/logs/install.log

# Of each group the Debian packages. What they add is optional if it stands behind a bar below.
python="python3-dev pybind11-dev python3-numpy"
peers="libsleef-dev libhwy-dev libllvmlibc-19-dev"
groups="
build    g++ cmake ninja-build git python3 libxsimd-dev libbenchmark-dev libgtest-dev libgmock-dev \
         libcli11-dev libfmt-dev nlohmann-json3-dev libeigen3-dev libmpfr-dev
test     qemu-user valgrind binutils groff-base help2man python3-matplotlib $python
report   python3-matplotlib python3-numpy
python   $python
pip      python3-scikit-build-core python3-pybind11 python3-pip python3-venv $python
torch    python3-torch $python
peers    $peers
avx512   bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio
ci       clang clang-format mypy pyflakes3 ccache yamllint libclang-rt-dev python3-torch chromium \
         debootstrap pkg-config python3-venv doxygen $python $peers
aarch64      g++-aarch64-linux-gnu googletest qemu-user
riscv64      g++-riscv64-linux-gnu googletest qemu-user
powerpc64le  g++-powerpc64le-linux-gnu googletest qemu-user
s390x        g++-s390x-linux-gnu googletest qemu-user
x86_64-w64-mingw32  g++-mingw-w64-x86-64-posix googletest wine64
"

# Of each package that is not found by a command of its name, how to find its content without a
# package manager: a kind (command, header, module or file) and alternatives. Behind the bar, the
# part that is left out without it; a package that has none is needed.
packages="
g++                 command g++ clang++ c++
ninja-build         command ninja ninja-build
libxsimd-dev        header xsimd/xsimd.hpp
libbenchmark-dev    header benchmark/benchmark.h
libgtest-dev        header gtest/gtest.h
libgmock-dev        header gmock/gmock.h
libcli11-dev        header CLI/CLI.hpp
libfmt-dev          header fmt/format.h
nlohmann-json3-dev  header nlohmann/json.hpp
libeigen3-dev       header eigen3/Eigen/Core Eigen/Core
libmpfr-dev         header mpfr.h               | the tests against MPFR
libsleef-dev        header sleef.h              | SLEEF among the peers
libhwy-dev          header hwy/highway.h        | Highway among the peers
libllvmlibc-19-dev  file /usr/lib/llvm-*/lib/libllvmlibc.a | LLVM libc among the peers
qemu-user           command qemu-x86_64         | the tests on emulated CPUs
valgrind            command valgrind            | the test that counts instructions
binutils            command nm                  | the test of symbol tables
doxygen             command doxygen             | the reference of the headers
groff-base          command groff               | the test of the manual pages
help2man            command help2man            | the manual pages
chromium            command chromium chromium-browser google-chrome | the test of the page
python3-matplotlib  module matplotlib           | figures and the report
python3-numpy       module numpy                | figures, and NumPy's tables
python3-torch       module torch                | PyTorch's tables
googletest          file /usr/src/googletest/CMakeLists.txt
g++-mingw-w64-x86-64-posix  command x86_64-w64-mingw32-g++-posix
wine64              file /usr/lib/wine/wine64 /usr/bin/wine64 /usr/bin/wine
clang               command clang++
pyflakes3           command pyflakes3 pyflakes
debootstrap         command debootstrap         | the tests on other releases of Debian
pkg-config          command pkg-config pkgconf  | the test of the pkg-config file
python3-dev         module Python.h             | the Python package, and PyTorch's tables
pybind11-dev        header pybind11/pybind11.h  | the Python package, and PyTorch's tables
python3-scikit-build-core module scikit_build_core | the installation of the package by pip
python3-pybind11    module pybind11             | the installation of the package by pip
python3-pip         module pip                  | the installation of the package by pip
python3-venv        module ensurepip            | the test of the package's installation
libclang-rt-dev     none none                   | sanitizers and fuzzing
"

# line_of TABLE NAME: what stands behind the name, or nothing.
line_of() {
  local name rest
  while read -r name rest; do if [[ $name == "$2" ]]; then echo "$rest"; fi; done <<<"$1"
}

# has KIND NAME. Modules are asked of the same Pythons that python_with.sh runs scripts with.
find_module='import importlib.util, os, sys, sysconfig
header = os.path.join(sysconfig.get_path("include"), sys.argv[1])
sys.exit(0 if os.path.exists(header) or importlib.util.find_spec(sys.argv[1]) else 1)'
has() {
  local folder prefixes=${CMAKE_PREFIX_PATH:-}
  case $1 in
    command) command -v "$2" >/dev/null ;;
    file) [[ -e $2 ]] ;;
    header)
      for folder in /usr /usr/local /opt/homebrew ${CONDA_PREFIX:-} ${prefixes//[:;]/ }; do
        [[ ! -e $folder/include/$2 ]] || return 0
      done
      return 1 ;;
    module)
      python3 -c "$find_module" "$2" 2>/dev/null ||
        /usr/bin/python3 -c "$find_module" "$2" 2>/dev/null ;;
    *) return 1 ;;
  esac
}

is_there() {
  local kind names name line
  line=$(line_of "$packages" "$1")
  if [[ $1 == g++-* ]]; then line=${line:-command ${1#g++-}-g++}; fi
  read -r kind names <<<"${line:-command $1}"
  for name in ${names%%|*}; do ! has "$kind" "$name" || return 0; done
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true) == installed ]]
}

# Prints why nothing can be installed here, or nothing if it can. On a terminal, sudo asks for the
# password once.
obstacle() {
  if ! has command apt-get; then
    echo "there is no apt-get here"
  elif [[ $(id -u) -ne 0 ]] && ! has command sudo; then
    echo "installing needs root, and there is no sudo"
  elif [[ $(id -u) -ne 0 && -t 0 ]]; then
    sudo -v -p "[sudo] password of %p, to install $missing: " || echo "sudo does not give root"
  elif [[ $(id -u) -ne 0 ]]; then
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

# Sets what is missing of the groups.
look() {
  local package
  missing=""
  for package in $wanted; do
    [[ " $missing " == *" $package "* ]] || is_there "$package" || missing+=${missing:+ }$package
  done
}

is_list=no
if [[ ${1:-} == --left-out ]]; then
  is_list=yes
  shift
fi
wanted=""
for group in "${@:-build}"; do
  of_group=$(line_of "$groups" "$group")
  [[ -n $of_group ]] || {
    known=$(while read -r name _; do printf '%s ' "$name"; done <<<"${groups#?}")
    echo "install_dependencies.sh: group is '$group'; allowed: $known" >&2
    exit 2
  }
  wanted+=" $of_group"
done

look
if [[ $is_list == yes ]]; then
  heading="Left out, since it is not installed:"
  for package in $missing; do
    line=$(line_of "$packages" "$package")
    [[ $line == *"|"* ]] || continue
    [[ -z $heading ]] || echo "$heading"
    heading=""
    echo "  ${line#*| } (Debian: $package)"
  done
  exit 0
fi
[[ -n $missing ]] || exit 0
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
echo "install_dependencies.sh: warning: not installed: $missing ($reason)" >&2
