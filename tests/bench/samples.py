#!/usr/bin/env python3
"""What more samples of the same operations cost a report: time for each, and memory.

usage: samples.py [SAMPLE_NS...]; 300 30 3 unless named.  tests/tools/make_trace writes 165,000 kernels with a
call each, and samples of so many nanoseconds beside them: about 1, 10 and 100 million rows.  Where OVERLAP is
set, two processes sampled the GPU.  REPEATS (3) names the runs of each, in turn; medians.  Recordings and
what the report keeps of samples lie in TMPDIR: 13 GB together.
"""
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
REPEATS = int(os.environ.get("REPEATS", "3"))
KERNELS = 165000


def make(folder, sample_ns):
    """Returns how many rows of samples it has."""
    subprocess.run([f"{BUILD}/tests/tools/make_trace", folder, str(KERNELS), str(sample_ns)], check=True,
                   stdout=subprocess.DEVNULL)
    if os.environ.get("OVERLAP"):
        first = glob.glob(f"{folder}/host.*")[0]
        shutil.copytree(first, f"{folder}/host.4243")
    count = 0
    for name in glob.glob(f"{folder}/*/samples.csv"):
        with open(name, "rb") as file:
            while block := file.read(1 << 24):
                count += block.count(b"\n")
    return count


def measure(folder):
    """Seconds, processor seconds and MB of one run."""
    start = time.time()
    process = subprocess.Popen([f"{BUILD}/bin/rooflinectl", "report", "--format", "json", folder],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"report on {folder} ended with status {status}")
    return time.time() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    sizes = [int(size) for size in sys.argv[1:]] or [300, 30, 3]
    figures = {size: [] for size in sizes}
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            rows[size] = make(f"{folder}/{size}", size)
        for _ in range(REPEATS):
            for size in sizes:
                figures[size].append(measure(f"{folder}/{size}"))
    print(f"report --format json on samples of {KERNELS} kernels, medians of {REPEATS}")
    print(f"{'samples':>12s} {'seconds':>9s} {'processor':>10s} {'ns_each':>8s} {'peak_MB':>8s}")
    for size in sizes:
        seconds, processor, megabytes = (statistics.median(column) for column in zip(*figures[size]))
        each_ns = processor / rows[size] * 1e9
        print(f"{rows[size]:12d} {seconds:9.2f} {processor:10.2f} {each_ns:8.0f} {megabytes:8.0f}")


if __name__ == "__main__":
    main()
