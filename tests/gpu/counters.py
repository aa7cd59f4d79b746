#!/usr/bin/env python3
"""What a recording's counters say, beside what they should be.

  counters.py known EXPECTED.csv RECORDING [exact]
                                                counts worked out by hand: kernel,metric,expected;
                                                exact: bytes, which depend on caches, are not judged
  counters.py same RECORDING RECORDING...   the values of several recordings
  counters.py ncu NCU.csv RECORDING             Nsight Compute's values of the same launches

Values are medians over the launches of one kernel and grid.  Counts of instructions, of operations and of
atomics have to be equal; bytes within 2%, where a launch moves more than an L2 cache holds (50 MB).  Requests
to L2 within 5%: which half of a Hopper's L2 an address belongs to changes from run to run, and requests that
pass both halves count twice.  Prints a table and, last, how many
values disagree; the exit code is 1 when some do.
"""

import collections
import csv
import glob
import os
import statistics
import sys

L2_BYTES = 50e6
TOLERANCE = 0.02
REQUESTS_TOLERANCE = 0.05
LOOSE = ("_bytes", "cycles", "percent", "requests", "sectors")  # of these only some have to agree


def rows(folder, table):
    with open(os.path.join(folder, table + ".csv"), newline="") as file:
        return list(csv.DictReader(file))


def read_process(folder, values):
    """Adds values of one process to values[kernel, grid][role or counter]."""
    names = {row["id"]: row["text"] for row in rows(folder, "names")}
    shapes = {
        row["id"]: (names[row["name"]], int(row["grid_x"]) * int(row["grid_y"]) * int(row["grid_z"]))
        for row in rows(folder, "signatures")
    }
    launches = {row["correlation"]: shapes[row["signature"]] for row in rows(folder, "kernels")}
    metrics = {row["id"]: (row["role"], names.get(row["name"], "")) for row in rows(folder, "metrics")}
    counted = {row["id"]: row for row in rows(folder, "counted") if row["is_graph"] == "0"}
    parts = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows(folder, "counters"):
        launch = counted.get(row["counted"])
        if launch and launch["like"] in launches:
            parts[launches[launch["like"]]][metrics[row["metric"]]].append(float(row["value"]))
    for shape, of_metric in parts.items():
        for metric, samples in of_metric.items():
            values[shape][metric].extend(samples)


def read_recording(path):
    """{(kernel, grid): {(role, counter): median}}, and the number of samples alike."""
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    for folder in glob.glob(os.path.join(path, "*", "")):
        read_process(folder, values)
    return values


def by_role(of_metric):
    """Counters that answer one role are added."""
    roles = collections.defaultdict(float)
    for (role, counter), samples in of_metric.items():
        roles[role or counter] += statistics.median(samples)
    return roles


class Table:
    def __init__(self):
        self.lines, self.wrong = [], 0

    def add(self, kernel, metric, wanted, got, must_agree=True, exact=False):
        apart = abs(got - wanted) / wanted if wanted else (0 if got == wanted else float("inf"))
        verdict = "equal" if got == wanted else f"{100 * apart:.2f}%"
        limit = REQUESTS_TOLERANCE if metric.endswith("_requests") else TOLERANCE
        is_wrong = must_agree and (got != wanted if exact else not apart <= limit)
        self.wrong += is_wrong
        self.lines.append((kernel, metric, f"{wanted:.10g}", f"{got:.10g}",
                           verdict + (" WRONG" if is_wrong else "" if must_agree else " (not judged)")))

    def show(self, wanted, got):
        lines = [("kernel", "metric", wanted, got, "apart")] + self.lines
        widths = [max(len(line[i]) for line in lines) for i in range(5)]
        for line in lines:
            print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())
        print(f"{len(self.lines)} values, {self.wrong} wrong")
        return 1 if self.wrong or not self.lines else 0


def base_name(kernel):
    return kernel.split("(")[0].split("<")[0].split("::")[-1]


def is_exact(metric):
    return not any(metric.endswith(ending) or ending in metric for ending in LOOSE) or \
        metric == "atomic_unit_cycles"


def known(expected_path, recording, only_exact=False):
    found = {base_name(shape[0]): by_role(metrics) for shape, metrics in read_recording(recording).items()}
    table = Table()
    with open(expected_path, newline="") as file:
        for row in csv.DictReader(file):
            metric = row["metric"].removesuffix("_instructions") \
                if row["metric"].startswith("fp") else row["metric"]
            got = found.get(row["kernel"], {}).get(metric)
            is_bytes = "bytes" in metric
            table.add(row["kernel"], metric, float(row["expected"]),
                      float("nan") if got is None else got,
                      must_agree=not (only_exact and is_bytes),
                      exact=is_exact(metric) and not is_bytes)
    return table.show("expected", "counted")


def same(recordings):
    reference, *others = [read_recording(path) for path in recordings]
    table = Table()
    for shape in sorted(reference):
        wanted = by_role(reference[shape])
        for other in others:
            got = by_role(other.get(shape, {}))
            for metric in sorted(set(wanted) & set(got)):
                if metric == "range_ns":
                    continue
                judged = wanted[metric] > L2_BYTES if "bytes" in metric and metric != "shared_bytes" \
                    else is_exact(metric)
                table.add(f"{shape[0]} x{shape[1]}", metric, wanted[metric], got[metric],
                          must_agree=judged and not metric.startswith("stall"), exact=is_exact(metric))
    return table.show("first", "other")


def read_ncu(path):
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    for row in csv.DictReader(lines):
        grid = 1
        for part in row["Grid Size"].strip("()").split(","):
            grid *= int(part)
        scale = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}.get(row["Metric Unit"], 1)
        values[row["Kernel Name"], grid][row["Metric Name"]].append(
            float(row["Metric Value"].replace(",", "")) * scale)
    return values


def ncu(ncu_path, recording):
    theirs, ours = read_ncu(ncu_path), read_recording(recording)
    table = Table()
    for shape in sorted(set(theirs) & set(ours)):
        for (role, counter), samples in sorted(ours[shape].items()):
            if counter not in theirs[shape] or len(theirs[shape][counter]) < 3:
                continue  # launched once or twice: not in the same state of the caches
            wanted = statistics.median(theirs[shape][counter])
            got = statistics.median(samples)
            is_bytes = "bytes" in counter
            judged = wanted > L2_BYTES if is_bytes else "sass" in counter or "requests" in counter
            table.add(f"{base_name(shape[0])} x{shape[1]}", role or counter, wanted, got,
                      must_agree=judged, exact="sass" in counter)
    return table.show("ncu", "ours")


def main():
    words = sys.argv[1:]
    if len(words) >= 3 and words[0] == "same":
        return same(words[1:])
    if len(words) == 3 and words[0] == "known":
        return known(*words[1:])
    if len(words) == 4 and words[0] == "known" and words[3] == "exact":
        return known(words[1], words[2], only_exact=True)
    if len(words) == 3 and words[0] == "ncu":
        return ncu(*words[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
