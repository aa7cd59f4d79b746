#!/usr/bin/env python3
"""Two ranks, a GPU each, reduce the same two tensors over and over with NCCL.

Mode `ordered`: both take them in the same order, and rank 1 comes late each time, for a kernel of its own.
Mode `swapped`: rank 1 takes them in the other order.  One is of float32, the other of int32, so that
NCCL has a kernel for each (its names tell the type, not the operation); they are of one size, so that
nothing hangs, and both ranks get wrong sums.  How many is printed.

Without PyTorch or two GPUs it says so in one line and ends well.  A minute is the most that it takes.
"""

import argparse
import os
import signal
import sys
import tempfile

VALUES = 1 << 18  # of 4 bytes
MOST_SECONDS = 60


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["ordered", "swapped"], default="ordered")
    # so many that the waits outweigh the start of NCCL
    parser.add_argument("--iterations", type=positive, default=200)
    parser.add_argument("--late-ms", type=positive, default=2, help="rank 1 comes so much later")
    return parser.parse_args()


def import_torch():
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        sys.exit(0)
    if torch.cuda.device_count() < 2:
        print("skipped: PyTorch sees fewer than two GPUs")
        sys.exit(0)
    return torch


def late_cycles(torch, rank, late_ms):
    """About: the GPU's clock varies, and older versions of PyTorch do not tell it."""
    clock_khz = getattr(torch.cuda.get_device_properties(rank), "clock_rate", 2000000)
    return late_ms * clock_khz


def run(rank, options, store):
    signal.alarm(MOST_SECONDS)
    import torch
    import torch.distributed as distributed

    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", init_method=f"file://{store}", rank=rank, world_size=2)
    tensors = [torch.empty(VALUES, dtype=kind, device="cuda") for kind in (torch.float32, torch.int32)]
    cycles = late_cycles(torch, rank, options.late_ms)
    distributed.all_reduce(torch.ones(VALUES, device="cuda"))  # starts NCCL, in both orders alike
    torch.cuda.synchronize()
    order = tensors[::-1] if options.mode == "swapped" and rank == 1 else tensors
    for _ in range(options.iterations):
        for tensor in tensors:
            tensor.fill_(rank + 1)
        if options.mode == "ordered" and rank == 1:
            torch.cuda._sleep(cycles)
        for tensor in order:
            distributed.all_reduce(tensor)
    torch.cuda.synchronize()
    wrong = sum(int((tensor != 1 + 2).sum()) for tensor in tensors)
    print(f"rank {rank}: {wrong} of {2 * VALUES} sums are wrong", flush=True)
    distributed.destroy_process_group()


def main():
    options = parse_options()
    torch = import_torch()
    signal.alarm(MOST_SECONDS)
    # Both must go the same way through whatever the type; two ranks gain nothing from multicast.
    os.environ.setdefault("NCCL_ALGO", "Ring")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, args=(options, os.path.join(folder, "store")), nprocs=2)


if __name__ == "__main__":
    main()
