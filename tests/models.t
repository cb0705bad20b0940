# shellcheck shell=sh
# Several models side by side in one process: tests/unit.
light

it "two models of memory are fed in turn: each has its own counts"
run "$bin/models" memory
status 0
json 1 '.model == 1 and .pid == 1009 and .memory == "device" and .count == 19 and .bytes == 19 * 512' \
	1 '.model == 1 and .pid == 1009 and .memory == "managed" and .count == 5 and .bytes == 5 * 1024' \
	1 '.model == 1 and .held == 24 and .unknown == 7' \
	1 '.model == 1 and .kept == 24' \
	4 '.model == 1'

it "the second has its own, with the same processes and addresses"
json 1 '.model == 2 and .pid == 1009 and .memory == "device" and .count == 13 and .bytes == 13 * 64' \
	1 '.model == 2 and .pid == 1009 and .memory == "managed" and .count == 17 and .bytes == 17 * 128' \
	1 '.model == 2 and .pid == 1013 and .memory == "device" and .count == 11 and .bytes == 11 * 64' \
	1 '.model == 2 and .pid == 1009 and .held == 30 and .unknown == 3' \
	1 '.model == 2 and .pid == 1013 and .held == 11 and .unknown == 0' \
	1 '.model == 2 and .kept == 41' \
	6 '.model == 2'

it "what one forgets, the other keeps"
jq -c 'select(.model == 3) | .model = 2' "$tmp/out" >"$tmp/later"
jq -c 'select(.model == 2)' "$tmp/out" >"$tmp/before"
equal "$(cat "$tmp/later")" "$(cat "$tmp/before")"

it "what a reset may have freed is unsure once, until it is freed"
json 1 '.model == 5 and .held == 5 and .unsure == 5' \
	1 '.model == 6 and .held == 3 and .unsure == 3' \
	1 '.model == 7 and .used == 0'

it "a free whose record comes after the next allocation of its address, or after that one's free, leaves no doubt"
json 1 '.model == 8 and .held == 0 and .replaced == 3' \
	1 '.model == 9 and .unknown == 0 and .replaced == 0'

it "… but one that began later is of memory from before, and one that was never seen stays counted"
json 1 '.model == 10 and .unknown == 1 and .replaced == 0' \
	1 '.model == 11 and .unknown == 2 and .replaced == 1' \
	1 '.model == 12 and .used == 0'

it "a free by a graph whose record comes late drops no newer allocation, and leaves no doubt; a later one does"
json 1 '.model == 13 and .held == 1 and .unknown == 0 and .replaced == 0' \
	1 '.model == 14 and .held == 0 and .unknown == 0' \
	1 '.model == 15 and .unknown == 1 and .replaced == 0'

it "an IPC handle is known until its memory is freed, or its process ends; what is freed takes no room"
json 7 '.model == 16 and .size >= 64 and .size <= 70' \
	1 '.model == 17 and .more == 0 and (.known | not)' \
	1 '.model == 18 and .size == 128' \
	1 '.model == 18 and .used == 0'

it "two models of launches are fed in turn: each has its own kernels and counts"
run "$bin/models" launches
status 0
json 1 '.model == 1 and .pid == 1009 and .kernel == "axpy" and .launches == 101 and .failed == 3' \
	1 '.model == 1 and .pid == 1009 and .kernel == "gemm" and .launches == 23 and .failed == 0' \
	1 '.model == 1 and .pid == 1013 and .kernel == "axpy" and .launches == 7 and .failed == 0' \
	1 '.model == 1 and .total == 131' \
	4 '.model == 1'

it "the second has its own, with the same programs and addresses"
json 1 '.model == 2 and .pid == 1009 and .kernel == "softmax" and .launches == 47 and .failed == 5' \
	1 '.model == 2 and .pid == 1009 and .kernel == "0x2000" and .launches == 61 and .failed == 0' \
	1 '.model == 2 and .pid == 1013 and .kernel == "softmax" and .launches == 19 and .failed == 0' \
	1 '.model == 2 and .total == 127' \
	4 '.model == 2'

it "when the programs of one have ended, the other keeps its own"
json 1 '.model == 4 and .total == 131' 1 '.model == 4'
jq -c 'select(.model == 3) | .model = 2' "$tmp/out" >"$tmp/later"
jq -c 'select(.model == 2)' "$tmp/out" >"$tmp/before"
equal "$(cat "$tmp/later")" "$(cat "$tmp/before")"

it "one user gets half of what is limited, the next one half of the rest"
run "$bin/models" quota
status 0
json 1 '.what == "quota" and .who == "greedy" and .got == 524288' \
	1 '.what == "quota" and .who == "next" and .got == 262144' \
	1 '.what == "given back" and .who == "victim" and .got == 524288'
says "process 1009: user 65534 reached the limit on things: there are no more"
[ "$(grep -c 'limit on things' "$tmp/err")" -eq 2 ] || no "it is not said once for each user"

it "names of kernels are kept of each user, and those known go on to be"
json 1 '.what == "names" and .who == "greedy" and .got > 20000 and .got < 200000' \
	1 '.what == "names" and .who == "victim" and .got == 1013' \
	1 '.what == "names known" and .got == 1013'

it "an SM's clock follows its frequency, of whatever many pairs, before the first and behind the last"
run "$bin/models" clocks
status 0
json 1 '.what == "one pair, and a frequency" and .got == 26' \
	1 '.what == "one pair" and .got == -1' \
	1 '.what == "no pair" and .got == -1' \
	1 '.what == "as many are kept as may be"' \
	1 '.what == "not in time" and .got == 0' \
	1 '.what == "before the first" and .got == -13000000' \
	1 '.what == "behind the last" and .got == 10024000000' \
	1 '.what == "of the other" and .got == 34'

it "threads of any number have their call sites, one after the other"
run "$bin/models" calls
status 0
json 1 '.what == "threads" and .got == 20011' 1 '.what == "memory" and .got == 0'

it "launches between two windows are those of the first for the program's own CPU time, less those that were seen after it, at most twice as many as by the clock, and never fewer than before"
run "$bin/models" estimates
status 0
got() { json 1 ".what == \"$1\" and .got == $2"; }
got none 0
got 'a window' 0
got 'the end of it' 0
got 'a gap' 202
got 'a gap, and less' 202
got 'a gap in which it waited' 474
got 'the next window' 474
got 'a gap after dear probes' 674
got 'a gap after a window without ticks' 694
got 'after the end' 694
got 'a gap with eight busy threads' 754
got 'a gap without launches' 754
got 'a gap after the first window' 50
