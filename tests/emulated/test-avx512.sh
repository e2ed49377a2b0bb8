#!/usr/bin/env bash
# Runs tests of the AVX-512 kernels on a CPU without AVX-512, under Bochs. It boots Debian's kernel
# with nothing but the tests as a static program. Exits with the exit code of the tests. The
# arguments go to the tests and replace the default filter:
#   tests/emulated/test-avx512.sh --gtest_filter='*RotationErrors*'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The avx512 tests that prove the numerics and are short enough for an emulator, which runs 45
# million instructions per second.
emulated=(
  '*RotationErrors.OfAnchors/avx512' '*RotationHash.*/avx512_*' '*RotationBits.*/avx512'
  'Bounds.HoldNextToMidpoints'
  '*EveryEncoder.*/*avx512'
)
left_out='-*AddOf16BitElementsRoundsOnce*'  # Bochs 2.7 rounds midpoints of float16 away from 0
time_limit=900  # seconds, for the emulator

step() { printf '\n== %s  (%d s since the start)\n' "$1" "$SECONDS"; }
fail() { echo "test-avx512.sh: $1" >&2; exit 1; }

fetch_kernel() {
  [[ ! -f $machine/vmlinuz ]] || return 0
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 |
    sed -n 's/.*Depends: \(linux-image.*\)/\1/p' | head -n 1)
  [[ -n $package ]] || fail "apt knows no linux-image-cloud-amd64; run apt-get update"
  (cd "$machine" && apt-get download -qq "$package" && dpkg -x "$package"_*.deb kernel)
  cp "$machine"/kernel/boot/vmlinuz-* "$machine/vmlinuz"
  rm -r "$machine/kernel" "$machine/$package"_*.deb
}

# The first process of the machine runs the tests with their output on the second serial port, and
# then writes the exit code to the first one.
init='#!/busybox sh
/busybox --install /bin
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
stty -F /dev/ttyS1 raw
/posenc_tests --gtest_flagfile=/flags >/dev/ttyS1 2>&1
echo $? >/dev/ttyS0
sleep 1000
'

make_initramfs() {
  local root=$machine/root
  rm -rf "$root"
  mkdir -p "$root"/{bin,dev,proc,sys,tmp}
  echo "$init" >"$root/init"
  chmod +x "$root/init"
  cp /bin/busybox "$root/"
  strip -o "$root/posenc_tests" build/static/bin/posenc_tests
  printf '%s\n' --gtest_color=no "$@" >"$root/flags"
  (cd "$root" && find . | cpio --quiet --create --format=newc) |
    gzip -1 >"$machine/iso/initramfs.gz"
}

# Without these arguments, the kernel computes a different size of the XSAVE area than Bochs
# reports, and disables AVX-512.
kernel_arguments="quiet noxsaves clearcpuid=xsavec"

make_iso() {
  mkdir -p "$machine/iso"
  make_initramfs "$@"
  cp "$machine/vmlinuz" /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 \
    "$machine/iso/"
  cat >"$machine/iso/isolinux.cfg" <<CONFIG
default tests
label tests
  kernel vmlinuz
  append initrd=initramfs.gz $kernel_arguments
CONFIG
  xorriso -as mkisofs -quiet -o "$machine/tests.iso" -b isolinux.bin -c boot.cat -no-emul-boot \
    -boot-load-size 4 -boot-info-table "$machine/iso" 2>"$machine/xorriso.log" ||
    fail "xorriso: $(cat "$machine/xorriso.log")"
}

# Skylake-X is the only model with AVX-512 that boots in Bochs 2.7.
run_bochs() {
  cat >"$machine/bochsrc" <<CONFIG
display_library: term
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=corei7_skylake_x, count=1, ips=10000000
clock: sync=none
memory: guest=512, host=512
ata0-master: type=cdrom, path=$machine/tests.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$machine/exit_code
com2: enabled=1, mode=file, dev=$machine/output
log: $machine/bochs.log
panic: action=fatal
plugin_ctrl: speaker=0
CONFIG
  echo c >"$machine/debugger"  # Debian's build starts in its debugger: "c" continues.
  rm -f "$machine/exit_code" "$machine/output"
  local deadline=$((SECONDS + time_limit))
  TERM=${TERM:-vt100} bochs-bin -q -f "$machine/bochsrc" -rc "$machine/debugger" \
    </dev/null >"$machine/screen" 2>&1 &
  until [[ -s $machine/exit_code || $SECONDS -gt $deadline ]]; do sleep 1; done
  sleep 1  # until the code is complete
  kill -KILL $!  # Bochs ignores SIGTERM.
}

./scripts/install_dependencies.sh build avx512
./scripts/build.sh static posenc_tests
machine=$PWD/build/avx512-machine
mkdir -p "$machine"
fetch_kernel
[[ $# -gt 0 ]] || set -- --gtest_brief=1 "--gtest_filter=$(IFS=:; echo "${emulated[*]}")$left_out"
make_iso "$@"
step "Testing AVX-512 under Bochs"
run_bochs
cat "$machine/output" || fail "the emulated machine did not start; see $machine/bochs.log"
[[ -s $machine/exit_code ]] ||
  fail "no exit code from the emulated machine within $time_limit s; see $machine"
code=$(tr -d '\r\n' <"$machine/exit_code")
[[ $code -eq 0 ]] || exit "$code"
# GoogleTest also passes if its filter selects no test.
grep -Eq '^\[  PASSED  \] [1-9]' "$machine/output" ||
  fail "no test of AVX-512 ran in the emulated machine"
step "All passed on AVX-512"
