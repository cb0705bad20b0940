# shellcheck shell=sh
# Which calls are shown, how often, in which order and form.  See cudatrace-args.t and -views.t too.
# shellcheck source=/dev/null
light
. tests/own.sh

# shown: the functions of the objects, in their order
shown() { jq -r .func "$tmp/out" | tr '\n' ' '; }

it "each call once, as text"
replayed cudatrace -e memory -c "$bin/mem malloc 23 4096 free 7 fail 3"
status 0
lines 23 '^cudaMalloc\(\*devPtr=0x[0-9a-f]+, size=4096\) = 0$'
lines 7 '^cudaFree\(devPtr=0x[0-9a-f]+\) = 0$'
lines 3 'cudaMalloc\(devPtr=0x[0-9a-f]+, size=1125899906842624\) = cudaErrorMemoryAllocation \(2\)$'
lines 33 ''
silent

it "each call once at the driver's cheap probe points, as JSON"
replayed cudatrace -e memory --layer driver -jc "$bin/mem malloc 23 4096 free 7"
status 0
json 23 '.func == "cuMemAlloc_v2" and .layer == "driver" and .args.bytesize == 4096 and .ret == 0 and .latency_ns > 0' \
	7 '.func == "cuMemFree_v2" and .error == null' \
	30 true
silent

it "a runtime call and the driver's calls in it are one"
replayed cudatrace -jc "$bin/mem malloc 23 4096 free 7 launch 5 sync 3"
json 23 '.func == "cudaMalloc" and .layer == "runtime"' 7 '.func == "cudaFree"' \
	5 '.func == "cudaLaunchKernel"' \
	3 '.func == "cudaDeviceSynchronize"' \
	38 true
silent

it "the keys of JSON are these"
equal "$(jq -r 'keys_unsorted | join(" ")' "$tmp/out" | sort -u)" \
	"type time pid tid comm container device layer func args kernel short captured first latency_ns ret error earlier"
json 38 '.time > 1700000000 and .pid == .tid and .comm == "mem"'

it "--tree: the driver's calls stand below the runtime's, indented"
replayed cudatrace --tree -c "$bin/mem malloc 3 4096 free 2"
lines 3 '^runtime cudaMalloc\(.*, size=4096\) = 0$'
lines 3 '^driver    cuMemAlloc_v2\(\*dptr=0x[0-9a-f]+, bytesize=4096\) = 0$'
grep -A1 'cudaFree(' "$tmp/out" | grep -c '  cuMemFree_v2(dptr=' >"$tmp/after"
equal "$(cat "$tmp/after")" 2
silent

it "--tree: what is inside lies in the time of what it is inside of, and is shorter"
replayed cudatrace --tree -jc "$bin/mem malloc 23 4096 free 2"
json 25 '.depth == 0 and .layer == "runtime"' \
	25 '.depth == 1 and (.func == "cuMemAlloc_v2" or .func == "cuMemFree_v2")'
equal "$(jq -s 'map(select(.depth == 0).time) == (map(select(.depth == 0).time) | sort)' "$tmp/out")" true
equal "$(jq -s '[range(1; length) as $i | select(.[$i].depth == 1 and .[$i - 1].depth == 0) |
	select(.[$i].latency_ns >= .[$i - 1].latency_ns or .[$i].time > .[$i - 1].time)] | length' "$tmp/out")" 0

it "--tree shows both entries of one launch: nvcc's function jumps to the public one"
if [ -e "$bin/kern" ]; then
	run cudatrace --attach session -e '__cudaLaunchKernel,launch' --tree -jc "$bin/kern 7 5 1 1 1"
	json 12 '.func == "__cudaLaunchKernel" and .depth == 0' \
		12 '.func == "cudaLaunchKernel" and .depth == 1' \
		12 '.func == "cuLaunchKernel" and .depth == 2' \
		36 '.kernel == "scale" or .kernel == "fill<int>"'
	silent
	run cudatrace -e '__cudaLaunchKernel,launch' -jc "$bin/kern 7 5 1 1 1"
	json 12 '.func == "__cudaLaunchKernel"' 12 true
else
	skip "no nvcc here"
fi

it "by default the calls that a person wants, and no chatter"
replayed cudatrace -jc "$bin/args >$tmp/said"
json 0 '.func | test("^(cudaGetLastError|cuGetProcAddress_v2|cuGetErrorName|__cuda.*)$")' \
	1 '.func == "cudaMemGetInfo"'
replayed cudatrace -e all -jc "$bin/args >$tmp/said"
json 1 '.func == "__cudaRegisterFunction" and .args.thread_limit == -1 and .ret == null' \
	1 '.func == "cuGetErrorName" and .args["*pStr"] == "CUDA_ERROR_OUT_OF_MEMORY"'

it "-e takes groups, names, patterns and !"
words='malloc 3 64 free 2 launch 5 sync 7 setdevice 1 streamsync 1'
replayed cudatrace -e trace=sync,device -jc "$bin/mem setdevice 1 sync 2 malloc 1 64"
equal "$(shown)" "cudaSetDevice cudaDeviceSynchronize cudaDeviceSynchronize "
replayed cudatrace -e cudaMalloc,launch -jc "$bin/mem $words"
json 3 '.func == "cudaMalloc"' 5 '.func == "cudaLaunchKernel"' 8 true
replayed cudatrace -e 'cuda*Sync*' -jc "$bin/mem $words"
json 7 '.func == "cudaDeviceSynchronize"' 1 '.func == "cudaStreamSynchronize"' 8 true
replayed cudatrace -e 'default,!launch,!sync,!module' -jc "$bin/mem $words"
equal "$(shown)" "cudaMalloc cudaMalloc cudaMalloc cudaFree cudaFree cudaSetDevice "
replayed cudatrace --layer runtime -e '!launch,sync' -jc "$bin/mem $words"
equal "$(shown)" "cudaMalloc cudaMalloc cudaMalloc cudaFree cudaFree cudaSetDevice "

it "-e: a name stands for its versions, and what one taken out does inside is out too"
replayed cudatrace -e cuMemAlloc -jc "$bin/mem drvmalloc 3 64"
equal "$(shown)" "cuMemAlloc_v2 cuMemAlloc_v2 cuMemAlloc_v2 "
replayed cudatrace -e 'memory,!cudaFree' -jc "$bin/mem malloc 3 64 free 3 drvmalloc 1 64 drvfree 1"
equal "$(shown)" "cudaMalloc cudaMalloc cudaMalloc cuMemAlloc_v2 cuMemFree_v2 "
replayed cudatrace -e 'memory,!cudaFree' --tree -jc "$bin/mem malloc 1 64 free 1"
equal "$(shown)" "cudaMalloc cuMemAlloc_v2 cuMemFree_v2 "

it "-e says which word it does not know, and which are like it"
fails 2 "--trace: unknown function or group 'cudaMaloc'; did you mean cudaMalloc" cudatrace -e cudaMaloc
fails 2 "--trace: unknown function or group 'memry'; did you mean memory" cudatrace -e '!memry'
fails 2 "--trace: unknown function or group 'x*y'" cudatrace -e 'memory,x*y'
fails 2 "--trace: unknown function or group ''" cudatrace -e 'memory,,'

it "-x shows failures alone, with their names"
replayed cudatrace -e cudaMalloc,cudaFree,cudaLaunchKernel -x -jc "$bin/mem malloc 23 64 fail 7 launch 5 badlaunch 3 badfree 2"
sum 7 'select(.func == "cudaMalloc" and .error == "cudaErrorMemoryAllocation" and (.args | has("*devPtr") | not)).count' \
	3 'select(.func == "cudaLaunchKernel" and .error == "cudaErrorInvalidConfiguration" and .kernel == "mem_kernel").count' \
	2 'select(.func == "cudaFree" and .ret != 0).count' \
	12 .count
silent

it "… the first of those that are alike, and then how many more there are, once a second"
replayed cudatrace -xjc "$bin/mem fail 23"
json 1 '.count == 1 and .count_ns == null' 1 '.count == 22 and .count_ns > 0' 2 .error
replayed cudatrace -xc "$bin/mem fail 23 badlaunch 2 thread '(' fail 5 ')' join"
lines 1 '^[0-9]+ +[0-9]+ +mem +cudaMalloc\(.*\) = cudaErrorMemoryAllocation \(2\)$'
lines 1 '^[0-9]+ +[0-9]+ +mem +cudaMalloc\(.*\) = cudaErrorMemoryAllocation \(2\) \[27 times in [0-9.]+ [mu]?s\]$'
lines 2 '^[0-9]+ +[0-9]+ +mem +cudaLaunchKernel\(.*\) = cudaErrorInvalidConfiguration \(9\)$'
lines 4 cuda
run cudatrace -xjc "$bin/mem loop 67 '(' fail 1 sleep 31 ')'"
sum 67 .count
json 1 '.count == 1'
[ "$(jq -s 'length' "$tmp/out")" -le 5 ] || no "$(jq -s 'length' "$tmp/out") lines in 2 seconds"
[ "$(jq -s 'map(select(.count_ns > 900000000 and .count >= 20 and .count <= 34)) | length' "$tmp/out")" -ge 1 ] || no "not one a second"

it "… by process, call stack and error: each has its own"
replayed cudatrace -xkjc "$bin/mem fail 3 loop 2 '(' fail 5 ')' fork '(' fail 7 ')'"
sum 20 .count
for n in 2 9 6; do json 1 ".count == $n"; done
json 3 '.count == 1'

it "-x --tree shows the failed calls at their depth"
replayed cudatrace -x --tree -jc "$bin/mem malloc 3 64 fail 2"
json 2 '.func == "cudaMalloc" and .depth == 0' \
	2 '.func == "cuMemAlloc_v2" and .depth == 1 and .error == "CUDA_ERROR_OUT_OF_MEMORY"' \
	4 true

it "what is not ready yet has not failed"
replayed SIM_FAIL='cuMemFree_v2:*=600' cudatrace -x -jc "$bin/mem malloc 2 64 free 2"
json 0 true
replayed SIM_FAIL='cuMemFree_v2:*=600' cudatrace -e cudaFree -c "$bin/mem malloc 2 64 free 2"
lines 2 '= cudaErrorNotReady \(600\)$'

it "-r says how long after the call of the previous line each returned"
replayed SIM_LATENCY_US=cuCtxSynchronize=30000 cudatrace -r -e sync -c "$ahead $bin/mem sync 3"
lines 1 '^ *SINCE\(us\) CALL$'
lines 1 '^ +0\.0 cudaDeviceSynchronize\(\) = 0$'
lines 2 '^ +[3-9][0-9]{4}\.[0-9] cudaDeviceSynchronize\(\) = 0$'
replayed SIM_LATENCY_US=cuCtxSynchronize=30000 cudatrace -r -e sync -jc "$ahead $bin/mem sync 3"
json 2 '.since_ns > 30000000 and .since_ns < 300000000' 1 '.since_ns == 0' \
	3 '.latency_ns > 30000000 and .latency_ns < 300000000'

it "-T says how long each call took, -t when it returned"
replayed SIM_LATENCY_US=cuCtxSynchronize=30000 cudatrace -Tt -e sync -c "$ahead $bin/mem sync 3"
lines 3 '^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]{3} cudaDeviceSynchronize\(\) = 0 <0\.(0[3-9]|[1-9][0-9])[0-9]{4}>$'
replayed SIM_LATENCY_US=cuCtxSynchronize=30000 cudatrace -e sync -jc "$ahead $bin/mem sync 3"
json 3 '.latency_ns > 30000000 and .latency_ns < 300000000'

it "-k has the call stack, from the caller on"
replayed cudatrace -k -e cudaMalloc -c "$bin/deep 3 4096"
lines 3 'cudaMalloc\('
equal "$(grep -A1 'cudaMalloc(' "$tmp/out" | grep -c '^        int app::grow<int>(unsigned long)+0x')" 3
silent

it "-o writes to a file, and the command's output stays where it was"
run cudatrace -o "$tmp/file" -e memory -c "$bin/mem malloc 3 64; echo said"
equal "$(cat "$tmp/out")" said
equal "$(grep -c cudaMalloc "$tmp/file")" 3
fails 1 "cannot open $tmp/no/file: No such file" cudatrace -o "$tmp/no/file" -c true
fails 1 "cannot write to /dev/full" cudatrace -o /dev/full -e memory -c "$bin/mem malloc 3 64"

it "--enter: the entry and the return, a line each"
replayed cudatrace --enter -t -e cudaMalloc -c "$bin/mem malloc 23 4096"
lines 23 '> cudaMalloc\(devPtr=0x[0-9a-f]+, size=4096\)$'
lines 23 '< cudaMalloc\(\*devPtr=0x[0-9a-f]+, size=4096\) = 0$'
grep -v CALL "$tmp/out" | awk '{ if ((NR % 2 ? ">" : "<") != $2) bad = 1 } END { exit bad }' || no "not in turn"
silent

it "-o and --chrome make a file for the caller alone, and write to a FIFO, a link and a device of its own"
ln -s "$tmp/file" "$tmp/link"
mkfifo "$tmp/fifo"
# written OPTION FILE...: each of them is
written() {
	option=$1
	shift
	rm -f "$tmp/file"
	cat "$tmp/fifo" >"$tmp/read" & reader=$!
	for f; do
		# shellcheck disable=SC2086 # words
		run cudatrace $option "$f" -e memory -c "$bin/mem malloc 3 64"
		status 0
		silent
	done
	wait $reader
	equal "$(stat -c %a "$tmp/file") $(grep -c cudaMalloc "$tmp/file") $(grep -c cudaMalloc "$tmp/read")" '600 3 3'
}
written --chrome "$tmp/file" "$tmp/fifo"
written -o "$tmp/link" "$tmp/link" "$tmp/fifo" /dev/null /dev/stdout
[ "$(grep -c cudaMalloc "$tmp/out")" -eq 3 ] || no "/dev/stdout: no calls"

it "-o and --chrome do not follow another user's link, and leave alone what others may have put there"
theirs=$tmp/theirs
mkdir -p "$theirs" "$tmp/roots"
chmod 711 "$tmp"
echo precious >"$tmp/roots/file"
theirs() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
chown 65534 "$theirs"
theirs ln -s "$tmp/roots/file" "$theirs/link"
theirs ln -s "$tmp/roots/new" "$theirs/dangling"
theirs ln -s "$tmp/roots" "$theirs/way"
theirs mkfifo -m 666 "$theirs/fifo"
theirs touch "$theirs/own"
ln "$tmp/roots/file" "$theirs/name"	# as where fs.protected_hardlinks is 0
ln -s "$theirs/link" "$tmp/through"
for option in -o --chrome; do
	links='theirs/link'
	[ $option = --chrome ] || links='theirs/link theirs/dangling theirs/way/new through'
	for f in $links; do
		fails 1 ' is a symbolic link of user 65534' timeout 10 cudatrace $option "$tmp/$f" -c true
	done
	for f in fifo own; do
		fails 1 "refusing to write to $theirs/$f: user 65534 owns the file" \
			timeout 10 cudatrace $option "$theirs/$f" -c true
	done
	fails 1 "refusing to write to $theirs/name: the file has other hard links" \
		cudatrace $option "$theirs/name" -c true
	for round in first second; do
		replayed cudatrace $option "$theirs/new" -c true
		status 0
	done
	equal "$(stat -c '%u %a' "$theirs/new")" '0 600'
	rm "$theirs/new"
	run env SUDO_UID=65534 SUDO_GID=65534 "$O/cudatrace" $option "$theirs/own" -c true
	status 0
done
equal "$(cat "$tmp/roots/file") $(ls "$tmp/roots")" 'precious file'

it "--enter: a call that does not return is seen"
program env SIM_LATENCY_US=cuCtxSynchronize=100000000 "$bin/mem" wait sync 1
tool cudatrace --enter -e sync -jp "$pid"
echo >&3
until_true grep -q '"at":"enter"' "$tmp/out"
stop
json 1 '.func == "cudaDeviceSynchronize" and .at == "enter"' 0 '.at == "return"'
kill -9 "$pid"

it "--enter --tree shows what is inside as it comes"
replayed cudatrace --enter --tree -jc "$bin/mem malloc 1 64 malloc 1 64"
equal "$(jq -r 'select(.func | test("Alloc|alloc")) | "\(.depth)\(.at)"' "$tmp/out" | tr '\n' ' ')" \
	"0enter 1enter 1return 0return 0enter 1enter 1return 0return "

it "a call in which its thread ended is shown without a result"
# killed when it has been in the call for a while, which is where it sleeps
killed_in="$bin/mem sync 1 & until grep -q nanosleep /proc/\$!/wchan; do sleep .02; done; sleep .2; kill -9 \$!; wait"
replayed SIM_LATENCY_US=cuCtxSynchronize=100000000 cudatrace --tree -e sync -c "$killed_in"
lines 1 'runtime cudaDeviceSynchronize\(\) = \? \(thread exited during the call\)$'
lines 1 'driver    cuCtxSynchronize\(\) = \? \(thread exited during the call\)$'
replayed SIM_LATENCY_US=cuCtxSynchronize=100000000 cudatrace -e sync -jc "$killed_in"
json 1 '.func == "cudaDeviceSynchronize" and .ret == null and .error == null and .latency_ns > 100000000'

it "a call that was left by longjmp is counted, and hides no later one"
replayed SIM_LATENCY_US=cudaMalloc=200000 cudatrace -e cudaMalloc -jc "$bin/jump 3 5"
json 5 '.func == "cudaMalloc" and .ret == 0'
says '3 calls never returned'
json 1 '.lost == 3'

it "--tree: a call left by longjmp inside another one does not hide that one's return"
cat >"$tmp/nested.c" <<'END'
#include <setjmp.h>
static jmp_buf back;
int cudaFree(void *p)
{
	longjmp(back, 1);
}
int cudaMalloc(void **p, unsigned long size)
{
	return setjmp(back) ? 0 : cudaFree(*p);
}
END
echo 'int cudaMalloc(void **, long); int main() { void *p; for (int i = 0; i < 5; i++) cudaMalloc(&p, 64); }' >"$tmp/main.c"
${CC:-cc} -w -O0 -shared -fPIC -o "$tmp/libcudart.so.13" "$tmp/nested.c"
${CC:-cc} -w -o "$tmp/main" "$tmp/main.c" "$tmp/libcudart.so.13" -Wl,-rpath,"$tmp"
replayed cudatrace --tree -e memory -jc "$tmp/main"
status 0
json 5 '.func == "cudaMalloc" and .depth == 0 and .ret == 0 and .latency_ns > 0' \
	0 '.func == "cudaFree" and .ret != null'
says '5 calls never returned'

it "threads and children, each with its own number"
replayed cudatrace -e memory -jc "$bin/mem thread '(' malloc 23 64 ')' thread '(' malloc 13 64 ')' join fork '(' malloc 7 64 ')' forkexec '(' malloc 5 64 ')' malloc 3 64"
json 51 '.func == "cudaMalloc"'
equal "$(jq -r '"\(.pid) \(.tid)"' "$tmp/out" | sort -u | wc -l)" 5
equal "$(jq -r .pid "$tmp/out" | sort -u | wc -l)" 3
silent

it "-p: a process that runs, and no other"
program "$bin/mem" malloc 1 64 wait malloc 23 64 free 7
tool cudatrace -e memory -jp "$pid"
"$bin/mem" malloc 5 64
go
wait "$tracer"
json 23 ".func == \"cudaMalloc\" and .pid == $pid" 30 true
silent

it "-l: one library by its path, wherever it is loaded"
tool cudatrace -e cudaMalloc -l "$bin/mem-static" -j
"$bin/mem-static" malloc 23 64 & one=$!
"$bin/mem-static" malloc 7 64 & two=$!
wait $one $two
stop
json 23 ".func == \"cudaMalloc\" and .pid == $one" 7 ".func == \"cudaMalloc\" and .pid == $two"

# ---- What takes seconds

it "at an entry the stack is null: it is taken at the return"
replayed cudatrace -jk --enter -e cudaMalloc -c "$bin/mem malloc 23 64"
json 23 '.at == "enter" and has("stack") and .stack == null' \
	23 '.at == "return" and .stack[0].sym == "do_malloc"'
replayed cudatrace -jk --enter-only -e cudaMalloc -c "$bin/mem malloc 23 64"
json 23 '.at == "enter" and .stack[0].sym == "do_malloc"'

it "--chrome and -o do not write to the same file"
fails 2 "cudatrace: --chrome ./f: the output goes to the same file" sh -c "cd $tmp && cudatrace -S --chrome ./f -o f -c true"
replayed cudatrace -S --chrome /dev/null -o /dev/null -c true
status 0

long || leave

it "what the tool has no room for is counted as lost"
program "$bin/mem" wait loop 3000 '(' malloc 100 64 free 100 ')'
tool cudatrace -e memory -jkp "$pid"
kill -s STOP "$tracer"
go
kill -s CONT "$tracer"
wait "$tracer"
n=$(jq -s 'map(select(.func)) | length' "$tmp/out")
lost=$(jq -s 'map(.lost // 0) | add' "$tmp/out")
# the end of the process is a record too
[ $((n + lost)) -eq 600000 ] || equal $((n + lost)) 600001
[ "$lost" -gt 0 ] || no "nothing was lost"
says 'records lost: the ring buffer was full'

it "-p of a busy program: while probes are placed no driver's call inside a runtime's call counts as one of its own"
"$bin/churn" 1 1000000000 >/dev/null 2>&1 & busy=$!
pids="$pids $busy"
sleep .5
run cudatrace -jS -p "$busy" -d 300ms
kill "$busy"
# one call may have begun before
calls=$(jq -s 'map(select(.type == "function" and .layer == "driver").calls) | add // 0' "$tmp/out")
[ "$calls" -le 1 ] || no "$calls calls of the driver"
[ "$(jq -s 'map(select(.layer == "runtime").calls) | add // 0' "$tmp/out")" -gt 100 ] || no 'there are few calls'
