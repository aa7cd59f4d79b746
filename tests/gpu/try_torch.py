#!/usr/bin/env python3
"""PyTorch programs whose results must be the same to the last bit, bare and with librooflinetry.so.

Prints a line for each: its name, a checksum of all bytes of the result, and the time of an iteration in us.
Without PyTorch or a GPU it says so in one line and ends well.
"""

import sys
import time

ITERATIONS = 100


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


def checksum(torch, tensors):
    """Of all bytes, and of where they lie: a sum by position."""
    total = 0
    for tensor in tensors:
        numbers = tensor.detach().contiguous().view(torch.uint8).flatten().cpu().to(torch.int64)
        places = torch.arange(1, numbers.numel() + 1) % 65521
        total = (total * 31 + int((numbers * places).sum())) % (1 << 61)
    return f"{total:016x}"


def timed(torch, step, iterations=ITERATIONS):
    """The median of five runs, in us an iteration."""
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(iterations):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / iterations * 1e6)
    return sorted(times)[2]


def training(torch):
    """An eager step: forward, backward and SGD with momentum of a small network."""
    layers = [
        torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256))
        for _ in range(6)
    ]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    inputs = torch.randn(128, 256, device="cuda")
    labels = torch.randint(0, 10, (128,), device="cuda")

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    microseconds = timed(torch, step, 30)
    return list(model.parameters()), microseconds


def attention(torch):
    """Attention by cuDNN, forward and backward; the backward pass need not give the same bits twice."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    query, key, value = (
        torch.randn(4, 8, 512, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3)
    )
    results = []

    def step():
        results.append(torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True))
        results[-1].sum().backward()
        del results[:-1]

    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        microseconds = timed(torch, step, 30)
    assert bool(torch.isfinite(query.grad).all()), "the gradient is not finite"
    return results, microseconds


def capture(torch):
    """A graph that the program captures itself, between launches of its own."""
    inputs = torch.randn(4096, device="cuda")
    state = torch.zeros(4096, device="cuda")

    def step():
        state.mul_(0.9).add_(inputs).sin_()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            step()

    def mixed():
        step()
        graph.replay()
        step()

    microseconds = timed(torch, mixed)
    return [state], microseconds


def streams(torch):
    """Three streams that wait for each other by events, and memory that goes from one to another."""
    first, second = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)
    state = torch.randn(1 << 16, device="cuda")

    def step():
        nonlocal state
        main = torch.cuda.current_stream()
        first.wait_stream(main)
        second.wait_stream(main)
        with torch.cuda.stream(first):
            left = (state * 0.5).sin()
        with torch.cuda.stream(second):
            right = (state * 0.25).cos()
        main.wait_stream(first)
        main.wait_stream(second)
        left.record_stream(main)
        right.record_stream(main)
        state = left + right

    microseconds = timed(torch, step)
    return [state], microseconds


def many_small(torch):
    """Operations on small tensors with a value on the host now and then."""
    state = torch.linspace(-1, 1, 1000, device="cuda")
    seen = []

    def step():
        nonlocal state
        for _ in range(20):
            state = state * 1.01 + 0.01
            state = state.clamp(-2, 2)
        seen.append(float(state[3]))
        state = state / 2

    microseconds = timed(torch, step, 30)
    return [state, torch.tensor(seen)], microseconds


def main():
    torch = import_torch()
    torch.backends.cuda.matmul.allow_tf32 = False
    for program in (training, attention, capture, streams, many_small):
        torch.manual_seed(0)
        try:
            results, microseconds = program(torch)
            print(f"{program.__name__} {checksum(torch, results)} {microseconds:.1f}", flush=True)
        except (RuntimeError, AssertionError, ImportError) as error:
            print(f"{program.__name__} failed: {str(error).splitlines()[0]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
