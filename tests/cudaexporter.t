# shellcheck shell=sh
# shellcheck source=/dev/null
. tests/own.sh

# page [OPTION...] -- WORD...: the page at the end of `mem WORD...`
page() {
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # words
	${live:-replayed} cudaexporter --once $options -c "$bin/${program:-mem} $*"
	status 0
}

# page_then SECONDS OPTION...: the page so long after it began to trace, when the program went on
page_then() {
	seconds=$1
	shift
	tool cudaexporter --once -d "$seconds" "$@"
	echo >&3
	wait "$tracer"
}

# is N REGEX: the samples whose names and labels match add up to N; "none": there are none
is() {
	got=$(grep -v '^#' "$tmp/out" | grep -E -- "$2" | awk '{ n += $NF; any = 1 } END { printf any ? "%.12g" : "none", n }')
	[ "$got" = "$1" ] || no "$2 is $got, not $1"
}

it "counts every allocation, copy, launch, wait and error once"
page -- malloc 13 64k free 7 managed 5 1m host 3 4k async 11 1k asyncfree 11 array 2 64 64 \
	copy 17 1m h2d copyasync 19 4097 d2h launch 23 launchex 2 coop 3 graph 5 sync 29 streamsync 3 \
	fail 2 badlaunch 7 freenull 3
is 15 '^cuda_memory_allocations_total.*device="0",memory="device"'	# with the copies' 2 buffers
is 7 '^cuda_memory_frees_total.*memory="device"'
is 458752 '^cuda_memory_freed_bytes_total.*memory="device"'
is 5242880 '^cuda_memory_allocated_bytes_total.*memory="managed"'
is 12288 '^cuda_memory_allocated_bytes_total.*device="none",memory="host"'
is 11264 '^cuda_memory_allocated_bytes_total.*memory="pool"'
is 11264 '^cuda_memory_freed_bytes_total.*memory="pool"'
is 2 '^cuda_memory_allocations_total.*memory="array"'
is 17 '^cuda_copy_size_bytes_bucket.*direction="h2d",async="false",le="1048576"'
is 0 '^cuda_copy_size_bytes_bucket.*direction="h2d",async="false",le="65536"'
is 17825792 '^cuda_copy_size_bytes_sum.*direction="h2d",async="false"'
is 19 '^cuda_copy_size_bytes_bucket.*direction="d2h",async="true",le="65536"'
is 0 '^cuda_copy_size_bytes_bucket.*direction="d2h",async="true",le="4096"'
is 17 '^cuda_copy_duration_seconds_count.*direction="h2d"'
is none '^cuda_copy_duration_seconds_count.*direction="d2h"'
is 25 '^cuda_launches_total.*device="0",kind="kernel"'
is 3 '^cuda_launches_total.*kind="cooperative"'
is 5 '^cuda_launches_total.*kind="graph"'
is 32 '^cuda_sync_duration_seconds_count'
is 2 '^cuda_errors_total.*function="cudaMalloc",error="cudaErrorMemoryAllocation"'
is 7 '^cuda_errors_total.*function="cudaLaunchKernel",error="cudaErrorInvalidConfiguration"'
is 9 '^cuda_errors_total'
is none '^cuda_sticky_errors_total'
is 0 '^cuda_exporter_lost_events_total'
is 1 '^cuda_exporter_build_info'
lines 10 '^cuda_exporter_lost_events_total'
silent

it "what goes through both layers is counted once, and is one hit of a probe"
page -- malloc 13 64k free 7 launch 11 sync 5
is 13 '^cuda_memory_allocations_total'
is 7 '^cuda_memory_frees_total'
is 11 '^cuda_launches_total'
is 5 '^cuda_sync_duration_seconds_count'
is 36 '^cuda_exporter_probe_hits_total'
silent

it "a free whose record comes later than that of the next allocation at its address is counted"
page -- "thread '(' loop 10007 '(' malloc 1 4k free 1 ')' ')' thread '(' loop 10007 '(' malloc 1 4k free 1 ')' ')' join"
is 20014 '^cuda_memory_allocations_total'
is 20014 '^cuda_memory_frees_total'
is 81977344 '^cuda_memory_freed_bytes_total'
is none '^cuda_memory_held_allocations'
silent

it "a copy is in the bucket whose bound is its size, and one byte more in the next"
page -- copyasync 3 256 h2d copyasync 5 257 h2d copyasync 7 4096 d2h copyasync 11 1 d2d
is 3 'direction="h2d".*le="256"'
is 8 'direction="h2d".*le="4096"'
is 7 'direction="d2h".*le="4096"'
is 0 'direction="d2h".*le="256"'
is 11 'direction="d2d".*le="256"'

it "waits of 80 ms are between 67 and 268 ms, and with --sync-functions apart by function"
replayed SIM_LATENCY_US=cuCtxSynchronize=80000 cudaexporter --once --sync-functions -c "$ahead $bin/mem sync 7 eventsync 3"
is 7 'sync_duration_seconds_bucket.*function="cudaDeviceSynchronize",le="0.268435456"'
is 0 'sync_duration_seconds_bucket.*function="cudaDeviceSynchronize",le="0.067108864"'
is 3 'sync_duration_seconds_count.*function="cudaEventSynchronize"'
grep '^cuda_sync_duration_seconds_sum.*cudaDeviceS' "$tmp/out" | awk '{ exit !($NF >= .56 && $NF < 1.88) }' ||
	no "the sum is not 0.56 s"

it "loads of code and lookups of kernels are counted with their time, also those inside other calls, with and without --kernels"
for options in '' '--kernels 5'; do
	# shellcheck disable=SC2086 # options
	replayed SIM_LATENCY_US=cuModuleLoadData=20000 cudaexporter --once $options -c "$bin/mem loop 7 '(' drvlaunch 1 ')'"
	is 14 '^cuda_code_load_duration_seconds_count'
	is 7 '^cuda_code_load_duration_seconds_bucket.*le="0.016777216"'
	grep '^cuda_code_load_duration_seconds_sum' "$tmp/out" | awk '{ exit !($NF >= .14) }' || no "the sum is less than 0.14 s"
	is 7 '^cuda_launches_total'
done
page -- malloc 1 64k sync 1
is none '^cuda_code_load'
replayed SIM_NVRTC_US=20000 cudaexporter --once -c "$bin/compile 5 3"
is 8 '^cuda_code_load_duration_seconds_count'
is 0 '^cuda_code_load_duration_seconds_bucket.*le="0.016777216"'
is 3 '^cuda_errors_total.*function="nvrtcCompileProgram",error="NVRTC_ERROR_COMPILATION"'
is 1 '^cuda_exporter_probes\{layer="nvrtc"'
replayed SIM_LATENCY_US=cuLibraryLoadData=20000 cudaexporter --once -c "$bin/mem malloc 1 64k launch 11"
is 3 '^cuda_code_load_duration_seconds_count'
is 2 '^cuda_code_load_duration_seconds_bucket.*le="0.016777216"'
is 11 '^cuda_launches_total'
replayed SIM_FAIL='cuModuleLoadData:*=200' cudaexporter --once -c "$bin/mem loop 3 '(' drvlaunch 1 ')'"
is 3 '^cuda_code_load_duration_seconds_count'
is 3 '^cuda_errors_total.*function="cuModuleLoadData",error="CUDA_ERROR_INVALID_IMAGE"'

it "--collect.off-cpu says for how long waiting threads slept"
run env SIM_LATENCY_US=cuCtxSynchronize=20000 cudaexporter --once --collect.off-cpu -c "$bin/mem sync 7"
grep '^cuda_sync_off_cpu_seconds_total' "$tmp/out" | awk '{ exit !($NF >= .1 && $NF < 1.4) }' || no "it is not 0.14 s"
page -- sync 7
is none '^cuda_sync_off_cpu_seconds_total'

it "an error of earlier work counts as sticky once, however many calls report it"
replayed SIM_FAIL=cuCtxSynchronize=700 cudaexporter --once -c "$bin/mem sync 13"
is 13 '^cuda_errors_total.*function="cudaDeviceSynchronize",error="cudaErrorIllegalAddress"'
is 1 '^cuda_sticky_errors_total.*error="cudaErrorIllegalAddress"'

it "a reset frees what was held on the device"
page -- malloc 5 64k host 2 4k reset
is 5 '^cuda_memory_frees_total.*memory="device"'
is 327680 '^cuda_memory_freed_bytes_total.*memory="device"'

it "frees of memory that was not seen are counted apart"
page -- malloc 2 64k badfree 0 free 1
is none '^cuda_memory_unknown_frees_total'
program "$bin/mem" malloc 5 64k wait free 3 malloc 2 1k wait
page_then 2 -p "$pid"
is 3 '^cuda_memory_unknown_frees_total'
is 2048 '^cuda_memory_held_bytes.*device="unknown",memory="device"'	# it chose it before
is 2 '^cuda_memory_held_allocations'
is 2048 '^cuda_memory_held_peak_bytes'
is 1 "^cuda_process_info\\{pid=\"$pid\",comm=\"mem\",exe=\"[^\"]*/mem\",uid=\"0\",.*runtime=\"13\",complete=\"0\""
is 1 '^cuda_exporter_processes.*state="traced"'
go

it "handles that are made and not destroyed are counted by kind, also of libraries; what failed or was there before is not"
for library in libcublas.so.12 libcudnn.so.9; do
	$CC -D_GNU_SOURCE -DSIM_OWN_HEADERS -shared -fPIC tests/workloads/mathlib.c "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/$library"
done
$CC -D_GNU_SOURCE -DSIM_OWN_HEADERS tests/workloads/handles.c "$lib/libcudart.so.13" "$lib/libcuda.so.1" -pthread -ldl \
	-Wl,-rpath,"$lib:$tmp" -o "$tmp/handles"
for how in '' ${LONG:+--by=comm}; do
	program "$tmp/handles" cublas 3 cudnn 1 stream 2 event 5 wait 1 -event 3 stream 7 event 11 -event 4 graph 3 exec 5 capture 2 \
		drvstream 5 drvevent 2 module 7 -module 2 context 3 -context 1 enter 2 -enter 2 cublas 7 -cublas 2 cudnn 3 \
		fails 5 nocublas 5 wait 1
	# shellcheck disable=SC2086 # options
	page_then 2 $how -p "$pid"
	is 13 '^cuda_handles\{.*kind="stream"'	# one captures
	is 6 '^cuda_handles\{.*kind="event"'	# three of those before were destroyed
	is 5 '^cuda_handles\{.*kind="graph"'
	is 5 '^cuda_handles\{.*kind="exec"'
	is 5 '^cuda_handles\{.*kind="module"'
	is 2 '^cuda_handles\{.*kind="context"'
	is 5 '^cuda_handles\{.*kind="cublas"'
	is 3 '^cuda_handles\{.*kind="cudnn"'
	lines 8 '^cuda_handles\{'
	is 5 '^cuda_errors_total.*function="cublasCreate_v2",error="1"'
	is 0 '^cuda_exporter_lost_events_total'
	go
done
page -- streams 7
is none '^cuda_handles'	# of a program that has ended

it "calls that fail between the reading of calls and that of errors make no handles, nor do captures to a graph that is there"
cat >"$tmp/counts.c" <<'END'
#include <stdio.h>
#include "model/handle_counts.h"

int main(void)
{
	enum { STREAMS = CUDA_STREAM_HANDLE - CUDA_CODE };
	struct handle_counts c = { 0 };

	handles_count(&c, CUDA_ID_cuStreamCreate, true, 7);
	printf("%llu ", handles_left(&c, STREAMS));
	handles_count(&c, CUDA_ID_cuStreamCreate, false, 18);
	printf("%llu ", handles_left(&c, STREAMS));
	handles_count(&c, CUDA_ID_cuStreamDestroy_v2, false, 3);
	printf("%llu\n", handles_left(&c, STREAMS));
	/* five captures, of which two are to graphs that were made before: one of these begins only at the second try */
	handles_count(&c, CUDA_ID_cudaGraphCreate, false, 2);
	handles_count(&c, CUDA_ID_cudaStreamBeginCaptureToGraph, false, 3);
	handles_count(&c, CUDA_ID_cudaStreamBeginCaptureToGraph, true, 1);
	handles_count(&c, CUDA_ID_cudaStreamBeginCapture, false, 3);
	handles_count(&c, CUDA_ID_cudaStreamEndCapture, false, 5);
	printf("%llu\n", handles_left(&c, CUDA_GRAPH_HANDLE - CUDA_CODE));
	return 0;
}
END
$CC -D_GNU_SOURCE -iquote common -iquote "$O" "$tmp/counts.c" "$O/libcommon.a" -o "$tmp/counts" || no 'it cannot be built'
run "$tmp/counts"
lines 1 '^0 11 8$' 1 '^5$'

for call in 'sync cuCtxSynchronize sync 1' 'alloc cuMemAlloc_v2 malloc 1 64k' 'copy cuMemcpyHtoDAsync_v2 copyasync 1 64k h2d' \
	'launch cuLaunchKernel launch 1'; do
	group=${call%% *} words=${call#* }
	[ "$group" = sync ] || long || continue
	it "a call of group $group that does not return is running, with its age"
	# shellcheck disable=SC2086 # words
	SIM_LATENCY_US=${words%% *}=600000000 program "$bin/mem" wait ${words#* }
	page_then 2 -p "$pid"
	exec 3>&-
	is 1 "^cuda_calls_running\\{pid=\"$pid\",comm=\"mem\",group=\"$group\""
	is 1 '^cuda_calls_running'
	grep "^cuda_call_running_seconds.*group=\"$group\"" "$tmp/out" | awk '{ exit !($NF > 0.2 && $NF < 20) }' ||
		no "it has no age"
	kill -9 "$pid"
done

it "what is held has its peak, its ages, and its kind"
program "$bin/mem" wait malloc 5 64k free 5 malloc 1 64k host 2 4k managed 1 1m array 2 64 64 ipc 3 4k wait
page_then 3 --ages 1,2,600 -p "$pid"
is 327680 '^cuda_memory_held_peak_bytes.*memory="device"'
is 69632 '^cuda_memory_held_bytes.*memory="device"'	# with the one that the others open
is 8192 '^cuda_memory_held_bytes.*device="none",memory="host"'
is 1048576 '^cuda_memory_held_bytes.*memory="managed"'
is 2 '^cuda_memory_held_allocations.*memory="array"'
is 1 '^cuda_memory_held_allocations.*memory="ipc"'
is 8192 '^cuda_memory_held_older_bytes.*device="none",age="1"'
is 8192 '^cuda_memory_held_older_bytes.*device="none",age="2"'
is 0 '^cuda_memory_held_older_bytes.*age="600"'
go

it "cuda_last_launch_timestamp_seconds is when that was"
program "$bin/mem" wait launch 3 wait
then=$(date +%s)
page_then 1 -p "$pid"
grep '^cuda_last_launch_timestamp_seconds' "$tmp/out" | awk -v t="$then" '{ exit !($NF > t - 2 && $NF < t + 20) }' ||
	no "it is not $then"
go

it "errors of functions that are probed for nothing else, too, each call once, in forked children, too"
cat >"$tmp/errors.c" <<'END'
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	cudaStream_t s;
	cudaGraph_t g;
	CUcontext c;
	void *p;

	cudaStreamCreate(&s);
	cuInit(0);
	cudaMalloc(&p, 4096);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
	cudaStreamEndCapture(s, &g);
	for (int i = 0; i < 3; i++)
		cuDevicePrimaryCtxRetain(&c, 0);
	for (int i = 0; i < 5; i++)
		cuMemAddressFree(0, 4096);
	if (!fork()) {
		for (int i = 0; i < 7; i++)
			cuInit(0);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
chmod 755 "$tmp"
$CC -I"${CUDA:-/usr/local/cuda}/include" -o "$tmp/errors" "$tmp/errors.c" "$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$lib"
fail=SIM_FAIL='cuStreamEndCapture:1=901,cuDevicePrimaryCtxRetain:2=2,cuDevicePrimaryCtxRetain:3=2,cuMemAlloc_v2:1=2,cuMemAddressFree:*=999'$(printf ',cuInit:%d=3' 3 4 5 6 7 8 9)
for kind in $command_kinds; do
	run env "$fail" cudaexporter --attach "$kind" --once -c "$tmp/errors"
	is 1 '^cuda_errors_total.*function="cudaMalloc",error="cudaErrorMemoryAllocation"'
	is 1 '^cuda_errors_total.*function="cudaStreamEndCapture",error="cudaErrorStreamCaptureInvalidated"'
	is 2 '^cuda_errors_total.*function="cuDevicePrimaryCtxRetain",error="CUDA_ERROR_OUT_OF_MEMORY"'
	is 5 '^cuda_errors_total.*function="cuMemAddressFree",error="CUDA_ERROR_UNKNOWN"'
	is 7 '^cuda_errors_total.*function="cuInit",error="CUDA_ERROR_NOT_INITIALIZED"'
	is 16 '^cuda_errors_total'
done
run env "$fail" cudatop -jb 100 -c "$tmp/errors"
sum 16 'select(.type == "process").errors'

it "of more than 64 kinds of errors the rest are one"
# failing FROM TO: a word of the environment by which calls fail with these codes
failing() {
	rules='' nth=0
	for code in $(seq "$1" "$2"); do
		nth=$((nth + 1))
		rules="$rules,cudaMalloc:$nth=$code"
	done
	echo "SIM_FAIL=${rules#,}"
}
replayed cudaexporter --once --by comm -c "$(failing 1001 1014) $bin/mem malloc 14 1k; $(failing 1015 1028) $bin/mem malloc 14 1k
	$(failing 1029 1042) $bin/mem malloc 14 1k; $(failing 1043 1056) $bin/mem malloc 14 1k
	$(failing 1057 1070) $bin/mem malloc 14 1k"
is 70 '^cuda_errors_total'
is 6 '^cuda_errors_total.*function="other",error="other"'
lines 65 '^cuda_errors_total'

it "--by comm adds up processes that have ended"
page --by comm -- fork '\(' malloc 5 64k launch 7 '\)' fork '\(' malloc 11 64k launch 13 '\)' join
is 16 '^cuda_memory_allocations_total\{comm="mem",'
is 20 '^cuda_launches_total\{comm="mem",'
is none '^cuda_[a-z_]*_total\{pid='
lines 1 '^cuda_launches_total'

it "--labels chooses what is said of a process"
live=run
page --labels uid,exe,comm -- launch 7
live=
lines 1 '^cuda_launches_total\{comm="mem",exe="/[^"]*/mem",uid="0",device="0",kind="kernel"\} 7$'

it "--max-processes counts the rest as other: the parent is one of them"
page --max-processes 3 -- fork '\(' launch 5 '\)' fork '\(' launch 5 '\)' fork '\(' launch 5 '\)' fork '\(' \
	launch 5 '\)' fork '\(' launch 5 '\)' join
is 25 '^cuda_launches_total'
is 15 '^cuda_launches_total\{pid="other",comm="other"'
is 3 '^cuda_exporter_series_dropped_total.*limit="processes"'

it "--max-series leaves out the rest, and counts it"
page --max-series 30 -- launch 5 malloc 1 64k copyasync 1 1 h2d copyasync 1 1 d2h sync 1
[ "$(grep -c '^cuda_.*pid=' "$tmp/out")" -le 30 ] || no "there are more"
grep -q '^cuda_exporter_series_dropped_total{limit="series"} [1-9]' "$tmp/out" || no "none was dropped"

it "--comm leaves out other processes, which are counted as such"
page --comm nobody -- launch 7
is none '^cuda_launches_total'
program "$bin/mem" launch 1 wait
run cudaexporter -q --once -d 1 --comm nobody -p "$pid"
is 1 '^cuda_exporter_processes.*state="left_out"'
is 0 '^cuda_exporter_processes.*state="traced"'
go

it "cuda_exporter_probes are the functions that --list has, and what cannot be probed has a reason"
page -- launch 1
is "$(cudaexporter -q --list -c "$bin/mem launch 1" | grep -c ' runtime ')" '^cuda_exporter_probes.*layer="runtime"'
is "$(cudaexporter -q --list -c "$bin/mem launch 1" | grep -c ' driver ')" '^cuda_exporter_probes.*layer="driver"'
grep -q '^cuda_exporter_probe_failures_total{reason="defines no CUDA functions"} [1-9]' "$tmp/out" || no "there is no reason"

it "--self-time measures the BPF programs"
live=run
page --self-time -- launch 101
live=
grep -q '^cuda_exporter_bpf_seconds_total{program="cuda_session"} 0\.[0-9]*[1-9]' "$tmp/out" || no "there is no time"
page -- launch 7
is none '^cuda_exporter_bpf_seconds_total'

it "cuda_exporter_series is the number of samples"
page -- launch 7 malloc 3 64k copy 2 1k h2d sync 1
is "$(grep -vc '^#' "$tmp/out")" '^cuda_exporter_series '

it "--textfile replaces the file whole, mode 0644"
program "$bin/mem" malloc 5 64k wait
cudaexporter -q --textfile "$tmp/cuda.prom" --interval 1 -p "$pid" 2>"$tmp/err" & tracer=$!
pids="$pids $tracer"
until_true test -s "$tmp/cuda.prom"
equal "$(stat -c %a "$tmp/cuda.prom")" 644
exec 8<"$tmp/cuda.prom"
first=$(stat -c %i "$tmp/cuda.prom")
replaced() { [ "$(stat -c %i "$tmp/cuda.prom")" != "$first" ]; }
until_true replaced
# who has the old one open has it whole
cat <&8 >"$tmp/out"
exec 8<&-
tail -n 1 "$tmp/out" | grep -q '^process_start_time_seconds [0-9.]*$' || no "the old file has changed"
promtool check metrics <"$tmp/cuda.prom" >"$tmp/said" 2>&1 || no "promtool: $(head -n 2 "$tmp/said")"
stop
equal "$(find "$tmp" -name 'cuda.prom.*')" ''
go

it "--textfile says why it cannot write"
run cudaexporter --once -d 0.1 --textfile /nowhere/cuda.prom
status 1
says "cannot write /nowhere/cuda.prom"

it "--textfile replaces no device, FIFO, socket, link or directory"
mkdir "$tmp/it"
mkfifo "$tmp/it/fifo"
mkdir "$tmp/it/directory"
: >"$tmp/it/file"
ln -s file "$tmp/it/link"
ln -s nothing "$tmp/it/dangling"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$tmp/it/socket"
mknod "$tmp/it/device" c 1 7 2>/dev/null
ls -iF "$tmp/it" >"$tmp/before"
for of in fifo directory link dangling socket device; do
	[ -e "$tmp/it/$of" ] || [ -h "$tmp/it/$of" ] || continue
	for options in '' '--once -d 0.1' "-c true"; do
		# shellcheck disable=SC2086 # words
		SECONDS_=20 fails 1 "cannot write $tmp/it/$of: not a regular file (" cudaexporter --textfile "$tmp/it/$of" $options
		says_not ': tracing'
	done
done
# shellcheck disable=SC2012 # the names are ours
equal "$(ls -iF "$tmp/it" | diff "$tmp/before" -)" ''
fails 1 "cannot write $tmp/it/file/x: Not a directory" cudaexporter --textfile "$tmp/it/file/x" -c true
run cudaexporter --textfile "$tmp/it/link" --list -c "$bin/mem malloc 1 64k"
status 0

it "what is freed is what was held, however many references it had"
page -- vmm 3 retain 2 release 2 vmmfree 3 drvmalloc 5 64k drvfree 5
is 3 '^cuda_memory_allocations_total.*memory="vmm"'
is 3 '^cuda_memory_frees_total.*memory="vmm"'
is 6291456 '^cuda_memory_allocated_bytes_total.*memory="vmm"'
is 6291456 '^cuda_memory_freed_bytes_total.*memory="vmm"'
is 327680 '^cuda_memory_freed_bytes_total.*memory="device"'

it "--list with --once is a list"
run cudaexporter --once --list -c "$bin/mem malloc 1 64k"
status 0
lines 1 ' cudaMalloc '

it "--textfile has the end of a command; after a signal there is no file"
run cudaexporter --textfile "$tmp/cuda.prom" -c "$bin/mem malloc 7 64k"
status 0
cp "$tmp/cuda.prom" "$tmp/out"
is 7 '^cuda_memory_allocations_total'
rm "$tmp/cuda.prom"
program "$bin/mem" malloc 1 64k wait
cudaexporter -q --textfile "$tmp/cuda.prom" --interval 1 -p "$pid" 2>"$tmp/err" & tracer=$!
pids="$pids $tracer"
until_true test -s "$tmp/cuda.prom"
stop
go
[ ! -e "$tmp/cuda.prom" ] || no "the file is still there"

it "--ages, --labels, --by and --interval refuse what they cannot use"
for wrong in '--ages 10,5' '--ages 1.5' '--ages x' '--labels pid,nothing' '--by nothing' '--by pod --labels pid' \
	'--interval 0' '--interval 5' '--max-series 0' \
	'--once --web.listen-address :0' '--textfile x --web.max-requests 2' '--once --exemplars' 'operand'; do
	# shellcheck disable=SC2086 # words
	run cudaexporter $wrong
	status 2
done
fails 2 "--interval: '100ms' is shorter than 1000 ms" cudaexporter --textfile "$tmp/cuda.prom" --interval 100ms

it "the manager that started it is told when it is ready"
python3 - "$tmp/notify" >"$tmp/said" <<'END' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(30)
print(s.recv(100).decode(), flush=True)
END
until_true test -S "$tmp/notify"
run env NOTIFY_SOCKET="$tmp/notify" cudaexporter -q --once -d 0.1
until_true grep -qx READY=1 "$tmp/said"

it "NVML's figures stand beside what was counted, by GPU"
program env CUDA_VISIBLE_DEVICES=1,0 "$bin/mem" wait malloc 3 1m wait
{
	echo "gpu GPU-aaaa H200 150000000000 5000000000 1 0"
	echo "gpu GPU-bbbb H200 150000000000 7000000 2 1"
	echo "process 1 $pid 6000000"
} >"$tmp/nvml"
export LD_LIBRARY_PATH="$lib" SIM_NVML="$tmp/nvml"
page_then 2 -p "$pid"
unset LD_LIBRARY_PATH SIM_NVML
is 300000000000 '^cuda_gpu_memory_total_bytes'
is 7000000 '^cuda_gpu_memory_used_bytes.*gpu_uuid="GPU-bbbb"'
is 6000000 "^cuda_process_gpu_memory_bytes\\{pid=\"$pid\",comm=\"mem\",gpu_uuid=\"GPU-bbbb\""
is 1 "^cuda_process_device_info\\{pid=\"$pid\",device=\"0\",gpu_uuid=\"GPU-bbbb\""
is 3145728 '^cuda_memory_held_bytes.*device="unknown",memory="device"'
is $((6000000 - 3145728)) "^cuda_memory_unaccounted_bytes\\{pid=\"$pid\",comm=\"mem\",gpu_uuid=\"GPU-bbbb\""
is none '^cuda_memory_unaccounted_bytes.*GPU-aaaa'
go

long || leave

it "--once traces a command to its end, whatever the interval"
page --interval 1 -- malloc 1 64k sleep 1300 malloc 6 64k
is 7 '^cuda_memory_allocations_total'

# wakes: how often the exporter and its server have been woken
wakes() { cat "/proc/$tracer/task/"*/status "/proc/$server/task/"*/status | awk '/^voluntary/ { n += $2 } END { print n }'; }

# programs of other tests that map CUDA's files wake it
it_alone "where nothing happens, the exporter and its server look around a few times a second"
tool cudaexporter --web.listen-address 127.0.0.1:0
server=$(awk '{ print $1 }' "/proc/$tracer/task/$tracer/children")
equal "$(tr '\0' ' ' <"/proc/$server/cmdline" | cut -d ' ' -f 1)" cudaexporter-server
# quiet: in these seconds it was not woken often; what came while it began, and on a busy machine later, is no fault
quiet() { before=$(wakes); sleep 3; woken=$(($(wakes) - before)); [ "$woken" -le 60 ]; }
tries=20
until quiet || [ $tries -eq 0 ]; do tries=$((tries - 1)); done
[ "$woken" -le 60 ] || no "woken $woken times in 3 seconds"
[ "$woken" -ge 6 ] || no "woken $woken times in 3 seconds: it sees nobody's end"
