#!/usr/bin/env python3
"""Where each row of predictions.py is off: before the change, after it, or by another speed of the program.

    tests/bench/causes.py > docs/results/causes.txt

Needs no GPU.  Times are of an iteration, in us: `model` of the replay without what recording added, before
and after the change; `alone` of each recording's own runs without the collector.  An error is made of
    before    how far the replay is from what the program took
    after     how far what the change is predicted to leave is from what it left
    machine   how far the speedup of these runs is from that of the runs of all variants in one process,
              which predictions.py judges by: no model knows that
Rows whose advice is no option of whatif are left out.
"""

import json
import os
import re

import margins
import predictions

ENDS = ("before", "after")
LAYOUT = "{:20} {:13} {:14} {:>7} |{:>9} {:>9} {:>7} |{:>9} {:>9} {:>7} |{:>7}"


def iterations(paths):
    """Of a run of each workload."""
    found, workload = {}, None
    for line in "\n".join(path.read_text() for path in paths).splitlines():
        head = re.match(r"(\w+) \([A-I]\d\):", line)
        count = re.search(r" (\d+) iterations, ", line)
        workload = head[1] if head else workload
        if workload and count:
            found[workload] = int(count[1])
    return found


def off(value, truth):
    return f"{100 * (value / truth - 1):+.1f}%"


def row_of(pair, counts, truth):
    workload, before, after, advice = pair
    folder = predictions.ROOT / "tests" / "pairs"
    option = advice if advice.startswith("--") else margins.OPTIONS.get(advice)
    paths = [folder / f"{workload}.{variant}" for variant in (before, after)]
    if not option or not all(predictions.is_recorded(path) for path in paths):
        return None
    said = predictions.predict(folder, workload, before, after, advice)
    if not said["predicted"]:
        return None
    replayed = predictions.run_tool("whatif", "--range", "run", *option.split(), paths[0])
    place = json.loads(replayed.stdout)["place"]
    compared = predictions.verify(*paths)["compared"]
    count = counts[workload]
    runs = compared["before_count"]
    alone = [compared[f"{end}_ns"] * compared[f"{end}_share"] / count / 1000 for end in ENDS]
    model = [place[f"{end}_ns"] / count / runs / 1000 for end in ENDS]
    return LAYOUT.format(
        *(workload, before, after, off(said["predicted"], truth)),
        *(f"{model[0]:.2f}", f"{alone[0]:.2f}", off(model[0], alone[0])),
        *(f"{model[1]:.2f}", f"{alone[1]:.2f}", off(model[1], alone[1])),
        off(alone[0] / alone[1], truth),
    )


def main():
    runs, roles, counts = predictions.all_medians(), predictions.variants(), iterations(predictions.PAIRED)
    print(LAYOUT.format(*"workload before after error model alone before model alone after machine".split()))
    for pair in predictions.PAIRS:
        ends = (pair[0], pair[1]), (pair[0], pair[2])
        if not all(end in runs for end in ends):
            continue
        truth = predictions.untraced(runs[ends[0]], "before")
        row = row_of(pair, counts, truth / predictions.untraced(runs[ends[1]], roles[ends[1]]))
        if row:
            print(row)


if __name__ == "__main__":
    os.nice(5)
    main()
