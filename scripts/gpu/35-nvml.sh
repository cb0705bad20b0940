# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Does cudatop report the memory that NVML reports for a process?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/nvml.c

has mem 'NVML' || return
[ -z "$cannot" ] || { skip 'NVML' 'cudatop -p needs BPF here'; return; }
start mem "$bin/mem$own" wait malloc 3 64m wait
program=$pid
until_true grep -q ready "$tmp/mem.out"
child=$(child_of "$program")
start tool "$tools/cudatop" -j -p "$child" 1
tracer=$pid
until_true grep -q ': tracing' "$tmp/tool.err"
tell mem go
until_true grep -q '"held":201326592' "$tmp/tool.out"
smi=$(nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits 2>/dev/null | sed -n "s/^$child, //p")
stop tool "$tracer"
is 'bytes held after attaching to it' 201326592 "$(sed -n 's/.*"held":\([0-9]*\),.*/\1/p' "$tmp/out" | sort -n | tail -n 1)"
used=$(sed -n 's/.*"used":\([0-9]*\),.*/\1/p' "$tmp/out" | sort -n | tail -n 1)
only 'used, by NVML: what nvidia-smi says, MiB' "${smi:-none}" "$((${used:-0} >> 20))"
tell mem go
stop mem "$program"
