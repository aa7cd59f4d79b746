#!/usr/bin/env python3
"""What the toolkit says of the programs of labels*.csv, next to what was written before it was asked.

    tests/corpus/frameworks/score.py RECORDINGS RUNS.TSV > docs/results/frameworks.txt

Needs no GPU.  RECORDINGS is a folder with RUN.ROUND.roofline; RUNS.TSV is the table that record.py made.

first         the first advice about what repeats, by its strategy: that of the verdict; free_host is a bound
right         it is the label's answer, or (also) one that an expert would accept; `leave` is right with no
              advice, and with one of less than 1.15 times
predicted     of a step by whatif for the change that was made: the steady state, else the part that changes
measured      us_per_step before through after it, the median of the rounds
round         spread of the predictions of several rounds: the largest through the smallest
"""

import csv
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOOL = pathlib.Path(os.environ.get("BUILD", HERE.parents[2] / "build")) / "bin" / "rooflinectl"
LITTLE_GAIN = 1.15

# What the strategies of the tool are called in the labels, where not by the same word.
WORDS = {
    "unroll_graph": {"cuda_graph"},
    "check_every": {"fewer_reads"},
    "remove_syncs": {"fewer_reads"},
    "device_decision": {"fewer_reads"},
    "while_node": {"fewer_reads"},
    "free_host": {"host_code", "data_loading"},
    "compiled_steps": {"jit_loop"},
    "load_ahead": {"data_loading"},
    "preallocate": {"allocate_once"},
    "fuse_neighbors": {"fuse"},
}


@functools.cache
def ask(command, *arguments):
    """Return what a command says as JSON, or its error."""
    done = subprocess.run([TOOL, command, "--format", "json", *arguments], capture_output=True, check=False,
                          env=dict(os.environ, XDG_DATA_HOME="/nonexistent"))
    if done.returncode:
        return {"error": done.stderr.decode().strip().split("\n")[-1]}
    return json.loads(done.stdout)


def step_of(item):
    """Return the prediction of a step: the steady state's, else that of what changes, else None."""
    for key in ("steady", "place"):
        if item.get(key) and item[key].get("speedup"):
            return item[key]
    return item if item.get("speedup") else None


def first_advice(recording):
    """Return the advice that the verdict names, or None: it is about what repeats, or a bound."""
    items = ask("advise", recording).get("advice", [])
    return next((item for item in items if not item["once"]), None)


def judge(row, item):
    """Return yes, also or no."""
    gain = step_of(item) if item else None
    words = {row["answer"]}
    if item is None or (gain and gain["speedup"] < LITTLE_GAIN):
        said = {"leave"}
    else:
        said = WORDS.get(item["strategy"], set()) | {item["strategy"]}
    if said & words:
        return "yes"
    return "also" if said & set(row["also_right"].split()) else "no"


def read_runs(path):
    """Return the microseconds of a step by run and way, the rounds in order."""
    times = {}
    with open(path, newline="", encoding="utf-8") as lines:
        for run in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if run["us_per_step"] != "-":
                times.setdefault((run["run"], run["way"]), []).append(float(run["us_per_step"]))
    return times


def measured_gain(times, name):
    """Return the gain that was measured, or None."""
    pairs = zip(times.get((name, "bare"), []), times.get((name, "improved"), []))
    gains = [before / after for before, after in pairs]
    return statistics.median(gains) if gains else None


def predict(row, recordings):
    """Return the predictions of the rounds for the row's change."""
    found = []
    for recording in recordings:
        said = ask("whatif", row["change"], str(recording)) if row["change"] else {}
        step = step_of(said.get("all") or said)
        if step:
            found.append(step)
    return found


def show(value, form="{:.2f}x"):
    """Return a figure, or a dash."""
    return "-" if value is None else form.format(value)


def main():
    """Print the table."""
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    folder, times = pathlib.Path(sys.argv[1]), read_runs(sys.argv[2])
    layout = "{:22} {:16} {:16} {:5} {:>9} {:>15} {:>9} {:>7} {:6} {:>6}"
    print(layout.format("run", "answer", "first", "right", "predicted", "interval", "measured", "error",
                        "inside", "round"))
    verdicts, errors, inside = [], [], []
    for path in sorted(HERE.glob("labels*.csv")):
        with open(path, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        for row in rows:
            recordings = sorted(folder.glob(f"{row['run']}.[0-9].roofline"))
            if not recordings:
                continue
            item = first_advice(str(recordings[0]))
            right = judge(row, item)
            verdicts.append((row["answer"] == "leave", right))
            truth, predictions = measured_gain(times, row["run"]), predict(row, recordings)
            by_gain = sorted(predictions, key=lambda one: one["speedup"])
            middle = by_gain[len(by_gain) // 2] if by_gain else None
            error = is_inside = spread = None
            if truth and middle:
                error = middle["speedup"] / truth - 1
                is_inside = middle["low"] <= truth <= middle["high"]
                errors.append(abs(error))
                inside.append(is_inside)
            if len(predictions) > 1:
                gains = [one["speedup"] for one in predictions]
                spread = max(gains) / min(gains)
            print(layout.format(
                row["run"], row["answer"], item["strategy"] if item else "none", right,
                show(middle and middle["speedup"]),
                f"{middle['low']:.2f} .. {middle['high']:.2f}" if middle else "-", show(truth),
                show(error, "{:+.0%}"), "-" if is_inside is None else "yes" if is_inside else "no",
                show(spread)))
    for what, is_control in (("programs with something to gain", False), ("controls", True)):
        judged = [right for control, right in verdicts if control == is_control]
        if judged:
            good = sum(right != "no" for right in judged)
            print(f"\n{what}: right {good} of {len(judged)} ({good / len(judged):.0%})", end="")
    if errors:
        print(f"\n{len(errors)} gains predicted and measured: median error {statistics.median(errors):.0%}, "
              f"{sum(error <= 0.25 for error in errors)} within 25%, {sum(inside)} inside the interval")


if __name__ == "__main__":
    main()
