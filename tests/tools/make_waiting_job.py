#!/usr/bin/env python3
"""make_waiting_job.py DIR [OPTION...] - the recording of ranks that meet in short steps, and of their hosts.

In each step a rank launches a few kernels, waits, launches an all-reduce, waits, launches a few kernels and
waits again.  One rank's host is slower than the others.  What becomes of it with each step in a graph
follows: no rank waits for a host any more.

    make_waiting_job.py DIR --ranks 4 --slow 5000   # the host of rank 1 takes 5 us longer for each launch
"""
import argparse

from make_crowd import START_NS, Process

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
LAUNCH_NS = 4000  # a call, and until the next one
TO_START_NS = 7000  # from the call, on an idle stream
GAP_NS = 1000
RETURN_NS = 4000  # after what a wait is for


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--kernels", type=int, default=4, help="before the all-reduce, and as many behind it")
    parser.add_argument("--length", type=int, default=3000, help="what each takes, ns")
    parser.add_argument("--collective", type=int, default=8000, help="since the last rank has come")
    parser.add_argument("--slow", type=int, default=0, help="of rank 1, longer for each launch, ns")
    parser.add_argument("--threads", action="store_true", help="one process, with a thread for each GPU")
    return parser.parse_args()


class Rank:
    """A host and its GPU."""

    def __init__(self, number, process, is_thread, slow):
        self.number, self.process, self.slow = number, process, slow
        self.host = self.device = 100_000
        self.more = {"device": number, "context": 1 + number, "stream": 20 + number} if is_thread else {}
        self.thread = 1 + number if is_thread else 1

    def launch(self, name, length, end=None):
        """Returns when it starts; a collective's end is not known before all have come."""
        call = self.process.call(self.host, self.host + LAUNCH_NS - 500 + self.slow, thread=self.thread)
        start = max(self.host + self.slow + TO_START_NS, self.device + GAP_NS)
        self.host += LAUNCH_NS + self.slow
        if end is None:
            self.device = start + length
            self.add(name, start, self.device, call)
        return start, call

    def add(self, name, start, end, call):
        self.device = end
        self.process.operation("kernels", start, end, signature=self.process.kernels[name], correlation=call,
                               **self.more)

    def wait(self):
        end = max(self.host + 500, self.device + RETURN_NS)
        self.process.call(self.host, end, "cudaStreamSynchronize_v3020", thread=self.thread)
        self.host = end + 500


def make_ranks(arguments):
    processes = [Process(1000 + i) for i in range(1 if arguments.threads else arguments.ranks)]
    for process in processes:
        process.kernels = {name: process.signature(name, 32) for name in ("forward", "backward", REDUCE)}
        process.add("process", key="sealed_ns", value=START_NS + 10**15)
    for i in range(1, arguments.ranks if arguments.threads else 1):
        processes[0].add("devices", device=i, name="Synthetic GPU", uuid=f"GPU-{i}", sm_count=132)
        processes[0].add("contexts", context=1 + i, device=i, null_stream=7)
    for i, process in enumerate(processes if not arguments.threads else []):
        process.rows["devices"][0]["uuid"] = f"GPU-{i}"
        process.add("process", key="rank", value=i)
        process.add("process", key="world_size", value=arguments.ranks)
    return processes, [Rank(i, processes[0 if arguments.threads else i], arguments.threads,
                            arguments.slow if i == 1 else 0) for i in range(arguments.ranks)]


def run_step(arguments, ranks):
    for rank in ranks:
        for _ in range(arguments.kernels):
            rank.launch("forward", arguments.length)
        rank.wait()
    came = [rank.launch(REDUCE, 0, end=True) for rank in ranks]
    end = max(start for start, _ in came) + arguments.collective
    for rank, (start, call) in zip(ranks, came):
        rank.add(REDUCE, start, end, call)
    for rank in ranks:
        rank.wait()
        for _ in range(arguments.kernels):
            rank.launch("backward", arguments.length)
        rank.wait()


def main():
    arguments = read_arguments()
    processes, ranks = make_ranks(arguments)
    for _ in range(arguments.steps):
        run_step(arguments, ranks)
    for process in processes:
        process.write(f"{arguments.folder}/host.{process.pid}")


if __name__ == "__main__":
    main()
