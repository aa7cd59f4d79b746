"""Runs the steps of a program of this folder, in one of its variants.

    PROGRAM.py                    prints the variants, the first as people write it
    PROGRAM.py VARIANT            times its steps: "us_per_step 812.4", the median of several blocks
    PROGRAM.py VARIANT STEPS      runs as many steps once, as it is recorded

Both print "value 1.25" of what the last step returns.  With WAITS=1 a program waits for a line of input
before it uses the GPU, so that others can be imported meanwhile.
"""

import os
import statistics
import sys
import time

WARM_UP_STEPS = 5
BLOCKS = 5
BLOCK_S = 0.25


def synchronize_torch():
    """Wait for the GPU as PyTorch does."""
    import torch  # pylint: disable=import-outside-toplevel

    torch.cuda.synchronize()


def captured(step):
    """Return a function that replays a step of PyTorch as a CUDA graph; what it returns stays in place."""
    import torch  # pylint: disable=import-outside-toplevel

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()

    def replay():
        graph.replay()
        return result

    return replay


def block_s(step, first, count, synchronize):
    """Return the seconds of some steps, from an idle GPU to an idle GPU."""
    synchronize()
    start_s = time.perf_counter()
    for number in range(first, first + count):
        result = step(number)
    synchronize()
    return time.perf_counter() - start_s, result


def value_of(result):
    """Return one number for what a step returns: a number, an array or a tensor."""
    return float(result.sum()) if hasattr(result, "sum") else float(result)


def run(build, *variants, synchronize=synchronize_torch):
    """Run a program: build(variant) returns a function of the number of a step."""
    if len(sys.argv) < 2:
        print("\n".join(variants))
        return
    if sys.argv[1] not in variants:
        sys.exit(f"{sys.argv[0]}: no variant {sys.argv[1]}; there are {', '.join(variants)}")
    if os.environ.get("WAITS"):
        sys.stdin.readline()
    step = build(sys.argv[1])
    if len(sys.argv) > 2:
        for number in range(int(sys.argv[2])):
            result = step(number)
        synchronize()
    else:
        per_step_s = block_s(step, 0, WARM_UP_STEPS, synchronize)[0] / WARM_UP_STEPS
        per_step_s = block_s(step, WARM_UP_STEPS, WARM_UP_STEPS, synchronize)[0] / WARM_UP_STEPS
        count = max(WARM_UP_STEPS, min(2000, int(BLOCK_S / per_step_s)))
        blocks = [block_s(step, 2 * WARM_UP_STEPS + count * i, count, synchronize) for i in range(BLOCKS)]
        print(f"us_per_step {statistics.median(seconds for seconds, _ in blocks) / count * 1e6:.1f}")
        result = blocks[-1][1]
    if result is not None:
        print(f"value {value_of(result):.6g}")
