# shellcheck shell=sh
# Which columns a line has, and what stands in them: processes, threads, layers, containers, times and colors.
light

# heads: the heads of the text, each ended by /
heads() { grep 'CALL$' "$tmp/out" | tr -s ' ' | tr '\n' /; }

it "cudatrace: the calls of one thread have no columns beside them, and no head"
replayed cudatrace -e memory -c "$bin/mem malloc 23 64 free 7"
lines 23 '^cudaMalloc\('
lines 7 '^cudaFree\('
lines 30 ''
silent

it "… columns come with what they tell apart: threads and processes, not layers, which names do"
replayed cudatrace -e memory -c "$bin/mem malloc 3 64 thread '(' malloc 5 64 ')' join"
equal "$(heads)" 'TID CALL/'
lines 3 '^cudaMalloc\('
lines 5 '^[0-9]+ +cudaMalloc\('
replayed cudatrace -e memory -c "$bin/mem malloc 3 64 drvmalloc 2 64 malloc 5 64"
equal "$(heads)" ''
lines 8 '^cudaMalloc\('
lines 2 '^cuMemAlloc_v2\('
replayed cudatrace -e memory -c "$bin/mem malloc 3 64 fork '(' malloc 5 64 ')'"
equal "$(heads)" 'PID COMM CALL/'
lines 3 '^cudaMalloc\('
lines 5 '^[0-9]+ +mem +cudaMalloc\('
replayed cudatrace -e memory -c "$bin/mem malloc 3 64 thread '(' malloc 5 64 ')' join fork '(' malloc 7 64 ')'"
equal "$(heads)" 'TID CALL/PID TID COMM CALL/'
lines 7 '^[0-9]+ +[0-9]+ +mem +cudaMalloc\('
silent

it "… --tree has the layer from the beginning; two processes of -p their number and name"
replayed cudatrace --tree -e memory -c "$bin/mem malloc 3 64"
equal "$(heads)" 'LAYER CALL/'
program "$bin/mem" wait malloc 3 64
first=$pid
exec 5>&3
mv "$tmp/go" "$tmp/first"
program "$bin/mem" wait malloc 5 64
tool cudatrace -e memory -p "$first,$pid"
until_true grep -q CALL "$tmp/out"
echo >&5
exec 5>&-
wait "$first"
go
wait "$tracer"
equal "$(heads)" 'PID COMM CALL/'
lines 3 "^$first +mem +cudaMalloc"
lines 5 "^$pid +mem +cudaMalloc"

it "… and all processes, too"
program "$bin/mem" malloc 1 64 wait malloc 3 64 wait
tool cudatrace -e memory
echo >&3
three() { [ "$(grep -c "^$pid .*size=64" "$tmp/out")" -ge 3 ]; }
until_true three
stop
kill "$pid"
head -n 1 "$tmp/out" | grep -qE '^PID .*COMM .*CALL$' || no 'no columns of processes'	# others may have more
lines 3 "^$pid .*cudaMalloc\(.*size=64"	# a TID stands before, where others have threads

it "… JSON has every key, whatever there is to tell apart"
replayed cudatrace -e memory -jc "$bin/mem malloc 3 64"
json 3 '.pid == .tid and .comm == "mem" and .layer == "runtime" and has("container")'

it "cudatrace -tt has microseconds, -t milliseconds; -T is in seconds"
replayed cudatrace -tt -e memory -c "$bin/mem malloc 3 64"
lines 3 '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6} cudaMalloc'
lines 1 '^TIME            CALL$'
replayed cudatrace --timestamp -e memory -c "$bin/mem malloc 3 64"
lines 3 '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3} cudaMalloc'
replayed SIM_LATENCY_US=cuMemAlloc_v2=20000 cudatrace -T -e memory -c "$bin/mem malloc 3 64 free 2"
lines 3 '^cudaMalloc.* = 0 <[0-9]+\.[0-9]{6}>$'
lines 0 '^cudaMalloc.* = 0 <0\.0[01]'
lines 2 '^cudaFree.* = 0 <0\.0[0-9]{5}>$'
fails 2 '--timestamp can be given once or twice' cudatrace -ttt -c true

it "cudatrace -f says that children are followed"
fails 2 "unknown option '-f': children of the command are always followed; those of -p are not" cudatrace -f -c true
fails 2 "unknown option '-i'" cudatrace -i -c true
equal "$(grep -c children "$tmp/err")" 0

bold=$(printf '\033[1mcudaMalloc\033[m') red=$(printf '\033[31m')
it "cudatrace --color: names and errors are marked, on a terminal alone unless asked for"
replayed cudatrace --color always -e memory -c "$bin/mem malloc 3 64 fail 2"
equal "$(grep -cF "$bold(" "$tmp/out") $(grep -cF "= ${red}cudaErrorMemoryAllocation (2)$(printf '\033[m')" "$tmp/out") \
$(grep -cF "$red" "$tmp/out")" '5 2 2'
for words in '' '--color never' '--color auto' '--color always -j'; do
	# shellcheck disable=SC2086 # words
	replayed cudatrace $words -e memory -c "$bin/mem malloc 3 64 fail 2"
	equal "$(grep -c "$(printf '\033')" "$tmp/out")" 0
done
fails 2 "--color: 'red' is not one of auto|always|never" cudatrace --color red -c true

# on_terminal WORD...: cudatrace's output with these, on a terminal
on_terminal() { script -qec "cudatrace -q -e memory $* -c '$bin/mem malloc 3 64'" /dev/null </dev/null >"$tmp/out"; }

it "… on a terminal by default, but not with NO_COLOR, on one without colors, or into a file"
if ! command -v script >/dev/null; then
	skip "no script(1) here"
else
	TERM=xterm on_terminal
	equal "$(grep -cF "$bold(" "$tmp/out")" 3
	NO_COLOR=1 TERM=xterm on_terminal
	equal "$(grep -cF cudaMalloc "$tmp/out") $(grep -cF "$bold" "$tmp/out")" '3 0'
	NO_COLOR=1 TERM=xterm on_terminal --color always
	equal "$(grep -cF "$bold(" "$tmp/out")" 3
	TERM=dumb on_terminal
	equal "$(grep -cF "$bold" "$tmp/out")" 0
	TERM=xterm on_terminal -o "$tmp/file"
	equal "$(grep -cF cudaMalloc "$tmp/file") $(grep -cF "$bold" "$tmp/file")" '3 0'
fi

it "--uid takes the name of a user, who must exist"
replayed cudamallocsnoop --uid "$(id -un)" -jc "$bin/mem malloc 23 64"
json 23 '.op == "alloc"'
replayed cudamallocsnoop --uid nobody -jc "$bin/mem malloc 23 64"
json 0 .
fails 2 "--uid: 'no such user' is not the name of a user, nor a UID" cudamallocsnoop --uid 'no such user' -c true
fails 2 "--uid: '-1' is not the name of a user" cudamallocsnoop --uid=-1 -c true

it "a filter is not said to leave out every process of a command that uses no CUDA"
replayed cudamallocsnoop --comm other -c true
says 'the command used no CUDA library'

it "cudaleak --list leaves the file of --chrome alone"
echo kept >"$tmp/kept"
run cudaleak --list --chrome "$tmp/kept" -c "$bin/mem malloc 1 64"
lines 1 'cudaMalloc .*'
equal "$(cat "$tmp/kept")" kept

# each line: a tool, what two processes do, a number of the rows and theirs, how a line of text begins, or ends
while IFS='|' read -r t one other filter n m line; do
	it "$t -P has each process apart, and they add up"
	replayed "$t" -Pjc "$bin/mem $one forkexec '(' $other ')'"
	json 1 ".comm == \"mem\" and .pid > 0 and ($filter) == $n" 1 "($filter) == $m"
	equal "$(jq "$filter as \$n | .pid" "$tmp/out" | sort -u | wc -l)" 2
	sum $((n + m)) "$filter"
	run "$t" --attach session -Pc "$bin/mem rename 'a(b)' $one"
	lines 1 "$line"
done <<'END'
cudamemcpysize|copy 23 4096 h2d|copy 7 100 h2d|.count|23|7|^pid [0-9]+ \(a\(b\)\), HtoD, synchronous; 
cudasynclatency|sync 13|sync 7|select(.func).count|13|7|^pid [0-9]+ \(a\(b\)\), cudaDeviceSynchronize$
cudalaunchtop|launch 23 drvlaunch 13|launch 7|.launches|36|7|^[0-9]+ +(a\(b\)|mem) +[0-9.]+ +36 +36$
END

it "so many reports as intervals are asked for, also of nothing"
for t in cudamemcpysize ${LONG:+cudasynclatency cudalaunchtop} cudaleak; do
	run $t -p $$ -l "$lib/libcudart.so.13" 100ms 2
	status 0
	lines 2 '(no copies|no waits|^PID .* KERNEL|nothing held: 0 allocations and 0 frees seen)$'
done

it "a process that used CUDA before tracing is not complete, also if it has ended by the report"
for t in cudaleak cudamemcpysize ${LONG:+cudamallocsnoop cudasynclatency cudalaunchtop}; do
	program "$bin/mem" malloc 1 64 wait malloc 5 64 copy 7 64 h2d sync 11 launch 3
	tool "$t" -jp "$pid"
	go
	wait "$tracer"
	[ -s "$tmp/out" ] || no "$t: nothing"
	equal "$t $(jq 'select(has("complete")).complete' "$tmp/out" | sort -u)" "$t false"
done

root=$(grep -s ' cgroup2 ' /proc/mounts | cut -d' ' -f2 | head -n 1)
id=fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210
short=fedcba987654
slice=$root/cbt$$-kubepods-pod01234567_89ab_cdef_0123_0123456789ab.slice
group=$slice/cri-containerd-$id.scope
all='malloc 23 64 copy 7 64 h2d sync 5 launch 3'
it "the container of a process is in every tool's JSON, and null where there is none"
if [ -z "$root" ] || ! mkdir -p "$group/below" 2>/dev/null; then
	skip "no cgroup can be made here"
else
	# in_group GROUP WORD...: mem in that cgroup, as a command
	# shellcheck disable=SC2016 # the inner shell is to expand it
	in_group() { echo "sh -c 'echo \$\$ >$1/cgroup.procs; exec $bin/mem $2'"; }
	for t in cudamallocsnoop cudaleak cudamemcpysize cudasynclatency cudalaunchtop cudatrace; do
		replayed $t -jc "$(in_group "$group/below" "$all")"
		status 0
		[ -s "$tmp/out" ] || no "$t: nothing"
		equal "$t $(jq -r .container "$tmp/out" | sort -u)" "$t $short"
		silent
	done
	replayed cudaleak -jc "$(in_group "$slice" "$all")"
	equal "$(jq -r .container "$tmp/out" | sort -u)" null

	it "… and in text a column or a word, only if there is one"
	replayed cudamallocsnoop -c "$bin/mem malloc 3 64; $(in_group "$group" "malloc 5 64")"
	lines 3 '^[0-9]+ +mem +cudaMalloc '
	lines 1 '^PID +COMM +CONTAINER +FUNCTION '
	lines 5 "^[0-9]+ +mem +$short cudaMalloc "
	replayed cudatrace -e memory -c "$(in_group "$group" "malloc 5 64")"
	equal "$(heads)" 'CONTAINER CALL/'
	lines 5 "^$short cudaMalloc\("
	replayed cudaleak -Cc "$(in_group "$group" "malloc 5 64")"
	lines 1 "pid [0-9]+ \(mem\) in container $short at exit: 5 allocations"
	replayed cudamemcpysize -Pc "$(in_group "$group" "copy 7 64 h2d")"
	lines 1 "^pid [0-9]+ \(mem\) in container $short, HtoD"
	replayed cudasynclatency -Pc "$(in_group "$group" "sync 5")"
	lines 1 "^pid [0-9]+ \(mem\) in container $short, cudaDeviceSynchronize"
	replayed cudalaunchtop -Pbc "$(in_group "$group" "launch 3")"
	lines 1 ' CONTAINER *$'
	lines 1 " $short *\$"
	it "… and of calls in flight"
	hangs_in() { grep -q "^$pause " "/proc/$(head -n 1 "$1/cgroup.procs")/syscall"; }
	# hang_in GROUP TOOL...: mem hangs in that cgroup, as a command
	hang_in() {
		in_it=$(in_group "$1" "sync 1") where=$1
		shift
		tool env SIM_LATENCY_US=cuCtxSynchronize=-1 "$@" -c "$in_it"
		until_true hangs_in "$where"
		stop TERM	# the shell has it ignore INT
	}
	hang_in "$group" cudasynclatency -j
	json 1 "select(.running) | .container == \"$short\""
	hang_in "$group" cudatrace -e sync
	lines 1 "^still waiting: thread [0-9]+ \(mem\) in container $short in cudaDeviceSynchronize for "
	hang_in "$slice" cudatrace -e sync
	lines 1 "^still waiting: thread [0-9]+ \(mem\) in cudaDeviceSynchronize for "

	it "… and not where there is none"
	for t in cudamallocsnoop cudaleak cudamemcpysize cudasynclatency cudalaunchtop cudatrace; do
		replayed $t -c "$bin/mem $all"
		lines 0 '[Cc][Oo][Nn][Tt][Aa][Ii][Nn][Ee][Rr]'
	done

	it "… and the screen of cudaleak a column: on a narrow one of the table of processes alone"
	if command -v tmux >/dev/null; then
		program sh -c "echo \$\$ >$group/cgroup.procs; exec $bin/mem wait malloc 5 64 wait"
		screen 120 20 "$O/cudaleak -p $pid 1"
		on_screen '^PID +COMM +HELD '
		echo >&3
		on_screen "^$pid +mem +$short +320 bytes +320 bytes .* 5 .* device  < "
		lines 1 '^PID +COMM +CONTAINER +HELD +PEAK +GROWTH/S +COUNT +OLDEST MEMORY  STACK *$'
		term resize-window -x 80 -y 10
		on_screen '^PID +COMM +HELD +PEAK +GROWTH/S +COUNT MEMORY  STACK *$'
		term send-keys vv
		on_screen '^PID +COMM +CONTAINER +HELD +PEAK +GROWTH/S +COUNT *$'
		lines 1 "^$pid +mem +$short +320 bytes +320 bytes "
		quit
		wait "$pid" 2>/dev/null
	else
		skip "no tmux here"
	fi
	rmdir "$group/below" "$group" "$slice"
fi
