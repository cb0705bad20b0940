# shellcheck shell=sh disable=SC2086
# Which device and stream a call is on, by what its thread, its context or its stream says; of every
# tool that tells.
light
export SIM_DEVICES=8

# on DEVICE KEY N...: the tool counts N of KEY on that device
on() {
	for _ in $(seq 3 3 $#); do
		set -- "$@" "$3" "select(.device == $1) | .$2 // empty"
		shift 3
	done
	sum "$@"
}

# ---- what a thread has chosen: one process each, side by side

# beside NAME WORD...: adds a process with that name and these words to the command
beside() { children="${children-} fork '(' rename $* ')'"; }
# of NAME DEVICE N...: so many of its launches are on that device
of() {
	for _ in $(seq 3 3 $#); do
		set -- "$@" "$3" ".comm == \"$1\" and .device == $2"
		shift 3
	done
	json "$@"
}

beside set 'setdevice 7 launch 5 setdevice 3 launch 11 setdevice 0 launch 2'
beside refused 'setdevice 5 setdevice 8 launch 7'
beside thread "setdevice 5 thread '(' launch 13 ')' join launch 3"
beside threads "thread '(' setdevice 1 launch 3 ')' thread '(' setdevice 2 launch 5 ')' thread '(' setdevice 6 launch 7 ')'"
beside contexts 'setdevice 1 ctxon 6 drvlaunch 3 ctxpush 4 drvlaunch 5 ctxpop drvlaunch 7 ctxpop drvlaunch 11
	drvdevice 2 drvlaunch 13 ctxon 5 drvlaunch 17 ctxdestroy drvlaunch 19'
beside none 'drvdevice 3 ctxpush 5 drvlaunch 2 ctxnone drvlaunch 7'
beside exec "setdevice 6 launch 3 exec '(' rename after launch 5 ')'"
run cudatrace --attach session -qj -e launch -c "$bin/mem $(echo "$children" | tr '\n' ' ') join"

it "launches are on the device that the thread has set"
status 0
silent
of set 7 5 set 3 11 set 0 2

it "a call that fails to set a device leaves the thread where it is"
of refused 5 7

it "a thread of a command that sets none is on device 0, whatever others set"
of thread 0 13 thread 5 3

it "threads each have a device"
of threads 1 3 threads 2 5 threads 6 7

it "a context that is made, pushed, popped or set is its device"
of contexts 6 10 contexts 4 5 contexts 1 11 contexts 2 32 contexts 5 17

it "setting no context uncovers the one below"
of none 5 2 none 3 7

it "the threads of another program after exec have no device from before it"
of exec 6 3 after 0 5

it "… of all these there is no other launch"
json 148 .func

# ---- what the tools make of it

it "a stream's launches, copies, waits and memory are on the device where it was made"
words="setdevice 3 streams 1 setdevice 6 streams 1 setdevice 5"
words="$words use 3 launch 7 copyasync 11 64 h2d async 13 64 streamsync 3"
words="$words use 4 launch 2 copyasync 5 64 h2d async 17 64 streamsync 19 launchex 1"
run cudalaunchtop -qj -c "$bin/mem $words"
on 3 launches 7 6 launches 3
run cudamemcpysize -qj -c "$bin/mem $words"
on 3 count 11 6 count 5
run cudasynclatency -qj -c "$bin/mem $words"
on 3 count 3 6 count 19
run cudaleak -qjC -c "$bin/mem $words"
json 1 '.memory == "pool" and .device == 3 and .count == 13' \
	1 '.memory == "pool" and .device == 6 and .count == 17' \
	1 '.memory == "device" and .device == 5 and .count == 2'

it "a stream that is made at the address of a destroyed one is of its own device"
replayed cudamemcpysize -qjc "$bin/mem setdevice 2 loop 29 '(' setdevice 3 streams 1 use 3 copyasync 1 64 h2d \
	streamfree 1 setdevice 4 streams 1 use 3 copyasync 2 64 h2d streamfree 1 ')'"
on 3 count 29 4 count 58

it "many streams of all devices are told apart"
words=
for d in 0 1 2 3 4 5 6 7; do words="$words setdevice $d streams 61"; done
for i in 3 100 200 300 400 490; do words="$words use $i copyasync $i 8 h2d"; done
replayed cudamemcpysize -qj -c "$bin/mem setdevice 1 $words"
on 0 count 3 1 count 100 3 count 200 4 count 300 6 count 400 7 count 490

it "a program without the runtime is followed by its contexts"
run cudaleak -qjC -c "$bin/mem-drv drvdevice 7 drvmalloc 3 64 ctxon 2 drvmalloc 5 64 ctxpop drvmalloc 11 64"
on 7 count 14 2 count 5

it "both ends of copies between devices are shown, others have no peer"
replayed cudamemcpysize -qj -c "$bin/mem peerof 7 64 3 5 peerof 11 64 5 3 drvpeer 13 64 6 7 copy 17 64 h2d"
json 1 '.direction == "HtoD" and .peer == null and .device == 0 and .count == 17' \
	1 '.direction == "PtoP" and .device == 3 and .peer == 5 and .count == 7' \
	1 '.device == 5 and .peer == 3 and .count == 11' \
	1 '.device == 6 and .peer == 7 and .count == 13'
replayed cudamemcpysize -q -c "$bin/mem peerof 7 64 3 5"
lines 1 '^PtoP, synchronous, device 3 to 5; '
lines 1 '^         7 '

$CC -DSIM_OWN_HEADERS -O1 -shared -fPIC -Wl,-soname,libcuda-places.so tests/workloads/places_cuda.c -o "$tmp/libcuda-places.so"
$CC -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 -fno-omit-frame-pointer tests/workloads/places.c "$tmp/libcuda-places.so" \
	"$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$lib:$tmp" -o "$tmp/places"
chmod 755 "$tmp"	# for inject, as another user
# held MEMORY DEVICE COUNT BYTES...: of that kind of memory there
held() {
	for _ in $(seq 4 4 $#); do
		set -- "$@" 1 ".memory == \"$1\" and .device == $2 and .count == $3 and .bytes == $4"
		shift 4
	done
	json "$@"
}
for kind in $command_kinds; do
	it "memory is where cuMemCreate() locates it, or on the host, whatever device is current: $kind"
	run cudaleak --attach "$kind" -qjCc "$tmp/places vmm cast"
	held vmm 1 3 $((6 << 20)) vmm 0 2 $((8 << 20)) vmm null 15 $((56 << 20))
	json 3 true
	silent

	it "memory of a pool is where the pool is, also what a graph allocates: $kind"
	run cudaleak --attach "$kind" -qjCc "$tmp/places pools graph"
	held pool 1 42 19090 pool null 19 950 pool 0 2 16
	silent
done

it "memory of a pool of another process is on an unknown device"
replayed cudaleak -qjCc "$tmp/places imported"
held pool null 3 27

for kind in $command_kinds; do
	it "a VMM handle of another process is on an unknown device, also when it is mapped, by which its size is known: $kind"
	run cudaleak --attach "$kind" -qjCc "$tmp/places handles"
	held vmm null 3 $((6 << 20)) vmm 1 1 $((2 << 20))
	json 2 true
	silent
done

it "a further reference to memory is on the device of the memory"
replayed cudamallocsnoop -qjc "$tmp/places handles"
json 3 '.func == "cuMemImportFromShareableHandle" and .device == null' \
	1 '.func == "cuMemCreate" and .device == 1' \
	2 '.func == "cuMemRetainAllocationHandle" and .device == 1'

it "--device says how much memory it left out as its device is not known"
for t in cudaleak cudamallocsnoop; do
	replayed "$t" --device 1 -qjc "$tmp/places handles imported"
	says 'left out 6 calls whose device is not known'
	json 0 '.device != 1'
done

it "cudamallocsnoop, the exporter and --device have memory where it is, too"
replayed cudamallocsnoop -qjc "$tmp/places vmm pools"
json 44 '.func and .device == 1' 32 '.func and .device == null'
replayed cudamallocsnoop --device 1 -qjc "$tmp/places vmm pools"
json 44 '.func'
replayed cudaexporter --once -c "$tmp/places vmm pools"
lines 1 '^cuda_memory_allocated_bytes_total\{.*device="1",memory="vmm"\} 6291456$'
lines 1 '^cuda_memory_allocated_bytes_total\{.*device="none",memory="vmm"\} 58720256$'
lines 1 '^cuda_memory_allocated_bytes_total\{.*device="1",memory="pool"\} 16090$'

it "streams of green and execution contexts are on the device of those, with memory and launches in them"
replayed cudatrace -qj -e launch -c "$tmp/places green"
json 28 '.device == 1' 28 true
replayed cudalaunchtop -qjc "$tmp/places green"
json 1 '.device == 1 and .launches == 28'
replayed cudaleak -qjCc "$tmp/places green"
held pool 1 7 700

it "--device selects calls, and copies between devices by either end"
words="setdevice 2 launch 3 copy 5 64 h2d sync 7 malloc 11 64 setdevice 4 launch 13 copy 17 64 h2d sync 19"
words="$words malloc 23 64 peerof 29 64 6 2"
replayed cudalaunchtop -qj --device 4 -c "$bin/mem $words"
on 4 launches 13
json 1 .launches
replayed cudamemcpysize -qj --device 2 -c "$bin/mem $words"
json 1 '.device == 2 and .count == 5' 1 '.device == 6 and .count == 29' 2 .count
replayed cudasynclatency -qj --device 0,4,7 -c "$bin/mem $words"
on 4 count 19
json 1 .func
replayed cudaleak -qjC --device 4 -c "$bin/mem $words"
on 4 count 23
json 1 .memory
replayed cudamallocsnoop -qjA --device 2 -c "$bin/mem $words"
json 13 '.device == 2' 13 .func

it "a free is of the device of what it frees"
replayed cudamallocsnoop -qjF --device 6 -c "$bin/mem setdevice 6 malloc 13 64 setdevice 2 malloc 3 64 free 10"
json 7 '.device == 6' 7 .func

it "memory of the host has no device"
replayed cudamallocsnoop -qj -c "$bin/mem setdevice 2 host 3 64 malloc 5 64"
json 3 '.memory == "host" and .device == null' 5 '.device == 2'

it "--device is a list of numbers"
for list in x '1,' ,1 1,,2 -1 64 1x '1 2' 99999999999999999999; do
	fails 2 "--device: '$list' is not a list of device numbers from 0 to 63" cudaleak --device "$list"
done

it "text names devices once there are two, and with --device"
replayed cudamemcpysize -q -c "$bin/mem setdevice 3 copy 7 64 h2d"
lines 0 device
replayed cudamemcpysize -q -c "$bin/mem setdevice 3 copy 7 64 h2d setdevice 2 copy 11 64 h2d"
lines 1 '^HtoD, synchronous, device 3; '
lines 1 '^HtoD, synchronous, device 2; '
lines 1 '^         7 '
lines 1 '^        11 '
replayed cudamemcpysize -q --device 3 -c "$bin/mem setdevice 3 copy 7 64 h2d"
lines 1 '^HtoD, synchronous, device 3; '
replayed cudasynclatency -q -c "$bin/mem setdevice 3 sync 7 setdevice 2 sync 11"
lines 1 '^device 3, cudaDeviceSynchronize$'
lines 1 '^device 2, cudaDeviceSynchronize$'
lines 1 '^         7 '
lines 1 '^        11 '
replayed cudaleak -qC -c "$bin/mem setdevice 3 malloc 7 64 setdevice 2 malloc 11 64 host 5 64"
lines 1 '448 bytes in 7 allocations of device memory on device 3,'
lines 1 '704 bytes in 11 allocations of device memory on device 2,'
lines 1 '320 bytes in 5 allocations of host memory,'

it "cudalaunchtop has a column for devices once there are two, and with --device"
replayed cudalaunchtop -q -c "$bin/mem setdevice 3 launch 7"
lines 0 DEVICE
replayed cudalaunchtop -q -c "$bin/mem setdevice 3 launch 7 setdevice 2 launch 11"
lines 1 'TOTAL DEVICE GRID'
lines 1 ' 7 +3 13x1x1 '
lines 1 ' 11 +2 13x1x1 '
replayed cudalaunchtop -qP --device 3 -c "$bin/mem setdevice 3 launch 7"
lines 1 'TOTAL DEVICE'
lines 1 ' 7 +3$'

it "cudamallocsnoop prints its head again with what there is to tell apart"
replayed cudamallocsnoop -q -c "$bin/mem malloc 3 64 setdevice 2 malloc 5 64 streams 1 use 3 async 7 64"
lines 1 'MEMORY +BYTES'
lines 1 'MEMORY +DEVICE +BYTES'
lines 1 'MEMORY +DEVICE STREAM +BYTES'
lines 3 ' device +64 '
lines 5 ' device +2 +64 '
lines 7 ' pool +2 0x[0-9a-f]+ +64 '

it "the default streams are told apart from others"
replayed cudamallocsnoop -qj -c "$bin/mem streams 1 async 3 64 use 1 async 5 64 use 2 async 7 64 use 3 async 11 64 malloc 13 8"
json 8 '.stream == "default"' 7 '.stream == "per-thread"' 11 '(.stream // "") | startswith("0x")' \
	13 '.stream == null'

it "the device of a thread from before is not known until it sets one"
program "$bin/mem" setdevice 5 launch 1 wait launch 7 copy 3 64 h2d thread '(' launch 13 ')' join setdevice 5 launch 11
tool cudalaunchtop -j -p "$pid"
go
stop
on null launches 7 0 launches 13 5 launches 11

# exec_late TOOL KEY WORD [ARG...]: of a process from before that replaces its program, which then sets no device at first
exec_late() {
	# shellcheck disable=SC2086 # words
	program "$bin/mem" setdevice 5 $3 1 ${4:-} wait exec '(' $3 7 ${4:-} setdevice 3 $3 11 ${4:-} ')'
	tool "$1" -j -p "$pid"
	go
	stop
	on 0 "$2" 7 3 "$2" 11 null "$2" 0
}

it "a process from before that replaces its program begins on device 0"
exec_late cudalaunchtop launches launch
if long; then
	exec_late cudasynclatency count sync
	exec_late cudamemcpysize count copy '64 h2d'
fi

it "… also if it made calls while traced, and for its threads and streams"
program "$bin/mem" malloc 1 64 wait setdevice 5 launch 1 exec '(' launch 7 thread '(' launch 13 ')' join setdevice 3 streams 1 \
	setdevice 2 use 3 launch 11 ')'
tool cudalaunchtop -j -p "$pid"
go
stop
on 5 launches 1
equal "$(jq -s 'map(select(.device == 0) | .launches) | add' "$tmp/out")" 20
on 3 launches 11 null launches 0

it "… so what it has is known from its first call on"
program "$bin/mem" malloc 3 64 wait exec '(' malloc 7 64 wait ')'
tool cudaleak -jC -p "$pid" 1
echo >&3
until_true grep -q '"count":7' "$tmp/out"
stop
equal "$(jq 'select(.count == 7) | .complete' "$tmp/out" | sort -u)" true
exec 3>&-
wait "$pid"

it "so is a copy in a stream from before"
program "$bin/mem" setdevice 5 streams 1 wait setdevice 3 use 3 copyasync 7 64 h2d streams 1 use 4 copyasync 11 64 h2d
tool cudamemcpysize -j -p "$pid"
go
stop
on null count 7 3 count 11

it "--device says how many calls it left out as their device is not known"
program "$bin/mem" launch 1 wait launch 7 setdevice 5 launch 11
tool cudalaunchtop -j --device 5,6 -p "$pid"
go
stop
on 5 launches 11
json 1 .launches
says 'left out 7 calls whose device is not known'

it "a stream that is destroyed is waited for on its own device"
replayed cudasynclatency -qij -c "$bin/mem setdevice 3 streams 7 setdevice 2 streams 1 setdevice 5 streamfree 7"
json 1 '.device == 3 and .func == "cudaStreamDestroy" and .count >= 6' \
	0 '.type == "waits" and .device == null'

it "a process that --comm selects later is on the device that it chose before"
run cudalaunchtop --attach session --comm late -qj -c "$bin/mem setdevice 5 launch 3 rename late launch 7"
on 5 launches 7
json 1 .launches
run cudasynclatency --attach session --comm late -qj -c "$bin/mem setdevice 5 sync 3 rename late sync 7"
on 5 count 7

it "cudaleak: one call stack on two devices is two groups, each with its peak and growth"
replayed cudaleak -qj -c "$bin/mem setdevice 3 malloc 7 64 setdevice 2 malloc 11 64 free 2"
json 1 '.device == 3 and .count == 7 and .peak_bytes == 448 and .growth_bytes == 448' \
	1 '.device == 2 and .count == 9 and .peak_bytes == 704 and .growth_bytes == 576' \
	2 .count
replayed cudaleak -qC --growth -c "$bin/mem setdevice 3 malloc 7 64 setdevice 2 malloc 11 64"
lines 1 '^    \+448 bytes and \+7 allocations of device memory on device 3, '
lines 1 '^    \+704 bytes and \+11 allocations of device memory on device 2, '

it "cudaleak --sort device: the first device first, memory without one last"
replayed cudaleak -qjC --sort device -c "$bin/mem host 5 64 setdevice 3 malloc 7 64 setdevice 2 malloc 11 64 setdevice 6 malloc 3 64"
equal "$(jq -c .device "$tmp/out" | tr '\n' ' ')" '2 3 6 null '

it "the screen of cudaleak has a column for devices once there are two, sorts by them, and shows what each holds"
if command -v tmux >/dev/null; then
	program "$bin/mem" wait setdevice 3 malloc 7 4096 setdevice 2 malloc 11 4096 free 4 host 5 8192 wait
	screen 120 20 "$O/cudaleak -p $pid 1"
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST MEMORY  STACK *$'
	echo >&3
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST DEVICE MEMORY  STACK *$'
	lines 1 ' 28\.0 KiB +28\.0 KiB .* 7 .* 3 device  < do_malloc'
	lines 1 ' 28\.0 KiB +44\.0 KiB .* 7 .* 2 device  < do_malloc'
	lines 1 ' 40\.0 KiB +40\.0 KiB .* 5 .* - host    < do_host'
	term send-keys d
	until_true row3_shows " 2 device"
	shot
	equal "$(grep -oE ' [-0-9] (device|host) ' "$tmp/out" | tr -d '\n')" ' 2 device  3 device  - host '
	term send-keys v
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST MEMORY *$'
	lines 1 ' 56\.0 KiB +72\.0 KiB .* 14 .* device *$'
	term send-keys v
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST DEVICE *$'
	lines 1 ' 28\.0 KiB +28\.0 KiB .* 7 .* 3 *$'
	lines 1 ' 28\.0 KiB +44\.0 KiB .* 7 .* 2 *$'
	lines 1 ' 40\.0 KiB +40\.0 KiB .* 5 .* - *$'
	term send-keys v
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT +OLDEST *$'
	term send-keys v
	term resize-window -x 80 -y 10
	on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT DEV MEMORY  STACK *$'
	lines 1 ' 2 device  < do_'
	quit
else
	skip "no tmux here"
fi

# calls_on DEVICE N FUNCTION...: cudatrace printed N calls of the function on that device
calls_on() {
	for _ in $(seq 3 3 $#); do
		set -- "$@" "$2" ".device == $1 and .func == \"$3\""
		shift 3
	done
	json "$@"
}

it "cudatrace tells the device of each call"
replayed cudatrace -qj -e launch,copy,sync -c "$bin/mem setdevice 3 streams 1 setdevice 6 streams 1 setdevice 5 launch 2 \
	use 3 launch 7 launchex 5 copyasync 11 64 h2d streamsync 13 use 4 launch 17 copyasync 19 64 h2d copy 23 64 h2d sync 29"
calls_on 5 2 cudaLaunchKernel 3 7 cudaLaunchKernel 3 5 cudaLaunchKernelExC 3 11 cudaMemcpyAsync
calls_on 3 13 cudaStreamSynchronize 6 17 cudaLaunchKernel 6 19 cudaMemcpyAsync 5 23 cudaMemcpy
calls_on 5 29 cudaDeviceSynchronize
json 126 .func
silent

# traced FUNCTION DEVICE N..., then checked: so many calls of the function were on that device, or null, and
traced() {
	func=$1
	shift
	while [ $# -gt 0 ]; do
		those="$those $2 '.func == \"$func\" and .device == $1'"
		rest=$((rest + $2))
		shift 2
	done
}
checked() {
	eval "json$those"
	rest=0 those=
}
# … and no other calls than these
no_others() {
	those="$those $rest .func"
	checked
}

rest=0 those=
for kind in $command_kinds; do
	it "cudatrace: a prefetch is on the device to which it goes, on none if that is the host; advice by its location: $kind"
	run cudatrace --attach "$kind" -qj -e '*Prefetch*,*Advise*' -c "$tmp/places managed"
	traced cudaMemPrefetchAsync 1 7 null 3
	traced cuMemPrefetchAsync_v2 1 5 null 2
	traced cuMemPrefetchAsync 1 11 null 13
	traced cudaMemAdvise 1 17 null 3 0 19
	traced cuMemAdvise 1 2 null 5
	no_others
	silent

	it "cudatrace: a batch is on the device of all of its places, or of its stream: $kind"
	run cudatrace --attach "$kind" -qj -e '*Batch*' -c "$tmp/places batches"
	traced cudaMemPrefetchBatchAsync 1 10 null 8
	traced cudaMemDiscardBatchAsync 1 11
	traced cuMemDiscardAndPrefetchBatchAsync 1 13
	no_others
	silent

	it "cudatrace: a copy between devices is on that of its source: $kind"
	run cudatrace --attach "$kind" -qj -e '*Peer*' -c "$tmp/places copies"
	traced cudaMemcpyPeer 1 3
	traced cudaMemcpyPeerAsync 0 5
	traced cudaMemcpy3DPeer 1 7
	traced cudaMemcpy3DPeerAsync 0 11
	no_others
	silent

	it "cudatrace: memory and pools are where a call has them: $kind"
	run cudatrace --attach "$kind" -qj -e 'cuMemCreate,cuMulticastCreate,*FromPoolAsync,*MemPool*' \
		-c "$tmp/places vmm cast pools imported"
	traced cuMemCreate 1 3 0 2 null 13
	traced cuMulticastCreate null 2
	traced cuMemAllocFromPoolAsync 1 28 null 22 0 2
	traced cudaMallocFromPoolAsync 1 13
	traced cuMemPoolCreate 1 1 null 1 0 1
	traced cudaMemPoolCreate 1 1
	traced cuDeviceGetDefaultMemPool 1 1 0 1
	traced cuMemPoolImportFromShareableHandle null 1
	no_others
	silent

	it "cudatrace: so are calls that the table of the tools' functions has not: $kind"
	run cudatrace --attach "$kind" -qj -e 'cudaStreamAddCallback,cudaMemPoolTrimTo,cudaDeviceGetAttribute,cudaMemSetMemPool' \
		-c "$tmp/places others"
	traced cudaStreamAddCallback 1 3
	traced cudaMemPoolTrimTo 1 5
	traced cudaDeviceGetAttribute 1 7
	traced cudaMemSetMemPool 1 11
	no_others
	silent
done

it "cudatrace: only questions about a device are no use of it"
replayed cudatrace -q -e cudaDeviceGetAttribute,cudaFree,cudaDeviceGetDefaultMemPool -c "$tmp/places others"
lines 0 DEVICE
lines 7 cudaDeviceGetAttribute

it "cudatrace: prefetches in summaries and timelines"
replayed cudatrace -qjS -e '*Prefetch*' -c "$tmp/places managed"
json 1 '.func == "cuMemPrefetchAsync" and .device == 1 and .calls == 11' \
	1 '.func == "cuMemPrefetchAsync" and .device == null and .calls == 13'
replayed cudatrace -qS -e '*Prefetch*' --device 1,60 -c "$tmp/places managed"
lines 1 ' 11 +1 cuMemPrefetchAsync$'
lines 1 ' 23 +total$'
replayed cudatrace --chrome "$tmp/trace.json" -e '*Prefetch*' -c "$tmp/places managed"
equal "$(jq '[.[] | select(.name == "cuMemPrefetchAsync" and .args.on_device == null)] | length' "$tmp/trace.json")" 13

it "cudatrace: a prefetch of the runtime with that of the driver inside is one, on one device"
replayed cudatrace -qj --tree -e '*Prefetch*' -c "$tmp/places managed"
traced cudaMemPrefetchAsync 1 7 null 3
traced cuMemPrefetchAsync_v2 1 12 null 5
checked
json 10 '.func == "cuMemPrefetchAsync_v2" and .depth == 1'

# the runtime of CUDA 11, 12 and 13, as a library and linked in
majors="${LONG:+11 12} 13"
for major in $majors; do
	mkdir -p "$tmp/$major"
	echo "libcudart.so.$major { global: *; };" >"$tmp/$major/map"
	$CC -DMAJOR=$major -DRUNTIME -shared -fPIC -Wl,-soname,libcudart.so.$major -Wl,--version-script="$tmp/$major/map" \
		tests/workloads/forms.c -o "$tmp/$major/libcudart.so.$major"
	$CC -DMAJOR=$major -DPROGRAM tests/workloads/forms.c "$tmp/$major/libcudart.so.$major" -Wl,-rpath,"$tmp/$major" -o "$tmp/forms-$major"
	$CC -DMAJOR=$major -rdynamic tests/workloads/forms.c -o "$tmp/linked-$major"
done
forms() {
	traced cudaMemPrefetchAsync 1 7 null 3
	traced cudaMemAdvise 1 5
	traced cudaMemcpyBatchAsync 1 11
	no_others
	case $1 in
	13) json 7 '.func == "cudaMemPrefetchAsync" and .args.location.id == 1' ;;
	*) json 7 '.func == "cudaMemPrefetchAsync" and .args.dstDevice == 1' ;;
	esac
	silent
}
for major in $majors; do
	for kind in $command_kinds; do
		it "cudatrace: the devices and streams of functions as the runtime of CUDA $major has them: $kind"
		run cudatrace --attach "$kind" -qj -e '*Prefetch*,*Advise*,*Batch*' -c "$tmp/forms-$major"
		forms $major
	done
	it "… also if that runtime is linked in: $major"
	run cudatrace --attach session -qj -e '*Prefetch*,*Advise*,*Batch*' -c "$tmp/linked-$major"
	forms $major
done

it "cudatrace: a call that chooses a device is on the one before, with the calls inside"
replayed cudatrace -qj --tree -c "$bin/mem setdevice 3 launch 2 setdevice 5 malloc 7 64"
json 1 '.func == "cudaSetDevice" and .args.device == 3 and .device == 0' \
	1 '.func == "cudaSetDevice" and .args.device == 5 and .device == 3'
calls_on 5 7 cudaMalloc 3 2 cudaLaunchKernel 3 2 cuLaunchKernel

it "cudatrace --device selects calls, by any output"
words="setdevice 2 launch 3 malloc 5 64 fail 7 setdevice 4 launch 11 malloc 13 64 fail 17"
replayed cudatrace -qj --device 4 -e launch,cudaMalloc -c "$bin/mem $words"
calls_on 4 11 cudaLaunchKernel 4 30 cudaMalloc
json 41 .func
replayed cudatrace -qj --device 2,6 -x -c "$bin/mem $words"
sum 7 'select(.device == 2 and .func == "cudaMalloc").count' 7 .count
replayed cudatrace -qjS --device 4 -e launch,cudaMalloc -c "$bin/mem $words"
json 1 '.device == 4 and .func == "cudaMalloc" and .calls == 30 and .errors == 17' 2 .func
replayed cudatrace -qj --tree --device 2 -e cudaLaunchKernel,cuLaunchKernel -c "$bin/mem $words"
calls_on 2 3 cudaLaunchKernel 2 3 cuLaunchKernel
json 6 .func
replayed cudatrace -q --enter --device 4 -e launch -c "$bin/mem $words"
lines 11 '> cudaLaunchKernel'
lines 11 '< cudaLaunchKernel'
if long; then
	replayed cudatrace -qj --unchecked --device 4 -c "$bin/mem $words sync 1"
	sum 17 'select(.device == 4).count' 17 .count
	replayed cudatrace -q --folded --device 2 -e cudaLaunchKernel -c "$bin/mem $words"
	lines 1 ';cudaLaunchKernel [0-9]+$'
	replayed cudatrace -q -n 5 --device 4 -e launch -c "$bin/mem $words"
	lines 5 cudaLaunchKernel
fi

it "cudatrace has a column for devices once there are two, and with --device"
replayed cudatrace -q -c "$bin/mem setdevice 3 launch 7"
lines 0 DEVICE
replayed cudatrace -q -c "$bin/mem setdevice 3 launch 7 setdevice 2 launch 11"
lines 0 '^COMM|^LAYER'
lines 1 '^DEVICE CALL'
lines 7 '^cudaLaunchKernel'
lines 11 '^ +2 cudaLaunchKernel'
replayed cudatrace -q --device 3 -e launch -c "$bin/mem setdevice 3 launch 7"
lines 1 '^DEVICE CALL'
lines 7 '^ +3 cudaLaunchKernel'

it "cudatrace --summary has a row for each function and device"
replayed cudatrace -qjS -c "$bin/mem setdevice 3 launch 7 setdevice 2 launch 11"
json 1 '.device == 3 and .func == "cudaLaunchKernel" and .calls == 7' \
	1 '.device == 2 and .func == "cudaLaunchKernel" and .calls == 11'
replayed cudatrace -qS -c "$bin/mem setdevice 3 launch 7 setdevice 2 launch 11"
lines 1 'errors device function$'
lines 1 ' 7 +3 cudaLaunchKernel$'
lines 1 ' 11 +2 cudaLaunchKernel$'
lines 1 ' 20 +total$'
replayed cudatrace -qS -c "$bin/mem setdevice 3 launch 7"
lines 1 'errors function$'
lines 1 ' 7 +cudaLaunchKernel$'

it "cudatrace --chrome says on which device a call is"
replayed cudatrace --chrome "$tmp/trace.json" -c "$bin/mem setdevice 3 launch 7 setdevice 2 launch 11"
for pair in 3:7 2:11; do
	got=$(jq "[.[] | select(.ph == \"X\" and .cat == \"runtime\" and .args.on_device == ${pair%:*} and .name == \"cudaLaunchKernel(mem_kernel)\")] | length" \
		"$tmp/trace.json")
	[ "$got" = "${pair#*:}" ] || no "$got launches on device ${pair%:*}"
done
[ "$(jq '[.[] | select(.args.device == 3)] | length' "$tmp/trace.json")" = 1 ] || no "the argument device is not there"

it "cudatrace: the device of a thread from before is not known until it sets one"
program "$bin/mem" setdevice 5 launch 1 wait launch 7 thread '(' launch 13 ')' join setdevice 5 launch 11
tool cudatrace -j -e launch -p "$pid"
go
stop
json 7 '.device == null' 13 '.device == 0' 11 '.device == 5'

it "cudatrace --device with --enter counts each such call once"
program "$bin/mem" launch 1 wait launch 7 setdevice 5 launch 11
tool cudatrace --enter -e launch --device 5 -p "$pid"
go
stop
lines 11 '> cudaLaunchKernel'
lines 11 '< cudaLaunchKernel'
says 'left out 7 calls whose device is not known'

# asleep N: so many threads of the program are in pause(), where the simulated CUDA waits for ever
asleep() { [ "$(grep -l "^$pause " "/proc/$pid/task/"*/syscall 2>/dev/null | wc -l)" -eq "$1" ]; }

# hang N FUNCTION TOOL...: so many threads of mem, made by the words in $words, hang in this function of the
# driver while the tool traces them
hang() {
	threads=$1
	# shellcheck disable=SC2086 # words
	program env SIM_LATENCY_US="$2=-1" "$bin/mem" wait $words
	shift 2
	tool "$@" -p "$pid"
	echo >&3
	until_true asleep "$threads"
	stop
	exec 3>&-
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	status 0
}

# waiting N FILTER: the tool has shown N calls in flight, which pass; none that do not
waiting() {
	json "$1" 'select(.running)' \
		"$1" "select(.running) | $2"
}

words="setdevice 3 thread ( setdevice 2 sync 1 ) thread ( setdevice 2 sync 1 ) sync 1"
# shellcheck disable=SC2086 # words
for t in cudasynclatency ${LONG:+'cudatrace -e sync'}; do
	it "${t%% *}: calls in flight have a device, and --device selects them"
	hang 3 cuCtxSynchronize $t -j
	waiting 3 '.func == "cudaDeviceSynchronize" and (.device == 2 or .device == 3)'
	json 2 'select(.running) | .device == 2' \
		3 'select(.running) | has("container") and .container == null'
	hang 3 cuCtxSynchronize $t -j --device 2
	waiting 2 '.func == "cudaDeviceSynchronize" and .device == 2'
	hang 3 cuCtxSynchronize $t
	lines 2 '^still waiting: thread .* in cudaDeviceSynchronize on device 2 for '
	lines 1 '^still waiting: thread .* in cudaDeviceSynchronize on device 3 for '
done

it "a call in flight that waits for a stream is on the stream's device, and is not left out for want of one"
words="setdevice 6 streams 1 setdevice 3 thread ( setdevice 1 use 3 streamsync 1 )"
hang 1 cuStreamSynchronize cudasynclatency -j --device 6
waiting 1 '.func == "cudaStreamSynchronize" and .device == 6'
hang 1 cuStreamSynchronize cudasynclatency -j --device 1,3
waiting 0 true
says_not 'left out'
hang 1 cuStreamSynchronize cudatrace -j -e sync --device 6
waiting 1 '.func == "cudaStreamSynchronize" and .device == 6'

it "calls in flight whose device is not known are left out with --device, and counted"
# shellcheck disable=SC2086 # words
for words in "sync 1" "thread ( sync 1 ) sync 1"; do
	set -- $words
	n=$((1 + ($# > 2)))
	env SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" $words & pid=$!
	pids="$pids $pid"
	until_true asleep $n
	run cudasynclatency -j --device 0 -p "$pid" 100ms 2
	waiting 0 true
	says "left out $n call"
	equal "$(grep -c 'in flight whose device is not known' "$tmp/err")" 1
	run cudasynclatency -j -p "$pid" -d 0.3
	waiting $n '.device == null and .complete == false'
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
done

it "cudatrace: a process that --comm selects later is on the device that it chose before"
run cudatrace --attach session --comm late -qj -e launch -c "$bin/mem setdevice 5 launch 3 rename late launch 7"
json 7 '.device == 5' 7 .func

long || leave

it "one device is not named in text, but with --device"
words="setdevice 6 sync 1"
hang 1 cuCtxSynchronize cudasynclatency
lines 1 'still waiting: thread [0-9]+ \(mem\) in cudaDeviceSynchronize for '
hang 1 cuCtxSynchronize cudasynclatency --device 6
lines 1 'still waiting: thread [0-9]+ \(mem\) in cudaDeviceSynchronize on device 6 for '

it "cudamemcpysize: copies in flight by the device of their stream, and between devices by either end"
words="setdevice 6 streams 1 thread ( setdevice 4 use 3 copyasync 1 64 h2d )"
hang 1 cuMemcpyHtoDAsync_v2 cudamemcpysize -j --device 6
waiting 1 '.func == "cudaMemcpyAsync" and .device == 6'
words="setdevice 1 peerof 1 64 5 7"
hang 1 cuMemcpyPeer cudamemcpysize -j --device 7
waiting 1 '.func == "cudaMemcpyPeer" and .device == 5'
hang 1 cuMemcpyPeer cudamemcpysize -j --device 1
waiting 0 true

it "cudamallocsnoop: a free in flight is of the device of what it frees, and memory of the host has none"
words="setdevice 6 malloc 1 64 setdevice 2 free 1"
hang 1 cuMemFree_v2 cudamallocsnoop -j --device 6
waiting 1 '.func == "cudaFree" and .device == 6'
words="setdevice 6 malloc 1 64"
hang 1 cuMemAlloc_v2 cudamallocsnoop -j
waiting 1 '.func == "cudaMalloc" and .device == 6'
words="setdevice 6 host 1 64"
hang 1 cuMemHostAlloc cudamallocsnoop -j
waiting 1 '.func == "cudaMallocHost" and .device == null'

it "… and cudatrace knows, too"
program "$bin/mem" setdevice 5 launch 1 wait exec '(' launch 7 setdevice 3 launch 11 ')'
tool cudatrace -j -e launch -p "$pid"
go
stop
json 7 '.device == 0' 11 '.device == 3' 18 .func

it "cudatrace probes what tells of devices only where it prints them"
run cudatrace -q --list -e cudaMalloc -c "$bin/mem malloc 1 64"
lines 2 'cudaSetDevice|cuCtxSetCurrent'
for quiet in --folded --unchecked --enter-only; do
	run cudatrace -q --list $quiet -e cudaMalloc -c "$bin/mem malloc 1 64"
	lines 0 'cudaSetDevice|cuCtxSetCurrent'
done

it "cudatrace: what is not known, or only chosen, is no second device"
program "$bin/mem" launch 1 wait launch 3 setdevice 5 launch 7
tool cudatrace -e launch,cudaSetDevice -p "$pid"
go
stop
lines 0 DEVICE
lines 10 cudaLaunchKernel
