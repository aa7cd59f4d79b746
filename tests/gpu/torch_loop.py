#!/usr/bin/env python3
"""A PyTorch loop of three small operations, eager or as a CUDA graph.

Prints the median time of an iteration after warm-up, as "us_per_iteration 12.3".  The workload
pytorch teaches; this one is what tests/bench/collector.sh measures the cost of recording with.
Without PyTorch or a GPU it says so in one line and ends well.
"""

import argparse
import contextlib
import statistics
import sys
import time


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=["eager", "graph"], default="eager")
    parser.add_argument("--iterations", type=positive, default=2000, help="iterations in a run")
    parser.add_argument("--repeats", type=positive, default=7, help="runs; the median counts")
    parser.add_argument("--size", type=positive, default=4096, help="elements of the tensor")
    parser.add_argument("--profile", choices=["cuda", "all"],
                        help="under PyTorch's own profiler: what the GPU does, or also PyTorch's operators")
    return parser.parse_args()


def import_torch():
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        sys.exit(0)
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        sys.exit(0)
    return torch


def capture(torch, step):
    """The step as a graph: warmed up on a side stream first, as capture demands."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def profiler_of(torch, profile):
    """What to run in; without a profile nothing is done."""
    if not profile:
        return contextlib.nullcontext()
    kinds = torch.profiler.ProfilerActivity
    return torch.profiler.profile(
        activities=[kinds.CUDA] if profile == "cuda" else [kinds.CPU, kinds.CUDA])


def run_ns(torch, step, iterations):
    torch.cuda.synchronize()
    start_ns = time.perf_counter_ns()
    for _ in range(iterations):
        step()
    torch.cuda.synchronize()
    return time.perf_counter_ns() - start_ns


def main():
    options = parse_options()
    torch = import_torch()
    x = torch.linspace(0, 1, options.size, device="cuda")

    def three_operations():
        y = x * 2
        y = y + 1
        return torch.relu(y)

    step = capture(torch, three_operations) if options.mode == "graph" else three_operations
    run_ns(torch, step, options.iterations)
    with profiler_of(torch, options.profile):
        runs = [run_ns(torch, step, options.iterations) for _ in range(options.repeats)]
    print(f"mode {options.mode}")
    print(f"kernels_per_iteration 3")
    print(f"us_per_iteration {statistics.median(runs) / options.iterations / 1e3:.3f}")


if __name__ == "__main__":
    main()
