# shellcheck shell=sh disable=SC2086 # lists of words
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
	json 3 '.func == "cudaMalloc" and .size == 64'
	json 0 '.size == 4096'
	json 1 '.lost == 5'
	says '5 calls never returned (longjmp'
done
