# shellcheck shell=sh disable=SC2016,SC2034,SC2086,SC2154 # for eval; words, of lib.sh too
# What another user's program does with the files that it maps, against a tool that traces all
# processes as root: two programs of a third user's are traced exactly, one that began before it
# and one that began after; the tool ends when it is told to.
# shellcheck source=/dev/null
. tests/own.sh

chmod 755 "$tmp"
mkdir "$tmp/dir"
chown 65534 "$tmp/dir"
attacker='setpriv --reuid 65534 --regid 65534 --clear-groups'
other='setpriv --reuid 65533 --regid 65533 --clear-groups'
if ! $other test -x "$bin/mem"; then
	it "what another user's program does with its files"
	skip "other users cannot run what is in $bin"
	leave
fi

# within SECONDS COMMAND...: does it become true in time?  Each try is a fork.
within() {
	tried=$(date +%s%N)
	by=$((tried + $1 * 1000000000))
	shift
	until "$@" 2>/dev/null; do
		[ "$tried" -lt $by ] || return 1
		sleep .02
		before=$tried tried=$(date +%s%N)
		[ $((tried - before)) -lt 2000000000 ] ||
			no "all processes stood still for $(((tried - before) / 1000000)) ms at a fork"
	done
}

# gone PID: it has ended, with all its threads
gone() {
	[ -d "/proc/$1/task" ] || return 0
	grep -q '^State:.Z' "/proc/$1/status" && [ "$(ls "/proc/$1/task")" = "$1" ]
}

# all_of TOOL: its processes, with those that nobody waits for any more, and none of another test's; all_gone TOOL: it has none
export STARTED_BY="$tmp"
all_of() {
	for p in $(find /proc/[0-9]*/exe -lname "$O/$1" 2>/dev/null | cut -d/ -f3); do
		! grep -qzxF "STARTED_BY=$tmp" "/proc/$p/environ" 2>/dev/null || echo "$p"
	done
}
all_gone() { [ -z "$(all_of "$1")" ]; }

# bystander NAME [PROGRAM]: another user's program, which waits for a line in $tmp/NAME; $bystander
bystander() {
	rm -f "$tmp/$1" "$tmp/$1.ready"
	mkfifo "$tmp/$1"
	$other "$bin/${2:-mem}" wait malloc 13 4096 launch 17 <>"$tmp/$1" >"$tmp/$1.ready" &
	bystander=$!
	pids="$pids $bystander"
	within 5 grep -q ready "$tmp/$1.ready" || no "bystander $1 does not begin"
}

# starts TOOL OPTION...: with a reader of its output; traces: until it traces
starts() {
	rm -f "$tmp/pipe"
	mkfifo "$tmp/pipe"
	: >"$tmp/err"
	cat <"$tmp/pipe" >"$tmp/out" & reader=$!
	"$@" >"$tmp/pipe" 2>"$tmp/err" & tracer=$!
	pids="$pids $tracer $reader"
}
traces() {
	starts "$@"
	within 60 grep -q ': tracing' "$tmp/err" || no "$*: it does not trace within 60 s"
}

# give_line FIFO: to who reads it, if somebody does
give_line() {
	# shellcheck disable=SC2016 # the shell is to expand it
	[ ! -p "$1" ] || timeout 1 sh -c 'echo >"$1"' sh "$1" || no "nobody reads $1"
}

# bystanders_go: both make their calls and end
bystanders_go() {
	sleep .2	# a program that has just begun is found within that time
	give_line "$tmp/first"
	give_line "$tmp/second"
	for v in $first $second; do
		within 5 gone "$v" || no "bystander $v is held up"
	done
	sleep .2
}

# states PID: those of its threads
states() { sed 's/.*) \(.\).*/\1/' /proc/"$1"/task/*/stat 2>/dev/null | tr -d '\n'; }

# ends: after SIGINT the tool is gone in time, and nothing else has its output open
ends() {
	began=$(date +%s%N)
	kill -INT "$tracer" 2>/dev/null
	if ! within 2 gone "$tracer"; then
		took=$((($(date +%s%N) - began) / 1000000))
		no "it is there $took ms after SIGINT, in state $(states "$tracer")"
	elif ! within 1 gone "$reader"; then
		no "something has the output of $tracer open"
	fi
}

# counted TOOL: what the bystanders did, exactly
counted() {
	for v in $first $second; do
		case $1 in
		cudamallocsnoop) json 13 ".pid == $v and .func == \"cudaMalloc\" and .size == 4096" ;;
		cudalaunchtop) sum 17 "select(.pid == $v and .kernel == \"mem_kernel\").launches" ;;
		cudaleak) sum 13 "select(.pid == $v and .at == \"exit\").count" ;;
		esac
	done
}

# ---- A file system that stops answering

# serves WHERE: a process has libraries from a file system that will not answer; $server, $pid
serves() {
	rm -f "$tmp/go" "$tmp/ready"
	mkfifo "$tmp/go"
	as=$attacker
	case $1 in attach | script) as='' ;; esac	# root does what fusermount does
	$as "$tmp/hostile_fuse" "$1" "$tmp/fuse" "$tmp/dir" "$lib/libcuda.so.1" \
		"$lib/libcudart.so.13" "$lib/libcudart.so.12" <>"$tmp/go" >"$tmp/ready" 2>"$tmp/said" &
	server=$!
	pids="$pids $server"
	within 5 grep -q ready "$tmp/ready" || return 1
	pid=$(sed 's/ready //' "$tmp/ready")
}

# abort_all: the kernel fails what waits for the attacker's file systems, should the server not die
abort_all() {
	for c in "$tmp"/connections/*; do
		case " $others " in *" $c "*) continue ;; esac
		[ "$(stat -c %u "$c" 2>/dev/null)" != 65534 ] || echo 1 >"$c/abort"
	done
}

# unserved TOOL: the server's end, which is that of all who wait for it; the kernel takes a tenth of a second for each probe
# of --attach perf that a helper still places and removes
unserved() {
	kill -9 "$server" 2>/dev/null
	within 2 gone "$server" || abort_all
	within 60 all_gone "$1" || no "$1 is left over"
	kill -9 "$tracer" "$reader" 2>/dev/null
	within 30 gone "$tracer" || no "it is there half a minute after SIGKILL"
}

# silence WHERE WHEN TOOL OPTION...: a server stops answering, before the tool begins (it traces all
# processes, or with WHEN `of` three) or after it has
silence() {
	where=$1 when=$2
	shift 2
	title="a file system that does not answer holds up nobody: $where, $when $*"
	case $where in
	# alone, as a tool of another test that places a probe in it meanwhile waits for its memory lock, and every fork for that
	attach | lock) it_alone "$title" ;;
	*) it "$title" ;;
	esac
	bystander first; first=$bystander
	serves "$where" || no "no server: $(cat "$tmp/said")"
	[ "$when" = after ] || bystander second mem-12; second=$bystander
	! [ "$when" = of ] || set -- "$@" -p "$pid,$first,$second"
	[ "$when" = after ] || kill -USR1 "$server"
	[ "$where" != lock ] || give_line "$tmp/go"
	traces "$@"
	if [ "$when" = after ]; then
		kill -USR1 "$server"
		give_line "$tmp/go"
		sleep .1
		bystander second mem-12; second=$bystander
		sleep 1.2	# a look at another process's files may take a second, and then is given up
	fi
	bystanders_go
	ends
	unserved "$1"
	counted "$1"
	[ "$where" = flush ] || grep -qE "process $pid|libcud" "$tmp/err" ||
		no "it does not say what it left out"
}

mkdir "$tmp/connections"
mount -t fusectl none "$tmp/connections" && trap 'abort_all; umount "$tmp/connections"; finish' EXIT
others=$(echo "$tmp"/connections/*)
mknod -m 666 "$tmp/fuse" c 10 229
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 tests/workloads/hostile_fuse.c \
	-o "$tmp/hostile_fuse" -ldl -pthread
if ! serves open; then
	it "a file system that does not answer holds up no tool"
	skip "$(cat "$tmp/said")"
else
	kill -9 "$server"
	for tool in cudamallocsnoop ${LONG:+cudalaunchtop cudaleak}; do
		for where in ${LONG:+stat open} read flush; do
			silence "$where" before "$tool" -j
			! long || silence "$where" after "$tool" -j
			! long || silence "$where" of "$tool" -j
		done
	done
	if long; then
		for kind in $kinds; do
			silence attach before cudamallocsnoop -j --attach "$kind"
		done
		silence attach after cudamallocsnoop -j
		silence lock before cudamallocsnoop -j
	fi
fi

if serves script; then
	it "a script whose interpreter is on a file system that does not answer does not hold up its tool: --attach inject"
	printf '#!/proc/%d/root%s/fuse/libcuda.so.1\n' "$server" "$tmp/dir" >"$tmp/script"
	chmod 755 "$tmp/script"
	kill -USR1 "$server"
	cudatrace --attach=inject -u 65534:65534 -- "$tmp/script" >"$tmp/out" 2>"$tmp/err" & tracer=$! reader=$!
	pids="$pids $tracer"
	within 10 grep -q ': tracing' "$tmp/err" || no "it does not trace within 10 s"
	within 5 grep -qF "$tmp/script could not be read within 1 s" "$tmp/err" || no "it does not say what it left out"
	kill -INT "$tracer"	# the command's; the kernel holds it
	sleep .2
	kill -INT "$tracer"
	within 2 gone "$tracer" || no "it is there 2 s after SIGINT, in state $(states "$tracer")"
	unserved cudatrace
fi

spoof='memfd:cuda-bpf-tools-gputime (deleted)'
: >"$tmp/$spoof"
chmod 644 "$tmp/$spoof"
rm -f "$tmp/ready"
RUNTIME=$lib/libcudart.so.13 $attacker "$tmp/hostile_fuse" name "$tmp/fuse" "$tmp/dir" "$lib/libcudart.so.13" "$tmp/$spoof" </dev/null >"$tmp/ready" 2>"$tmp/said" &
server=$!
pids="$pids $server"
if within 5 grep -q ready "$tmp/ready"; then
	it "a file that is named like the memory of libcudagputime.so, in a file system that does not answer, does not hold up --gpu-time"
	pid=$(sed 's/ready //' "$tmp/ready")
	[ "$(readlink /proc/"$pid"/fd/* | grep -cxF "/$spoof")" = 1 ] || no "no descriptor has that name"
	kill -USR1 "$server"
	cudalaunchtop --gpu-time -jp "$pid" >"$tmp/out" 2>"$tmp/err" & tracer=$! reader=$!
	pids="$pids $tracer"
	within 10 grep -q ': tracing' "$tmp/err" || no "it does not trace within 10 s"
	sleep .2
	kill -INT "$tracer"
	within 2 gone "$tracer" || no "it is there 2 s after SIGINT, in state $(states "$tracer")"
	unserved cudalaunchtop
fi

# ---- Many, big, leased and changing files

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 tests/workloads/hostile_files.c "$lib/libcudart.so.13" \
	-Wl,-rpath,"$lib" -o "$tmp/hostile_files"
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls tests/workloads/hostile.c "$lib/libcudart.so.13" \
	-Wl,-rpath,"$lib" -o "$tmp/hostile"

ready() { [ "$(grep -c ready "$tmp/attackers")" -ge "$1" ]; }

# attacks N WHAT ARGUMENT...: N processes of hostile_files in a directory of their own; $attackers
attacks() {
	n=$1
	shift
	dir=$(mktemp -d "$tmp/dir.XXXXXX")
	chmod 755 "$dir"
	chown 65534 "$dir"
	rm -f "$tmp/attack"
	mkfifo "$tmp/attack"
	what=$1
	shift
	: >"$tmp/attackers"
	$attacker "$tmp/hostile_files" "$what" "$dir" "$@" <>"$tmp/attack" >"$tmp/attackers" \
		2>"$tmp/said" & server=$!
	pids="$pids $server"
	within 20 ready "$n" || no "attack: $(cat "$tmp/said")"
	attackers=$(sed 's/ready //' "$tmp/attackers" | paste -sd ,)
}

# beaten: the attackers end
beaten() {
	kill -9 "$server" "$tracer" "$reader" 2>/dev/null
	within 30 gone "$tracer" || no "it is there half a minute after SIGKILL"
	rm -rf "$dir"
}

# watch_memory TOOL: from now on until it ends, $tmp/memory has what its processes take, in MiB:
# together, each page once, however many have it since a fork; and the most that one of them ever took
watch_memory() {
	: >"$tmp/memory"
	until gone "$tracer"; do
		for p in $(all_of "$1"); do cat "/proc/$p/smaps_rollup" "/proc/$p/status"; done 2>/dev/null |
			awk '$1 == "Pss:" { all += $2 }
				$1 == "VmHWM:" && $2 > one { one = $2 }
				END { print int(all / 1024); print int(one / 1024) }' >>"$tmp/memory"
		sleep .2
	done & watcher=$!
	pids="$pids $watcher"
}

# peak TOOL MIB: it never took more; to be asked when it has ended
peak() {
	wait "$watcher"
	most=$(sort -n "$tmp/memory" | tail -n 1)
	[ "${most:-0}" -gt 1 ] && [ "$most" -lt "$2" ] || no "$1 takes $most MiB"
}

if long; then
	for tool in cudamallocsnoop cudalaunchtop; do
		it "sparse files that claim big tables neither deafen $tool nor take its memory"
		bystander first; first=$bystander
		attacks 3 sparse 3
		bystander second mem-12; second=$bystander
		traces $tool -j
		watch_memory $tool
		bystanders_go
		ends
		beaten
		peak $tool 300
		counted $tool
	done
	it "sparse files mapped while a tool traces do not deafen it"
	bystander first; first=$bystander
	traces cudamallocsnoop -j
	watch_memory cudamallocsnoop
	attacks 3 sparse 3
	bystander second mem-12; second=$bystander
	bystanders_go
	ends
	beaten
	peak cudamallocsnoop 300
	counted cudamallocsnoop
fi

if long; then
	it "131,000 variables of kernels and 3,000 unknown addresses do not keep a tool from its end"
	mkdir "$tmp/handles"
	chmod 755 "$tmp/handles"
	echo 'int cudaLaunchKernel(void *func) { return !func; }' >"$tmp/handles/launch.c"
	cat >"$tmp/handles/main.c" <<'END'
int cudaLaunchKernel(void *func);
int main(void)
{
	write(1, "ready\n", 6);
	getchar();
	for (long i = 1; i <= 3000; i++)
		cudaLaunchKernel((void *)(i * 0x1000));
	write(1, "done\n", 5);
	pause();
}
END
	awk 'BEGIN {
		print ".section .nv_fatbin,\"a\"\n.quad 0\n.data"
		for (i = 1; i <= 131000; i++) {
			h = "h" i "E8__handle"
			print ".type " h ",@object\n.size " h ",8\n" h ": .quad 0"
		}
	}' >"$tmp/handles/handles.s"
	(
		cd "$tmp/handles" &&
			${CC:-cc} -w -shared -fPIC -Wl,-soname,libcudart.so.13 -o libcudart.so.13 \
			launch.c &&
			${CC:-cc} -w -z noexecstack -o main main.c handles.s ./libcudart.so.13 \
				-Wl,-rpath,"$PWD"
	)
	bystander first; first=$bystander
	rm -f "$tmp/attack"
	mkfifo "$tmp/attack"
	: >"$tmp/attackers"
	$attacker "$tmp/handles/main" <>"$tmp/attack" >"$tmp/attackers" & server=$!
	pids="$pids $server"
	dir=$tmp/handles
	within 5 grep -q ready "$tmp/attackers" || no "attack: it does not begin"
	bystander second mem-12; second=$bystander
	traces cudalaunchtop -j
	give_line "$tmp/attack"
	within 20 grep -q 'done' "$tmp/attackers" || no "attack: it does not end"
	bystanders_go
	ends
	beaten
	counted cudalaunchtop
	sum 3000 "select(.pid == $server).launches"
fi

it "a file that comes again by device, inode and name is looked into again"
if unshares -m; then
	chmod 755 "$tmp"
	rm -f "$tmp/first" "$tmp/second"
	attacks 1 mount /bin/true
	# what is at $dir is another file system for each
	cat >"$tmp/mount" <<'END'
mount -t tmpfs none "$1" && chmod 755 "$1" &&
	cp "$2/libcudart.so.13" "$1" && cp "$2/libcuda.so.1" "$1" &&
	exec setpriv --reuid 65533 --regid 65533 --clear-groups env LD_LIBRARY_PATH="$1" \
		"$3" wait malloc 13 4096 launch 17
END
	traces cudamallocsnoop -j
	sleep .5	# it has seen the first
	awk -v lib="$dir/libcudart.so.13" '$6 == lib { print $4, $5 }' "/proc/$server/maps" >"$tmp/was"
	give_line "$tmp/attack"
	within 5 gone "$server" || no "the attacker does not end"
	wait "$server"
	rm -f "$tmp/again"
	mkfifo "$tmp/again"
	unshare -m sh "$tmp/mount" "$dir" "$lib" "$bin/mem" <>"$tmp/again" >"$tmp/again.ready" \
		2>"$tmp/said" & second=$!
	pids="$pids $second"
	within 5 grep -q ready "$tmp/again.ready" || no "the bystander does not begin"
	awk -v lib="$dir/libcudart.so.13" '$6 == lib { print $4, $5 }' "/proc/$second/maps" >"$tmp/is"
	if ! grep -qxFf "$tmp/was" "$tmp/is"; then
		kill "$second"
		ends
		beaten
		skip "another device or inode: $(head -qn 1 "$tmp/was" "$tmp/is" | paste -sd /)"
	else
		sleep .2
		give_line "$tmp/again"
		within 5 gone "$second" || no "the bystander is held up"
		sleep .2
		ends
		beaten
		json 13 ".pid == $second and .func == \"cudaMalloc\""
	fi
fi

if long; then
	it "names that a program gives to its files without end do not take a tool's memory"
	for tool in 'cudamallocsnoop -jk' 'cudaleak -j'; do
		bystander first; first=$bystander
		attacks 1 names 3000
		traces $tool
		watch_memory "${tool% *}"
		give_line "$tmp/attack"
		sleep 6
		bystander second; second=$bystander
		sleep 1.5	# on a busy machine it may be the last to be looked at
		bystanders_go
		ends
		beaten
		peak "${tool% *}" 300
		counted "${tool% *}"
		jq -e --slurp "any(.pid == $second and (.stack | any(.sym == \"main\")))" \
			"$tmp/out" >/dev/null || no "${tool% *}: no names of the bystander's functions"
	done
fi

if long; then
	# alone, as the kernel removes perf's probes one after the other, and lets nobody else place any meanwhile
	it_alone "files with many functions do not keep --attach perf from its end"
	bystander first; first=$bystander
	attacks 1 copies 3 "$lib/libcudart.so.13"
	bystander second mem-12; second=$bystander
	traces cudamallocsnoop -j --attach perf
	sleep 5
	bystanders_go
	ends
	beaten
	counted cudamallocsnoop
	# meanwhile the kernel lets nobody else place a perf event
	within 180 all_gone cudamallocsnoop || no "the kernel still removes probes"
fi

it "a program that holds a lease on its library is not said to have no CUDA"
bystander first; first=$bystander
attacks 1 lease "$lib/libcudart.so.13"
bystander second; second=$bystander
run cudamallocsnoop -d 1 -p "$attackers"
says_not 'no CUDA functions'
traces cudamallocsnoop -jp "$attackers,$first,$second"
grep -qiE 'lease|tracing.* probes in 2 files' "$tmp/err" || no "it does not speak of the lease"
bystanders_go
ends
beaten
counted cudamallocsnoop

if long; then
	it "the memory of 40 processes that cannot be read ends nobody's names"
	bystander first; first=$bystander
	stuck=''	# the capability is for userfaultfd, where FUSE would do
	rm -f "$tmp/attack"
	mkfifo "$tmp/attack"
	: >"$tmp/attackers"
	for i in $(seq 40); do
		$attacker --inh-caps +sys_ptrace --ambient-caps +sys_ptrace \
			"$tmp/hostile" unreadable <>"$tmp/attack" >>"$tmp/attackers" 2>"$tmp/said" &
		stuck="$stuck $!" pids="$pids $!"
	done
	within 10 ready 40 || no "attack: $(cat "$tmp/said")"
	traces cudalaunchtop -j
	for i in $(seq 40); do give_line "$tmp/attack"; done
	sleep 3
	bystander second; second=$bystander
	bystanders_go
	ends
	kill -9 $stuck
	counted cudalaunchtop
fi

long || leave

it "a tool with few descriptors says so, and not that a program has no CUDA"
bystander first; first=$bystander
attacks 1 copies 100 "$lib/libcudart.so.13"
bystander second mem-12; second=$bystander
for pids_of in '' "-p $attackers,$first,$second"; do
	# how many it needs to begin depends on the version of libbpf, and on how busy its helpers are
	for most in $(seq 40 8 128); do
		starts sh -c 'ulimit -n $0; exec "$@"' $most cudamallocsnoop -j $pids_of
		within 60 eval 'grep -q ": tracing" "$tmp/err" || gone "$tracer"' || no "$most: it neither traces nor ends"
		! grep -q ': tracing' "$tmp/err" || break
		grep -qiE 'open files|descriptors|ulimit' "$tmp/err" || no "$most: it does not say why"
	done
	says_not 'no CUDA functions'
	grep -qiE 'open files|descriptors|ulimit' "$tmp/err" || no "it does not say why"
	ends
done
kill -9 "$first" "$second"
beaten
