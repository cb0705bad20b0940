# shellcheck shell=sh disable=SC2016,SC2086,SC2154 # inner shells; lists of words; rc, pid, tracer: the words'
# What other users do to programs that have inject/resident.so or a tool's library, and to the tools that they wait for.

trap finish EXIT
audit="LD_AUDIT=$O/inject/resident.so"
it "what this needs is there"
if ! [ -e "$O/inject/resident.so" ] || ! [ -e "$bin/inject" ]; then
	skip "the resident library is not built"
	leave
fi
# two users of their own: other tests' programs have others
user=$((64100 + $$ % 400))
attacker=$((64600 + $$ % 400))
as="setpriv --clear-groups --inh-caps=-all --bounding-set=-all"
as_user="$as --reuid $user --regid $user"
as_attacker="$as --reuid $attacker --regid $attacker"
if [ "$(id -u)" -ne 0 ] || ! $as_user test -r "$O/inject/resident.so"; then
	skip "no programs can be run as another user, who reads $O"
	leave
fi
python=$(PATH=/usr/bin:/bin command -v python3)
chmod 711 "$tmp"

# listener AS NAME: a socket of that abstract name, of a user's; "ready", then for each connection how many bytes came, and
# whether it was closed within 0.2 s
listener() {
	: >"$tmp/listener"	# an earlier one was ready
	$1 "$python" - "$2" >"$tmp/listener" 2>&1 <<-'END' 9>&- & listener=$!
		import socket, sys, time
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.bind("\0" + sys.argv[1])
		s.listen(8)
		print("ready", flush=True)
		while True:
		    c, _ = s.accept()
		    began = time.monotonic()
		    n = len(c.recv(65536))
		    print("got", n, "soon" if time.monotonic() - began < .2 else "late", flush=True)
		    c.close()
	END
	pids="$pids $listener"
	until_true grep -q ready "$tmp/listener"
}

# heard REGEX: the listener, which ends, had one connection, and said that of it
heard() {
	until_true grep -q '^got' "$tmp/listener"
	kill $listener
	wait $listener 2>/dev/null
	sed 1d "$tmp/listener" >"$tmp/heard"
	equal "$(cat "$tmp/heard")" "$1"
}

# ---- users that are not mapped

it "a tool's library in a user namespace takes no one for a tool of its user if users are not mapped"
if unshares -U; then
	socket=cuda-bpf-tools-hostile-$$
	injected="env LD_AUDIT=$O/inject/cudatrace.so CUDA_BPF_TOOLS_INJECT=cudatrace=$socket"
	listener "$as_attacker" $socket
	$as_user unshare -U $injected "$bin/mem" malloc 3 64 >"$tmp/out" || no "the program: $?"
	heard "got 0 soon"
	# with a map of one user that user's tool is believed
	listener "$as_user" $socket
	$as_user unshare -r $injected "$bin/mem" malloc 3 64 >"$tmp/out" || no "the program: $?"
	heard "got 24 soon"
fi

it "nor does the resident library wait for such a one"
if unshares -U; then
	listener "$as_attacker" cuda-bpf-tools-resident-65534
	$as_user unshare -U env "$audit" "$bin/mem" malloc 3 64 >"$tmp/out" || no "the program: $?"
	heard "got 0 soon"
fi

it "a tool in such a namespace does not begin: another user's programs could connect to it"
if unshares -U; then
	run $as_user unshare -U "$O/cudatrace" --attach inject -d 1
	status 1
	says "UID 65534 is the overflow UID of this user namespace"
fi

# ---- another root, another folder

# counted N: a cudatrace counts N calls of the program up to its next `wait`
counted() {
	tool cudatrace --attach=inject -p "$pid" -jS -e cudaMalloc
	n=$(grep -c ready "$tmp/ready")
	echo >&3
	until_true eval "[ \$(grep -c ready '$tmp/ready') -gt $n ]"
	[ "$1" -gt 0 ] || until_true grep -q "is not traced" "$tmp/err"
	stop
	equal "$(jq -s 'map(select(.func == "cudaMalloc") | .calls) | add // 0' "$tmp/out")" "$1"
}

# copies FOLDER: the libraries, in another one
copies() {
	mkdir -p "$1"
	chmod 755 "$1"
	cp "$O/inject/resident.so" "$O/inject/cudatrace.so" "$1"
}

# mapped: the program has the tool's library
mapped() { grep -q 'cudatrace\.so' "/proc/$pid/maps"; }

it "a program takes no library from another root directory, whoever made its folder there"
jail=$tmp/jail
copies "$jail$O/inject"
chown -R 65534 "$jail"
program env "$audit" "$bin/resident_hostile" calls 3 wait - chroot "$jail" calls 23 wait - calls 7
counted 0
says "process $pid is not traced: it has another root directory than when it started"
! mapped || no "it has mapped $(grep cudatrace.so "/proc/$pid/maps" | head -n 1)"
go
equal $? 0

it "nor from what is mounted over its folder, or over the library"
if unshares -m; then
	for over in "" /cudatrace.so; do
		copies "$tmp/folder"
		copies "$tmp/other"
		program unshare -m env LD_AUDIT="$tmp/folder/resident.so" "$bin/resident_hostile" \
			calls 3 wait - calls 23 wait - calls 7
		nsenter -t "$pid" -m --root mount --bind "$tmp/other$over" "$tmp/folder$over" ||
			no "cannot mount"
		counted 0
		says "process $pid is not traced: its resident library is of another build"
		! mapped || no "$over: it has mapped a library"
		go
	done
fi

it "also if it loads CUDA later"
if unshares -m; then
	copies "$tmp/folder"
	copies "$tmp/other"
	program unshare -m env LD_AUDIT="$tmp/folder/resident.so" LD_LIBRARY_PATH="$lib" \
		"$bin/mem-dlopen" wait load malloc 1 64 wait malloc 23 64 wait
	nsenter -t "$pid" -m --root mount --bind "$tmp/other" "$tmp/folder" || no "cannot mount"
	echo >&3
	until_true eval '[ $(grep -c ready "$tmp/ready") -gt 1 ]'
	counted 0
	! mapped || no "it has mapped a library"
	go
fi

it "a library that others can have put into the folder is not taken"
for change in "chown 65534 $tmp/folder/cudatrace.so" "chmod o+w $tmp/folder/cudatrace.so" \
	"chmod o+w $tmp/folder" "chown 65534 $tmp/folder" \
	"ln -sf $O/inject/cudatrace.so $tmp/folder/cudatrace.so"; do
	rm -rf "$tmp/folder"
	copies "$tmp/folder"
	program env LD_AUDIT="$tmp/folder/resident.so" "$bin/resident_hostile" \
		calls 3 wait - calls 23 wait - calls 7
	$change
	counted 0
	! mapped || no "$change: it has mapped the library"
	go
done

it "one of which a byte of any segment is another is another build"
segments=$(readelf -lW "$O/inject/cudatrace.so" | awk '$1 == "LOAD" { print $2 "+" $5 "-1" }')
for at in $segments; do
	# shellcheck disable=SC2004 # dash does not evaluate what is in a variable
	at=$(($at))
	rm -rf "$tmp/folder"
	copies "$tmp/folder"
	"$python" - "$tmp/folder/cudatrace.so" "$at" <<-'END'
		import sys
		f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2])); b = f.read(1)[0]
		f.seek(int(sys.argv[2])); f.write(bytes([b ^ 1]))
	END
	program env LD_AUDIT="$tmp/folder/resident.so" "$bin/resident_hostile" \
		calls 3 wait - calls 23 wait - calls 7
	counted 0
	says "process $pid is not traced: its resident library is of another build than this tool"
	go
done
[ "$(echo "$segments" | wc -l)" -ge 3 ] || no "there are few segments: $segments"

# ---- children that have another user

it "a child that has given up its privileges can write to its parent's memory in no way"
run env "$audit" "$bin/resident_hostile" calls 3 worker - calls 23
status 0
lines 1 '^written:\.$'

it "it gets a control of its own, and its parent's tool does not trace it"
program env "$audit" "$bin/resident_hostile" calls 3 fork 20 wait - calls 23 wait - calls 7
child=$(pgrep -P "$pid")
# owner: of the child's control
owner() {
	for f in "/proc/$child/fd"/*; do
		readlink "$f" | grep -q resident && stat -Lc %u "$f"
	done
}
counted 23
equal "$(owner)" 65534
go

# ---- Yama

# under COMMAND...: where /proc/sys/kernel is $tmp/kernel
under() { unshare -m sh -c 'mount --bind "$0" /proc/sys/kernel && exec "$@"' "$tmp/kernel" "$@"; }

it "where Yama restricts ptrace, a program connects to root's tools, and not to others of its user"
if unshares -m; then
	mkdir -p "$tmp/kernel/yama"
	chmod -R 755 "$tmp/kernel"
	calls="$bin/resident_hostile calls 3 wait - calls 23 wait - calls 7"
	for scope in 0 1; do
		echo $scope >"$tmp/kernel/yama/ptrace_scope"
		program under $as_user env "$audit" $calls
		pid=$(pgrep -P "$pid" resident_hosti || echo "$pid")
		tool $as_user "$O/cudatrace" --attach=inject -p "$pid" -jS -e cudaMalloc
		echo >&3
		until_true eval '[ $(grep -c ready "$tmp/ready") -gt 1 ]'
		[ $scope -eq 0 ] || until_true grep -q 'could not connect to the tool' "$tmp/err"
		stop
		jq -s 'map(select(.func == "cudaMalloc") | .calls) | add // 0' "$tmp/out" >"$tmp/n"
		equal "$(cat "$tmp/n")" $((23 * (1 - scope)))
		go
	done
	program under $as_user env "$audit" $calls
	pid=$(pgrep -P "$pid" resident_hosti || echo "$pid")
	counted 23
	go
fi

it "and to its ancestors"
if unshares -m; then
	under $as_user sh -c '"$@" & while ! grep -q resident /proc/$!/maps; do sleep .02; done
		exec "$0" --attach=inject -d 3 -p $! -jS -e cudaMalloc' "$O/cudatrace" \
		env "$audit" "$bin/resident_hostile" calls 3 for 5 >"$tmp/all" 2>"$tmp/err" 9>&-
	says_not 'is not traced'
	grep -q '"func":"cudaMalloc"' "$tmp/all" || no "it counts nothing"
fi

# ---- tools that do not answer

# within S COMMAND...: it ends within S seconds
within() {
	began=$(date +%s%N)
	limit=$1
	shift
	timeout 60 "$@" >"$tmp/out" 2>&1 9>&-
	rc=$?
	took=$((($(date +%s%N) - began) / 1000000))
	[ $took -lt $((limit * 1000)) ] || no "it took $took ms"
}

# deaf AS NAME QUEUE: a socket of a user's that accepts no connection; QUEUE: 0: its queue is full
deaf() {
	: >"$tmp/listener"
	$1 "$python" - "$2" "$3" >"$tmp/listener" 2>&1 <<-'END' 9>&- & listener=$!
		import socket, sys, time
		def new():
		    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s = new()
		s.bind("\0" + sys.argv[1])
		s.listen(int(sys.argv[2]))
		held = []
		while sys.argv[2] == "0":
		    c = new()
		    c.setblocking(False)
		    try:
		        c.connect("\0" + sys.argv[1])
		    except BlockingIOError:
		        break
		    held.append(c)
		print("ready", flush=True)
		time.sleep(300)
	END
	pids="$pids $listener"
	until_true grep -q ready "$tmp/listener"
}
gone() {
	kill $listener
	wait $listener 2>/dev/null
}

socket=cuda-bpf-tools-deaf-$$
injected="env LD_AUDIT=$O/inject/cudatrace.so CUDA_BPF_TOOLS_INJECT=cudatrace=$socket"
it "a full queue under an ended tool's name costs a program a second, and it can be ended meanwhile"
deaf "$as_attacker" $socket 0
within 5 $as_user $injected "$bin/mem" malloc 3 64
status 0
[ $took -ge 900 ] || no "it did not wait: $took ms"
within 4 timeout -s TERM .3 $as_user $injected "$bin/mem" malloc 3 64
status 124
gone

it "so does a tool of the user's own that does nothing, with all its children and messages"
deaf "$as_user" $socket 64
within 5 $as_user $injected "$bin/mem" malloc 3 64 loop 7 '(' fork '(' malloc 3 64 ')' join ')'
status 0
gone

long || leave

it "and one that asks a running program again and again: one second in all, and its signals come"
for queue in 0 64; do
	deaf "$as_user" $socket $queue
	program $as_user env "$audit" "$bin/resident_hostile" calls 3 wait - alarm 700 for 5 alarm 0
	$as_user env SOCKET=$socket LIBRARY="$O/inject/cudatrace.so" \
		"$bin/resident_hostile" ask "$pid" 9>&- &
	asker=$!
	sleep .3
	go
	wait $asker || no "the tool: $?"
	gone
	grep -q '^alarm soon' "$tmp/ready" || no "$queue: $(grep alarm "$tmp/ready")"
	waited=$(sed -n 's/^waited \([0-9]*\) ms/\1/p' "$tmp/ready")
	[ "$waited" -lt 3000 ] && [ "$waited" -ge 300 ] || no "$queue: its calls waited $waited ms"
done
