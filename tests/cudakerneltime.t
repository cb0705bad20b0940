# shellcheck shell=sh
# The probe on the interpreter of PTX (gpurun), the tool with a library that is played (gpuprobe-send), and both with
# programs on the simulated GPU (lanes).

# the kernels of lanes, with the probe in them
sed -n 's/^"\(.*\)\\n";*$/\1/p' tests/workloads/lanes_ptx.h | sed 's/\\"/"/g' >"$tmp/lanes.ptx"
"$bin/ptxrw" --probe "$O/kerneltime.ptx" -S '' --op '' --groups 1 --limit 1024 --blocks 4294967295:4294967295 \
	"$tmp/lanes.ptx" "$tmp/timed.ptx"
"$bin/ptxrw" --probe "$O/kerneltime.ptx" -S '' --op '' --groups 1 --limit 1024 "$tmp/lanes.ptx" "$tmp/blocks.ptx"

# gpu FILE KERNEL LAUNCHES BLOCKS THREADS ARG: $tmp/out has its slots and records
gpu() { file=$1; shift; run "$bin/gpurun" "$tmp/$file.ptx" "$@"; }
# number FIELD PATTERN: of the first record that fits
number() { sed -nE "/$2/s/.* $1 ([0-9]+).*/\\1/p" "$tmp/out" | head -n 1; }

it "each launch begins once, ends once and has four records"
gpu timed copy 157 13 96 1
status 0
lines 1 '^slot 0 sum 0 min 4294967295 max 0: 157 157 0 '
lines 157 ' value 0x7ffffff8 site 0 '
lines 157 ' value 0x7ffffff9 site 0 .* warp 13 block 0 grid '
lines 157 ' value 0x7ffffffa site 0 '
lines 157 ' value 0x7ffffffb site 0 '
lines 628 '^record'

it "more launches than the table has slots find room, as it is freed"
gpu timed spin 997 3 33 7
lines 1 '^slot 1 sum 0 min 4294967295 max 0: 997 997 0 '

it "a block is counted out by its last thread, wherever its threads leave"
for threads in 1 31 33 157 1024; do
	gpu timed leave 11 7 $threads
	lines 1 '^slot 3 sum 0 min 4294967295 max 0: 11 11 0 '
	lines 11 ' value 0x7ffffff9 site 3 .* warp 7 block 0 grid '
done

it "blocks have records of their own, which add up to the launch"
gpu blocks spin 1 13 64 1009
lines 13 ' value 0x[0-9a-f]{1,7} site 1 '
sed -nE 's/.* value (0x[0-9a-f]{1,7}) .*/\1/p' "$tmp/out" >"$tmp/values"
sum=0
while read -r value; do sum=$((sum + value)); done <"$tmp/values"
equal "$(number time 'value 0x7ffffffa')" "$sum"

it "the slowest block's time is within the launch's, and far from the least"
max=$(number time 'value 0x7ffffffb') min=$(number warp 'value 0x7ffffffa')
took=$(($(number warp 'value 0x7ffffff8') - $(number time 'value 0x7ffffff8')))
[ "$max" -gt $((3 * min)) ] || no "the slowest took $max, the fastest $min"
[ "$took" -ge "$max" ] || no "the launch took $took, a block of it $max"

it "the kernels leave the same memory with the probe as without"
run "$bin/ptxrun" --same "$tmp/lanes.ptx" "$tmp/blocks.ptx"
status 0
lines 4 '^same '

# sends NAME: the script of the input becomes the command $tmp/NAME
sends() { cat >"$tmp/$1.in"; echo "exec $bin/gpuprobe-send <$tmp/$1.in" >"$tmp/$1"; }
# launch SITE GRID START END BLOCKS SUM MIN MAX STEPS
launch() {
	echo record "$3" 2147483640 "$1" 1 "$4" 0 "$2"
	echo record "$2" 2147483641 "$1" 1 "$5" 0 "$2"
	echo record "$6" 2147483642 "$1" 1 "$7" 0 "$2"
	echo record "$8" 2147483643 "$1" 1 "$9" 0 "$2"
}
module() {
	cat <<-END
		config
		hello 1 train
		image 0 90 2 2 0
		module 1 7 2 1 32768 0 1 1500000
		S 0 1:4 _Z4vaddPKfS0_Pfi kernel - .entry 0
		S 1 1:14 _Z4fillIiEvPT_S0_i kernel - .entry 0
		F 1 "/home/me/kernels.cu"
		.
	END
}

# the steps: p50, p95 and p99 of 160 to 191 and 224 to 255; all of 512 to 639; all of 1280 to 1535
{
	module
	launch 0 1 1000 2000 13 3000 100 900 1776409
	launch 0 2 3000 3500 1 500 500 500 2105376
	echo record 3000 97 0 5 0 3 2
	launch 1 3 3100 4500 7 5000 400 1400 2565927
	echo records 1 0
	echo bye
} | sends three

it "launches are added up by kernel, the longest total first, and their blocks"
run cudakerneltime -jc "sh $tmp/three"
status 0
silent
grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
json 2 '.type == "kernel"'
json 1 '.kernel == "vadd" and .launches == 2 and .total_ns == 1500 and .min_ns == 500 and .max_ns == 1000 and
	.blocks == 14 and .block_total_ns == 3500 and .block_min_ns == 100 and .block_max_ns == 900 and
	.ns == [[256,511,1],[512,1023,1]]'
json 1 '.kernel == "fill<int>" and .launches == 1 and .p50_ns == 1400 and .block_p50_ns == 1400 and .tail == 1' \
	1 '.type == "images" and .status == "measured" and .images == 1 and .kernels == 2'

it "text has a table of launches and one of blocks"
run cudakerneltime -c "sh $tmp/three"
lines 1 '^ LAUNCHES +TOTAL +MIN +P50 +P95 +P99 +MAX KERNEL$'
lines 1 '^ +2 +1\.5 us +500 ns +500 ns +1\.0 us +1\.0 us +1\.0 us vadd$'
lines 1 '^   BLOCKS +TOTAL +MIN +P50 +P95 +P99 +MAX +TAIL KERNEL$'
lines 1 '^ +7 +5\.0 us +400 ns +~1\.4 us +~1\.4 us +~1\.4 us +1\.4 us +1\.0 fill<int>$'
run cudakerneltime -r 1 -f -c "sh $tmp/three"
lines 2 ' vadd\(float const\*, float const\*, float\*, int\)$'
lines 0 'fill'
lines 1 '^\.\.\. and 1 more$'

it "--kernel-names chooses those of text and files, by default short and brief; JSON has both, with -f too"
sed 's/_Z4fillIiEvPT_S0_i/_ZN1a4fillIiEEvPT_/' "$tmp/three.in" >"$tmp/long.in"
echo "exec $bin/gpuprobe-send <$tmp/long.in" >"$tmp/long"
run cudakerneltime --csv "$tmp/csv" -c "sh $tmp/long"
lines 2 ' fill<int>$'
grep -q ',a::fill<int>,' "$tmp/csv" || no "$(cat "$tmp/csv")"
run cudakerneltime --kernel-names brief -c "sh $tmp/long"
lines 2 ' a::fill<int>$'
run cudakerneltime --kernel-names short --csv "$tmp/csv" -c "sh $tmp/long"
grep -q ',fill<int>,' "$tmp/csv" || no "$(cat "$tmp/csv")"
run cudakerneltime -qjc "sh $tmp/long"
grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
json 1 '.kernel == "a::fill<int>" and .short == "fill<int>"'
run cudakerneltime -qj --kernel-names full -c "sh $tmp/long"
grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
json 1 '.kernel == "void a::fill<int>(int*)" and .short == "fill<int>"'
fails 2 '--full and --kernel-names are mutually exclusive' cudakerneltime -f --kernel-names brief -c true

run cudakerneltime -r 1 -f -c "sh $tmp/three"
it "the options reach the library: no block has records unless it is asked for"
lines 1 '^config kind=1 version=1 flags=0 .* spaces=0 ops=0 blocks=4294967295,4294967295 .* groups=1 limit=32768 .* probe=PTX '
run cudakerneltime --chrome "$tmp/chrome" --blocks 1/8 -kc "sh $tmp/three"
lines 1 '^config kind=1 version=1 flags=2 .* blocks=7,0 '

it "--csv has a line for each launch, --chrome a slice for each launch and block"
run cudakerneltime --csv "$tmp/csv" --chrome "$tmp/chrome" --blocks 1/8 -c "sh $tmp/three"
silent
mv "$tmp/csv" "$tmp/out"
lines 1 '^pid,device,context,grid,kernel,start_ns,end_ns,ns,blocks,block_total_ns,block_min_ns,'
lines 1 '^[0-9]+,0,1,1,vadd,1000,2000,1000,13,3000,100,175,239,239,900$'
lines 4 ''
# jq 1.6 prints numbers as it likes, 1.7 as they were: it may compare them
equal "$(jq 'map(select(.ph == "X") | [.name, .ts, .dur, .pid, .tid]) ==
	[["vadd",0,1,1,1],["vadd",2,0.5,1,1],["fill<int>",2.1,1.4,1,2],["vadd",2,0.097,2,1]]' "$tmp/chrome")" true
equal "$(jq -c '[.[] | select(.name == "process_name") | .args.name | sub(" .[0-9]+.$"; "")]' "$tmp/chrome")" \
	'["GPU 0: train","GPU 0 SM 5: train"]'

it "launches that did not end, are incomplete or make no sense are said"
{
	module
	launch 0 1 1000 2000 13 3000 100 900 1776409 | head -n 3
	launch 0 2 3000 3500 1 500 500 500 2105376
	launch 0 3 3000 2000 1 500 500 500 2105376
	launch 0 4 3000 4000 0 500 500 500 0
	launch 0 5 3000 4000 1 500 500 5000 0
	launch 0 6 3000 4000 1 500 600 500 4294967295
	launch 1 8 1000 2000 13 3000 100 900 1776409 | tail -n 2
	launch 0 9 1000 2000 13 3000 100 900 1776409 | head -n 2
	echo records 1 4
	echo slot 0 0 0 19
	echo slot 0 0 2 17
	echo slots 1 2 1
	echo bye
} | sends odd
run cudakerneltime -jc "sh $tmp/odd"
status 0
grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
json 1 '.type == "kernel"' 1 '.launches == 1 and .max_ns == 500'
says '6 launches are incomplete'
says 'lost 4 records'
says '2 launches did not end before the GPU was last read'

# on PROGRAM ARG...: measured on the simulated GPU; $tmp/out has the rows of JSON
on() {
	run env SIM_KERNELS=1 cudakerneltime -qj "$@"
	status 0
	lines 1 '^ok$'
	grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
}
lanes=$bin/lanes

it "the launches of a program are counted, whose results are right"
on -- "$lanes" copy 157 13 96 1 spin 11 7 64 1009 leave 5 3 157
json 1 '.kernel == "copy" and .launches == 157 and .blocks == 2041 and .tail < 1.5' \
	1 '.kernel == "spin" and .launches == 11 and .blocks == 77' \
	1 '.kernel == "leave" and .launches == 5 and .blocks == 15'
json 3 '.type == "kernel" and .min_ns > 0 and .total_ns >= .max_ns and .min_ns <= .p50_ns and .p50_ns <= .p95_ns
	and .p95_ns <= .p99_ns and .p99_ns <= .max_ns and .block_max_ns <= .max_ns and .block_total_ns >= .block_max_ns'

it "a kernel with one slow block has a tail"
json 1 '.tail > 3' 1 '.tail > 3 and .kernel == "spin" and .block_max_ns > 3 * .block_p50_ns'

it "-K measures only some kernels"
on -K 'sp*' -- "$lanes" copy 7 13 96 1 spin 11 7 64 1009
json 1 '.type == "kernel"' 1 '.kernel == "spin" and .launches == 11'

it "-k shows call sites"
on -k -- "$lanes" copy 7 13 96 1 spin 3 7 64 9 over 11 13 96 0
json 3 '.type == "kernel" and ([.stack[].sym] | contains(["launch", "main"]))' \
	2 '.kernel == "copy" and ([.stack[].sym] | index("copy")) == 1 and (.launches == 7 or .launches == 11)' \
	1 '.kernel == "spin" and ([.stack[].sym] | index("count")) == 1 and .launches == 3'
run env SIM_KERNELS=1 cudakerneltime -k -- "$lanes" copy 7 13 96 1
lines 1 '^ +main\+0x[0-9a-f]+ \(.*/lanes\)$'

it "the reports of intervals add up"
on 0.05 -- "$lanes" copy 1009 13 96 1 spin 101 7 64 1009
sum 1009 'select(.kernel == "copy").launches' 101 'select(.kernel == "spin").launches'

it "several processes are measured at once"
run env SIM_KERNELS=1 cudakerneltime -qjc "$lanes copy 17 3 32 1 & $lanes copy 19 3 32 1 & wait"
grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
json 1 '.kernel == "copy" and .launches == 36 and .blocks == 108'

it "a timeline has each launch and each block, one after the other"
run env SIM_KERNELS=1 cudakerneltime -q --chrome "$tmp/chrome" --blocks 1/1 -- "$lanes" copy 7 13 96 1
equal "$(jq '[.[] | select(.ph == "X" and .args.blocks == 13)] | length' "$tmp/chrome")" 7
equal "$(jq '[.[] | select(.ph == "X" and .args.block != null)] | length' "$tmp/chrome")" 91
equal "$(jq '[.[] | select(.ph == "X")] | group_by([.pid, .tid]) | map(. as $t | [range(1; length)] |
	all($t[.].ts >= $t[. - 1].ts + $t[. - 1].dur - 0.001)) | all' "$tmp/chrome")" true
