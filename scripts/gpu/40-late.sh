# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Are calls, devices and contexts right after attaching to a program that runs?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=90
believes=tests/sim/drv_ctx.c

[ -z "$cannot" ] || { skip 'attaching to programs that run' 'not possible without BPF, but for the resident library'; return; }
has mem-static 'attaching late' || return
start mem "$bin/mem-static" malloc 5 4096 wait malloc 23 8192 free 7 wait
until_true grep -q ready "$tmp/mem.out"
child=$(child_of "$pid")
program=$pid
start tool "$tools/cudamallocsnoop" -j -p "$child"
tracer=$pid
if until_true grep -q ': tracing' "$tmp/tool.err"; then
	tell mem go
	until_true eval "[ \$(grep -c ready $tmp/mem.out) -eq 2 ]"
fi
stop tool "$tracer"
devices=$(sed -n 's/.*"device":\([^,]*\),.*/\1/p' "$tmp/out" | sort -u | paste -sd,)
is 'attached to a running process (-p)' '23 + 7' \
	"$(count '"op":"alloc"' '"size":8192,') + $(count '"op":"free"')"
is 'the device of these calls, whose context is older' '0, or null' "$devices" \
	"$(yes_if [ "$devices" = 0 -o "$devices" = null ])"
tell mem go
stop mem "$program"

# a simulated driver is not in the directories probed in advance
start tool "$tools/cudamallocsnoop" -j ${sim:+-l "$libcuda"}
tracer=$pid
until_true grep -q ': tracing' "$tmp/tool.err"
timeout -k 5 60 "$bin/mem-stripped" malloc 23 12288 free 7 </dev/null
stop tool "$tracer"
is 'every process: one that starts later' '23 + 7' \
	"$(count '"op":"alloc"' '"size":12288,') + $(count '"op":"free"' '"comm":"mem')"

for words in 'ctxcreate drvmalloc 3 4096 drvfree 3 ctxdestroy' 'drvdevice 0 drvmalloc 3 4096 drvfree 3'; do
	try 30 "$tools/cudamallocsnoop" -qj --layer driver -c "$bin/mem-static $words"
	is "$words: the device" 0 "$(sed -n 's/.*"device":\([^,]*\),.*/\1/p' "$tmp/out" | sort -u | paste -sd,)"
done
