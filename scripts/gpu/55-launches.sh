# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Are launches counted and named, and how does the first argument lead to the name?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=120
believes=tests/sim/rt_launch.c

q 4
for program in kern kern-static kern-stripped; do
	has $program "$program: launches" || continue
	[ -z "$cannot" ] || [ $program = kern ] || continue
	for layer in all driver; do
		try 60 "$tools/cudalaunchtop" $how -qbj --layer $layer -c "$bin/$program 1009 503 1 1 1"
		is "$program, --layer $layer: scale, fill<int>, all kernels" '1009 503 1512' \
			"$(sum '"kernel":"scale"' launches) $(sum '"kernel":"fill<int>"' launches) $(sum '"kind":' launches)"
	done
done
try 60 "$tools/cudasynclatency" $how -qj -c "$bin/mem$own malloc 1 64 sync 13"
is 'waits in cudaDeviceSynchronize' 13 "$(sum '"func":"cudaDeviceSynchronize"' count)"


q 3
believes=tests/sim/rt_register.c
has kern 'first argument of a launch' || return
try 60 env LD_PRELOAD="$here/lib/firstarg.so" "$bin/kern" 3 3
sed -n 's/^firstarg: //p' "$tmp/err" >"$tmp/said"
awk '{ if ($2 == "handle") handle[$3]; if ($2 == "stub") stub[$3]
       if ($2 == "argument") { n++; h += $3 in handle; s += $5 ~ /x/ } }
     END { printf "%d kernels, %d by a handle of __cudaGetKernel, %d by an address of code", n, h, s }' \
	"$tmp/said" >"$tmp/verdict"
is 'kernels launched by handle (nvcc 13) or stub (before)' \
	'2 kernels, 2 by a handle of __cudaGetKernel, 0 by an address of code' "$(cat "$tmp/verdict")" \
	"$(yes_if grep -Eq '^2 kernels, (2 by|0 by.* 2 by)' "$tmp/verdict")"
figure 'what cudaLaunchKernel and __cudaGetKernel were passed' "$(head -n 4 "$tmp/said" | sed "s|$here/||g" | paste -sd';')"
