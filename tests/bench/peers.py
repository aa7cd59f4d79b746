#!/usr/bin/env python3
"""How long a report takes beside DuckDB, which reads the same CSV.

usage: peers.py [QUESTION]; of kernels ('report --section kernels', and DuckDB answers the same) and whole
(all analyses and advice as JSON, and DuckDB loads kernels and calls into tables).  KERNELS (10000000) names
the size of the recording, which tests/tools/make_trace writes, REPEATS (5) the runs of each, one after the
other in turn, so that a slow moment falls on both.  Medians of the time, of processor seconds, which other
work on the machine changes less, and of memory.  Needs Python's duckdb (pip install duckdb).
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
KERNELS = os.environ.get("KERNELS", "10000000")
REPEATS = int(os.environ.get("REPEATS", "5"))
# What the section has of each kernel.
KERNELS_QUERY = """
import duckdb
print(duckdb.sql('''
    select names.text, count(*), sum(ns) as total_ns, avg(ns), min(ns), max(ns),
           quantile_disc(ns, 0.5), quantile_disc(ns, 0.99), count(distinct signature)
    from (select signature, end_ns - start_ns as ns from '{folder}/kernels.csv') as kernels
    join '{folder}/signatures.csv' as signatures on kernels.signature = signatures.id
    join '{folder}/names.csv' as names on signatures.name = names.id
    group by names.text order by total_ns desc''').fetchall())
"""
LOADING = """
import duckdb
duckdb.sql("create table kernels as select * from '{folder}/kernels.csv'")
duckdb.sql("create table api as select * from '{folder}/api.csv'")
"""
# Measured ceilings, of whatever GPU: without some nothing is predicted.
CEILINGS = sorted(glob.glob(f"{ROOT}/ceilings/NVIDIA_H200*.json"))[0]
QUESTIONS = {
    "kernels": ("kernels by time", ["--section", "kernels"], KERNELS_QUERY),
    "whole": ("all analyses and advice, beside loading", ["--format", "json", "--ceilings", CEILINGS],
              LOADING),
}


def measure(command):
    """Seconds, processor seconds and MB of one run."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status:
        sys.exit(f"{command[0]} failed")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    title, options, query = QUESTIONS[sys.argv[1] if len(sys.argv) > 1 else "kernels"]
    folder = tempfile.mkdtemp()
    try:
        subprocess.run([f"{BUILD}/tests/tools/make_trace", folder, KERNELS], check=True,
                       stdout=subprocess.DEVNULL)
        commands = {"rooflinectl": [f"{BUILD}/bin/rooflinectl", "report", *options, folder],
                    "duckdb": [sys.executable, "-c", query.format(folder=f"{folder}/host.4242")]}
        runs = {name: [] for name in commands}
        for _ in range(REPEATS):
            for name, command in commands.items():
                runs[name].append(measure(command))
    finally:
        shutil.rmtree(folder)
    medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in runs.items()}
    print(f"{title}, of a recording of {KERNELS}, medians of {REPEATS}")
    print(f"{'':14s} {'seconds':>9s} {'processor':>10s} {'peak_MB':>9s}")
    for name, median in medians.items():
        print(f"{name:14s} {median[0]:9.2f} {median[1]:10.2f} {median[2]:9.0f}")
    ratios = [ours / theirs for ours, theirs in zip(medians["rooflinectl"], medians["duckdb"])]
    print(f"{'ratio':14s} {ratios[0]:9.2f} {ratios[1]:10.2f} {ratios[2]:9.2f}")


if __name__ == "__main__":
    main()
