#!/usr/bin/env python3
"""known_delays.py TRUTH REPORT FIGURE... - what known_delays printed against what the report has.

A FIGURE is that of every rank (exposed, overlapped, wait, last, caused, kernels, host, copies) or of the
job (count, skew, most_skew).
Each pair of values is printed.  Ends with 1 where one is off by more than 5%, or a count by one.
"""
import json
import sys

TOLERANCE = 0.05
OF_RANK = {
    "exposed": ("exposed_ns",),
    "overlapped": ("overlapped_ns",),
    "wait": ("wait_ns",),
    "last": ("last_count",),
    "caused": ("caused_wait_ns",),
    "kernels": ("caused_by", "kernels_ns"),
    "host": ("caused_by", "host_ns"),
    "copies": ("caused_by", "copies_ns"),
}
OF_JOB = {"count": "count", "skew": "median_skew_ns", "most_skew": "most_skew_ns"}
COUNTS = ("last", "count")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def follow(data, path):
    for key in path:
        data = data[key]
    return data


def reported(rank, figure):
    """Those of waits that a rank caused lie one deeper in a report."""
    is_late = figure in ("last", "caused", "kernels", "host", "copies")
    return follow(rank["late"] if is_late else rank, OF_RANK[figure])


def pairs(truth, report, figure):
    if figure in OF_JOB:
        yield figure, truth[OF_JOB[figure]], report["collectives"][0][OF_JOB[figure]]
        return
    for built, rank in zip(truth["ranks"], report["job"]["ranks"]):
        yield f"{figure} of {rank['name']}", follow(built, OF_RANK[figure]), reported(rank, figure)


def is_near(name, built, found):
    if name.startswith(COUNTS):
        return built == found
    return abs(found - built) <= TOLERANCE * built


def shown(name, value):
    return str(value) if name.startswith(COUNTS) else f"{value / 1e6:.3f} ms"


def main():
    truth, report, figures = read(sys.argv[1]), read(sys.argv[2]), sys.argv[3:]
    if len(report["job"]["ranks"]) != len(truth["ranks"]):
        sys.exit(f"# {len(report['job']['ranks'])} ranks reported, {len(truth['ranks'])} there were")
    is_right = True
    for figure in figures:
        for name, built, found in pairs(truth, report, figure):
            error = f"{100 * (found / built - 1):+.1f}%" if built else "-"
            print(f"# {name}: built {shown(name, built)}, reported {shown(name, found)} ({error})")
            is_right &= is_near(name, built, found)
    sys.exit(not is_right)


if __name__ == "__main__":
    main()
