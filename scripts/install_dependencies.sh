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
groups="build test python pip pictures torch report peers avx512 ci"
groups+=" aarch64 riscv64 powerpc64le s390x x86_64-w64-mingw32"

# The Debian packages that a group requires.
needed_of() {
  case $1 in
    build)
      echo "g++ cmake ninja-build git python3 libxsimd-dev libbenchmark-dev libgtest-dev"
      echo "libgmock-dev libcli11-dev libfmt-dev nlohmann-json3-dev libeigen3-dev"
      ;;
    aarch64 | riscv64 | powerpc64le | s390x) echo "g++-$1-linux-gnu googletest qemu-user" ;;
    x86_64-w64-mingw32) echo "g++-mingw-w64-x86-64-posix googletest wine64" ;;
    avx512) echo "bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio" ;;
    ci) echo "clang clang-format mypy pyflakes3 ccache yamllint" ;;
  esac
}

# The Debian packages that each add one optional part to a group.
optional_of() {
  case $1 in
    build) echo "libmpfr-dev" ;;
    test)
      echo "qemu-user valgrind binutils groff-base help2man python3-matplotlib"
      optional_of python
      ;;
    pictures | report) echo "python3-matplotlib python3-numpy" ;;
    python) echo "python3-dev pybind11-dev python3-numpy" ;;
    pip)
      echo "python3-scikit-build-core python3-pybind11 python3-pip python3-venv"
      optional_of python
      ;;
    torch) echo "python3-torch $(optional_of python)" ;;
    peers) echo "libsleef-dev libhwy-dev libllvmlibc-19-dev" ;;
    ci)
      echo "$(optional_of peers) libclang-rt-dev python3-torch chromium debootstrap"
      echo "pkg-config python3-venv doxygen $(optional_of python)"
      ;;
  esac
}

# Of each package, how to detect its content without a package manager: a kind (command, header,
# module, python_header or file) and alternatives. Behind the bar, the part that is
# left out if an optional package is missing.
packages="
g++                 command g++ clang++ c++
cmake               command cmake
ninja-build         command ninja ninja-build
git                 command git
python3             command python3
libxsimd-dev        header xsimd/xsimd.hpp
libbenchmark-dev    header benchmark/benchmark.h
libgtest-dev        header gtest/gtest.h
libgmock-dev        header gmock/gmock.h
libcli11-dev        header CLI/CLI.hpp
libfmt-dev          header fmt/format.h
nlohmann-json3-dev  header nlohmann/json.hpp
libmpfr-dev         header mpfr.h               | the tests against MPFR
libeigen3-dev       header eigen3/Eigen/Core Eigen/Core
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
xorriso             command xorriso
cpio                command cpio
clang               command clang++
clang-format        command clang-format
ccache              command ccache
mypy                command mypy
pyflakes3           command pyflakes3 pyflakes
yamllint            command yamllint
debootstrap         command debootstrap         | the tests on other releases of Debian
pkg-config          command pkg-config pkgconf  | the test of the pkg-config file
python3-dev         python_header Python.h      | the Python package, and PyTorch's tables
pybind11-dev        header pybind11/pybind11.h  | the Python package, and PyTorch's tables
python3-scikit-build-core module scikit_build_core | the installation of the package by pip
python3-pybind11    module pybind11             | the installation of the package by pip
python3-pip         module pip                  | the installation of the package by pip
python3-venv        module ensurepip            | the test of the package's installation
libclang-rt-dev                                 | sanitizers and fuzzing
"
line_of() {
  local name rest
  while read -r name rest; do
    if [[ $name == "$1" ]]; then echo "$rest"; fi
  done <<<"$packages"
  if [[ $1 == g++-* ]]; then echo "command ${1#g++-}-g++"; fi
}

fail() { echo "install_dependencies.sh: $1" >&2; exit 2; }
warn() { echo "install_dependencies.sh: warning: $1" >&2; }

has_command() { command -v "$1" >/dev/null; }
has_header() {
  local folder prefixes=/usr:/usr/local:/opt/homebrew:${CONDA_PREFIX:-}:${CMAKE_PREFIX_PATH:-}
  local -a named
  IFS=':;' read -r -a named <<<"$prefixes"
  for folder in "${named[@]}"; do [[ ! -e $folder/include/$1 ]] || return 0; done
  IFS=':' read -r -a named <<<"/usr/include:${CPATH:-}:${CPLUS_INCLUDE_PATH:-}"
  for folder in "${named[@]}"; do [[ ! -e $folder/$1 ]] || return 0; done
  return 1
}
# Tries the same Pythons as python_with.sh, which runs the scripts: the first on the path, then
# Debian's.
has_module() {
  local python find="import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)"
  for python in python3 /usr/bin/python3; do ! "$python" -c "$find" 2>/dev/null || return 0; done
  return 1
}
has_python_header() {
  local python find="import sysconfig; print(sysconfig.get_path('include'))"
  for python in python3 /usr/bin/python3; do
    [[ ! -e $("$python" -c "$find" 2>/dev/null)/$1 ]] || return 0
  done
  return 1
}
has_file() { [[ -e $1 ]]; }

is_there() {
  local kind names name line
  line=$(line_of "$1")
  read -r kind names <<<"${line%%|*}"
  for name in $names; do ! "has_$kind" "$name" || return 0; done
  has_command dpkg-query || return 1
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Prints the packages that are missing, each once.
absent_of() {
  local package absent=""
  for package in "$@"; do
    [[ " $absent " == *" $package "* ]] || is_there "$package" || absent+=${absent:+ }$package
  done
  echo "$absent"
}

# On a terminal, asks for the password once.
sudo_works() {
  if [[ -t 0 ]]; then
    sudo -v -p "[sudo] password of %p, to install $missing: "
  else
    sudo -n true &>/dev/null
  fi
}

# Prints why nothing can be installed here, or nothing if it can.
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
apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" -o DPkg::Lock::Timeout=60 \
    </dev/null >>"$log" 2>&1
}
# After an installation that was cut off, apt-get refuses every other one.
was_interrupted() { has_command dpkg && [[ -n $(dpkg --audit 2>>"$log") ]]; }
finish_interrupted() {
  as_root env DEBIAN_FRONTEND=noninteractive dpkg --configure -a </dev/null >>"$log" 2>&1 || true
  apt install -y --fix-broken --no-remove
}
apt_install() { apt install -y --no-install-recommends "$@"; }
# apt-get installs nothing if it does not know one of the names.
is_known() {
  [[ $(LC_ALL=C apt-cache policy "$1" 2>>"$log") =~ Candidate:\ [^\(] ]] && return 0
  echo "no package $1 in this release" >>"$log"
  return 1
}

# Installs all packages at once. If that fails, installs them one by one, so that a package that
# cannot be installed does not stop the others.
install() {
  local package known=""
  apt update || true  # The package lists that are already there may be enough.
  ! was_interrupted || finish_interrupted || true
  for package in "$@"; do ! is_known "$package" || known+=" $package"; done
  [[ -n $known ]] || return 0
  # shellcheck disable=SC2086
  apt_install $known || for package in $known; do apt_install "$package" || true; done
}

look() {
  # shellcheck disable=SC2086
  needed_missing=$(absent_of $needed) optional_missing=$(absent_of $optional)
  missing=$needed_missing${needed_missing:+${optional_missing:+ }}$optional_missing
}

mode=install
if [[ ${1:-} == --left-out ]]; then
  mode=left-out
  shift
fi
needed="" optional=""
for group in "${@:-build}"; do
  [[ " $groups " == *" $group "* ]] || fail "group is '$group'; allowed: $groups"
  needed+=" $(needed_of "$group")"
  optional+=" $(optional_of "$group")"
done

look
if [[ $mode == left-out ]]; then
  [[ -z $optional_missing ]] || echo "Left out, since it is not installed:"
  for package in $optional_missing; do
    line=$(line_of "$package")
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
text=${needed_missing:+, needed: $needed_missing}
text+=${optional_missing:+, optional: $optional_missing}
warn "not installed$text ($reason)"
