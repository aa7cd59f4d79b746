#!/usr/bin/env python3
"""make_crowd.py DIR N [SHAPE...] - writes recordings with N of one thing, each as DIR/SHAPE.

A shape is a thing of which a recording may have any number: kernels that run at the same time, names,
streams, losses...  Whatever its size, a report must not take time that grows with its square: see
tests/unit/test_scaling.c, which counts steps, and tests/bench/scaling.py, which shows where time goes.
To add one: a function here with @shape.  The same arguments give the same bytes.
"""
import os
import re
import sys

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/roofline/trace_schema.h")
START_NS = 1_760_000_000_000_000_000
NULL_STREAM = 7
SHAPES = {}


def read_columns():
    """The columns of each table, by its name, from the schema."""
    tables, current = {}, None
    for line in open(HEADER):
        begin = re.match(r"#define TRACE_(\w+)\(COLUMN\)", line)
        column = re.match(r"\s+COLUMN\((\w+), (\w+),", line)
        if begin:
            current = tables.setdefault(begin.group(1).lower(), [])
        elif column and current is not None:
            current.append((column.group(2), column.group(1) == "text"))
    return tables


COLUMNS = read_columns()


class Process:
    """One process folder: rows by table; columns that a row does not name are 0 or empty."""

    def __init__(self, pid=1):
        self.pid = pid
        self.rows = {}
        self.name_ids = {}
        self.correlation = 0
        for key, value in (("schema", 1), ("host", "host"), ("pid", pid), ("command", "crowd"),
                           ("start_ns", START_NS - 1000), ("graphs", "node")):
            self.add("process", key=key, value=value)
        self.add("devices", device=0, name="Synthetic GPU", uuid="GPU-0", compute_major=9, sm_count=132,
                 memory_bytes=80 << 30, max_warps_per_sm=64, max_blocks_per_sm=32,
                 max_registers_per_sm=65536, copy_engine_count=3)
        self.add("contexts", context=1, null_stream=NULL_STREAM)
        self.plain = self.signature("saxpy")

    def add(self, table, **row):
        self.rows.setdefault(table, []).append(row)

    def name(self, text):
        if text not in self.name_ids:
            self.name_ids[text] = len(self.name_ids) + 1
            self.add("names", id=self.name_ids[text], text=text)
        return self.name_ids[text]

    def signature(self, name, grid=132):
        number = len(self.rows.get("signatures", [])) + 1
        self.add("signatures", id=number, name=self.name(name), grid_x=grid, grid_y=1, grid_z=1,
                 block_x=256, block_y=1, block_z=1, registers_per_thread=32)
        return number

    def call(self, start, end, name="cudaLaunchKernel_v7000", thread=1, **more):
        self.correlation += 1
        self.add("api", start_ns=START_NS + start, end_ns=START_NS + end, name=self.name(name),
                 thread=thread, correlation=self.correlation, **more)
        return self.correlation

    def operation(self, table, start, end, **more):
        row = {"context": 1, "stream": NULL_STREAM, **more}
        if table == "kernels":
            row.setdefault("signature", self.plain)
        self.add(table, start_ns=START_NS + start, end_ns=START_NS + end, **row)

    def launch(self, start, end, call=None, name="cudaLaunchKernel_v7000", **more):
        """A kernel from start to end, launched 2 us before unless call says when."""
        begin, finish = call or (start - 2000, start - 500)
        self.operation("kernels", start, end, correlation=self.call(begin, finish, name), **more)

    def copy(self, start, end, kind=1, bytes_=4096, memory=(1, 3), call=None, name="cudaMemcpy_v3020",
             **more):
        begin, finish = call or (start - 2000, end + 500)
        self.operation("copies", start, end, kind=kind, src_memory=memory[0], dst_memory=memory[1],
                       bytes=bytes_, copy_count=1, correlation=self.call(begin, finish, name), **more)

    def move(self, ahead):
        """Another host's clock."""
        for rows in self.rows.values():
            for row in rows:
                for key in row.keys() & {"start_ns", "end_ns", "time_ns"}:
                    row[key] += ahead
                if row.get("key") in ("start_ns", "sealed_ns"):
                    row["value"] += ahead

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        for table, columns in COLUMNS.items():
            with open(f"{folder}/{table}.csv", "w") as file:
                file.write(",".join(name for name, _ in columns) + "\n")
                for row in self.rows.get(table, []):
                    file.write(",".join('"' + str(row.get(name, "")).replace('"', '""') + '"' if is_text
                                        else str(row.get(name, 0)) for name, is_text in columns) + "\n")


def shape(function):
    """Registers a function that fills a process with n of something, or returns several processes."""
    SHAPES[function.__name__] = function
    return function


def chain(process, n, step=10_000, **more):
    for i in range(1, n + 1):
        process.launch(i * step, i * step + 5000, **more)


# ---- what runs on the device ----

@shape
def chain_of_kernels(process, n):
    """What everything else is compared with."""
    chain(process, n)


@shape
def overlapping_kernels(process, n):
    """All of them run at the same time, each in a stream of its own."""
    for i in range(n):
        process.launch(10_000 + i, 10_000 + 10 * n + i, stream=10 + i)


@shape
def overlapping_in_one_stream(process, n):
    for i in range(n):
        process.launch(10_000 + i, 10_000 + 10 * n + i)


@shape
def kernels_at_once(process, n):
    """All of them start at the same time and end at the same time."""
    for i in range(n):
        process.launch(100_000_000, 100_001_000, call=(i * 100, i * 100 + 90), stream=10 + i % 32)


@shape
def empty_kernels_at_once(process, n):
    """Operations that took no time."""
    for i in range(n):
        process.launch(100_000_000, 100_000_000, call=(i * 100, i * 100 + 90), stream=10 + i % 32)


@shape
def streams(process, n):
    for i in range(n):
        process.add("streams", context=1, stream=10 + i, flag=2)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, stream=10 + i)


@shape
def contexts(process, n):
    """Each with a stream of the same number."""
    for i in range(n):
        process.add("contexts", context=2 + i, null_stream=NULL_STREAM)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, context=2 + i)


@shape
def devices(process, n):
    for i in range(n):
        process.add("devices", device=1 + i, name="Synthetic GPU", uuid=f"GPU-{i + 1}", sm_count=132)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, device=1 + i, context=1, stream=10 + i)


@shape
def devices_without_uuid(process, n):
    for i in range(n):
        process.add("devices", device=1 + i, name="Synthetic GPU", sm_count=132)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, device=1 + i, context=1, stream=10 + i)


@shape
def device_pairs(process, n):
    """Copies between as many pairs of devices."""
    side = int(n ** 0.5) + 1
    for i in range(side):
        process.add("devices", device=1 + i, name="Synthetic GPU", uuid=f"GPU-{i + 1}", sm_count=132)
    for i in range(n):
        process.copy((i + 1) * 10_000, (i + 1) * 10_000 + 3000, kind=10, memory=(3, 3),
                     src_device=1 + i // side, dst_device=1 + i % side, device=1 + i // side)


@shape
def copies(process, n):
    """To the device and back, of as many sizes."""
    for i in range(n):
        process.copy((i + 1) * 10_000, (i + 1) * 10_000 + 5000, kind=1 + i % 2, bytes_=1000 + i,
                     memory=((1, 3), (3, 1))[i % 2])


@shape
def small_reads(process, n):
    """A kernel and the four bytes that the host reads back."""
    for i in range(n):
        process.launch((i + 1) * 30_000, (i + 1) * 30_000 + 5000)
        process.copy((i + 1) * 30_000 + 8000, (i + 1) * 30_000 + 9000, kind=2, bytes_=4, memory=(3, 1))


@shape
def memsets(process, n):
    for i in range(n):
        process.operation("memsets", (i + 1) * 10_000, (i + 1) * 10_000 + 2000, bytes=i, memory=3,
                          correlation=process.call((i + 1) * 10_000 - 3000, (i + 1) * 10_000 - 1000,
                                                   "cudaMemsetAsync_v3020"))


@shape
def orphans(process, n):
    """Operations that no call submitted."""
    for i in range(n):
        process.operation("kernels", (i + 1) * 10_000, (i + 1) * 10_000 + 5000)


# ---- names ----

@shape
def kernel_names(process, n):
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000,
                       signature=process.signature(f"_Z{len(f'kernel{i}')}kernel{i}Pfi"))


@shape
def kernel_shapes(process, n):
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000,
                       signature=process.signature("saxpy", 1 + i))


@shape
def call_names(process, n):
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, name=f"cudaLaunchKernel{i}_v7000")


@shape
def machine_codes(process, n):
    for i in range(n):
        process.add("machine_code", name=process.name(f"kernel{i}"), sm=90, instruction_count=100, code=i)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000,
                       signature=process.signature(f"kernel{i}"))


@shape
def machine_codes_of_one_name(process, n):
    chain(process, n)
    for i in range(n):
        process.add("machine_code", name=process.name("saxpy"), sm=90, instruction_count=i, code=i)


# ---- threads and calls ----

@shape
def overlapping_calls(process, n):
    """Of one thread, as only a damaged recording has them: each begins in the one before, and ends later."""
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, call=(i * 10_000, (i + n) * 10_000))


@shape
def nested_calls(process, n):
    chain(process, n)
    for i in range(n):
        process.call(i, 20_000 * n - i, "cudaFree_v3020")


@shape
def calls_before_one_launch(process, n):
    """One launch of a graph, waits before it, and gaps between operations that are of it."""
    for i in range(n):
        process.call(i * 100, i * 100 + 50, "cudaEventQuery_v3020")
    correlation = process.call(n * 100, n * 100 + 50)
    for i in range(n):
        process.operation("kernels", n * 100 + 10_000 * (i + 1), n * 100 + 10_000 * (i + 1) + 5000,
                          correlation=correlation)


@shape
def threads(process, n):
    for i in range(n):
        process.add("threads", thread=100 + i, name=process.name(f"thread {i}"))
        start = (i + 1) * 10_000
        correlation = process.call(start - 2000, start - 500, thread=100 + i)
        process.operation("kernels", start, start + 5000, correlation=correlation)


@shape
def threads_at_once(process, n):
    """Each is in a call at the same time."""
    for i in range(n):
        correlation = process.call(i, 20_000 * n, thread=100 + i)
        process.operation("kernels", (i + 1) * 10_000, (i + 1) * 10_000 + 5000, correlation=correlation)


@shape
def refused_calls(process, n):
    chain(process, n)
    for i in range(n):
        process.call(n * 20_000 + i * 1000, n * 20_000 + i * 1000 + 500, result=1 + i % 999)


@shape
def correlations_far_apart(process, n):
    for i in range(n):
        process.correlation += 1000
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000)


@shape
def waits(process, n):
    for i in range(n):
        start = (i + 1) * 20_000
        process.launch(start, start + 5000)
        correlation = process.call(start, start + 6000, "cudaStreamSynchronize_v3020")
        process.add("syncs", start_ns=START_NS + start, end_ns=START_NS + start + 6000, kind=3, context=1,
                    stream=NULL_STREAM, event=0xffffffff, correlation=correlation)


@shape
def events(process, n):
    """Recorded in one stream and waited for by another."""
    for i in range(n):
        start = (i + 1) * 20_000
        process.launch(start, start + 5000, stream=10)
        process.add("event_calls", kind=1, context=1, stream=10, event=1 + i,
                    correlation=process.call(start - 400, start - 300, "cudaEventRecord_v3020"))
        process.add("event_calls", kind=3, context=1, stream=11, event=1 + i,
                    correlation=process.call(start - 200, start - 100, "cudaStreamWaitEvent_v3020"))
        process.launch(start + 6000, start + 9000, stream=11, call=(start, start + 90))


@shape
def events_of_one_record(process, n):
    """One event, recorded once and waited for again and again."""
    process.add("event_calls", kind=1, context=1, stream=10, event=1,
                correlation=process.call(10, 20, "cudaEventRecord_v3020"))
    for i in range(n):
        start = (i + 1) * 20_000
        process.add("event_calls", kind=3, context=1, stream=10 + i, event=1,
                    correlation=process.call(start - 200, start - 100, "cudaStreamWaitEvent_v3020"))
        process.launch(start + 6000, start + 9000, stream=10 + i, call=(start, start + 90))


# ---- loops ----

@shape
def random_kernels(process, n):
    """No loop: a long sequence of few kernels in no order."""
    signatures = [process.signature(f"kernel{i}") for i in range(8)]
    state = 1
    for i in range(n):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, signature=signatures[state >> 61])


@shape
def growing_loop(process, n):
    """a b, a a b, a a a b ...: each iteration is longer."""
    other, made, length = process.signature("other"), 0, 1
    while made < n:
        for k in range(length):
            made += 1
            process.launch(made * 10_000, made * 10_000 + 5000,
                           signature=other if k == length - 1 else process.plain)
        length += 1


@shape
def fibonacci_loop(process, n):
    """Periods within periods: no two of one length repeat often."""
    other, word, last = process.signature("other"), "a", "b"
    while len(word) < n:
        word, last = word + last, word
    for i, letter in enumerate(word[:n]):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000,
                       signature=other if letter == "b" else process.plain)


@shape
def long_iterations(process, n):
    """Two iterations of half of the recording."""
    signatures = [process.signature(f"kernel{i}") for i in range(n // 2)]
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, signature=signatures[i % len(signatures)])


@shape
def many_loops(process, n):
    """Ten iterations of one loop, then ten of the next."""
    for i in range(n):
        if i % 20 == 0:
            pair = [process.signature(f"kernel{i}"), process.signature(f"other{i}")]
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, signature=pair[i % 2])


# ---- graphs ----

@shape
def graph_launches(process, n):
    """Of one graph of ten nodes."""
    for i in range(n // 10):
        start = (i + 1) * 200_000
        correlation = process.call(start - 2000, start - 500, "cudaGraphLaunch_v10000")
        for node in range(10):
            process.operation("kernels", start + node * 10_000, start + node * 10_000 + 5000, graph=1,
                              graph_node=1 + node, correlation=correlation)


@shape
def graphs(process, n):
    """Each instantiated, launched once, and of one node."""
    for i in range(n):
        start = (i + 1) * 50_000
        process.call(start - 30_000, start - 20_000, "cudaGraphInstantiate_v12000")
        correlation = process.call(start - 2000, start - 500, "cudaGraphLaunch_v10000")
        process.add("graph_nodes", node=1 + i, graph=1 + i)
        process.operation("kernels", start, start + 5000, graph=1 + i, graph_node=1 + i,
                          correlation=correlation)


@shape
def graph_nodes(process, n):
    """One graph of them, each waits for the one before, launched twice."""
    for i in range(n):
        process.add("graph_nodes", node=1 + i, graph=1)
        process.add("graph_nodes", node=1 + n + i, graph=2, original=1 + i)
        if i:
            process.add("graph_edges", node=1 + i, dependency=i)
    for launch in range(2):
        begin = 10_000 + launch * 20_000 * n
        correlation = process.call(begin - 2000, begin - 500, "cudaGraphLaunch_v10000")
        for i in range(n):
            process.operation("kernels", begin + i * 10_000, begin + i * 10_000 + 5000, graph=2,
                              graph_node=1 + n + i, correlation=correlation)


@shape
def graph_fan(process, n):
    """One node that all others wait for, and one that waits for them all."""
    for i in range(n):
        process.add("graph_nodes", node=1 + i, graph=1)
        if 0 < i < n - 1:
            process.add("graph_edges", node=1 + i, dependency=1)
            process.add("graph_edges", node=n, dependency=1 + i)
    correlation = process.call(8000, 9500, "cudaGraphLaunch_v10000")
    for i in range(n):
        process.operation("kernels", 10_000 + i * 10_000, 10_000 + i * 10_000 + 5000, graph=1,
                          graph_node=1 + i, correlation=correlation, stream=10 + i % 16)


@shape
def whole_graphs(process, n):
    process.rows["process"][-1] = {"key": "graphs", "value": "graph"}
    for i in range(n):
        start = (i + 1) * 20_000
        process.operation("graphs", start, start + 5000, graph=1 + i,
                          correlation=process.call(start - 2000, start - 500, "cudaGraphLaunch_v10000"))


@shape
def device_launched_graphs(process, n):
    process.rows["process"][-1] = {"key": "graphs", "value": "graph"}
    for i in range(n):
        start = (i + 1) * 20_000
        process.operation("graphs", start, start + 5000, graph=2 + i, launcher_graph=1 + i,
                          launch_mode=1 + i % 3)


@shape
def unseen_graph_launches(process, n):
    """Launches of graphs of which no operation tells its call; nodes of another process look for theirs."""
    other = Process(2)
    for i in range(n):
        process.call((i + 1) * 10_000 - 2000, (i + 1) * 10_000 - 500, "cudaGraphLaunch_v10000")
        other.operation("kernels", (i + 1) * 10_000, (i + 1) * 10_000 + 5000, graph=1 + i, graph_node=1)
    return [process, other]


@shape
def captures(process, n):
    for i in range(n):
        start = (i + 1) * 50_000
        process.call(start - 40_000, start - 39_000, "cudaStreamBeginCapture_v10000")
        process.call(start - 38_000, start - 37_000)
        process.call(start - 36_000, start - 35_000, "cudaStreamEndCapture_v10000")
        process.launch(start, start + 5000)


# ---- ranges ----

@shape
def ranges(process, n):
    """One after another, each of its own name."""
    chain(process, n)
    for i in range(n):
        for phase in (1, 2):
            process.add("markers", time_ns=START_NS + i * 10_000 + phase * 1000, id=1 + i, phase=phase,
                        is_thread=1, thread=1, name=process.name(f"range {i}") if phase == 1 else 0)


NCCL_KERNEL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def ask(process, time, communicator=1):
    process.add("collectives", time_ns=START_NS + time, thread=1, operation="AllReduce",
                communicator=communicator, bytes=8 * communicator, peer=2**32 - 1)


@shape
def nccl_calls(process, n):
    """Each with its kernel, of a communicator and of bytes of its own."""
    kernel = process.signature(NCCL_KERNEL)
    for i in range(n):
        process.add("communicators", time_ns=START_NS + i, communicator=i + 1, rank_count=2, device=0)
        ask(process, (i + 1) * 10_000 - 3000, i + 1)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000, signature=kernel)


@shape
def nccl_group(process, n):
    """One group of calls, and as many kernels behind it."""
    kernel = process.signature(NCCL_KERNEL)
    for i in range(n):
        ask(process, i, i + 1)
    for i in range(n):
        start = (i + 1) * 10_000
        process.launch(start, start + 5000, call=(n + 10 * i, n + 10 * i + 5), signature=kernel)


@shape
def nccl_communicators_of_a_group(process, n):
    """Two calls of each communicator, and a kernel for both."""
    kernel = process.signature(NCCL_KERNEL)
    for i in range(2 * n):
        ask(process, i, i // 2 + 1)
    for i in range(n):
        start = (i + 1) * 10_000
        process.launch(start, start + 5000, call=(2 * n + 10 * i, 2 * n + 10 * i + 5), signature=kernel)


@shape
def nested_ranges(process, n):
    chain(process, n)
    for i in range(2 * n):
        level = i if i < n else 2 * n - 1 - i
        process.add("markers", time_ns=START_NS + i * 5000, id=1 + level, phase=1 if i < n else 2,
                    is_thread=1, thread=1, name=process.name(f"range {level}") if i < n else 0)


@shape
def overlapping_ranges(process, n):
    """Started one after another, ended in the same order, all of one name."""
    chain(process, n)
    for i in range(2 * n):
        process.add("markers", time_ns=START_NS + i * 5000, id=1 + i % n, phase=1 if i < n else 2,
                    thread=1, name=process.name("range") if i < n else 0)


@shape
def ranges_without_end(process, n):
    chain(process, n)
    for i in range(n):
        process.add("markers", time_ns=START_NS + i * 5000, id=1, phase=1, thread=1,
                    name=process.name(f"range {i}"))


# ---- what was lost, and what else there is of a process ----

@shape
def losses(process, n):
    """Each of a kind of its own."""
    chain(process, n)
    for i in range(n):
        process.add("losses", time_ns=START_NS + i, kind=f"kind_{i}", count=1, detail=f"number {i}")


@shape
def facts(process, n):
    chain(process, n)
    for i in range(n):
        process.add("process", key=f"key_{i}", value=i)


@shape
def processes(process, n):
    """Of ten kernels each, so a tenth as many of them."""
    result = [process] + [Process(2 + i) for i in range(n // 10)]
    for each in result:
        chain(each, 10)
    return result


@shape
def ranks(process, n):
    """Of ten collectives each, so a tenth as many of them; every other one in an order of its own."""
    result = [process] + [Process(2 + i) for i in range(n // 10 - 1)]
    for rank, each in enumerate(result):
        each.rows["devices"][0]["uuid"] = f"GPU-{rank}"
        each.add("process", key="rank", value=rank)
        kernels = [each.signature(f"ncclDevKernel_{name}_RING_LL") for name in ("AllReduce", "AllGather")]
        for i in range(10):
            each.launch((i + 1) * 20_000 + 10 * rank, (i + 1) * 20_000 + 9000,
                        signature=kernels[(i + rank % 2 * (rank + 1)) % 2], stream=8)
            each.launch((i + 1) * 20_000 + 9500, (i + 1) * 20_000 + 15_000)
    return result


@shape
def collectives_of_four_ranks(process, n):
    """One of which computes longer."""
    result = [process] + [Process(2 + i) for i in range(3)]
    for rank, each in enumerate(result):
        each.rows["devices"][0]["uuid"] = f"GPU-{rank}"
        each.add("process", key="sealed_ns", value=START_NS)
        reduce = each.signature("ncclDevKernel_AllReduce_RING_LL")
        for i in range(n // 4):
            each.launch((i + 1) * 20_000, (i + 1) * 20_000 + 5000 + 1000 * (rank == 1))
            each.launch((i + 1) * 20_000 + 6000 + 1000 * (rank == 1), (i + 1) * 20_000 + 9000,
                        signature=reduce)
    return result


@shape
def copies_through_the_host(process, n):
    """Of one size, from one rank to the other; each also has results that go no further."""
    other = Process(2)
    other.rows["devices"][0]["uuid"] = "GPU-1"
    for i in range(n // 2):
        process.copy((i + 1) * 20_000, (i + 1) * 20_000 + 3000, kind=2, memory=(3, 1))
        other.copy((i + 1) * 20_000 + 6000, (i + 1) * 20_000 + 9000, kind=1, memory=(1, 3))
        other.copy((i + 1) * 20_000 + 10_000, (i + 1) * 20_000 + 11_000, kind=2, memory=(3, 1))
    return [process, other]


@shape
def unlike_processes(process, n):
    """Each with a kernel and a GPU of its own; a fifth as many, as each has a folder."""
    result = [process] + [Process(2 + i) for i in range(n // 5)]
    for i, each in enumerate(result):
        each.add("devices", device=1, name="Synthetic GPU", uuid=f"GPU-{i + 1}", sm_count=132)
        each.launch(10_000, 15_000, signature=each.signature(f"kernel_{i}"), device=1)
    return result


@shape
def overheads(process, n):
    for i in range(n):
        process.add("overheads", start_ns=START_NS + i, end_ns=START_NS + n * 10_000 + i,
                    name=process.name(f"overhead {i}"), thread=1)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000)


@shape
def profiler_overheads(process, n):
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 3000)
        process.add("overheads", start_ns=START_NS + (i + 1) * 10_000 + 4000,
                    end_ns=START_NS + (i + 1) * 10_000 + 5000, name=process.name("buffer flush"),
                    is_profiler=1, thread=1)


@shape
def jit_compilations(process, n):
    for i in range(n):
        process.add("jit", start_ns=START_NS + i, end_ns=START_NS + n * 10_000 + i, entry=1, operation=3,
                    path=process.name(f"/cache/{i}"), thread=1, cache_bytes=100)
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000)


@shape
def modules(process, n):
    for i in range(n):
        start = (i + 1) * 20_000
        correlation = process.call(start - 15_000, start - 5000, "cuModuleLoadData")
        process.add("loads", kind=1, correlation=correlation)
        process.add("modules", time_ns=START_NS + start - 6000, thread=1, code=1 + i // 2, bytes=100, sm=90,
                    kernel_count=1)
        process.launch(start, start + 5000)


# ---- memory ----

@shape
def live_allocations(process, n):
    """None is freed."""
    for i in range(n):
        start = (i + 1) * 10_000
        process.add("allocations", time_ns=START_NS + start - 4000, operation=1, memory=3,
                    address=(1 + i) << 20, bytes=1 << 20,
                    correlation=process.call(start - 6000, start - 3000, "cudaMalloc_v3020"))
        process.launch(start, start + 5000)


@shape
def freed_allocations(process, n):
    """All live at once, and then freed from the first to the last."""
    chain(process, n)
    for i in range(2 * n):
        process.add("allocations", time_ns=START_NS + i * 5000, operation=1 + i // n, memory=3,
                    address=(1 + i % n) << 20, bytes=1 << 20)


@shape
def overlapping_allocations(process, n):
    """As only a damaged recording has them: each address lies in all allocations before."""
    chain(process, n)
    for i in range(n):
        process.add("allocations", time_ns=START_NS + i * 5000, operation=1, memory=3, address=(1 << 30) + i,
                    bytes=1 << 40)


@shape
def pools(process, n):
    for i in range(n):
        start = (i + 1) * 10_000
        process.add("allocations", time_ns=START_NS + start, operation=1 + i % 2, memory=3,
                    address=(1 + i // 2) << 20, bytes=1 << 20, is_async=1, pool=1 + i // 2,
                    stream=NULL_STREAM)
        process.launch(start, start + 5000)


@shape
def managed_memory(process, n):
    chain(process, n)
    for i in range(n):
        process.add("managed", start_ns=START_NS + i * 10_000, end_ns=START_NS + (n + i) * 10_000,
                    kind=1 + i % 8, value=4096, address=(1 + i) << 16, cause=2,
                    source=0xffffffff if i % 2 else 0, destination=0 if i % 2 else 0xffffffff)


@shape
def arguments(process, n):
    """Each launch was given addresses of its own, within one of as many allocations."""
    for i in range(n):
        start = (i + 1) * 10_000
        process.add("allocations", time_ns=START_NS + i, operation=1, memory=3, address=(1 + i) << 20,
                    bytes=1 << 20)
        process.launch(start + n, start + n + 5000)
        process.add("arguments", id=1 + i, address_count=2, parameter=0, address=((1 + i) << 20) + 64)
        process.add("arguments", id=1 + i, address_count=2, parameter=1, address=(1 + i // 2) << 20)
        process.add("launch_arguments", correlation=process.correlation, arguments=1 + i)


@shape
def arguments_of_one_launch(process, n):
    chain(process, 100)
    for i in range(n):
        process.add("allocations", time_ns=START_NS + i, operation=1, memory=3, address=(1 + i) << 20,
                    bytes=1 << 20)
        process.add("arguments", id=1, address_count=n, parameter=i, address=(1 + i) << 20)
    for correlation in range(1, 101):
        process.add("launch_arguments", correlation=correlation, arguments=1)


# ---- counters, samples, power ----

@shape
def counted(process, n):
    """A launch of each of as many shapes, with a counter."""
    for i in range(4):
        process.add("metrics", id=1 + i, name=process.name(f"metric{i}"),
                    role=("range_ns", "dram_read_bytes", "fp32_fma", "")[i])
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000,
                       signature=process.signature("saxpy", 1 + i))
        process.add("counted", id=1 + i, correlation=process.correlation, like=process.correlation, context=1)
        for metric in range(4):
            process.add("counters", counted=1 + i, metric=1 + metric, value=1000 + i)


@shape
def metrics(process, n):
    chain(process, n)
    process.add("counted", id=1, correlation=1, like=1, context=1)
    for i in range(n):
        process.add("metrics", id=1 + i, name=process.name(f"metric{i}"))
        process.add("counters", counted=1, metric=1 + i, value=1000 + i)


@shape
def samples(process, n):
    for role in ("dispatches", "blocks", "compute_cycles", "sm_cycles", "sm_elapsed_cycles",
                 "dram_read_bytes"):
        process.add("sampled_metrics", role=role, name="synthetic")
    process.add("sampled_spans", start_ns=START_NS, end_ns=START_NS + n * 10_000, interval_ns=10_000)
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000)
        process.add("samples", start_ns=START_NS + i * 10_000, length_ns=10_000, sample_count=1,
                    dispatches=i % 3, blocks=i % 5, compute_cycles=10_000, front_cycles=20_000,
                    sm_cycles=132 * 20_000,
                    sm_elapsed_cycles=20_000, dram_read_bytes=i)


@shape
def overlapping_samples(process, n):
    """As only a damaged recording has them."""
    process.add("sampled_metrics", role="sm_cycles", name="synthetic")
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000)
        process.add("samples", start_ns=START_NS + i, length_ns=n * 10_000, sample_count=1, dispatches=1,
                    compute_cycles=10, front_cycles=20, sm_cycles=5, sm_elapsed_cycles=20)
        process.add("sampled_spans", start_ns=START_NS + i, end_ns=START_NS + i + n * 10_000, interval_ns=10)


@shape
def power(process, n):
    for i in range(n):
        process.launch((i + 1) * 10_000, (i + 1) * 10_000 + 5000)
        process.add("power", time_ns=START_NS + i * 10_000, sm_clock_mhz=1000 + i % 7, power_mw=300_000,
                    reasons=1 << i % 9)


@shape
def collectives(process, n):
    for i in range(n):
        start = (i + 1) * 20_000
        process.launch(start, start + 9000, stream=20 + i % 2,
                       signature=process.signature("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1 + i % 8))
        process.launch(start + 2000, start + 6000, stream=10)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n")[0] + "\nshapes: " + " ".join(SHAPES))
    for name in sys.argv[3:] or SHAPES:
        process = Process()
        for each in SHAPES[name](process, int(sys.argv[2])) or [process]:
            each.write(f"{sys.argv[1]}/{name}/host.{each.pid}")


if __name__ == "__main__":
    main()
