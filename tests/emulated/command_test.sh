#!/usr/bin/env bash
# Tests the posenc command for Windows under wine: command_test.sh posenc.exe. The expected bytes
# were written on Linux.
set -euo pipefail
program=$(realpath "${1:?usage: command_test.sh posenc.exe}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "FAILED: $1" >&2; exit 1; }
posenc() { wine64 "$program" "$@"; }

# sum FILE SHA256: checks the hash of FILE.
sum() { [[ $(sha256sum <"$1") == "$2  -" ]] || fail "$1 has other bytes than on Linux"; }

# refused NAMED ARGUMENT...: expects exit code 2, one line on standard error that contains NAMED,
# and no standard output.
refused() {
  local named=$1 code=0
  shift
  posenc "$@" >"$folder.out" 2>"$folder.err" || code=$?
  [[ $code -eq 2 ]] || fail "posenc $* exits with $code"
  [[ ! -s $folder.out ]] || fail "posenc $* writes $(cat "$folder.out")"
  [[ $(wc -l <"$folder.err") -eq 1 ]] || fail "posenc $* says $(cat "$folder.err")"
  grep -qF -- "$named" "$folder.err" || fail "posenc $* says $(cat "$folder.err")"
  rm "$folder.out" "$folder.err"
}

posenc list >list.txt
grep -q '^rotation .*avx2' list.txt || fail "posenc list says $(cat list.txt)"

posenc generate --rows 16 --d-model 8 --output table.npy
sum table.npy 67f19c6a066d39a156192b1946a0398f534488baa35fbe49e93573b4546dbc31
echo old >table.csv  # the command must replace this file
posenc generate --rows 3 --d-model 4 --output table.csv
posenc generate --rows 3 --d-model 4 >standard_output.csv
printf '%s\n' 0,1,0,1 0.84147096,0.5403023,0.009999833,0.99995 \
  0.9092974,-0.41614684,0.019998666,0.9998 >expected.csv
cmp table.csv expected.csv
cmp standard_output.csv expected.csv
# This file has bytes that a text stream would change.
posenc generate --rows 64 --d-model 8 --format raw >table.raw
sum table.raw a5207f3ad40017fff8c9100ec81e6c101aa77621aa67542157c36990bdb849d3

posenc check table.npy >check.txt
grep -q '^good: ' check.txt || fail "posenc check says $(cat check.txt)"
posenc accuracy --rows 64 --d-model 16 --backend rotation >accuracy.txt
grep -q '100.0000 %' accuracy.txt || fail "posenc accuracy says $(cat accuracy.txt)"

# Test times and the pick. Other work may disturb the times, so exit code 1 is allowed.
posenc measure --preset tutorial --backend rotation:sse2 --backend naive --processes 2 \
  --output here.json 2>measure.txt || [[ $? -eq 1 ]] || fail "posenc measure: $(cat measure.txt)"
posenc pick here.json >pick.txt
grep -q 'rotation:sse2' pick.txt || fail "posenc pick says $(cat pick.txt)"

[[ $(echo .*.tmp) == '.*.tmp' ]] || fail "temporary files are left: $(echo .*.tmp)"
before=$(ls -A)
refused "d_model is 5" generate --rows 3 --d-model 5 --output odd.npy
refused "--max-error is 'x'" pick --max-error x
refused "nonsense" nonsense
refused "No such file or directory" generate --rows 3 --d-model 4 --output missing/table.npy
refused "Is a directory" generate --rows 3 --d-model 4 --format npy --output .
refused "missing.npy: No such file or directory" check missing.npy
[[ $(ls -A) == "$before" ]] || fail "files were made: $(ls -A)"
echo "The command passes."
