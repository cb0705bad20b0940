# shellcheck shell=sh disable=SC2154 # rc: the words'
# The process that reads what others can delay, spoil or make endless: tests/unit/helper.c.

# looked NAME ERROR SIZE [TENTHS [VALUE]]: one look ended so
looked() {
	grep -qE "^$1 $2 $3 ${4:-[01]} ${5:-.*}$" "$tmp/out" || no "$1: $(grep "^$1 " "$tmp/out" | tr '\n' ';')"
}

it "a helper answers, has no descriptor of the tool's, and is left when it crashes or takes too much memory"
run "$bin/helper"
status 0
looked answer 0 4 0 4711
looked nothing 0 0
looked much 0 32505856 '[0-9]'
looked files 0 4 0 4
looked crash EPIPE 0
looked memory EPIPE 0 '[0-9]'
looked stopped ECANCELED 0

it "what has not answered in time goes on, and holds up nothing else; who asks again gets its answer"
looked other 0 4 0 4711
equal "$(awk '$1 == "late" { print $2, $4, $5 }' "$tmp/out")" "ETIME 1 0
ETIME 0 0
0 0 4711"

it "a user's looks that never end are said, and are at last not begun"
run "$bin/helper" 9
status 0
equal "$(grep -c '^ever ETIME 0 1 ' "$tmp/out")" 8
equal "$(grep -c '^ever EBUSY 0 0 ' "$tmp/out")" 1
equal "$(grep -c '^same ETIME 0 0 ' "$tmp/out")" 8
looked full EBUSY 0
[ "$(grep -c 'ever could not be read within 1 s' "$tmp/err")" -eq 8 ] || no "it is not said of each"
says 'user 0 reached the limit on reads that hang: further files and memory of its processes are not read'
