# shellcheck shell=sh disable=SC2016,SC2086 # jq; words
# NCCL's calls, on the simulated libnccl (tests/sim/nccl.c), against what the program itself says that it passed.

public=$(mktemp -d) && chmod 777 "$public"	# where any user may write
trap 'rm -rf "$public"; finish' EXIT
export SIM_NCCL_DIR="$public"

# trace OPTIONS N: the program, N times; what it says is in $public/said.  With --attach live, as are calls within the library,
# which inject does not see; else in a replay
trace() {
	case $1 in
	*--attach* | *--tree* | *Broadcast* | -S*)
		rm -f "$public/said"
		run cudatrace $1 -c "$bin/nccl-args $2 >$public/said"
		;;
	*) replayed cudatrace $1 -c "$bin/nccl-args $2 >$public/said" ;;
	esac
}

# said FILE: func, args and ret of its objects, with the keys in order
said() { jq -cS '{func, args, ret}' "$1" | LC_ALL=C sort; }

# all_shown N: the tool shows N calls, those that the program says it made
all_shown() {
	said "$public/said" >"$tmp/want"
	said "$tmp/out" >"$tmp/got"
	LC_ALL=C diff "$tmp/want" "$tmp/got" >"$tmp/diff" || no "other calls: $(head -n 4 "$tmp/diff" | cut -c 1-300)"
	json "$1" true
}

for kind in session ${LONG:+multi inject}; do
	it "--attach $kind: every argument of each function of the library, and what was stored"
	trace "--attach $kind -je nccl" 1
	status 0
	all_shown 40
	silent
	# but for those that are there for PyTorch alone
	nm -D --defined-only "$lib/libnccl.so.2" | sed -nE 's/.* (nccl[A-Z].*)/\1/p' |
		grep -vE "$(sed -nE 's/^REFUSED\((.*)\)$/^\1$/p' tests/sim/nccl.c | tr '\n' '|')egister$" | LC_ALL=C sort >"$tmp/want"
	jq -r .func "$tmp/out" | LC_ALL=C sort -u >"$tmp/got"
	equal "$(diff "$tmp/want" "$tmp/got")" ''
	json 40 '.layer == "nccl" and .captured == false and .kernel == null and .latency_ns > 0' \
		3 '.error == "ncclInvalidArgument" or .error == "ncclInvalidUsage"' \
		1 '.ret == 7 and .error == "ncclInProgress" and .args["*comm"]'
done

it "as text: enums by name, the stored values in place of pointers, the beginning of an id that is passed by value"
trace "-e nccl" 1
hex='0x[0-9a-f]+'
lines 1 "^ncclReduce\(sendbuff=$hex, recvbuff=$hex, count=3, datatype=ncclInt8, op=ncclProd, root=0, comm=$hex, stream=0x2\) = 0$"
lines 1 "^ncclReduceScatter\(.*, datatype=ncclUint64, op=5, comm=$hex, stream=0x2\) = 0$"
lines 1 "^ncclAllReduce\(.*, datatype=99, op=ncclAvg, .*\) = ncclInvalidArgument \(4\)$"
lines 1 '^ncclGroupEnd\(\) = ncclInvalidUsage \(5\)$'
lines 1 '^ncclGroupEnd\(\) = 0$'
id="\{$hex, $hex, $hex, $hex, \.\.\.\}"
lines 1 "^ncclCommInitRank\(\*comm=$hex, nranks=1, commId=$id, rank=0\) = 0$"
lines 1 "^ncclCommInitRankConfig\(comm=$hex, nranks=-1, commId=$id, rank=2, config=$hex\) = ncclInvalidArgument \(4\)$"
lines 1 "^ncclCommInitRankConfig\(\*comm=$hex, nranks=1, commId=$id, rank=0, config=$hex\) = ncclInProgress \(7\)$"
lines 3 "^ncclGetUniqueId\(\*uniqueId=$id\) = 0$"
lines 1 "^ncclCommGetAsyncError\(comm=$hex, \*asyncError=ncclSuccess\) = 0$"
lines 1 '^ncclGetErrorString\(result=ncclRemoteError\) = "simulated error"$'
lines 40 ''

it "-e takes groups, names and patterns of them; the default has what it has of CUDA: no queries and no errors"
trace "-je operation" 3
json 39 '.func | test("^nccl(All|Reduce|B|Gather|Scatter|Send|Recv)")' 39 true
trace "-je comm,group" 3
json 9 '.func | test("^ncclGroup")' 60 '.func | test("^nccl(Comm|GetUniqueId)")' 69 true
trace "-je nccl,!operation,!comm,!ncclGroup*" 3
equal "$(jq -r .func "$tmp/out" | sort | uniq -c | tr -s ' \n' ' ')" \
	' 3 ncclCommGetAsyncError 3 ncclGetErrorString 3 ncclGetLastError 3 ncclGetVersion '
trace -j 3
json 0 '.func | test("^nccl(GetVersion|CommCount|CommCuDevice|CommUserRank|CommGetAsyncError|GetErrorString|GetLastError)$")' \
	99 '.layer == "nccl"'
trace "-je !nccl" 1
json 0 true
fails 2 "--trace: unknown function or group 'ncclAlReduce'; did you mean ncclAllReduce" cudatrace -e ncclAlReduce

it "ncclBcast is shown once, with what it calls under --tree, which is left out with it"
trace "-e nccl --tree" 1
lines 1 '^nccl    ncclBcast\('
lines 1 '^nccl      ncclBroadcast\('
lines 1 '^nccl    ncclBroadcast\('
trace "-je ncclBroadcast" 1
json 2 '.func == "ncclBroadcast"'
trace "-je operation,!ncclBcast" 1
json 1 '.func == "ncclBroadcast"' 12 true

it "-x: those that failed, of which a call that goes on is none"
trace "-xje nccl" 5
sum 10 'select(.error == "ncclInvalidArgument" and .ret == 4 and (.args | has("*comm") | not)).count' \
	5 'select(.func == "ncclGroupEnd" and .error == "ncclInvalidUsage").count' \
	15 .count

it "-S counts calls and failures, --chrome has them by the names of their results"
trace "-Sje nccl" 7
json 1 '.func == "ncclAllReduce" and .layer == "nccl" and .calls == 14 and .errors == 7' \
	1 '.func == "ncclCommInitRankConfig" and .calls == 14 and .errors == 7' \
	1 '.func == "ncclCommDestroy" and .calls == 35 and .errors == 0'
sum 280 .calls
trace "-Se nccl" 7
lines 1 ' 14 +7 ncclAllReduce$'
trace "-e nccl --chrome $public/chrome" 1
jq -c '.[] | select(.cat == "nccl")' "$public/chrome" >"$tmp/out"
json 40 '.ph == "X" and .dur >= 0' \
	1 '.name == "ncclReduce" and .args.datatype == "ncclInt8" and .args.op == "ncclProd" and .args.return == 0' \
	1 '.name == "ncclGroupEnd" and .args.return == "ncclInvalidUsage"'

it "--slower, -n, -k, --folded, --enter and --unchecked work for them"
trace "-je nccl -n 7" 3
json 7 '.ret == 0'
trace "-je nccl --slower 20000000" 3
json 0 true
trace "-kje ncclGather" 3
json 3 '.stack | map(.sym) | contains(["operate", "all", "main"])'
trace "-e ncclGather --folded" 3
lines 1 '^nccl-args;.*main;all;operate;ncclGather [0-9]+$'
trace "-e group --enter" 3
lines 9 '^> ncclGroup(Start|End)\(\)$'
lines 6 '^< ncclGroup(Start|End)\(\) = 0$'
trace "--unchecked -je nccl" 3
sum 3 'select(.func == "ncclAllReduce" and .next == "ncclCommInitRankConfig").count' \
	3 'select(.func == "ncclGroupEnd" and .next == "ncclGetUniqueId").count' \
	9 .count

it "operations of ranks that are captured into a CUDA graph are marked"
replayed cudatrace -je nccl,stream,graph -c "$bin/nccl 2 init allreduce 3 1 capture 7 1 allreduce 2 1 destroy >$public/said"
json 14 '.func == "ncclAllReduce" and .captured and (.args.stream != "0x0")' \
	10 '.func == "ncclAllReduce" and (.captured | not)'

# A libnccl that calls CUDA: an operation makes 3 allocations, and one that fails.
cat >"$tmp/calls.c" <<'END'
#include <stddef.h>
int cudaMalloc(void **p, size_t n);
int cudaDeviceSynchronize(void);
int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, void *comm, void *stream)
{
	void *p;

	for (int i = 0; i < 3; i++)
		if (cudaMalloc(&p, 4096))
			return 2;
	return cudaMalloc(&p, 1ul << 50) ? 1 : 0;
}
int ncclGroupStart(void) { return 0; }
int ncclGroupEnd(void) { return cudaDeviceSynchronize(); }
END
cat >"$tmp/main.c" <<'END'
#include <stddef.h>
int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, void *comm, void *stream);
int ncclGroupStart(void), ncclGroupEnd(void), cudaMalloc(void **p, size_t n);
int main(void)
{
	void *p;

	for (int i = 0; i < 5; i++) {
		ncclGroupStart();
		ncclAllReduce(NULL, NULL, 3, 7, 0, NULL, NULL);
		ncclGroupEnd();
	}
	return cudaMalloc(&p, 64);
}
END
mkdir "$public/lib"
${CC:-cc} -w -shared -fPIC -Wl,-soname,libnccl.so.2 -o "$public/lib/libnccl.so.2" "$tmp/calls.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib"
${CC:-cc} -w -o "$public/main" "$tmp/main.c" "$public/lib/libnccl.so.2" "$lib/libcudart.so.13" -Wl,-rpath,"$public/lib:$lib"

for kind in session ${LONG:+inject}; do
	it "--attach $kind: the calls of CUDA that NCCL makes are shown, too, and once"
	run cudatrace --attach "$kind" -jc "$public/main"
	json 5 '.func == "ncclAllReduce" and .error == "ncclUnhandledCudaError"' \
		16 '.func == "cudaMalloc" and .error == null' \
		5 '.func == "cudaMalloc" and .error == "cudaErrorMemoryAllocation"' \
		5 '.func == "cudaDeviceSynchronize"' \
		10 '.func | test("^ncclGroup")' \
		41 true
	silent
done

it "-x has the failed call of CUDA before that of NCCL; --tree has them below it; --unchecked has no call inside one of NCCL"
replayed cudatrace -xc "$public/main"
lines 1 ' main +cudaMalloc\(.*\) = cudaErrorMemoryAllocation \(2\)$'
lines 1 ' main +ncclAllReduce\(.*\) = ncclUnhandledCudaError \(1\)$'
lines 2 ' \[4 times in [0-9.]+ [mu]?s\]$'
equal "$(sed -n '2,3s/(.*//p' "$tmp/out" | sed 's/.* //' | tr '\n' ' ')" 'cudaMalloc ncclAllReduce '
replayed cudatrace --tree -jc "$public/main"
json 5 '.func == "ncclAllReduce" and .depth == 0' 20 '.func == "cudaMalloc" and .depth == 1' \
	1 '.func == "cudaMalloc" and .depth == 0' \
	20 '.func == "cuMemAlloc_v2" and .depth == 2' \
	1 '.func == "cuMemAlloc_v2" and .depth == 1'
replayed cudatrace --unchecked -jc "$public/main"
sum 5 'select(.func == "ncclAllReduce" and .next == "ncclGroupEnd").count' 5 .count

it "--chrome counts the memory that is allocated inside of NCCL"
replayed cudatrace --chrome "$public/chrome" -c "$public/main"
jq -r '.[] | select(.ph == "C") | .args.held // empty' "$public/chrome" | sort -n | tail -n 1 >"$tmp/out"
equal "$(cat "$tmp/out")" $((15 * 4096 + 64))

it "NVIDIA's own libnccl: its version, texts and ids, what it stores, and calls by their other names; each function has a probe"
real=${CUDA:-/usr/local/cuda}/lib64/libnccl.so.2
if [ ! -e "$real" ]; then
	skip "there is no libnccl of NVIDIA's"
elif ldconfig -p | grep -q 'libcuda\.so\.1'; then
	skip "there is a driver"
else
	cat >"$tmp/real.c" <<-'END'
		#include <stdio.h>
		#include "tests/sim/sim_nccl.h"
		ncclResult_t pncclBcast(void *, size_t, int, int, ncclComm_t, simStream_t);
		int main(void)
		{
			ncclUniqueId id;
			ncclComm_t c;
			int v;

			for (int i = 0; i < 3; i++)
				ncclGetVersion(&v);
			printf("%d\n", v);
			for (int i = 0; i < 5; i++)
				pncclBcast(NULL, 7, ncclBfloat16, 0, NULL, NULL);
			ncclGetUniqueId(&id);
			ncclCommInitRank(&c, 11, id, 2);
			ncclGetErrorString(ncclRemoteError);
		}
	END
	${CC:-cc} -I. -o "$public/real" "$tmp/real.c" "$real" "-Wl,-rpath,${real%/*}" 2>"$tmp/err" || no "$(head -n 3 "$tmp/err")"
	run env NCCL_SOCKET_IFNAME=lo cudatrace -je nccl -c "$public/real >$public/said"
	json 3 ".func == \"ncclGetVersion\" and .args[\"*version\"] == $(cat "$public/said")"
	json 5 '.func == "ncclBcast" and .args.datatype == "ncclBfloat16" and .args.count == 7 and .error == "ncclInvalidArgument"' \
		1 '.func == "ncclCommInitRank" and .args.nranks == 11 and .args.rank == 2 and .error == "ncclUnhandledCudaError"'
	equal "$(jq -c 'select(.func == "ncclCommInitRank").args.commId' "$tmp/out")" \
		"$(jq -c 'select(.func == "ncclGetUniqueId").args["*uniqueId"]' "$tmp/out")"
	json 1 '.func == "ncclGetErrorString" and (.ret | test("remote"))' 11 true
	nm -D --defined-only "$real" | sed -nE 's/.* [TW] (nccl[A-Z][^@]*).*/\1/p' | LC_ALL=C sort >"$tmp/want"
	run cudatrace -e nccl --list -jl "$real"
	equal "$(jq -r --arg real "$real" 'select(.layer == "nccl" and .file == $real).func' "$tmp/out" | LC_ALL=C sort -u | diff "$tmp/want" -)" ''
fi
