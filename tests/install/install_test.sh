#!/usr/bin/env bash
# Installs into a scratch prefix, then builds and runs a project of its own against it, and the example of the README.
set -euo pipefail
cmake=$1 source=$2 build=$3 compiler=$4

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$cmake" --install "$build" --prefix "$scratch/prefix" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
awk '/^```cpp/ { inside = 1; next } /^```/ && inside { exit } inside' "$source/README.md" >"$scratch/readme_example.cpp"
[[ -s $scratch/readme_example.cpp ]] || { echo "FAILED: README.md has no cpp block"; exit 1; }

"$cmake" -S "$source/tests/install" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DREADME_EXAMPLE="$scratch/readme_example.cpp"
"$cmake" --build "$scratch/build"

export POSENC_PROFILE=/nonexistent/posenc/profile.json
"$scratch/build/consumer"
"$scratch/build/readme_example"
"$scratch/prefix/bin/posenc" list >/dev/null
for page in posenc posenc-{list,accuracy,pick,generate,compare}; do
  [[ -s $scratch/prefix/share/man/man1/$page.1 ]] || { echo "FAILED: $page.1 is not installed"; exit 1; }
done
[[ -s $scratch/prefix/share/bash-completion/completions/posenc ]] || { echo "FAILED: no bash completion"; exit 1; }
