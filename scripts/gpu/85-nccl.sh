# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Are NCCL's calls seen, with one GPU?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=90
believes=tests/sim/nccl.c

if ! timeout 60 python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available() or not torch.distributed.is_nccl_available())' 2>/dev/null; then
	skip 'NCCL' 'no PyTorch that has it, or it sees no GPU'
	return
fi
cat >"$tmp/nccl.py" <<-'END'
	import sys, torch, torch.distributed as dist
	torch.cuda.set_device(0)
	dist.init_process_group("nccl", init_method="file://" + sys.argv[1], rank=0, world_size=1)
	x = torch.ones(1024, device="cuda")
	for _ in range(7):
	    dist.all_reduce(x)
	torch.cuda.synchronize()
	dist.destroy_process_group()
END
try 80 "$tools/nccltop" $how -qj -c "python3 $tmp/nccl.py $tmp/store"
is 'operations of ncclAllReduce' 7 "$(sum '"func":"ncclAllReduce"' total)"
is 'rank 0 of' 1 "$(sed -n 's/.*"nranks":\([0-9]*\).*/\1/p' "$tmp/out" | sort -u | paste -sd,)"
