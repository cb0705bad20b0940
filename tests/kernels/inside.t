# shellcheck shell=sh disable=SC1090,SC2154 # the words'
# What every tool does on the kernel that runs, by each attach kind. scripts/check-kernels has it
# run in a virtual machine. What a title says after a colon is the outcome.

# since KIND: the first kernel that has it. uprobe_multi came with 6.6, its pid filter was mended
# in 6.10.
since() {
	case $1 in
	session) echo 6.13 ;;
	multi) echo 6.10 ;;
	perf) echo 5.15 ;;
	esac
}

number() { echo "$1" | awk -F '[.-]' '{ print $1 * 1000 + $2 }'; }
has() { [ "$(number "$(uname -r)")" -ge "$(number "$(since "$1")")" ]; }

# lacks KIND: what a tool says of a kernel that has it not
lacks() {
	if has perf; then
		echo "this kernel does not support --attach $1 (Linux 6."
	else
		echo "this kernel has no BPF cookies for uprobes: Linux 5.15 or newer is required"
	fi
}

# loads COMMAND...: the kernel takes what these options need
loads() {
	[ "$kind" != multi ] || return 0	# its programs are those of perf
	run "$@" --attach "$kind" -c true
	status 0
	says "nothing to trace"
}

# It was booted so that nobody may read its memory.
locked() { grep -qF '[confidentiality]' /sys/kernel/security/lockdown 2>/dev/null; }
lockdown='not permitted to trace: the kernel is locked down (lockdown=confidentiality'

tools=$(cat tools)
for tool in $tools; do
	for kind in session multi perf; do
		if has $kind && locked; then
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

if locked; then
	it "without --attach the best kind is taken: is not permitted, and every tool says why"
	for tool in $tools; do
		fails 1 "$tool: $lockdown" "$tool" -c "$bin/mem malloc 23 4096"
		lines 0 ''
	done
elif has perf; then
	. tests/kernels/any.t
else
	it "without --attach the best kind is taken: needs Linux $(since perf), and every tool says so"
	for tool in $tools; do
		fails 1 "$tool: $(lacks perf)" "$tool" -c "$bin/mem malloc 23 4096"
		lines 0 ''
	done
fi

it "the kernel has nothing to complain of"
dmesg | grep -E 'BUG|WARNING:|Oops|Call Trace|general protection' >"$tmp/out"
lines 0 ''
