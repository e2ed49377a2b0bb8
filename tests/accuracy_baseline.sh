#!/usr/bin/env bash
# accuracy_baseline.sh POSENC REPORT: repeats the measurement of the stored accuracy report and
# compares the two. Exits with 1 on a regression. After an improvement, store the new report:
#   accuracy_baseline.sh POSENC tests/data/accuracy_baseline.json --store
set -euo pipefail
posenc=$1 report=$2
here=$(dirname "${BASH_SOURCE[0]}")

# From position 10^5 on, float32 phases are useless. These backends do not use libm there, so their
# errors are the same on every machine.
"$posenc" accuracy --backend xsimd --backend rotation --backend rotation32 --isa sse2 \
  --first 100000 --rows 20000 --d-model 32 --format json --output "$report"
[[ ${3:-} == --store ]] || "$posenc" compare "$here/data/accuracy_baseline.json" "$report"
