# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""distributed.py WORD... - a rank of torch.distributed does the words; started by torch.distributed.run.

  ddp N       N steps of DistributedDataParallel
  groups N    N collectives of each kind in a group of its own with every second rank
  ring N      N times: sends to the next rank and receives from the one before, by batch_isend_irecv
  graph N     a graph with an all_reduce is replayed N times
  late R      rank R comes to an all_reduce when a line is read, by load_batch()
  shapes      rank 1 has another number of elements
  dies R      rank R ends before an all_reduce
  idle S      all do nothing for S seconds

Each rank prints, as JSON, how many operations of each kind PyTorch's flight recorder has, by group; with "late", "shapes" and
"dies" before the last all_reduce."""
import json
import os
import pickle
import sys
import time

import torch
import torch.distributed as dist

RANK = int(os.environ['RANK'])
WORLD = int(os.environ['WORLD_SIZE'])


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.by = torch.nn.Parameter(torch.ones(1000, device='cuda'))

    def forward(self, x):
        return x * self.by


def ddp(n):
    model = torch.nn.parallel.DistributedDataParallel(Scale(), init_sync=False)
    for _ in range(n):
        model(torch.ones(1000, device='cuda')).sum().backward()


def groups(n):
    all_groups = [dist.new_group(list(range(i, WORLD, 2))) for i in range(2)]
    mine = all_groups[RANK % 2]
    size = dist.get_world_size(mine)
    x, many = torch.ones(10, device='cuda'), torch.ones(10 * size, device='cuda')
    for _ in range(n):
        dist.all_reduce(x, group=mine)
        dist.all_gather_into_tensor(many, x, group=mine)
        dist.reduce_scatter_tensor(x, many, group=mine)
        dist.broadcast(x, src=RANK % 2, group=mine)


def ring(n):
    x, y = torch.ones(10, device='cuda'), torch.ones(10, device='cuda')
    for _ in range(n):
        works = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, (RANK + 1) % WORLD),
                                        dist.P2POp(dist.irecv, y, (RANK - 1) % WORLD)])
        for work in works:
            work.wait()


def graph(n):
    x = torch.ones(10, device='cuda')
    dist.all_reduce(x)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        dist.all_reduce(x)
    for _ in range(n):
        g.replay()
    torch.cuda.synchronize()


def say():
    """What the flight recorder has."""
    counts = {}
    dumps = (torch._C._distributed_c10d._dump_nccl_trace, torch._C._distributed_c10d._dump_fr_trace)
    for e in [e for dump in dumps for e in pickle.loads(dump())['entries']]:
        name = e['profiling_name'].split(':')[1].split(' ')[0]
        group = counts.setdefault(e['process_group'][0], {})
        group[name] = group.get(name, 0) + 1
    print(json.dumps({'rank': RANK, 'pid': os.getpid(), 'counts': counts}), flush=True)


def load_batch():
    while not os.path.exists(os.environ['GO']):
        time.sleep(0.05)



def late(rank):
    x = torch.ones(1000, device='cuda')
    torch.cuda.synchronize()
    say()
    if RANK == rank:
        load_batch()
    dist.all_reduce(x)


def shapes():
    say()
    dist.all_reduce(torch.ones(1001 if RANK == 1 else 1000, device='cuda'))


def idle(seconds):
    time.sleep(seconds)


def dies(rank):
    say()
    if RANK == rank:
        os._exit(0)
    dist.all_reduce(torch.ones(1000, device='cuda'))


def main(words):
    torch.cuda.set_device(RANK)
    dist.init_process_group('nccl')
    said = False
    while words:
        word = words.pop(0)
        number = [int(words.pop(0))] if words and words[0].isdigit() else []
        globals()[word](*number)
        said |= word in ('late', 'shapes', 'dies')
    torch.cuda.synchronize()
    if not said:
        say()
    dist.destroy_process_group()


main(sys.argv[1:])
