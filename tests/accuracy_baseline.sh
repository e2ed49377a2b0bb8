#!/usr/bin/env bash
# accuracy_baseline.sh POSENC REPORT: measures what the stored accuracy report measured and
# compares; exit 1 on a regression. After a change for the better, store the new report:
# accuracy_baseline.sh POSENC tests/data/accuracy_baseline.json --store
set -euo pipefail
posenc=$1 report=$2
here=$(dirname "${BASH_SOURCE[0]}")

# 10^5 on, where phases in float32 have long failed; all figures are of arithmetic that the library
# writes out itself.
"$posenc" accuracy --backend xsimd --backend rotation --backend rotation32 --isa sse2 --first \
  100000 --rows 20000 \
  --d-model 32 --format json --output "$report"
[[ ${3:-} == --store ]] || "$posenc" compare "$here/data/accuracy_baseline.json" "$report"
