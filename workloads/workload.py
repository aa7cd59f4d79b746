"""workload.py - what a workload in PyTorch declares, and the runner that checks and times it.

The counterpart of workload.cuh: the same command line, phases, table, JSON and exit codes.  A
workload is a problem and several variants that solve it.  Every variant runs once to warm up and
then `repeats` times; each run starts from reset and is compared with the reference, and a time is
shown only when all agreed.  Every phase is an NVTX range.

How often PyTorch calls CUDA is PyTorch's affair and cannot be told from here: the table has "-" for
the host calls and the JSON null.  A recording counts them.

PyTorch takes seconds to import and need not be there, so it is imported once all else is right.
"""

import argparse
import contextlib
import json
import os
import re
import statistics
import sys
import time
import traceback
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Callable, Optional

folder = os.path.dirname(os.path.realpath(__file__))
out_of_host_memory = "out of memory on the host: try a smaller --size"
torch = None  # the module, from use_device on


# ---- what a workload declares ----


@dataclass
class Variant:
    name: str
    summary: str
    run: Callable  # run(problem, iterations), asynchronous or not
    setup: Optional[Callable] = None  # setup(problem), once and timed apart; may raise Skipped
    teardown: Optional[Callable] = None  # frees what setup made


@dataclass
class Workload:
    name: str  # its row in workloads.h
    size: int
    iterations: int
    # problem(size, iterations, device) has reset(), and check(): a Difference or None
    problem: Callable
    variants: list  # the first is called naive


Difference = namedtuple("Difference", "index found expected")


class Skipped(Exception):
    """This machine lacks what it takes; the text is the reason, in one line."""


class WrongResult(Exception):
    """What was computed is not what the reference says."""


# ---- the command line ----

Row = namedtuple("Row", "name id technique control summary")


def find_row(name):
    """The workload's row in workloads.h, which lies beside this file."""
    pattern = r'WORKLOAD\((\w+), "([^"]+)", "([^"]+)", ([01]),[\s\\]*"([^"]+)"\)'
    with open(os.path.join(folder, "workloads.h"), encoding="utf-8") as header:
        for row in re.findall(pattern, header.read()):
            if row[0] == name:
                return Row(*row)
    sys.exit(f"{name} has no row in workloads.h")


def fail(code, message):
    print(message, file=sys.stderr)
    sys.exit(code)


class OneLineParser(argparse.ArgumentParser):
    def error(self, message):
        fail(2, f"{self.prog}: {message}; see {self.prog} --help")


def count_of(name, option, least, limit):
    def parse(text):
        if re.fullmatch(r"\s*[+-]?[0-9]+", text) and least <= int(text) <= limit:
            return int(text)
        fail(2, f"{name}: {option} takes a whole number from {least} to {limit}, not '{text}'")

    return parse


def make_parser(work, row):
    parser = OneLineParser(prog=work.name, description=row.summary)

    def add_count(option, least, limit, default, text):
        parser.add_argument(option[1:3], option, metavar="N", default=default, help=text,
                            type=count_of(work.name, option, least, limit))

    parser.add_argument("variants", metavar="VARIANT", nargs="*", help="all of them when not given")
    add_count("--size", 1, 1 << 28, work.size, "elements to work on")
    add_count("--iterations", 1, 1000000, work.iterations, "iterations in one timed run")
    add_count("--repeats", 1, 1000, 5, "timed runs; the median is shown")
    add_count("--device", 0, 1000, 0, "GPU to run on, counted from 0 (the default)")
    parser.add_argument("-j", "--json", action="store_true", help="print the result as JSON")
    parser.add_argument("-l", "--list", action="store_true", help="list the variants")
    parser.add_argument("--stamps", metavar="FILE", help=argparse.SUPPRESS)
    return parser


def parse_options(work, row):
    options = make_parser(work, row).parse_intermixed_args()
    names = [variant.name for variant in work.variants]

    def refuse(problem, text):
        fail(2, f"{work.name}: {problem} '{text}'; see {work.name} --help")

    if len(options.variants) > 1:
        refuse("one variant at a time, but got also", options.variants[1])
    if options.variants and options.variants[0] not in names:
        fail(2, f"{work.name}: no variant '{options.variants[0]}'; there are {', '.join(names)}")
    if options.stamps is not None:
        refuse("its kernels stamp nothing, so there is no", "--stamps")
    return options


# ---- can this machine run it? ----


def first_line(error):
    """What an exception of PyTorch says, without the advice that follows."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.endswith("raised:")), type(error).__name__)


def import_torch():
    global torch
    try:
        import torch
    except (ImportError, OSError) as error:
        if getattr(error, "name", None) == "torch":
            raise Skipped("PyTorch is not installed: pip install torch") from None
        raise Skipped(f"PyTorch cannot be imported: {first_line(error)}") from None


def use_device(name, index):
    """Imports PyTorch and makes the device the current one, after a kernel has run on it."""
    import_torch()
    try:
        torch.cuda.init()
        count = torch.cuda.device_count()
        if index >= count:
            fail(2, f"{name}: there is no device {index}; this machine has {count}, counted from 0")
        torch.cuda.set_device(index)
        torch.ones(1, device="cuda").item()
    except (AssertionError, RuntimeError) as error:
        raise Skipped(f"no usable GPU: {first_line(error)}") from None


def is_out_of_memory(error):
    """PyTorch's allocator has an exception of its own; CUDA and its libraries say it in words."""
    return re.search("out of memory|ALLOC_FAILED|can't allocate memory", str(error))


def why_out_of_memory(error):
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return out_of_host_memory
    free, total = (count / (1 << 30) for count in torch.cuda.mem_get_info())
    return (f"out of memory with {free:.1f} of {total:.1f} GiB free on the GPU: "
            "try a smaller --size")


@contextlib.contextmanager
def skipping_out_of_memory():
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not is_out_of_memory(error):
            raise
        raise Skipped(why_out_of_memory(error)) from None


# ---- the runner ----


@dataclass
class Measurement:
    variant: str
    iteration_ns: list = field(default_factory=list)  # one a repeat
    setup_ns: float = 0
    skipped: str = ""


def timed_ns(phase, body, *arguments):
    """From the start of body until the device has finished what it was given."""
    with torch.cuda.nvtx.range(phase):
        torch.cuda.synchronize()
        start_ns = time.perf_counter_ns()
        body(*arguments)
        torch.cuda.synchronize()
        return time.perf_counter_ns() - start_ns


def require_match(work, variant, problem):
    with torch.cuda.nvtx.range("check"):
        first = problem.check()
    if first:
        raise WrongResult(f"{work.name}: {variant.name}: first difference at index {first.index}: "
                          f"found {first.found}, the scalar reference says {first.expected}")


def measure(work, variant, problem, options):
    result = Measurement(variant.name)
    if variant.setup:
        result.setup_ns = timed_ns("set-up", variant.setup, problem)
    for repeat in range(options.repeats + 1):
        problem.reset()
        run_ns = timed_ns("run" if repeat else "warm-up", variant.run, problem, options.iterations)
        require_match(work, variant, problem)
        if repeat:
            result.iteration_ns.append(run_ns / options.iterations)
    if variant.teardown:
        variant.teardown(problem)
    return result


def measure_all(work, options):
    results = []
    with skipping_out_of_memory(), torch.cuda.nvtx.range("prepare"):
        problem = work.problem(options.size, options.iterations, f"cuda:{options.device}")
    for variant in work.variants:
        if options.variants and variant.name not in options.variants:
            continue
        try:
            with skipping_out_of_memory(), torch.cuda.nvtx.range(variant.name):
                results.append(measure(work, variant, problem, options))
        except Skipped as reason:
            results.append(Measurement(variant.name, skipped=str(reason)))
    return results


# ---- the answer ----


def speedup(results, one):
    """Over naive; None when that was not run."""
    for other in results:
        if other.variant == "naive" and not other.skipped:
            return statistics.median(other.iteration_ns) / statistics.median(one.iteration_ns)
    return None


def print_table(row, gpu, options, results):
    width = max(12, *(len(one.variant) for one in results))
    print(f"{row.name} ({row.id}): {row.summary}")
    print(f"{gpu}, size {options.size}, {options.iterations} iterations, "
          f"{options.repeats} repeats; every result matches the scalar reference\n")
    print("%-*s %12s %21s %10s %10s %8s" % (width, "variant", "us/iteration", "min .. max",
                                            "host calls", "set-up us", "speedup"))
    for one in results:
        if one.skipped:
            print(f"{one.variant:{width}} skipped: {one.skipped}")
            continue
        us = [ns / 1e3 for ns in one.iteration_ns]
        ratio = speedup(results, one)
        print("%-*s %12.2f %10.2f .. %7.2f %10s %10.1f %8s" % (
            width, one.variant, statistics.median(us), min(us), max(us), "-", one.setup_ns / 1e3,
            f"{ratio:.2f}x" if ratio else "-"))


def json_head(row, **values):
    head = {"schema": 1, "workload": row.name, "id": row.id, "control": row.control == "1"}
    return json.dumps({**head, **values})


def json_variant(results, one):
    if one.skipped:
        return json.dumps({"name": one.variant, "skipped": one.skipped})
    ns = one.iteration_ns
    ratio = speedup(results, one)
    return json.dumps({
        "name": one.variant,
        "iteration_ns": {"median": round(statistics.median(ns), 1), "min": round(min(ns), 1),
                         "max": round(max(ns), 1)},
        "setup_ns": round(one.setup_ns),
        "host_calls_per_iteration": None,
        "speedup": round(ratio, 4) if ratio else None,
    })


def print_json(row, gpu, options, results):
    head = json_head(row, gpu=gpu, size=options.size, iterations=options.iterations,
                     repeats=options.repeats)
    variants = ",\n  ".join(json_variant(results, one) for one in results)
    print(f'{head[:-1]}, "variants": [\n  {variants}\n]}}')


def print_skipped(row, options, reason):
    print(json_head(row, skipped=reason) if options.json else f"{row.name}: skipped: {reason}")


def place_of(error):
    """The last line of ours that an exception came through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if os.path.dirname(os.path.realpath(frame.filename)) == folder:
            return f"{frame.filename}:{frame.lineno}: {frame.line}"
    return "PyTorch"


def run_workload(work):
    """main of the program."""
    row = find_row(work.name)
    options = parse_options(work, row)
    if options.list:
        for variant in work.variants:
            print(f"{variant.name:12} {variant.summary}")
        return
    try:
        use_device(work.name, options.device)
        results = measure_all(work, options)
    except Skipped as reason:
        print_skipped(row, options, str(reason))
        return
    except WrongResult as error:
        fail(1, str(error))
    except RuntimeError as error:
        fail(1, f"{place_of(error)} failed: {first_line(error)}")
    gpu = torch.cuda.get_device_name()
    (print_json if options.json else print_table)(row, gpu, options, results)
