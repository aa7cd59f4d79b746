#!/usr/bin/env python3
"""What lies between operations of a stream that were queued, as CUPTI stamps them.

    tests/bench/stamped_gaps.py > docs/results/stamped-gaps.txt

Needs no GPU: of each recording of tests/recordings and tests/pairs the median, by what the first
operation and the next one are, where at least LEAST of them were queued; then the quantiles of these
medians.  Queued was what was submitted 5 us before the operation before it ended, a copy behind a kernel
1 us.  What the analyzer takes where nothing is queued in a recording (analyzer/replay/latencies.c) is
their middle.

Then what lies between a kernel and a copy to the host whose call began while it ran, by how long it ran on
from there, in all these recordings and those of tests/corpus/unseen2: where that is about as long as the call
needs to submit the copy, it begins either at once or as one that was queued does.
"""

import collections
import csv
import os
import pathlib
import statistics
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
LEAST = 10
QUEUED_NS, COPY_QUEUED_NS = 5000, 1000
MOST_NS = 20_000  # more than that waited for something else
RUNS_ON_MOST_US = 12
TABLES = ["kernels.csv", "copies.csv", "memsets.csv", "graphs.csv"]
HOST_COPIES = ("1", "2")  # from the host, and to it: what runs on the GPU alone is like a kernel


def rows_of(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def operations(folder):
    """By stream: start, end, kind, call."""
    streams = collections.defaultdict(list)
    for table in TABLES:
        for row in rows_of(folder / table):
            if row.get("start_ns"):
                kind = "copy" if table == "copies.csv" and row["kind"] in HOST_COPIES else "kernel"
                stream = row.get("device"), row.get("context"), row.get("stream")
                streams[stream].append((int(row["start_ns"]), int(row["end_ns"]), kind, row["correlation"]))
    return [sorted(one) for one in streams.values()]


def kind_of(before, after, graphs):
    if before[3] in graphs:
        return "after a graph"
    return f"{before[2]} to {after[2]}"


def gaps_of(folder):
    names = {row["id"]: row["text"] for row in rows_of(folder / "names.csv")}
    calls = {row["correlation"]: row for row in rows_of(folder / "api.csv")}
    graphs = {key for key, call in calls.items() if "GraphLaunch" in names[call["name"]]}
    found = collections.defaultdict(list)
    for stream in operations(folder):
        for before, after in zip(stream, stream[1:]):
            if before[3] == after[3] or after[3] not in calls or before[3] not in calls:
                continue
            kind = kind_of(before, after, graphs)
            queued_ns = COPY_QUEUED_NS if kind == "kernel to copy" else QUEUED_NS
            gap_ns = after[0] - before[1]
            if before[1] > int(calls[after[3]]["end_ns"]) + queued_ns and gap_ns < MOST_NS:
                found[kind].append(gap_ns)
    return found


def copies_behind(folder, found):
    """found, by whole us that the kernel ran on: what lay between the two."""
    names = {row["id"]: row["text"] for row in rows_of(folder / "names.csv")}
    calls = {row["correlation"]: row for row in rows_of(folder / "api.csv")}
    to_host = {row["correlation"] for row in rows_of(folder / "copies.csv") if row["kind"] == "2"}
    for stream in operations(folder):
        for before, after in zip(stream, stream[1:]):
            call = calls.get(after[3])
            if before[2] != "kernel" or after[3] not in to_host or not call or "Async" in names[call["name"]]:
                continue
            on_us = (before[1] - int(call["start_ns"])) // 1000
            if 0 <= on_us < RUNS_ON_MOST_US and after[0] - before[1] < MOST_NS:
                found[on_us].append(after[0] - before[1])


def main():
    medians = collections.defaultdict(list)
    behind = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        found = [sorted(ROOT.glob(f"tests/{folder}/*.roofline")) for folder in ("recordings", "pairs")]
        with tarfile.open(ROOT / "tests/corpus/unseen2/recordings.1.tar") as tar:
            tar.extractall(scratch, filter="data")
        for path in found[0] + found[1] + sorted(pathlib.Path(scratch).glob("*.roofline")):
            target = pathlib.Path(scratch) / f"{path.parent.name}.{path.stem}"
            subprocess.run([TOOL, "unpack", "-o", target, path], check=True, capture_output=True)
            for folder in {api.parent for api in target.rglob("api.csv")}:
                copies_behind(folder, behind)
                if path.parent == pathlib.Path(scratch):
                    continue
                for kind, gaps in gaps_of(folder).items():
                    if len(gaps) >= LEAST:
                        medians[kind].append(statistics.median(gaps))
    print(f"{'ns':16}{'recordings':>12}{'p10':>8}{'middle':>8}{'p90':>8}")
    for kind, found in sorted(medians.items()):
        tenths = statistics.quantiles(found, n=10)
        print(f"{kind:16}{len(found):12}{tenths[0]:8.0f}{statistics.median(found):8.0f}{tenths[-1]:8.0f}")
    print(f"\n{'kernel runs on':16}{'copies':>12}{'p10':>8}{'middle':>8}{'p90':>8}")
    for on_us, found in sorted(behind.items()):
        tenths = statistics.quantiles(found, n=10) if len(found) > 1 else found * 9
        middle, span = statistics.median(found), f"{on_us:3} to {on_us + 1:2} us"
        print(f"{span:16}{len(found):12}{tenths[0]:8.0f}{middle:8.0f}{tenths[-1]:8.0f}")


if __name__ == "__main__":
    main()
