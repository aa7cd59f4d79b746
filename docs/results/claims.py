#!/usr/bin/env python3
"""What the literature says that a variant brings, beside what was measured.

    docs/results/claims.py WORKLOAD

Times are those of the tables in docs/results: of each table a column, the time of one variant by that of another.
"""

import pathlib
import re
import sys

RESULTS = pathlib.Path(__file__).resolve().parent
BEST = ("graph", "fused", "fused_graph", "batched", "pipelined", "selected")
# Of each workload: the file, and rows of a variant, the one that it is compared with, and what is said. Several
# variants: the fastest of them.
CLAIMS = {
    "transformer": (
        "transformer-torch",
        [
            ("graph", "naive", "2x"),
            ("fused", "naive", "5x"),
            ("batched", "fused", "3x"),
            ("pipelined", "fused_graph", "1.5x"),
            (BEST, "naive", "11.9x, 11.8x"),
            (BEST, "textbook", "-"),
        ],
    ),
    "fuse_conv_bn_relu": (
        "fuse_conv_bn_relu",
        [("fused", "cudnn", "0.75 to 0.85x"), ("wgmma", "cudnn", "0.75 to 0.85x")],
    ),
    "jit_gemm": (
        "jit_gemm",
        [
            ("jit", "naive", "1.2 to 1.5x"),
            ("jit", "tiles", "1.2 to 1.5x"),
            ("jit_tensor", "tensor", "1.2 to 1.5x"),
        ],
    ),
}
SHAPE = re.compile(r"\d+ requests of \d+ tokens")
SIZE = re.compile(r"NVIDIA [^,]+, (size .+), \d+ iterations")
ROW = re.compile(r"(\w+) +(\d+\.\d+) ")


def tables(name):
    """Each by what was run: microseconds by variant."""
    found = {}
    for line in (RESULTS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if match := SHAPE.match(line) or SIZE.match(line):
            found[match[match.lastindex or 0]] = {}
        elif found and (match := ROW.match(line)):
            found[list(found)[-1]][match[1]] = float(match[2])
    return found


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CLAIMS:
        sys.exit(f"usage: claims.py {'|'.join(CLAIMS)}")
    name, rows = CLAIMS[sys.argv[1]]
    measured = tables(name)
    print(f"{'speedup':27} {'says':14}" + "".join(f"  {of}" for of in measured))
    for variant, baseline, said in rows:
        names = variant if isinstance(variant, tuple) else (variant,)
        text = f"{'the best' if len(names) > 1 else variant} by {baseline}"
        line = f"{text:27} {said:14}"
        for of, times in measured.items():
            gain = f"{times[baseline] / min(times[each] for each in names):.2f}x"
            line += f"  {gain:>{len(of)}}"
        print(line)


if __name__ == "__main__":
    main()
