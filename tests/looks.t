# shellcheck shell=sh disable=SC2154 # rc: the words'
# The process that reads what others can delay, spoil or make endless: tests/unit/looks.c.

# looked NAME ERROR SIZE [TENTHS [VALUE]]: one look ended so
looked() {
	grep -qE "^$1 $2 $3 ${4:-[01]} ${5:-.*}$" "$tmp/out" || no "$1: $(grep "^$1 " "$tmp/out" | tr '\n' ';')"
}

it "a helper answers, has no descriptor of the tool's, and is left when it crashes or takes too much memory"
run "$bin/looks"
status 0
looked answer 0 4 0 4711
looked nothing 0 0
looked much 0 32505856 '[0-9]'
looked files 0 4 0 4
looked crash EPIPE 0
looked memory EPIPE 0 '[0-9]'
looked stopped ECANCELED 0
looked late 0 4 0 4711

long || exit

it "a look takes a second at most; a user's looks that do so end his share of the time, but not what is asked for"
run "$bin/looks" 6
status 0
[ "$(grep -cE '^ever ETIME 0 1[0-2] ' "$tmp/out")" -eq 6 ] || no "$(grep -c ^ever "$tmp/out") looks"
looked late EBUSY 0
looked asked 0 4 0 4711
says "late not read for now: processes of user 0 take too much time"
