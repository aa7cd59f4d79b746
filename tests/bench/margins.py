#!/usr/bin/env python3
"""How wide intervals have to be: the MODEL_MARGIN (analyzer/replay/prediction.h) of nine of ten predictions.

    tests/bench/margins.py > docs/results/margins.txt

Needs no GPU, but minutes: the analyzer is built with each margin.  Counted are the rows of
predictions.py with a number.  Of each workload, the margin is told that nine of ten rows of all others
need, and how many of its own rows that holds: what to expect of a workload that no margin was chosen by.
"""

import os
import pathlib
import statistics
import subprocess
import tempfile

import predictions

MARGINS = [round(0.10 + 0.01 * i, 2) for i in range(21)]
COVERED = 0.9


def build(scratch, margin):
    """With this margin; what knows it is compiled again."""
    command = ["make", "-s", f"BUILD={scratch}", f"CFLAGS=-O2 -DMODEL_MARGIN={margin}"]
    subprocess.run(
        [*command, "-W", "analyzer/replay/prediction.h", "analyzer"],
        cwd=predictions.ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return scratch / "bin" / "rooflinectl"


def rows_of(runs, roles):
    """Low end, high end and what was measured, by pair."""
    found = {}
    for workload, before, after, advice in predictions.PAIRS:
        said = predictions.predict(predictions.ROOT / "tests" / "pairs", workload, before, after, advice)
        ends = (workload, before), (workload, after)
        truth = predictions.untraced(runs[ends[0]], "before")
        truth /= predictions.untraced(runs[ends[1]], roles[ends[1]])
        if said["predicted"]:
            found[workload, before, after, advice] = said["low"], said["high"], truth
    return found


def needed(rows_by_margin, pair):
    """The least margin whose interval holds it."""
    for margin, rows in rows_by_margin.items():
        low, high, truth = rows[pair]
        if low <= truth <= high:
            return margin
    return float("inf")


def enough(needs):
    """The least margin that holds so many of them."""
    return next(m for m in MARGINS if sum(need <= m for need in needs) >= COVERED * len(needs))


def print_margins(rows_by_margin, needs):
    print(f"{'margin':>8}{'inside':>8}{'of':>4}{'median width':>15}")
    for margin, rows in rows_by_margin.items():
        inside = sum(need <= margin for need in needs.values())
        width = statistics.median(high / low for low, high, _ in rows.values())
        print(f"{margin:8.2f}{inside:8}{len(rows):4}{width:14.2f}x")


def print_left_out(needs):
    print(f"\n{'left out':24}{'margin':>8}{'inside':>8}{'of':>4}")
    margins, held = [], 0
    for workload in dict.fromkeys(pair[0] for pair in needs):
        margin = enough([need for pair, need in needs.items() if pair[0] != workload])
        own = [need for pair, need in needs.items() if pair[0] == workload]
        inside = sum(need <= margin for need in own)
        margins.append(margin)
        held += inside
        print(f"{workload:24}{margin:8.2f}{inside:8}{len(own):4}")
    print(f"\n{held} of {len(needs)} inside; margins {min(margins):.2f} to {max(margins):.2f}")


def main():
    runs = predictions.medians(predictions.RESULTS / "pairs.txt")
    roles = predictions.variants()
    rows_by_margin = {}
    with tempfile.TemporaryDirectory() as scratch:
        for margin in MARGINS:
            predictions.TOOL = build(pathlib.Path(scratch), margin)
            rows_by_margin[margin] = rows_of(runs, roles)
    pairs = set.intersection(*(set(rows) for rows in rows_by_margin.values()))
    rows_by_margin = {
        margin: {pair: rows[pair] for pair in rows if pair in pairs}
        for margin, rows in rows_by_margin.items()
    }
    needs = {pair: needed(rows_by_margin, pair) for pair in rows_by_margin[MARGINS[0]]}
    print_margins(rows_by_margin, needs)
    print_left_out(needs)


if __name__ == "__main__":
    os.nice(5)
    main()
