# shellcheck shell=sh disable=SC2016,SC2086,SC2154 # inner shells; lists of words; rc, pid, tracer: the words'
# --attach inject without -p: every program of a user that has inject/resident.so, also those that start later.  --attach=inject keeps
# the tests' privileges: see as_who in lib.sh.

trap finish EXIT
# a user of its own: other tests' programs may have the library, too
user=$((61000 + $$ % 3000))
as="setpriv --reuid $user --regid $user --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs"
audit="LD_AUDIT=$O/inject/resident.so"
it "what this needs is there"
if ! [ -e "$O/inject/resident.so" ] || ! [ -e "$bin/inject" ]; then
	skip "the resident library is not built"
	leave
fi
if [ "$(id -u)" -ne 0 ] || ! $as test -r "$O/inject/resident.so"; then
	skip "no programs can be run as another user, who reads $O"
	leave
fi
theirs="$as env $audit"
python=$(PATH=/usr/bin:/bin command -v python3)

further() {
	n=$(grep -c ready "$tmp/ready")
	echo >&3
	until_true eval "[ \$(grep -c ready '$tmp/ready') -gt $n ]"
}

# traces: a cudatrace of all of the user's, until `counted`
traces() { tool cudatrace --attach=inject --uid "$user" -jS -e cudaMalloc; }

# counted N: it has counted so many calls of cudaMalloc
counted() {
	stop
	status 0
	equal "$(jq -s 'map(select(.func == "cudaMalloc") | .calls) | add // 0' "$tmp/out")" "$1"
}

ends() {
	go
	equal "$?" "$1"
}

it "programs that start later: every call, from the first one"
traces
$theirs "$bin/mem" malloc 23 64 free 23
$theirs "$bin/mem" malloc 31 64
$theirs "$bin/mem" malloc 1 64 thread '(' malloc 7 64 ')' thread '(' malloc 11 64 ')' join
counted 73
silent
says "tracing all processes of UID $user that have inject/resident.so"

it "programs that run already: what they call from then on"
program $theirs "$bin/mem" malloc 11 64 wait malloc 97 64 wait
traces
further
counted 97
silent
ends 0

it "a program that loads CUDA later, and one that executes another one"
traces
$theirs LD_LIBRARY_PATH="$lib" "$bin/mem-dlopen" load malloc 13 64
$theirs "$bin/mem" malloc 3 64 exec '(' malloc 17 64 exec '(' malloc 5 64 ')' ')'
counted 38
silent

it "children: forked before a tool comes, and while one traces, and executing other programs"
program $theirs "$bin/mem" malloc 1 64 fork '(' sleep 1500 malloc 13 64 ')' wait malloc 23 64 fork '(' malloc 7 64 fork '(' malloc 3 64 ')' join \
	exec '(' malloc 5 64 ')' ')' join wait
traces
sleep .7
further
ends 0
until_true eval '! pgrep -u $user >/dev/null'
counted 51
silent

it "101 programs at once"
traces
for i in $(seq 101); do $theirs "$bin/mem" malloc 7 64 & started="${started:-} $!"; done
wait $started
counted 707
silent

it "a program without the library, and another user's, are left out"
traces
$as "$bin/mem" malloc 101 64
env "$audit" "$bin/mem" malloc 211 64
$theirs "$bin/mem" malloc 2 64
counted 2
silent

it "programs in other network namespaces: found within seconds, what they call from then on"
if unshares -n; then
	program unshare -n $theirs "$bin/mem" malloc 1 64 wait malloc 67 64 wait
	traces
	further
	counted 67
	ends 0
	traces
	program unshare -n $theirs "$bin/mem" malloc 1 64 wait malloc 71 64 wait
	sleep 2
	further
	ends 0
	counted 71
fi

it "an exporter: each metric is of all calls, and no probe is placed"
tool cudaexporter --attach=inject --uid "$user" --once -d 60 --kernels 3
program $theirs "$bin/mem" malloc 23 4096 free 7 launch 1009 copy 13 64k h2d sync 17 wait
sleep 1
stop
ends 0
for line in 'cuda_memory_allocations_total{pid="'"$pid"'",comm="mem",device="0",memory="device"} 25' \
	'cuda_launches_total{pid="'"$pid"'",comm="mem",device="0",kind="kernel"} 1009' \
	'cuda_kernel_launches_total{pid="'"$pid"'",comm="mem",kernel="mem_kernel"} 1009' \
	'cuda_copy_size_bytes_count{pid="'"$pid"'",comm="mem",direction="h2d",async="false"} 13' \
	'cuda_sync_duration_seconds_count{pid="'"$pid"'",comm="mem"} 17'; do
	grep -qxF "$line" "$tmp/out" || no "not there: $line"
done
grep -q "^cuda_process_info{pid=\"$pid\",.*complete=\"1\"" "$tmp/out" || no "it is not complete"
! grep '^cuda_exporter_probes{' "$tmp/out" | grep -v 'kind="inject"' || no "there are probes"
silent

it "cudatop: a row for each"
tool cudatop --attach=inject --uid "$user" -j 1 30
program $theirs "$bin/mem" malloc 23 4096 wait
until_true grep -q "\"pid\":$pid,.*\"held\":94208" "$tmp/out"
stop
ends 0

it "two tools at once: the second one says so, and traces what the first one leaves"
program $theirs "$bin/mem" malloc 11 64 wait malloc 23 64 wait malloc 59 64 wait
traces
first=$tracer
mv "$tmp/out" "$tmp/out.1"	# it still writes there
mv "$tmp/err" "$tmp/err.1"
traces
says 'another process listens for programs that start'
says "process $pid is not traced: another tool traces it with --attach inject"
further
kill -INT "$first"
wait "$first"
sleep 2
further
ends 0
$theirs "$bin/mem" malloc 7 64	# the name is free
counted 66

it "a tool that is killed leaves the programs as they are, and the next one counts"
program $theirs "$bin/mem" malloc 1 64 wait malloc 23 64 wait malloc 4001 64 wait malloc 59 64 wait
tool cudamallocsnoop --attach=inject --uid "$user" -j
further
stop KILL
further
traces
further
counted 59
ends 0

it "a tool that is stopped holds up no program that starts"
traces
kill -STOP "$tracer"
for i in 1 2 3; do
	timeout 5 $theirs "$bin/mem" malloc 3 64 || no "status $?"
done
kill -CONT "$tracer"
stop
status 0

it "a stranger who has the name learns nothing, and holds up nobody; the tool says so"
setpriv --reuid 65534 --clear-groups "$python" - "$user" >"$tmp/stranger" 2>&1 <<-'END' 9>&- & stranger=$!
	import socket, sys, time
	s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	s.bind("\0cuda-bpf-tools-resident-" + sys.argv[1])
	s.listen(64)
	print("ready", flush=True)
	while True:
	    c, _ = s.accept()
	    print("got", c.recv(4096), flush=True)
END
pids="$pids $stranger"
until_true grep -q ready "$tmp/stranger"
program timeout 20 $theirs "$bin/mem" malloc 11 64 wait malloc 29 64 wait
traces
says 'another process listens for programs that start'
further
counted 29
ends 0
kill "$stranger"
wait "$stranger" 2>/dev/null
lines_=$(grep -c "^got b''" "$tmp/stranger")
equal "$(grep -c '^got' "$tmp/stranger")" "$lines_"

it "strangers who connect and are silent keep no program out"
traces
# those of other tests' tools wait for programs, too
names=$(find "/proc/$tracer/fd" -lname 'socket:*' -printf '%l\n' | tr -dc '0-9\n' |
	awk 'NR == FNR { own[$1]; next } $7 in own && sub(/^@/, "", $8) { print $8 }' - /proc/net/unix)
equal "$(echo "$names" | wc -l)" 2
setpriv --reuid 65534 --clear-groups "$python" - $names >"$tmp/silent" 2>&1 <<-'END' 9>&- & silent=$!
	import socket, sys, time
	held = []
	for name in sys.argv[1:]:
	    for i in range(101):
	        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	        s.connect("\0" + name)
	        held.append(s)
	print("ready", flush=True)
	time.sleep(60)
END
pids="$pids $silent"
until_true grep -q ready "$tmp/silent"
$theirs "$bin/mem" malloc 19 64
kill "$silent"
wait "$silent" 2>/dev/null
counted 19
silent

it "a program that connects again and again changes nothing"
traces
$as "$python" - "$user" <<-'END' || no "the program failed"
	import socket, sys
	for i in range(1009):
	    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	    s.connect("\0cuda-bpf-tools-resident-" + sys.argv[1])
	    if i % 2:
	        try:
	            s.send(b"x" * 4000)
	        except BrokenPipeError:
	            pass	# it has been answered already
	    s.close()
END
$theirs "$bin/mem" malloc 43 64
counted 43
silent

it "the options that it cannot be combined with"
fails 2 '--attach inject: running processes are traced without --lib' cudatrace --attach=inject --lib /bin/true
fails 2 '--attach inject cannot be combined with --collect.off-cpu or --self-time' cudaexporter --attach=inject --self-time
