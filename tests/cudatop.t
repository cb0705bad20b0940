# shellcheck shell=sh disable=SC2016,SC2086 # jq; words
# cudatop: one row for each process.

it "what a program does while it is traced, exactly"
program "$bin/mem" wait setdevice 0 malloc 23 4096 host 7 8192 managed 5 1000 launch 101 graph 13 copy 11 100 h2d copy 3 50 d2h sync 17 badlaunch 19 wait
tool cudatop -jp "$pid" 100ms
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
until_true eval '[ "$(jq -s "map(.errors) | add" "$tmp/out" 2>/dev/null)" = 19 ]'
n=$(wc -l <"$tmp/out")
until_true eval '[ "$(wc -l <"$tmp/out")" -ge '$((n + 2))' ]'
stop
# sums KEY: over all intervals
sums() { jq -s "map(select(.type == \"process\") | .$1) | add" "$tmp/out"; }
equal "$(sums launches) $(sums graph_launches)" '114 13'
equal "$(sums copies) $(sums copied) $(sums htod) $(sums dtoh)" '14 1250 1100 150'
equal "$(sums errors)" 19
tail -n 1 "$tmp/out" >"$tmp/last"
cp "$tmp/last" "$tmp/out"
# copies need two buffers on the device
json 1 '.held >= 99208 and .host_held == 57344 and .managed_held == 5000 and .devices == [0] and .comm == "mem"' \
	1 '.errors == 0 and .launches == 0 and .wait_ns == 0 and .call == null and .call_ns == null and .nranks == null and .used == null'
exec 3>&-
wait "$pid"

for kind in session ${LONG:+inject}; do
	it "--attach $kind: a command's block has what it did until its end"
	run cudatop --attach $kind -jc "$bin/mem launch 101 graph 13 copy 7 1000 h2d badlaunch 5"
	status 0
	json 1 '.type == "process" and .launches == 114 and .graph_launches == 13 and .copies == 7 and .htod == 7000 and .errors == 5' \
		1 '.complete and .comm == "mem" and .devices == [0]' \
		1 true
	silent
done

it "processes that have ended are in the block, too"
replayed cudatop --names -bc "$bin/mem launch 101 fork '(' launch 7 ')' join"
lines 1 '^PID +USER +COMM +GPU +MEMORY +GROWTH/S +PINNED +LAUNCH/S +HtoD/S +DtoH/S +%WAIT( +%JIT)? +ERR/S +HINT +CALL$'
lines 2 ' mem +0 +0 bytes +0 +0 bytes +[0-9.]+ +0 +0 +0\.0( +[0-9.]+)? +0 (-|launches|loads) +-$'

for kind in session ${LONG:+inject}; do
	it "--attach $kind: a program that another one replaces has a row of its own, with all that it did"
	run cudatop --attach $kind -jc "$bin/mem launch 101 copy 7 1000 h2d badlaunch 5 exec '(' launch 13 exec '(' launch 3 ')' ')'"
	json 1 '.launches == 101 and .copies == 7 and .errors == 5' \
		1 '.launches == 13 and .copies == 0 and .errors == 0' \
		1 '.launches == 3' \
		3 true
	silent
done

it "the hint says what is most urgent"
replayed cudatop -bc "$bin/mem launch 7 badlaunch 5"
lines 1 ' fails +-$'
replayed cudatop -bc "$bin/mem malloc 3 64"
lines 1 ' 0 - +-$'

it "what grows: memory, pinned memory, handles that are not destroyed, and memory that NVML reports beside allocations"
# of WORD...: one more process that does it all the time
of() {
	# shellcheck disable=SC2046 # words
	"$bin/mem" $(yes "$@" launch 1 sleep 200 | head -n 100) & grow="$grow $!"
}
grow=''
of malloc 1 1m
of host 1 1m
of streams 29
of streams 31 streamfree 31
of malloc 1 64
cat >"$tmp/loads.c" <<'END'
#include <unistd.h>
int cudaFree(void *), cuModuleLoadData(void **, const void *);
int main(void)
{
	void *module;
	cudaFree(0);
	for (int i = 0; i < 4000; i++, usleep(5000))
		cuModuleLoadData(&module, ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n");
}
END
${CC:-cc} -w "$tmp/loads.c" "$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$lib" -o "$tmp/loads"
"$tmp/loads" & grow="$grow $!"
of ctxcreate
# shellcheck disable=SC2086 # pids
set -- $grow
pids="$pids $grow"
used=$((1 << 30))
uses() {
	used=$((used + (8 << 20)))
	printf 'gpu GPU-a H100 %s %s 1 0\nprocess 0 %s 1000003\nprocess 0 %s %s\n' $((80 << 30)) $((9 << 30)) "$1" "$5" $used >"$tmp/nvml.new"
	mv "$tmp/nvml.new" "$tmp/nvml"
}
uses "$@"
tool env SIM_NVML="$tmp/nvml" LD_LIBRARY_PATH="$lib" cudatop -jp "$1,$2,$3,$4,$5,$6,$7" 500ms
# found PID EVIDENCE COMMAND [HINT]
found() {
	uses $grow
	jq -se "any(.[]; .pid == $1 and .hint == \"${4:-grows}\" and (.hint_evidence | test(\"^$2\$\")) and .hint_command == \"$3 -p $1\")" "$tmp/out" >"$tmp/found"
}
until_true found "$1" 'device memory: \\+[0-9.]+ MiB in [0-9]+ s, [0-9]+ % of its maximum' 'cudaleak --growth'
until_true found "$2" 'pinned memory: \\+[0-9.]+ MiB in [0-9]+ s, [0-9]+ % of its maximum' 'cudaleak --growth'
until_true found "$3" 'streams: \\+[0-9]+ in [0-9]+ s, none destroyed' 'cudaleak --handles'
until_true found "$6" '[0-9]+ % of the time loading or compiling code, [0-9]+ images/s' 'cudatrace -e jit -k' loads
until_true found "$6" 'modules: \\+[0-9]+ in [0-9]+ s, none unloaded' 'cudaleak --handles'
until_true found "$7" 'contexts: \\+[0-9]+ in [0-9]+ s, none destroyed' 'cudaleak --handles'
until_true found "$5" 'memory that NVML reports: \\+[0-9.]+ MiB in [0-9]+ s, allocations \\+[0-9.]+ (bytes|KiB)' 'cudaleak --account'
stop
equal "$(jq -s "map(select(.pid == $4 and .hint != \"-\")) | length" "$tmp/out")" 0
# shellcheck disable=SC2086 # pids
kill $grow
wait $grow 2>/dev/null

# finding FILTER: one process, with this finding
finding() { json 1 "$1"; json 1 true; }

it "a hint has its evidence and the next command; errors come first, then what explains most of the time"
replayed SIM_LATENCY_US=cuCtxSynchronize=20000 cudatop -jc "$bin/mem sync 7"
finding '.hint == "waits" and (.hint_evidence | test("^[0-9]+ % of the time in functions that wait")) and .hint_command == "cudasynclatency -k -p \(.pid)"'
replayed SIM_LATENCY_US=cuCtxSynchronize=20000 cudatop -jc "$bin/mem badlaunch 3 sync 7"
finding '.hint == "fails" and .hint_evidence == "3 calls returned an error" and .hint_command == "cudatrace -x -k -p \(.pid)"'
replayed SIM_LATENCY_US=cuCtxSynchronize=20000,cuModuleLoadData=50000 cudatop -jc "$bin/mem sync 7 drvlaunch 1 drvlaunch 1"
finding '.load_share_is_less = (.code_load_share < .wait_share) | .hint == (if .load_share_is_less then "waits" else "loads" end)'
replayed cudatop -jc "$bin/mem malloc 3 64"
finding '.hint == "-" and .hint_evidence == null and .hint_command == null'

it "GPU idle? needs evidence: NVML's utilization or GPU time, and nothing else that explains it"
# idle PERCENT WORD...: the hint of a program that launches, on a GPU as busy as NVML says
idle() {
	program "$bin/mem" malloc 1 64 wait "$@" wait
	printf 'gpu GPU-a H100 %s %s 1 0\nprocess 0 %s 1000003\n%s\n' $((80 << 30)) $((3 << 30)) "$pid" "$use" >"$tmp/nvml"
	tool env SIM_NVML="$tmp/nvml" LD_LIBRARY_PATH="$lib" cudatop -jp "$pid" 200ms
	echo >&3
	until_true eval '[ "$(jq -s "map(select(.launches > 0)) | length" "$tmp/out" 2>/dev/null)" -ge 1 ]'
	stop
	jq -s 'map(select(.launches > 0)) | last' -c "$tmp/out" >"$tmp/last"
	mv "$tmp/last" "$tmp/out"
	exec 3>&-
	wait "$pid"
}
use='use 0 7'
idle launch 11
json 1 '.hint == "GPU idle?" and .hint_evidence == "the GPU was busy for 7 % of the time, by NVML" and (.hint_command | test("--gaps"))'
use='use 0 93'
idle launch 11
json 1 '.hint == "-"'
use=
idle launch 11
json 1 '.hint == "-"'
replayed SIM_KERNEL_NS=2000 cudatop --gpu-time -jc "$bin/mem launch 11 sleep 100"
json 1 '.hint == "GPU idle?" and (.hint_evidence | endswith("by its GPU time"))'

it "the manual has the limits of hints, twice, and where each comes from"
tr '\n' ' ' <man/cudatop.8 >"$tmp/man"
sed -n 's/^LIMIT([A-Z_]*, [^,]*, "\(.*\)", "\(.*\)")$/\1|\2/p' tools/cudatop/limits.def >"$tmp/limits"
equal "$(grep -c '^LIMIT(' tools/cudatop/limits.def)" "$(wc -l <"$tmp/limits")"
while IFS='|' read -r limit source; do
	grep -qF -- "$limit: $source." "$tmp/man" || no "no '$limit: $source.'"
	[ "$(grep -oF -- "$limit" "$tmp/man" | wc -l)" -ge 2 ] || no "'$limit' is not with its hint"
done <"$tmp/limits"

# stays_in FUNCTION WORD...: the last line about a program, $pid, with a call of the driver that does not return
stays_in() {
	stays=$1
	shift
	env SIM_LATENCY_US="$stays=-1" "$bin/mem" "$@" & pid=$!
	pids="$pids $pid"
	tool cudatop -jp "$pid" 200ms
	until_true eval '[ "$(jq -s "map(select(.call != null)) | length" "$tmp/out" 2>/dev/null)" -ge 3 ]'
	stop
	tail -n 1 "$tmp/out" >"$tmp/last"
	cp "$tmp/last" "$tmp/out"
}

it "a wait that has not returned counts as it goes on, and is the longest call"
stays_in cuCtxSynchronize sync 1
json 1 ".call == \"cudaDeviceSynchronize\" and .call_tid == $pid and .calls_in_flight == 1 and .wait_share > 0.5 and .wait_share < 1.5"
kill -9 "$pid"
wait "$pid" 2>/dev/null

it "a wait that its thread leaves without a return is not counted on, and others are not counted again"
cat >"$tmp/leaves.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int cudaFree(void *), cudaStreamSynchronize(void *), cudaDeviceSynchronize(void);
static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static void *waits(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	cudaDeviceSynchronize();
	return arg;
}
int main(void)
{
	pthread_t thread;
	long long began;
	cudaFree(NULL);
	puts("ready"), fflush(stdout), getchar();
	began = now();
	for (int i = 0; i < 5; i++)
		cudaStreamSynchronize(NULL);
	pthread_create(&thread, NULL, waits, NULL);
	sleep(1);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	printf("ready %lld\n", now() - began), fflush(stdout);
	while (getchar() != EOF)
		;
}
END
${CC:-cc} -w "$tmp/leaves.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -pthread -o "$tmp/leaves"
program env SIM_LATENCY_US=cuStreamSynchronize=100000,cuCtxSynchronize=-1 "$tmp/leaves"
tool cudatop -jp "$pid" 100ms
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
n=$(wc -l <"$tmp/out")
until_true eval '[ "$(wc -l <"$tmp/out")" -ge '$((n + 5))' ]'
stop
most=$(sed -n 's/^ready \([0-9]\)/\1/p' "$tmp/ready")
all=$(sums wait_ns)
[ "$all" -ge 500000000 ] || no "waited only $all ns"
[ "$all" -le "$most" ] || no "waited $all ns of $most"
exec 3>&-
wait "$pid"

it "code that is loaded has its calls and time, and a column once it takes long"
jit="$bin/mem malloc 1 1k loop 7 '(' drvlaunch 1 ')'"
replayed SIM_LATENCY_US=cuModuleLoadData=20000 cudatop -jc "$jit"
json 1 '.code_loads == 14 and .code_load_ns >= 140000000 and .code_load_share > 0 and .wait_ns == 0 and .launches == 7'
replayed SIM_LATENCY_US=cuModuleLoadData=20000 cudatop --names -bc "$jit"
lines 1 '^PID .* %WAIT( +%CUDA)? +%JIT +ERR/S +HINT +CALL$'
lines 1 ' mem .* 0\.0( +[0-9]+\.[0-9])+ +0 (-|loads|calls) +-$'
replayed cudatop -jc "$bin/mem malloc 1 1k"
json 1 '.code_loads == 0 and .code_load_ns == 0 and .code_load_share == 0'
replayed cudatop -bc "$bin/mem malloc 1 1k"
lines 1 '^PID .* %WAIT( +%CUDA)? +ERR/S +HINT +CALL$'

it "code that takes long to load counts as it goes on and is the longest call; failed loads are errors"
stays_in cuModuleLoadData drvlaunch 1
json 1 '.call == "cuModuleLoadData" and .calls_in_flight == 1 and .code_load_share > 0.5 and .wait_ns == 0 and .code_loads == 0'
kill -9 "$pid"
wait "$pid" 2>/dev/null
replayed SIM_FAIL='cuModuleLoadData:*=200' cudatop -jc "$bin/mem loop 3 '(' drvlaunch 1 ')'"
json 1 '.code_loads == 3 and .errors == 3'

for kind in ${LONG:+session} inject; do
	it "--attach $kind: calls that are no waits have their time, the busiest function, and a hint"
	SIM_LATENCY_US=cuMemFree_v2=100000 run cudatop --attach $kind -jc "$bin/mem malloc 7 64 sync 3 meminfo 5 free 7"
	json 1 '.cuda_ns >= 700000000 and .busiest == "cudaFree" and .busiest_ns >= 700000000 and .busiest_ns <= .cuda_ns and .wait_ns < 700000000' \
		1 '.hint == "calls" and (.hint_evidence | test("^[0-9]+ % of the time in calls of CUDA, [0-9]+ % in cudaFree$"))' \
		1 '.hint_command == "cudatrace -S -k -p \(.pid)"'
	SIM_SPIN_US=cudaMemGetInfo=100000 run cudatop --attach $kind -jc "$bin/mem malloc 7 64 meminfo 7 free 7"
	json 1 '.busiest == "cudaMemGetInfo" and .busiest_ns >= 700000000 and .hint == "calls"'
	silent
done

it "… and a column once that is 1 % of the time"
replayed SIM_LATENCY_US=cuMemFree_v2=100000 cudatop --names -bc "$bin/mem malloc 7 64 free 7"
lines 1 '^PID .* %WAIT +%CUDA +ERR/S +HINT +CALL$'
lines 1 ' mem .* 0\.0 +[0-9]+\.[0-9] +0 calls +-$'
replayed cudatop -s cuda -bc "$bin/mem sleep 200"
lines 1 '^PID .* %WAIT +ERR/S +HINT +CALL$'

it "a call that has not returned counts as it goes on"
stays_in cuMemFree_v2 malloc 1 64 free 1
json 1 '.call == "cudaFree" and .busiest == "cudaFree" and .cuda_share > 0.5 and .wait_ns == 0 and .hint == "calls"'
kill -9 "$pid"
wait "$pid" 2>/dev/null

it "cheap calls have no probe"
run cudatop --list -c "$bin/mem query 1"
lines 0 'StreamQuery|EventQuery'

if long; then
	it "a loop of cheap calls has no probe: its threads are sampled, and its function is named"
	"$bin/mem" malloc 1 64 launch 1 loop 1000000 '(' launch 1 query 100000 ')' & pid=$!
	pids="$pids $pid"
	tool cudatop -jp "$pid" 200ms
	until_true eval '[ "$(jq -s "map(select(.busiest == \"cudaStreamQuery\" and .hint == \"calls\" and .cuda_share > 0.5)) | length" "$tmp/out" 2>/dev/null)" -ge 2 ]'
	stop
	kill "$pid"
	wait "$pid" 2>/dev/null
	silent
fi

if long; then
	it "time in a compiler that is no call of CUDA is sampled, too"
	mkdir "$tmp/compiler"
	echo 'void compiles(void) { for (volatile long i = 0; i < 100000; i++) ; }' >"$tmp/compiler/triton.c"
	cat >"$tmp/compiler/jit.c" <<-'END'
		#include <stdio.h>
		int cudaMalloc(void **, unsigned long);
		void compiles(void);
		int main(void)
		{
			void *p;
			cudaMalloc(&p, 64);
			for (;;)
				compiles();
		}
	END
	${CC:-cc} -w -g -shared -fPIC "$tmp/compiler/triton.c" -o "$tmp/compiler/libtriton.so"
	${CC:-cc} -w "$tmp/compiler/jit.c" "$tmp/compiler/libtriton.so" "$lib/libcudart.so.13" -Wl,-rpath,"$lib:$tmp/compiler" -o "$tmp/compiler/jit"
	"$tmp/compiler/jit" & pid=$!
	pids="$pids $pid"
	tool cudatop -jp "$pid" 200ms
	until_true eval '[ "$(jq -s "map(select(.hint == \"loads\" and .code_load_share > 0.5 and .code_loads == 0 and .cuda_ns == 0)) | length" "$tmp/out" 2>/dev/null)" -ge 2 ]'
	stop
	kill "$pid"
	wait "$pid" 2>/dev/null
	silent

	it "a rank of a job that waits for long hangs, also if it was attached to late: ncclhang shows each rank"
	for rank in '' 1; do
		env ${rank:+RANK=$rank} MASTER_PORT=29500 LD_PRELOAD="$lib/libnccl.so.2" SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" sync 1 & pid=$!
		pids="$pids $pid"
		tool cudatop -jp "$pid" 200ms
		until_true eval '[ "$(jq -s "map(select(.call_ns > 6000000000)) | length" "$tmp/out" 2>/dev/null)" -ge 2 ]'
		stop
		tail -n 1 "$tmp/out" >"$tmp/last"
		mv "$tmp/last" "$tmp/out"
		if [ -n "$rank" ]; then
			json 1 '.hint == "hangs" and (.hint_evidence | test("^rank 1: in cudaDeviceSynchronize for [0-9.]+ s, no launches$")) and .hint_command == "ncclhang"'
		else
			json 1 '.hint == "waits"'
		fi
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
fi

if long; then
	it "a process that is seen from its start and has no communicator waits for no other rank, whatever its environment says"
	run env RANK=0 SIM_LATENCY_US=cuCtxSynchronize=7000000 cudatop -jc "env LD_PRELOAD=$lib/libnccl.so.2 $bin/mem sync 1" 1
	[ "$(jq -s 'map(select(.call_ns > 5000000000)) | length' "$tmp/out")" -ge 1 ] || no 'no wait of five seconds'
	json 0 '.hint != "waits"'
fi

it "ranks of NCCL have their rank, and how far they are behind"
SIM_NCCL_DIR=$tmp
export SIM_NCCL_DIR
program "$bin/nccl" 3 wait init allreduce 11 1 late 3 wait destroy
tool cudatop -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)" 100ms
echo >&3
until_true eval '[ "$(jq -s "map(select(.behind == 3)) | length" "$tmp/out" 2>/dev/null)" -ge 2 ]'
go
stop
equal "$(jq -sc 'map(select(.nranks == 3) | .rank) | unique' "$tmp/out")" '[0,1,2]'
equal "$(jq -sc 'map(select(.behind == 3) | .rank) | unique' "$tmp/out")" '[1,2]'

it "a rank that is behind and launches nothing has that as its hint"
program "$bin/nccl" 3 wait init allreduce 11 1 late 3 wait destroy
tool cudatop -bp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)" 100ms
echo >&3
until_true grep -qE ' [12]/3 -3 +behind +-$' "$tmp/out"
go
stop
lines 0 ' 0/3 .* behind '

it "--gpu-time: how long it runs on the GPU"
replayed SIM_KERNEL_NS=2000 SIM_COPY_NS=500 cudatop --gpu-time -jc "$bin/mem launch 101 copyasync 7 4096 h2d"
json 1 '.gpu_ns == 205500 and .gpu_share > 0'
replayed cudatop --gpu-time -jc "$bin/mem launch 101 sleep 200 exec '(' launch 7 ')'"
json 1 '.launches == 101 and .gpu_ns == 101000' 1 '.launches == 7 and .gpu_ns == 7000'
fails 2 '--sample requires --gpu-time' cudatop --sample 1/2

it "a row has its command line, from the name of the program or script on; --names: the name of the process"
cat >"$tmp/serve.py" <<'END'
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
cuda.cudaMalloc(ctypes.byref(ctypes.c_void_p()), 4096)
print("ready", flush=True)
sys.stdin.readline()
END
python=$(command -v python3)
# command TEXT WORD...: cudatop shows TEXT for the command
command_is() {
	is=$1
	shift
	program "$@"
	run cudatop -jp "$pid" 100ms 1
	json 1 ".command == \"$is\""
	run cudatop -bp "$pid" 100ms 1
	lines 1 "^$pid +[^ ]+ +$(printf '%.15s' "$is" | sed 's/[][\.*]/\\&/g; s/ $//') "
	exec 3>&-
	wait "$pid"
}
command_is "serve.py $lib/libcudart.so.13 --lr 1" "$python" -u -W ignore "$tmp/serve.py" "$lib/libcudart.so.13" --lr 1
command_is "serve $lib/libcudart.so.13" env "PYTHONPATH=$tmp" "$python" -um serve "$lib/libcudart.so.13"
command_is 'mem malloc 3 64 wait' "$bin/mem" malloc 3 64 wait
if long; then
	code="import ctypes, sys; ctypes.CDLL(sys.argv[1]).cudaFree(None); print('ready', flush=True); sys.stdin.readline()"
	command_is "$(printf '%.159s' "$(basename "$python") -c $code $lib/libcudart.so.13")" "$python" -c "$code" "$lib/libcudart.so.13"
fi
program "$bin/mem" rename other malloc 1 64 wait
run cudatop --names -bp "$pid" 100ms 1
lines 1 '^PID +USER +COMM +GPU '
lines 1 "^$pid +[^ ]+ +other "
exec 3>&-
wait "$pid"

it "a command line that is cut behind an option with an argument is read no further"
cat >"$tmp/cut.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cudatop/command_line.h"

int main(void)
{
	static const char args[] = "python\0-u\0-W";	/* the 0 byte after them is the last that may be read */
	char text[TOP_COMMAND], *heap = memcpy(malloc(sizeof(args)), args, sizeof(args));

	command_line_set(heap, sizeof(args) - 1, text);
	puts(text);
	free(heap);
}
END
if ! ${CC:-cc} -fsanitize=address -D_GNU_SOURCE -iquote common -iquote tools "$tmp/cut.c" tools/cudatop/command_line.c "$O/libcommon.a" \
	-lbpf -ldw -lelf -lz -liberty -o "$tmp/cut" 2>/dev/null; then
	skip "no AddressSanitizer here"
else
	run "$tmp/cut"
	status 0
	lines 1 '^python -u -W$'
fi

it "attached late: a process has its devices, and what it uses on each, where NVML reports them"
program env SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=3,1 "$bin/mem" setdevice 1 malloc 1 64 wait
for i in 0 1 2 3; do echo "gpu GPU-$i H100 $((80 << 30)) $((7 << 30)) $i $i"; done >"$tmp/nvml"
printf 'process 3 %s 1000003\nprocess 1 %s 7000003\n' "$pid" "$pid" >>"$tmp/nvml"
run env SIM_NVML="$tmp/nvml" LD_LIBRARY_PATH="$lib" cudatop --once -jp "$pid"
tail -n 1 "$tmp/out" >"$tmp/last"
mv "$tmp/last" "$tmp/out"
json 1 '.devices == [0,1] and .used == 8000006 and .used_by_gpu == {"1":7000003,"3":1000003} and .held == 0'
exec 3>&-
wait "$pid"

it "… or where it can see only one"
program env SIM_DEVICES=4 CUDA_VISIBLE_DEVICES=3 "$bin/mem" malloc 1 64 wait malloc 3 64 wait
tool cudatop -jp "$pid" 100ms
echo >&3
until_true eval '[ "$(jq -sc "map(select(.held > 0)) | last.devices" "$tmp/out" 2>/dev/null)" = "[0]" ]'
stop
exec 3>&-
wait "$pid"

it "-m: the account of a process's memory, once or every interval"
program "$bin/mem" malloc 3 4096 wait malloc 23 4096 host 5 1000 print wait wait
tool cudatop -m "$pid" 100ms
echo >&3
until_true grep -q calls "$tmp/ready"
until_true grep -q 'in 28 allocations' "$tmp/out"
stop
until_true grep -q '^\[[0-9:]*\] pid [0-9]* (mem): 96\.9 KiB in 28 allocations$' "$tmp/out"
until_true grep -q '^ *92\.0 KiB  device ?    mem, in 23 allocations$' "$tmp/out"
until_true grep -q '^cudatop: tracing' "$tmp/err"
printf 'gpu GPU-a H100 %s %s 1 0\nprocess 0 %s 1000003\n' $((80 << 30)) $((3 << 30)) "$pid" >"$tmp/nvml"
run env SIM_NVML="$tmp/nvml" LD_LIBRARY_PATH="$lib" cudatop --once -jm "$pid"
json 1 '.type == "account" and .owner == null and .part == null and .bytes == 1000003 and .at == "interval" and (.complete | not)' \
	1 '.part == "gpu-free"' \
	3 true
go
for o in '--rows 3' '--gpu-time' '-s pid'; do fails 2 '--memory cannot be combined with --gpu-time, --rows or --sort' cudatop -m 1 $o; done
for o in '-p 1' '-c true' '--layer driver' '--attach multi' '--comm a' '-u root' --list; do
	fails 2 '--memory can only be combined with' cudatop -m 1 $o
done

it "-s sorts, -r limits the rows, --once prints one block"
"$bin/mem" launch 1 sleep 20000 & first=$!
"$bin/mem" malloc 3 1m sleep 20000 & second=$!
pids="$pids $first $second"
run cudatop -s pid --once -bp "$first,$second"
lines 2 "^[0-9]+ +$(id -un) +mem "
equal "$(awk '/^[0-9]/ { print $1 }' "$tmp/out" | paste -sd' ')" "$(printf '%s\n' $first $second | sort -n | paste -sd' ')"
run cudatop -r 1 --once -bp "$first,$second"
lines 1 '^[0-9]+ '
lines 1 '^\.\.\. and 1 more$'
fails 2 '--once cannot be combined with an interval' cudatop --once 1
fails 2 "--sort: 'size'" cudatop -s size
kill "$first" "$second"

it "--tree: children come below their parents"
family="$bin/mem launch 11 sleep 100 forkexec '(' launch 7 sleep 100 fork '(' launch 3 sleep 100 ')' join ')' join"
run cudatop --names --tree -s launches -bc "$family; $bin/mem launch 5"
equal "$(sed -n 's/^[0-9].\{16\}\( *[a-z]*\) .*/\1/p' "$tmp/out")" 'mem
  exe
    exe
mem'
run cudatop --tree -s launches -jc "$family"
equal "$(jq -r .launches "$tmp/out" | paste -sd' ')" '11 7 3'
equal "$(jq -s '.[1].parent == .[0].pid and .[2].parent == .[1].pid and .[0].parent == null' "$tmp/out")" true
replayed cudatop -jc "$bin/mem launch 1"
json 1 'has("parent") | not'
silent

it "--filter: rows with a text, in any case"
run cudatop --names --filter EM -bc "$bin/mem launch 3; $bin/mem rename other launch 5"
lines 1 ' mem +'
lines 0 ' other +'
replayed cudatop --filter no-such -jc "$bin/mem launch 3"
json 0 true
fails 2 "' is longer than 63 bytes" cudatop --filter "$(printf %064d 0)" -c true

it "live: the mark chooses a process, Enter shows its call with the stack and the commands that show more"
if command -v tmux >/dev/null; then
	env SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" malloc 7 1m sync 1 & pid=$!
	pids="$pids $pid"
	screen 100 40 "$O/cudatop --names -p $pid"
	on_screen "^$pid +mem .* waits +[0-9.]+ m?s cudaDev"
	term send-keys Enter
	on_screen "^pid $pid \\(mem\\) of "
	on_screen "^  waits +[0-9]+ % of the time in functions that wait for the GPU$"
	on_screen "^ +cudasynclatency -k -p $pid +lines that wait for the GPU"
	on_screen "^  $pid +mem +cudaDeviceSynchronize for "
	on_screen '^ +main\+0x'
	on_screen "^  cudaleak -p $pid +which lines of code hold the memory"
	term send-keys Escape
	on_screen "^$pid +mem .* cudaDev"
	term send-keys h
	on_screen '^  Enter  the process with the mark'
	term send-keys x q
	screen_gone
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	program "$bin/mem" malloc 1 64 wait loop 7 '(' drvlaunch 1 ')' wait
	screen 120 50 "$O/cudatop -p $pid"
	on_screen "^$pid +mem "
	echo >&3
	term send-keys Enter
	on_screen '^  code loads +14 in [0-9.]+ [mu]s'
	on_screen "^  cudatrace -e jit -k -p $pid +code that is loaded or compiled"
	term send-keys x q
	screen_gone

	it "live: a process has its kernels by name and its copies, and Python its stacks in the commands"
	cp "$bin/mem" "$tmp/python3"
	for size in '80 24' '200 50'; do
		program env LD_LIBRARY_PATH="$lib" "$tmp/python3" malloc 1 64 wait launch 23 drvlaunch 7 graph 5 copy 11 4096 h2d copyasync 3 100 d2h wait
		screen $size "$O/cudatop -p $pid"
		on_screen "^$pid .* malloc 1 6"
		echo >&3
		until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
		term send-keys Enter
		on_screen '^Kernels +LAUNCHES  NAME$'
		on_screen '^ +7  drv_kernel$'
		lines 1 '^ +[0-9]+  mem_kernel$'
		lines 1 '^  copies +HtoD +11 of 44\.0 KiB in '
		lines 1 '^  copies +DtoH  asynchronous +3 of 300 bytes$'
		lines 1 '^  handles    ( [a-z]+ [0-9]+ ?)+$'
		lines 1 "^  cudaleak --stack python -p $pid +which lines of code hold"
		lines 0 '^On the GPU'
		quit
	done

	it "live, --gpu-time: kernels have their runs and time, and copies theirs on the GPU"
	screen 80 24 "SIM_KERNEL_NS=2000 SIM_COPY_NS=500 $O/cudatop --gpu-time -c '$bin/mem launch 23 copyasync 7 4096 h2d sleep 30000'"
	on_screen '^PID +COMMAND .* %GPU HINT '
	on_screen '^device 0 +[0-9]+%'
	term send-keys Enter
	on_screen '^Kernels +LAUNCHES +RUNS +GPU TIME +MEAN  NAME$'
	on_screen '^ +23 +23 +46\.0 us +2\.0 us  mem_kernel$'
	on_screen '^  copies +HtoD +7 of 28\.0 KiB in 3\.5 us, 8\.2 GB/s$'
	term send-keys q
	on_screen '^ended 0'
	term kill-server

	it "live: each GPU of NVML has how busy it is and its memory, with bars of the last minutes; rows keep half of the screen"
	"$bin/mem" malloc 1 1m sleep 600000 & pid=$!
	pids="$pids $pid"
	export SIM_NVML="$tmp/nvml"
	for i in $(seq 0 12); do
		echo "gpu GPU-$i H100 $((80 << 30)) $((7 << 30)) $i $i"
	done >"$SIM_NVML"
	printf 'use 0 100\nuse 1 50\n' >>"$SIM_NVML"
	nvml="LD_LIBRARY_PATH=$lib $O/cudatop -p $pid"
	screen 80 24 "$nvml"
	on_screen '^GPU 0  100% +█ +7\.0 GiB of 80\.0 GiB  +▁  H100$'
	lines 1 '^GPU 1   50% +▄ '
	lines 1 '^GPU 2    -   '
	lines 9 '^GPU '
	lines 1 '^\.\.\. and 4 more GPUs$'
	lines 1 "^$pid "
	screen 200 50 "LC_ALL=C $nvml"
	on_screen '^GPU 0  100% +# +7\.0 GiB of 80\.0 GiB  +\.  H100$'
	lines 1 '^GPU 1   50% += '
	lines 13 '^GPU '
	lines 0 'more GPUs'
	quit
	unset SIM_NVML

	it "live: / types a filter, which is in the title; Escape clears it; the mark is on a row that is shown"
	"$bin/mem" rename alpha malloc 1 1m fork '(' rename beta malloc 1 2m sleep 600000 ')' sleep 600000 & pid=$!
	until_true pgrep -P "$pid" >/dev/null
	child=$(pgrep -P "$pid")
	pids="$pids $pid $child"
	for size in '80 24 10' '200 50 19'; do
		column=${size##* }
		screen ${size% *} "$O/cudatop --names -p $pid,$child --filter gamma"
		on_screen '^[0-9:]+  filter: gamma  '
		on_screen 'HINT'
		lines 0 ' (alpha|beta) '
		term send-keys Escape /
		on_screen '^[0-9:]+  filter: _  '
		on_screen ' alpha '
		term send-keys q BSpace ALPX BSpace
		on_screen '^[0-9:]+  filter: ALP_  '
		lines 0 ' beta '
		term send-keys Enter p
		on_screen '^[0-9:]+  filter: ALP  \[paused\]  '
		term send-keys p Down Enter
		on_screen "^pid $pid \\(alpha\\) of "
		term send-keys / Escape
		on_screen '^[0-9:]+  filter: ALP  '
		on_screen ' alpha '
		term send-keys Escape
		on_screen ' beta '
		lines 0 'filter: '
		term send-keys F5
		on_screen "^.{$column}beta"
		term send-keys t F1
		on_screen 't, F5  children below their parents'
		on_screen '/, F4  show only lines with a text'
		term send-keys x
		on_screen "^.{$((column - 2))}beta"
		term send-keys F10
		on_screen '^ended 0'
	done
	screen_gone
	kill "$child"
	wait "$pid" 2>/dev/null

	it "live: a terminal of 80 columns has the hint, and its command without scrolling"
	env SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" sync 1 & pid=$!
	pids="$pids $pid"
	screen 80 24 "$O/cudatop -p $pid"
	on_screen '^PID +COMMAND +GPU +MEMORY +GROWTH/S +LAUNCH/S +COPY/S +%WAIT HINT$'
	on_screen "^$pid +mem .* waits$"
	term send-keys Enter
	on_screen "^ +cudasynclatency -k -p $pid +lines that wait for the GPU$"
	term send-keys q
	screen_gone
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
else
	skip "no tmux here"
fi
