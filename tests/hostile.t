# shellcheck shell=sh disable=SC2034,SC2154 # rc, pid: the words'
# Programs and files that are made to break, mislead or hold up a tool that runs as root.

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls tests/workloads/hostile.c "$lib/libcudart.so.13" \
	-Wl,-rpath,"$lib" -o "$tmp/hostile"

# in_bounds COMMAND...: with little time and little memory
in_bounds() {
	run timeout -s KILL 30 sh -c 'ulimit -v 4000000; exec "$@"' sh "$@"
}

# refused KIND STATUS MESSAGE
refused() {
	it "an ELF file that has $1 to take all memory or time is refused at once"
	"$tmp/hostile" elf "$1" "$tmp/elf.so" || no "no such file"
	in_bounds cudamallocsnoop -l "$tmp/elf.so"
	status "$2"
	says "elf.so$3"
	rm -f "$tmp/elf.so"
}
refused strings 1 ': invalid symbol table'
refused symbols 1 ': symbol table too large'
refused sections 1 ': has no section headers'
refused names 1 ': symbol names too long'

it "a symbol that takes hours to demangle is printed as it is"
in_bounds cudamallocsnoop -kjc "$tmp/hostile symbol 101"
status 0
json 101 '.stack[0].sym | startswith("_Z1fI1aIiiES0_IS1_S1_E")'

it "a process whose memory cannot be read holds up nobody"
run timeout .2 "$tmp/hostile" unreadable
if [ "$rc" -eq 1 ]; then
	skip "$(cat "$tmp/err")"
else
	program "$tmp/hostile" unreadable
	tool timeout -s KILL 30 cudalaunchtop -d 3 -jp "$pid"
	echo >&3
	wait "$tracer"
	rc=$?
	status 0
	says "process $pid: memory could not be read within 1 s"
	exec 3>&-
	kill -9 "$pid"
fi

it "calls that come faster than they can be printed do not keep it from its end"
for i in 1 2; do
	"$bin/mem" loop 1000000000 '(' malloc 1 64 free 1 ')' & pids="$pids $!" busy="${busy-} $!"
done
run nice -n 10 cudamallocsnoop -kjd 1
# shellcheck disable=SC2086 # numbers
kill -9 $busy
status 0
says 'records lost: the ring buffer was full'

it "kernels that a program says are each other"
cat >"$tmp/alias.c" <<'END'
int cudaGetFuncBySymbol(void **func, void *stub)
{
	*func = (char *)0x3000 - (long)stub;
	return 0;
}
int cudaLaunchKernel(void *func)
{
	return 0;
}
END
cat >"$tmp/main.c" <<'END'
int main(void)
{
	void *func;

	for (int i = 0; i < 3; i++) {
		cudaGetFuncBySymbol(&func, (void *)0x1000);
		cudaGetFuncBySymbol(&func, (void *)0x2000);
		usleep(100000);
		cudaLaunchKernel((void *)0x1000);
	}
}
END
${CC:-cc} -w -shared -fPIC -o "$tmp/libcudart.so.13" "$tmp/alias.c"
${CC:-cc} -w -o "$tmp/main" "$tmp/main.c" "$tmp/libcudart.so.13" -Wl,-rpath,"$tmp"
run cudalaunchtop -jc "$tmp/main"
status 0
json 1 '.launches == 3 and .kernel == "0x1000"'
run cudatrace -e launch -jc "$tmp/main"
status 0
json 3 '.func == "cudaLaunchKernel"'

it "a file that takes another's place in a process is not taken for it"
cat >"$tmp/swap.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "proc/proc.h"
static struct mapping at;
static bool find(void *path, const struct mapping *m)
{
	at = *m;
	return strcmp(m->path, path);
}
static void *map(void *where, const char *path)
{
	return mmap(where, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | (where ? MAP_FIXED : 0),
		    open(path, O_RDONLY), 0);
}
int main(int argc, char **argv)
{
	void *where = map(NULL, argv[1]);
	int before, after, fd;

	proc_mappings(getpid(), find, argv[1]);
	before = proc_open_mapping(getpid(), &at, &fd);
	map(where, argv[2]);
	after = proc_open_mapping(getpid(), &at, &fd);
	return !(argc == 3 && !before && after == -ESTALE);
}
END
cp /bin/true "$tmp/one"
cp /bin/false "$tmp/other"
${CC:-cc} -std=gnu11 -iquote common "$tmp/swap.c" common/proc/proc.c -o "$tmp/swap"
run "$tmp/swap" "$tmp/one" "$tmp/other"
status 0

# ---- Attacks: what another user's program does to a tool that traces all processes as root

chmod 755 "$tmp"
mkdir "$tmp/dir"
chown 65534 "$tmp/dir"
attacker='setpriv --reuid 65534 --regid 65534 --clear-groups'

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

# all_of TOOL: its processes; all_gone TOOL: it has none
all_of() { find /proc/[0-9]*/exe -lname "$O/$1" 2>/dev/null | cut -d/ -f3; }
all_gone() { [ -z "$(all_of "$1")" ]; }

# victim NAME [PROGRAM]: another user's program, which waits for a line in $tmp/NAME; $victim
victim() {
	rm -f "$tmp/$1"
	mkfifo "$tmp/$1"
	setpriv --reuid 65533 --regid 65533 --clear-groups \
		"$bin/${2:-mem}" wait malloc 13 4096 launch 17 <>"$tmp/$1" >"$tmp/$1.ready" & victim=$!
	pids="$pids $victim"
	until_true grep -q ready "$tmp/$1.ready"
}

# traces TOOL OPTION...: starts it, with a reader of its output
traces() {
	rm -f "$tmp/pipe"
	mkfifo "$tmp/pipe"
	: >"$tmp/err"
	cat <"$tmp/pipe" >"$tmp/out" & reader=$!
	"$@" >"$tmp/pipe" 2>"$tmp/err" & tracer=$!
	pids="$pids $tracer $reader"
	within 5 grep -q ': tracing' "$tmp/err" || no "$*: it does not trace within 5 s"
}

# give_line FIFO: to who reads it, if somebody does
give_line() {
	# shellcheck disable=SC2016 # the shell is to expand it
	[ ! -p "$1" ] || timeout 1 sh -c 'echo >"$1"' sh "$1" || no "nobody reads $1"
}

# victims_go: both make their calls and end
victims_go() {
	sleep .3	# a program that has just begun is found within that time
	give_line "$tmp/first"
	give_line "$tmp/second"
	for v in $first $second; do
		within 5 gone "$v" || no "victim $v is held up"
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

# counted TOOL: what the victims did, exactly
counted() {
	for v in $first $second; do
		case $1 in
		cudamallocsnoop) json 13 ".pid == $v and .func == \"cudaMalloc\" and .size == 4096" ;;
		cudalaunchtop) sum 17 "select(.pid == $v and .kernel == \"mem_kernel\").launches" ;;
		cudaleak) sum 13 "select(.pid == $v and .at == \"exit\").count" ;;
		esac
	done
}

# serves WHERE: a process has libraries from a file system that will not answer; $server, $pid
serves() {
	rm -f "$tmp/go" "$tmp/ready"
	mkfifo "$tmp/go"
	as=$attacker
	[ "$1" != attach ] || as=	# root does what fusermount does
	# shellcheck disable=SC2086 # words
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
		[ "$(stat -c %u "$c")" != 65534 ] || echo 1 >"$c/abort"
	done
}

# unserved TOOL: the server's end, which is that of all who wait for it
unserved() {
	kill -9 "$server" 2>/dev/null
	within 2 gone "$server" || abort_all
	within 3 all_gone "$1" || no "$1 is left over"
	kill -9 "$tracer" "$reader" 2>/dev/null
	within 30 gone "$tracer" || no "it is there half a minute after SIGKILL"
}

# silence WHERE WHEN TOOL OPTION...: a server stops answering, before the tool begins (it traces all
# processes, or with WHEN `of` three) or after it has
silence() {
	where=$1 when=$2
	shift 2
	it "a file system that does not answer holds up nobody: $where, $when $*"
	victim first; first=$victim
	serves "$where" || no "no server: $(cat "$tmp/said")"
	[ "$when" = after ] || victim second mem-12; second=$victim
	! [ "$when" = of ] || set -- "$@" -p "$pid,$first,$second"
	[ "$when" = after ] || kill -USR1 "$server"
	[ "$where" != lock ] || give_line "$tmp/go"
	traces "$@"
	if [ "$when" = after ]; then
		kill -USR1 "$server"
		give_line "$tmp/go"
		sleep .1
		victim second mem-12; second=$victim
	fi
	victims_go
	ends
	unserved "$1"
	counted "$1"
	[ "$where" = flush ] || grep -qE "process $pid|libcud" "$tmp/err" ||
		no "it does not say what it left out"
}

mkdir "$tmp/connections"
mount -t fusectl none "$tmp/connections" && trap 'abort_all; umount "$tmp/connections"; finish' EXIT
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

# ---- Attacks: files

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 tests/workloads/hostile_files.c "$lib/libcudart.so.13" \
	-Wl,-rpath,"$lib" -o "$tmp/hostile_files"

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
	# shellcheck disable=SC2086 # words
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

# peak TOOL MIB: its processes have had less memory together; to be asked while it runs
peak() {
	most=$(for p in $(all_of "$1"); do cat "/proc/$p/status"; done 2>/dev/null |
		awk '$1 == "VmHWM:" { all += $2 } END { print int(all / 1024) }')
	[ "$most" -lt "$2" ] || no "$1 takes $most MiB"
}

if long; then
	for tool in cudamallocsnoop cudalaunchtop; do
		it "sparse files that claim big tables neither deafen $tool nor take its memory"
		victim first; first=$victim
		attacks 3 sparse 3
		victim second mem-12; second=$victim
		traces $tool -j
		victims_go
		peak $tool 300
		ends
		beaten
		counted $tool
	done
	it "sparse files mapped while a tool traces do not deafen it"
	victim first; first=$victim
	traces cudamallocsnoop -j
	attacks 3 sparse 3
	victim second mem-12; second=$victim
	victims_go
	peak cudamallocsnoop 300
	ends
	beaten
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
		cd "$tmp/handles" && ${CC:-cc} -w -shared -fPIC -Wl,-soname,libcudart.so.13 -o libcudart.so.13 \
			launch.c &&
			${CC:-cc} -w -o main -z noexecstack main.c handles.s ./libcudart.so.13 -Wl,-rpath,"$PWD"
	)
	victim first; first=$victim
	rm -f "$tmp/attack"
	mkfifo "$tmp/attack"
	# shellcheck disable=SC2086 # words
	$attacker "$tmp/handles/main" <>"$tmp/attack" >"$tmp/attackers" & server=$!
	pids="$pids $server"
	dir=$tmp/handles
	until_true grep -q ready "$tmp/attackers"
	victim second mem-12; second=$victim
	traces cudalaunchtop -j
	give_line "$tmp/attack"
	until_true grep -q 'done' "$tmp/attackers"
	victims_go
	ends
	beaten
	counted cudalaunchtop
	sum 3000 "select(.pid == $server).launches"
fi

it "a file that comes again by device, inode and name is looked into again"
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
until_true grep -q ready "$tmp/again.ready"
awk -v lib="$dir/libcudart.so.13" '$6 == lib { print $4, $5 }' "/proc/$second/maps" >"$tmp/is"
if ! grep -qxFf "$tmp/was" "$tmp/is"; then
	kill "$second"
	ends
	beaten
	skip "another device or inode: $(head -qn 1 "$tmp/was" "$tmp/is" | paste -sd /)"
else
	sleep .3
	give_line "$tmp/again"
	within 5 gone "$second" || no "the victim is held up"
	sleep .2
	ends
	beaten
	json 13 ".pid == $second and .func == \"cudaMalloc\""
fi

if long; then
	it "names that a program gives to its files without end do not take a tool's memory"
	for tool in 'cudamallocsnoop -jk' 'cudaleak -j'; do
		victim first; first=$victim
		attacks 1 names 3000
		# shellcheck disable=SC2086 # words
		traces $tool
		give_line "$tmp/attack"
		sleep 6
		victim second; second=$victim
		victims_go
		peak "${tool% *}" 300
		ends
		beaten
		counted "${tool% *}"
		jq -e --slurp "any(.pid == $second and (.stack | any(.sym == \"main\")))" \
			"$tmp/out" >/dev/null || no "${tool% *}: no names of the victim's functions"
	done
fi

it "a tool with few descriptors says so, and not that a program has no CUDA"
victim first; first=$victim
attacks 1 copies 100 "$lib/libcudart.so.13"
victim second mem-12; second=$victim
for pids_of in '' "-p $attackers,$first,$second"; do
	# shellcheck disable=SC2086 # words
	traces sh -c 'ulimit -n 64; exec "$@"' sh cudamallocsnoop -j $pids_of
	says_not 'no CUDA functions'
	grep -qiE 'open files|descriptors|ulimit' "$tmp/err" || no "it does not say why"
	ends
done
kill -9 "$first" "$second"
beaten

if long; then
	it "40 files with many functions do not keep --attach perf from its end"
	victim first; first=$victim
	attacks 1 copies 40 "$lib/libcudart.so.13"
	victim second mem-12; second=$victim
	traces cudamallocsnoop -j --attach perf
	sleep 5
	victims_go
	ends
	beaten
	counted cudamallocsnoop
fi

it "a program that holds a lease on its library is not said to have no CUDA"
victim first; first=$victim
attacks 1 lease "$lib/libcudart.so.13"
victim second; second=$victim
traces cudamallocsnoop -jp "$attackers,$first,$second"
says_not 'no CUDA functions'
grep -qiE 'lease|tracing.* probes in 3 files' "$tmp/err" || no "it does not speak of the lease"
victims_go
ends
beaten
counted cudamallocsnoop

if long; then
	it "the memory of 40 processes that cannot be read ends nobody's names"
	victim first; first=$victim
	stuck=''
	rm -f "$tmp/attack"
	mkfifo "$tmp/attack"
	: >"$tmp/attackers"
	for i in $(seq 40); do
		"$tmp/hostile" unreadable <>"$tmp/attack" >>"$tmp/attackers" 2>"$tmp/said" &
		stuck="$stuck $!" pids="$pids $!"
	done
	within 10 ready 40 || no "attack: $(cat "$tmp/said")"
	traces cudalaunchtop -j
	for i in $(seq 40); do give_line "$tmp/attack"; done
	sleep 3
	victim second; second=$victim
	victims_go
	ends
	# shellcheck disable=SC2086 # numbers
	kill -9 $stuck
	counted cudalaunchtop
fi

# ---- Text that a program chose: its name, its directory and libraries, its kernels

evil=$(printf 'd\033]0;x\007\n\302\233\342\200\256\\"')
mkdir -p "$tmp/$evil/bin" "$tmp/$evil/lib"
cp "$bin/mem" "$tmp/$evil/bin"
cp "$lib/libcuda.so.1" "$lib/libcudart.so.13" "$tmp/$evil/lib"
EVIL=$tmp/$evil COMM=$(printf '\033[31m\n\302\2332"')
export EVIL COMM
# shellcheck disable=SC2016 # the tool's shell is to expand it
command='exec "$EVIL/bin/mem" rename "$COMM" malloc 3 4096 copy 5 64 h2d sync 7 launch 11'

# clean: neither output has what a terminal acts upon
clean() {
	cat "$tmp/out" "$tmp/err" >"$tmp/both"
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$tmp/both" ||
		no "$*: control characters"
	[ -s "$tmp/out" ] || no "$*: no output"
}

# In /proc/PID/maps the kernel has \012 for a line end.
MAPPED=$(printf %s "$EVIL" | sed ':a; N; s/\n/\\012/; ta')
export MAPPED

for t in tools/*.c; do
	t=$(basename "$t" .c)
	case $t in cudabt) continue ;; esac	# it is bpftrace that prints
	stack=
	! "$t" --help | grep -q -- '-k, --stack' || stack=-k
	it "$t escapes the names of programs, files and libraries, as text and as JSON"
	for options in '' $stack --list; do
		run "$t" ${options:+"$options"} -c "$command"
		clean "$t $options"
		[ "$options" != --list ] || grep -qF 'd\x1b]0;x\x07\012\xc2\x9b\xe2\x80\xae\"/lib' "$tmp/out" ||
			no "--list: no such file"
		run "$t" ${options:+"$options"} -jc "$command"
		clean "$t $options -j"
		jq -e . "$tmp/out" >/dev/null 2>"$tmp/jq" || no "$options: $(head -c 200 "$tmp/jq")"
	done
	jq -e --slurp 'any(.file == env.MAPPED + "/lib/libcuda.so.1")' "$tmp/out" >/dev/null ||
		no "--list -j: no such file"
done

# ---- A program that makes a tool keep what it can: another user's is traced as if it were alone

mkdir "$tmp/hoard"
chmod 755 "$tmp" "$tmp/hoard"
${CC:-cc} -std=gnu11 -w -O1 -DRUNTIME -shared -fPIC tests/workloads/hoard.c -Wl,-soname,libcudart.so.13 \
	-o "$tmp/hoard/libcudart.so.13"
${CC:-cc} -std=gnu11 -w -O1 -pthread tests/workloads/hoard.c "$tmp/hoard/libcudart.so.13" \
	-Wl,-rpath,"$tmp/hoard" -o "$tmp/hoard/hoard"

OTHER='setpriv --reuid 65534 --regid 65534 --clear-groups' VICTIM='setpriv --reuid 65533 --regid 65533 --clear-groups'

# hoard WORD [N]: starts it; hoarded: waits until it has done all
hoard() {
	# shellcheck disable=SC2086 # words
	$OTHER "$tmp/hoard/hoard" "$@" >"$tmp/hoarded" & hoarder=$!
	pids="$pids $hoarder"
}
hoarded() { until_true grep -q "done" "$tmp/hoarded"; }

# victim WORD...: of mem, another user's; it waits for go, and $pid is its own
victim() {
	# shellcheck disable=SC2086 # words
	program $VICTIM "$bin/mem" wait "$@"
	victim=$pid
}

# end_hoard: ends the tool, and what hoards; what is of the victim into $tmp/out, the rest into $tmp/rest
end_hoard() {
	kept=$(awk '/VmHWM/ { print $2 }' "/proc/$tracer/status")
	stop
	status 0
	kill -9 "$hoarder"
	grep -v "\"pid\":$victim," "$tmp/out" >"$tmp/rest"
	grep "^{.*\"pid\":$victim," "$tmp/out" >"$tmp/out.victim"
	mv "$tmp/out.victim" "$tmp/out"
	[ "$kept" -lt 200000 ] || no "the tool took $kept KiB"
}

# lost_by REASON: the hoarder lost something for it, and the victim nothing for any
lost_by() {
	says "$1 (process $hoarder (hoard): "
	tail -n 1 "$tmp/rest" | jq -e --argjson pid "$hoarder" '.lost > 0 and .processes[0].pid == $pid and
		.processes[0].comm == "hoard" and .processes[0].lost > 0' >/dev/null || no "no processes in the last line"
	! grep ' lost\|missed\|not counted' "$tmp/err" | grep -q "$victim (" || no "the victim lost something"
}

if ! $VICTIM test -x "$bin/mem"; then
	it "a program that makes a tool keep what it can"
	skip "other users cannot run what is in $bin"
	exit
fi

for kind in $kinds; do
	it "--attach $kind: who fills the ring buffer loses records, and nobody else does"
	victim loop 101 '(' malloc 7 64 sleep 5 ')' free 503
	tool nice -n 15 cudamallocsnoop --attach "$kind" -kj
	hoard records
	until_true test -s "$tmp/out"
	sleep .3
	go
	end_hoard
	json 707 '.func == "cudaMalloc"'
	json 503 '.func == "cudaFree"'
	lost_by 'records lost: the ring buffer was full'
done

it "who launches kernels at very many addresses is not counted, and everybody else is"
victim loop 13 '(' launch 17 ')'
tool cudalaunchtop -j
hoard counts 100003
hoarded
go
end_hoard
sum 221 .launches
json 1 '.kernel == "fill<int>" or .launches == 221'
lost_by 'calls not counted: group table full'

it "who has very many names for kernels gets no more, and everybody else does"
victim loop 13 '(' launch 17 ')'
tool cudalaunchtop -j
hoard names 20011
hoarded
go
end_hoard
json 1 '.launches == 221 and (.kernel | startswith("0x") | not)'
says "process $hoarder: user 65534 has reached the limit on kernel names: further kernels are shown as addresses"

it "who allocates without end is counted only, and everybody else is known by allocation"
victim loop 13 '(' malloc 17 64 ')' free 8
tool cudaleak -Cj 1000
hoard allocations 1500007
hoarded
go
end_hoard
sum 213 '.count // 0'
json 0 .ignored
jq -e '.ignored > 0' "$tmp/rest" >/dev/null 2>&1 || no "nothing is said not to be counted"
says "process $hoarder: user 65534 has reached the limit on allocations not freed: further ones are only counted"

long || exit

it "launches and errors by turns do not make cudatrace keep each error"
victim loop 13 '(' launch 17 sync 1 ')'
tool cudatrace -xj
hoard errors 150001
hoarded
go
end_hoard

it "a call that makes very many others, in many threads, is printed in pieces"
victim loop 13 '(' malloc 17 64 ')'
tool cudatrace --tree -e cudaMalloc,cudaStreamSynchronize -j
hoard nested 60013
hoarded
go
end_hoard
json 221 '.func == "cudaMalloc"'
says "process $hoarder: user 65534 has reached the limit on calls inside calls: calls with very many calls inside are printed in pieces"

it "who gives kernels other names all the time keeps the tool busy for itself only"
victim loop 13 '(' launch 17 ')'
tool cudalaunchtop -j
hoard renames 100003
hoarded
go
start=$(date +%s)
end_hoard
sum 221 .launches
[ $(($(date +%s) - start)) -lt 15 ] || no "it took $(($(date +%s) - start)) s to end"
