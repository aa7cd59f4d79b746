#!/usr/bin/env python3
"""What HTA (Holistic Trace Analysis) finds in traces of PyTorch's profiler, beside what the report finds.

    pip install HolisticTraceAnalysis
    tests/bench/beside_hta.py                        # of ranks that tests/tools/make_ddp.py makes
    tests/bench/beside_hta.py TRACES [RECORDINGS]

Needs no GPU.  TRACES is a folder with a file for each rank, NAME.rankR.json.gz, as tests/gpu/ddp.py --kineto
writes them.  Each NAME is imported as one recording; `ours` is the section job of its report.  Where
RECORDINGS has a NAME.roofline, of another run of the same program, the last column has its NVTX range run.
All in microseconds; `differs` is ours less HTA's, as a share of the wall time.

HTA rounds times so that each kernel begins at the next whole microsecond and ends at the one before, which
makes a kernel about one shorter and idle time as much longer: the column `rounded`.  It is told not to in
`hta` (HTA_DISABLE_NS_ROUNDING).  Its communication is the time of kernels whose names begin as NCCL's; what
of it is exposed follows from the share that it gives as overlapped, in hundredths of a percent.  Its
computation are all other kernels.  Ours has also memsets and copies on the GPU, which HTA counts as neither:
the row `+ memory`.
"""

import contextlib
import importlib.util
import io
import json
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
ROUNDING = "HTA_DISABLE_NS_ROUNDING"


# figure, how to get it of a rank of ours, and of HTA's
FIGURES = [
    ("wall", lambda r: r["wall_ns"], lambda h: h["wall"]),
    ("idle", lambda r: r["idle_ns"], lambda h: h["idle"]),
    ("computation", lambda r: r["computation_ns"], lambda h: h["computation"]),
    ("  + memory", lambda r: r["computation_ns"], lambda h: h["computation"] + h["memory"]),
    ("communication", lambda r: r["communication_ns"], lambda h: h["communication"]),
    ("  overlapped", lambda r: r["overlapped_ns"], lambda h: h["communication"] * h["overlap"]),
    ("  exposed", lambda r: r["exposed_ns"], lambda h: h["communication"] * (1 - h["overlap"])),
]


def find_traces(folder):
    """The files of each name, by rank."""
    found = {}
    for path in sorted(folder.iterdir()):
        if match := re.fullmatch(r"(.+)\.rank(\d+)\.json(\.gz)?", path.name):
            found.setdefault(match[1], {})[int(match[2])] = path
    return found


# ---- HTA ----


@contextlib.contextmanager
def quiet():
    """HTA tells what it does, and pandas what will change in it."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


def sums_by_type(analysis, rank):
    _, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=True)
    mine = kernels[kernels["rank"] == rank]
    return mine.groupby("kernel_type")["sum (us)"].sum().to_dict()


def idle_by_cause(analysis, rank):
    """Of all streams together: HTA tells it of each."""
    table = analysis.get_idle_time_breakdown(ranks=[rank], visualize=False)[0]
    return table.groupby("idle_category")["idle_time"].sum().to_dict()


def ask_hta(paths, is_rounded):
    """Its figures by rank, in microseconds."""
    from hta.trace_analysis import TraceAnalysis

    os.environ[ROUNDING] = "0" if is_rounded else "1"
    with quiet():
        files = {rank: str(path) for rank, path in paths.items()}
        analysis = TraceAnalysis(trace_files=files, trace_dir=str(next(iter(paths.values())).parent))
        times = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
        overlaps = analysis.get_comm_comp_overlap(visualize=False).set_index("rank")
        found = {}
        for rank in paths:
            sums = sums_by_type(analysis, rank)
            found[rank] = {
                "wall": times.loc[rank, "kernel_time(us)"],
                "idle": times.loc[rank, "idle_time(us)"],
                "computation": times.loc[rank, "compute_time(us)"],
                "communication": sums.get("COMMUNICATION", 0),
                "memory": sums.get("MEMORY", 0),
                # no number where there is no communication
                "overlap": overlaps["comp_comm_overlap_pctg"].fillna(0).loc[rank] / 100,
                "causes": idle_by_cause(analysis, rank),
            }
    return found


# ---- ours ----


def run_tool(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def ask_report(recording, *options):
    """The ranks of its job, by number."""
    report = json.loads(run_tool("report", "--section", "job", "--format", "json", *options, recording))
    return {rank["rank"]: rank for rank in report["job"]["ranks"]}


def ask_import(paths):
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "imported"
        run_tool("import", *paths.values(), "-o", recording)
        return ask_report(recording)


# ---- both ----


def compare_rank(name, found, rounded, ours, recorded):
    """Prints a table; returns the greatest difference, but for the row of what is counted otherwise."""
    print(f"\n{name:24} {'hta':>11} {'ours':>11} {'differs':>8} {'rounded':>11} {'recorded':>11}")
    differences = []
    for figure, of_ours, of_hta in FIGURES:
        mine, other = of_ours(ours) / 1e3, of_hta(found)
        differences.append((mine - other) / found["wall"])
        own = f"{of_ours(recorded) / 1e3:11.1f}" if recorded else f"{'-':>11}"
        print(f"  {figure:22} {other:11.1f} {mine:11.1f} {100 * differences[-1]:+7.2f}% "
              f"{of_hta(rounded):11.1f} {own}")
    causes = {cause: ns / 1e3 for cause, ns in ours["idle_by_cause"].items() if ns}
    print("  idle, hta, each stream by itself: " +
          ", ".join(f"{cause} {us:.1f}" for cause, us in found["causes"].items()))
    print("  idle, ours, of the GPU: " + ", ".join(f"{cause} {us:.1f}" for cause, us in causes.items()))
    return max(abs(one) for (figure, *_), one in zip(FIGURES, differences) if figure != "computation")


def generate(folder):
    """Traces of two ranks, one of which is late, with one bucket and with ten, and the recordings of both."""
    for buckets in (1, 10):
        name = f"generated.{buckets}"
        made = [ROOT / "tests" / "tools" / "make_ddp.py", folder / name, "--buckets", str(buckets)]
        subprocess.run([sys.executable, *made, "--late", "100000"], check=True, stdout=subprocess.DEVNULL)
        for rank, process in enumerate(sorted((folder / name).iterdir())):
            trace = folder / f"{name}.rank{rank}.json"
            foreign = [ROOT / "tests" / "tools" / "make_foreign.py", "kineto", process, trace]
            subprocess.run([sys.executable, *foreign], check=True)
        run_tool("pack", folder / name, "-o", folder / f"{name}.roofline")


def main(folder, recordings):
    if not importlib.util.find_spec("hta"):
        raise SystemExit("HTA is not installed: pip install HolisticTraceAnalysis")
    worst, tables = 0, 0
    for name, paths in find_traces(folder).items():
        found, rounded, ours = ask_hta(paths, False), ask_hta(paths, True), ask_import(paths)
        own = recordings / f"{name}.roofline" if recordings else None
        recorded = ask_report(own, "--range", "run") if own and own.exists() else {}
        for rank in paths:
            worst = max(worst, compare_rank(f"{name}, rank {rank}", found[rank], rounded[rank], ours[rank],
                                            recorded.get(rank)))
            tables += 1
    if not tables:
        raise SystemExit(f"{folder}: no file is called NAME.rankR.json.gz")
    print(f"\n{tables} ranks: ours and HTA's differ by at most {100 * worst:.2f}% of the wall time")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 1:
        with tempfile.TemporaryDirectory() as made:
            generate(pathlib.Path(made))
            sys.exit(main(pathlib.Path(made), pathlib.Path(made)))
    if len(sys.argv) > 3:
        raise SystemExit(__doc__.strip())
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else None))
