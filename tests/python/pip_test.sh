#!/usr/bin/env bash
# Builds the package as pip does, without the network: a source distribution, a wheel made from it,
# and an editable installation. The last two are tested, each in an environment of its own. Exits
# with 77 if Python lacks scikit-build-core, which Debian has from 13 on, or another requirement.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source=$PWD

skip() { echo "Skipped: $1"; exit 77; }
find_python='import sys; print(sys.executable)'
python=$(./scripts/python_with.sh scikit_build_core pybind11 numpy -- -c "$find_python")
for need in scikit_build_core pybind11 numpy venv; do
  "$python" -c "import $need" 2>/dev/null ||
    skip "no Python has $need (Debian 13: python3-scikit-build-core python3-pybind11 python3-venv)"
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; echo "FAILED: $*"; exit 1; }; }
fail() { echo "FAILED: $1"; exit 1; }

header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
[[ -e $header ]] || skip "there is no $header (Debian: python3-dev)"
for environment in wheel editable; do
  "$python" -m venv --system-site-packages "$scratch/$environment" >"$scratch/log" 2>&1 ||
    skip "$python cannot make environments (Debian: python3-venv)"
done

# pip itself makes no source distributions. `python -m build` calls this function.
quietly "$python" -c "from scikit_build_core.build import build_sdist
build_sdist('$scratch')"
archive=$(echo "$scratch"/posenc-*.tar.gz)
version=$(sed -n 's/^project(posenc VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[[ $archive == "$scratch/posenc-$version.tar.gz" ]] || fail "$archive is not of version $version"
tar -xzf "$archive" -C "$scratch"
echo "$(basename "$archive"), $(du -k "$archive" | cut -f1) KiB"

# The wheel and the editable installation share a build folder, so the library is compiled once.
unpacked=$scratch/posenc-$version
options=(--no-index --no-deps --no-build-isolation -C "build-dir=$scratch/build")
pip() { quietly "$scratch/$1/bin/python" -m pip "${@:2}"; }
pip wheel wheel "${options[@]}" --wheel-dir "$scratch" "$unpacked"
wheel=$(echo "$scratch"/posenc-*.whl)
tag=$("$python" -c '
import re, sys, sysconfig
platform = re.sub("[-.]", "_", sysconfig.get_platform())
print("cp{0}{1}-cp{0}{1}-{2}".format(*sys.version_info[:2], platform))')
[[ $wheel == "$scratch/posenc-$version-$tag.whl" ]] || fail "$wheel is not tagged $tag"
echo "$(basename "$wheel"), $(du -k "$wheel" | cut -f1) KiB:"
"$python" -m zipfile --list "$wheel"
files=$("$python" -m zipfile --list "$wheel" | awk 'NR > 1 { print $1 }' | sort)
while read -r file; do
  grep -qx "posenc/$file" <<<"$files" || fail "the wheel has no $file"
done < <(cd src/python/posenc && find . -type f ! -path '*/__pycache__/*' | sed 's|^\./||')
[[ $(grep -c '^posenc/_posenc\..*so$' <<<"$files") -eq 1 ]] || fail "the wheel has no module"
! grep -vE '^posenc(-[0-9.]+\.dist-info)?/' <<<"$files" ||
  fail "the wheel has files outside the package"

# auditwheel would call this wheel manylinux: the module exports one function, needs only libraries
# of every Linux, and searches for them nowhere else.
if [[ $(uname) == Linux ]]; then
  module=$scratch/$("$python" -m zipfile --list "$wheel" | awk '/_posenc\..*so / { print $1 }')
  "$python" -m zipfile --extract "$wheel" "$scratch"
  exported=$(nm --dynamic --defined-only "$module" | cut -d' ' -f2-)
  [[ $exported == "T PyInit__posenc" ]] || fail "the module exports $exported"
  needed=$(objdump --private-headers "$module" | awk '/NEEDED|RPATH|RUNPATH/ { print $2 }')
  ! grep -vE '^(lib(stdc\+\+|m|gcc_s|c|pthread)\.so\.[0-9]+|ld-linux.*)$' <<<"$needed" ||
    fail "the module needs libraries that some systems lack"
  newest=$(objdump --dynamic-syms "$module" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1)
  size=$(stat --format %s "$module")
  echo "$(basename "$module"): $size bytes, $newest"
  [[ $size -le $((2 << 20)) ]] || fail "the module has more than 2 MiB"
fi

pip wheel install --no-index --no-deps "$wheel"
pip editable install "${options[@]}" --editable "$unpacked"
run() { (cd "$scratch" && "./$1/bin/python" "${@:2}"); }
for environment in wheel editable; do
  got=$(run "$environment" -c 'import importlib.metadata, posenc
print(importlib.metadata.version("posenc"), posenc.__version__)')
  [[ $got == "$version $version" ]] || fail "the versions of the $environment are $got"
done
# An editable installation imports edited sources.
echo 'EDITED = True' >>"$unpacked/src/python/posenc/__init__.py"
run editable -c 'import posenc; assert posenc.EDITED'
for test in package rotary_config; do
  run wheel "$source/tests/python/${test}_test.py"
  run editable "$source/tests/python/${test}_test.py"
done
