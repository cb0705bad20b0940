# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What programs do with PyTorch, a word each, in prime numbers: pytorch.py WORD...

At its end it prints what PyTorch itself says of that, as a line of JSON: its allocator's statistics, and the
blocks that its memory snapshot has as allocated, with the Python frames that allocated them.
"""
import json
import os
import sys
import threading

import torch

kept = []
moved = {"HtoD": 0, "DtoH": 0, "DtoD": 0}
MIB = 1 << 20


def tensors():
    """13 tensors that stay, 3 that go."""
    for i in range(13):
        kept.append(torch.empty((i + 1) * 1000, device="cuda"))
    for _ in range(3):
        torch.empty(5 * MIB, device="cuda")


def elementwise():
    """7 additions and 5 products of the same two tensors."""
    a, b = torch.ones(1000, device="cuda"), torch.ones(1000, device="cuda")
    for _ in range(7):
        a + b
    for _ in range(5):
        a * b


def foreach():
    torch._foreach_add_([torch.ones(100, device="cuda") for _ in range(11)], 1.0)


def reduce():
    a = torch.ones(1000, 17, device="cuda")
    a.sum(), a.max(), a.mean(dim=0)


def copies():
    """In all directions; what is moved is what tensors have."""
    host = torch.ones(251, dtype=torch.uint8)
    pinned = torch.ones(65537, dtype=torch.uint8, pin_memory=True)
    for _ in range(7):
        device = host.to("cuda")
        moved["HtoD"] += 251
    for _ in range(5):
        device = pinned.to("cuda", non_blocking=True)
        moved["HtoD"] += 65537
    other = torch.empty_like(device)
    for _ in range(3):
        other.copy_(device)
        moved["DtoD"] += 65537
    for _ in range(2):
        other.cpu()
        moved["DtoH"] += 65537
    torch.cuda.synchronize()


def streams():
    """3 streams; 5 events, 2 of which are waited for."""
    used = [torch.cuda.Stream() for _ in range(3)]
    events = [torch.cuda.Event() for _ in range(5)]
    for i, event in enumerate(events):
        with torch.cuda.stream(used[i % 3]):
            torch.ones(100, device="cuda")
            event.record()
    events[0].synchronize()
    events[1].synchronize()
    torch.cuda.synchronize()


def autograd():
    """backward() launches on a thread that has no Python."""
    w = torch.ones(100, device="cuda", requires_grad=True)
    for _ in range(3):
        (w * w).sum().backward()


def optimizer():
    w = [torch.ones(100, device="cuda", requires_grad=True) for _ in range(3)]
    adam = torch.optim.AdamW(w, foreach=True)
    for _ in range(2):
        sum((x * x).sum() for x in w).backward()
        adam.step()
        adam.zero_grad()


def graphs():
    """A graph that is replayed 5 times."""
    x = torch.zeros(64, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2 + 1
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()
    kept.append((graph, y))


def oom():
    """More than there is, 2 times."""
    for _ in range(2):
        try:
            torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
        except torch.cuda.OutOfMemoryError:
            pass


def empty():
    torch.cuda.empty_cache()


def leak(count=23):
    """Each in a layer of a model of its own."""
    def layer(i):
        kept.append(torch.ones(2000 + i, device="cuda"))

    for i in range(count):
        layer(i)


def threads():
    """59 that wait."""
    for _ in range(59):
        threading.Thread(target=threading.Event().wait, daemon=True).start()


def wait():
    print("ready", flush=True)
    sys.stdin.readline()


def blocks():
    """Of each block that is allocated: its address, the bytes asked for, and its Python frames."""
    for segment in torch.cuda.memory._snapshot()["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                yield {
                    "address": hex(block["address"]),
                    "size": block["size"],
                    "requested": block["requested_size"],
                    "frames": [[os.path.basename(f["filename"]), f["line"], f["name"]] for f in block.get("frames", [])],
                }


def main():
    if "snapshot" in sys.argv:
        torch.cuda.memory._record_memory_history(stacks="python")
    for word in sys.argv[1:]:
        if word != "snapshot":
            globals()[word]()
    stats = torch.cuda.memory_stats()
    truth = {name: stats[name] for name in stats if isinstance(stats[name], int)}
    print(json.dumps({"stats": truth, "moved": moved, "blocks": list(blocks())}), flush=True)
    if "end" not in sys.argv:
        os._exit(0)  # what is kept is still there


def end():
    """The interpreter's own end, in which everything is freed."""


if __name__ == "__main__":
    main()
