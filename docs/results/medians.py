#!/usr/bin/env python3
"""What each workload measured, as medians over machines: prints docs/results/medians.txt.

    docs/results/measure.sh medians docs/results/medians.py

Each pairs*.txt holds what one machine measured, most of them three runs of every workload.  The figure of a
variant on a machine is the median of its runs there; printed are the median, the lowest and the highest of
these figures.  Machines that ran another size than most are left out.
"""

import collections
import pathlib
import re
import statistics

RESULTS = pathlib.Path(__file__).resolve().parent
HEAD = re.compile(r"(\w+ \([A-I]\d+\)): (.*)$")
SIZE = re.compile(r".*, size (\d+), ")
ROW = re.compile(r"(\w+) +([\d.]+) +[\d.]+ \.\. +[\d.]+ +([\d.]+|-) +([\d.]+|-) +([\d.]+)x$")
COLUMNS = "variant", "us/iteration", "min .. max", "speedup", "min .. max", "host calls", "set-up us"
FORMAT = "{:21} {:>12} {:>20} {:>8} {:>18} {:>10} {:>9}"


def machine_number(path):
    """Of pairs-7.txt 7, of pairs.txt 0."""
    return int(re.search(r"(\d*)\.txt", path.name)[1] or 0)


def read(path, workloads):
    """Adds each row of a file to workloads: by head line, size, file and variant its columns."""
    head = size = None
    for line in path.read_text().splitlines():
        if match := HEAD.match(line):
            head = match[0]
        elif match := SIZE.match(line):
            size = match[1]
        elif (match := ROW.match(line)) and head:
            workloads[head][size][path.name][match[1]].append(match.groups()[1:])


def column(runs, index):
    """A column's median over a machine's runs; None where it is empty."""
    values = [float(run[index]) for run in runs if run[index] != "-"]
    return statistics.median(values) if values else None


def row(variant, machines):
    """A line of the table: of each column the median over machines, and of two of them the range."""
    times, calls, setups, speedups = (
        [value for runs in machines if (value := column(runs, index)) is not None] for index in range(4)
    )
    return FORMAT.format(
        variant,
        f"{statistics.median(times):.2f}",
        f"{min(times):.2f} .. {max(times):.2f}",
        f"{statistics.median(speedups):.2f}x",
        f"{min(speedups):.2f}x .. {max(speedups):.2f}x",
        f"{statistics.median(calls):.2f}" if calls else "-",
        f"{statistics.median(setups):.1f}" if setups else "-",
    )


def print_workload(head, sizes):
    """The table of a workload, of the size that most machines ran."""
    size, files = max(sizes.items(), key=lambda item: len(item[1]))
    numbers = [re.sub(r"pairs(.*)\.txt", r"\1", name) for name in files]
    print(head)
    print(f"NVIDIA H200, size {size}; medians over {len(files)} machines, pairs{{{','.join(numbers)}}}.txt\n")
    print(FORMAT.format(*COLUMNS))
    variants = dict.fromkeys(variant for rows in files.values() for variant in rows)
    for variant in variants:
        print(row(variant, [rows[variant] for rows in files.values() if variant in rows]))


def tree(depth):
    """A dictionary of dictionaries, and so on, of lists."""
    return collections.defaultdict((lambda: tree(depth - 1)) if depth > 1 else list)


def main():
    """All workloads, by name."""
    workloads = tree(4)
    for path in sorted(RESULTS.glob("pairs*.txt"), key=machine_number):
        read(path, workloads)
    for head, sizes in sorted(workloads.items()):
        print_workload(head, sizes)


if __name__ == "__main__":
    main()
