# shellcheck shell=sh disable=SC2016 # other shells, and none
# Which processes and files are traced.
# shellcheck source=/dev/null
light
. tests/own.sh

for kind in $kinds ${LONG:+perf}; do
	it "-p with --attach $kind traces a running process, and no other"
	"$bin/mem" loop 100 '(' malloc 3 64 sleep 20 ')' & other=$!
	pids="$pids $other"
	program "$bin/mem" malloc 1 64 wait malloc 23 4096 free 7
	tool cudamallocsnoop --attach "$kind" --layer driver -jp "$pid"
	target=$pid
	go
	stop
	kill $other 2>/dev/null
	json 23 ".pid == $target and .op == \"alloc\"" 30 "true"
done

it "-p traces several processes"
"$bin/mem" malloc 1 64 loop 2000 '(' sleep 5 ')' malloc 1 64 & other=$!
pids="$pids $other"
program "$bin/mem" wait malloc 23 4096 free 7
tool cudamallocsnoop -jp "$pid,$other"
go
stop
kill $other
json 30 true
says "tracing pid $pid,$other"

for kind in $kinds ${LONG:+perf}; do
	it "-p --attach $kind: many processes share probes; others are not counted, nor a process that gets the number of one"
	export SIM_NCCL_DIR="$tmp"
	rm -f "$tmp/heir"
	program "$bin/nccl" 41 wait init allreduce 3 10 wait late-until 2 "$tmp/heir"
	list=$(sed -n 's/^ready //p' "$tmp/ready" | cut -d' ' -f1-37 | tr ' ' ,)
	tool cudatrace --attach "$kind" -e cudaMalloc,ncclAllReduce -jp "$list"
	echo >&3
	until_true eval '[ "$(grep -c ^ready "$tmp/ready")" = 2 ]'
	"$bin/storm" heir "${list%%,*}" 31 >"$tmp/heir" & heir=$!
	go
	wait "$tracer" "$heir"
	equal "$(cat "$tmp/heir")" 'calls 31 harmed 0'
	json 111 '.func == "ncclAllReduce"' 0 '.func == "cudaMalloc"'
	equal "$(jq -r 'select(.func == "ncclAllReduce").pid' "$tmp/out" | sort -u | sort -n | tr '\n' ,)" "$(echo "$list" | tr , '\n' | sort -n | tr '\n' ,)"
done

it "-p sees the threads that a process makes later"
program "$bin/mem" wait thread '(' malloc 23 4096 ')' thread '(' malloc 7 64 ')' join
tool cudamallocsnoop -jp "$pid"
go
stop
json 30 '.tid != .pid' 30 true

it "-p sees a library that is loaded later"
program "$bin/mem-dlopen" wait load sleep 200 malloc 23 4096 free 7
tool cudamallocsnoop -l "$lib/libcuda.so.1" -jp "$pid"
go
stop
json 30 '.func == "cudaMalloc" or .func == "cudaFree"' 30 true

it "without -p traces every process: two that run"
second "$bin/mem-static" malloc 1 64 wait malloc 7 64
program "$bin/mem" malloc 1 64 wait malloc 23 4096
tool cudaleak -Cj 60
go
go_second
stop
json 1 ".count == 23 and .pid == $pid and .at == \"exit\"" \
	1 ".count == 7 and .pid == $second and .at == \"exit\"" \
	2 ".pid == $pid or .pid == $second"

it "without -p traces programs that start later, two at once, each call once"
tool cudamallocsnoop -l "$lib/libcuda.so.1" -j
"$bin/mem" malloc 1009 64 & other=$!
"$bin/mem-stripped" malloc 503 64 free 7 & another=$!
wait $other $another
until_true eval '[ "$(wc -l <"$tmp/out")" -ge 1519 ]'
stop
json 1009 ".pid == $other and .op == \"alloc\"" 503 ".pid == $another and .op == \"alloc\"" \
	7 ".pid == $another and .op == \"free\"" \
	1009 ".pid == $other"

it "traces a process in namespaces of its own, where the name of its library says nothing"
if ! unshare -U -r -m -p -f true 2>/dev/null; then
	skip "no namespaces can be made here"
else
	mkdir -p "$tmp/away" "$tmp/keep"
	cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$bin/mem" "$tmp/keep"
	# shellcheck disable=SC2016 # for the inner shell
	program unshare -U -r -m -p -f --kill-child sh -c 'mount -t tmpfs none "$1" && cp "$2"/* "$1" &&
		export LD_LIBRARY_PATH="$1" && exec "$1"/mem malloc 1 64 wait malloc 23 4096 free 7' - "$tmp/away" "$tmp/keep"
	inner=$(below "$pid" mem)
	tool cudamallocsnoop -jp "$inner"
	go
	stop
	json 23 '.func == "cudaMalloc" and .size == 4096' 30 true
	[ ! -e "$tmp/away/mem" ] || no "the library is to be seen from outside"
fi

it "traces a library that was deleted while mapped"
mkdir -p "$tmp/gone"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$bin/mem" "$tmp/gone"
program env LD_LIBRARY_PATH="$tmp/gone" "$tmp/gone/mem" malloc 1 64 wait malloc 23 4096 free 7
rm -r "$tmp/gone"
tool cudamallocsnoop -jkp "$pid"
go
stop
json 23 '.func == "cudaMalloc" and .stack[0].sym == "do_malloc"' 30 true

it "traces the library that is mapped, not the one that replaced it"
mkdir -p "$tmp/new"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$bin/mem" "$tmp/new"
program env LD_LIBRARY_PATH="$tmp/new" "$tmp/new/mem" malloc 1 64 wait malloc 23 4096 free 7
cp "$tmp/new/libcudart.so.13" "$tmp/new/x"
mv "$tmp/new/x" "$tmp/new/libcudart.so.13"
cp "$tmp/new/libcuda.so.1" "$tmp/new/x"
mv "$tmp/new/x" "$tmp/new/libcuda.so.1"
tool cudamallocsnoop -jp "$pid"
go
stop
json 30 true

it "a library under two names is probed once"
mkdir -p "$tmp/a" "$tmp/b"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$tmp/a"
ln "$tmp/a"/* "$tmp/b"
second env LD_LIBRARY_PATH="$tmp/a" "$bin/mem" malloc 1 64 wait malloc 7 64
program env LD_LIBRARY_PATH="$tmp/b" "$bin/mem" malloc 1 64 wait malloc 23 4096
tool cudamallocsnoop -j
go
go_second
stop
json 23 ".pid == $pid" 7 ".pid == $second"
silent_of "$pid" "$second"

it "-c traces from the first call to the last"
words='malloc 23 4096 free 23'
run cudaleak -Cjc "$bin/mem $words; $bin/mem-static $words; $bin/mem-stripped $words"
json 3 '.at == "exit" and .count == 0 and (has("unknown_frees") | not)' 3 true

it "-c passes the command's status on, and 128 + N for a signal"
run cudamallocsnoop -c "$bin/mem malloc 1 64 exit 37"
status 37
# without the shell's pid, which is not the command's
says "tracing '$bin/mem malloc 1 64 exit 37' and its children"
run cudamallocsnoop -c "$bin/mem malloc 1 64 segv"
status 139

it "-- runs a command word for word without a shell, and names its process"
run cudamallocsnoop --attach session -j -- "$bin/mem" rename '$(a) "b' malloc 23 4096 exit 37
status 37
json 23 '.comm == "$(a) \"b"'
says "tracing '$bin/mem rename \$(a) \"b malloc 23 4096 exit 37' (pid $(jq -r .pid "$tmp/out" | sort -u)) and its children"
run cudaleak -C 60 2 -- "$bin/mem" malloc 23 4096 free 7
lines 1 '16 allocations not freed'
run cudabt -qe 'cuda:cudaMalloc { @ = count(); }' -- "$bin/mem" malloc 23 4096
lines 1 '^@: 23$'
run cudamallocsnoop -- "$tmp/none" 1
status 127
says "cannot run $tmp/none: No such file or directory"
run cudamallocsnoop -- "$tmp" 1
status 126

it "-c leaves the command's input and output alone"
echo hello | cudamallocsnoop -q -c "cat; echo over >&2" >"$tmp/out" 2>"$tmp/err"
lines 1 '^hello$'
says over

it "-c with a command that makes no CUDA call says so"
run cudamallocsnoop -c true
status 0
says "the command used no CUDA library: nothing to trace"

it "a command that could not be started is not said to use no CUDA library"
: >"$tmp/libnone.c"
$CC -shared -Wl,-soname,libnone.so -o "$tmp/libnone.so" "$tmp/libnone.c"
echo 'int main(void) { return 0; }' >"$tmp/lacks.c"
$CC -o "$tmp/lacks" "$tmp/lacks.c" -Wl,--no-as-needed "$tmp/libnone.so"
mv "$tmp/libnone.so" "$tmp/moved.so"
chmod 755 "$tmp"	# an ordinary user has to find the file
for kind in $command_kinds; do
	for want in "127 $tmp/nothing --there" "126 $tmp/lacks.c" "127 $tmp/lacks"; do
		run cudaleak --attach "$kind" -qc "${want#* }"
		status "${want%% *}"
		says "the command ended with status ${want%% *}: a program could not be started"
		says_not 'nothing to trace'
	done
	says 'error while loading shared libraries: libnone.so'
done

it "a command that uses CUDA, but none of the functions to trace, is not said to use no CUDA"
run cudatrace -e cudaInitDevice -c "$bin/mem malloc 3 64"
status 0
says "the command used CUDA, but its libraries have none of the functions to trace"
run cudabt -e 'cuda:cudaInitDevice { exit(); }' -c "$bin/mem malloc 3 64"
status 0
says "the command used CUDA, but its libraries have none of the functions to trace"
program "$bin/mem" malloc 1 64 wait
fails 3 "process $pid uses CUDA, but its libraries have none of the functions to trace" \
	cudatrace -e cudaInitDevice -p "$pid"
exec 3>&-

# The tool has opened its processes, and has not yet read what they have mapped.
dies_early() {
	cudatrace -jp "$1" >"$tmp/out" 2>"$tmp/err" & tracer=$!
	pids="$pids $tracer"
	while ! readlink "/proc/$tracer/fd"/* 2>/dev/null | grep -q pidfd; do :; done
	kill -STOP "$tracer"
	kill -9 "$pid"
	kill -CONT "$tracer"
}

it "a process of -p that ends while the tool starts is said to have ended"
program "$bin/mem" malloc 1 64 wait
dies_early "$pid"
wait $tracer
rc=$?
status 1
says "process $pid has ended, before it could be traced"
"$bin/mem" malloc 1 64 loop 2000 '(' sleep 1 ')' malloc 23 64 & other=$!
pids="$pids $other"
program "$bin/mem" malloc 1 64 wait
dies_early "$other,$pid"
until_true grep -q ': tracing' "$tmp/err"
wait $other
wait $tracer
rc=$?
status 0
says "process $pid has ended, before it could be traced"
json 23 '.func == "cudaMalloc"'
exec 3>&-

it "SIGTERM ends the command of -c too, and the report comes first"
tool cudaleak -Cc "$bin/mem malloc 23 4096 print sleep 60000"
until_true grep -q calls "$tmp/out"
stop TERM
lines 1 '23 allocations not freed'
status 143

it "-d ends after so many seconds"
program "$bin/mem" malloc 1 64 wait
in_time 9000 run cudaleak -d 1 -p "$pid"
exec 3>&-
status 0
[ "$took" -ge 1000 ] || no "it took $took ms"

it "--layer runtime probes the runtime, --layer driver the driver"
run cudamallocsnoop --layer runtime -jc "$bin/mem malloc 3 64 drvmalloc 5 64"
json 3 '.layer == "runtime"' 3 true
run cudamallocsnoop --layer driver -jc "$bin/mem malloc 3 64 drvmalloc 5 64"
json 8 '.layer == "driver"' 8 true

it "--list tells where the probes go, at the driver's cheap points, and what is skipped"
program "$bin/mem" malloc 1 64 wait
run cudamallocsnoop --list --layer driver -p "$pid"
status 0
lines 1 'libcuda.so.1 +driver +cuMemAlloc_v2 +0x[0-9a-f]+ +10 -$'
lines 1 '/tests/lib/libcudart.so.13 +runtime +cudaMalloc +0x[0-9a-f]+ +0 --layer$'
run cudamallocsnoop --list -jp "$pid"
exec 3>&-
json 1 '.func == "cudaFree" and .layer == "runtime" and (.file | endswith("/tests/lib/libcudart.so.13")) and .step == 0 and .skipped == null'

it "an instruction that cannot be stepped over is not: its constant is no place for a probe"
cat >"$tmp/imm.s" <<'END'
	.text
	.globl cudaMalloc
	.type cudaMalloc, @function
cudaMalloc:
	movabs $0x9090909090909090, %rax
	xor %eax, %eax
	ret
	.size cudaMalloc, .-cudaMalloc
	.section .note.GNU-stack, "", @progbits
END
${CC:-cc} -shared -Wl,-soname,libcudart.so.13 -o "$tmp/libcudart.so.13" "$tmp/imm.s"
run cudamallocsnoop --list -jl "$tmp/libcudart.so.13"
json 1 ".file == \"$tmp/libcudart.so.13\" and .func == \"cudaMalloc\" and .step == 0 and .skipped == null"

it "--list tells of a program whose symbols are stripped"
if [ -e "$bin/kern-stripped" ]; then
	run cudamallocsnoop --list -c "$bin/kern-stripped 1 1 1 1 1"
	lines 1 'kern-stripped .*has kernels but no symbols'
else
	skip "there is no nvcc"
fi

it "--list with -c prints the list, and no calls: one kind of objects, and one head"
run cudamallocsnoop --list -c "$bin/mem malloc 23 4096"
lines 1 '^FILE  '
lines 0 '^PID  '
lines 1 'runtime +cudaMalloc '
for tool in "cudatrace -S" ${LONG:+cudaleak "cudalaunchtop 1" cudatrace cudamallocsnoop "cudamemcpysize 1" cudasynclatency "cudatrace --tree"}; do
	# shellcheck disable=SC2086 # with its options
	run $tool --list -jc "$bin/mem malloc 23 4096 copy 5 64 h2d launch 3 sync 2"
	json 0 'has("offset") | not'
	[ -s "$tmp/out" ] || no "$tool prints no list"
done

# links: those of the tool and of its helpers; are_gone ID...: the kernel has none of them
links() {
	for p in $tracer $(pgrep -P "$tracer"); do sed -n 's/^link_id:[[:space:]]*//p' "/proc/$p/fdinfo/"*; done | sort -un
}
are_gone() { for id; do ! bpftool link show id "$id" >"$tmp/link" || return 1; done; }

it "takes its probes out at the end, in well under a second, and when it is killed"
program "$bin/mem" malloc 1 64 wait
for signal in INT KILL; do
	for try in 1 2 3; do	# others may run meanwhile
		tool cudamallocsnoop -p "$pid"
		held=$(links)
		[ -n "$held" ] || ! cudaleak --check | grep -qE '(session|multi) works' || no "it has no links"
		began=$(date +%s%N)
		kill -s $signal "$tracer"
		wait "$tracer"
		took=$((($(date +%s%N) - began) / 1000000))
		# shellcheck disable=SC2086 # numbers
		until_true are_gone $held
		[ $took -ge 1000 ] || break
	done
	[ "$took" -lt 1000 ] || no "SIG$signal: $took ms"
done
exec 3>&-

own storm
for kind in session ${LONG:+multi perf}; do
	it "-c with --attach $kind counts each call of 499 children alive at once, and does not stop those that follow many"
	run cudamallocsnoop --attach "$kind" --layer runtime -jc "echo | $own alive 101 398 3 >$tmp/did"
	status 0
	json 1500 '.op == "alloc"'
	equal "$(tr '\n' ' ' <"$tmp/did")" 'stopped 0 ready calls 1500 harmed 0 '
done

it "a command that is stopped to be probed goes on when the tool is killed"
mkfifo "$tmp/held"
cudamallocsnoop --attach session -c "$bin/mem-dlopen wait load malloc 3 64 sleep 200 print >$tmp/done" <"$tmp/held" >"$tmp/out" 2>&1 &
tracer=$!
exec 5>"$tmp/held"
until_true below "$tracer" mem-dlopen >"$tmp/pid"
until_true grep -q ready "$tmp/done"
# from now on nobody is there to let it go; it then loads the library and is stopped
kill -STOP "$tracer"
echo >&5
exec 5>&-
until_true grep -q 'State:.T' "/proc/$(cat "$tmp/pid")/status"
kill -9 "$tracer"
until_true grep -q 'calls 3' "$tmp/done"

it "a tool in the command of another one: both see every call"
for i in 1 ${LONG:+2 3}; do
	run cudamallocsnoop --attach session -jc "cudatrace --attach session -jo $tmp/inner -c '$bin/mem-dlopen load malloc 23 4096 free 7'"
	json 30 true
	equal "$(jq -s 'map(select(.func == "cudaMalloc" or .func == "cudaFree")) | length' "$tmp/inner")" 30
done
silent

# The inner tool and the outer one stop the program as it loads its library; $1 is stopped itself, and killed.
hold_and_kill() {
	: >"$tmp/done"
	cudamallocsnoop --attach session -jc "cudamallocsnoop --attach session -j -c '$bin/mem-dlopen wait load malloc 23 4096 sleep 50 print >$tmp/done' >$tmp/inner; sleep 2" <"$tmp/held" >"$tmp/out" 2>"$tmp/err" &
	outer=$!
	exec 5>"$tmp/held"
	until_true grep -q ready "$tmp/done"
	until_true below "$outer" mem-dlopen >"$tmp/pid"
	read -r held <"$tmp/pid"
	inner=$(pgrep -xf "cudamallocsnoop --attach session -j -c $bin/mem-dlopen.*$tmp/done.*" | head -n 1)
	eval "victim=\$$1"
	kill -STOP "$victim"
	echo >&5
	exec 5>&-
	until_true grep -q 'State:.T' "/proc/$held/status"
	sleep .3
	grep -q 'State:.T' "/proc/$held/status" || no "the program went on while the $1 tool held it"
	kill -9 "$victim"
	until_true grep -q 'calls 23' "$tmp/done"
}

it "what has got the number of a process that has ended gets none of its signals"
for user in 0 65534; do
	run "$bin/reused" $user
	status 0
	lines 1 '^released: continued$'
	lines 1 '^signalled: continued$'
	lines 3 ', ended before: nothing$'
done

it "a caller that ignores SIGCHLD does not have the kernel give away the numbers of the tool's processes"
program "$bin/mem" wait
tool sh -c "trap '' CHLD; exec cudaleak -p $pid"
ignored=$(awk '/^SigIgn:/ { print $2 }' "/proc/$tracer/status")
[ $((0x$ignored >> 16 & 1)) -eq 0 ] || no "it ignores it, too: $ignored"
stop
go

if long; then
	it "of two tools that hold a process, one is killed: the other sees every call"
	hold_and_kill inner
	wait $outer
	json 23 '.func == "cudaMalloc"'
	hold_and_kill outer
	until_true test -s "$tmp/inner"
	until_true eval "! kill -0 $inner"
	equal "$(grep -c cudaMalloc "$tmp/inner")" 23
fi

# not perf: the kernel takes seconds to remove a process's probes, and misses calls of the next one (docs/reliability.md)
for kind in session ${LONG:+multi}; do
	it "--attach $kind: processes that all have one number, one after another, are told apart"
	run cudaleak --attach "$kind" -jc "$bin/storm reused 29 3 >/dev/null"
	sum 87 'select(.type == "held").count'
	json 29 '.type == "held" and .count == 3 and .at == "exit" and .complete'
	equal "$(jq 'select(.type == "held").pid' "$tmp/out" | sort -u | wc -l)" 1
	run cudatrace --attach "$kind" -jc "$bin/storm reused 29 3 >/dev/null"
	json 87 '.func == "cudaMalloc"'
	run cudalaunchtop --attach "$kind" -jc "$bin/storm reused 29 3 >/dev/null"
	silent
done

it "... where every process is traced"
for t in cudaleak ${LONG:+cudatrace}; do
	own storm
	program "$own" threads 1 0	# so that the tool knows the library
	tool "$t" -j
	"$own" reused 29 3 >/dev/null
	stop
	exec 3>&-
	grep "\"comm\":\"${own##*/}\"" "$tmp/out" >"$tmp/mine"
	mv "$tmp/mine" "$tmp/out"
	number=$(jq -s 'map(select(.type == "held" or .func == "cudaMalloc"))[0].pid' "$tmp/out")
	[ "$t" = cudaleak ] && sum 87 "select(.type == \"held\" and .pid == $number).count" ||
		json 87 ".func == \"cudaMalloc\" and .pid == $number"
done

for kind in $kinds ${LONG:+perf}; do
	it "--attach $kind: a process that gets the number of that of -p is not traced"
	for t in cudatrace ${LONG:+cudaleak}; do
		program "$bin/mem" wait malloc 7 100
		tool "$t" --attach "$kind" -jp "$pid"
		"$bin/storm" heir "$pid" 31 >"$tmp/heir" & heir=$!
		go
		wait "$tracer"
		wait "$heir"
		equal "$(cat "$tmp/heir")" 'calls 31 harmed 0'
		[ "$t" = cudaleak ] && json 1 '.type == "held" and .count == 7' || json 7 '.func == "cudaMalloc"'
	done
done

long || leave

it "a tool has no program open that it only tried"
program "$bin/mem" malloc 1 64 wait
for kind in multi perf; do
	tool cudatrace --attach $kind -e cudaMalloc -p "$pid"
	find "/proc/$tracer/fd" -lname '*bpf-prog*' | wc -l >"$tmp/$kind"
	stop
done
exec 3>&-
equal "$(cat "$tmp/perf")" "$(cat "$tmp/multi")"
