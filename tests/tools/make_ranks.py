#!/usr/bin/env python3
"""make_ranks.py SUMMARY DIR COUNT [--per-host N] [--repeat N] [--late RANK:NS:EVERY]... - a large job.

SUMMARY is what `rooflinectl summarize` wrote of one real rank.  DIR gets the files of COUNT ranks like it:
each comes to every collective up to 20 us later than that one did, N of them share a host, whose clock is up
to 5 ms off, and all leave a collective when the last one has come.  A late rank comes NS later to each
collective whose number is a multiple of EVERY.  All collectives are repeated as often as asked.  The same
arguments give the same bytes.
"""
import argparse
import os
import random
import subprocess

NOISE_NS = 20000
LEAVE_NS = 300  # how far apart ranks leave a collective
TABLE = 8191
LEVELS = 33


def mixed(number):
    """As summary_is_kept() of analyzer/summary/summary.h."""
    number = (number ^ number >> 33) * 0xff51afd7ed558ccd % 2**64
    number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53 % 2**64
    return number ^ number >> 33


def read_rank(path):
    """Its lines, but those of collectives, and their starts and ends."""
    text = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True, text=True).stdout
    lines, starts, ends = [], [], []
    for line in text.splitlines():
        word = line.split(" ", 1)[0]
        if word == "at":
            _, _, _, step, stay, _ = line.split()
            starts.append(int(step) + (starts[-1] if starts else 0))
            ends.append(starts[-1] + int(stay))
        elif word not in ("part", "alone", "end"):
            lines.append(line)
    return lines, starts, ends


def repeated(starts, ends, times):
    """When ranks are due at each collective, and how long it takes once all are there."""
    span = ends[-1] - starts[0] + 1000000
    return ([start + i * span for i in range(times) for start in starts],
            [end - start for _ in range(times) for start, end in zip(starts, ends)])


class Job:
    def __init__(self, options):
        self.lines, starts, ends = read_rank(options.summary)
        self.due, self.takes = repeated(starts, ends, options.repeat)
        self.late = [tuple(map(int, late.split(":"))) for late in options.late]
        self.per_host = options.per_host
        chance = random.Random(1)
        self.noise = [chance.randrange(NOISE_NS) for _ in range(TABLE)]
        self.leave = [chance.randrange(LEAVE_NS) for _ in range(TABLE)]
        self.ahead = [0] + [chance.randrange(-5000000, 5000000) for _ in range(options.count)]
        self.last = self.find_last(options.count)
        self.kept = [[i for i in range(len(self.due)) if mixed(i) % 2**level == 0]
                     for level in range(LEVELS)]

    def delays(self, rank):
        """After it was due, at each collective."""
        count, at = len(self.due), rank * 127 % TABLE
        delays = (self.noise[at:] + self.noise * (count // TABLE + 1))[:count]
        for late, late_ns, every in self.late:
            if late == rank:
                delays[::every] = [delay + late_ns for delay in delays[::every]]
        return delays

    def find_last(self, count):
        """How long after it was due the last rank came: the noise of so many is at its most."""
        last = [NOISE_NS] * len(self.due) if count > 100 else [0] * len(self.due)
        for rank in [late[0] for late in self.late] if count > 100 else range(count):
            last = [max(pair) for pair in zip(last, self.delays(rank))]
        return last

    def write(self, rank, file):
        host, count = rank // self.per_host, len(self.due)
        ahead, at = self.ahead[host], rank * 31 % TABLE
        leave = (self.leave[at:] + self.leave * (count // TABLE + 1))[:count]
        starts = [due + delay + ahead for due, delay in zip(self.due, self.delays(rank))]
        ends = [due + last + takes + more + ahead
                for due, last, takes, more in zip(self.due, self.last, self.takes, leave)]
        for line in self.lines:
            file.write(self.changed(line, rank, host, starts) + "\n")
        file.write("part 0 0\n")
        file.write("at 0 1 %d %d 0\n" % (starts[0], ends[0] - starts[0]))
        file.write("".join("at 1 1 %d %d 0\n" % (start - before, end - start)
                           for before, start, end in zip(starts, starts[1:], ends[1:])))
        file.write("end\n")

    def changed(self, line, rank, host, starts):
        words = line.split(" ")
        if words[0] == "host":
            return 'host "node%05d"' % host
        if words[0] == "group":
            words[1] = str(len(starts))
        elif words[0] == "rank":
            words[1], words[3] = str(rank), str(1000 + rank)
        elif words[0] == "member":
            words[2:] = [str(len(starts))]
            for kept in filter(None, self.kept):
                words += [str(len(kept)), str(sum(starts[i] for i in kept) % 2**64)]
        return " ".join(words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("summary")
    parser.add_argument("folder")
    parser.add_argument("count", type=int)
    parser.add_argument("--per-host", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--late", action="append", default=[])
    options = parser.parse_args()
    job = Job(options)
    os.makedirs(options.folder, exist_ok=True)
    for rank in range(options.count):
        with open(os.path.join(options.folder, "rank-%05d.summary" % rank), "w") as file:
            job.write(rank, file)


if __name__ == "__main__":
    main()
