#!/usr/bin/env bash
# Runs a script under the first Python that has the modules:
#   python_with.sh MODULE... -- SCRIPT [ARGUMENT...]
# The first one on the path may be one that Debian's packages do not reach. Where none has them, the
# first one runs, and the script says what it lacks.
set -euo pipefail

modules=()
while [[ $# -gt 0 && $1 != -- ]]; do
  modules+=("$1")
  shift
done
[[ $# -ge 2 ]] || { echo "usage: python_with.sh MODULE... -- SCRIPT [ARGUMENT...]" >&2; exit 2; }
shift

imports=$(printf 'import %s\n' "${modules[@]}")
for python in python3 /usr/bin/python3; do
  if "$python" -c "$imports" 2>/dev/null; then exec "$python" "$@"; fi
done
exec python3 "$@"
