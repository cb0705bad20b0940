# shellcheck shell=sh disable=SC1091,SC2034,SC2154 # rc, pid, tracer: the words'
# Call stacks through Debian's interpreters, old and new: scripts/pythons fetches them.  3.8, 3.10 and 3.12,
# which it has not, are tried where they are installed.
. tests/stacks.sh

versions='3.8 3.9 3.10 3.11 3.12 3.13 3.13t 3.14 3.15'
for version in $versions; do
	it "Python $version: each frame of 291 calls of every kind is as Python has it, with C where C is"
	if ! furnish "$version"; then
		skip "$why_not"
		continue
	fi
	there="${there:-} $version"
	run cudamallocsnoop -jkc "$python $w/cases.py all >$tmp/truth"
	status 0
	compare python "$tmp/truth"
	[ "$(wc -l <"$tmp/truth")" -ge 291 ] || no "the program made $(wc -l <"$tmp/truth") calls"
	# up to 3.10 each Python call is several native ones: recursion takes more of the stack than is copied
	sed -i '/: 1 call stack is incomplete: 1 truncated (see --stack-size)$/d' "$tmp/err"
	silent

	for which in python native; do
		it "Python $version: --stack $which"
		run cudamallocsnoop -jk --stack $which -c "$python $w/cases.py all >$tmp/truth"
		compare python "$tmp/truth" --stack $which
	done

	it "Python $version: 900 frames are all there, or the stack says that they are not"
	run cudamallocsnoop -jkc "$python $w/cases.py deep >$tmp/truth"
	compare python "$tmp/truth" --may-stop deep

	it "Python $version: a module's top level, as a program and imported"
	run cudamallocsnoop -jkc "$python $w/toplevel.py >$tmp/truth; $python $w/cases.py module_level >>$tmp/truth"
	compare python "$tmp/truth"

	it "Python $version: processes that end at once"
	run cudamallocsnoop -jkc "for i in 1 2 3 4 5 6 7 8 9 10 11; do $python $w/once.py; done >$tmp/truth"
	compare python "$tmp/truth"
	equal "$(jq -s 'map(select(.op == "alloc")) | length' "$tmp/out")" 11

	it "Python $version: a program that runs already"
	# of a process of -p the children are not traced
	# shellcheck disable=SC2046,SC2086 # words
	program $python "$w/cases.py" nesting wait $($python "$w/cases.py" list | grep -vx -e forked -e deep)
	tool cudamallocsnoop -jkp "$pid"
	go
	wait "$tracer"
	sed '1,/ready/d' "$tmp/ready" >"$tmp/truth"
	compare python "$tmp/truth"

	it "Python $version: 41 programs that hang already, each in another call, in a thread too"
	# shellcheck disable=SC2046 # words
	hung $(seq 1 7 281)
	run cudamallocsnoop -jkp "$hung" -d 1
	status 0
	compare hung "$tmp/truth"
	equal "$(tail -n 1 "$tmp/compared")" "$nhung stacks compared, 0 wrong, 0 with a note"
	[ "$(jq 'select(.running and .tid != .pid and .complete == false).tid' "$tmp/out" | wc -l)" -ge 7 ] ||
		no "no threads"
	silent
	hung_end

	for nth in 2 211 283; do
		it "Python $version: a program that hangs in call $nth while it is traced"
		tool cudamallocsnoop -jkc "exec env SIM_LATENCY_US=cudaMalloc:$nth=-1 $python $w/cases.py all >$tmp/truth"
		until_true command_hangs
		stop TERM	# the shell has it ignore INT
		compare hung "$tmp/truth"
		json 1 '.running and .complete and any(.stack[]; .kind == "python")'
	done

	it "Python $version inside of another program, from the shared library"
	if [ -n "$embed" ]; then
		run cudamallocsnoop -jkc "$embed $w/cases.py all >$tmp/truth"
		status 0
		compare python "$tmp/truth"
	else
		skip "no program to try it with"
	fi

	it "Python $version: tracing changes nothing: the program's output is the same, and its status"
	$python "$w/cases.py" all 2>"$tmp/said" | jq -c '[.case, .frames]' >"$tmp/before"
	run cudamallocsnoop -jkc "$python $w/cases.py all >$tmp/truth"
	status 0
	jq -c '[.case, .frames]' "$tmp/truth" | sort >"$tmp/after"
	sort "$tmp/before" | cmp -s - "$tmp/after" || no "it had other stacks"

	# alone: the ring buffer is for a tool that has the CPU now and then
	it_alone "Python $version: two threads, 100,000 calls each: a stack is right, or says that it is not"
	run cudamallocsnoop -jkc "$python $w/storm.py 2 100000 >$tmp/truth"
	compare python "$tmp/truth" --may-stop storm
	seen_or_lost 200000

	it "Python $version: cudaleak holds the same stack of 3,001 calls as one"
	run cudaleak -jc "$python $w/cases.py -n 3001 nesting >$tmp/truth"
	# beside another test some stacks are lost, which it says: they are stacks of their own
	whole='(any(.stack[]; .kind == "note") | not) and ([.stack[] | select(.kind == "python")] | .[-1].sym == "<module>")'
	if grep -q 'incomplete: [0-9]* without room in the ring buffer$' "$tmp/err"; then
		json 2 ".count > 2001 and $whole"
		sum 6002 'select(.type == "held").count'
	else
		json 2 ".count == 3001 and $whole"
	fi
done

it "processes of several versions at once"
# shellcheck disable=SC2086 # words
set -- ${there:-}
if [ $# -gt 1 ]; then
	: >"$tmp/truth"
	command=''
	for version; do
		furnish "$version"
		command="$command $python $w/cases.py -n 3 all >$tmp/truth.$version &"
	done
	run cudamallocsnoop -jkc "$command wait"
	status 0
	cat "$tmp"/truth.* >"$tmp/truth"
	# eight new programs at once on few processors
	compare python "$tmp/truth" --may-lose
	lost=$(jq -s 'map(select(any(.stack[]?; .sym == "stack lost: no room in the ring buffer"))) | length' "$tmp/out")
	[ "$lost" -lt 700 ] || no "$lost stacks lost"
	[ "$(jq -r .version "$tmp/truth" | sort -u | wc -l)" -eq $# ] || no 'not all versions ran'
else
	skip "${why_not:-no interpreters}"
fi

it "a program that turns into another version by exec"
if [ $# -gt 1 ]; then
	furnish "$1"
	first="$python $w/cases.py nesting"
	furnish "$2"
	run cudamallocsnoop -jkc "sh -c '$first; exec $python $w/cases.py nesting generators' >$tmp/truth"
	compare python "$tmp/truth"
else
	skip "${why_not:-no interpreters}"
fi
