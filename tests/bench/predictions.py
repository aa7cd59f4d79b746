#!/usr/bin/env python3
"""What the model predicted of each naive recording, and what the improved variant then measured.

    tests/bench/predictions.py                             of tests/pairs and PAIRED of docs/results
    tests/bench/predictions.py FOLDER MEDIANS CEILINGS     of another machine, with its own ceilings
    tests/bench/predictions.py --variants                  "workload variant role" of each recording
    tests/bench/predictions.py --median FOLDER...          the one whose range run took the median time
    tests/bench/predictions.py --totals TABLE...           of tables that it printed before, the totals

Needs no GPU: predictions come from FOLDER through `rooflinectl verify --range run`, or `whatif` for an
option of it, in which range every workload does its iterations.  `measured` is the ratio of the untraced
medians of MEDIANS, measured on the same machine right before and right after each recording; `recorded` that
of the two recordings without what recording added.  Below stand the recordings of tests/recordings for which
nothing is predicted, as the model does not explain their time.  Pairs that a FOLDER lacks are left out.
Totals are of the rows with a number.  Those without advice are counted apart: nothing was recommended, which
is right where nothing that matters was measured to be gained (`inside`).
"""

import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
LEAST_GAIN = 1.03  # less is as good as nothing: as much as a replay may be off

# workload, variant before, variant after, advice whose prediction is judged, or an option of whatif
PAIRS = [
    ("graph_chain", "naive", "no_sync", "sync_every_kernel"),
    ("graph_chain", "naive", "graph", "launch_bound_graph"),
    ("graph_chain", "no_sync", "graph", "launch_bound_graph"),
    ("dynamic_parallelism", "naive", "no_sync", "sync_every_kernel"),
    ("graph_forkjoin", "naive", "graph_series", "--graph"),
    ("graph_update", "stream", "set_params", "launch_bound_graph"),
    ("graph_pipeline", "naive", "graph_wait", "launch_bound_graph"),
    ("pytorch", "naive", "graph", "launch_bound_graph"),
    ("dependent_launch", "naive", "graph", "launch_bound_graph"),
    ("conditional_if", "naive", "conditional", "host_decision"),
    ("conditional_ifelse", "naive", "conditional", "host_decision"),
    ("conditional_switch", "naive", "conditional", "host_decision"),
    ("conditional_while", "naive", "conditional", "while_node"),
    ("conditional_nested", "naive", "conditional", "host_decision"),
    ("conditional_precision", "naive", "conditional", "host_decision"),
    ("device_graph", "naive", "tail", "--decide"),
    ("device_scheduler", "naive", "tail", "--decide"),
    ("device_scheduler", "naive", "one_graph", "--decide"),
    ("device_choice", "naive", "tail", "host_decision"),
    ("device_choice", "naive", "relaunch", "host_decision"),
    ("copy_overlap", "naive", "streamed", "copy_overlap"),
    ("copy_overlap", "pinned", "streamed", "copy_overlap"),
    ("copy_overlap", "naive", "pinned", "pageable_copy"),
    ("graph_memory", "malloc", "stream_ordered", "allocation_in_loop"),
    ("concurrent_kernels", "naive", "streams", "underfilled_gpu"),
    ("concurrent_kernels", "naive", "graph", "--streams --graph"),
    ("graph_forkjoin", "naive", "streams", "underfilled_gpu"),
    ("graph_forkjoin", "naive", "graph", "--streams --graph"),
    ("work_queue", "naive", "warp_queue", "sm_imbalance"),
    ("graph_pipeline", "stream", "graph", "launch_bound_graph"),
    ("graph_large", "naive", "graph", "launch_bound_graph"),
    ("work_queue_mild", "naive", "queue", "launch_bound_graph"),
    ("atomic_batch", "naive", "batch_8", "--batch 8"),
    ("atomic_batch", "naive", "batch_16", "--batch 16"),
    ("atomic_batch", "naive", "batch_32", "--batch 32"),
    ("atomic_batch", "naive", "batch_128", "--batch 128"),
    ("atomic_batch", "naive", "warp_leader", "--aggregate 32"),
    ("atomic_hierarchy", "naive", "per_block", "--aggregate-shared 256"),
    ("atomic_hierarchy", "naive", "tree", "--aggregate 256"),
    ("histogram", "naive", "shared", "hot_atomics"),
    ("histogram", "naive_uniform", "shared_uniform", "hot_atomics"),
    ("histogram", "naive_one", "shared_one", "hot_atomics"),
    ("fuse_elementwise", "naive", "fused", "--fuse"),
    ("fuse_elementwise", "naive_relu", "fused_relu", "--fuse"),
    ("fuse_reduction", "naive", "block", "--fuse"),
    ("fuse_horizontal", "naive", "batched", "--batch-launches"),
    ("fuse_horizontal", "naive", "streams", "underfilled_gpu"),
    ("fuse_horizontal", "naive_mixed", "prefix_mixed", "--batch-launches"),
    ("fuse_horizontal", "naive_mixed", "graph_mixed", "--streams --graph"),
    ("fuse_conv_bn_relu", "naive", "fused", "--fuse"),
    ("fuse_conv_bn_relu", "nchw_naive", "nchw_fused", "--fuse"),
    ("fuse_layernorm_gemm", "naive", "cublaslt", "--fuse"),
    ("overfused", "three", "nine", "--fuse"),
    ("clusters", "naive", "cluster", "--fuse"),
    ("precision", "naive", "fp16", "--narrow 2"),
    ("precision", "naive", "fp8", "--narrow 4"),
    ("persistent", "naive", "persistent", "--persistent"),
    ("dependent_launch", "naive", "dependent", "--dependent"),
    ("graph_update", "naive", "exec_update", "graph_rebuilt"),
    ("graph_modes", "naive", "relaxed", "launch_bound_graph"),
    ("graph_manual", "naive", "forked", "underfilled_gpu"),
    ("jit_gemm", "no_cache", "jit", "repeated_module_load"),
    ("jit_gemm", "small_cache", "jit", "repeated_module_load"),
    ("jit_ptx", "each_time", "ptx", "repeated_module_load"),
    ("dp_tokens", "naive", "device", "device_launch"),
    ("dp_irregular", "naive", "device_level", "--device-launch"),
    ("dp_irregular", "naive", "queue", "sm_imbalance"),
    ("dp_tiny", "naive", "device", "device_launch"),
    ("dp_tiny", "naive", "one_kernel", "device_launch"),
    ("dynamic_parallelism", "naive", "device", "device_launch"),
    ("memory_bound", "naive", "graph", "launch_bound_graph"),
]


def variants():
    """Each workload and variant with a recording in tests/pairs, and whether it is ever the one before."""
    roles = {}
    for workload, before, after, _ in PAIRS:
        roles[workload, before] = "before"
        roles.setdefault((workload, after), "after")
    return roles


RESULTS = ROOT / "docs" / "results"
# What was measured beside the recordings of tests/pairs; what both files have was recorded for the later one.
PAIRED = [RESULTS / "pairs.txt", RESULTS / "pairs-fusion.txt", RESULTS / "pairs-arguments.txt"]
CEILINGS = []  # options that name those of the machine that was recorded


def medians(path):
    """Microseconds an iteration of each untraced variant, by workload and variant: of each time it ran."""
    found, workload = {}, None
    for line in path.read_text().splitlines():
        head = re.match(r"(\w+) \([A-I]\d\):", line)
        row = re.match(r"(\w+) +([\d.]+) +[\d.]+ \.\. +[\d.]+ .*x$", line)
        if head:
            workload = head[1]
        elif row and workload:
            found.setdefault((workload, row[1]), []).append(float(row[2]))
    return found


def all_medians(paths=None):
    """Those of several files, of PAIRED without any: what two have is the later one's."""
    found = {}
    for path in PAIRED if paths is None else paths:
        found.update(medians(path))
    return found


def untraced(runs, role):
    """Of runs before, between and after the recordings: the two beside those of that role."""
    return statistics.mean(runs[:2] if role == "before" else runs[-2:])


def print_sessions():
    """How far measured speedups of a pair lie from their mean, over all times that they were measured."""
    sessions = [medians(path) for path in sorted(RESULTS.glob("pairs*.txt"))]
    deviations, widest, widest_pair = [], 1, ""
    for workload, before, after, _ in PAIRS:
        ends = (workload, before), (workload, after)
        logs = [
            math.log(statistics.median(s[ends[0]]) / statistics.median(s[ends[1]]))
            for s in sessions
            if s.keys() >= set(ends)
        ]
        if len(logs) < 2:
            continue
        deviations += [abs(log - statistics.mean(logs)) for log in logs]
        if math.exp(max(logs) - min(logs)) > widest:
            widest = math.exp(max(logs) - min(logs))
            widest_pair = f"{workload} {before} to {after}"
    ninth = sorted(deviations)[int(0.9 * len(deviations))]
    print(
        f"measured on {len(sessions)} machines: 90% of the speedups of a pair lie within "
        f"{100 * (math.exp(ninth) - 1):.0f}% of their mean; furthest apart by {widest:.2f}x: {widest_pair}"
    )


def run_tool(*arguments):
    """rooflinectl's answer, with no ceilings that this user measured."""
    return subprocess.run(
        [TOOL, *arguments, "--format", "json"],
        capture_output=True,
        check=False,
        env=dict(os.environ, XDG_DATA_HOME="/nonexistent"),
    )


def what_if(before, strategy):
    """What whatif predicts of the range, as verify calls it; None where it changes nothing."""
    done = run_tool("whatif", "--range", "run", *strategy.split(), *CEILINGS, before)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    place = json.loads(done.stdout)["place"] or {"speedup": None, "low": None, "high": None}
    return {"predicted": place["speedup"], "low": place["low"], "high": place["high"]}


def verify(before, after, advice=None):
    """verify's JSON, without a prediction where there is no such advice."""
    for options in ([["--strategy", advice]] if advice else []) + [[]]:
        done = run_tool("verify", "--force", "--range", "run", *options, *CEILINGS, before, after)
        if done.returncode == 0:
            result = json.loads(done.stdout)
            if not options:
                result["predicted"] = None
            return result
    raise SystemExit(done.stderr.decode())


def predict(folder, workload, before, after, advice):
    folders = [folder / f"{workload}.{variant}" for variant in (before, after)]
    if advice.startswith("--"):
        return {**verify(*folders), **what_if(folders[0], advice)}
    return verify(*folders, advice)


def run_ns(folder):
    """Of all iterations."""
    done = run_tool("report", folder)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return sum(row["total_ns"] for row in json.loads(done.stdout)["ranges"] if row["name"] == "run")


def unexplained():
    """Recordings whose time the model does not give again, with how far it is off, and how many it does."""
    off, explained_count = [], 0
    names = (path.stem for path in (ROOT / "tests" / "recordings").glob("*.roofline"))
    for path in (ROOT / "tests" / "recordings" / name for name in sorted(names)):
        done = run_tool("report", path)
        if done.returncode:
            raise SystemExit(done.stderr.decode())
        reasons = [
            row["reason"]
            for row in json.loads(done.stdout)["rejected"]
            if row["strategy"] == "predictions"
        ]
        share = re.search(r"a time ([\d.]+)% off", reasons[0]) if reasons else None
        if share:
            off.append((path.name, share[1]))
        explained_count += not reasons
    return off, explained_count


def times(ratio):
    return f"{ratio:.2f}x" if ratio else "-"


def is_recorded(path):
    """As a folder or packed."""
    return path.is_dir() or path.with_name(path.name + ".roofline").is_file()


def totals(rows):
    """Of rows with a number: error, width of the interval, and whether what was measured lies inside."""
    errors = sorted(abs(error) for error, _, _ in rows)
    near = sum(error <= 0.25 for error in errors)
    inside = sum(is_inside for _, _, is_inside in rows)
    return (
        f"{len(rows)} rows with a number: median error {100 * statistics.median(errors):.1f}%, "
        f"nine of ten within {100 * errors[math.ceil(0.9 * len(errors)) - 1]:.1f}%, {near} within 25%,\n"
        f"{inside} inside the interval, whose median width is {statistics.median(w for _, w, _ in rows):.2f}x"
    )


def printed_rows(path):
    """Rows with a number of a table that was printed before."""
    pattern = re.compile(r" [\d.]+x +([\d.]+) \.\. ([\d.]+) .* ([-+][\d.]+)% (yes|no)$")
    found = (pattern.search(line) for line in path.read_text().splitlines())
    return [(float(row[3]) / 100, float(row[2]) / float(row[1]), row[4] == "yes") for row in found if row]


def main(folder, paths):
    runs, roles = all_medians(paths), variants()
    layout = "{:21} {:13} {:14} {:22} {:>9} {:>14} {:>8} {:>8} {:>7} {}"
    print(
        layout.format(
            *("workload before after advice predicted interval recorded measured error".split()),
            "inside",
        )
    )
    rows, left_alone = [], []
    for workload, before, after, advice in PAIRS:
        if not all(is_recorded(folder / f"{workload}.{variant}") for variant in (before, after)):
            continue
        result = predict(folder, workload, before, after, advice)
        predicted, low, high = result["predicted"], result["low"], result["high"]
        ends = (workload, before), (workload, after)
        truth = untraced(runs[ends[0]], "before") / untraced(runs[ends[1]], roles[ends[1]])
        is_inside = low <= truth <= high if predicted else truth <= LEAST_GAIN
        if predicted:
            rows.append((predicted / truth - 1, high / low, is_inside))
        else:
            left_alone.append(is_inside)
        print(
            layout.format(
                workload,
                before,
                after,
                advice,
                times(predicted),
                f"{low:.2f} .. {high:.2f}" if predicted else "no advice",
                times(result["measured"]),
                times(truth),
                f"{100 * rows[-1][0]:+.1f}%" if predicted else "-",
                "yes" if is_inside else "no",
            )
        )
    print(f"\n{totals(rows)}")
    print(f"{len(left_alone)} more without advice, {sum(left_alone)} of them with nothing to gain")
    if CEILINGS:
        return
    print_sessions()
    off, explained_count = unexplained()
    print(
        f"\n{explained_count} of {explained_count + len(off)} recordings replay to their own time; "
        "without prediction are:"
    )
    for name, percent in off:
        print(f"{name:31} {percent}% off")


if __name__ == "__main__":
    if sys.argv[1:] == ["--variants"]:
        for (name, variant), role in variants().items():
            print(name, variant, role)
    elif sys.argv[1:2] == ["--median"] and sys.argv[2:]:
        print(sorted(sys.argv[2:], key=run_ns)[(len(sys.argv) - 3) // 2])
    elif sys.argv[1:2] == ["--totals"] and sys.argv[2:]:
        for name in sys.argv[2:]:
            print(f"{pathlib.Path(name).name}: {totals(printed_rows(pathlib.Path(name)))}")
    elif len(sys.argv) == 4:
        CEILINGS += ["--ceilings", sys.argv[3]]
        main(pathlib.Path(sys.argv[1]), [pathlib.Path(sys.argv[2])])
    elif sys.argv[1:]:
        print("predictions.py: wrong arguments; its first lines tell the right ones", file=sys.stderr)
        sys.exit(2)
    else:
        main(ROOT / "tests" / "pairs", PAIRED)
