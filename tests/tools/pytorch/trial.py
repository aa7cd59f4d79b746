"""A workload that counts, for the tests of workloads/workload.py; it goes by the name of pytorch.

Its variants end in every way there is: TRIAL names those to have, all good ones when not set.
"""

import os
import time

from workload import Difference, Skipped, Variant, Workload, run_workload


class Problem:
    def __init__(self, size, iterations, device):
        if size > 1000:
            raise RuntimeError("CUDA out of memory. Tried to allocate 1.00 TiB.\nadvice")
        self.expected = size * iterations
        self.size = size
        self.sum = -1

    def reset(self):
        self.sum = 0

    def check(self):
        return None if self.sum == self.expected else Difference(7, self.sum, self.expected)


def add(p, iterations, pause_s=0.0):
    for _ in range(iterations):
        p.sum += p.size
        time.sleep(pause_s)


def run_naive(p, iterations):
    add(p, iterations, 0.002)


def run_wrong(p, iterations):
    add(p, iterations - 1)


def run_greedy(p, iterations):
    raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")


def run_failing(p, iterations):
    raise RuntimeError("CUDA error: an illegal memory access was encountered\nadvice")


def setup_lacking(p):
    raise Skipped("no compiler here")


def setup_slow(p):
    p.sum = 12345
    time.sleep(0.01)


variants = {
    "naive": Variant("naive", "with a pause", run_naive),
    "fast": Variant("fast", "without one", add, setup_slow),
    "greedy": Variant("greedy", "runs out of memory", run_greedy),
    "lacking": Variant("lacking", "cannot be set up", add, setup_lacking),
    "wrong": Variant("wrong", "forgets an iteration", run_wrong),
    "failing": Variant("failing", "ends in a CUDA error", run_failing),
}
names = os.environ.get("TRIAL", "naive fast greedy lacking").split()
run_workload(Workload("pytorch", size=4, iterations=3, problem=Problem,
                      variants=[variants[name] for name in names]))
