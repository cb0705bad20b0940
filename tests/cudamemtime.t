# shellcheck shell=sh disable=SC2154 # rc: the words'
# Memory accesses in kernels that the simulated CUDA runs: tests/workloads/timed.cu.  157 warps have work, the last of
# them in 11 lanes; three more leave at once.  What the tool makes of frames is in tests/gpuprobe-tools.t.
SIM_KERNELS=1
export SIM_KERNELS
ptx=tests/ptx/timed.ptx
size='3 40 128 5003'
halves=_Z6halvesIfEvPKT_PS0_i

# measure KERNEL OPTION...: it runs with that many threads; JSON in $tmp/out, what it prints in $tmp/said
measure() {
	kernel=$1
	shift
	# shellcheck disable=SC2086 # four words
	run cudamemtime -jqo "$tmp/rows" "$@" -- "$bin/timed" "$ptx" "$kernel" $size
	mv "$tmp/out" "$tmp/said"
	mv "$tmp/rows" "$tmp/out"
}

# right KERNEL N: its results are those that it has without the tool
right() { equal "$(cat "$tmp/said")" "$1: $2 of $2 right"; }

it "each warp's loads count once, with their line, and the results are the same"
measure scale
status 0
right scale 5003
json 1 '.kind == "load" and .count == 471 and .line == 15 and (.file | endswith("/timed.cu")) and .space == "global"
	and .op == "ld.volatile.global.f32" and .bytes == 4 and .kernel == "scale"'
json 1 '.kind == "kernel" and .count == 480 and .space == null' 2 '.type == "site"' \
	1 '.type == "images" and .status == "measured" and .images == 1 and .kernels == 3'

it "percentiles and histograms agree with the counts, and ns with cycles"
json 2 '.type == "site" and (.hist | map(.[2]) | add) == .count and .min <= .p50 and .p50 <= .p95 and .p95 <= .max
	and .min * .count <= .cycles and .cycles <= .max * .count and (.total_ns - .cycles / 1.5 | fabs) < 2'

it "stores, atomics, waits and shared memory count, too"
measure sum --op all -S all
right sum 1
json 1 '.op == "ld.global.f32" and .count == 471' \
	1 '.op == "bar.sync" and .kind == "wait" and .space == "barrier" and .count == 7 * 480'
# 2, 1, 1, 1, 1, 1, 1 warps of each block have lanes left to add
json 2 '.kind == "load" and .space == "shared" and .count == 960 and .line == 28' \
	1 '.kind == "store" and .space == "shared" and .count == 960' \
	1 '.kind == "store" and .space == "shared" and .count == 480' \
	1 '.kind == "atomic" and .count == 120'

it "a warp's two halves count apart where it has diverged; an inlined function has the line in the user's file"
measure "$halves"
right "$halves" 5003
json 1 '.op == "ld.volatile.global.f32" and .count == 471' \
	1 '.space == "readonly" and .op == "ld.global.nc.f32" and .count == 468 and .line == 37' \
	3 '.type == "site" and .kernel == "halves<float>" and .symbol == "_Z6halvesIfEvPKT_PS0_i"'

it "-K chooses kernels by each of their names, -S and --op what is measured of them"
for kernels in 'halves<*>' 'halves<float>' 'void halves<float>(*)' "$halves" 'scale,hal*'; do
	measure "$halves" -K "$kernels" -S readonly --op load
	right "$halves" 5003
	json 1 '.kind == "load"' 1 '.space == "readonly" and .count == 468'
done
measure "$halves" -K nothing
right "$halves" 5003
json 0 '.type == "site"' 1 '.status == "no_sites"'

it "--blocks and --warps choose"
for n in 2:20 8:5 64:1; do
	measure scale --blocks "1/${n%:*}"
	right scale 5003
	json 1 ".kind == \"kernel\" and .count == $((${n#*:} * 4 * 3))"
	measure scale --blocks "1/${n%:*}" --warps 1/4
	json 1 ".kind == \"kernel\" and .count == $((${n#*:} * 3))"
done

# mean SCHEME: cycles of a load
mean() {
	measure sum --scheme "$1" -S global --op load
	right sum 1
	json 1 '.kind == "load" and .count == 471'
	jq 'select(.kind == "load") | .cycles / .count | round' "$tmp/out"
}

it "without order a load seems to take no time; a dependence and a fence wait for it"
simple=$(mean simple) dep=$(mean dep) fence=$(mean fence) paper=$(mean paper)
[ "$((simple * 10))" -lt "$dep" ] || no "simple $simple, dep $dep"
[ "$((simple * 10))" -lt "$fence" ] || no "simple $simple, fence $fence"
equal "$paper" "$fence"	# what is loaded can be written

it "text has the kernel, the place and a histogram"
# shellcheck disable=SC2086 # four words
run cudamemtime -qK scale -- "$bin/timed" "$ptx" scale $size
lines 1 '^scale$'
lines 1 '^  global load, ld.volatile.global.f32, timed.cu:15: [0-9.]+ cycles \([0-9.]+ ns\) on average$'
lines 1 '^  warps from entry to exit, timed.cu:10: '
lines 1 '^ +471 +[0-9]+ '
lines 2 '^ +cycles +: count'

it "--csv has a line for each access: launches, blocks, warps, times"
measure scale --csv "$tmp/direct"
right scale 5003
json 1 '.kind == "load" and .count == 471'
equal "$(awk -F, '$10 == "load"' "$tmp/direct" | wc -l)" 471
equal "$(awk -F, '$10 == "kernel"' "$tmp/direct" | wc -l)" 480
awk -F, '$10 == "load" { n[$1]++; at[$1 " " $3 " " $4]++ } END { for (a in at) if (at[a] > 1) print "twice " a
	for (l in n) print l, n[l] }' "$tmp/direct" | sort >"$tmp/out"
equal "$(paste -sd, "$tmp/out")" '1 157,2 157,3 157'
# 3 cycles in 2 ns; an access lies in its warp's time, launches follow each other
# (19 digits are too many for awk)
cut -d, -f1,13,14,16 "$tmp/direct" | sed '1d; s/,1[0-9]\{6\}/,/g' |
	awk -F, '{ d = ($3 - $2) * 3 / 2 - $4; if (d < -3 || d > 3) print "ns", $0
		if ($2 < begin[$1] || !begin[$1]) begin[$1] = $2
		if ($3 > end[$1]) end[$1] = $3 }
		END { if (end[1] > begin[2] || end[2] > begin[3]) print "launches overlap" }' >"$tmp/out"
lines 0 ''
sed 's/,[0-9]*\([0-9]\{12\},[0-9]*\)$/,\1/' "$tmp/direct" | awk -F, 'NR > 1 && $10 == "kernel" { a[$1 " " $3 " " $4] = $15; b[$1 " " $3 " " $4] = $15 + $16 } { row[NR] = $0 }
	END { for (i = 2; i <= NR; i++) { split(row[i], f, ","); k = f[1] " " f[3] " " f[4]
		if (f[10] == "load" && (f[15] < a[k] || f[15] + f[16] > b[k])) print row[i] } }' >"$tmp/out"
lines 0 ''

it "--stage writes the same accesses by way of shared memory"
measure scale --csv "$tmp/staged" --stage
right scale 5003
for f in direct staged; do cut -d, -f1-4,7-12 "$tmp/$f" | sort >"$tmp/$f.rows"; done
cmp -s "$tmp/direct.rows" "$tmp/staged.rows" || no "$(diff "$tmp/direct.rows" "$tmp/staged.rows" | head -n 3)"
measure sum --csv "$tmp/direct" --op all -S all
measure sum --csv "$tmp/staged" --op all -S all --stage
right sum 1
for f in direct staged; do cut -d, -f1-4,7-12 "$tmp/$f" | sort >"$tmp/$f.rows"; done
cmp -s "$tmp/direct.rows" "$tmp/staged.rows" || no "sum: $(diff "$tmp/direct.rows" "$tmp/staged.rows" | head -n 3)"

it "--chrome is a timeline in which accesses lie in their warps"
measure scale --chrome "$tmp/json"
right scale 5003
jq -c '.[]' "$tmp/json" >"$tmp/out"
json 471 '.ph == "X" and .cat == "load" and .name == "global load" and .args.line == 15 and .dur > 0' \
	480 '.ph == "X" and .cat == "kernel" and .name == "scale"' \
	1 '.name == "process_name" and .args.name == "SM 0"' \
	0 '.ts != null and .ts < 0'
[ "$(jq -s 'map(select(.ph == "X") | [.pid, .tid]) | unique - [] | length' "$tmp/out")" -eq \
	"$(jq -s 'map(select(.name == "thread_name")) | length' "$tmp/out")" ] || no "tracks without a name"

it "records that the GPU had no room for are counted"
measure scale --csv "$tmp/few" --records 16
right scale 5003
says 'records: overwritten before they were read'
[ "$(wc -l <"$tmp/few")" -le 257 ] || no "more than there is room for"

it "blocks of 1,024 threads still run; --keep-registers leaves as many warps on an SM as before"
for k in scale:1500 sum:1; do
	for options in '--op all -S all' '--csv /dev/null --stage' --keep-registers; do
		# shellcheck disable=SC2086 # words
		run cudamemtime -qo "$tmp/rows" $options -- "$bin/timed" "$ptx" "${k%:*}" 1 2 1024 1500
		equal "$(cat "$tmp/out")" "${k%:*}: ${k#*:} of ${k#*:} right"
	done
	says_not 'fewer resident warps'
done

it "--max-sites leaves images alone that have more, and says so"
measure sum --op all -S all --max-sites 7
right sum 1
says '1 image has more places to measure than --max-sites: 3 kernels not measured'
json 0 '.type == "site"'

it "kernels of which there is machine code only run as before, and are named"
echo 'void scale(void) { }' | ${CC:-cc} -x c -c - -o "$tmp/cubin"	# any ELF file will do
run env -u SIM_KERNELS cudamemtime -j -- "$bin/timed" "$tmp/cubin" scale 1 1 32 32
says '1 image has machine code only: not measured'
says 'no image could be measured'
lines 1 '^scale: 5 of 32 right$'	# the simulated driver runs nothing of it
status 0

it "--list has the places of PTX, and which cannot be"
run cudamemtime --list "$ptx"
status 0
silent
lines 1 '^image 1, PTX: 8 places in 3 kernels$'
lines 1 '^  timed.cu:15: global load, ld.volatile.global.f32$'
lines 1 '^halves<float>$'
run cudamemtime --list -j -K scale --op all "$ptx"
json 1 '.type == "site" and .image == 1 and .sm == null and .kind == "store" and .line == 15' \
	3 '.kernel == "scale"'
fails 3 'there is no PTX in it' cudamemtime --list /bin/true
fails 1 'cannot open /nowhere' cudamemtime --list /nowhere
fails 1 'not a regular file' cudamemtime --list /dev/null
run cudamemtime --list --max-sites 3 "$ptx"
lines 1 'left alone: more places than --max-sites'

it "--patch writes PTX that measures when the tool runs it"
run cudamemtime -v --patch "$ptx" "$tmp/new.ptx"
status 0
says '3 kernels, 8 places'
# shellcheck disable=SC2086 # four words
run cudamemtime -jqo "$tmp/rows" -- "$bin/timed" "$tmp/new.ptx" scale $size
mv "$tmp/out" "$tmp/said"
mv "$tmp/rows" "$tmp/out"
right scale 5003
json 1 '.kind == "load" and .count == 471'
fails 3 'it has probes already' cudamemtime --patch "$tmp/new.ptx" "$tmp/newer.ptx"
[ ! -e "$tmp/newer.ptx" ] || no "it wrote a file"
fails 2 'are the same file' cudamemtime --patch "$ptx" "$ptx"
fails 3 'nothing to change' cudamemtime --patch /bin/true "$tmp/true"

it "what a program prints and its status are its own"
printf 'x\n' >"$tmp/in"
# shellcheck disable=SC2086 # four words
{
	run cudamemtime -jqo "$tmp/rows" -- "$bin/timed" "$ptx" scale $size leave <"$tmp/in"
	status 5
	equal "$(cat "$tmp/out")" 'scale: 5003 of 5003 right'
	run cudamemtime -jqo "$tmp/rows" -- "$bin/timed" "$ptx" scale $size kill <"$tmp/in"
	status 137
	says '1 process was killed'
}

it "a program that waits is measured while it runs"
mkfifo "$tmp/wait"
# shellcheck disable=SC2086 # four words
cudamemtime -jqo "$tmp/rows" --period 50ms -- "$bin/timed" "$ptx" scale $size leave 0.1 <"$tmp/wait" >"$tmp/out" 2>&1 & tracer=$!
pids="$pids $tracer"
exec 5>"$tmp/wait"
until_true grep -q right "$tmp/out"
sleep .2	# four periods
kill -TERM $tracer
wait $tracer
exec 5>&-
mv "$tmp/rows" "$tmp/out"
json 1 '.kind == "load" and .count == 471'

# of the parts of tests/gpu
parts='vadd reduce transpose histogram matmul texture divergence calls print managed symbols graphs streams dynamic_shared'
for how in '' -static -12; do
	it "programs by nvcc (gpu$how) compute the same with probes at all accesses"
	[ -x "$bin/gpu$how" ] || { skip "no nvcc here"; continue; }
	# shellcheck disable=SC2086 # words
	run "$bin/gpu$how" $parts
	status 0
	cp "$tmp/out" "$tmp/without"
	for scheme in dep fence; do
		# shellcheck disable=SC2086 # words
		run cudamemtime -qo "$tmp/rows" --scheme $scheme -S all --op all -- "$bin/gpu$how" $parts
		status 0
		diff "$tmp/without" "$tmp/out" >"$tmp/diff" || no "$scheme: $(head -n 3 "$tmp/diff")"
		[ "$(grep -c ' on average$' "$tmp/rows")" -gt 50 ] || no "few places"
	done
done
