#!/usr/bin/env python3
"""What a copy of pinned memory takes beyond its bytes at the rate of large ones.

    tests/bench/copy_sizes.py > docs/results/copy-sizes.txt

Needs no GPU: of the recordings of an H200 in tests/recordings and tests/corpus, but for those of
copy_overlap, whose predictions are judged, the median time of copies of a size, where at least LEAST were
recorded, without what their bytes take at h2d_pinned or d2h_pinned of the stored ceilings; and of each
direction the middle of these medians.  Larger copies than MOST_BYTES tell more of the rate than of the rest.
What the analyzer takes (analyzer/techniques/shared/lengths.c) is this middle, rounded.
"""

import collections
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import predictions
import stamped_gaps

sys.path.insert(0, str(predictions.ROOT / "tests" / "corpus"))
import score  # noqa: E402

GPU = "NVIDIA H200"
JUDGED = "copy_overlap"
LEAST = 10
MOST_BYTES = 1 << 22
DIRECTIONS = {"1": ("to the device", "h2d_pinned"), "2": ("to the host", "d2h_pinned")}
PAGEABLE = "1"


def rates():
    (path,) = (predictions.ROOT / "ceilings").glob(f"{GPU.replace(' ', '_')}-*.json")
    rows = json.loads(path.read_text())["ceilings"]
    return {key: next(r["value"] for r in rows if r["name"] == name) for key, (_, name) in DIRECTIONS.items()}


def is_meant(row):
    is_pinned = PAGEABLE not in (row["src_memory"], row["dst_memory"])
    is_alone = row.get("graph", "0") == "0"
    is_small = 0 < int(row["bytes"]) <= MOST_BYTES
    return row["kind"] in DIRECTIONS and is_pinned and is_alone and is_small


def times_of(folder):
    """Of each direction and size: what the copies of one process took."""
    found = collections.defaultdict(list)
    devices = stamped_gaps.rows_of(folder / "devices.csv")
    if any(device["name"] != GPU for device in devices):
        return found
    for row in stamped_gaps.rows_of(folder / "copies.csv"):
        if is_meant(row):
            found[row["kind"], int(row["bytes"])].append(int(row["end_ns"]) - int(row["start_ns"]))
    return found


def recordings(scratch):
    yield from (predictions.ROOT / "tests" / "recordings").glob("*.roofline")
    yield from score.unpack_archives(predictions.ROOT / "tests" / "corpus", scratch).glob("*.trace.roofline")


def rests():
    """By direction: size, and the median beyond its bytes, of each recording."""
    found, by_rate = collections.defaultdict(list), rates()
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(recordings(pathlib.Path(scratch)), key=lambda path: path.name):
            if path.name.startswith(JUDGED):
                continue
            folder = pathlib.Path(scratch) / f"{path.name}.folder"
            command = [predictions.TOOL, "unpack", "-o", folder, path]
            subprocess.run(command, check=True, capture_output=True)
            for process in (table.parent for table in folder.rglob("copies.csv")):
                for (kind, size), times in times_of(process).items():
                    if len(times) >= LEAST:
                        rest = statistics.median(times) - size / by_rate[kind] * 1e9
                        found[kind].append((size, path.name.split(".roofline")[0], len(times), rest))
    return found


def main():
    print(f"{'copies':14}{'bytes':>10}{'count':>7}{'rest, ns':>10}  recording")
    for kind, rows in sorted(rests().items()):
        for size, name, count, rest in sorted(rows):
            print(f"{DIRECTIONS[kind][0]:14}{size:>10}{count:>7}{rest:>10.0f}  {name}")
        middle = statistics.median(rest for *_, rest in rows)
        print(f"{DIRECTIONS[kind][0]:14}{'middle':>10}{'':7}{middle:>10.0f}  of {len(rows)}\n")


if __name__ == "__main__":
    os.nice(5)
    main()
