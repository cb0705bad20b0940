# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Can counters be read while kernels run, without delaying them?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/drv_copy.c

q 10
has inside 'reading while kernels run' || return
loads=8000000
[ -z "$sim" ] || loads=300000
look cudamemtime -K chase --period 0.05 0.2 -- "$inside" chase $loads 128
grep "$load" "$tmp/out" | sed 's/.*"count":\([0-9]*\).*/\1/' | sort -un >"$tmp/counts"
is 'counts grow while a kernel runs: reports that differ' 'more than 1' "$(wc -l <"$tmp/counts")" \
	"$(yes_if [ "$(wc -l <"$tmp/counts")" -gt 1 ])"
is 'and the last has all loads' $loads "$(tail -n 1 "$tmp/counts")"

for period in 0.05 5; do
	look cudamemtime -K chase --period $period 0.2 -- "$inside" chase $loads 128
	figure "the chase's own cycles of a load, read every $period s" "$said"
done
