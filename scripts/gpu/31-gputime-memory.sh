# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Does a program that launches without end grow with --gpu-time?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/cupti.c

if [ -n "$sim" ]; then
	write 'memory of a program that launches without end' - 'not measured' open
	return
fi
has kern 'memory with --gpu-time' || return
CUDA_INJECTION64_PATH=$tools/libcudagputime.so "$bin/kern" 20000003 3 >/dev/null & program=$!
jobs="$jobs $program"
timeout 40 "$tools/cudalaunchtop" $how --gpu-time -qjp $program 5 >"$tmp/out" 2>"$tmp/err" & jobs="$jobs $!"
for at in 5 10 15 20 25; do
	timeout 5 tail -f --pid=$program /dev/null
	kill -0 $program 2>/dev/null || break
	figure "after $at s: KiB, MiB of the GPU, runs" "$(awk '/^VmRSS/ { print $2 }' /proc/$program/status), $(
		nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits 2>/dev/null | sed -n "s/^$program, //p"), $(sum . gpu_runs)"
done
