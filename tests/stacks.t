# shellcheck shell=sh disable=SC1091,SC2034,SC2154 # rc, pid, tracer: the words'
# Call stacks without frame pointers and through Python: nofp and tests/workloads/python print what their
# stacks are, and tests/stacks/compare.py holds the tools' against that, frame by frame.
. tests/stacks.sh
. tests/own.sh

# nofp VARIANT WORD...: the allocations' stacks
nofp() {
	run cudamallocsnoop -jkc "$bin/$* >$tmp/truth"
	status 0
}

it "a program without frame pointers: every frame of 27 stacks, in all ways that a stack can be"
nofp nofp all
compare native "$tmp/truth" --may-stop deep,altstack,context
equal "$(tail -n 1 "$tmp/compared" | cut -d, -f1,2)" '27 stacks compared, 0 wrong'

# what any user's program may write to
truth_for_all() {
	chmod 711 "$tmp"
	: >"$tmp/truth"
	chmod 666 "$tmp/truth"
}

if [ -e "$bin/inject" ]; then
	it "the same with --attach inject, as an ordinary user"
	truth_for_all
	run cudamallocsnoop --attach inject -jkc "$bin/nofp all >$tmp/truth"
	status 0
	compare native "$tmp/truth" --may-stop deep,altstack,context
	equal "$(tail -n 1 "$tmp/compared" | cut -d, -f1,2)" '27 stacks compared, 0 wrong'
fi

it "a process whose first thread has ended: functions have names"
program "$bin/mem" malloc 1 64 thread '(' alone wait malloc 13 900 exit 0 ')' leave
tool cudamallocsnoop -jkp "$pid"
go
wait "$tracer"
json 13 '.size == 900 and (.stack | map(.sym) | contains(["do_malloc", "thread_main"]))'

it "what has no unwind information is said in the stack, with the file, and at the end"
run cudamallocsnoop -jkc "$bin/nofp bare asm_silent"
json 2 '.op == "alloc" and (.stack[-1] | .kind == "note" and .sym == "no unwind information")' \
	1 '.stack[-1].file // "" | endswith("/libbare.so")'
says '2 call stacks are incomplete: 2 without unwind information'
replayed cudamallocsnoop -kc "$bin/nofp bare"
lines 1 '^        \[no unwind information: .*/libbare\.so\]$'

it "a stack larger than is looked at is said to be truncated, and its first frames are right"
run cudamallocsnoop -jk --stack-size 8k -c "$bin/nofp deep >$tmp/truth"
compare native "$tmp/truth" --may-stop deep,altstack,context
json 1 '.op == "alloc" and ([.stack[] | select(.sym == "recurse_wide")] | length >= 2)'

for options in '' ${LONG:+'--stack-size 32k'}; do
	it "buffers that are not used yet hide no caller${options:+, with $options}, in main's stack and a thread's"
	# shellcheck disable=SC2086 # words
	run cudamallocsnoop -jk $options -c "$bin/nofp holes thread_holes >$tmp/truth"
	compare native "$tmp/truth"
	json 2 '.op == "alloc" and ([.stack[].sym] | contains(["hole_8k", "hole_20k", "hole_64k"]))'
	silent
done

it "a buffer that is larger than what is looked at is said to be"
run cudamallocsnoop -jk -c "$bin/nofp large_hole >$tmp/truth"
compare native "$tmp/truth" --may-stop large_hole
json 1 '.stack[-2].sym == "hole_1m" and (.stack[-1].sym | test("^truncated: stack larger than 25[2-6] KiB$"))'
says '1 call stack is incomplete: 1 truncated (see --stack-size)'

it "arguments and environment, which lie behind the main thread's stack, take no room in the ring buffer"
program env "BIG=$(head -c 100000 /dev/zero | tr '\0' x)" "$bin/mem" wait malloc 307 64 wait
tool cudaleak -jp "$pid"
kill -STOP "$tracer"
echo >&3
until_true sh -c "[ \$(grep -c ready '$tmp/ready') = 2 ]"
kill -CONT "$tracer"
go
wait "$tracer"
sum 307 'select(.stack[-1].sym == "_start").count'
silent

it "a tool ends well before a program whose stacks it has unwound"
program "$bin/nofp" wait plain wait
tool cudamallocsnoop -jkp "$pid"
echo >&3
until_true grep -q '"alloc"' "$tmp/out"
stop
status 0
json 1 '.op == "alloc" and .stack[-1].sym == "_start"'
go

for case in lie_hole lie_beyond; do
	case $case in
	lie_hole) it "what was never in memory is not taken for a frame" ;;
	# while another tool places its probes, the kernel does not tell where the stack's mapping ends
	*) it_alone "what lies beyond a stack that the program made is not taken for a frame" ;;
	esac
	if [ "$case${ATTACH:-}" = lie_beyondinject ]; then
		skip "nothing tells the program itself where such a stack ends"
		continue
	fi
	run cudamallocsnoop -jk -c "$bin/nofp $case"
	json 1 '.op == "alloc" and .stack[-2].sym == "asm_lie" and .stack[-1].sym == "stack unreadable"'
	says '1 call stack is incomplete: 1 unreadable'
done

it "--unwind fp is what frame pointers tell: a program that has them is named to its beginning, another is not"
run cudamallocsnoop -jk --unwind fp -c "$bin/deep-c 1 64"
json 1 '[.stack[].sym] | index("leak_1") and index("leak_10") and index("main")'
replayed cudamallocsnoop -jk --unwind fp -c "$bin/nofp plain"
json 0 '.op == "alloc" and ([.stack[].sym] | index("main"))'

it "without frame pointers and without -k nothing is unwound"
replayed cudamallocsnoop -jc "$bin/nofp plain bare"
json 0 'has("stack")'
silent

# kept: the memory of the ring buffer and of the tables for stacks that the tool has, in elements
kept() {
	sed -n 's/^map_id:[^0-9]*//p' /proc/"$tracer"/fdinfo/* | while read -r map; do
		bpftool -j map show id "$map" 2>/dev/null
	done | jq -rs 'unique_by(.id) | map(select(.name == ("events", "unwind_table", "python_codes")) |
		"\(.name) \(.max_entries)") | sort | join(", ")'
}

# as many bytes of records as the tool's programs ask for, not a copy of each stack
for tool in cudamallocsnoop:8388608 "cudamemcpysize --time:4096" ${LONG:+"cudaleak -C:8388608" cudatrace:16777216 \
	cudamemcpysize:4194304 cudalaunchtop:8388608 cudasynclatency:4194304}; do
	it "${tool%:*} without call stacks keeps no tables and no room for them"
	program "$bin/nofp" wait
	# shellcheck disable=SC2086 # words
	tool ${tool%:*} -jp "$pid"
	equal "$(kept)" "events ${tool#*:}, python_codes 1, unwind_table 1"
	stop
	go
done

it "with call stacks it does, for the frames that are wanted"
for want in 'all:16777216, python_codes 65536, unwind_table 16384' \
	${LONG:+'native:16777216, python_codes 1, unwind_table 16384' 'python:8388608, python_codes 65536, unwind_table 1'}; do
	program "$bin/nofp" wait
	tool cudalaunchtop -jp "$pid" --stack "${want%%:*}"
	equal "$(kept)" "events ${want#*:}"
	stop
	go
done

it "a program of nvcc -O2"
if [ -x "$bin/leaky-nvcc" ]; then
	run cudaleak -jc "$bin/leaky-nvcc 23"
	json 1 '.count == 23 and ([.stack[].sym | values | split("(")[0]] | .[:4] == ["device_memory","cache_result","handle_request","main"])' \
		1 '.stack[-1].sym == "_start"'
else
	skip "no nvcc here"
fi

# each tool, and what makes it show the stack of a call
for tool in cudaleak:malloc ${LONG:+cudamallocsnoop:malloc cudatrace:malloc cudamemcpysize:copy cudalaunchtop:launch \
	cudasynclatency:sync}; do
	it "${tool%:*} has the whole stack"
	stacks=k
	[ "${tool%:*}" != cudaleak ] || stacks=
	run "${tool%:*}" -j$stacks -c "$bin/nofp -n 23 -c ${tool#*:} plain"
	jq -se 'map(select(.stack)) | length > 0 and all(.stack | [.[].sym | values] as $s |
		($s[:6] == ["allocate","three","two","one","run","main"]) and $s[-1] == "_start")' "$tmp/out" >"$tmp/jq" 2>&1 ||
		no "stacks: $(jq -c '[.stack[]?.sym]' "$tmp/out" | sort -u | head -n 2 | tr '\n' ' ')"
done

it "values that --stack, --unwind and --stack-size do not have"
for tool in cudamallocsnoop cudaleak cudatrace cudamemcpysize cudalaunchtop cudasynclatency; do
	fails 2 "--stack: 'no' is not one of all|native|python" $tool --stack no
	fails 2 "--unwind: 'x' is not one of dwarf|fp" $tool --unwind x
	fails 2 "--stack-size: " $tool --stack-size 1
done

# ---- Python

# the machine's own interpreter, or one that has been fetched
if ! furnish host && { [ ! -d "$pythons/3.11" ] || ! furnish 3.11; }; then
	it "Python programs"
	skip "$why_not"
	return
fi

it "Python: each frame of 291 calls of every kind is as Python has it, with C where C is"
run cudamallocsnoop -jkc "$python $w/cases.py all >$tmp/truth"
status 0
compare python "$tmp/truth"
jq -e '[.op == "alloc"] | any' "$tmp/out" >/dev/null || no "without an allocation"
[ "$(wc -l <"$tmp/truth")" -ge 291 ] || no "the program made $(wc -l <"$tmp/truth") calls"
silent

if [ -e "$bin/inject" ]; then
	it "the same with --attach inject, as an ordinary user"
	truth_for_all
	# shellcheck disable=SC2086 # words
	if $unprivileged $python -c pass 2>/dev/null; then
		run cudamallocsnoop --attach inject -jkc "$python $w/cases.py all >$tmp/truth"
		status 0
		compare python "$tmp/truth"
		[ "$(wc -l <"$tmp/truth")" -ge 291 ] || no "the program made $(wc -l <"$tmp/truth") calls"
		silent
	else
		skip "${python##* } cannot be run by others"
	fi
fi

for which in python native; do
	it "--stack $which"
	run cudamallocsnoop -jk --stack $which -c "$python $w/cases.py nesting callbacks ctypes_callbacks c_threads >$tmp/truth"
	compare python "$tmp/truth" --stack $which
done

it "Python frames in text: the line, and the name"
replayed cudamallocsnoop -kc "$python $w/cases.py nesting >$tmp/truth"
line=$(jq -r 'select(.frames[0].sym == "three_exact").frames[0].line' "$tmp/truth")
lines 1 "^        $w/cases\\.py:$line three_exact\$"
lines 1 "^        $w/cases\\.py:[0-9]+ (nesting\\.<locals>\\.inner\\.<locals>\\.)?innermost\$"

it "cudaleak adds up by Python stack, and --folded has it for flame graphs"
replayed cudaleak -jc "$python $w/cases.py -n 23 nesting >$tmp/truth"
json 2 '.count == 23 and ([.stack[] | select(.kind == "python")] | .[-1].sym == "<module>")'
replayed cudaleak --folded --stack python -c "$python $w/cases.py -n 23 nesting >$tmp/truth"
lines 1 ';nesting[^;]*;three_exact[^;]*;\[device\] [0-9]+$'

it "--pprof has the file and line of Python's frames"
replayed cudaleak --stack python --pprof "$tmp/p" -c "$python $w/cases.py -n 23 nesting >$tmp/truth"
python3 tests/pprof.py "$tmp/p" >"$tmp/out" 2>"$tmp/err"
sum 46 'select(.folded // "" | test("<module>;main;.*nesting;.*;\\[device]$")) | .values.allocations'
json 2 '[.stack[]? | select(.name == "main" and (.file | endswith("/cases.py")) and .line > 0)] | length == 1'

it "cudatrace -k names Python's frames too"
replayed cudatrace -e cudaMalloc -jkc "$python $w/cases.py nesting >$tmp/truth"
json 2 '.func == "cudaMalloc" and ([.stack[] | select(.kind == "python").sym] | index("main") and index("nesting"))'

it "Python programs that hang already: the lines of their functions, in a thread too, and in every tool that is asked"
hung 1 101 211 251 283
run cudamallocsnoop -jkp "$hung" -d 1
status 0
compare hung "$tmp/truth"
equal "$(tail -n 1 "$tmp/compared")" "5 stacks compared, 0 wrong, 0 with a note"
json 5 '.running and .complete == false and .func == "cudaMalloc"' 3 '.running and .tid != .pid'
silent
run cudatrace -jkp "$hung" -d 1
compare hung "$tmp/truth"
json 5 '.running and any(.stack[]; .kind == "python") and any(.stack[]; .kind == "native")'

for which in ${LONG:+python native}; do
	it "… with --stack $which"
	run cudamallocsnoop -jk --stack "$which" -p "$hung" -d 1
	compare hung "$tmp/truth" --stack "$which"
	equal "$(tail -n 1 "$tmp/compared")" "5 stacks compared, 0 wrong, 0 with a note"
done
it "… in text, and without -k"
run cudamallocsnoop -kp "${hung%%,*}" -d 1
line=$(jq -r "select(.pid == ${hung%%,*}).frames[0] | \"\\(.line) \\(.sym)\"" "$tmp/truth" | tail -n 1)
[ -n "$line" ] && grep -qxF "        $w/cases.py:$line" "$tmp/out" || no "no line $line"
run cudamallocsnoop -jp "$hung" -d 1
json 5 '.running and (.stack | not)'
hung_end

for kind in session $(! long || [ ! -e "$bin/inject" ] || echo inject); do
	it "a Python program that hangs in a thread while it is traced: --attach $kind"
	truth_for_all
	tool cudamallocsnoop --attach "$kind" -jkc "exec env SIM_LATENCY_US=cudaMalloc:211=-1 $python $w/cases.py all >$tmp/truth"
	until_true command_hangs
	stop TERM	# the shell has it ignore INT
	compare hung "$tmp/truth"
	json 1 '.running and .complete and .tid != .pid and any(.stack[]; .kind == "python") and any(.stack[]; .kind == "native")'
done

for which in ${LONG:+all python}; do
	it "--stack $which: a Python program that began before the tool could look says that it lacks Python frames"
	# of every process, which it looks for, that one's stacks: others' may be incomplete, too
	tool cudamallocsnoop -jk --stack "$which" -l "$lib/libcudart.so.13" --comm python$$
	kill -STOP "$tracer"
	# shellcheck disable=SC2086 # words
	program $python "$w/cases.py" comm=python$$ nesting wait nesting
	kill -CONT "$tracer"
	until_true grep -q alloc "$tmp/out"
	sleep 1
	go
	stop
	status 0
	lacks='Python frames lost: the interpreter was not known yet'
	json 2 ".op == \"alloc\" and .stack[-1].sym == \"$lacks\"" \
		2 '.op == "alloc" and any(.stack[]?; .sym == "nesting")' \
		1 '.incomplete_stacks == 2 and .incomplete_by == { python_not_known_yet: 2 }'
	says '2 call stacks are incomplete: 2 without all Python frames (the interpreter was not known yet)'
done

it "a thread of a Python program that runs no Python lacks nothing"
run cudamallocsnoop -jkc "$python $w/c_thread.py"
json 1 '.op == "free" and (.stack | length) > 1 and all(.stack[]; .kind == "native")'
silent

if long; then
	it "Python under load: two threads, 100,000 calls each; a stack is right, or says that it is not"
	# shellcheck disable=SC2086 # words
	run $ahead cudamallocsnoop -jkc "$python $w/storm.py 2 100000 >$tmp/truth"
	compare python "$tmp/truth" --may-stop storm
	seen_or_lost 200000
fi

long || leave

it "a process of Python that ends at once"
run cudamallocsnoop -jkc "for i in 1 2 3 4 5 6 7; do $python $w/once.py; done >$tmp/truth"
compare python "$tmp/truth"
equal "$(jq -s 'map(select(.op == "alloc")) | length' "$tmp/out")" 7

it "a Python program that runs already"
# shellcheck disable=SC2086 # words
program $python "$w/cases.py" nesting wait nesting generators ctypes_callbacks threads
tool cudamallocsnoop -jkp "$pid"
go
wait "$tracer"
sed '1,/ready/d' "$tmp/ready" >"$tmp/truth"
compare python "$tmp/truth"

it "a program whose names take more than 4 MiB: they stay in the file, and are read from there when they are needed"
cat >"$tmp/many.c" <<'END'
int cudaMalloc(void **, unsigned long);

__attribute__((noinline)) int allocates_here(void **p)
{
	int r = cudaMalloc(p, 4096);

	__asm__ volatile("");
	return r;
}

int main(void)
{
	void *p[2];

	return allocates_here(&p[0]) + allocates_here(&p[1]);
}
END
awk 'BEGIN { print ".section .note.GNU-stack\n.text"; for (i = 0; i < 30000; i++) {
	name = sprintf("f%d_%0200d", i, i)
	print ".globl " name "\n.type " name ", @function\n" name ": nop\n.size " name ", 1" } }' >"$tmp/many.S"
${CC:-cc} -O1 -o "$tmp/many" "$tmp/many.c" "$tmp/many.S" "$lib/libcudart.so.13" -Wl,-rpath,"$lib"
run cudamallocsnoop -jkc "$tmp/many"
# of what calls main() in the C library only its debug file has the name
json 2 '.op == "alloc" and .stack[0].sym == "allocates_here" and .stack[1].sym == "main" and .stack[-1].sym == "_start"'

cat >"$tmp/paths.c" <<'END'
#include <stdio.h>
#include <unistd.h>
struct dim3 { unsigned x, y, z; };
int cudaMalloc(void **, unsigned long);
int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, unsigned long, void *);

static volatile int calls;

static void path(int depth, unsigned bits, int launches)
{
	struct dim3 one = { 1, 1, 1 };
	void *p;

	if (!depth && launches)
		cudaLaunchKernel(path, one, one, &p, 0, 0);
	else if (!depth)
		cudaMalloc(&p, 64);
	else if (bits >> depth % 15 & 1)
		path(depth - 1, bits, launches), calls++;
	else
		path(depth - 1, bits, launches), calls--;
}

/* Calls from 20011 stacks of 120 frames; to launch, once it reads a line. */
int main(int argc, char **argv)
{
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	for (int i = 0; i < 20011; i++) {
		path(120, i, argc > 1);
		if (argc == 1 && i % 1000 == 0)	/* a busy tool keeps up */
			usleep(50000);
	}
	return 0;
}
END
${CC:-cc} -O0 -fno-omit-frame-pointer "$tmp/paths.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/paths"
frames='--unwind fp --stack native'

it "where memory for call stacks is full, that is in the place of further ones, and how many there are"
full='no stack: memory for call stacks is full'
# shellcheck disable=SC2086 # words
run cudaleak $frames -T 1 -jc "$tmp/paths"
json 1 ".type == \"held\" and .count > 5003 and [.stack[].sym] == [\"$full\"]"
n=$(jq 'select(.type == "held").count' "$tmp/out")
json 1 ".incomplete_stacks == $n and .incomplete_by == { no_stack_memory_full: $n }"
says "$n call stacks are incomplete: $n without any frame (memory for call stacks is full)"
# shellcheck disable=SC2086 # words
run cudaleak $frames --folded --pprof "$tmp/p" -c "$tmp/paths"
# on a busy machine the ring buffer fills: these stacks are not there at all
lost=$(sed -n 's/.*: \([0-9]*\) records\{0,1\} lost: .*/\1/p' "$tmp/err")
n=$(sed -n 's/.*: \([0-9]*\) call stacks are incomplete: .*/\1/p' "$tmp/err")
[ "$n" -gt 5003 ] || no "$n stacks had no memory"
lines 1 "^paths;\\[$full\\];\\[device\\] $((n * 64))$"
lines $((20011 - n - ${lost:-0} + 1)) ''
python3 tests/pprof.py "$tmp/p" >"$tmp/out"
json 1 "select(.folded // \"\" | contains(\"[$full]\")) | .values.allocations == $n"

it "where a record with a stack is lost, its launch is counted, and that is in the place of its stack"
program "$tmp/paths" launch
# shellcheck disable=SC2086 # words
tool cudalaunchtop $frames -kjp "$pid"
kill -STOP "$tracer"
go
kill -CONT "$tracer"
wait "$tracer"
# 120 MB of stacks: the rest has one launch each
equal "$(grep -o '"launches":[0-9]*' "$tmp/out" | awk -F: '{ n += $2 } END { print n }')" 20011
grep -v '"launches":1,' "$tmp/out" >"$tmp/rest"
mv "$tmp/rest" "$tmp/out"
n=$(jq 'select(.lost).lost' "$tmp/out")
[ "$n" -gt 5003 ] || no "$n records are lost"
json 1 ".launches == $n and [.stack[].sym] == [\"no stack: its record was lost\"]" \
	1 ".incomplete_stacks == $n and .incomplete_by == { no_stack_record_lost: $n }"
