#!/usr/bin/env bash
# install_test.sh CMAKE SOURCE BUILD COMPILER: installs posenc into a temporary prefix. Builds and
# runs the programs of this folder against it, with CMake and with pkg-config, in C++ and in pure C,
# and the examples of README.md and docs/. Also configures a parent project that builds posenc as a
# part of itself.
set -euo pipefail
cmake=$1 source=$2 build=$3 compiler=$4
case ${compiler##*/} in
  *clang++*) c_compiler=${compiler/clang++/clang} ;;
  *g++*) c_compiler=${compiler/g++/gcc} ;;
  *) c_compiler=cc ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { cat "$scratch/log"; echo "FAILED: $1"; exit 1; }
# quietly WHAT COMMAND...: WHAT has failed if the command fails.
quietly() { "${@:2}" >"$scratch/log" 2>&1 || fail "$1"; }
# refused WHAT COMMAND...: WHAT has failed if the command succeeds.
refused() { ! "${@:2}" >"$scratch/log" 2>&1 || fail "$1"; }

quietly "installing" "$cmake" --install "$build" --prefix "$scratch/prefix"
# Every block of C++ or C in the pages is a complete program: example_README_1.cpp ...
awk -v folder="$scratch" '
  FNR == 1 { page = FILENAME; sub(".*/", "", page); sub("[.]md$", "", page); block = inside = 0 }
  /^```cp?p?$/ { ++block; inside = 1; language = substr($0, 4); next }
  /^```/ { inside = 0 }
  inside { print >(folder "/example_" page "_" block "." language) }' \
  "$source/README.md" "$source"/docs/*.md
examples=("$scratch"/example_*.c*)
[[ -s $scratch/example_README_1.cpp ]] || fail "README.md has no cpp block"

"$cmake" -S "$source/tests/install" -B "$scratch/build" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
  -DEXAMPLES="$(IFS=';'; echo "${examples[*]}")"
"$cmake" --build "$scratch/build"
"$cmake" -S "$source/tests/install/c" -B "$scratch/build_c" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_C_COMPILER="$c_compiler"
"$cmake" --build "$scratch/build_c"

# Every header compiles on its own. If the compiler is set to C++17, its first error says that
# posenc needs C++20.
needs='posenc needs C++20: compile with -std=c++20 or newer'
while read -r header; do
  compile=("$compiler" -fsyntax-only -x c++ -I"$scratch/prefix/include" -)
  quietly "$header does not stand alone" "${compile[@]}" -std=c++20 <<<"#include <$header>"
  refused "$header compiles as C++17" "${compile[@]}" -std=c++17 <<<"#include <$header>"
  first=$(grep -m1 'error:' "$scratch/log") || true
  [[ $first == *"$needs"* ]] || fail "the first error of $header as C++17"
done < <(cd "$scratch/prefix/include" && find posenc -name '*.h' ! -name c_api.h | sort)

"$scratch/build/consumer"
for consumer in "$scratch"/build_c/*_consumer; do "$consumer"; done
"$scratch/build/native_types"
for example in "${examples[@]}"; do
  name=$(basename "$example")
  "$scratch/build/${name%.*}"
done
"$scratch/prefix/bin/posenc" list >/dev/null

if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name posenc.pc)")
  export PKG_CONFIG_PATH
  # The same flags work for the compilers of both languages, and for a static or a shared library.
  link() {  # PACKAGE COMPILER ... SOURCE
    read -r -a flags <<<"$(pkg-config --cflags --libs "$1")"
    "${@:2}" "${flags[@]}" "-Wl,-rpath,$(pkg-config --variable=libdir "$1")" -o "$scratch/linked"
    "$scratch/linked"
  }
  link posenc "$compiler" -std=c++20 "$source/tests/install/consumer.cpp"
  link posenc-suite "$compiler" -std=c++20 "$scratch/example_using_2.cpp"
  link posenc-c "$c_compiler" -std=c99 "$scratch/example_from-c_1.c"
  link posenc-c "$c_compiler" -std=c99 "$source/tests/install/c_consumer.c"
  # A static program, if all libraries that it needs are static ones.
  if [[ -n $(find "$scratch/prefix" -name libposenc_c.a) ]] &&
    "$compiler" -static -o "$scratch/linked" -x c++ - <<<'int main() {}' 2>/dev/null; then
    read -r -a flags <<<"$(pkg-config --static --cflags --libs posenc-c)"
    quietly "a static program" "$c_compiler" -std=c99 -static \
      "$source/tests/install/c_consumer.c" "${flags[@]}" -lm -o "$scratch/linked"
    "$scratch/linked"
  fi
fi

# The self-contained library exports the functions of its header, and works in another folder.
shared=$(find "$scratch/prefix" -name libposenc_c.so)
if [[ -n $shared ]]; then
  symbols=$source/tests/install/exported_symbols.py
  quietly "the symbols of libposenc_c.so" python3 "$symbols" \
    --c-header "$scratch/prefix/include/posenc/c_api.h" "$shared"
  quietly "libposenc_c.so in ctypes" python3 "$source/tests/c/ctypes_test.py" "$shared"
fi

for way in FetchContent add_subdirectory; do
  quietly "a parent project with $way" "$cmake" -S "$source/tests/install/parent" \
    -B "$scratch/$way" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DPOSENC_SOURCE="$source" -DPOSENC_WAY="$way"
done

# Empty libraries are enough to configure a program.
touch "$scratch/FetchContent/libengine.a" \
  "$scratch/FetchContent/_deps/posenc-build/src/posenc/libposenc.a"
quietly "a parent project is not installed" \
  "$cmake" --install "$scratch/FetchContent" --prefix "$scratch/core"
refused "an unknown component is found" \
  "$cmake" -S "$source/tests/install/c" -B "$scratch/build_core" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/core" -DCMAKE_C_COMPILER="$c_compiler" -DCOMPONENTS=nonsense
grep -q "nonsense" "$scratch/log" || fail "no error names the component"

# A parent project that does not ask for it installs nothing of posenc.
quietly "a parent project that installs nothing" "$cmake" -S "$source/tests/install/parent" \
  -B "$scratch/nothing" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DPOSENC_SOURCE="$source" \
  -DPOSENC_WAY=add_subdirectory -DEXPORTS=OFF
quietly "a parent project that installs nothing is not installed" \
  "$cmake" --install "$scratch/nothing" --prefix "$scratch/nothing_installed"
[[ ! -d $scratch/nothing_installed ]] || fail "a parent project installed posenc unasked"

# If dependencies are not installed, the parent's build downloads headers. A folder stands for the
# download here.
download=$scratch/download
mkdir -p "$download/include"
[[ ! -d /usr/include/xsimd ]] || ln -s /usr/include/xsimd "$download/include/"
quietly "a parent project without installed dependencies" \
  "$cmake" -S "$source/tests/install/parent" -B "$scratch/fetched" -G Ninja \
  -DCMAKE_CXX_COMPILER="$compiler" -DPOSENC_SOURCE="$source" -DPOSENC_WAY=FetchContent \
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON "-DFETCHCONTENT_SOURCE_DIR_XSIMD=$download"
grep -q "posenc: xsimd is not installed, taking" "$scratch/log" || fail "no dependency was taken"
[[ ! -d /usr/include/xsimd ]] ||  # the headers of the download
  quietly "a build with taken dependencies" \
    "$cmake" --build "$scratch/fetched" --target posenc

# Two architectures are refused in one line, which names the argument, its value and what is
# allowed.
refused "two architectures are configured" \
  "$cmake" -S "$source" -B "$scratch/universal" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
  '-DCMAKE_OSX_ARCHITECTURES=arm64;x86_64'
tr -s ' \n' ' ' <"$scratch/log" |
  grep -q "CMAKE_OSX_ARCHITECTURES is 'arm64;x86_64'; allowed: one architecture" ||
  fail "two architectures are refused for another reason"

if grep -q '^HELP2MAN:FILEPATH=.*help2man' "$build/CMakeCache.txt"; then
  for page in posenc posenc-{list,accuracy,measure,pick,generate,compare}; do
    [[ -s $scratch/prefix/share/man/man1/$page.1 ]] || fail "$page.1 is not installed"
  done
fi
