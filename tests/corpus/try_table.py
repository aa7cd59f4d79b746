#!/usr/bin/env python3
"""What `rooflinectl try` did to the programs of a labels.csv: the table of docs/results/try.txt.

    tests/corpus/try_table.py TRIALS ROWS... > docs/results/try.txt

Needs no GPU.  TRIALS is the folder that try.sh filled, or an archive of it; ROWS are folders with a
labels.csv and the recordings of its rows.  Trials that the library did not time have no `run`.

The first table has a row for each program: all strategies together.

results       whether the tried runs print and end as bare ones do: equal; agrees, but for words in which bare
              runs differ from each other; different; not known
bare, tried   medians of the whole process, with its start, which takes most of it
reached       what the library counted: launches in graphs, allocations from kept memory, and so on
first reason  why most of what was not changed was left as it is

The second table has a row for each program and strategy that reached something, alone.

process       the whole process, as it was measured without recording
run           from the first launch to the end of the last wait, measured without recording; its times bare
              and tried, in milliseconds
predicted     from the first operation on the GPU to the last, by whatif's model, from a recording of a
              bare run: what the change would bring in the source, without what the library takes itself
steady        of the part that repeats, where the recordings of a bare and of a tried run have one:
              predicted, and measured by both recordings
by hand       the gain measured where the source was changed in that way, from the labels
last          what is between: launches seen, nodes in graphs, how often graphs were launched and made, how
              many of their nodes were set to other parameters, and waits left out

Below stands for each run that is predicted more than 25% off why, by reasons.csv, which was written
after that.
"""

import collections
import contextlib
import csv
import dataclasses
import json
import pathlib
import sys
import tarfile
import tempfile

import score

TECHNIQUES = {
    "graph": {"cuda_graph"},
    "pool": {"preallocate"},
    "fewer-waits": {"remove_syncs"},
    "pinned": {"pinned_memory"},
}
REACHED = {
    "graph_nodes": "in graphs",
    "allocations_reused": "allocations",
    "waits_left_out": "waits",
    "copies_staged": "pinned copies",
    "copies_registered": "copies of registered memory",
}
SLOWER = 0.97
NEAR = 0.25
REASONS = pathlib.Path(__file__).parent / "trials" / "reasons.csv"


@dataclasses.dataclass
class Pair:
    """What was predicted of a run and what was measured: speedup, low, high."""

    run: str
    strategy: str
    predicted: dict
    measured: dict

    @property
    def off(self):
        return self.predicted["speedup"] / self.measured["speedup"] - 1

    @property
    def is_inside(self):
        return self.predicted["low"] <= self.measured["speedup"] <= self.predicted["high"]

    @property
    def is_meeting(self):
        predicted, measured = self.predicted, self.measured
        return predicted["low"] <= measured["high"] and measured["low"] <= predicted["high"]


def read_trials(folder):
    """By run and name: all, or a strategy."""
    trials = {}
    for path in sorted(folder.rglob("*.json")):
        run, name = path.name[: -len(".json")].rsplit(".", 1)
        with contextlib.suppress(ValueError):
            trials[run, name] = json.loads(path.read_text(encoding="utf-8"))
    return trials


def milliseconds(side):
    return f"{side['median_ns'] / 1e6:.1f}" if side and side.get("median_ns") else "-"


def reached(trial):
    reach = trial.get("reach") or {}
    words = [f"{reach[count]} {name}" for count, name in REACHED.items() if reach.get(count)]
    return ", ".join(words) or "nothing"


def counted(trial):
    reach = trial.get("reach") or {}
    names = ("launches_seen", "graph_nodes", "graph_launches", "graphs_instantiated", "graph_nodes_set")
    names += ("allocations_reused", "waits_left_out", "copies_staged", "copies_registered")
    return ", ".join(f"{name} {reach[name]}" for name in names if reach.get(name))


def first_reason(trial):
    passed = trial.get("passed") or {}
    return max(passed, key=passed.get) if passed else ""


def is_slower(trial):
    """Beyond 3% and beyond what runs of one kind differ by, where anything was changed."""
    is_less = trial["measured"] and trial["measured"] < SLOWER and not trial["is_noise"]
    is_changed = reached(trial) != "nothing" or (trial.get("reach") or {}).get("launches_deferred", 0)
    return bool(is_less and is_changed)


def print_programs(trials):
    layout = "{:38} {:10} {:>9} {:>9} {:>7}  {:32} {}"
    print(layout.format("run", "results", "bare_ms", "tried_ms", "gain", "reached", "first reason"))
    for (run, name), trial in trials.items():
        if name != "all":
            continue
        times = (milliseconds(trial["bare"]), milliseconds(trial["tried"]))
        gain = score.text_of(trial["measured"])
        marks = "slower " if is_slower(trial) else ""
        results = trial["results"] if trial["has_equal_ends"] else "other end"
        words = (reached(trial), marks + first_reason(trial))
        print(layout.format(run[:38], results, *times, gain, *words).rstrip())


def by_hand(run, strategy, rows):
    row = rows.get(run)
    if not row or row.label["change"] not in TECHNIQUES.get(strategy, ()):
        return None
    return row.measured(rows)


def print_strategies(trials, rows):
    layout = "{:38} {:12} {:8} {:>8} {:>8} {:>8} {:>7} {:>10} {:>18} {:>6} {:>14} {:>8}  {}"
    titles = ("run", "strategy", "results", "process", "bare_ms", "tried_ms", "run")
    titles += ("predicted", "interval", "off", "steady", "by hand", "")
    print("\n" + layout.format(*titles).rstrip())
    pairs, steadies = [], []
    for (run, name), trial in trials.items():
        if name == "all":
            continue
        said = trial.get("prediction") or {}
        predicted, measured = said.get("run") or {}, (trial.get("run") or {}).get("speedup")
        gain, low, high = (predicted.get(end) for end in ("speedup", "low", "high"))
        steady, off = "", ""
        is_changed = reached(trial) != "nothing"  # else there is nothing to compare
        if gain and measured and is_changed:
            pairs.append(Pair(run, name, predicted, trial["run"]))
            off = f"{100 * pairs[-1].off:+.0f}%"
        repeating, repeating_measured = said.get("steady") or {}, said.get("steady_measured")
        if repeating.get("speedup") and repeating_measured and is_changed:
            steadies.append(Pair(run, name, repeating, {"speedup": repeating_measured}))
            steady = f"{score.text_of(repeating['speedup'])} {score.text_of(repeating_measured)}"
        interval = f"{score.text_of(low)} to {score.text_of(high)}" if gain else ""
        marks = "up to" if said.get("up_to") else ""
        marks = ", ".join(filter(None, [marks, counted(trial)]))
        run_of = trial.get("run") or {}
        times = (f"{run_of[key] / 1e6:.2f}" if run_of.get(key) else "-" for key in ("bare_ns", "tried_ns"))
        results = trial["results"] if trial["has_equal_ends"] else "other end"
        process, run_gain, gain_text = (score.text_of(one) for one in (trial["measured"], measured, gain))
        hand = score.text_of(by_hand(run, name, rows))
        words = (run_gain, gain_text, interval, off, steady, hand, marks)
        print(layout.format(run[:38], name, results, process, *times, *words).rstrip())
    return pairs, steadies


def print_pairs(what, pairs):
    near = sum(abs(pair.off) <= NEAR for pair in pairs)
    inside = sum(pair.is_inside for pair in pairs)
    print(f"{what}, predicted and measured: {len(pairs)}", end="; ")
    print(f"within 25% {score.percent(near, len(pairs))}", end="; ")
    print(f"inside the interval {score.percent(inside, len(pairs))}", end="")
    if all(pair.measured.get("low") for pair in pairs):
        meeting = sum(pair.is_meeting for pair in pairs)
        print(f"; the ranges of both meet in {score.percent(meeting, len(pairs))}", end="")
    print()


def print_totals(trials, rows, pairs, steadies):
    print(f"\nprograms: {len({rows[run].label['program'] for run, _ in trials if run in rows})}", end="")
    for what, chosen in (("together", "all"), ("alone", None)):
        some = [trial for (_, name), trial in trials.items() if (name == "all") == (chosen == "all")]
        counts = collections.Counter(trial["results"] for trial in some)
        ends = sum(trial["has_equal_ends"] for trial in some)
        found = ", ".join(f"{result} {count}" for result, count in sorted(counts.items()))
        print(f"\nstrategies {what}: {len(some)} trials; results: {found}; the same end: {ends}")
        print(f"  slower by more than 3% and noise: {sum(bool(is_slower(trial)) for trial in some)}")
    print()
    print_pairs("the run", pairs)
    print_pairs("steady states", steadies)


def print_reasons(pairs):
    with open(REASONS, newline="", encoding="utf-8") as file:
        reasons = {(row["run"], row["strategy"]): row["reason"] for row in csv.DictReader(file)}
    print("\nmore than 25% off:")
    for pair in sorted(pairs, key=lambda pair: -abs(pair.off)):
        if abs(pair.off) > NEAR:
            reason = reasons.get((pair.run, pair.strategy), "not known")
            print(f"{pair.run:24} {pair.strategy:12} {100 * pair.off:+5.0f}%  {reason}")


def read_rows(folder, scratch, runs):
    """By run: those rows of the labels of a folder, and the rows that they were improved to."""
    scratch.mkdir()
    recordings = score.unpack_archives(folder, scratch)
    with open(folder / "labels.csv", newline="", encoding="utf-8") as file:
        labels = {label["run"]: label for label in csv.DictReader(file)}
    wanted = runs & set(labels)
    wanted |= {labels[run]["improved"] for run in wanted} & set(labels)
    return {run: score.Row(labels[run], recordings, scratch) for run in wanted}


def main(trials_path, *row_folders):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        folder = pathlib.Path(trials_path)
        if folder.is_file():
            with tarfile.open(folder) as tar:
                tar.extractall(scratch / "trials", filter="data")
            folder = scratch / "trials"
        trials = read_trials(folder)
        runs = {run for run, _ in trials}
        rows = {}
        for number, row_folder in enumerate(row_folders):
            rows |= read_rows(pathlib.Path(row_folder), scratch / f"recordings.{number}", runs)
        print_programs(trials)
        pairs, steadies = print_strategies(trials, rows)
        print_totals(trials, rows, pairs, steadies)
        print_reasons(pairs)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
