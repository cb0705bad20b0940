# shellcheck shell=sh disable=SC2086 # lists of words
# The recordings that other tests replay: tests/replay/replay.c.
export SIM_NCCL_DIR="$tmp"

while IFS='|' read -r t of options command; do
	it "$t: what it prints of a recording is what it printed, of $of"
	record "$tmp/rec" "$t" $options -c "$bin/$command"
	status 0
	grep -v '^rank ' "$tmp/out" >"$tmp/printed"	# the command's own
	cp "$tmp/err" "$tmp/said"
	[ -s "$tmp/printed" ] || no "nothing was printed"
	replay "$tmp/rec" "$t" $options -c "$bin/$command"
	status 0
	equal "$(cat "$tmp/out")" "$(cat "$tmp/printed")"
	equal "$(cat "$tmp/err")" "$(cat "$tmp/said")"
done <<'LIST'
cudaleak|what is held||mem malloc 23 4096 free 7
cudaleak|call stacks|-j|mem malloc 23 4096 thread '(' malloc 7 64 ')' join fork '(' free 3 malloc 5 64 ')'
cudamallocsnoop|threads and processes|-k|mem malloc 23 4096 thread '(' malloc 7 64 ')' join fork '(' malloc 5 64 ')'
cudalaunchtop|kernels by their names|-k|mem launch 23 graph 7 thread '(' launch 5 ')' join exec '(' launch 3 ')'
cudamemcpysize|copies in all directions|-P|mem malloc 1 4096 copy 23 4096 h2d copy 7 64 d2h copyasync 5 64 h2d
cudasynclatency|waits|-k|mem sync 23 forkexec '(' sync 7 ')'
cudatrace|calls inside calls|--tree|mem malloc 23 4096 launch 7 fail 3
cudatrace|sums|-S -k|mem malloc 23 4096 launch 7 fail 3
cudatop|a process|-b|mem malloc 23 4096 launch 101
nccltop|operations||nccl 1 init allreduce 23 1 destroy
ncclsnoop|operations|-j|nccl 1 init allreduce 23 1 destroy
LIST

it "a recording is for the options that change what is probed"
record "$tmp/rec" cudatrace -e memory -c "$bin/mem malloc 3 64"
replay "$tmp/rec" cudatrace -e launch -c "$bin/mem malloc 3 64"
status 1
says 'not what was recorded: record it with these options'

it "a replay needs no privileges, and runs nothing"
command="touch $tmp/ran; $bin/mem malloc 23 64"
record "$tmp/rec" cudamallocsnoop -c "$command"
rm "$tmp/ran"
chmod 755 "$tmp"
# shellcheck disable=SC2086 # words
replay "$tmp/rec" $unprivileged "$O/tests/replay/cudamallocsnoop" -jc "$command"
status 0
json 23 '.op == "alloc" and .size == 64'
[ ! -e "$tmp/ran" ] || no "the command ran"

it "what is shown of the same command is of one run of it, whatever it is to look like"
replayed cudamallocsnoop -c "echo >>$tmp/ran; $bin/mem malloc 23 64"
lines 23 'cudaMalloc .* 64 '
replayed cudamallocsnoop -jc "echo >>$tmp/ran; $bin/mem malloc 23 64"
json 23 '.op == "alloc"'
equal "$(wc -l <"$tmp/ran")" 1
replayed cudamallocsnoop -kc "echo >>$tmp/ran; $bin/mem malloc 23 64"	# this needs another
equal "$(wc -l <"$tmp/ran")" 2

it "what is no whole recording is refused"
head -c 5000 "$tmp/rec" >"$tmp/part.rec"
replay "$tmp/part.rec" cudamallocsnoop -jc "$command"
status 1
says 'part.rec ends within an entry'

it "the command may be anywhere among the words"
replayed cudamallocsnoop -c "$bin/mem malloc 23 64" -j
json 23 '.op == "alloc"'
replayed cudamallocsnoop -jc "$bin/mem malloc 7 64" -q
json 7 '.op == "alloc"'
replayed cudamallocsnoop -q --command "$bin/mem malloc 5 64" -j
json 5 '.op == "alloc"'
