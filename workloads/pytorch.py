#!/usr/bin/env python3
"""pytorch (I1): a small model that is called over and over, as in a decoding loop.

Each of its operations takes the GPU a few microseconds and the host longer than that, in Python and
in PyTorch, before it is launched.  As a graph all of them are one launch; torch.compile makes fewer
kernels of them first.  The variants run the same step() on the same memory.

All numbers are multiples of 1/64 below 64, which float32 holds exactly in whatever order they are
added: the variants agree with the reference, which is in integers, to the last bit.
"""

import os
import tempfile
import warnings

from workload import Difference, Skipped, Variant, Workload
from workload import first_line, is_out_of_memory, run_workload

width = 32  # values of a row
layer_count = 4
fraction = 64  # values are multiples of 1/64, from 0 to 63/64
distinct_rows = 127  # then they come again: the reference stays cheap for any number of rows
checked_rows = 1 << 16  # at a time


def step(layers, state):
    """The model: four small layers with a residual, in place.  Four kernels a layer when eager."""
    for layer in layers:
        state.add_(layer(state).relu_()).frac_()


def run_naive(p, iterations):
    """What a program does that nobody has tuned: operation after operation, from Python."""
    for _ in range(iterations):
        step(p.layers, p.state)


def setup_graph(p):
    """One step, recorded instead of run.  Before that one is run aside: what libraries make when
    they are first used must not be captured."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step(p.layers, p.state)
    torch.cuda.current_stream().wait_stream(stream)
    p.graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(p.graph):
        step(p.layers, p.state)


def run_graph(p, iterations):
    for _ in range(iterations):
        p.graph.replay()


def teardown_graph(p):
    p.graph = None


def setup_compile(p):
    """Compiles step(), which changes its state in place: a graph can be made of that only because
    the state promises to stay where it is."""
    compile_anew(p)
    from torch._dynamo import mark_static_address

    mark_static_address(p.state)
    p.compiled = torch.compile(step, mode="reduce-overhead", fullgraph=True)
    try:
        for _ in range(3):  # compiles; records a graph; replays it
            p.compiled(p.layers, p.state)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise Skipped(f"torch.compile cannot: {first_line(error)}") from None


def run_compile(p, iterations):
    for _ in range(iterations):
        p.compiled(p.layers, p.state)


def teardown_compile(p):
    torch.compiler.reset()
    p.compiled = None


def compile_anew(p):
    """Without what an earlier run has left on the disk, so that set-up tells the whole price, and
    in this process, as there is little to compile."""
    p.cache = tempfile.TemporaryDirectory(prefix="pytorch.")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", p.cache.name)
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(p.cache.name, "triton"))
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    warnings.filterwarnings("ignore", "TensorFloat32 tensor cores")  # its advice to use them


# ---- the problem ----


def reference(state, weights, biases, iterations):
    """The model in whole numbers of 1/64."""
    for _ in range(iterations):
        for weight, bias in zip(weights, biases):
            state = (state + (state @ weight.T + bias).clamp(min=0)) % fraction
    return state


class Problem:
    def __init__(self, size, iterations, device):
        global torch
        import torch

        torch.set_grad_enabled(False)  # inference
        random = torch.Generator().manual_seed(1)
        row_count = min(size, distinct_rows)
        initial = torch.randint(fraction, (row_count, width), generator=random)
        weights = torch.randint(-1, 2, (layer_count, width, width), generator=random)
        biases = torch.randint(-32, 33, (layer_count, width), generator=random)
        self.size = size
        self.expected = reference(initial, weights, biases, iterations) / fraction
        self.initial = (initial / fraction).to(device)
        self.rows = torch.arange(size, device=device) % row_count
        self.state = torch.empty(size, width, device=device)
        self.layers = torch.nn.ModuleList(
            self.make_layer(*values).to(device) for values in zip(weights, biases))

    @staticmethod
    def make_layer(weight, bias):
        layer = torch.nn.Linear(width, width)
        layer.weight.copy_(weight)
        layer.bias.copy_(bias / fraction)
        return layer

    def reset(self):
        torch.index_select(self.initial, 0, self.rows, out=self.state)

    def check(self):
        for first_row in range(0, self.size, checked_rows):
            rows = slice(first_row, first_row + checked_rows)
            found = self.state[rows].cpu().flatten()
            expected = self.expected[self.rows[rows].cpu()].flatten()
            wrong = (found != expected).nonzero()
            if len(wrong):
                i = wrong[0].item()
                return Difference(first_row * width + i, found[i].item(), expected[i].item())
        return None


pytorch = Workload(
    name="pytorch", size=32, iterations=50, problem=Problem,
    variants=[
        Variant("naive", "eager: every operation is launched from Python", run_naive),
        Variant("graph", "one step as a CUDA graph, one launch an iteration", run_graph,
                setup_graph, teardown_graph),
        Variant("compile", "torch.compile: fewer kernels, and a CUDA graph of them", run_compile,
                setup_compile, teardown_compile),
    ],
)

if __name__ == "__main__":
    run_workload(pytorch)
