#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""loader.py [STEPS]: trains as train.py does, on batches that a thread decodes more slowly than the GPU takes them."""
import os
import queue
import sys
import threading
import time

import train


class Loader:
    def __init__(self, steps):
        self.steps = steps
        self.batches = queue.Queue(2)
        threading.Thread(target=self.decode_all, daemon=True).start()

    def decode(self):
        time.sleep(0.02)

    def decode_all(self):
        for step in range(self.steps):
            self.decode()
            self.batches.put(step)
        self.batches.put(None)

    def __iter__(self):
        return iter(self.batches.get, None)


def main(steps):
    os.environ.setdefault("SIM_KERNEL_NS", "2000000")
    model = train.Model(train.Cuda())
    for _ in Loader(steps):
        model.forward()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
