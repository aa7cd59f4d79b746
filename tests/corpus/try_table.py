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
              bare run
by hand       the gain measured where the source was changed in that way, from the labels
last          what is between: launches seen, nodes in graphs, how often graphs were launched and made, how
              many of their nodes were set to other parameters, and waits left out
"""

import collections
import contextlib
import csv
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
    layout = "{:38} {:12} {:8} {:>8} {:>8} {:>8} {:>7} {:>10} {:>18} {:>6} {:>8}  {}"
    titles = ("run", "strategy", "results", "process", "bare_ms", "tried_ms", "run")
    titles += ("predicted", "interval", "off", "by hand", "")
    print("\n" + layout.format(*titles).rstrip())
    pairs = []
    for (run, name), trial in trials.items():
        if name == "all":
            continue
        said = trial.get("prediction") or {}
        predicted, measured = said.get("run") or {}, (trial.get("run") or {}).get("speedup")
        gain, low, high = (predicted.get(end) for end in ("speedup", "low", "high"))
        off = ""
        if gain and measured and reached(trial) != "nothing":  # else the change was not made
            pairs.append((gain, low, high, measured, said["up_to"]))
            off = f"{100 * (gain / measured - 1):+.0f}%"
        interval = f"{score.text_of(low)} to {score.text_of(high)}" if gain else ""
        marks = "up to" if said.get("up_to") else ""
        marks = ", ".join(filter(None, [marks, counted(trial)]))
        run_of = trial.get("run") or {}
        times = (f"{run_of[key] / 1e6:.2f}" if run_of.get(key) else "-" for key in ("bare_ns", "tried_ns"))
        results = trial["results"] if trial["has_equal_ends"] else "other end"
        process, run_gain, gain_text = (score.text_of(one) for one in (trial["measured"], measured, gain))
        hand = score.text_of(by_hand(run, name, rows))
        words = (run_gain, gain_text, interval, off, hand, marks)
        print(layout.format(run[:38], name, results, process, *times, *words).rstrip())
    return pairs


def print_totals(trials, rows, pairs):
    print(f"\nprograms: {len({rows[run].label['program'] for run, _ in trials if run in rows})}", end="")
    for what, chosen in (("together", "all"), ("alone", None)):
        some = [trial for (_, name), trial in trials.items() if (name == "all") == (chosen == "all")]
        counts = collections.Counter(trial["results"] for trial in some)
        ends = sum(trial["has_equal_ends"] for trial in some)
        found = ", ".join(f"{result} {count}" for result, count in sorted(counts.items()))
        print(f"\nstrategies {what}: {len(some)} trials; results: {found}; the same end: {ends}")
        print(f"  slower by more than 3% and noise: {sum(bool(is_slower(trial)) for trial in some)}")
    near = sum(abs(gain / measured - 1) <= NEAR for gain, _, _, measured, _ in pairs)
    inside = sum(low <= measured <= high for _, low, high, measured, _ in pairs)
    print(f"\npredicted and measured: {len(pairs)}; within 25% {score.percent(near, len(pairs))}", end="; ")
    print(f"inside the interval {score.percent(inside, len(pairs))}")


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
        pairs = print_strategies(trials, rows)
        print_totals(trials, rows, pairs)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
