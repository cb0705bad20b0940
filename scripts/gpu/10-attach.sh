# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Do the tools attach, in each way, or fall back to --attach inject?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/drv_entry.c

q 1
figure 'what the kernel permits' "$([ -n "$cannot" ] || echo 'BPF and') --attach inject"
try 60 "$bin/mem-static" malloc 1 4096 free 1 print
only 'a program runs on the GPU' 'calls 2 failed 0 last 0' "$(cat "$tmp/out")"
for kind in session multi perf inject auto; do
	what=mem-static
	[ -z "$cannot" ] || what=mem
	[ $kind != inject ] || what=mem
	has $what "--attach $kind" || continue
	try 60 "$tools/cudamallocsnoop" -qj --attach $kind -c "$bin/$what malloc 23 4096 free 7"
	q 1
	[ $kind != inject ] || q 2
	if [ $rc -ne 0 ] && [ -n "$cannot" ] || grep -q 'does not support it' "$tmp/err"; then
		skip "--attach $kind" "$(head -n 1 "$tmp/err")"
		continue
	fi
	is "--attach $kind: allocations + frees" '23 + 7' "$(count '"op":"alloc"') + $(count '"op":"free"')"
done
q 2
has mem '--attach inject: both layers' || return
for layer in runtime driver; do
	try 60 "$tools/cudamallocsnoop" -qj --attach inject --layer $layer -c "$bin/mem malloc 23 4096 free 7"
	is "--attach inject, --layer $layer" 30 "$(count "\"layer\":\"$layer\"")"
done
try 60 "$tools/cudamallocsnoop" -qj --attach inject -c "$bin/mem-static malloc 23 4096 free 7"
is '--attach inject, static runtime: driver calls through cuGetProcAddress' 30 "$(count '"layer":"driver"')"
