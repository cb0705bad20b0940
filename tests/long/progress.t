# shellcheck shell=sh disable=SC2086 # words
# What takes longer than a second says how far it is.
# shellcheck source=/dev/null
. tests/own.sh

calls=cudaMalloc	# and what tells devices
${CC:-cc} -shared -fPIC -o "$tmp/slow.so" tests/workloads/slow.c || exit 1

# The words before a command in which WHAT is slow, see the file.  ASan wants to be the first library.
slowly="env LD_PRELOAD=$tmp/slow.so ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"

# tells REGEX: so does one line of standard error, or a few some seconds apart on a slow machine
tells() {
	n=$(grep -cE -- "$1" "$tmp/err")
	[ "$n" -ge 1 ] && [ "$n" -le 9 ] || no "$n lines say '$1'"
}

# says_no_more: standard error has nothing else than how far something is, and the start message
says_no_more() {
	grep -vE ": tracing|$1" "$tmp/err" >"$tmp/said"
	[ ! -s "$tmp/said" ] || no "it also says: $(head -n 1 "$tmp/said")"
}

program "$bin/mem" wait malloc 13 4096

it "scanning all processes"
run $slowly SLOW=scan cudatrace -e cudaMalloc -d 0.1
status 0
tells '^cudatrace: scanning processes: [0-9]+ so far$'

it "reading a file: whose, and which"
run $slowly SLOW=read cudatrace -e cudaMalloc -d 0.1 -p "$pid"
status 0
tells "^cudatrace: process $pid: reading /.*"
says_no_more ': reading /'

it "placing perf's probes, entries and returns, while a command waits; standard output has the calls alone"
run $slowly SLOW=place cudatrace -j --attach perf -e "$calls" -c "$bin/mem malloc 13 4096"
status 0
tells '^cudatrace: placing probes: [1-9][0-9]* of [1-9][0-9]+ in /.*/libcudart\.so\.13$'
json 13 '.func == "cudaMalloc"'
lines 13 ''

# alone: how long the kernel takes is what is shown
it_alone "taking out perf's probes, without a signal"
run $slowly SLOW=remove cudatrace --attach perf -e "$calls" -d 0.1 -p "$pid"
status 0
tells '^cudatrace: taking out probes: [1-9][0-9]* of [1-9][0-9]+; Ctrl-C leaves the rest to the kernel$'
says_no_more ': taking out probes'

it "Ctrl-C then ends it at once, and leaves the rest to the kernel"
tool $slowly SLOW=remove cudatrace --attach perf -e "$calls" -d 0.1 -p "$pid"
until_true grep -q 'taking out probes' "$tmp/err"
stop
status 0
tells '^cudatrace: the kernel is still removing [0-9]+ probes$'

it "nothing is said after a signal but what is left in the end"
tool $slowly SLOW=remove cudatrace --attach perf -e "$calls" -p "$pid"
stop
status 0
says_no_more 'the kernel is still removing [0-9]+ probes$'
[ "$(wc -l <"$tmp/err")" = 2 ] || no "it does not say what is left"

it "nothing is said on a live screen"
screen 80 24 "$slowly SLOW=read $O/cudalaunchtop -c '$bin/mem malloc 1 64 sleep 1500' 2>$tmp/err"
on_screen 'ended 0'
says_no_more '^$'
term kill-server
run $slowly SLOW=read cudalaunchtop -b -c "$bin/mem malloc 1 64 sleep 1500"
tells ': process [0-9]+: reading /'

it "nothing is said of what takes less than a second"
for _ in 1 2 3 4 5; do	# on a machine that does nothing else
	began=$(date +%s%N)
	run $ahead cudatrace -e "$calls" -d 0.1 -p "$pid"
	[ $(($(date +%s%N) - began)) -gt 1000000000 ] || break
done
status 0
says_no_more '^$'

it "nothing is said with -q"
run $slowly SLOW=read cudatrace -q -e cudaMalloc -d 0.1 -p "$pid"
status 0
equal "$(cat "$tmp/err")" ''
go
