# shellcheck shell=sh disable=SC2016,SC2086,SC2154 # $lists: words; rc: the words'
# What the tools print with --json, in all ways that make other rows, against the schema that scripts/gen_json.awk makes.
light
rows=$tmp/rows schema=$O/json-schema.json
mkdir "$rows"

# of TOOL: what it has just printed, for later
of() { grep '^{' "$tmp/out" >>"$rows/$1" || no "$1 prints no JSON"; }

# prints TOOL ARGUMENT...: runs it for that; replays TOOL ARGUMENT...: the same, by a recording
prints() { run $env "$@"; of "$1"; }
replays() { replayed "$@"; of "$1"; }
env=

# wrong: lines of $rows and what is wrong with them, in $tmp/out; whether there are any
wrong() { run python3 tests/schema.py "$schema" "$1"; status 0; [ -s "$tmp/out" ]; }

it "the schema is one, and says of each key what it is, and since when"
mkdir "$tmp/none"
! wrong "$tmp/none" || no "$(head -n 3 "$tmp/out")"
for t in tools/*.c; do
	t=$(basename "$t" .c)
	! "$t" --help | grep -q -- ' --json ' || jq -e --arg t "$t" '."$defs"[$t].anyOf | length > 4' "$schema" >/dev/null ||
		no "$t is not in it"
done

it "a key that is not in it, one that is missing, one of another type, and rows of other types and tools are wrong"
mkdir "$tmp/bad"
head='"type":"held","time":1.5,"pid":1,"comm":"a","container":null,"at":"exit","complete":true,"memory":null,"device":null'
row="$head,\"bytes\":7,\"count\":1,\"oldest_ns\":null"
cat >"$tmp/bad/cudaleak" <<END
{$row}
{$row,"byte":1}
{$head,"bytes":7,"count":1}
{$head,"bytes":"7","count":1,"oldest_ns":null}
{$row,"stack":[{"kind":"native","sym":"f","off":"0x1","file":null,"line":null,"lines":1}]}
{"type":"function"}
{"pid":1}
END
wrong "$tmp/bad" || no "nothing is"
lines 6 '^cudaleak: '
lines 1 "'byte' was unexpected"
lines 1 "'oldest_ns' is a required property"
lines 1 "bytes: '7' is not of type"
lines 1 "'lines' was unexpected"
lines 2 'no such type'

it "cudamallocsnoop: each line is as the schema says"
replays cudamallocsnoop -jk --lines -c "$bin/mem malloc 3 64 free 1 streams 1 use 2 async 2 64 fail 1 badfree 1"
prints cudamallocsnoop --attach session -jk --tensors -c "$bin/usdt segment 100000 malloc 23 1000 free 7"
replays cudamallocsnoop -jk -c "$bin/nofp large_hole >/dev/null"
shows_in_flight 'cudamallocsnoop -k' cudaMalloc "malloc 3 64"
of cudamallocsnoop

it "ncclsnoop: each line is as the schema says"
SIM_NCCL_DIR=$tmp
export SIM_NCCL_DIR
replays ncclsnoop -jk --lines -c "$bin/nccl 2 init allreduce 3 64 reduce 2 1 ring 2 1 bad 1 null capture 2 1 destroy >/dev/null"
program "$bin/nccl" 1 wait lost
tool ncclsnoop -kjp "$(sed -n 's/^ready //p' "$tmp/ready")"
echo >&3
sleep .2
stop
exec 3>&-
kill -9 "$pid"
of ncclsnoop

it "nccltop: each line is as the schema says"
replays nccltop -jc "$bin/nccl 2 init allreduce 3 64 ring 2 1 bad 1 capture 2 1 destroy >/dev/null"
program "$bin/nccl" 1 wait lost
tool nccltop -jp "$(sed -n 's/^ready //p' "$tmp/ready")" 100ms
echo >&3
until_true grep -q '"running":true' "$tmp/out"
stop
exec 3>&-
kill -9 "$pid"
of nccltop

it "cudatop: each line is as the schema says"
replays cudatop --tree -jc "$bin/mem malloc 3 64 launch 7 copy 3 64 h2d"
replays cudatop --gpu-time -jc "$bin/mem launch 7"
program "$bin/nccl" 2 wait lost
tool cudatop -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)"
echo >&3
sleep .2
stop
exec 3>&-
kill -9 "$pid"
of cudatop

it "ncclhang: each line is as the schema says"
prints ncclhang -w 300ms -jc "$bin/nccl 3 init watchdog allreduce 3 10 split 1 broadcast 2 10 destroy late-until 1 $tmp/out reduce 1 7 mark sync >/dev/null"
prints ncclhang -w 300ms -jac "SIM_NCCL_STUCK=1 $bin/nccl 2 init watchdog ring 3 10 mark sleep 1000 >/dev/null"
program "$bin/nccl" 1 wait lost
tool ncclhang -jp "$(sed -n 's/^ready //p' "$tmp/ready")"
echo >&3
wait "$tracer"
exec 3>&-
kill -9 "$pid"
"$bin/nccl" 2 init watchdog late-rank 1 9000 allreduce 1 7 mark sync >"$tmp/ready" & pid=$!
until_true eval '[ "$(grep -c "^rank" "$tmp/ready")" = 2 ]'
python3 tests/sim/ras.py 2.30 "$(pgrep -P "$pid" -o)" "$(sed -n 's/^rank 0 of 2: //p' "$tmp/ready")" >"$tmp/port" 9>&- & server=$!
pids="$pids $pid $server"
until_true test -s "$tmp/port"
prints ncclhang -j --ras "127.0.0.1:$(cat "$tmp/port")" -p "$(pgrep -P "$pid" | tr '\n' , | sed 's/,$//')"
kill -9 "$pid" "$server"
of ncclhang

it "cudaleak: each line is as the schema says"
words="malloc 7 64 fork '(' free 3 ')' join"
for lists in '' -a '-C -s 2' '--growth --lines'; do replays cudaleak -j $lists -c "$bin/mem $words"; done
for lists in '' -a --growth; do replays cudaleak -j --handles $lists -c "$bin/mem streams 3"; done
replays cudaleak --account -jc "$bin/mem malloc 3 64 host 2 64 fail 1"
prints cudaleak --attach session -j --tensors -c "$bin/usdt segment 100000 malloc 23 1000 free 7"
program "$bin/mem-drv" ctxcreate wait drvmalloc 23 4096 ctxcreate drvmalloc 7 64 drvreset 0
tool cudaleak -Cj -p "$pid"
go
stop
of cudaleak

it "cudamemcpysize: each line is as the schema says"
words='copy 3 64 h2d copyasync 5 64 d2h peer 2 64 copy 1 0 h2d'
prints cudamemcpysize -j --gpu-time -c "$bin/mem $words"
for lists in '' '--time --memset' --bandwidth '-k --per-stream --host'; do replays cudamemcpysize -j $lists -c "$bin/mem $words"; done
shows_in_flight cudamemcpysize cudaMemcpy "copy 3 64 h2d"
of cudamemcpysize

it "cudalaunchtop: each line is as the schema says"
for lists in '' -P '-kx --per-stream'; do
	replays cudalaunchtop -j $lists -c "$bin/mem launch 3 badlaunch 2 coop 1 graph 1 drvlaunch 1"
done
replays cudalaunchtop -j --gpu-time -c "$bin/mem launch 3"
replays cudalaunchtop -j --gaps -c "$bin/mem launch 3 sleep 5 launch 1"
for lists in '' '-x --per-stream'; do
	replays cudalaunchtop -j --graphs $lists -c "$bin/graphs begin launch a 2 take 7 end make replay 3 create copy-node 1 7 \
		alloc-node 5 make replay 5"
done

it "cudasynclatency: each line is as the schema says"
for lists in '' '-kO --per-stream'; do replays cudasynclatency -j $lists -c "$bin/mem sync 3 streamsync 5 eventsync 2"; done
shows_in_flight cudasynclatency cudaDeviceSynchronize "sync 3"
of cudasynclatency
tool cudasynclatency -j -c "SIM_NCCL_STUCK=1 $bin/nccl 1 init allreduce 3 64 sync >/dev/null" 100ms
until_true grep -q '"nccl_func":"ncclAllReduce","nccl_count":64,' "$tmp/out"
stop TERM
of cudasynclatency

it "cudatrace: each line is as the schema says"
words='malloc 3 64 fail 1 free 2 launch 5 copy 2 64 h2d streams 1 pitch 1 64 64 host 1 64'
for lists in -kr '--enter --tree' --enter-only -S -Sk --unchecked; do replays cudatrace -j $lists -c "$bin/mem $words"; done
replays cudatrace -jk -c "env SIM_FAIL=cuCtxSynchronize:1=700 $bin/mem launch 5 sync 1"
replays cudatrace -je cudaMalloc -c "env SIM_LATENCY_US=cudaMalloc=200000 $bin/jump 3 5"
shows_in_flight cudatrace cudaMalloc "launch 3 malloc 3 64"
of cudatrace

it "tools that put probes into kernels: each line is as the schema says"
env='env SIM_KERNELS=1'
prints cudamemtime -jq --op all -S all -- "$bin/timed" tests/ptx/timed.ptx sum 3 40 128 5003
prints cudamemtime -jq --list tests/ptx/timed.ptx
prints cudakerneltime -jqk -- "$bin/lanes" copy 7 13 96 1
prints cudabounds -jq -- "$bin/lanes" over 7 13 96 37
prints cudacoalesce -jq -- "$bin/lanes" copy 7 13 96 3
ptxas=$(command -v "${CUDA:-/usr/local/cuda}/bin/ptxas" ptxas | head -n 1)
[ -z "$ptxas" ] || PATH=${ptxas%/*}:$PATH prints cudamemtime -jqv --list tests/ptx/timed.ptx
env=

it "--list and --check: each line is as the schema says"
for t in cudabt cudalaunchtop cudaleak cudamallocsnoop cudamemcpysize cudasynclatency cudatrace; do
	prints "$t" -j --check
	[ "$t" = cudabt ] || prints "$t" -j --list -c "$bin/mem malloc 1 64"
done
prints cudabt -j --list -l "$lib/libcudart.so.13" -e 'cuda:cudaMalloc, cudaret:cudaFree { }'

it "no line has another key, or one of another type"
! wrong "$rows" || no "$(wc -l <"$tmp/out") lines"

it "each key of the schema is printed, but for those that are known to be seldom"
cat >"$tmp/seldom" <<'END'
cudaleak.uncertain ignored	220,000 allocations of a user: tests/long/bounds.t
cudaleak.uncertain unseen_frees	the record of a free was lost
END
[ -n "$ptxas" ] || jq -r '."$defs"."cudamemtime.cost".properties | keys[] | "cudamemtime.cost \(.)\tno ptxas here"' "$schema" >>"$tmp/seldom"
cut -f1 "$tmp/seldom" | sort | diff - "$rows/not-printed" >"$tmp/diff" || no "$(grep '^[<>]' "$tmp/diff" | tr '\n' ';')"
