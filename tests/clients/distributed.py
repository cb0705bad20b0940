# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""distributed.py WORD... - a rank of torch.distributed does the words; started by torch.distributed.run.

  ddp N       N steps of DistributedDataParallel
  groups N    N collectives of each kind in a group of its own with every second rank
  ring N      N times: sends to the next rank and receives from the one before, by batch_isend_irecv
  fsdp N      N steps of fully_shard: shards in groups of two ranks, copies between these
  tensors N   N times: a DTensor in shards is gathered, and one of partial sums is reduced, in groups of two ranks
  pynccl N    N all_reduces by ctypes, as vLLM's PyNccl has them
  graph N     a graph with an all_reduce is replayed N times
  late R      rank R comes to an all_reduce when a line is read, by load_batch()
  loads R     rank R comes to it when a line is read, by a DataLoader
  raises R    rank R raises an exception, and comes to it after the handler has read a line
  fails R     rank R raises an exception, and ends by it
  pynccl_late R rank R comes to an all_reduce by ctypes when a line is read
  shapes      rank 1 has another number of elements
  dies R      rank R ends before an all_reduce
  idle S      all do nothing for S seconds

Each rank prints, as JSON, how many operations of each kind PyTorch's flight recorder has, by group, and the groups' sizes; with
"late" and what follows before the last all_reduce."""
import ctypes
import json
import os
import pickle
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

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


def pairs():
    return init_device_mesh('cuda', (WORLD // 2, 2), mesh_dim_names=('copies', 'shards'))


def fsdp(n):
    model, mesh = torch.nn.Sequential(Scale(), Scale(), Scale()), pairs()
    for part in [*model, model]:
        fully_shard(part, mesh=mesh)
    for _ in range(n):
        model(torch.ones(1000, device='cuda')).sum().backward()


def tensors(n):
    mesh, x = pairs()['shards'], torch.ones(10, device='cuda')
    for _ in range(n):
        for placement in Shard(0), Partial():
            DTensor.from_local(x, mesh, [placement], run_check=False).redistribute(mesh, [Replicate()]).to_local() + 1


class UniqueId(ctypes.Structure):
    _fields_ = [('internal', ctypes.c_byte * 128)]


class PyNccl:
    def __init__(self):
        self.nccl = ctypes.CDLL('libnccl.so.2')
        self.nccl.ncclCommInitRank.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
        self.nccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                            ctypes.c_void_p, ctypes.c_void_p]
        self.comm, store, unique = ctypes.c_void_p(), dist.distributed_c10d._get_default_store(), UniqueId()
        if RANK == 0:
            self.nccl.ncclGetUniqueId(ctypes.byref(unique))
            store.set('pynccl', bytes(unique))
        ctypes.memmove(ctypes.byref(unique), store.get('pynccl'), ctypes.sizeof(unique))
        if self.nccl.ncclCommInitRank(ctypes.byref(self.comm), WORLD, unique, RANK):
            raise RuntimeError('ncclCommInitRank')

    def all_reduce(self, x):
        f32, total = 7, 0
        stream = torch.cuda.current_stream().cuda_stream
        if self.nccl.ncclAllReduce(x.data_ptr(), x.data_ptr(), x.numel(), f32, total, self.comm, stream):
            raise RuntimeError('ncclAllReduce')


def pynccl(n):
    comm, x = PyNccl(), torch.ones(1000, device='cuda')
    for _ in range(n):
        comm.all_reduce(x)


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
    sizes = {name: len(json.loads(group['ranks'])) for dump in dumps for name, group in pickle.loads(dump())['pg_config'].items()}
    print(json.dumps({'rank': RANK, 'pid': os.getpid(), 'counts': counts, 'sizes': sizes}), flush=True)


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


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        load_batch()
        return torch.ones(1000)


def loads(rank):
    x = torch.ones(1000, device='cuda')
    torch.cuda.synchronize()
    say()
    for batch in torch.utils.data.DataLoader(Batches()) if RANK == rank else [x]:
        x = batch.cuda()
    dist.all_reduce(x)


def handle():
    load_batch()


def raises(rank):
    x = torch.ones(1000, device='cuda')
    torch.cuda.synchronize()
    say()
    try:
        if RANK == rank:
            raise ValueError('no batch')
    except ValueError:
        handle()
    dist.all_reduce(x)


def fails(rank):
    say()
    if RANK == rank:
        raise ValueError('no batch')
    dist.all_reduce(torch.ones(1000, device='cuda'))


def pynccl_late(rank):
    comm, x = PyNccl(), torch.ones(1000, device='cuda')
    for last in False, True:
        if last:
            say()
        if last and RANK == rank:
            load_batch()
        comm.all_reduce(x)
        torch.cuda.synchronize()


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
    dist.init_process_group(os.environ.get('BACKEND', 'nccl'))
    said = False
    while words:
        word = words.pop(0)
        number = [int(words.pop(0))] if words and words[0].isdigit() else []
        globals()[word](*number)
        said |= word in ('late', 'loads', 'raises', 'fails', 'pynccl_late', 'shapes', 'dies')
    torch.cuda.synchronize()
    if not said:
        say()
    dist.destroy_process_group()


main(sys.argv[1:])
