#!/usr/bin/env python3
"""What is predicted for PyTorch programs that are no workloads of the toolkit, and what the change measures.

    docs/results/measure.sh torch-medians tests/bench/torch_programs.py --record FOLDER
    docs/results/measure.sh torch-programs tests/bench/torch_programs.py FOLDER docs/results/torch-medians.txt

The first needs a GPU and PyTorch: each program of tests/gpu/torch_programs.py runs without the collector, and
right after is recorded into FOLDER.  The second is arithmetic: predictions for the NVTX range run, `measured`
the ratio of the untraced medians, `first advice` what `rooflinectl advise --range run` says first of all.
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
PROGRAMS = ROOT / "tests" / "gpu" / "torch_programs.py"

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


def run_program(*command):
    """What the program prints last."""
    done = subprocess.run([*command], check=True, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[-1]


def record(folder):
    """Each mode untraced, then recorded; one line each."""
    for program, mode in {(row[0], mode): 0 for row in PAIRS for mode in row[1:3]}:
        name = [sys.executable, PROGRAMS, program, mode]
        untraced = run_program(*name)
        run_program(TOOL, "record", "-o", folder / f"{program}.{mode}", "--", *name, "--repeats", "3")
        print(program, mode, untraced, flush=True)


def medians(path):
    """Microseconds an iteration by program and mode."""
    rows = re.findall(r"^(\w+) (\w+) us_per_iteration ([\d.]+)", path.read_text(), re.MULTILINE)
    return {(program, mode): float(us) for program, mode, us in rows}


def ask(*arguments):
    done = subprocess.run([TOOL, *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def times(ratio):
    return f"{ratio:.2f}x" if ratio else "-"


def main(folder, medians_path):
    untraced = medians(medians_path)
    layout = "{:9} {:10} {:16} {:10} {:>9} {:>14} {:>8} {:>7} {:6}  {}"
    heads = "program before after change predicted interval measured error inside".split()
    print(layout.format(*heads, "first advice"))
    errors, inside_count, right_count = [], 0, 0
    for program, before, after, change, wanted in PAIRS:
        recording = folder / f"{program}.{before}"
        options = ["--range", "run", "--format", "json"]
        whatif = ask("whatif", *options, change, recording)
        advice = [row["id"] for row in ask("advise", *options, recording)["advice"]]
        part = whatif["place"]
        truth = untraced[program, before] / untraced[program, after]
        error = part["speedup"] / truth - 1
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
                f"{part['speedup']:.2f}x",
                f"{part['low']:.2f} .. {part['high']:.2f}",
                f"{truth:.2f}x",
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
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.strip())
    if sys.argv[1] == "--record":
        record(pathlib.Path(sys.argv[2]))
    else:
        main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
