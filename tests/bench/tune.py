#!/usr/bin/env python3
"""How many trials each search of `rooflinectl tune` takes, replayed from what was measured on an H200.

tune.py [--chart FILE.svg] [FOLDER]   (make bench)

docs/results/autotune has the time of every point of workloads/autotune.cu, and tests/tune/measured.tar.xz
those of the other spaces of tests/tune/spaces.py, or FOLDER, which tests/tune/measure.py made. Each
search runs on these with ten seeds, or SEEDS. It chooses its best trial; how good that is tells the
median of all that was measured of the point.
"""
import collections
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tune"))
import spaces  # noqa: E402

CONTROL = os.path.join(os.environ.get("BUILD", os.path.join(ROOT, "build")), "bin", "rooflinectl")
FIRST = "autotune"
MEASURED_FIRST = os.path.join(ROOT, "docs", "results", FIRST)
MEASURED = os.path.join(ROOT, "tests", "tune", "measured.tar.xz")
SEARCHES = ["random", "genetic", "bayesian", "model"]
SEEDS = int(os.environ.get("SEEDS", "10"))
BUDGETS = [8, 12, 16, 24]
SHARES = [0.15, 0.3]  # of the points; 15% is what tune takes where --trials is not given
NEAR = 1.03


def search(space, measured, name, seed, budget, folder):
    subprocess.run([CONTROL, "tune", *space.options(), "--search", name, "--seed", str(seed),
                    "--trials", str(budget), "--repeats", "0", "--from", measured, "-o", folder, "--quiet",
                    "--", *space.words()],
                   check=True, stdout=subprocess.DEVNULL)


def search_all(space, measured, budget, folder):
    for name in SEARCHES:
        for seed in range(1, SEEDS + 1):
            search(space, measured, name, seed, budget, folder)


def lines_of(folder):
    with open(os.path.join(folder, "trials.jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def point_of(line):
    return tuple(line["parameters"].values())


def medians_of(folder):
    """Of each point that works."""
    values = collections.defaultdict(list)
    for line in lines_of(folder):
        if "value" in line and not line["stored"]:
            values[point_of(line)].append(line["value"])
    return {point: statistics.median(some) for point, some in values.items()}


def cell(folder, name, medians):
    """What each session chose, by the best: median, worst, how many are near; and the mean of trials."""
    sessions = collections.defaultdict(list)
    for line in lines_of(folder):
        if line["search"] == name:
            sessions[line["session"]].append(line)
    least, ratios = min(medians.values()), []
    for lines in sessions.values():
        best = min(lines, key=lambda line: line.get("value", float("inf")))
        ratios.append(medians.get(point_of(best), float("inf")) / least)
    near = sum(ratio <= NEAR for ratio in ratios)
    made = statistics.mean(map(len, sessions.values()))
    return f"{statistics.median(ratios):5.2f} {max(ratios):5.2f} {near:3d} {made:5.1f}"


def print_budgets(folders):
    medians = medians_of(MEASURED_FIRST)
    print(f"Best found by the best of {len(medians)} points; {SEEDS} seeds: median, worst, "
          "how many are within 3%, trials made")
    print("--trials  " + "   ".join(f"{budget:21d}" for budget in BUDGETS))
    print("          " + "   ".join("  med worst  3%   made" for _ in BUDGETS))
    for name in SEARCHES:
        print(name.ljust(10) + "   ".join(cell(folders[budget], name, medians) for budget in BUDGETS))


def draw(folder, image):
    subprocess.run([CONTROL, "plot", "tune", folder, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(os.path.join(folder, "roofline-tune.svg"), image)


def show_budgets(scratch, image):
    space = spaces.find(FIRST)
    folders = {budget: os.path.join(scratch, f"{FIRST}.{budget}") for budget in BUDGETS}
    for budget, folder in folders.items():
        search_all(space, MEASURED_FIRST, budget, folder)
    print_budgets(folders)
    if image:
        draw(folders[int(SHARES[0] * len(list(space.points())))], image)


def show_space(space, measured, scratch):
    medians = medians_of(measured)
    least, most = min(medians.values()), max(medians.values())
    near = sum(value <= least * NEAR for value in medians.values())
    points = len(list(space.points()))
    folders = {int(share * points): os.path.join(scratch, f"{space.name}.{share}") for share in SHARES}
    for budget, folder in folders.items():
        search_all(space, measured, budget, folder)
    for name in SEARCHES:
        cells = "   ".join(f"{budget:6d} {cell(folder, name, medians)}"
                           for budget, folder in folders.items())
        print(f"{space.name:21} {points:6d} {most / least:6.2f} {near:4d}  {name:9} {cells}")


def show_share(measured, scratch):
    """All spaces; what is not measured to its last point is not searched."""
    shares = " and ".join(f"{share:.0%}" for share in SHARES)
    print(f"\nThe same of each space, with trials for {shares} of its points; worst: of all points by "
          "the best, near: how many are within 3%")
    print("space                 points  worst near  search    " +
          "   ".join("trials   med worst  3%   made" for _ in SHARES))
    for space in spaces.SPACES:
        folder = MEASURED_FIRST if space.name == FIRST else os.path.join(measured, space.name)
        is_there = os.path.exists(os.path.join(folder, "trials.jsonl"))
        missing = space.missing(lines_of(folder) if is_there else [])
        if missing:
            points = len(list(space.points()))
            print(f"{space.name:21} {len(missing)} of its {points} points were not measured")
        else:
            show_space(space, folder, scratch)


def main():
    arguments = sys.argv[1:]
    image = None
    if arguments[:1] == ["--chart"]:
        image, arguments = arguments[1], arguments[2:]
    scratch = tempfile.mkdtemp()
    try:
        if arguments:
            measured = arguments[0]
        else:
            measured = os.path.join(scratch, "measured")
            if os.path.exists(MEASURED):
                with tarfile.open(MEASURED) as archive:
                    archive.extractall(measured)
        show_budgets(scratch, image)
        show_share(measured, scratch)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
