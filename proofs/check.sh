#!/usr/bin/env bash
# Checks the proofs of this folder against the sources, and prints a table of what is proven:
#   proofs/check.sh [--install] [NAME ...]    of all claims, or of the files with these names
# --install first installs the checkers: Sollya, Gappa and Coq with its libraries.
# Exits with 1 if a claim is refused, and with 77 if a checker is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --install ]]; then
  shift
  ./scripts/install_dependencies.sh proofs
fi
exec python3 proofs/check.py "$@"
