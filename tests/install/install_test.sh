#!/usr/bin/env bash
# Installs into a scratch prefix, then builds and runs a project of its own against it, and the examples of the README.
set -euo pipefail
cmake=$1 source=$2 build=$3 compiler=$4

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$cmake" --install "$build" --prefix "$scratch/prefix" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
awk -v folder="$scratch" '/^```cpp/ { ++block; inside = 1; next } /^```/ { inside = 0 }
                          inside { print >folder "/readme_example_" block ".cpp" }' "$source/README.md"
examples=("$scratch"/readme_example_*.cpp)
[[ -s ${examples[0]} ]] || { echo "FAILED: README.md has no cpp block"; exit 1; }

"$cmake" -S "$source/tests/install" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DREADME_EXAMPLES="$(IFS=';'; echo "${examples[*]}")"
"$cmake" --build "$scratch/build"

export POSENC_PROFILE=/nonexistent/posenc/profile.json
"$scratch/build/consumer"
for example in "${examples[@]}"; do "$scratch/build/$(basename "$example" .cpp)"; done
"$scratch/prefix/bin/posenc" list >/dev/null
for page in posenc posenc-{list,accuracy,pick,generate,compare}; do
  [[ -s $scratch/prefix/share/man/man1/$page.1 ]] || { echo "FAILED: $page.1 is not installed"; exit 1; }
done
[[ -s $scratch/prefix/share/bash-completion/completions/posenc ]] || { echo "FAILED: no bash completion"; exit 1; }
