#!/usr/bin/env python3
"""make_ddp.py DIR [OPTION...] - writes the recording of a data parallel training in so many buckets.

It is what PyTorch's DistributedDataParallel does: a process for each GPU; the main thread launches the
forward pass and the optimizer, another one the backward pass and the collectives, on a stream of its own
behind an event.  When all is launched the stream of the computation waits for the last collective, by an
event as well.  Ranks that come to a collective wait for each other, and computation beside one has the SMs
that it leaves.

    make_ddp.py DIR --buckets 1 --ranks 2      # prints the nanoseconds of a step
    make_ddp.py DIR --buckets 10 --ranks 2
"""
import argparse

from make_crowd import NULL_STREAM, START_NS, Process

NCCL_STREAM, NON_BLOCKING = 20, 2
MAIN, BACKWARD = 1, 2
CALL_NS, LAUNCH_NS = 600, 4000  # an event's call, and a launch's
GAP_NS, START_LATENCY_NS, EVENT_NS = 1000, 2500, 1500
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
REDUCE_BLOCKS, SMS = 24, 132
REDUCE_FIXED_NS = 20_000
FORWARD = {"layer_norm": 10_000, "forward_gemm": 60_000, "relu": 6000}
MEMSET = "memset"  # cuBLAS adds parts of a product up in zeros
BACKWARDS = {"relu_backward": 8000, "input_gemm": 60_000, MEMSET: 1500, "weight_gemm": 60_000,
             "bias_sum": 6000, "layer_norm_backward": 15_000, "to_bucket": 12_000}
FROM_BUCKET_NS, OPTIMIZER_NS = 12_000, 40_000


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--layers", type=int, default=10)
    parser.add_argument("--buckets", type=int, default=1)
    parser.add_argument("--tiny", type=int, default=0, help="buckets of a few bytes after each layer")
    parser.add_argument("--reduce", type=int, default=1_200_000, help="ns of all bytes")
    parser.add_argument("--least-reduce", type=int, default=0, help="ns that any number of bytes takes")
    parser.add_argument("--host", type=int, default=6000, help="ns of the host before each launch")
    parser.add_argument("--host-reduce", type=int, default=15_000, help="and before that of a collective")
    parser.add_argument("--queue", type=int, default=1000, help="launches that a stream holds; more block")
    parser.add_argument("--late", type=int, default=0, help="rank 1 computes so many ns longer in each step")
    return parser.parse_args()


class Rank:
    """A process with its two threads and its two streams."""

    def __init__(self, number, arguments):
        self.number, self.arguments = number, arguments
        self.process = Process(1000 + number)
        self.process.rows["devices"][0]["uuid"] = f"GPU-{number}"
        facts = {"rank": number, "world_size": arguments.ranks, "sealed_ns": START_NS + 10**15}
        for key, value in facts.items():
            self.process.add("process", key=key, value=value)
        self.process.add("streams", context=1, stream=NCCL_STREAM, flag=NON_BLOCKING)
        self.signatures = {}
        self.now = {MAIN: 1_000_000, BACKWARD: 1_000_000}
        self.end = {NULL_STREAM: 0, NCCL_STREAM: 0}
        self.awaited = {NULL_STREAM: 0, NCCL_STREAM: 0}
        self.reduces = []  # start, end: computation beside them is slower
        self.starts = []  # of the kernels of the computation
        self.event_count = 0
        self.marks = 0

    # ---- the host ----

    def call(self, thread, name, length):
        begin = self.now[thread]
        self.now[thread] = begin + length
        return self.process.call(begin, begin + length, name, thread=thread)

    def event(self, thread, stream, waiting_stream):
        """An event recorded in a stream, and another one that waits for it."""
        self.event_count += 1
        for kind, name, place in ((1, "cudaEventRecord_v3020", stream),
                                  (3, "cudaStreamWaitEvent_v3020", waiting_stream)):
            correlation = self.call(thread, name, CALL_NS)
            self.process.add("event_calls", correlation=correlation, kind=kind, context=1, stream=place,
                             event=4096 + self.event_count)
        self.awaited[waiting_stream] = max(self.awaited[waiting_stream], self.end[stream] + EVENT_NS)

    def mark(self, name, is_begin):
        self.marks += is_begin
        self.process.add("markers", time_ns=START_NS + self.now[MAIN], id=self.marks, is_thread=1,
                         phase=1 if is_begin else 2, thread=MAIN,
                         name=self.process.name(name) if is_begin else 0)

    # ---- the GPU ----

    def start_of(self, stream, launched):
        start = max(self.end[stream] + GAP_NS, launched + START_LATENCY_NS, self.awaited[stream])
        self.awaited[stream] = 0
        return start

    def slowed(self, start, length):
        """Its end: while a collective runs it has the SMs that this leaves."""
        share = 1 - REDUCE_BLOCKS / SMS
        for begin, end in self.reduces:
            if start + length <= begin or start >= end:
                continue
            alone = max(0, begin - start)
            beside = min((end - max(start, begin)) * share, length - alone)
            length += beside / share - beside
        return round(start + length)

    def run(self, thread, name, length):
        """A kernel, or a memset."""
        self.now[thread] += self.arguments.host
        launched, blocked = self.now[thread], 0
        if len(self.starts) >= self.arguments.queue:
            blocked = max(0, self.starts[-self.arguments.queue] - launched)
        call = "cudaMemsetAsync_v3020" if name == MEMSET else "cudaLaunchKernel_v7000"
        correlation = self.call(thread, call, LAUNCH_NS + blocked)
        launched += blocked
        start = self.start_of(NULL_STREAM, launched)
        self.starts.append(start)
        self.end[NULL_STREAM] = self.slowed(start, length)
        self.write(NULL_STREAM, name, start, self.end[NULL_STREAM], correlation)

    def write(self, stream, name, start, end, correlation, grid=1056):
        if name == MEMSET:
            self.process.operation("memsets", start, end, stream=stream, bytes=1 << 20, memory=3,
                                   correlation=correlation)
            return
        if name not in self.signatures:
            self.signatures[name] = self.process.signature(name, grid)
        self.process.operation("kernels", start, end, stream=stream, signature=self.signatures[name],
                               correlation=correlation)

    def come_to_reduce(self):
        """Launches it; returns when it starts and the call."""
        self.event(BACKWARD, NULL_STREAM, NCCL_STREAM)
        self.now[BACKWARD] += self.arguments.host_reduce
        launched = self.now[BACKWARD]
        return self.call(BACKWARD, "cuLaunchKernelEx", LAUNCH_NS), self.start_of(NCCL_STREAM, launched)

    def reduce(self, correlation, start, end):
        self.write(NCCL_STREAM, REDUCE, start, end, correlation, REDUCE_BLOCKS)
        self.end[NCCL_STREAM] = end
        self.reduces = [*self.reduces[-8:], (start, end)]


def reduce_all(ranks, bytes_share, arguments):
    came = [rank.come_to_reduce() for rank in ranks]
    length = REDUCE_FIXED_NS + max(round(arguments.reduce * bytes_share), arguments.least_reduce)
    end = max(start for _, start in came) + length
    for rank, (correlation, start) in zip(ranks, came):
        rank.reduce(correlation, start, end)


def run_step(ranks, arguments):
    for rank in ranks:
        for _ in range(arguments.layers):
            for name, length in FORWARD.items():
                rank.run(MAIN, name, length)
        if rank.number == 1 and arguments.late:
            rank.run(MAIN, "late", arguments.late)
        rank.now[BACKWARD] = rank.now[MAIN] + 2 * arguments.host
    done = 0
    for layer in range(arguments.layers):
        for rank in ranks:
            for name, length in BACKWARDS.items():
                rank.run(BACKWARD, name, length)
        for _ in range(arguments.tiny):
            reduce_all(ranks, 0, arguments)
        filled = (layer + 1) * arguments.buckets // arguments.layers
        if filled > done:
            reduce_all(ranks, (filled - done) / arguments.buckets, arguments)
        done = filled
    for rank in ranks:
        rank.event(BACKWARD, NCCL_STREAM, NULL_STREAM)
        for _ in range(arguments.layers):
            rank.run(BACKWARD, "from_bucket", FROM_BUCKET_NS)
        rank.now[MAIN] = rank.now[BACKWARD] + 2 * arguments.host
        for _ in range(4):
            rank.run(MAIN, "sgd", OPTIMIZER_NS)


def synchronize(ranks):
    for rank in ranks:
        begin = rank.now[MAIN] + LAUNCH_NS
        rank.now[MAIN] = max(begin, rank.end[NULL_STREAM]) + 2000
        rank.process.call(begin, rank.now[MAIN], "cudaDeviceSynchronize_v3020", thread=MAIN)


def write(arguments):
    ranks = [Rank(number, arguments) for number in range(arguments.ranks)]
    for rank in ranks:
        rank.run(MAIN, "fill", 5000)
        rank.now[BACKWARD] = rank.now[MAIN]
    reduce_all(ranks, 0, arguments)  # a barrier
    for rank in ranks:
        rank.event(BACKWARD, NCCL_STREAM, NULL_STREAM)
        rank.now[MAIN] = rank.now[BACKWARD]
        rank.run(MAIN, "fill", 5000)
    synchronize(ranks)
    begin = ranks[0].now[MAIN]
    for rank in ranks:
        rank.mark("run", True)
    for _ in range(arguments.steps):
        run_step(ranks, arguments)
    synchronize(ranks)
    for rank in ranks:
        rank.mark("run", False)
        rank.process.write(f"{arguments.folder}/host.{rank.process.pid}")
    print((ranks[0].now[MAIN] - begin) // arguments.steps)


if __name__ == "__main__":
    write(read_arguments())
