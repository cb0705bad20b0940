# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the inner shell is to expand it; rc, pid: the words'
# Programs and files that are made to break, mislead or hold up a tool that runs as root.
# shellcheck source=/dev/null
. tests/own.sh

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls tests/workloads/hostile.c "$lib/libcudart.so.13" \
	-Wl,-rpath,"$lib" -o "$tmp/hostile"

# in_bounds COMMAND...: with little time and little memory
in_bounds() {
	run timeout -s KILL 30 sh -c 'ulimit -v "${MEMORY:-4000000}"; exec "$@"' sh "$@"
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

if long; then
	it "calls that come faster than they can be printed do not keep it from its end"
	for i in 1 2; do
		# shellcheck disable=SC2086 # words
		$another "$bin/mem" loop 1000000000 '(' malloc 1 64 free 1 ')' &
		pids="$pids $!" busy="${busy-} $!"
	done
	run nice -n 10 cudamallocsnoop -kjd 1
	# shellcheck disable=SC2086 # numbers
	kill -9 $busy
	status 0
	says 'records lost: the ring buffer was full'
fi

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
int cudaGetFuncBySymbol(), cudaLaunchKernel(), usleep();
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
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "proc/proc.h"
static struct mapping at;
static bool find(void *path, const struct mapping *m)
{
	at = *m;
	at.path = path;		/* m's is gone with the line */
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
	before = proc_open_mapping(getpid(), &at, argc == 4, &fd);
	if (argc == 4)	/* the file of this name becomes another one */
		rename(argv[2], argv[1]);
	else
		map(where, argv[2]);
	after = proc_open_mapping(getpid(), &at, argc == 4, &fd);
	return !(!before && after == -ESTALE);
}
END
cp /bin/true "$tmp/one"
cp /bin/false "$tmp/other"
${CC:-cc} -std=gnu11 -w -iquote common "$tmp/swap.c" common/proc/proc.c common/proc/proc_root.c common/proc/living.c -o "$tmp/swap"
run "$tmp/swap" "$tmp/one" "$tmp/other"
status 0

it "a file that takes another's name is not taken for it by who may open files by their names only"
chmod 755 "$tmp"
mkdir -m 777 "$tmp/names"
cp /bin/true "$tmp/names/one"
cp /bin/false "$tmp/names/other"
run setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/swap" "$tmp/names/one" "$tmp/names/other" named
status 0

it "mappings are not taken for all there are if the program ends while they are read"
cat >"$tmp/ends.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc/proc.h"
enum { MANY = 300 };
static int child, seen;
static bool find(void *kill_it, const struct mapping *m)
{
	(void)m;
	if (!seen++ && kill_it) {
		kill(child, SIGKILL);
		waitid(P_PID, child, NULL, WEXITED | WNOWAIT);	/* as a zombie it has a directory */
	}
	return true;
}
int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY), whole, half;

	for (int i = 0; i < MANY; i++)
		mmap(NULL, 4096, i % 2 ? PROT_READ | PROT_EXEC : PROT_READ, MAP_PRIVATE, fd, 0);
	child = fork();
	if (!child)
		return pause();
	whole = proc_mappings(child, find, NULL) || seen < MANY / 2;
	seen = 0;
	half = proc_mappings(child, find, &seen);
	return !(!whole && half == -ESRCH && seen < MANY / 2);
}
END
${CC:-cc} -std=gnu11 -iquote common "$tmp/ends.c" common/proc/proc.c common/proc/proc_root.c common/proc/living.c -o "$tmp/ends"
run "$tmp/ends" /bin/true
status 0

# ---- Text that a program chose: its name, its directory and libraries, its kernels

evil=$(printf 'd\033]0;x\007\n\302\233\342\200\256\342\200\213\357\273\277\302\255\363\240\201\201\\"')
mkdir -p "$tmp/$evil/bin" "$tmp/$evil/nccl" "$tmp/$evil/lib"
cp "$lib/libcuda.so.1" "$lib/libcudart.so.13" "$lib/libnccl.so.2" "$tmp/$evil/lib"
EVIL=$tmp/$evil COMM=$(printf '\033[31m\n\302\2332"')
export EVIL COMM
cp "$bin/mem" "$EVIL/bin/$COMM"
cp "$bin/nccl" "$EVIL/nccl/$COMM"
# shellcheck disable=SC2016 # the tool's shell is to expand it
of_cuda='exec "$EVIL/bin/$COMM" malloc 3 4096 copy 5 64 h2d sync 7 launch 11'
# shellcheck disable=SC2016
of_nccl='exec "$EVIL/nccl/$COMM" 1 init allreduce 7 64 destroy >/dev/null'
# shellcheck disable=SC2016
of_hang='SIM_NCCL_STUCK=1 exec "$EVIL/nccl/$COMM" 1 init watchdog allreduce 7 64 mark sleep 2000 >/dev/null'

# clean: neither output has what a terminal acts upon
clean() {
	cat "$tmp/out" "$tmp/err" >"$tmp/both"
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xe2\x80[\xae\x8b-\x8f]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xf3\xa0' "$tmp/both" ||
		no "$*: control characters"
	[ -s "$tmp/out" ] || no "$*: no output"
}

# In /proc/PID/maps the kernel has \012 for a line end.
MAPPED=$(printf %s "$EVIL" | sed ':a; N; s/\n/\\012/; ta')
export MAPPED

# escaped FORM OPTION...: of the tool $t, neither text nor JSON has what a terminal acts upon
escaped() {
	form=$1
	shift
	case $t in
	ncclhang) command=$of_hang; set -- -aw 300ms "$@" ;;
	nccl*) command=$of_nccl ;;
	*) command=$of_cuda ;;
	esac
	case $* in
	--list*) run "$t" "$@" -c "$command" ;;
	*) replayed "$t" "$@" -c "$command" ;;
	esac
	clean "$t $*"
	[ "$form" = json ] || return
	jq -e . "$tmp/out" >/dev/null 2>"$tmp/jq" || no "$*: $(head -c 200 "$tmp/jq")"
}

it "characters without a width are escaped, and are what they were to who reads JSON"
run cudamallocsnoop -c "exec $bin/mem rename $(printf 'a\342\200\215b\363\240\201\201c') malloc 3 64"
lines 3 '^[0-9]+ +a\\xe2\\x80\\x8db\\xf3\\xa0\\x81\\x81c '
run cudamallocsnoop -jc "exec $bin/mem rename $(printf 'a\342\200\215b\363\240\201\201c') malloc 3 64"
lines 3 '"comm":"a\\u200db\\udb40\\udc41c"'
json 3 '.comm == "a\u200db\udb40\udc41c"'

for t in tools/*.c; do
	t=$(basename "$t" .c)
	[ "$t" != cudabt ] || continue	# it is bpftrace that prints
	! inside "$t" || continue	# what programs send these is in tests/gpuprobe-tools.t
	it "$t escapes the names of programs and files, as text and as JSON"
	if [ "$t" = cudaexporter ]; then
		escaped text --once
		grep -qF ',comm="\\x1b[31m\n\\xc2\\x9b2\"",device="0",kind="kernel"} 11' "$tmp/out" || no "the name of the process is not there"
		continue
	fi
	# cudatrace names no process where there is one; cudalaunchtop may have the name of one that is gone from before
	named=true
	case $t in cudatrace | cudalaunchtop) named=false ;; esac
	has=$("$t" --help)
	case $has in
	*'-P, '*) escaped text -P ;;
	*'-k, '*) escaped text -k ;;
	*) escaped text ;;
	esac
	shown='\x1b[31m\x0a\xc2\x9b2"'
	[ "$t" != cudatop ] || shown='\x1b[31m\x0a'	# cut to its column
	! $named || grep -qF "$shown" "$tmp/out" || no "the name of the process is not there"
	case $has in
	*'-k, '*) escaped json -jk ;;
	*) escaped json -j ;;
	esac
	! $named || jq -e --slurp 'map(.comm // empty) | unique == ["\u001b[31m\n\u009b2\""]' "$tmp/out" >/dev/null ||
		no "-j: another name: $(jq -c .comm "$tmp/out" | sort -u | head -n 3 | tr '\n' ' ')"
done

for t in cudatrace ${LONG:+cudaleak cudamallocsnoop cudamemcpysize cudasynclatency cudalaunchtop}; do
	it "$t --list escapes the names of libraries, as text and as JSON"
	escaped text --list
	grep -qF 'd\x1b]0;x\x07\012\xc2\x9b\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf\xc2\xad\xf3\xa0\x81\x81\"/lib' "$tmp/out" || no "--list: no such file"
	escaped json --list -j
	jq -e --slurp 'any(.file == env.MAPPED + "/lib/libcuda.so.1")' "$tmp/out" >/dev/null || no "--list -j: no such file"
done

# ---- A program that makes a tool keep what it can: another user's is traced as if it were alone

mkdir "$tmp/hoard"
chmod 755 "$tmp" "$tmp/hoard"
${CC:-cc} -std=gnu11 -w -O1 -DRUNTIME -shared -fPIC tests/workloads/hoard.c -Wl,-soname,libcudart.so.13 \
	-o "$tmp/hoard/libcudart.so.13"
${CC:-cc} -std=gnu11 -w -O1 -pthread tests/workloads/hoard.c "$tmp/hoard/libcudart.so.13" \
	-Wl,-rpath,"$tmp/hoard" -o "$tmp/hoard/hoard"

OTHER='setpriv --reuid 65534 --regid 65534 --clear-groups' VICTIM='setpriv --reuid 65533 --regid 65533 --clear-groups'

# hoard WORD [N]: starts it, so that it is probed; hoarded: lets it go, and waits until it has done all
hoard() {
	: >"$tmp/hoarded"	# an earlier one was ready
	# shellcheck disable=SC2086 # words
	$OTHER "$tmp/hoard/hoard" "$@" >"$tmp/hoarded" & hoarder=$!
	pids="$pids $hoarder"
	until_true grep -q ready "$tmp/hoarded"
}
hoarded() {
	kill -USR1 "$hoarder"
	until_true grep -q "done" "$tmp/hoarded"
}

# has_run SECONDS: the hoarder has had a CPU so long
has_run() { [ "$(awk '{ print $14 + $15 }' "/proc/$hoarder/stat")" -ge $(($1 * $(getconf CLK_TCK))) ]; }

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
	grep -F "$1 (process " "$tmp/err" | grep -qE " $hoarder \(hoard\): [1-9]" || no "it does not say '$1' of $hoarder"
	tail -n 1 "$tmp/rest" | jq -e --argjson pid "$hoarder" '.lost > 0 and any(.processes[]; .pid == $pid and
		.comm == "hoard" and .lost > 0)' >/dev/null || no "no processes in the last line"
	! grep ' lost\|missed\|not counted' "$tmp/err" | grep -q "$victim (" || no "the victim lost something"
}

if ! $VICTIM test -x "$bin/mem"; then
	it "a program that makes a tool keep what it can"
	skip "other users cannot run what is in $bin"
	leave
fi

for kind in $kinds ${LONG:+perf}; do
	it "--attach $kind: who fills the ring buffer loses records, and nobody else does"
	victim loop 101 '(' malloc 7 64 sleep 5 ')' free 503 wait
	hoard records
	tool cudamallocsnoop --attach "$kind" -kj
	kill -USR1 "$hoarder"
	until_true test -s "$tmp/out"
	kill -STOP "$tracer"	# so that the ring buffer fills however slow what hoards is
	until_true has_run "$(long && echo 2 || echo 1)"
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
	kill -CONT "$tracer"
	go
	end_hoard
	json 707 '.func == "cudaMalloc"' 503 '.func == "cudaFree"'
	lost_by 'records lost: the ring buffer was full'
done

if long; then
	it "who launches kernels at very many addresses is not counted, and everybody else is"
	victim loop 13 '(' launch 17 ')'
	hoard counts 100003
	tool cudalaunchtop -j
	hoarded
	go
	end_hoard
	sum 221 .launches
	json 0 '.kernel != "mem_kernel"'
	lost_by 'calls not counted: group table full'
fi

it "who has very many names for kernels gets no more, and everybody else does"
victim loop 13 '(' launch 17 ')'
hoard names 20011
tool cudalaunchtop -j
hoarded
go
end_hoard
sum 221 'select(.kernel == "mem_kernel").launches'	# of the first the device may be unknown
says "process $hoarder: user 65534 reached the limit on kernel names: further kernels are shown as addresses"

if long; then
	it "who allocates without end is counted only, and everybody else is known by allocation"
	victim loop 13 '(' malloc 17 64 ')' free 8
	hoard allocations 1500007
	tool cudaleak -Cj 1000
	hoarded
	go
	end_hoard
	sum 213 '.count // 0'
	json 0 .ignored
	jq -es 'any((.ignored // 0) > 0)' "$tmp/rest" >/dev/null 2>&1 || no "nothing is said not to be counted"
	says "process $hoarder: user 65534 reached the limit on allocations not freed: further ones are only counted"

	long || leave
fi

if long; then
	it "launches and errors by turns do not make cudatrace keep each error"
	victim loop 13 '(' launch 17 sync 1 ')'
	hoard errors 150001
	tool cudatrace -xj
	hoarded
	go
	end_hoard
fi

it "a call that makes very many others, in many threads, is printed in pieces"
victim loop 13 '(' malloc 17 64 ')'
hoard nested "$(long && echo 60013 || echo 20011)"
tool cudatrace --tree -e cudaMalloc,cudaStreamSynchronize -j
hoarded
go
end_hoard
json 221 '.func == "cudaMalloc"'
says "process $hoarder: user 65534 reached the limit on calls inside calls: calls with very many calls inside are printed in pieces"

long || leave

it "who gives kernels other names all the time keeps the tool busy for itself only"
victim loop 13 '(' launch 17 ')'
hoard renames 100003
tool cudalaunchtop -j
hoarded
go
start=$(date +%s)
end_hoard
sum 221 .launches
[ $(($(date +%s) - start)) -lt 15 ] || no "it took $(($(date +%s) - start)) s to end"
