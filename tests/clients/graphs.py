# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""graphs.py WORD...: CUDA graphs by PyTorch.  Prints what ran, by its own arithmetic: {"add": N, "mul": N, "replayed": N}.

  eager    additions and multiplications in no graph, and two graphs
  sizes    50 graphs of different sizes that share a private pool, replayed in random order
  streams  a graph that is captured on two streams
  threads  3 threads that each capture a graph of their own, with thread-local errors
  twice    a graph that is captured anew, and one that is gone
  callable a function that torch.cuda.make_graphed_callables() has made a graph of
  copies   a graph that copies, beside eager copies; prints the bytes, too
"""
import json
import random
import sys
import threading

import torch

ran = {"add": 0, "mul": 0, "replayed": 0}
lock = threading.Lock()
kept = []


def add(x, n):
    """n additions; a captured graph counts them when it is replayed."""
    for _ in range(n):
        x = x + 1
    return x


def mul(x, n):
    """n multiplications."""
    for _ in range(n):
        x = x * 2
    return x


def eager(x, adds, muls):
    """Runs them."""
    mul(add(x, adds), muls)
    with lock:
        ran["add"] += adds
        ran["mul"] += muls


def replay(graph, adds, muls, times):
    """Replays a graph that has so many."""
    for _ in range(times):
        graph.replay()
    with lock:
        ran["add"] += adds * times
        ran["mul"] += muls * times
        ran["replayed"] += (adds + muls) * times


def capture(x, adds, muls, **how):
    """Returns a graph of them."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **how):
        y = mul(add(x, adds), muls)
    kept.append(y)
    return graph


def do_eager():
    """What the first users of this complained of: 26 additions and 31 multiplications."""
    x = torch.empty(64, device="cuda")
    eager(x, 5, 0)
    replay(capture(x, 3, 1), 3, 1, 7)
    replay(capture(x, 0, 2), 0, 2, 11)
    eager(x, 0, 2)


def do_sizes():
    """As a server has one for each size of a batch."""
    pool = torch.cuda.graph_pool_handle()
    graphs = []
    for size in range(1, 51):
        x = torch.empty(size, 64, device="cuda")
        kept.append(x)
        graphs.append((capture(x, size % 3 + 1, size % 2, pool=pool), size % 3 + 1, size % 2))
    order = random.Random(1)
    for _ in range(211):
        replay(*order.choice(graphs), 1)


def do_streams():
    """Half of it on another stream."""
    x = torch.empty(64, device="cuda")
    other = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = add(x, 2)
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            z = mul(y, 3)
        torch.cuda.current_stream().wait_stream(other)
        kept.append((add(y, 1), z))
    replay(graph, 3, 3, 13)


def do_threads():
    """Each on a stream of its own."""
    def run(n):
        x = torch.empty(64, device="cuda")
        replay(capture(x, n, 1, stream=torch.cuda.Stream(), capture_error_mode="thread_local"), n, 1, 5)

    # PyTorch itself captures in one thread at a time
    for n in (2, 3, 5):
        thread = threading.Thread(target=run, args=(n,))
        thread.start()
        thread.join()


def do_twice():
    """The second has the place of the first."""
    x = torch.empty(64, device="cuda")
    graph = capture(x, 2, 0)
    replay(graph, 2, 0, 3)
    graph.reset()
    with torch.cuda.graph(graph):
        kept.append(mul(x, 3))
    replay(graph, 0, 3, 7)
    del graph
    replay(capture(x, 1, 1), 1, 1, 11)


def do_callable():
    """It is called 3 times before it is captured."""
    x = torch.empty(64, device="cuda", requires_grad=False)
    f = torch.cuda.make_graphed_callables(lambda y: mul(add(y, 2), 3), (x,), num_warmup_iters=3)
    with lock:
        ran["add"] += 2 * 3
        ran["mul"] += 3 * 3
    for _ in range(7):
        f(x)
    with lock:
        ran["add"] += 2 * 7
        ran["mul"] += 3 * 7
        ran["replayed"] += (2 + 3) * 7


def do_copies():
    """From pinned memory, and within the device."""
    host = torch.empty(1024, dtype=torch.uint8, pin_memory=True)
    x = torch.empty(1024, dtype=torch.uint8, device="cuda")
    y = torch.empty(1024, dtype=torch.uint8, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.copy_(host, non_blocking=True)
        y.copy_(x)
    for _ in range(11):
        graph.replay()
    x.copy_(host, non_blocking=True)
    print(json.dumps({"HtoD": 12 * 1024, "DtoD": 11 * 1024}))


if __name__ == "__main__":
    for word in sys.argv[1:]:
        globals()["do_" + word]()
    torch.cuda.synchronize()
    print(json.dumps(ran))
