# shellcheck shell=sh
# The options that select whose calls are recorded, and which.
light

tools="cudamallocsnoop cudaleak cudamemcpysize cudasynclatency cudalaunchtop cudatrace"
calls="$bin/mem malloc 23 64 copy 7 64 h2d sync 5 launch 3"

# recorded TOOL: the lines of JSON about calls, without what cudaleak says of nothing
recorded() { jq -c 'select(.type != "held" or .pid > 0)' "$tmp/out" | wc -l; }

for t in $tools; do
	it "$t: --comm and --uid record whom they name, and nobody else, which is said where nobody is left"
	run "$t" --comm mem --uid 0 -jc "$calls"
	status 0
	[ "$(recorded)" -gt 0 ] || no "nothing is recorded"
	silent
	run "$t" --comm me --uid 0 -jc "$calls"
	status 0
	equal "$(recorded)" 0
	says 'no process matched --comm me --uid 0 when it loaded CUDA'
	says_not 'no CUDA'
done

# the program by other names, and where another user may run it
away=$tmp/away
mkdir -p "$away/bin" "$away/lib"
chmod 711 "$tmp"
cp "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$away/lib"
for program in mem me memo; do cp "$bin/mem" "$away/bin/$program"; done
other='setpriv --reuid 4321 --regid 4321 --clear-groups'
few="$away/bin/mem malloc 23 64; $away/bin/me malloc 7 64; $away/bin/memo malloc 5 64
	$other $away/bin/mem malloc 3 64; $other $away/bin/memo malloc 2 64"
for kind in $kinds; do
	it "--attach $kind: of processes of other names and users, those alone that both name"
	for filter in '--comm mem --uid 0:23' '--comm memo --uid 4321:2' '--uid 4321:5'; do
		# shellcheck disable=SC2086 # words
		run cudamallocsnoop --attach "$kind" ${filter%:*} -jc "$few"
		status 0
		json "${filter#*:}" true
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
		replayed cudamallocsnoop $filter -jc "$inside; $bin/mem malloc 19 128"
		json 23 '.op == "alloc" and .size == 64'
		[ "$filter" = '--cgroup /' ] || json 23 true
	done
	json 42 true
	rmdir "$group/below" "$group" "$root/cbt$$"
fi

it "cudaleak says nothing of a process that used CUDA before and is not selected"
program "$bin/mem" malloc 1 64 wait
run cudaleak --comm mem -jCp "$pid" 100ms 1
json 1 ".pid == $pid and (.complete | not)" 1 true
run cudaleak --comm other -jCp "$pid" 100ms 1
json 1 '.pid == 0 and .complete' 1 true
run cudaleak --comm mem -Cp "$pid" 100ms 1
lines 1 'nothing held: .*; allocations before [0-9:]{8} are unknown$'
run cudaleak --comm other -Cp "$pid" 100ms 1
lines 1 'nothing held: 0 allocations and 0 frees seen$'
exec 3>&-
kill "$pid" 2>/dev/null

it "a cgroup or container that does not exist is an error"
fails 1 "there is no such cgroup" cudamallocsnoop --cgroup /nonexistent -c true
fails 1 "no cgroup has this id" cudamallocsnoop --cgroup 99999999999 -c true
fails 1 "no cgroup has it in its name" cudamallocsnoop --container "$id" -c true
fails 1 "not a container ID" cudamallocsnoop --container web -c true

slow="env SIM_LATENCY_US=cuMemAlloc_v2=20000,cuCtxSynchronize=20000 $bin/mem malloc 5 64 free 5 sync 7 streamsync 3"

it "--slower leaves out quick calls"
replayed cudamallocsnoop --slower 10000 -jc "$slow"
json 5 '.op == "alloc" and .latency_ns >= 20000000' 5 true
replayed cudatrace --slower 10ms -jc "$slow"
json 12 '.latency_ns >= 20000000' 12 true
replayed cudasynclatency --slower 10ms -jc "$slow"
json 1 '.type == "waits" and .func == "cudaDeviceSynchronize" and .count == 7' \
	1 '.type == "waits"' \
	1 '.type == "thread" and .waits == 7'
replayed SIM_LATENCY_US=cuMemcpyHtoD_v2:3=20000 cudamemcpysize --slower 10ms -jc "$bin/mem copy 7 64 h2d copy 5 64 d2h"
json 1 '.direction == "HtoD" and .count == 1 and .bytes == 64' 1 true

it "-n stops after so many calls"
for t in cudamallocsnoop cudatrace; do
	replayed $t -n 11 -jc "$bin/mem malloc 23 64"
	status 0
	json 11 '.func == "cudaMalloc"' 11 true
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
