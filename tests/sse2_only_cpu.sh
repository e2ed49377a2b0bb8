#!/usr/bin/env bash
# sse2_only_cpu.sh POSENC: runs the command on an emulated CPU that has SSE4.2 but no AVX. A stray
# AVX instruction ends the command with SIGILL. Exits with 77 if the CPU cannot be emulated here.
set -euo pipefail
posenc=$1

if ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: qemu-x86_64 is not installed (Debian: qemu-user)"
  exit 77
fi
if [[ $(uname -m) != x86_64 ]]; then
  echo "skipped: not an x86-64 build"
  exit 77
fi

on_old_cpu() {
  qemu-x86_64 -cpu Nehalem "$posenc" "$@"
}
fail() { echo "FAILED: $1"; exit 1; }

listed=$(on_old_cpu list)
echo "$listed"
[[ $listed == *sse2* ]] || fail "posenc list does not name sse2"

# Large positions reach code that small positions do not.
for first in 0 1000000000000; do
  for backend in naive div_term xsimd rotation; do
    shape=(--rows 70 --d-model 34 --first "$first" --format raw)
    on_old_cpu generate --backend "$backend" "${shape[@]}" | cksum >/dev/null ||
      fail "$backend from $first"
  done
  [[ $(on_old_cpu generate --backend rotation "${shape[@]}" | cksum) == \
     $("$posenc" generate --backend rotation "${shape[@]}" | cksum) ]] ||
    fail "rotation from $first has other bits here"
done
on_old_cpu accuracy --rows 100 --d-model 16
on_old_cpu accuracy --rows 20 --d-model 16 --first 1000000000000

set +e
message=$(on_old_cpu generate --rows 1 --d-model 4 --format csv --backend rotation:avx2 2>&1)
code=$?
set -e
[[ $code -eq 2 && $message == *avx2* ]] ||
  fail "a backend that this CPU cannot run: exit $code, $message"
