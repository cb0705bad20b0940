# shellcheck shell=sh disable=SC1090,SC2016,SC2034,SC2086,SC2154 # the words'; for eval; lists of words
# What every tool does on the kernel that runs, by each attach kind. scripts/check-kernels has it
# run in a virtual machine. What a title says after a colon is the outcome.

# since KIND: the first kernel that has it. uprobe_multi came with 6.6, its pid filter was mended
# in 6.10.
since() {
	case $1 in
	session) echo 6.13 ;;
	multi) echo 6.10 ;;
	perf) echo 5.15 ;;
	inject) echo 0 ;;	# it needs nothing of the kernel
	esac
}

number() { echo "$1" | awk -F '[.-]' '{ print $1 * 1000 + $2 }'; }
has() { [ "$(number "$(uname -r)")" -ge "$(number "$(since "$1")")" ]; }

# lacks KIND: what a tool says of a kernel that has it not
lacks() {
	if has perf; then
		echo "this kernel does not support it (Linux 6."
	else
		echo "this kernel has no BPF cookies for uprobes: Linux 5.15 or newer is required"
	fi
}

# loads COMMAND...: the kernel takes what these options need
loads() {
	case $kind in
	multi | inject) return 0 ;;	# its programs are those of perf; it loads none
	esac
	run "$@" --attach "$kind" -c true
	status 0
	says "nothing to trace"
}

# It was booted so that nobody may read its memory.
locked() { grep -qF '[confidentiality]' /sys/kernel/security/lockdown 2>/dev/null; }
lockdown='not permitted to trace: the kernel is locked down (lockdown=confidentiality'

tools=$(cat tools)

# KERNELS_LOADS of scripts/check-kernels
if grep -qw loads /proc/cmdline; then
	for tool in $tools; do
		for kind in session multi perf; do
			has $kind || continue
			it "$tool, $kind"
			once=''
			[ "$tool" != cudaexporter ] || once=--once
			loads "$tool" $once
			! "$tool" --help | grep -q '^ *-k, ' || loads "$tool" -k
		done
	done
	leave
fi

for tool in $tools; do
	for kind in session multi perf inject; do
		if has $kind && [ $kind != inject ] && locked; then
			it "$tool, $kind: is not permitted, and says why"
			fails 1 "$tool: $lockdown" "$tool" --attach $kind -c true
			lines 0 ''
		elif ! has $kind; then
			it "$tool, $kind: needs Linux $(since $kind), and says so"
			fails 1 "$tool: $(lacks $kind)" "$tool" --attach $kind -c true
			lines 0 ''
		elif [ -e "tests/kernels/$tool.t" ]; then
			it "$tool, $kind"
			. "tests/kernels/$tool.t"
		else
			it "$tool, $kind"
			skip "there is no tests/kernels/$tool.t"
		fi
	done
done

# no_kind WHY: a command is traced with inject, which is said; all processes are not traced
no_kind() {
	for tool in $tools; do
		once=''
		[ "$tool" != cudaexporter ] || once=--once
		run "$tool" $once -c "$bin/mem malloc 23 4096"
		status 0
		says "$tool: using --attach inject: $1"
		fails 1 "$tool: $1" "$tool" $once
		lines 0 ''
	done
}

if locked; then
	it "without --attach the best kind is taken: inject, and every tool says why"
	no_kind "$lockdown"
elif has perf; then
	. tests/kernels/any.t
else
	it "without --attach the best kind is taken: inject, and every tool says that others need Linux $(since perf)"
	no_kind "$(lacks perf)"
fi

# yama SCOPE: the setting; the test is skipped where there is none
yama() {
	if [ -e /proc/sys/kernel/yama ]; then
		echo "$1" >/proc/sys/kernel/yama/ptrace_scope
	else
		skip "this kernel has no Yama"
		return 1
	fi
}

# launched TOOL...: it counts all launches of 11 kernels, whose names are in the program's memory only; $named: how many it
# has names of
launched() {
	mkfifo "$tmp/end"
	exec 3<>"$tmp/end"
	tool "$@" --layer runtime -jc "sh -c 'exec $bin/launches register 5000 wait >/dev/null'" 1 <"$tmp/end"
	until_true succeeds sum 46 .launches
	echo >&3
	wait "$tracer"
	rc=$?
	rm "$tmp/end"
	status 0
	sum 46 .launches
	named=$(jq -r .kernel "$tmp/out" | sort -u | grep -cE '^registered<49(89|9[0-9])>$')
}

it "an ordinary user sees all names of a command's kernels where Yama lets only ancestors read memory"
if yama 1; then
	launched cudalaunchtop --attach inject
	equal "$named" 11
	silent
	yama 0
fi

it "… all launches, and says why names are missing, where it lets only those with CAP_SYS_PTRACE"
if yama 2; then
	launched cudalaunchtop --attach inject
	equal "$named" 0
	says '(kernel.yama.ptrace_scope is 2): names of Python functions and of some kernels will be missing'
	yama 0
fi

it "… who see all names"
if yama 2; then
	launched cudalaunchtop --attach=inject
	equal "$named" 11
	silent
	yama 0
fi

# counted N TOOL...: it counts so many calls that the running program makes from then on
counted() {
	want=$1
	shift
	tool "$@" -p "$pid" -jS -e cudaMalloc
	n=$(grep -c ready "$tmp/ready")
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" -gt "$n" ]'
	[ "$want" -gt 0 ] || until_true grep -q 'could not connect to the tool' "$tmp/err"
	stop
	sum "$want" 'select(.func == "cudaMalloc") | .calls'
}

it "… and to whose tools a program with inject/resident.so connects, and not to others of its user"
if ! [ -e "$O/inject/resident.so" ]; then
	skip "the resident library is not built"
elif yama 2; then
	program $unprivileged env "LD_AUDIT=$O/inject/resident.so" "$bin/mem" malloc 3 64 wait malloc 13 64 wait malloc 23 64 wait
	counted 0 cudatrace --attach inject
	counted 23 cudatrace --attach=inject
	go
	yama 0
fi

it "the kernel has nothing to complain of"
dmesg | grep -E 'BUG|WARNING:|Oops|Call Trace|general protection' >"$tmp/out"
lines 0 ''
