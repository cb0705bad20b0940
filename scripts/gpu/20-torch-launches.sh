# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Do counts of launches match PyTorch's profiler, and those of its graphs?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=150
believes=tests/sim/drv_launch.c

q 6
torch_is_here || { skip "PyTorch's profiler" 'not installed, or it sees no GPU'; return; }
for way in $ways; do
	try 60 "$tools/cudalaunchtop" -qbj --attach $way -c "python3 $here/gpu/torch_profile.py with"
	is "$way: launches, as the profiler counts" "$(sed -n 's/^launches //p' "$tmp/out")" "$(sum '"kind":' launches)"
	is "$way: kernels that ran, by the profiler" "$(sed -n 's/^kernels //p' "$tmp/out")" "$(sum '"kind":' launches)"
	is "$way: kernels without a name" 0 "$(grep -c '"kernel":"0x' "$tmp/out")"
	try 60 "$tools/cudalaunchtop" -qbj --attach $way -c "python3 $here/gpu/torch_profile.py graph"
	is "$way: kernels that a graph of 7 replayed 13 times" 91 "$(sum '"kind":' replayed)"
done
try 60 "$tools/cudalaunchtop" $how --gpu-time -qbj -c "python3 $here/gpu/torch_profile.py without"
is '--gpu-time: launches that have a GPU time' "$(sum '"kind":' launches)" "$(sum '"kind":' gpu_runs)"
