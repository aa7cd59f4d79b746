#!/usr/bin/env python3
"""Of the 90 points of tune_transpose, for each width of a block and each tile the best one, by the best of all.

    docs/results/transpose_space.py

From tests/tune/measured.tar.xz: the median of all that was measured of a point.
"""

import collections
import json
import pathlib
import statistics
import tarfile

MEASURED = pathlib.Path(__file__).resolve().parents[2] / "tests" / "tune" / "measured.tar.xz"


def medians():
    values = collections.defaultdict(list)
    with tarfile.open(MEASURED) as archive:
        for text in archive.extractfile("tune_transpose/trials.jsonl"):
            line = json.loads(text)
            point = {name: int(value) for name, value in line["parameters"].items()}
            values[tuple(point.items())].append(line["value"])
    return [(dict(point), statistics.median(some)) for point, some in values.items()]


def main():
    points = medians()
    least = min(value for _, value in points)
    tiles = sorted({point["tile"] for point, _ in points})
    print("       " + "".join(f"   tile {tile}           " for tile in tiles).rstrip())
    for x in sorted({point["x"] for point, _ in points}):
        cells = []
        for tile in tiles:
            some = [pair for pair in points if pair[0]["x"] == x and pair[0]["tile"] == tile]
            point, value = min(some, key=lambda pair: pair[1])
            padded = "padded" if point["padding"] else ""
            cells.append(f"   {value / least:4.2f}  y {point['y']:<2} {padded:6}")
        print(f"x {x:<5}" + "".join(cells).rstrip())


if __name__ == "__main__":
    main()
