#!/usr/bin/env python3
"""Writes a recording's folder as the file that another tool would have made of the same run.

    make_foreign.py nsys FOLDER FILE.sqlite      Nsight Systems 2024: nsys export --type sqlite
    make_foreign.py kineto FOLDER FILE.json      PyTorch profiler: export_chrome_trace()
    make_foreign.py ncu FOLDER FILE.csv          Nsight Compute: ncu --csv --page raw

By the documented schemas, with what these tools record and nothing else. Standard library alone.
"""

import csv
import json
import os
import re
import sqlite3
import sys


def table(folder, name):
    path = os.path.join(folder, name + ".csv")
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        rows = csv.DictReader(file)
        return [{key: int(value) if value.isdigit() else value for key, value in row.items()} for row in rows]


class Recording:
    def __init__(self, folder):
        self.folder = folder
        self.facts = {row["key"]: row["value"] for row in table(folder, "process")}
        self.names = {row["id"]: str(row["text"]) for row in table(folder, "names")}
        self.signatures = {row["id"]: row for row in table(folder, "signatures")}
        self.begin_ns = int(self.facts["start_ns"])
        self.pid = int(self.facts["pid"])

    def rows(self, name):
        return table(self.folder, name)

    def ranges(self):
        """NVTX ranges as (start, end, name, thread, is_push_pop)."""
        starts = {}
        for row in self.rows("markers"):
            if row["phase"] == 1:
                starts[row["id"]] = row
            elif row["phase"] == 2 and row["id"] in starts:
                start = starts.pop(row["id"])
                name = self.names[start["name"]]
                yield start["time_ns"], row["time_ns"], name, start["thread"], start["is_thread"]


# ---- Nsight Systems ----

MEMORY_KINDS = "Pageable,Pinned,Device,Array,Managed,Device Static,Managed Static,Unknown".split(",")
SYNC_KINDS = ["", "Event synchronize", "Stream wait event", "Stream synchronize", "Context synchronize"]


class Database:
    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.strings = {}

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings) + 1)

    def add(self, name, columns, rows):
        rows = list(rows)
        if not rows and not name.startswith("ENUM"):  # as nsys does: tables are made when they have a row
            return
        quoted = ", ".join('"%s"' % column for column in columns.split())
        self.connection.execute("CREATE TABLE %s (%s)" % (name, quoted))
        marks = ",".join("?" * len(columns.split()))
        self.connection.executemany("INSERT INTO %s VALUES (%s)" % (name, marks), rows)

    def close(self):
        self.connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        self.connection.executemany(
            "INSERT INTO StringIds VALUES (?, ?)", ((number, text) for text, number in self.strings.items())
        )
        self.connection.commit()
        self.connection.close()


def kernel_row(recording, database, row):
    look = recording.signatures[row["signature"]]
    name = database.string(recording.names[look["name"]])
    return (
        row["start_ns"] - recording.begin_ns,
        row["end_ns"] - recording.begin_ns,
        row["device"], row["context"], row["stream"], row["correlation"], recording.pid << 24,
        name, name, name, look["launch_type"] + 1, look["registers_per_thread"],
        look["grid_x"], look["grid_y"], look["grid_z"], look["block_x"], look["block_y"], look["block_z"],
        look["static_shared_bytes"], look["dynamic_shared_bytes"], look["local_bytes_per_thread"],
        row["graph_node"] or None,
    )


def write_nsys(recording, path):
    database = Database(path)
    begin, pid = recording.begin_ns, recording.pid << 24

    def times(row):
        return row["start_ns"] - begin, row["end_ns"] - begin

    def place(row):
        return row["device"], row["context"], row["stream"], row["correlation"], pid

    database.add("META_DATA_EXPORT", "name value", [("EXPORT_PRODUCT_VERSION", "2024.6.2.225")])
    database.add("TARGET_INFO_SESSION_START_TIME", "utcEpochNs utcTime localTime", [(begin, "", "")])
    database.add("TARGET_INFO_SYSTEM_ENV", "globalVid devStateName name nameEnum value",
                 [(0, "", "Hostname", 0, recording.facts["host"]),
                  (0, "", "CudaDriverVersion", 0, "13000")])
    database.add("PROCESSES", "globalPid pid name", [(pid, recording.pid, "./app")])
    for name, labels in ("ENUM_CUDA_MEM_KIND", MEMORY_KINDS), ("ENUM_CUPTI_SYNC_TYPE", SYNC_KINDS):
        database.add(name, "id name label", ((i, label, label) for i, label in enumerate(labels)))
    database.add(
        "TARGET_INFO_GPU",
        "id name uuid cuDevice computeMajor computeMinor smCount clockRate totalMemory memoryBandwidth "
        "l2CacheSize asyncEngines maxWarpsPerSm maxBlocksPerSm maxRegistersPerSm maxShmemPerSm",
        ((row["device"] + 5, row["name"], row["uuid"][4:], row["device"], row["compute_major"],
          row["compute_minor"], row["sm_count"], row["sm_clock_khz"] * 1000, row["memory_bytes"],
          row["memory_byte_per_s"], row["l2_bytes"], row["copy_engine_count"], row["max_warps_per_sm"],
          row["max_blocks_per_sm"], row["max_registers_per_sm"], row["max_shared_bytes_per_sm"])
         for row in recording.rows("devices")),
    )
    database.add("TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid uuid",
                 ((row["device"] + 5, row["device"], recording.pid, row["uuid"])
                  for row in recording.rows("devices")))
    database.add(
        "TARGET_INFO_CUDA_CONTEXT_INFO",
        "nullStreamId processId deviceId contextId parentContextId isGreenContext",
        ((row["null_stream"], recording.pid, row["device"], row["context"], 0, 0)
         for row in recording.rows("contexts")),
    )
    database.add("TARGET_INFO_CUDA_STREAM", "streamId processId contextId priority flag",
                 ((row["stream"], recording.pid, row["context"], row["priority"], row["flag"])
                  for row in recording.rows("streams")))
    database.add("CUPTI_ACTIVITY_KIND_RUNTIME",
                 "start end eventClass globalTid correlationId nameId returnValue",
                 (times(row) + (0, pid | row["thread"], row["correlation"],
                                database.string(recording.names[row["name"]]), row["result"])
                  for row in recording.rows("api")))
    database.add(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "start end deviceId contextId streamId correlationId globalPid demangledName shortName mangledName "
        "launchType registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
        "dynamicSharedMemory localMemoryPerThread graphNodeId",
        (kernel_row(recording, database, row) for row in recording.rows("kernels")),
    )
    database.add(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "start end deviceId contextId streamId correlationId globalPid bytes copyKind srcKind dstKind "
        "graphNodeId",
        (times(row) + place(row) + (row["bytes"], row["kind"], row["src_memory"] - 1, row["dst_memory"] - 1,
                                    row["graph_node"] or None) for row in recording.rows("copies")),
    )
    database.add(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "start end deviceId contextId streamId correlationId globalPid value bytes graphNodeId memKind",
        (times(row) + place(row) + (row["value"], row["bytes"], row["graph_node"] or None, row["memory"] - 1)
         for row in recording.rows("memsets")),
    )
    database.add(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "start end deviceId contextId streamId correlationId globalPid syncType eventId",
        (times(row) + (0, row["context"], row["stream"], row["correlation"], pid, row["kind"], row["event"])
         for row in recording.rows("syncs")),
    )
    database.add("NVTX_EVENTS", "start end eventType rangeId text globalTid textId domainId",
                 ((start - begin, end - begin, 59 if push else 60, None, None, pid | thread,
                   database.string(name), 0)
                  for start, end, name, thread, push in recording.ranges()))
    database.close()


# ---- PyTorch profiler ----

KINETO_MEMORY = {1: "Pageable", 2: "Pinned", 3: "Device", 4: "Array", 5: "Managed"}
KINETO_COPIES = {1: "HtoD", 2: "DtoH", 8: "DtoD", 9: "HtoH", 10: "PtoP"}


def microseconds(ns):
    """Marked, so that it becomes a number with every digit of the nanoseconds."""
    return "@%d.%03d@" % (ns // 1000, ns % 1000)


def write_kineto(recording, path):
    begin = recording.begin_ns

    def event(category, name, pid, tid, row, arguments):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                "ts": microseconds(row["start_ns"] - begin),
                "dur": microseconds(row["end_ns"] - row["start_ns"]),
                "args": arguments}

    def place(row):
        return {"device": row["device"], "context": row["context"], "stream": row["stream"],
                "correlation": row["correlation"], "graph node id": row["graph_node"]}

    events = []
    for row in recording.rows("api"):
        name = recording.names[row["name"]].split("_v")[0]
        category = "cuda_runtime" if name.startswith("cuda") else "cuda_driver"
        arguments = {"correlation": row["correlation"]}
        events.append(event(category, name, recording.pid, row["thread"], row, arguments))
    for row in recording.rows("kernels"):
        look = recording.signatures[row["signature"]]
        arguments = place(row)
        arguments["registers per thread"] = look["registers_per_thread"]
        arguments["shared memory"] = look["static_shared_bytes"] + look["dynamic_shared_bytes"]
        arguments["grid"] = [look["grid_x"], look["grid_y"], look["grid_z"]]
        arguments["block"] = [look["block_x"], look["block_y"], look["block_z"]]
        name = recording.names[look["name"]]
        events.append(event("kernel", name, row["device"], row["stream"], row, arguments))
    for row in recording.rows("copies"):
        name = "Memcpy %s (%s -> %s)" % (
            KINETO_COPIES[row["kind"]], KINETO_MEMORY[row["src_memory"]], KINETO_MEMORY[row["dst_memory"]])
        arguments = dict(place(row), bytes=row["bytes"])
        events.append(event("gpu_memcpy", name, row["device"], row["stream"], row, arguments))
    for row in recording.rows("memsets"):
        name = "Memset (%s)" % KINETO_MEMORY[row["memory"]]
        arguments = dict(place(row), bytes=row["bytes"])
        events.append(event("gpu_memset", name, row["device"], row["stream"], row, arguments))
    for start, end, name, thread, _ in recording.ranges():
        times = {"start_ns": start, "end_ns": end}
        events.append(event("user_annotation", name, recording.pid, thread, times, {"External id": 1}))
    name = {"name": "python3"}
    events.append({"ph": "M", "name": "process_name", "pid": recording.pid, "tid": 0, "args": name})
    devices = [
        {"id": row["device"], "name": row["name"], "totalGlobalMem": row["memory_bytes"],
         "computeMajor": row["compute_major"], "computeMinor": row["compute_minor"],
         "maxThreadsPerMultiprocessor": 32 * row["max_warps_per_sm"], "warpSize": 32,
         "regsPerMultiprocessor": row["max_registers_per_sm"],
         "sharedMemPerMultiprocessor": row["max_shared_bytes_per_sm"], "numSms": row["sm_count"]}
        for row in recording.rows("devices")
    ]
    trace = {"schemaVersion": 1, "deviceProperties": devices, "cuda_driver_version": 13000,
             "traceEvents": events, "traceName": path, "displayTimeUnit": "ms", "baseTimeNanoseconds": begin}
    if "rank" in recording.facts:
        facts = recording.facts
        trace["distributedInfo"] = {"backend": "nccl", "rank": int(facts["rank"]),
                                    "world_size": int(facts["world_size"])}
    with open(path, "w") as file:
        file.write(re.sub(r'"@([0-9.]+)@"', r"\1", json.dumps(trace)))


# ---- Nsight Compute ----

NCU_COLUMNS = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC"


def write_ncu(recording, path):
    """The launches that were counted, with thousands grouped and bytes in KB, as a locale may have them."""
    named = (row for row in recording.rows("metrics") if row["name"])
    metrics = {row["id"]: recording.names[row["name"]] for row in named}
    columns = sorted(set(metrics.values()))
    counted = {row["id"]: row for row in recording.rows("counted")}
    kernels = {row["correlation"]: row for row in recording.rows("kernels")}
    for row in counted.values():
        kernels.setdefault(row["correlation"], kernels[row["like"]])
    values = {}
    for row in recording.rows("counters"):
        launch = values.setdefault(counted[row["counted"]]["correlation"], {})
        launch[metrics[row["metric"]]] = float(row["value"])
    with open(path, "w") as file:
        print("==PROF== Connected to process 77 (app)", file=file)
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(NCU_COLUMNS.split(",") + ["launch__registers_per_thread"] + columns)
        units = ["Kbyte" if "bytes" in name else "us" if "time" in name else "" for name in columns]
        writer.writerow([""] * len(NCU_COLUMNS.split(",")) + ["register/thread"] + units)
        for number, (correlation, launch) in enumerate(values.items()):
            kernel = kernels[correlation]
            look = recording.signatures[kernel["signature"]]
            grid, block = (
                "(%d, %d, %d)" % tuple(look[what + axis] for axis in "xyz") for what in ("grid_", "block_")
            )
            texts = [
                "" if name not in launch else "{:,.6f}".format(launch[name] / (1000 if unit else 1))
                for name, unit in zip(columns, units)
            ]
            name = recording.names[look["name"]]
            writer.writerow([number, 77, "app", "host", name, 1, 7, block, grid, 0, "9.0",
                             look["registers_per_thread"]] + texts)
        print("==PROF== Disconnected from process 77", file=file)


def main():
    kind, folder, path = sys.argv[1:]
    {"nsys": write_nsys, "kineto": write_kineto, "ncu": write_ncu}[kind](Recording(folder), path)


main()
