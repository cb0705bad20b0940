# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Is each call counted once, with a shared, static and stripped runtime, in each layer?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=120
believes=tests/sim/rt_driver.c

q 4
# counts VARIANT SUFFIX LAYER
counts() {
	what=mem$2
	has "$what" "$1 runtime" || return
	try 60 "$tools/cudamallocsnoop" $how -qj -c "$bin/$what malloc 23 4096 free 7"
	is "$1 runtime: allocations + frees + everything else" '23 + 7 + 0' \
		"$(count '"op":"alloc"' '"size":4096,') + $(count '"op":"free"') + $(($(count '') - $(count '"op":"alloc"' '"size":4096,') - $(count '"op":"free"')))"
	is "$1 runtime: each counted once, layer $3" 30 "$(count "\"layer\":\"$3\"")"
	for layer in runtime driver; do
		try 60 "$tools/cudamallocsnoop" $how -qj --layer $layer -c "$bin/$what malloc 23 4096 free 7"
		case $3-$layer in driver-runtime) expected=0 ;; *) expected=30 ;; esac
		is "$1 runtime, --layer $layer" $expected "$(count "\"layer\":\"$layer\"")"
	done
	error=cudaErrorMemoryAllocation
	[ "$3" = driver ] && error=CUDA_ERROR_OUT_OF_MEMORY
	try 60 "$tools/cudamallocsnoop" $how -qjx -c "$bin/$what malloc 5 4096 fail 3 free 5"
	is "$1 runtime, -x: 3 impossible allocations" "3 of 3 $error" \
		"$(count "\"error\":\"$error\"") of $(count '"op"') $(sed -n 's/.*"error":"\([^"]*\)".*/\1/p' "$tmp/out" | head -n 1)"
	try 60 "$tools/cudaleak" $how -qC -c "$bin/$what malloc 23 4096 free 7"
	is "$1 runtime, cudaleak" '16 allocations not freed, 64.0 KiB' \
		"$(sed -n 's/.*: \([0-9]* allocations* not freed.*\)/\1/p' "$tmp/out")"
	has "kern$2" "$1 runtime, nvcc's kern" || return
	try 60 "$tools/cudamallocsnoop" $how -qj -c "$bin/kern$2 5 3 23 7 11"
	is "$1 runtime, nvcc's kern: allocations + frees" '25 + 9' \
		"$(count '"op":"alloc"' '"size":4096,') + $(count '"op":"free"')"
}

counts shared '' runtime
counts static -static "${cannot:+driver}${own:+runtime}"
counts stripped -stripped driver
