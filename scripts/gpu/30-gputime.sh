# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Does --gpu-time agree with CUPTI's and cudaEvent's own times, and what does it cost?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=150
believes=tests/sim/cupti.c

has kern 'kernels have a GPU time' || return

# measured KERNEL: "RUNS of LAUNCHES" of the lines of cudalaunchtop --gpu-time -j
measured() {
	sed -n "/\"kernel\":\"$1\"/s/.*\"launches\":\([0-9]*\),.*\"gpu_runs\":\([0-9]*\),.*/\2 \1/p" "$tmp/out" |
		awk '{ runs += $1; launches += $2 } END { print runs + 0 " of " launches + 0 }'
}

try 60 "$tools/cudalaunchtop" $how --gpu-time -qjc "$bin/kern"
is 'kernels that have a GPU time' '1009 of 1009, 503 of 503' "$(measured scale), $(measured 'fill<int>')"
is 'nothing is said' '' "$(head -n 1 "$tmp/err")"
figure 'times of kernels' "$(sed -n 's/.*"kernel":"\([^"]*\)".*"gpu_mean_ns":\([0-9]*\),"gpu_p99_ns":\([0-9]*\).*/\1 mean \2 ns, p99 \3 ns/p' "$tmp/out" | paste -sd';')"
try 60 "$tools/cudalaunchtop" $how --gpu-time -kqjc "$bin/kern"
is 'the same by call site' '1009 of 1009, 503 of 503' "$(measured scale), $(measured 'fill<int>')"
is 'runs without a call site' 0 "$(grep -c '"gpu_runs":[1-9].*"stack":null' "$tmp/out")"
is 'nothing is said' '' "$(head -n 1 "$tmp/err")"

q 14
what=inside-static
{ [ -x "$bin/$what" ] && [ -z "$cannot" ]; } || what=inside
if has $what 'GPU time and events'; then
	try 60 "$bin/$what" spin 20 200
	by_events=$(sed 's/^[a-z]*: //' "$tmp/out")
	try 60 "$tools/cudalaunchtop" $how --gpu-time -qjc "$bin/$what spin 20 200"
	by_cupti=$(sum '"kernel":"spin"' gpu_ns)
	only '20 kernels of 200 us, by CUPTI: no less, and no more than by events' "4000000 to $by_events ns" "$by_cupti ns" \
		"$(between 3900000 "$by_cupti" "$by_events")"
fi
n=100003 turns='1 2 3'
[ -z "$sim" ] || n=1009 turns=1
for turn in $turns; do
	for ways in '' --gpu-time '--gpu-time -k' '--gpu-time --sample 100ms/1s'; do
		before=$(date +%s%N)
		try 60 "$tools/cudalaunchtop" $how $ways -qjc "$bin/kern $n 3"
		echo "${ways:-without}:$((($(date +%s%N) - before) / 1000000))"
	done
done >"$tmp/turns"
for ways in without --gpu-time '--gpu-time -k' '--gpu-time --sample 100ms/1s'; do
	figure "a program of $n launches, $ways, ms" \
		"$(awk -F: -v how="$ways" '$1 == how { print $2 }' "$tmp/turns" | median)"
done
