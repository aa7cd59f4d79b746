#!/usr/bin/env python3
"""What counters say of each configuration of tune_transpose, from tests/recordings, the fastest first.

    docs/results/transpose_counters.py

Times are means of launches that were not counted.  conflicts: of the wavefronts of shared memory those that bank
conflicts added.  waits: warps stalled for L1, L2 or DRAM, for shared memory, and because another one was issued, by
instruction issued.
"""

import json
import pathlib
import subprocess

RECORDINGS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "recordings"
WAITS = "stall_long_scoreboard", "stall_short_scoreboard", "stall_not_selected"


def row_of(path):
    command = ["rooflinectl", "report", "--format", "json", path]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    kernel = next(kernel for kernel in report["kernels"] if "tiled_kernel" in kernel["name"])
    counted = {row["role"]: row["mean"] for row in report["counters"] if row["name"] == kernel["name"]}
    moved = counted["dram_read_bytes"] + counted["dram_write_bytes"]
    wavefronts = counted.get("shared_wavefronts")
    return {
        "name": path.stem.split(".", 1)[1],
        "us": kernel["mean_ns"] / 1000,
        "rate": moved / kernel["mean_ns"] / 1000,
        "sectors": counted["l2_bytes"] / moved,
        "conflicts": f"{100 * counted['shared_conflicts'] / wavefronts:.0f}%" if wavefronts else "-",
        "waits": [counted.get(wait, 0) for wait in WAITS],
    }


def main():
    rows = [row_of(path) for path in RECORDINGS.glob("tune_transpose.*.roofline")]
    print("variant                us  DRAM TB/s  L2 bytes  conflicts    waits: memory  shared  issue")
    for row in sorted(rows, key=lambda row: row["us"]):
        waits = "{:>8.1f}{:>8.1f}{:>7.1f}".format(*row["waits"])
        print(
            f"{row['name']:20} {row['us']:5.1f} {row['rate']:10.2f} {row['sectors']:8.2f}x {row['conflicts']:>10} "
            f"{'':9}{waits}"
        )


if __name__ == "__main__":
    main()
