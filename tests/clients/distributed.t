# shellcheck shell=sh disable=SC1091,SC2016,SC2086,SC2091,SC2154 # jq; words
# NCCL as torch.distributed calls it, against what PyTorch's flight recorder has: tests/clients/distributed.py
. tests/clients.sh

# ranks N WORDS: the command line
ranks() {
	n=$1
	shift
	echo "$python -m torch.distributed.run --nproc-per-node $n --master-port $port tests/clients/distributed.py $*"
}

# apart N WORDS: the same by a shell, which does not end the others when one fails
apart() {
	n=$1 i=0
	shift
	while [ "$i" -lt "$n" ]; do
		echo "RANK=$i LOCAL_RANK=$i WORLD_SIZE=$n MASTER_ADDR=127.0.0.1 MASTER_PORT=$port $python tests/clients/distributed.py $* &"
		i=$((i + 1))
	done
	echo wait
}

# groups_recorded, groups_called: of the same, "PID RANKS GATHERS SCATTERS REDUCES BROADCASTS" of each group, and each communicator
groups_recorded() {
	jq -r '.pid as $pid | .sizes as $sizes | .counts | to_entries[] | .value as $v |
		"\($pid) \($sizes[.key]) \($v._all_gather_base // 0 | . + ($v.all_gather_into_tensor_coalesced // 0)) " +
		"\($v._reduce_scatter_base // 0) \($v.all_reduce // 0) \($v.broadcast // 0)"' "$tmp/truth" | sort
}
groups_called() {
	jq -rs 'map(select(.number)) | group_by([.pid, .communicator])[] |
		def n(f): map(select(.func | test(f))) | length;
		"\(.[0].pid) \(.[0].nranks) \(n("AllGather")) \(n("ReduceScatter")) \(n("AllReduce")) \(n("Bcast|Broadcast"))"' "$tmp/out" | sort
}

# reported FILTER: waits until the tool reports such a rank, and keeps that report in $tmp/reported: ranks that are slow under load
# may have been reported before
reported() {
	until_true is_reported "$1"
	jq -cs "(map(select($1))[0]) as \$r | .[] | select(.time == \$r.time and .communicator == \$r.communicator)" "$tmp/out" >"$tmp/reported"
}
is_reported() { jq -es "any(.[]; $1)" "$tmp/out" >"$tmp/is"; }
in_function() { echo "(((.stack // []) + (.main_stack // [])) | any(.sym // \"\" | endswith(\"$1\")))"; }

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
json 0 '.number and (.complete | not)'
# the group of all, and two of every second rank
equal "$(jq -r 'select(.number) | "\(.communicator) \(.nranks)"' "$tmp/out" | sort -u | awk '{ print $2 }' | sort | tr '\n' ' ')" '2 2 4 '

it "fully_shard on a mesh, and tensors in shards: ncclsnoop and nccltop count each group's operations as the flight recorder does"
words='fsdp 3 tensors 5 ddp 2'
run ncclsnoop -qjc "$(ranks 4 $words) >$tmp/truth"
status 0
silent
equal "$(groups_called)" "$(groups_recorded)"
for group in '2 18 9 0 0' '2 0 0 9 0' '2 5 0 5 0' '4 0 0 2 2'; do
	equal "$(groups_recorded | grep -c " $group$")" 4
done
run nccltop -qjc "$(ranks 4 $words) >$tmp/truth"
status 0
equal "$(jq -r 'select(.total) | "\(.pid) \(.nranks) \(.total)"' "$tmp/out" | sort)" "$(groups_recorded | awk '{ print $1, $2, $3 + $4 + $5 + $6 }' | sort)"
json 16 '.total and .behind == 0 and .failed == 0'

it "by ctypes, as vLLM has it, beside PyTorch's own communicator: ncclsnoop has both"
run ncclsnoop -qjc "$(ranks 3 ddp 2 pynccl 7) >$tmp/truth"
status 0
equal "$(groups_called | cut -d' ' -f2- | sort | uniq -c | awk '{ $1 = $1; print }' | tr '\n' ,)" '3 3 0 0 2 2,3 3 0 0 7 0,'
json 27 '.func == "ncclAllReduce" and .count == 1000 and .data_type == "f32" and .operator == "sum" and .nranks == 3 and .number > 0'
equal "$(groups_recorded | cut -d' ' -f2- | sort | uniq -c | awk '{ $1 = $1; print }')" '3 3 0 0 2 2'

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
	reported ".culprit and $(in_function load_batch)"
	: >"$GO"
	wait "$tracer"
	mv "$tmp/reported" "$tmp/out"
	json 1 '.verdict == "behind" and .culprit and .rank == 2 and .job_rank == 2 and .local_rank == 2 and .nranks == 4'
	json 3 '.verdict == "behind" and (.culprit | not) and .func == "ncclAllReduce" and .count == 1000'
	json 1 '.rank == 2 and (.main_stack | map(.sym) | contains(["load_batch", "late", "main"]))'
	# what the flight recorder has, and in the three others the last one
	[ $nccl2 = 1 ] || equal "$(jq -r '"\(.pid) \(.number - (if .rank == 2 then 0 else 1 end))"' "$tmp/out" | sort)" "$(recorded '(.all_reduce + .broadcast)')"
	$clients/pytorch/bin/python -m torch.distributed.flight_recorder.fr_trace "$tmp/fr$nccl2" >"$tmp/fr.out" 2>&1
	grep -q 'Not all ranks joining collective' "$tmp/fr.out" || no "torchfrtrace says $(head -n 3 "$tmp/fr.out")"
	grep -q 'missing ranks: {2}' "$tmp/fr.out" || no "torchfrtrace misses others: $(grep missing "$tmp/fr.out")"
done

# at FUNCTION: the number of the first line of a function of the program
at() { awk -v "f=def $1(" 'index($0, f) { print NR + 1; exit }' tests/clients/distributed.py; }

for words in 'raises 1 handle' 'loads 1 __getitem__' 'pynccl_late 1 pynccl_late'; do
	what=${words%% *} function=${words##* }
	it "ncclhang, $what: the rank that waits in its handler, dataset or loop is behind, with its Python functions"
	export TORCH_DIST_USE_NCCL2=0
	rm -f "$GO"
	tool ncclhang -jw 2 -c "$(ranks 3 ddp 2 $what 1) >$tmp/truth"
	reported ".culprit and $(in_function "$function")"
	: >"$GO"
	wait "$tracer"
	mv "$tmp/reported" "$tmp/out"
	json 3 '.verdict == "behind" and .nranks == 3'
	json 2 '(.culprit | not) and .func == "ncclAllReduce" and .count == 1000 and .wait == "cudaDeviceSynchronize"'
	json 1 ".culprit and .rank == 1 and .job_rank == 1 and (.ended | not) and $(in_function "$function") and $(in_function load_batch)"
	[ $what != raises ] || json 1 ".main_stack and (.main_stack | any(.sym == \"handle\" and .line == $(at handle)))"
done

it "ncclhang: a rank whose process has ended by an exception"
tool ncclhang -jw 2 -c "{ $(apart 3 ddp 2 fails 1); } >$tmp/truth 2>$tmp/traceback"
reported '.culprit and .ended'
stop TERM	# the shell has it ignore INT
jq .pid "$tmp/truth" | xargs kill -9 2>/dev/null
mv "$tmp/reported" "$tmp/out"
grep -q 'ValueError: no batch' "$tmp/traceback" || no 'there is no traceback'
json 1 '.verdict == "behind" and .rank == 1 and .culprit and .ended and .number + 1 == .about'
json 2 '.verdict == "behind" and (.culprit | not) and (.ended | not) and .func == "ncclAllReduce"'

it "ncclhang: a rank that has died, of those that the others wait for"
tool ncclhang -jw 2 -c "$(ranks 3 ddp 3 dies 1) >$tmp/truth"
reported '.culprit and .ended'
stop TERM	# the shell has it ignore INT
pkill -f "master-port $port"
mv "$tmp/reported" "$tmp/out"
json 1 '.verdict == "behind" and .rank == 1 and .culprit and .ended'
json 2 '.verdict == "behind" and (.culprit | not) and (.ended | not) and .func == "ncclAllReduce"'

it "ncclhang: ranks with different shapes"
tool ncclhang -jw 2 -c "$(ranks 3 ddp 3 shapes) >$tmp/truth"
reported '.culprit and .verdict == "mismatch"'
stop TERM	# the shell has it ignore INT
pkill -f "master-port $port"	# it would wait for ever
mv "$tmp/reported" "$tmp/out"
json 3 '.verdict == "mismatch"'
json 1 '.culprit and .rank == 1 and .count == 1001'
json 2 '(.culprit | not) and .count == 1000'

it "ncclhang: a job that hangs already, found by what PyTorch's watchdog asks"
rm -f "$GO"
export TORCH_DIST_USE_NCCL2=0
$(ranks 3 ddp 3 late 1) >"$tmp/truth" & pid=$!
pids="$pids $pid"
until_true eval '[ "$(wc -l <"$tmp/truth")" = 3 ]'
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do		# the ranks come to the wait some time after they have said it
	run ncclhang -j
	! grep -q '"verdict":"suspect".*load_batch' "$tmp/out" || break
done
: >"$GO"
wait "$pid"
json 3 '.type == "rank" and .verdict == "suspect" and .nranks == 3 and (.complete | not)'
json 1 '.culprit and .rank == 1 and .job_rank == 1 and (.stack | map(.sym) | contains(["load_batch", "late", "main"]))'

it "ncclhang: a job that hangs already, and does not ask about communicators, as vLLM's: its processes, and who of them does not wait"
rm -f "$GO"
export BACKEND=gloo
$(ranks 3 pynccl_late 1) >"$tmp/truth" & pid=$!
pids="$pids $pid"
until_true eval '[ "$(jq -r .pid "$tmp/truth" | wc -l)" = 3 ]'
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	run ncclhang -jp "$(jq -r .pid "$tmp/truth" | tr '\n' , | sed 's/,$//')"
	[ "$(jq -c 'select(.type == "rank" and .wait)' "$tmp/out" | wc -l)" != 2 ] || break
done
: >"$GO"
wait "$pid"
json 3 '.type == "rank" and .verdict == "suspect" and .communicator == null and .nranks == null and .here == 3 and (.complete | not)'
json 1 '.culprit and .rank == 1 and .job_rank == 1 and .wait == null and (.stack | map(.sym) | contains(["load_batch", "pynccl_late", "main"]))'
json 2 '.type == "rank" and (.culprit | not) and .wait == "cudaDeviceSynchronize"'
