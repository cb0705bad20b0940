# shellcheck shell=sh disable=SC2016,SC2034,SC2086,SC2154 # other shells; rc, pid: the words'; lists of words
# What the kernel refuses, to whom: said with the reason and the way out.  And how little is enough.
# Lockdown wants another kernel: see tests/kernels.

tools=$(grep -l '^#include ".*\.skel\.h"$' tools/cuda*.c | sed 's|.*/||; s|\.c$||')
# a directory that anyone may look into, for programs of another user
away=$(mktemp -d) && chmod 755 "$away"
trap 'rm -rf "$away"; finish' EXIT
cp "$bin/mem" "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$away"
for tool in $tools; do cp "$O/$tool" "$away"; done

# with CAPABILITIES: $with, for a command of another user who has these and no others
with() {
	with="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all$1 --ambient-caps -all$1
		--bounding-set -all$1"
}
trace=,+bpf,+perfmon look=,+sys_ptrace,+dac_read_search files=,+checkpoint_restore

for tool in $tools; do
	it "$tool: without BTF it says that the kernel's types are not known, and why that may be"
	if unshares -m; then
		fails 1 "$tool: " unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0"' "$tool"
		says CONFIG_DEBUG_INFO_BTF
		fails 1 "$tool: " unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" --attach session -c true' "$tool"
		says CONFIG_DEBUG_INFO_BTF
	fi

	it "$tool: root of a user namespace is told to run it on the host"
	if unshares -U -r; then
		fails 1 "$tool: not permitted to trace: running in a user namespace (rootless container?)" \
			unshare -U -r "$away/$tool"
	fi

	it "$tool: a capability that is missing is named"
	with ,+perfmon
	fails 1 "not permitted to trace: CAP_BPF is missing: run as root or grant it" $with "$away/$tool"
	with ,+bpf
	fails 1 "not permitted to trace: CAP_PERFMON is missing" $with "$away/$tool"
done

it "a seccomp filter is named that forbids bpf(2), or perf_event_open(2)"
cat >"$tmp/filter.c" <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(argv[1]), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 99;
	execvp(argv[2], argv + 2);
	return 98;
}
END
${CC:-cc} "$tmp/filter.c" -o "$tmp/filter"
number() { echo "#include <sys/syscall.h>
__NR_$1" | ${CC:-cc} -E -P - | tail -n 1; }
fails 1 'not permitted to trace: blocked by a seccomp filter' \
	"$tmp/filter" "$(number bpf)" cudamallocsnoop
run "$tmp/filter" "$(number perf_event_open)" cudamallocsnoop -d 1
status 0
says 'no mmap events (blocked by a seccomp filter'
fails 1 'blocked by a seccomp filter' \
	"$tmp/filter" "$(number perf_event_open)" cudamallocsnoop --attach perf -c "$bin/mem malloc 1 64"

# A process that hangs already: what it hangs in is on its stack, which may not be read.
hang_early() {
	env SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" sync 1 & pid=$!
	pids="$pids $pid"
	until_true grep -q "^$pause " "/proc/$pid/syscall"
}
unread() { says "cannot read stacks of process $pid, calls already in flight may be missing: $1"; }

it "where memory may not be read, a hang from before is not shown, which is said once, and why"
hang_early
run cudasynclatency -j -p "$pid" -d 1
json 1 'select(.running)'
silent
for t in cudasynclatency 'cudatrace -e sync'; do
	run "$tmp/filter" "$(number process_vm_readv)" $t -j -p "$pid" -d 1
	status 0
	json 0 'select(.running)'
	unread 'blocked by a seccomp filter (of a container?): run on the host or allow process_vm_readv in the filter'
done
run "$tmp/filter" "$(number process_vm_readv)" cudasynclatency -j -p "$pid" 1 3
equal "$(grep -c 'cannot read stacks of' "$tmp/err")" 1
kill -9 "$pid"

it "where the memory of a command's processes may not be read, --attach inject counts all the same, and says once what will be missing"
run "$tmp/filter" "$(number process_vm_readv)" cudalaunchtop --attach inject -jc "$bin/mem fork '(' launch 5 ')' launch 23 join"
status 0
sum 28 .launches
says '(blocked by a seccomp filter (of a container?): allow process_vm_readv in the filter): names of Python functions'
equal "$(grep -c 'cannot read the memory of process' "$tmp/err")" 1
run cudalaunchtop --attach inject -jc "$bin/mem launch 23"
silent

it "… and a hang whose entry was seen is shown, without a stack, which counts once in all reports"
program env SIM_LATENCY_US=cuCtxSynchronize=-1 "$bin/mem" malloc 1 64 wait sync 1
tool "$tmp/filter" "$(number process_vm_readv)" cudasynclatency -k -p "$pid" 200ms
echo >&3
until_true eval '[ "$(grep -c "^still waiting: " "$tmp/out")" -gt 2 ]'
stop
waiting=$(grep -cE '^still waiting: thread [0-9]+ \(mem\) in cudaDeviceSynchronize for ' "$tmp/out")
lines "$waiting" '^        \[no stack: reading memory is not permitted\]$'
unread 'blocked by a seccomp filter'
says ': 1 call stack is incomplete: 1 without any frame (reading memory is not permitted)'
exec 3>&-
kill -9 "$pid"

it "… as --check says"
run "$tmp/filter" "$(number process_vm_readv)" cudaleak --check
lines 1 '^processes +limited +the memory of others may not be read, which a hang from before is found in: blocked by a seccomp filter'

it "… and Yama is named if it denies it to every process"
# as with kernel.yama.ptrace_scope=3: the setting, and what the kernel then answers
forbid='mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo 3 >/proc/sys/kernel/yama/ptrace_scope && exec "$@"'
if unshares -m; then
	run unshare -m sh -c "$forbid" - "$tmp/filter" "$(number process_vm_readv)" cudaleak --check
	lines 1 '^processes +limited .*: kernel.yama.ptrace_scope is 3: denied to every process until the next boot$'
	hang_early
	run unshare -m sh -c "$forbid" - "$tmp/filter" "$(number process_vm_readv)" cudasynclatency -j -p "$pid" -d 1
	unread 'kernel.yama.ptrace_scope is 3'
	kill -9 "$pid"
	run unshare -m sh -c "$forbid" - cudaleak --check
	lines 1 '^processes +ok '
fi

# With so few descriptors, every call is printed, or what was missing is said, with status 1 if none is; nothing else is blamed.
few() {
	run sh -c 'ulimit -n "$1" && shift && exec "$@"' - "$@"
	[ "$(grep -c '"cudaMalloc"' "$tmp/out")" -eq 23 ] || says "Too many open files (this process may have $1: raise the limit, ulimit -n)"
	status $(($(grep -c '"cudaMalloc"' "$tmp/out") == 0))
	says_not "used no CUDA library"
	says_not "AppArmor"
}

it "with few file descriptors it says so, and neither that no CUDA is used nor that a security module forbids it"
for n in 31 41 47 66 68 70 $(long && seq 5 2 75); do
	few "$n" cudamallocsnoop -jc "$bin/mem malloc 23 4096"
done

# The limit is not the command's.
it "with little address space it says so, and not that no CUDA is used"
for kib in 16000 23000 30000 $(long && seq 12000 2000 42000); do
	sh -c 'ulimit -Sv "$1" && exec cudamallocsnoop --version' - "$kib" >"$tmp/out" 2>&1 || continue	# the linker's message
	run sh -c 'ulimit -Sv "$1" && shift && exec "$@"' - "$kib" cudamallocsnoop -jc "ulimit -Sv unlimited; $bin/mem malloc 23 4096"
	[ "$(grep -c '"cudaMalloc"' "$tmp/out")" -eq 23 ] || {
		status 1
		says "Cannot allocate memory (this process may map $kib KiB: raise the limit, ulimit -v)"
	}
	says_not "used no CUDA library"
done

it "without root, three capabilities are enough for one's own programs"
with $trace$files
run $with "$away/cudamallocsnoop" -jc "LD_LIBRARY_PATH=$away $away/mem malloc 23 4096 free 7"
status 0
json 30 '.pid > 0'
silent

it "without CAP_CHECKPOINT_RESTORE it does not look as if a command used no CUDA"
with $trace
fails 1 "not permitted to inspect the command's process: CAP_CHECKPOINT_RESTORE is missing: run as" \
	$with "$away/cudamallocsnoop" -jc "LD_LIBRARY_PATH=$away $away/mem malloc 23 4096"
lines 0 ''
says_not 'no CUDA library'

it "without root, five capabilities are enough for the processes of others"
program env "LD_LIBRARY_PATH=$away" "$away/mem" malloc 1 64 wait malloc 23 4096 free 7
with $trace$look$files
for kind in session multi; do
	tool $with "$away/cudamallocsnoop" --attach $kind -jp "$pid"
	stop
	status 0
	silent
done
tool $with "$away/cudamallocsnoop" -jp "$pid"
go
stop
json 23 '.size == 4096 and .op == "alloc"' 30 true
silent

it "what is missing for the processes of others is named"
program env "LD_LIBRARY_PATH=$away" "$away/mem" malloc 1 64 wait malloc 23 4096
with $trace
fails 1 'CAP_SYS_PTRACE' $with "$away/cudamallocsnoop" -p "$pid"
with $trace$look
fails 1 'CAP_CHECKPOINT_RESTORE' $with "$away/cudamallocsnoop" -p "$pid"
go

it "--attach perf wants CAP_SYS_ADMIN, and says so"
with $trace$files
fails 1 'CAP_SYS_ADMIN is missing' $with "$away/cudamallocsnoop" --attach perf -j \
	-c "LD_LIBRARY_PATH=$away $away/mem malloc 23 4096"
lines 0 ''

# alone, as it changes what every program may do
it_alone "perf_event_paranoid keeps nobody out who has the capabilities"
paranoid=/proc/sys/kernel/perf_event_paranoid
was=$(cat $paranoid)
if ! echo 4 2>/dev/null >$paranoid; then
	skip "perf_event_paranoid cannot be set here"
else
	with $trace$files
	run $with "$away/cudamallocsnoop" -jc "LD_LIBRARY_PATH=$away $away/mem malloc 23 4096"
	echo "$was" >$paranoid
	status 0
	json 23 true
	with ,+bpf
	fails 1 'CAP_PERFMON' $with "$away/cudamallocsnoop"
fi
