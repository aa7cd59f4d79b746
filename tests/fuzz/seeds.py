#!/usr/bin/env python3
"""Makes the first inputs of every target of tests/fuzz from the recordings of the repository.

    seeds.py ROOFLINECTL FOLDER    into FOLDER/TARGET/

Tables are cut to their first rows: a small input is changed in more ways in the same time.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROWS = 40
COMMANDS = 16  # recording.c
# Together they have what the analyses look for.
RECORDINGS = """nvtx_ranges persistent.persistent pitfalls.no_bank_conflicts device_graph.tail
    copy_overlap.naive conditional_while.naive pytorch.naive collectives.ordered graph_update.naive
    syncs jit_gemm.disk pitfalls.late_module_load pitfalls.low_occupancy transformer.selected
    device_graph atomic_batch.naive graph_memory.naive nccl_bucketed.naive p2p_overlap.naive
    nvshmem_step.naive work_queue.naive.sampled torch_train clusters.naive""".split()
# Beside them are runs without recording.
PAIRS = "graph_chain.naive".split()


class Seeds:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def put(self, target, name, content):
        os.makedirs(os.path.join(self.folder, target), exist_ok=True)
        with open(os.path.join(self.folder, target, name), "wb") as file:
            file.write(content)

    def unpack(self, name, folder):
        within = "tests/pairs" if name in PAIRS else "tests/recordings"
        path = os.path.join(ROOT, within, name + ".roofline")
        if os.path.exists(path):
            subprocess.run([self.program, "unpack", path, "-o", folder], check=True)
        return os.path.exists(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def tables(folder):
    """The recording as recording.c takes it, without what it begins with."""
    text = b""
    for process in sorted(os.listdir(folder)):
        text += b"@@" + process.encode() + b"\n"
        for table in sorted(os.listdir(os.path.join(folder, process))):
            lines = read(os.path.join(folder, process, table)).splitlines(keepends=True)
            text += b"@" + table.replace(".csv", "").encode() + b"\n" + b"".join(lines[: ROWS + 1])
    return text


def every_table():
    """Two rows in each table of the schema, also of those that no recording has."""
    text = read(os.path.join(ROOT, "include/roofline/trace_schema.h")).decode()
    definitions = re.findall(r"#define TRACE_(\w+)\(COLUMN\) \\\n((?:.*\\\n)*.*)", text)
    columns = {name: re.findall(r"COLUMN\(\w+, (\w+),", body) for name, body in definitions}
    made = "@@host.8\n"
    for table, name in re.findall(r"\bTABLE\((\w+), TRACE_(\w+)\)", text):
        made += "@%s\n%s\n" % (table, ",".join(columns[name]))
        for row in (1, 2):
            values = (str(row * 1000000 if column.endswith("_ns") else row) for column in columns[name])
            made += ",".join(values) + "\n"
    return made.encode()


def put_recordings(seeds, scratch):
    names = b""
    for command in range(COMMANDS):
        seeds.put("recording", "every_table.%d" % command, bytes([command, 0]) + every_table())
    for number, name in enumerate(RECORDINGS + PAIRS):
        folder = os.path.join(scratch, name)
        if not seeds.unpack(name, folder):
            sys.exit("seeds.py: no recording " + name)
        text = tables(folder)
        for command in (number * 2 % COMMANDS, (number * 2 + 1) % COMMANDS):
            choice = bytes([command, number % 128])
            seeds.put("recording", "%s.%d" % (name, command), choice + text)
        names += text
    lines = {line.split(b",", 1)[1].strip(b'"\r') for line in names.split(b"\n") if b",_Z" in line}
    for number, line in enumerate(sorted(lines)):
        seeds.put("names", "%d" % number, line)


def put_packed(seeds):
    for name in ("syncs", "work_queue.naive"):
        content = read(os.path.join(ROOT, "tests/recordings", name + ".roofline"))
        seeds.put("packed", name, content)
        tar = subprocess.run(["zstd", "-dc"], input=content, stdout=subprocess.PIPE) if has("zstd") else None
        if tar:
            seeds.put("packed", name + ".tar", tar.stdout[:20480])


def has(program):
    return any(os.access(os.path.join(folder, program), os.X_OK) for folder in os.environ["PATH"].split(":"))


def put_ceilings(seeds):
    folder = os.path.join(ROOT, "ceilings")
    for name in sorted(os.listdir(folder)):
        seeds.put("ceilings", name, read(os.path.join(folder, name)))


def put_imported(seeds, scratch):
    script = os.path.join(ROOT, "tests/tools/make_foreign.py")
    for name in ("nvtx_ranges", "work_queue.naive"):
        folder = os.path.join(scratch, "foreign." + name)
        seeds.unpack(name, folder)
        process = os.path.join(folder, sorted(os.listdir(folder))[0])
        for kind in ("nsys", "kineto", "ncu"):
            path = os.path.join(scratch, "file")
            made = subprocess.run([sys.executable, script, kind, process, path], stderr=subprocess.DEVNULL)
            if made.returncode == 0 and os.path.exists(path):
                seeds.put("imported", "%s.%s" % (name, kind), read(path)[:65536])
                os.remove(path)
    folder = os.path.join(ROOT, "tests/recordings/foreign/rocprofv3")
    for name in sorted(os.listdir(folder)):
        seeds.put("imported", name, read(os.path.join(folder, name)))


def put_trials(seeds):
    folder = os.path.join(ROOT, "docs/results")
    for name in ("autotune", "tune_transpose", "tune_scheduler"):
        path = os.path.join(folder, name, "trials.jsonl")
        if os.path.exists(path):
            seeds.put("trials", name, b"".join(read(path).splitlines(keepends=True)[:12]))


def put_outputs(seeds):
    run = "step %d of 3: %.3f ms\nsum 1024\n"
    texts = [run % (step, ms) for step, ms in ((1, 2.5), (1, 2.75), (2, 1.5))]
    seeds.put("outputs", "runs", "@@\n".join(texts).encode())
    seeds.put("outputs", "long", "@@\n".join(text * 400 for text in texts).encode())
    text = read(os.path.join(ROOT, "include/roofline/try.h")).decode()
    names = re.findall(r"\b(?:COUNT|REASON)\(\w+, \"([^\"]+)\"", text)
    rows = ["%s%s,%d" % (prefix, name, 7) for name in names for prefix in ("", "passed:", "flush:")]
    seeds.put("outputs", "reached", "\n".join(rows).encode())


def put_live(seeds, scratch):
    text = read(os.path.join(ROOT, "include/roofline/control.h")).decode()
    status = "".join("%s 5\n" % name for name in re.findall(r"\bVALUE\((\w+),", text))
    files = "@status\n" + status + "busy_ns.0 4\n@slow\nstart_ns 1\nend_ns 9\nlimit_ns 2\n"
    folder = os.path.join(scratch, "live")
    seeds.unpack("syncs", folder)
    process = os.path.join(folder, os.listdir(folder)[0])
    for table in ("process", "kernels", "signatures", "names"):
        lines = read(os.path.join(process, table + ".csv")).decode().splitlines(keepends=True)
        files += "@%s.csv\n%s" % (table, "".join(lines[: ROWS + 1]))
    seeds.put("live", "syncs", files.encode())


def put_summaries(seeds, scratch):
    """Without the program zstd a summary cannot be read here: then it begins with its first line."""
    seeds.put("summaries", "first_line", b"roofline-summary 1\n")
    for name in ("collectives.ordered", "graph_chain.naive"):
        path = os.path.join(scratch, "summary")
        recording = os.path.join(ROOT, "tests/recordings", name + ".roofline")
        subprocess.run([seeds.program, "summarize", recording, "-o", path], check=True)
        if has("zstd"):
            text = subprocess.run(["zstd", "-dc"], input=read(path), stdout=subprocess.PIPE).stdout
            lines = text.splitlines(keepends=True)
            seeds.put("summaries", name, b"".join(lines[:150] + lines[-60:])[:32000])
        os.remove(path)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    seeds = Seeds(sys.argv[1], sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        put_recordings(seeds, scratch)
        put_packed(seeds)
        put_ceilings(seeds)
        put_imported(seeds, scratch)
        put_summaries(seeds, scratch)
        put_live(seeds, scratch)
    put_trials(seeds)
    put_outputs(seeds)


main()
