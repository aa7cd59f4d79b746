#!/usr/bin/env python3
"""The speedups that are predicted for jobs of several GPUs, beside those of the programs without a recording.

    tests/bench/links.py

Needs no GPU.  `predicted` is what `whatif` says of the recording before the change, in the NVTX range
`run`, of the change in the fifth column, with the ceilings of the GPU that was recorded.  Where that names
an advice instead, each rank changes its own loop: whatif changes that of one GPU, which the others would
hold up, so it is what `report --range run` says of a steady iteration there.  `recorded` is what
`verify --range run` measures from the recordings of both, where both were made on that GPU; `measured` the
ratio of what iterations take where nothing was recorded, in that one of docs/results/workloads-links.txt,
workloads-shmem.txt and those of them that end in the number of GPUs that was measured on as many of that GPU.
A row without a prediction says why; one that was not recorded or measured is left out.

The rows of ddp are of tests/gpu/ddp.py, a training in PyTorch: all gradients in one bucket before, and
after it as many buckets as that program had.  tests/gpu/record_ddp.sh makes its recordings and
docs/results/ddp-GPUS.txt.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
RESULTS = (
    "workloads-links",
    "workloads-shmem",
    "workloads-links-2",
    "workloads-shmem-2",
    "workloads-links-4",
    "workloads-shmem-4",
)
OF_GPUS = {2: "", 4: ".four"}  # ends of names of recordings

# workload, before, after, the change as options of whatif, or as the advice that says so
PAIRS = [
    ("p2p_overlap", "naive", "peer", ["--peer-copy"]),
    ("p2p_overlap", "naive", "overlapped", ["--peer-copy", "--buckets", "8"]),
    ("p2p_overlap", "peer", "overlapped", ["--buckets", "8"]),
    ("nccl_bucketed", "naive", "halves", ["--buckets", "2"]),
    ("nccl_bucketed", "naive", "buckets", ["--buckets", "8"]),
    ("nccl_bucketed", "naive", "layers", ["--buckets", "64"]),
    ("nccl_bucketed", "buckets", "graph", ["--graph"]),
    ("nccl_graph", "naive", "asynchronous", ["--fewer-waits"]),
    ("nccl_graph", "naive", "graph", ["--fewer-waits", "--graph"]),
    ("nccl_graph", "asynchronous", "graph", ["--graph"]),
    ("mpi_cuda", "naive", "pinned", "pageable_copy"),
    ("mpi_cuda", "naive", "pipelined", "copy_overlap"),
    ("scaling", "naive", "overlapped", ["--buckets", "8"]),
    ("nvshmem_steal", "naive", "steal", ["--steal"]),
    ("nvshmem_signal", "naive", "put_signal", ["--signals"]),
    ("nvshmem_signal", "naive", "persistent", ["--signals"]),
]
DDP_GPUS = (2, 4)
DDP_AFTER = ("buckets", "tiny")


def medians():
    """Microseconds of an iteration by GPU, workload and recording; of several results the first."""
    found = {}
    for name in RESULTS:
        text = (ROOT / "docs" / "results" / f"{name}.txt").read_text()
        gpu, workload = re.search(r"^gpu +(.*)", text, re.M)[1], None
        end = OF_GPUS[int(re.search(r", gpus (\d+), ", text)[1])]
        for line in text.splitlines():
            if title := re.match(r"(\w+) \(H\d", line):
                workload = title[1]
            if workload and (row := re.match(r"(\w+) +([\d.]+) +[\d.]+ \.\. ", line)):
                found.setdefault((gpu, workload, row[1] + end), float(row[2]))
    return found


def trainings():
    """Of ddp.py: microseconds of a step and pairs, of the numbers of GPUs of which there are both."""
    found, pairs = {}, []
    for gpus in DDP_GPUS:
        path = ROOT / "docs" / "results" / f"ddp-{gpus}.txt"
        if not (path.exists() and recording("ddp", f"one.{gpus}").exists()):
            print(f"left out: ddp on {gpus} GPUs, of which there is no recording")
            continue
        text = path.read_text()
        rows = re.findall(r"^(\w+) +([\d.]+) +[\d.]+ \.\. +[\d.]+ +(\d+) ", text, re.MULTILINE)
        gpu = re.search(r"^gpu +(.*)", text, re.M)[1]
        found |= {(gpu, "ddp", f"{mode}.{gpus}"): float(us) for mode, us, _ in rows}
        pairs += [("ddp", f"one.{gpus}", f"{mode}.{gpus}", ["--buckets", count])
                  for mode, _, count in rows if mode in DDP_AFTER]
    return found, pairs


def of_gpus(end):
    """PAIRS of recordings whose names end so."""
    return [(workload, before + end, after + end, change) for workload, before, after, change in PAIRS]


def recording(workload, variant):
    return ROOT / "tests" / "recordings" / f"{workload}.{variant}.roofline"


def gpu_of(path):
    """Name of the GPU that was recorded; None where nothing was."""
    if not path.exists():
        return None
    done = subprocess.run(
        [TOOL, "report", "--format", "json", "-s", "devices", path], capture_output=True, check=True
    )
    return json.loads(done.stdout)["devices"][0]["name"]


def run_tool(gpu, *arguments):
    [ceilings] = (ROOT / "ceilings").glob(f"{gpu.replace(' ', '_')}-*.json")
    done = subprocess.run(
        [TOOL, *arguments, "--format", "json", "--range", "run", "--ceilings", ceilings],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return json.loads(done.stdout)


def recorded(gpu, workload, before, after):
    paths = [recording(workload, variant) for variant in (before, after)]
    if any(gpu_of(path) != gpu for path in paths):
        return None
    return run_tool(gpu, "verify", "--force", *paths)["measured"]


def named(change):
    return change if isinstance(change, str) else " ".join(change)


def predicted(gpu, change, path):
    """The ratio and its interval, or None; and why there is none."""
    if isinstance(change, str):
        advice = run_tool(gpu, "report", "-s", "advice", path)["advice"]
        found = [item["steady"] for item in advice if item["id"] == change]
        return (found[0], None) if found else (None, f"no advice is {change}")
    result = run_tool(gpu, "whatif", *change, path)
    refusal = result["strategies"][0]["refusal"]
    return None if refusal else result["place"], refusal


def main():
    measured_us = medians()
    of_trainings, training_pairs = trainings()
    measured_us |= of_trainings
    errors, inside = [], []
    print(
        f"{'workload':14} {'GPU':5} {'before':12} {'after':17} {'change':24} {'predicted':>9} "
        f"{'interval':>15} {'recorded':>8} {'measured':>8} {'error':>7} inside"
    )
    pairs = [pair for end in OF_GPUS.values() for pair in of_gpus(end)]
    for workload, before, after, change in pairs + training_pairs:
        gpu = gpu_of(recording(workload, before))
        if (gpu, workload, after) not in measured_us:
            continue
        place, refusal = predicted(gpu, change, recording(workload, before))
        measured = measured_us[gpu, workload, before] / measured_us[gpu, workload, after]
        both = recorded(gpu, workload, before, after)
        line = f"{workload:14} {gpu.split()[1]:5} {before:12} {after:17} {named(change):24} "
        tail = f"{f'{both:.2f}x' if both else '-':>8} {f'{measured:.2f}x':>8} "
        if not place:
            print(f"{line}{'-':>9} {'not measured':>15} {tail}")
            print(f"    {refusal}")
            continue
        errors.append(place["speedup"] / measured - 1)
        inside.append(place["low"] <= measured <= place["high"])
        interval = f"{place['low']:.2f} .. {place['high']:.2f}"
        print(
            f"{line}{place['speedup']:8.2f}x {interval:>15} {tail}{100 * errors[-1]:+6.1f}% "
            f"{'yes' if inside[-1] else 'no'}"
        )
    print(
        f"\n{len(errors)} rows: median error {100 * statistics.median(map(abs, errors)):.1f}%, "
        f"{sum(abs(error) <= 0.25 for error in errors)} within 25%, {sum(inside)} inside the interval"
    )


if __name__ == "__main__":
    main()
