# shellcheck shell=sh disable=SC2034,SC2154 # rc, pid: the words'
# Programs that come and go while they are traced, and tools that do.  What a tool prints and what it
# says that it lost add up to what the programs did, none of them is harmed, and nothing stays behind.
# shellcheck source=/dev/null
. tests/own.sh

chmod 755 "$tmp"
own storm
storm=$own name_of=${own##*/}
slow=SIM_LATENCY_US=cuMemAllocManaged=20000000	# the calls to die in last until then

# adds_up CALLS [LOST]: so many calls of storm's were made; all but LOST are in the output
adds_up() {
	equal "$(cat "$tmp/did")" "calls $1 harmed 0"
	json "$1" ".op == \"alloc\" and .comm == \"$name_of\""
	if [ "${2:-0}" -gt 0 ]; then
		json 1 ".lost == $2"
		says "$2 calls never returned (longjmp, exception or thread exit)"
	else
		json 0 .lost
		silent
	fi
}

# everywhere OPTION...: the tool, of all processes, its probes in storm's libraries
everywhere() { tool cudamallocsnoop -j -l "$tmp/own/lib/libcudart.so.13" "$@"; }

# all_printed CALLS: ends it when it has printed as many; what it lost is others', or left out of others, as it has all
# of these; the numbers of these are not known any more
all_printed() {
	until_true printed "$1"
	stop
	json 0 ".lost and any(.processes[]; .comm == \"$name_of\")"
	lost=$(grep '^{"type":"lost",' "$tmp/out")
	sed -i '/^{"type":"lost",/d' "$tmp/out"
	sed -i "/($name_of)/!{ /process [0-9]/d; / records not handled: /d; / mmap events: /d; }" "$tmp/err"
	adds_up "$1"
	[ -z "$why" ] || no "$lost"
}
printed() { [ "$(grep -cF "\"comm\":\"$name_of\"" "$tmp/out")" -ge "$1" ]; }

it "ten thousand short-lived processes, half of which exec: each call once"
everywhere
"$storm" mixed 10007 4 3 >"$tmp/did"
all_printed 30021

# the kernel waits for each of them while a probe is placed: with twice as many, on two busy CPUs, that may take 3 seconds,
# after which the tool does not probe the library
it "-c: 251 processes at once, with and without exec"
run cudamallocsnoop -jc "$storm mixed 251 251 7 >$tmp/did"
status 0
adds_up 1757

for kind in session multi; do
	it "--attach $kind: five hundred processes at once, with and without exec"
	everywhere --attach $kind
	"$storm" mixed 503 503 7 >"$tmp/did"
	all_printed 3521

	it "--attach $kind: vfork, and exec in place"
	everywhere --attach $kind
	"$storm" vforks 101 1 3 >"$tmp/did"
	all_printed 303
	run cudamallocsnoop --attach $kind -jc "$storm vforks 101 7 3 >$tmp/did"
	adds_up 303
	run cudamallocsnoop --attach $kind -jc "$storm replaced 101 3 >$tmp/did"
	equal "$(cat "$tmp/did")" 'calls 3 harmed 0'
	json 303 '.op == "alloc"'
	silent

	it "--attach $kind: threads that end inside a call are said, and it is no call"
	run env $slow cudamallocsnoop --attach $kind -jc "$storm dying 17 3 >$tmp/did"
	adds_up 51 17

	it "--attach $kind: threads that are inside a call while another one execs are said"
	run env $slow cudamallocsnoop --attach $kind -jc "$storm usurped 5 3 >$tmp/did"
	equal "$(cat "$tmp/did")" 'calls 3 harmed 0'
	json 18 '.op == "alloc"'
	json 1 '.lost == 5'

	it "--attach $kind: a call whose process is killed in it is neither a call nor lost"
	run env $slow cudamallocsnoop --attach $kind -jc "$storm killed 17 3 >$tmp/did"
	adds_up 51
done

it "--attach perf: processes and threads that come and go, and die inside a call"
everywhere --attach perf --layer runtime
env $slow sh -c "$storm mixed 101 7 3; $storm vforks 11 1 3; $storm killed 7 3; $storm dying 5 3" >"$tmp/all"
until_true printed 372
stop
equal "$(awk '{ n += $2; bad += $4 } END { print n, bad }' "$tmp/all")" '372 0'
json 372 ".op == \"alloc\" and .comm == \"$name_of\""
sum 5 ".processes[]? | select(.comm == \"$name_of\").lost"

it "as text: as many lines, and the same is said"
run env $slow cudamallocsnoop -c "$storm mixed 101 7 3 >$tmp/did; $storm dying 5 3 >/dev/null"
lines 318 "^[0-9]+ +$name_of +cudaMalloc +alloc "
says '5 calls never returned (longjmp, exception or thread exit)'

for tool in cudasynclatency cudamemcpysize cudatrace; do
	case $tool in
	cudasynclatency) call='sync 1' late=cuCtxSynchronize ;;
	*) call='copy 1 64 h2d' late=cuMemcpyHtoD_v2 ;;
	esac
	it "$tool: a call that its process is killed in"
	run env SIM_LATENCY_US=$late:3=20000000 timeout 20 $tool -jc \
		"$bin/mem $call $call thread '(' $call ')' sleep 100 segv"
	[ $tool = cudatrace ] || json 1 '.count == 2'
	json 0 .lost
done

it "a library that is loaded and unloaded again and again"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$tmp"
run cudamallocsnoop -jc "$storm loads 211 3 $tmp/libcudart.so.13 >$tmp/did"
adds_up 633
everywhere -l "$tmp/libcudart.so.13"
"$storm" loads 503 3 "$tmp/libcudart.so.13" >"$tmp/did"
all_printed 1509

# with_links MOST: a cudamallocsnoop that makes no more links at a time
with_links() {
	# shellcheck disable=SC2046 # words
	${CC:-cc} -std=gnu11 -O1 -iquote common -iquote "$O" "-DATTACH_MAX=$1" \
		"$O/tools/cudamallocsnoop.o" common/probe/attach.c \
		"$O/common/pprof/pprof.o" "$O/profile.pb-c.o" "$O/libcommon.a" $(env -u MAKEFLAGS make -s libs TOOLS=cudamallocsnoop) -pthread -o "$tmp/cudamallocsnoop"
}

it "a tool never makes links without end: it says what it does not probe any more, and harms nobody"
with_links 13
for kind in session multi perf; do
	run "$tmp/cudamallocsnoop" --attach $kind -jc "$storm forks 101 11 3 >$tmp/did"
	status 0
	equal "$(cat "$tmp/did")" 'calls 303 harmed 0'
	says 'uprobe link limit reached: not probing '
	equal "$(grep -c 'limit reached: not probing' "$tmp/err")" 1
	refused=$(sed -n 's/.*: uprobe link limit reached: a mapped file was not probed \([0-9]*\) times$/\1/p' "$tmp/err")
	[ "${refused:-0}" -gt 0 ] || no "$kind: nothing is said to be refused"
	[ "$(wc -l <"$tmp/out")" -lt 303 ] || no "$kind: nothing was refused"
done

it "the probes of a process go with it: there is room for more of them than have been at a time"
with_links 701
for kind in session multi; do
	run "$tmp/cudamallocsnoop" --attach $kind -jc "$storm forks 503 1 3 >$tmp/did"
	status 0
	adds_up 1509
done

was_ready() { [ "$(grep -c ready "$tmp/ready")" -ge "$1" ]; }

# ---- What is in the memory of $pid, whatever the tools or bpf(2) say

# Whoever traces every process has breakpoints in everything that may be CUDA's.  This has a library that only its path says
# to be, and is probed with -l "$tmp/probed.so" alone: "ready", reads a line, N calls, "ready", reads a line.
cat >"$tmp/probed.c" <<'END'
int cudaMalloc(void **p, unsigned long n) { *p = (void *)n; return 0; }
int cudaFree(void *p) { return !p; }
int cuMemAlloc_v2(unsigned long *p, unsigned long n) { *p = n; return 0; }
END
cat >"$tmp/main.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int cudaMalloc(void **p, unsigned long n);
static void wait_for_line(void)
{
	puts("ready");
	fflush(stdout);
	getchar();
}
int main(int argc, char **argv)
{
	void *p;

	wait_for_line();
	for (long i = atol(argv[1]); i; i--)
		cudaMalloc(&p, 64);
	wait_for_line();
	return argc != 2;
}
END
${CC:-cc} -std=gnu11 -O1 -shared -fPIC -Wl,-soname,probed.so -o "$tmp/probed.so" "$tmp/probed.c"
${CC:-cc} -std=gnu11 -O1 -o "$tmp/calls" "$tmp/main.c" "$tmp/probed.so" -Wl,-rpath,"$tmp"

# places COMMAND: the addresses at which that tool's probes are to be, into $tmp/places
places() {
	"$@" --list -jp "$pid" | jq -r 'select(.offset and .skipped == null) | .offset + " " + .file' |
		while read -r offset file; do
			while read -r range rights from _ _ path; do
				at=$((0x${range%-*} + offset - 0x$from))
				case $rights in *x*) ;; *) continue ;; esac
				[ "$path" != "$file" ] || [ $at -lt $((0x${range%-*})) ] ||
					[ $at -ge $((0x${range#*-})) ] || echo $at
			done <"/proc/$pid/maps"
		done >"$tmp/places"
}

# probed N: at so many of them there is a breakpoint, int3
probed() {
	found=0
	while read -r at; do
		byte=$(dd "if=/proc/$pid/mem" bs=1 skip="$at" count=1 2>/dev/null | od -An -tx1)
		[ "$byte" != ' cc' ] || found=$((found + 1))
	done <"$tmp/places"
	[ $found -eq "$1" ]
}

it "-c: a program beside many processes that share links, twice, is not counted, and has no breakpoints when they are gone"
program "$tmp/calls" 7
places cudamallocsnoop -l "$tmp/probed.so"
n=$(wc -l <"$tmp/places")
mkfifo "$tmp/storm" "$tmp/over"
exec 7<>"$tmp/storm" 8<>"$tmp/over"
alive="LD_PRELOAD=$tmp/probed.so $storm alive 71 2 3 <$tmp/storm"
tool cudamallocsnoop -jc "$alive >$tmp/did; read x <$tmp/over; $alive >$tmp/again; read x <$tmp/over"
for did in did again; do
	until_true grep -q ready "$tmp/$did"
	probed "$n" || no 'they share no links'
	[ $did = again ] || echo >&3
	until_true was_ready 2
	echo >&7
	until_true grep -q calls "$tmp/$did"
	until_true probed 0
	[ $did = did ] || go || no "the program's status is $?"
	echo >&8
done
wait "$tracer"
rc=$?
exec 7>&- 8>&-
status 0
equal "$(tail -qn 1 "$tmp/did" "$tmp/again" | tr '\n' ' ')" 'calls 222 harmed 0 calls 222 harmed 0 '
json 444 '.op == "alloc"'
silent

# ---- The tool is held up

# all_counted ALLOCATIONS: printed or said to be lost; some are lost
all_counted() {
	gone=$(sed -n 's/.*: \([0-9]*\) records\{0,1\} lost: the ring buffer was full.*/\1/p' "$tmp/err")
	[ "${gone:-0}" -gt 0 ] || no 'nothing is said to be lost'
	json $(($1 - ${gone:-0})) '.op == "alloc"'
	json 1 ".lost >= ${gone:-0}"
}

it "a tool that is stopped for ten seconds: the program runs on, and what is lost is said"
# shellcheck disable=SC2086 # words
program $another "$storm" maps 1 499979
tool cudamallocsnoop -jp "$pid"
kill -STOP "$tracer"
began=$(date +%s)
go
sleep $((began + 10 - $(date +%s)))
kill -CONT "$tracer"
wait "$tracer"
rc=$?
status 0
equal "$(tail -n 1 "$tmp/ready")" 'calls 999958 harmed 0'
all_counted 499979

# to_nobody COMMAND...: a tool whose output goes into a pipe that is open and not read
to_nobody() {
	rm -f "$tmp/pipe"
	mkfifo "$tmp/pipe"
	# shellcheck disable=SC2094 # both ends
	exec 8<>"$tmp/pipe" 7>"$tmp/pipe"
	: >"$tmp/err"
	"$@" >&7 2>"$tmp/err" 8<&- 7>&- & tracer=$!
	pids="$pids $tracer"
	exec 7>&-
	until_true grep -q ': tracing' "$tmp/err"
}

# alone, for the same reason
it_alone "output that nobody reads: -c's processes are not held up, and what is lost is said"
rm -f "$tmp/did"
to_nobody cudamallocsnoop -jc "$another $storm calls 100003; $storm mixed 101 7 997 >$tmp/did"
until_true grep -q calls "$tmp/did"
equal "$(cat "$tmp/did")" 'calls 100697 harmed 0'
: >"$tmp/out"
cat "$tmp/pipe" >>"$tmp/out" 8>&- & reader=$!
until_true test -s "$tmp/out"
exec 8>&-
wait "$tracer"
rc=$?
wait $reader
status 0
all_counted 200700

it "output that nobody reads: a signal ends the tracing, a second one the tool, which says what it left out"
program "$tmp/calls" 100003
places cudamallocsnoop -l "$tmp/probed.so"
n=$(wc -l <"$tmp/places")
[ "$n" -ge 3 ] || no "$n places"
to_nobody cudamallocsnoop -l "$tmp/probed.so" -jp "$pid"
until_true probed "$n"
echo >&3
until_true was_ready 2
kill -INT "$tracer"
until_true probed 0
kill -0 "$tracer" || no 'it did not wait for its reader'
# one that comes before it waits for its reader is the first one still
again() { ! kill -INT "$tracer" || grep -q '^State:.Z' "/proc/$tracer/status"; }
until_true again
wait "$tracer"
rc=$?
status 1
says 'standard output is not being read: discarded the last'
exec 8>&-
go || no "the program's status is $?"

it "a terminal that is stopped: -c's processes are not held up, and Ctrl-C ends the tool"
if command -v tmux >/dev/null; then
	rm -f "$tmp/did"
	mkfifo "$tmp/begin"
	screen 80 24 "cudamallocsnoop -jc 'read x <$tmp/begin; $another $storm calls 100003; $storm mixed 101 7 3 >$tmp/did'"
	on_screen ': tracing'
	term send-keys C-s
	echo >"$tmp/begin"
	until_true grep -q calls "$tmp/did"
	equal "$(cat "$tmp/did")" 'calls 303 harmed 0'
	term send-keys C-c
	on_screen '^ended '
	term kill-server
else
	skip 'there is no tmux'
fi

# ---- The end of the tool

few="cudatrace -l $tmp/probed.so -e cudaMalloc,cudaFree,cuMemAlloc_v2"	# perf events take their time to be closed

for kind in session multi perf; do
	it "--attach $kind: no probe stays behind, whatever signal ends the tool, nor when its reader goes"
	program "$tmp/calls" 7
	# shellcheck disable=SC2086 # words
	places $few
	n=$(wc -l <"$tmp/places")
	[ "$n" -ge 3 ] || no "$n places"
	probed 0 || no 'there are breakpoints before'
	# shellcheck disable=SC2086
	for signal in INT TERM HUP SEGV KILL; do
		for who in "-p $pid" ''; do
			tool $few --attach $kind -j $who
			until_true probed "$n"
			kill -s $signal "$tracer"
			wait "$tracer" 2>/dev/null
			until_true probed 0
		done
	done
	# shellcheck disable=SC2086
	to_nobody $few --attach $kind -jp "$pid"
	until_true probed "$n"
	exec 8>&-
	echo >&3
	wait "$tracer"
	rc=$?
	status 0
	until_true probed 0
	go || no "the program's status is $?"
done
