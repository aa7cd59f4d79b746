#!/usr/bin/env python3
"""The speedups that are predicted for jobs of two GPUs, beside those of the programs without a recording.

    tests/bench/links.py

Needs no GPU.  `predicted` is what `whatif` says of the recording before the change, in the NVTX range
`run`, of the change in the third column; `recorded` what `verify --range run` measures from the recordings
of both, where both were made; `measured` the ratio of what iterations take where nothing was recorded, in
docs/results/workloads-links.txt and workloads-shmem.txt.  A row without a prediction says why; one of which
nothing was recorded, or measured, is left out.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
CEILINGS = ROOT / "ceilings" / "NVIDIA_H200-580.159.04.json"

# workload, before, after, the change as options of whatif
PAIRS = [
    ("p2p_overlap", "naive", "peer", ["--peer-copy"]),
    ("p2p_overlap", "naive", "overlapped", ["--peer-copy", "--buckets", "8"]),
    ("p2p_overlap", "peer", "overlapped", ["--buckets", "8"]),
    ("nccl_bucketed", "naive", "halves", ["--buckets", "2"]),
    ("nccl_bucketed", "naive", "buckets", ["--buckets", "8"]),
    ("nccl_bucketed", "naive", "layers", ["--buckets", "64"]),
    ("nccl_bucketed", "buckets", "graph", ["--graph"]),
    ("nccl_graph", "naive", "graph", ["--graph"]),
    ("nccl_graph", "asynchronous", "graph", ["--graph"]),
    ("nvshmem_steal", "naive", "steal", ["--steal"]),
    ("nvshmem_signal", "naive", "put_signal", ["--signals"]),
    ("nvshmem_signal", "naive", "persistent", ["--signals"]),
]


def medians():
    """Microseconds of an iteration by workload and variant."""
    found, workload = {}, None
    for name in ("workloads-links", "workloads-shmem"):
        for line in (ROOT / "docs" / "results" / f"{name}.txt").read_text().splitlines():
            if title := re.match(r"(\w+) \(H\d", line):
                workload = title[1]
            if row := re.match(r"(\w+) +([\d.]+) +[\d.]+ \.\. ", line):
                found[workload, row[1]] = float(row[2])
    return found


def recording(workload, variant):
    return ROOT / "tests" / "recordings" / f"{workload}.{variant}.roofline"


def run_tool(*arguments):
    done = subprocess.run(
        [TOOL, *arguments, "--format", "json", "--range", "run", "--ceilings", CEILINGS],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return json.loads(done.stdout)


def recorded(workload, before, after):
    paths = [recording(workload, variant) for variant in (before, after)]
    if not all(path.exists() for path in paths):
        return None
    return run_tool("verify", "--force", *paths)["measured"]


def main():
    measured_us = medians()
    errors, inside = [], []
    print(
        f"{'workload':14} {'before':7} {'after':11} {'change':24} {'predicted':>9} {'interval':>15} "
        f"{'recorded':>8} {'measured':>8} {'error':>7} inside"
    )
    for workload, before, after, change in PAIRS:
        needed = {(workload, before), (workload, after)}
        if not recording(workload, before).exists() or not needed <= set(measured_us):
            continue
        result = run_tool("whatif", *change, recording(workload, before))
        refusal = result["strategies"][0]["refusal"]
        place = None if refusal else result["place"]
        measured = measured_us[workload, before] / measured_us[workload, after]
        both = recorded(workload, before, after)
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
