# shellcheck shell=sh disable=SC2016,SC2086 # jq; words
# On the simulated libnccl, whose ranks meet when they make a communicator, and do not wait for each other in operations.
light
SIM_NCCL_DIR=$tmp
export SIM_NCCL_DIR
chmod 777 "$tmp"

# top OPTIONS WORDS: with --attach live, else in a replay
top() {
	case $1 in
	*--attach*) run nccltop $1 -c "$bin/nccl $2 >/dev/null" ;;
	*) replayed nccltop $1 -c "$bin/nccl $2 >/dev/null" ;;
	esac
}

for kind in session ${LONG:+inject}; do
	it "--attach $kind: operations, bytes and sizes of each rank, exactly"
	top "--attach $kind -j" '3 init allreduce 101 100 bcast 7 1000 ring 13 50 bad 5 destroy'
	status 0
	json 3 '.total == 134 and .operations == 134 and .failed == 5 and .complete and .nranks == 3' \
		3 ".size == 101 * 400 + 7 * 4000 + 26 * 200" \
		3 '.hist_size == [[128,255,26],[256,511,101],[2048,4095,7]]'
	equal "$(jq -sc 'map(.rank) | sort' "$tmp/out")" '[0,1,2]'
	equal "$(jq -r .communicator "$tmp/out" | sort -u | wc -l)" 1
	# each of the 108 collectives has a last rank, or is that of one that is too far behind
	equal "$(jq -s 'map(.came_last) | add' "$tmp/out")" 108
	json 3 '.behind == 0 and .met == 108 and .func == "ncclAllReduce"'
	silent
done

it "a rank that has not come to an operation is behind, by their number"
program "$bin/nccl" 4 wait init allreduce 11 1 late 3 wait destroy
tool nccltop -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)" 100ms
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
# a block in which nobody calls anything any more
at_rest() {
	tail -n 4 "$tmp/out" >"$tmp/last"
	jq -se 'map(select(.operations == 0 and .idle_ns > 1000000)) | length == 4 and (map(.time) | unique | length) == 1 and (map(.total) | add) == 47' "$tmp/last"
}
until_true eval 'at_rest >/dev/null'
go
stop
mv "$tmp/last" "$tmp/out"
json 1 '.rank == 0 and .behind == 0 and .total == 14' \
	3 '.rank > 0 and .behind == 3 and .total == 11' \
	4 '.operations == 0 and .met == 0 and .late_ns == null and .idle_ns > 1000000'

it "the rank that calls last is the one that came last, by so much"
nap='nap 1 400 allreduce 1 1'
top -j "3 init $nap $nap $nap $nap $nap $nap $nap destroy"
json 1 '.rank == 1 and .met == 7 and .came_last == 7 and .late_ns > 200000000' \
	2 '.rank != 1 and .met == 7 and .came_last == 0 and .late_ns < 200000000'

it "a communicator that has the hash of one before it is compared with its own ranks"
late='nap 1 1000 nap 2 1000'	# what has ended cannot be read
top -j "3 init shrink $late allreduce 7 1 destroy shrink $late allreduce 5 1 destroy"
json 2 '.nranks == 2 and .total == 7 and .met == 7' \
	2 '.nranks == 2 and .total == 5 and .met == 5 and .behind == 0'
equal "$(jq -r 'select(.nranks == 2) | .communicator' "$tmp/out" | sort -u | wc -l)" 1

it "the communicators of one process, and of one that is split, have rows of their own"
top -j '3 init allreduce 5 1 init-rank allreduce 7 1 destroy destroy'
json 3 '.total == 5' 3 '.total == 7' 6 '.behind == 0'
program "$bin/nccl" 3 init split 2 wait allreduce 5 1 wait
tool nccltop -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)" 100ms
echo >&3
until_true eval '[ "$(jq -r "select(.total == 5) | .pid" "$tmp/out" 2>/dev/null | sort -u | wc -l)" = 3 ]'
go
stop
equal "$(jq -c 'select(.total == 5) | [.communicator, .rank, .nranks]' "$tmp/out" | sort -u)" \
	"$(sed -nE 's/^rank ([0-9]+) of ([12]): (0x[0-9a-f]+)$/["\3",\1,\2]/p' "$tmp/ready" | sort)"
json 0 '.complete or .behind != null or .met != 0'

it "what is captured counts nothing, and each launch of its graph counts it"
top -j '2 init capture 7 10 allreduce 3 10 destroy'
json 2 '.total == 3 and .size == 120 and .replayed == 0'
for kind in session ${LONG:+inject}; do
	top "-j --attach $kind" '2 init allreduce 3 10 graph 5 11 launch 7 sync destroy'
	json 2 '.total == 108 and .replayed == 105 and .size == 4740 and .met == 38 and .behind == 0'
done
top -j '2 init allreduce 3 10 graph 67 11 launch 3 sync destroy'
json 2 '.total == 606 and .replayed == 603 and .size == 26652 and .met == 204 and .behind == 0' \
	2 '.hist_size == [[32,63,606]]'
top -j '2 init graph 5 11 launch 7 late 3 destroy'
equal "$(jq -sc 'sort_by(.rank) | map(.behind)' "$tmp/out")" '[0,3]'

it "a rank that waits for the others is a call in flight, below the rows"
program "$bin/nccl" 2 wait lost wait
tool nccltop -p "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)" 100ms
echo >&3
until_true grep -q ' in ncclCommInitRank for ' "$tmp/out"
stop
grep . "$tmp/out" | tail -n 1 >"$tmp/last"
mv "$tmp/last" "$tmp/out"
lines 1 'thread [0-9]+ \(nccl\) in ncclCommInitRank for '
exec 3>&-
kill -9 "$pid"

it "-s sorts, and -r says how many rows"
for by in rank ops bytes behind late idle; do
	top "-s $by -r 2" '3 init allreduce 5 1 destroy'
	lines 2 ' ncclAllReduce$'
	lines 1 '^\.\.\. and 1 more$'
done
top '-j -s behind' '3 init allreduce 5 1 late 2 destroy'
equal "$(jq -sc 'map(.behind)' "$tmp/out")" '[2,2,0]'
