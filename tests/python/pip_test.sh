#!/usr/bin/env bash
# Installs the Python package from this checkout with pip into a temporary environment, without the
# network, and tests it there. Exits with 77 if Python lacks its headers, venv or NumPy, or if there
# is no pybind11.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() { echo "Skipped: $1"; exit 77; }
python=$(./scripts/python_with.sh numpy -- -c 'import sys; print(sys.executable)') ||
  skip "no Python has NumPy"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
[[ -e $header ]] || skip "there is no $header (Debian: python3-dev)"
"$python" -m venv --system-site-packages "$scratch/environment" >"$scratch/log" 2>&1 ||
  skip "$python cannot make environments (Debian: python3-venv)"
[[ -n $(find /usr/lib /usr/share /usr/local/lib -name pybind11Config.cmake -print -quit \
  2>/dev/null) ]] || skip "there is no pybind11 (Debian: pybind11-dev)"

"$scratch/environment/bin/pip" wheel --no-index --no-deps --wheel-dir "$scratch" . \
  >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
wheel=$(echo "$scratch"/posenc-*.whl)
echo "$(basename "$wheel"), $(du -k "$wheel" | cut -f1) KiB:"
"$python" -m zipfile --list "$wheel"
"$scratch/environment/bin/pip" install --no-index --no-deps "$wheel" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; exit 1; }
run() { (cd "$scratch" && ./environment/bin/python "$@"); }
run "$PWD/tests/python/package_test.py"
run "$PWD/tests/python/rotary_config_test.py"
run "$PWD/tests/python/rotary_families_test.py"
run "$PWD/tests/python/rotary_files_test.py"

# Every block of these pages is a complete program.
awk -v folder="$scratch" '
  /^```python/ { ++block; inside = 1; next }
  /^```/ { inside = 0 }
  inside { print >(folder "/example_" block ".py") }' docs/from-python.md \
  docs/frequencies.md docs/config-json.md docs/engines.md
for example in "$scratch"/example_*.py; do
  if grep -q '^import torch' "$example" && ! run -c 'import torch' 2>/dev/null; then
    echo "Skipped: the example with PyTorch, which is not installed"
    continue
  fi
  run "$example"
done
