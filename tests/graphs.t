# shellcheck shell=sh disable=SC2034,SC2154 # pid: lib.sh's
# CUDA graphs: what is captured does not run, and what a graph has runs at each launch of it.

# ran KERNEL LAUNCHES REPLAYED: its one row
ran() { json 1 ".kernel == \"$1\" and .kind == \"kernel\" and .launches == $2 and .replayed == $3"; }

example='eager a 5 begin launch a 3 launch b 1 end make destroy replay 7 begin launch b 2 end make replay 11 eager b 2'
for program in graphs graphs-12 graphs-static graphs-stripped; do
	it "$program: a captured kernel counts at each launch of its graph, also if the graph was destroyed"
	run cudalaunchtop -jc "$bin/$program $example"
	ran a 26 21
	ran b 31 29
	json 2 true
	silent
done

it "… by the driver's functions"
run cudalaunchtop -jc "$bin/graphs driver $example"
ran a 26 21
ran b 31 29
json 2 true
run cudalaunchtop --layer driver -jc "$bin/graphs driver $example"
ran a 26 21
ran b 31 29

it "… and with failed launches, by process, by call site, and as a flame graph"
run cudalaunchtop -jxc "$bin/graphs $example"
ran a 26 21
ran b 31 29
json 2 '.failed == 0'
run cudalaunchtop -jPc "$bin/graphs $example"
json 1 '.launches == 57 and .replayed == 50 and .kernel == null'
run cudalaunchtop -jkc "$bin/graphs $example"
json 1 '.kernel == "a" and .launches == 21 and .replayed == 21 and .stack[0].sym == "replay"'
json 1 '.kernel == "a" and .launches == 5 and .replayed == 0 and .stack[0].sym == "launch"'
json 1 '.kernel == "b" and .launches == 29 and .replayed == 29'
run cudalaunchtop --folded -c "$bin/graphs $example"
lines 1 '^graphs;.*;replay;a 21$'
lines 1 '^graphs;.*;launch;a 5$'

it "in text a kernel that graphs launch has a mark"
run cudalaunchtop -c "$bin/graphs eager c 3 $example"
lines 1 ' 26 +26 13x1x1 +128x1x1 +1664 \[graph\] a$'
lines 1 ' 3 +3 13x1x1 +128x1x1 +1664 c$'

it "a stream captures when it waits for an event of one that does; others do not"
for layer in '' driver; do
	run cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 external c 3 fork b 3 beside c 5 launch a 1 end fork c 2 make replay 7"
	ran a 21 21
	ran b 21 21
	ran c 10 0
	json 3 true
done

it "graphs are made of nodes, which can be changed, left out and destroyed"
for layer in '' driver; do
	run cudalaunchtop -jc "$bin/graphs $layer create node a 2 node b 3 other 5 make replay 7 set 0 c replay 11 \
		enable 4 0 replay 13 enable 4 1 replay 2 node-set 1 c make replay 17"
	# 7 of a a b b b, 11 of c a b b b, 13 of c a b b, 2 of c a b b b, 17 of a c b b b
	ran a 57 57
	ran b 137 137
	ran c 43 43
	json 3 '.grid == [17,1,1] and .block == [64,1,1]'
done

it "graphs in graphs count: as children, captured, and in copies"
for layer in '' driver; do
	run cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 end create node b 3 child make replay 5 clone node c 1 make replay 3"
	ran a 16 16
	ran b 24 24
	ran c 3 3
	json 3 true
	run cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 end make begin launch b 1 again end make replay 3"
	ran a 6 6
	ran b 3 3
	json 2 true
done

it "an executable graph is what it was updated to last"
for layer in '' driver; do
	run cudalaunchtop -jc "$bin/graphs $layer begin launch a 2 launch b 1 end make replay 5 destroy begin launch c 3 end update replay 7 \
		destroy begin launch c 3 end update replay 7 unmake destroy begin launch a 1 end make replay 11"
	ran a 21 21
	ran b 5 5
	ran c 42 42
	json 3 true
done

it "a token at a time: captured, updated and launched 101 times"
words='begin launch a 2 end make replay 1'
for i in 1 2 3 4 5 6 7 8 9 10; do
	words="$words destroy begin launch a 2 launch b 1 end update replay 1 destroy begin launch a 2 launch b 1 end update replay 1"
done
run cudalaunchtop -jc "$bin/graphs $words $(echo "$words" | cut -d' ' -f 9-) $(echo "$words" | cut -d' ' -f 9-)"
ran a 122 122
ran b 60 60
json 2 true

it "what fails neither begins a capture nor ends one"
run cudalaunchtop -jc "$bin/graphs begin launch b 1 fork b 1 fails launch a 2 end make replay 3"
ran a 6 6
ran b 6 6
json 2 true

it "threads that capture at the same time do not disturb each other"
run cudalaunchtop -jc "$bin/graphs threads 7"
ran a 70 70
ran b 105 105
json 2 true

it "… also on the default streams of threads, where another thread launches"
run cudalaunchtop -jc "$bin/graphs own 7"
ran a 70 70
ran b 105 105
ran c 2 0
json 3 true

it "a graph without kernels, and an empty one"
run cudalaunchtop -jc "$bin/graphs create other 3 make replay 5"
json 1 '.kind == "graph" and .launches == 5 and .replayed == 0 and .complete'
json 1 true

it "a graph that was made before tracing began counts as launches of a graph, and that is said"
program "$bin/graphs" begin launch a 2 end make begin launch b 3 end wait replay 5 make replay 7 eager a 3
tool cudalaunchtop -jp "$pid"
go
wait "$tracer"
json 2 '.kind == "graph" and .complete == false'
json 1 '.kind == "graph" and .launches == 5'
json 1 '.kind == "graph" and .launches == 7'
ran a 3 0
json 3 true
program "$bin/graphs" begin launch a 2 end make wait replay 5
tool cudalaunchtop -p "$pid"
go
wait "$tracer"
lines 1 ' 5 +5 - +- +- \[graph, kernels unknown\] 0x[0-9a-f]+$'

for kind in perf inject; do
	it "--attach $kind: graphs count the same"
	run cudalaunchtop --attach $kind -jc "$bin/graphs $example"
	ran a 26 21
	ran b 31 29
	run cudalaunchtop --attach $kind -jc "$bin/graphs begin launch a 2 fork b 3 beside c 5 launch a 1 end make replay 7"
	ran a 21 21
	ran b 21 21
	ran c 5 0
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

it "more than 4,096 graphs of a process are not followed, and that is said"
run cudalaunchtop -jc "$bin/graphs begin launch b 3 end make many 4100 make replay 5 begin launch c 2 end make replay 7"
json 2 '.kind == "graph"'
says 'nodes of graphs not followed: more than 4096 graphs or 65536 nodes in a process, or'
