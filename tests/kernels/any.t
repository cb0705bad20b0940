# shellcheck shell=sh disable=SC2016,SC2154 # for eval; the words'
# What does not depend on the tool; the attach kind is the kernel's best.

it "without --attach the best kind is taken"
best=perf
for kind in multi session; do	# the newer, the better
	if has $kind; then best=$kind; fi
done
run cudamallocsnoop -vjc "$bin/mem malloc 23 4096"
json 23 true
says "cudamallocsnoop: attaching with $best"

it "-p traces a running process, its threads, and no other"
"$bin/mem" loop 5000 '(' malloc 3 64 sleep 20 ')' & other=$!
pids="$pids $other"
program "$bin/mem" malloc 1 64 wait malloc 23 4096 thread '(' malloc 13 64 ')' join free 7
tool cudamallocsnoop -jp "$pid"
target=$pid
go
stop
kill $other
json 43 ".pid == $target"
json 13 '.tid != .pid'
json 43 true
silent

it "-c traces children, by fork and by exec"
run cudamallocsnoop -jc "$bin/mem malloc 23 4096 fork '(' malloc 7 64 ')' forkexec '(' malloc 5 128 ')' join"
status 0
json 23 '.size == 4096'
json 7 '.size == 64'
json 5 '.size == 128'
json 35 true
silent

it "calls of a Python program have its frames"
if command -v python3 >/dev/null; then
	cat >"$tmp/frames.py" <<-END
		import ctypes
		cuda = ctypes.CDLL("$lib/libcudart.so.13")
		def allocate(n):
		    for i in range(n):
		        cuda.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(4096))
		def main():
		    allocate(23)
		main()
	END
	run cudamallocsnoop -jk -c "python3 $tmp/frames.py"
	status 0
	json 23 '[.stack[] | select(.kind == "python") | .sym] == ["allocate", "main", "<module>"]'
	json 23 '[.stack[] | select(.kind == "python") | .line] == [5, 7, 8]'
	json 23 true
	silent
else
	skip "no python3 here"
fi

# The setting of the whole machine cannot be written while a tool with call stacks runs.
depth() { until_true eval "echo $1 >/proc/sys/kernel/perf_event_max_stack"; }

it "with --unwind fp, a stack that the kernel does not walk has a note in its place, and is counted"
depth 0
run cudamallocsnoop --unwind fp -jkc "$bin/mem malloc 23 4096"
json 23 '[.stack[]?.sym] == ["stack unreadable"]'
json 1 '.incomplete_stacks == 23 and .incomplete_by == { unreadable: 23 }'
run cudalaunchtop --unwind fp -jkc "$bin/mem launch 7"
json 1 '.launches == 7 and [.stack[].kind] == ["native", "note"]'
json 1 '.incomplete_by.unreadable > 0'
depth 127

it "-c traces a library that is loaded later"
run cudamallocsnoop -jc "$bin/mem-dlopen load malloc 23 4096 free 7"
status 0
json 30 true
silent

it "traces programs that start later, each call once"
tool cudamallocsnoop -l "$lib/libcuda.so.1" -j
"$bin/mem" malloc 101 64 & one=$!
"$bin/mem-stripped" malloc 53 64 free 7 & two=$!
wait $one $two
stop
json 101 ".pid == $one"
json 60 ".pid == $two"
silent

it "a tool that traces every process sleeps while other programs start"
tool cudamallocsnoop -vj
woke() { sed -n 's/^voluntary[^0-9]*//p' "/proc/$tracer/status"; }
if grep -q 'selected by the tool' "$tmp/err"; then
	skip "this kernel runs no BPF programs at its functions: $(grep -a -m 1 'watch_mmap.*fail' "$tmp/err")"
	stop
else
	first=$(woke) began=$(cut -d. -f1 /proc/uptime)
	for i in $(seq 503); do
		busybox true
	done
	busy=$(($(woke) - first)) first=$(woke)
	sleep $(($(cut -d. -f1 /proc/uptime) - began))	# it looks around a hundred times a second
	idle=$(($(woke) - first))
	[ "$busy" -lt $((idle + 503)) ] || no "it woke up $busy times, $idle without programs"
	program "$bin/mem" malloc 1 64 wait malloc 23 4096
	sleep 2
	go
	stop
	json 23 '.size == 4096'
fi

it "passes the command's status on, and 128 + N for a signal"
run cudamallocsnoop -c "$bin/mem malloc 1 64 exit 37"
status 37
run cudamallocsnoop -c "$bin/mem malloc 1 64 segv"
status 139

it "leaves no program in the kernel"
echo 1 >/proc/sys/net/core/bpf_jit_kallsyms
programs() { grep -c ' bpf_prog_[0-9a-f]\{16\}' /proc/kallsyms; }
program "$bin/mem" malloc 1 64 wait
tool cudamallocsnoop -p "$pid"
[ "$(programs)" -gt 2 ] || no "$(programs) programs while it traces"
stop
go
until_true eval '[ "$(programs)" -eq 0 ]'

it "--check finds everything that the tools need"
run cudaleak --check
status 0
lines 1 '^return probes +(ok|limited)'

it "a process that has a seccomp filter lives, whatever its kernel does at return probes"
run cudaleak -jCc "$bin/filtered $bin/mem malloc 23 4096 free 7"
status 0
if cudaleak --check | grep -q '^return probes *ok'; then
	json 1 '.count == 16'
	silent
else
	says 'has a seccomp filter, and return probes kill such a process'
fi

it "NVIDIA's own runtime has no driver here: each call is seen, and fails with its name for that"
if [ -e "$bin/mem-real" ]; then
	run cudatrace -jkc "$bin/mem-real malloc 23 4096 host 5 64 copy 7 64 h2d"
	json 37 '.ret == 35 and .error == "cudaErrorInsufficientDriver"'
	json 23 '.func == "cudaMalloc" and .args.size == 4096 and .stack[0].sym == "do_malloc"'
	json 7 '.func == "cudaMemcpy" and .args.count == 64 and .args.kind == "cudaMemcpyHostToDevice"'
	silent
else
	skip "there is no libcudart of NVIDIA's"
fi
