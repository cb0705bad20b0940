# shellcheck shell=sh disable=SC2016,SC2086 # jq; words
# cudalaunchtop --gpu-time: libcudagputime.so in programs on the simulated CUDA and the simulated CUPTI, in which each kernel
# takes as long as SIM_KERNEL_NS says.
light
library=$O/libcudagputime.so
kern=$bin/kern
export SIM_KERNEL_NS='_Z5scalePfi=2000,1000'

# shellcheck source=/dev/null
. tests/gputime.sh

# runs PROGRAM...: one with the library, that waits, in the background
runs() { program env CUDA_INJECTION64_PATH="$library" "$@"; }

it "the library exports the function that the driver calls, and needs the C library alone"
equal "$(nm -D --defined-only "$library" | awk '{ print $3 }')" InitializeInjection
equal "$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | paste -sd' ')" libc.so.6

for kind in session ${LONG:+multi inject}; do
	it "--attach $kind: how often and how long the kernels of a command run"
	run cudalaunchtop --attach $kind --gpu-time -jc "$bin/mem launch 1009 launchex 13"
	status 0
	json 1 '.launches == 1022 and .gpu_runs == 1022 and .gpu_ns == 1022000 and .gpu_mean_ns == 1000 and .gpu_p99_ns == 1000' \
		1 '.gpu_share > 0 and .gpu_share < 1' \
		1 true
	silent
done

it "kernels by name, those that take the most time first"
if [ -e "$kern" ]; then
	replayed cudalaunchtop --gpu-time -bc "$kern"
	status 0
	lines 1 '^PID +COMM +LAUNCHES/S +LAUNCHES +TOTAL +GPU\(ms\) +%GPU +MEAN\(us\) +P99\(us\) KERNEL$'
	lines 1 '^[0-9]+ +kern +[0-9.]+ +1009 +1009 +2\.018 +[0-9.]+ +2\.0 +2\.0 scale$'
	lines 1 '^[0-9]+ +kern +[0-9.]+ +503 +503 +0\.503 +[0-9.]+ +1\.0 +1\.0 fill<int>$'
	equal "$(sed -n '2s/.* //p' "$tmp/out")" scale
	replayed cudalaunchtop --gpu-time -s name -bc "$kern"
	equal "$(sed -n '2s/.* //p' "$tmp/out")" 'fill<int>'
	replayed cudalaunchtop --gpu-time -Pjc "$kern"
	json 1 '.kernel == null and .launches == 1512 and .gpu_runs == 1512 and .gpu_ns == 2521000' \
		1 true
else
	skip "no nvcc here"
fi

it "without --gpu-time nothing is shown of it"
replayed cudalaunchtop -jc "$bin/mem launch 7"
json 1 '.launches == 7 and (has("gpu_ns") | not)'

it "a program that runs: it is on while a tool asks, for each tool anew"
runs "$bin/mem" launch 13 wait launch 101 wait launch 7 wait launch 503 wait
equal "$(state)" 0
for n in 101 503; do
	tool cudalaunchtop --gpu-time -jp "$pid"
	until_true eval '[ "$(state)" = 2 ]'
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" = '"$([ $n = 101 ] && echo 2 || echo 4)"' ]'
	stop
	json 1 ".kernel == \"mem_kernel\" and .launches == $n and .gpu_runs == $n and .gpu_ns == ${n}000" \
		1 true
	silent
	until_true eval '[ "$(state)" = 0 ]'
	echo >&3
	[ $n = 503 ] || until_true eval '[ "$(grep -c ready "$tmp/ready")" = 3 ]'
done
exec 3>&-
wait "$pid"

it "it is off when the tool has been killed, and another tool takes over"
runs "$bin/mem" launch 13 wait launch 101 wait
tool cudalaunchtop --gpu-time -jp "$pid"
until_true eval '[ "$(state)" = 2 ]'
kill -9 "$tracer"
wait "$tracer" 2>/dev/null
until_true eval '[ "$(state)" = 0 ]'
tool cudalaunchtop --gpu-time -jp "$pid"
until_true eval '[ "$(state)" = 2 ]'
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
stop
json 1 '.launches == 101 and .gpu_runs == 101'
exec 3>&-
wait "$pid"

it "until a tool asks, the library has one page of memory and one thread more, and no CUPTI"
program "$bin/mem" launch 1 wait
before=$(find "/proc/$pid/task" -maxdepth 1 -name '[0-9]*' | wc -l)
go
runs "$bin/mem" launch 1 wait
equal "$(find "/proc/$pid/task" -maxdepth 1 -name '[0-9]*' | wc -l)" $((before + 1))
equal "$(awk '/memfd:cuda-bpf-tools-gputime/ { on = 1 } on && /^Rss:/ { print $2; exit }' "/proc/$pid/smaps")" 4
! grep -q libcupti "/proc/$pid/maps" || no "libcupti is loaded"
go

it "a program that closes all descriptors and forks keeps those that it opens then, in children and theirs"
cat >"$tmp/forks.py" <<'END'
import ctypes, os, sys
ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
if sys.argv[2] == "close":
    os.closerange(3, 256)
files = [os.open("/dev/null", os.O_RDONLY) for i in range(40)]
for depth in range(3):
    if not os.fork():
        more = [os.open("/dev/null", os.O_RDONLY) for i in range(40)]
        files += more
        continue
    os.wait()
    break
for f in files:
    os.fstat(f)
print("kept", depth, flush=True)
END
for how in close keep; do
	# without the warning that Python prints since 3.12 when a process with threads forks
	run env CUDA_INJECTION64_PATH="$library" python3 -W ignore::DeprecationWarning "$tmp/forks.py" "$lib/libcudart.so.13" $how
	status 0
	lines 4 '^kept '
	silent
done

it "a program that may write no large files, or has closed its standard descriptors, runs as without the library"
run env CUDA_INJECTION64_PATH="$library" sh -c "ulimit -f 1024; exec $bin/mem launch 7"
status 0
cat >"$tmp/opens.py" <<'END'
import ctypes, os, sys
os.close(0)
ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
print("opened", os.open("/dev/null", os.O_RDONLY))
END
run env CUDA_INJECTION64_PATH="$library" python3 "$tmp/opens.py" "$lib/libcudart.so.13"
lines 1 '^opened 0$'
silent

it "in a program that locks all its memory, the library has one page, too"
cat >"$tmp/locks.py" <<'END'
import ctypes, re, sys
ctypes.CDLL(None).mlockall(3)
ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
smaps = open("/proc/self/smaps").read().split("cuda-bpf-tools-gputime", 1)[1]
print("pages", int(re.search(r"Rss: *(\d+)", smaps)[1]) // 4, "locked", re.search(r"Locked: *(\d+)", smaps)[1])
END
run env CUDA_INJECTION64_PATH="$library" python3 "$tmp/locks.py" "$lib/libcudart.so.13"
lines 1 '^pages 1 locked 0$'

it "when the program ends, the library's thread calls CUPTI no more"
cat >"$tmp/ends.c" <<'END'
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int cudaGetDeviceCount(int *);
static int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = 0;
	for (struct dirent *d; (d = readdir(dir));) {
		char path[300], comm[16] = "";
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		FILE *f = fopen(path, "r");
		n += f && fgets(comm, sizeof(comm), f) && !strncmp(comm, "cuda-gputime", 12);
		if (f)
			fclose(f);
	}
	closedir(dir);
	return n;
}
static void await(int want)
{
	for (int i = 0; threads() != want && i < 1000; i++)
		usleep(10000);
	printf("threads %d\n", threads());
}
static void last(void)
{
	await(0);
}
int main(void)
{
	int n;
	atexit(last);
	cudaGetDeviceCount(&n);
	await(1);
}
END
${CC:-cc} -w "$tmp/ends.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/ends"
run env CUDA_INJECTION64_PATH="$library" CUDA_BPF_TOOLS_GPUTIME=1:$$ "$tmp/ends"
lines 1 '^threads 1$'
lines 1 '^threads 0$'
readelf -dW "$library" | grep -q NODELETE || no "the library can be unloaded"

it "a child that is made by clone(2), and ends as its parent, delivers nothing of the parent's"
cat >"$tmp/clones.c" <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int cudaMalloc(void **, unsigned long), cudaMemcpy(void *, const void *, unsigned long, int);
int main(void)
{
	static char host[64];
	void *on;
	cudaMalloc(&on, sizeof(host));
	for (int i = 0; i < 7; i++)
		cudaMemcpy(on, host, sizeof(host), 1);
	if (!syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L))
		exit(0);
	wait(NULL);
}
END
${CC:-cc} -w "$tmp/clones.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/clones"
SIM_CUPTI=late run cudamemcpysize --gpu-time -jc "$tmp/clones"
json 1 '.type == "gpu_copies" and .count == 7'

it "a child that has given up its privileges can write to its parent's memory in no way"
run env MEMORY=cuda-bpf-tools-gputime CUDA_INJECTION64_PATH="$library" \
	"$bin/resident_hostile" calls 3 worker - calls 23
if [ "$(id -u)" -eq 0 ]; then
	status 0
	lines 1 '^written:\.$'
else
	skip "only root can become another user"
fi

it "CUPTI is not taken from another root directory than the one that the library was loaded in"
if [ "$(id -u)" -eq 0 ]; then
	mkdir -p "$tmp/jail$lib"
	cp "$lib"/libcupti.so.* "$tmp/jail$lib"
	runs "$bin/resident_hostile" calls 3 wait - chroot "$tmp/jail" calls 7 wait - calls 7
	echo >&3
	until_true eval '[ $(grep -c ready "$tmp/ready") -gt 1 ]'
	tool cudalaunchtop --gpu-time -jp "$pid"
	until_true eval '[ "$(state)" = 3 ]'
	! grep -q libcupti "/proc/$pid/maps" || no "$(grep libcupti "/proc/$pid/maps" | head -n 1)"
	stop
	says 'libcupti: not found'
	go
else
	skip "only root can change the root directory"
fi

it "the library is not called again if what the variable named before is the same"
run env CUDA_INJECTION64_PATH="$library" CUDA_BPF_TOOLS_INJECTION64_PATH="$library" "$bin/mem" launch 7
status 0
cp "$library" "$tmp/copy.so"
run env CUDA_INJECTION64_PATH="$library" CUDA_BPF_TOOLS_INJECTION64_PATH="$tmp/copy.so" "$bin/mem" launch 7
status 0
CUDA_INJECTION64_PATH=$O/../$(basename "$O")/libcudagputime.so run cudalaunchtop --gpu-time -jc "$bin/mem launch 7"
json 1 '.gpu_runs == 7'

it "what ran just before the tool ends is counted"
runs "$bin/mem" launch 1 wait loop 100000 '(' launch 1 sleep 1 ')'
tool cudalaunchtop --gpu-time -jp "$pid"
until_true eval '[ "$(state)" = 2 ]'
echo >&3
sleep .2
kill -INT "$tracer"
wait "$tracer"
json 1 '.launches > 10 and .gpu_runs > .launches - 20'
exec 3>&-
kill -9 "$pid"

it "a program without the library is named, once, after some seconds"
program "$bin/mem" launch 13 wait launch 101 wait
tool cudalaunchtop --gpu-time -jp "$pid"
echo >&3
until_true grep -q "pid $pid: no GPU time: libcudagputime.so is not loaded" "$tmp/err"
stop
json 1 '.launches == 101 and .gpu_runs == null'
exec 3>&-
wait "$pid"

# refused FAULTS TEXT: what is said of a program in which CUPTI has these faults
refused() {
	SIM_CUPTI=$1 run cudalaunchtop --gpu-time -jc "$bin/mem launch 101"
	status 0
	json 1 '.launches == 101 and .gpu_runs == null and .gpu_ns == null and .gpu_share == null'
	says "no GPU time: $2"
}

it "why CUPTI does not measure is said: refused, in use, of an unknown version, or missing"
refused refuse 'CUPTI: error 999'
refused refuse=35 'CUPTI: error 35 (NVIDIA'"'"'s driver lets only root profile: NVreg_RestrictProfilingToAdminUsers=0)'
refused subscribed 'another profiler in the process uses CUPTI'
refused version=17 'CUPTI: unknown version 17'
refused version=990000 'CUPTI: unknown version 990000'
mkdir -p "$tmp/lib"
for n in so.13 so.12 so.11.8 so; do	# else the toolkit's may be found
	: >"$tmp/lib/libcupti.$n"
done
LD_LIBRARY_PATH=$tmp/lib run cudalaunchtop --gpu-time -jc "exec $bin/mem-drv drvlaunch 101"
says 'no GPU time: libcupti: not found'

it "records that CUPTI drops are counted, and said"
SIM_CUPTI=drop=101 replayed cudalaunchtop --gpu-time -jc "$bin/mem launch 503"
json 1 '.launches == 503 and .gpu_runs == 402'
says 'lost 101 records of GPU time'
SIM_CUPTI=nobuffer replayed cudalaunchtop --gpu-time -jc "$bin/mem launch 503"
json 1 '.launches == 503 and .gpu_runs == 0'
says 'lost 503 records of GPU time'

it "records that cannot be right do no harm, and are counted"
SIM_CUPTI=hostile replayed cudalaunchtop --gpu-time -jc "$bin/mem launch 5 launch 1"
status 0
json 1 '.kernel == "mem_kernel" and .launches == 6'
says 'malformed records of GPU time'

it "memory in which a program writes what it likes does no harm"
cat >"$tmp/hostile.py" <<'END'
import ctypes, fcntl, mmap, os, random, struct, sys, time
kind = sys.argv[2]
ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))
first, slots, slot, tools = 65536, 65536, 56, 4
size = first + tools * slots * slot
fd = os.memfd_create("cuda-bpf-tools-gputime", os.MFD_ALLOW_SEALING)
os.ftruncate(fd, size + (4096 if kind == "large" else 0))
if kind != "unsealed":
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
m = mmap.mmap(fd, size)
m[0:20] = b"GPUTIME\0" + struct.pack("III", 64 if kind == "other" else int(sys.argv[3]), slots, os.getpid())
random.seed(7)
kinds = [0, 1, 1, 1, 2, 3, 4, 5, 5, 6, 6, 77, 2**32 - 1]
for i in range(slots):
    words = [random.choice([0, 1, 2, 40, 2**31, 2**32 - 1]) for _ in range(14)]
    words[0] = random.choice(kinds)
    at = first + (slots + i) * slot	# of the second place: the first is for commands
    m[at:at + slot] = struct.pack("14I", *words)
print("ready", flush=True)
end = time.time() + 60
written = 0
tool = 192 + 128
while time.time() < end and os.getppid() > 1:
    written += random.choice([0, 1, 50, 60000, 70000, 2**40, 2**63])
    m[tool + 64:tool + 68] = m[tool:tool + 4]	# served, as it likes
    m[tool + 80:tool + 88] = struct.pack("Q", written % 2**64)
    m[128:144] = struct.pack("4I", *[random.choice([0, 1, 2, 3, 4, 5, 6, 2**32 - 1]) for _ in range(4)])
    time.sleep(.01)
END
for kind in right ${LONG:+other large unsealed}; do
	: >"$tmp/ready"
	python3 "$tmp/hostile.py" "$lib/libcudart.so.13" $kind 704 >"$tmp/ready" & pid=$!
	pids="$pids $pid"
	until_true grep -q ready "$tmp/ready"
	run cudalaunchtop --gpu-time -j -d 1 -p $pid
	status 0
	case $kind in
	right) says 'malformed records of GPU time' ;;
	other) says "pid $pid: no GPU time: libcudagputime.so: version mismatch" ;;
	*) silent ;;
	esac
	kill -9 $pid
	wait $pid 2>/dev/null
done

it "a graph has one row for all that it runs; with --graph-nodes its kernels have theirs"
run cudalaunchtop --gpu-time -jc "$bin/graphs begin launch a 3 launch b 2 end make replay 7 eager a 5"
json 1 '.kind == "graph" and (.kernel | startswith("#")) and .launches == 0 and .gpu_runs == 7 and .gpu_ns == 35000' \
	1 '.kernel == "a" and .launches == 26 and .replayed == 21 and .gpu_runs == 5 and .gpu_ns == 5000' \
	1 '.kernel == "b" and .launches == 14 and .gpu_runs == 0' \
	3 true
run cudalaunchtop --gpu-time --graph-nodes -jc "$bin/graphs begin launch a 3 launch b 2 end make replay 7 eager a 5"
json 1 '.kernel == "a" and .launches == 26 and .gpu_runs == 26 and .gpu_ns == 26000' \
	1 '.kernel == "b" and .launches == 14 and .gpu_runs == 14 and .gpu_ns == 14000' \
	2 true
run cudalaunchtop --gpu-time -bc "$bin/graphs begin launch a 3 end make replay 7"
lines 1 '^[0-9]+ +graphs +0\.0 +0 +0 +0\.021 +[0-9.]+ +3\.0 +3\.0 \[graph\] #[0-9]+$'

# sites WORDS...: jq's filter of GPU runs and the innermost frame that launched them
sites() {
	jq -sc 'map(select(.gpu_runs > 0) | [.gpu_runs, .gpu_ns, .stack[0].sym]) | sort' "$tmp/out"
}

for kind in session ${LONG:+multi inject}; do
	it "--attach $kind: -k has the time of each call site; also if CUPTI cannot select functions"
	for version in version=28 version=18; do
		SIM_CUPTI=$version run cudalaunchtop --attach $kind --gpu-time -kjc "$bin/mem launch 1009 launchex 13 drvlaunch 101"
		status 0
		equal "$(sites)" '[[13,13000,"do_launchex"],[101,101000,"do_launch"],[1009,1009000,"launch"]]'
		silent
	done
done

# sums: the same by innermost frame alone: a thread's first stacks may be shorter than its others
sums() {
	jq -sc 'map(select(.gpu_runs > 0)) | group_by(.stack[0].sym) | map([.[0].stack[0].sym, (map(.gpu_runs) | add)])' "$tmp/out"
}

it "-k of a program in another pid namespace, with threads"
if unshares -pf; then
	rm -f "$tmp/go" "$tmp/ready"
	mkfifo "$tmp/go"
	CUDA_INJECTION64_PATH=$library unshare -pf "$bin/mem" launch 1 wait thread '(' launch 503 ')' join launchex 13 wait \
		<"$tmp/go" >"$tmp/ready" 9>&- & parent=$!
	exec 3>"$tmp/go"
	until_true grep -q ready "$tmp/ready"
	pid=$(pgrep -P $parent)
	pids="$pids $pid"
	tool cudalaunchtop --gpu-time -kjp "$pid"
	until_true eval '[ "$(state)" = 2 ]'
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
	stop
	equal "$(sums)" '[["do_launchex",13],["launch",503]]'
	exec 3>&-
	wait $parent
else
	skip "no pid namespaces here"
fi

it "--folded has the nanoseconds of each call site, those of graphs at their launches"
run cudalaunchtop --gpu-time --folded -c "$bin/mem launch 101 launchex 13"
status 0
lines 1 '^mem;.*;main;run;do_launch;launch;mem_kernel 101000$'
lines 1 '^mem;.*;main;run;do_launchex;mem_kernel 13000$'
lines 2 .
words='begin launch a 3 launch b 2 end make replay 7 eager a 5'
run cudalaunchtop --gpu-time --folded -c "$bin/graphs $words"
lines 1 '^graphs;.*;main;replay;\[graph\] #[0-9]+ 35000$'
lines 1 '^graphs;.*;main;launch;a 5000$'
lines 2 .
run cudalaunchtop --gpu-time --graph-nodes --folded -c "$bin/graphs $words"
lines 1 '^graphs;.*;main;replay;a 21000$'
lines 1 '^graphs;.*;main;replay;b 14000$'
lines 1 '^graphs;.*;main;launch;a 5000$'
lines 3 .

it "threads that launch at the same time have each their own call sites; calls that CUPTI loses are said"
run cudalaunchtop --gpu-time -kjc "$bin/mem loop 7 '(' thread '(' launch 503 launchex 101 ')' ')' join"
equal "$(sums)" '[["do_launchex",707],["launch",3521]]'
SIM_CUPTI=drop=1 run cudalaunchtop --gpu-time -kjc "$bin/mem launch 101"	# the first one is the call
equal "$(jq -sc 'map([.launches, .gpu_runs, .stack == null]) | sort' "$tmp/out")" '[[0,1,true],[101,100,false]]'
says '1 runs on the GPU: their calls are not known'
says 'lost 1 records of GPU time'

it "cudamemcpysize --gpu-time: how long copies take, also asynchronous ones"
export SIM_COPY_NS=500 SIM_SET_NS=200
export SIM_DEVICES=2
words='copyasync 503 4096 h2d copy 101 64 d2h memset 7 100'
run cudamemcpysize --gpu-time --memset -jc "$bin/mem $words"
status 0
json 1 '.type == "gpu_copies" and .direction == "HtoD" and .count == 503 and .bytes == 2060288 and .gpu_ns == 251500 and
	.bytes_per_s == 8192000000 and .min_ns == 500 and .max_ns == 500 and .hist_ns == [[256,511,503]]' \
	1 '.type == "gpu_copies" and .direction == "DtoH" and .count == 101 and .bytes == 6464 and .comm == "mem"' \
	1 '.type == "gpu_copies" and .direction == "memset" and .count == 7 and .bytes == 700 and .gpu_ns == 1400' \
	1 '.type == "copies" and .direction == "HtoD" and .async and .count == 503 and .total_ns == null'
silent
run cudamemcpysize --gpu-time --direction HtoD -c "$bin/mem $words"
lines 1 '^HtoD on GPU 0: 503 of 2\.0 MiB in 251\.5 us at 8\.2 GB/s; median 500 ns, P99 500 ns$'
lines 1 ' on GPU '
run cudamemcpysize --gpu-time -Pc "$bin/mem $words"
lines 1 '^pid [0-9]+ \(mem\), HtoD on GPU 0: 503 of '
run cudamemcpysize --gpu-time -jc "$bin/graphs begin copy 3 1000 launch a 1 end make replay 7"
json 1 '.type == "copies" and .replayed == 21'
cat >"$tmp/peers.c" <<'END'
int cudaSetDevice(int), cudaMalloc(void **, unsigned long), cudaMemcpyPeer(void *, int, const void *, int, unsigned long);
int main(void)
{
	void *on[2];
	for (int i = 0; i < 2; i++)
		cudaSetDevice(i), cudaMalloc(&on[i], 4096);
	for (int i = 0; i < 5; i++)
		cudaMemcpyPeer(on[0], 0, on[1], 1, 4096);
}
END
${CC:-cc} -w "$tmp/peers.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/peers"
run cudamemcpysize --gpu-time -jc "$tmp/peers"
json 1 '.type == "gpu_copies" and .direction == "PtoP" and .device == 1 and .count == 5 and .bytes == 20480'
for o in -k --folded --per-stream '-m 1' '--slower 1'; do
	fails 2 '--gpu-time cannot be combined with' cudamemcpysize --gpu-time $o
done
fails 2 '--sample requires --gpu-time' cudamemcpysize --sample 1/2

it "a kernel that is launched cooperatively and otherwise has its time in one row; --device selects"
replayed cudalaunchtop --gpu-time -jc "$bin/mem launch 7 coop 5"
equal "$(jq -sc 'map(.gpu_runs) | sort' "$tmp/out")" '[null,12]'
SIM_DEVICES=2 replayed cudalaunchtop --gpu-time --device 0 -jc "$bin/mem setdevice 1 launch 7 setdevice 0 launch 3"
json 1 '.device == 0 and .launches == 3 and .gpu_runs == 3' 1 true

it "--sample measures for a part of the time"
runs "$bin/mem" launch 1 wait loop 200 '(' launch 5 sleep 10 ')' wait
tool cudalaunchtop --gpu-time --sample 20ms/100ms -jp "$pid"
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
stop
json 1 '.launches == 1000 and .gpu_runs > 0 and .gpu_runs < 1000 and .gpu_ns == 1000 * .gpu_runs'
exec 3>&-
wait "$pid"

it "cudatrace --chrome --gpu-time: a track for each stream of the GPU, with times of the same clock"
run cudatrace --gpu-time --chrome "$tmp/timeline" -c "$bin/mem launch 101 copyasync 7 4096 h2d memset 5 100"
status 0
jq -c '.[] | select(.cat == "gpu")' "$tmp/timeline" >"$tmp/out"
json 101 '.name == "mem_kernel" and .ph == "X" and .dur == 1' \
	7 '.name == "HtoD" and .dur == 0.5 and .args.bytes == 4096' \
	5 '.name == "memset" and .dur == 0.2 and .args.bytes == 100'
equal "$(jq -s 'map(.tid) | unique | length' "$tmp/out")" 1
equal "$(jq -r '.[] | select(.name == "thread_name" and (.args.name | startswith("GPU"))) | .args.name' "$tmp/timeline")" \
	'GPU 0, stream 7 of context 1'
# each kernel begins after its launch has begun
jq -c '[.[] | select(.name == "cudaLaunchKernel(mem_kernel)" and .cat == "runtime") | .ts] as $calls |
	[.[] | select(.name == "mem_kernel" and .cat == "gpu") | .ts] as $runs |
	[range(101) | select($runs[.] < $calls[.] or $runs[.] > $calls[.] + 60000000)] | length' "$tmp/timeline" >"$tmp/out"
equal "$(cat "$tmp/out")" 0
# an arrow leads to each run from the call that began it
cat >"$tmp/arrows.jq" <<'END'
. as $all | [.[] | select(.ph == "f")] as $ends | [.[] | select(.ph == "s")] | map(. as $s |
	($ends[] | select(.id == $s.id)) as $f |
	[([$all[] | select(.ph == "X" and .tid == $s.tid and .ts <= $s.ts and $s.ts <= .ts + .dur) | .name] | last),
	 ($all[] | select(.cat == "gpu" and .tid == $f.tid and .ts == $f.ts) | .name)] | select(length == 2) | join(" > ")) |
	group_by(.) | map({ (.[0]): length }) | add
END
jq -cf "$tmp/arrows.jq" "$tmp/timeline" >"$tmp/out"
json 1 '. == { "cudaLaunchKernel(mem_kernel) > mem_kernel": 101, "cudaMemcpyAsync > HtoD": 7, "cudaMemset > memset": 5 }'
run cudatrace --gpu-time --graph-nodes --chrome "$tmp/timeline" -c "$bin/graphs begin launch a 3 end make replay 7"
equal "$(jq 'map(select(.cat == "gpu" and .name == "a")) | length' "$tmp/timeline")" 21
jq -cf "$tmp/arrows.jq" "$tmp/timeline" >"$tmp/out"
json 1 '. == { "cudaGraphLaunch > a": 21 }'
run cudatrace --gpu-time --chrome "$tmp/timeline" -c "$bin/graphs begin launch a 3 end make replay 7"
equal "$(jq 'map(select(.cat == "gpu") | .dur) | unique == [3]' "$tmp/timeline")" true	# jq 1.7 prints it as 3.000
fails 2 '--gpu-time requires --chrome' cudatrace --gpu-time
fails 2 '--graph-nodes requires --gpu-time' cudatrace --chrome "$tmp/x" --graph-nodes

it "what CUDA_INJECTION64_PATH named is loaded as well"
CUDA_INJECTION64_PATH=$lib/libinjected.so LD_LIBRARY_PATH=$lib run cudalaunchtop --gpu-time -jc "$bin/mem-drv drvlaunch 7"
lines 1 '^injected, cuInit\(\) 0$'
sed -i /^injected/d "$tmp/out"
json 1 '.gpu_runs == 7'

it "options that cannot be combined, and wrong ones"
for o in --graphs --per-stream; do
	fails 2 '--gpu-time cannot be combined with' cudalaunchtop --gpu-time $o
done
fails 2 '--graph-nodes requires --gpu-time' cudalaunchtop --graph-nodes
fails 2 '--sort time requires --gpu-time' cudalaunchtop -s time
fails 2 '--sample requires --gpu-time' cudalaunchtop --sample 1/2
for wrong in 1 1/ /1 2/1 1/1 0/1 1us/1s x/y; do
	fails 2 "--sample: '$wrong' is not" cudalaunchtop --gpu-time --sample $wrong
done

long || leave

it "three tools at a time measure each what it asks for, a fourth one says that there is no place"
runs "$bin/mem" launch 13 wait launch 101 copyasync 7 4096 h2d wait launch 503 wait
tools="" n=0
for tool in 'cudalaunchtop --gpu-time -j' 'cudamemcpysize --gpu-time -j' 'cudalaunchtop --gpu-time --graph-nodes -j'; do
	: >"$tmp/err"
	# shellcheck disable=SC2086 # words
	tool $tool -p "$pid"
	tools="$tools $tracer" n=$((n + 1))
	mv "$tmp/out" "$tmp/out.$n"
	until_true eval '[ "$(served)" = $n ]'
done
tool cudalaunchtop --gpu-time -jp "$pid"
until_true grep -q "pid $pid: no GPU time: other tools measure it" "$tmp/err"
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
stop
json 1 '.launches == 101 and .gpu_runs == null and .gpu_mean_ns == null'
# shellcheck disable=SC2086 # pids
set -- $tools
kill -INT "$1" "$2"
wait "$1"
wait "$2"
until_true eval '[ "$(served)" = 1 ]'
echo >&3
until_true eval '[ "$(grep -c ready "$tmp/ready")" = 3 ]'
kill -INT "$3"
wait "$3"
until_true eval '[ "$(state)" = 0 ]'
exec 3>&-
wait "$pid"
cp "$tmp/out.1" "$tmp/out"
json 1 '.launches == 101 and .gpu_runs == 101 and .gpu_ns == 101000'
cp "$tmp/out.2" "$tmp/out"
json 1 '.type == "gpu_copies" and .direction == "HtoD" and .count == 7 and .gpu_ns == 3500'
cp "$tmp/out.3" "$tmp/out"
json 1 '.launches == 604 and .gpu_runs == 604 and .gpu_ns == 604000'
