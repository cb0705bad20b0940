# shellcheck shell=sh
# shellcheck source=/dev/null
light
. tests/own.sh

it "finds what a command never freed, with its stack"
replayed cudaleak -c "$bin/deep 23 4096"
status 0
lines 1 '\(deep\) at exit: 23 allocations not freed, 92\.0 KiB$'
lines 1 '^    92\.0 KiB in 23 allocations of device memory, oldest [0-9.]+ .?s$'
lines 1 '^        int app::grow<int>\(unsigned long\)\+0x[0-9a-f]+ \(.*/deep\)$'
lines 10 '^        leak_[0-9]+\+0x[0-9a-f]+ \(.*/deep\)$'
silent

it "stacks of a process that has exited have names, in JSON too"
replayed cudaleak -jc "$bin/deep 23 4096"
json 1 '.at == "exit" and .memory == "device" and .bytes == 94208 and .count == 23' \
	1 '[.stack[].sym][1:11] == ["leak_10","leak_9","leak_8","leak_7","leak_6","leak_5","leak_4","leak_3","leak_2","leak_1"]' \
	1 '.comm == "deep" and .pid > 0 and .oldest_ns > 0 and (.time | floor) > 1700000000' \
	1 true

# ---- one process each, side by side

# beside NAME WORD...: adds a process with that name and these words to the command
beside() { children="${children-} fork '(' rename $* ')'"; }
# has NAME N FILTER: N rows of that process pass the filter
has() { json "$2" ".comm == \"$1\" and ($3)"; }

all='malloc 1 4096 managed 2 8192 pitch 3 100 10 malloc3d 1 100 10 10 array 2 64 64 array3d 3 8 8 8
mip 1 64 64 1 3 host 5 100 hostalloc 1 70 register 2 4096 async 11 1m pool 3 4096 vmm 2 ipc 1 64'
all=$(echo "$all" | tr '\n' ' ')
beside all "$all"
beside freed "$all ipcclose 1 freeall arrayfree 5 mipfree 1 hostfree 6 unregister 2 asyncfree 11 poolfree 3 vmmfree 2"
beside other "malloc 23 4096 otherfree 7"
beside failed "malloc 23 4096 fail 5 badfree 3 freenull 2 free 7"
beside multicast "multicast 7 release 5"
beside released "vmm 3 multicast 7 release 7 vmmfree 3"
beside reset "malloc 23 4096 host 5 64 managed 2 64 array 1 8 8 async 3 64 vmm 2 reset malloc 1 100"
beside one-device "malloc 23 4096 setdevice 1 malloc 7 64 reset"
beside context "ctxcreate drvmalloc 23 100 ctxdestroy ctxcreate drvmalloc 7 64"
beside thread "thread '(' malloc 23 4096 ')' join malloc 7 64 free 29"
beside peak "malloc 23 4096 free 7 host 5 100 hostfree 5 malloc 3 64 pool 7 64 poolfree 4"
replayed cudaleak -Cjc "$bin/mem $children join; $bin/mem-stripped rename stripped malloc 23 4096 setdevice 1 malloc 7 64 reset"

it "every kind of memory is held until it is freed"
status 0
silent
has all 1 '.memory == "device" and .count == 6'
has all 1 '.memory == "array" and .count == 6'
has all 1 '.memory == "host" and .count == 8'
has all 1 '.memory == "pool" and .count == 14'
has all 1 '.memory == "ipc" and .count == 1'
has all 1 '.memory == "managed" and .count == 2'
has all 1 '.memory == "vmm" and .bytes == 4194304'
has all 7 true
has freed 1 '.count == 0 and .bytes == 0'
has freed 1 true

it "a free by another thread is a free"
has other 1 '.count == 16 and (.unknown_frees | not)'
has other 1 true

it "failed calls change nothing"
has failed 1 '.count == 16'
has failed 1 true

it "a multicast object is held until its handle is released"
has multicast 1 '.memory == "vmm" and .count == 2 and .bytes == 0'
has multicast 1 true
has released 1 '.count == 0'
has released 1 true

it "a device reset frees the device's memory, not pool and VMM memory"
has reset 1 '.memory == "device" and .count == 1'
has reset 1 '.memory == "pool" and .count == 3'
has reset 1 '.memory == "vmm" and .count == 2'
has reset 3 true

it "a reset of one device leaves another's memory"
has one-device 1 '.count == 23 and .bytes == 94208'
has one-device 1 true

it "a reset of one device leaves another's memory where only the driver is probed"
has stripped 1 '.count == 23 and .bytes == 94208'
has stripped 1 true

it "destroying a context frees its memory"
has context 1 '.count == 7 and .bytes == 448'
has context 1 true

it "the exit of a thread that holds memory is no exit of its process"
has thread 1 '.count == 1'
has thread 1 true

it "the peak is the most bytes held at any time, of a kind"
has peak 1 '.memory == "device" and .bytes == 65728 and .peak_bytes == 94208'
has peak 1 '.memory == "pool" and .bytes == 192 and .peak_bytes == 448'
has peak 2 true

it "reused addresses: two threads, 1009 pairs each, none remains"
replayed cudaleak -Cc "$bin/churn 2 1009 >$tmp/churn"
lines 1 'at exit: 0 allocations not freed'
lines 1 ''

$CC -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 tests/workloads/primary.c "$lib/libcudart.so.13" "$lib/libcuda.so.1" \
	-Wl,-rpath,"$lib" -o "$tmp/primary"
chmod 755 "$tmp"	# for inject, as another user
racing=$(for i in 1 2 3 4 5 6 7; do printf "thread '(' loop 2003 '(' malloc 1 64 free 1 ')' ')' "; done)
for kind in $command_kinds; do
	it "threads that allocate and free at once leave no doubt about addresses that came again: $kind"
	run cudaleak --attach "$kind" -jCc "$bin/mem $racing join malloc 3 1000"
	json 1 '.memory == "device" and .count == 3 and .bytes == 3000' \
		0 '.unknown_frees or .unseen_frees'
	silent

	it "the last release of a primary context frees its memory, another release does not: $kind"
	run cudaleak --attach "$kind" -jCc "$tmp/primary retain alloc 5 release retain alloc 7 release retain retain alloc 3 release"
	json 1 '.memory == "device" and .count == 3 and .bytes == 3000' \
		0 '.unknown_frees or .unseen_frees'
	silent
	run cudaleak --attach "$kind" -jCc "$tmp/primary retain retain alloc 5 release release"
	json 0 '.memory == "device"'
	run cudaleak --attach "$kind" -jCc "$tmp/primary runtime retain alloc 5 release"
	json 1 '.memory == "device" and .count == 5'
	run cudaleak --attach "$kind" --handles -jCc "$tmp/primary retain retain release"
	json 1 '.kind == "context" and .count == 1 and .device == 0'
	run cudaleak --attach "$kind" --handles -jCc "$tmp/primary retain retain release release"
	json 1 '.kind == null and .count == 0'
done

if long; then
	it "VMM memory is held until each handle is released, whatever -z, -Z and -s leave out"
	for filter in -z0 -z1m -Z1g -z3m; do
		held=7
		[ $filter != -z3m ] || held=0
		replayed cudaleak "$filter" -Cjc "$bin/mem vmm 7 retain 5 vmmfree 7 release 3"
		sum $((held > 0)) .count
		json 0 .unknown_frees
		replayed cudaleak "$filter" -Cjc "$bin/mem vmm 7 retain 5 vmmfree 7 release 5"
		sum 0 .count
		json 0 .unknown_frees
		replayed cudaleak "$filter" -Cjc "$bin/mem vmm 7 retain 5"
		sum $held .count
		sum $((held * 2097152)) .bytes
	done
	replayed cudaleak -s 2 -Cjc "$bin/mem loop 1009 '(' vmm 1 retain 5 vmmfree 1 release 4 ')'"
	json 1 '.sample == 2 and .count > 800 and .count < 1218 and .bytes == 2097152 * .count'
fi

children=
beside open 'ipc 7 64 ipcclose 5'
beside closed 'ipc 7 64 ipcclose 7'
beside mipmap 'extmip 7 64k mipfree 5'
beside nothing 'extmip 7 64k mipfree 7 extfree 1'
for layer in runtime driver; do
	it "--layer $layer: an IPC handle opened again is held until it is closed as often"
	replayed cudaleak --layer $layer -Cjc "$bin/mem $children join"
	has open 1 '.memory == "ipc" and .count == 1'
	has closed 0 '.memory == "ipc"'
	json 0 .unknown_frees

	it "--layer $layer: a mipmapped array in external memory is freed as an array, and its bytes are the import's"
	has mipmap 1 '.memory == "array" and .count == 2 and .bytes == 0'
	has mipmap 1 '.memory == "ipc" and .count == 1 and .bytes == 65536'
	has mipmap 2 true
	has nothing 1 '.count == 0'
done

it "… whatever -Z leaves out; -z leaves it out, as it has no size"
replayed cudaleak -Z 1g -Cjc "$bin/mem $children join"
has open 1 '.memory == "ipc" and .count == 1'
replayed cudaleak -z 1 -Cjc "$bin/mem $children join"
has open 0 '.memory == "ipc"'

it "cudamallocsnoop has such an array without a size"
replayed cudamallocsnoop -jc "$bin/mem extmip 7 64k mipfree 5 extfree 1"
json 7 '.func == "cudaExternalMemoryGetMappedMipmappedArray" and .memory == "array" and .size == null' \
	5 '.func == "cudaFreeMipmappedArray" and .memory == "array" and .size == null'

it "a failed free leaves the memory held"
replayed cudaleak -Cjc "env SIM_FAIL=cuMemFree_v2:2=999 $bin/mem malloc 23 4096 free 7"
sum 17 .count

it "counts the uncertain allocations if contexts were not seen"
program "$bin/mem-drv" ctxcreate wait drvmalloc 23 4096 ctxcreate drvmalloc 7 64 drvreset 0
tool cudaleak -Cj -p "$pid"
go
stop
sum 30 .count
json 1 '.unsure == 30'

it "a process has the name of its last call, not of its last thread or of the program that it executes"
run cudaleak --attach session -Cjc "$bin/mem thread '(' rename other sleep 5000 ')' rename first malloc 23 4096 sleep 50 exit 0"
json 1 '.comm == "first" and .count == 23' 1 true
run cudaleak --attach session -Cjc "$bin/mem rename first malloc 23 4096 exec '(' rename second malloc 7 64 ')'"
json 1 '.comm == "first" and .count == 23' 1 '.comm == "second" and .count == 7' 2 true

it "a program without CUDA calls that a CUDA program executes has no line"
run cudaleak --attach session -Cc "$bin/mem rename first malloc 23 4096 exec '(' sleep 10 ')'"
lines 1 '\(first\) at exit: 23 allocations not freed, 92\.0 KiB$'
lines 1 ' at exit: '
lines 0 'nothing held'

it "follows the children of a command"
replayed cudaleak -Cjc "$bin/mem malloc 23 4096 forkexec '(' malloc 7 64 ')' join free 3"
json 1 '.count == 20 and .at == "exit"' 1 '.count == 7 and .at == "exit"' 2 true
replayed cudaleak -Cjc "sh -c '$bin/mem malloc 5 64; $bin/mem-static malloc 3 64'; $bin/mem malloc 2 64"
sum 10 .count
json 3 true

it "follows children that fork without exec, from their first call"
for i in 1 ${LONG:+2 3 4 5}; do
	replayed cudaleak -Cjc "$bin/mem malloc 23 4096 fork '(' malloc 7 64 ')' fork '(' malloc 5 64 fork '(' malloc 3 64 ')' join ')' join"
	json 1 '.count == 23' 1 '.count == 7' 1 '.count == 5' 1 '.count == 3' 4 true
done

it "counts a hundred short-lived programs exactly"
run cudaleak -Cjc "i=0; while [ \$i -lt 101 ]; do $bin/mem malloc 3 64 & i=\$((i + 1)); done; wait"
json 101 '.count == 3 and .at == "exit"' 101 true

it "a process that is killed is reported"
replayed cudaleak -Cjc "$bin/mem malloc 23 4096 segv"
status 139
json 1 '.count == 23 and .at == "exit"'

it "-a shows each allocation"
replayed cudaleak -aCjc "$bin/mem malloc 23 4096 host 5 100"
json 23 '.memory == "device" and .bytes == 4096 and .count == 1 and .func == "cudaMalloc" and (.ptr | startswith("0x"))' \
	28 '(has("peak_bytes") or has("growth_bytes")) | not'

it "a count of 1 is in the singular"
children=
beside one 'malloc 1 1'
beside two 'malloc 1 1 host 1 1'
beside three 'malloc 1 1 host 1 1 managed 1 1'
replayed cudaleak -CT 1 -c "$bin/mem $children join"
lines 1 '\(one\) at exit: 1 allocation not freed, 1 byte$'
lines 1 '\(two\) at exit: 2 allocations not freed, 2 bytes$'
lines 3 '^    1 byte in 1 allocation of [a-z]* memory, oldest '
lines 1 '^    \.\.\. and 1 more group$'
lines 1 '^    \.\.\. and 2 more groups$'
replayed cudaleak -aCT 1 -c "$bin/mem malloc 1 1 host 1 1"
lines 1 '^    1 byte of [a-z]* memory at 0x'
program "$bin/mem" wait malloc 1 1 free 1 wait
tool cudaleak -Cp "$pid" 60
echo >&3
until_true eval "[ \"\$(grep -c ready \"$tmp/ready\")\" = 2 ]"
stop
exec 3>&-
lines 1 'nothing held: 1 allocation and 1 free seen'
kill "$pid" 2>/dev/null

it "-T shows the largest"
replayed cudaleak -T 3 -aC -c "$bin/mem malloc 23 4096 host 5 100"
lines 3 '^    4\.0 KiB of device memory at 0x[0-9a-f]+, [0-9.]+ .?s old, by cudaMalloc in thread [0-9]+$'
lines 1 '^    \.\.\. and 25 more$'

it "-z and -Z bound the sizes, inclusively"
replayed cudaleak -z 100 -Z 4096 -Cjc "$bin/mem malloc 23 4096 malloc 5 99 malloc 7 100 malloc 3 4097"
sum 30 .count

it "-o omits younger allocations"
replayed cudaleak -Cj -o 150 -c "$bin/mem malloc 23 4096 sleep 200 malloc 7 64"
sum 23 .count

it "-o longer than the uptime omits everything"
for ms in 1000000000007 9223372036854; do
	replayed cudaleak -Cc "$bin/mem malloc 23 4096" -o $ms
	lines 1 'at exit: 0 allocations not freed, 0 bytes$'
done

it "-s records one in N and gives the estimate"
replayed cudaleak -s 10 -Cc "$bin/mem malloc 10007 64"
lines 1 '\(estimated from a sample of 1 in 10\)$'
replayed cudaleak -s 10 -Cjc "$bin/mem malloc 10007 64 freeall malloc 10007 64"
json 1 '.sample == 10 and .count > 8500 and .count < 11500 and .bytes == .count * 64' \
	1 '.peak_bytes > 544000 and .peak_bytes < 736000'

it "-s rejects a factor that could overflow the estimates"
replayed cudaleak -s 1000000 -Cjc "$bin/mem malloc 23 4096"
status 0
for n in 1000001 4294967296 9223372036854775807; do
	fails 2 "--sample: '$n' is not an integer <= 1000000" cudaleak -s $n -Cjc "$bin/mem malloc 23 4096"
done

it "reports every interval, count times"
program "$bin/mem" malloc 3 100 wait malloc 23 4096 wait
tool cudaleak -Cj -p "$pid" 1 2
echo >&3
wait "$tracer"
rc=$?
exec 3>&-
status 0
json 2 '.at == "interval" and .count == 23' 2 true
kill "$pid" 2>/dev/null

it "groups by stack, the largest first"
replayed cudaleak -c "$bin/mem malloc 3 100 host 23 4096 managed 5 64"
equal "$(grep -o ' of [a-z]* memory' "$tmp/out" | tr -d '\n')" ' of host memory of managed memory of device memory'

it "without allocations it prints that nothing is held, and that earlier allocations are unknown"
program "$bin/mem" malloc 3 100 wait
tool cudaleak -p "$pid" 60
stop
lines 1 '^.{10} nothing held: 0 allocations and 0 frees seen; allocations before [0-9:]{8} are unknown$'
tool cudaleak -jp "$pid" 60
stop
json 1 ".pid == $pid and .comm == \"mem\" and .at == \"interval\" and .count == 0 and .bytes == 0 and .complete == false" \
	1 true
exec 3>&-
kill "$pid" 2>/dev/null

it "frees of earlier allocations are explained, and the process is incomplete"
for json in '' j; do
	program "$bin/mem" malloc 7 100 wait malloc 5 100 free 9 malloc 3 64
	tool cudaleak -C$json -p "$pid" 60
	go
	wait "$tracer"
	rc=$?
	status 0
	if [ "$json" ]; then
		json 1 '.at == "exit" and .complete == false and .count == 3 and .bytes == 192' \
			1 '.at == "exit" and .complete == false and .unknown_frees == 4' \
			2 true
	else
		lines 1 'at exit: 3 allocations not freed, 192 bytes; allocations before [0-9:]{8} are unknown$'
		lines 1 '^    4 frees of memory allocated before [0-9:]{8}$'
	fi
done
replayed cudaleak -Cc "$bin/mem malloc 7 64 fork '(' free 3 ')' fork '(' free 1 ')' join"
lines 1 '^    3 frees of memory whose allocation was not seen$'
lines 1 '^    1 free of memory whose allocation was not seen$'
lines 0 unknown
replayed cudaleak -Cjc "$bin/mem malloc 7 64 fork '(' free 3 ')' join"
json 1 '.complete and .unknown_frees == 3'

it "a process traced from its first call on is complete: with -c, of later processes, and of later libraries"
replayed cudaleak -Cjc "$bin/mem malloc 23 4096 exec '(' malloc 7 64 fork '(' malloc 5 64 ')' join ')'"
json 3 '.complete and .count > 4' 3 true
program "$bin/mem-dlopen" wait load sleep 200 malloc 7 64 wait
tool cudaleak -Cj 60
echo >&3
"$bin/mem" sleep 200 malloc 5 64 sleep 200 & other=$!
wait $other
stop
json 1 ".pid == $pid and .complete and .count == 7" \
	1 ".pid == $other and .at == \"exit\" and .complete and .count == 5" \
	0 ".pid == $pid and (.complete | not)"
exec 3>&-
kill "$pid" 2>/dev/null

# ---- peaks and growth

it "the peak of a stack is its own"
replayed cudaleak -jc "$bin/mem malloc 23 4096 pitch 1 100 10 free 7 malloc 3 64"
json 1 '.stack[0].sym == "do_malloc" and .bytes == 69824 and .peak_bytes == 94208' \
	0 'select(.stack[0].sym == "do_pitch") | .peak_bytes != .bytes'

if long; then
	it "JSON has by how much a group grew since the previous report, and how fast"
	program "$bin/mem" wait malloc 23 4096 sleep 1500 free 7 malloc 2 64 sleep 60000
	tool cudaleak -Cjp "$pid" 1 3
	echo >&3
	wait "$tracer"
	exec 3>&-
	json 1 '.bytes == 94208 and .growth_bytes == 94208' \
		1 '.bytes == 65664 and .growth_bytes == -28544 and .peak_bytes == 94208' \
		1 '.bytes == 65664 and .growth_bytes == 0' \
		3 '(.growth_per_s - .growth_bytes | fabs) <= 0.2 * (.growth_bytes | fabs)' \
		3 '.type == "held" and (has("since") | not)'
	kill "$pid" 2>/dev/null

	steps='malloc 23 4096 sleep 1500 malloc 7 1000 free 3 host 5 64 sleep 1000 malloc 11 64 hostfree 2'
fi

if long; then
	it "--growth shows only groups that grew: from report to report, and from the first one to the exit"
	replayed cudaleak --growth -c "$bin/mem $steps sleep 1000" 1
	lines 1 '\(mem\): 92\.0 KiB held, peak 92\.0 KiB$'
	lines 1 '\(mem\): 96\.2 KiB held, 4\.2 KiB more than [0-9.]+ m?s before, peak 98\.8 KiB$'
	lines 1 '\(mem\): 96\.8 KiB held, 576 bytes more than [0-9.]+ m?s before, peak 98\.8 KiB$'
	lines 1 '\(mem\) at exit: 96\.8 KiB held, 4\.8 KiB more than 2\.[3-9] s before, peak 98\.8 KiB$'
	lines 1 '^    \+3\.9 KiB and \+4 allocations of device memory, \+[0-9.]+ KiB/s: now 95\.9 KiB in 27 allocations$'
	lines 1 '^    \+320 bytes and \+5 allocations of host memory, \+3[0-9]+ bytes/s: now 320 bytes in 5 allocations$'
	lines 1 '^    \+704 bytes and \+11 allocations of device memory, .*: now 96\.6 KiB in 38 allocations$'
	lines 1 '^    \+4\.6 KiB and \+15 allocations of device memory, .*: now 96\.6 KiB in 38 allocations$'
	lines 1 '^    \+192 bytes and \+3 allocations of host memory, .*: now 192 bytes in 3 allocations$'
	lines 5 '^    \+'
	lines 5 '^        main\+0x'
	silent
fi

if long; then
	it "--growth in JSON has the same groups, and since when"
	replayed cudaleak --growth -Cjc "$bin/mem $steps sleep 1000" 1
	json 1 '.at == "interval" and .memory == "device" and .growth_bytes == 4000 and .growth_count == 4 and .bytes == 98208 and .peak_bytes == 101208' \
		1 '.at == "interval" and .memory == "host" and .growth_bytes == 320 and .growth_count == 5' \
		1 '.at == "interval" and .memory == "device" and .growth_bytes == 704 and .growth_count == 11' \
		1 '.at == "exit" and .memory == "device" and .growth_bytes == 4704 and .growth_count == 15 and .time - .since > 2' \
		1 '.at == "exit" and .memory == "host" and .growth_bytes == 192 and .growth_count == 3' \
		3 '.at == "interval" and (.time - .since - 1 | fabs) < 0.2' \
		5 '.type == "growth"' \
		5 true
	equal "$(head -n 1 "$tmp/out" | jq -r 'keys_unsorted | join(" ")')" "type time pid comm container at complete memory device bytes count \
oldest_ns peak_bytes growth_bytes growth_per_s since growth_count"
fi

if long; then
	it "--growth of two reports is their difference; after a signal, the difference from the first report on"
	# shellcheck disable=SC2086 # words
	program "$bin/mem" wait $steps sleep 60000
	tool cudaleak --growth -Cjp "$pid" 1 2
	echo >&3
	wait "$tracer"
	json 2 '.at == "interval"' 1 '.growth_bytes == 4000' 2 true
	exec 3>&-
	kill "$pid" 2>/dev/null
	# shellcheck disable=SC2086 # words
	program "$bin/mem" wait $steps sleep 60000
	tool cudaleak --growth -Cp "$pid" 1
	echo >&3
	until_true grep -q '+704' "$tmp/out"
	stop
	exec 3>&-
	lines 1 '\(mem\): 96\.8 KiB held, 4\.8 KiB more than [2-9]\.[0-9] s before, peak 98\.8 KiB; allocations before [0-9:]{8} are unknown$'
	lines 1 '^    \+4\.6 KiB and \+15 allocations'
	status 0
	kill "$pid" 2>/dev/null
fi

if long; then
	it "--growth without a report in between is since tracing began, and omits groups that shrank"
	replayed cudaleak --growth -Cjc "$bin/mem malloc 23 4096 free 7 host 5 100 hostfree 5"
	json 1 '.at == "exit" and .growth_bytes == 65536 and .growth_count == 16' 1 true
	program "$bin/mem" wait malloc 23 4096 sleep 1500 free 7 multicast 3 sleep 60000
	tool cudaleak --growth -Cp "$pid" 1 2
	echo >&3
	wait "$tracer"
	exec 3>&-
	lines 1 '\(mem\): 64\.0 KiB held, 28\.0 KiB less than [0-9.]+ m?s before, peak 92\.0 KiB; '
	lines 1 '^    0 bytes and \+3 allocations of vmm memory'
	lines 1 '^    [^ ].*, .*: now '
	kill "$pid" 2>/dev/null
fi

some='async 1 10 managed 7 64 malloc 1 10007 free 1 malloc 1 9 host 2 4096'
if long; then
	it "--sort sets the order; with --growth, growth comes first"
	for first in held:host peak:device growth:host count:managed age:pool; do
		replayed cudaleak --sort "${first%:*}" -T 1 -Cjc "$bin/mem $some"
		json 1 ".memory == \"${first#*:}\"" 1 true
	done
	replayed cudaleak --growth -T 1 -Cc "$bin/mem $some sleep 1500 managed 11 1000 malloc 1 20011 free 1 sleep 300" 1
	lines 1 '^    \+10\.7 KiB and \+11 allocations of managed memory'
	lines 1 '^    \+'
	replayed cudaleak --growth -T 1 -Cc "$bin/mem $some"
	lines 1 '^    \+8\.0 KiB and \+2 allocations of host memory'
	lines 1 '^    \.\.\. and 3 more groups$'
fi

# ---- the timeline

# held FILE: the bytes held after each change, in order
held() { jq -r '.[] | select(.name == "CUDA memory").args.held' "$1" | tr '\n' ' '; }

it "--chrome draws each change of the bytes held, exactly, by process and by kind, and 0 at the exit"
replayed cudaleak -Cj --chrome "$tmp/held.json" -c "$bin/mem malloc 3 4096 host 2 100 free 2 hostfree 1 fail 3 malloc 1 64"
json 1 '.memory == "device" and .bytes == 4160 and .peak_bytes == 12288'
equal "$(held "$tmp/held.json")" '4096 8192 12288 12388 12488 8392 4296 4196 4260 0 '
equal "$(jq -c '.[] | select(.name == "CUDA memory by kind").args' "$tmp/held.json" | tail -n 3 | tr '\n' ' ')" \
	'{"device":4096,"host":100} {"device":4160,"host":100} {"device":0,"host":0} '
jq -c '.[]' "$tmp/held.json" >"$tmp/out"
json 20 '.ph == "C" and .cat == "memory" and .pid > 1 and .ts > 0' \
	1 '.ph == "M" and .name == "process_name" and .args.name == "mem"' \
	21 true
equal "$(jq -c '[.[] | select(.ph == "C").ts] | . == sort' "$tmp/held.json")" true
equal "$(jq -c '[.[] | select(.ph == "C")] | group_by(.ts) | map(select(.[0].args.held != (.[1].args | add))) | length' \
	"$tmp/held.json")" 0
silent

it "--chrome has a track for each process; a process that does not exit keeps its bytes"
program "$bin/mem" rename 'a"b' malloc 1 64 wait malloc 5 4096 fork '(' malloc 7 64 ')' join exec '(' malloc 3 100 sleep 60000 ')'
tool cudaleak --chrome "$tmp/held.json" -p "$pid" 1
echo >&3
until_true grep -q '3 allocations' "$tmp/out"
stop
exec 3>&-
kill -9 "$pid" 2>/dev/null
jq -c '.[]' "$tmp/held.json" >"$tmp/out"
json 1 ".pid == $pid and .args.held == 20480" 1 ".pid == $pid and .args.held == 0"
equal "$(jq "[.[] | select(.pid == $pid and .args.held).args.held] | last" "$tmp/held.json")" 300
json 2 ".pid == $pid and .name == \"process_name\""

it "--chrome multiplies with -s, and counts what a reset frees once"
replayed cudaleak -s 10 --chrome "$tmp/held.json" -Cjc "$bin/mem malloc 1009 64"
equal "$(jq '[.[].args.held? // 0] | max % 640' "$tmp/held.json")" 0
equal "$(jq '[.[].args.held? // 0] | max > 40000' "$tmp/held.json")" true
replayed cudaleak --chrome "$tmp/held.json" -Cjc "$bin/mem malloc 3 4096 async 2 64 reset"
equal "$(held "$tmp/held.json")" '4096 8192 12288 12352 12416 128 0 '

it "--chrome: a file without allocations is JSON; a file that cannot be written is reported"
replayed cudaleak --chrome "$tmp/held.json" -c true
equal "$(jq -c . "$tmp/held.json")" '[]'
fails 1 "cannot open $tmp/no/file: No such file" cudaleak --chrome "$tmp/no/file" -c true
fails 1 'cannot write to /dev/full' cudaleak --chrome /dev/full -c "$bin/mem malloc 23 64"
fails 2 'the output goes to the same file' sh -c "cudaleak --chrome $tmp/same -c true >$tmp/same"

# ---- on a terminal

it "--account: which libraries hold how much, at each report, at exit, and when an allocation fails"
replayed cudaleak --account -jc "$bin/mem malloc 23 4096 host 5 1000 fail 3 graph 1"
status 0
json 1 '.type == "account" and .at == "exit" and .owner == "mem" and .device == 0 and .bytes == 94208 and .count == 23 and .part == null and .complete' \
	1 '.at == "exit" and .owner == "mem" and .device == null and .bytes == 5000 and .count == 5'
json 2 '.at == "failure" and .owner == "mem" and .part == null'	# of several in a second, one
json 4 '.part == null' \
	4 '.part == "limit" and .default and .count == null and ({ "printf FIFO": 1048576, "malloc heap": 8388608 }[.owner] == .bytes)'
json 1 '.part == "code" and .bytes == null and .at == "exit"'	# of the graph's kernel
json 2 '.part == "context" and .owner == "mem" and .device == 0 and .bytes == null and .count == 1 and .made != null'
json 11 true
silent
cat >"$tmp/other.c" <<'END'
int cudaMalloc(void **, unsigned long);
int other(void) { void *p; return cudaMalloc(&p, 7000); }
END
cat >"$tmp/main.c" <<'END'
int other(void), cudaMalloc(void **, unsigned long);
int main(void) { void *p; return other() || other() || cudaMalloc(&p, 300); }
END
${CC:-cc} -w -g -shared -fPIC "$tmp/other.c" "$lib/libcudart.so.13" -o "$tmp/libcublas.so.13" -Wl,-soname,libcublas.so.13 &&
	${CC:-cc} -w -g "$tmp/main.c" "$tmp/libcublas.so.13" "$lib/libcudart.so.13" -Wl,-rpath,"$tmp:$lib" -o "$tmp/owns" || no "they do not build"
replayed cudaleak --account -c "$tmp/owns"
lines 1 '^ +13\.7 KiB  device 0    cuBLAS, in 2 allocations$'
lines 1 '^ +300 bytes  device 0    owns, in 1 allocation$'
lines 1 'at exit: 14\.0 KiB in 3 allocations$'
replayed cudaleak --account -jc "/usr/bin/python3 tests/workloads/inject_ctypes.py $lib/libcudart.so.13 23"
json 1 '.at == "exit" and .part == null and .owner == "inject_ctypes.py" and .count == 23'
json 1 '.part == "context" and .owner == "inject_ctypes.py" and (.made | test("^inject_ctypes.py:[0-9]+ main$"))'
# a package that calls it by ctypes, from a module named after what it wraps; what is not a module has the library's name
mkdir -p "$tmp/site-packages/wraps/api"
printf 'def main(lib, n):\n import ctypes\n p = ctypes.c_void_p()\n for i in range(n): lib.cudaMalloc(ctypes.byref(p), 64)\n' \
	>"$tmp/site-packages/wraps/api/runtime.py"
cat >"$tmp/uses.py" <<END
import ctypes, sys
sys.path.insert(0, "$tmp/site-packages")
from wraps.api import runtime
runtime.main(ctypes.CDLL("$lib/libcudart.so.13"), 7)
END
replayed cudaleak --account -jc "/usr/bin/python3 $tmp/uses.py"
json 1 '.part == null and .owner == "wraps" and .count == 7' 1 '.part == "context" and .owner == "wraps" and .made == "uses.py:4 <module>"'
it "--account: contexts, on which device and made where"
cat >"$tmp/context.c" <<'END'
int cudaSetDevice(int), cudaFree(void *), cudaMalloc(void **, unsigned long), cuCtxCreate_v4(void **, void *, int, int);
__attribute__((noinline)) int stray_context(void) { return cudaSetDevice(0) || cudaFree(0) || cudaSetDevice(1); }
__attribute__((noinline)) int own_context(void) { void *c; return cuCtxCreate_v4(&c, 0, 0, 1); }
int main(void) { void *p; return cudaSetDevice(1) || cudaMalloc(&p, 64) || stray_context() || own_context() || own_context(); }
END
${CC:-cc} -w -g "$tmp/context.c" "$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$lib" -o "$tmp/context" || no "it does not build"
for kind in session ${LONG:+inject}; do
	run env SIM_DEVICES=2 cudaleak --attach "$kind" --account -jc "$tmp/context"
	json 1 '.part == "context" and .owner == "context" and .device == 0 and .count == 1 and .made == "stray_context"' \
		1 '.part == "context" and .owner == "context" and .device == 1 and .count == 3 and .made == "main"'
done
SIM_DEVICES=2 replayed cudaleak --account -c "$tmp/context"
lines 1 '^ +-  device 0    context: 1 context, made by stray_context, part of the rest$'
lines 1 '^ +-  device 1    context: 3 contexts, made by main, part of the rest$'
SIM_DEVICES=2 replayed cudaleak --handles -c "$tmp/context"
lines 1 '^    1 context on device 0, oldest [0-9.]+ .?s$'
lines 1 '^        stray_context\+0x'
lines 2 '^        own_context\+0x'
lines 1 ' at exit: 4 handles not destroyed$'
silent

it "memory of another process has the size that its owner has allocated; in --account it is imported, and not the process's own"
cat >"$tmp/shares.c" <<'END'
#include "cuda_api.h"
#include <unistd.h>
enum { N = 5 };
static int imports(int from, int to)
{
	cudaIpcMemHandle_t h;
	void *p;

	for (int i = 0; i < N; i++)
		if (read(from, &h, sizeof(h)) != sizeof(h) || cudaIpcOpenMemHandle(&p, h, 1) || (i == 1 && cudaIpcCloseMemHandle(p)))
			return 1;
	return cudaMalloc(&p, 300) || write(to, "", 1) != 1;
}
int main(void)
{
	int there[2], back[2];
	cudaIpcMemHandle_t h;
	char c;
	void *p;

	if (pipe(there) || pipe(back))
		return 1;
	if (!fork())
		return imports(there[0], back[1]);
	for (int i = 0; i < N; i++)
		if (cudaMalloc(&p, 1000 + i) || cudaIpcGetMemHandle(&h, p) || write(there[1], &h, sizeof(h)) != sizeof(h))
			return 1;
	return read(back[0], &c, 1) != 1;
}
END
$CC -DSIM_OWN_HEADERS -D_GNU_SOURCE -I tests/workloads -g "$tmp/shares.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/shares"
for kind in $command_kinds; do
	run cudaleak --attach "$kind" -jCc "$tmp/shares"
	json 1 '.memory == "ipc" and .count == 4 and .bytes == 4009 and .device == null' \
		1 '.memory == "device" and .count == 5 and .bytes == 5010' \
		1 '.memory == "device" and .count == 1 and .bytes == 300' \
		3 true
	silent
done
replayed cudaleak --account -c "$tmp/shares"
lines 1 '^ +3\.9 KiB  device \?    shares: imported from other processes, in 4 allocations$'
lines 1 '^ +300 bytes  device 0    shares, in 1 allocation$'
replayed cudaleak --account -jc "$tmp/shares"
json 1 '.part == "imported" and .bytes == 4009 and .count == 4' 2 '.part == null'
replayed cudamallocsnoop -jc "$tmp/shares"
json 5 '.func == "cudaIpcOpenMemHandle" and .size >= 1000' 0 '.func == "cudaIpcGetMemHandle"' 12 '.type == "call"'

it "--account: images of code by library, with their size where it is known, and limits on each device"
cat >"$tmp/other.c" <<'END'
#include <string.h>
int cuModuleLoadData(void **, const void *), cuModuleUnload(void *), cuModuleLoad(void **, const char *);
static void *modules[64];
static char elf[64 + 5 * 64 + 3 * 64], fatbin[16 + 1009], wrapper[24];
int load(int n, const void *image)
{
	for (int i = 0; i < n; i++)
		if (cuModuleLoadData(&modules[i], image))
			return 1;
	return 0;
}
int other(void)
{
	unsigned long long at = 64 + 3 * 64, size = 1009, data = (unsigned long)fatbin;
	unsigned short head = 16, segment = 56, section = 64, nsections = 5;
	unsigned magic = 0xba55ed50, wraps = 0x466243b1;
	void *file;

	memcpy(elf, "\177ELF\2\1\1", 7);
	memcpy(elf + 40, &at, 8);
	memcpy(elf + 54, &segment, 2);
	memcpy(elf + 58, &section, 2);
	memcpy(elf + 60, &nsections, 2);
	memcpy(fatbin, &magic, 4);
	memcpy(fatbin + 6, &head, 2);
	memcpy(fatbin + 8, &size, 8);
	memcpy(wrapper, &wraps, 4);
	memcpy(wrapper + 8, &data, 8);
	return load(3, "// PTX\n") || load(5, fatbin) || load(2, wrapper) || load(7, elf) || cuModuleUnload(modules[6]) ||
	       cuModuleUnload(modules[5]) || cuModuleLoad(&file, "/dev/null");
}
END
cat >"$tmp/main.c" <<'END'
int other(void), cudaMalloc(void **, unsigned long), cudaDeviceSetLimit(int, unsigned long), cuModuleLoadData(void **, const void *);
int main(void)
{
	void *p;
	return cudaMalloc(&p, 300) || other() || cuModuleLoadData(&p, "// PTX\n") || cudaDeviceSetLimit(1, 32 << 20) || cudaDeviceSetLimit(0, 3000);
}
END
${CC:-cc} -w -g -shared -fPIC "$tmp/other.c" "$lib/libcuda.so.1" -o "$tmp/libcudnn.so.9" -Wl,-soname,libcudnn.so.9 &&
	${CC:-cc} -w -g "$tmp/main.c" "$tmp/libcudnn.so.9" "$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$tmp:$lib" -o "$tmp/loads" || no "they do not build"
chmod 755 "$tmp"
for kind in session ${LONG:+inject}; do
	run cudaleak --attach "$kind" --account -jc "$tmp/loads"
	json 1 '.owner == "cuDNN" and .part == "code" and .bytes == 7 * 1025 + 5 * 576 and .count == 12 and .device == 0 and (.default | not)'
	json 1 '.owner == "cuDNN" and .part == "code" and .bytes == null and .count == 4'	# PTX and a file
	json 1 '.owner == "loads" and .part == "code" and .bytes == null and .count == 1'
	json 0 '.memory == "code"'	# it is not among what is held
	json 1 '.owner == "loads" and .part == null and .bytes == 300' \
		1 '.owner == "printf FIFO" and .bytes == 33554432 and (.default | not)' \
		1 '.owner == "stack of a thread" and .bytes == 3000 and (.default | not)' \
		1 '.owner == "malloc heap" and .bytes == 8388608 and .default' \
		1 '.owner == "loads" and .part == "context"' \
		8 true
done
replayed cudaleak --account -c "$tmp/loads"
lines 1 '^ +9\.8 KiB  device 0    cuDNN: code, in 12 images, part of the rest$'
lines 1 '^ +-  device 0    cuDNN: code, in 4 images of unknown size, part of the rest$'
lines 1 '^ +32\.0 MiB  device 0    printf FIFO: limit, part of the rest$'
lines 1 '^ +8\.0 MiB  device 0    malloc heap: limit by default, part of the rest$'
lines 1 'at exit: 300 bytes in 1 allocation$'
replayed cudaleak --account -jc "$bin/mem limit 1 32m malloc 3 64 setdevice 1 limit 2 64m limit 7 5 reset malloc 1 64"
json 1 '.device == 0 and .part == "limit" and (.default | not) and .bytes == 33554432' \
	3 '.device != null and .part == "limit" and .default'
replayed cudaleak -jc "$tmp/loads"
json 1 true
silent
replayed cudaleak --account -jc true
json 0 true

it "--account: what NVML reports beyond, also of a process that makes no call"
program "$bin/mem" malloc 3 4096 wait malloc 7 4096 print wait wait
printf 'gpu GPU-a H100 %s %s 1 0\nprocess 0 %s 1000003\n' $((80 << 30)) $((3 << 30)) "$pid" >"$tmp/nvml"
export SIM_NVML="$tmp/nvml"
tool env LD_LIBRARY_PATH="$lib" cudaleak --account -p "$pid"
echo >&3
until_true grep -q calls "$tmp/ready"
stop
lines 1 '^\[[0-9:]+\] pid [0-9]+ \(mem\): 28\.0 KiB in 7 allocations$'
lines 1 '^ +948\.6 KiB  device 0    of 976\.6 KiB that NVML reports on GPU 0: contexts, code, limits, and what was allocated before tracing began$'
lines 1 '^ +77\.0 GiB  device 0    free of 80\.0 GiB: GPU 0, H100$'
lines 1 '^ +3\.0 GiB  device 0    held by the driver, or by processes that NVML does not list$'
run env LD_LIBRARY_PATH="$lib" cudaleak --account -d 0.3 -jp "$pid"
json 1 '.type == "account" and .owner == null and .part == null and .device == 0 and .bytes == 1000003 and .count == null and (.complete | not)' \
	1 '.part == "gpu-free" and .gpu == 0 and .bytes == 82678120448 and .gpu_total == 85899345920' \
	1 '.gpu_used == 1000003' \
	1 '.part == "gpu-driver" and .bytes == 3220225469' \
	3 true
run env LD_LIBRARY_PATH="$lib" cudaleak --account --device 0 -d 0.3 -jp "$pid"
json 0 '.owner == null and .bytes'	# of all devices
go

it "--account: what each GPU of the process has free, and what other processes hold on it"
program env CUDA_VISIBLE_DEVICES=1,0 "$bin/mem" malloc 3 4096 setdevice 1 malloc 7 4096 print wait
printf 'gpu GPU-a H100 %s %s 1 0\ngpu GPU-b H100 %s %s 2 1\nprocess 0 %s 1000003\nprocess 1 %s 500009\nprocess 1 %s 700001\nprocess 1 999999 11\n' \
	80000 60000 8000000 4000000 "$pid" "$pid" $$ >"$tmp/nvml"
run env LD_LIBRARY_PATH="$lib" cudaleak --account -d 0.3 -jp "$pid"
json 1 '.part == null and .gpu == 1 and .device == 0 and .bytes == 500009 and .gpu_used == 500009' \
	1 '.part == null and .gpu == 0 and .device == 1 and .bytes == 1000003' \
	1 ".part == \"gpu-other\" and .gpu == 1 and .holder == $$ and .owner == \"$(cat /proc/$$/comm)\" and .bytes == 700001" \
	1 '.part == "gpu-other" and .holder == 999999 and .owner == null and .bytes == 11' \
	1 '.part == "gpu-driver" and .gpu == 1 and .bytes == 2799979' \
	1 '.part == "gpu-free" and .gpu == 0 and .bytes == 20000' \
	1 '.part == "gpu-free" and .gpu == 1 and .bytes == 4000000' \
	7 true
run env LD_LIBRARY_PATH="$lib" cudaleak --account -d 0.3 -p "$pid"
lines 1 '^ +488\.3 KiB  device 0    of 488\.3 KiB that NVML reports on GPU 1: '
lines 1 "^ +683\.6 KiB  device 0    held by pid $$ \\(.*\\)\$"
lines 1 '^ +11 bytes  device 0    held by pid 999999 \(\?\)$'
lines 1 '^ +3\.8 MiB  device 0    free of 7\.6 MiB: GPU 1, H100$'
# GPUs that differ: which one is its device 0 is not known
sed -i 's/GPU-b H100/GPU-b A10/' "$tmp/nvml"
run env LD_LIBRARY_PATH="$lib" cudaleak --account -d 0.3 -jp "$pid"
json 1 '.part == null and .gpu == null and .device == null and .bytes == 1500012 and .gpu_used == 1500012' \
	1 '.part == "gpu-used" and .device == null and .gpu == 0 and .bytes == 1000003' \
	1 '.part == "gpu-used" and .device == null and .gpu == 1 and .bytes == 500009' \
	2 '.part == "gpu-free" and .device == null'
run env LD_LIBRARY_PATH="$lib" cudaleak --account -d 0.3 -p "$pid"
lines 1 '^ +1\.4 MiB  of 1\.4 MiB that NVML reports: '
lines 1 '^ +976\.6 KiB  device \?    used of GPU 0 by this process$'
lines 1 '^ +488\.3 KiB  device \?    used of GPU 1 by this process$'
unset SIM_NVML
go
for o in --growth -C --folded -a '-o 1' --tensors '-z 1' '-Z 1' '-s 2'; do
	# shellcheck disable=SC2086 # words
	fails 2 '--account cannot be combined with' cudaleak --account $o
done

it_has_tmux=true
command -v tmux >/dev/null || it_has_tmux=false

it "on a terminal: bytes held, peak and growth, by stack, kind or process; sorts, pauses, helps, and q ends it with a report"
if $it_has_tmux; then
	program "$bin/mem" malloc 1 64 wait malloc 23 4096 rename "$(printf '\033[31mevil')" host 5 8192 free 7 wait malloc 11 1000 wait
	screen 120 20 "$O/cudaleak -p $pid"
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST MEMORY  STACK *$'
	lines 1 ' 0 bytes held, 0 bytes/s, unknown before [0-9:]{8}  \(h: help\)  pid [0-9]+$'
	echo >&3
	on_screen '^[0-9]+ +\\x1b\[31mevil +64\.0 KiB +92\.0 KiB +0 bytes +16 +[0-9.]+ .?s device  < do_malloc < run < main'
	lines 1 ' 104\.0 KiB held, '
	lines 1 ' 40\.0 KiB +40\.0 KiB +0 bytes +5 +[0-9.]+ m?s host    < do_host < run < main'
	awk 'length($0) > 120 { bad = 1 } END { exit bad }' "$tmp/out" || no "a line is too long"
	lines 4 '[^ ]'
	equal "$(grep -n ' do_malloc' "$tmp/out" | cut -d: -f1)" 3
	term send-keys r
	on_screen '.'
	until_true row3_shows "do_host"
	term send-keys r
	term send-keys p
	on_screen '\[paused\]'
	term send-keys p
	term send-keys h
	on_screen 'by growth'
	term send-keys x
	on_screen ' do_malloc'
	echo >&3
	on_screen ' \+[0-9.]+ KiB +27 +[0-9.]+ .?s device  < do_malloc'
	term send-keys v
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST MEMORY *$'
	on_screen '^[0-9]+ +.* 74\.7 KiB +92\.0 KiB +.* 27 +.*s device *$'
	term send-keys v
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST *$'
	on_screen '^[0-9]+ +.* 114\.7 KiB +132\.0 KiB +.* 32 +[0-9.]+ m?s *$'
	term send-keys v
	term resize-window -x 80 -y 6
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT MEMORY  STACK *$'
	awk 'length($0) > 80 { bad = 1 } END { exit bad }' "$tmp/out" || no "a line is too long"
	term resize-window -x 5 -y 2
	sleep .2
	term resize-window -x 140 -y 30
	on_screen ' OLDEST MEMORY'
	quit
	lines 1 ': 32 allocations not freed, 114\.7 KiB; '
	lines 1 '^    74\.7 KiB in 27 allocations of device memory'
else
	skip "no tmux here"
fi

it "each key of the screen sorts by its column"
if $it_has_tmux; then
	# shellcheck disable=SC2086 # words
	program "$bin/mem" wait $some sleep 60000
	screen 100 20 "$O/cudaleak -Cp $pid 1"
	on_screen '^PID +COMM'
	echo >&3
	for key in m:device c:managed a:pool b:host g:host; do
		term send-keys "${key%:*}"
		until_true row3_shows "${key#*:}" ||
			no "key ${key%:*}"
	done
	quit
else
	skip "no tmux here"
fi

if long; then
	it "the report of a process that exits while the screen is open comes after it"
	if $it_has_tmux; then
		screen 120 20 "$O/cudaleak -Cc '$bin/mem malloc 23 4096 sleep 1500; $bin/mem host 7 64; sleep 1.5' 1"
		on_screen ' 92\.0 KiB +92\.0 KiB .* device *$'
		on_screen '^ended 0'
		lines 1 'at exit: 23 allocations not freed, 92\.0 KiB$'
		lines 1 'at exit: 7 allocations not freed, 448 bytes$'
		lines 2 '^    '
		term kill-server
	else
		skip "no tmux here"
	fi
fi

if long; then
	it "-b, -a, --growth and -c without an interval print blocks on a terminal; so does a terminal unknown to curses"
	if $it_has_tmux; then
		for o in -b -a --growth 'TERM=unheard-of'; do
			program "$bin/mem" wait malloc 23 4096 sleep 9000
			case $o in
			TERM*) screen 120 40 "$o $O/cudaleak -Cp $pid 1" ;;
			*) screen 120 40 "$O/cudaleak $o -Cp $pid 1" ;;
			esac
			on_screen 'tracing pid'
			echo >&3
			on_screen '^\[[0-9:]{8}\] pid [0-9]+ \(mem\): '
			screen_gone
		done
		screen 120 20 "$O/cudaleak -Cc '$bin/mem malloc 23 4096 sleep 1200'"
		on_screen '^ended 0'
		lines 1 '\(mem\) at exit: 23 allocations not freed, 92\.0 KiB$'
		lines 1 ': tracing '
		term kill-server
	else
		skip "no tmux here"
	fi
fi

# ---- handles

for runtime in libcudart.so.13 libcudart_static.a; do
	$CC -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 tests/workloads/handles.c "$lib/$runtime" "$lib/libcuda.so.1" -pthread -ldl \
		-Wl,-rpath,"$lib:$tmp" -o "$tmp/handles-${runtime#*.}"
done
for library in libcublas.so.12 libcudnn.so.9; do
	$CC -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 -shared -fPIC tests/workloads/mathlib.c "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/$library"
done
made='stream 7 event 11 graph 3 exec 5 capture 2 array 3 texture 5 surface 7 mempool 3 drvstream 5 drvevent 2 drvgraph 3 drvexec 2
drvtexture 2 module 7 context 3 cublas 5 cublaslt 2 cudnn 3 cusolver 2 cusparse 2 fails 5 nocublas 3'
made=$(echo "$made" | tr '\n' ' ')
destroyed='-stream 7 -event 11 -exec 5 -graph 3 -capture 2 -texture 5 -surface 7 -array 3 -mempool 3 -drvstream 5 -drvevent 2
-drvexec 2 -drvgraph 3 -drvtexture 2 -module 7 -context 3 -cublas 5 -cublaslt 2 -cudnn 3 -cusolver 2 -cusparse 2'
destroyed=$(echo "$destroyed" | tr '\n' ' ')
# held KIND N DEVICE: handles of a kind
held() { json 1 ".kind == \"$1\" and .count == $2 and .device == $3"; }

for kind in $command_kinds; do
	for program in handles-so.13 handles-a; do
		[ "$kind$program" != injecthandles-a ] || continue	# its runtime is not seen
		it "handles of each kind, of both layers, are held until they are destroyed; failed calls make none: $kind, $program"
		run cudaleak --attach "$kind" --handles -jCc "$tmp/$program $made"
		held stream 20 0	# 7 of them, and 14 of the events, by the handles of cuBLAS
		held event 27 0
		held graph 8 0
		held exec 7 0
		held array 3 0
		held texture 7 0
		held surface 7 0
		held module 7 0
		held mempool 3 1
		held context 3 1
		held context 1 0	# the primary one
		held cublas 9 0		# 5, their 5 of cuBLASLt being part of them, 2 of cuBLASLt and 2 in those of cuSOLVER
		held cudnn 3 0
		held cusolver 2 0
		held cusparse 4 0
		json 15 '.type == "handles" and .at == "exit" and .complete' 15 true
		silent
		run cudaleak --attach "$kind" --handles -jCc "$tmp/$program $made $destroyed"
		held stream 1 0		# that which captured
		held context 1 0
		json 2 true
	done
done

it "a context that is destroyed takes its streams, modules and arrays along, a device's reset not its graphs and pools"
run cudaleak --handles -jCc "$tmp/handles-so.13 stream 2 enter 1 drvstream 5 module 3 array 2 -enter 1 event 3 graph 2 mempool 5"
held stream 2 0
held event 3 0
held graph 2 0
held mempool 5 1
held context 1 0
json 5 true
run cudaleak --handles -jCc "$tmp/handles-so.13 stream 5 event 3 graph 2 mempool 5 array 7 reset 0 stream 3"
held stream 3 0
held graph 2 0
held mempool 5 1
json 3 true

it "handles have the device that was current, and --device chooses"
run cudaleak --handles --device 1 -jCc "$tmp/handles-so.13 stream 2 on 1 stream 3 event 5 on 0 event 7"
held stream 3 1
held event 5 1
held context 1 1
json 3 true
run cudaleak --handles --device 1 -jCc "$tmp/handles-so.13 cublas 2 on 1 cublas 3 on 0 cudnn 5"
held cublas 3 1
held stream 3 1
held event 6 1
json 4 true

it "handles are grouped by stack, as text; --growth counts them"
replayed cudaleak --handles -c "$tmp/handles-so.13 stream 7 drvevent 11 -stream 2"
lines 1 ' at exit: 17 handles not destroyed$'
lines 1 '^    1 context, oldest'
lines 1 '^    11 events, oldest [0-9.]+ .?s$'
lines 1 '^    5 streams, oldest [0-9.]+ .?s$'
lines 1 '^        make_stream\+0x'
lines 1 '^        make_drvevent\+0x'
silent
replayed cudaleak --handles --growth -c "$tmp/handles-so.13 stream 7 drvevent 11 -stream 2"
lines 1 ' at exit: 17 handles held, 17 more than [0-9.]+ .?s before, peak 19$'
lines 1 '^    \+11 events, \+[0-9.]+/s: now 11$'
lines 1 '^    \+5 streams, \+[0-9.]+/s: now 5$'
lines 1 '^        make_stream\+0x'
replayed cudaleak --handles --growth -jc "$tmp/handles-so.13 stream 7 drvevent 11 -stream 2"
json 1 '.type == "handles" and .kind == "stream" and .growth_count == 5 and .count == 5 and .peak_count == 7 and .since > 0' \
	1 '.kind == "event" and .growth_count == 11 and .growth_per_s > 11 and .stack[0].sym == "make_drvevent"'
replayed cudaleak --handles -c "$tmp/handles-so.13 stream 7 -stream 7"
lines 1 ': 1 handle not destroyed$'
replayed cudaleak --handles --growth -c "$tmp/handles-so.13 cublas 7 cudnn 1 -cublas 2"
lines 1 '^    \+5 cublas handles, \+[0-9.]+/s: now 5$'
lines 1 '^    \+1 cudnn handle, \+[0-9.]+/s: now 1$'
lines 1 '^        make_cudnn\+0x'

it "--each shows each handle, with the function that made it"
replayed cudaleak --handles -aCc "$tmp/handles-so.13 stream 2 drvstream 3"
lines 2 '^    stream 0x[0-9a-f]+, [0-9.]+ .?s old, by cudaStreamCreate in thread [0-9]+$'
lines 3 '^    stream 0x[0-9a-f]+, [0-9.]+ .?s old, by cuStreamCreate in thread [0-9]+$'
replayed cudaleak --handles -ajCc "$tmp/handles-so.13 stream 2 drvstream 3"
json 6 '.count == 1 and (.handle | startswith("0x")) and .tid == .pid' 3 '.func == "cuStreamCreate"'

it "flame graphs and profiles have numbers of handles"
replayed cudaleak --handles --folded -c "$tmp/handles-so.13 stream 7 drvevent 11"
lines 1 ';make_stream;\[stream\] 7$'
lines 1 ';make_drvevent;\[event\] 11$'
replayed cudaleak --handles --pprof "$tmp/handles.pb.gz" -c "$tmp/handles-so.13 stream 7 drvevent 11"
status 0
[ "$(gunzip <"$tmp/handles.pb.gz" | grep -ac 'handles')" -gt 0 ] || no "the profile has no handles"

it "handles that were there before tracing are unknown, and so are calls that destroy them"
program "$tmp/handles-so.13" stream 5 wait 1 -stream 3 event 7 wait 1
tool cudaleak --handles -Cp "$pid"
printf '\n\n' >&3
wait "$tracer"
exec 3>&-
lines 1 ' at exit: 7 handles not destroyed; handles before [0-9:]{8} are unknown$'
lines 1 '^    3 calls that destroyed handles made before [0-9:]{8}$'

it "--handles excludes what is about bytes"
for o in --account --tensors '--min-size 1' '--max-size 7' '--sample 3' "--chrome $tmp/x"; do
	# shellcheck disable=SC2086 # words
	fails 2 '--handles cannot be combined with' cudaleak --handles $o
done

it "on a terminal: handles held and growing, without bytes"
if $it_has_tmux; then
	program "$tmp/handles-so.13" wait 1 stream 7 event 11 -event 2 wait 2
	screen 120 20 "$O/cudaleak --handles -p $pid"
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +OLDEST HANDLE  STACK *$'
	echo >&3
	on_screen '^[0-9]+ +handles-so\.13 +9 +11 +[0-9.+]+ +[0-9.]+ .?s event   < make_event'
	lines 1 ' 16 handles held, '
	lines 1 ' 7 +7 +[0-9.+]+ +[0-9.]+ .?s stream  < make_stream'
	term send-keys q
	exec 3>&-
	term kill-server
else
	skip "no tmux here"
fi

# ---- What takes seconds

long || leave

it "holds and reports a million allocations in less than 300 MiB"
mkfifo "$tmp/in"
exec 3<>"$tmp/in"
# shellcheck disable=SC2086 # words
tool $ahead cudaleak -Cjc "$bin/churn million 1000003 wait >$tmp/churn" <"$tmp/in"
i=0
until grep -q ready "$tmp/churn" || [ $i -ge 300 ]; do i=$((i + 1)); sleep .1; done
sleep .2
rss=$(awk '/VmRSS/ { print $2 }' "/proc/$tracer/status")
echo >&3
wait "$tracer"
exec 3>&-
sum 1000003 .count
says_not lost
[ "$rss" -lt 300000 ] || no "$rss KiB resident"
