#!/usr/bin/env bash
# Builds the static command for x86-64 and AArch64 (scripts/portable.sh). Runs the x86-64 command in
# an empty root folder, and the AArch64 command under qemu-user, where it cannot start itself again.
# Without root rights, a user namespace changes the root folder. Exits with 77 if the root folder
# cannot be changed, or if qemu-user is missing.
#   test-portable.sh [x86_64] [aarch64]     the default is x86_64
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "Skipped: $*"; exit 77; }

# expect TEXT COMMAND...: expects that the command's output contains TEXT, and that its exit code is
# 0, or 1 if other work ran.
expect() {
  local text=$1 status=0 output
  shift
  output=$("$@" 2>&1) || status=$?
  [[ $status -le 1 ]] || fail "$* ended with $status: $output"
  [[ $output == *"$text"* ]] || fail "$* does not say '$text': $output"
}

# try POSENC...: runs the commands that a machine without a compiler needs. Documents go to $place.
try() {
  expect "rotation" "$@" list
  expect "Zen 5" "$@" list --cpus
  expect "correctly rounded" "$@" pick --cpu "Zen 5" --shape 8x512
  expect "20 x 16" "$@" accuracy --shape 20x16
  expect "" "$@" measure --shape 20x16 --backend rotation,naive --dtype float32,bfloat16 \
    --processes 2 --format json --output "$out/here.json"
  expect "rotation" "$@" pick "$out/here.json"
  expect "" "$@" generate --shape 20x16 --output "$out/table.npy"
  expect "good: every entry" "$@" check "$out/table.npy"
}

in_empty_root() { "${enter[@]}" "$place" /posenc "$@"; }

test_x86_64() {
  cp build/portable-x86_64/bin/posenc "$place/posenc"
  expect "not a dynamic executable" ldd "$place/posenc"
  enter=(chroot)
  [[ $(id -u) -eq 0 ]] || enter=(unshare --map-root-user chroot)
  in_empty_root --version >/dev/null || skip "no folder can be made the root of a program"
  out=/ try in_empty_root
  ! grep -q '"one_process": "."' "$place/here.json" || fail "it did not start itself"
  rm "$place/here.json" "$place/table.npy"
  [[ $(ls "$place") == posenc ]] || fail "it left files: $(ls "$place")"
}

test_aarch64() {
  command -v qemu-aarch64 >/dev/null || skip "qemu-aarch64 is not there"
  out=$place try qemu-aarch64 build/portable-aarch64/bin/posenc
  grep -q '"one_process": "the process that measures times cannot be run' "$place/here.json" ||
    fail "the document does not say that one process timed"
}

for target in "${@:-x86_64}"; do
  ./scripts/portable.sh "$target"
  "test_$target"
done
echo "The static command runs: ${*:-x86_64}"
