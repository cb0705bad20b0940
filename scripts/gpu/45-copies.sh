# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Which copies are counted, pageable and pinned, and which driver functions do they reach?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=90
believes=tests/sim/drv_copy.c

q 4
has mem$own copies || return
for layer in runtime driver all; do
	try 60 "$tools/cudamemcpysize" $how -qj --layer $layer -c "$bin/mem$own \
		copy 23 4096 h2d copy 7 100 d2h copyasync 11 512 h2d copyasync 5 512 d2h"
	is "--layer $layer: HtoD, DtoH, HtoD asynchronous, DtoH asynchronous" '23 7 11 5' \
		"$(for async in false true; do for d in HtoD DtoH; do sum "\"direction\":\"$d\",.*\"async\":$async" count; done; done | paste -sd' ')"
done
for way in h2d d2h d2d h2h default; do
	try 30 "$tools/cudasynclatency" $how -qij --layer driver -c "$bin/mem$own copy 3 4096 $way"
	figure "driver functions of 3 synchronous copies $way" "$(grep Memcpy "$tmp/out" |
		sed 's/.*"func":"\([^"]*\)".*"count":\([0-9]*\).*/\1 ×\2/' | paste -sd' ')"
done
if timeout 60 python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
	for pin in True False; do
		try 60 "$tools/cudamemcpysize" $how -qj -c "python3 -c 'import torch
a = torch.empty(1 << 26, dtype=torch.uint8, pin_memory=$pin)
for _ in range(11): a.to(\"cuda\", non_blocking=True)
torch.cuda.synchronize()'"
		is "PyTorch's copies to the GPU, pinned $pin" 11 "$(sum '"direction":"HtoD"' count)"
		figure "ns that a call took, 64 MiB, pinned $pin" \
			"$(($(sum '"direction":"HtoD"' total_ns) / 11))"
	done
else
	skip 'pinned and pageable memory of PyTorch' 'not installed, or it sees no GPU'
fi
