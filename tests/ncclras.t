# shellcheck shell=sh disable=SC2016,SC2154 # the inner shell is to expand it; rc: the words'
# What tools/ncclhang/ras.c reads of NCCL's RAS, whose answers tests/sim/ras.py gives: all by a program with sanitizers, too.
python=$(PATH=/usr/bin:/bin command -v python3)

# serve KIND [PID]: an RAS, on $port of loopback
serve() {
	: >"$tmp/port"
	"$python" tests/sim/ras.py "$@" >"$tmp/port" 9>&- & server=$!
	pids="$pids $server"
	until_true test -s "$tmp/port"
	port=$(cat "$tmp/port")
}
gone() { kill "$server"; wait "$server" 2>/dev/null; }

# ask [MS]: that of this shell, into $tmp/out
ask() {
	run "$bin/$program" $$ "${1:-20000}" "127.0.0.1:$port"
	status 0
	silent
}

# answered FILTER: with this in the first object
answered() { json 1 "has(\"ok\") and .ok and $1"; }

# refused KIND PROBLEM [FILTER]: an RAS whose answer is not taken
refused() {
	serve "$1"
	ask 5000
	gone
	lines 1 '^'
	json 1 "(.ok | not) and (.problem | startswith(\"$2\")) and ${3:-true}"
}

form='RAS answers, but not in a known form'
both="${LONG:+nccl-ras }nccl-ras-sanitized"

for program in $both; do
	it "$program: JSON of NCCL 2.30 has each rank of each communicator"
	serve 2.30
	ask
	gone
	answered '.version == "2.30.7" and (.text | not) and .timeouts == 2 and .comms == 2 and .unnamed == 0 and .errno == 0'
	lines 17 '^'
	json 1 '.hash == "cf264af53edbe986" and .size == 8 and .ranks == 8 and .found' \
		1 '.hash == "27a079b828ff1a75" and .size == 6 and .ranks == 6 and .found'
	json 3 '.comm == "cf264af53edbe986" and .state == "RUNNING" and .AllReduce == 1409 and .total == 1439 and .Broadcast == 7 and
		.Reduce == 0 and .AllGather == 23 and .ReduceScatter == 0 and .rank < 3'
	json 1 '.comm == "cf264af53edbe986" and .rank == 3 and .AllReduce == 1408 and .total == 1438 and .host == "10.0.0.1" and
		.pid == 4704 and .device == 3 and .nvml == 3 and .init == 0 and .async == 0'
	json 4 '.comm == "cf264af53edbe986" and .state == "UNRESPONSIVE" and .host == "10.0.0.2" and .pid == 5497 + .rank and
		.device == .rank - 4 and .init == -1 and .async == -1 and .AllReduce == -1 and .total == -1'
	equal "$(jq -r 'select(.comm == "27a079b828ff1a75") | "\(.state) \(.host) \(.pid) \(.init) \(.async)"' "$tmp/out")" \
		"ABORT fd00::1 4701 0 6
FINALIZE fd00::1 4702 0 0
INIT  -1 7 0
INIT fd00::1 4704 2 0
NOCOMM fd00::1 4705 -1 -1
DEAD fd00::2 5501 -1 -1"

	it "$program: JSON of NCCL 2.28.7, which lacks commas, is read like that of 2.30"
	serve 2.28.7
	ask
	gone
	answered '.version == "2.28.7" and .comms == 1'
	lines 10 '^'
	json 4 '.state == "RUNNING" and .total == (if .rank == 3 then 1438 else 1439 end)' \
		4 '.state == "UNRESPONSIVE" and .pid == 5497 + .rank'

	it "$program: JSON with a decimal comma is read"
	serve 2.30-comma
	ask
	gone
	answered '.timeouts == 2'
	lines 17 '^'

	it "$program: text of NCCL 2.24 has the ranks that are missing, and one count of all functions"
	serve 2.24
	ask
	gone
	answered '.version == "2.24.3" and .text and .timeouts == 2 and .comms == 1 and .unnamed == 3'
	lines 14 '^'
	json 4 'has("process") and .host == "10.0.0.2" and (.dead | not)' \
		1 '.hash == "cf264af53edbe986" and .size == 8 and .ranks == 8'
	json 4 '.state == "RUNNING" and .total == (if .rank == 3 then 1408 else 1409 end) and .AllReduce == -1 and
		.pid == 4701 + .rank and .device == .rank and .init == -1'
	json 4 '.rank > 3 and .state == "MISSING" and .pid == -1 and .host == "" and .total == -1'

	it "$program: text of NCCL 2.26 has counts by function, statuses, errors and dead processes"
	serve 2.26
	ask
	gone
	answered '.version == "2.26.2" and .text and .comms == 3 and .garbled'
	lines 24 '^'
	equal "$(jq -c 'select(has("process"))' "$tmp/out")" '{"process":5502,"host":"10.0.0.2","dead":false}
{"process":5503,"host":"10.0.0.2","dead":true}'
	json 5 '.comm == "cf264af53edbe986" and .AllReduce == 1409 and .pid == -1 and .state == "RUNNING"' \
		1 '.comm == "cf264af53edbe986" and .AllReduce == 1408 and .rank == 5 and .pid == 5501 and .device == 0 and .nvml == 4'
	json 0 '.AllGather? >= 0'	# which half of the ranks has which count is not printed
	equal "$(jq -r 'select(.comm == "e7a079b828ff1a75") | "\(.rank) \(.state) \(.Broadcast) \(.host) \(.pid)"' "$tmp/out")" \
		"0 FINALIZE 31 10.0.0.1 4701
1 RUNNING 31 10.0.0.1 4702
2 RUNNING 31 10.0.0.1 4703
3 RUNNING 31 10.0.0.1 4704
4 FINALIZE 0 10.0.0.2 5501
5 NOCOMM -1 10.0.0.1 4705
6 UNRESPONSIVE -1 10.0.0.2 5502
7 DEAD -1 10.0.0.2 5503"
	equal "$(jq -r 'select(.comm == "ab") | "\(.state) \(.init) \(.async) \(.pid)"' "$tmp/out")" \
		"INIT 2 -1 4701
RUNNING -1 6 4702
RUNNING -1 6 4703
RUNNING -1 1 4704"

	it "$program: text of NCCL 2.26 that is garbled has what is before the garbage"
	serve 2.26-garbled
	ask
	gone
	answered '.version == "2.26.2" and .text and .garbled and .comms == 1 and .unnamed == 0'
	lines 14 '^'
	json 4 '.state == "RUNNING" and .AllReduce == (if .rank == 3 then 1408 else 1409 end)' \
		4 '.state == "UNRESPONSIVE" and .pid == 5497 + .rank'

	it "$program: a property that does not belong to its paragraph is left out"
	serve text-state
	ask
	gone
	answered '.garbled and .comms == 3'
	json 6 '.comm == "e7a079b828ff1a75" and .state == "unknown"' 0 '.Broadcast? >= 0'

	it "$program: text of a job without a problem names no communicator"
	serve 2.28
	ask
	gone
	answered '.version == "2.28.3" and .text and .comms == 0 and .unnamed == 5'
	lines 1 '^'

	it "$program: 13,000 ranks in JSON are read"
	serve 13000 $$
	ask
	gone
	answered '.comms == 1 and (.text | not)'
	lines 13002 '^'

	it "$program: an RAS whose JSON is too large is asked for text"
	serve large
	ask
	gone
	answered '.version == "2.30.7" and .text and .comms == 0 and .unnamed == 5'

	it "$program: an answer without the process may be from another job, so RAS is asked again"
	serve other-job $$
	ask
	gone
	answered '.has_process'
	serve 2.30
	ask
	gone
	answered '(.has_process | not)'

	it "$program: JSON in another form is refused, with its version"
	refused 2.31 "$form" '.version == "2.31.1"'

	for kind in truncated huge negative control escape twice crowd nul type; do
		it "$program: a hostile answer is refused: $kind"
		refused $kind "$form" '.version == "2.30.7"'
	done
	for kind in text-size text-rank; do
		it "$program: a hostile answer is refused: $kind"
		refused $kind "$form" '(.version | startswith("2.2"))'
	done
	for kind in empty deep ${LONG:+array} stranger; do
		it "$program: a hostile answer is refused: $kind"
		refused "$kind" "$form" '.version == ""'
	done

	it "$program: an answer without an end is cut off after 16 MiB"
	refused endless 'the answer of RAS is larger than 16 MiB'

	for kind in silent slow; do
		it "$program: a $kind RAS times out after the given time"
		serve $kind
		ask 1100
		gone
		json 1 '.problem == "RAS timed out" and .ms >= 1000 and .ms < 4000'
	done

	it "$program: the wait can be canceled"
	serve silent
	run "$bin/$program" $$ 20000 "127.0.0.1:$port" 300
	gone
	json 1 '.problem == "canceled" and .ms >= 300 and .ms < 3000'

	it "$program: a port where nothing listens is reported immediately"
	ask 5000
	json 1 '(.ok | not) and (.problem | startswith("nothing listens for RAS")) and .errno == 111 and .ms < 4000'

	it "$program: only addresses of this host are connected to, and no name is resolved"
	for address in 192.0.2.1:28028 '[2001:db8::1]:28028' example.org:28028 127.0.0.1 127.0.0.1:0 127.0.0.1:65536 '[::1]' \
		127.0.0.1:1x '' '[::1]28028' "$(printf %0200d 0):1"; do
		run "$bin/$program" $$ 5000 "$address"
		json 1 '(.problem | startswith("the address of RAS")) and .ms < 4000'
	done

	it "$program: a process that has ended is reported"
	sh -c : & ended=$!
	wait $ended
	run "$bin/$program" $ended 5000
	json 1 '.problem == "the process has ended"'
done

it "the address is taken from the environment that the process was started with"
serve 2.30
NCCL_RAS_ADDR=localhost:$port sleep 100 & sleeper=$!
pids="$pids $sleeper"
until_true grep -qz "^NCCL_RAS_ADDR=localhost:$port" "/proc/$sleeper/environ"
run "$bin/nccl-ras" "$sleeper" 5000
gone
kill "$sleeper"
answered '.version == "2.30.7"'

it "RAS is asked in the network namespace of the process"
if unshares --net --pid --fork; then
	: >"$tmp/port"
	unshare --net --pid --fork --mount-proc --kill-child sh -c 'ip link set lo up 2>/dev/null || "$1" -c "
import fcntl, socket, struct
s = socket.socket()
fcntl.ioctl(s, 0x8914, struct.pack(\"16sh14x\", b\"lo\", 0x49))"
		exec "$1" tests/sim/ras.py 2.30 1' sh "$python" >"$tmp/port" 9>&- & inside=$!
	pids="$pids $inside"
	until_true test -s "$tmp/port"
	child=$(cat "/proc/$inside/task/$inside/children")
	run "$bin/nccl-ras" $$ 5000 "127.0.0.1:$(cat "$tmp/port")"
	json 1 '(.problem | startswith("nothing listens"))'
	run "$bin/nccl-ras" "${child% }" 5000 "127.0.0.1:$(cat "$tmp/port")"
	answered '.version == "2.30.7" and .has_process'
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$bin/nccl-ras" "${child% }" 5000 "127.0.0.1:$(cat "$tmp/port")"
	json 1 '.problem == "cannot enter the network namespace of the process" and .errno == 13'
	kill "$inside"
fi

it "an ordinary user asks as well"
serve 2.30
run setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '"$1" $$ 5000 "$2"' sh "$bin/nccl-ras" "127.0.0.1:$port"
answered '.version == "2.30.7"'

it "the connection comes from a process without privileges"
serve silent
"$bin/nccl-ras" $$ 3000 "127.0.0.1:$port" >"$tmp/out" & asking=$!
confined() {
	helper=$(cat "/proc/$asking/task/$asking/children")
	grep -q '^Seccomp:.*2' "/proc/${helper% }/status"
}
until_true confined
cp "/proc/${helper% }/status" "$tmp/status"
equal "$(sed -n 's/^Cap[A-Z][a-z]*:\t//p' "$tmp/status" | sort -u)" 0000000000000000
equal "$(sed -n 's/^NoNewPrivs:\t//p' "$tmp/status")" 1
equal "$(awk '/^Uid:/ { print $2 == 0 }' "$tmp/status")" "$([ "$(id -u)" -eq 0 ] && echo 0)"
wait "$asking"
gone

# cut_answer FORM KIND: parts of the answer, and the answer without some of its lines
cut_answer() {
	serve "$2"
	"$python" - "$port" >"$tmp/answer" <<-'END'
		import socket, sys
		s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		s.sendall(b"SET FORMAT json\nVERBOSE STATUS\n")
		text = b"".join(iter(lambda: s.recv(65536), b""))
		sys.stdout.buffer.write(text.split(b"\n", 1)[1])
	END
	gone
	n=$(wc -l <"$tmp/answer")
	: >"$tmp/all"
	for i in $(seq 1 3 "$n"); do
		sed "${i}d" "$tmp/answer" | "$bin/nccl-ras-sanitized" read "$1" >>"$tmp/all" 2>>"$tmp/err" || no "without line $i"
		head -n "$i" "$tmp/answer" | "$bin/nccl-ras-sanitized" read "$1" >"$tmp/out" 2>>"$tmp/err" || no "to line $i"
	done
}
if long; then
	it "no part of an answer is read beyond its end"
	cut_answer json 2.30
	cut_answer text 2.24
	cut_answer text 2.26
	silent
fi
