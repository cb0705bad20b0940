# shellcheck shell=sh disable=SC2034,SC2154 # the words'
# How arm64's code is unwound: the programs of tests/cfi.t that need neither BPF nor the machine's kernel, under qemu-user.
# shellcheck source=/dev/null
. tests/cfi.sh
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
arm=$O-arm64-unwind	# arm64.t, which may run at the same time, has the other
emulated="qemu-aarch64-static -cpu max -L $arm/.sysroot" readelf=aarch64-linux-gnu-readelf column=30
preserved='x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29'
ways='o2 o3 fp record pac leaf bkey static'

it "the programs build for arm64"
cross "$arm/.sysroot" || leave
if ! command -v qemu-aarch64-static >/dev/null; then
	skip "no qemu-aarch64-static: run scripts/setup arm64"
	leave
fi
SECONDS_=1000
# the Makefile names files of the tree by their relative names
built=${arm#"$PWD"/}/tests/bin
# shellcheck disable=SC2046,SC2086 # words
run make -s ARCH=arm64 "O=$arm" $(printf "$built/cfi-%s " $ways) "$built/place" "$built/unwind"
status 0

# o2, o3, static: without frame pointers; record: as GCC does by itself; pac, leaf, bkey: return addresses are signed, in
# leaf functions too, with the other key
for v in $ways; do
	unwound "$arm/tests/bin/cfi-$v"
done

it "frame records have simple rules, except a signal's; return addresses alone have none"
for v in record pac bkey; do
	run $emulated "$arm/tests/bin/cfi-$v"
	awk '{ rest += $7 - $11 - $13 } $1 == "deep:" && $11 < 29 { few = 1 } END { exit few || rest > 3 }' "$tmp/out" || no "cfi-$v: $(tr '\n' ';' <"$tmp/out")"
done
run $emulated "$arm/tests/bin/cfi-o2"
awk '$1 == "deep:" && $11 > 5 { exit 1 }' "$tmp/out" || no "$(head -n 1 "$tmp/out")"

for f in "$(find "$arm/.sysroot/lib" "$arm/.sysroot/usr/lib" -name libc.so.6 | head -n 1)" "$arm/tests/bin/cfi-bkey" "$arm/tests/bin/cfi-pac" \
	"$arm/tests/bin/cfi-static"; do
	it "the rules of $(basename "$f") are those that readelf shows"
	as_readelf "$arm/tests/bin/cfi-o2" "$f"
	[ "$rows" -gt 100 ] || no "$rows rows"
done

it "generated code is unwound by its frame records, where they lead up the stack to a file, and not otherwise"
made_up "$arm/tests/bin/unwind"

it "a probe may be moved over bti c, and nothing else, to an instruction that the kernel simulates"
# bti c, adr; bti c, cbz; bti c, bti c, b; bti c, nop
printf '%s\n' '5f 24 03 d5 20 00 00 10' '5f 24 03 d5 60 00 00 b4' '5f 24 03 d5 5f 24 03 d5 10 00 00 14' '5f 24 03 d5 1f 20 03 d5' >"$tmp/code"
# paciasp, bl; stp x29, x30, bl; bti c, paciasp, bl; bti j, nop; bti c, stp, bl; mov, b.eq
printf '%s\n' '3f 23 03 d5 10 00 00 94' 'fd 7b bf a9 10 00 00 94' '5f 24 03 d5 3f 23 03 d5 10 00 00 94' '9f 24 03 d5 1f 20 03 d5' \
	'5f 24 03 d5 fd 7b bf a9 10 00 00 94' 'e2 03 00 aa 40 00 00 54' >>"$tmp/code"
run $emulated "$arm/tests/bin/place" <"$tmp/code"
equal "$(tr '\n' ' ' <"$tmp/out")" '4 4 8 4 0 0 0 0 0 0 '
