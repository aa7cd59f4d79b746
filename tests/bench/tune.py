#!/usr/bin/env python3
"""How many trials each search of `rooflinectl tune` takes, replayed from what was measured on an H200.

tune.py [--chart FILE.svg]   (make bench)

docs/results/autotune has the time of every point of workloads/autotune.cu. Each search runs on these
with ten seeds.
"""
import collections
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONTROL = os.path.join(os.environ.get("BUILD", os.path.join(ROOT, "build")), "bin", "rooflinectl")
MEASURED = os.path.join(ROOT, "docs", "results", "autotune")
SPACE = ["--param", "block=64..1024:x2", "--param", "tile=8..64:x2", "--param", "unroll=1..8:x2",
         "--objective", "kernel:multiply"]
PROGRAM = ["--", "autotune", "chosen", "--block", "{block}", "--tile", "{tile}", "--unroll", "{unroll}"]
SEARCHES = ["random", "genetic", "bayesian", "model"]
SEEDS, POINTS = 10, 80
BUDGETS = [8, 12, 16, 24]
SHARE = 12  # 15% of the points


def search(name, seed, budget, folder):
    subprocess.run([CONTROL, "tune", *SPACE, "--search", name, "--seed", str(seed), "--trials", str(budget),
                    "--repeats", "0", "--from", MEASURED, "-o", folder, "--quiet", *PROGRAM],
                   check=True, stdout=subprocess.DEVNULL)


def lines_of(folder):
    with open(os.path.join(folder, "trials.jsonl"), encoding="utf-8") as lines:
        return [line for line in map(json.loads, lines) if not line["round"]]


def cell(folder, name, least):
    """The best of each session: median, worst, how many are within 3%; and the mean number of trials."""
    sessions = collections.defaultdict(list)
    for line in lines_of(folder):
        if line["search"] == name:
            sessions[line["session"]].append(line.get("value", float("inf")))
    ratios = [min(values) / least for values in sessions.values()]
    near = sum(ratio <= 1.03 for ratio in ratios)
    made = statistics.mean(map(len, sessions.values()))
    return f"{statistics.median(ratios):5.2f} {max(ratios):5.2f} {near:3d} {made:5.1f}"


def print_table(folders):
    least = min(line["value"] for line in lines_of(MEASURED))
    print(f"Best found by the best of {POINTS} points; {SEEDS} seeds: median, worst, "
          "how many are within 3%, trials made")
    print("--trials  " + "   ".join(f"{budget:21d}" for budget in BUDGETS))
    print("          " + "   ".join("  med worst  3%   made" for _ in BUDGETS))
    for name in SEARCHES:
        print(name.ljust(10) + "   ".join(cell(folders[budget], name, least) for budget in BUDGETS))


def draw(folder, image):
    subprocess.run([CONTROL, "plot", "tune", folder, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(os.path.join(folder, "roofline-tune.svg"), image)


def main():
    scratch = tempfile.mkdtemp()
    folders = {budget: os.path.join(scratch, str(budget)) for budget in BUDGETS}
    try:
        for budget in BUDGETS:
            for name in SEARCHES:
                for seed in range(1, SEEDS + 1):
                    search(name, seed, budget, folders[budget])
        print_table(folders)
        if sys.argv[1:2] == ["--chart"]:
            draw(folders[SHARE], sys.argv[2])
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
