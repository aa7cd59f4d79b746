#!/usr/bin/env python3
"""What recording adds to each step of launching: the programs of ceilings, bare and recorded in turn.

    make && tests/bench/traced_steps.py [ROUNDS]      5 rounds when not given

Prints the median of each row over the rounds, bare, recorded node by node and recorded with --graphs=graph,
and what each adds.  Kernels are as quick as without recording; what lies between them is not.
Needs a GPU.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
PROGRAMS = [
    BUILD / "lib/rooflinectl/ceilings" / name for name in ("orchestration", "device_launches")
]


def samples_of(command):
    """What a program of include/roofline/ceilings.h prints: values by row and parameter."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["sample"]:
            found.setdefault((words[1], int(words[2])), []).append(float(words[3]))
    return found


def measure(values, way, command):
    for row, samples in samples_of(command).items():
        values.setdefault(row, {}).setdefault(way, []).append(statistics.median(samples))


def main(rounds):
    values = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "recording"
        record = [BUILD / "bin/rooflinectl", "record", "-o", folder]
        ways = {
            "bare": [],
            "nodes": [*record, "--graphs=node", "--"],
            "graphs": [*record, "--graphs=graph", "--"],
        }
        for _ in range(rounds):
            for program in PROGRAMS:
                for way, command in ways.items():
                    shutil.rmtree(folder, ignore_errors=True)
                    measure(values, way, [*command, program, "--quick"])
    layout = "{:30}{:>6}{:>12}{:>12}{:>10}{:>12}{:>10}"
    print(f"{rounds} rounds; medians, ns\n")
    print(layout.format("step", "", "bare", "nodes", "added", "graphs", "added"))
    for (name, parameter), found in values.items():
        bare = statistics.median(found["bare"])
        figures = [f"{bare:.0f}"]
        for way in ("nodes", "graphs"):
            added = statistics.median(found[way]) - bare
            figures += [f"{bare + added:.0f}", f"{added:.0f}"]
        print(layout.format(name, parameter or "", *figures))


if __name__ == "__main__":
    if len(sys.argv) > 2 or not all(text.isdecimal() and int(text) for text in sys.argv[1:]):
        print("traced_steps.py: ROUNDS is a whole number from 1", file=sys.stderr)
        sys.exit(2)
    main(int(sys.argv[1]) if sys.argv[1:] else 5)
