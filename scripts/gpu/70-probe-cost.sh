# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# What do GPU probes cost: off, counting, recording, staging?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=120
believes=docs/inside-kernels.md

q 9
has inside 'cost of GPU probes' || return
size='40 16777216'
[ -z "$sim" ] || size='3 4096'
alone sum $size
bare=$said
figure "the sum of two vectors, median of $size floats, us: no tool" "$bare"
while read -r tool options; do
	look $tool $options -- "$inside" sum $size
	figure "$tool $(echo "$options" | sed "s|$tmp/||"): us, ratio" \
		"$said, $(echo "$said $bare" | awk '{ if ($2 > 0) printf "%.2f", $1 / $2 }')"
	[ -n "$said" ] || missing="${missing:-}$tool $options; "
done <<-EOF
	cudamemtime -K sum --blocks 1/1048576
	cudamemtime -K sum
	cudamemtime -K sum --scheme fence
	cudamemtime -K sum --keep-registers
	cudamemtime -K sum --csv $tmp/csv
	cudamemtime -K sum --csv $tmp/csv --stage
	cudakerneltime -K sum
	cudacoalesce -K sum
	cudabounds -K sum
EOF
is 'each tool was measured' 'none missing' "${missing:-none missing}"
