#!/usr/bin/env python3
"""Ordinary PyTorch programs, each as people write it first and after what an engineer would change.

    torch_programs.py                      names and modes, one pair a line
    torch_programs.py PROGRAM MODE         runs it; prints "us_per_iteration 12.3", the median of 7 runs

None of them is a workload of this toolkit, so advice that only fits those shows here.  Timed iterations
are in an NVTX range called run.  Without PyTorch or a GPU it says so in one line and ends well.
"""

import argparse
import statistics
import sys
import time

ITERATIONS = 100
REPEATS = 7


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


def captured(torch, step):
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


# Each program takes torch and a mode and gives a function of the number of an iteration.


def encoder(torch, mode):
    """Inference of a small transformer, a sequence at a time."""
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4).cuda().eval()
    x = torch.randn(1, 32, 256, device="cuda")

    def step(_=0):
        with torch.inference_mode():
            return model(x)

    if mode == "eager":
        return step
    replay = captured(torch, step)
    return lambda _: replay()


def training(torch, mode):
    """Training of a small network; logged: the loss is read in every step."""
    layers = [torch.nn.Linear(512, 512), torch.nn.ReLU()] * 4
    model = torch.nn.Sequential(*layers, torch.nn.Linear(512, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), capturable=True)
    x, y = torch.randn(64, 512, device="cuda"), torch.randn(64, 1, device="cuda")
    losses = []

    def step(_=0):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def logged(_):
        losses.append(step().item())

    if mode == "logged":
        return logged
    if mode == "eager":
        return step
    replay = captured(torch, step)
    return lambda _: replay()


def loader(torch, mode):
    """A batch goes to the GPU, is worked on there, and a small result comes back at the end."""
    weight = torch.randn(3072, 8192, device="cuda", dtype=torch.bfloat16)
    batches = [torch.randn(2048, 3072) for _ in range(4)]
    streams = [torch.cuda.Stream() for _ in range(3)]
    if mode != "pageable":
        batches = [batch.pin_memory() for batch in batches]

    def work(batch, asynchronous):
        x = batch.to("cuda", non_blocking=asynchronous).to(torch.bfloat16)
        for _ in range(8):
            y = torch.relu(x @ weight)
        return y

    def step(i):
        if mode != "overlapped":
            return work(batches[i % 4], mode == "pinned")
        with torch.cuda.stream(streams[i % 3]):
            return work(batches[i % 4], True)

    return step


def decode(torch, mode):
    """Tokens one after the other; the host looks at each whether it is the last."""
    model = torch.nn.GRUCell(512, 512).cuda()
    head = torch.nn.Linear(512, 4096).cuda()
    state = torch.zeros(1, 512, device="cuda")
    token = torch.zeros(1, dtype=torch.long, device="cuda")
    table = torch.nn.Embedding(4096, 512).cuda()
    seen = []

    def step(_=0):
        with torch.inference_mode():
            state.copy_(model(table(token), state))
            token.copy_(head(state).argmax(1))

    def looked_at(_):
        step()
        seen.append(token.item() == 0)

    if mode == "looked_at":
        return looked_at
    if mode == "eager":
        return step
    replay = captured(torch, step)
    if mode == "graph":
        return lambda _: replay()

    def replayed_looked_at(_):
        replay()
        seen.append(token.item() == 0)

    return replayed_looked_at


def heads(torch, mode):
    """Small independent products."""
    left = [torch.randn(256, 256, device="cuda") for _ in range(8)]
    streams = [torch.cuda.Stream() for _ in range(8)]

    def step(_=0):
        if mode == "series":
            return [a @ a @ a @ a for a in left]
        main, out = torch.cuda.current_stream(), []
        for a, stream in zip(left, streams):
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                out.append(a @ a @ a @ a)
            main.wait_stream(stream)
        return out

    if mode != "graph":
        return step
    replay = captured(torch, lambda: [a @ a @ a @ a for a in left])
    return lambda _: replay()


def prepared(torch, mode):
    """The host works on each batch for a while before it launches."""
    x = torch.randn(64, 256, device="cuda")
    numbers = list(range(4000))

    def step(_=0):
        y = x
        for _ in range(20):
            y = torch.relu(y * 2 + 1)
        return y

    work = captured(torch, step) if mode == "graph" else step

    def iteration(i):
        numbers.sort(key=lambda n: (n * 7919 + i) % 4001)
        work()

    return iteration


def products(torch, mode):
    """Large products, which need nothing."""
    a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)

    def step(_=0):
        return a @ a @ a

    if mode == "eager":
        return step
    replay = captured(torch, step)
    return lambda _: replay()


PROGRAMS = {
    "encoder": (encoder, ["eager", "graph"]),
    "training": (training, ["logged", "eager", "graph"]),
    "loader": (loader, ["pageable", "pinned", "overlapped"]),
    "decode": (decode, ["looked_at", "graph_looked_at", "eager", "graph"]),
    "heads": (heads, ["series", "streams", "graph"]),
    "prepared": (prepared, ["eager", "graph"]),
    "products": (products, ["eager", "graph"]),
}


def run_ns(torch, step):
    torch.cuda.synchronize()
    start_ns = time.perf_counter_ns()
    for i in range(ITERATIONS):
        step(i)
    torch.cuda.synchronize()
    return time.perf_counter_ns() - start_ns


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", choices=PROGRAMS)
    parser.add_argument("mode", nargs="?")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    options = parser.parse_args()
    if not options.program:
        for name, (_, modes) in PROGRAMS.items():
            print("\n".join(f"{name} {mode}" for mode in modes))
        return
    make, modes = PROGRAMS[options.program]
    if options.mode not in modes:
        parser.error(f"{options.program} has the modes {', '.join(modes)}")
    torch = import_torch()
    torch.manual_seed(1)
    step = make(torch, options.mode)
    run_ns(torch, step)
    runs = []
    for _ in range(options.repeats):
        torch.cuda.nvtx.range_push("run")
        runs.append(run_ns(torch, step))
        torch.cuda.nvtx.range_pop()
    print(f"us_per_iteration {statistics.median(runs) / ITERATIONS / 1e3:.3f}")


if __name__ == "__main__":
    main()
