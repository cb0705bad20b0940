# shellcheck shell=sh disable=SC1091,SC2034,SC2154 # rc, pid, tracer: the words'
# Native call stacks without frame pointers: the variants of nofp compare the truth that they print, against
# gdb and against perf.

. tests/stacks.sh
. tests/own.sh

# the cases that all follow to the end: the tools' copy is one stack of at most 64 KiB; gdb has nothing to go
# by in three cases and runs past the end of a context's stack; perf does not know that a register can be kept
# in another, nor does it find the frame that a signal interrupted, nor copy what is behind an untouched page
all=$("$bin/nofp" list | grep -vx -e noreturn -e exit -e storm -e reloaded -e large_hole -e lie_hole -e lie_beyond)
for_gdb=$(echo "$all" | grep -vx -e deep -e altstack -e asm_silent -e bare -e deleted -e context | tr '\n' ' ')
for_perf=$(echo "$for_gdb" | tr ' ' '\n' | grep -vx -e asm_register -e signal -e holes -e thread_holes | tr '\n' ' ')

for variant in nofp nofp-O3 nofp-stripped nofp-nohdr nofp-clang nofp-static nofp-static-pie; do
	it "$variant: every frame of every stack, as the program knows it"
	case $variant-${ATTACH:-} in *-static*-inject)
		skip "the dynamic linker loads nothing into a static program"
		continue
		;;
	esac
	run cudamallocsnoop -jkc "$bin/$variant all >$tmp/truth"
	status 0
	compare native "$tmp/truth" --may-stop deep,altstack,context
	[ "$(wc -l <"$tmp/truth")" -ge 23 ] || no "the program made $(wc -l <"$tmp/truth") calls"

	for case in noreturn exit; do
		it "$variant: $case"
		run cudamallocsnoop -jkc "$bin/$variant $case >$tmp/truth"
		compare native "$tmp/truth"
	done

	it "$variant: a call before main"
	run cudamallocsnoop -jkc "env NOFP_CONSTRUCTOR=1 $bin/$variant plain >$tmp/truth"
	compare native "$tmp/truth"

	# alone, as gdb hears of no library that is loaded where a tool has probes, which one that traces all has in every program
	it_alone "$variant: as gdb has it"
	case $variant in *static*) cases=$(echo "$for_gdb" | sed -E 's/\b(library|ffi) //g') ;; *) cases=$for_gdb ;; esac
	if command -v gdb >/dev/null && gdb -nx -batch -ex 'python pass' >/dev/null 2>&1; then
		# shellcheck disable=SC2086 # words
		timeout 100 gdb -nx -batch -ex "python out = '$tmp/gdb'" -x tests/stacks/gdb_stacks.py \
			--args "$bin/$variant" $cases >/dev/null 2>&1
		run cudamallocsnoop -jkc "$bin/$variant $cases >$tmp/truth"
		compare reference "$tmp/gdb"
	else
		skip "no gdb with Python here"
	fi
done

it "a program without frame pointers: as perf has it"
if command -v perf >/dev/null; then
	# shellcheck disable=SC2086 # words
	timeout 100 python3 tests/stacks/perf_stacks.py "$tmp/perf" "$lib/libcudart.so.13" "$bin/nofp" $for_perf \
		>/dev/null 2>"$tmp/said"
	if [ -s "$tmp/perf" ]; then
		run cudamallocsnoop -jkc "$bin/nofp $for_perf >$tmp/truth"
		compare reference "$tmp/perf"
	else
		skip "perf cannot: $(tail -n 1 "$tmp/said")"
	fi
else
	skip "no perf here"
fi

# alone, as the others with gdb
it_alone "the native frames of Python, as gdb has them"
if command -v gdb >/dev/null && furnish host; then
	set -- "$w/cases.py" nesting recursion generators callbacks ctypes_callbacks qsort threads c_threads
	CUDA_LIB=$lib timeout 200 gdb -nx -batch -ex "python out = '$tmp/gdb'" -x tests/stacks/gdb_stacks.py \
		--args /usr/bin/python3 "$@" >/dev/null 2>&1
	run cudamallocsnoop -jk --stack native -c "$python $* >$tmp/truth"
	compare reference "$tmp/gdb"
else
	skip "${why_not:-no gdb here}"
fi

it "a process that runs already"
program "$bin/nofp" plain wait signal library ffi thread wait
tool cudamallocsnoop -jkp "$pid"
echo >&3
# libnofp and libffi are looked for while it is there
until_true grep -qPz 'ready(.|\n)*ready' "$tmp/ready"
sleep .5
go
wait "$tracer"
sed '1,/ready/d' "$tmp/ready" >"$tmp/truth"
compare native "$tmp/truth"

it "a process in a container with a root of its own"
jail=$tmp/jail
mkdir -p "$jail/bin" "$jail/lib" "$jail/tmp"
cp "$bin/nofp" "$jail/bin"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$lib/libnofp.so" "$jail/lib"
for f in $(ldd "$bin/nofp" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\// && $i !~ /\/tests\//) print $i }'); do
	mkdir -p "$jail$(dirname "$f")"
	cp -L "$f" "$jail$f"
done
if [ "${ATTACH:-}" = inject ]; then
	skip "only root can change the root, and the library is not in the new one"
else
	run cudamallocsnoop -jkc "chroot $jail /bin/nofp plain signal library deleted qsort thread >$tmp/truth"
	compare native "$tmp/truth"
fi

it "100,000 calls a second in two threads: a stack is complete, or says that it is not, and what is lost is counted"
run cudamallocsnoop -jkc "$another $bin/nofp -n 50021 -r 25000 storm >$tmp/truth"
compare native "$tmp/truth" --may-stop storm
seen_or_lost 100042

it "two threads, as fast as they can: no stack is wrong, and what is lost is counted"
run cudamallocsnoop -jkc "$another $bin/nofp -n 200003 storm >$tmp/truth"
compare native "$tmp/truth" --may-stop storm
[ "$(jq -n '[inputs | if .lost then .lost else 1 end] | add' "$tmp/out")" -eq 800012 ] ||
	no "$(jq -n '[inputs | if .lost then .lost else 1 end] | add' "$tmp/out") calls seen or lost, not 800012"

it "a library that is unloaded, and another loaded in its place, 101 times"
run cudamallocsnoop -jkc "$bin/nofp -n 101 reloaded >$tmp/truth"
compare native "$tmp/truth"
