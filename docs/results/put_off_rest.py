#!/usr/bin/env python3
"""What is left for each kernel of a sequence that was put off, by put-off.txt: of the time until the GPU has
the sequence (tried) less that of its launches (put off) and that of one launch of the program's own graph.

    docs/results/put_off_rest.py
"""

import pathlib
import re

NUMBER = r" +[0-9.]+"
FIGURE = r" +([0-9.]+)"
ROW = re.compile(rf"^(\d+), (equal|other) parameters{NUMBER}{FIGURE}{NUMBER}{FIGURE}{FIGURE}$", re.M)


def main():
    text = pathlib.Path(__file__).with_name("put-off.txt").read_text(encoding="utf-8")
    print(f"{'kernels':24} {'ns for each beside its launch':>30}")
    for kernels, parameters, put_off, tried, graph in ROW.findall(text):
        rest_us = float(tried) - int(kernels) * float(put_off) - float(graph)
        print(f"{kernels + ', ' + parameters + ' parameters':24} {1000 * rest_us / int(kernels):30.0f}")


if __name__ == "__main__":
    main()
