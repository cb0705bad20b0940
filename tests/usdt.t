# shellcheck shell=sh disable=SC2154 # pid, tracer: the words'
# What an allocator above CUDA gives and takes, by its USDT probes: tests/workloads/usdt.c has PyTorch's.

# what PROGRAM...: "FUNCTION BYTES DEVICE STREAM" of what its allocator did
what() { jq -r 'select(.layer == "usdt") | "\(.func) \(.size) \(.device) \(.stream)"' "$tmp/out"; }

for kind in $kinds ${LONG:+perf}; do
	it "--attach $kind: allocations and frees, with arguments in registers, in memory and constant, of each size"
	run cudamallocsnoop --attach "$kind" --tensors -jc "$bin/usdt malloc 3 1013 free 2"
	status 0
	equal "$(what | tr '\n' ',')" \
		'pytorch:malloc 1013 null 0x7,pytorch:malloc 1013 0 default,pytorch:malloc 1013 1 default,pytorch:free 1013 null null,pytorch:free 1013 0 null,'
	json 5 '.memory == "tensor" and .latency_ns == null and .error == null and .ret == 0 and .layer == "usdt"'
	equal "$(jq -r 'select(.op == "alloc").ptr' "$tmp/out" | sort -u | wc -l)" 3
	equal "$(jq -r 'select(.func == "pytorch:free").ptr' "$tmp/out" | tr '\n' ,)" "$(jq -r 'select(.op == "alloc").ptr' "$tmp/out" | head -n 2 | tr '\n' ,)"
	silent

	it "--attach $kind: the semaphore says that somebody looks, and then that nobody does"
	# shellcheck disable=SC2046 # words
	program "$bin/usdt" wait semaphore malloc 7 100 $(yes wait semaphore | head -n 3000)
	tool cudamallocsnoop --attach "$kind" --tensors -jp "$pid"
	echo >&3
	until_true sh -c "[ \$(grep -c ready '$tmp/ready') = 2 ]"
	stop
	json 7 '.func == "pytorch:malloc"'
	# one for each place
	equal "$(grep -m 1 semaphore "$tmp/ready")" 'semaphore 3'
	# perf's events go after the tool
	none_looks() { echo >&3; grep -qx 'semaphore 0' "$tmp/ready"; }
	until_true none_looks
	exec 3>&-
	kill "$pid"
done

it "without --tensors nothing is placed, and the program's probes stay asleep"
run cudamallocsnoop -jc "$bin/usdt malloc 7 100 segment 4096; $bin/usdt semaphore >&2"
json 0 '.layer == "usdt"' 1 '.func == "cudaMalloc"'
says 'semaphore 0'

it "cudaleak --tensors: what is not freed, by call stack, and how much of the device's memory that is"
run cudaleak --tensors -jc "$bin/usdt segment 100000 malloc 23 1000 free 7"
status 0
json 1 '.type == "segments" and .segment_bytes == 100000 and .tensor_bytes == 16000 and .at == "exit"'
sum 16000 'select(.type == "held").bytes'
json 3 '.type == "held" and .memory == "tensor" and .stack[1].sym == "allocate" and .stack[2].sym == "main"' \
	1 '.type == "held" and .device == 1 and .count == 5 and .stack[0].sym == "by_index"'
silent

it "... as text"
run cudaleak --tensors -c "$bin/usdt segment 1048576 malloc 23 1024 free 7"
lines 1 '16 allocations not freed, 16\.0 KiB$'
lines 1 '^    tensors have 16\.0 KiB of 1\.0 MiB of device memory: 98\.4 % is free or in fragments$'
lines 0 'device memory, oldest'

it "cudaleak --account: the memory of an allocator consists of tensors and free pieces"
run cudaleak --account -jc "$bin/usdt segment 100000 inside 7 1000 4000"
json 1 '.owner == "usdt" and .part == "tensors" and .bytes == 7000 and .count == 7 and .largest == null' \
	1 '.owner == "usdt" and .part == "free" and .bytes == 93000 and .count == 7 and .largest == 75000' \
	2 '.part != "limit" and .part != "context"'
run cudaleak --account -c "$bin/usdt segment 1048576 inside 4 1024 2048"
lines 1 '^ +1020\.0 KiB  device 0    usdt: free, in 4 pieces, the largest 1017\.0 KiB$'
lines 1 '^ +4\.0 KiB  device 0    usdt: tensors, in 4 allocations$'

it "cudaleak without --tensors shows the device's memory alone"
run cudaleak -jCc "$bin/usdt segment 1048576 malloc 23 1024"
json 1 true 1 '.memory == "device" and .bytes == 1048576'

it "the memory of tensors is not added to that which they are parts of"
run cudaleak --growth --tensors -c "$bin/usdt segment 1048576 malloc 4 1024"
lines 1 ' 4\.0 KiB held, .*peak 4\.0 KiB'

it "--min-size, --sample and --each hold for tensors, too"
run cudaleak --tensors -ajz 1001 -c "$bin/usdt malloc 7 1000 malloc 5 1001"
json 5 '.memory == "tensor" and .bytes == 1001 and .func == "pytorch:malloc" and (.stack | length > 0)'

it "a program without such probes: the tool says that it sees no tensors"
for t in cudaleak cudamallocsnoop; do
	run $t --tensors -c "$bin/mem malloc 3 4096"
	says "$t: no USDT probes pytorch:malloc and pytorch:free found: tensors are not shown"
done

it "--list shows where they are"
run cudamallocsnoop --tensors --list -c "$bin/usdt"
lines 3 'pytorch:malloc'
lines 1 'pytorch:free'

# noted: a program that allocates 4096 bytes of CUDA's, and has the notes of standard input, in assembly: of probes at
# 1b and 2b, by note PLACE, SEMAPHORE, "ARGUMENTS".  Its status is what was added to `code`, in .text, and `semaphores`
noted() {
	{
		cat <<-'END'
			.section .note.GNU-stack,"",@progbits
			.section .probes,"aw"
			semaphores: .quad 0
			.text
			.globl main
			main: sub $24, %rsp
			mov %rsp, %rdi
			mov $4096, %esi
			call cudaMalloc@plt
			1: nop
			2: nop
			add $24, %rsp
			mov code(%rip), %eax
			add semaphores(%rip), %eax
			ret
			.balign 2
			code: .4byte 0
			.macro note place, semaphore, args
			.pushsection .note.stapsdt,"","note"
			.balign 4
			.4byte 8f - 7f, 9f - 8f, 3
			7: .asciz "stapsdt"
			8: .8byte \place, 0, \semaphore
			.asciz "pytorch", "free", "\args"
			9: .balign 4
			.popsection
			.endm
		END
		cat
	} >"$tmp/noted.s"
	${CC:-cc} -no-pie "$tmp/noted.s" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/noted"
}

# moved FILE: its writable data is 5 GiB after where it was
moved() {
	python3 - "$1" <<-'END'
		import struct, sys
		far = 5 << 30
		with open(sys.argv[1], "r+b") as f:
		    head = f.read(64)
		    phoff, = struct.unpack_from("<Q", head, 32)
		    size, number = struct.unpack_from("<HH", head, 54)
		    for at in range(phoff, phoff + size * number, size):
		        f.seek(at)
		        kind, flags, offset, address, _, filled = struct.unpack("<IIQQQQ", f.read(40))
		        if kind == 1 and flags & 2:
		            f.seek(offset)
		            data = f.read(filled)
		            f.seek(far + offset)
		            f.write(data)
		            f.seek(at + 8)
		            f.write(struct.pack("<Q", far + offset))
	END
}

it "of a file with 70 probes 64 are placed"
printf '.rept 70\n3: nop\nnote 3b, 0, "8@%%rdi"\n.endr\n' | noted
run cudamallocsnoop --tensors --list -c "$tmp/noted"
lines 64 'pytorch:free'
lines 1 'noted.*too many USDT probes'

for kind in $kinds ${LONG:+perf}; do
	it "--attach $kind: a probe that the kernel would refuse takes none of the others with it"
	# at one place with different semaphores, and with an odd one
	printf 'note %s, "8@%%rdi"\n' '1b, 0' '1b, semaphores' '2b, semaphores + 1' | noted
	run cudamallocsnoop --attach "$kind" --tensors -jc "$tmp/noted"
	status 0
	json 1 '.func == "cudaMalloc" and .size == 4096'
	silent
done

for kind in $kinds ${LONG:+perf}; do
	it "--attach $kind: what a note names as its semaphore is counted up in the program's own writable data, and nowhere else"
	printf 'note %s, "8@%%rdi"\n' '1b, code' '2b, semaphores' | noted
	cp "$tmp/noted" "$tmp/before"
	run cudamallocsnoop --attach "$kind" --tensors -jc "$tmp/noted"
	json 1 '.func == "cudaMalloc" and .size == 4096'
	status 1
	cmp -s "$tmp/noted" "$tmp/before" || no "the file has changed"
	run "$tmp/noted"
	status 0

	# 4 GiB is beyond what the kernel takes of perf's probes
	it "--attach $kind: semaphores outside the file, or 5 GiB after its beginning, take nothing with them"
	printf 'note %s, "8@%%rdi"\n' '1b, 0xfffffffffffffffe' '1b, 0x7ffffffffffffffe' '1b, semaphores + 0x10000' '2b, 0' | noted
	run cudamallocsnoop --attach "$kind" --tensors -jc "$tmp/noted"
	status 0
	json 1 '.func == "cudaMalloc" and .size == 4096'
	printf 'note %s, "8@%%rdi"\n' '1b, semaphores' '2b, 0' | noted
	moved "$tmp/noted"
	run cudamallocsnoop --attach "$kind" --tensors -jc "$tmp/noted"
	json 1 '.func == "cudaMalloc" and .size == 4096'
	[ "$rc" -le 1 ] || no "status $rc"
done

it "probes whose arguments are in places that are not supported are not said to be missing"
echo 'note 1b, 0, "8@semaphores(%rip)"' | noted
run cudamallocsnoop --tensors -jc "$tmp/noted"
says 'the USDT probes pytorch:malloc and pytorch:free have an unsupported form: tensors are not shown'
json 1 '.func == "cudaMalloc"'

it "cudaleak --tensors -p: no share of memory that was not seen is free"
program "$bin/usdt" segment 1048576 wait malloc 23 1024 wait
tool cudaleak --tensors -p "$pid"
echo >&3
until_true sh -c "[ \$(grep -c ready '$tmp/ready') = 2 ]"
stop
go
lines 1 '^    tensors have 23\.0 KiB of 0 bytes of device memory, as far as both were seen$'
run cudaleak --tensors -z 1001 -c "$bin/usdt segment 1048576 malloc 7 1000 malloc 5 2048"
lines 1 '^    tensors have 10\.0 KiB of 1\.0 MiB of device memory, as far as both were seen$'

# places MACHINE PLACE...: where its arguments are, as machine/usdt.h of that machine reads them
places() {
	machine=$1
	shift
	# shellcheck disable=SC2086 # the compiler may be several words
	run ${CC:-cc} -iquote common -iquote "arch/$machine" tests/unit/usdt_places.c -o "$tmp/places"
	status 0
	run "$tmp/places" "$@"
}

it "the places of arguments are read as the assemblers of x86-64 and arm64 write them"
places x86 %rax %bpl '$-5' '8(%rax,%rbx,4)' '(%rsp)' x0 '%rax)' '8(%rax,%rbx,3)'
equal "$(cat "$tmp/out")" '%rax: register 0, 80, 255 * 0
%bpl: register 0, 32, 255 * 0
$-5: constant -5, 255, 255 * 0
8(%rax,%rbx,4): memory 8, 80, 40 * 4
(%rsp): memory 0, 152, 255 * 1
x0: not understood
%rax): not understood
8(%rax,%rbx,3): not understood'
places arm64 x0 w30 sp 5 '#-5' '[sp]' '[sp, 16]' '[x19,#-8]' '[x0, x1]' '[x0,x1,lsl 3]' x31 '[x0, w1, sxtw 2]' '[sp, 16' '[w0]' %rax
equal "$(cat "$tmp/out")" 'x0: register 0, 0, 255 * 0
w30: register 0, 240, 255 * 0
sp: register 0, 248, 255 * 0
5: constant 5, 255, 255 * 0
#-5: constant -5, 255, 255 * 0
[sp]: memory 0, 248, 255 * 1
[sp, 16]: memory 16, 248, 255 * 1
[x19,#-8]: memory -8, 152, 255 * 1
[x0, x1]: memory 0, 0, 8 * 1
[x0,x1,lsl 3]: memory 0, 0, 8 * 8
x31: not understood
[x0, w1, sxtw 2]: not understood
[sp, 16: not understood
[w0]: not understood
%rax: not understood'
