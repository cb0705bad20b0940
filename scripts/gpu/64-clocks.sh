# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Do %gridid and %globaltimer behave as assumed, and does cudakerneltime agree with events?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=90
believes=gpu/kerneltime.gpu.c

q 12
has inside 'clocks of launches' || return
alone gridid 64
only 'the launches of a context by %gridid, two streams' 'all differ, they grow' "$said"
q 13
alone globaltimer
only 'the smallest step of %globaltimer, ns' 'at most 1024' "$said" "$(between 1 "$said" 1024)"
q 14
look cudakerneltime -- "$inside" spin 20 200
total=$(sum '"kernel":"spin"' total_ns)
only 'cudakerneltime: 20 launches of 200 us each' '20; 4.0 to 4.4 ms' \
	"$(sum '"kernel":"spin"' launches); $((total / 1000)) us" \
	"$([ "$(sum '"kernel":"spin"' launches)" -eq 20 ] && between 3900000 "$total" 4400000)"
only 'the same by events: no less, 30 us a launch more at most' "${total} ns or more" "$said ns" \
	"$(between "$((total * 98 / 100))" "$said" "$((total + 600000))")"
look cudakerneltime -- "$inside" graph 10
is "cudakerneltime: a graph's launches" "$said" "$(sum '"kernel":"big"' launches)"
