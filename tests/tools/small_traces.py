#!/usr/bin/env python3
"""Small files of other tools: what a test needs, and nothing else.

    small_traces.py kineto FILE CODE
    small_traces.py nsys FILE CODE

CODE is Python.  For a trace of the PyTorch profiler it calls launch(), call(), kernel(), copy() and run(),
whose times are in microseconds, and may change trace and events.  For a file of Nsight Systems launch(),
kernel() and mark() have times in nanoseconds, and file is the database.
"""

import json
import sqlite3
import sys

DEVICE = {"name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85027979264, "computeMajor": 9,
          "computeMinor": 0, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536,
          "warpSize": 32, "numSms": 132, "sharedMemPerMultiprocessor": 233472}


def kineto(path, code):
    events = []
    trace = {"schemaVersion": 1, "deviceProperties": [dict(DEVICE, id=i) for i in range(2)],
             "cuda_driver_version": 12080, "baseTimeNanoseconds": 1767189312000000000, "traceEvents": events}

    def call(name, correlation, ts, dur=4.0, pid=100, tid=100):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": pid, "tid": tid, "ts": ts,
                       "dur": dur, "args": {"correlation": correlation}})

    def launch(correlation, ts, dur=4.0, pid=100, tid=100, name="cudaLaunchKernel"):
        call(name, correlation, ts, dur, pid, tid)

    def kernel(correlation, ts, dur=30.0, device=0, stream=7, name="gemm_kernel", pid=None, **more):
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": device if pid is None else pid,
                       "tid": stream, "ts": ts, "dur": dur, "args": {
                           "device": device, "context": 1, "stream": stream, "correlation": correlation,
                           "registers per thread": 32, "grid": [132, 1, 1], "block": [256, 1, 1], **more}})

    def copy(correlation, ts, dur=5.0, kind="HtoD (Pinned -> Device)", size=200, stream=7):
        events.append({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy " + kind, "pid": 0, "tid": stream,
                       "ts": ts, "dur": dur, "args": {"device": 0, "context": 1, "stream": stream,
                                                      "correlation": correlation, "bytes": size}})

    def run(count, step=50.25, first=1000.0, correlation=1000, pid=100, device=0, name="gemm_kernel"):
        """So many launches, each with its kernel, that follow each other."""
        for i in range(count):
            launch(correlation + i, first + i * step, pid=pid, tid=pid)
            kernel(correlation + i, first + i * step + 10, device=device, name=name)

    exec(code, {**globals(), **locals()})
    with open(path, "w") as out:
        json.dump(trace, out)


def nsys(path, code):
    file = sqlite3.connect(path)
    file.executescript("""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'gemm(float*)');
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3.1.90');
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
        INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1767189312000000000);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, returnValue);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
            globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ);
        CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid);
        CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text);
    """)

    def globally(pid, thread=0):
        return 1 << 56 | pid << 24 | thread

    def launch(correlation, start, end=None, pid=100):
        file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 1, 0)",
                     (start, end or start + 4000, globally(pid, pid), correlation))

    def kernel(correlation, start, end=None, pid=100, stream=7):
        file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL "
                     "VALUES (?, ?, 0, 1, ?, ?, ?, 2, 2, 132, 1, 1, 256, 1, 1)",
                     (start, end or start + 30000, stream, correlation, globally(pid)))

    def mark(text, start, end, thread, end_thread, kind=60):
        file.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?)",
                     (start, end, kind, text, globally(100, thread), globally(100, end_thread)))

    exec(code, {**globals(), **locals()})
    file.commit()
    file.close()


if __name__ == "__main__":
    {"kineto": kineto, "nsys": nsys}[sys.argv[1]](*sys.argv[2:])
