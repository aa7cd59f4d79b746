#!/usr/bin/env python3
"""The speedups that are predicted for jobs of several GPUs, beside those of the programs without a recording.

    tests/bench/links.py

Needs no GPU.  `predicted` is what `whatif` says of the recording before the change, in the NVTX range
`run`, of the change in the third column; `recorded` what `verify --range run` measures from the recordings
of both, where both were made; `measured` the ratio of what iterations take where nothing was recorded, in
the first of docs/results/workloads-links.txt, workloads-shmem.txt and workloads-links-2.txt that has the
workload, on the GPU whose ceilings count.  A row without a prediction says why; one that was not recorded or
measured is left out.

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
RESULTS = ("workloads-links", "workloads-shmem", "workloads-links-2")

# workload, before, after, the change as options of whatif
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
    ("mpi_cuda", "naive", "pinned", ["--pinned"]),
    ("mpi_cuda", "naive", "pipelined", ["--pinned", "--buckets", "8"]),
    ("scaling", "naive", "overlapped", ["--buckets", "8"]),
    ("nvshmem_steal", "naive", "steal", ["--steal"]),
    ("nvshmem_signal", "naive", "put_signal", ["--signals"]),
    ("nvshmem_signal", "naive", "persistent", ["--signals"]),
]
DDP_GPUS = (2, 4)
DDP_AFTER = ("buckets", "tiny")


def ceilings_of(text):
    """Those of the GPU that a result names."""
    gpu, driver = (re.search(rf"^{key} +(.*)", text, re.M)[1] for key in ("gpu", "driver"))
    return ROOT / "ceilings" / f"{gpu.replace(' ', '_')}-{driver}.json"


def medians():
    """Microseconds of an iteration by workload and variant, and the ceilings of the GPU by workload."""
    found, ceilings = {}, {}
    for name in RESULTS:
        path = ROOT / "docs" / "results" / f"{name}.txt"
        text = path.read_text() if path.exists() else ""
        workload = None
        for line in text.splitlines():
            if title := re.match(r"(\w+) \(H\d", line):
                workload = title[1] if title[1] not in ceilings else None
                if workload:
                    ceilings[workload] = ceilings_of(text)
            if workload and (row := re.match(r"(\w+) +([\d.]+) +[\d.]+ \.\. ", line)):
                found[workload, row[1]] = float(row[2])
    return found, ceilings


def trainings():
    """Of ddp.py: microseconds of a step, pairs, and the ceilings, of the numbers of GPUs of which there are both."""
    found, pairs, ceilings = {}, [], {}
    for gpus in DDP_GPUS:
        path = ROOT / "docs" / "results" / f"ddp-{gpus}.txt"
        if not (path.exists() and recording("ddp", f"one.{gpus}").exists()):
            print(f"left out: ddp on {gpus} GPUs, of which there is no recording")
            continue
        text = path.read_text()
        rows = re.findall(r"^(\w+) +([\d.]+) +[\d.]+ \.\. +[\d.]+ +(\d+) ", text, re.MULTILINE)
        ceilings["ddp"] = ceilings_of(text)
        found |= {("ddp", f"{mode}.{gpus}"): float(us) for mode, us, _ in rows}
        pairs += [("ddp", f"one.{gpus}", f"{mode}.{gpus}", ["--buckets", count])
                  for mode, _, count in rows if mode in DDP_AFTER]
    return found, pairs, ceilings


def recording(workload, variant):
    return ROOT / "tests" / "recordings" / f"{workload}.{variant}.roofline"


def run_tool(ceilings, *arguments):
    chosen = ["--ceilings", ceilings] if ceilings.exists() else []
    done = subprocess.run(
        [TOOL, *arguments, "--format", "json", "--range", "run", *chosen],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return json.loads(done.stdout)


def recorded(ceilings, workload, before, after):
    paths = [recording(workload, variant) for variant in (before, after)]
    if not all(path.exists() for path in paths):
        return None
    return run_tool(ceilings, "verify", "--force", *paths)["measured"]


def main():
    of_trainings, training_pairs, of_gpus = trainings()
    measured_us, ceilings = medians()
    measured_us |= of_trainings
    ceilings |= of_gpus
    errors, inside = [], []
    print(
        f"{'workload':14} {'before':7} {'after':11} {'change':24} {'predicted':>9} {'interval':>15} "
        f"{'recorded':>8} {'measured':>8} {'error':>7} inside"
    )
    for workload, before, after, change in PAIRS + training_pairs:
        if (workload, after) not in measured_us or not recording(workload, before).exists():
            continue
        result = run_tool(ceilings[workload], "whatif", *change, recording(workload, before))
        refusal = result["strategies"][0]["refusal"]
        place = None if refusal else result["place"]
        measured = measured_us[workload, before] / measured_us[workload, after]
        both = recorded(ceilings[workload], workload, before, after)
        line = f"{workload:14} {before:7} {after:11} {' '.join(change):24} "
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
