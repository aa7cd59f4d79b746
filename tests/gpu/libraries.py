#!/usr/bin/env python3
"""Runs programs bare and recorded in five modes, and compares how they end and what they print.

    libraries.py LIST       as check_libraries.sh calls it, which describes the environment

Bare runs teach which words of the output vary by themselves: times, rates, results of atomics in any
order.  Those are masked; every other difference is one that recording made.
"""

import collections
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

MODES = {
    "trace": [],
    "counters": ["--counters"],
    "sample": ["--sample"],
    "args": ["--args"],
    "last": ["--last=5s"],
}
# A GPU has one reader of its hardware counters.
READS_HARDWARE = {"counters", "sample"}
EXTRA_BARE_RUNS = 3
# What runs when the budget is used up may take so long; then it is ended, and counts as not run.
GRACE_S = 20

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|\b(?:nan|inf)\b")
# A line with one of these words speaks of time, or of the process: its numbers are its own.
VARYING = re.compile(
    r"(?<![a-z])(?:[mun]s|s|secs?|seconds?|[mu]secs?|(?:milli|micro|nano)seconds?|time[sd]?|timings?|timer"
    r"|elapsed|took|duration|clocks?|cycles|latency|bandwidth|throughput|speed-?up|speed|performance|perf"
    r"|[kmgt]?fl?op/?s?|[kmgt]i?b(?:ytes?)?/s(?:ec)?|[kmgt]?(?:ops?|items|keys|points|elements|it)/s(?:ec)?"
    r"|pid|fps)(?![a-z])", re.IGNORECASE)
OWN_LINE = re.compile(r"^(?:rooflinecollector: |rooflinectl (?:record: |report .*/recording))")
# Where the recording lies, which record prints at the end: nothing that a reader has to know.
PLACE_LINE = re.compile(r"^rooflinectl .*/recording(?:/dump\.\d+)?$")


@dataclasses.dataclass
class Program:
    """A row of the list."""

    name: str
    source: str
    folder: pathlib.Path
    words: list


@dataclasses.dataclass
class Run:
    """One process that has ended: its code as subprocess has it, or None when it took too long."""

    code: int | None
    seconds: float
    streams: dict
    own_lines: list
    processes: int = 0
    kernels: int = 0
    reported: str = ""
    cut: bool = False  # by the end of the budget, not by its limit


def setting(name, default):
    """Return a variable of the environment as a number, or the default."""
    return type(default)(os.environ.get(name) or default)


def read_list(path):
    """Return the programs of a list: name | source | folder | command."""
    libraries = os.environ.get("LIBRARIES")
    wanted = re.compile(os.environ.get("ONLY") or ".")
    part, parts = map(int, (os.environ.get("PART") or "1/1").split("/"))
    programs, missing = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|", 3)]
        if len(fields) != 4:
            sys.exit(f"{path}:{number}: not 'name | source | folder | command'")
        name, source, folder, command = fields
        if not wanted.search(name):
            continue
        if source == "ours":
            place = ROOT / folder
        elif libraries:
            place = pathlib.Path(libraries).resolve() / folder
        else:
            continue
        words = shlex.split(command)
        program = place / words[0]
        words[0] = str(program)
        if source == "ours":
            words.insert(0, os.environ.get("PYTHON") or "python3")
        if program.is_file():
            programs.append(Program(name, source, place, words))
        else:
            missing.append(name)
    return programs[part - 1::parts], missing


def prepare_folder(program, cwd):
    """Fill a run's own working folder: programs look for data there, and write there."""
    if program.source == "ours":
        cwd.mkdir(parents=True)
        return
    # The program itself stays where it is: a fork of another thread may hold one open that was just written.
    left_out = shutil.ignore_patterns("*.o", "*.obj", "*.d", pathlib.Path(program.words[0]).name)
    shutil.copytree(program.folder, cwd, ignore=left_out, symlinks=True)


def masked_line(line, cwd):
    """Return a line without the run's folder, and without numbers if it speaks of a time or a rate."""
    line = line.replace(str(cwd), "CWD").rstrip()
    if VARYING.search(NUMBER.sub(" ", line)):
        line = NUMBER.sub("#", line)
        line = re.sub(r"\b[mun]s\b|\bseconds?\b|\bsecs?\b", "#", line)
        return re.sub(r"\s+", " ", line)
    return line


def run_command(program, words, cwd, limit_s, gpu):
    """Run a command to its end or its limit, and return its Run without what was recorded."""
    environment = dict(os.environ, OMP_NUM_THREADS="4", XLA_PYTHON_CLIENT_PREALLOCATE="false",
                       PYTHONHASHSEED="0", CUBLAS_WORKSPACE_CONFIG=":4096:8", TF_CPP_MIN_LOG_LEVEL="2",
                       PYTHONWARNINGS="ignore", TOKENIZERS_PARALLELISM="false", PYTHONDONTWRITEBYTECODE="1")
    if program.source != "ours":  # Python packages bring libraries of their own
        paths = [os.environ.get("LD_LIBRARY_PATH"), "/usr/local/cuda/lib64"]
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, paths))
    if gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = str(gpu)
    streams = {}
    out, err = cwd.parent / "out", cwd.parent / "err"
    begin = time.monotonic()
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                   env=environment, start_new_session=True)
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
    seconds = time.monotonic() - begin
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what it left running, too
    except ProcessLookupError:
        pass
    process.wait()
    own = []
    for name, path in (("stdout", out), ("stderr", err)):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        own += [line.replace(str(cwd.parent), "RUN") for line in lines
                if OWN_LINE.match(line) and not PLACE_LINE.match(line)]
        streams[name] = [masked_line(line, cwd) for line in lines if not OWN_LINE.match(line)]
    return Run(code, seconds, streams, own)


def inspect_recording(run, folder, tool):
    """Count what was recorded, and have the tool report it."""
    hosts = [host for host in folder.glob("**/process.csv") if ".ring" not in str(host)]
    run.processes = len(hosts)
    for host in hosts:
        kernels = host.parent / "kernels.csv"
        if kernels.exists():
            with kernels.open("rb") as rows:
                run.kernels += max(0, sum(1 for _ in rows) - 1)
    if not hosts:
        return
    dumps = sorted(folder.glob("dump.*"))
    try:
        reporter = subprocess.run([tool, "report", dumps[-1] if dumps else folder], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        run.reported = "report took longer than 60 s"
        return
    if reporter.returncode != 0:
        run.reported = f"exit {reporter.returncode} " + reporter.stderr.decode(errors="replace").strip()[:160]


class Learned:
    """What a program's output has in all its bare runs."""

    def __init__(self, runs):
        self.runs = runs
        self.forms = {name: {self.form(name, run) for run in runs} for name in ("stdout", "stderr")}

    @staticmethod
    def form(name, run):
        return tuple(len(line.split()) for line in run.streams[name])

    def difference(self, run):
        """Return None, or the stream and the first lines that differ."""
        for name in ("stdout", "stderr"):
            found = self.stream_difference(name, run)
            if found:
                return (name, *found)
        return None

    def stream_difference(self, name, run):
        bare = [other.streams[name] for other in self.runs]
        here = run.streams[name]
        if here in bare:
            return None
        if len(self.forms[name]) == 1:
            if self.form(name, run) in self.forms[name]:
                return self.word_difference(bare, here)
            return self.first_difference(bare[0], here)
        # Lines come and go from run to run: each line has to be one that a bare run has, in its words.
        known = {NUMBER.sub("#", line) for lines in bare for line in lines}
        for line in here:
            if NUMBER.sub("#", line) not in known:
                return ("", line)
        in_all = set.intersection(*({NUMBER.sub("#", line) for line in lines} for lines in bare))
        gone = in_all - {NUMBER.sub("#", line) for line in here}
        return (sorted(gone)[0], "") if gone else None

    @staticmethod
    def word_difference(bare, here):
        for number, line in enumerate(here):
            others = [lines[number].split() for lines in bare]
            for position, word in enumerate(line.split()):
                seen = {words[position] for words in others}
                if word not in seen and len(seen) == 1:
                    return (bare[0][number], line)
        return None

    @staticmethod
    def first_difference(bare, here):
        matcher = difflib.SequenceMatcher(None, bare, here, autojunk=False)
        for tag, i, i_end, j, j_end in matcher.get_opcodes():
            if tag != "equal":
                return (bare[i] if i < i_end else "", here[j] if j < j_end else "")
        return ("", "")


class Check:
    """All runs of all programs, several at a time within a budget."""

    def __init__(self, programs, scratch):
        self.programs = programs
        self.scratch = scratch
        self.tool = os.environ["ROOFLINECTL"]
        names = (os.environ.get("MODES") or ",".join(MODES)).split(",")
        self.modes = [mode for mode in MODES if mode in names]
        self.gpus = setting("GPUS", 1)
        self.jobs = setting("JOBS", 10)
        self.hardware_jobs = setting("HARDWARE_JOBS", self.gpus)
        self.budget_s = setting("BUDGET_S", 520)
        self.bare_s = setting("BARE_S", 20)
        self.limit_s = setting("LIMIT_S", 60)
        self.begin = time.monotonic()
        self.state = threading.Condition()
        self.bare = collections.defaultdict(list)
        self.recorded = {}
        self.cupti = set()
        # In this order: what a worker begins next.
        self.waiting = collections.deque((program, "bare") for program in programs)
        self.running = collections.Counter()
        self.run_count = 0
        self.gpu_runs = [collections.Counter() for _ in range(self.gpus)]

    def remaining_s(self):
        return self.budget_s - (time.monotonic() - self.begin)

    def next_task(self):
        """Return a task and its GPU, or None when nothing is left; hardware counters first, as they queue."""
        with self.state:
            while True:
                if self.remaining_s() <= 0:
                    return None
                if self.running["hardware"] < self.hardware_jobs:
                    tasks = [task for task in self.waiting if task[1] in READS_HARDWARE]
                    if tasks:  # the shortest, so that most programs have their turn within the budget
                        return self.take(min(tasks, key=lambda task: self.bare[task[0].name][0].seconds))
                for task in self.waiting:
                    if task[1] not in READS_HARDWARE:
                        return self.take(task)
                if not self.waiting and not self.running["all"]:
                    return None
                self.state.wait(1)

    def take(self, task):
        kinds = ["all", "hardware"] if task[1] in READS_HARDWARE else ["all"]
        gpu = min(range(self.gpus), key=lambda at: (self.gpu_runs[at][kinds[-1]], self.gpu_runs[at]["all"]))
        self.waiting.remove(task)
        for kind in kinds:
            self.count(kind, gpu, 1)
        return task, gpu

    def count(self, kind, gpu, by):
        self.running[kind] += by
        self.gpu_runs[gpu][kind] += by

    def finish(self, gpu):
        with self.state:
            self.count("all", gpu, -1)
            self.state.notify_all()

    def wait_for_counters(self, gpu):
        """Wait until a GPU's hardware counters have no reader, and become it: run_once ends that."""
        with self.state:
            while self.gpu_runs[gpu]["hardware"] > 0 and self.remaining_s() > 0:
                self.state.wait(1)
            self.count("hardware", gpu, 1)

    def run_once(self, program, mode, gpu):
        """Run a program in a folder of its own, which is removed afterwards."""
        with self.state:
            self.run_count += 1
            place = self.scratch / f"{self.run_count}.{program.name}.{mode}"
            limit_s = self.bare_s if mode == "bare" else self.limit_s
            if mode == "bare" and not self.bare[program.name]:
                limit_s *= 2  # the first run fills caches of compiled code
        folder = place / "recording"
        left_s = max(1, self.remaining_s() + GRACE_S)
        try:
            prepare_folder(program, place / "cwd")
            words = program.words
            if mode != "bare":
                words = [self.tool, "record", "-o", str(folder), *MODES[mode], "--", *words]
            run = run_command(program, words, place / "cwd", min(limit_s, left_s),
                              gpu if self.gpus > 1 else None)
        finally:
            if mode in READS_HARDWARE:  # the next one may begin while this one is reported
                with self.state:
                    self.count("hardware", gpu, -1)
                    self.state.notify_all()
        run.cut = run.code is None and left_s < limit_s
        if mode != "bare":
            inspect_recording(run, folder, self.tool)
            for facts in folder.glob("**/process.csv"):
                for line in facts.read_text(encoding="utf-8", errors="replace").splitlines():
                    if line.startswith("cupti,"):
                        self.cupti.add(line.split(",", 1)[1])
        if os.environ.get("KEEP"):
            kept = pathlib.Path(os.environ["KEEP"]) / f"{program.name}.{mode}"
            kept.mkdir(parents=True, exist_ok=True)
            for name in ("out", "err"):
                shutil.copy(place / name, kept / name)
        shutil.rmtree(place, ignore_errors=True)
        return run

    def compare(self, program, run, gpu):
        """Return a recorded run's difference to the bare runs; one is worth more of these."""
        with self.state:
            bare = list(self.bare[program.name])
        found = Learned(bare).difference(run)
        while found and len(bare) < 2 + EXTRA_BARE_RUNS and self.remaining_s() > 0:
            another = self.run_once(program, "bare", gpu)
            if another.code is None:
                break
            with self.state:
                self.bare[program.name].append(another)
                bare = list(self.bare[program.name])
            found = Learned(bare).difference(run)
        return found

    def judge(self, program, mode, run, gpu):
        """Return what a recorded run differs in, and how a second one of those that differ came out."""
        end = end_of(self.bare[program.name][0])
        if run.code is None:
            return None, "once"
        found = self.compare(program, run, gpu)
        if not found and end_of(run) == end:
            return None, ""
        if self.remaining_s() <= 0:
            return found, "once"
        if mode in READS_HARDWARE:
            self.wait_for_counters(gpu)
        again = self.run_once(program, mode, gpu)
        if again.cut:
            return found, "once"
        if again.code is not None and end_of(again) == end and not self.compare(program, again, gpu):
            return found, "in 1 of 2 runs"
        return found, "in 2 of 2 runs"

    def do_task(self, task, gpu):
        program, mode = task
        run = self.run_once(program, mode, gpu)
        if run.cut:
            return
        if mode == "bare":
            with self.state:
                self.bare[program.name].append(run)
                count = len(self.bare[program.name])
                if run.code is None:
                    return
                if count == 1:
                    self.waiting.appendleft((program, "bare"))
                elif count == 2:
                    self.waiting.extend((program, mode) for mode in self.modes)
        else:
            found, repeated = self.judge(program, mode, run, gpu)
            with self.state:
                self.recorded[program.name, mode] = (run, found, repeated)

    def work(self):
        while True:
            taken = self.next_task()
            if taken is None:
                return
            try:
                self.do_task(*taken)
            except OSError as error:
                print(f"libraries.py: {taken[0][0].name}: {error}", file=sys.stderr)
            finally:
                self.finish(taken[1])

    def run_all(self):
        workers = [threading.Thread(target=self.work) for _ in range(self.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def end_of(run):
    """Return how a run ended, in a word."""
    if run.code is None:
        return "limit"
    if run.code < 0 or run.code > 128:
        try:
            return signal.Signals(-run.code if run.code < 0 else run.code - 128).name
        except ValueError:
            pass
    return str(run.code)


def is_new_death(run, bare):
    return end_of(run).startswith("SIG") and end_of(run) != end_of(bare)


def print_table(check):
    """Print a row per program; a mode has its exit code, its output and its time as against bare."""
    width = max([len(program.name) for program in check.programs] + [7])
    print(f"{'program':{width}}  {'source':12} {'exit':>7} {'bare s':>7} {'kernels':>8}",
          *(f"  {mode:23}" for mode in check.modes))
    for program in check.programs:
        bare = check.bare[program.name]
        if not bare:
            print(f"{program.name:{width}}  {program.source:12} {'not run':>7}")
            continue
        fastest = min(run.seconds for run in bare)
        traced = check.recorded.get((program.name, check.modes[0]))
        cells = []
        for mode in check.modes:
            if (program.name, mode) not in check.recorded:
                cells.append("-")
                continue
            run, found, _ = check.recorded[program.name, mode]
            code = "same" if end_of(run) == end_of(bare[0]) else end_of(run)
            output = "-" if run.code is None else "differs" if found else "same"
            cells.append(f"{code:7} {output:7} {run.seconds / fastest:6.2f}x")
        print(f"{program.name:{width}}  {program.source:12} {end_of(bare[0]):>7} {fastest:7.2f} "
              f"{traced[0].kernels if traced else '-':>8}", *(f"  {cell:23}" for cell in cells))


def print_differences(check):
    print("\nDifferences\n")
    count = 0
    for (name, mode), (run, found, repeated) in sorted(check.recorded.items()):
        bare = check.bare[name][0]
        if end_of(run) != end_of(bare):
            count += 1
            print(f"{name}, {mode}: ends with {end_of(run)}, bare with {end_of(bare)}, {repeated}")
            for line in [*run.own_lines, *run.streams["stderr"][-3:]]:
                print(f"    {line[:200]}")
        if found:
            count += 1
            print(f"{name}, {mode}: {found[0]} differs from {len(check.bare[name])} bare runs, {repeated}")
            print(f"    bare      {found[1][:200]}")
            print(f"    recorded  {found[2][:200]}")
        if run.reported:
            count += 1
            print(f"{name}, {mode}: rooflinectl report: {run.reported}")
        if not run.processes and check.recorded.get((name, check.modes[0]), (run,))[0].processes:
            count += 1
            print(f"{name}, {mode}: no recording")
    if not count:
        print("none")


def print_own_lines(check):
    """Print what the collector said, by how many programs it said it in."""
    said = collections.defaultdict(set)
    for (name, mode), (run, *_) in check.recorded.items():
        for line in run.own_lines:
            said[mode, NUMBER.sub("N", line)].add(name)
    print("\nLines of the collector\n")
    for (mode, line), names in sorted(said.items(), key=lambda item: -len(item[1])):
        shown = " ".join(sorted(names)[:4]) + (" ..." if len(names) > 4 else "")
        print(f"{len(names):4} {mode:9} {line[:220]} ({shown})")
    if not said:
        print("none")


def totals_of(check, mode):
    """Return what is counted in a mode."""
    runs = [(check.bare[name][0], run, found)
            for (name, other), (run, found, _) in check.recorded.items() if other == mode]
    return {
        "programs": len(runs),
        "same exit": sum(end_of(run) == end_of(bare) for bare, run, _ in runs),
        "same output": sum(run.code is not None and not found for _, run, found in runs),
        "died": sum(is_new_death(run, bare) for bare, run, _ in runs),
        "over limit": sum(run.code is None for _, run, _ in runs),
        "no recording": sum(not run.processes for _, run, _ in runs),
        "unreadable": sum(bool(run.reported) for _, run, _ in runs),
        "kernels": sum(run.kernels for _, run, _ in runs),
    }


def print_totals(check, missing):
    print("\nTotals\n")
    totals = {mode: totals_of(check, mode) for mode in check.modes}
    columns = list(next(iter(totals.values())))
    print(f"{'mode':10}", *(f"{column:>12}" for column in columns))
    for mode, counts in totals.items():
        print(f"{mode:10}", *(f"{counts[column]:12}" for column in columns))
    started = [check.bare[program.name] for program in check.programs if check.bare[program.name]]
    slow = sum(any(run.code is None for run in runs) for runs in started)
    failing = sum(runs[0].code not in (0, None) for runs in started)
    print(f"\n{len(check.programs)} programs in the list; {len(started)} run; {slow} left out as a bare run "
          f"takes longer than {check.bare_s} s; {failing} fail bare, too")
    if missing:
        print(f"not built: {' '.join(missing)}")
    print(f"{check.run_count} runs in {time.monotonic() - check.begin:.0f} s, {check.jobs} at a time, "
          f"{check.hardware_jobs} of them reading hardware counters; GPUs: {check.gpus}")
    if os.environ.get("TOTALS"):
        with open(os.environ["TOTALS"], "w", encoding="utf-8") as file:
            for mode, counts in totals.items():
                file.write(" ".join([mode, *(str(counts[column]) for column in columns)]) + "\n")


def main():
    """Run the programs of the list and print what came of it."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    programs, missing = read_list(pathlib.Path(sys.argv[1]))
    if not programs:
        sys.exit("libraries.py: no program of the list is there: set LIBRARIES to the folder that was built")
    scratch = pathlib.Path(os.environ["SCRATCH"]) / "runs"
    scratch.mkdir()
    check = Check(programs, scratch)
    check.run_all()
    print("cupti   ", " ".join(sorted(check.cupti)) or "unknown")
    print("modes   ", "; ".join(f"{mode}: record {' '.join(MODES[mode])}".strip() for mode in check.modes))
    print("times    of runs alongside each other: a ratio does not measure what recording costs\n")
    print_table(check)
    print_differences(check)
    print_own_lines(check)
    print_totals(check, missing)


if __name__ == "__main__":
    main()
