#!/usr/bin/env python3
"""What samples say of device-launched work against what the kernels stamped themselves.

    device_work.py ROOFLINECTL RECORDING STAMPS

Prints one line: how many launches from the device there were, how many were found, how many bursts
are false, and the errors of start and length.  Exits 1 when the figures that are asked for
(docs/results/device-work.txt) are missed.

Truth: kernels of two blocks or more that the device launched.  Those that overlap, or follow each other
within half a sample, are one, because samples see the whole GPU; kernels of one block cannot be told
from those that launching takes.  Two that follow each other within about a sample may share a burst: both are
found, and start and length of neither are close.  A burst is false when nothing that the device launched
ran during it.

The stamps' clock differs from that of records and samples by a constant, which host-launched kernels
tell: their records reach as far before the first stamp as behind the last.
"""
import bisect
import csv
import glob
import statistics
import subprocess
import sys

LEAST_NS = 3000  # launches that have to be found
CLOSE_NS = 2000  # error of start and length that is allowed
CLOSE_SHARE = 0.95
FALSE_SHARE = 0.01
APART_NS = 500  # half a sample: kernels that follow each other sooner cannot be told apart


def read_stamps(path):
    with open(path, newline="") as file:
        return [(row["what"], int(row["start_ns"]), int(row["end_ns"]), int(row["blocks"]))
                for row in csv.DictReader(file)]


def read_table(recording, table):
    rows = []
    for path in glob.glob(f"{recording}/*/{table}.csv"):
        with open(path, newline="") as file:
            rows += [{key: value for key, value in row.items()} for row in csv.DictReader(file)]
    return rows


def records(recording):
    """Starts and ends of everything that the host launched."""
    rows = [(int(row["start_ns"]), int(row["end_ns"])) for row in read_table(recording, "kernels")]
    rows += [(int(row["start_ns"]), int(row["end_ns"]))
             for row in read_table(recording, "graphs") if row["launch_mode"] == "0"]
    return sorted(rows)


def find_offset(recorded, host):
    """Nanoseconds to add to a stamp."""
    starts = [start for start, _ in recorded]
    best = (0, 0)
    for start, _ in recorded[:50]:
        for stamp, _ in host[:20]:
            offset = start - stamp
            if abs(offset) > 10_000_000:
                continue
            hits = 0
            for known, _ in host[:300]:
                at = bisect.bisect_left(starts, known + offset - 1500)
                hits += at < len(starts) and starts[at] <= known + offset + 1500
            best = max(best, (hits, offset))
    pairs = []
    for start, end in host:
        at = bisect.bisect_left(starts, start + best[1] - 1500)
        if at < len(starts) and starts[at] <= start + best[1] + 1500:
            pairs.append((recorded[at][0] - start, recorded[at][1] - end))
    if not pairs:
        sys.exit("no kernel of the recording was stamped")
    first = statistics.median(pair[0] for pair in pairs)
    last = statistics.median(pair[1] for pair in pairs)
    return round((first + last) / 2) if abs(first - last) < 3000 else first + 500


def sampled(recording):
    return sorted((int(row["start_ns"]), int(row["end_ns"]), 0)
                  for row in read_table(recording, "sampled_spans"))


def is_sampled(spans, start, end):
    return any(first <= start and end <= last for first, last, _ in spans)


def merge(spans):
    """Spans (start, end, blocks) that touch become one; blocks add up."""
    merged = []
    for start, end, blocks in sorted(spans):
        if merged and start <= merged[-1][1] + APART_NS:
            merged[-1][1] = max(merged[-1][1], end)
            merged[-1][2] += blocks
        else:
            merged.append([start, end, blocks])
    return merged


def main():
    tool, recording, stamps_path = sys.argv[1:4]
    stamps = read_stamps(stamps_path)
    host = sorted((start, end) for what, start, end, _ in stamps if what == "host")
    offset = find_offset(records(recording), host)
    spans = merge(sampled(recording))
    device = [(start + offset, end + offset, blocks) for what, start, end, blocks in stamps
              if what == "device"]
    truth = [(start, end) for start, end, _ in merge(span for span in device if span[2] >= 2)
             if is_sampled(spans, start, end)]
    text = subprocess.run([tool, "report", recording, "--format", "csv", "--section", "bursts"],
                          check=True, capture_output=True, text=True).stdout
    bursts = sorted((int(row["start_ns"]), int(row["end_ns"]))
                    for row in csv.DictReader(text.splitlines()))
    long = [span for span in truth if span[1] - span[0] >= LEAST_NS]
    found, close = 0, 0
    start_errors, length_errors = [], []
    for start, end in long:
        best, best_overlap = None, 0
        for number, (first, last) in enumerate(bursts):
            overlap = min(end, last) - max(start, first)
            if overlap > best_overlap:
                best, best_overlap = number, overlap
        if best is None:
            continue
        found += 1
        first, last = bursts[best]
        start_errors.append(abs(first - start))
        length_errors.append(abs((last - first) - (end - start)))
        close += start_errors[-1] <= CLOSE_NS and length_errors[-1] <= CLOSE_NS
    false = sum(1 for first, last in bursts
                if not any(first < end + CLOSE_NS and start - CLOSE_NS < last
                           for start, end, _ in device))
    median = lambda errors: f"{statistics.median(errors):.0f}" if errors else "-"
    worst = lambda errors: f"{max(errors):.0f}" if errors else "-"
    print(f"launched {len(device)} apart {len(truth)} long {len(long)} found {found} "
          f"close {close} bursts {len(bursts)} false {false} "
          f"start error median {median(start_errors)} worst {worst(start_errors)} ns, "
          f"length error median {median(length_errors)} worst {worst(length_errors)} ns")
    ok = (found == len(long) and close >= CLOSE_SHARE * len(long) and
          false <= FALSE_SHARE * max(len(bursts), 1))
    sys.exit(0 if ok else 1)


main()
