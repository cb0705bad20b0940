# shellcheck shell=sh disable=SC2154 # rc: the words'
# How code is unwound: common/elf/cfi.h, by tests/unit/cfi*.c; common/unwind, by tests/unit/unwind*.c.

# shellcheck source=/dev/null
. tests/cfi.sh

for v in o2 o3 fp realign static; do
	unwound "$bin/cfi-$v"

	it "cfi-$v: before each instruction, also of the PLT, the dynamic linker and libc"
	same stepping '[1-9][0-9][0-9][0-9]'
	lines 1 '^stepping: stacks ([0-9]+) complete ([0-9]+) .* simple [1-9][0-9][0-9][0-9]'
done

it "a frame whose arguments have a pointer, as locals are aligned, has no simple rule"
run "$bin/cfi-realign"
awk '$1 == "aligned:" { n = $7 - $11 } END { exit n < 1 || n > 2 }' "$tmp/out" ||
	no "not one or two frames, by the compiler"

for f in $(ldd "$bin/cfi-o2" | awk '$2 == "=>" { print $3 }') "$bin/cfi-realign" "$bin/cfi-static"; do
	it "the rules of $(basename "$f") are those that readelf shows"
	as_readelf "$bin/cfi-o2" "$f"
	[ "$rows" -gt 100 ] || no "$rows rows"
done

# make_library NAME FLAG...
make_library() {
	n=$1
	shift
	${CC:-cc} -shared -fPIC -O2 -g1 -nostdlib -o "$tmp/$n" "$@" tests/unit/cfi_cases.c 2>"$tmp/err" || no "$n is not built"
}
tables='-fno-asynchronous-unwind-tables -fno-unwind-tables'

it "without .eh_frame_hdr, .eh_frame is read"
make_library scanned -Wl,--no-eh-frame-hdr
readelf -lW "$tmp/scanned" | grep -q GNU_EH_FRAME && no "it has one"
as_readelf "$bin/cfi-o2" "$tmp/scanned"
[ "$rows" -gt 50 ] || no "$rows rows"

# bare FILE: without section headers: e_shoff, e_shnum, e_shstrndx
bare() {
	cp "$1" "$1-bare"
	dd if=/dev/zero of="$1-bare" bs=1 seek=40 count=8 conv=notrunc 2>/dev/null
	dd if=/dev/zero of="$1-bare" bs=1 seek=60 count=4 conv=notrunc 2>/dev/null
}

it "without section headers, .eh_frame_hdr is enough"
make_library whole
bare "$tmp/whole"
as_readelf "$bin/cfi-o2" "$tmp/whole-bare" "$tmp/whole"
[ "$rows" -gt 50 ] || no "$rows rows"

it "without either there are no rules"
bare "$tmp/scanned"
run "$bin/cfi-o2" rows "$tmp/scanned-bare" <"$tmp/asked"
status 0
lines "$(wc -l <"$tmp/asked")" ' none$'

for z in none zlib; do
	it "of functions that are not in .eh_frame, .debug_frame is read; compression: $z"
	# shellcheck disable=SC2086 # words
	make_library "debug-$z" $tables -gz=$z
	readelf -SW "$tmp/debug-$z" | grep -qE " \.debug_frame .* $([ $z = none ] || echo C)  *0 " || no "it has none"
	as_readelf "$bin/cfi-o2" "$tmp/debug-$z"
	[ "$rows" -gt 50 ] || no "$rows rows"
done

# busy: its rules fill 64 MiB 20,000 times; crash: its CIE leads libdw 36 MB beyond the file
cat >"$tmp/busy.s" <<'END2'
	.globl busy; .type busy, @function
busy:	.cfi_startproc
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	.cfi_escape 0x05, 0xff, 0xff, 0xff, 0x02, 0
	.rept 20000
	.cfi_escape 0x0a, 0x0b
	.endr
	call take@PLT
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size busy, .-busy
END2
cat >"$tmp/crash.s" <<'END2'
	.globl crash; .type crash, @function
crash:	sub $8, %rsp
	call take@PLT
	add $8, %rsp
	ret
crash_end:
	.size crash, .-crash
	.section .eh_frame,"a",@progbits
cie:	.long cie_end - cie - 4, 0
	.byte 1, 'z'
	.fill 4000000, 1, 'P'
	.byte 0, 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1
	.balign 8
cie_end:
fde:	.long fde_end - fde - 4, fde + 4 - cie
	.quad crash, crash_end - crash
	.byte 0, 0x41, 0x0e, 16
	.balign 8
fde_end: .long 0
END2
cat >"$tmp/caller.c" <<'END2'
void cudaMalloc(void **p, unsigned long n);
void take(void) { void *p; cudaMalloc(&p, 4096); __asm__ volatile(""); }
void busy(void), crash(void);
__attribute__((noinline)) void plain(void) { take(); __asm__ volatile(""); }
int main(void) { plain(); busy(); plain(); crash(); plain(); }
END2
for f in busy crash; do
	${CC:-cc} -shared -nostdlib -Wl,--no-eh-frame-hdr -Wl,-z,notext -Wl,-z,noexecstack -o "$tmp/lib$f.so" "$tmp/$f.s" 2>/dev/null
done
${CC:-cc} -O1 -fno-optimize-sibling-calls -fomit-frame-pointer -rdynamic -o "$tmp/caller" "$tmp/caller.c" -L"$tmp" -lbusy -lcrash \
	"$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$lib" -Wl,-rpath,"$tmp" 2>"$tmp/err" || no "it is not built"

it "a process has the last rule of each address, its user half of the table, and nothing once it is forgotten"
run "$bin/unwind-table" "$O/cudaleak.bpf.o" "$O/inode.bpf.o"
status 0
cat >"$tmp/want" <<'END2'
34 after 3
set: 1 and 2 slots, 3 used, 2 processes
the last is there
a full set: 4 and 2 slots, 6 used, 2 processes
forgotten: 0 and 2 slots, 2 used, 1 processes
both: 0 and 0 slots, 0 used, 0 processes
the number is 1
one user has as many as are counted, and no more than half
END2
cmp -s "$tmp/want" "$tmp/out" || no "$(diff "$tmp/want" "$tmp/out")"
says 'process 1009: user 65534 reached the limit on unwind rules: stacks of its processes cost more'

it "generated code is unwound by its frame pointers, where they lead up the stack to a file, and not otherwise"
made_up "$bin/unwind"

it "a probe may be moved to an instruction that the kernel emulates, over those that change nothing"
# endbr64, push; cmpl, endbr64, jmp; mov; endbr64, mov
printf '%s\n' 'f3 0f 1e fa 55 48' '81 3d 1 2 3 4 5 6 7 8 f3 0f 1e fa eb 5' '48 89 e5 55' 'f3 0f 1e fa 48 89 e5 55' >"$tmp/code"
run "$bin/place" <"$tmp/code"
equal "$(tr '\n' ' ' <"$tmp/out")" '4 14 0 0 '

long || leave

it "of a function with 50,000 rows, those around the one needed are read, and what is too far is not known"
{
	echo '.globl long; .type long, @function; long: .cfi_startproc'
	awk 'BEGIN { for (i = 1; i < 50000; i++) print "nop; .cfi_def_cfa_offset " 8 + 8 * (i % 100) }'
	echo 'ret; .cfi_endproc; .size long, .-long'
} >"$tmp/long.s"
${CC:-cc} -shared -nostdlib -o "$tmp/long" "$tmp/long.s" || no "it is not built"
readelf -wF "$tmp/long" | awk '/ FDE / { on = 1 } on && $2 ~ /^rsp/ && n++ % 997 == 0 { print $1, $2 }' >"$tmp/rules"
cut -d' ' -f1 "$tmp/rules" >"$tmp/asked"
run "$bin/cfi-o2" rows "$tmp/long" <"$tmp/asked"
status 0
awk '{ print $1, $2 }' "$tmp/out" | paste - "$tmp/rules" >"$tmp/both"
awk '$2 == $4 { right++ } $2 != $4 && $2 != "none" { wrong++ } END { exit !(right > 7 && !wrong && NR == 51) }' "$tmp/both" ||
	no "$(awk '$2 != $4' "$tmp/both" | head -n 2 | tr '\n' ';')"

it "rules that keep libdw busy, or that it crashes on, end a stack there, in time; other stacks are whole"
began=$(date +%s)
run cudamallocsnoop -jk -c "$tmp/caller"
[ $(($(date +%s) - began)) -lt 20 ] || no "it takes $(($(date +%s) - began)) s"
equal "$(jq -r 'select(.stack) | [.stack[] | .sym // .note] | .[1:3] | join(" ")' "$tmp/out")" "plain main
busy no unwind information
plain main
crash no unwind information
plain main"
says '/libbusy.so could not be read'
# libdw 0.196 reads these rules
! grep -q libcrash "$tmp/err" || says '/libcrash.so could not be read'
