# shellcheck shell=sh
# Which stream launches, copies and waits are in: --per-stream, and the tracks of a timeline.  The counts of each tool
# by each attach kind are in tests/attach-kinds.t.
light

# Two streams of their own, 3 and 4, after the default ones: 0 and 1 are the same, 2 is the thread's.
words="streams 2 use 0 launch 2 copyasync 5 64 h2d streamsync 7 use 1 launch 3 copyasync 11 64 h2d streamsync 13"
words="$words use 2 launch 17 copyasync 19 64 h2d streamsync 23 use 3 launch 29 copyasync 31 64 h2d streamsync 37"
words="$words use 4 launch 41 copyasync 43 64 h2d streamsync 47"

# in_streams KEY N...: the counts of KEY in the streams of their own are these, in their order
in_streams() {
	key=$1
	shift
	got=$(jq -rs "map(select((.stream // \"\") | startswith(\"0x\")) | .$key) | sort | map(tostring) | join(\" \")" "$tmp/out")
	[ "$got" = "$*" ] || no "$key of streams: $got, not $*"
}

it "text names the streams"
replayed cudalaunchtop --per-stream -q -c "$bin/mem $words"
lines 1 'TOTAL +STREAM GRID'
lines 1 ' 5 +default 13x1x1 '
lines 1 ' 17 +per-thread 13x1x1 '
lines 1 ' 29 +0x[0-9a-f]+ 13x1x1 '
replayed cudamemcpysize --per-stream -q -c "$bin/mem $words"
lines 1 '^pid [0-9]+ \(mem\), HtoD, asynchronous, default stream; '
lines 1 '^pid [0-9]+ \(mem\), HtoD, asynchronous, per-thread default stream; '
lines 2 '^pid [0-9]+ \(mem\), HtoD, asynchronous, stream 0x[0-9a-f]+; '
lines 1 '^        31 '
replayed cudasynclatency --per-stream -q -c "$bin/mem $words sync 3"
lines 1 '^default stream, pid [0-9]+ \(mem\), cudaStreamSynchronize$'
lines 1 '^per-thread default stream, pid '
lines 2 '^stream 0x[0-9a-f]+, pid '
lines 1 '^pid [0-9]+ \(mem\), cudaDeviceSynchronize$'

it "with -k each call site has its streams"
replayed cudalaunchtop --per-stream -kqj -c "$bin/mem $words"
in_streams launches 29 41
replayed cudamemcpysize --per-stream -kqj -c "$bin/mem $words"
in_streams count 31 43
replayed cudasynclatency --per-stream -kqj -c "$bin/mem $words"
in_streams count 37 47

it "a launch with a configuration is in the stream that it names"
replayed cudalaunchtop --per-stream -qj -c "$bin/mem streams 1 use 3 launchex 7 use 0 launchex 3"
in_streams launches 7
json 1 '.stream == "default" and .launches == 3'

it "copies that are given no stream are in the default one; other functions are in none"
replayed cudamemcpysize --per-stream -qj --memset -c "$bin/mem copy 7 64 h2d memset 11 64"
json 1 '.stream == "default" and .count == 7' 1 '.stream == "default" and .count == 11'
replayed cudasynclatency --per-stream -qj -c "$bin/mem sync 13 eventsync 3"
json 1 '.func == "cudaDeviceSynchronize" and .stream == null and .count == 13' \
	1 '.func == "cudaEventSynchronize" and .stream == null and .count == 3'

it "the driver's streams are told apart, too"
replayed cudalaunchtop --per-stream -qj --layer driver -c "$bin/mem $words"
in_streams launches 29 41
json 1 '.stream == "default" and .launches == 5'

it "a default stream is one of its process, and of its device"
replayed SIM_DEVICES=8 cudalaunchtop --per-stream -qj -c "$bin/mem launch 3 setdevice 5 launch 7 fork '(' setdevice 5 launch 11 ')' join"
json 1 '.stream == "default" and .device == 0 and .launches == 3' \
	1 '.stream == "default" and .device == 5 and .launches == 7' \
	1 '.stream == "default" and .device == 5 and .launches == 11'

it "hundreds of streams have a group each"
all="streams 307"
for i in $(seq 3 309); do all="$all use $i launch 1 copyasync 2 8 h2d streamsync 3"; done
replayed cudalaunchtop --per-stream -qj -c "$bin/mem $all"
json 307 '.launches == 1'
replayed cudamemcpysize --per-stream -qj -c "$bin/mem $all"
json 307 '.count == 2'
replayed cudasynclatency --per-stream -qj -c "$bin/mem $all"
json 307 '.count == 3'
silent

if [ -x "$bin/kern-ptsz" ]; then
	it "the default stream of a program of per-thread default streams is the thread's"
	replayed cudalaunchtop --per-stream -qj -c "$bin/kern-ptsz 5 7 1 1 1"
	json 0 '.stream == "default"' 2 '.stream == "per-thread"'
fi

# tracks FILTER: the events of the timeline that pass
tracks() { jq "[.[] | select($1)] | length" "$tmp/trace.json"; }

it "--chrome has a track for each stream, with what is put into it"
replayed cudatrace --chrome "$tmp/trace.json" -c "$bin/mem $words copy 3 64 h2d badlaunch 2"
for title in 'default stream, device 0' 'per-thread default stream, device 0, thread '; do
	[ "$(tracks ".ph == \"M\" and (.args.name | startswith(\"$title\"))")" = 1 ] || no "no track '$title'"
done
[ "$(tracks '.ph == "M" and (.args.name | startswith("stream 0x"))')" = 2 ] || no "not two tracks of streams"
got=$(jq -r 'map(select(.cat == "stream")) | group_by(.tid) | map(length | tostring) | join(" ")' "$tmp/trace.json")
[ "$got" = "21 36 60 84" ] || no "$got in the tracks, not 21 36 60 84"
[ "$(tracks '.cat == "stream" and .name == "cudaLaunchKernel(mem_kernel)"')" = 92 ] || no "not 92 launches in streams"

# What Perfetto and chrome://tracing make of a flow: an arrow between the slices that its ends are in.
cat >"$tmp/arrows.jq" <<'END'
def slice($all; $at): $all | map(select(.pid == $at.pid and .tid == $at.tid and .ts <= $at.ts and $at.ts <= .ts + .dur));
map(select(.ph == "X")) as $slices | map(select(.ph == "s" or .ph == "f")) | group_by(.id) | map({
	pair: (map(.ph) == ["s", "f"] and .[1].bp == "e" and (map([.cat, .name, .pid]) | unique | length == 1)),
	from: slice($slices; .[0]), to: slice($slices; .[1]) })
END

# arrows: what they are, into $tmp/arrows; arrow FILTER: how many of them pass
arrows() { jq -cf "$tmp/arrows.jq" "$tmp/trace.json" >"$tmp/arrows"; }
arrow() { jq "map(select($1)) | length" "$tmp/arrows"; }

it "--chrome: an arrow leads from each launch and asynchronous copy to its slice in the stream, and from nothing else"
arrows
equal "$(jq -c 'map(select(.ph == "s")) as $s | [$s, map(select(.ph == "f"))] | map(length) + [$s | unique_by(.id) | length]' \
	"$tmp/trace.json")" '[201,201,201]'
same='(.from | length) == 1 and (.to | length) == 1 and .from[0].name == .to[0].name and .from[0].cat == "runtime"'
same="$same and .to[0].cat == \"stream\" and .to[0].dur == 0 and .to[0].args.thread == .from[0].tid"
equal "$(jq -c "[map(.pair), map($same), map($same and .to[0].name == \"cudaMemcpyAsync\"), map($same and .to[0].ts >= .from[0].ts)] |
	map(map(select(.)) | length)" "$tmp/arrows")" '[201,201,109,201]'
# Perfetto reads events by their times, equal ones in the order of the file: an end comes after its slice
jq 'map(select(.ph == "X" or .ph == "s" or .ph == "f")) | sort_by(.ts) | reduce .[] as $e ({open: {}, bound: 0};
	if $e.ph == "X" then .open["\($e.tid)"] = $e.name
	elif .open["\($e.tid)"] | test("Launch|Memcpy") then .bound += 1 else . end) | .bound' "$tmp/trace.json" >"$tmp/n"
equal "$(cat "$tmp/n")" 402

it "--chrome: no arrow where no work is put into a stream"
replayed cudatrace --chrome "$tmp/other.json" -c "$bin/mem malloc 3 64 copy 5 64 h2d memset 7 64 badlaunch 2 sync 1"
[ "$(jq '[.[] | select(.ph == "s" or .ph == "f" or .cat == "stream")] | length' "$tmp/other.json")" = 0 ] || no "an arrow"
replayed cudatrace -e sync --chrome "$tmp/other.json" -c "$bin/mem $words"
[ "$(jq '[.[] | select(.ph == "s" or .ph == "f")] | length' "$tmp/other.json")" = 0 ] || no "an arrow"

it "--chrome --tree: an arrow leads from the outermost call alone"
replayed cudatrace --tree --chrome "$tmp/trace.json" -c "$bin/mem launch 3 copyasync 7 64 h2d thread '(' use 2 launch 5 ')' join"
[ "$(tracks '.ph == "s"')" = 15 ] || no "not 15 arrows"
arrows
[ "$(arrow '.pair and (.from | length) == 1 and .from[0].cat == "runtime" and .from[0].name == .to[0].name')" = 15 ] ||
	no "not 15 arrows between slices"

it "--chrome: a thread's default stream and each device's are tracks of their own"
replayed SIM_DEVICES=8 cudatrace --chrome "$tmp/trace.json" -- "$bin/mem" setdevice 3 launch 2 setdevice 5 launch 3 \
	thread '(' use 2 launch 7 ')' thread '(' use 2 launch 11 ')' join
[ "$(tracks '.args.name == "default stream, device 3"')" = 1 ] || no "no track of device 3"
[ "$(tracks '.args.name == "default stream, device 5"')" = 1 ] || no "no track of device 5"
got=$(jq -r 'map(select(.cat == "stream")) | group_by(.tid) | map(length) | sort | map(tostring) | join(" ")' "$tmp/trace.json")
[ "$got" = "2 3 7 11" ] || no "$got in the tracks, not 2 3 7 11"

it "--chrome: every number of a track is one thread's or one stream's"
[ "$(jq '[.[] | select(.ph == "M" and .name == "thread_name") | .tid] | length == (unique | length)' "$tmp/trace.json")" = true ] ||
	no "a track has two names"
