# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Are leaks found, with the stacks of nvcc's programs?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/drv_mem.c

for suffix in '' -static; do
	[ -z "$cannot" ] || [ -z "$suffix" ] || continue	# its calls are not seen
	has deep$suffix "deep$suffix: leaks" || continue
	try 60 "$tools/cudaleak" $how -q -c "$bin/deep$suffix 19 65536"
	is "deep$suffix: one group" '1.2 MiB in 19 allocations' \
		"$(sed -n 's/^ *\([0-9.]* [KMG]iB in .*\) of .*/\1/p' "$tmp/out")"
	is "deep$suffix: the stack" 'app::grow<int>, leak_10 … leak_1, main' \
		"$(sed -n 's/^        \([^ ]*.*\)+0x.*/\1/p' "$tmp/out" | tr '\n' ',' | sed 's/,$//; s/,/, /g')" \
		"$(yes_if [ "$(grep -cE '^ +(int )?(app::grow<int>|leak_(1|5|10)|main)[(+]' "$tmp/out")" -eq 5 ])"
done
for suffix in '' -static; do
	[ -x "$bin/leaky$suffix" ] || continue
	[ -z "$cannot" ] || [ -z "$suffix" ] || continue
	try 60 "$tools/cudaleak" $how -q -c "$bin/leaky$suffix 13"
	is "leaky$suffix: what is never freed" '13 allocations not freed, 832.0 KiB' \
		"$(sed -n 's/.*: \([0-9]* allocations* not freed.*\)/\1/p' "$tmp/out")"
	is "leaky$suffix: where" 'below cache_result' \
		"$(sed -n 's/^        \([^ ]*\).*+0x.*/\1/p' "$tmp/out" | tr '\n' ' ')" \
		"$(yes_if grep -q ' cache_result' "$tmp/out")"
done
try 60 "$tools/cudaleak" $how -qC -c "$bin/mem$own malloc 11 4096 reset"
is 'cudaDeviceReset frees' '0 allocations not freed, 0 bytes' \
	"$(sed -n 's/.*: \([0-9]* allocations* not freed.*\)/\1/p' "$tmp/out")"
