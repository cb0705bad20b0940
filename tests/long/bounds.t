# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # the inner shell is to expand it; rc, pid: the words'
# Programs with very much of something: they are traced, in little time and memory.

# bounded COMMAND...: a tool in the background, that may use 4 GB and 60 s
bounded() { tool timeout -s KILL 60 sh -c 'ulimit -v "${MEMORY:-4000000}"; exec "$@"' sh "$@"; }
stop_bounded() {
	kill -INT "$(pgrep -P "$tracer")"
	wait "$tracer"
	rc=$?
}

for kind in session multi perf; do
	it "--attach $kind: a program with 10,007 threads, each of which calls"
	program "$bin/storm" threads 10007 3
	bounded cudamallocsnoop --attach $kind --layer runtime -jp "$pid"
	echo >&3
	until_true grep -q 'calls 60042 harmed 0' "$tmp/ready"
	exec 3>&-
	wait "$pid"
	stop_bounded
	status 0
	json 30021 '.func == "cudaMalloc"'
	equal "$(jq .tid "$tmp/out" | sort -u | wc -l)" 10007
	silent
done

it "a program with a million symbols, of which the right one is printed"
{
	echo '	.text'
	awk 'BEGIN { for (i = 0; i < 1000003; i++) printf "\t.type f%d, @function\nf%d:\tnop\n", i, i }'
	printf '\t.section .note.GNU-stack,"",@progbits\n'
} >"$tmp/many.s"
cat >"$tmp/few.c" <<'END'
#include "cuda_api.h"
int at_the_end(void)
{
	void *p;
	int err = 0;

	for (int i = 0; i < 13; i++)
		err |= cudaMalloc(&p, 64);
	return err;
}
int main(void)
{
	return at_the_end();
}
END
${CC:-cc} -std=gnu11 -DSIM_OWN_HEADERS -iquote tests/workloads -g -fno-omit-frame-pointer "$tmp/few.c" "$tmp/many.s" \
	"$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/many" || no "it cannot be built"
# shellcheck disable=SC2016 # for the inner shell
run timeout -s KILL 60 sh -c 'ulimit -v "${MEMORY:-4000000}"; exec "$@"' sh cudamallocsnoop -kjc "$tmp/many"
status 0
json 13 '.stack[0].sym == "at_the_end"'
silent

most=/proc/sys/vm/max_map_count
was=$(cat $most)
# alone: a helper has a second to read them
it_alone "a program with a million mappings"
if ! echo 1100000 2>/dev/null >$most; then
	skip "vm.max_map_count cannot be set here"
else
	program "$bin/storm" maps 1000003 23
	echo "$was" >$most
	bounded cudamallocsnoop -jkp "$pid"
	echo >&3
	until_true grep -q 'calls 46 harmed 0' "$tmp/ready"
	exec 3>&-
	wait "$pid"
	stop_bounded
	status 0
	json 23 '.func == "cudaMalloc"'
	silent
fi

it "more allocations than are kept: what is beyond is said not to be counted"
timeout 300 env SIM_SPIN_US=cuMemAlloc_v2=2 cudaleak -Cjc "$bin/churn million 2000003 >$tmp/churn" >"$tmp/out" 2>"$tmp/err"
rc=$?
status 0
json 1 '.count > 1000003 and .count < 1500000'
json 1 '.ignored > 0'
sum 2000003 '(.count // 0) + (.ignored // 0) + (.lost // 0)'
says 'reached the limit on allocations not freed: further ones are only counted'

# flooded TOOL WHAT COUNT: the tool has had less than 1.5 GiB when it has read all that gpuprobe-flood sends
flooded() {
	run "$1" -o /dev/null -c "$bin/gpuprobe-flood $2 $3; awk '/VmHWM/ { print \$2 }' /proc/\$PPID/status"
	kib=$(grep -x '[0-9]*' "$tmp/out")
	[ "${kib:-2000000}" -lt 1500000 ] || no "$1, $2: ${kib:-unknown} KiB"
}
it "a program that sends a tool that measures inside kernels whatever takes most memory there: below 1.5 GiB"
flooded cudamemtime files 4001
says 'modules were not measured: too many of them, or too large'
flooded cudamemtime modules 1000003
says 'no memory is left for its modules: it is not measured any longer'
flooded cudamemtime sites 503
flooded cudamemtime clocks 503
for t in cudamemtime cudakerneltime cudabounds; do
	flooded "$t" records 211
done
flooded cudakerneltime launches 10007
