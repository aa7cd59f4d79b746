#!/usr/bin/env python3
"""What the toolkit says of the programs of a labels.csv, beside what an expert wrote before it was asked.

    tests/corpus/score.py RECORDINGS [RUNS.TSV [ROWS]] > docs/results/corpus.txt

Needs no GPU.  RECORDINGS is a folder with RUN.trace.roofline and, for some, RUN.counters.roofline and
RUN.sample.roofline, or with the archives that record.sh made; RUNS.TSV is its table; ROWS is the folder with
labels.csv (tests/corpus).  Asked is the trace first, then the others where it recommends nothing or only what
has no gain to tell.

agrees        the first advice is the label's answer; or `leave`, and there is none, or none with any time at
              stake, or it says that there is little to gain, or that kernels are at their roof.
              That of the verdict: neither about what happens once nor what may lose
also          an expert would accept it as well; where there is none, to leave it
asks          there is none, and the commands to run next count what the label's answer can be told by, where
              the recordings lack it
no            neither.  Counters asked for are no answer where the label needs none
dead end      neither advice nor a next step nor a word that the run is at its roof
explained     of the recordings, whatever they hold: the replay gives their own time again within 3%, so that
              there may be predictions
impossible    a gain beyond what is left when nothing that runs on the GPU gets shorter
another work  the change leaves kernels as they are, and yet they take another time after it: the compiler
              made other code, so that what is measured is not the change alone
predicted     by whatif, for the technique that the row with the change was made by: the column `change`;
              of the trace, joined with the counters where these were recorded and bound what that may bring
measured      of the row with the change, before through after, as `verify` has it without what recording
              added: of the steady state where both have one and their iterations can be matched, and so is
              what is predicted; else the time from the first kernel to the last one without pauses of more
              than 20 ms, from which whatif's savings are taken.  Or of the kernel with the change in the
              same run: the mean times of both
differs       the row with the change is not what the technique predicts: the column says in what
"""

import csv
import functools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
WAYS = ("trace", "counters", "sample")
LEAST_GAIN = 1.03
LONG_PAUSE_NS = 20_000_000
OTHER_KERNELS = 0.25

# Kernels that get shorter, but no shorter than roofs allow.
BOUND_BY_COUNTERS = {"fill_gpu", "pad_shared", "smaller_blocks", "wider_loads"}

# The runs that are joined (include/roofline/runs.h).
RUNS = {"trace": 1, "counters": 3}

# What the strategies of kernels are called in the labels; all others have the same name there.
WORDS = {
    "pad_shared": {"bank_conflicts"},
    "fewer_registers": {"register_spills", "kernel_latency"},
    "async_copy": {"overlap", "pinned_memory"},
    "batch_atomics": {"batch_atomics", "aggregate_atomics"},
    "aggregate_atomics": {"batch_atomics", "aggregate_atomics"},
    "fewer_bytes": {"fewer_bytes", "kernel_loads"},
    "wider_loads": {"kernel_loads"},
    "more_in_flight": {"kernel_loads", "kernel_latency"},
    "coalesce": {"kernel_coalesce"},
    "tiles": {"kernel_tile"},
    "tensor_cores": {"kernel_tensor"},
    "hide_latency": {"kernel_latency"},
    "split_blocks": {"dynamic_queue"},
    "raise_occupancy": {"kernel_latency", "fill_gpu"},
    "unroll_graph": {"unroll_graph", "cuda_graph"},
    "while_node": {"while_node", "device_decision"},
}

# What leaves every operation as long as it is, so that a run cannot take less than the GPU is busy.
SHORTENS_NOTHING = {
    "cuda_graph",
    "remove_syncs",
    "device_decision",
    "while_node",
    "unroll_graph",
    "update_graph",
    "preallocate",
    "persistent_kernel",
    "dependent_launch",
    "async_copy",
}

# What no trace tells: the label's answer, and the counters that do; those of kernels follow from rooflines.
NEEDS_COUNTERS = {
    "aggregate_atomics": "atomics",
    "batch_atomics": "atomics",
    "bank_conflicts": "shared",
    "fewer_bytes": "roofline",
    **{f"kernel_{what}": "roofline" for what in ("coalesce", "loads", "tile", "tensor")},
    **{f"kernel_{what}": "roofline" for what in ("latency", "instructions")},
}

# The techniques that rows with a change were made by, as whatif calls them.
OPTIONS = {
    "aggregate_atomics": "--aggregate=32",
    "concurrent_kernels": "--streams",
    "check_every": "--check-every",
    "cuda_graph": "--graph",
    "device_decision": "--decide",
    "fill_gpu": "--fill",
    "fuse": "--fuse",
    "pad_shared": "--pad-shared",
    "pinned_memory": "--pinned",
    "preallocate": "--preallocate",
    "remove_syncs": "--fewer-waits",
    "smaller_blocks": "--smaller-blocks",
    "unroll_graph": "--unroll",
    "wider_loads": "--wider-loads",
}


def words_of(strategy):
    return WORDS.get(strategy, {strategy})


@functools.cache
def ask(command, *arguments):
    done = subprocess.run(
        [TOOL, command, "--format", "json", *arguments],
        capture_output=True,
        check=False,
        env=dict(os.environ, XDG_DATA_HOME="/nonexistent"),
    )
    if done.returncode:
        return {"error": done.stderr.decode().strip().split("\n")[-1]}
    return json.loads(done.stdout)


def gains(item):
    """Predicted speedups of the part or steady state, and of the whole run; None without a prediction."""
    part = item.get("steady") or item.get("place") or {}
    return part.get("speedup"), item.get("speedup")


def greatest_gain(item):
    return max(gain or 1 for gain in gains(item))


class Row:
    """A row of the labels with what the toolkit says of it."""

    def __init__(self, label, folder, scratch):
        self.label, self.scratch = label, pathlib.Path(scratch)
        self.name = label["run"]
        self.paths = {way: folder / f"{self.name}.{way}.roofline" for way in WAYS}
        self.paths = {way: path for way, path in self.paths.items() if path.exists()}
        self.accepted = {label["answer"]} | set(label["also_right"].split())
        self.flags = []
        self.way, self.advice = self.find_advice()

    def find_advice(self):
        """Of the first way that recommends a gain of what repeats, else of the first with advice for it."""
        found = {way: ask("advise", path) for way, path in self.paths.items()}
        for way, said in found.items():
            if "error" in said:
                self.flags.append(f"{way}: {said['error']}")
        found = {way: said.get("advice", []) for way, said in found.items()}
        repeated = {way: [item for item in advice if not item["once"]] for way, advice in found.items()}
        for is_enough in (lambda advice: advice and greatest_gain(advice[0]) > LEAST_GAIN, bool):
            for way, advice in repeated.items():
                if is_enough(advice):
                    return way, advice
        return next(iter(found), "none"), next(iter(found.values()), [])

    @property
    def first(self):
        """What is surely to be done first, as advice_first() has it, or None."""
        for index, item in enumerate(self.advice):
            if item["once"]:
                return None
            if not item["unsure"] and (index == 0 or item["speedup"]):
                return item
        return None

    def says_nothing(self):
        """Whether there is no first advice, or it says that there is little to gain or that kernels are at
        their roof, or claims too little to act upon."""
        first = self.first
        if first and (first["minor"] or first["at_roof"]):
            return True
        return first is None or (greatest_gain(first) <= LEAST_GAIN and not first["at_stake_ns"])

    def verdict(self):
        """agrees, also, asks, no; of a control whether it was left alone."""
        if self.label["answer"] == "leave" and self.says_nothing():
            return "agrees"
        first = self.first
        if first is None:
            return "also" if "leave" in self.accepted else "asks" if self.asks_for_counters() else "no"
        if self.label["answer"] in words_of(first["strategy"]):
            return "agrees"
        return "also" if words_of(first["strategy"]) & self.accepted else "no"

    def asks_for_counters(self):
        """Whether each recording leads to what the label's answer is told by, and none has it."""
        wanted = NEEDS_COUNTERS.get(self.label["answer"])
        steps = [step for path in self.paths.values() for step in ask("advise", path).get("next", [])]
        asked = [step["command"] for step in steps if step["id"] in ("counters", "apart")]
        is_counted = wanted == "roofline" and "counters" in self.paths
        return bool(wanted and asked and not is_counted)

    def is_dead_end(self):
        said = [ask("advise", path) for path in self.paths.values()]
        if any(one.get("advice") or one.get("next") for one in said):
            return False
        return not any("roof" in json.dumps(one.get("verdict", "")) for one in said)

    def unexplained(self):
        """The recordings of which nothing is predicted, with the reason."""
        for way, path in self.paths.items():
            for row in ask("advise", path).get("rejected", []):
                if row["strategy"] == "predictions":
                    yield f"{self.name}, {way}: {row['reason']}"

    def find_impossible(self):
        for way, path in self.paths.items():
            devices = ask("report", path).get("devices") or []
            bound = max((one["wall_ns"] / one["busy_ns"] for one in devices if one["busy_ns"]), default=None)
            for item in ask("advise", path).get("advice", []):
                gain = item.get("speedup")
                if bound and gain and item["strategy"] in SHORTENS_NOTHING and gain > 1.01 * bound:
                    yield f"{way}: {item['strategy']} {gain:.2f}x of at most {bound:.2f}x"

    @functools.cache
    def kernel_times(self):
        """Start and end of every kernel of the trace, in the order in which they began."""
        if "trace" not in self.paths:
            return []
        with tempfile.TemporaryDirectory() as scratch:
            unpacked = pathlib.Path(scratch) / "recording"
            subprocess.run([TOOL, "unpack", "-o", unpacked, self.paths["trace"]], check=True)
            rows = []
            for path in unpacked.rglob("kernels.csv"):
                with open(path, newline="", encoding="utf-8") as file:
                    rows += [(int(row["start_ns"]), int(row["end_ns"])) for row in csv.DictReader(file)]
        return sorted(rows)

    def what_if(self):
        """What whatif says of the change that was made; {} where it predicts nothing."""
        option, path = OPTIONS.get(self.label["change"]), self.paths.get("trace")
        if self.label["change"] in BOUND_BY_COUNTERS and "counters" in self.paths:
            path = self.joined
        said = ask("whatif", option, path) if option and path else {}
        return said if (said.get("place") or {}).get("speedup") else {}

    @functools.cached_property
    def joined(self):
        """Trace and counters as the two runs of one recording, as analyze makes them."""
        folder = self.scratch / f"{self.name}.joined"
        for way, run in RUNS.items():
            unpacked = self.scratch / f"{self.name}.{way}"
            subprocess.run([TOOL, "unpack", "-o", unpacked, self.paths[way]], check=True)
            for process in unpacked.iterdir():
                folder.mkdir(exist_ok=True)
                moved = shutil.move(process, folder / process.name)
                with open(pathlib.Path(moved) / "process.csv", "a", encoding="utf-8") as file:
                    file.write(f"run,{run}\n")
        return folder

    def is_up_to(self):
        """Whether the low end is told first, as no recording tells whether what it assumes holds."""
        return bool(self.what_if().get("up_to"))

    @functools.cached_property
    def pauses_ns(self):
        """Long pauses from kernel to kernel: of the host, or of another process."""
        times = self.kernel_times()
        pauses = (after - end for (_, end), (after, _) in zip(times, times[1:]))
        return sum(pause for pause in pauses if pause > LONG_PAUSE_NS)

    @functools.cached_property
    def kernels_ns(self):
        return sum(end - start for start, end in self.kernel_times())

    def does_other_work(self, rows):
        """Kernels of the row with a change that leaves them alone are not those of this one."""
        after = rows.get(self.label["improved"])
        changes_host = self.label["change"] in SHORTENS_NOTHING | {"pinned_memory"}
        if not changes_host or not after or not self.kernels_ns:
            return False
        return abs(after.kernels_ns / self.kernels_ns - 1) > OTHER_KERNELS

    def compared(self, rows):
        """What verify says of the row with the change; None without one."""
        after = rows.get(self.label["improved"])
        if "trace" not in self.paths or not after or "trace" not in after.paths:
            return None
        return ask("verify", self.paths["trace"], after.paths["trace"], "--force")

    def steady_change(self, rows):
        """Of the steady state, where both have one; None where their iterations are not the same."""
        steady = (self.compared(rows) or {}).get("steady") or {}
        return steady.get("measured")

    def span_ns(self, rows):
        """From the first kernel to the last one, without long pauses."""
        return (self.compared(rows) or {}).get("compared", {}).get("before_kernels_ns", 0) - self.pauses_ns

    def measured_change(self, rows):
        after = rows[self.label["improved"]]
        after_ns = self.compared(rows).get("compared", {}).get("after_kernels_ns")
        if not after_ns:
            return self.steady_change(rows) or None
        return self.steady_change(rows) or self.span_ns(rows) / (after_ns - after.pauses_ns)

    def measured(self, rows):
        change = self.label["improved"]
        if not change or "trace" not in self.paths:
            return None
        if not change.startswith("kernel:"):
            return self.measured_change(rows) if self.compared(rows) else None
        kernels = ask("report", self.paths["trace"]).get("kernels") or []
        means = []
        for pattern in change[len("kernel:") :].split(">"):
            found = [one for one in kernels if re.search(pattern, one["name"])]
            count = sum(one["count"] for one in found)
            means.append(sum(one["total_ns"] for one in found) / count if count else 0)
        return means[0] / means[1] if len(means) == 2 and all(means) else None

    def predicted(self, rows):
        """What whatif says of the change that was made, of what is measured; with its interval."""
        if "trace" not in self.paths:
            return None
        said = self.what_if()
        steady, place = said.get("steady") or {}, said.get("place") or {}
        ends = ("speedup", "low", "high")
        if steady.get("speedup") and self.steady_change(rows):
            return [steady[end] for end in ends]
        if not place.get("speedup"):
            return None
        return [saved_of_span(self.span_ns(rows), place, place[end]) for end in ends]


def saved_of_span(span_ns, place, gain):
    """A place's gain as one of the time from the first kernel to the last, which may have less or more in it.
    Without end where all of that may go."""
    left_ns = span_ns - (place["before_ns"] - place["before_ns"] / gain)
    return span_ns / left_ns if 0 < left_ns else math.inf


def text_of(gain):
    return "-" if not gain else "any" if math.isinf(gain) else f"{gain:.2f}x"


def runs_of(path):
    """Lines of record.sh's table by run and way."""
    if not path:
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["run"], row["way"]): row for row in csv.DictReader(file, delimiter="\t")}


def failed_runs(runs):
    """Recorded runs that end or speak otherwise than the bare one, in a line each."""
    for (run, way), row in runs.items():
        bare = runs.get((run, "bare"))
        if not bare or way in ("bare", "left"):
            continue
        if row["exit"] != bare["exit"]:
            words = re.sub(r"/\S*/", "", row["last_words"])  # paths of that machine
            yield f"{run}, {way}: exit {row['exit']} instead of {bare['exit']}: {words}"
        elif row["same_words"] == "no":
            yield f"{run}, {way}: says other words than bare"


def unpack_archives(folder, scratch):
    for archive in sorted(folder.glob("recordings.*.tar")):
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
    return scratch if any(scratch.iterdir()) else folder


LAYOUT = "{:38} {:18} {:20} {:9} {:8} {:8} {:8} {:8} {:9} {}"


def print_row(row, rows):
    verdict, measured = row.verdict(), row.measured(rows)
    first = row.first
    part, whole = gains(first) if first else (None, None)
    marks = list(row.flags)
    marks += [f"impossible: {one}" for one in row.find_impossible()]
    if row.is_dead_end():
        marks.append("dead end")
    if verdict in ("asks", "no"):
        marks.append(row.label["why"])
    print(
        LAYOUT.format(
            row.name[:38],
            row.label["answer"],
            first["strategy"] if first else "none",
            row.way,
            verdict,
            text_of(part),
            text_of(whole),
            row.label["gain"],
            text_of(measured),
            "; ".join(marks),
        ).rstrip()
    )


WORDS_OF_VERDICTS = {"agrees": "agrees", "also": "also right", "asks": "asks for counters", "no": "no"}


def percent(count, total):
    return f"{count} of {total}" + (f" ({100 * count / total:.0f}%)" if total else "")


def print_gains(rows):
    """Predicted against measured, of rows that have both."""
    found, others = [], []
    for row in rows.values():
        measured, predicted = row.measured(rows), row.predicted(rows)
        if measured and predicted:
            (others if row.does_other_work(rows) else found).append((row, measured, predicted))
    titles = ("predicted against measured", "measured", "predicted", "interval", "off")
    print("\n{:38} {:>9} {:>10} {:>19} {:>6}".format(*titles))
    for row, measured, (gain, low, high) in found:
        off = f"{100 * (gain / measured - 1):+.0f}%"
        interval = f"{text_of(low)} to {text_of(high)}"
        line = f"{row.name[:38]:38} {text_of(measured):>9} {text_of(gain):>10} {interval:>19} {off:>6}"
        print(f"{line}  {'up to  ' if row.is_up_to() else ''}{row.label.get('differs') or ''}".rstrip())
    for row, measured, _ in others:
        print(f"{row.name[:38]:38} {text_of(measured):>9} {'another work':>10}")
    all_measured = sum(row.measured(rows) is not None for row in rows.values())
    print(f"\ngain measured for {all_measured} rows, predicted for {len(found)} of them")
    print_hits("", found)
    print_hits(", of those that are not told as 'up to'", [one for one in found if not one[0].is_up_to()])
    alike = [one for one in found if not one[0].label.get("differs")]
    print_hits(", of those whose change is no other", alike)


def print_hits(words, found):
    near = sum(abs(gain / measured - 1) <= 0.25 for _, measured, (gain, _, _) in found)
    inside = sum(low <= measured <= high for _, measured, (_, low, high) in found)
    shares = f"{percent(near, len(found))}; inside the interval: {percent(inside, len(found))}"
    print(f"within 25%{words}: {shares}")


def print_totals(rows):
    by_verdict = {"agrees": 0, "also": 0, "asks": 0, "no": 0}
    controls = [row for row in rows.values() if row.label["answer"] == "leave"]
    for row in rows.values():
        by_verdict[row.verdict()] += 1
    left = sum(row.verdict() == "agrees" for row in controls)
    accepted = sum(row.verdict() == "also" for row in controls)
    changes = [row for row in rows.values() if row.label["answer"] != "leave"]
    right = sum(row.verdict() != "no" for row in rows.values())
    answers = "agrees with the label, is accepted, or asks for the counters that it needs"
    print(f"\nfirst advice {answers}: {percent(right, len(rows))}")
    print("  " + ", ".join(f"{words}: {by_verdict[verdict]}" for verdict, words in WORDS_OF_VERDICTS.items()))
    print(f"  without those that ask for counters: {percent(right - by_verdict['asks'], len(rows))}")
    agreed = sum(row.verdict() == "agrees" for row in changes)
    print(f"  of programs with something to change, the label's own answer: {percent(agreed, len(changes))}")
    print(f"controls left alone: {percent(left, len(controls))}; of {accepted} more the advice is also right")
    print(f"impossible predictions: {sum(len(list(row.find_impossible())) for row in rows.values())}")
    print(f"dead ends: {sum(row.is_dead_end() for row in rows.values())}")
    print_explained(rows)


def print_explained(rows):
    count = sum(len(row.paths) for row in rows.values())
    reasons = [reason for row in rows.values() for reason in row.unexplained()]
    print(f"explained by the replay: {percent(count - len(reasons), count)} recordings")
    for reason in reasons:
        print(f"  {reason}")


def main(folder, runs_path=None, rows_folder=ROOT / "tests/corpus"):
    with tempfile.TemporaryDirectory() as recordings, tempfile.TemporaryDirectory() as joined:
        folder = unpack_archives(pathlib.Path(folder), pathlib.Path(recordings))
        with open(pathlib.Path(rows_folder) / "labels.csv", newline="", encoding="utf-8") as file:
            labels = list(csv.DictReader(file))
        rows = {label["run"]: Row(label, folder, joined) for label in labels}
        missing = [name for name, row in rows.items() if not row.paths]
        rows = {name: row for name, row in rows.items() if row.paths}
        titles = ("run", "label", "first advice", "of", "right", "part", "whole", "label's", "measured", "")
        print(LAYOUT.format(*titles).rstrip())
        for row in rows.values():
            print_row(row, rows)
        print_gains(rows)
        print_totals(rows)
        if missing:
            print(f"not recorded: {', '.join(missing)}")
        for line in failed_runs(runs_of(runs_path)):
            print(line)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
