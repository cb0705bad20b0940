# shellcheck shell=sh disable=SC2016,SC2086 # jq; words
# cudalaunchtop --gaps: programs on the simulated CUDA and the simulated CUPTI, in which each kernel takes as long as
# SIM_KERNEL_NS says and begins when it is launched, or when the one before it ends.
export SIM_KERNEL_NS=1000

# gaps WORD...: of mem with these words, as JSON
gaps() { run cudalaunchtop --gaps -j -- "$bin/mem" "$@"; status 0; }

# whole: the rows add up to the time in which the GPU waited for the host
whole() {
	equal "$(jq -s 'map(select(.type == "gap") | .total_ns) | add // 0' "$tmp/out")" \
		"$(jq 'select(.type == "gaps") | .host_ns' "$tmp/out")"
	json 1 '.type == "gaps" and .total_ns == .busy_ns + .host_ns + .queued_ns + .unknown_ns'
}

# in_row FUNCTION STATE: jq's filter of rows
in_row() { echo ".type == \"gap\" and .state == \"$2\" and any(.stack[]; .sym == \"$1\")"; }

it "a gap ends with the next run: it is the host's until its call returned, then the GPU's"
equal "$("$bin/gaps" 0 10 1 20 30 15 40 50 45)" 'busy 30 host 15 queued 5 unknown 0 gaps 2 late 0 [unknown 2 15]'
equal "$("$bin/gaps" 0 10 1 20 30 5)" 'busy 20 host 0 queued 10 unknown 0 gaps 0 late 0'
equal "$("$bin/gaps" 0 10 1 20 30 10)" 'busy 20 host 0 queued 10 unknown 0 gaps 0 late 0'

it "runs of several streams overlap, one in another is no end, and they come in any order"
equal "$("$bin/gaps" 0 10 1 5 60 5 20 30 15 70 80 61)" 'busy 70 host 1 queued 9 unknown 0 gaps 1 late 0 [unknown 1 1]'
equal "$("$bin/gaps" 70 80 61 20 30 15 0 10 1 5 60 5)" 'busy 70 host 1 queued 9 unknown 0 gaps 1 late 0 [unknown 1 1]'

it "gaps of unknown calls are counted apart, and runs that come too late are counted"
equal "$("$bin/gaps" 0 10 1 20 30 0)" 'busy 20 host 0 queued 0 unknown 10 gaps 0 late 0'
equal "$("$bin/gaps" 0 10 1 20 30 15 later 12 15 11 40 50 35)" 'busy 30 host 10 queued 10 unknown 0 gaps 2 late 1 [unknown 2 10]'

for kind in $kinds; do
	it "--attach $kind: a thread that sleeps between launches is off the CPU there"
	run cudalaunchtop --attach $kind --gaps -j -- "$bin/mem" loop 13 '(' launch 1 sleep 40 ')'
	status 0
	json 1 '.type == "gaps" and .gaps == 12 and .busy_ns == 13000 and .unknown_ns == 0 and .device == 0' \
		1 "$(in_row do_sleep 'off CPU') and .gaps == 12 and .total_ns >= 400000000 and .max_ns >= .mean_ns and .share > 0.5"
	whole
	says_not lost
done

it "a thread that computes is running there"
gaps loop 7 '(' launch 1 spin 40 ')'
json 1 '.type == "gaps" and .gaps == 6 and .host_ns >= 200000000'
[ "$(jq -s "map(select($(in_row do_spin running))) | length" "$tmp/out")" -gt 0 ] || no "nothing is running in do_spin"
json 0 "$(in_row do_spin 'off CPU')"
whole

it "what is queued leaves no gap for the host"
export SIM_KERNEL_NS=10000000
gaps launch 53
json 1 '.type == "gaps" and .gaps == 0 and .host_ns == 0 and .busy_ns == 530000000' \
	0 '.type == "gap"'
run cudalaunchtop --gaps -- "$bin/mem" launch 53
lines 1 '^pid [0-9]+ \(mem\), device 0, 530\.0 ms: 100\.0 % busy, 0\.0 % waiting for the host \(0 gaps\), 0\.0 % queued, 0\.0 % unknown$'
lines 1 .
export SIM_KERNEL_NS=1000

it "another thread that sleeps does not count"
gaps thread '(' loop 101 '(' sleep 1 ')' ')' loop 7 '(' launch 1 spin 20 ')'
json 1 '.type == "gaps" and .gaps == 6' 0 "$(in_row do_sleep 'off CPU')"
whole

it "copies and memsets end gaps, at their call sites"
gaps loop 11 '(' copyasync 1 4096 h2d sleep 5 memset 1 4096 ')'
json 1 '.type == "gaps" and .gaps == 21 and .unknown_ns == 0' \
	1 "$(in_row do_sleep 'off CPU') and .gaps == 11" \
	1 "$(in_row do_memset running) and .stack[0].sym == \"do_memset\" and .gaps > 1"
whole

it "text: a line for each device, its stacks with the longest time first, at most --rows"
run cudalaunchtop --gaps -r 1 -- "$bin/mem" loop 13 '(' launch 1 sleep 20 ')'
lines 1 '^pid [0-9]+ \(mem\), device 0, [0-9.]+ (ms|s): 0\.0 % busy, 100\.0 % waiting for the host \(12 gaps\), 0\.0 % queued, 0\.0 % unknown$'
lines 1 '^  TIME\(ms\)   %GAP     GAPS   MEAN\(us\)    P99\(us\)    MAX\(us\) STATE$'
lines 1 '^ +[0-9.]+ +[0-9.]+ +12 +[0-9.]+ +[0-9.]+ +[0-9.]+ off CPU$'
lines 1 '^        do_sleep\+0x[0-9a-f]+ \(.*/mem\)$'
lines 1 '^\.\.\. and [0-9]+ more$'
lines 1 '^(9[0-9]|100)\.[0-9] % of the waiting below do(ze|_sleep)\+0x[0-9a-f]+ \(.*/mem\)$'
run cudalaunchtop --gaps -- true
lines 1 '^nothing ran on a GPU$'

it "--folded has the nanoseconds of each stack, and what the thread did"
run cudalaunchtop --gaps --folded -- "$bin/mem" loop 13 '(' launch 1 sleep 20 ')'
lines 1 '^mem;.*;main;run;run;do_sleep;.*nanosleep.*;\[off CPU\] [0-9]+$'

it "what most of the waiting is below is the innermost line of the program, however many call stacks lead on from there"
cat >"$tmp/apart.py" <<'END'
import ctypes, sys, time
cuda = ctypes.CDLL(sys.argv[1])
p = ctypes.c_void_p()
def odd():
    time.sleep(0.02)
def even():
    time.sleep(0.02)
def step(n):
    [even, odd][n % 2]()
    cuda.cudaMemset(p, 0, 64)
def main():
    cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(64))
    for n in range(23):
        step(n)
main()
END
run cudalaunchtop --gaps -j -- python3 "$tmp/apart.py" "$lib/libcudart.so.13"
json 1 '.type == "gaps" and .gaps == 22 and (.below | endswith("/apart.py:9 step")) and .below_share > 0.9'

it "a block for each interval, each with its own time"
program env CUDA_INJECTION64_PATH="$O/libcudagputime.so" "$bin/mem" launch 1 wait loop 700 '(' launch 1 sleep 10 ')' wait
tool cudalaunchtop --gaps -jp "$pid" 200ms
until_true eval 'echo >&3; sleep 0.1; [ "$(jq -s "map(select(.type == \"gaps\")) | length" "$tmp/out")" -ge 2 ]'
stop
[ "$(jq -s 'map(select(.type == "gaps") | .gaps) | add' "$tmp/out")" -le 700 ] || no "more gaps than launches"
exec 3>&-
kill -9 "$pid"

it "Python: its functions"
cat >"$tmp/starved.py" <<'END2'
import ctypes, sys, time
cuda = ctypes.CDLL(sys.argv[1])
memory = ctypes.c_void_p()
cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
def starve():
    time.sleep(.04)
def step():
    cuda.cudaMemset(memory, 0, ctypes.c_size_t(4096))
for i in range(23):
    step()
    starve()
END2
run cudalaunchtop --gaps -j -- python3 "$tmp/starved.py" "$lib/libcudart.so.13"
json 1 '.type == "gaps" and .gaps == 22' \
	1 '.type == "gap" and .state == "off CPU" and .total_ns >= 400000000 and any(.stack[]; .kind == "python" and .sym == "starve" and .line == 6)'

it "--attach inject: who waited is not known, and that is said"
if [ -e "$bin/inject" ]; then
	run cudalaunchtop --attach inject --gaps -j -- "$bin/mem" loop 13 '(' launch 1 sleep 20 ')'
	status 0
	json 1 '.type == "gaps" and .gaps == 12' 1 "$(in_row do_launch unknown) and .gaps == 12" \
		0 '.type == "gap" and .state != "unknown" and .state != "running"'
	says 'what threads do is not shown: --attach inject does not see the scheduler'
	whole
else
	skip "no --attach inject here"
fi

it "devices have times of their own, and --device selects"
export SIM_DEVICES=2
words='launch 1 loop 11 ( setdevice 1 launch 1 sleep 5 setdevice 0 launch 1 )'
gaps $words
json 1 '.type == "gaps" and .device == 0 and .gaps == 11' \
	1 '.type == "gaps" and .device == 1 and .gaps == 10'
run cudalaunchtop --gaps --device 1 -j -- "$bin/mem" $words
json 1 '.type == "gaps" and .device == 1 and .gaps == 10' 1 '.type == "gaps"'
unset SIM_DEVICES

it "calls that CUPTI loses are said, and their gaps are unknown"
SIM_CUPTI=drop=1 gaps launch 1 sleep 5 launch 3
json 1 '.type == "gaps" and .gaps == 3 and .unknown_ns == 0'
says '1 runs on the GPU: their calls are not known'

it "--gaps refuses what it has no rows for"
for option in --graphs -P --per-stream -x '--sample 100ms/1s' -f '-s name'; do
	replayed cudalaunchtop --gaps $option -c true
	status 2
	says '--gaps cannot be combined with'
done

long || leave

it "a thread that has no CPU is preempted, also after it was woken"
taskset -c 0 sh -c 'while :; do :; done' &
pids="$pids $!"
run cudalaunchtop --gaps -j -- taskset -c 0 "$bin/mem" loop 13 '(' launch 1 spin 40 ')'
kill $!
status 0
[ "$(jq -s "map(select($(in_row do_spin preempted)) | .total_ns) | add" "$tmp/out")" -gt 60000000 ] || no "not preempted"
json 0 "$(in_row do_spin 'off CPU')"
whole
