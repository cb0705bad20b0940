# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # words; the words'
# Problems of public reports, as somebody who has the symptom meets them: the command that cudatop's hint names shows the line.
# tests/workloads/reported.cu and tests/clients/reported.py have the reports.
. tests/clients.sh

# problem CASE COMMAND...: starts it; its PID is in $pid_CASE
problem() {
	case_=$1
	shift
	"$@" >"$tmp/said.$case_" 2>&1 9>&- &
	eval "pid_$case_=$!"
	pids="$pids $!" all="${all:-}${all:+,}$!"
}

# look: what cudatop says of all of them, in $tmp/screen
look() {
	cudatop -qj -p "$all" 1 5 >"$tmp/screen"
	all=''
}

# leads CASE HINT EVIDENCE LINE: its first hint in the last second, what it says, and a line that the command it names prints
leads() {
	eval "pid=\$pid_$1"
	jq -c "select(.type == \"process\" and .pid == $pid)" "$tmp/screen" | tail -n 1 >"$tmp/row"
	equal "$(jq -r .hint "$tmp/row")" "$2"
	jq -r .hint_evidence "$tmp/row" | grep -qE -- "$3" || no "evidence: $(jq -r .hint_evidence "$tmp/row")"
	command=$(jq -r .hint_command "$tmp/row")
	case $command in
	cudaleak*) words='1 3' ;;
	*) words='-d 3' ;;
	esac
	grep -F "\`$2\`" docs/reported.md | grep -qF "\`$(echo "$command" | sed 's/ --stack python//; s/ -p .*//')\`" ||
		no "no such row in docs/reported.md"
	run $command $words
	grep -qE -- "$4" "$tmp/out" || no "$command: no line with $4"
	kill "$pid"
}

for one in streams events modules threads frames; do
	problem $one "$bin/reported" $one
done
problem headroom env SIM_LATENCY_US=cudaMemGetInfo=20000 "$bin/reported" headroom
problem polling env SIM_FAIL=cudaEventQuery=600 SIM_SPIN_US=cudaEventQuery=2 "$bin/reported" polling
problem capture env SIM_FAIL=cudaDeviceSynchronize=900,cudaStreamEndCapture=901 "$bin/reported" capture
look

it "memory of the GPU grows though nothing is allocated: streams that are made for each request"
leads streams grows 'streams' 'open_session\+0x'

it "the same with events"
leads events grows 'events' 'start_timer\+0x'

it "the same with modules"
leads modules grows 'modules' 'load_kernel\+0x'

it "results are wrong, and nobody checks for errors: a block has too many threads"
leads threads fails 'calls returned' 'apply_synapses\+0x'

it "a capture of a graph fails now and then: another thread waits for the device"
leads capture fails 'calls returned' 'upload_frame\+0x'

it "a thread takes a whole CPU: it asks in a loop whether an event is done"
leads polling calls 'cudaEventQuery' 'poll_events\+0x'

it "each step is slow: it asks for the free memory"
leads headroom calls 'cudaMemGetInfo' 'headroom\+0x'

it "memory of host and GPU grows: frames are kept, and their buffers registered"
leads frames grows 'memory' 'create_mat\+0x'

# script CLIENT CASE [VARIABLE=VALUE...]: of tests/clients/reported.py
script() {
	client "$1" || return
	script_=$2
	shift 2
	problem "$script_" env "$@" $python tests/clients/reported.py "$script_"
}
is_ready() { grep -q ready "$tmp/said.$1"; }

it "PyTorch, Numba and llama.cpp are here"
if ! client pytorch || ! client numba || ! client llama; then
	skip "$why_not"
	return
fi
script pytorch pinned
script pytorch empty_cache SIM_SPIN_US=cuMemFree_v2=2000
client llama
problem reload env LD_LIBRARY_PATH=$sim:$sim/cuda12 ${python##* } tests/clients/reported.py reload
for one in pinned empty_cache reload; do
	until_true is_ready $one
done
look

it "memory of the host is full after an hour: a pool keeps pinned blocks"
leads pinned grows 'pinned memory' 'reported\.py:[0-9]+ pinned\.<locals>\.decode'

it "training is slow: empty_cache() in each step"
leads empty_cache calls 'cudaFree' 'of the time below .*reported\.py:[0-9]+ empty_cache\.<locals>\.free_memory'

it "memory of the GPU stays after a model is unloaded"
leads reload grows 'device memory' 'reported\.py:[0-9]+ reload'

# alone: a compiler that gets no CPU loads less than five images a second
compiles() {
	script "$1" "$2"
	until_true is_ready "$2"
	look
	leads "$2" loads 'of the time loading or compiling code, [0-9]+ images/s' "$3"
}
it_alone "latency spikes with new lengths: Triton compiles for each"
compiles pytorch constexpr 'reported\.py:[0-9]+ constexpr\.<locals>\.rope'

it_alone "each conversion takes 50 ms: Numba compiles a kernel at each call"
compiles numba rejit 'reported\.py:[0-9]+ rejit\.<locals>\.convert'

client pytorch
it "a worker cannot use CUDA: its parent has called cuInit() before the fork"
fork="env SIM_FAIL=cuInit:2=3 $python tests/clients/reported.py fork >/dev/null"
run cudatop -qjc "$fork"
json 1 '.errors == 1 and .hint == "fails" and (.hint_command | startswith("cudatrace -x -k "))'
run cudatrace -q -x -k --stack python -c "$fork"
lines 1 '^[0-9]+ +[0-9]+ .* cuInit\(Flags=0\) = CUDA_ERROR_NOT_INITIALIZED \(3\)$'
lines 1 'reported\.py:[0-9]+ fork\.<locals>\.worker$'

it "each rank has memory and a context on the first GPU: a helper takes it for its own"
run cudaleak -q --account --stack python -c "env SIM_DEVICES=3 $python tests/clients/reported.py contexts 2"
lines 1 '^ +- +device 0 .*1 context, made by .*reported\.py:[0-9]+ contexts\.<locals>\.positions'
lines 1 '^ +22\.0 MiB +device 0 .*in 2 allocations'

# ranks N CASE: of tests/clients/reported.py, each by itself; $all has them
ranks() {
	n=$1 rank=0
	export SIM_DEVICES=4 SIM_NCCL_DIR="$tmp/$2" SIM_NCCL_MS=600000 OMP_NUM_THREADS=1
	mkdir "$SIM_NCCL_DIR"
	while [ "$rank" -lt "$n" ]; do
		problem "$2_$rank" env RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$n MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + ($$ + n) % 20000)) \
			"LD_PRELOAD=$sim/libcudart.so.13:$sim/libnccl.so.2" "LD_LIBRARY_PATH=$sim" ${python##* } tests/clients/reported.py "$2"
		rank=$((rank + 1))
	done
	ranks_=$all
	for rank in $(seq 0 $((n - 1))); do
		until_true is_ready "$2_$rank"
	done
	look
}

it "a job hangs at the end of the epoch: its last rank has a batch less, and went on to the barrier"
ranks 3 uneven
json_of_all() { jq -s "map(select(.type == \"process\" and .hint == \"hangs\").pid) | unique | length" "$tmp/screen"; }
equal "$(json_of_all)" 3
equal "$(jq -rs 'map(select(.hint == "hangs").hint_command | sub(" .*"; "")) | unique[]' "$tmp/screen")" ncclhang
run ncclhang -q -p "$ranks_"
lines 1 'reported\.py:[0-9]+ uneven\.<locals>\.save_checkpoint$'
lines 2 'reported\.py:[0-9]+ uneven\.<locals>\.last$'

it "two ranks hang: both send first"
ranks 2 messages
equal "$(json_of_all)" 2
run ncclhang -q -p "$ranks_"
lines 1 'RANK 0-1: pid [0-9]+ and 1 more, alike$'
lines 1 'reported\.py:[0-9]+ messages\.<locals>\.exchange$'
