#!/usr/bin/env python3
"""How the report's time and memory grow with N of one thing (tests/tools/make_crowd.py), for N, 2N and 4N.

usage: scaling.py [N [SHAPE...]]; N is 10000.  Shows processor seconds, the growth of each doubling (2 is
linear, 4 is quadratic) and the peak memory of the largest, the steepest first.  ANSWER (report --format
json) is what is asked.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CROWD = os.path.join(ROOT, "tests/tools/make_crowd.py")
ROOFLINECTL = os.path.join(ROOT, os.environ.get("BUILD", "build"), "bin/rooflinectl")
ANSWER = os.environ.get("ANSWER", "report --format json").split()
LIMIT_S = 20


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))


def measure(shape, n):
    """Processor seconds and MB of an answer about that recording."""
    folder = tempfile.mkdtemp()
    try:
        subprocess.run([CROWD, folder, str(n), shape], check=True)
        process = subprocess.Popen([ROOFLINECTL, *ANSWER, f"{folder}/{shape}"], preexec_fn=limit,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            said = f"  {shape} of {n}: status {status} {said.strip()[:200]}"
            print(said, flush=True)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    finally:
        shutil.rmtree(folder)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    listed = subprocess.run([sys.executable, CROWD], capture_output=True, text=True).stderr
    shapes = sys.argv[2:] or listed.split("shapes: ")[1].split()
    rows = []
    for shape in shapes:
        figures = [measure(shape, n * times) for times in (1, 2, 4)]
        seconds = [figure[0] for figure in figures]
        rows.append((seconds[2] / seconds[1], seconds[1] / seconds[0], shape, seconds, figures[2][1]))
        print(f"{shape} {seconds}", file=sys.stderr, flush=True)
    print(f"{'recording with ' + str(n) + ' of':28s} {'s':>8s} {'2x':>8s} {'4x':>8s} "
          f"{'growth':>7s} {'again':>7s} {'peak_MB':>8s}")
    for again, growth, shape, seconds, peak in sorted(rows, reverse=True):
        print(f"{shape:28s} {seconds[0]:8.2f} {seconds[1]:8.2f} {seconds[2]:8.2f} {growth:7.2f} {again:7.2f} "
              f"{peak:8.0f}")


if __name__ == "__main__":
    main()
