#!/usr/bin/env python3
"""The first advice for each naive workload of tests/recordings, beside the technique that the workload shows.

    tests/bench/advice.py

Needs no GPU.  Asked is about the NVTX range `run`, in which every workload does its iterations, where a
recording has it (torch_loop has no ranges).  A control's right answer is to leave it: the verdict of the
range and that of the whole run, which is what a user reads, name no change.  Where a verdict says first that
it is at its roof, or that there is little to gain, and then what alone would gain, that is told apart.
"""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bin" / "rooflinectl"
CONTROL = None

# recording, ids of the advice that names the technique, or what has to be done for it anyhow and brings
# most of it: the plan goes on with the rest; CONTROL: to be left as it is
ROWS = [
    ("atomic_batch.naive", {"hot_atomics"}),
    ("atomic_hierarchy.naive", {"hot_atomics"}),
    ("histogram.naive", {"hot_atomics"}),
    ("work_queue.naive.sampled", {"sm_imbalance"}),
    ("work_queue_mild.naive.sampled", CONTROL),
    ("persistent.naive", {"launch_bound_graph"}),
    ("graph_chain.naive", {"launch_bound_graph", "sync_every_kernel"}),
    ("graph_pipeline.naive", {"launch_bound_graph"}),
    ("graph_forkjoin.naive", {"underfilled_gpu"}),
    ("graph_manual.naive", {"underfilled_gpu", "host_node"}),  # both variants have a callback
    ("graph_update.naive", {"graph_rebuilt"}),
    ("graph_memory.malloc", {"allocation_in_loop"}),
    ("graph_modes.naive", {"launch_bound_graph"}),
    ("graph_large.naive", CONTROL),
    ("device_graph.naive", {"while_node"}),
    ("device_scheduler.naive", {"while_node"}),
    ("device_choice.naive", {"host_decision"}),
    ("conditional_if.naive", {"host_decision"}),
    ("conditional_ifelse.naive", {"host_decision"}),
    ("conditional_switch.naive", {"host_decision"}),
    ("conditional_while.naive", {"while_node"}),
    ("conditional_nested.naive", {"host_decision"}),
    ("conditional_precision.naive", {"host_decision"}),
    ("dynamic_parallelism.naive", {"host_decision", "launch_bound_graph", "sync_every_kernel"}),
    ("dp_irregular.naive", {"sm_imbalance"}),
    ("dp_tokens.naive", {"device_launch", "batch_launches"}),  # its compacted variant is one launch for all
    ("dp_tiny.naive", CONTROL),
    ("copy_overlap.naive", {"copy_overlap", "pageable_copy"}),
    # which of them, no recording tells
    ("concurrent_kernels.naive", {"underfilled_gpu", "fill_gpu", "batch_launches"}),
    ("memory_bound.naive", CONTROL),
    ("compute_bound.naive", CONTROL),
    ("precision.naive", {"memory_roof"}),
    ("dependent_launch.naive", {"dependent_launch"}),
    ("clusters.naive", {"memory_roof", "fuse_neighbors"}),  # a cluster makes one kernel of two
    ("fuse_elementwise.naive", {"fuse_neighbors"}),
    ("fuse_elementwise.naive_relu", {"fuse_neighbors"}),
    ("fuse_reduction.naive", {"fuse_neighbors"}),
    ("fuse_horizontal.naive", {"batch_launches", "underfilled_gpu", "fill_gpu"}),
    ("fuse_horizontal.naive_mixed", {"batch_launches"}),
    ("fuse_conv_bn_relu.naive", {"fuse_neighbors"}),
    ("fuse_conv_bn_relu.nchw_naive", {"fuse_neighbors"}),
    ("fuse_layernorm_gemm.naive", {"fuse_neighbors"}),
    ("overfused.naive", CONTROL),
    ("overfused.limited", {"register_spills"}),
    ("overfused.nine", {"register_spills"}),
    ("bank_conflict.naive", {"bank_conflicts"}),
    ("bank_conflict.padded", CONTROL),
    ("transformer.naive", {"launch_bound_graph", "fuse_neighbors"}),
    ("jit_gemm.naive", {"tensor_cores"}),
    ("jit_gemm.no_cache", {"repeated_module_load"}),
    ("jit_gemm.small_cache", {"repeated_module_load"}),
    ("jit_gemm.cold_start", {"compile_cache"}),
    ("jit_gemm.no_architecture", {"refused_code"}),
    ("jit_ptx.naive", CONTROL),
    ("jit_ptx.each_time", {"repeated_module_load"}),
    # a tile in shared memory: lanes that write far apart, and loads under way
    ("tune_transpose.naive", {"uncoalesced", "latency_bound"}),
    ("tune_transpose.32x8_tile32", {"bank_conflicts"}),
    ("p2p_overlap.naive", {"staged_peer_copy"}),
    ("p2p_overlap.overlapped", CONTROL),
    ("nccl_bucketed.naive", {"exposed_communication"}),
    ("nccl_bucketed.buckets", CONTROL),
    ("nccl_graph.naive", {"launch_bound_graph", "sync_every_kernel"}),
    ("mpi_cuda.naive", {"pageable_copy", "copy_overlap"}),
    ("scaling.naive", {"exposed_communication"}),
    ("scaling.overlapped", CONTROL),
    ("pitfalls.staged_peer_copy", {"staged_peer_copy"}),
    ("pytorch.naive", {"launch_bound_graph"}),
    ("torch_loop.eager", {"launch_bound_graph"}),
]

# How a verdict begins that names no change, or says first that it is not worth much; any other names one.
VERDICTS = [
    ("none: ", "yes"),
    ("none is predicted: ", "yes"),
    ("at its roof; ", "at its roof"),
    ("little to gain: ", "little"),
]

ADVICE_NONE = {"place": None, "speedup": None}


def advice_of(recording):
    """Of its range `run`; where there is none, or nothing for what one GPU alone does there, of all of it."""
    path = ROOT / "tests" / "recordings" / recording
    env = dict(os.environ, XDG_DATA_HOME="/nonexistent")
    for options in (["--range", "run"], []):
        command = [TOOL, "advise", *options, "--format", "json", path]
        done = subprocess.run(command, capture_output=True, check=False, env=env)
        advice = json.loads(done.stdout)["advice"] if done.returncode == 0 else []
        if advice:
            break
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return advice


def verdict_of(recording):
    """What the verdict says of a control: the worse of the range's and the whole run's."""
    path = ROOT / "tests" / "recordings" / recording
    env = dict(os.environ, XDG_DATA_HOME="/nonexistent")
    worst = -1
    for options in (["--range", "run"], []):
        command = [TOOL, "report", *options, "--format", "json", path]
        done = subprocess.run(command, capture_output=True, check=True, env=env)
        change = json.loads(done.stdout)["verdict"]["change"]
        begins = [i for i, (start, _) in enumerate(VERDICTS) if change.startswith(start)]
        is_named = not begins or "; of what happens once: " in change
        worst = max(worst, len(VERDICTS) if is_named else begins[0])
    return VERDICTS[worst][1] if worst < len(VERDICTS) else "no"


def gains(item):
    """Predicted speedups: of the range or part, and of the whole run; 1 where nothing is predicted."""
    return (item["place"]["speedup"] or 1) if item["place"] else 1, item["speedup"] or 1


def main():
    print(f"{'recording':30} {'first advice':20} {'range':>8} {'whole run':>9}  right")
    right_count = 0
    told = []  # of controls
    unsure_count = 0
    for recording, wanted in ROWS:
        advice = advice_of(recording)
        first = advice[0] if advice else None
        is_control = wanted is CONTROL
        if is_control:
            verdict = verdict_of(recording)
            told.append(verdict)
        else:
            is_right = first is not None and first["id"] in wanted
            verdict = "yes" if is_right else "no"
            right_count += is_right
            unsure_count += is_right and first["unsure"]
        is_predicted = first is not None and first["speedup"]
        place, program = (f"{gain:.2f}x" if is_predicted else "-" for gain in gains(first or ADVICE_NONE))
        name = first["id"] if first else "none"
        verdict += " (control)" if is_control else ""
        print(f"{recording:30} {name:20} {place:>8} {program:>9}  {verdict}")
    print(
        f"\n{right_count} of {len(ROWS) - len(told)} techniques first\n"
        f"{told.count('yes')} of {len(told)} controls left alone: the verdict names no change\n"
        f"of {told.count('at its roof')} it says that they are at their roof, and what alone is faster\n"
        f"of {told.count('little')} it says that there is little to gain\n"
        f"of {told.count('no')} it names a change\n"
        f"of {unsure_count} of the techniques the verdict says perhaps: the low end of the interval is a loss"
    )


if __name__ == "__main__":
    main()
