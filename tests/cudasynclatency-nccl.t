# shellcheck shell=sh disable=SC2016,SC2086 # jq; words
# What cudasynclatency prints of NCCL for a wait in flight, on the simulated libnccl: an operation takes until all ranks have called
# it, and work of a default stream until that of all streams before it is done.
light

public=$(mktemp -d) && chmod 777 "$public"	# where any user may write
trap 'rm -rf "$public"; finish' EXIT
export SIM_NCCL_DIR="$public"
first="init allreduce 5 10 sync wait"
late="late-until 1 $public/come"

# begin OPTIONS WORDS [RANKS]: the tool, and ranks that have called NCCL, and do these words once the tool has probed their events
begin() {
	rm -f "$public"/*
	: >"$public/come"
	mkfifo "$public/go"
	tool cudasynclatency -v $1 -c "$bin/nccl ${3:-3} $first $2 <$public/go >$public/said" 100ms
	exec 3<>"$public/go"	# which does not wait for the tool to open it
	until_true grep -q ready "$public/said"
	until_true probed "${3:-3}"
	seen=$(wc -l <"$tmp/out")
	echo >&3
}

# come_to N: the ranks are at their Nth word `wait`
come_to() { [ "$(grep -c ready "$public/said")" = "$1" ]; }

# probed N: so many processes have been, or, with inject, all together
probed() { [ "$(grep -c 'calls NCCL: probing events and captures' "$tmp/err")" = "$1" ] || grep -q 'with inject' "$tmp/err"; }

# report FUNCTION N: the calls in flight of the last report are N of this function; they are in $tmp/last
report() {
	tail -n "+$((seen + 1))" "$tmp/out" | jq -cs 'map(select(.running)) | (map(.time) | max) as $t | .[] | select(.time == $t)' >"$tmp/last"
	[ "$(jq -r .func "$tmp/last" | grep -cx "$1")" = "$2" ]
}

# ends: the late rank comes, and all ends; what was in flight is in $tmp/out
ends() {
	echo come >"$public/come"
	exec 3>&-
	wait "$tracer"
	rc=$?
	status 0
	grep -v -e '^libbpf: ' -e ': attaching with ' -e ' calls NCCL: ' "$tmp/err" >"$tmp/of"
	mv "$tmp/of" "$tmp/err"
	silent
	cp "$tmp/last" "$tmp/out"
}

# behind OPTIONS FUNCTION WORDS: two ranks wait in the function for the third one
behind() {
	begin "-j $1" "$3"
	until_true report "$2" 2
	ends
}

# is COUNT: that is what both are behind
is() {
	json 2 "(.nccl_rank == 0 or .nccl_rank == 2) and .nccl_nranks == 3 and .nccl_func == \"ncclAllReduce\" and
		.nccl_count == $1 and .nccl_data_type == \"f32\" and .nccl_ns > 0 and .complete and
		.nccl_communicator == \"$(sed -n 's/^rank 0 of 3: //p' "$public/said")\""
	equal "$(jq .nccl_rank "$tmp/out" | sort | tr '\n' ' ')" '0 2 '
}

# is_none N: nothing is known
is_none() {
	json $1 '.nccl_func == null and .nccl_count == null and .nccl_data_type == null and .nccl_communicator == null and
		.nccl_rank == null and .nccl_nranks == null and .nccl_ns == null and has("nccl_ns")'
}

for kind in session ${LONG:+inject}; do
	it "--attach $kind: a wait for an event: the last operation before it was recorded"
	behind "--attach $kind" cudaEventSynchronize "$late allreduce 1 7 mark allreduce 1 11 event-sync"
	is 7
done

it "a wait for a stream, or for the device: the last operation there"
behind '' cudaStreamSynchronize "$late allreduce 3 11 allreduce 1 7 sync"
is 7
behind '' cudaStreamSynchronize "stream $late allreduce 1 7 sync"
is 7
behind '' cudaDeviceSynchronize "stream $late allreduce 1 7 device-sync"
is 7

it "at the driver only"
behind '--layer driver' cuEventSynchronize "stream $late allreduce 1 7 mark allreduce 1 11 event-sync"
is 7

it "a stream that waits for an event is behind what the event is"
behind '' cudaStreamSynchronize "stream $late allreduce 1 7 mark stream await sync"
is 7
behind '' cudaEventSynchronize "stream $late allreduce 1 7 mark stream await mark event-sync"
is 7

it "a wait for another stream, or for an event in one, is behind nothing that is known"
behind '' cudaStreamSynchronize "$late allreduce 1 7 stream sync"
is_none 2
behind '' cudaEventSynchronize "$late allreduce 1 7 mark stream mark event-sync"
is_none 2

it "a stream that has another one's handle is not behind what that was"
export SIM_LATENCY_US=cuStreamSynchronize:2=-1
begin -j 'stream allreduce 1 7 destroy-stream sync'
until_true report cudaStreamSynchronize 3
stop TERM
cp "$tmp/last" "$tmp/out"
is_none 3
unset SIM_LATENCY_US

it "captured calls are not enqueued"
behind '' cudaDeviceSynchronize "$late allreduce 1 7 capture 13 10 device-sync"
is 7
behind '' cudaStreamSynchronize "$late allreduce 1 7 graph 13 10 sync"
is 7

it "a synchronous copy waits for the default stream"
export SIM_LATENCY_US=cuMemcpyDtoD_v2=-1
begin '-ij' 'allreduce 1 7 copy-sync'
until_true report cudaMemcpy 3
stop TERM
cp "$tmp/last" "$tmp/out"
json 3 '.nccl_func == "ncclAllReduce" and .nccl_count == 7'
unset SIM_LATENCY_US

it "a program that calls no NCCL has no probes of events; with --folded, none of NCCL are placed"
run cudasynclatency -v -c "$bin/mem eventsync 13"
says_not 'calls NCCL'
run cudasynclatency --list -c "$bin/nccl 1 init >/dev/null"
lines 1 ' ncclAllReduce '
lines 1 ' cudaEventRecord '
run cudasynclatency --folded --list -c "$bin/nccl 1 init >/dev/null"
lines 1 ' cudaEventSynchronize '
lines 0 ' (nccl[A-Z].*|cudaEventRecord) '

it "in text"
begin '' "$late allreduce 1 7 sync"
in_text() { [ "$(grep -c '^still waiting' "$tmp/out")" -ge 2 ]; }
until_true in_text
cp "$tmp/out" "$tmp/last"
ends
for rank in 0 2; do
	grep -E "^still waiting: thread [0-9]+ \\(nccl\\) in cudaStreamSynchronize for [0-9.]+ m?s; last NCCL operation: ncclAllReduce of 7 f32, [0-9.]+ m?s ago, communicator $(sed -n "s/^rank $rank of 3: //p" "$public/said"), rank $rank of 3\$" "$tmp/out" >/dev/null ||
		no "rank $rank: $(grep '^still' "$tmp/out")"
done

it "a program that was traced late: what was called before is unknown, its communicator is read"
rm -f "$public"/*
program "$bin/nccl" 3 init late 1 wait sync allreduce 1 7 device-sync
sed 's/0x0*/0x/' "$tmp/ready" >"$public/said"
tool cudasynclatency -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)" 100ms
seen=0
echo >&3
until_true report cudaDeviceSynchronize 2
stop
exec 3>&-
kill -9 "$pid"
cp "$tmp/last" "$tmp/out"
is_none 1
json 2 ".func == \"cudaDeviceSynchronize\" and .device == null and .nccl_count == 7 and .nccl_rank != 0 and .nccl_nranks == 3 and
	.nccl_communicator == \"$(sed -n 's/^rank 0 of 3: //p' "$public/said")\""

long || leave

# more than the ring buffer takes
it "when a record was lost, nothing is said of operations from before"
begin -j "wait finalize-often 50021 late 1 wait sync $late allreduce 1 7 sync" 2
until_true come_to 2
kill -STOP "$tracer"
echo >&3
until_true come_to 3
kill -CONT "$tracer"
echo >&3
until_true report cudaStreamSynchronize 1
echo come >"$public/come"
until_true report cudaStreamSynchronize 2
stop TERM
exec 3>&-
cp "$tmp/last" "$tmp/out"
is_none 1
json 1 '.nccl_func == "ncclAllReduce" and .nccl_count == 7 and .nccl_rank == 1 and .nccl_nranks == 2'
says 'records lost: the ring buffer was full'
