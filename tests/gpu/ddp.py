#!/usr/bin/env python3
"""Data parallel training steps, by PyTorch's DistributedDataParallel over NCCL: a process for each GPU.

    tests/gpu/ddp.py --gpus 2 --modes one,buckets,tiny

Mode `one` adds up all gradients in one bucket, when the last is there; `buckets` in buckets of 25 MB, each
beside the computation of the next; `tiny` in a bucket for each tensor, so many that launching them takes
longer than computing.  Prints what a step takes, the median of repeats in which the modes take turns, and how
many buckets a mode has.  The steps that are measured are in an NVTX range `run`.  All ranks must have the
same weights in the end.

Under torchrun it is one of the ranks; otherwise it starts them, with the variables that torchrun sets.
Without PyTorch or two GPUs it says so in one line and ends well.  After --limit-s all ranks end.
"""

import argparse
import contextlib
import importlib.util
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import time

BUCKET_MB = {"one": 1 << 14, "buckets": 25, "tiny": 0.001}
WARM_UP_STEPS = 12  # makes the buckets anew after the first, and times itself in the first ten
END_S = 5  # from the first rank that fails to the end of the others


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def modes(text):
    chosen = text.split(",")
    if not set(chosen) <= set(BUCKET_MB):
        raise argparse.ArgumentTypeError(f"must be of {', '.join(BUCKET_MB)}, not {text}")
    return chosen


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", type=modes, default=list(BUCKET_MB), metavar="MODE,...")
    parser.add_argument("--gpus", type=positive, default=2)
    parser.add_argument("--steps", type=positive, default=20, help="of one repeat")
    parser.add_argument("--repeats", type=positive, default=9)
    parser.add_argument("--layers", type=positive, default=10)
    parser.add_argument("--width", type=positive, default=3072)
    parser.add_argument("--batch", type=positive, default=1024, help="samples of each GPU")
    parser.add_argument("--kineto", type=pathlib.Path, metavar="FOLDER",
                        help="a trace of PyTorch's profiler for each mode and rank; nothing is measured")
    parser.add_argument("--limit-s", type=positive, default=60)
    return parser.parse_args()


# ---- the ranks ----


def is_rank():
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start_rank(rank, count, port):
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count,
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": 1}
    return subprocess.Popen([sys.executable, __file__, *sys.argv[1:]],
                            env={**os.environ, **{name: str(value) for name, value in place.items()}})


def wait_for(ranks, until):
    """Ends them all where one fails: the others would wait for it."""
    while any(rank.poll() is None for rank in ranks):
        if any(rank.poll() for rank in ranks):
            until = min(until, time.monotonic() + END_S)
        if time.monotonic() > until:
            print("not all ranks are done in time", file=sys.stderr)
            for rank in ranks:
                rank.kill()
            break
        time.sleep(0.05)
    return int(any(rank.wait() for rank in ranks))


def gpu_count():
    """Asked of the driver's own tool: this process needs no GPU, and shall have none."""
    if visible := os.environ.get("CUDA_VISIBLE_DEVICES"):
        return len(visible.split(","))
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return done.stdout.count("GPU ")


def has_torch():
    return importlib.util.find_spec("torch") is not None


def start_all(options):
    if not has_torch():
        print("skipped: PyTorch is not installed")
        return 0
    if gpu_count() < max(options.gpus, 2):
        print(f"skipped: needs {max(options.gpus, 2)} GPUs, and there are {gpu_count()}")
        return 0
    port, until = free_port(), time.monotonic() + options.limit_s
    return wait_for([start_rank(rank, options.gpus, port) for rank in range(options.gpus)], until)


# ---- a rank ----


def make_layer(torch, width):
    """Four tensors of gradients, one of which is large."""
    return torch.nn.Sequential(torch.nn.LayerNorm(width), torch.nn.Linear(width, width), torch.nn.ReLU())


class Training:
    """One mode: a model of its own, and steps of it."""

    def __init__(self, torch, mode, options, rank):
        # the first bucket has a limit of its own: in PyTorch 2.11 only where bucket_cap_mb is left out
        torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = int(BUCKET_MB[mode] * (1 << 20))
        torch.manual_seed(1)
        layers = [make_layer(torch, options.width) for _ in range(options.layers)]
        self.torch, self.mode = torch, mode
        self.model = torch.nn.parallel.DistributedDataParallel(
            torch.nn.Sequential(*layers).cuda(), device_ids=[torch.cuda.current_device()],
            bucket_cap_mb=BUCKET_MB[mode])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        torch.manual_seed(2 + rank)
        self.inputs = torch.randn(options.batch, options.width, device="cuda")
        self.us = []

    def run(self, steps):
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.model(self.inputs).square().mean().backward()
            self.optimizer.step()

    def measure(self, steps):
        start_all_at_once(self.torch)
        self.torch.cuda.nvtx.range_push("run")
        start_ns = time.perf_counter_ns()
        self.run(steps)
        self.torch.cuda.synchronize()
        self.us.append((time.perf_counter_ns() - start_ns) / steps / 1e3)
        self.torch.cuda.nvtx.range_pop()

    def profile(self, steps, path):
        kinds = [self.torch.profiler.ProfilerActivity.CPU, self.torch.profiler.ProfilerActivity.CUDA]
        with self.torch.profiler.profile(activities=kinds) as profiler:
            start_all_at_once(self.torch)
            with self.torch.profiler.record_function("run"):
                self.run(steps)
                self.torch.cuda.synchronize()
        profiler.export_chrome_trace(str(path))

    def bucket_count(self):
        data = self.model._get_ddp_logging_data()
        return len((data.get("rebuilt_bucket_sizes") or data["bucket_sizes"]).split(","))

    def differing_weights(self):
        """How many values are not the same on all ranks."""
        values = self.torch.nn.utils.parameters_to_vector(self.model.parameters()).detach()
        least, most = values.clone(), values.clone()
        self.torch.distributed.all_reduce(least, op=self.torch.distributed.ReduceOp.MIN)
        self.torch.distributed.all_reduce(most, op=self.torch.distributed.ReduceOp.MAX)
        return int((least != most).sum())

    def gradients(self):
        parameters = list(self.model.parameters())
        return len(parameters), sum(4 * values.numel() for values in parameters)


def start_all_at_once(torch):
    torch.distributed.barrier()
    torch.cuda.synchronize()


def tell(torch, options, trainings):
    count, size = trainings[0].gradients()
    gpus = torch.distributed.get_world_size()
    print(f"ddp, {gpus} GPUs: {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, NCCL "
          f"{'.'.join(map(str, torch.cuda.nccl.version()))}")
    print(f"{count} tensors of gradients, {size / 1e6:.0f} MB in all, {options.batch} samples a GPU, "
          f"{options.steps} steps, {options.repeats} repeats")
    print(f"{'mode':9} {'us/step':>10} {'min .. max':>20} {'buckets':>8} {'speedup':>8}")
    for training in trainings:
        us = statistics.median(training.us)
        spread = f"{min(training.us):.2f} .. {max(training.us):.2f}"
        print(f"{training.mode:9} {us:10.2f} {spread:>20} {training.bucket_count():8} "
              f"{statistics.median(trainings[0].us) / us:7.2f}x", flush=True)


def run_all(torch, options, trainings, rank):
    if options.kineto:
        for training in trainings:
            gpus = torch.distributed.get_world_size()
            training.profile(options.steps, options.kineto / f"ddp.{training.mode}.{gpus}.rank{rank}.json.gz")
        return
    for _ in range(options.repeats):
        for training in trainings:
            training.measure(options.steps)
    if rank == 0:
        tell(torch, options, trainings)


def run_rank(options):
    import torch

    rank = int(os.environ["RANK"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.set_float32_matmul_precision("high")
    torch.distributed.init_process_group("nccl", device_id=device)
    trainings = [Training(torch, mode, options, rank) for mode in options.modes]
    for training in trainings:
        training.run(WARM_UP_STEPS)
    run_all(torch, options, trainings, rank)
    differing = {training.mode: training.differing_weights() for training in trainings}
    with contextlib.suppress(Exception):  # what it measured counts
        torch.distributed.destroy_process_group()
    if any(differing.values()) and rank == 0:
        print(f"weights differ between ranks: {differing}", file=sys.stderr)
    return int(any(differing.values()))


def main():
    options = parse_options()
    signal.alarm(options.limit_s + END_S)
    # hosts that several share do without multicast, and without it any number of GPUs uses the same rings
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    sys.exit(run_rank(options) if is_rank() else start_all(options))


if __name__ == "__main__":
    main()
