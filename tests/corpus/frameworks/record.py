#!/usr/bin/env python3
"""Runs every program of labels*.csv bare, recorded and improved, one after the other on a GPU.

    tests/corpus/frameworks/record.py OUT [ROUNDS]

OUT gets runs.tsv, a line for each run, and the packed recordings in recordings.N.tar, the first round first.
A round takes the three runs of a row one after the other, as the speed of a host varies; others import then.
With several GPUs each takes every n-th row.  Environment: BUILD (of rooflinectl), BUDGET_S (500): no round
of a row begins later, ONLY (a regular expression of runs), PIECE_MIB (15), PIECES (4), EACH_S (40) of a run.
"""

import concurrent.futures
import csv
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOL = pathlib.Path(os.environ.get("BUILD", HERE.parents[2] / "build")) / "bin" / "rooflinectl"
BUDGET_S = float(os.environ.get("BUDGET_S", "500"))
EACH_S = float(os.environ.get("EACH_S", "40"))
AHEAD = 3

runs = threading.Lock()


def read_labels():
    """Return the rows of all tables of labels."""
    wanted = re.compile(os.environ.get("ONLY", "."))
    rows = []
    for path in sorted(HERE.glob("labels*.csv")):
        with open(path, newline="", encoding="utf-8") as lines:
            rows += [row for row in csv.DictReader(lines) if wanted.search(row["run"])]
    return rows


def count_gpus():
    """Return how many GPUs there are."""
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return max(1, listed.stdout.count("GPU "))


class Waiting:
    """A program that has been started and waits for its line."""

    def __init__(self, row, way, gpu, folder):
        variant = row["improved"] if way == "improved" else row["variant"]
        command = [sys.executable, str(HERE / f"{row['program']}.py"), variant]
        if way == "recorded":
            command = [str(TOOL), "record", "-o", str(folder), "--", *command, row["steps"]]
        self.way = way
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
            env=dict(os.environ, WAITS="1", CUDA_VISIBLE_DEVICES=str(gpu), PYTHONPATH=str(HERE)))

    def finish(self):
        """Let it run; return its exit code, seconds, output and the last line of its errors."""
        start_s = time.monotonic()
        try:
            said, complained = self.process.communicate("\n", timeout=EACH_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            said, complained = self.process.communicate()
        seconds = time.monotonic() - start_s
        lines = complained.strip().splitlines() or [""]
        shown = next((line for line in reversed(lines) if "rooflinectl" not in line), "")
        return self.process.returncode, seconds, said, shown[:200].replace("\t", " ")


def figure(name, said):
    """Return a figure that a program prints, or a dash."""
    found = re.search(rf"^{name} (\S+)$", said, re.MULTILINE)
    return found.group(1) if found else "-"


def start(row, gpu, round_number, scratch):
    """Start the runs of a row; the recording first waits for its place."""
    ways = ["bare", "recorded"] + (["improved"] if row["improved"] else [])
    folder = scratch / f"{row['run']}.{round_number}"
    return [Waiting(row, way, gpu, folder) for way in ways]


def run_rows(gpu, rows, rounds, scratch, table, recorded, begin_s):
    """Run rows in turn on one GPU, while the next ones import."""
    turns = [(row, number) for number in range(1, rounds + 1) for row in rows]
    started = queue.Queue(maxsize=AHEAD)

    def start_ahead():
        for row, number in turns:
            if time.monotonic() - begin_s > BUDGET_S:
                break
            started.put((row, number, start(row, gpu, number, scratch)))
        started.put(None)

    threading.Thread(target=start_ahead, daemon=True).start()
    while (item := started.get()) is not None:
        row, number, programs = item
        for program in programs:
            code, seconds, said, complained = program.finish()
            with runs:
                print(row["run"], number, program.way, code, f"{seconds:.1f}", figure("us_per_step", said),
                      figure("value", said), complained, sep="\t", file=table, flush=True)
        recorded.put(scratch / f"{row['run']}.{number}")


def pack(folders):
    """Pack recordings as they come; return their paths."""
    packed = []
    while (folder := folders.get()) is not None:
        path = folder.with_suffix(folder.suffix + ".roofline")
        done = subprocess.run(["nice", str(TOOL), "pack", "-o", str(path), str(folder)], capture_output=True,
                              check=False)
        if done.returncode == 0:
            packed.append(path)
    return packed


def archive(packed, out):
    """Put packed recordings into archives, the first rounds first and the smallest of these first."""
    most = int(os.environ.get("PIECE_MIB", "15")) << 20
    pieces = int(os.environ.get("PIECES", "4"))
    waiting = sorted(packed, key=lambda path: (path.name.rsplit(".", 2)[1], path.stat().st_size))
    for number in range(1, pieces + 1):
        used, left = 0, []
        with tarfile.open(out / f"recordings.{number}.tar", "w") as tar:
            for path in waiting:
                if used + path.stat().st_size > most:
                    left.append(path)
                    continue
                used += path.stat().st_size + 1024
                tar.add(path, path.name)
        waiting = left
        if not left:
            break
    return waiting


def main():
    """Run all rows."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    out = pathlib.Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    scratch = pathlib.Path(os.environ.get("SCRATCH", "/tmp")) / f"frameworks.{os.getpid()}"
    scratch.mkdir()
    out.mkdir(exist_ok=True)
    rows, gpus = read_labels(), count_gpus()
    recorded, begin_s = queue.Queue(), time.monotonic()
    with open(out / "runs.tsv", "w", encoding="utf-8") as table:
        print("run\tround\tway\texit\tseconds\tus_per_step\tvalue\tcomplaint", file=table)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            packed = pool.submit(pack, recorded)
            done = [pool.submit(run_rows, gpu, rows[gpu::gpus], rounds, scratch, table, recorded, begin_s)
                    for gpu in range(gpus)]
            for one in done:
                one.result()
            recorded.put(None)
        left = archive(packed.result(), out)
    print(f"{len(rows)} rows, {gpus} GPUs, {time.monotonic() - begin_s:.0f} s; left out: {len(left)}")


if __name__ == "__main__":
    main()
