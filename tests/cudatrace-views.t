# shellcheck shell=sh
# The summary, the timeline, failures that nobody asked about, errors that earlier work caused; and
# what the tracer of eunomia's cuda_events tutorial shows.
# shellcheck source=/dev/null
light
. tests/own.sh

# counts FILE: "name number" of the timeline's calls, in order
counts() {
	jq -r '.[] | select(.ph == "X" and .cat != "stream").name | sub("[(].*"; "")' "$1" | LC_ALL=C sort | uniq -c |
		awk '{ print $2, $1 }'
}

it "--summary counts calls, errors and times by function"
replayed cudatrace -e cudaMalloc,cudaFree,cudaDeviceSynchronize -S -c "$bin/mem malloc 23 64 fail 3 free 7 sync 2"
status 0
lines 1 '^% time +seconds +usecs/call +calls +errors function$'
lines 1 '^ *[0-9.]+ +[0-9.]+ +[0-9.]+ +26 +3 cudaMalloc$'
lines 1 '^ *[0-9.]+ +[0-9.]+ +[0-9.]+ +7 +cudaFree$'
lines 1 '^ *[0-9.]+ +[0-9.]+ +[0-9.]+ +2 +cudaDeviceSynchronize$'
lines 1 '^100\.00 +[0-9.]+ +[0-9.]+ +35 +3 total$'
lines 7 ''
silent

it "--summary: the slowest function comes first, and its share is right"
replayed SIM_LATENCY_US=cuCtxSynchronize=200000,cuMemFree_v2=60000 cudatrace -S -e sync,memory -jc "$ahead $bin/mem malloc 3 64 sync 3 free 3"
equal "$(jq -r .func "$tmp/out" | tr '\n' ' ')" "cudaDeviceSynchronize cudaFree cudaMalloc "
json 1 '.func == "cudaDeviceSynchronize" and .calls == 3 and .errors == 0 and .total_ns >= 600000000 and .min_ns >= 200000000 and .max_ns >= .min_ns and .layer == "runtime"' \
	1 '.func == "cudaFree" and .total_ns >= 180000000 and .total_ns < 600000000'

it "--summary in JSON: the process is there if there is but one"
replayed cudatrace -S -k -e memory -jc "$bin/mem malloc 3 64 fork '(' free 2 ')' free 1"
json 1 '.type == "function" and .func == "cudaMalloc" and .pid > 1 and .comm == "mem" and .container == null' \
	1 '.type == "function" and .func == "cudaFree" and has("pid") and .pid == null and .comm == null and .calls == 3'
equal "$(jq -s 'map(select(.func == "cudaMalloc").pid) | unique | length' "$tmp/out")" 1
equal "$(jq -s 'map(select(.type == "stack" and .func == "cudaFree").pid | numbers) | unique | length' "$tmp/out")" 2

it "--summary counts more calls than there is room for records; of each thread, process and execution"
run cudatrace -S -jc "$bin/mem launch 300007 thread '(' launch 10007 ')' thread '(' malloc 13 64 ')' join forkexec '(' fail 7 launch 23 ')'"
json 1 '.func == "cudaLaunchKernel" and .calls == 310037 and .errors == 0 and .pid == null and .comm == null' \
	1 '.func == "cudaMalloc" and .calls == 20 and .errors == 7 and .pid == null and .min_ns <= .max_ns and .total_ns >= 13 * .min_ns + .max_ns' \
	2 true
silent
run cudatrace -S -jc "$bin/mem loop 13 '(' malloc 3 64 sleep 100 fail 1 ')'"
json 1 '.func == "cudaMalloc" and .calls == 52 and .errors == 13 and .pid > 1 and .comm == "mem"'
run cudatrace -S --slower 0.001 -jc "$bin/mem launch 101"
json 1 '.func == "cudaLaunchKernel" and .calls == 101'
run cudatrace -S --slower 10000000 -jc "$bin/mem launch 101"
json 0 true

it "-S -k: the time in each function by call stack, the longest first, which adds up to the table's"
replayed SIM_LATENCY_US=cuCtxSynchronize=20000 cudatrace -S -k -e sync,memory -jc "$ahead $bin/mem malloc 3 64 sync 3 free 3"
jq -se 'map(select(.type == "stack")) | length == 3 and .[0].func == "cudaDeviceSynchronize" and
	.[0].stack[0].sym == "do_sync" and .[0].comm == "mem" and map(.calls) == [3, 3, 3]' "$tmp/out" >/dev/null || no "not the stacks"
equal "$(jq -s 'map(select(.type == "stack").total_ns) | add' "$tmp/out")" \
	"$(jq -s 'map(select(.type == "function").total_ns) | add' "$tmp/out")"
replayed SIM_LATENCY_US=cuCtxSynchronize=20000 cudatrace -S -k -e sync -c "$ahead $bin/mem sync 3"
lines 1 '^ +0\.(0[6-9]|[12])[0-9]+ +[0-9]{5,}\.[0-9] +3 cudaDeviceSynchronize in mem$'
lines 1 '^        do_sync\+0x'
lines 1 '^100\.0 % of the time below do_sync\+0x[0-9a-f]+ \(.*/mem\)$'
replayed SIM_LATENCY_US=cuCtxSynchronize=20000 cudatrace -S -k -c "$ahead $bin/mem malloc 5 64 sync 3"
lines 1 '^[89][0-9]\.[0-9] % of the time below do_sync\+0x'

it "-S -k: a call whose time is 0, as a program may say with --attach inject, is below no line"
cat >"$tmp/below.c" <<'END'
#include "model/stack_below.h"
#include "sym/stack.h"

/* In place of the library's: a stack is its text. */
void stack_lines(FILE *f, const struct stack *stack, const char *indent)
{
	(void)indent;
	fputs((const void *)stack, f);
}

int main(void)
{
	const struct stack_part parts[] = { { (void *)"step (x)\nrun (x)\nmain (x)\n", 0 }, { (void *)"run (x)\nmain (x)\n", 7 } };
	struct stack_below below = stack_below(parts, 2);

	puts(below.frame);
	return stack_below(parts, 1).frame != NULL;
}
END
${CC:-cc} -D_GNU_SOURCE -iquote common "$tmp/below.c" "$O/libcommon.a" -lbpf -ldw -lelf -lz -liberty -o "$tmp/below" || no 'it cannot be built'
run "$tmp/below"
status 0
lines 1 '^run \(x\)$'

it "--summary --tree counts what is inside too; --summary -x failures alone"
replayed cudatrace -S --tree -e memory -jc "$bin/mem malloc 23 64 free 7"
json 1 '.func == "cuMemAlloc_v2" and .calls == 23' 1 '.func == "cudaFree" and .calls == 7'
replayed cudatrace -S -x -e memory -jc "$bin/mem malloc 23 64 fail 7"
json 1 '.func == "cudaMalloc" and .calls == 7 and .errors == 7' 1 true

it "--chrome: a timeline with the calls' times, arguments, results and kernels"
run cudatrace --attach session --chrome "$tmp/trace.json" -c "$bin/mem malloc 3 4096 launch 2 fail 1 thread '(' rename worker malloc 5 64 ')' join"
status 0
equal "$(cat "$tmp/out")" ''
jq -c '.[]' "$tmp/trace.json" >"$tmp/out"
json 3 '.name == "cudaMalloc" and .ph == "X" and .cat == "runtime" and .args.size == 4096 and .args.return == 0' \
	2 '.name == "cudaLaunchKernel(mem_kernel)" and .cat == "runtime" and .args.gridDim == [13,1,1]' \
	1 '.args.return == "cudaErrorMemoryAllocation"' \
	11 '.ph == "X" and .pid > 1 and .dur > 0 and .ts > 0' \
	1 '.ph == "M" and .name == "process_name" and .args.name == "mem"' \
	1 '.ph == "M" and .name == "thread_name" and .args.name == "worker"'
equal "$(jq -s '[.[] | select(.ph == "M" and .name == "thread_name" and .args.name == "worker").tid] ==
	([.[] | select(.args.size == 64).tid] | unique)' "$tmp/out")" true
silent

it "--chrome -k: each call has its stack, as lines of text, in the timeline"
replayed cudatrace -k -e cudaMalloc,cudaFree --chrome "$tmp/trace.json" -c "$bin/mem malloc 3 4096 free 2"
status 0
silent
jq -c '.[] | select(.ph == "X")' "$tmp/trace.json" >"$tmp/out"
json 3 '.name == "cudaMalloc" and (.args.stack[0] | test("^do_malloc[+]0x[0-9a-f]+ [(]/.*/mem[)]$")) and (.args.stack | length) > 2' \
	2 '.name == "cudaFree" and (.args.stack[0] | startswith("do_free+0x")) and .args.return == 0'
replayed cudatrace --chrome "$tmp/trace.json" -c "$bin/mem malloc 1 64"
jq -e 'all(.[]; .args | has("stack") | not)' "$tmp/trace.json" >/dev/null || no "stacks without -k"

it "--chrome --tree: what is inside lies within"
replayed cudatrace --tree -e memory --chrome "$tmp/trace.json" -c "$bin/mem malloc 23 4096"
equal "$(jq '[.[] | select(.name == "cudaMalloc")] as $outer | [.[] | select(.name == "cuMemAlloc_v2")] |
	[., $outer] | transpose | map(select(.[0].ts > .[1].ts and .[0].ts + .[0].dur < .[1].ts + .[1].dur)) |
	length' "$tmp/trace.json")" 23

it "-e jit: functions that load code or look up kernels, with stacks, as a summary and in a timeline"
export SIM_LATENCY_US=cuModuleLoadData=20000
jit="$bin/mem loop 7 '(' drvlaunch 3 ')' malloc 3 64 sync 2 launch 5"
replayed cudatrace -e jit -k -jc "$jit"
json 7 '.func == "cuModuleLoadData" and .layer == "driver" and .latency_ns >= 20000000 and .stack[0].sym == "do_launch"' \
	7 '.func == "cuModuleGetFunction" and .args.name == "drv_kernel"' \
	1 '.func == "cuLibraryLoadData" or .func == "cuModuleLoadDataEx"' \
	8 '.first' \
	7 '.first and .func == "cuLaunchKernel" and .kernel == "drv_kernel" and (.stack | length > 2)' \
	1 '.first and .func == "cudaLaunchKernel" and .kernel == "mem_kernel" and .latency_ns > 0' \
	8 '.func | test("Launch|Alloc|Sync")'
replayed cudatrace -e jit -S -jc "$jit"
json 1 '.func == "cuModuleLoadData" and .calls == 7 and .total_ns >= 140000000' \
	1 '.func == "cuLaunchKernel" and .calls == 7' \
	1 '.func == "cudaLaunchKernel" and .calls == 1' \
	2 '.func | test("Launch|Alloc|Sync")'
replayed cudatrace -e jit --slower 15000 -c "$jit"
lines 7 '^cuModuleLoadData\(\*module=0x[0-9a-f]+, image=0x[0-9a-f]+\) = 0$'
lines 7 ''
replayed cudatrace -e 'jit,!cuModuleLoadData' --slower 15000 -c "$jit"
lines 0 ''
replayed cudatrace -e jit --chrome "$tmp/trace.json" -c "$jit"
jq -c '.[]' "$tmp/trace.json" >"$tmp/out"
json 7 '.name == "cuModuleLoadData" and .ph == "X" and .dur >= 20000' \
	7 '.name == "cuLaunchKernel(drv_kernel)" and .cat == "driver"'
silent
unset SIM_LATENCY_US

it "the first launch of each kernel is marked, and again when it was unloaded; -e jit has only these"
for kind in session ${LONG:+inject}; do
	run cudatrace --attach "$kind" -e launch -c "$bin/mem launch 5 loop 2 '(' drvlaunch 3 ')' graph 2 launch 3 badlaunch 2"
	lines 1 '^cudaLaunchKernel\(.* mem_kernel,.* = 0 \[first launch\]$'
	lines 7 '^cudaLaunchKernel\(.* = 0$'
	lines 2 '^cuLaunchKernel\(.* = 0 \[first launch\]$'
	lines 4 '^cuLaunchKernel\(.* = 0$'
	lines 3 '\[first launch'
	run cudatrace --attach "$kind" -e launch -jc "$bin/launches jit 101 kept 13"
	json 114 '.first' 114 '.first and (.kernel | startswith("jit<"))'
	run cudatrace --attach "$kind" -e 'jit,!cuModule*' -jc "$bin/launches jit 101 kept 13 kept 13 driver 7"
	json 128 '.first' 128 true
	run cudatrace --attach "$kind" -e 'jit,!cuModule*,cuLaunchKernel' -jc "$bin/launches kept 13"
	json 13 '.first' 66 true
done
replayed cudatrace -e 'launch,jit,!jit' -c "$bin/mem launch 5 drvlaunch 3"
lines 8 'LaunchKernel\('
replayed cudatrace -e 'jit,!jit,cudaFree' -c "$bin/mem launch 5"
lines 0 ''
silent

it "with -p the first launch that was seen is marked as that"
program "$bin/mem" launch 3 wait launch 5 drvlaunch 3
tool cudatrace -e launch -p "$pid"
go
wait "$tracer"
lines 1 '^cudaLaunchKernel.* = 0 \[first launch seen\]$'
lines 1 '^cuLaunchKernel.* = 0 \[first launch seen\]$'
lines 6 ' = 0$'

it "NVRTC's compilations are in it, with options and errors"
for kind in session ${LONG:+inject}; do
	run env SIM_NVRTC_US=20000 cudatrace --attach "$kind" -e jit -jc "$bin/compile 5 3"
	json 5 '.func == "nvrtcCompileProgram" and .layer == "nvrtc" and .ret == 0 and .args.numOptions == 1 and .latency_ns >= 20000000' \
		3 '.func == "nvrtcCompileProgram" and .error == "NVRTC_ERROR_COMPILATION"' \
		8 true
done
replayed cudatrace -e 'nvrtc*' -c "$bin/compile 5 3"
lines 8 '^nvrtcCreateProgram\(\*prog=0x[0-9a-f]+, src="(__global__ void k\(\) \{ \}|#error)", name="source.cu", numHeaders=0, headers=0x0, includeNames=0x0\) = 0$'
lines 3 '^nvrtcCompileProgram\(prog=0x[0-9a-f]+, numOptions=1, options=.*\) = NVRTC_ERROR_COMPILATION \(6\)$'
lines 8 '^nvrtcDestroyProgram\('
replayed cudatrace -x -c "$bin/compile 5 3"
lines 1 '^PID +TID +COMM +CALL$'
lines 2 '^([0-9]+) +\1 +compile +nvrtcCompileProgram.*NVRTC_ERROR_COMPILATION'
lines 1 ' \[2 times in [0-9.]+ [mu]s\]$'
lines 3 ''
silent

if long; then
	it "--chrome of 100,003 launches is JSON, and counts what --summary counts"
	run cudatrace -S --chrome "$tmp/trace.json" -jc "$bin/mem loop 100 '(' launch 1000 malloc 1 64 free 1 sleep 5 ')' launch 3"
	jq -r 'select(.func) | "\(.func) \(.calls)"' "$tmp/out" | LC_ALL=C sort >"$tmp/summary"
	counts "$tmp/trace.json" >"$tmp/timeline"
	equal "$(cat "$tmp/timeline")" "$(cat "$tmp/summary")"
	equal "$(grep cudaLaunchKernel "$tmp/summary")" "cudaLaunchKernel 100003"
	equal "$(grep cudaMalloc "$tmp/summary")" "cudaMalloc 100"
	silent
fi

for sig in INT ${LONG:+TERM HUP}; do
	it "--chrome is JSON after SIG$sig"
	program "$bin/mem" wait loop 1000000 '(' malloc 1 64 free 1 sleep 1 ')'
	tool cudatrace -e memory --chrome "$tmp/trace.json" -p "$pid"
	echo >&3
	until_true grep -q cudaFree "$tmp/trace.json"
	stop "$sig"
	kill -9 "$pid"
	n=$(jq '[.[] | select(.ph == "X")] | length' "$tmp/trace.json")
	[ "${n:-0}" -gt 0 ] || no "no calls"
done

# held FILE [KIND]: what is held in all, or of a kind, each time that it changes
held() {
	jq -r ".[] | select(.ph == \"C\") | .args.${2:-held} // empty" "$1" | uniq | tr '\n' ' '
}

it "--chrome: counters of held bytes, exact, and the same as cudaleak's for every kind of memory"
replayed cudatrace --chrome "$tmp/trace.json" -c "$bin/mem malloc 3 4096 host 2 100 free 2 hostfree 1 fail 3 malloc 1 64"
equal "$(held "$tmp/trace.json")" '4096 8192 12288 12388 12488 8392 4296 4196 4260 0 '
equal "$(held "$tmp/trace.json" device)" '4096 8192 12288 8192 4096 4160 0 '
all='malloc 3 4096 managed 2 8192 pitch 3 100 10 malloc3d 1 100 10 10 array 2 64 64 array3d 3 8 8 8
mip 1 64 64 1 3 host 5 100 hostalloc 1 70 register 2 4096 async 11 1m pool 3 4096 vmm 2 ipc 3 64 extmip 7 64k
drvarray 2 16 16 ipcclose 2 ctxcreate drvmalloc 7 64 ctxdestroy setdevice 1 malloc 5 70 reset setdevice 0
vmmfree 1 free 1 arrayfree 2 hostfree 3 unregister 1 asyncfree 5'
all=$(echo "$all" | tr '\n' ' ')
replayed cudaleak -C --chrome "$tmp/leak.json" -c "$bin/mem $all"
[ "$(held "$tmp/leak.json" | wc -w)" -gt 40 ] || no "few changes"
# changes FILE: of all that is held and of each kind, a line each
changes() {
	jq -c '[.[] | select(.ph == "C").args] | [("held", "device", "managed", "host", "array", "pool", "vmm", "ipc") as $kind |
		{ ($kind): (map(.[$kind] | numbers) | [foreach .[] as $n ([]; [$n, .[0]]; select(.[0] != .[1])[0])]) }] | add' "$1"
}
changes "$tmp/leak.json" >"$tmp/want"
for o in '' --tree -x '-e memory' '-e !cudaMalloc,!cudaFree' '-e cudaMallocArray'; do
	# shellcheck disable=SC2086 # words
	replayed cudatrace $o --chrome "$tmp/trace.json" -c "$bin/mem $all"
	equal "$o $(changes "$tmp/trace.json")" "$o $(cat "$tmp/want")"
	silent
done

it "--chrome --slower: the counters count quick calls, too, which are not drawn"
replayed SIM_LATENCY_US=cuMemAlloc_v2=20000 cudatrace --slower 10ms --chrome "$tmp/trace.json" -c "$bin/mem malloc 3 4096 free 2"
equal "$(jq -c '[.[] | select(.name == "CUDA memory").args.held]' "$tmp/trace.json")" '[4096,8192,12288,8192,4096,0]'
equal "$(jq '[.[] | select(.ph == "X").name == "cudaMalloc"] | all and length == 3' "$tmp/trace.json")" true

it "--chrome without allocations has no counters, and probes no function for them"
replayed cudatrace -e launch,sync --chrome "$tmp/trace.json" -c "$bin/mem malloc 3 4096 launch 5 sync 2"
equal "$(jq '[.[] | select(.ph == "C")] | length' "$tmp/trace.json")" 0
equal "$(jq '[.[] | select(.ph == "X" and .cat != "stream")] | length' "$tmp/trace.json")" 7
echo kept >"$tmp/kept"
run cudatrace -e launch --chrome "$tmp/kept" --list -c "$bin/mem launch 1"
lines 0 'cudaMalloc'
equal "$(cat "$tmp/kept")" kept

it "--chrome: a file without calls is JSON; one that cannot be written is said"
replayed cudatrace --chrome "$tmp/trace.json" -c true
equal "$(jq -c . "$tmp/trace.json")" '[]'
fails 1 "cannot open $tmp/no/file: No such file" cudatrace --chrome "$tmp/no/file" -c true
fails 1 'cannot write to /dev/full' cudatrace --chrome /dev/full -c "$bin/mem malloc 23 64"

it "--unchecked: a failure that is not asked about before the next call"
replayed cudatrace --unchecked -jc "$bin/mem malloc 1 64 fail 3 malloc 1 64 badlaunch 1 sync 1 badfree 1"
sum 3 'select(.func == "cudaMalloc" and .next == "cudaMalloc" and .error == "cudaErrorMemoryAllocation").count'
json 1 '.count == 2' \
	1 '.func == "cudaLaunchKernel" and .next == "cudaDeviceSynchronize" and .error == "cudaErrorInvalidConfiguration"'
sum 4 .count
silent
replayed cudatrace --unchecked -c "$bin/mem fail 13 malloc 1 64"
lines 1 ' \[error not checked; next call: cudaMalloc\] \[12 times in [0-9.]+ [mu]?s\]$'
lines 2 'not checked'
replayed cudatrace --unchecked -k -c "$bin/mem badlaunch 1 sync 1"
lines 1 'cudaLaunchKernel\(.*\) = cudaErrorInvalidConfiguration \(9\) \[error not checked; next call: cudaDeviceSynchronize\]$'
lines 1 '^        do_badlaunch\+0x'

it "--unchecked: not one whose thread asks, whatever other threads do, nor the last one"
replayed cudatrace --unchecked -jc "$bin/calls asked; $bin/calls peeked; $bin/calls named; $bin/calls last"
status 0
json 0 true
replayed cudatrace --unchecked -jc "$bin/calls asked-by-other"
json 1 '.func == "cudaMalloc" and .next == "cudaFree"' 1 true

if [ -e "$bin/kern" ]; then
	it "--unchecked: a <<<>>> launch that fails, of the real runtime"
	if [ -e "$bin/kern-real" ] && ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
		replayed cudatrace --unchecked -jc "$bin/kern-real 3 2 1 1 1"
		sum 3 'select(.kernel == "scale").count' 2 'select(.kernel == "fill<int>").count'
	else
		skip "there is a driver, or no libcudart of NVIDIA's"
	fi
fi

it "an error of earlier work is said to be that, with what was launched since the last wait"
replayed SIM_FAIL=cuCtxSynchronize:2=700 cudatrace -c "$bin/mem launch 5 sync 1 launch 3 coop 2 sync 1 malloc 1 64"
lines 1 'cudaDeviceSynchronize\(\) = cudaErrorIllegalAddress \(700\) \[caused by earlier work: 5 launches since the last wait: mem_kernel x5\]$'
lines 1 'caused by'
replayed SIM_FAIL=cuCtxSynchronize:2=719 cudatrace -jc "$bin/mem launch 5 sync 2"
json 1 '.func == "cudaDeviceSynchronize" and .error == "cudaErrorLaunchFailure" and .earlier == []' \
	1 '.earlier != null'

it "… or the last copy that has waited: not one that is asynchronous, or within the device"
replayed SIM_FAIL=cuCtxSynchronize:1=700 cudatrace -xc "$bin/mem launch 5 copyasync 7 64 h2d launch 3 sync 1"
lines 1 'cudaErrorIllegalAddress \(700\) \[caused by earlier work: 8 launches and 7 copies since the last wait: mem_kernel x8, cudaMemcpyAsync x7\]$'
for words in "copy 1 64 h2d:3" "copy 1 64 d2h:3" "copy 1 64 d2d:8"; do
	replayed SIM_FAIL=cuCtxSynchronize:1=700 cudatrace -xc "$bin/mem launch 5 ${words%:*} launch 3 sync 1"
	lines 1 "cudaErrorIllegalAddress \(700\) \[caused by earlier work: ${words#*:} launches since the last wait: mem_kernel x${words#*:}\]\$"
done

it "-k shows the stacks that launched the suspects, apart if these differ"
if [ -e "$bin/kern" ]; then
	run env SIM_FAIL='cuCtxSynchronize:1=716' cudatrace -xk -c "$bin/kern 7 5 1 1 1"
	grep -A 2 '^        launched scale x7:$' "$tmp/out" | grep -q '^            .*+0x.*/kern)$' || no "no stack of scale"
	lines 1 '^        launched fill<int> x5:$'
	run env SIM_FAIL='cuCtxSynchronize:1=716' cudatrace -xk -jc "$bin/kern 7 5 1 1 1"
	json 1 '[.launched[] | [.kernel, .count, .stream, (.stack | any(.sym == "main"))]] ==
		[["scale", 7, "0x0", true], ["fill<int>", 5, "0x0", true]]' 0 '.launched == null'
fi
run env SIM_FAIL=cuCtxSynchronize:1=700 cudatrace -xk -jc "$bin/mem launch 3 coop 2 sync 1"
json 1 '[.launched[].count] == [3, 2]'

it "… or the last event that was waited for: not what its stream was given later"
replayed SIM_FAIL=cuCtxSynchronize:1=700 cudatrace -xc "$bin/mem launch 5 copyasync 2 64 d2h eventsync 1 launch 3 sync 1"
lines 1 'caused by earlier work: 3 launches since the last wait: mem_kernel x3\]$'
${CC:-cc} -std=gnu11 -Wall -I. -I"${CUDA:-/usr/local/cuda}/include" -x c - -x none "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/events" <<'END'
#include "tests/workloads/cuda_api.h"

int main(void)
{
	cudaStream_t s;
	cudaEvent_t e;
	void *p;

	cudaMalloc(&p, 64);
	cudaStreamCreate(&s);
	cudaEventCreate(&e);
	for (int i = 0; i < 11; i++)
		cudaMemcpyAsync(p, &i, 4, cudaMemcpyHostToDevice, i < 5 ? s : 0);
	cudaEventRecord(e, s);
	cudaMemcpy2DAsync(p, 4, &s, 4, 4, 1, cudaMemcpyHostToDevice, s);
	cudaEventSynchronize(e);
	return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
END
replayed SIM_FAIL=cuCtxSynchronize:1=700 cudatrace -xc "$tmp/events"
lines 1 'caused by earlier work: 7 copies since the last wait: cudaMemcpyAsync x6, cudaMemcpy2DAsync\]$'

it "a wait in flight has what was launched and copied since the last one, with the stacks of it"
shows_in_flight 'cudatrace -xk' cudaDeviceSynchronize "launch 7 sync 1 launch 3 copyasync 5 64 d2h coop 2 sync 1"
json 1 '.type == "outstanding" and .launches == 5 and .copies == 5 and ([.launched[] | [.copy, .count]] == [[null, 3], ["cudaMemcpyAsync", 5], [null, 2]])' \
	1 '.type == "outstanding" and (.launched | all(.stack | any(.sym == "main")))'
tool env SIM_LATENCY_US=cudaDeviceSynchronize:1=-1 cudatrace -x -- "$bin/mem" launch 3 copyasync 1 64 h2d sync 1
until_true in_pause
stop TERM
lines 1 '^outstanding in pid [0-9]+ \(mem\): 3 launches and 1 copy since the last wait: mem_kernel x3, cudaMemcpyAsync$' 0 '^ +launched'

it "an error that a program had is forgotten at its exec"
replayed SIM_FAIL=cuCtxSynchronize:1=700 cudatrace -e launch,sync -c "$bin/mem launch 5 sync 1 exec '(' launch 3 sync 1 ')'"
lines 1 'cudaErrorIllegalAddress \(700\) \[caused by earlier work: 5 launches since the last wait: mem_kernel x5\]$'
lines 1 'cudaErrorIllegalAddress \(700\) \[caused by earlier work: 3 launches since the last wait: mem_kernel x3\]$'
lines 0 'reported before'

if [ -e "$bin/kern" ]; then
	it "kern: by name, and later reports of the same error are told apart"
	replayed SIM_FAIL='cuCtxSynchronize:1=710,cuMemFree_v2:*=710' cudatrace -c "$bin/kern 7 5 1 1 1"
	lines 1 '= cudaErrorAssert \(710\) \[caused by earlier work: 12 launches since the last wait: scale x7, fill<int> x5\]$'
	lines 3 'cudaFree\(.*\) = cudaErrorAssert \(710\) \[caused by earlier work: already reported\]$'
	replayed SIM_FAIL='cuCtxSynchronize:1=716' cudatrace -x -jc "$bin/kern 7 5 1 1 1"
	json 1 '.error == "cudaErrorMisalignedAddress" and .earlier == ["scale", "fill<int>"]' \
		1 true
fi

it "an error that a call made itself is not"
replayed cudatrace -jc "$bin/mem launch 3 fail 1 badlaunch 1 badfree 1"
json 3 '.error != null and .earlier == null'

# ---- the tutorial's tracer: its eleven functions, entries and returns, one library, one process
eleven=cudaMalloc,cudaFree,cudaMemcpy,cudaLaunchKernel,cudaStreamCreate,cudaStreamSynchronize
eleven=$eleven,cudaGetDevice,cudaSetDevice,cudaEventCreate,cudaEventRecord,cudaEventSynchronize

it "the tutorial's eleven functions, with a line for each entry and return, times and errors"
program "$bin/calls" wait
tool cudatrace --layer runtime -l "$lib/libcudart.so.13" -p "$pid" -e $eleven --enter -t
go
wait "$tracer"
for f in $(echo $eleven | tr , ' '); do
	n=1 ret='0'
	[ "$f" != cudaMalloc ] || n=2
	[ "$f" != cudaLaunchKernel ] || ret='cudaErrorInvalidDeviceFunction \(98\)'
	lines $n "^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]+ > $f\(.*\)\$"
	lines $n "^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]+ < $f\(.*\) = $ret\$"
done
lines 1 '> cudaMemcpy\(dst=0x[0-9a-f]+, src=0x[0-9a-f]+, count=64, kind=cudaMemcpyHostToDevice\)$'
lines 25 ''
silent

it "… without returns, without times, and what the libraries say"
replayed cudatrace --layer runtime -e $eleven --enter-only -v -c "$bin/calls eleven"
lines 2 '^> cudaMalloc\(devPtr=0x[0-9a-f]+, size=64\)$'
lines 12 '^> '
lines 12 ''
says libbpf
