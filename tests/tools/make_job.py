#!/usr/bin/env python3
"""make_job.py DIR [OPTION...] - writes the recording of a job whose figures are known.

Each rank is a process with a GPU of its own.  In each step it computes, and then comes to an all-reduce that
ends on all ranks COLLECTIVE after the last one has come; OVERLAP of computation runs beside it.  What the
report has to find is written to DIR.json, worked out from the options and from nothing else:

    make_job.py DIR --ranks 4 --delay 2:kernels:300000   # rank 2 computes 300 us longer in each step
    rooflinectl report --format json DIR | make_job.py DIR --check

Delays are of the kinds kernels, host and copies, of some ranks (RANK:KIND:NS, or RANK:KIND:NS:EVERY steps).
--check reads a report and says what is off by more than 5%.
"""
import argparse
import json
import statistics
import sys

from make_crowd import START_NS, Process

NONE = 2**32 - 1
PAUSE_NS = 3000  # between two operations of a stream: launched long before
AHEAD_NS = 40_000  # how long before
COMMUNICATION_STREAM = 20
KINDS = ("kernels", "host", "copies")
TIMES = ("exposed_ns", "overlapped_ns", "wait_ns", "computation_ns")
REDUCE, GATHER = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllGather_RING_LL"


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--compute", type=int, default=1_000_000)
    parser.add_argument("--collective", type=int, default=200_000)
    parser.add_argument("--overlap", type=int, default=0)
    parser.add_argument("--delay", action="append", default=[])
    parser.add_argument("--missing", type=int, help="a rank that was not recorded")
    parser.add_argument("--swap", type=int, help="a rank that launches two collectives in another order")
    parser.add_argument("--nccl", type=int, help="NCCL tells of its calls: bytes of each")
    parser.add_argument("--hosts", type=int, default=1, help="that ranks are on, in turn")
    parser.add_argument("--ahead", type=int, default=0, help="the clock of each further host, ns")
    parser.add_argument("--hang", type=int, help="a rank that does not come to the last collective")
    parser.add_argument("--heard", type=int, help="for how long after that the collectors wrote")
    return parser.parse_args()


COMMUNICATOR = 0xC0FFEE
OPERATIONS = {REDUCE: ("AllReduce", 0), GATHER: ("AllGather", NONE)}


class Rank:
    """One process, its clock, and what the report has to say of it."""

    def __init__(self, number, world_size, is_cut_off, bytes_):
        self.number, self.now = number, 1_000_000
        self.process = Process(1000 + number)
        self.process.rows["devices"][0]["uuid"] = f"GPU-{number}"
        self.kernels = {name: self.process.signature(name) for name in ("train", "behind", REDUCE, GATHER)}
        self.process.add("process", key="rank", value=number)
        self.process.add("process", key="world_size", value=world_size)
        self.bytes = bytes_
        if bytes_:
            self.process.add("communicators", time_ns=START_NS + 1, thread=1, communicator=COMMUNICATOR,
                             rank=number, rank_count=world_size)
        if not is_cut_off:
            self.process.add("process", key="sealed_ns", value=START_NS + 10**15)
        self.found = dict.fromkeys((*TIMES, "last_count"), 0)
        self.late = dict.fromkeys(KINDS, 0)
        self.path = dict.fromkeys(("computation", "communication", "copies", "idle"), 0)

    def run(self, name, start, end, call_end=None, **more):
        """A kernel that was launched in time, or by a call that ends then."""
        call_end = start - AHEAD_NS if call_end is None else call_end
        self.process.launch(start, end, call=(call_end - 2000, call_end),
                            signature=self.kernels[name], **more)

    def ask(self, name, time):
        operation, reduction = OPERATIONS[name]
        if self.bytes:
            self.process.add("collectives", time_ns=START_NS + time, thread=1, operation=operation,
                             communicator=COMMUNICATOR, bytes=self.bytes, peer=NONE, reduction=reduction)

    def compute(self, length, delays):
        """Up to where it comes to the collective."""
        begin = self.now
        start = begin + PAUSE_NS + delays["host"]
        call_end = start - 1000 if delays["host"] else None
        if delays["copies"]:
            end_of_call = start - AHEAD_NS if call_end is None else call_end
            self.process.copy(start, start + delays["copies"], call=(end_of_call - 2000, end_of_call),
                              name="cudaMemcpyAsync_v3020", is_async=1)
            start, call_end = start + delays["copies"], start - AHEAD_NS
        self.run("train", start, start + length + delays["kernels"], call_end)
        self.now = start + length + delays["kernels"] + PAUSE_NS
        return {"computation": length + delays["kernels"], "copies": delays["copies"],
                "idle": 2 * PAUSE_NS + delays["host"]}

    def meet(self, last, end, overlap, name):
        """The collective, and what runs beside it."""
        start, beside = self.now, 0
        self.ask(name, start - AHEAD_NS - 2500)
        self.run(name, start, end, stream=COMMUNICATION_STREAM)
        if overlap:
            self.run("behind", start, start + overlap)
            beside = min(overlap, end - start)
        self.found["overlapped_ns"] += beside
        self.found["exposed_ns"] += end - start - beside
        self.found["wait_ns"] += last - start
        self.now = max(end, start + overlap)
        return last - start


def delays_of(arguments, rank, step):
    delays = dict.fromkeys(KINDS, 0)
    for text in arguments.delay:
        number, kind, length, *every = text.split(":")
        if int(number) == rank and step % int(every[0] if every else 1) == 0:
            delays[kind] += int(length)
    return delays


def blame(late, late_delays, waits, delays):
    """What each rank waited, laid to what the late one had more of."""
    for wait, own in zip(waits, delays):
        more = {kind: max(0, late_delays[kind] - own[kind]) for kind in KINDS}
        for kind in KINDS:
            late.late[kind] += wait * more[kind] / max(1, sum(more.values()))


def names_of(arguments, rank, step):
    """The last two collectives are in another order where --swap says so."""
    is_gather = step == arguments.steps - (2 if rank.number == arguments.swap else 1)
    return GATHER if arguments.swap is not None and is_gather else REDUCE


def run_step(arguments, ranks, step, at):
    """Returns the skew, None where the collective never ends; at gets the late rank and what each one did."""
    delays = [delays_of(arguments, rank.number, step) for rank in ranks]
    parts = [rank.compute(arguments.compute, delay) for rank, delay in zip(ranks, delays)]
    first, last = min(rank.now for rank in ranks), max(rank.now for rank in ranks)
    late = max(ranks, key=lambda rank: rank.now)
    arrived = [rank for rank in ranks if step < arguments.steps - 1 or rank.number != arguments.hang]
    if len(arrived) < len(ranks):  # it never ends: launched, and no record of its kernel
        for rank in arrived:
            rank.ask(REDUCE, rank.now - 500)
            rank.process.call(rank.now, rank.now + 2000)
        for rank in ranks if arguments.heard else []:
            rank.process.add("clocks", realtime_ns=START_NS + ranks[0].now + arguments.heard)
        return None
    waits = [rank.meet(last, last + arguments.collective, arguments.overlap, names_of(arguments, rank, step))
             for rank in ranks]
    for rank, part in zip(ranks, parts):
        rank.found["computation_ns"] += part["computation"] + arguments.overlap
    if last > first:
        late.found["last_count"] += 1
    blame(late, delays[ranks.index(late)], waits, delays)
    at.append((late if last > first else None, dict(zip(ranks, parts))))
    return last - first


def walk(ranks, steps, collective):
    """The critical path: from the end back, at each collective to the rank that came last."""
    at = ranks[0]
    for late, parts in reversed(steps):
        at.path["communication"] += collective
        at = late or at
        for kind, length in parts[at].items():
            at.path[kind] += length
    at.path["idle"] -= PAUSE_NS  # before the first operation nothing is known


def write(arguments):
    is_cut_off = arguments.hang is not None
    ranks = [Rank(i, arguments.ranks, is_cut_off, arguments.nccl)
             for i in range(arguments.ranks) if i != arguments.missing]
    steps, skews = [], []
    for step in range(arguments.steps):
        skew = run_step(arguments, ranks, step, steps)
        skews += [skew] if skew is not None else []
    walk(ranks, steps, arguments.collective)
    for rank in ranks:
        host = rank.number % arguments.hosts
        if host:
            rank.process.rows["process"][1]["value"] = f"host{host}"
            rank.process.move(host * arguments.ahead)
        rank.process.write(f"{arguments.folder}/host{host or ''}.{rank.process.pid}")
    expected = {"ranks": {f"rank {rank.number}": {**rank.found, "late": rank.late, "path": rank.path}
                          for rank in ranks},
                "median_skew_ns": statistics.median_low(skews), "most_skew_ns": max(skews)}
    with open(f"{arguments.folder}.json", "w") as file:
        json.dump(expected, file, indent=1)


def differences(expected, found, whole, name):
    """Figures that are off by 5%; of small ones, by a thousandth of the whole."""
    for key, value in expected.items():
        if isinstance(value, dict):
            yield from differences(value, found[key], whole, f"{name} {key}")
        elif abs(value - found[key]) > max(0.05 * abs(value), 1 if key.endswith("count") else whole / 1000):
            yield f"{name}: {key} is {found[key]}, built to be {value}"


def check(folder):
    expected, report = json.load(open(f"{folder}.json")), json.load(sys.stdin)
    found = {"ranks": {}}
    for rank in report["job"]["ranks"]:
        figures = {key: rank[key] for key in TIMES}
        figures["last_count"] = rank["late"]["last_count"]
        figures["late"] = {kind: rank["late"]["caused_by"][f"{kind}_ns"] for kind in KINDS}
        figures["path"] = {key[:-3]: value for key, value in rank["critical_path"].items()}
        found["ranks"][rank["name"]] = figures
    skews = report["collectives"][0]
    found.update(median_skew_ns=skews["median_skew_ns"], most_skew_ns=skews["most_skew_ns"])
    wrong = list(differences(expected, found, report["job"]["last_ns"] - report["job"]["first_ns"], "job"))
    print("\n".join(wrong) or f"{len(found['ranks'])} ranks as they were built")
    return bool(wrong)


if __name__ == "__main__":
    ARGUMENTS = read_arguments()
    sys.exit(check(ARGUMENTS.folder) if ARGUMENTS.check else write(ARGUMENTS))
