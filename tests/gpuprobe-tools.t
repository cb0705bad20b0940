# shellcheck shell=sh
# What a tool that measures inside kernels makes of what programs send it, and of what none should: gpuprobe-send
# plays libcudagpuprobe.so.  What libcudagpuprobe.so sends is in tests/gpuprobe.t and tests/cudamemtime.t.

# sends NAME: the script of the input becomes the command $tmp/NAME
sends() { cat >"$tmp/$1.in"; echo "exec $bin/gpuprobe-send <$tmp/$1.in" >"$tmp/$1"; }

# vadd NUMBER: a module with two loads and the kernel's own time
vadd() {
	cat <<-END
		module $1 7 3 16 8192 0 1 1500000
		S 0 1:4 _Z4vaddPKfS0_Pfi load global ld.global.f32 4
		S 1 2:90,1:5 _Z4vaddPKfS0_Pfi load generic ld.f64 8
		S 2 0:0 _Z4vaddPKfS0_Pfi kernel - .entry 0
		F 1 "/home/me/kernels.cu"
		F 2 "/home/me/half~way.h"
		.
	END
}

{
	echo config
	echo hello 1 train
	echo image 0 90 1 3 0
	vadd 1
	echo slot 0 0 452 157
	echo slot 0 3 230 31
	echo slot 1 15 33 17
	echo slots 1 3 16
	echo bye
} | sends one

it "sites have counts, cycles and ns, their places and the kernel's name as in the source"
run cudamemtime -jc "sh $tmp/one"
status 0
silent
grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
json 1 '.type == "site" and .count == 188 and .cycles == 78094 and .min == 230 and .max == 452 and .line == 4'
json 1 '.kernel == "vadd" and .symbol == "_Z4vaddPKfS0_Pfi" and .op == "ld.f64" and .count == 17 and .bytes == 8
	and .file == "/home/me/half way.h" and .line == 90 and .total_ns == 374 and .hist == [[32,63,17]]'
json 2 '.type == "site"' \
	1 '.type == "images" and .status == "measured" and .images == 1 and .kernels == 1 and .sites == 3'

it "text has a table and a histogram each, the most cycles first"
run cudamemtime -c "sh $tmp/one"
lines 1 '^vadd$'
lines 1 '^  global load, ld.global.f32, kernels.cu:4: 415.4 cycles \(277 ns\) on average$'
lines 1 '^ +188 +78094 +230 +~3[0-9]+ +~4[0-9]+ +~4[0-9]+ +452$'
lines 1 '^ +256 -> 512 +: 157 +\|\*{40}\|$'
lines 1 '^  generic load, ld.f64, half way.h:90: 33.0 cycles \(22 ns\) on average$'
[ "$(grep -n 'ld.global' "$tmp/out" | cut -d: -f1)" -lt "$(grep -n 'ld.f64' "$tmp/out" | cut -d: -f1)" ] ||
	no "the order is another one"

it "modules with the same code count together, in several processes"
run cudamemtime -jc "sh $tmp/one & sh $tmp/one & sh $tmp/one; wait"
grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
json 1 '.op == "ld.f64" and .count == 51' 2 '.type == "site"' 1 '.type == "images" and .images == 3'

it "the options reach the library"
run cudamemtime --blocks 1/8 --warps 1/2 --scheme fence -S shared,wait --op store,load --max-sites 100000 \
	--period 50ms --keep-registers -K 'v*,fill<int, 4>,a[xy]' -c "sh $tmp/one"
lines 1 '^config kind=1 version=1 flags=1 scheme=1 spaces=130 ops=5 blocks=7,0 warps=1,0 groups=2 limit=0 sites=100000 period=50 probe=PTX kernels=\[v\*\]\[fill<int, 4>\]\[a\[xy\]\]$'
run cudamemtime --csv "$tmp/csv" --records 1024 -c "sh $tmp/one"
lines 1 '^config .* groups=16 limit=1024 sites=10000 period=1000 probe=PTX kernels=$'

{
	echo hello 1 train
	vadd 1
	# two lines: 2 cycles a ns, then 1
	echo pair 0 1000000000 3
	echo pair 4000000 1002000000 3
	echo pair 6000000 1004000000 3
	echo pair 500 7000000000 4
	echo record 1000000 452 0 3 65538 9 77
	echo record 5000000 100 1 3 2 5 79
	echo record 1500500 150 1 4 2 5 78
	echo record 1000 30 1 5 2 5 78
	echo records 1 13
	echo record 1000000 7 9 3 1 1 1
	echo records 1 17
	echo bye
} | sends records

it "records have the time of their SM's pairs of clocks, one line after the other, and launches are counted"
run cudamemtime --csv "$tmp/csv" --chrome "$tmp/json" -c "sh $tmp/records"
status 0
cp "$tmp/out" "$tmp/text"
cp "$tmp/csv" "$tmp/out"
lines 1 '^launch,kernel,block,warp,sm,slot,site,file,line,kind,space,op,start_ns,end_ns,start_clock,cycles$'
lines 1 '^1,vadd,9,2,3,1,0,/home/me/kernels.cu,4,load,global,ld.global.f32,1000500000,1000500226,1000000,452$'
lines 1 '^3,vadd,5,2,3,0,1,/home/me/half way.h,90,load,generic,ld.f64,1003000000,1003000100,5000000,100$'
# a single pair: by the clock that the driver tells
lines 1 '^2,vadd,5,2,4,0,1,.*,7001000000,7001000100,1500500,150$'
# none
lines 1 '^2,vadd,5,2,5,0,1,.*,,,1000,30$'
lines 5 ''

it "what was lost is counted"
says 'lost 17 records: overwritten before they were read'
says 'lost 1 record: '

it "histograms are made of the records, too"
cp "$tmp/text" "$tmp/out"
lines 1 '^ +3 +280 +30 .* 150$'
lines 1 '^ +1 +452 +452 .* 452$'

it "the timeline has an SM as a process and a warp slot as a thread, and begins at 0"
jq -c '.[]' "$tmp/json" >"$tmp/out"
json 1 '.ph == "M" and .name == "process_name" and .args.name == "SM 3"' \
	1 '.ph == "M" and .name == "thread_name" and .args.name == "warp slot 1"' \
	3 '.ph == "X"'
json 1 '.ph == "X" and .ts == 0 and .dur == 0.226 and .name == "global load" and .args.block == 9 and .args.warp == 2
	and .args.cycles == 452 and .args.line == 4 and .args.kernel == "vadd" and .args.launch == 1'
json 1 '.ph == "X" and .ts == 2500 and .dur == 0.1'

sends left <<'END'
hello 1 train
image 2 90 5 0 0 cublas
image 2 90 6 0 0 cublas
image 3 120 2 0 0 PTX for sm_120, device sm_90
image 4 90 3 20000 0
image 7 90 1 0 0 ptxas: line 9
image 0 90 3 3 2
lost 0 3 cuMemcpyDtoHAsync: illegal address
bye
END

it "images that were left alone are named with the reason"
run cudamemtime -c "sh $tmp/left"
says '2 images have machine code only: 11 kernels not measured'
says '1 image has only PTX for later devices: 2 kernels not measured'
says 'PTX for sm_120, device sm_90'
says '1 image has more places to measure than --max-sites: 3 kernels not measured'
says 'ptxas: line 9'
says '2 kernels have fewer resident warps than without the probes'
says '3 readings failed: cuMemcpyDtoHAsync: illegal address'
lines 1 'no accesses measured$'

# rows: of the output, the objects
rows() { grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"; }

it "a process that was killed leaves what it had sent"
{ sed '/^bye/d' "$tmp/one.in"; echo frame 5 5000000; echo bytes 1000; } | sends killed
run cudamemtime -jc "sh $tmp/killed"
rows
json 1 '.type == "site" and .count == 188'
says '1 process was killed'

# wrong TEXT: the frames of the input end the connection, with this message; the tool goes on
wrong() {
	sends wrong
	run cudamemtime -jc "sh $tmp/wrong; sh $tmp/one"
	status 0
	says "$1: it is not measured any longer"
	rows
	json 1 '.type == "site" and .count == 188'
}

it "what is no frame of the library ends the connection, and nothing else"
echo frame 3 4294967295 | wrong 'frame too large'
echo image 0 90 1 3 0 | wrong 'no greeting'
echo hello 2 train | wrong 'its libcudagpuprobe.so is of another version'
printf '%s\n' 'hello 1 a' 'hello 1 a' | wrong 'it greeted twice'
printf '%s\n' 'hello 1 a' 'bye' 'image 0 90 1 3 0' | wrong 'data after its end'
printf '%s\n' 'hello 1 a' 'frame 3 7' 'bytes 7' | wrong 'protocol error: image of a wrong size'
printf '%s\n' 'hello 1 a' 'image 99 90 1 3 0' | wrong 'protocol error: image with an unknown status'
printf '%s\n' 'hello 1 a' 'frame 4 40' 'bytes 40' | wrong 'its modules are not 1, 2 ...'
printf '%s\n' 'hello 1 a' 'module 1 7 2 16 8192 0 1 0' 'S 0 0:0 f load global ld 4' . |
	wrong "a module's table has another number of sites than the module"
printf '%s\n' 'hello 1 a' 'module 1 7 1 16 8192 0 1 0' 'S 5 0:0 f load global ld 4' . | wrong ''
printf '%s\n' 'hello 1 a' 'module 1 7 1 0 8192 0 1 0' 'S 0 0:0 f load global ld 4' . |
	wrong 'protocol error: impossible module'
printf '%s\n' 'hello 1 a' 'slots 1 1 1' | wrong 'it counted for no module'
printf '%s\n' 'hello 1 a' 'records 4294967295 1' | wrong 'it recorded for no module'
{ echo hello 1 a; vadd 1; echo slots 1 4096 16; } | wrong 'its counts have a wrong size'
{ echo hello 1 a; vadd 1; echo frame 6 17; echo bytes 17; } | wrong 'it recorded for no module'
{ echo hello 1 a; echo frame 7 16; echo bytes 16; echo frame 7 17; echo bytes 17; } |
	wrong 'protocol error: loss of a wrong size'

it "names and reasons from programs are escaped, as text, JSON, CSV and in the timeline"
{
	echo hello 1 evil
	printf 'image 7 90 1 0 0 why\033[31m\302\233\n'
	echo module 1 7 1 16 64 0 1 1500000
	printf 'S 0 1:4 k\033]0;x\007,"\302\2332\342\200\256 load global ld\033[2J 4\nF 1 "/d\033]0;y\007.cu"\n.\n'
	printf '%s\n' 'slot 0 0 452 157' 'slots 1 1 16' 'pair 1 1 1' 'record 1 452 0 1 1 1 1' 'records 1 0' bye
} | sends evil
for options in '' -j "--csv $tmp/csv" "--chrome $tmp/json"; do
	rm -f "$tmp/csv" "$tmp/json"
	# shellcheck disable=SC2086 # words
	run cudamemtime $options -c "sh $tmp/evil"
	status 0
	for f in out err csv json; do
		[ ! -e "$tmp/$f" ] || ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$tmp/$f" ||
			no "$options: control characters in $f"
	done
	[ "$options" != -j ] || jq -e . "$tmp/out" >/dev/null || no "no JSON"
	[ ! -e "$tmp/json" ] || jq -e . "$tmp/json" >/dev/null || no "no JSON in the timeline"
done
says 'why\x1b[31m\xc2\x9b'

it "frames of later versions are ignored"
printf '%s\n' 'hello 1 a' 'frame 77 5' 'bytes 5' 'image 2 90 3 0 0' 'bye' | sends later
run cudamemtime -c "sh $tmp/later"
says '1 image has machine code only: 3 kernels not measured'
says_not 'not measured any longer'

it "who sends without end does not keep the tool from ending, or from others"
printf '%s\n' 'hello 1 a' 'image 2 90 3 0 0' 'again 100000000' | sends flood
{ until_true grep -q 'still running' "$tmp/err"; : >"$tmp/ended"; } &
run timeout 60 cudamemtime -jd 0.5 -c "sh $tmp/flood & sh $tmp/one; until [ -e $tmp/ended ]; do sleep .1; done; kill \$! 2>/dev/null || :"
wait $!
status 0
rows
json 1 '.type == "site" and .count == 188'
says '1 process is still running'

it "another user's process cannot connect"
if [ "$(id -u)" -eq 0 ]; then
	chmod -R a+rX "$tmp"
	run cudamemtime -c "setpriv --reuid 65534 --clear-groups sh $tmp/one; setpriv --reuid 65534 --clear-groups id -u"
	lines 0 '^config'
	lines 1 '^65534$'
	says 'the command loaded no CUDA images'
	status 1
else
	skip 'only root can become another user'
fi

it "the library is loaded after those of LD_PRELOAD, in the command alone"
LD_PRELOAD=libc.so.6 run cudamemtime -qc "echo \$LD_PRELOAD; env | grep -c ^CUDA_BPF_TOOLS_GPUPROBE=cuda-bpf-tools-"
lines 1 '^libc\.so\.6:/.*/libcudagpuprobe\.so$'
lines 1 '^1$'

# gpuprobed COMMAND...: 997 elements are 32 warps, 3 times
gpuprobed() {
	run env SIM_KERNELS=1 ASAN_OPTIONS=detect_leaks=0 "$@"
	status 0
	rows
	json 1 '.op == ".entry" and .count == 96' 1 '.type == "images" and .images == 1'
}
for which in thread address; do
	it "a program with -fsanitize=$which"
	if $CC -D_GNU_SOURCE -O1 -w -iquote "arch/$machine" -fsanitize=$which \
		-isystem "${CUDA:-/usr/local/cuda}/include" -o "$tmp/sanitized" \
		tests/workloads/gpuprobed.c "$lib/libcuda.so.1" -Wl,-rpath,"$lib" -pthread -ldl \
		2>"$tmp/cc"; then
		gpuprobed cudamemtime -qjc "$tmp/sanitized end tests/ptx/nvcc-vadd.ptx return"
	else
		skip "no such sanitizer here"
	fi
done

it "a program with jemalloc or tcmalloc preloaded"
for allocator in jemalloc.so.2 tcmalloc_minimal.so.4; do
	file=/usr/lib/$(cc -dumpmachine)/lib$allocator
	[ -e "$file" ] || { skip "no $file: run scripts/setup test"; continue; }
	gpuprobed env LD_PRELOAD="$file" cudamemtime -qjc \
		"$bin/gpuprobed end tests/ptx/nvcc-vadd.ptx return"
done

it "a command that loads nothing is said to, with status 1; its own failure goes before that"
fails 1 'the command loaded no CUDA images' cudamemtime -c true
fails 7 'tracing' cudamemtime -c 'exit 7'
fails 127 'cannot run' cudamemtime -- /nowhere/train
run cudamemtime -c "sh $tmp/one; exit 3"
status 3

it "Ctrl-C ends the command, and what it had sent is shown"
{ sed '/^bye/d' "$tmp/one.in"; echo pause 60000; } | sends slow
tool cudamemtime -jc "sh $tmp/slow"
until_true grep -q config "$tmp/out"
stop TERM	# the shell has it ignore INT
status 143
rows
json 1 '.type == "site" and .count == 188'

it "an interval shows what was measured so far"
rm -f "$tmp/ended"
# shellcheck disable=SC2016 # eval's
{ until_true eval '[ "$(grep -c "\"count\":188" "$tmp/out")" = 2 ]'; : >"$tmp/ended"; } &
run cudamemtime -jc "sh $tmp/slow & until [ -e $tmp/ended ]; do sleep .1; done; kill \$!" 0.2 2
wait $!
rows
json 2 '.type == "site" and .count == 188'

it "there is no --pid, and the messages say why"
fails 2 'there is no --pid' cudamemtime
fails 2 '--user requires a command' cudamemtime -u nobody
fails 2 'requires --csv or --chrome' cudamemtime --stage -c true
fails 2 "--spaces: unknown word 'gloabl'" cudamemtime -S gloabl -c true
fails 2 "--op: unknown word 'laod'" cudamemtime --op laod -c true
fails 2 "'1/3' is not 1/N with N a power of two" cudamemtime --blocks 1/3 -c true
fails 2 'is not a power of two' cudamemtime --csv x --records 1000 -c true
fails 2 'a name must not be empty' cudamemtime -K a,,b -c true
fails 2 'are more than' cudamemtime --max-sites 300000 -c true
fails 2 '--list requires one file' cudamemtime --list
fails 2 '--patch requires two files' cudamemtime --patch x
fails 2 'mutually exclusive' cudamemtime --patch --list x
fails 2 'runs nothing' cudamemtime --list -c true x

it "times that do not fit a double differ by nanoseconds in the CSV"
{
	echo hello 1 train
	vadd 1
	echo pair 0 1800000000000000000 3
	echo pair 4000000 1800000000002000000 3
	echo record 1000000 10 0 3 2 0 1
	echo record 1000006 10 0 3 2 1 1
	echo records 1 0
	echo bye
} | sends late
run cudamemtime -q --csv "$tmp/csv" -c "sh $tmp/late"
equal "$(sed 1d "$tmp/csv" | tr ',' ' ' | grep -oE ' 1800[0-9]{15} 1800[0-9]{15} ' | paste -sd'|')" \
	' 1800000000000500000 1800000000000500005 | 1800000000000500003 1800000000000500008 '

it "with few descriptors some processes are left out, which is said, and the tool does not spin"
{
	echo hello 1 train
	echo pause 1500
	echo bye
} | sends held
run sh -c "ulimit -n 72; exec cudamemtime -c 'for i in 1 2 3 4 5 6 7 8 9; do sh $tmp/held & done; wait'"
says '5 processes of the command use CUDA at once: further ones are not measured'
run sh -c "ulimit -Sn 32 && ulimit -Hn 2000; exec cudamemtime -c 'ulimit -n; for i in 1 2 3 4 5 6 7 8 9; do sh $tmp/held & done; wait'"
lines 1 '^32$'
grep -q 'at once' "$tmp/err" && no 'processes were left out'

it "a signal goes to all processes that are connected"
{
	echo hello 1 train
	echo pause 60000
} | sends long
# shellcheck disable=SC2016 # for the shell that runs it
echo 'echo $$ >>$1; exec sh $2' >"$tmp/noted"
cudamemtime -qc "for i in 1 2; do setsid sh $tmp/noted $tmp/pids $tmp/long & done; wait" >"$tmp/out" 2>"$tmp/err" & tool=$!
until_true eval "[ \$(find /proc/$tool/fd -lname 'socket:*' | wc -l) = 3 ]"	# one of them takes connections
kill -TERM $tool
wait $tool
equal "$(wc -l <"$tmp/pids")" 2
while read -r pid; do
	grep -qs '^State:.[^ZX]' "/proc/$pid/status" && { no "$pid still runs"; kill "$pid"; }	# not yet reaped is ended
done <"$tmp/pids"

it "names in the CSV cannot end their field or their line"
{
	echo hello 1 train
	echo 'module 1 7 1 16 8192 0 1 1500000'
	printf 'S 0 1:4 x"=1,\033[2J\r%s load global ld.global.f32 4\nF 1 "/a,b.cu"\n.\n' 'end'
	echo pair 0 1000 3
	echo pair 4000000 2001000 3
	echo record 1000000 10 0 3 2 0 1
	echo records 1 0
	echo bye
} | sends odd
run cudamemtime -q --csv "$tmp/csv" -c "sh $tmp/odd"
mv "$tmp/csv" "$tmp/out"
lines 2 .
lines 1 '^1,"x""=1,\\x1b\[2J\\x0dend",0,2,3,0,0,"/a,b\.cu",4,load,'

long || leave

it "records that are too many are counted"
{
	echo hello 1 a
	vadd 1
	yes 'record 9 9 0 0 0 0 1' | head -n 4096
	printf '%s\n' 'records 1 0' 'again 1024' bye
} | sends many
run cudamemtime --csv /dev/null -c "sh $tmp/many"
says 'lost 4096 records: '
lines 1 '^ +4194304 +37\.7 M '
