# shellcheck shell=sh
# The programs of scripts/bt: what each says of calls that are known.

tested=

# script NAME COMMAND [OPTION...]: what the program of that name says of the command, with PID for the
# numbers of processes
script() {
	tested="$tested $1"
	name_=$1 command=$2
	shift 2
	run cudabt -q "scripts/bt/$name_" "$@" -c "$command"
	status 0
	says_not 'exited with status'
	sed -i -E 's/^(@[a-z_]*\[[^],]+), [0-9]+/\1, PID/; s/^[0-9]+( +[a-z-]+ +cu)/PID\1/; s/ $//' "$tmp/out"
}

# prints LINE...: each is a line of the output; maps N: so many elements of maps are in it
prints() {
	for line in "$@"; do
		grep -qxF -- "$line" "$tmp/out" || no "it does not print '$line'"
	done
}
maps() { lines "$1" '^@'; }

# value MAP: of one element, of several processes in one sum.  at_least N MAP
value() { awk -v map="$1: " 'index($0, map) == 1 { n += $NF } END { print n + 0 }' "$tmp/out"; }
at_least() {
	v=$(value "$2")
	[ "$v" -ge "$1" ] || no "$2 is '$v', less than $1"
}

# rows MAP: the histogram of the first element that begins so, its ranges and counts
rows() {
	awk -v map="$1" '/^@/ { on = !seen && index($0, map) == 1; seen += on }
		on && /^\[.*\|/ { sub(/ *\|.*/, ""); gsub(/  +/, " "); print }' "$tmp/out"
}
total() { rows "$1" | awk '{ n += $NF } END { print n + 0 }'; }

it "alloc-sizes.bt: sizes of the allocations that succeed, by function and stack"
script alloc-sizes.bt "$bin/mem malloc 23 4096 fail 3 host 5 8192 managed 2 100 async 3 70000 free 7"
equal "$(rows '@bytes[mem, PID, cudaMalloc,')" '[4K, 8K) 23'
equal "$(rows '@bytes[mem, PID, cudaMallocHost,')" '[8K, 16K) 5'
equal "$(rows '@bytes[mem, PID, cudaMallocManaged,')" '[64, 128) 2'
equal "$(rows '@bytes[mem, PID, cudaMallocAsync,')" '[64K, 128K) 3'
maps 4

it "alloc-sizes.bt: of a process that runs, the stack has names"
SIM_TRACE=$tmp/trace program "$bin/mem" wait malloc 13 4096 sleep 100000
tool cudabt scripts/bt/alloc-sizes.bt -p "$pid"
echo >&3
# shellcheck disable=SC2016 # sh -c is to expand it
until_true sh -c '[ "$(grep -c "^rt cudaMalloc " "$1")" -eq 13 ]' sh "$tmp/trace"
stop
kill -9 "$pid"
lines 1 '^ +do_malloc\+[0-9]+$'
equal "$(total '@bytes[mem, ')" 13

it "alloc-time.bt: calls of the driver, and the time in them"
script alloc-time.bt "SIM_LATENCY_US=cuMemAlloc_v2=2000,cuMemFree_v2=1000 $bin/mem malloc 23 4096 free 7 \
	async 3 100 asyncfree 2; $bin/mem-stripped malloc 5 4096"
prints '@calls[mem, PID, cuMemAlloc_v2]: 23' '@calls[mem, PID, cuMemFree_v2]: 7' \
	'@calls[mem, PID, cuMemAllocAsync]: 3' '@calls[mem, PID, cuMemFreeAsync]: 2' \
	'@calls[mem-stripped, PID, cuMemAlloc_v2]: 5'
at_least 46000 '@us[mem, PID, cuMemAlloc_v2]'
at_least 7000 '@us[mem, PID, cuMemFree_v2]'
maps 10

it "copy-async.bt: the time of asynchronous copies that succeed, and which take long"
script copy-async.bt "SIM_LATENCY_US=cuMemcpyHtoDAsync_v2=2100 SIM_FAIL=cudaMemcpyAsync:2=1 $bin/mem \
	copyasync 7 100 h2d copyasync 5 100 d2h"
equal "$(total '@us[mem, PID, cudaMemcpyHostToDevice]')" 6
equal "$(total '@us[mem, PID, cudaMemcpyDeviceToHost]')" 5
rows '@us[mem, PID, cudaMemcpyHostToDevice]' >"$tmp/rows"
! grep -v '^\[[0-9]*[KM]' "$tmp/rows" || no "one took less than 1 ms"
prints '@slow[mem, PID, cudaMemcpyHostToDevice]: 6'

it "copy-bytes.bt: bytes and calls by direction, of each process, without those that fail"
script copy-bytes.bt "SIM_FAIL=cudaMemcpy:3=1 $bin/mem copy 7 1021 h2d copyasync 5 509 d2h copy2d 3 10 13 d2h;
	$bin/mem copy 2 31 h2d"
prints '@calls[mem, PID, cudaMemcpyHostToDevice]: 6' '@bytes[mem, PID, cudaMemcpyHostToDevice]: 6126' \
	'@calls[mem, PID, cudaMemcpyDeviceToHost]: 8' '@bytes[mem, PID, cudaMemcpyDeviceToHost]: 2935' \
	'@calls[mem, PID, cudaMemcpyHostToDevice]: 2' '@bytes[mem, PID, cudaMemcpyHostToDevice]: 62'
maps 6

it "copy-small.bt: copies of less than 4 KiB, by function and stack, and of how many"
script copy-small.bt "$bin/mem copy 7 100 h2d copy 5 4096 h2d copyasync 3 4095 d2h"
prints '@all[mem, PID]: 15' ']: 7' ']: 3'
lines 1 '^@small\[mem, PID, cudaMemcpy,'
lines 1 '^@small\[mem, PID, cudaMemcpyAsync,'
maps 3

it "default-stream.bt: work on the default stream and on others"
script default-stream.bt "$bin/mem launch 7 copyasync 5 4096 h2d; $bin/args 3 >/dev/null"
prints '@default[mem, PID, cudaLaunchKernel]: 7' '@default[mem, PID, cudaMemcpyAsync]: 5' \
	'@other[args, PID, cudaLaunchKernel]: 3' '@other[args, PID, cudaMemcpyAsync]: 3'
maps 4

if [ -x "$bin/kern-ptsz" ]; then
	it "default-stream.bt: a thread's own default stream is another one"
	script default-stream.bt "$bin/kern-ptsz 5 7 1 1 1; $bin/kern 2 3 1 1 1"
	prints '@other[kern-ptsz, PID, cudaLaunchKernel_ptsz]: 12' '@default[kern, PID, cudaLaunchKernel]: 5'
	maps 2
fi

it "devices.bt: the devices that are chosen, and changes within a thread"
script devices.bt "$bin/mem setdevice 0 setdevice 1 setdevice 1 setdevice 0 setdevice 99 \
	thread '(' setdevice 1 ')'; $bin/mem setdevice 1"
prints '@changes[mem, PID]: 2' '@chosen[mem, PID, 0]: 2' '@chosen[mem, PID, 1]: 3' '@chosen[mem, PID, 1]: 1'
maps 4

it "event-rate.bt: events that are recorded and waited for"
script event-rate.bt "$bin/mem loop 13 '(' eventsync 7 ')' sleep 1100 eventsync 3"
equal "$(value '@a_second[mem, PID, cudaEventRecord]')" 14
equal "$(value '@a_second[mem, PID, cudaEventSynchronize]')" 94
[ "$(grep -c 'cudaEventRecord' "$tmp/out")" -ge 2 ] || no "there is one second only"

it "failures.bt: each failure once, at the runtime unless the driver was called, of each process"
script failures.bt "$bin/mem malloc 3 10 fail 7 badlaunch 5 badfree 3 drvmalloc 2 1000g drvlaunch 2;
	SIM_FAIL=cuMemAlloc_v2:2=999 $bin/mem malloc 11 64" -l "$lib/libcuda.so.1"
prints '@[mem, PID, cudaMalloc, cudaErrorMemoryAllocation]: 7' \
	'@[mem, PID, cudaLaunchKernel, cudaErrorInvalidConfiguration]: 5' \
	'@[mem, PID, cudaFree, cudaErrorInvalidValue]: 3' \
	'@[mem, PID, cuMemAlloc_v2, CUDA_ERROR_OUT_OF_MEMORY]: 2' \
	'@[mem, PID, cudaMalloc, cudaErrorUnknown]: 1'
maps 5

it "init-time.bt: the time in which CUDA starts, and whether it did"
script init-time.bt "SIM_LATENCY_US=cuInit=20000,cuDevicePrimaryCtxRetain=31000 $bin/mem malloc 1 1
	SIM_FAIL=cuInit:*=100 $bin/mem malloc 1 1; $bin/mem-drv ctxcreate"
lines 1 '^PID     COMM             CALL                              MS RESULT$'
lines 1 '^PID +mem +cuInit +([2-9][0-9]|[0-9]{3,}) CUDA_SUCCESS$'
lines 1 '^PID +mem +cuDevicePrimaryCtxRetain +(3[1-9]|[4-9][0-9]|[0-9]{3,}) CUDA_SUCCESS$'
lines 1 '^PID +mem +cuInit +[0-9]+ CUDA_ERROR_NO_DEVICE$'
lines 1 '^PID +mem-drv +cuCtxCreate_v4 +[0-9]+ CUDA_SUCCESS$'
lines 6 '^PID'

it "launch-config.bt: grids and blocks, of every kind of launch, and of those that fail"
script launch-config.bt "$bin/mem launch 7 launchex 3 coop 2
	SIM_FAIL=cuLaunchKernel:2=701 $bin/launches driver 11; $bin/mem-static launch 5"
prints '@launches[mem, PID, 13, 1, 1, 128, 1, 1]: 12' '@launches[launches, PID, 3, 2, 1, 32, 4, 2]: 10' \
	'@failed[launches, PID, 3, 2, 1, 32, 4, 2]: 1' '@launches[mem-static, PID, 13, 1, 1, 128, 1, 1]: 5'
maps 4

it "launch-gaps.bt: the time between two launches of a thread"
script launch-gaps.bt "SIM_LATENCY_US=cuLaunchKernel=4100,cuLaunchKernelEx=4100 $bin/mem \
	thread '(' launch 7 ')' launch 13 launchex 5; $bin/mem launch 3"
# of three threads, one of them the second process's, which has no latency
awk '/^\[.*\|/ { sub(/ *\|.*/, ""); n += $NF; long += /^\[[0-9]+K/ ? $NF : 0 } END { print n, long }' \
	"$tmp/out" >"$tmp/sum"
read -r gaps long <"$tmp/sum"
equal "$gaps" 25
[ "$long" -ge 23 ] || no "only $long gaps are longer than 1 ms"
maps 2

it "memory-held.bt: the bytes that are held, and the most, of whoever allocated them"
script memory-held.bt "$bin/mem malloc 23 4096 managed 3 1000 free 7 async 2 100 asyncfree 1 badfree 2 \
	fail 3; $bin/mem-stripped malloc 5 512 freeall"
prints '@most[mem, PID]: 97208' '@now[mem, PID]: 77924' '@most[mem-stripped, PID]: 2560' \
	'@now[mem-stripped, PID]: 0'
maps 4

it "memory-held.bt: what a free that fails was to free is held"
script memory-held.bt "SIM_FAIL=cuMemFree_v2:2=700 $bin/mem malloc 7 512 free 3"
prints '@most[mem, PID]: 3584' '@now[mem, PID]: 2560'

it "memory-held.bt: allocations for which there is no room are told, and can be given room"
script memory-held.bt "$bin/mem malloc 4099 512 free 7"
prints '@left_out[mem, PID]: 1536' '@most[mem, PID]: 2097152' '@now[mem, PID]: 2095104'
# the name up to bpftrace 0.20, and the one since
for name in BPFTRACE_MAP_KEYS_MAX BPFTRACE_MAX_MAP_KEYS; do
	export $name=65536
	script memory-held.bt "$bin/mem malloc 4099 512 free 7"
	unset $name
	prints '@most[mem, PID]: 2098688' '@now[mem, PID]: 2095104'
	maps 2
done

it "module-loads.bt: what is loaded, how long that takes, and whether it did"
script module-loads.bt "SIM_LATENCY_US=cuModuleLoadData=7000 $bin/mem drvlaunch 1 drvlaunch 1
	SIM_FAIL=cuModuleLoadData:*=200 $bin/mem drvlaunch 1"
lines 1 '^PID     COMM             CALL                              MS RESULT$'
lines 2 '^PID +mem +cuModuleLoadData +([7-9]|[0-9]{2,}) CUDA_SUCCESS$'
lines 1 '^PID +mem +cuModuleLoadData +[0-9]+ CUDA_ERROR_INVALID_IMAGE$'
at_least 14000 '@us[mem, PID]'

it "streams.bt: calls by stream"
script streams.bt "$bin/mem launch 7 copyasync 5 4096 h2d; $bin/args >$tmp/said_by_args"
prints '@work[mem, PID, cudaLaunchKernel, 0]: 7' '@work[mem, PID, cudaMemcpyAsync, 0]: 5' \
	'@work[args, PID, cudaEventRecord, 0]: 2'
stream=$(($(jq -r 'select(.func == "cudaMemcpyAsync") | .args.stream' "$tmp/said_by_args")))
prints "@work[args, PID, cudaMemcpyAsync, $stream]: 1" "@work[args, PID, cudaLaunchKernel, $stream]: 1"
maps 5

it "sync-time.bt: calls that wait, and how long, each once"
script sync-time.bt "SIM_LATENCY_US=cuCtxSynchronize=900 $bin/mem sync 7 streamsync 5 eventsync 3 drvsync 2"
prints '@calls[mem, PID, cuCtxSynchronize]: 9' '@calls[mem, PID, cuStreamSynchronize]: 5' \
	'@calls[mem, PID, cuEventSynchronize]: 3'
at_least 8100 '@us[mem, PID, cuCtxSynchronize]'
maps 6

it "the manual has each of them, with its question"
mandoc -T ascii -O width=1000 man/cudabt.8 | col -bx | tr -s ' ' '\n' | tr '\n' ' ' >"$tmp/manual"
for f in scripts/bt/*.bt; do
	question=$(sed -n '2,/?/s|^// ||p' "$f" | tr '\n' ' ' | sed 's/?.*/?/')
	grep -qF "$(basename "$f") $question" "$tmp/manual" || no "$f: '$question'"
done

it "every program that comes with cudabt has been tested here, and says what its question is"
for f in scripts/bt/*; do
	case " $tested " in
	*" $(basename "$f") "*) ;;
	*) no "$f is not" ;;
	esac
	sed -n 2p "$f" | grep -qE '^// [A-Z].*[?.]' || no "$f has no question"
done
[ "$(find scripts/bt -name '*.bt' | wc -l)" -ge 10 ] || no "there are fewer than ten"
