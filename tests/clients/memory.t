# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # rc, pid, tracer: the words'
# What memory a tool takes to trace a PyTorch process, whose libraries have half a gigabyte of code and 800,000
# symbols.  How soon it does so is measured by tests/bench/clients.py.
. tests/clients.sh
unset GLIBC_TUNABLES	# what glibc overwrites is touched, and counts

# most PID: the most memory that it and its children had at any time, in KiB
most() {
	for p in $1 $(pgrep -P "$1"); do
		sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status" 2>/dev/null
	done | awk '{ n += $1 } END { print n + 0 }'
}

it "PyTorch is here"
client pytorch || { skip "$why_not"; return; }
torch="$python tests/clients/pytorch.py"

# its helpers' too: what they have at most they have at different times, so this is more than there ever is
for t in 'cudamallocsnoop -k' cudaleak 'cudaleak --tensors' 'cudalaunchtop -k' 'cudatrace -k -e launch'; do
	it "$t: has less than 150 MiB, with its helpers, when it has shown the call stacks of all"
	program $torch wait tensors elementwise foreach reduce copies autograd optimizer leak wait
	tool $t -p "$pid"
	echo >&3
	until_true sh -c "[ \$(grep -c ready '$tmp/ready') = 2 ]"
	sleep 1
	got=$(most "$tracer")
	[ "$got" -lt $((150 << 10)) ] || no "$got KiB"
	[ "$got" -gt $((10 << 10)) ] || no "$got KiB are too few: was it measured?"
	go
	wait "$tracer"
	[ -s "$tmp/out" ] || no 'it shows nothing'
done
