#!/usr/bin/env bash
# Installs missing dependencies, builds the preset release, and runs every test. Arguments go to
# ctest: scripts/test.sh -R rotation
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./scripts/install_dependencies.sh build test peers
./scripts/build.sh release
echo "== Testing preset release"
status=0
ctest --preset release -j2 "$@" || status=$?
./scripts/install_dependencies.sh --left-out build test peers
exit "$status"
