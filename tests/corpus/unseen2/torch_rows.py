#!/usr/bin/env python3
"""PyTorch programs of the second unseen rows, each as it is written first and after one change.

    torch_rows.py PROGRAM MODE        runs it and prints a checksum
    torch_rows.py                     names and modes, one pair a line

Nothing of the toolkit was tried on them before their rows in labels.csv were written.
"""

import sys


def import_torch():
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed")
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    torch.manual_seed(1)
    return torch


def regression(torch, mode):
    """A small network trained for 600 steps; its loss is read each step, or a step is a graph."""
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    model = torch.nn.Sequential(linear(64, 128), relu(), linear(128, 128), relu(), linear(128, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    inputs = torch.rand(256, 64, device="cuda")
    wanted = inputs.sum(1, keepdim=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        return loss

    total = 0.0
    if mode == "item":
        for _ in range(600):
            total += step().item()
        return torch.tensor(total)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    for _ in range(600):
        graph.replay()
        total += loss.item()
    return torch.tensor(total)


def activation(torch, mode):
    """An activation over 268 MB, by its formula or by the library's one kernel."""
    values = torch.rand(1 << 26, device="cuda")
    for _ in range(40):
        if mode == "formula":
            inner = 0.7978845608 * (values + 0.044715 * values * values * values)
            result = 0.5 * values * (1.0 + torch.tanh(inner))
        else:
            result = torch.nn.functional.gelu(values, approximate="tanh")
    return result.mean()


def batches(torch, mode):
    """Batches of 67 MB that the GPU reduces, copied from pageable or from pinned memory."""
    images = torch.rand(8, 256, 3, 148, 148)
    if mode == "pinned":
        images = images.pin_memory()
    weights = torch.rand(3, device="cuda").view(3, 1, 1)
    total = torch.zeros((), device="cuda")
    for _ in range(8):
        for batch in images:
            total += (batch.cuda(non_blocking=mode == "pinned") * weights).mean()
    return total


def caches(torch, mode):
    """Temporary arrays of a simulation; the memory that PyTorch keeps is given back each step, or kept."""
    field = torch.rand(2048, 2048, device="cuda")
    for _ in range(300):
        gradient = field.roll(1, 0) - 2 * field + field.roll(-1, 0)
        field = field + 0.1 * gradient
        del gradient
        if mode == "emptied":
            torch.cuda.empty_cache()
    return field.mean()


def heads(torch, mode):
    """64 products of 64 x 64 matrices a step, one by one or as one batch."""
    left = torch.rand(64, 64, 64, device="cuda")
    right = torch.rand(64, 64, 64, device="cuda")
    for _ in range(100):
        if mode == "one_by_one":
            result = torch.stack([left[index] @ right[index] for index in range(64)])
        else:
            result = torch.bmm(left, right)
        left = result / 32
    return left.sum()


def momentum(torch, mode):
    """An optimizer written by hand for 200 small parameters: one after the other, or with lists of them."""
    weights = [torch.rand(64, 64, device="cuda") for _ in range(200)]
    slopes = [torch.rand(64, 64, device="cuda") for _ in range(200)]
    speeds = [torch.zeros(64, 64, device="cuda") for _ in range(200)]
    for _ in range(60):
        if mode == "each":
            for weight, slope, speed in zip(weights, slopes, speeds):
                speed.mul_(0.9).add_(slope)
                weight.sub_(speed, alpha=1e-3)
        else:
            torch._foreach_mul_(speeds, 0.9)
            torch._foreach_add_(speeds, slopes)
            torch._foreach_sub_(weights, speeds, alpha=1e-3)
    return torch.stack(weights).mean()


def outliers(torch, mode):
    """Mean of the values below a limit that falls, gathered by a mask or with the others as zeros."""
    values = torch.rand(1 << 18, device="cuda")
    total = torch.zeros((), device="cuda")
    for step in range(1500):
        below = values < 1.0 - step / 3000
        if mode == "gathered":
            total += values[below].mean()
        else:
            total += torch.where(below, values, 0.0).sum() / below.sum()
    return total


def average(torch, mode):
    """A running average of 67 million values, in FP64, as numbers that come from NumPy are, or in FP32."""
    sample = torch.rand(1 << 26, device="cuda", dtype=torch.float64)
    if mode == "single":
        sample = sample.float()
    state = torch.zeros_like(sample)
    for _ in range(200):
        state.lerp_(sample, 0.05)
    return state.mean()


PROGRAMS = {
    "regression": (regression, ["item", "graph"]),
    "activation": (activation, ["formula", "library"]),
    "batches": (batches, ["pageable", "pinned"]),
    "caches": (caches, ["emptied", "kept"]),
    "heads": (heads, ["one_by_one", "batched"]),
    "momentum": (momentum, ["each", "lists"]),
    "outliers": (outliers, ["gathered", "zeros"]),
    "average": (average, ["double", "single"]),
}


def main():
    if len(sys.argv) == 1:
        for name, (_, modes) in PROGRAMS.items():
            for mode in modes:
                print(name, mode)
        return
    name, mode = sys.argv[1:]
    run, modes = PROGRAMS[name]
    if mode not in modes:
        sys.exit(f"{name} has no mode {mode}")
    print(f"checksum {run(import_torch(), mode).item():.3e}")


if __name__ == "__main__":
    main()
