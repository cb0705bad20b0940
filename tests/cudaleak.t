# shellcheck shell=sh

for kind in $kinds; do
	it "--attach $kind finds what a command never freed, with its stack"
	run cudaleak --attach "$kind" --layer runtime -c "$bin/deep 23 4096"
	status 0
	lines 1 '\(deep\) at exit: 23 allocations not freed, 92\.0 KiB$'
	lines 1 '^    94208 bytes in 23 allocations of device memory, oldest [0-9.]+ .?s$'
	lines 1 '^        int app::grow<int>\(unsigned long\)\+0x[0-9a-f]+ \(.*/deep\)$'
	lines 10 '^        leak_[0-9]+\+0x[0-9a-f]+ \(.*/deep\)$'
	silent
done

it "stacks of a process that is gone have names, in JSON too"
run cudaleak -jc "$bin/deep 23 4096"
json 1 '.at == "exit" and .memory == "device" and .bytes == 94208 and .count == 23'
json 1 '[.stack[].sym][1:11] == ["leak_10","leak_9","leak_8","leak_7","leak_6","leak_5","leak_4","leak_3","leak_2","leak_1"]'
json 1 '.comm == "deep" and .pid > 0 and .oldest_ns > 0 and (.time | floor) > 1700000000'
json 1 true

for program in mem-12 mem-static mem-stripped mem-dlopen; do
	it "counts $program exactly, system calls and all"
	load=
	[ $program = mem-dlopen ] && load=load
	run cudaleak -jc "$bin/$program $load malloc 23 4096 free 7 host 5 100 hostfree 2"
	sum $((16 * 4096)) 'select(.memory == "device").bytes'
	sum 16 'select(.memory == "device").count'
	sum 3 'select(.memory == "host").count'
	sum 300 'select(.memory == "host").bytes'
	silent
done

it "every kind of memory is held until it is freed"
all='malloc 1 4096 managed 2 8192 pitch 3 100 10 malloc3d 1 100 10 10 array 2 64 64 array3d 3 8 8 8
mip 1 64 64 1 3 host 5 100 hostalloc 1 70 register 2 4096 async 11 1m pool 3 4096 vmm 2 ipc 1 64'
all=$(echo "$all" | tr '\n' ' ')
run cudaleak -Cjc "$bin/mem $all"
sum 39 .count
sum 6 'select(.memory == "device").count'
sum 6 'select(.memory == "array").count'
sum 8 'select(.memory == "host").count'
sum 14 'select(.memory == "pool").count'
sum 1 'select(.memory == "ipc").count'
sum 2 'select(.memory == "managed").count'
sum 4194304 'select(.memory == "vmm").bytes'
run cudaleak -Cc "$bin/mem $all ipcclose 1 freeall arrayfree 5 mipfree 1 hostfree 6 unregister 2 asyncfree 11 poolfree 3 vmmfree 2"
lines 1 'at exit: 0 allocations not freed, 0 bytes$'

it "a free by another thread is a free"
run cudaleak -Cjc "$bin/mem malloc 23 4096 otherfree 7"
sum 16 .count
json 0 .unknown_frees

it "addresses that come again are right: two threads, 1009 pairs each, none left"
run cudaleak -Cc "$bin/churn 2 1009 >$tmp/churn"
lines 1 'at exit: 0 allocations not freed'
lines 1 ''

it "VMM memory is held until each handle is released, whatever -z, -Z and -s leave out"
for filter in -z0 -z1m -Z1g -z3m; do
	held=7
	[ $filter != -z3m ] || held=0
	run cudaleak "$filter" -Cjc "$bin/mem vmm 7 retain 5 vmmfree 7 release 3"
	sum $((held > 0)) .count
	json 0 .unknown_frees
	run cudaleak "$filter" -Cjc "$bin/mem vmm 7 retain 5 vmmfree 7 release 5"
	sum 0 .count
	json 0 .unknown_frees
	run cudaleak "$filter" -Cjc "$bin/mem vmm 7 retain 5"
	sum $held .count
	sum $((held * 2097152)) .bytes
done
run cudaleak -s 2 -Cjc "$bin/mem loop 1009 '(' vmm 1 retain 5 vmmfree 1 release 4 ')'"
json 1 '.sample == 2 and .count > 800 and .count < 1218 and .bytes == 2097152 * .count'

it "an IPC handle opened again is held until it is closed as often"
for layer in runtime driver; do
	run cudaleak --layer $layer -Cjc "$bin/mem ipc 7 64 ipcclose 5"
	json 1 '.memory == "ipc" and .count == 1'
	json 0 .unknown_frees
	run cudaleak --layer $layer -Cjc "$bin/mem ipc 7 64 ipcclose 7"
	json 0 '.memory == "ipc"'
	json 0 .unknown_frees
	run cudaleak --layer $layer -Z 1g -Cjc "$bin/mem ipc 7 64 ipcclose 5"
	json 1 '.memory == "ipc" and .count == 1'
	run cudaleak --layer $layer -z 1 -Cjc "$bin/mem ipc 7 64 ipcclose 5"
	json 0 '.memory == "ipc"'
done

it "a mipmapped array in external memory is freed as an array, and its bytes are the import's"
for layer in runtime driver; do
	run cudaleak --layer $layer -Cjc "$bin/mem extmip 7 64k mipfree 5"
	json 1 '.memory == "array" and .count == 2 and .bytes == 0'
	json 1 '.memory == "ipc" and .count == 1 and .bytes == 65536'
	json 0 .unknown_frees
	run cudaleak --layer $layer -Cjc "$bin/mem extmip 7 64k mipfree 7 extfree 1"
	sum 0 .count
	json 0 .unknown_frees
done
run cudamallocsnoop -jc "$bin/mem extmip 7 64k mipfree 5 extfree 1"
json 7 '.func == "cudaExternalMemoryGetMappedMipmappedArray" and .memory == "array" and .size == null'
json 5 '.func == "cudaFreeMipmappedArray" and .memory == "array" and .size == null'

it "a multicast object is held until its handle is released"
run cudaleak -Cjc "$bin/mem multicast 7 release 5"
json 1 '.memory == "vmm" and .count == 2 and .bytes == 0'
json 1 true
run cudaleak -Cjc "$bin/mem vmm 3 multicast 7 release 7 vmmfree 3"
json 0 true

it "failed calls change nothing"
run cudaleak -Cjc "$bin/mem malloc 23 4096 fail 5 badfree 3 freenull 2 free 7"
sum 16 .count
json 1 true

it "a failed free leaves the memory held"
run cudaleak -Cjc "env SIM_FAIL=cuMemFree_v2:2=999 $bin/mem malloc 23 4096 free 7"
sum 17 .count

it "frees of what was allocated before tracing began are counted apart"
program "$bin/mem" malloc 7 100 wait malloc 5 100 free 9 wait
tool cudaleak -jp "$pid" 60
echo >&3
sleep .5
stop
exec 3>&-
json 1 '.unknown_frees == 4'
sum 0 '.count'
kill "$pid" 2>/dev/null

it "the end of the process ends -p, and reports it"
program "$bin/mem" wait malloc 23 4096 free 7
tool cudaleak -p "$pid" 60
go
wait "$tracer"
rc=$?
status 0
lines 1 'at exit: 16 allocations not freed, 64\.0 KiB; allocations before [0-9:]{8} are unknown$'

it "a device reset frees the device's memory, not pool and VMM memory"
run cudaleak -Cjc "$bin/mem malloc 23 4096 host 5 64 managed 2 64 array 1 8 8 async 3 64 vmm 2 reset malloc 1 100"
sum 1 'select(.memory == "device").count'
sum 3 'select(.memory == "pool").count'
sum 2 'select(.memory == "vmm").count'
sum 6 .count

it "a reset of one device leaves another's memory"
run cudaleak -Cjc "$bin/mem malloc 23 4096 setdevice 1 malloc 7 64 reset"
sum 23 .count
sum 94208 .bytes

it "destroying a context frees its memory"
run cudaleak -Cjc "$bin/mem ctxcreate drvmalloc 23 100 ctxdestroy ctxcreate drvmalloc 7 64"
sum 7 .count
sum 448 .bytes

it "so it does where only the driver's calls are seen"
run cudaleak -Cjc "$bin/mem-stripped malloc 23 4096 setdevice 1 malloc 7 64 reset"
sum 23 .count
sum 94208 .bytes

it "says how much it cannot tell when contexts were not seen"
program "$bin/mem-drv" ctxcreate wait drvmalloc 23 4096 ctxcreate drvmalloc 7 64 drvreset 0
tool cudaleak -Cj -p "$pid"
go
stop
sum 30 .count
json 1 '.unsure == 30'

it "exec ends one program's account and begins the next's"
run cudaleak -Cjc "$bin/mem malloc 23 4096 exec '(' malloc 7 64 ')'"
json 1 '.count == 23 and .at == "exit"'
json 1 '.count == 7 and .at == "exit"'
json 2 true

it "a process has the name of its last call, not of its last thread or of what it becomes"
run cudaleak -Cjc "$bin/mem thread '(' rename other sleep 5000 ')' rename first malloc 23 4096 sleep 50 exit 0"
json 1 '.comm == "first" and .count == 23'
json 1 true
run cudaleak -Cjc "$bin/mem rename first malloc 23 4096 exec '(' rename second malloc 7 64 ')'"
json 1 '.comm == "first" and .count == 23'
json 1 '.comm == "second" and .count == 7'
json 2 true

it "a program without CUDA calls that a CUDA program becomes has no line"
run cudaleak -Cc "$bin/mem rename first malloc 23 4096 exec '(' sleep 10 ')'"
lines 1 '\(first\) at exit: 23 allocations not freed, 92\.0 KiB$'
lines 1 ' at exit: '
lines 0 'nothing held'

it "follows the children of a command"
run cudaleak -Cjc "$bin/mem malloc 23 4096 forkexec '(' malloc 7 64 ')' join free 3"
json 1 '.count == 20 and .at == "exit"'
json 1 '.count == 7 and .at == "exit"'
json 2 true
run cudaleak -Cjc "sh -c '$bin/mem malloc 5 64; $bin/mem-static malloc 3 64'; $bin/mem malloc 2 64"
sum 10 .count
json 3 true

it "follows children that fork without exec, from their first call"
for i in 1 2 3 4 5; do
	run cudaleak -Cjc "$bin/mem malloc 23 4096 fork '(' malloc 7 64 ')' fork '(' malloc 5 64 fork '(' malloc 3 64 ')' join ')' join"
	json 1 '.count == 23'
	json 1 '.count == 7'
	json 1 '.count == 5'
	json 1 '.count == 3'
	json 4 true
done

it "counts a hundred short-lived programs exactly"
run cudaleak -Cjc "i=0; while [ \$i -lt 101 ]; do $bin/mem malloc 3 64 & i=\$((i + 1)); done; wait"
json 101 '.count == 3 and .at == "exit"'
json 101 true

it "a process that is killed is reported"
run cudaleak -Cjc "$bin/mem malloc 23 4096 segv"
status 139
json 1 '.count == 23 and .at == "exit"'

it "a thread that ends with memory held is no process that ends"
run cudaleak -Cjc "$bin/mem thread '(' malloc 23 4096 ')' join malloc 7 64 free 29"
sum 1 .count
json 1 true

it "-a shows each allocation"
run cudaleak -aCjc "$bin/mem malloc 23 4096 host 5 100"
json 23 '.memory == "device" and .bytes == 4096 and .count == 1 and .func == "cudaMalloc" and (.ptr | startswith("0x"))'
json 28 true

it "what is one of its kind is in the singular"
run cudaleak -Cc "$bin/mem malloc 1 1"
lines 1 'at exit: 1 allocation not freed, 1 byte$'
lines 1 '^    1 byte in 1 allocation of device memory, oldest '
run cudaleak -aCT 1 -c "$bin/mem malloc 1 1 host 1 1"
lines 1 'at exit: 2 allocations not freed, 2 bytes$'
lines 1 '^    1 byte of [a-z]* memory at 0x'
run cudaleak -CT 1 -c "$bin/mem malloc 1 1 host 1 1"
lines 1 '^    \.\.\. and 1 more group$'
run cudaleak -CT 1 -c "$bin/mem malloc 1 1 host 1 1 managed 1 1"
lines 1 '^    \.\.\. and 2 more groups$'
program "$bin/mem" wait malloc 1 1 free 1 wait
tool cudaleak -Cp "$pid" 60
echo >&3
sleep .3
stop
exec 3>&-
lines 1 'nothing held: 1 allocation and 1 free seen'
kill "$pid" 2>/dev/null

it "-T shows the largest"
run cudaleak -T 3 -aC -c "$bin/mem malloc 23 4096 host 5 100"
lines 3 '^    4096 bytes of device memory at 0x[0-9a-f]+, [0-9.]+ .?s old, by cudaMalloc in thread [0-9]+$'
lines 1 '^    \.\.\. and 25 more$'

it "-z and -Z bound the sizes, both included"
run cudaleak -z 100 -Z 4096 -Cjc "$bin/mem malloc 23 4096 malloc 5 99 malloc 7 100 malloc 3 4097"
sum 30 .count

it "-o leaves out what is younger"
program "$bin/mem" wait malloc 23 4096 sleep 700 malloc 7 64 wait
tool cudaleak -Cj -o 500 -p "$pid" 60
echo >&3
sleep 1
stop
exec 3>&-
sum 23 .count
kill "$pid" 2>/dev/null

it "-o longer than the machine has been up leaves out everything"
for ms in 1000000000007 9223372036854775807; do
	run cudaleak -Cc "$bin/mem malloc 23 4096" -o $ms
	lines 1 'at exit: 0 allocations not freed, 0 bytes$'
done

it "-s records one in N and gives the estimate"
run cudaleak -s 10 -Cc "$bin/mem malloc 10007 64"
lines 1 '\(estimated from a sample of 1 in 10\)$'
run cudaleak -s 10 -Cjc "$bin/mem malloc 10007 64"
json 1 '.sample == 10 and .count > 8500 and .count < 11500 and .bytes == .count * 64'

it "-s takes no factor that estimates have no room for"
run cudaleak -s 1000000 -Cjc "$bin/mem malloc 23 4096"
status 0
for n in 1000001 4294967296 9223372036854775807; do
	fails 2 "--sample: '$n' is not an integer <= 1000000" cudaleak -s $n -Cjc "$bin/mem malloc 23 4096"
done

it "reports every interval, count times"
program "$bin/mem" malloc 3 100 wait malloc 23 4096 wait
tool cudaleak -Cj -p "$pid" 1 2
echo >&3
wait "$tracer"
rc=$?
exec 3>&-
status 0
json 2 '.at == "interval" and .count == 23'
json 2 true
kill "$pid" 2>/dev/null

it "--folded gives a line a stack, for flame graphs"
run cudaleak --folded -c "$bin/deep 23 4096"
lines 1 '^deep;.*;main;leak_1;leak_2;leak_3;leak_4;leak_5;leak_6;leak_7;leak_8;leak_9;leak_10;int app::grow<int>\(unsigned long\);\[device\] 94208$'
lines 1 ''

it "--folded says which allocations have no call stack"
cat >"$tmp/none.c" <<'END'
#include <stddef.h>
#include "sym/stack.h"
int main(void)
{
	stack_folded(NULL);
	return 0;
}
END
${CC:-cc} -iquote common "$tmp/none.c" "$O/libcommon.a" -lbpf -l:libbcc_bpf.a -ldw -lelf -lz -liberty -o "$tmp/none"
equal "$("$tmp/none")" '[no stack]'

it "--folded has every stack, whatever -T says, and no name breaks its lines"
run cudaleak --folded -T 1 -c "$bin/mem rename 'a;b' malloc 3 100 host 23 4096 managed 5 64"
lines 3 '^a:b;.*;main;run;do_[a-z]+;\[[a-z]+\] [0-9]+$'
lines 3 ''

it "groups by stack, the largest first"
run cudaleak -c "$bin/mem malloc 3 100 host 23 4096 managed 5 64"
equal "$(grep -o ' of [a-z]* memory' "$tmp/out" | tr -d '\n')" ' of host memory of managed memory of device memory'

it "says that nothing is held when nothing is, but what was before is unknown"
program "$bin/mem" malloc 3 100 wait
tool cudaleak -p "$pid" 60
stop
lines 1 '^.{10} nothing held: 0 allocations and 0 frees seen; allocations before [0-9:]{8} are unknown$'
tool cudaleak -jp "$pid" 60
stop
json 1 ".pid == $pid and .comm == \"mem\" and .at == \"interval\" and .count == 0 and .bytes == 0 and .complete == false"
json 1 true
exec 3>&-
kill "$pid" 2>/dev/null

it "explains frees of what was allocated before, and says that the account is incomplete"
for json in '' j; do
	program "$bin/mem" malloc 7 100 wait malloc 5 100 free 9 malloc 3 64
	tool cudaleak -C$json -p "$pid" 60
	go
	wait "$tracer"
	if [ "$json" ]; then
		json 1 '.at == "exit" and .complete == false and .count == 3 and .bytes == 192'
		json 1 '.at == "exit" and .complete == false and .unknown_frees == 4'
		json 2 true
	else
		lines 1 'at exit: 3 allocations not freed, 192 bytes; allocations before [0-9:]{8} are unknown$'
		lines 1 '^    4 frees of memory allocated before [0-9:]{8}$'
	fi
done
run cudaleak -Cc "$bin/mem malloc 7 64 fork '(' free 3 ')' fork '(' free 1 ')' join"
lines 1 '^    3 frees of memory whose allocation was not seen$'
lines 1 '^    1 free of memory whose allocation was not seen$'
lines 0 unknown
run cudaleak -Cjc "$bin/mem malloc 7 64 fork '(' free 3 ')' join"
json 1 '.complete and .unknown_frees == 3'

it "an account from the first call on is complete: with -c, of later processes, and of later libraries"
run cudaleak -Cjc "$bin/mem malloc 23 4096 exec '(' malloc 7 64 fork '(' malloc 5 64 ')' join ')'"
json 3 '.complete and .count > 4'
json 3 true
program "$bin/mem-dlopen" wait load sleep 500 malloc 7 64 wait
tool cudaleak -Cj 60
echo >&3
"$bin/mem" sleep 500 malloc 5 64 sleep 500
stop
json 1 ".pid == $pid and .complete and .count == 7"
json 1 '.at == "exit" and .complete and .count == 5'
json 0 ".pid == $pid and (.complete | not)"
exec 3>&-
kill "$pid" 2>/dev/null

# ---- What takes seconds

long || exit

it "holds a million allocations, and reports them at once, in less than 300 MiB"
mkfifo "$tmp/in"
exec 3<>"$tmp/in"
tool cudaleak -Cjc "$bin/churn million 1000003 wait >$tmp/churn" <"$tmp/in"
i=0
until grep -q ready "$tmp/churn" || [ $i -ge 300 ]; do i=$((i + 1)); sleep .1; done
sleep .2
rss=$(awk '/VmRSS/ { print $2 }' "/proc/$tracer/status")
echo >&3
wait "$tracer"
exec 3>&-
sum 1000003 .count
says_not lost
[ "$rss" -lt 300000 ] || no "$rss KiB resident"
