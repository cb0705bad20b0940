# shellcheck shell=sh
# Calls that do not return: every tool that times calls shows them, those from before it began too.

hang=SIM_LATENCY_US=cuCtxSynchronize=-1
waits="thread ( sync 1 ) thread ( sync 1 ) thread ( sync 1 ) thread ( sync 1 ) sync 1"
line='^still waiting: thread [0-9]+ \(mem\)( of pid [0-9]+)? in'

# asleep N: so many threads of the program are in pause(), where the simulated CUDA waits for ever
asleep() { [ "$(grep -l "^$pause " "/proc/$pid/task/"*/syscall 2>/dev/null | wc -l)" -eq "$1" ]; }

# hangs N VARIABLE WORD...: starts mem with these words, and goes on when N of its threads wait; if N is 0,
# when it says that it is ready
hangs() {
	threads=$1 var=$2
	shift 2
	if [ "$threads" = 0 ]; then
		program env "$var" "$bin/mem" "$@"
		return
	fi
	env "$var" "$bin/mem" "$@" & pid=$!
	pids="$pids $pid"
	until_true asleep "$threads"
}

# ends: the program ends, though it hangs
ends() {
	exec 3>&-
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}

# running N FILTER: so many calls in flight satisfy the filter
running() { json "$1" "select(.running) | $2"; }

for kind in session multi perf; do
	it "--attach $kind: five threads hang while they are traced: who, where and for how long"
	# shellcheck disable=SC2086 # words
	hangs 0 $hang malloc 7 64 wait $waits
	tool cudasynclatency --attach $kind -kj -p "$pid" 1 2
	echo >&3
	until_true asleep 5
	wait "$tracer"
	rc=$?
	status 0
	jq -s 'map(select(.running)) | group_by(.time) | last | .[]' "$tmp/out" >"$tmp/last"
	mv "$tmp/last" "$tmp/out"
	running 5 ".pid == $pid and .comm == \"mem\" and .func == \"cudaDeviceSynchronize\" and .complete"
	running 5 '.age_ns > 100000000 and .age_ns < 60000000000'
	running 5 '.stack[0].sym == "do_sync" and .stack[1].sym == "run"'
	running 4 '.tid != .pid'
	[ "$(jq .tid "$tmp/out" | sort -u | wc -l)" = 5 ] || no "not five threads"
	silent
	ends
done

it "in text, with stacks: at every report and at the end"
# shellcheck disable=SC2086 # words
hangs 0 $hang wait $waits
tool cudasynclatency -k -p "$pid" 1
echo >&3
until_true asleep 5
until_true grep -q 'still waiting' "$tmp/out"
stop
status 0
lines "$(($(grep -c '^\[' "$tmp/out") * 5))" "$line cudaDeviceSynchronize for [0-9.]+ (ms|s)\$"
[ "$(grep -c '^\[' "$tmp/out")" -ge 2 ] || no "not two reports"
grep -A1 '^still waiting' "$tmp/out" | grep -c '^        do_sync+0x' >"$tmp/n"
equal "$(cat "$tmp/n")" "$(grep -c '^still waiting' "$tmp/out")"
lines 0 '^no waits$'
ends

it "a process that hangs already: its five threads, and what they wait in"
# shellcheck disable=SC2086 # words
hangs 5 $hang malloc 7 64 $waits
run cudasynclatency -k -p "$pid" -d 1
status 0
lines 5 "$line cudaDeviceSynchronize since before tracing began, [0-9.]+ (ms|s) ago\$"
lines 1 "^still waiting: thread $pid \\(mem\\) in"
lines 4 "^still waiting: thread [0-9]+ \\(mem\\) of pid $pid in"
lines 5 '^        do_sync\+0x'
lines 5 '^        run\+0x'
lines 0 'cudaDeviceSynchronize\+'
lines 1 '^\[[0-9:]+\]; waits before [0-9:]+ are unknown$'
lines 1 '^no waits have ended$'
says 'earlier calls are unknown'
silent

it "… and in JSON: entries that were not seen are not complete"
run cudasynclatency -kj -p "$pid" 1 2
status 0
running 10 ".pid == $pid and .func == \"cudaDeviceSynchronize\" and .complete == false"
running 10 '.stack[0].sym == "do_sync"'
running 5 '.age_ns >= 2000000000'
json 10 .
silent

it "… without -k: no stacks, but the same threads"
run cudasynclatency -j -p "$pid" -d 1
running 5 '.func == "cudaDeviceSynchronize" and (.stack | not)'
silent

it "… and not of processes that are not selected"
run cudasynclatency -j -p "$pid" --comm nobody -d 1
json 0 .
run cudasynclatency -j -p "$pid" --comm mem -d 1
running 5 '.func == "cudaDeviceSynchronize"'

it "… is not what other functions' tools show"
run cudamemcpysize -j -p "$pid" -d 1
json 0 .
run cudasynclatency -j --layer driver -p "$pid" -d 1
running 0 '.func == "cudaDeviceSynchronize"'

it "… and by cudatrace, in text, JSON and below a table"
run cudatrace -k -p "$pid" -d 1
lines 5 "$line cudaDeviceSynchronize since before tracing began"
lines 5 '^        do_sync\+0x'
run cudatrace -S -p "$pid" -d 1
lines 5 "$line cudaDeviceSynchronize since before tracing began"
run cudatrace -j -p "$pid" -d 1
running 5 '.func == "cudaDeviceSynchronize" and .complete == false'
json 5 .
run cudatrace -j -e copy -p "$pid" -d 1
json 0 .
ends

it "a process that hangs already in a function that is probed only for what it tells of devices"
hangs 1 SIM_LATENCY_US=cudaStreamDestroy=-1 streams 1 streamfree 1
run cudamemcpysize -j -p "$pid" -d 1
json 0 .
run cudasynclatency -j -p "$pid" -d 1
running 0 true
run cudasynclatency -ij -p "$pid" -d 1
running 1 '.func == "cudaStreamDestroy" and .complete == false'
ends

it "a process that hangs already and spins"
program env SIM_SPIN_US=cuCtxSynchronize=600000000 "$bin/mem" wait sync 1
echo >&3
until_true grep -q ' R ' "/proc/$pid/stat"
run cudasynclatency -kj -p "$pid" 1 3
running 3 '.func == "cudaDeviceSynchronize" and .complete == false and .stack[0].sym == "do_sync"'
ends

it "mem-static: a runtime that is linked in"
program env $hang "$bin/mem-static" wait sync 1
echo >&3
until_true asleep 1
run cudasynclatency -kj -p "$pid" -d 1
running 1 '.func == "cudaDeviceSynchronize" and .complete == false and .stack[0].sym == "do_sync"'
ends

for program in 'mem-drv wait drvsync 1' 'mem-stripped wait sync 1'; do
	it "${program%% *}: the driver's own calls, by the code that its exports jump to"
	# shellcheck disable=SC2086 # words
	program env $hang "$bin"/$program
	echo >&3
	until_true asleep 1
	run cudasynclatency -kj -p "$pid" -d 1
	running 1 '.func == "cuCtxSynchronize" and .complete == false and (.stack | length) > 3'
	json 1 .
	ends
done

it "threads that are in no call hang nowhere"
hangs 0 $hang malloc 7 64 thread '(' sleep 60000 ')' wait
run cudasynclatency -kj -p "$pid" -d 1
json 0 .
run cudasynclatency -k -p "$pid" -d 1
lines 0 'still waiting'
lines 1 '^no waits$'
ends

it "calls from before tracing began that end are no longer in flight, nor counted"
hangs 0 SIM_LATENCY_US=cuCtxSynchronize=2000000 wait sync 1 sync 1 sleep 60000
echo >&3
sleep .2
run cudasynclatency -j -p "$pid" 1 6
[ "$(jq -s 'map(select(.running and (.complete | not))) | length' "$tmp/out")" -ge 1 ] || no "the first is never in flight"
[ "$(jq -s 'map(select(.running and .complete)) | length' "$tmp/out")" -ge 1 ] || no "the second is never in flight"
json 1 '.count == 1 and .complete == false'
json 1 '.count and true'
[ "$(jq -s 'map(select(.waits or .count)) | length' "$tmp/out")" = 2 ] || no "more than one wait"
jq -s 'map(select(.running)) | length' "$tmp/out" >"$tmp/n"
[ "$(cat "$tmp/n")" -le 5 ] || no "a call stays in flight for ever"
ends

it "cudamemcpysize: a copy that hangs, if it is one of those selected"
for option in '' '--direction HtoD' '-m 4k' --bandwidth '--slower 1h'; do
	hangs 0 SIM_LATENCY_US=cuMemcpyHtoD_v2=-1 wait copy 1 4096 h2d
	# shellcheck disable=SC2086 # words
	tool cudamemcpysize -kj $option -p "$pid" 1 1
	echo >&3
	wait "$tracer"
	running 1 '.func == "cudaMemcpy" and .complete and .stack[0].sym == "do_copy"'
	json 1 .
	ends
done
for option in '--direction DtoH' '-m 8k'; do
	hangs 0 SIM_LATENCY_US=cuMemcpyHtoD_v2=-1 wait copy 1 4096 h2d
	# shellcheck disable=SC2086 # words
	tool cudamemcpysize -j $option -p "$pid" 1 1
	echo >&3
	wait "$tracer"
	json 0 .
	ends
done

it "cudamemcpysize: a copy that hangs already"
hangs 1 SIM_LATENCY_US=cuMemcpyHtoD_v2=-1 copy 1 4096 h2d
run cudamemcpysize -k -p "$pid" -d 1
lines 1 "$line cudaMemcpy since before tracing began"
lines 1 '^\[[0-9:]+\] no copies have ended; copies before [0-9:]+ are unknown$'
ends

it "cudamallocsnoop: a free that hangs"
hangs 0 SIM_LATENCY_US=cuMemFree_v2=-1 wait malloc 3 64 free 1
tool cudamallocsnoop -kj -p "$pid"
echo >&3
until_true asleep 1
stop
json 3 '.func == "cudaMalloc" and .ret == 0'
running 1 '.func == "cudaFree" and .complete and .stack[0].sym == "do_free"'
ends

it "cudatrace: the outermost call that is shown"
hangs 0 $hang wait malloc 3 64 sync 1
tool cudatrace -kj -p "$pid"
echo >&3
until_true asleep 1
stop
json 3 '.func == "cudaMalloc"'
running 1 '.func == "cudaDeviceSynchronize" and .complete and .stack[0].sym == "do_sync"'
ends
hangs 0 $hang malloc 1 64 wait sync 1
tool cudatrace -j -e cuCtxSynchronize -p "$pid"
echo >&3
until_true asleep 1
stop
running 1 '.func == "cuCtxSynchronize" and .complete'
json 1 .
ends

it "a call that was left without a return is not in flight"
tool env SIM_LATENCY_US=cudaMalloc=200000 cudamallocsnoop --layer runtime -j -- "$bin/jump" 3 0 stay
jumped() { pid=$(pgrep -P "$tracer" -x jump) && asleep 1; }
until_true jumped
stop TERM	# the shell has it ignore INT
running 0 true
json 1 '.op == "free"'

it "a late attach is told in every tool: what was before is unknown"
hangs 0 SIM_LATENCY_US=none=1 malloc 7 64 wait free 5 malloc 3 64 launch 11 copy 13 64 h2d sync 17 sleep 60000
for t in cudasynclatency cudamemcpysize cudalaunchtop cudamallocsnoop cudaleak cudatrace; do
	$t -j -p "$pid" >"$tmp/$t" 2>"$tmp/$t.err" &
	eval "$t=$!"
	pids="$pids $!"
done
for t in cudasynclatency cudamemcpysize cudalaunchtop cudamallocsnoop cudaleak cudatrace; do
	until_true grep -q ': tracing' "$tmp/$t.err"
	grep -q ': tracing.*; earlier calls are unknown$' "$tmp/$t.err" || no "$t does not say it"
done
echo >&3
until_true grep -q cudaDeviceSynchronize "$tmp/cudatrace"
until_true [ "$(grep -c cudaDeviceSynchronize "$tmp/cudatrace")" = 17 ]
for t in cudasynclatency cudamemcpysize cudalaunchtop cudamallocsnoop cudaleak; do
	eval "kill -INT \$$t; wait \$$t"
	cp "$tmp/$t" "$tmp/out"
	[ -s "$tmp/out" ] || no "$t prints nothing"
	json 0 '.complete and true'
done
cp "$tmp/cudasynclatency" "$tmp/out"
json 1 '.count == 17 and .complete == false'
cp "$tmp/cudamemcpysize" "$tmp/out"
json 1 '.count == 13 and .complete == false'
cp "$tmp/cudalaunchtop" "$tmp/out"
json 1 '.launches == 11 and .complete == false'
cp "$tmp/cudamallocsnoop" "$tmp/out"
json 5 '.op == "free" and .size == null and .complete == false'
# shellcheck disable=SC2154 # by eval
kill -INT "$cudatrace"
wait "$cudatrace"
ends

it "what is traced from its start is complete"
run cudasynclatency -jc "$bin/mem sync 17"
json 1 '.count == 17 and .complete'
run cudamemcpysize -jc "$bin/mem copy 13 64 h2d"
json 1 '.count == 13 and .complete'
run cudalaunchtop -jc "$bin/mem launch 11"
json 1 '.launches == 11 and .complete'
run cudamallocsnoop -jc "$bin/mem malloc 7 64 free 5"
json 12 '.complete'
says_not 'earlier calls'
