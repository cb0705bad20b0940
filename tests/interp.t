# shellcheck shell=sh
# The interpreter of PTX in tests/sim: what hand-written kernels leave in memory, and their faults.

# leaves FILE KERNEL OPTIONS AWK: the kernel leaves the words that an awk program prints
leaves() {
	awk -v OFMT=%.0f "BEGIN { $4 }" </dev/null >"$tmp/expected"
	# shellcheck disable=SC2086 # options are several words
	run "$bin/ptxrun" --run "$2" $3 --words "$(wc -l <"$tmp/expected")" "tests/ptx/interp-$1.ptx"
	status 0
	silent
	[ -s "$tmp/expected" ] || no "nothing is expected"
	cmp -s "$tmp/expected" "$tmp/out" || no "$(diff "$tmp/expected" "$tmp/out" | head -n 5 | tr '\n' ' ')"
}

it "lanes that diverge come together again"
leaves control branches "--grid 1 --block 61" '
	for (t = 0; t < 61; t++) print t % 3 == 0 ? 101 + t : t % 3 == 1 ? 211 * t : 7
	print 0; print 0; print 0
	for (t = 0; t < 61; t++) print t < 32 ? 32 : 29'

it "nested loops end for each lane in its own time"
leaves control loops "--grid 1 --block 97" '
	for (t = 0; t < 97; t++) { for (s = i = 0; i < t; i++) for (j = 0; j < i; j++) s += i * j + 3; print s }'

it "threads that have returned are not waited for at a barrier"
leaves control leave "--grid 1 --block 53" 'for (t = 0; t < 23; t++) print 13 * (22 - t) + 5; print 0'

it "lanes of a warp can wait for each other: a lock by compare and swap"
leaves control lock "--grid 7 --block 61" 'print 3 * 7 * 61; print 0'

it "brx.idx goes by a table of labels"
leaves control table "--grid 1 --block 43" 'split("11 13 17 19", x, " "); for (t = 0; t < 43; t++) print x[1 + t % 4]'

it "labels and registers belong to their scope"
leaves control scopes "--grid 1 --block 1" 'print 12'

it "blocks and grids have three dimensions"
leaves control shape "--grid 3,2 --block 7,4" '
	for (b = 0; b < 6; b++) { for (t = 0; t < 28; t++)
		print t % 7 + 100 * int(t / 7) + 10000 * (b % 3) + 1000000 * int(b / 3)
	print 0; print 0; print 0 }'

it "blocks reduce in dynamic shared memory"
leaves sync reduction "--grid 13 --block 113 --shared 452" '
	for (b = 0; b < 13; b++) print 113 * 112 / 2 + 113 * 100 * b; print 0'

it "barriers count, and reduce predicates"
leaves sync counted "--grid 1 --block 61" 'print 17; print 0; print 1'

it "one warp arrives at a barrier, another waits there"
leaves sync producer "--grid 1 --block 64" 'print 397; print 794'

it "barriers in shared memory have phases"
leaves sync phases "--grid 1 --block 53" 'for (t = 0; t < 53; t++) print 6 * (52 - t) + 1; print 0'

it "all blocks of a cooperative grid are resident: they wait for each other"
leaves sync grid "--grid 67 --block 1 --sms 2 --cooperative" 'for (b = 0; b <= 100; b++) print b < 67 || b == 100 ? 67 : 0'

it "atomics of integers, floats, halves, and their limits"
leaves sync atomics "--grid 1 --block 97" '
	print 96 * 97 / 2; print 4294967296 - 46; print 3 * 96; print 65535
	print 1			# 97 is 6 * 16 + 1: an odd number of times for the first bit alone
	print 0; low = 96 * 97 / 2 % 2; print low * 2147483648; print int(96 * 97 / 4)
	print 1158774784	# 2328 as f32
	print 0; print 0; print 1083322368	# 1164 as f64
	print 1511020048	# 97 and 194 as f16
	print 97 % 10; print 1; print 1; print 1; print 97'

it "shuffles: up, down, across, by index, in parts of a warp"
leaves sync shuffles "--grid 1 --block 32" '
	for (t = 0; t < 32; t++) print 10 * (t + 3 < 32 ? t + 3 : t) + 1
	for (t = 0; t < 32; t++) print 10 * (t % 16 >= 5 ? t - 5 : t) + 1
	for (t = 0; t < 32; t++) print 10 * (int(t / 16) * 16 + (t % 16 >= 8 ? -8 : 8) + t % 16 + (t % 2 ? -1 : 1)) + 1
	for (t = 0; t < 32; t++) print 10 * (int(t / 8) * 8 + 7) + 1
	for (t = 0; t < 32; t++) print t + 3 < 32 ? 1 : 0'

it "votes, matches and reductions of a warp, and of the lanes on one side of a branch"
leaves sync votes "--grid 1 --block 32" '
	for (i = 1; i < 32; i += 2) odd += 2 ^ i; print odd; print 0; print 1; print 0
	for (i = 5; i < 32; i += 7) five += 2 ^ i; print five; print 31 * 32 / 2
	for (i = 1; i < 32; i += 3) third += i; print third'

it "functions call themselves, each lane to its own depth"
leaves calls recursion "--grid 1 --block 61" '
	for (t = 0; t < 61; t++) { a = 0; b = 1; for (i = 0; i < t % 11; i++) { c = a + b; a = b; b = c } print a }'

it "lanes of a warp call different functions by pointers"
leaves calls indirect "--grid 1 --block 61" 'for (t = 0; t < 61; t++) print !t ? 41 : t % 2 ? 2 * t : 3 * t'

it "each lane has local memory of its own, by generic addresses too"
leaves calls own "--grid 1 --block 61" 'for (t = 0; t < 61; t++) print 100 * t + t % 8'

it "variables have their initial values: nested, addresses, functions, bytes of addresses"
leaves calls variables "--grid 1 --block 1" '
	n = split("2 3 0 5 7 11 7 1250 1 2 3 1 34", x, " "); for (i = 1; i <= n; i++) print x[i]'

it "vectors, halves and bytes of registers, signed loads"
leaves calls vectors "--grid 1 --block 1" '
	print 43; print 37; print 41; print 16909060; print 3 * 2 ^ 24 + 4 * 2 ^ 16 + 258; print 41; print 3; print 2 ^ 32 - 5'

it "halves, doubles, roundings"
leaves calls numbers "--grid 1 --block 1" '
	print 15; print 1; print 2; print 4; print 2 ^ 32 - 3; print 1051372203; print 1073127582; print 65504'

# faults KERNEL WHAT REGEX [OPTION...]: the kernel ends with this fault, and says it
faults() {
	kernel=$1 what=$2 regex=$3
	shift 3
	run "$bin/ptxrun" --run "$kernel" --grid 1 "$@" tests/ptx/interp-faults.ptx
	status 1
	lines 1 "^$what $kernel: .*$regex"
}

it "an access of no memory is a fault that says address, size, thread and instruction"
faults null address 'illegal address 0x4 \(read of 4 bytes\).*thread 37,0,0: ld.global.u32'
it "a misaligned access is a fault"
faults misaligned misaligned 'misaligned address 0x[0-9a-f]*2 \(write of 4 bytes\)'
it "an access beyond shared memory is a fault"
faults shared address 'illegal address 0x40 \(write of 4 bytes\)' --shared 0
it "trap is a fault"
faults stop trap 'thread 0,0,0: trap;'
it "a failed assertion is a fault that says which"
# shellcheck disable=SC2016 # CUDA's quotes
faults asserts assert 'a.cu:7: f: block: \[0,0,0\], thread: \[41,0,0\] Assertion `x < 5` failed.'
it "calls of what is no function, and of one that is missing, are faults"
faults nowhere pc 'a call of what is no function'
faults absent pc 'a call of missing, which is not in the module'
it "a kernel that never ends is ended"
SIM_KERNEL_STEPS=100003 faults forever stuck 'too many instructions'
it "a barrier that nobody comes to is a fault"
faults waits stuck 'no warp can go on'
it "recursion without end is a fault"
faults endless address 'the stack overflows'
it "a launch with more threads than .maxntid is a fault"
faults crowded resources 'too many threads'

it "PTX that is wrong is refused, and what is wrong is said"
for text in 'mov.u32 %r1, %r9;' 'bra NOWHERE;' '@%p9 ret;' 'st.global.u32 [nothing], %r1;' 'call nobody, ();'; do
	printf '.version 7.8\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 %%r<3>; %s ret; }\n' "$text" >"$tmp/wrong.ptx"
	run "$bin/ptxrun" "$tmp/wrong.ptx"
	status 1
	says "not known"
done

it "an instruction that is not known is listed, and a fault only where it is run"
printf '.version 7.8\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 %%r<3>; teleport.u32 %%r1; ret; }
.entry fine() { ret; }\n' >"$tmp/unknown.ptx"
run "$bin/ptxrun" "$tmp/unknown.ptx"
status 0
lines 1 '1 instructions not known: teleport.u32 %r1;'
run "$bin/ptxrun" --run fine "$tmp/unknown.ptx"
status 0
run "$bin/ptxrun" --run k "$tmp/unknown.ptx"
status 1
lines 1 '^instruction k: .*teleport'

it "the same kernels leave the same memory, and others do not"
# in blocks of 64 a barrier for 53 never ends a phase
if long; then
	run "$bin/ptxrun" --same tests/ptx/interp-sync.ptx tests/ptx/interp-sync.ptx
	status 0
	lines 7 '^same '
	lines 1 '^fault phases$'
fi
sed 's/, 251;/, 241;/' tests/ptx/interp-calls.ptx >"$tmp/other.ptx"
run "$bin/ptxrun" --same tests/ptx/interp-calls.ptx "$tmp/other.ptx"
status 1
lines 1 '^differs vectors$'
lines 5 '^same '
