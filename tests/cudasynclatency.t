# shellcheck shell=sh
# shellcheck source=/dev/null
light
. tests/own.sh

slow=SIM_LATENCY_US=cuCtxSynchronize=20000
spin=SIM_SPIN_US=cuCtxSynchronize=20000

# waited COUNT FUNCTION: COUNT calls of 20 ms, the shortest below 25; a busy machine may keep
# some waiting for longer
waited() {
	json 1 ".func == \"$2\" and .count == $1 and .min_ns >= 20000000 and .min_ns < 25000000 and
		.total_ns >= $1 * 20000000 and .total_ns < $1 * 40000000" \
		1 ".func == \"$2\" and .hist[0][0] == 16777216"
}

# whole: histograms add up to their counts, and percentiles lie in order
whole() {
	jq -e -s 'map(select(.func and (.running | not))) | all((.hist | map(.[2]) | add) == .count and
		.min_ns <= .p50_ns and .p50_ns <= .p95_ns and .p95_ns <= .p99_ns and .p99_ns <= .max_ns and
		.total_ns >= .count * .min_ns and .total_ns <= .count * .max_ns)' "$tmp/out" >/dev/null ||
		no "the numbers of a function do not fit"
}

it "13 waits of 20 ms, those of other functions apart; one that goes through both layers is one"
run env $slow cudasynclatency -jc "$ahead $bin/mem sync 13 streamsync 7 eventsync 5"
status 0
waited 13 cudaDeviceSynchronize
json 1 '.func == "cudaStreamSynchronize" and .count == 7' \
	1 '.func == "cudaEventSynchronize" and .count == 5' \
	3 .func
lines 0 '^$'
whole
silent

it "waits are seen at the driver"
run env $slow cudasynclatency -jc "$ahead $bin/mem-stripped sync 13"
waited 13 cuCtxSynchronize
json 1 .func
silent

it "text has a histogram by function, and the wait of each thread"
replayed $slow cudasynclatency -c "$ahead $bin/mem sync 13"
lines 1 '^cudaDeviceSynchronize$'
lines 1 '^     COUNT       TOTAL         MIN         P50         P95         P99         MAX$'
lines 1 '^        13 +[23][0-9.]+ ms +2[0-9.]+ ms +~[0-9.]+ ms +([0-9.]+ ms) +\1 +\1$'
lines 1 '^      time                 : count    distribution$'
lines 1 '^    16\.8 ms -> 33\.6 ms     : 1[0-3] +\|\*{40}\|$'
lines 1 '^thread [0-9]+ of pid [0-9]+ \(mem\) waited [23][0-9.]+ ms in 13 calls, [0-9.]+ % of [0-9.]+ ms$'
silent

it "percentiles lie in the slot of the true value, and between the smallest and the largest"
replayed SIM_LATENCY_US=cuCtxSynchronize:7=50000,cuCtxSynchronize:8=20000 cudasynclatency -jc \
	"$bin/mem sync 100"
json 1 '.count == 100 and .p50_ns < 1000000 and .p99_ns >= 16777216 and .p99_ns <= .max_ns and .max_ns >= 50000000'
whole

it "each thread has its share of the time"
replayed $slow cudasynclatency -jc "$ahead $bin/mem thread '(' sync 13 ')' sleep 260 join"
json 1 '.waits == 13 and .share > 0.5 and .share <= 1 and .waited_ns >= 260000000 and .tid != .pid' \
	1 .tid
replayed $slow cudasynclatency -jc "$ahead $bin/mem thread '(' sync 13 ')' thread '(' sync 7 ')' join"
json 1 '.waits == 13 and .share > 0.5' 1 '.waits == 7 and .share > 0.1 and .share < 1' \
	1 '.func == "cudaDeviceSynchronize" and .count == 20'
whole

it "without -i copies and frees are no waits; with it each function has a group"
words="sync 3 copy 23 4096 h2d copyasync 5 64 h2d malloc 7 100 free 7 host 5 100 hostfree 5 array 2 8 8 arrayfree 2 graph 1"
replayed cudasynclatency -jc "$bin/mem $words"
json 1 .func
replayed cudasynclatency -ijc "$bin/mem $words"
json 1 '.func == "cudaMemcpy" and .count == 23' 1 '.func == "cudaFree" and .count == 7' \
	1 '.func == "cudaMallocHost" and .count == 5' \
	1 '.func == "cudaFreeHost" and .count == 5' \
	1 '.func == "cudaFreeArray" and .count == 2' \
	1 '.func == "cudaStreamDestroy" and .count == 1' \
	1 '.func == "cudaDeviceSynchronize" and .count == 3' \
	7 .func
whole
silent

it "implicit waits of the driver API"
run cudasynclatency -ijc "$bin/mem-drv drvmalloc 7 64 drvfree 7 drvhost 5 64 drvhostfree 5 drvcopy 3 64 d2h"
json 1 '.func == "cuMemFree_v2" and .count == 9' \
	1 '.func == "cuMemAllocHost_v2" or .func == "cuMemHostAlloc"' \
	1 '.func == "cuMemFreeHost" and .count == 5' \
	1 '.func == "cuMemcpyDtoH_v2" and .count == 3' \
	4 .func

it "-L adds launches"
replayed cudasynclatency -Ljc "env SIM_LATENCY_US=cuLaunchKernel:2=20000 $bin/mem launch 503 sync 1"
json 1 '.func == "cudaLaunchKernel" and .count == 503 and .max_ns >= 20000000' 2 .func
whole

it "-k shows where the waits are, the longest first"
replayed $slow cudasynclatency -kjc "$ahead $bin/mem streamsync 7 sync 13"
jq -se 'map(select(.func)) | .[0].stack[0].sym == "do_sync" and .[1].stack[0].sym == "do_streamsync"' \
	"$tmp/out" >/dev/null || no "not the callers"
waited 13 cudaDeviceSynchronize
whole
replayed $slow cudasynclatency -kc "$ahead $bin/mem sync 13"
lines 1 '^        do_sync\+0x[0-9a-f]+ \(.*/mem\)$'

# off_spread: of a function, the least and the largest time off the CPU and those between fit the histogram
off_spread() {
	json 1 '.func and .min_off_cpu_ns <= .p50_off_cpu_ns and .p50_off_cpu_ns <= .p95_off_cpu_ns and
		.p95_off_cpu_ns <= .p99_off_cpu_ns and .p99_off_cpu_ns <= .max_off_cpu_ns and .max_off_cpu_ns <= .max_ns and
		.min_off_cpu_ns >= .hist_off_cpu[0][0] and .min_off_cpu_ns <= .hist_off_cpu[0][1] and
		.max_off_cpu_ns >= .hist_off_cpu[-1][0] and .max_off_cpu_ns <= .hist_off_cpu[-1][1]'
}

for how in '' ${LONG:+-k}; do
	it "-O: a wait that sleeps is off the CPU, one that spins is on it $how"
	# shellcheck disable=SC2086 # words
	run env $slow cudasynclatency --attach session -O $how -jc "$ahead $bin/mem sync 13"
	json 1 '.func and .off_cpu_ns > 0.95 * .total_ns and .off_cpu_ns <= .total_ns' \
		1 '.func and (.hist_off_cpu | map(.[2]) | add) == 13'
	off_spread
	json 1 '.func and .min_off_cpu_ns > 19000000 and .max_off_cpu_ns * 13 > .off_cpu_ns'
	waited 13 cudaDeviceSynchronize
	silent
	# shellcheck disable=SC2086 # words
	run env $spin cudasynclatency --attach session -O $how -jc "$ahead $bin/mem sync 13"
	json 1 '.func and .count == 13 and .off_cpu_ns < 0.5 * .total_ns' \
		1 '.func and (.hist_off_cpu | map(.[2]) | add) == 13'
	off_spread
	silent
done
for how in '' ${LONG:+-k}; do
	it "-O: a thread that has no CPU is preempted, not asleep $how"
	taskset -c 0 sh -c 'while :; do :; done' &
	pids="$pids $!"
	# shellcheck disable=SC2086 # words
	run env $spin cudasynclatency --attach session -O $how -jc "taskset -c 0 $bin/mem sync 13"
	json 1 '.func and .count == 13 and .off_cpu_ns > 0.2 * .total_ns and .runnable_ns > 0.9 * .off_cpu_ns and
		.runnable_ns <= .off_cpu_ns'
	silent
	# it is woken, and waits for the CPU that another thread has
	# shellcheck disable=SC2086 # words
	run env $slow cudasynclatency --attach session -O $how -jc "taskset -c 0 $bin/mem sync 13"
	json 1 '.func and .count == 13 and .off_cpu_ns - .runnable_ns >= 200000000'
	kill $!
done
it "-O: whether it was, --attach inject does not see"
if [ -e "$bin/inject" ]; then
	run env $slow cudasynclatency --attach inject -Ojc "$bin/mem sync 13"
	json 1 '.func and .count == 13 and .off_cpu_ns > 0.95 * .total_ns and .runnable_ns == null'
	run env $slow cudasynclatency --attach inject -Oc "$bin/mem sync 13"
	lines 1 '^off the CPU for 2[0-9.]+ ms, [0-9.]+ % of it$'
else
	skip "no --attach inject here"
fi
it "-O in text: the time off the CPU, after the time waited"
run env $slow cudasynclatency --attach session -Oc "$ahead $bin/mem sync 13"
lines 1 '^off the CPU for 2[0-9.]+ ms, [0-9.]+ % of it: [0-9.]+ ms asleep, [0-9.]+ (ns|us|ms) preempted$'
lines 2 '^     COUNT       TOTAL         MIN         P50 '
lines 2 '^        13 +[23][0-9.]+ ms +(19\.[5-9]|2[0-9.]+) ms +~[0-9.]+ ms +([0-9.]+ ms) +\2 +\2$'
lines 2 '^    16\.8 ms -> 33\.6 ms     : 1[0-3] +\|\*{40}\|$'
replayed cudasynclatency -jc "$bin/mem sync 13"
json 1 '.func and .count == 13 and ([keys[] | select(test("off_cpu"))] == [])'

if long; then
	it "-p: each interval has its own waits, and they add up to the whole"
	program env SIM_LATENCY_US=cuCtxSynchronize=10000 "$bin/mem" wait loop 131 '(' sync 1 streamsync 2 ')'
	until_true grep -q libcudart "/proc/$pid/maps"
	tool cudasynclatency -jp "$pid" 1
	go
	wait "$tracer"
	rc=$?
	status 0
	sum 131 'select(.func == "cudaDeviceSynchronize").count' \
		262 'select(.func == "cudaStreamSynchronize").count' \
		393 'select(.tid).waits'
	jq -es '(map(select(.func).total_ns) | add) == (map(select(.tid).waited_ns) | add)' "$tmp/out" >/dev/null ||
		no "the threads' waits are not the functions'"
	[ "$(jq -s 'map(.time) | unique | length' "$tmp/out")" -ge 2 ] || no "one report only"
	whole
	silent
fi

it "a wait that fails counts"
replayed cudasynclatency -jc "env SIM_FAIL=cuCtxSynchronize=700 $slow $ahead $bin/mem sync 13"
waited 13 cudaDeviceSynchronize

it "a wait that began before tracing is there when it ends"
env SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" sync 1 & pid=$!
pids="$pids $pid"
until_true grep -q "^$pause " "/proc/$pid/syscall"	# in the simulated CUDA
tool cudasynclatency -jp "$pid"
stop
json 1 ".running and .pid == $pid and .func == \"cudaDeviceSynchronize\" and (.complete | not)"
kill -9 "$pid"
