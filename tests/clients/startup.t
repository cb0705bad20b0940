# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # rc, pid, tracer: the words'
# How soon a tool traces a PyTorch process, whose libraries have half a gigabyte of code and 800,000 symbols, and
# what memory it takes for that.
. tests/clients.sh

# startup TOOL: milliseconds until it traces $pid
startup() {
	: >"$tmp/err"
	began=$(date +%s%3N)
	"$1" -p "$pid" >"$tmp/out" 2>"$tmp/err" & tracer=$!
	until grep -q ': tracing' "$tmp/err"; do sleep .005; done
	echo $(($(date +%s%3N) - began))
	kill "$tracer"
	wait "$tracer"
}

# most PID: the most memory that it and its children had at any time, in KiB
most() {
	for p in $1 $(pgrep -P "$1"); do
		sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$p/status" 2>/dev/null
	done | awk '{ n += $1 } END { print n + 0 }'
}

it "PyTorch is here"
client pytorch || { skip "$why_not"; return; }
torch="$python tests/clients/pytorch.py"

program $torch tensors wait
for t in cudamallocsnoop cudaleak cudalaunchtop cudatrace cudasynclatency cudamemcpysize; do
	it "$t -p: traces within half a second, the best of five times"
	best=$(for i in 1 2 3 4 5; do startup $t; done | sort -n | head -n 1)
	[ "$best" -lt 500 ] || no "$best ms"
done
go

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
