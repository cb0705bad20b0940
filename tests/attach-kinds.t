# shellcheck shell=sh disable=SC2016,SC2086 # for eval; lists of words
# By whatever kind a tool is attached, it records the same: a row is a tool with its options, by each kind.  One program
# calls what each of them is about, in the runtime and in the driver; the driver's call in a runtime's call is no second
# one.  The tools' own tests use the kernel's best kind.
export SIM_DEVICES=8

# perf has multi's programs, and the kernel waits for each of its probes when it takes them out
every="session multi${LONG:+ perf} inject"
few="session${LONG:+ multi} inject"
[ -e "$bin/inject" ] || every=${every%inject} few=${few%inject}

# same KINDS COMMAND FORM: by each of the kinds, the objects of its JSON, in jq's FORM, are the lines of the input, which
# begin with how many there are
same() {
	LC_ALL=C sort >"$tmp/want"
	for kind in $1; do
		it "$2 --attach $kind: each call once"
		run $2 --attach "$kind" -c "$bin/mem $words"
		status 0
		silent
		jq -r "$3" "$tmp/out" | LC_ALL=C sort | uniq -c | sed 's/^ *//' | LC_ALL=C sort >"$tmp/got"
		diff "$tmp/want" "$tmp/got" >"$tmp/diff" || no "$(sed 1d "$tmp/diff" | tr '\n' ';')"
	done
}

# copy and drvcopy allocate two buffers each, and free them
words="setdevice 3 malloc 23 4096 free 7 fail 3 host 13 64 drvmalloc 5 64 drvfree 2 copy 11 4096 h2d copyasync 17 1000 d2h
drvcopy 19 50 d2h launch 29 badlaunch 2 drvlaunch 31 sync 37 drvsync 41"
words=$(echo "$words" | tr '\n' ' ')

same "$every" 'cudamallocsnoop -j' '"\(.func) \(.device) \(.size) \(.error)"' <<END
25 cudaMalloc 3 4096 null
3 cudaMalloc 3 1125899906842624 cudaErrorMemoryAllocation
7 cudaFree 3 4096 null
13 cudaMallocHost null 64 null
5 cuMemAlloc_v2 3 64 null
2 cuMemFree_v2 3 64 null
2 cuMemAlloc_v2 3 50 null
2 cuMemFree_v2 3 50 null
END

same "$every" 'cudaleak -j' '"\(.memory) \(.device) \(.count) \(.bytes) \(.stack[0].sym)"' <<END
1 device 3 16 65536 do_malloc
1 device 3 3 192 do_malloc
1 device 3 2 8192 buffers
1 host null 13 832 do_host
END

same "$every" 'cudamemcpysize -j' '"\(.direction) \(.async) \(.device) \(has("stream")) \(.count) \(.bytes)"' <<END
1 HtoD false 3 false 11 45056
1 DtoH false 3 false 19 950
1 DtoH true 3 false 17 17000
END

same "$every" 'cudasynclatency -jO' '"\(.func) \(.device) \(has("stream")) \(.count) \(.hist_off_cpu // [] | map(.[2]) | add) \(.waits)"' <<END
1 cudaDeviceSynchronize 3 false 37 37 null
1 cuCtxSynchronize 3 false 41 41 null
1 null null false null null 78
END

same "$every" 'cudalaunchtop -jx' '"\(.kernel) \(.device) \(has("stream")) \(.launches) \(.failed)"' <<END
1 mem_kernel 3 false 31 2
1 drv_kernel 3 false 31 0
END

same "$every" 'cudatrace -jk -e memory,launch' '"\(.func) \(.device) \(.error) \(.stack[0].sym)"' <<END
23 cudaMalloc 3 null do_malloc
3 cudaMalloc 3 cudaErrorMemoryAllocation do_fail
2 cudaMalloc 3 null buffers
7 cudaFree 3 null do_free
13 cudaMallocHost 3 null do_host
5 cuMemAlloc_v2 3 null do_malloc
2 cuMemFree_v2 3 null do_free
2 cuMemAlloc_v2 3 null do_copy
2 cuMemFree_v2 3 null do_copy
29 cudaLaunchKernel 3 null launch
2 cudaLaunchKernel 3 cudaErrorInvalidConfiguration launch
31 cuLaunchKernel 3 null do_launch
END

for kind in $every; do
	it "cudaexporter --attach $kind: each call once"
	run cudaexporter --once --attach "$kind" -c "$bin/mem $words"
	status 0
	silent
	sed -nE '/^cuda_(memory_(allocations|frees)|launches|errors)_total|^cuda_(copy_size_bytes|sync_duration_seconds)_count/ {
		s/pid="[0-9]+",comm="mem",?//; p }' "$tmp/out" | LC_ALL=C sort >"$tmp/got"
	LC_ALL=C sort >"$tmp/want" <<-END
		cuda_memory_allocations_total{device="3",memory="device"} 32
		cuda_memory_allocations_total{device="none",memory="host"} 13
		cuda_memory_frees_total{device="3",memory="device"} 11
		cuda_errors_total{function="cudaLaunchKernel",error="cudaErrorInvalidConfiguration"} 2
		cuda_errors_total{function="cudaMalloc",error="cudaErrorMemoryAllocation"} 3
		cuda_launches_total{device="3",kind="kernel"} 60
		cuda_copy_size_bytes_count{direction="d2h",async="false"} 19
		cuda_copy_size_bytes_count{direction="d2h",async="true"} 17
		cuda_copy_size_bytes_count{direction="h2d",async="false"} 11
		cuda_sync_duration_seconds_count{} 78
	END
	diff "$tmp/want" "$tmp/got" >"$tmp/diff" || no "$(sed 1d "$tmp/diff" | tr '\n' ';')"
done

# ---- what a tool's programs do beside, or at the entries alone

same "$few" 'cudatrace -j --tree -e cudaMalloc,cuMemAlloc' '"\(.depth) \(.func) \(.device) \(.args.size)"' <<END
25 0 cudaMalloc 3 4096
3 0 cudaMalloc 3 1125899906842624
7 0 cuMemAlloc_v2 3 null
28 1 cuMemAlloc_v2 3 null
END

same "$few" 'cudatrace -j --enter -e cudaMalloc,cuMemAlloc' '"\(.at) \(.func) \(.device) \(.args.size) \(.ret)"' <<END
25 enter cudaMalloc 3 4096 null
3 enter cudaMalloc 3 1125899906842624 null
25 return cudaMalloc 3 4096 0
3 return cudaMalloc 3 1125899906842624 2
7 enter cuMemAlloc_v2 3 null null
7 return cuMemAlloc_v2 3 null 0
END

# the driver's call is one of its own where no return tells that the runtime's has ended
same "$few" 'cudatrace -j --enter-only -e cudaMalloc,cuMemAlloc' '"\(.at) \(.func) \(.args.size) \(.ret)"' <<END
25 enter cudaMalloc 4096 null
3 enter cudaMalloc 1125899906842624 null
35 enter cuMemAlloc_v2 null null
END

# two streams of their own after the default ones: 0 and 1 are the same, 2 is the thread's
words="streams 2 use 0 launch 2 copyasync 5 64 h2d streamsync 7 use 1 launch 3 copyasync 11 64 h2d streamsync 13
use 2 launch 17 copyasync 19 64 h2d streamsync 23 use 3 launch 29 copyasync 31 64 h2d streamsync 37
use 4 launch 41 copyasync 43 64 h2d streamsync 47"
words=$(echo "$words" | tr '\n' ' ')
stream='\(.stream | if . and startswith("0x") then "own" else . end)'

same "$few" 'cudalaunchtop -j --per-stream' "\"\\(.kernel) $stream \\(.launches)\"" <<END
1 mem_kernel default 5
1 mem_kernel per-thread 17
1 mem_kernel own 29
1 mem_kernel own 41
END

same "$few" 'cudamemcpysize -j --per-stream' "\"\\(.direction) $stream \\(.count)\"" <<END
1 HtoD default 16
1 HtoD per-thread 19
1 HtoD own 31
1 HtoD own 43
END

same "$few" 'cudasynclatency -j --per-stream' "\"\\(.func) $stream \\(.count)\"" <<END
1 cudaStreamSynchronize default 20
1 cudaStreamSynchronize per-thread 23
1 cudaStreamSynchronize own 37
1 cudaStreamSynchronize own 47
1 null null null
END

# ---- calls that do not return

for kind in $command_kinds; do
	it "--attach $kind: a call left by longjmp is said, and hides none of the later ones"
	run env SIM_LATENCY_US=cudaMalloc=200000 cudamallocsnoop --layer runtime --attach "$kind" -jc "$bin/jump 5 3"
	json 3 '.func == "cudaMalloc" and .size == 64' 0 '.size == 4096' 1 '.lost == 5'
	says '5 calls never returned (longjmp'
done

# ---- a process is its threads: the first may end before the others, any may execute a program

# traced OPTION...: cudaleak of the program up to its end: bytes and number of its allocations
traced() {
	tool cudaleak -Cj "$@"
	target=$pid
	go
	[ "$1" = -p ] || until_true grep -q '"at":"exit"' "$tmp/out"
	[ "$1" = -p ] || stop
	wait "$tracer"
	jq -c "select(.pid == $target) | [.bytes, .count]" "$tmp/out" >"$tmp/got"
}
held() { equal "$(tr '\n' ' ' <"$tmp/got")" "$1"; }

for kind in ${every%inject}; do
	it "--attach $kind -p: a process whose first thread has ended, to its end"
	program "$bin/mem" thread '(' alone wait malloc 13 900 exit 0 ')' leave
	traced -p "$pid" --attach "$kind"
	held '[11700,13] '
	silent

	it "--attach $kind, all processes: one whose first thread has ended"
	program "$bin/mem" thread '(' alone wait malloc 13 900 exit 0 ')' leave
	traced --comm mem --attach "$kind"
	held '[11700,13] '

	# on a busy machine the process may run before it is stopped
	it "--attach $kind -p: another thread executes a program, whose calls are counted or said"
	program "$bin/mem" thread '(' wait malloc 7 1000 exec '(' malloc 3 2000 free 1 ')' ')' join
	traced -p "$pid" --attach "$kind"
	[ "$(head -n 1 "$tmp/got")" = '[7000,7]' ] || no "the first: $(head -n 1 "$tmp/got")"
	grep -q 'placed again may be missing' "$tmp/err" || held '[7000,7] [4000,2] '

	[ "$kind" != perf ] || continue	# all its probes are placed again, which takes seconds
	it "--attach $kind -p: a tool's end takes no probe from a process without its first thread"
	program "$bin/mem" malloc 1 64 thread '(' alone wait malloc 13 900 exit 0 ')' wait leave
	tool cudaleak --attach "$kind" -Cjp "$pid"
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
	cudatrace --attach "$kind" -e cudaMalloc -d .5 >"$tmp/other" 2>&1 9>&-
	go
	wait "$tracer"
	jq -c '[.bytes, .count]' "$tmp/out" >"$tmp/got"
	held '[11700,13] '
done

for kind in $every; do
	it "--attach $kind -c: the runtime is loaded after the first thread has ended"
	run cudaleak --attach "$kind" -Cjc \
		"$bin/mem-dlopen thread '(' alone load malloc 13 900 exit 0 ')' leave"
	status 0
	jq -c '[.bytes, .count]' "$tmp/out" >"$tmp/got"
	[ "$kind" = perf ] || held '[11700,13] '
	[ "$kind" = perf ] || silent
	[ "$kind" != perf ] || says 'until its probes are placed again may be missing'

	it "--attach $kind -c: another thread than the first executes the next program"
	run cudaleak --attach "$kind" -Cjc \
		"$bin/mem malloc 7 1000 thread '(' exec '(' malloc 3 2000 free 1 ')' ')' join"
	status 0
	jq -c '[.bytes, .count]' "$tmp/out" >"$tmp/got"
	held '[7000,7] [4000,2] '
	silent
done

it "cudaexporter, cudatop: a process whose first thread has ended keeps its name"
run cudaexporter --once -c "$bin/mem thread '(' alone malloc 13 900 exit 0 ')' leave"
status 0
lines 1 '^cuda_memory_allocations_total\{pid="[0-9]+",comm="mem",.* 13$'
program "$bin/mem" thread '(' alone wait malloc 13 900 launch 7 wait ')' leave
tool cudatop -jp "$pid" 100ms
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
until_true eval '[ "$(jq -s "map(.launches) | add" "$tmp/out")" = 7 ]'
stop
tail -n 1 "$tmp/out" >"$tmp/last"
cp "$tmp/last" "$tmp/out"
json 1 ".pid == $pid and .comm == \"mem\" and .held == 11700"
go
