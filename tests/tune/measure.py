#!/usr/bin/env python3
"""Times of every point of the spaces in spaces.py, for tests/bench/tune.py to search.

    measure.py build SOURCES OUT [NAME...]
    measure.py measure PROGRAMS OUT [SECONDS [NAME...]]

build needs nvcc and no GPU: OUT gets a program for each point, or one where its parameters are options.
SOURCES has a folder for each repository, its name with a + for the /, at the commit that spaces.py names.

measure needs a GPU, the project in BUILD, and PROGRAMS, that folder or an archive of it. OUT gets a
folder for each space with trials.jsonl, as `rooflinectl tune` writes it, and measured.tar.xz with all of
them: every point once, then all of them again, space after space, as long as SECONDS (230) last, so what
disturbs one pass disturbs no point alone. At the end the best few of each take turns. Without a NAME it
is those whose programs are there, and tune_transpose.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

from spaces import SPACES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NVCC = ["nvcc", "-O3", "-std=c++17", "-arch=sm_90", "-cudart", "shared", "-w"]
MOST_PASSES = 3
TURNS_S = 6  # that the best few of a space take


# ---- build ----

def run(command, folder):
    subprocess.run(command, cwd=folder, check=True)


def set_numbers(text, numbers):
    for name, value in numbers.items():
        text, count = re.subn(rf"((?:#define|\bint)\s+{name}\s*=?\s*)\d+", rf"\g<1>{value}", text, count=1)
        if not count:
            sys.exit(f"{name} is set nowhere")
    return text


def object_of(file):
    return os.path.splitext(file)[0] + ".o"


def build_point(space, folder, flags, original, point, program):
    """What none of the numbers is in was compiled before."""
    build = space.build
    numbers = {macro: point[name] for name, macro in build.get("macros", {}).items()}
    is_guarded = build.get("is_guarded")
    defines = [f"-D{macro}={value}" for macro, value in numbers.items()] if is_guarded else []
    if original and not is_guarded:
        with open(os.path.join(folder, build["edited"]), "w", encoding="utf-8") as file:
            file.write(set_numbers(original, {**build.get("fixed", {}), **numbers}))
    run([*flags, *defines, "-c", build["files"][-1], "-o", object_of(build["files"][-1])], folder)
    run([*NVCC, *map(object_of, build["files"]), "-o", program], folder)


def build_space(space, sources, out):
    repository, _, where = space.source
    top = os.path.join(sources, repository.replace("/", "+"))
    scratch = tempfile.mkdtemp()
    folder = os.path.join(scratch, "source")
    flags = NVCC + ["-I" + os.path.join(top, include) for include in space.build.get("include", [])]
    original = None
    try:
        shutil.copytree(os.path.join(top, where), folder)
        if "edited" in space.build:
            with open(os.path.join(folder, space.build["edited"]), encoding="utf-8") as file:
                original = file.read()
        for file in space.build["files"][:-1]:
            run([*flags, "-c", file, "-o", object_of(file)], folder)
        for point in space.points() if original else [{}]:
            program = os.path.join(out, ".".join([space.name, *map(str, point.values())]))
            if not os.path.exists(program):
                build_point(space, folder, flags, original, point, program)
    finally:
        shutil.rmtree(scratch)


def build_all(sources, out, *names):
    os.makedirs(out, exist_ok=True)
    for space in SPACES:
        if space.source and (not names or space.name in names):
            build_space(space, os.path.abspath(sources), os.path.abspath(out))


# ---- measure ----

def tool():
    build = os.environ.get("BUILD", os.path.join(ROOT, "build"))
    return os.path.join(os.path.abspath(build), "bin", "rooflinectl")


def tune(space, programs, folder, *options):
    """The workloads are found beside the tool.  A pass that is cut short counts as far as it came."""
    workloads = os.path.join(os.path.dirname(os.path.dirname(tool())), "lib", "rooflinectl", "workloads")
    found = {"PATH": [workloads, os.environ["PATH"]],
             "LD_LIBRARY_PATH": [os.environ.get("LD_LIBRARY_PATH", ""), "/usr/local/cuda/lib64"]}
    variables = {name: os.pathsep.join(filter(None, folders)) for name, folders in found.items()}
    subprocess.run([tool(), "tune", *space.options(), "--search", "exhaustive", "-o", folder, "--quiet",
                    "--trial-timeout", "20", *options, "--", *space.words()],
                   cwd=programs, env={**os.environ, **variables}, check=False)


def is_there(space, programs):
    return space.name == "tune_transpose" or any(
        file.split(".")[0] == space.name for file in os.listdir(programs))


def passes(spaces, programs, out, end):
    for number in range(1, MOST_PASSES + 1):
        for space in spaces:
            left = end - time.monotonic() - TURNS_S * len(spaces)
            if left <= 0:
                return
            began = time.monotonic()
            tune(space, programs, os.path.join(out, space.name), "--fresh", "--repeats", "0",
                 "--seconds", str(int(left) + 1))
            print(f"{space.name}: pass {number} took {time.monotonic() - began:.0f} s", flush=True)


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.readlines()


def take_turns(space, programs, out):
    folder = os.path.join(out, space.name)
    path = os.path.join(folder, "trials.jsonl")
    if os.path.exists(path) and not space.missing(map(json.loads, lines_of(path))):
        tune(space, programs, folder, "--repeats", "5")


def pack(out):
    """What was measured; a line that was taken from an earlier one is none."""
    with tarfile.open(os.path.join(out, "measured.tar.xz"), "w:xz") as archive:
        for name in sorted(os.listdir(out)):
            path = os.path.join(out, name, "trials.jsonl")
            if os.path.exists(path):
                kept = [line for line in lines_of(path) if not json.loads(line)["stored"]]
                with open(path, "w", encoding="utf-8") as file:
                    file.writelines(kept)
                archive.add(path, os.path.join(name, "trials.jsonl"))


def measure_all(programs, out, seconds="230", *names):
    end = time.monotonic() + float(seconds)
    os.makedirs(out, exist_ok=True)
    out = os.path.abspath(out)
    scratch = tempfile.mkdtemp()
    keeper = None
    # While nvidia-smi waits, the driver stays loaded: programs start in a fraction of the time.
    if shutil.which("nvidia-smi"):
        keeper = subprocess.Popen(["nvidia-smi", "--loop=3600"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
    try:
        if not os.path.isdir(programs):
            with tarfile.open(programs) as archive:
                archive.extractall(scratch)
            programs = scratch
        spaces = [space for space in SPACES
                  if (space.name in names if names else is_there(space, programs))]
        passes(spaces, programs, out, end)
        for space in spaces:
            take_turns(space, programs, out)
        pack(out)
    finally:
        if keeper:
            keeper.kill()
        shutil.rmtree(scratch)


def main():
    commands = {"build": build_all, "measure": measure_all}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
