# shellcheck shell=sh disable=SC2154 # the words'
# Everything builds for arm64 with Debian's cross compiler, and what needs no BPF runs there under qemu-user: the results of
# scripts/check-emulated are the tests here.  `make check-arm64` also boots Debian's arm64 kernels.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
arm=$O-arm64

it "everything builds for arm64, without a warning"
cross "$arm/.sysroot" || leave
# a warning is seen once
find "$arm" -mindepth 1 -maxdepth 1 ! -name .sysroot ! -name cudart ! -name kernels -exec rm -rf {} +
SECONDS_=1000
run make -s -j2 ARCH=arm64 "O=$arm" all static tests-built
status 0
cat "$tmp/err" >>"$tmp/out"
lines 0 'warning:'
verdict

timeout 1000 env ARCH=arm64 "O=$arm" scripts/check-emulated >"$tmp/out" 2>"$tmp/err"
it "what needs no BPF is tried under qemu-user"
if [ -s "$arm/tests/results" ]; then verdict; else skip "$(head -n 1 "$tmp/err")"; fi

while IFS='	' read -r verdict file title why_not; do
	it "arm64, $file: $title"
	case $verdict in
	skipped) skip "$why_not" ;;
	failed) no "$why_not" ;;
	esac
done <"$arm/tests/results"
