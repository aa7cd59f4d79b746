#!/usr/bin/env python3
"""How near a workload's variants come to the DRAM's roof: from what was measured and the bytes that its page names.

    docs/results/dram_share.py WORKLOAD

Times are those of the workload's table in docs/results, and the roofs those of ceilings/ for the GPU named there.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
# Bytes of DRAM for each of n values (--size), as the page's table "What one iteration does" has them.
BYTES = {
    "fuse_elementwise": {
        "naive": 46,
        "fused": 20,
        "vector4": 20,
        "naive_mask": 47,
        "fused_mask": 21,
        "naive_relu": 25,
        "fused_relu": 15,
        "vector4_relu": 15,
    },
    "fuse_reduction": {"naive": 20, "block": 8, "online": 8, "registers": 8},
    "overfused": {"single": 72, "three": 24, "naive": 16, "seven": 16, "limited": 16, "nine": 8},
    "bank_conflict": dict.fromkeys(("naive", "padded", "swizzled", "direct"), 8),
}
HEAD = re.compile(r"(\w+) \([A-I]\d+\): ")
SIZE = re.compile(r"(NVIDIA [^,]+), size (\d+)")
ROW = re.compile(r"(\w+) +([\d.]+) +[\d.]+ \.\. +[\d.]+ ")


def read(name):
    """GPU, n and microseconds by variant."""
    gpu = size = None
    times = {}
    is_part = False
    for line in (RESULTS / "workloads-fusion.txt").read_text().splitlines():
        if match := HEAD.match(line):
            is_part = match[1] == name
        elif is_part and (match := SIZE.match(line)):
            gpu, size = match[1], int(match[2])
        elif is_part and (match := ROW.match(line)):
            times[match[1]] = float(match[2])
    return gpu, size, times


def roofs(gpu):
    """Bytes per second: of a copy, and the most that reading or writing alone reaches."""
    path = next((ROOT / "ceilings").glob(gpu.replace(" ", "_") + "-*.json"))
    rates = {row["name"]: row["value"] for row in json.loads(path.read_text())["ceilings"]}
    return rates["dram_copy"], max(rates["dram_read"], rates["dram_write"])


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in BYTES:
        sys.exit(f"usage: dram_share.py {'|'.join(BYTES)}")
    gpu, size, times = read(sys.argv[1])
    copy, highest = roofs(gpu)
    print(f"{gpu}: a copy {copy / 1e12:.2f} TB/s, reading or writing alone {highest / 1e12:.2f} TB/s")
    print("variant         bytes a value   us/iteration   TB/s   of a copy   of the roof")
    for variant, count in BYTES[sys.argv[1]].items():
        rate = count * size / times[variant] * 1e6
        print(
            f"{variant:14} {count:14} {times[variant]:14.2f} {rate / 1e12:6.2f} {rate / copy:11.0%} {rate / highest:13.0%}"
        )


if __name__ == "__main__":
    main()
