#!/usr/bin/env bash
# Runs a script under the first Python that has the modules:
#   python_with.sh MODULE... -- SCRIPT [ARGUMENT...]
# The first Python on the path may not see the modules that Debian's packages install. If no Python
# has all modules, the script is skipped: the exit code is 77, which ctest understands.
set -euo pipefail

modules=()
while [[ $# -gt 0 && $1 != -- ]]; do
  modules+=("$1")
  shift
done
shift

imports=$(printf 'import %s\n' "${modules[@]}")
for python in python3 /usr/bin/python3; do
  if "$python" -c "$imports" 2>/dev/null; then exec "$python" "$@"; fi
done
echo "Skipped: no Python has ${modules[*]} (Debian: ${modules[*]/#/python3-})" >&2
exit 77
