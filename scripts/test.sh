#!/usr/bin/env bash
# Installs what is missing, builds preset release, and runs every test. Arguments go to ctest: scripts/test.sh -R rotation
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./scripts/install_dependencies.sh build test
echo "== Building preset release"
cmake --preset release
cmake --build --preset release
echo "== Testing preset release"
ctest --preset release -j2 "$@"
