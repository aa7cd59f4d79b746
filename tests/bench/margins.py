#!/usr/bin/env python3
"""How wide intervals have to be: the spreads of analyzer/techniques/technique.h, from what was measured.

    tests/bench/margins.py > docs/results/margins.txt

Needs no GPU.  Rows are the pairs of predictions.py with a number, and the programs of tests/corpus and
tests/corpus/unseen whose change is no other than the predicted one.  A row needs a spread: how far beyond
the ends of its interval without one, which costs and assumptions set, its measured time lies, as a share of
the time that the change concerns.  The spread of what a prediction rests on is what nine of ten rows of that
kind need.  Each program is left out once: `inside` counts its rows by what all others need, and `width` is
the median of high by low of these intervals.  `today` is by the spreads that the analyzer has.
"""

import csv
import json
import math
import os
import pathlib
import re
import statistics
import sys
import tempfile

import predictions

sys.path.insert(0, str(predictions.ROOT / "tests" / "corpus"))
import score  # noqa: E402

COVERED = 0.9
TECHNIQUES = predictions.ROOT / "analyzer" / "techniques"

# The options of whatif that say what an advice does; of others its interval is taken as it is.
OPTIONS = {
    "sync_every_kernel": "--fewer-waits",
    "launch_bound_graph": "--graph",
    "host_decision": "--decide",
    "while_node": "--while",
    "copy_overlap": "--overlap",
    "pageable_copy": "--pinned",
    "allocation_in_loop": "--preallocate",
    "underfilled_gpu": "--streams",
    "sm_imbalance": "--queue",
    "device_launch": "--device-launch",
    "graph_rebuilt": "--update",
    "repeated_module_load": "--keep-modules",
}
KINDS_OF_ADVICE = {"hot_atomics": "KERNELS"}


def spreads_of_header():
    text = (TECHNIQUES / "technique.h").read_text()
    return {kind: float(value) for kind, value in re.findall(r"#define SPREAD_(\w+)\s+([\d.]+)", text)}


def kinds_of_techniques():
    found = {}
    for path in TECHNIQUES.glob("*.c"):
        text = path.read_text()
        kind = re.search(r"\.spread = SPREAD_(\w+)", text)
        if kind:
            found[re.search(r'\.id = "(\w+)"', text)[1]] = kind[1]
    return found


SPREADS, KINDS = spreads_of_header(), kinds_of_techniques()


class Row:
    """A prediction: gain, low and high, beside what was measured."""

    def __init__(self, where, program, kind, gains, truth, margin):
        self.where, self.program, self.kind = where, program, kind
        gain, self.low, self.high = gains
        self.truth = truth
        # times are shares of that before; the margin is a share of the time after
        self.margin = margin / gain
        self.concerned = self.margin / SPREADS[kind]
        self.most, self.least = 1 / self.low - self.margin, 1 / self.high + self.margin

    @property
    def needs(self):
        beyond = max(0, 1 / self.truth - self.most, self.least - 1 / self.truth)
        if beyond < 1e-9:
            return 0
        return beyond / self.concerned if self.concerned > 0 else math.inf

    def width(self, spread):
        least = max(self.least - spread * self.concerned, 1e-9)
        return (self.most + spread * self.concerned) / least


def kind_of(said):
    applied = [part["strategy"] for part in said["strategies"] if not part["refusal"]]
    return KINDS[applied[0]]


def margin_of(said):
    """Of the time of the part after the change."""
    return said["place"]["margin_ns"] / max(said["place"]["after_ns"], 1)


def own_row(pair, runs, roles):
    workload, before, after, advice = pair
    folder = predictions.ROOT / "tests" / "pairs"
    if not all(predictions.is_recorded(folder / f"{workload}.{variant}") for variant in (before, after)):
        return None
    said = predictions.predict(predictions.ROOT / "tests" / "pairs", workload, before, after, advice)
    if not said["predicted"]:
        return None
    truth = predictions.untraced(runs[workload, before], "before")
    truth /= predictions.untraced(runs[workload, after], roles[workload, after])
    gains = [said[end] for end in ("predicted", "low", "high")]
    option = advice if advice.startswith("--") else OPTIONS.get(advice)
    if not option:
        return Row("pairs", workload, KINDS_OF_ADVICE[advice], gains, truth, 0)
    path = predictions.ROOT / "tests" / "pairs" / f"{workload}.{before}"
    done = predictions.run_tool("whatif", "--range", "run", *option.split(), path)
    alone = json.loads(done.stdout)
    return Row("pairs", workload, kind_of(alone), gains, truth, margin_of(alone))


def own_rows():
    runs = predictions.all_medians()
    rows = (own_row(pair, runs, predictions.variants()) for pair in predictions.PAIRS)
    return [row for row in rows if row]


class Program(score.Row):
    """Without asking for advice."""

    def find_advice(self):
        return "trace", []


def public_rows(where, folder):
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as joined:
        recordings = score.unpack_archives(folder, pathlib.Path(scratch))
        with open(folder / "labels.csv", newline="", encoding="utf-8") as file:
            rows = {label["run"]: Program(label, recordings, joined) for label in csv.DictReader(file)}
        rows = {name: row for name, row in rows.items() if row.paths}
        for name, row in rows.items():
            gains = row.predicted(rows) if row.label["improved"] in rows else None
            if not gains or row.does_other_work(rows) or row.label["differs"]:
                continue
            said = row.what_if()
            program = name.split(".")[0]
            yield Row(where, program, kind_of(said), gains, row.measured(rows), margin_of(said))


def enough(needs):
    """The least spread that holds nine of ten of them."""
    needs = sorted(needs)
    return needs[math.ceil(COVERED * len(needs)) - 1]


def spreads_without(rows, left_out=None):
    by_kind = {}
    for row in rows:
        if row.program != left_out:
            by_kind.setdefault(row.kind, []).append(row.needs)
    return {kind: enough(needs) for kind, needs in by_kind.items()}


def print_kinds(rows):
    print(f"{'rests on':10}{'rows':>6}{'median':>9}{'nine of ten':>13}{'left out':>16}{'today':>8}")
    found = spreads_without(rows)
    left_out = [spreads_without(rows, program) for program in {row.program for row in rows}]
    for kind, spread in SPREADS.items():
        needs = [row.needs for row in rows if row.kind == kind]
        ends = [spreads[kind] for spreads in left_out]
        between = f"{min(ends):.3f} to {max(ends):.3f}"
        print(
            f"{kind.lower():10}{len(needs):6}{statistics.median(needs):9.3f}{found[kind]:13.3f}"
            f"{between:>16}{spread:8.2f}"
        )


def print_inside(rows):
    print(f"\n{'rows of':10}{'rows':>6}{'inside':>8}{'width':>8}{'today':>8}{'width':>8}")
    for where in [*dict.fromkeys(row.where for row in rows), "all"]:
        own = [row for row in rows if where in (row.where, "all")]
        spreads = [spreads_without(rows, row.program)[row.kind] for row in own]
        inside = sum(row.needs <= spread + 1e-9 for row, spread in zip(own, spreads))
        width = statistics.median(row.width(spread) for row, spread in zip(own, spreads))
        today = sum(row.low <= row.truth <= row.high for row in own)
        width_today = statistics.median(row.high / row.low for row in own)
        print(f"{where:10}{len(own):6}{inside:8}{width:7.2f}x{today:8}{width_today:7.2f}x")


def main():
    corpus = predictions.ROOT / "tests" / "corpus"
    rows = own_rows()
    rows += [*public_rows("corpus", corpus), *public_rows("unseen", corpus / "unseen")]
    print_kinds(rows)
    print_inside(rows)


if __name__ == "__main__":
    os.nice(5)
    main()
