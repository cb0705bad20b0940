# shellcheck shell=sh disable=SC2016,SC2086 # jq; words
# On the simulated libnccl (tests/sim/nccl.c): the program prints the hash, rank and size of each communicator that it has.
light

public=$(mktemp -d) && chmod 777 "$public"	# where any user may write
trap 'rm -rf "$public"; finish' EXIT
export SIM_NCCL_DIR="$public"

# ranks_are, ranks_seen: [hash, rank, size] of the communicators, as the program or the tool says
ranks_are() { sed -nE 's/^rank ([0-9]+) of ([0-9]+): (0x[0-9a-f]+)$/["\3",\1,\2]/p' "$tmp/said" | sort; }
ranks_seen() { jq -c "select($1) | [.communicator, .rank, .nranks]" "$tmp/out" | sort -u; }

# nccl OPTIONS WORDS: traces the program; what it prints is in $tmp/said.  With --attach live, else in a replay
nccl() {
	said=$public/said-$(echo "$2" | cksum | tr ' ' -)
	case $1 in
	*--attach*) rm -f "$said"	# another user's, with inject
		run ncclsnoop $1 -c "$bin/nccl $2 >$said" ;;
	*) replayed ncclsnoop $1 -c "$bin/nccl $2 >$said" ;;
	esac
	cp "$said" "$tmp/said"
}

it "a line for each call: communicator, rank, what it is about"
nccl '' '2 init allreduce 5 100 reduce 3 1000 broadcast 1 7 destroy'
status 0
hash=$(sed -n 's/^rank 0 of 2: //p' "$tmp/said")
lines 2 "^[0-9]+ +nccl +$hash +[01]/2 +- ncclCommInitRankConfig +- - +- +- +- +[0-9.]+ ok$"
for rank in 0 1; do
	for n in 1 2 3 4 5; do
		lines 1 "^[0-9]+ +nccl +$hash +$rank/2 +$n ncclAllReduce +100 f32 +sum +- +400 +[0-9.]+ ok$"
	done
	lines 3 "^[0-9]+ +nccl +$hash +$rank/2 +[678] ncclReduce +1000 f32 +max +1 +4000 +[0-9.]+ ok$"
	lines 1 "^[0-9]+ +nccl +$hash +$rank/2 +9 ncclBroadcast +7 f32 +- +0 +28 +[0-9.]+ ok$"
	lines 1 "^[0-9]+ +nccl +$hash +$rank/2 +- ncclCommDestroy +- - +- +- +- +[0-9.]+ ok$"
done
lines 23 ''
silent

for kind in session ${LONG:+multi perf inject}; do
	it "--attach $kind: each function once, also where one calls another"
	nccl "--attach $kind -j" '3 init allreduce 7 1 reduce 2 11 broadcast 3 1 bcast 5 13 allgather 2 1 reducescatter 1 17 alltoall 3 1 gather 1 1 scatter 2 19 ring 3 23 destroy'
	status 0
	json 21 '.func == "ncclAllReduce" and .count == 1 and .operator == "sum"' \
		6 '.func == "ncclReduce" and .size == 44 and .operator == "max" and .root == 2' \
		9 '.func == "ncclBroadcast"' \
		15 '.func == "ncclBcast" and .size == 52 and .root == 0 and .peer == null' \
		6 '.func == "ncclAllGather"' \
		3 '.func == "ncclReduceScatter" and .operator == "avg"' \
		9 '.func == "ncclAlltoAll"' \
		3 '.func == "ncclGather" and .root == 2' \
		6 '.func == "ncclScatter"' \
		9 '.func == "ncclSend" and .peer == (.rank + 1) % 3 and .grouped and .root == null' \
		9 '.func == "ncclRecv" and .peer == (.rank + 2) % 3 and .grouped' \
		9 '.func == "ncclGroupEnd" and (.grouped | not)' \
		3 '.func == "ncclCommInitRankConfig" and .complete' \
		3 '.func == "ncclCommDestroy"' \
		111 true
	# of each rank the last operation is the 32nd
	json 3 '.number == 32 and .func == "ncclRecv"'
	equal "$(ranks_seen .communicator)" "$(ranks_are)"
	silent
done

it "the hash is NCCL's own, of the first ncclUniqueId, whatever makes the communicator"
for how in init-rank init-scalable init-nonblocking; do
	nccl -j "2 $how allreduce 3 1 destroy"
	equal "$(ranks_seen '.func == "ncclAllReduce"')" "$(ranks_are)"
	json 6 '.func == "ncclAllReduce" and .complete'
done
json 2 '.func == "ncclCommInitRankConfig" and .error == "ncclInProgress" and .ret == 7'
nccl '-jx' '2 init-nonblocking bad 3 destroy'
json 6 '.error == "ncclInvalidArgument" and .nranks == 2' 6 true
# getHash() of NCCL 2.30 (src/include/bitops.h), compiled, of the bytes 0 to 127
cat >"$tmp/known.c" <<'END'
#include "tests/sim/sim_nccl.h"
int main(void)
{
	ncclUniqueId id;
	ncclComm_t c;

	for (int i = 0; i < 128; i++)
		id.internal[i] = i;
	return ncclCommInitRank(&c, 1, id, 0) || ncclCommDestroy(c);
}
END
${CC:-cc} -I. "$tmp/known.c" "$lib/libnccl.so.2" -Wl,-rpath,"$lib" -o "$tmp/known"
run ncclsnoop -jc "$tmp/known"
json 2 '.communicator == "0x6afe1cc17717e1f4"'

it "the code of a libnccl says where a communicator has its rank, that of NVIDIA's too"
equal "$("$bin/nccl-layout" "$lib/libnccl.so.2")" 492728
equal "$("$bin/nccl-layout" "$lib/libcudart.so.13")" 0
for real in "${CUDA:-/usr/local/cuda}"/lib*/libnccl.so.2; do
	[ ! -e "$real" ] || [ "$("$bin/nccl-layout" "$real")" -gt 1000 ] || no "not $real"
done

it "a communicator that is split is known by its own hash and rank"
program "$bin/nccl" 3 init split 2 wait allreduce 5 1 wait destroy broadcast 7 1 wait destroy
cp "$tmp/ready" "$tmp/said"
tool ncclsnoop -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)"
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
until_true eval '[ "$(grep -c AllReduce "$tmp/out")" = 15 ]'
echo >&3
until_true eval '[ "$(grep -c Broadcast "$tmp/out")" = 21 ]'
go
stop
status 0
equal "$(ranks_seen '.func == "ncclAllReduce" or .func == "ncclBroadcast"')" "$(ranks_are)"
json 36 '.number and (.complete | not)' 3 '.number == 5 and .func == "ncclAllReduce"' \
	3 '.number == 7 and .func == "ncclBroadcast"'

# traced: the program with these words, from its first wait on, until so many calls of a function are there; the second wait
# keeps it alive
traced() {
	calls=$2 of=$3
	program env LD_LIBRARY_PATH="$libs" "$bin/nccl" $1
	tool ncclsnoop -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)"
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
	until_true eval '[ "$(grep -c "$of" "$tmp/out")" = $calls ]'
	cp "$tmp/ready" "$tmp/said"
	go
	stop
}
libs=$lib

it "a communicator is seen being made, whatever makes it, also by a call that does not block"
traced '4 init wait split-late 2 allreduce 5 1 wait' 20 AllReduce
json 20 '.func == "ncclAllReduce" and .nranks == 2 and .complete'
equal "$(ranks_seen '.func == "ncclAllReduce"')" "$(grep -v ' of 4' "$tmp/said" >"$tmp/less"; mv "$tmp/less" "$tmp/said"; ranks_are)"
traced '4 init wait shrink allreduce 7 1 wait' 21 AllReduce
json 21 '.func == "ncclAllReduce" and .nranks == 3 and .complete'
equal "$(ranks_seen '.func == "ncclAllReduce"')" "$(grep -v ' of 4' "$tmp/said" >"$tmp/less"; mv "$tmp/less" "$tmp/said"; ranks_are)"
traced '1 wait init-all 3 allreduce 5 1 wait destroy' 5 AllReduce
json 5 '.func == "ncclAllReduce" and .nranks == 3 and .rank == 0 and .complete'
equal "$(ranks_seen '.func == "ncclAllReduce"')" "$(ranks_are)"

it "libraries before 2.26 have another hash, which is read from the communicator"
libs=$lib/nccl-old
traced '2 wait init allreduce 5 1 wait destroy' 10 AllReduce
libs=$lib
equal "$(ranks_seen '.func == "ncclAllReduce"')" "$(ranks_are)"
json 14 '.complete and .nranks == 2'

it "calls that fail, and those without a communicator"
nccl -j '1 init bad 3 null allreduce 2 1 destroy'
json 3 '.error == "ncclInvalidArgument" and .rank == 0 and .data_type == null and .size == null' \
	1 '.error == "ncclInvalidArgument" and .communicator == null and .handle == null' \
	1 '.number == 2 and .func == "ncclAllReduce" and .ret == 0'
nccl -x '1 init bad 3 null allreduce 2 1 destroy'
lines 4 'ncclInvalidArgument$'
lines 5 ''

it "what is captured into a CUDA graph is marked, and has no number; each launch of the graph begins it"
nccl -j '2 init allreduce 3 1 capture 7 1 allreduce 2 1 destroy'
json 14 '.captured and .func == "ncclAllReduce" and .number == null and (.stream | startswith("0x"))' \
	10 '.captured == false and .func == "ncclAllReduce"' \
	2 '.number == 5'
nccl -kj '2 init allreduce 1 1 graph 3 11 launch 5 sync destroy'
json 18 '.captured and (.replayed | not) and .number == null and .count == 11' \
	90 '.replayed and (.captured | not) and .ret == 0 and .size == 44 and .nranks == 2 and (.stack | map(.sym) | contains(["main"]))' \
	30 '.replayed and .func == "ncclAllReduce" and .operator == "sum" and .peer == null' \
	30 '.replayed and .func == "ncclSend" and .peer == .rank'
equal "$(jq -c 'select(.rank == 1 and .number != null) | .number' "$tmp/out" | tr '\n' ' ')" "$(seq 46 | tr '\n' ' ')"
equal "$(jq -r 'select(.rank == 1 and .replayed) | .func' "$tmp/out" | head -n 9 | tr '\n' ' ')" \
	'ncclAllReduce ncclAllReduce ncclAllReduce ncclSend ncclRecv ncclSend ncclRecv ncclSend ncclRecv '
nccl '' '1 init graph 1 1 launch 7 destroy'
lines 21 ' replayed$'

it "a launch of a graph of more than 64 operations has a line for each kind of them"
nccl -j '2 init graph 101 11 launch 7 destroy'
json 42 '.replayed and .operations == 101 and .count == 11 and .size == 4444 and .nranks == 2' \
	14 '.replayed and .func == "ncclAllReduce" and .operator == "sum" and .peer == null' \
	14 '.replayed and .func == "ncclSend" and .peer == .rank' \
	42 '.replayed' \
	610 '.operations == 1 and (.captured or .func != "ncclAllReduce")'
jq -c 'select(.rank == 1 and .number != null) | .number' "$tmp/out" | uniq >"$tmp/numbers"
equal "$(tr '\n' ' ' <"$tmp/numbers")" '303 606 909 1212 1515 1818 2121 '
nccl '' '1 init graph 101 11 launch 7 destroy'
lines 7 ' ncclAllReduce +11 f32 +sum +- +4444 +[0-9.]+ replayed, 101 operations$'
lines 21 ' replayed, 101 operations$'
nccl '-jm 44' '1 init graph 101 11 launch 7 destroy'
json 21 '.operations == 101'
nccl '-jm 45' '1 init graph 101 11 launch 7 destroy'
json 0 true
nccl --folded '1 init graph 101 11 launch 7 destroy'
lines 1 ';main;ncclAllReduce 707$'

it "a launch costs the same and has the same sums, however many operations its graph has"
for n in 1 64 65 307 20011; do
	run "$bin/communicators" launches $n
	[ $n != 307 ] || few=$(jq 'select(.ns) | .ns' "$tmp/out")
	[ $n = 1 ] || json 7 '.same'
done
jq -c "select(.ns) | .times = .ns / ($few + 1)" "$tmp/out" >"$tmp/times"
mv "$tmp/times" "$tmp/out"
json 1 '.times < 12'

it "operations of graphs that were made before tracing began are not known, and that is said"
program "$bin/nccl" 1 init graph 3 1 wait launch 7 allreduce 2 1 wait
tool ncclsnoop -jp "$(sed -n 's/^ready //p' "$tmp/ready")"
echo >&3
until_true eval '[ "$(jq -s length "$tmp/out")" = 2 ]'
stop
says '7 launches of CUDA graphs that were made before tracing began: operations of NCCL in them are not counted'
exec 3>&-
kill -9 "$pid"

it "a rank that waits for the others is a call in flight"
program "$bin/nccl" 2 wait lost wait
tool ncclsnoop -kjp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)"
echo >&3
sleep .2
stop
json 1 '.running and .func == "ncclCommInitRank" and (.stack | map(.sym) | contains(["lost", "main"]))'
exec 3>&-
kill -9 "$pid"

it "-m, --slower, -n, -T, -k and --folded select and show as they say"
nccl '-jm 1k' '2 init allreduce 3 256 allreduce 2 255 destroy'
json 6 '.size == 1024' 6 true
nccl '-jn 5' '2 init allreduce 31 1 destroy'	# a recording ends with it
json 5 '.type == "nccl"'	# calls in flight have objects, too
nccl '-j --slower 20000000' '2 init allreduce 30 1 destroy'
json 0 true
nccl -T '1 init allreduce 3 1 destroy'
lines 3 '^[0-9:.]{12} +[0-9]+ +nccl .* ncclAllReduce '
nccl -jk '1 init allreduce 3 1 destroy'
json 3 '.func == "ncclAllReduce" and (.stack | map(.sym) | contains(["call", "main"]))'
nccl --folded '1 init allreduce 3 1 destroy'
lines 1 '^nccl;.*main;.*;ncclAllReduce 3$'
fails 2 '--folded prints no calls' ncclsnoop --folded -Tc true

long || leave

it "who launches graphs that are slow to print gets lines of sums, then is not followed; others are"
run "$bin/communicators" slow 31
json 1 '.who == "greedy" and .apart > 300 and .apart < 900 and .together > 300 and .unfollowed > 0'
[ "$(id -u)" -ne 0 ] || json 1 '.who == "other" and .apart == 11 and .unfollowed == 0'
