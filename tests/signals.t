# shellcheck shell=sh disable=SC2016,SC2154 # inner shells; rc, pid, tracer: the words'
# Signals that end a tool, those that do not, and what becomes of the command of -c.
light

# terminal WORD[,WORD]... COMMAND...: on a terminal of its own, with Ctrl-C at each word
terminal() { run python3 tests/terminal.py "$@"; }

# hangs_up COMMAND...: a tool of $pid, whose caller ignores SIGHUP, gets one, and 23 allocations come after it
hangs_up() {
	program "$bin/mem" malloc 1 64 wait malloc 23 4096 wait
	tool nohup "$@" -p "$pid"
	kill -HUP "$tracer"
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
	stop TERM
	status 0
	exec 3>&-
	wait "$pid"
}

it "a caller that ignores SIGHUP, as nohup does, has the tool ignore it"
hangs_up cudatrace -je cudaMalloc
json 23 '.func == "cudaMalloc"'
hangs_up cudaleak -j
json 1 '.count == 23'
hangs_up cudaexporter --once
lines 1 '^cuda_memory_allocations_total\{.*\} 23$'
if command -v bpftrace >/dev/null; then
	hangs_up cudabt -e 'cuda:cudaMalloc { @ = count(); }'
	lines 1 '^@: 23$'
fi
run nohup cudamallocsnoop -jc "$bin/mem malloc 7 64; kill -HUP \$PPID; $bin/mem malloc 23 4096; exit 5"
status 5
json 30 '.op == "alloc"'

it "else SIGHUP ends it"
program "$bin/mem" malloc 1 64 wait
tool env --default-signal=HUP cudatrace -p "$pid"
stop HUP
status 0
exec 3>&-
wait "$pid"

# of a command: says "begun", which the tool does not when it names the command, and waits for SIGINT
waits="perl -e '\$SIG{INT} = sub { exit }; \$| = 1; print q(be), qq(gun\\n); sleep 100'"

it "a caller that ignores SIGINT, as sh does for background jobs, has the tool ignore Ctrl-C, but not kill(1)"
terminal begun env --ignore-signal=INT cudatrace -e cudaMalloc -jo "$tmp/calls" -c \
	"$bin/mem malloc 1 64; $waits; $bin/mem malloc 23 4096"
status 0
mv "$tmp/calls" "$tmp/out"
json 24 '.func == "cudaMalloc"'
program "$bin/mem" malloc 1 64 wait
tool env --ignore-signal=INT cudatrace -p "$pid"
stop INT
status 0
exec 3>&-
wait "$pid"

# ends.c MS: allocates 23 times; at SIGINT or SIGTERM frees 13 of them, MS milliseconds before each, and ends with status 9
cat >"$tmp/ends.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int cudaMalloc(void **p, size_t n);
int cudaFree(void *p);

static volatile int stop;

static void on(int sig)
{
	stop += sig > 0;
}

int main(int argc, char **argv)
{
	void *p[23];

	signal(SIGINT, on);
	signal(SIGTERM, on);
	for (int i = 0; i < 23; i++)
		cudaMalloc(&p[i], 4096);
	puts("allocated");
	fflush(stdout);
	while (!stop)
		usleep(1000);
	for (int i = 0; i < 13; i++) {
		usleep(atoi(argv[1]) * 1000);
		cudaFree(p[i]);
	}
	fprintf(stderr, "signals %d\n", stop);
	return 9;
}
END
$CC "$tmp/ends.c" -o "$tmp/ends" -L"$lib" -l:libcudart.so.13 -l:libcuda.so.1 -Wl,-rpath,"$lib"

# ends SIGNAL MS TOOL...: a tool of that command gets the signal; what the command prints is dropped from the output
ends() {
	signal=$1 ms=$2
	shift 2
	tool "$@" -c "exec $tmp/ends $ms"
	until_true grep -q allocated "$tmp/out"
	stop "$signal"
	status 9
	says 'signals 1'
	sed -i /^allocated/d "$tmp/out"
}

for kind in auto inject; do
	it "--attach=$kind: a command that ends in order at a signal is traced to its end, whose status is the tool's"
	for signal in INT TERM; do
		ends $signal 1 cudaleak --attach=$kind -jC
		json 1 '.count == 10 and .at == "exit"'
	done
	ends INT 1 cudamallocsnoop --attach=$kind -jF
	json 13 '.op == "free"'
	ends INT 1 cudatrace --attach=$kind -je cudaFree
	json 13 '.func == "cudaFree"'
done

it "so do the other tools"
ends INT 1 cudaexporter --once
lines 1 '^cuda_memory_frees_total\{.*\} 13$'
ends TERM 1 cudaexporter --textfile "$tmp/page" --interval 1
grep -q '^cuda_memory_frees_total{.*} 13$' "$tmp/page" || no "no frees in the last page"
for t in cudatop ncclhang cudamemtime ${LONG:+cudalaunchtop cudamemcpysize cudasynclatency ncclsnoop nccltop cudabounds}; do
	[ ! -e "$O/$t" ] || ends INT 1 "$t"
done
if command -v bpftrace >/dev/null; then
	ends INT 1 cudabt -e 'cuda:cudaFree { @ = count(); }'
	lines 1 '^@: 13$'
fi

it "a command may take its time"
ends INT 200 cudaleak -jC
json 1 '.count == 10 and .at == "exit"'
says "waiting for the end of 'exec $tmp/ends 200' (another signal ends tracing)"
ends TERM 200 cudamemtime

it "a signal that comes twice, as timeout(1) sends it to a tool and to its process group, is one"
tool cudaleak -jCc "exec $tmp/ends 20"
until_true grep -q allocated "$tmp/out"
kill -INT "$tracer" "$tracer"
wait "$tracer"
equal $? 9
sed -i /^allocated/d "$tmp/out"
json 1 '.count == 10 and .at == "exit"'

it "a second signal ends the wait: the last report has what there was then"
for kind in auto inject; do
	# the command ignores both
	tool cudaleak --attach=$kind -jCc "trap '' INT TERM; exec $bin/mem malloc 23 4096 print sleep 100000"
	until_true grep -q '^calls' "$tmp/out"
	kill -INT "$tracer"
	until_true grep -q 'waiting for the end of' "$tmp/err"
	stop TERM
	status 143
	sed -i /^calls/d "$tmp/out"
	json 1 '.count == 23 and .at != "exit"'
	says "still runs"
	kill -KILL "$(sed -n 's/.*still runs (pid \([0-9]*\).*/\1/p' "$tmp/err")"
done

it "Ctrl-C twice ends a tool whose command stays"
terminal 'allocated,waiting for the end' cudaleak -jc "trap '' INT; $bin/mem malloc 23 4096; echo alloc''ated; exec sleep 1000"
status 130
lines 1 '"count":23,'
kill -KILL "$(sed -n 's/.*still runs (pid \([0-9]*\).*/\1/p' "$tmp/out")"
