#!/usr/bin/env python3
"""Decoder layers: the variants of workloads/transformer.cu beside PyTorch with the same weights, in one run.

transformer.py [--map | --attention] [REQUESTSxLENGTH ...]     1x512 and 32x128 when none is given

For each shape every variant, and PyTorch eager, in a CUDA graph, and compiled and in a CUDA graph; attention
by scaled_dot_product_attention, products by cuBLAS.  PyTorch's result is compared with ours.  With --map only
the variants in graphs, over many shapes; with --attention the kernels of attention alone, both as recorded.
Environment: BUILD, LAYERS (12), HEADS (12), VARIANTS (names), COMPILE=0 (no torch.compile).
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "lib/rooflinectl/workloads/transformer")
LAYERS, HEADS = int(os.environ.get("LAYERS", 12)), int(os.environ.get("HEADS", 12))
HIDDEN = 64 * HEADS
MAPPED = ("fused_graph", "batched", "pipelined", "selected")


def ours(requests, length, variant, repeats, iterations, result=None):
    """The median time of an iteration in us, or why there is none."""
    command = [PROGRAM, variant, "--json", "--requests", requests, "--size", length]
    command += ["--layers", LAYERS, "--heads", HEADS, "--repeats", repeats, "--iterations", iterations]
    environment = dict(os.environ, **({"ROOFLINE_RESULT": result} if result else {}))
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    if done.returncode or not done.stdout.strip():
        return (done.stderr.strip() or "no output").splitlines()[-1]
    row = json.loads(done.stdout)["variants"][0]
    return row.get("skipped") or row["iteration_ns"]["median"] / 1e3


def variants():
    listed = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if line.strip()]
    return os.environ.get("VARIANTS", " ".join(names)).split()


# ---- the same in PyTorch ----


def mixed_bits(x):
    mask = 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & mask
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & mask
    return x ^ (x >> 16)


def filled(torch, shape, seed, center, spread):
    """As fill_kernel of the workload does it."""
    count = math.prod(shape)
    index = torch.arange(count, device="cuda", dtype=torch.int64)
    bits = mixed_bits(index ^ int(mixed_bits(torch.tensor(seed))))
    return (center + spread * ((bits >> 8).float() * (2.0 / (1 << 24)) - 1)).half().view(shape)


def weights(torch):
    spread = math.sqrt(3.0 / HIDDEN)
    inner = spread / math.sqrt(2.0 * LAYERS)
    layers = []
    for number in range(LAYERS):
        seed = 16 * (number + 1)
        norm = [((HIDDEN,), 1, 0.1), ((HIDDEN,), 0, 0.1)]
        arrays = norm + [((3 * HIDDEN, HIDDEN), 0, spread), ((HIDDEN, HIDDEN), 0, inner)]
        arrays += norm + [((4 * HIDDEN, HIDDEN), 0, spread), ((HIDDEN, 4 * HIDDEN), 0, inner)]
        layers.append([filled(torch, shape, seed + i, *values) for i, (shape, *values) in enumerate(arrays)])
    return layers, filled(torch, (HIDDEN,), 1, 1, 0.1), filled(torch, (HIDDEN,), 2, 0, 0.1)


def layer_of(torch):
    functional = torch.nn.functional

    def layer(x, scale1, shift1, qkv, mix, scale2, shift2, up, down):
        requests, length, hidden = x.shape
        n = functional.layer_norm(x, (hidden,), scale1, shift1)
        q, k, v = functional.linear(n, qkv).view(requests, length, 3, HEADS, 64).permute(2, 0, 3, 1, 4)
        a = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + functional.linear(a.transpose(1, 2).reshape(requests, length, hidden), mix)
        n = functional.layer_norm(x, (hidden,), scale2, shift2)
        return x + functional.linear(functional.gelu(functional.linear(n, up), approximate="tanh"), down)

    return layer


def timed(torch, body, repeats=5, iterations=20):
    for _ in range(3):
        body()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(iterations):
            body()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / iterations)
    return statistics.median(times)


def in_graph(torch, body):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            body()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph.replay


def pytorch(torch, requests, length, result):
    layers, last_scale, last_shift = weights(torch)
    x0 = filled(torch, (requests, length, HIDDEN), 3, 0, 1.7)
    plain = layer_of(torch)

    def model(layer):
        x = x0
        for one in layers:
            x = layer(x, *one)
        return torch.nn.functional.layer_norm(x, (HIDDEN,), last_scale, last_shift)

    rows = {}
    with torch.no_grad():
        found = torch.frombuffer(bytearray(open(result, "rb").read()), dtype=torch.float16).cuda()
        off = (model(plain).flatten().float() - found.float()).abs().max().item()
        rows["torch eager"] = timed(torch, lambda: model(plain))
        rows["torch, in a graph"] = timed(torch, in_graph(torch, lambda: model(plain)))
        if os.environ.get("COMPILE", "1") == "1":
            compiled = torch.compile(plain, dynamic=False)
            rows["torch.compile, in a graph"] = timed(torch, in_graph(torch, lambda: model(compiled)))
    return rows, off


def compare(torch, requests, length):
    print(f"\n{requests} requests of {length} tokens, {LAYERS} layers of {HIDDEN} hidden values", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result")
        rows = {}
        for variant in variants():
            rows[variant] = ours(requests, length, variant, 5, 20 if variant != "textbook" else 2, result)
        if torch:
            others, off = pytorch(torch, requests, length, result)
            rows.update(others)
            print(f"largest difference from PyTorch's result: {off:.4f}")
    numbers = {name: time for name, time in rows.items() if not isinstance(time, str)}
    best = min(numbers.values())
    print(f"{'':26} {'us':>10} {'of naive':>9} {'of best':>8}")
    for name, time in rows.items():
        if name in numbers:
            gain = numbers.get("naive", math.nan) / time
            print(f"{name:26} {time:10.1f} {gain:8.2f}x {time / best:7.2f}x", flush=True)
        else:
            print(f"{name:26} {time}")


def show_map(shapes):
    print(f"us an iteration, {LAYERS} layers of {HIDDEN} hidden values")
    print(f"{'requests':>8} {'tokens':>7} " + " ".join(f"{name:>12}" for name in MAPPED))
    for requests, length in shapes:
        times = [ours(requests, length, variant, 3, 10) for variant in MAPPED]
        cells = ["-" if isinstance(time, str) else f"{time:.1f}" for time in times]
        print(f"{requests:8} {length:7} " + " ".join(f"{cell:>12}" for cell in cells), flush=True)


# ---- attention alone ----


def sdpa(requests, length):
    """In a process of its own, which is recorded."""
    import torch

    q, k, v = (torch.randn(requests, HEADS, length, 64, device="cuda", dtype=torch.half) for _ in range(3))
    for _ in range(50):
        torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.cuda.synchronize()


def median_us(command, wanted):
    """Of the kernel with most time among those with that in their name."""
    tool = os.path.join(os.path.dirname(PROGRAM), "../../../bin/rooflinectl")
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "recording")
        words = [tool, "record", "-o", recording, "--", *map(str, command)]
        subprocess.run(words, capture_output=True, check=True)
        words = [tool, "report", "--format", "json", recording]
        report = subprocess.run(words, capture_output=True, check=True)
    kernels = [k for k in json.loads(report.stdout)["kernels"] if wanted in k["name"]]
    most = max(kernels, key=lambda k: k["total_ns"])
    return most["p50_ns"] / 1e3, most["name"]


def show_attention(shapes):
    print(f"us a call, {HEADS} heads of 64, causal; FLOPs: 2 requests heads length^2 64 (half of all scores)")
    head = f"{'requests':>8} {'tokens':>7} {'ours':>9} {'PyTorch':>9} {'ours, of it':>12} {'TFLOP/s':>8}"
    print(f"{head}  PyTorch's kernel")
    for requests, length in shapes:
        sizes = ["--requests", requests, "--size", length, "--layers", 2, "--heads", HEADS]
        mine, _ = median_us([PROGRAM, "batched", *sizes, "--repeats", 1], "attention_kernel")
        other, name = median_us([sys.executable, __file__, "--sdpa", f"{requests}x{length}"], "")
        flops = 2 * requests * HEADS * length**2 * 64
        rate = f"{mine / other:11.2f}x {flops / mine / 1e6:8.1f}"
        print(f"{requests:8} {length:7} {mine:9.2f} {other:9.2f} {rate}  {name[:60]}", flush=True)


def main():
    arguments = sys.argv[1:]
    shapes = [tuple(int(n) for n in a.split("x")) for a in arguments if not a.startswith("--")]
    if "--sdpa" in arguments:
        return sdpa(*shapes[0])
    if "--attention" in arguments:
        return show_attention(shapes or [(1, 512), (1, 2048), (32, 128), (8, 512)])
    if "--map" in arguments:
        return show_map(shapes or [(r, s) for r in (1, 2, 4, 8, 32) for s in (64, 128, 512)])
    try:
        import torch
    except ImportError:
        torch = None
        print("no PyTorch: ours alone")
    for requests, length in shapes or [(1, 512), (32, 128)]:
        compare(torch, requests, length)


if __name__ == "__main__":
    main()
