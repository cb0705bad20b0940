# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Do counts match those of PyTorch's allocator, and are its USDT probes there?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=150
believes=common/api/cuda_api.tbl

q 6
torch_is_here || { skip "PyTorch's allocator" 'not installed, or it sees no GPU'; return; }
for way in $ways; do
	try 60 "$tools/cudamallocsnoop" -qj --attach $way -c "python3 $here/gpu/torch_memory.py"
	# shellcheck disable=SC2046 # four words
	set -- $(sed -n 's/^stats //p' "$tmp/out")
	if [ $# -ne 4 ]; then
		is "$way: a PyTorch program runs" 'its own figures' 'none'
		continue
	fi
	is "$way: cudaMalloc that succeeded: num_device_alloc" "$1" "$(count '"func":"cudaMalloc"' '"ret":0,')"
	is "$way: cudaFree: num_device_free" "$2" "$(count '"func":"cudaFree"' '"ret":0,' '"ptr":"0x')"
	is "$way: bytes allocated: reserved_bytes" "$3" "$(bytes '"func":"cudaMalloc"' '"ret":0,')"
	oom=$(count '"func":"cudaMalloc"' cudaErrorMemoryAllocation)
	is "$way: an impossible tensor: cudaErrorMemoryAllocation" 'at least once' "$oom times" "$(yes_if [ "$oom" -gt 0 ])"
	figure "$way: functions seen" "$(functions)"
done
figure 'PyTorch, CUDA' "$(sed -n 's/^version //p' "$tmp/out")"
c10=$(sed -n 's/^c10 //p' "$tmp/out")
is 'USDT probes in libc10_cuda.so' 'pytorch:malloc' "$(strings -a "$c10" 2>/dev/null | grep -c '^pytorch$') notes" \
	"$(yes_if grep -qaE 'pytorch.malloc' "$c10")"
try 60 env PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True PYTORCH_ALLOC_CONF=expandable_segments:True \
	"$tools/cudamallocsnoop" $how -qj -c "python3 $here/gpu/torch_memory.py"
is 'expandable segments: bytes of cuMemCreate, reserved_bytes' "$(awk '$1 == "stats" { print $4 }' "$tmp/out")" \
	"$(bytes '"func":"cuMemCreate"' '"ret":0,')"
