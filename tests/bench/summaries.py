#!/usr/bin/env python3
"""summaries.py [RANKS [REPEAT]] - what merging the summaries of many ranks takes, and who was late.

One rank of a recording of two is summarized, and make_ranks.py makes 10,000 of it with noise, clocks of
1,250 hosts that differ, and three late ranks.  They are merged in three orders and in a tree of four
processes: all must give the same bytes.  REPEAT is how often a rank does the recording's 401 collectives, 5
by default.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
ROOFLINECTL = os.path.join(BUILD, "bin/rooflinectl")
RECORDING = os.path.join(ROOT, "tests/recordings/collectives.ordered.roofline")
SECONDS, GIGABYTES = 60, 2


def run(*words, **more):
    return subprocess.run([ROOFLINECTL, *words], check=True, text=True, **more)


def make(folder, count, repeat, late):
    run("unpack", RECORDING, "-o", folder + "/recording")
    run("summarize", folder + "/recording/vm.747", "-o", folder + "/real.summary")
    lates = [word for rank, ns, every in late for word in ("--late", "%d:%d:%d" % (rank, ns, every))]
    subprocess.run([sys.executable, "-S", os.path.join(ROOT, "tests/tools/make_ranks.py"),
                    folder + "/real.summary", folder + "/ranks", str(count), "--repeat", str(repeat),
                    *lates], check=True)


def merge(what, paths, out):
    """Prints time and memory; returns whether both are allowed."""
    before = time.monotonic()
    child = subprocess.Popen([ROOFLINECTL, "merge", *paths, "-o", out])
    _, status, usage = os.wait4(child.pid, 0)
    seconds, gigabytes = time.monotonic() - before, usage.ru_maxrss / 2**20
    megabytes = os.path.getsize(out) / 1e6
    print("%-22s %6.1f s  %6.1f s of processors  %6.2f GiB  %8.1f MB written" %
          (what, seconds, usage.ru_utime + usage.ru_stime, gigabytes, megabytes))
    return status == 0 and seconds < SECONDS and gigabytes < GIGABYTES


def merge_tree(paths, out):
    """Four processes, as a launcher starts them."""
    before = time.monotonic()
    processes = [subprocess.Popen([ROOFLINECTL, "merge", "--mpi", *paths, "-o", out],
                                  env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank),
                                       "OMPI_COMM_WORLD_SIZE": "4"}) for rank in range(4)]
    codes = [process.wait() for process in processes]
    print("%-22s %6.1f s" % ("tree of 4 processes", time.monotonic() - before))
    return codes == [0] * 4


def late_ranks(out, count):
    """The ranks that others waited for longest."""
    before = time.monotonic()
    rows = run("merge", out, "--format", "csv", stdout=subprocess.PIPE).stdout.splitlines()
    print("%-22s %6.1f s" % ("told", time.monotonic() - before))
    columns = rows[0].split(",")
    rank, waited = columns.index("rank"), columns.index("caused_wait_ns")
    rows = sorted((row.split(",") for row in rows[1:]), key=lambda row: -int(row[waited]))
    return [int(row[rank]) for row in rows[:count]]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    repeat = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    late = [(count * 3 // 7, 400000, 2), (count * 2 // 3, 200000, 3), (count // 9, 100000, 5)]
    folder = tempfile.mkdtemp()
    try:
        make(folder, count, repeat, late)
        names = sorted(os.listdir(folder + "/ranks"))
        paths = [os.path.join(folder, "ranks", name) for name in names]
        size = sum(map(os.path.getsize, paths))
        print("%d ranks of %d collectives, %.0f kB of text each" % (count, 401 * repeat, size / count / 1e3))
        outs = [folder + "/%d" % i for i in range(4)]
        good = merge("by name", paths, outs[0])
        random.Random(1).shuffle(paths)
        good &= merge("shuffled", paths, outs[1])
        random.Random(2).shuffle(paths)
        good &= merge("shuffled otherwise", paths, outs[2])
        good &= merge_tree(paths, outs[3])
        same = all(open(out, "rb").read() == open(outs[0], "rb").read() for out in outs)
        found = late_ranks(outs[0], len(late))
        print("all four have the same bytes: %s" % same)
        print("late ranks: made %s, found %s" % ([row[0] for row in late], found))
        good &= same and found == [row[0] for row in late]
        print("limits: %d s, %d GiB: %s" % (SECONDS, GIGABYTES, "met" if good else "NOT met"))
    finally:
        shutil.rmtree(folder)
    sys.exit(not good)


if __name__ == "__main__":
    main()
