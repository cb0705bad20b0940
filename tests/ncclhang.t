# shellcheck shell=sh disable=SC2013,SC2016,SC2046,SC2086 # jq; words
# On the simulated libnccl, where an operation takes until all ranks have called it.
light

public=$(mktemp -d) && chmod 777 "$public"	# where any user may write
trap 'rm -rf "$public"; finish' EXIT
chmod 711 "$tmp"	# for an ordinary user's program to see a file in it
export SIM_NCCL_DIR="$public"

# hang OPTIONS WORDS: watches the program until it ends
hang() {
	rm -f "$public/said"
	run ncclhang -w 300ms $1 -c "$bin/nccl $2 >$public/said"
}

# asleep N: has the program said N lines, and do those of its processes that are "here" wait?
asleep() {
	[ "$(grep -c . "$tmp/ready")" -ge "$1" ] || return
	for p in $(sed -n 's/^here //p' "$tmp/ready"); do
		grep -q '^State:.S' "/proc/$p/status" || return
	done
}

# seen OPTIONS N WORDS: looks at a program that hangs already, when it has said N lines
seen() {
	"$bin/nccl" $3 >"$tmp/ready" & pid=$!
	pids="$pids $pid"
	until_true asleep "$2"
	run ncclhang $1 -p "$(pgrep -P "$pid" | tr '\n' , | sed 's/,$//')"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}

# all ranks, until the tool has printed something
stay="late-until 0 $tmp/out late-until 1 $tmp/out late-until 2 $tmp/out"
late="init watchdog allreduce 5 10 mark sync late-until 1 $tmp/out allreduce 1 7 mark sync"

for kind in session ${LONG:+multi} inject; do
	it "--attach $kind: a rank that has not come to a collective, by the number of its calls"
	hang "--attach $kind -j" "3 $late"
	status 0
	json 3 '.verdict == "behind" and .nranks == 3 and .here == 3 and .complete' \
		1 '.type == "cause" and .kind == "root" and .why == "behind" and .waiting == 2 and .communicator_rank == 1 and .about == 6' \
		1 '.culprit and .rank == 1 and .number == 5 and .count == 10 and .completion == "complete" and .wait == null' \
		2 '(.culprit | not) and .number == 6 and .count == 7 and .completion == "pending" and .wait == "cudaStreamSynchronize"' \
		2 '.operator == "sum" and .data_type == "f32" and .func == "ncclAllReduce" and .wait_ns > 200000000 and .rank != 1' \
		3 '.type == "rank" and .idle_ns > 300000000 and .idle_ns < 60000000000 and .call == null'
	[ $kind = inject ] || json 1 '.rank == 1 and (.stack | map(.sym) | contains(["load_data", "main"]))'
	json 4 true
	silent
done

it "in text: who has not come to what, and what it does instead"
hang '--attach session' "4 $late"
status 0
lines 1 '^\[[0-9:]+\] rank 1 has not come to ncclAllReduce number 6 of 7 f32, sum, in communicator 0x[0-9a-f]+; 3 processes wait for it, for [0-9.]+ m?s$'
lines 1 '^communicator 0x[0-9a-f]+ of 4 ranks, 4 here: behind: rank 1 has not come to ncclAllReduce number 6 of 7 f32, sum, for [0-9.]+ m?s$'
lines 1 '^  ranks 0,2-3: ncclAllReduce number 6 of 7 f32, sum, not complete; in cudaStreamSynchronize, for [0-9.]+ m?s$'
lines 1 '^  rank 1: ncclAllReduce number 5 of 10 f32, sum, complete; in no call, for [0-9.]+ m?s$'
lines 1 '^    rank 1: pid [0-9]+, thread [0-9]+ \(nccl\)$'
lines 1 '^        load_data\+0x'
lines 1 '^1 hang reported$'

it "each hang is reported once, and again when something has moved"
# rank 1 is late until the first hang is reported, and again until the second one is
rm -f "$tmp/out"
for n in 2 4; do
	until_true eval '[ "$(grep -c "\"rank\"," "$tmp/out")" -ge $n ]'
	echo >"$tmp/reported.$n"
done &
hang -j "2 init late-until 1 $tmp/reported.2 allreduce 1 7 mark sync late-until 1 $tmp/reported.4 allreduce 1 11 mark sync"
wait $!
json 1 '.culprit and .number == 0 and .verdict == "behind"' \
	1 '.culprit and .number == 1 and .verdict == "behind"' \
	6 true

it "ranks that call different things by the same number"
hang -j "3 init watchdog allreduce 5 10 differ 2 allreduce 1 7 mark $stay"
json 3 '.verdict == "mismatch"' 1 '.culprit and .rank == 2 and .count == 101' \
	2 '(.culprit | not) and .count == 100'
hang '' "3 init watchdog allreduce 5 10 differ 2 allreduce 1 7 mark $stay"
lines 1 ': mismatch: rank 2 called something else than ncclAllReduce number 6 of 100 f32, sum, [0-9.]+ m?s ago$'
lines 1 '^  ranks 0-1: ncclAllReduce number 6 of 100 f32, sum; '
lines 1 '^  rank 2: ncclAllReduce number 6 of 101 f32, sum; '

hang '' "2 init watchdog allreduce 5 10 differ 1 mark $stay"
lines 1 ': mismatch: ranks 0-1 call different things as number 6, '
hang '-w 100ms' '3 init allreduce 5 10 differ 2 sleep 200'	# nobody waits for it
lines 1 '^0 hangs reported$'

it "a rank that has not launched its CUDA graph has not come to the collectives in it"
hang -j "3 init watchdog allreduce 5 10 graph 3 11 launch 7 sync late-until 1 $tmp/out launch 1 mark sync"
json 1 '.verdict == "behind" and .culprit and .rank == 1 and .number == 26 and .about == 27 and .completion == "complete" and .replayed' \
	2 '(.culprit | not) and .number == 29 and .completion == "pending" and .wait == "cudaStreamSynchronize" and .replayed' \
	3 '.nranks == 3'
hang '' "3 init watchdog allreduce 5 10 graph 3 11 launch 7 sync late-until 1 $tmp/out launch 1 mark sync"
lines 1 ': behind: rank 1 has not come to ncclAllReduce number 27 of 11 f32, sum, in a CUDA graph, for [0-9.]+ m?s: it has launched the CUDA graph less often$'

large='graph 101 11 launch 7 sync'
hang -j "3 init watchdog allreduce 5 10 $large late-until 1 $tmp/out launch 1 mark sync"
json 1 '.verdict == "behind" and .culprit and .rank == 1 and .number == 712 and .about == 713' \
	2 '(.culprit | not) and .number == 813 and .completion == "pending" and .replayed'

it "what unknown CUDA graphs have of a communicator may be what its ranks wait for"
program "$bin/nccl" 2 init watchdog graph 3 10 wait allreduce 5 10 mark sync late-until 1 "$tmp/out" launch 1 sync
tool ncclhang -w 300ms -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)"
echo >&3
until_true eval '[ "$(jq -s length "$tmp/out")" = 3 ]'
exec 3>&-
wait "$pid"
stop
json 1 '.verdict == "suspect" and (.culprit | not) and .rank == 0 and .completion == "complete" and .wait == "cudaStreamSynchronize"' \
	1 '.verdict == "suspect" and .culprit and .rank == 1 and .number == 5 and .wait == null'
says 'launches of CUDA graphs that were made before tracing began'
SIM_LATENCY_US=cuStreamSynchronize=1000000 hang -j '2 init watchdog allreduce 5 10 mark sleep 200 sync'
json 0 true

it "operations of a group begin at its end, at the same cost beside 1,999 communicators"
run "$bin/communicators" groups 11
alone=$(jq 'select(.ns) | .ns' "$tmp/out")
json 1 '.inner == 100' 3 '.began == 300' 1 '.began == 103' 1 '.bytes == 0'
run "$bin/communicators" groups 1999
jq -c "select(.ns) | .times = .ns / ($alone + 1)" "$tmp/out" >"$tmp/times"
mv "$tmp/times" "$tmp/out"
json 1 '.times < 8'

it "all ranks have come, and nothing completes"
SIM_NCCL_STUCK=1 hang -j "3 init watchdog allreduce 7 10 mark $stay"
json 3 '.verdict == "pending" and .number == 7 and .completion == "pending" and (.culprit | not)'
SIM_NCCL_STUCK=1 hang '' "3 init watchdog allreduce 7 10 mark $stay"
lines 1 ': pending: all ranks here wait for ncclAllReduce number 7 of 10 f32, sum, for [0-9.]+ m?s: the GPU, the network, or a rank elsewhere$'

it "a rank whose process has ended is named"
hang -j "3 init watchdog allreduce 5 10 mark sync die 1 allreduce 1 7 mark $stay"
json 3 '.verdict == "behind" and .about == 6 and .here == 3' \
	1 '.rank == 1 and .culprit and .ended and .number == 5 and .stack == null' \
	2 '(.ended | not) and (.culprit | not) and .completion == "pending"'
hang '' "3 init watchdog allreduce 5 10 mark sync die 1 allreduce 1 7 mark $stay"
lines 1 ': behind: rank 1 has not come to ncclAllReduce number 6 of 7 f32, sum, for [0-9.]+ m?s$'
lines 1 '^  rank 1: came to number 5; its process has ended, for [0-9.]+ m?s$'
lines 0 '^    rank 1'

# stuck OPTIONS WORDS: watches a program that does not end, until there is a report; its ranks have numbers in the job
stuck() {
	tool env RANK=000 ncclhang -w 300ms $1 -c "$bin/nccl $2 >/dev/null"
	until_true test -s "$tmp/out"
	stop TERM
}

# all ranks, until the tool ends
forever='sleep 1000000'
# of 8 ranks, by two and by four
tensor_data='8 ranked init watchdog grid 1 2 grid 2 4 use 1 allreduce 3 10 mark sync use 2 allreduce 2 10 mark sync'

it "ranks that send to each other, or receive what none sends, are named with the numbers of their calls"
hello='2 ranked init watchdog allreduce 1 10 mark sync'
both="only 0 3 send 1 10 only 1 3 send 0 10 mark sync"
stuck '' "$hello $both"
lines 1 '^\[[0-9:]+\] RANK 0 waits for RANK 1 in ncclSend number 1, RANK 1 waits for RANK 0 in ncclSend number 1, in communicator 0x[0-9a-f]+: each sends, and none receives, for [0-9.]+ m?s$'
lines 1 ': message: ranks 0 and 1 both send to each other, and neither receives \(ncclSend number 1, after 0 of ncclRecv\), for '
lines 1 '^    RANK 0-1: pid [0-9]+ and 1 more, alike$'
lines 0 'wait for ncclAllReduce'
stuck -j "$hello $both"
json 2 '.type == "cause" and .kind == "circle" and .why == "message" and .func == "ncclSend" and .about == 1 and .job_rank + .for_job_rank == 1' \
	2 '.verdict == "message" and .culprit and .completion == "pending" and .peer != .rank'
stuck '' "$hello only 0 3 recv 1 10 only 1 3 recv 0 10 mark sync"
lines 1 ': each receives, and none sends, for '
# a pipeline of three: the last receives three times, the second sends twice
pipeline="only 0 6 send 1 10 send 1 10 only 1 12 recv 0 10 send 2 10 recv 0 10 send 2 10 only 2 9 recv 1 10 recv 1 10 recv 1 10 mark sync"
stuck '--attach session' "3 ranked init watchdog $pipeline $forever"
lines 1 '^\[[0-9:]+\] RANK 1 does not send what RANK 2 receives: ncclRecv number 3 there, 2 ncclSend here, in communicator 0x[0-9a-f]+; 1 process waits for it, for '
lines 1 '^    rank 1: pid [0-9]+, RANK 1, thread [0-9]+ \(nccl\)$'
lines 1 '^        load_data\+0x'
stuck -j "3 ranked init watchdog $pipeline $forever"
json 1 '.type == "cause" and .kind == "root" and .job_rank == 1 and .func == "ncclRecv" and .about == 3 and .waiting == 1'
stuck '' "3 ranked init watchdog $pipeline allreduce 1 10 mark sync"	# the others go on to the next step
lines 1 '^\[[0-9:]+\] RANK 1 waits for RANK 2 in ncclAllReduce number 1 .*, RANK 2 waits for RANK 1 in ncclRecv number 3, in communicator '

it "communicators that ranks use in another order are a circle"
a='use 1 allreduce 1 7 mark sync' b='use 0 allreduce 1 7 mark sync'
stuck '' "4 ranked init watchdog grid 1 2 only 0 12 $a $b but 0 12 $b $a"
lines 1 '^\[[0-9:]+\] RANK 0 waits for RANK 1 in ncclAllReduce number 1 of 7 f32, sum of communicator 0x[0-9a-f]+, RANK 1 waits for RANK 0 in ncclAllReduce number 1 of 7 f32, sum of communicator 0x[0-9a-f]+: they call the collectives of these communicators in another order; 2 more processes wait for them, for '
lines 1 '^communicator 0x[0-9a-f]+ of 2 ranks, 2 here: behind: rank 1 has not come'
lines 1 '^communicator 0x[0-9a-f]+ of 4 ranks, 4 here: behind: rank 0 has not come'
lines 1 '^1 hang reported$'
lines 2 '^communicator '

it "a rank of tensor and data parallel groups that waits for a lock is the root of one hang, from the start or attached late"
lock="$tensor_data lock 5 use 1 allreduce 1 7 mark here sync use 2 allreduce 1 11 mark here sync"
stuck '--attach session' "$lock"
lines 1 '^\[[0-9:]+\] RANK 5 has not come to ncclAllReduce number [34] of (7|11) f32, sum, in communicator 0x[0-9a-f]+; 7 processes wait for it, for '
lines 1 '^\[[0-9:]+\]'
lines 1 '^        take_lock\+0x'
lines 3 '^communicator 0x[0-9a-f]+ of [24] ranks, [24] here: behind: rank [12] has not come to '
lines 3 '^communicator '	# none that is not used, and none in which nothing waits
lines 1 '^1 hang reported$'
stuck '--attach session -j' "$lock"
json 1 '.type == "cause"' \
	1 '.type == "cause" and .kind == "root" and .job_rank == 5 and .waiting == 7 and .communicators == 3 and (.stack | map(.sym) | contains(["take_lock"]))' \
	2 '.type == "rank" and .culprit and .job_rank == 5'
# late OPTIONS WORDS N: looks at it, with ranks and a process without CUDA, when it has said N lines
late() {
	RANK=000 "$bin/nccl" $2 >"$tmp/ready" & pid=$!
	pids="$pids $pid"
	until_true asleep "$3"
	run ncclhang $1 -p "$$,$(pgrep -P "$pid" | tr '\n' , | sed 's/,$//')"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}
late '' "$lock" 37
says "process $$ has no CUDA functions to trace"
lines 1 '^\[[0-9:]+\] RANK 5 does not wait for NCCL or the GPU, in communicator 0x[0-9a-f]+; 7 processes wait for it$'
lines 1 '^\[[0-9:]+\]'
lines 1 '^    RANK 0-4,6-7: pid [0-9]+ and 6 more, alike$'
lines 1 '^        take_lock\+0x'
lines 1 '^  nothing listens for RAS'

it "uneven batches: the rank that went on, and where; attached late, each stack once"
batches="3 ranked init watchdog allreduce 3 10 mark sync but 2 6 allreduce 1 10 mark here sync only 2 5 allreduce 1 1 here device-sync"
stuck '' "$batches"
lines 1 ': mismatch: rank 2 called something else than ncclAllReduce number 4 of 10 f32, sum, '
lines 1 '^    rank 2: pid [0-9]+, RANK 2, thread [0-9]+ \(nccl\)$'
lines 1 '^    RANK 0-1: pid [0-9]+ and 1 more, alike$'
late '' "$batches" 6
lines 1 ': pending: all ranks here wait, for longer than it is traced'
lines 1 '^    rank 2: pid [0-9]+, RANK 2, thread [0-9]+ \(nccl\)$'
lines 1 '^    RANK 0-1: pid [0-9]+ and 1 more, alike$'

it "a list of processes without CUDA is refused"
fails 3 "process $$ has no CUDA functions to trace" ncclhang -p "$$,$PPID"

it "what is complete is no hang, by the event behind it or by a wait; also if ranks do nothing for long"
hang '-w 100ms -j' '3 init allreduce 7 10 mark watchdog sleep 200'
json 0 true
SIM_NCCL_STUCK=1 hang '-w 100ms -j' '3 init allreduce 7 10 mark sleep 200'	# nobody has asked
json 0 true
hang '-w 100ms -j' '3 init allreduce 7 10 sync sleep 200'
json 0 true
hang '-w 100ms' '3 init ring 5 10 sync sleep 200'
lines 1 '^0 hangs reported$'
lines 1 ''

it "a message that its peer does not receive is pending"
SIM_NCCL_STUCK=1 hang -j "2 init watchdog ring 3 10 mark $stay"
json 2 '.verdict == "pending" and .func == "ncclRecv" and .peer != .rank and .number == 0'

it "a communicator that not all ranks come to make; and another call that waits for them"
export SIM_NCCL_UNTIL="$tmp/out"
hang -j '2 lost'
json 1 '.verdict == "init" and .rank == 0 and .nranks == 3 and .here == 1 and .call == "ncclCommInitRank" and .handle == null' \
	1 '.call_ns > 300000000'
hang '' '2 lost'
lines 1 ' of 3 ranks, 1 here: init: rank 0 is in ncclCommInitRank for [0-9.]+ m?s; 2 of 3 ranks have not come on this machine$'
hang '--attach session -j' "3 init split-alone $stay"
json 3 '.verdict == "call"' 1 '.rank == 0 and (.culprit | not) and .call == "ncclCommSplit"' \
	2 '.culprit and .call == null and (.stack | map(.sym) | contains(["load_data"]))'
hang '' "3 init split-alone $stay"
lines 1 ': call: rank 0 is in ncclCommSplit for [0-9.]+ m?s; ranks 1-2 are not$'
unset SIM_NCCL_UNTIL

it "a program that hangs already: who waits and who does not, by what its watchdog asks about"
hung="allreduce 5 10 mark sync watchdog late-rank 1 9000 allreduce 1 7 mark here sync"
seen -j 5 "3 init $hung"
status 0
json 3 '.verdict == "suspect" and (.complete | not) and .nranks == 3' \
	1 '.type == "rank" and .culprit and .rank == 1 and .wait == null and (.stack | map(.sym) | contains(["load_data", "main"]))' \
	2 '.type == "rank" and (.culprit | not) and .wait == "cudaStreamSynchronize"' \
	2 '.type == "running" and .func == "cudaStreamSynchronize" and (.complete | not)'
seen '' 5 "3 init $hung"
lines 1 ' of 3 ranks, 3 here: suspect: ranks 0,2 wait, rank 1 does not; earlier calls are unknown$'
lines 0 '^still waiting'
seen '' 6 '3 init allreduce 5 10 sync here sleep 9000'
lines 1 '^no communicator of NCCL was seen$'

it "a program that hangs already and does not ask about its communicators: who of its processes waits and who does not"
seen '' 5 "3 init ${hung%%watchdog*}${hung#*watchdog}"
lines 1 '^\[[0-9:]+\] process [0-9]+ does not wait for NCCL or the GPU; 2 processes wait for it$'
lines 1 '^3 processes with NCCL, no communicator seen: suspect: 2 processes wait, 1 process does not; earlier calls are unknown$'
lines 1 '^  2 processes: no communicator was seen; in cudaStreamSynchronize$'
lines 1 '^    pid [0-9]+, thread [0-9]+$'
lines 1 '^        load_data\+0x'
lines 0 '^still waiting'
SIM_NCCL_STUCK=1 seen -j 6 "3 init allreduce 1 7 mark here sync"
json 3 '.type == "rank" and .verdict == "pending" and (.culprit | not) and .communicator == null and .here == 3'
SIM_NCCL_STUCK=1 seen '' 2 "1 init allreduce 1 7 mark here sync"	# it may wait for its GPU
lines 1 '^no communicator of NCCL was seen$'
lines 1 '^still waiting: '

it "NCCL's RAS is asked about ranks elsewhere and earlier calls"
for kind in 2.30 ''; do
	"$bin/nccl" 3 init $hung >"$tmp/ready" & pid=$!
	pids="$pids $pid"
	until_true asleep 5
	port=1
	if [ -n "$kind" ]; then
		: >"$tmp/port"
		python3 tests/sim/ras.py $kind "$(pgrep -P "$pid" -o)" "$(sed -n 's/^rank 0 of 3: //p' "$tmp/ready")" >"$tmp/port" 9>&- & server=$!
		pids="$pids $server"
		until_true test -s "$tmp/port"
		port=$(cat "$tmp/port")
	fi
	for how in '' -j --no-ras; do
		run ncclhang $how --ras "127.0.0.1:$port" -p "$(pgrep -P "$pid" | tr '\n' , | sed 's/,$//')"
		case $kind$how in
		2.30)
			lines 1 '^  RAS of NCCL 2\.30\.7: these ranks are not as the others$'
			lines 1 '^    rank 3 on 10\.0\.0\.1, its pid [0-9]+: RUNNING, 1 collective behind$'
			lines 4 '^    rank [4-7] on 10\.0\.0\.2, its pid [0-9]+: UNRESPONSIVE$' ;;
		2.30-j)
			json 8 '.type == "ras" and .nranks == 8 and .nccl_version == "2.30.7"' \
				1 '.type == "ras" and .rank == 3 and .behind == 1 and .all_reduce == 1408 and .state == "RUNNING" and .host == "10.0.0.1"'
			json 4 '.type == "ras" and .behind == null and .state == "UNRESPONSIVE" and .async_error == null' ;;
		'') lines 1 '^  nothing listens' ;;
		*--no-ras) lines 0 RAS ;;
		*) json 0 '.type == "ras"' ;;
		esac
	done
	kill -9 "$pid" ${kind:+"$server"}
	wait "$pid" 2>/dev/null
done

it "--merge judges what was printed on several hosts as a whole"
rank() {
	echo '{"type":"rank","time":1795726461.'$4',"verdict":"pending","about":6,"culprit":false,"communicator":"0x8684192bd2ca25d6","handle":"0x7f78a988b010","rank":'$1',"nranks":4,"here":2,"pid":10'$1',"tid":20'$1',"comm":"train","container":null,"job_rank":'$1',"local_rank":null,"device":0,"complete":true,"number":'$2',"func":"ncclAllReduce","count":'$3',"data_type":"f32","operator":"sum","root":null,"peer":null,"stream":"default","completion":null,"idle_ns":2000000000,"call":null,"call_ns":null,"wait":"cudaStreamSynchronize","wait_ns":2000000000,"stack":[{"kind":"python","sym":"load_batch","file":"/home/me/train.py","line":88}]}'
}
{ rank 0 5 10 1; rank 0 6 10 2; rank 1 6 10 2; } >"$tmp/one.json"
{ rank 2 5 10 3; rank 3 6 10 3; echo '{"type":"running","time":3,"running":true}'; } >"$tmp/two.json"
run ncclhang --merge "$tmp/one.json" "$tmp/two.json"
status 0
lines 1 '^communicator 0x8684192bd2ca25d6 of 4 ranks, 4 here: behind: rank 2 has not come to ncclAllReduce number 6 of 10 f32, sum, for 2\.[0-9] s$'
lines 1 '^  ranks 0-1,3: ncclAllReduce number 6 of 10 f32, sum; in cudaStreamSynchronize, for '
lines 1 "^    rank 2: $tmp/two.json: pid 102, RANK 2, thread 202 \\(train\\)\$"
lines 1 '^        load_batch \(/home/me/train\.py:88\)$'
{ rank 2 6 11 3; rank 3 6 10 3; } >"$tmp/two.json"
run ncclhang -j --merge "$tmp/one.json" - <"$tmp/two.json"
json 4 '.verdict == "mismatch" and .about == 6' \
	1 '.culprit and .rank == 2 and .host == "-" and .job_rank == 2'
echo '{"type":1}' >"$tmp/bad.json"
fails 1 "$tmp/bad.json:1: no line of ncclhang --json" ncclhang --merge "$tmp/one.json" "$tmp/bad.json"
fails 1 "$tmp/none.json: cannot be read" ncclhang --merge "$tmp/none.json"
fails 2 '--merge: no file is given' ncclhang --merge

it "--merge refuses times that no clock has, and keeps a mismatch that one host has found"
for time in 1e36 -1 0 999999999 100000000001 '"now"' null; do
	{ rank 0 5 10 1; rank 1 5 10 1 | sed "s/\"time\":[0-9.]*/\"time\":$time/"; } >"$tmp/bad.json"
	fails 1 "$tmp/bad.json:2: the time " ncclhang --merge "$tmp/bad.json"
done
{ rank 0 5 10 1 | sed 's/"time":[0-9.]*/"time":1e9/'; rank 1 6 10 1 | sed 's/"time":[0-9.]*/"time":1e11/'; } >"$tmp/far.json"
run ncclhang --merge "$tmp/far.json"
status 0
lines 1 'moving: '
hang -j "3 init watchdog allreduce 5 10 differ 2 allreduce 1 7 mark $stay"
mv "$tmp/out" "$tmp/live.json"
run ncclhang -j --merge "$tmp/live.json"
json 3 '.verdict == "mismatch" and .about == 6' 1 '.culprit and .rank == 2 and .count == 101'
jq -c '.func = null' "$tmp/live.json" >"$tmp/less.json"	# of a call that has not returned
run ncclhang -j --merge "$tmp/less.json"
json 3 '.verdict == "mismatch" and .about == 6' 1 '.culprit and .rank == 2'

it "--merge reads the largest count that a program can pass, and prints each number as it was"
large='18446744073709551615 9223372036854775808 9223372036854775807 9007199254740993'
for count in $large; do
	{ rank 0 6 "$count" 1 | sed 's/"idle_ns":2/"idle_ns":900719925/'; rank 1 6 10 1; } >"$tmp/large.json"
	run ncclhang -j --merge "$tmp/large.json"
	status 0
	json 2 '.verdict == "mismatch" and .about == 6 and (.stack[0].line | tostring) == "88"'
	lines 1 "\"time\":1795726461\.1,.*\"count\":$count,.*\"idle_ns\":900719925000000000,"
	run ncclhang --merge "$tmp/large.json"
	lines 1 "ncclAllReduce number 6 of $count f32, sum;"
done
for count in 18446744073709551616 018446744073709551615 '"18446744073709551615'; do
	rank 0 6 "$count" 1 >"$tmp/large.json"
	fails 1 'large.json:1: no line of ncclhang' ncclhang -j --merge "$tmp/large.json"
done
rank 0 6 18446744073709551615 1 | sed 's/"sum"/"\\u00007"/' >"$tmp/large.json"
fails 1 'large.json:1: no line of ncclhang' ncclhang -j --merge "$tmp/large.json"

it "--merge prints no control character of a name"
rank 0 5 10 1 | sed 's/"comm":"train"/"comm":"a\\u007fb\\u001b[m\\u202e"/' >"$tmp/name.json"
for how in -j ''; do
	run ncclhang $how --merge "$tmp/name.json"
	status 0
	! LC_ALL=C grep -q '[[:cntrl:]]' "$tmp/out" || no "$how: $(cat -v "$tmp/out")"
done
run ncclhang -j --merge "$tmp/name.json"
json 1 '.comm == "a\u007fb\u001b[m\u202e"'

it "one look at a program that works says so of each communicator of which something was called"
program "$bin/nccl" 3 wait init split 2 allreduce 3 10 sync wait
tool ncclhang -jp "$(sed -n 's/^ready //p' "$tmp/ready" | tr ' ' ,)"
echo >&3
wait "$tracer"
json 3 '.type == "rank" and (.verdict == "idle" or .verdict == "moving") and (.culprit | not) and .complete' \
	3 '.nranks < 3 and .number == 3'
exec 3>&-
kill -9 "$pid"

it "ranks have the names of their launcher"
RANK=7 LOCAL_RANK=3 SLURM_PROCID=11 hang "-w 100ms -j" "1 init watchdog allreduce 1 10 mark sleep 200"
json 0 true
SIM_NCCL_STUCK=1 RANK=7 LOCAL_RANK=3 SLURM_PROCID=11 hang -j "1 init watchdog allreduce 1 10 mark late-until 0 $tmp/out"
json 1 '.job_rank == 7 and .local_rank == 3'
SIM_NCCL_STUCK=1 SLURM_PROCID=11 OMPI_COMM_WORLD_LOCAL_RANK=x hang -j "1 init watchdog allreduce 1 10 mark late-until 0 $tmp/out"
json 1 '.job_rank == 11 and .local_rank == null'
SIM_NCCL_STUCK=1 RANK=7 LOCAL_RANK=3 hang '--attach session -a' "1 init watchdog allreduce 1 10 mark late-until 0 $tmp/out"
lines 1 '^    rank 0: pid [0-9]+, RANK 7, LOCAL_RANK 3, thread [0-9]+ \(nccl\)$'
lines 1 '^        load_data\+0x'

it "--dump writes a pickle for each rank, which Python reads"
hang "-q --dump $tmp/rank_" "3 init allreduce 3 10 allgather 2 5 reducescatter 2 7 alltoall 1 11 sync late-until 1 $tmp/rank_2 allreduce 1 13 sync"
for rank in 0 1 2; do
	python3 -c 'import json, pickle, sys; print(json.dumps(pickle.load(open(sys.argv[1], "rb"))))' "$tmp/rank_$rank" >"$tmp/out" || no "rank $rank"
	json 1 '.version == "2.10" and (.pg_config | length) == 1 and (.pg_config[] | .ranks) == "[0, 1, 2]"' \
		1 "(.entries | length) == $([ $rank = 1 ] && echo 8 || echo 9)" \
		1 '[.entries[] | select(.profiling_name == "nccl:_all_gather_base" and .input_sizes == [[5]] and .output_sizes == [[15]])] | length == 2' \
		1 '[.entries[] | select(.profiling_name == "nccl:_reduce_scatter_base" and .input_sizes == [[21]] and .output_sizes == [[7]])] | length == 2' \
		1 '[.entries[] | select(.profiling_name == "nccl:all_to_all" and .input_sizes == [[33]] and .output_sizes == [[33]])] | length == 1' \
		1 '[.entries[] | select(.state == "completed")] | length == 8' \
		1 '[.entries[] | .collective_seq_id] == [range(1; (.entries | length) + 1)] and [.entries[] | .input_dtypes[0]] == [.entries[] | "Float"]'
done

it "--dump of all processes: no other user decides a user's files"
# two users of its own: the tool sees those of the same test elsewhere
user=$((54000 + $$ % 1000)) attacker=$((55000 + $$ % 1000))
victim="setpriv --reuid $user --regid $user --clear-groups"
# attack WORD...: by another user
attack() {
	setpriv --reuid "$attacker" --regid "$attacker" --clear-groups \
		"$bin/nccl" 1 init-all 30 "$@" sleep 9000 >"$tmp/other" &
	pids="$pids $!"
}
entries() {
	python3 -c 'import pickle, sys
print(*[len(pickle.load(open(f, "rb"))["entries"]) for f in sys.argv[1:]], end=" ")' "$@"
}
files() { (cd "$1" && find . -name "$2" | sort | tr '\n' ' '); }
words='watchdog allreduce 5 10 differ 2 allreduce 1 7 mark'
# until_is FILE: words by which all ranks wait until it is there
until_is() { for rank in 0 1 2; do echo "late-until $rank $1"; done; }
for other in none idle stuck; do
	mkdir "$tmp/$other"
	program $victim "$bin/nccl" 3 wait init $words $(until_is "$tmp/$other/r${user}_2")
	tool ncclhang -w 500ms --dump "$tmp/$other/r"
	: >"$tmp/other"
	case $other in
	idle) RANK=0 attack ;;
	stuck) RANK=1 SIM_NCCL_STUCK=1 attack $words ;;
	esac
	[ $other = none ] || until_true grep -q ' of 30' "$tmp/other"
	[ $other != stuck ] || until_true grep -q 'of 30.*: pending: ' "$tmp/out"
	go
	stop
	[ $other = none ] || kill -9 $!
	status 0
	equal "$(files "$tmp/$other" "r${user}_*")" "./r${user}_0 ./r${user}_1 ./r${user}_2 "
	equal "$(entries "$tmp/$other"/"r${user}_"*)" '7 7 7 '
	equal "$(files "$tmp/$other" "r${attacker}_*")" "$([ $other != stuck ] || echo "./r${attacker}_1 ")"
	equal "$(files "$tmp/$other" 'r[0-9]')" ''
done
mkdir "$tmp/uid"
program $victim "$bin/nccl" 3 wait init $words $(until_is "$tmp/uid/r2")
tool ncclhang -w 500ms --uid "$user" --dump "$tmp/uid/r"
go
stop
equal "$(files "$tmp/uid" '*[0-9]')" './r0 ./r1 ./r2 '

it "--dump to a full disk ends with status 1, and leaves no part of a file"
mkdir "$tmp/small"
ln -s /dev/full "$tmp/full_0"
hang "-w 100ms -q --dump $tmp/full_" "1 init watchdog allreduce 1 10 mark sleep 200"
status 0	# nothing hangs
SIM_NCCL_STUCK=1 hang "-q --dump $tmp/full_" "1 init watchdog allreduce 1 10 mark sleep 1000"
status 1
says "cannot write to $tmp/full_0: No space left on device"
[ -h "$tmp/full_0" ] || no "the link is gone"
if unshares -m; then
	cat >"$tmp/small.sh" <<-END
		mount -t tmpfs -o size=4k none '$tmp/small'
		ncclhang -qw 300ms --dump '$tmp/small/r' \
			-c '$bin/nccl 1 init watchdog allreduce 61 10 mark sleep 1000 >/dev/null'
		s=\$?
		ls '$tmp/small'
		exit \$s
	END
	SIM_NCCL_STUCK=1 run unshare -m sh "$tmp/small.sh"
	status 1
	says "cannot write to $tmp/small/r0: No space left on device"
	lines 0 '^r0'
	lines 1 '^1 hang reported$'
fi

long || leave

it "--merge takes ten times as long for ten times the rows, whether ranks or communicators are many"
# rows N WHAT: of N ranks, or of N communicators; no two do the same
rows() {
	rank 0 6 10 1 | jq -c "range($1) as \$i | .rank = (if \"$2\" == \"ranks\" then \$i else 0 end) | .nranks = $1 |
		.pid = \$i + 1 | .count = \$i | if \"$2\" == \"ranks\" then . else .communicator = \"0x\\(\$i + 1)\" end"
}
# spent: CPU time of --merge, ms
spent() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(["ncclhang", "--merge", sys.argv[1]], stdout=open(sys.argv[2], "w"), check=True)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (r.ru_utime + r.ru_stime)))' "$1" "$tmp/out"
}
for what in ranks communicators; do
	rows 2000 $what >"$tmp/few.json"
	rows 20000 $what >"$tmp/many.json"
	few=$(spent "$tmp/few.json") many=$(spent "$tmp/many.json")
	[ "$many" -lt $((25 * few + 100)) ] || no "$what: 2,000 rows take $few ms, 20,000 $many"
	[ $what = ranks ] && lines 1 ': mismatch: ranks 0-19999 call different things as number 6, '
	[ $what = ranks ] || lines 20000 '^communicator 0x'
done

# to place a probe, the kernel waits for each process that has mapped the file
it_alone "a job of 512 processes that hangs already, by a list of them and among all: each rank, and the one that the others wait for"
"$bin/nccl" 512 init allreduce 5 10 mark sync watchdog late-until 1 "$tmp/go-on" allreduce 1 7 mark sync >"$tmp/ready" & pid=$!
pids="$pids $pid"
until_true eval '[ "$(grep -c "^rank" "$tmp/ready")" = 512 ]'
ranks=$(pgrep -P "$pid" | tr '\n' , | sed 's/,$//')
for list in "-p $ranks" ''; do
	for _ in 1 2 3 4 5; do		# they come to the wait some time after they have said it
		run ncclhang -j $list
		jq -c "select(.type == \"rank\" and ([.pid] | inside([$ranks])))" "$tmp/out" >"$tmp/own"
		[ "$(jq -s 'map(select(.wait)) | length' "$tmp/own")" != 511 ] || break
	done
	mv "$tmp/own" "$tmp/out"
	json 512 '.verdict == "suspect" and .nranks == 512 and .here == 512' \
		511 '.wait == "cudaStreamSynchronize" and (.culprit | not)' \
		1 '.rank == 1 and .culprit and .wait == null and (.stack | map(.sym) | contains(["load_data", "main"]))'
	equal "$(jq .rank "$tmp/out" | sort -nu | wc -l)" 512
done
echo >"$tmp/go-on"
wait "$pid"

it_alone "512 ranks in 8 by 8 by 8 groups, one of which is late: within ten seconds one hang, and its root"
cube='512 ranked init grid 1 8 grid 8 8 grid 64 8 watchdog use 1 allreduce 1 10 mark sync use 2 allreduce 1 10 mark sync use 3 allreduce 1 10 mark sync'
next='use 1 allreduce 1 7 mark here sync use 2 allreduce 1 7 mark here sync use 3 allreduce 1 7 mark here sync'
rm -f "$tmp/go-on"
RANK=000 "$bin/nccl" $cube late-until 123 "$tmp/go-on" $next >"$tmp/ready" & pid=$!
pids="$pids $pid"
# each but 123, those that are not in its first group twice, and those that are in none of theirs three times
until_true eval '[ "$(grep -c "^here" "$tmp/ready")" = $((511 + 504 + 448)) ]'
ranks=$(pgrep -P "$pid" | tr '\n' , | sed 's/,$//')
for _ in 1 2 3 4 5; do		# they come to the wait some time after they have said it
	SECONDS_=10 run ncclhang -j -p "$ranks"
	status 0
	[ "$(jq -s 'map(select(.wait)) | length' "$tmp/out")" != 2044 ] || break
done
json 1 '.type == "cause"' \
	1 '.type == "cause" and .kind == "root" and .job_rank == 123 and .waiting == 511 and .communicators == 193 and (.stack | map(.sym) | contains(["load_data"]))' \
	4 '.type == "rank" and .culprit and .job_rank == 123' \
	2044 '.type == "rank" and (.culprit | not) and .stack'
for _ in 1 2 3 4 5; do
	SECONDS_=10 run ncclhang -p "$ranks"
	status 0
	! grep -q '^\[.*RANK 123 does not wait' "$tmp/out" || break
done
lines 1 '^\[[0-9:]+\] RANK 123 does not wait for NCCL or the GPU, in communicator 0x[0-9a-f]+; 511 processes wait for it$'
lines 1 '^    RANK 0-122,124-511: pid [0-9]+ and 510 more, alike$'
lines 1 '^\.\.\. and 177 more communicators: --json has them all$'
kill -9 "$pid"
wait "$pid" 2>/dev/null
