#!/usr/bin/env python3
"""What rooflinectl import makes of files that other people published: prints docs/results/imports.txt.

    docs/results/imports.py CLONES

CLONES has a clone of each repository of FILES as OWNER/NAME, at the commit named there.  The files stay there: only
what the program says of them is kept.  Each is imported; then report, report --format json, advise, whatif --list,
compare with itself and report --html read the recording.  Kernels and copies are counted beside that by Python's own
readers of SQLite, JSON and CSV, and the kernels' times are summed: "as in the file" says that all three are the same.
"""

import collections
import csv
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/bin/rooflinectl"
COMMANDS = (("report",), ("report", "--format", "json"), ("advise",), ("whatif", "--list"), ("compare", "{again}"),
            ("report", "--html", "{page}"))
Source = collections.namedtuple("Source", "repository commit licence files")
# Files in one tuple are imported together.
FILES = (
    Source("morluto/flameox", "f94c860fc423", "MIT", (
        "tests/fixtures/nsight_systems/nsight-2025.5.2.sqlite",)),
    Source("GindaChen/nsys-ai", "ab196ea237d9", "MIT", (
        "tests/fixtures/h100_2gpu_1s.sqlite", "tests/fixtures/mfu_2gpu_before.sqlite",
        "tests/fixtures/mfu_2gpu_after.sqlite", "tests/fixtures/mock.sqlite")),
    Source("brycelelbach/nsightful", "454dfa5124eb", "BSD-3-Clause", (
        "tests/power_iteration__baseline.sqlite",
        ("tests/power_iteration__baseline.sqlite", "tests/copy_blocked.csv"))),
    Source("facebookresearch/HolisticTraceAnalysis", "f4d0062c382f", "MIT", (
        "tests/data/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
        "tests/data/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz",
        "tests/data/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz",
        "tests/data/df_index_resolver/df_index_resolver.json.gz",
        "tests/data/negative_queue_length_values_check/rank0.json.gz",
        "tests/data/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
        "tests/data/nccl_parser_config/nccl_data.json.gz",
        "tests/data/trace_diff/control/control.json.gz", "tests/data/trace_diff/test/test.json.gz",
        ("tests/data/trace_filter/sampled_rank-0.json.gz", "tests/data/trace_filter/sampled_rank-1.json.gz"),
        "tests/data/triton_example/triton_example.json.gz",
        "tests/data/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
        "tests/data/mtia_trace_single_rank/mtia_rank_0.json.gz",
        "tests/data/execution_trace/benchmark_simple_add_et.json.gz")),
    Source("AMD-AGI/TraceLens", "171dd74721ca", "MIT", (
        "tests/traces/b200/eager_trace.json.gz",
        "tests/traces/h100/Falconsai_nsfw_image_detection__1016002.json.gz",
        "tests/traces/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz",
        "tests/traces/h100/gaunernst_bert-small-uncased__1016001.json.gz",
        "tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz",
        "tests/traces/mi300/Falconsai_nsfw_image_detection__1016002.json.gz",
        "tests/traces/mi300/facebook_timesformer-base-finetuned-k400__1016002.json.gz",
        "tests/traces/mi300/gaunernst_bert-small-uncased__1016001.json.gz",
        "tests/traces/mi300/google_owlv2-large-patch14-ensemble__1016001.json.gz",
        "tests/traces/mi300/resnet_act_checkpoint.json.gz",
        "tests/traces/mi210/gpu_only_trace/gpu_only_trace.json.gz",
        "tests/traces/inference/xdit_sd_3.5/profile_trace_rank_0.json.gz",
        "tests/traces/inference/xdit_flux.1/capture_traces/capture_trace_rank_0.json.gz",
        "tests/traces/perf_model/normalization/normalization_layer_test.json.gz",
        "tests/traces/torch_compile_triton/trace.json.gz",
        "tests/rocprof/908_results.json.gz")),
    Source("jimw567/rocprof-unified-viewer", "b384fc29211b", "MIT", (
        ("tests/fixtures/decode_kernel_trace.csv", "tests/fixtures/decode_hip_api_trace.csv"),
        ("tests/fixtures/prefill_kernel_trace.csv", "tests/fixtures/prefill_hip_api_trace.csv"))),
    Source("ROCm/rocm-systems", "1b1610fc2b2a", "MIT", (
        "projects/rocprofiler-sdk/source/docs/data/kernel_trace.csv",
        "projects/rocprofiler-sdk/source/docs/data/memory_copy_trace.csv")),
)

# ---- what the files themselves say ----

Counts = collections.namedtuple("Counts", "kernels kernel_ns copies")


def count_sqlite(path):
    def one(table):
        try:
            return file.execute(f"SELECT COUNT(*), SUM(end - start) FROM CUPTI_ACTIVITY_KIND_{table}").fetchone()
        except sqlite3.OperationalError:
            return 0, 0
    file = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    (kernels, time), (copies, _) = one("KERNEL"), one("MEMCPY")
    return Counts(kernels, time or 0, copies)


def count_json(path):
    with gzip.open(path) as file:
        trace = json.load(file)
    found = collections.defaultdict(list)
    for event in trace.get("traceEvents", []) if isinstance(trace, dict) else trace:
        if event.get("ph") == "X":
            found[event.get("cat")].append(event["dur"])
    return Counts(len(found["kernel"]), round(sum(found["kernel"]) * 1000), len(found["gpu_memcpy"]))


def count_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    kernels = [int(row["End_Timestamp"]) - int(row["Start_Timestamp"]) for row in rows if "Kernel_Name" in row]
    return Counts(len(kernels), sum(kernels), sum("Direction" in row for row in rows))


def count(path):
    if path.suffix == ".sqlite":
        return count_sqlite(path)
    if path.suffix == ".gz":
        return count_json(path)
    return Counts(0, 0, 0) if "Metric Name" in path.read_text()[:500] else count_csv(path)


# ---- what the program says ----


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "TERM": "dumb"})


def read(folder):
    """What cannot read the recording, and the report."""
    failed = []
    for command in COMMANDS:
        command = [word.format(again=folder, page=folder.with_name("page.html")) for word in command]
        if run(*command, folder).returncode:
            failed.append(command[0])
    return failed, json.loads(run("report", "--format", "json", folder).stdout)


def verdict(folder):
    lines = [" ".join(line.split()) for line in run("report", "--section", "verdict", folder).stdout.splitlines()]
    text = " ".join(lines)
    return text[text.find("limit ") + len("limit "):text.find(" change ")].split("; what ")[0]


def describe(folder, paths):
    failed, report = read(folder)
    told = [count(path) for path in paths]
    kernels = sum(kernel["count"] for kernel in report["kernels"])
    time = sum(kernel["total_ns"] for kernel in report["kernels"])
    copies = sum(copy["count"] for copy in report["copies"])
    same = kernels == sum(counts.kernels for counts in told) and copies == sum(counts.copies for counts in told) \
        and abs(time - sum(counts.kernel_ns for counts in told)) <= 1
    yield (f"{kernels:,} kernels of {time / 1e6:,.3f} ms, {copies:,} copies, "
           f"{sum(call['count'] for call in report['api']):,} calls: "
           f"{'as in the file' if same else f'the file has {told}'}")
    yield "GPU " + ", ".join(sorted({str(device["name"]) for device in report["devices"]}))
    if report["losses"]:
        yield "lost " + ", ".join(f"{number:,} {kind}" for kind, number in report["losses"].items())
    yield "limit " + verdict(folder)
    yield "not read by " + ", ".join(failed) if failed else f"read by all {len(COMMANDS)} commands"


def extract(clone, commit, name, folder):
    path = folder / pathlib.PurePath(name).name
    blob = subprocess.run(["git", "-C", clone, "show", f"{commit}:{name}"], capture_output=True, check=True).stdout
    path.write_bytes(blob)
    return path


def show(source, clone, names):
    names = names if isinstance(names, tuple) else (names,)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = [extract(clone, source.commit, name, folder) for name in names]
        for name, path in zip(names, paths):
            print(f"{name}  ({path.stat().st_size:,} bytes)")
        made = run("import", *paths, "-o", folder / "recording")
        lines = describe(folder / "recording", paths) if made.returncode == 0 else \
            ["refused: " + made.stderr.strip().replace(f"{folder}/", "").removeprefix("rooflinectl import: ")]
        for line in lines:
            print(textwrap.fill(line, 110, initial_indent="    ", subsequent_indent="      ", break_long_words=False))


def main():
    clones = pathlib.Path(sys.argv[1])
    for source in FILES:
        print(f"\n{source.repository} at {source.commit}, {source.licence}")
        for names in source.files:
            show(source, clones / source.repository, names)


if __name__ == "__main__":
    main()
