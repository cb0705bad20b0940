# shellcheck shell=sh
# The options that select whose calls are recorded, and which.

tools="cudamallocsnoop cudaleak cudamemcpysize cudasynclatency cudalaunchtop cudatrace"
calls="$bin/mem malloc 23 64 copy 7 64 h2d sync 5 launch 3"

# recorded TOOL: the lines of JSON about calls, without what cudaleak says of nothing
recorded() { jq -c 'select(.type != "held" or .pid > 0)' "$tmp/out" | wc -l; }

for t in $tools; do
	for kind in $kinds; do
		case $kind-$t in session-* | *-cudamallocsnoop) ;; *) continue ;; esac
		it "$t --attach $kind: --comm and --uid record whom they name, and nobody else"
		run "$t" --attach "$kind" --comm mem --uid "$(id -u)" -jc "$calls"
		status 0
		[ "$(recorded)" -gt 0 ] || no "nothing is recorded"
		silent
		for filter in '--comm me' '--comm memo' '--comm sh' '--uid 4321'; do
			# shellcheck disable=SC2086 # words
			run "$t" --attach "$kind" $filter -jc "$calls"
			status 0
			equal "$(recorded)" 0
		done
	done
done

it "--comm is the name of the process, not of the calling thread, and of 15 bytes"
cp "$bin/mem" "$tmp/a_name_of_many_bytes"
for comm in a_name_of_many_bytes a_name_of_many_; do
	run env LD_LIBRARY_PATH="$lib" cudamallocsnoop --comm $comm -jc "$tmp/a_name_of_many_bytes thread '(' malloc 23 64 ')'"
	json 23 '.op == "alloc"'
done

root=$(grep -s ' cgroup2 ' /proc/mounts | cut -d' ' -f2 | head -n 1)
# of no other cgroup
short=$(printf %08x $$)
id=${short}89abcdef0123456789abcdef0123456789abcdef0123456789abcdef
group=$root/cbt$$/docker-$id.scope
it "--cgroup and --container: a cgroup and those below it, by path, id and container"
if [ -z "$root" ] || ! mkdir -p "$group/below" 2>/dev/null; then
	skip "no cgroup can be made here"
else
	# shellcheck disable=SC2016 # the inner shell is to expand it
	inside="sh -c 'echo \$\$ >$group/below/cgroup.procs; exec $bin/mem malloc 23 64'"
	for filter in "--cgroup /cbt$$" "--cgroup $group/below" "--cgroup $(stat -c %i "$group")" "--container $short" \
		"--container $id" '--cgroup /'; do
		# shellcheck disable=SC2086 # words
		run cudamallocsnoop $filter -jc "$inside"
		json 23 '.op == "alloc"'
		# shellcheck disable=SC2086 # words
		run cudamallocsnoop $filter -jc "$bin/mem malloc 19 64"
		[ "$filter" = '--cgroup /' ] || json 0 .
	done
	rmdir "$group/below" "$group" "$root/cbt$$"
fi

it "cudaleak says nothing of a process that used CUDA before and is not selected"
program "$bin/mem" malloc 1 64 wait
run cudaleak --comm mem -jCp "$pid" 1 1
json 1 ".pid == $pid and (.complete | not)"
json 1 true
run cudaleak --comm other -jCp "$pid" 1 1
json 1 '.pid == 0 and .complete'
json 1 true
run cudaleak --comm mem -Cp "$pid" 1 1
lines 1 'nothing held: .*; allocations before [0-9:]{8} are unknown$'
run cudaleak --comm other -Cp "$pid" 1 1
lines 1 'nothing held: 0 allocations and 0 frees seen$'
exec 3>&-
kill "$pid" 2>/dev/null

it "a cgroup or container that does not exist is an error"
fails 1 "there is no such cgroup" cudamallocsnoop --cgroup /nonexistent -c true
fails 1 "no cgroup has this id" cudamallocsnoop --cgroup 99999999999 -c true
fails 1 "no cgroup has it in its name" cudamallocsnoop --container "$id" -c true
fails 1 "not a container ID" cudamallocsnoop --container web -c true
fails 2 "--cgroup and --container are mutually exclusive" cudaleak --cgroup / --container "$id" -c true

slow="env SIM_LATENCY_US=cuMemAlloc_v2=20000,cuCtxSynchronize=20000 $bin/mem malloc 5 64 free 5 sync 7 streamsync 3"

it "--slower leaves out quick calls"
run cudamallocsnoop --slower 10000 -jc "$slow"
json 5 '.op == "alloc" and .latency_ns >= 20000000'
json 5 true
for slower in 10000 10ms; do
	run cudatrace --slower "$slower" -jc "$slow"
	json 12 '.latency_ns >= 20000000'
	json 12 true
done
run cudatrace --slower 10ms -c "$slow"
lines 12 '^cuda(Malloc|DeviceSynchronize)'
lines 12 ''
run cudasynclatency --slower 10ms -jc "$slow"
json 1 '.type == "waits" and .func == "cudaDeviceSynchronize" and .count == 7'
json 1 '.type == "waits"'
json 1 '.type == "thread" and .waits == 7'
run env SIM_LATENCY_US=cuMemcpyHtoD_v2:3=20000 cudamemcpysize --slower 10ms -jc "$bin/mem copy 7 64 h2d copy 5 64 d2h"
json 1 '.direction == "HtoD" and .count == 1 and .bytes == 64'
json 1 true
fails 2 "--slower cannot be combined with --enter" cudatrace --slower 1 --enter

it "-n stops after so many calls"
for t in cudamallocsnoop cudatrace; do
	run $t -n 11 -jc "$bin/mem malloc 23 64"
	status 0
	json 11 '.func == "cudaMalloc"'
	json 11 true
done
program "$bin/mem" malloc 1 64 wait malloc 23 64 wait
tool cudamallocsnoop -n 7 -jp "$pid"
echo >&3
wait "$tracer"
rc=$?
status 0
json 7 '.size == 64'
exec 3>&-
kill "$pid"
