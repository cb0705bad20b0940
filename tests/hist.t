# shellcheck shell=sh disable=SC2086,SC2154 # words or none; tmp: the words'
# The slots of histograms and their percentiles: common/base/hist_slot.h and log2_hist.h, by tests/unit/hist.c.
light

it "every value has a slot and a row; percentiles are exact or marked as estimates, near, in order, whatever the counts"
${CC:-cc} ${SANITIZE:-} -std=gnu11 -O2 -Wall -Wextra -iquote common tests/unit/hist.c common/base/log2_hist.c -o "$tmp/hist" ||
	no "tests/unit/hist.c does not compile"
run "$tmp/hist"
status 0
lines 1 '^0 failures$'
silent
