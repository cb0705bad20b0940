# shellcheck shell=sh
# Processes with a seccomp filter, and kernels whose return probes kill them.  This kernel may be none: the
# programs kills-TOOL take it for one (tests/unit/kills.c), and say when they try it.

left_out='has a seccomp filter, and return probes kill such a process on this kernel'

it "a process with a filter is traced and lives, where the kernel is not such a one"
if cudaleak --check | grep -q '^return probes *ok'; then
	run cudaleak -jCc "$bin/filtered $bin/mem malloc 23 4096 free 7"
	status 0
	json 1 '.count == 16'
	silent
else
	run cudaleak -jCc "$bin/filtered $bin/mem malloc 23 4096 free 7"
	status 0
	says "$left_out"
fi

it "nothing is tried where no process has a filter"
run "$bin/kills-cudaleak" -jCc "$bin/mem malloc 23 4096 free 7"
json 1 '.count == 16'
silent

it "a process with a filter is left out, and its children; what has none is traced; each is said once"
run "$bin/kills-cudaleak" -jCc "sh -c '$bin/filtered $bin/mem malloc 23 4096; $bin/mem malloc 19 4096 free 2
	$bin/filtered $bin/mem malloc 3 64 fork \"(\" malloc 5 64 \")\" join'"
status 0
json 1 '.count == 17' 1 true
equal "$(grep -c 'return probes are tried' "$tmp/err")" 1
equal "$(grep -c "$left_out: it is not traced; update the kernel" "$tmp/err")" 3
equal "$(sed -n "s/.*: process \([0-9]*\) $left_out.*/\1/p" "$tmp/err" | sort -u | wc -l)" 3

it "-p of such a process has no probes, and says so"
program "$bin/filtered" "$bin/mem" malloc 1 64 wait malloc 23 4096
tool "$bin/kills-cudaleak" -jCp "$pid"
go
stop
says "process $pid $left_out"
says ': 0 probes in 0 files'
json 0 '.count > 0'

it "a thread's filter counts as well"
cat >"$tmp/thread.c" <<'END'
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
extern int cudaMalloc(void **, size_t);
static void *filtered(void *p)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	const struct sock_fprog program = { 1, all };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	puts("ready");
	fflush(stdout);
	return (void *)(size_t)pause();
}
int main(void)
{
	pthread_t t;
	void *p;

	cudaMalloc(&p, 64);
	pthread_create(&t, NULL, filtered, NULL);
	getchar();
	return 0;
}
END
${CC:-cc} "$tmp/thread.c" -o "$tmp/thread" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -pthread || no "it does not compile"
program "$tmp/thread"
tool "$bin/kills-cudaleak" -jCp "$pid"
go
stop
says "process $pid $left_out"

it "cudalaunchtop counts the launches, which need no return probe, and lacks names alone"
run "$bin/kills-cudalaunchtop" -jc "$bin/filtered $bin/mem launch 23"
json 1 '.launches == 23'
says "$left_out: calls that need them are not traced in it"
run "$bin/kills-cudalaunchtop" -xjc "$bin/filtered $bin/mem launch 23"
json 0 '.launches > 0'
says "$left_out: it is not traced"

for kind in $kinds ${LONG:+perf}; do
	it "--attach $kind: such a process has no return probe"
	run "$bin/kills-cudalaunchtop" --attach "$kind" --layer driver -jc \
		"$bin/filtered $bin/launches names tests/data/torch-kernels.txt"
	sum 509545 .launches
	json 0 '.kernel | startswith("0x") | not'
done

it "--seccomp-force traces it all the same, and nothing is tried"
run "$bin/kills-cudaleak" --seccomp-force -jCc "$bin/filtered $bin/mem malloc 23 4096 free 7"
says_not 'are tried'
cudaleak --check | grep -q '^return probes *limited' || json 1 '.count == 16'

it "every process can be traced only by what needs no return probe"
fails 1 'so not every process can be traced: choose some with -p or -c; update the kernel' \
	"$bin/kills-cudaleak" -l "$lib/libcuda.so.1" -d 1
run "$bin/kills-cudalaunchtop" -l "$lib/libcuda.so.1" -jd 1
status 0
equal "$(grep -c 'calls that need them are not traced, unless with -p or -c' "$tmp/err")" 1

it "--check says it"
run "$bin/kills-cudaleak" --check
status 0
lines 1 '^return probes +limited +kill processes that have a seccomp filter'

if command -v bpftrace >/dev/null; then
	it "cudabt refuses probes of returns, as bpftrace's are in every process"
	fails 1 'so not every process can be traced: probe entries alone, with cuda:; update the kernel' \
		"$bin/kills-cudabt" -qe 'cudaret:cudaMalloc { @ = count(); }' -c "$bin/mem malloc 23 64"
	run "$bin/kills-cudabt" -qe 'cuda:cudaMalloc { @ = count(); }' -c "$bin/filtered $bin/mem malloc 23 64"
	lines 1 '^@: 23$'
	says_not 'are tried'
fi
