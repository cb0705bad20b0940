# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# What does a probe in libcuda and libcudart cost?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=150
believes=docs/cost.md

q 5
if [ -n "$cannot" ]; then
	skip 'cost of a probed call' 'BPF is not permitted'
	return
fi
has cost-static 'cost of a probed call' || return

# batch LAYER WAY: one batch of the program `cost`; its figure goes to $tmp/cost.LAYER.WAY
batch() {
	n=$(wc -l <"$tmp/cost.out")
	tell cost "$1"
	until_true eval "[ \$(wc -l <$tmp/cost.out) -gt $n ]" &&
		tail -n 1 "$tmp/cost.out" >>"$tmp/cost.$1.$2"
}

both() {
	batch runtime "$1"
	batch driver "$1"
}

rounds=3
[ -z "$sim" ] || rounds=1
ways='session multi perf totals'
start cost "$bin/cost-static"
program=$pid
if ! until_true grep -q ready "$tmp/cost.out"; then
	is 'the program runs' ready "$(cat "$tmp/cost.err")"
	stop cost "$program"
	return
fi
child=$(child_of "$program")
both warm
for _ in $(seq $rounds); do
	both bare
	for way in $ways; do
		within 15
		[ "$seconds" -eq 15 ] || continue
		case $way in
		totals) start tool "$tools/cudaleak" -C -p "$child" 1000 ;;
		*) start tool "$tools/cudamallocsnoop" -j --attach $way -p "$child" ;;
		esac
		tracer=$pid
		until_true grep -Eq ': (tracing|this kernel|not permitted)' "$tmp/tool.err"
		if grep -q ': tracing' "$tmp/tool.err"; then
			both $way
		else
			grep ': ' "$tmp/tool.err" | head -n 1 >"$tmp/cost.why.$way"
		fi
		stop tool "$tracer"
		grep 'lost\|missed' "$tmp/err" | head -n 1 >"$tmp/cost.lost.$way"
	done
done
stop cost "$program"
for layer in runtime driver; do
	bare=''
	for way in bare $ways; do
		if [ ! -s "$tmp/cost.$layer.$way" ]; then
			skip "ns of a call, $layer, $way" "$(or_none "$tmp/cost.why.$way")"
			continue
		fi
		# shellcheck disable=SC2046 # three words
		set -- $(sort -n "$tmp/cost.$layer.$way" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }')
		bare=${bare:-$1}
		figure "ns of a call, $layer, $way: median, lowest to highest, added" "$1, $2 to $3, $(($1 - bare)) $(
			cat "$tmp/cost.lost.$way" 2>/dev/null)"
	done
done
# a loop of launches, with and without
n=100003
[ -z "$sim" ] || n=1009
for way in without with; do
	before=$(date +%s%N)
	case $way in
	without) try 30 "$bin/kern" $n 3 ;;
	*) try 30 "$tools/cudalaunchtop" -qjc "$bin/kern $n 3" ;;
	esac
	figure "ms of a program of $n launches, $way probes" "$((($(date +%s%N) - before) / 1000000))"
done
