#!/usr/bin/env python3
"""What several GPUs bring to a training step: predicted from one GPU, beside what was measured.

    tests/bench/scaling_gpus.py [RECORDING [CEILINGS]]

Needs no GPU.  `predicted` is what `scale` says of the recording (tests/recordings/scaling.one by
default), with the samples divided, which its kernels go through in each thread; `measured` is the time of
the workload scaling's variant `one` by that of the one in the third column, in docs/results/workloads-*.txt,
wherever that was run with as many weights and samples as by default: on such GPUs, or else on others, whose
name stands behind.
docs/results/scaling-gpus.gp draws it.  CEILINGS is a file that `rooflinectl ceilings --links` wrote;
without it those stored for the GPU.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
RESULTS = ROOT / "docs" / "results"
WEIGHTS, SAMPLES = 1 << 26, 8
LEAST_GPUS = (2, 4, 8)
MODES = {"in_turn": "in turn", "overlapped": "overlapped"}


def medians_of(path):
    """Of each run of the workload: the GPU, how many of them, and microseconds of a step by variant."""
    runs = []
    for line in path.read_text().splitlines():
        if re.match(r"\w+ \(H\d", line):
            runs.append((None if line.startswith("scaling (H9)") else "other", {}))
        if not runs or runs[-1][0] == "other":
            continue
        if title := re.match(r"(.*), size (\d+), samples (\d+), gpus (\d+)", line):
            is_usual = (int(title[2]), int(title[3])) == (WEIGHTS, SAMPLES)
            runs[-1] = ((title[1], int(title[4])) if is_usual else "other", {})
        if row := re.match(r"(\w+) +([\d.]+) +[\d.]+ \.\. ", line):
            runs[-1][1][row[1]] = float(row[2])
    return [run for run in runs if isinstance(run[0], tuple) and "one" in run[1]]


def measured(gpu):
    """Speedups by number of GPUs and mode, and the name of the GPU where it is another one."""
    found = {}
    for path in sorted(RESULTS.glob("workloads-*.txt")):
        for (name, gpus), us in medians_of(path):
            for variant, count, mode in (
                ("naive", gpus, "in_turn"),
                ("overlapped", gpus, "overlapped"),
                ("half", gpus // 2, "in_turn"),
                ("half_overlapped", gpus // 2, "overlapped"),
            ):
                if variant in us:
                    by_name = found.setdefault((count, mode), {})
                    by_name.setdefault(name, []).append(us["one"] / us[variant])
    chosen = {key: gpu if gpu in by_name else sorted(by_name)[0] for key, by_name in found.items()}
    other = {name: "" if name == gpu else name for name in chosen.values()}
    return {key: (statistics.median(found[key][name]), other[name]) for key, name in chosen.items()}


def predicted(recording, ceilings, counts):
    done = subprocess.run(
        [TOOL, "scale", "--format", "json", "--gradients", str(4 * WEIGHTS), "--buckets", "8"]
        + ["--gpus", ",".join(map(str, counts)), "--divide", "threads"]
        + (["--ceilings", ceilings] if ceilings else [])
        + [recording],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return json.loads(done.stdout)


def main():
    recording, ceilings = (sys.argv[1:] + [None, None])[:2]
    recording = recording or ROOT / "tests" / "recordings" / "scaling.one.roofline"
    gains = measured(predicted(recording, ceilings, LEAST_GPUS)["gpu"])
    counts = sorted({count for count, _ in gains}.union(LEAST_GPUS))
    found = predicted(recording, ceilings, counts)
    errors, inside = [], []
    print(
        f"{'gpus':>4} {'linear':>6}  {'gradients':10} {'predicted':>9} {'low':>6} {'high':>6} "
        f"{'measured':>8} {'error':>7} inside"
    )
    for row in found["rows"]:
        for mode, name in MODES.items():
            gain, (real, other) = row[mode], gains.get((row["gpus"], mode), (None, ""))
            if row["samples"] != "divided":
                continue
            line = (
                f"{row['gpus']:4} {row['linear']:6.2f}  {name.replace(' ', '_'):10} {gain['speedup']:9.2f} "
                f"{gain['low']:6.2f} {gain['high']:6.2f} "
            )
            if not real:
                print(f"{line}{'-':>8}")
                continue
            errors.append(gain["speedup"] / real - 1)
            inside.append(gain["low"] <= real <= gain["high"])
            word = "yes" if inside[-1] else "no"
            print(f"{line}{real:8.2f} {100 * errors[-1]:+6.1f}% {word:6} {other}".rstrip())
    print(f"\nall-reduce: {', '.join(sorted({row['all_reduce_from'] for row in found['rows']}))}")
    if errors:
        print(
            f"{len(errors)} rows: median error {100 * statistics.median(map(abs, errors)):.1f}%, "
            f"{sum(abs(error) <= 0.25 for error in errors)} within 25%, {sum(inside)} inside the interval"
        )


if __name__ == "__main__":
    main()
