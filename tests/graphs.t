# shellcheck shell=sh disable=SC2034,SC2154 # pid: lib.sh's
# CUDA graphs: what is captured does not run, and what a graph has runs at each launch of it.
light

# ran KERNEL LAUNCHES REPLAYED...: the one row of each
ran() {
	for _ in $(seq 3 3 $#); do
		set -- "$@" 1 ".kernel == \"$1\" and .kind == \"kernel\" and .launches == $2 and .replayed == $3"
		shift 3
	done
	json "$@"
}

example='eager a 5 begin launch a 3 launch b 1 end make destroy replay 7 begin launch b 2 end make replay 11 eager b 2'
for program in graphs graphs-12 graphs-static graphs-stripped; do
	it "$program: a captured kernel counts at each launch of its graph, also if the graph was destroyed"
	replayed cudalaunchtop -jc "$bin/$program $example"
	ran a 26 21 b 31 29
	json 2 true
	silent
done

it "… by the driver's functions"
replayed cudalaunchtop -jc "$bin/graphs driver $example"
ran a 26 21 b 31 29
json 2 true
replayed cudalaunchtop --layer driver -jc "$bin/graphs driver $example"
ran a 26 21 b 31 29

it "… and with failed launches, by process, by call site, and as a flame graph"
replayed cudalaunchtop -jxc "$bin/graphs $example"
ran a 26 21 b 31 29
json 2 '.failed == 0'
replayed cudalaunchtop -jPc "$bin/graphs $example"
json 1 '.launches == 57 and .replayed == 50 and .kernel == null'
replayed cudalaunchtop -jkc "$bin/graphs $example"
json 1 '.kernel == "a" and .launches == 21 and .replayed == 21 and .stack[0].sym == "replay"' \
	1 '.kernel == "a" and .launches == 5 and .replayed == 0 and .stack[0].sym == "launch"' \
	1 '.kernel == "b" and .launches == 29 and .replayed == 29'
replayed cudalaunchtop --folded -c "$bin/graphs $example"
lines 1 '^graphs;.*;replay;a 21$'
lines 1 '^graphs;.*;launch;a 5$'

it "in text a kernel that graphs launch has a mark"
replayed cudalaunchtop -c "$bin/graphs eager c 3 $example"
lines 1 ' 26 +26 13x1x1 +128x1x1 +1664 \[graph\] a$'
lines 1 ' 3 +3 13x1x1 +128x1x1 +1664 c$'

it "a stream captures when it waits for an event of one that does; others do not"
for layer in '' driver; do
	replayed cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 external c 3 fork b 3 beside c 5 launch a 1 end fork c 2 make replay 7"
	ran a 21 21 b 21 21 c 10 0
	json 3 true
done

it "graphs are made of nodes, which can be changed, left out and destroyed"
for layer in '' driver; do
	replayed cudalaunchtop -jc "$bin/graphs $layer create node a 1 make enable 0 0 replay 5 set 0 c replay 7 enable 0 1 replay 2"
	ran c 2 2
	replayed cudalaunchtop -jc "$bin/graphs $layer create node a 2 node b 3 other 5 make replay 7 set 0 c replay 11 \
		enable 4 0 replay 13 enable 4 1 replay 2 node-set 1 c make replay 17"
	# 7 of a a b b b, 11 of c a b b b, 13 of c a b b, 2 of c a b b b, 17 of a c b b b
	ran a 57 57 b 137 137 c 43 43
	json 3 '.grid == [17,1,1] and .block == [64,1,1]'
done

it "graphs in graphs count: as children, captured, and in copies"
for layer in '' driver; do
	replayed cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 end create node b 3 child make replay 5 clone node c 1 make replay 3"
	ran a 16 16 b 24 24 c 3 3
	json 3 true
	replayed cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 end make begin launch b 1 again end make replay 3"
	ran a 6 6 b 3 3
	json 2 true
done

it "an executable graph is what it was updated to last"
for layer in '' driver; do
	replayed cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 launch b 1 end make replay 5 destroy begin launch c 3 end update replay 7 \
		destroy begin launch c 3 end update replay 7 unmake destroy begin launch a 1 end make replay 11"
	ran a 21 21 b 5 5 c 42 42
	json 3 true
done

it "a token at a time: captured, updated and launched 101 times"
words='begin launch a 2 end make replay 1'
for i in 1 2 3 4 5 6 7 8 9 10; do
	words="$words destroy begin launch a 2 launch b 1 end update replay 1 destroy begin launch a 2 launch b 1 end update replay 1"
done
replayed cudalaunchtop -jc "$bin/graphs $words $(echo "$words" | cut -d' ' -f 9-) $(echo "$words" | cut -d' ' -f 9-)"
ran a 122 122 b 60 60
json 2 true

it "what fails neither begins a capture nor ends one"
replayed cudalaunchtop -jc "$bin/graphs begin launch b 1 fork b 1 fails launch a 2 end make replay 3"
ran a 6 6 b 6 6
json 2 true

it "threads that capture at the same time do not disturb each other"
replayed cudalaunchtop -jc "$bin/graphs threads 7"
ran a 70 70 b 105 105
json 2 true

it "… also on the default streams of threads, where another thread launches"
replayed cudalaunchtop -jc "$bin/graphs own 7"
ran a 70 70 b 105 105 c 2 0
json 3 true

it "a graph without kernels, and an empty one"
replayed cudalaunchtop -jc "$bin/graphs create other 3 make replay 5"
json 1 '.kind == "graph" and .launches == 5 and .replayed == 0 and .complete' 1 true

# graph KERNELS NODES MEMORY TAKEN LAUNCHES: its one row of --graphs
graph() {
	json 1 ".known and .kernels == $1 and .node_count == $2 and .memory == $3 and .capture_memory == $4 and .launches == $5"
}
# node KIND COUNT BYTES DIRECTION
node() { json 1 "any(.nodes[]; .kind == \"$1\" and .count == $2 and .bytes == $3 and .direction == $4)"; }

everything="begin launch a 2 copy 5 4096 fill 3 64 call 2 alloc 1024 free take 77777 launch b 3 end make replay 7 \
create node c 3 copy-node 2 100 fill-node 1 400 call-node 1 alloc-node 555 free-node other 3 any a 2 copy-any 1 333 make replay 11"
for layer in '' driver; do
	it "${layer:-runtime}: --graphs shows what each graph does, by kinds of nodes, and where it was made"
	replayed cudalaunchtop --graphs -jc "$bin/graphs $layer $everything"
	graph 5 17 1024 77777 7
	graph 5 15 555 0 11
	json 2 true \
		1 '.nodes[0] == { kind: "kernel", kernel: "b", short: "b", count: 3, direction: null, bytes: null } and .nodes[1].kernel == "a"'
	node memcpy 5 4096 '"HtoD"'
	node memset 3 64 null
	node host 2 null null
	node alloc 1 1024 null
	node memcpy 2 100 '"HtoD"'
	node memset 1 400 null
	node alloc 1 555 null
	node other 3 null null
	json 2 'any(.nodes[]; .kind == "free" and .count == 1)' \
		2 '.stack[0].sym | test("^(end|make|main)$")'
	silent
done

it "… in text, live graphs apart from each other and from their former selves"
replayed cudalaunchtop --graphs -c "$bin/graphs $everything"
lines 1 '^PID +COMM +LAUNCHES/S +LAUNCHES +TOTAL +KERNELS +NODES +MEMORY +GRAPH$'
lines 1 ' 11 +11 +5 +15 +555 bytes 0x[0-9a-f]+$'
lines 1 '^        3 x b$'
lines 1 '^        5 x memcpy HtoD 4096 bytes$'
lines 1 '^        77777 bytes allocated during capture$'
replayed cudalaunchtop --graphs -jc "$bin/graphs create node a 2 node b 3 make replay 7 set 0 c replay 11 set 0 a replay 2"
json 1 '.kernels == 5 and .launches == 9 and (.nodes | length) == 2' \
	1 '.kernels == 5 and .launches == 11 and (.nodes | length) == 3' \
	2 true
fails 2 'graphs cannot be combined with --per-process, --folded or --pprof' cudalaunchtop --graphs -P -c "$bin/graphs"
fails 2 'graphs cannot be combined with --per-process, --folded or --pprof' cudalaunchtop --graphs --folded -c "$bin/graphs"

it "--graphs names a graph that was made before tracing began as unknown"
program "$bin/graphs" begin launch a 2 end make wait replay 5
tool cudalaunchtop --graphs -jp "$pid"
go
wait "$tracer"
json 1 '.type == "graph" and .known == false and .launches == 5 and .nodes == [] and .stack == null'

copies="copy-beside 3 1000 begin copy 5 4096 fill 3 64 end make replay 7 \
create copy-node 2 100 fill-node 1 400 copy-any 1 333 make replay 11 copy-set 0 107 replay 2"
for layer in '' driver; do
	it "${layer:-runtime}: cudamemcpysize counts the copies of graphs at each launch, not where they are captured"
	replayed cudamemcpysize --memset -jc "$bin/graphs $layer $copies"
	# 3 of 1000 eager, 35 of 4096, 24 of 100, 2 of 107
	json 1 '.direction == "HtoD" and .async and .count == 64 and .replayed == 61 and .bytes == 148974 and .min == 100 and .max == 4096' \
		1 '.direction == "DtoH" and .async and .count == 13 and .replayed == 13 and .bytes == 4329' \
		1 '.direction == "memset" and .count == 34 and .replayed == 34 and .bytes == 6544' \
		3 true
	silent
	replayed cudamemcpysize -k -m 101 --direction HtoD -jc "$bin/graphs $layer $copies"
	json 1 '.count == 37 and .replayed == 37 and .bytes == 143574 and .stack[0].sym == "replay"' \
		1 '.count == 3 and .replayed == 0' \
		2 true
done
replayed cudamemcpysize -c "$bin/graphs $copies"
lines 1 '^HtoD, asynchronous; .*; 61 by CUDA graphs$'

it "… copies that are captured take no time"
replayed cudamemcpysize --time -jc "$bin/graphs $copies"
lines 0 ''
replayed cudamemcpysize --slower 1 -jc "env SIM_LATENCY_US=cuMemcpyHtoDAsync_v2=1000 $bin/graphs $copies"
json 0 '.replayed > 0' 1 '.direction == "HtoD" and .count == 3' 1 true

it "… and of graphs that were made before, launches are said"
program "$bin/graphs" begin copy 2 100 end make wait replay 5 copy-beside 3 1000
tool cudamemcpysize -jp "$pid"
go
wait "$tracer"
json 1 '.count == 3 and .replayed == 0 and .complete == false'
says '5 launches of CUDA graphs that were made before tracing began: their copies are not counted'

allocs='begin alloc 1024 free alloc 3001 end make replay 7 create alloc-node 555 free-node alloc-node 777 make replay 3'
for layer in '' driver; do
	it "${layer:-runtime}: cudaleak holds what a graph allocates and does not free, from its first launch on"
	replayed cudaleak -jac "$bin/graphs $layer $allocs"
	json 1 '.at == "exit" and .bytes == 3001 and .memory == "pool"' \
		1 '.at == "exit" and .bytes == 777 and .memory == "pool"' \
		2 true
	replayed cudaleak -jc "$bin/graphs $layer $allocs free"
	json 1 '.bytes == 3001 and .count == 1 and (.stack[0].sym | test("^(end|main)$"))' 1 true
	replayed cudaleak --account -jc "$bin/graphs $layer $allocs free create alloc-node 333 free-node make replay 5"
	json 1 '.part == "graphs" and .owner == "CUDA graphs" and .device == 0 and .bytes == 1024 and .count == null' \
		1 '.part == null and .owner == "CUDA graphs" and .bytes == 3001'
	replayed cudaleak -jc "$bin/graphs $layer begin alloc 1024 end make"
	json 1 '.bytes == 0 and .count == 0' 1 true
done

it "the account of memory has a pool of graphs if one that allocates and frees was launched"
replayed cudaleak --account -c "$bin/graphs $allocs"
lines 1 '^ +1\.0 KiB  device 0    CUDA graphs: pool of what one launch allocates and frees, part of the rest$'
replayed cudaleak --account -jc "$bin/graphs begin alloc 1024 free end make"
json 0 '.part == "graphs"'

it "cudamallocsnoop marks calls that are captured"
replayed cudamallocsnoop -jc "$bin/graphs $allocs free"
json 3 '.captured and .ret == 0' 1 '.captured and .op == "alloc" and .size == 3001' \
	1 '.captured == false and .op == "free"'
replayed cudamallocsnoop -c "$bin/graphs $allocs"
lines 3 ' captured$'
replayed cudamallocsnoop -jc "env SIM_FAIL=cuMemAllocAsync:*=2 $bin/graphs begin alloc 1024 end"
json 1 '.captured == false and .ret == 2'
replayed cudatrace -e cudaMallocAsync -jc "env SIM_FAIL=cuMemAllocAsync:*=2 $bin/graphs begin alloc 1024 end"
json 1 '.captured == false and .error == "cudaErrorMemoryAllocation"'

it "cudatrace --chrome: what is captured is not held"
replayed cudatrace --chrome "$tmp/chrome" -c "$bin/graphs begin alloc 1024 end"
equal "$(jq '[.. | objects | select(.ph? == "C") | .args | add] | max // 0' "$tmp/chrome")" 0

for kind in session ${LONG:+inject}; do
	it "--attach $kind: cudatrace marks calls that are captured, also if those that capture are not selected"
	run cudatrace --attach "$kind" -e cudaLaunchKernel,cudaMemcpyAsync,cudaLaunchHostFunc -jc \
		"$bin/graphs eager a 3 begin launch a 2 fork b 5 copy 7 100 call 1 end make replay 1 copy-beside 11 9 eager b 2"
	json 7 '.captured and .func == "cudaLaunchKernel"' \
		7 '.captured and .func == "cudaMemcpyAsync"' \
		1 '.captured and .func == "cudaLaunchHostFunc"' \
		16 '.captured | not'
done
replayed cudatrace -e cudaLaunchHostFunc -jc "$bin/graphs begin call 5 end"
json 5 '.captured'
replayed cudatrace -e cudaEventRecord -jc "$bin/graphs begin fork a 3 end"
json 2 '.captured'
replayed cudatrace -c "$bin/graphs begin launch a 2 end make replay 1"
lines 2 '^cudaLaunchKernel\(.* \[captured\]'
lines 2 ' \[captured\]'

it "a graph that was made before tracing began counts as launches of a graph, and that is said"
program "$bin/graphs" begin launch a 2 end make begin launch b 3 end wait replay 5 make replay 7 eager a 3
tool cudalaunchtop -jp "$pid"
go
wait "$tracer"
json 2 '.kind == "graph" and .complete == false' 1 '.kind == "graph" and .launches == 5' \
	1 '.kind == "graph" and .launches == 7'
ran a 3 0
json 3 true
program "$bin/graphs" begin launch a 2 end make wait replay 5
tool cudalaunchtop -p "$pid"
go
wait "$tracer"
lines 1 ' 5 +5 - +- +- \[graph, kernels unknown\] 0x[0-9a-f]+$'

for kind in ${LONG:+perf} inject; do
	it "--attach $kind: graphs count the same"
	run cudalaunchtop --attach "$kind" -jc "$bin/graphs $example"
	ran a 26 21 b 31 29
	run cudalaunchtop --attach "$kind" -jc "$bin/graphs begin launch a 2 fork b 3 beside c 5 launch a 1 end make replay 7"
	ran a 21 21 b 21 21 c 5 0
done

it "a process that ends while it captures leaves nothing behind"
if command -v bpftool >/dev/null; then
	program "$bin/graphs" wait begin launch a 3 fork b 2 wait
	tool cudalaunchtop -j
	left() {
		for id in $(bpftool map show -j | jq '.[] | select(.name | test("^capture(s|_streams|_events)$")) | .id'); do
			bpftool map dump -j id "$id"
		done | jq -s 'map(length) | add'
	}
	some_left() { [ "$(left)" -gt 2 ]; }
	none_left() { [ "$(left)" = 0 ]; }
	echo >&3
	until_true some_left
	go
	until_true none_left
	stop
else
	skip "no bpftool here"
fi

it "a graph of 40,009 nodes is followed, its executable graph shares them until one changes"
replayed cudalaunchtop -jc "$bin/graphs begin launch a 40009 end make replay 5 destroy"
ran a 200045 200045
json 1 true
silent
for layer in '' driver; do
	replayed cudalaunchtop -jc "$bin/graphs $layer create node a 2 node b 3 make replay 5 node c 1 replay 7 make \
		set 0 c replay 11 make enable 1 0 replay 13 make replay 2"
	# 12 of a a b b b, 11 of c a b b b c, 13 of a b b b c, 2 of a a b b b c
	ran a 52 52 b 114 114 c 37 37
done

it "more than 4,096 graphs of a process are not followed, and that is said"
replayed cudalaunchtop -jc "$bin/graphs begin launch b 3 end make many 4100 make replay 5 begin launch c 2 end make replay 7"
json 2 '.kind == "graph"'
says 'nodes of graphs not followed: more than 4096 graphs or 65536 nodes in a process, or'

it "… nor what child graphs multiply beyond that"
replayed cudalaunchtop -jc "$bin/graphs create $(seq -f "copy-node 1 %g" 307 | tr '\n' ' ') create \
$(yes child | head -n 223 | tr '\n' ' ') make replay 3 create node b 2 make replay 5"
json 1 '.kind == "graph" and .launches == 3'
ran b 10 10
says 'nodes of graphs not followed: more than 4096 graphs or 65536 nodes in a process, or'

it "records that a tool has no time for when it ends are those of named processes, most first"
run "$bin/late" 1009 13
status 0
says ': 1022 records not handled: there was no time after the signal (process '
grep -qE ' \(process [0-9]+ \(late\): 1009, 1 \([^)]+\): 13\)$' "$tmp/err" || no "$(cat "$tmp/err")"
