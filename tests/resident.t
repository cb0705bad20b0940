# shellcheck shell=sh disable=SC2016,SC2086,SC2154 # inner shells; lists of words; rc, pid, tracer: the words'
# inject/resident.so: running programs that tools trace without probes.  --attach=inject, unlike --attach inject, keeps the tests'
# privileges: see as_who in lib.sh.

trap finish EXIT
audit="LD_AUDIT=$O/inject/resident.so"
if ! [ -e "$O/inject/resident.so" ] || ! [ -e "$bin/inject" ]; then
	it "the resident library"
	skip "it is not built"
	leave
fi

# further: the program goes on to its next `wait`
further() {
	n=$(grep -c ready "$tmp/ready")
	echo >&3
	until_true eval "[ \$(grep -c ready '$tmp/ready') -gt $n ]"
}

# mallocs: the calls of cudaMalloc that cudatrace -jS has counted
mallocs() { jq -s 'map(select(.func == "cudaMalloc") | .calls) | add // 0' "$tmp/out"; }

# counted N OPTION...: a cudatrace of the program counts N calls that it makes up to its next `wait`
counted() {
	want=$1
	shift
	tool cudatrace "$@" -p "$pid" -jS -e cudaMalloc
	further
	stop
	status 0
	equal "$(mallocs)" "$want"
	silent
}

# ends STATUS: the program does when it goes on
ends() {
	go
	equal "$?" "$1"
}

# ---- no tool

it "a program without a tool is what it was: its output, its status, and no descriptor is inherited"
run env "$audit" "$bin/mem" malloc 23 64 free 23 print fork '(' malloc 3 64 ')' exit 7
status 7
lines 1 '^calls 46 failed 0'
run env "$audit" "$bin/mem" malloc 1 64 exec '(' wait ')' </dev/null
lines 1 ready

it "programs without CUDA get no memory"
run env "$audit" sh -c 'ls -l /proc/$$/fd'
status 0
lines 0 cuda-bpf-tools

it "errno, signals, limits, alignment, the status at the end"
"$bin/inject" same 3 >"$tmp/plain"
run env "$audit" "$bin/inject" same 3
status 43
diff "$tmp/plain" "$tmp/out" >"$tmp/diff" || no "$(head -n 5 "$tmp/diff")"

it "registers, the stack and the modes of floating point"
run env "$audit" "$bin/inject_registers"
status 0
lines 1 '^same$'

it "functions that cuGetProcAddress() and cudaGetDriverEntryPoint() return work"
run env "$audit" "$bin/inject" pointers
status 0

# ---- -p

it "each tool counts what a running program does from then on"
program env "$audit" "$bin/mem" malloc 11 64 wait \
	loop 23 '(' malloc 1 4096 launch 1 copy 1 64k h2d sync 1 ')' wait \
	loop 23 '(' malloc 1 4096 launch 1 copy 1 64k h2d sync 1 ')' wait \
	loop 23 '(' malloc 1 4096 launch 1 copy 1 64k h2d sync 1 ')' wait \
	loop 23 '(' malloc 1 4096 launch 1 copy 1 64k h2d sync 1 ')' wait \
	loop 23 '(' malloc 1 4096 launch 1 copy 1 64k h2d sync 1 ')' wait \
	loop 23 '(' malloc 1 4096 launch 1 copy 1 64k h2d sync 1 ')' wait exit 17
check_tool() {
	tool "$1" --attach=inject -j -p "$pid"
	further
	stop
	status 0
	silent
}
check_tool cudalaunchtop
sum 23 .launches
tool cudatrace --attach=inject -jS -e cudaLaunchKernel -p "$pid"
further
stop
sum 23 'select(.func == "cudaLaunchKernel") | .calls'
check_tool cudaleak
sum 23 'select(.type == "held" and .bytes == 94208) | .count'
check_tool cudamallocsnoop
json 23 '.func == "cudaMalloc" and .size == 4096'
check_tool cudamemcpysize
sum 23 'select(.direction == "HtoD") | .count'
check_tool cudasynclatency
sum 23 'select(.func == "cudaDeviceSynchronize") | .count'
ends 17

it "a tool that is given -p alone uses the library, without a probe"
program env "$audit" "$bin/mem" malloc 11 64 wait malloc 97 64 wait
tool cudatrace -v -p "$pid" -jS -e cudaMalloc
further
stop
status 0
equal "$(mallocs)" 97
says 'attaching with inject'
ends 0

it "nor does it where the runtime is linked in, or USDT probes are wanted: there are probes"
program env "$audit" "$bin/mem" malloc 11 64 wait malloc 97 64 wait
run cudaleak -v -p "$pid" --tensors -d 1
says 'attaching with '
says_not 'attaching with inject'
further
ends 0
if [ -e "$bin/mem-static" ]; then
	program env "$audit" "$bin/mem-static" malloc 11 64 wait malloc 97 64 wait
	tool cudatrace -v -p "$pid" -jS -e cudaMalloc
	further
	stop
	equal "$(mallocs)" 97
	says 'not using --attach inject: the CUDA runtime is linked in'
	ends 0
fi

it "--attach session still places probes there"
program env "$audit" "$bin/mem" malloc 11 64 wait malloc 97 64 wait
counted 97 --attach session
ends 0

it "calls before and after are not counted, and a second tool counts its own"
program env "$audit" "$bin/mem" malloc 11 64 wait malloc 23 64 wait malloc 101 64 wait malloc 47 64 wait malloc 13 64
counted 23 --attach=inject
further
counted 47 --attach=inject
ends 0

it "what an idle program calls next is counted, also by four threads that begin at once"
program env "$audit" "$bin/mem" malloc 1 64 wait \
	thread '(' loop 1009 '(' malloc 1 64 free 1 ')' ')' thread '(' loop 1009 '(' malloc 1 64 free 1 ')' ')' \
	thread '(' loop 1009 '(' malloc 1 64 free 1 ')' ')' thread '(' loop 1009 '(' malloc 1 64 free 1 ')' ')' join wait
counted 4036 --attach=inject
ends 0

it "threads that were there before are counted"
program env "$audit" "$bin/mem" thread '(' loop 100000 '(' query 1 ')' sleep 1 ')' malloc 1 64 wait malloc 503 64 join wait
counted 503 --attach=inject
ends 0

it "a program whose first thread has ended"
program env "$audit" "$bin/mem" malloc 1 64 thread '(' alone wait malloc 97 64 wait ')' leave
counted 97 --attach=inject
ends 0

it "a program that has not loaded CUDA yet is refused, and traced once it has"
program env "$audit" LD_LIBRARY_PATH="$lib" "$bin/mem-dlopen" wait load malloc 1 64 wait malloc 23 64 wait
fails 1 'no resident library' cudatrace --attach=inject -p "$pid"
further
counted 23 --attach=inject
ends 0

it "the driver, which the runtime loads when a tool traces already"
program env "$audit" "$bin/mem" freenull 1 wait drvmalloc 23 64 wait
tool cudatrace --attach=inject -p "$pid" -jS -e cuMemAlloc_v2
further
stop
status 0
sum 23 'select(.func == "cuMemAlloc_v2") | .calls'
ends 0

it "processes that were forked: each is traced if it is asked for, and only then"
program env "$audit" "$bin/mem" malloc 1 64 fork '(' sleep 200 malloc 13 64 sleep 200 malloc 7 64 ')' wait malloc 23 64 join wait
counted 23 --attach=inject
ends 0

it "a child that forks while a tool traces its parent is not traced, and lives"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 23 64 fork '(' malloc 2003 64 ')' join malloc 7 64 wait
counted 30 --attach=inject
ends 0

it "a program that executes another one is not traced further, which the tool says"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 23 64 exec '(' malloc 7 64 wait ')'
tool cudatrace --attach=inject -p "$pid" -jS -e cudaMalloc
further
until_true grep -q 'executed another program' "$tmp/err"
stop
equal "$(mallocs)" 23
says "process $pid: it has executed another program, which is not traced"
ends 0

has_ended() { ! grep -q '^State:.[^ZX]' "/proc/$pid/status" 2>/dev/null; }
has_memory() { has_ended || grep -q cuda-bpf-tools-resident "/proc/$pid/maps"; }

it "a child by its own number, which shares the memory with its parent"
program env "$audit" sh -c '"$0" malloc 1 64 fork "(" wait malloc 29 64 wait ")" join' "$bin/mem"
child=$(pgrep -P "$(pgrep -P "$pid" || echo "$pid")" || pgrep -P "$pid")
parent=$pid
pid=$child
counted 29 --attach=inject
pid=$parent
ends 0

it "several processes, all of one user"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 31 64 wait
first=$pid
exec 5>&3
cp "$tmp/ready" "$tmp/ready.1"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 37 64 wait
tool cudatrace --attach=inject -p "$first,$pid" -jS -e cudaMalloc
echo >&5
further
sleep .2
stop
equal "$(mallocs)" 68
echo >&5
exec 5>&-
ends 0
wait "$first"

it "a tool that is killed costs nothing afterwards, and the next one counts"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 23 64 wait malloc 4001 64 wait malloc 59 64 wait
tool cudamallocsnoop --attach=inject -jp "$pid"
further
stop KILL
further
! grep -q 'cuda-bpf-tools (deleted)' "/proc/$pid/maps" || no "the tool's memory is mapped yet"
counted 59 --attach=inject
ends 0

it "after a tool's end the program has nothing of it with its next call"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 23 64 wait malloc 1 64 wait
counted 23 --attach=inject
grep -q 'cudatrace.so' "/proc/$pid/maps" || no "the tool's library was not there"
further
! grep -q 'cudatrace.so\|cuda-bpf-tools (deleted)' "/proc/$pid/maps" || no "$(grep 'cudatrace.so\|cuda-bpf-tools (del' "/proc/$pid/maps" | head -n 1)"
ends 0

it "251 threads at the same time call exactly as often as is counted"
program env "$audit" "$bin/mem" malloc 1 64 wait loop 251 '(' thread '(' sleep 200 malloc 3 64 ')' ')' join wait
counted 753 --attach=inject
ends 0

# ---- who may ask

it "a second tool at the same time: --attach inject says so; without it, probes count the same"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 23 64 wait
tool cudatrace --attach=inject -jS -e cudaMalloc -p "$pid"
first=$tracer
cp "$tmp/err" "$tmp/err.1"
run cudatrace --attach=inject -p "$pid"
status 1
says "process $pid: another tool traces it with --attach inject"
mkdir -p "$tmp/second"
cudatrace -jS -e cudaMalloc -p "$pid" >"$tmp/second/out" 2>"$tmp/second/err" 9>&- & second=$!
pids="$pids $second"
until_true grep -q ': tracing' "$tmp/second/err"
further
kill -INT $second
wait $second
tracer=$first
kill -INT "$tracer"
wait "$tracer"
cp "$tmp/second/out" "$tmp/out"
equal "$(mallocs)" 23
ends 0

it "an ordinary user's tool traces that user's program, without a privilege"
if $unprivileged test -r "$O/inject/resident.so" && [ "$(id -u)" -eq 0 ]; then
	program $unprivileged env "$audit" "$bin/mem" malloc 1 64 wait malloc 61 64 wait
	counted 61 --attach inject
	ends 0
else
	skip "$O cannot be read by others"
fi

it "but not another user's"
program env "$audit" "$bin/mem" malloc 1 64 wait malloc 61 64 wait
run $unprivileged cudatrace --attach=inject -p "$pid"
status 1
says "process $pid: it is another user's: run as root or as that user"
further
ends 0

it "a program with a seccomp filter of its own is left alone"
mkfifo "$tmp/rights"
env "$audit" "$bin/inject_rights" fork <"$tmp/rights" >"$tmp/rights.out" 2>&1 9>&- & pid=$!
pids="$pids $pid"
exec 3>"$tmp/rights"
until_true grep -q '^Seccomp:.2' "/proc/$pid/status"
run cudatrace --attach=inject -p "$pid"
status 1
says "process $pid: it has a seccomp filter, under which it cannot connect"
echo >&3
exec 3>&-
wait "$pid"
equal "$?" 0

it "a program that was started without the library: --attach inject says how"
program "$bin/mem" malloc 1 64 wait malloc 3 64 wait
run cudatrace --attach=inject -p "$pid"
status 1
says "process $pid: no resident library: start it with LD_AUDIT=$O/inject/resident.so, and use CUDA"
further
ends 0

it "a program in another network namespace, which the tool enters"
if unshares -n; then
	program unshare -n env "$audit" "$bin/mem" malloc 1 64 wait malloc 67 64 wait
	counted 67 --attach=inject
	ends 0
fi

it "a program in a PID namespace of its own"
if unshares -pf; then
	program unshare -pf env "$audit" "$bin/mem" malloc 1 64 wait malloc 71 64 wait
	outer=$pid
	pid=$(pgrep -P "$outer")
	counted 71 --attach=inject
	pid=$outer
	ends 0
fi

it "a program that has the library and is a tool's command is counted once"
run env "$audit" cudatrace --attach=inject -jS -e cudaMalloc -- "$bin/mem" malloc 23 64
status 0
equal "$(mallocs)" 23

long || leave

it "signals, forks and new threads while tools come and go"
for words in 'signal 200000003' 'fork 5000023' 'sequence 20011'; do
	env "$audit" "$bin/inject" $words >"$tmp/inject" 2>&1 9>&- & pid=$!
	pids="$pids $pid"
	for t in 'cudatrace -S' cudaleak cudalaunchtop; do
		until_true has_memory
		! has_ended || break
		timeout -s INT .7 $t --attach=inject -j -p "$pid" >"$tmp/out" 2>"$tmp/err"
	done
	case $words in
	sequence*) wait "$pid" || no "$words: status $?" ;;
	*)
		! has_ended || no "$words: the program has ended: $(head -n 3 "$tmp/inject")"
		kill -KILL "$pid"
		wait "$pid"
		;;
	esac
done

# come_and_go COMMAND...: 11 tools do, with a program of that command
come_and_go() {
	program "$@" env "$audit" "$bin/mem" \
		thread '(' loop 100000000000000 '(' malloc 1 64 free 1 ')' ')' thread '(' loop 100000000000000 '(' malloc 1 64 free 1 launch 1 ')' ')' \
		thread '(' loop 100000000000000 '(' malloc 1 64 free 1 ')' ')' malloc 1 64 wait
	for t in cudatrace cudalaunchtop cudaleak cudamallocsnoop cudatrace cudasynclatency cudatrace cudamemcpysize cudalaunchtop cudaleak cudatrace; do
		if [ $t = cudatrace ]; then	# to its end, however late the program connects
			run cudatrace --attach=inject -jn 23 -e cudaMalloc -p "$pid"
			status 0
			json 23 '.type == "call" and .func == "cudaMalloc"'
			continue
		fi
		tool $t --attach=inject -j -p "$pid"
		sleep .2
		case $t in
		cudamallocsnoop | cudasynclatency) stop KILL ;;
		*) stop; status 0 ;;
		esac
		kill -0 "$pid" || no "the program has ended"
	done
	kill -KILL "$pid"
	wait "$pid"
	exec 3>&-
}

it "11 tools come and go, two of them killed, while threads call all the time, and the program goes on"
come_and_go

it "the same where the kernel has no membarrier(2)"
come_and_go "$bin/filtered" -m
