#!/usr/bin/env python3
"""How long a report takes beside other programs that read the same files.

usage: peers.py [QUESTION...]; all of them without one:

kernels  'report --section kernels' of our CSV; DuckDB and pandas answer the same
whole    all analyses and advice as JSON of our CSV; DuckDB and pandas load kernels and calls into tables
trace    all analyses of a Kineto trace, imported before; HTA tells kernels by time and causes of idle time
nsys     the same of the database that 'nsys export --type sqlite' wrote, $NSYS_DATABASE; $NSYS 'stats' tells
         kernels and calls by time

KERNELS (10000000; of trace TRACE_KERNELS, 200000) names the size of the recording, which
tests/tools/make_trace writes, REPEATS (5) the runs of each, one after the other in turn, so that a slow
moment falls on all.  Medians of the time, of processor seconds, which other work on the machine changes less,
and of memory; ratios are ours to theirs.  What is not installed is left out: pip install duckdb pandas
HolisticTraceAnalysis.
"""
import glob
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PROGRAM = f"{BUILD}/bin/rooflinectl"
KERNELS = os.environ.get("KERNELS", "10000000")
TRACE_KERNELS = os.environ.get("TRACE_KERNELS", "200000")
REPEATS = int(os.environ.get("REPEATS", "5"))
# Measured ceilings, of whatever GPU: without some nothing is predicted.
CEILINGS = sorted(glob.glob(f"{ROOT}/ceilings/NVIDIA_H200*.json"))[0]
EVERYTHING = ["--format", "json", "--ceilings", CEILINGS]

# What the section has of each kernel.
DUCKDB_KERNELS = """
import duckdb
duckdb.sql('set enable_progress_bar = false')
print(duckdb.sql('''
    select names.text, count(*), sum(ns) as total_ns, avg(ns), min(ns), max(ns),
           quantile_disc(ns, 0.5), quantile_disc(ns, 0.99), count(distinct signature)
    from (select signature, end_ns - start_ns as ns from '{folder}/kernels.csv') as kernels
    join '{folder}/signatures.csv' as signatures on kernels.signature = signatures.id
    join '{folder}/names.csv' as names on signatures.name = names.id
    group by names.text order by total_ns desc''').fetchall())
"""
PANDAS_KERNELS = """
import pandas
kernels = pandas.read_csv('{folder}/kernels.csv', usecols=['start_ns', 'end_ns', 'signature'])
signatures = pandas.read_csv('{folder}/signatures.csv', usecols=['id', 'name'])
names = pandas.read_csv('{folder}/names.csv', usecols=['id', 'text'])
kernels['ns'] = kernels.end_ns - kernels.start_ns
kernels['text'] = kernels.signature.map(signatures.set_index('id').name).map(names.set_index('id').text)
groups = kernels.groupby('text')
table = groups.ns.agg(['count', 'sum', 'mean', 'min', 'max', 'median', lambda ns: ns.quantile(0.99)])
table['signatures'] = groups.signature.nunique()
print(table.sort_values('sum', ascending=False))
"""
DUCKDB_TABLES = """
import duckdb
duckdb.sql('set enable_progress_bar = false')
duckdb.sql("create table kernels as select * from '{folder}/kernels.csv'")
duckdb.sql("create table api as select * from '{folder}/api.csv'")
"""
PANDAS_TABLES = """
import pandas
kernels, api = pandas.read_csv('{folder}/kernels.csv'), pandas.read_csv('{folder}/api.csv')
"""
HTA_TRACE = """
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={{0: '{trace}'}}, trace_dir='{within}')
print(trace.get_gpu_kernel_breakdown(visualize=False))
print(trace.get_idle_time_breakdown(ranks=[0], visualize=False))
"""


def python(module, text):
    """What Python runs; None where the module is not installed."""
    return [sys.executable, "-W", "ignore", "-c", text] if importlib.util.find_spec(module) else None


def make_recording(within, kernels):
    recording = f"{within}/recording"
    make = [f"{BUILD}/tests/tools/make_trace", recording, kernels]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    return recording, f"{recording}/host.4242"


def kernels(within):
    recording, folder = make_recording(within, KERNELS)
    return f"kernels by time, of {KERNELS}", {
        "rooflinectl": [PROGRAM, "report", "--section", "kernels", recording],
        "duckdb": python("duckdb", DUCKDB_KERNELS.format(folder=folder)),
        "pandas": python("pandas", PANDAS_KERNELS.format(folder=folder))}


def whole(within):
    recording, folder = make_recording(within, KERNELS)
    return f"all analyses and advice, beside loading, of {KERNELS} kernels", {
        "rooflinectl": [PROGRAM, "report", *EVERYTHING, recording],
        "duckdb": python("duckdb", DUCKDB_TABLES.format(folder=folder)),
        "pandas": python("pandas", PANDAS_TABLES.format(folder=folder))}


def import_and_report(within, file):
    made = f"{within}/imported"
    report = [PROGRAM, "report", *EVERYTHING, made]
    script = 'rm -rf "$1" && "$2" import -o "$1" "$3" && shift 3 && exec "$@"'
    return ["bash", "-c", script, "bash", made, PROGRAM, file, *report]


def trace(within):
    _, folder = make_recording(within, TRACE_KERNELS)
    file = f"{within}/trace.json"
    make = [sys.executable, f"{ROOT}/tests/tools/make_foreign.py", "kineto", folder, file]
    subprocess.run(make, check=True)
    return f"a Kineto trace of {TRACE_KERNELS} kernels", {
        "rooflinectl": import_and_report(within, file),
        "HTA": python("hta", HTA_TRACE.format(trace=file, within=within))}


def nsys(within):
    database, program = os.environ.get("NSYS_DATABASE"), os.environ.get("NSYS", "nsys")
    stats = [program, "stats", "--report", "cuda_gpu_kern_sum,cuda_api_sum", "--format", "csv", str(database)]
    is_there = database and shutil.which(program)
    return f"a database of Nsight Systems, {os.path.basename(database or '')}", {
        "rooflinectl": import_and_report(within, database) if is_there else None,
        "nsys stats": stats if is_there else None}


QUESTIONS = {"kernels": kernels, "whole": whole, "trace": trace, "nsys": nsys}


def measure(command):
    """Seconds, processor seconds and MB of one run."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def tell(title, medians):
    ours = medians["rooflinectl"]
    print(f"{title}, medians of {REPEATS}")
    print(f"{'':14s} {'seconds':>9s} {'processor':>10s} {'peak_MB':>9s} {'ratios':>8s}")
    for name, median in medians.items():
        print(f"{name:14s} {median[0]:9.2f} {median[1]:10.2f} {median[2]:9.0f}", end="")
        if name != "rooflinectl":
            print("".join(f" {our / their:8.2f}" for our, their in zip(ours, median)), end="")
        print()


def ask(question):
    with tempfile.TemporaryDirectory() as within:
        title, commands = QUESTIONS[question](within)
        left_out = [name for name in commands if not commands[name] and name != "rooflinectl"]
        commands = {name: command for name, command in commands.items() if command}
        runs = {name: [] for name in commands} if len(commands) > 1 else {}
        for _ in range(REPEATS):
            for name in runs:
                runs[name].append(measure(commands[name]))
    if runs:
        tell(title, {name: [statistics.median(part) for part in zip(*rows)] for name, rows in runs.items()})
    for name in left_out:
        print(f"{question}: {name} is not there: left out")


def main():
    for number, question in enumerate(sys.argv[1:] or QUESTIONS):
        if number:
            print()
        ask(question)


if __name__ == "__main__":
    main()
