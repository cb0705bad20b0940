# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Are two processes at the same time told apart?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/drv_mem.c

has mem$own 'two processes' || return
try 60 "$tools/cudamallocsnoop" $how -qj -c "sh -c '$bin/mem$own malloc 11 4096 & $bin/mem$own malloc 13 8192; wait'"
is 'allocations of each, processes' '11 + 13, 2' "$(count '"size":4096,') + $(count '"size":8192,'), $(
	sed -n 's/.*"pid":\([0-9]*\),.*/\1/p' "$tmp/out" | sort -u | wc -l)"
has inside 'two processes whose kernels are measured' || return
look cudakerneltime -- sh -c "$inside big 5 & $inside big 7; wait"
is 'launches that cudakerneltime counted in both' 12 "$(sum '"kernel":"big"' launches)"
