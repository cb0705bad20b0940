# shellcheck shell=sh disable=SC1091,SC2016,SC2086,SC2091,SC2154 # jq; words
# NCCL as torch.distributed calls it, against what PyTorch's flight recorder has: tests/clients/distributed.py
. tests/clients.sh

# ranks N WORDS: the command line
ranks() {
	n=$1
	shift
	echo "$python -m torch.distributed.run --nproc-per-node $n --master-port $port tests/clients/distributed.py $*"
}

# recorded FILTER: of what the ranks print of the flight recorder, "PID NUMBER", sorted
recorded() { jq -r "\"\\(.pid) \\(.counts | [.[] | $1 // 0] | add // 0)\"" "$tmp/truth" | sort; }

# called FILTER: of what the tool has printed
called() { jq -rs "map(select($1)) | group_by(.pid)[] | \"\\(.[0].pid) \\(length)\"" "$tmp/out" | sort; }

it "torch.distributed runs on the simulated NCCL"
if ! client pytorch; then
	skip "$why_not"
	return
fi
python="env LD_PRELOAD=$sim/libcudart.so.13:$sim/libnccl.so.2 ${python#env LD_PRELOAD=* }"
export SIM_DEVICES=4 SIM_NCCL_DIR="$tmp" TORCH_FR_BUFFER_SIZE=2000 OMP_NUM_THREADS=1 GO="$tmp/go-on"
port=$((20000 + $$ % 20000))
run $(ranks 2 ddp 3)
status 0
equal "$(wc -l <"$tmp/out")" 2

# ProcessGroupNCCL has a flight recorder of its own; ProcessGroupNCCL2 is what PyTorch 2.15 takes by default
export TORCH_DIST_USE_NCCL2=0

it "ncclsnoop: each operation that the flight recorder has, in the communicators of all groups"
run ncclsnoop -qjc "$(ranks 4 ddp 7 groups 5) >$tmp/truth"
status 0
silent
for kind in all_reduce:AllReduce _all_gather_base:AllGather _reduce_scatter_base:ReduceScatter; do
	equal "$(called ".func == \"nccl${kind#*:}\"")" "$(recorded ".${kind%:*}")"
done
equal "$(called '.func == "ncclBroadcast" or .func == "ncclBcast"')" "$(recorded .broadcast)"
json 0 '.class == "operation" and (.complete | not)'
# the group of all, and two of every second rank
equal "$(jq -r 'select(.number) | "\(.communicator) \(.nranks)"' "$tmp/out" | sort -u | awk '{ print $2 }' | sort | tr '\n' ' ')" '2 2 4 '

it "nccltop: messages and collectives of each rank, none of them behind"
run nccltop -qjc "$(ranks 3 ring 5 ddp 3) >$tmp/truth"
status 0
equal "$(jq -r '"\(.pid) \(.total)"' "$tmp/out" | sort)" "$(recorded '(.send + .recv + .all_reduce + .broadcast)')"
json 3 '.behind == 0 and .failed == 0'

for nccl2 in 0 1; do
	export TORCH_DIST_USE_NCCL2=$nccl2
	it "ncclhang, ProcessGroupNCCL$([ $nccl2 = 0 ] || echo 2): no hang in a job that works, and then does nothing for long"
	run ncclhang -qw 4 -c "$(ranks 2 ddp 3 groups 5 ring 3 idle 6) >$tmp/truth"
	status 0
	lines 1 '^0 hangs reported$'
	lines 1 ''
done

for nccl2 in 0 1; do
	export TORCH_DIST_USE_NCCL2=$nccl2
	it "ncclhang, ProcessGroupNCCL$([ $nccl2 = 0 ] || echo 2): a rank that loads a batch is behind, with its Python functions; --dump has what is so"
	rm -f "$GO"
	mkdir "$tmp/fr$nccl2"
	tool ncclhang -jw 2 --dump "$tmp/fr$nccl2/rank_" -c "$(ranks 4 ddp 3 late 2) >$tmp/truth"
	until_true eval '[ "$(wc -l <"$tmp/out")" -ge 4 ]'
	cp "$tmp/out" "$tmp/first"
	: >"$GO"
	wait "$tracer"
	mv "$tmp/first" "$tmp/out"
	json 1 '.verdict == "behind" and .culprit and .rank == 2 and .job_rank == 2 and .local_rank == 2 and .nranks == 4'
	json 3 '.verdict == "behind" and (.culprit | not) and .func == "ncclAllReduce" and .count == 1000'
	json 1 '.rank == 2 and (.main_stack | map(.sym) | contains(["load_batch", "late", "main"]))'
	# what the flight recorder has, and in the three others the last one
	[ $nccl2 = 1 ] || equal "$(jq -r '"\(.pid) \(.number - (if .rank == 2 then 0 else 1 end))"' "$tmp/out" | sort)" "$(recorded '(.all_reduce + .broadcast)')"
	$clients/pytorch/bin/python -m torch.distributed.flight_recorder.fr_trace "$tmp/fr$nccl2" >"$tmp/fr.out" 2>&1
	grep -q 'Not all ranks joining collective' "$tmp/fr.out" || no "torchfrtrace says $(head -n 3 "$tmp/fr.out")"
	grep -q 'missing ranks: {2}' "$tmp/fr.out" || no "torchfrtrace misses others: $(grep missing "$tmp/fr.out")"
done

it "ncclhang: a rank that has died, of those that the others wait for"
tool ncclhang -jw 2 -c "$(ranks 3 ddp 3 dies 1) >$tmp/truth"
until_true grep -q verdict "$tmp/out"
stop
pkill -f "master-port $port"
json 1 '.verdict == "behind" and .rank == 1 and .culprit and .ended'
json 2 '.verdict == "behind" and (.culprit | not) and (.ended | not) and .func == "ncclAllReduce"'

it "ncclhang: ranks with different shapes"
tool ncclhang -jw 2 -c "$(ranks 3 ddp 3 shapes) >$tmp/truth"
until_true eval '[ "$(wc -l <"$tmp/out")" -ge 3 ]'
stop
pkill -f "master-port $port"	# it would wait for ever
json 3 '.verdict == "mismatch"'
json 1 '.culprit and .rank == 1 and .count == 1001'
json 2 '(.culprit | not) and .count == 1000'

it "ncclhang: a job that hangs already, found by what PyTorch's watchdog asks"
rm -f "$GO"
export TORCH_DIST_USE_NCCL2=0
$(ranks 3 ddp 3 late 1) >"$tmp/truth" & pid=$!
pids="$pids $pid"
until_true eval '[ "$(wc -l <"$tmp/truth")" = 3 ]'
for _ in 1 2 3 4 5; do		# the ranks come to the wait some time after they have said it
	run ncclhang -j
	! grep -q suspect "$tmp/out" || break
done
: >"$GO"
wait "$pid"
json 3 '.type == "rank" and .verdict == "suspect" and .nranks == 3 and (.complete | not)'
json 1 '.culprit and .rank == 1 and .job_rank == 1 and (.stack | map(.sym) | contains(["load_batch", "late", "main"]))'
