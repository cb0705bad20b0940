# shellcheck shell=sh
# Mistakes and bad input: the message, and the status, 1 failed, 2 usage, 3 nothing to trace.
light

it "an unknown option is named"
fails 2 "cudaleak: unknown option '--bogus'" cudaleak --bogus
fails 2 "cudaleak: unknown option '-Q'" cudaleak -Q
fails 2 "Try 'cudaleak --help'" cudaleak -Q
[ ! -s "$tmp/out" ] || no 'it prints something'

it "a value that is wrong is named, and what was expected"
fails 1 "no process is named '12x'" cudaleak -p 12x
fails 2 "--pid: ', ' has no process id or name" cudaleak -p ', '
fails 2 "--pid: '99999999999999999999' is not a process id" cudaleak -p 99999999999999999999
fails 2 "--duration: '0' is not a duration > 0 such as 5, 0.5, 100ms or 2m" cudaleak -d 0
fails 2 "--layer: 'both' is not one of runtime|driver|all" cudaleak --layer both
fails 2 "--attach: 'x' is not one of auto|session|multi|perf" cudaleak --attach x
fails 2 "option '-p' requires an argument" cudaleak -p
fails 2 "--command: 'CMD ...' must not be empty" cudaleak -c ''
fails 2 "--pid and --command are mutually exclusive" cudaleak -p 1 -c true
fails 2 "option '--json=1' doesn't allow an argument" cudaleak --json=1

it "a process that does not exist is named"
fails 1 'pid 4194303: No such process' cudaleak -p 4194303

it "a thread is no process: its process is named"
program "$bin/mem" malloc 1 64 thread '(' sleep 5000 ')' wait
# shellcheck disable=SC2012 # the names are numbers
thread=$(ls "/proc/$pid/task" | tail -n 1)
fails 1 "pid $thread is a thread of process $pid: use -p $pid" cudaleak -p "$thread"
exec 3>&-
kill "$pid"

it "a process without CUDA is said to have none, with status 3"
fails 3 "process $$ has no CUDA functions to trace" cudaleak -p $$

it "files that are no ELF libraries are refused"
head -c 3000 "$lib/libcuda.so.1" >"$tmp/short"
head -c 40 "$lib/libcuda.so.1" >"$tmp/shorter"
mkfifo "$tmp/fifo"
fails 1 '/etc/passwd: not an ELF file' cudaleak -l /etc/passwd
fails 1 'short: truncated ELF file' cudaleak -l "$tmp/short"
fails 1 'shorter: ' cudaleak -l "$tmp/shorter"
fails 1 'cannot open /nonexistent: No such file or directory' cudaleak -l /nonexistent
fails 1 '/dev/null is not a regular file' cudaleak -l /dev/null
fails 1 "fifo is not a regular file" cudaleak -l "$tmp/fifo"
fails 1 '/tmp is not a regular file' cudaleak -l /tmp
fails 3 'defines none of the CUDA functions' cudaleak -l /bin/sh

it "who lacks privileges is told to run it as root"
fails 1 "not permitted to trace: CAP_BPF and CAP_PERFMON are missing: run as root or grant them" setpriv --reuid 65534 --clear-groups "$O/cudaleak"

it "so is root to whom bpf() is refused"
fails 1 'not permitted to trace: CAP_BPF and CAP_PERFMON are missing' setpriv --bounding-set -bpf,-sys_admin,-perfmon \
	--inh-caps -bpf,-sys_admin,-perfmon cudaleak

it "a command that does not exist has status 127"
fails 127 'not found' cudaleak -c /nonexistent/command

# one that prints as it goes, and one that does at the end
for tool in cudamallocsnoop cudaleak; do
	it "$tool fails when its output cannot be written"
	timeout 60 $tool -c "$bin/mem malloc 23 4096" >/dev/full 2>"$tmp/err"
	rc=$?
	status 1
	says 'cannot write to standard output: No space left on device'
	for option in --help --version; do
		timeout 60 $tool $option >/dev/full 2>"$tmp/err"
		rc=$?
		status 1
	done

	it "$tool fails when its output is closed, or open for reading only"
	timeout 60 $tool -c "$bin/mem malloc 23 4096" >&- 2>"$tmp/err"
	rc=$?
	status 1
	says 'cannot write to standard output: Bad file descriptor'
	timeout 60 $tool -c "$bin/mem malloc 23 4096" 1</dev/null 2>"$tmp/err"
	rc=$?
	status 1
	says 'cannot write to standard output: Bad file descriptor'

	it "$tool ends quietly, with the command's status, when nobody reads its output any more"
	{ timeout 60 $tool -q -c "$bin/mem malloc 211 64 free 211 exit 5"; echo $? >"$tmp/rc"; } 2>"$tmp/err" | true
	rc=$(cat "$tmp/rc")
	status 5
	[ ! -s "$tmp/err" ] || no "it says $(cat "$tmp/err")"

	it "$tool ends with status 0 when nobody reads the output of -p any more"
	rm -f "$tmp/rc"
	[ $tool = cudaleak ] && interval=1 || interval=
	program "$bin/mem" malloc 1 64 wait loop 200 '(' malloc 23 64 sleep 10 ')'
	{ timeout 20 $tool -p "$pid" ${interval:+"$interval"}; echo $? >"$tmp/rc"; } 2>"$tmp/err" | head -n 1 >"$tmp/out" &
	until_true grep -q ': tracing' "$tmp/err"
	echo >&3
	exec 3>&-
	until_true test -s "$tmp/rc"
	rc=$(cat "$tmp/rc")
	status 0
	silent
	kill "$pid" 2>/dev/null
done

it "arguments of an unquoted command of -c are not taken for an interval, or anything else"
for t in cudaleak cudamallocsnoop; do
	fails 2 "'10' is not passed to ./train: quote the command, -c './train 10', or write -- ./train 10" $t -c ./train 10
done
fails 2 "quote the command, -c './train 10'" cudalaunchtop -j -c./train 10 3
says "an interval stands before -c"
fails 2 "missing command after --" cudaleak 5 --
fails 2 "--older: '--' is not a duration such as 5" cudaleak -o --
fails 2 "--command and -- ./train are mutually exclusive" cudaleak -c ./train -- ./train
fails 2 "--pid and --command are mutually exclusive" cudaleak -p 1 -- ./train
fails 2 "unexpected argument 'x'; to trace a command, write -- x" cudamallocsnoop x -- true
fails 2 "interval: './train' is not a duration" cudaleak ./train 10
says "to trace a command, write -- ./train"
run cudaleak 61 1 -c true
status 0

it "an output file that has become as large as it may is an error, and no death"
for options in "-o" "--chrome"; do
	run sh -c 'ulimit -f 8 && exec "$@"' - cudatrace --attach session $options "$tmp/large" -c "$bin/mem malloc 307 64; touch $tmp/after"
	status 1
	says "cannot write to $tmp/large: File too large"
	[ -e "$tmp/after" ] || no "the command did not end"
	rm -f "$tmp/after"
done
run sh -c 'ulimit -f 8 && exec "$@"' - cudatrace --attach session -o "$tmp/x" -c "head -c 100000 /dev/zero >$tmp/large"
status 153

# reads by packets what a tool writes at a time
cat >"$tmp/packets.pl" <<'END'
use Socket;
socketpair(my $ours, my $its, AF_UNIX, SOCK_SEQPACKET, PF_UNSPEC) or die $!;
if (!fork) {
	open(STDOUT, '>&', $its) or die $!;
	exec @ARGV;
}
close $its;
while (sysread($ours, my $packet, 1 << 20)) {
	$lines += $packet =~ tr/\n//;
	$most = length $packet if length $packet > $most;
	$cut++ if $packet !~ /\n\z/;
}
wait;
print "$lines lines, cut: ", $cut || 0, $most > 8192 ? ', many at a time' : '', "\n";
END

it "lines are whole where others write too, as the command does"
run perl "$tmp/packets.pl" cudamallocsnoop -jc "$bin/mem malloc 1009 4096"
status 0
lines 1 '^1009 lines, cut: 0, many at a time$'

it "cudamallocsnoop takes no operands, cudaleak an interval and a count"
fails 2 "unexpected argument '5'" cudamallocsnoop 5
fails 2 "interval: '0' is not a duration >= 10ms such as 5, 0.5 or 2m" cudaleak 0
fails 2 "interval: 'x' is not" cudaleak x
fails 2 "count: '0' is not" cudaleak 1 0
fails 2 "unexpected argument '3'" cudaleak 1 2 3

it "sizes are checked"
for size in 4x k 1kk -5 '' 9999999999g 0x10; do
	run cudamallocsnoop -m "$size"
	status 2
	says '--min'
done
fails 2 '--min-size is larger than --max-size' cudaleak -z 2k -Z 1k

it "sizes may have a point and a unit: k and KiB are 1024 bytes, kB is 1000"
# each is larger than one byte less, and not than what it is
for size in 1MB:1000000 1000kB:1000000 1m:1048576 1MiB:1048576 1M:1048576 1024k:1048576 1.5m:1572864 1572864b:1572864 \
	0.0015g:1610613; do
	fails 2 '--min-size is larger than --max-size' cudaleak -z "${size%:*}" -Z $((${size#*:} - 1))
	fails 1 'No such process' cudaleak -z "${size%:*}" -Z "${size#*:}" -p 4194303
done
for size in 1.m .5m 1.5 1mbb 9.9e9 1.5b; do
	fails 2 "--min: '$size' is not a size such as 4096, 64k, 1.5g or 2MB" cudamallocsnoop -m "$size"
done

# lasted FROM TO: the last run took so many milliseconds, more or less
lasted() { [ "$took" -ge "$1" ] && [ "$took" -le "$2" ] || no "it took $took ms"; }

it "durations may have a point and a unit"
for duration in 0.3:300 ${LONG:+300ms:300 0.3s:300} 0.01m:600; do
	took=$(date +%s%N)
	run cudamallocsnoop -q -d "${duration%:*}" --attach session -l "$lib/libcudart.so.13"
	took=$((($(date +%s%N) - took) / 1000000))
	status 0
	lasted "${duration#*:}" 15000	# with other work; 0.3 minutes are more
done
for duration in 1m1s .5 1.s 5x 1M -1 99999999999h; do
	fails 2 "--duration: '$duration' is not a duration" cudamallocsnoop -d "$duration"
done

it "-p takes what pgrep prints, and names"
cp "$bin/mem" "$tmp/with_a_long_name"
program env LD_LIBRARY_PATH="$lib" "$tmp/with_a_long_name" malloc 1 64 wait malloc 23 4096
for list in " $pid
" "$pid,$pid, $pid with_a_long_name,with_a_long_nam"; do
	tool cudamallocsnoop -jp "$list"
	stop
	status 0
	says ": tracing pid $pid:"
done
tool cudamallocsnoop -jp with_a_long_name
go
stop
json 23 '.size == 4096'
says ": tracing pid $pid:"
fails 1 "no process is named 'with_a_long_name'" cudamallocsnoop -p with_a_long_name

it "an operand that is no number is taken for a command without -c or --"
fails 2 "to trace a command, write -- ./train" cudaleak ./train
fails 2 "to trace a command, write -- train" cudamallocsnoop train
fails 2 "unexpected argument '3'" cudamallocsnoop 3
says_not "to trace a command"

it "-e suggests what begins with the word"
fails 2 "unknown function or group 'mem'; did you mean memory?" cudatrace -e mem
fails 2 "did you mean stream" cudatrace -e launch,strea

it "bash and fish complete the words of -e behind a comma"
cudatrace --bash-completion >"$tmp/complete"
cat >"$tmp/try" <<'END'
. "$1"
COMP_WORDS=(cudatrace -e 'copy,!str') COMP_CWORD=2
_cudatrace
printf '%s\n' "${COMPREPLY[@]}"
END
run bash "$tmp/try" "$tmp/complete"
equal "$(cat "$tmp/out")" 'copy,!stream'
cudatrace --fish-completion >"$tmp/complete"
run fish --no-config -c "source $tmp/complete; complete -C'cudatrace -e copy,stre'"
lines 1 '^copy,stream'

# each line: a tool with its options, and what it says
it "options that contradict each other are refused"
while IFS='|' read -r words message; do
	# shellcheck disable=SC2086 # words
	fails 2 "$message" $words
done <<END
cudamallocsnoop -A -F|--allocs and --frees are mutually exclusive
cudamallocsnoop --folded -T|cannot be combined with --timestamp
cudaleak --folded -C|--totals cannot be combined with --folded
cudaleak --growth -a|cannot be combined with --each, --older, --folded or --pprof
cudaleak --growth -o 1000|cannot be combined with --each, --older, --folded or --pprof
cudaleak --growth --folded|cannot be combined with --each, --older, --folded or --pprof
cudaleak -a --sort peak|cannot be combined with --sort peak
cudaleak -a --sort growth|cannot be combined with --sort growth
cudaleak --cgroup / --container 01234567|--cgroup and --container are mutually exclusive
cudaleak --unwind fp --stack-size 8k|--unwind fp copies no stack
cudalaunchtop -kP|--per-process and --stacks are mutually exclusive
cudamemcpysize --memset --direction HtoD|--memset and --direction are mutually exclusive
cudamemcpysize --time --bandwidth|--time and --bandwidth are mutually exclusive
cudamemcpysize --folded --bandwidth|--folded shows no histograms
cudasynclatency --folded -O|--folded and --off-cpu are mutually exclusive
cudatrace -S -t|cannot be combined with --timestamp
cudatrace -S -r|cannot be combined with --timestamp, --relative
cudatrace --chrome $tmp/x --enter|cannot be combined with --timestamp, --relative, --time-spent, --enter or
cudatrace --chrome $tmp/x --folded|cannot be combined with
cudatrace --unchecked -S|--unchecked cannot be combined with
cudatrace -x --enter|--failed cannot be combined with --enter
cudatrace --slower 1 --enter|--slower cannot be combined with --enter
cudatrace --enter-only --tree|--enter-only cannot be combined with
cudatrace --enter-only --device 1|cannot be combined with --tree, --time-spent or --device
cudatrace --folded --enter-only|--folded cannot be combined with
cudatrace --folded -S|--folded cannot be combined with
cudatrace --stack python --unwind fp|--stack python has no native frames
cudatrace --stack python --stack-size 8k|--stack python has no native frames
cudakerneltime --blocks 1/8 -c true|--blocks requires --chrome
cudakerneltime 1 -kc true|--stacks takes no interval
END
for option in '--stack all' '--unwind fp' '--stack-size 8k' --folded; do
	# shellcheck disable=SC2086 # words
	{
		fails 2 '--totals cannot be combined with' cudaleak -C $option
		fails 2 '--per-process and --stacks are mutually exclusive' cudalaunchtop -P $option
	}
done
for tool in cudaleak cudamallocsnoop cudamemcpysize cudalaunchtop cudasynclatency cudatrace; do
	fails 2 '--folded and --json are mutually exclusive' $tool --folded -j
done

it "--version names the tool, the project and the version"
run cudaleak --version
status 0
lines 1 '^cudaleak \(cuda-bpf-tools\) [0-9]+\.[0-9]+\.[0-9]+$'
lines 2 .

it "--version names the revision, libbpf and the kernel"
equal "$(sed -n 's/^revision \([^ ,]*\), libbpf [0-9]*\.[0-9]*, .*/\1/p' "$tmp/out")" "$(cut -d'"' -f2 "$O/revision.h")"
[ "$(sed -n 's/.*, //p' "$tmp/out")" = "$(uname -sr)" ] || no "another kernel"
if [ -e .git ] && command -v git >/dev/null; then
	lines 0 '^revision unknown'
	lines 1 "^revision $(scripts/revision | sed 's/-dirty$//')"
fi

it "--help gives usage, options and examples, and needs no privilege"
run setpriv --reuid 65534 --clear-groups "$O/cudaleak" --help
status 0
lines 1 '^Usage: cudaleak \[OPTIONS\] \[interval \[count\]\] \[-- CMD \[ARG...\]\]$'
lines 1 '^  -p, --pid PID\[,PID\.\.\.\] +trace these processes'
lines 1 '^Examples:$'
