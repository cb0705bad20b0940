# shellcheck shell=sh
# shellcheck source=/dev/null
light
. tests/own.sh

# kernels FILTER: of the objects selected by jq's FILTER, "launches name kind", in order
kernels() {
	jq -r "select($1) | \"\(.launches) \(.kernel) \(.kind)\"" "$tmp/out" | LC_ALL=C sort | tr '\n' ','
}

it_has_kern=true
[ -e "$bin/kern" ] || it_has_kern=false

for program in kern kern-static kern-stripped kern-legacy kern-12 kern-ptsz; do
	it "$program: 1009 and 503 launches by name, each once, in a process of ten milliseconds"
	$it_has_kern || { skip "no nvcc here"; continue; }
	replayed cudalaunchtop -jc "$bin/$program"
	status 0
	equal "$(kernels true)" '1009 scale kernel,503 fill<int> kernel,'
	json 1 '.kernel == "scale" and .grid == [8,1,1] and .block == [128,1,1]' \
		1 '.kernel == "fill<int>" and .grid == [4,1,1] and .block == [256,1,1]' \
		2 '.pid > 1 and .interval_s > 0 and (.time | floor) > 1700000000'
	silent
done

for program in mem-12 kern ${LONG:+mem kern-legacy}; do
	it "$program, stripped except for the shared runtime: names from the kernels that it registers at its start"
	[ -e "$bin/$program" ] || { skip "no nvcc here"; continue; }
	strip -o "$tmp/stripped" "$bin/$program"
	words='1009 503'
	want='1009 scale kernel,503 fill<int> kernel,'
	case $program in mem*) words='launch 23' want='23 mem_kernel kernel,' ;; esac
	replayed LD_LIBRARY_PATH="$lib" cudalaunchtop --layer runtime -jc "$tmp/stripped $words"
	equal "$(kernels true)" "$want"
	silent
done

for program in kern-static kern-12 ${LONG:+kern kern-legacy kern-ptsz}; do
	it "$program: -p gives names to a process that has launched before"
	$it_has_kern || { skip "no nvcc here"; continue; }
	program "$bin/$program" 7 5 1 1 1 again
	tool cudalaunchtop -jp "$pid"
	go
	wait "$tracer"
	equal "$(kernels true)" '5 fill<int> kernel,7 scale kernel,'
	silent
done

it "kern-stripped: a process whose kernels were named before shows them by address"
if $it_has_kern; then
	program "$bin/kern-stripped" 1009 503 1 1 1 again
	tool cudalaunchtop -jp "$pid"
	go
	wait "$tracer"
	json 1 '.launches == 1009 and (.kernel | test("^0x[0-9a-f]+$"))' \
		1 '.launches == 503 and (.kernel | test("^0x[0-9a-f]+$"))' \
		2 true
	silent
else
	skip "no nvcc here"
fi

it "kern-stripped: a process that has not launched yet, by name"
if $it_has_kern; then
	program "$bin/kern-stripped" 1009 503 1 1 1 wait
	tool cudalaunchtop -l "$lib/libcuda.so.1" -jp "$pid"
	go
	wait "$tracer"
	equal "$(kernels true)" '1009 scale kernel,503 fill<int> kernel,'
else
	skip "no nvcc here"
fi

it "--layer runtime and --layer driver have the names of their launches, -x the failures too"
replayed cudalaunchtop --layer runtime -jxc "$bin/mem launch 23 badlaunch 7 launch 11 drvlaunch 13"
json 1 '.kernel == "mem_kernel" and .launches == 41 and .failed == 7' 1 true
silent
replayed cudalaunchtop --layer driver -jc "$bin/mem launch 23 badlaunch 7 drvlaunch 13"
equal "$(kernels true)" '13 drv_kernel kernel,23 mem_kernel kernel,'
silent

it "the real runtime, which has no driver: all launches are seen, and with -x that all fail"
if [ -e "$bin/kern-real-static" ]; then
	run cudalaunchtop --attach session -jxc "$bin/kern-real-static"
	equal "$(kernels '.failed == .launches')" '1009 scale kernel,503 fill<int> kernel,'
else
	skip "no CUDA runtime here"
fi

it "every kind of launch, each once"
replayed cudalaunchtop -jc "$bin/mem launch 23 coop 3 launchex 5 graph 11 drvlaunch 13"
# the graph has 3 of its kernel
json 1 '.kind == "kernel" and .kernel == "mem_kernel" and .launches == 61 and .replayed == 33 and .grid == [13,1,1] and .block == [128,1,1]' \
	1 '.kind == "cooperative" and .kernel == "mem_kernel" and .launches == 3' \
	1 '.kernel == "drv_kernel" and .launches == 13 and .grid == [7,1,1] and .block == [64,1,1]' \
	3 true
silent

for program in mem-static mem-dlopen; do
	it "$program: the very first call is a launch, and counts once"
	load=
	[ $program = mem-dlopen ] && load=load
	replayed cudalaunchtop -jc "$bin/$program $load launch 3"
	equal "$(kernels true)" '3 mem_kernel kernel,'
done

it "a launch that fails in the runtime hides no later launch of the driver, in the same or a deeper frame"
replayed cudalaunchtop -jxc "$bin/launches failed 7 driver 5 failed 3 deeper 11 failed 1 driver 1 failed 2"
json 1 '.kernel == "direct" and .launches == 17 and .failed == 0' \
	1 '.launches == 13 and .failed == 13' \
	2 true
replayed cudalaunchtop -jc "$bin/mem badlaunch 7 launch 23 badlaunch 1 drvlaunch 13 badlaunch 3 launch 1"
sum 48 .launches
json 1 '.kernel == "drv_kernel" and .launches == 13'

it "no return is probed without -x, except of functions that name kernels"
run cudalaunchtop --attach multi -jc "$bin/mem badlaunch 7 launch 5"
json 0 'has("failed")'
sum 12 .launches

it "two threads, 100003 launches each: none is lost"
replayed cudalaunchtop -jc "$bin/mem thread '(' launch 100003 ')' thread '(' launch 100003 ')' join"
sum 200006 .launches
json 1 true
silent

it "--attach inject: the grid is that of the last launch, whichever of the threads made it"
for last in 3 4; do
	words='shape 1 1'
	for y in $(seq 2 $last); do
		words="$words aside $y $y"
	done
	run cudalaunchtop --attach inject -jc "$bin/launches $words"
	json 1 ".grid == [3,$last,1]"
done

for kind in $kinds; do
	it "--attach $kind: once all kernels are identified only the driver's launches are counted, each once, with their names"
	program "$bin/mem" malloc 1 64 wait launch 23 wait launch 1009 drvlaunch 13 coop 3 wait
	tool cudalaunchtop --attach "$kind" -vjp "$pid"
	echo >&3
	until_true grep -q 'detaching the runtime launch probes' "$tmp/err"
	echo >&3
	go
	wait "$tracer"
	json 1 '.kernel == "mem_kernel" and .kind == "kernel" and .launches == 1032 and .grid == [13,1,1] and .block == [128,1,1]' \
		1 '.kernel == "drv_kernel" and .launches == 13' \
		1 '.kind == "cooperative" and .launches == 3' \
		3 true
done

if long; then
	it "an unidentified function re-attaches the runtime's probes for a while"
	program "$bin/launches" wait reuse 23 wait driver 5 wait driver 7 wait
	tool cudalaunchtop -vjp "$pid"
	echo >&3
	until_true grep -q 'detaching the runtime launch probes' "$tmp/err"
	echo >&3
	until_true grep -q 're-attaching the runtime launch probes' "$tmp/err"
	sleep 1.5	# it would look again
	echo >&3
	go
	wait "$tracer"
	equal "$(grep -c 're-attaching the runtime launch probes' "$tmp/err")" 1
	json 1 '.kernel == "first" and .launches == 23' \
		1 '.kernel == "second" and .launches == 27' \
		1 '(.kernel | startswith("0x")) and .launches == 12' \
		3 true
fi

it "a kernel without a name is one row, counted at the runtime and then at the driver"
strip -o "$tmp/stripped" "$bin/mem"
program env LD_LIBRARY_PATH="$lib" "$tmp/stripped" launch 1 wait launch 23 wait launch 7 wait
tool cudalaunchtop -vjp "$pid"
echo >&3
until_true grep -q 'detaching the runtime launch probes' "$tmp/err"
echo >&3
go
wait "$tracer"
json 1 '.launches == 30 and (.kernel | test("^0x[0-9a-f]+$"))' 1 true

it "a child that forks without exec has its parent's names"
replayed cudalaunchtop -jc "$bin/mem-stripped launch 5 fork '(' launch 3 ')' launch 2 join"
json 1 '.launches == 7 and .kernel == "mem_kernel"' 1 '.launches == 3 and .kernel == "mem_kernel"' \
	2 true

it "exec begins a new count"
replayed cudalaunchtop -jc "$bin/mem launch 5 exec '(' launch 7 ')'"
json 1 '.launches == 5 and .kernel == "mem_kernel"' 1 '.launches == 7 and .kernel == "mem_kernel"' \
	2 true

it "without -p every process: two that start later, by name; the sum over processes is the total"
tool cudalaunchtop -l "$lib/libcuda.so.1" -j
"$bin/mem" launch 1009 drvlaunch 503 & other=$!
"$bin/mem-stripped" launch 23 & another=$!
wait $other $another
stop
equal "$(kernels ".pid == $other")" '1009 mem_kernel kernel,503 drv_kernel kernel,'
equal "$(kernels ".pid == $another")" '23 mem_kernel kernel,'

it "an address reused for another kernel: each has its own launches"
replayed cudalaunchtop -jc "$bin/launches reuse 23"
equal "$(kernels true)" '23 first kernel,27 second kernel,'

for o in '' -k; do
	n=${o:+503} n=${n:-1009}	# as many call stacks as the ring buffer has room for
	it "${o:+$o: }an address reused by each of $n modules, which launch and unload"
	run cudalaunchtop -j $o -c "$bin/launches jit $n"
	equal "$(jq -r '"\(.kernel) \(.launches)"' "$tmp/out" | sort)" "$(awk -v of="$n" 'BEGIN {
		split("2 3 5 7 11", n, " ")
		for (i = 0; i < of; i++) print "jit<" i "> " n[i % 5 + 1] }' | sort)"
	json "$n" '.pid > 1'
	silent
done

it "a kernel that a program names before each launch has one row, and needs no room for each name"
run cudalaunchtop -jc "$bin/launches named 50021"
json 1 '.kernel == "direct" and .launches == 50021' 1 true
silent

for layer in runtime driver; do
	it "--layer $layer: of 60,013 kernels that a program registers, those that it launches have their names"
	program "$bin/launches" wait register 60013 wait
	tool cudalaunchtop --layer $layer -jp "$pid"
	echo >&3
	until_true sh -c "[ \$(grep -c ready '$tmp/ready') = 2 ]"
	sleep .2
	go
	wait "$tracer"
	equal "$(jq -r '"\(.kernel) \(.launches)"' "$tmp/out" | sort)" "$(awk 'BEGIN {
		for (i = 60002; i < 60013; i++) print "registered<" i "> " i % 5 + 2 }' | sort)"
	silent
done

it "a child of a program that has registered 60,013 kernels launches them by their names, with the runtime of CUDA 12"
replayed cudalaunchtop -jc "$bin/launches-12 heir 60013"
equal "$(jq -r '"\(.kernel) \(.launches)"' "$tmp/out" | sort)" "$(awk 'BEGIN {
	for (i = 60002; i < 60013; i++) print "registered<" i "> " i % 5 + 2 }' | sort)"
silent

if long; then
	it "launches that cannot be counted are lost once each, though the runtime's and the driver's functions are probed"
	replayed cudalaunchtop -jc "$bin/launches handles 33013 runtime 251"
	sum 33264 '((.launches // 0) + (.lost // 0))'
	json 1 '.lost > 0'
fi

it "-P is by process, and the sum is the same"
replayed cudalaunchtop -jPc "sh -c '$bin/mem launch 23 drvlaunch 13; $bin/mem-stripped launch 7'"
json 1 '.launches == 36 and .comm == "mem" and .kernel == null and .kind == null and .grid == null' \
	1 '.launches == 7' \
	2 true

it "-k is by call site"
replayed cudalaunchtop -jkc "$bin/mem launch 23 graph 5 coop 3 drvlaunch 13"
json 1 '.launches == 23 and ([.stack[].sym][0:2] == ["launch","do_launch"])' \
	1 '.launches == 3 and .kind == "cooperative" and .stack[0].sym == "do_coop"' \
	1 '.launches == 15 and .replayed == 15 and .stack[0].sym == "do_graph"' \
	1 '.launches == 13 and ([.stack[].sym][0:2] == ["do_launch","run"])'
replayed cudalaunchtop -kc "$bin/mem launch 23"
lines 1 '^        do_launch\+0x[0-9a-f]+ \(.*/mem\)$'

it "text and JSON agree, by kernel and by process"
words="launch 23 coop 3 drvlaunch 13"
replayed cudalaunchtop -c "$bin/mem $words"
awk 'NR > 1 { print $2, $4, $5, $6, $7, $NF }' "$tmp/out" | LC_ALL=C sort >"$tmp/text"
replayed cudalaunchtop -jc "$bin/mem $words"
jq -r '"\(.comm) \(.launches) \(.launches) \(.grid | map(tostring) | join("x")) \(.block | map(tostring) | join("x")) \(.kernel)"' \
	"$tmp/out" | LC_ALL=C sort >"$tmp/json"
[ "$(wc -l <"$tmp/text")" -eq 3 ] || no "not three lines"
equal "$(cat "$tmp/text")" "$(cat "$tmp/json")"
replayed cudalaunchtop -Pc "$bin/mem $words"
lines 1 '^[0-9]+ +mem +[0-9.]+ +39 +39$'
lines 2 .

it "-f has parameters and return types"
if $it_has_kern; then
	replayed cudalaunchtop -fjc "$bin/kern 7 5"
	equal "$(kernels true)" '5 void fill<int>(int*, int, int) kernel,7 scale(float*, int) kernel,'
else
	skip "no nvcc here"
fi

it "-r limits the rows, -s sets their order"
replayed cudalaunchtop -r 2 -c "$bin/mem launch 23 coop 3 drvlaunch 13"
lines 1 ' mem_kernel$'
lines 1 ' drv_kernel$'
lines 1 '^\.\.\. and 1 more$'
replayed cudalaunchtop -s name -jc "$bin/mem launch 23 coop 3 drvlaunch 13"
equal "$(jq -r .kernel "$tmp/out" | tr '\n' ' ')" 'drv_kernel mem_kernel mem_kernel '
replayed cudalaunchtop -s launches -jr 1 -c "$bin/mem coop 3 launch 23 drvlaunch 13"
equal "$(kernels true)" '23 mem_kernel kernel,'

it "reports the launches of each interval, count times, and no more"
program "$bin/mem" malloc 1 64 wait launch 23 wait launch 7 wait
tool cudalaunchtop -jp "$pid" 1 3
echo >&3
until_true grep -q '"launches":23,' "$tmp/out"
echo >&3
wait "$tracer"
rc=$?
exec 3>&-
kill "$pid" 2>/dev/null
status 0
sum 30 .launches
json 1 '.launches == 23' 1 '.launches == 7' \
	2 '.interval_s > 0.9 and .interval_s < 1.2 and (.launches_per_s - .launches / .interval_s | fabs) < 0.1'

it "Ctrl-C prints the launches so far"
program "$bin/mem" malloc 1 64 wait launch 23 print wait
tool cudalaunchtop -p "$pid" 60
echo >&3
until_true grep -q calls "$tmp/ready"
stop
exec 3>&-
kill "$pid" 2>/dev/null
status 0
lines 1 '^[0-9]+ +mem +[0-9.]+ +23 +23 13x1x1 +128x1x1 +1664 mem_kernel$'

it "launches that no GPU can make are marked without -x, in text and JSON, and reported as failed"
replayed cudalaunchtop -jc "$bin/mem launch 23 badlaunch 7 launch 11 coop 3 graph 5"
json 1 '.launches == 56 and .replayed == 15 and .impossible == 7 and (has("failed") | not)' \
	1 '.impossible == 0'
says '7 launches had a grid or block that no GPU can launch: they failed (-x counts all failures)'
replayed cudalaunchtop -c "$bin/launches shape 65536 17 shape 65535 5 shape 1 3"
lines 1 ' 25 +25 3x1x1 +32x4x2 +768 \[17 impossible\] direct$'
replayed cudalaunchtop -xjc "$bin/launches shape 65536 17 shape 65535 5"
json 1 '.impossible == 17 and .failed == 17 and .launches == 22'
silent

it "more threads than 64 bits hold are marked, sort first, and are none of the launches that no GPU can make"
replayed cudalaunchtop --sort threads -jc "$bin/launches vast 3 ugly 7"
json 1 '.launches == 3 and .threads > 18e18 and .threads_beyond and .impossible == 0' \
	1 '.launches == 7 and .threads == 1536 and (.threads_beyond | not)'
equal "$(jq -r .launches "$tmp/out" | head -n 1)" 3
replayed cudalaunchtop -c "$bin/launches vast 3"
lines 1 ' 3 +3 2147483647x65535x65535 +32x32x1 +>18\.4E '

it "columns stay in line, whatever the grid and the name of the process"
replayed cudalaunchtop -c "$bin/launches rename %e%e%e%e%e%e%e%e shape 65535 3 ugly 5 long 7"
equal "$(head -n 4 "$tmp/out" | sed 's/ [^ ]*$//' | awk '{ print length }' | sort -u | wc -l)" 1
lines 1 ' 3x65535x1 +32x4x2 +'

it "names from the program are escaped: 4,001 characters, control characters, a quote"
replayed cudalaunchtop -jc "$bin/launches long 7 ugly 5 driver 3"
json 1 '.launches == 7 and (.kernel | length) == 4001' \
	1 '.launches == 5 and .kernel == "ugly\u001b[31m\n\"kernel"' \
	3 true
replayed cudalaunchtop -c "$bin/launches ugly 5"
lines 1 'ugly\\x1b\[31m\\x0a"kernel$'
silent

# ---- names that are longer than the terminal is wide: tests/data/torch-kernels.txt

# narrow COLUMNS FILE [STYLE]: its kernels on such a terminal, in one report; the names alone are in $tmp/names
narrow() {
	run script -qec "stty cols $1; exec cudalaunchtop -qbr 2000 ${3:+--kernel-names $3} -c '$bin/launches names $2' 100" /dev/null
	status 0
	tr -d '\r' <"$tmp/out" | sed 's/…/~/g' >"$tmp/plain"
	sed -n "s/^[0-9]* *launches *[0-9.]* *[0-9]* //p" "$tmp/plain" >"$tmp/names"
	equal "$(awk -v w="$1" 'length($0) > w' "$tmp/plain" | wc -l)" 0
}

it "a list of PyTorch's kernels: 1009 that differ without their parameters"
equal "$(sort -u tests/data/torch-kernels.txt | wc -l)" 1009
replayed cudalaunchtop -jc "$bin/launches names tests/data/torch-kernels.txt"
sum 509545 .launches
equal "$(jq -r .kernel "$tmp/out" | sort -u | wc -l)" 1009
equal "$(jq -r .short "$tmp/out" | sort -u | wc -l)" 1009
json 1 '.short == "add vectorized<bf16,8,F>" and (.kernel | startswith("at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>,"))'

it "text has short names, which all differ at 80 columns, where 41 lack a word; at 120 one does"
export LC_ALL=C.UTF-8
narrow 80 tests/data/torch-kernels.txt
equal "$(wc -l <"$tmp/names")" 1009
equal "$(sort -u "$tmp/names" | wc -l)" 1009
equal "$(grep -c '~' "$tmp/names")" 41
lines 1 ' add vectorized<bf16,8,F>.?$'
lines 1 ' upsample_nearest3d_backward_…<bf16>#08a9e.?$'
run script -qec "stty cols 120; exec cudalaunchtop -qbr 2000 -c '$bin/launches names tests/data/torch-kernels.txt' 100" /dev/null
lines 1 '…'
lines 1 ' upsample_nearest3d_backward_out_frame<bf16>#08a9e.?$'

it "--kernel-names brief: at 80 columns 1005 of those names differ, in one table, and no line is longer"
narrow 80 tests/data/torch-kernels.txt brief
equal "$(wc -l <"$tmp/names")" 1009
equal "$(sort -u "$tmp/names" | wc -l)" 1005
equal "$(sed -n 1p "$tmp/plain")" 'PID     COMM        LAUNCH/S     TOTAL KERNEL'

it "as many as fit on a screen all differ, except for some that differ in six words each"
for from in 47 503 ${LONG:+1 101 797}; do
	sed -n "$from,$((from + 42))p" tests/data/torch-kernels.txt >"$tmp/some"
	narrow 80 "$tmp/some" brief
	equal "$from $(sort -u "$tmp/names" | wc -l)" "$from $([ "$from" = 47 ] && echo 39 || echo 43)"
done
unset LC_ALL

it "a terminal without UTF-8 has two points in place of omitted words"
export LC_ALL=C
narrow 80 tests/data/torch-kernels.txt brief
unset LC_ALL
equal "$(LC_ALL=C grep -c '[^ -~]' "$tmp/names")" 0
lines 1 ' softmax_warp_backward<double, \.\.7, true\.\.'

it "names that fit are whole; GRID and BLOCK go first, as soon as a long name needs their place"
printf '_Z5firstv\n' >"$tmp/some"
run script -qec "stty cols 102; exec cudalaunchtop -qbc '$bin/launches names $tmp/some' 100" /dev/null
lines 1 'PID +COMM +LAUNCHES/S +LAUNCHES +TOTAL GRID +BLOCK +THREADS KERNEL'
printf '_ZN2at6native5firstILi23EEEvv\n_ZN3c105firstILi23EEEvv\n' >"$tmp/some"
narrow 80 "$tmp/some" brief
equal "$(sort "$tmp/names" | tr '\n' ' ')" 'at::native::first<23> c10::first<23> '
sed -n 503p tests/data/torch-kernels.txt >>"$tmp/some"
run script -qec "stty cols 120; exec cudalaunchtop -qbc '$bin/launches names $tmp/some' 100" /dev/null
lines 1 'PID +COMM +LAUNCHES/S +LAUNCHES +TOTAL +THREADS KERNEL'

it "two that only their namespaces distinguish keep them, also where they are long"
{
	echo _ZN2at6native37a_kernel_with_a_name_that_is_too_longILi23EEEvv
	echo _ZN3c1037a_kernel_with_a_name_that_is_too_longILi23EEEvv
} >"$tmp/some"
narrow 70 "$tmp/some" brief
equal "$(sort -u "$tmp/names" | wc -l)" 2
equal "$(cut -c1-3 "$tmp/names" | sort | tr '\n' ' ')" 'at: c10 '

it "output to no terminal has all columns, and whole names; short ones of kernels in two namespaces differ in a hash"
replayed cudalaunchtop -qc "$bin/launches names $tmp/some"
lines 1 ' THREADS KERNEL$'
lines 2 ' a_kernel_with_a_name_that_is_too_long#[0-9a-f]{5}$'
replayed cudalaunchtop --kernel-names brief -qc "$bin/launches names $tmp/some"
lines 1 ' at::native::a_kernel_with_a_name_that_is_too_long<23>$'

it "--kernel-names chooses the names of text and stacks, not those in JSON; full is -f"
printf '_ZN2at6native5firstILi23EEEvPf\n' >"$tmp/first"
for names in short=first brief=at::native::first full='void at::native::first'; do
	replayed cudalaunchtop --kernel-names "${names%%=*}" -qc "$bin/launches names $tmp/first"
	lines 1 " ${names#*=}<23>$([ "${names%%=*}" != full ] || echo '\(float\*\)')\$"
done
replayed cudalaunchtop --folded -qc "$bin/launches names $tmp/first"
lines 1 ';at::native::first<23> 1$'
replayed cudalaunchtop --folded --kernel-names short -qc "$bin/launches names $tmp/first"
lines 1 ';first<23> 1$'
replayed cudalaunchtop -j --kernel-names short -c "$bin/launches names $tmp/first"
json 1 '.kernel == "at::native::first<23>" and .short == "first<23>"'
replayed cudalaunchtop -j --kernel-names full -c "$bin/launches names $tmp/first"
json 1 '.kernel == "void at::native::first<23>(float*)" and .short == "first<23>"'
fails 2 '--full and --kernel-names are mutually exclusive' cudalaunchtop -f --kernel-names short

# ---- on a terminal

it_has_tmux=true
command -v tmux >/dev/null || it_has_tmux=false

it "on a terminal: draws in place, sorts, pauses, helps, is resized, and q ends it with a report"
if $it_has_tmux; then
	program "$bin/launches" driver 1 wait long 3 ugly 5 rename %e[31mevil wait
	screen 140 20 "$O/cudalaunchtop -p $pid"
	on_screen '^PID +COMM +LAUNCHES/S +LAUNCHES +TOTAL GRID +BLOCK +THREADS KERNEL *$'
	echo >&3
	on_screen '^[0-9]+ +\\x1b\[31mevil +0\.0 +0 +5 3x2x1 +32x4x2 +1536 ugly\\x1b\[31m\\x0a"kernel$'
	lines 1 ' 3 3x2x1 +32x4x2 +1536 a_kernel_whose_name_goes_on#[0-9a-f]{5}$'
	lines 1 '0\.0 launches/s, 8 total  \(h: help\)  pid [0-9]+$'
	sed 's/…/~/g' "$tmp/out" | awk 'length($0) > 140 { bad = 1 } END { exit bad }' || no "a line is too long"
	lines 4 '[^ ]'
	term send-keys n
	until_true row3_shows ' a_kernel'
	term send-keys r
	until_true row3_shows ' ugly'
	term send-keys p
	on_screen '\[paused\]'
	term send-keys p
	term send-keys h
	on_screen 'Page Up'
	term send-keys x
	on_screen ' a_kernel'
	term send-keys / UGLY Enter
	on_screen '^[0-9:]+  filter: UGLY  '
	lines 0 ' a_kernel'
	lines 1 ' ugly'
	term send-keys Escape
	on_screen ' a_kernel'
	term send-keys v
	on_screen '^PID +COMM +LAUNCHES/S +LAUNCHES +TOTAL *$'
	term send-keys v
	term resize-window -x 70 -y 6
	on_screen '^PID +COMM +LAUNCH/S +TOTAL KERNEL *$'
	sed 's/…/~/g' "$tmp/out" | awk 'length($0) > 70 { bad = 1 } END { exit bad }' || no "a line is too long"
	term resize-window -x 5 -y 2
	sleep .2
	term resize-window -x 140 -y 30
	on_screen ' THREADS KERNEL'
	quit
	lines 1 ' 5 +5 3x2x1 +32x4x2 +1536 ugly'
else
	skip "no tmux here"
fi

if long; then
	it "on a terminal the arrows scroll sideways, which shows whole names; Home goes back"
	if $it_has_tmux; then
		program "$bin/launches" driver 1 wait names "$tmp/some" long 3 wait
		screen 80 20 "$O/cudalaunchtop --kernel-names brief -p $pid"
		on_screen 'TOTAL'
		echo >&3
		on_screen ' 3 a_kernel_whose_name_goes_on_'
		sed 's/…/~/g' "$tmp/out" | awk 'length($0) > 80 { bad = 1 } END { exit bad }' || no "a line is too long"
		term send-keys Right Right
		on_screen '^[0-9]+ +launches +0\.0 +3 ame_goes_on_n+ *$'
		on_screen '^[0-9]+ +launches +0\.0 +1 rnel_with_a_name_that_is_too_long<23> *$'
		term send-keys Left
		on_screen ' 3 _whose_name_goes_on_'
		term send-keys Home
		on_screen ' 3 a_kernel_whose_name_goes_on_'
		term send-keys Left
		quit
	else
		skip "no tmux here"
	fi
fi

it "a terminal that cannot move its cursor gets blocks, from each tool with a live screen"
if $it_has_tmux; then
	program "$bin/mem" malloc 23 1m wait
	for t in cudalaunchtop ${LONG:+cudaleak cudatop nccltop}; do
		screen 160 40 "TERM=dumb $O/$t -p $pid 1 2"
		on_screen '^ended 0'
		case $t in
		cudaleak) lines 2 'nothing held: 0 allocations' ;;
		*) lines 2 '^(PID|COMMUNICATOR) ' ;;
		esac
		lines 0 'h: help'
		term kill-server
	done
	exec 3>&-
	kill "$pid"
else
	skip "no tmux here"
fi

it "a terminal unknown to curses gets blocks"
if $it_has_tmux; then
	program "$bin/mem" malloc 1 64 wait launch 23 wait	# its context, and with it its device, is as unknown to each launch
	screen 120 40 "TERM=unheard-of $O/cudalaunchtop -p $pid 1"
	on_screen 'tracing pid'
	echo >&3
	on_screen ' 23 +23 13x1x1 +128x1x1 +1664 mem_kernel$'
	screen_gone
else
	skip "no tmux here"
fi

long || leave

it "plugins loaded one after the other at the same address: each kernel has its launches, each stack its file"
if [ -e "$bin/kern-real" ] && $it_has_kern; then
	for i in 1 2 3; do
		cat >"$tmp/plugin.cu" <<-END
		__global__ void kern_$i(int *p) { *p = $i; }
		extern "C" void plugin(int n) { for (int i = 0; i < n; i++) kern_$i<<<3, 64>>>((int *)0); }
		END
		"${CUDA:-/usr/local/cuda}/bin/nvcc" -w -cudart shared -shared -Xcompiler -fPIC,-fno-omit-frame-pointer \
			-o "$tmp/plugin$i.so" "$tmp/plugin.cu" || no "nvcc fails"
	done
	cat >"$tmp/host.c" <<-'END'
	#include <dlfcn.h>
	int main(int argc, char **argv)
	{
		for (int i = 1; i < argc; i++) {
			void *lib = dlopen(argv[i], RTLD_NOW);

			((void (*)(int))dlsym(lib, "plugin"))(10 * i);
			dlclose(lib);
		}
		return 0;
	}
	END
	${CC:-cc} -O1 -fno-omit-frame-pointer "$tmp/host.c" -ldl -o "$tmp/host" || no "no host"
	for o in '' -k; do
		run env LD_LIBRARY_PATH="${CUDA:-/usr/local/cuda}/lib64:$lib" cudalaunchtop -j $o -c \
			"$tmp/host $tmp/plugin1.so $tmp/plugin2.so $tmp/plugin3.so"
		equal "$(kernels true)" '10 kern_1 kernel,20 kern_2 kernel,30 kern_3 kernel,'
		silent
	done
	for i in 1 2 3; do
		json 1 ".kernel == \"kern_$i\" and .stack[0].file == \"$tmp/plugin$i.so\""
	done
else
	skip "no nvcc or runtime here"
fi

it "1009 processes of 67 kernels each, one after the other, and no interval: all are there at the end"
run cudalaunchtop -jc "i=0; while [ \$i -lt 1009 ]; do $bin/launches handles 67; i=\$((i + 1)); done"
sum 67603 .launches
json 67603 '.launches == 1'
silent

it "with an interval: none of 20011 kernels is shown by its address because its name was not read yet"
# shellcheck disable=SC2086 # words
run $ahead env SIM_SPIN_US=cuModuleLoadData=300 cudalaunchtop -jc "$bin/launches kept 20011" 1
json 0 '.kernel | startswith("0x")'
sum 112058 .launches
silent

it "40009 modules that are unloaded: each kernel has its name"
# shellcheck disable=SC2086 # words
run $ahead env SIM_SPIN_US=cuModuleLoadData=350 cudatrace -e launch -jc "$bin/launches jit 40009"
equal "$(jq -r 'select(.func == "cuLaunchKernel") | .kernel' "$tmp/out" | sort -u | grep -c '^jit<')" 40009
silent
# shellcheck disable=SC2086 # words
tool $ahead cudalaunchtop -l "$lib/libcuda.so.1" -j 1
SIM_SPIN_US=cuModuleLoadData=350 "$bin/launches" jit 40009 & pid=$!
wait $pid
sleep 1.2
stop
of $pid
equal "$(jq -r .kernel "$tmp/out" | sort -u | grep -c '^jit<')" 40009
sum 224045 .launches
silent_of $pid

it "Numba's kernels are shown without Numba's tags, other kernels keep theirs"
{
	echo _ZN8__main__9add_numbaB2v1B104cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3Cw6igA9duC0hkwnNGiHEkYkrqQBFBTDEwCyQe21eqwcFW3UoDGjzpQEsgzrtUEAA_3d_3dE5ArrayIdLi1E1C7mutable7alignedE5ArrayIdLi1E1C7mutable7alignedE
	echo _Z6taggedB5cxx11v
} >"$tmp/some"
replayed cudalaunchtop -jc "$bin/launches names $tmp/some"
json 1 '.kernel == "__main__::add_numba" and .launches == 1' \
	1 '.kernel == "tagged[abi:cxx11]" and .launches == 2'
