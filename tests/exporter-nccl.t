# shellcheck shell=sh disable=SC2016,SC2086 # of eval; words
# cudaexporter's metrics of NCCL, on the simulated libnccl: its ranks meet when they make a communicator, and do not wait for each
# other in operations.
SIM_NCCL_DIR=$tmp
export SIM_NCCL_DIR

# is N REGEX [FILE]: the samples whose names and labels match add up to N; "none": there are none
is() {
	got=$(grep -v '^#' "${3:-$tmp/out}" | grep -E -- "$2" | awk '{ n += $NF; any = 1 } END { printf any ? "%.12g" : "none", n }')
	[ "$got" = "$1" ] || no "$2 is $got, not $1"
}

# page WORDS [OPTION...]: a page at the end of these ranks
page() {
	words=$1
	shift
	${live:-replayed} cudaexporter --once "$@" -c "$bin/nccl $words >$tmp/said"
	status 0
}

# ranks: the process ids of what program() began
ranks() { sed -n 's/^ready //p' "$tmp/ready" | tail -n 1 | tr ' ' ,; }

# shows N REGEX: as is, of the file that the exporter writes
shows() { succeeds is "$1" "$2" "$tmp/page"; }

# watches: the ranks' page in $tmp/page
watches() { tool cudaexporter --textfile "$tmp/page" --interval 1 -p "$(ranks)"; }

# waits N: for the Nth word `wait` of the ranks
waits() { [ "$(grep -c ^ready "$tmp/ready")" = "$1" ]; }

for kind in session ${LONG:+multi}; do
	it "--attach $kind: operations, bytes and failed calls of each rank, exactly"
	live=run
	page '3 init allreduce 101 100 bcast 7 1000 ring 13 50 bad 5 capture 17 10 graph 3 10 launch 7 sync destroy' --attach "$kind"
	live=
	for rank in 0 1 2; do
		is 122 "^cuda_nccl_operations_total.*rank=\"$rank\",nranks=\"3\",function=\"ncclAllReduce\""
		is 7 "^cuda_nccl_operations_total.*rank=\"$rank\",nranks=\"3\",function=\"ncclBcast\""
		is 197 "^cuda_nccl_operations_total.*rank=\"$rank\""
		is 41240 "^cuda_nccl_bytes_total.*rank=\"$rank\".*function=\"ncclAllReduce\""
		is 28000 "^cuda_nccl_bytes_total.*rank=\"$rank\".*function=\"ncclBcast\""
		is 3440 "^cuda_nccl_bytes_total.*rank=\"$rank\".*function=\"ncclSend\""
		is 5 "^cuda_nccl_operations_failed_total.*rank=\"$rank\",nranks=\"3\",function=\"ncclAllReduce\""
	done
	is 591 '^cuda_nccl_operations_total'
	is 15 '^cuda_nccl_operations_failed_total'
	equal "$(grep -o 'communicator="[^"]*"' "$tmp/out" | sort -u)" \
		"communicator=\"$(sed -n 's/^rank 0 of 3: //p' "$tmp/said")\""
	equal "$(grep '^cuda_nccl_operations_total' "$tmp/out" | grep -o 'pid="[^"]*"' | sort -u | wc -l)" 3
	is none '^cuda_nccl_(last|collectives)'	# the ranks have ended
	is 0 '^cuda_exporter_lost_events_total'
	silent
done

it "a CUDA graph that is captured in another one runs with it, with --kernels and without"
for kernels in '--kernels 100' ''; do
	page '2 init graph 3 10 nest 5 launch 7 sync destroy' $kernels
	is 630 '^cuda_nccl_operations_total'
	is 14 '^cuda_launches_total'
done

it "the launches of a graph of many operations count them exactly"
page '2 init graph 101 11 launch 7 sync destroy'
is 4242 '^cuda_nccl_operations_total'
for rank in 0 1; do
	is 707 "^cuda_nccl_operations_total.*rank=\"$rank\",nranks=\"2\",function=\"ncclAllReduce\""
	is 31108 "^cuda_nccl_bytes_total.*rank=\"$rank\",nranks=\"2\",function=\"ncclSend\""
done

it "what NCCL allocates, frees and waits for in its calls counts as before; a communicator that is not to be read is unknown"
run cudaexporter --once -c "$bin/nccl_inside 13"
status 0
is 13 '^cuda_nccl_operations_total.*communicator="unknown",rank="unknown",nranks="unknown",function="ncclAllReduce"'
is 728 '^cuda_nccl_bytes_total'
is 13 '^cuda_memory_allocations_total'
is 13 '^cuda_memory_frees_total'
is 13 '^cuda_sync_duration_seconds_count'
is 0 '^cuda_exporter_lost_events_total'

it "a rank that has not come to an operation is behind, by their number"
program "$bin/nccl" 4 wait init allreduce 11 1 late 3 wait allreduce 2 1
watches
echo >&3
until_true waits 2
until_true shows 9 '^cuda_nccl_collectives_behind'
is 0 '^cuda_nccl_collectives_behind.*rank="0",nranks="4"}' "$tmp/page"
for rank in 1 2 3; do
	is 3 "^cuda_nccl_collectives_behind.*rank=\"$rank\",nranks=\"4\"}" "$tmp/page"
done
now=$(date +%s)
grep '^cuda_nccl_last_operation_timestamp_seconds' "$tmp/page" >"$tmp/out"
lines 4 'rank="[0-3]",nranks="4"'
awk -v now="$now" '!($NF > now - 60 && $NF < now + 1) { bad = 1 } END { exit bad }' "$tmp/out" || no "not $now"
go
stop

it "a rank that has begun no operation is behind, too"
program "$bin/nccl" 2 wait init late 5 wait
watches
echo >&3
until_true shows 5 '^cuda_nccl_collectives_behind.*rank="1",nranks="2"}'
is none '^cuda_nccl_last_operation.*rank="1"' "$tmp/page"
go
stop

it "a communicator that was made before has its hash, rank and size, and is not compared"
program "$bin/nccl" 3 init allreduce 7 1 wait allreduce 5 100 late 2 wait
watches
echo >&3
until_true shows 17 '^cuda_nccl_operations_total'
sed -nE 's/^rank ([0-9]) of 3: (0x[0-9a-f]+)$/\2 \1/p' "$tmp/ready" | sort >"$tmp/said"
equal "$(sed -nE 's/^cuda_nccl_operations.*communicator="([^"]*)",rank="([0-9])",nranks="3",.*/\1 \2/p' "$tmp/page" | sort)" "$(cat "$tmp/said")"
is 6008 '^cuda_nccl_bytes_total' "$tmp/page"
is none '^cuda_nccl_collectives_behind' "$tmp/page"
equal "$(grep -c '^cuda_nccl_last_operation' "$tmp/page")" 3
go
stop

it "communicators that are split, and that do not block, have series of their own"
program "$bin/nccl" 4 wait init allreduce 5 1 split 2 allreduce 7 1 wait destroy init-nonblocking nap 9 1 allreduce 11 1 wait
watches
echo >&3
until_true shows 48 '^cuda_nccl_operations_total'
is 20 '^cuda_nccl_operations_total.*nranks="4"' "$tmp/page"
is 28 '^cuda_nccl_operations_total.*nranks="2"' "$tmp/page"
equal "$(grep '^cuda_nccl_operations' "$tmp/page" | grep 'nranks="2"' | grep -o 'communicator="[^"]*"' | sort -u | wc -l)" 2
equal "$(grep -c '^cuda_nccl_collectives_behind' "$tmp/page")" 8
echo >&3
it "gauges of a communicator that has ended go at once, its counters stay for a while"
until_true waits 3
gone() { shows 92 '^cuda_nccl_operations_total' && ! grep -q '^cuda_nccl_.*nranks="2"} ' "$tmp/page"; }
until_true gone
is 28 '^cuda_nccl_operations_total.*nranks="2"' "$tmp/page"
equal "$(grep -c '^cuda_nccl_last_operation.*nranks="4"' "$tmp/page")" 8
go
stop

it "--by comm: each rank has its series"
page '3 init allreduce 23 100 destroy' --by comm
for rank in 0 1 2; do
	is 23 "^cuda_nccl_operations_total\\{comm=\"nccl\",communicator=\"0x[0-9a-f]*\",rank=\"$rank\",nranks=\"3\",function=\"ncclAllReduce\"}"
done
lines 3 '^cuda_nccl_operations_total'

it "--communicators N: further ones are other, and so are calls without one"
page '2 init allreduce 5 1 init allreduce 7 1 init allreduce 11 1 null null null destroy destroy destroy' --communicators 1
is 10 '^cuda_nccl_operations_total.*communicator="0x'
is 36 '^cuda_nccl_operations_total.*communicator="other",rank="other",nranks="other"'
is 6 '^cuda_nccl_operations_failed_total.*communicator="other"'
page '2 init allreduce 5 1 init allreduce 7 1 init allreduce 11 1 destroy destroy destroy'
lines 6 '^cuda_nccl_operations_total.*communicator="0x'
is none 'communicator="other"'

it "--communicators 0: no function of NCCL is probed"
page '2 init allreduce 5 1 destroy' --communicators 0
is none '^cuda_nccl'
is 0 '^cuda_exporter_probes.*layer="nccl"'
run cudaexporter --list --communicators 0 -l "$lib/libnccl.so.2"
lines 0 ' nccl[A-Z]'
run cudaexporter --list -l "$lib/libnccl.so.2"
lines 1 "^$lib/libnccl.so.2 .* ncclAllReduce "

long || leave

# more than the ring buffer takes
it "after a lost record the communicators that exist are not compared any more; those made later are"
program "$bin/nccl" 2 wait init allreduce 11 1 late 3 wait allreduce 50021 1 wait init late 2 wait
watches
echo >&3
until_true shows 3 '^cuda_nccl_collectives_behind'
kill -STOP "$tracer"
echo >&3
until_true waits 3
kill -CONT "$tracer"
lost() { grep -q '^cuda_exporter_lost_events_total{reason="ring_buffer_full"} [1-9]' "$tmp/page" && ! grep -q '^cuda_nccl_collectives_behind' "$tmp/page"; }
until_true lost
echo >&3
until_true shows 2 '^cuda_nccl_collectives_behind'
go
stop

it "counters of a communicator that has ended go after three pages of each Prometheus, 30 seconds at least"
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
program "$bin/nccl" 2 wait init allreduce 7 1 destroy init allreduce 11 1 wait
tool cudaexporter --communicators 1 --web.listen-address "127.0.0.1:$port" -p "$(ranks)"
echo >&3
# as a Prometheus does
scrape() { curl -sH 'X-Prometheus-Scrape-Timeout-Seconds: 10' "http://127.0.0.1:$port/metrics" >"$tmp/page"; }
both() { scrape && shows 14 '^cuda_nccl_operations_total.*communicator="0x' && shows 22 '^cuda_nccl_operations_total.*communicator="other'; }
until_true both
began=$(date +%s)
dropped() { scrape && shows none '^cuda_nccl_operations_total.*communicator="0x'; }
until_true dropped
[ $(($(date +%s) - began)) -ge 25 ] || no "they went after $(($(date +%s) - began)) s"
is 22 '^cuda_nccl_operations_total.*communicator="other' "$tmp/page"
it "its place is another communicator's then"
until_true eval 'scrape && [ "$(grep -c "^cuda_nccl_last_operation.*rank=\"[01]\"" "$tmp/page")" = 2 ]'
go
stop
