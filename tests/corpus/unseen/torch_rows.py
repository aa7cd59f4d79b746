#!/usr/bin/env python3
"""PyTorch programs of the unseen rows, each as it is written first and after one change.

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


def power(torch, mode):
    """The largest eigenvalue by iteration; the host tests each step, or every tenth, for convergence."""
    period = {"every": 1, "every_10": 10}[mode]
    matrix = torch.rand(4096, 4096, device="cuda")
    vector = torch.ones(4096, device="cuda")
    norm = torch.ones((), device="cuda")
    for step in range(600):
        product = matrix @ vector
        last, norm = norm, torch.linalg.vector_norm(product)
        vector = product / norm
        if step % period == 0 and (norm - last).abs().item() < 0:
            break
    return norm


def recurrent(torch, mode):
    """A cell over a sequence, a step at a time, launched by the host or as one graph for the sequence."""
    cell = torch.nn.LSTMCell(256, 256).cuda()
    sequence = torch.rand(100, 16, 256, device="cuda")
    first = torch.zeros(16, 256, device="cuda")

    def run():
        state = (first, first)
        for step in sequence:
            state = cell(step, state)
        return state[0]

    with torch.no_grad():
        if mode == "eager":
            for _ in range(40):
                result = run()
            return result.sum()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            run()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = run()
        for _ in range(40):
            graph.replay()
        return result.sum()


def counts(torch, mode):
    """Weights summed by label: 8 million atomics on 16 addresses, or on 16 for each of 4,096 groups."""
    labels = torch.randint(0, 16, (1 << 23,), device="cuda")
    weights = torch.rand(1 << 23, device="cuda")
    sums = torch.zeros(16, device="cuda")
    for _ in range(20):
        if mode == "atomic":
            sums.index_add_(0, labels, weights)
        else:
            parts = torch.zeros(4096, 16, device="cuda")
            parts.scatter_add_(1, labels.view(4096, -1), weights.view(4096, -1))
            sums += parts.sum(0)
    return sums.sum()


def normalize(torch, mode):
    """Normalized rows, by hand in seven kernels over 134 MB, or by the library's one."""
    rows = torch.rand(8192, 4096, device="cuda")
    scale = torch.rand(4096, device="cuda")
    shift = torch.rand(4096, device="cuda")
    for _ in range(60):
        if mode == "by_hand":
            centered = rows - rows.mean(1, keepdim=True)
            variance = (centered * centered).mean(1, keepdim=True)
            result = centered * torch.rsqrt(variance + 1e-5) * scale + shift
        else:
            result = torch.nn.functional.layer_norm(rows, (4096,), scale, shift, 1e-5)
    return result.sum()


def product(torch, mode):
    """Products of single precision, as they are or on tensor cores in TF32."""
    torch.backends.cuda.matmul.allow_tf32 = mode == "tf32"
    left = torch.rand(4096, 4096, device="cuda")
    right = torch.rand(4096, 4096, device="cuda")
    for _ in range(60):
        result = left @ right
    return result.sum()


PROGRAMS = {
    "power": (power, ["every", "every_10"]),
    "recurrent": (recurrent, ["eager", "graph"]),
    "counts": (counts, ["atomic", "grouped"]),
    "normalize": (normalize, ["by_hand", "library"]),
    "product": (product, ["single", "tf32"]),
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
