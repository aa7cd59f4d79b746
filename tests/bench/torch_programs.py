#!/usr/bin/env python3
"""What is predicted for PyTorch programs that are no workloads of the toolkit, and what the change measures.

    docs/results/measure.sh torch-programs tests/bench/torch_programs.py

Needs a GPU and PyTorch.  Each program of tests/gpu/torch_programs.py is run without the collector, in turn
with the changed one, then recorded as it was; the prediction is for its NVTX range run.  `first advice` is
what `rooflinectl advise --range run` says first of all.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
PROGRAMS = ROOT / "tests" / "gpu" / "torch_programs.py"
ROUNDS = 2

# program, mode before, mode after, what is changed, the advice that should come first
PAIRS = [
    ("encoder", "eager", "graph", "--graph", "launch_bound_graph"),
    ("training", "eager", "graph", "--graph", "launch_bound_graph"),
    ("decode", "eager", "graph", "--graph", "launch_bound_graph"),
    ("decode", "looked_at", "graph_looked_at", "--graph", "host_decision"),
    ("heads", "series", "graph", "--graph", "launch_bound_graph"),
    ("prepared", "eager", "graph", "--graph", "launch_bound_graph"),
    ("loader", "pageable", "pinned", "--pinned", "copy_overlap"),
    ("loader", "pageable", "overlapped", "--overlap", "copy_overlap"),
    ("loader", "pinned", "overlapped", "--overlap", "copy_overlap"),
    ("products", "eager", "graph", "--graph", "none"),
]


def untraced_us(program, mode):
    text = subprocess.run(
        [sys.executable, PROGRAMS, program, mode], check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"us_per_iteration ([\d.]+)", text)
    if not found:
        raise SystemExit(text.strip())
    return float(found[1])


def measured(program, modes):
    """Microseconds an iteration by mode: the median of runs in turn."""
    runs = {mode: [] for mode in modes}
    for _ in range(ROUNDS):
        for mode in modes:
            runs[mode].append(untraced_us(program, mode))
    return {mode: statistics.median(times) for mode, times in runs.items()}


def ask(*arguments):
    done = subprocess.run([TOOL, *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def record(program, mode, folder):
    recording = pathlib.Path(folder) / f"{program}.{mode}"
    if not recording.exists():
        command = [TOOL, "record", "-o", recording, "--", sys.executable, PROGRAMS, program, mode, "--repeats", "3"]
        subprocess.run(command, check=True, capture_output=True)
    return recording


def times(ratio):
    return f"{ratio:.2f}x" if ratio else "-"


def main():
    layout = "{:9} {:10} {:16} {:10} {:>9} {:>14} {:>8} {:>7} {:6}  {}"
    print(layout.format(*"program before after change predicted interval measured error inside".split(), "first advice"))
    modes = {}
    for program, before, after, _, _ in PAIRS:
        modes.setdefault(program, {}).update({before: 0, after: 0})
    untraced = {program: measured(program, names) for program, names in modes.items()}
    errors, inside_count, right_count = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for program, before, after, change, wanted in PAIRS:
            recording = record(program, before, folder)
            whatif = ask("whatif", "--range", "run", "--format", "json", change, recording)
            advice = [row["id"] for row in ask("advise", "--range", "run", "--format", "json", recording)["advice"]]
            part = whatif["place"] or {"speedup": None, "low": 1, "high": 1}
            truth = untraced[program][before] / untraced[program][after]
            error = (part["speedup"] or 1) / truth - 1
            is_inside = part["low"] <= truth <= part["high"]
            errors.append(abs(error))
            inside_count += is_inside
            right_count += (advice or ["none"])[0] == wanted
            print(
                layout.format(
                    program,
                    before,
                    after,
                    change,
                    times(part["speedup"]),
                    f"{part['low']:.2f} .. {part['high']:.2f}",
                    times(truth),
                    f"{100 * error:+.1f}%",
                    "yes" if is_inside else "no",
                    (advice or ["none"])[0],
                )
            )
    print(
        f"\n{len(errors)} rows: median error {100 * statistics.median(errors):.1f}%, "
        f"{sum(e <= 0.25 for e in errors)} within 25%, {inside_count} inside the interval, "
        f"{right_count} with the right advice first"
    )


if __name__ == "__main__":
    main()
