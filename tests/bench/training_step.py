#!/usr/bin/env python3
"""What recording adds to a training step of PyTorch, by what is recorded, next to other profilers.

    make && make gpu-tests && tests/bench/training_step.py [ROUNDS]      5 rounds when not given

One process imports PyTorch and forks a child per way and round, in turns, so that drift of the machine hits
all alike.  A child trains the same small transformer with AdamW, one launch per parameter, and reports the
median of its steps.  ns per launch is what a step takes longer than bare, divided by its kernels.
Environment: BUILD, NSYS (path of nsys), BUDGET_S: begin nothing later.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
COLLECTOR = os.path.join(BUILD, "lib", "librooflinecollector.so")
ONE_KIND = os.path.join(BUILD, "tests", "gpu", "libone_kind.so")
WARM_UP, STEPS = 10, 40

# label, library to inject, variables, profiler within PyTorch
WAYS = [
    ("bare", None, {}, None),
    ("CUPTI: kernels", ONE_KIND, {"ONE_KIND": "10"}, None),
    ("CUPTI: kernels and launch calls", ONE_KIND, {"ONE_KIND": "10,launch_call"}, None),
    ("CUPTI: kernels and an empty callback", ONE_KIND, {"ONE_KIND": "10,callback"}, None),
    ("collector", COLLECTOR, {}, None),
    ("collector, records thrown away", COLLECTOR, {"ROOFLINE_DISCARD": "1"}, None),
    ("collector, no calls", COLLECTOR, {"ROOFLINE_API": "none"}, None),
    ("collector, no NVTX", COLLECTOR, {"ROOFLINE_NVTX": "0"}, None),
    ("collector, no events", COLLECTOR, {"ROOFLINE_EVENTS": "0"}, None),
    ("collector, no allocations", COLLECTOR, {"ROOFLINE_ALLOCATIONS": "0"}, None),
    ("collector, no launch attributes", COLLECTOR, {"ROOFLINE_LAUNCH_ATTRIBUTES": "0"}, None),
    ("collector, the GPU's records alone", COLLECTOR,
     {"ROOFLINE_API": "none", "ROOFLINE_NVTX": "0", "ROOFLINE_EVENTS": "0", "ROOFLINE_ALLOCATIONS": "0",
      "ROOFLINE_LAUNCH_ATTRIBUTES": "0"}, None),
    ("collector, arguments", COLLECTOR, {"ROOFLINE_ARGS": "1"}, None),
    ("torch.profiler, CUDA", None, {}, "cuda"),
    ("torch.profiler, CPU and CUDA", None, {}, "all"),
    ("Proton", None, {}, "proton"),
]


def make_step(torch):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 8, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    inputs = torch.randn(8, 64, 256, device="cuda")

    def step():
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def start_profiler(torch, name, folder):
    """Returns what ends it."""
    if name == "proton":
        import triton.profiler as proton
        proton.start(os.path.join(folder, "proton"))
        return proton.finalize
    if name:
        kinds = torch.profiler.ProfilerActivity
        activities = [kinds.CUDA] if name == "cuda" else [kinds.CPU, kinds.CUDA]
        profiler = torch.profiler.profile(activities=activities)
        profiler.start()
        return profiler.stop
    return lambda: None


def train(torch, profiler, folder):
    step = make_step(torch)
    for _ in range(WARM_UP):
        step()
    stop = start_profiler(torch, profiler, folder)
    times_us = []
    for _ in range(STEPS):
        start_ns = time.perf_counter_ns()
        step()
        times_us.append((time.perf_counter_ns() - start_ns) / 1000)
    stop()
    return statistics.median(times_us)


def run_child(torch, way):
    """The median step of a child in us, and its recording's kernels per step where it has one."""
    _, library, variables, profiler = way
    folder = tempfile.mkdtemp()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.environ.update(variables)
        os.environ["ROOFLINE_OUTPUT"] = os.path.join(folder, "recording")
        if library:
            os.environ["CUDA_INJECTION64_PATH"] = os.environ["NVTX_INJECTION64_PATH"] = library
        os.dup2(2, 1)
        median_us = train(torch, profiler, folder)
        os.write(writer, json.dumps(median_us).encode())
        os.close(writer)
        sys.exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    kernels = 0
    for path, _, files in os.walk(folder):
        if "kernels.csv" in files:
            with open(os.path.join(path, "kernels.csv"), encoding="ascii") as table:
                kernels += sum(1 for _ in table) - 1
    shutil.rmtree(folder)
    if not text or status:
        sys.exit(f"training_step.py: {way[0]}: ended with status {status}")
    return json.loads(text), kernels / (WARM_UP + STEPS)


def run_nsys():
    nsys = os.environ.get("NSYS")
    if not nsys:
        return None
    with tempfile.TemporaryDirectory() as folder:
        output = subprocess.run(
            [nsys, "profile", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none",
             "-o", os.path.join(folder, "nsys"), sys.executable, os.path.abspath(__file__), "--once"],
            capture_output=True, text=True, check=False).stdout
    lines = [line for line in output.splitlines() if line.startswith("us_per_step")]
    return float(lines[0].split()[1]) if lines else None


def print_table(torch, times_us, launches):
    print(f"PyTorch {torch.__version__}; steps of {launches:.0f} kernels; medians of {STEPS} steps, us\n")
    print(f"{'way':<38} {'rounds':>6} {'median':>9} {'min':>9} {'max':>9} {'of bare':>8} "
          f"{'ns per launch':>14}")
    bare = statistics.median(times_us["bare"])
    for name, values in times_us.items():
        median = statistics.median(values)
        per_launch = f"{(median - bare) * 1000 / launches:14.0f}"
        print(f"{name:<38} {len(values):6} {median:9.1f} {min(values):9.1f} {max(values):9.1f} "
              f"{median / bare:7.3f}x {per_launch}")


def main():
    try:
        import torch
    except ImportError:
        print("training_step: skipped, PyTorch is not installed")
        return 0
    if sys.argv[1:] == ["--once"]:
        print(f"us_per_step {train(torch, None, None):.1f}")
        return 0
    if not shutil.which("nvidia-smi"):
        print("training_step: skipped, no NVIDIA GPU")
        return 0
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    most_s = float(os.environ.get("BUDGET_S", "inf"))
    times_us, launches, began = {}, 0, time.monotonic()
    print(subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True, check=True).stdout.strip())
    for _ in range(rounds):
        for way in WAYS:
            if time.monotonic() - began > most_s:
                break
            median_us, kernels = run_child(torch, way)
            times_us.setdefault(way[0], []).append(median_us)
            launches = max(launches, kernels)
        median_us = run_nsys() if time.monotonic() - began < most_s else None
        if median_us:
            times_us.setdefault("Nsight Systems, CUDA and NVTX", []).append(median_us)
    print_table(torch, times_us, launches)
    return 0


if __name__ == "__main__":
    sys.exit(main())
