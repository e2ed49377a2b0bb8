#!/usr/bin/env bash
# Builds the command as one static file, for Linux machines without a compiler, libraries or an
# installation: portable.sh x86_64|aarch64. The file contains the documents of docs/measured. Prints
# the path and the size of the file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${1:?usage: portable.sh x86_64|aarch64}
./scripts/install_dependencies.sh build
if [[ $target != "$(uname -m)" ]]; then
  ./scripts/install_dependencies.sh "$target"
  ./scripts/stage_headers.sh "$PWD/build/$target-prefix"
fi
./scripts/build.sh "portable-$target" posenc_cli
file=build/portable-$target/bin/posenc
echo "$file: $(($(wc -c <"$file") >> 10)) KiB"
