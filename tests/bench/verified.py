#!/usr/bin/env python3
"""The speedup that `verify` measures from two recordings, beside that of the programs without a recording.

    tests/bench/verified.py                           of tests/pairs and what was measured beside them
    tests/bench/verified.py --estimated               of the same, without their runs without recording
    tests/bench/verified.py FOLDER MEDIANS CEILINGS   of another machine, with its own ceilings

Needs no GPU.  `untraced` is what predictions.py calls measured: the ratio of medians without the collector,
right before and right after each recording.  `range` is `verify --range run`, the range in which every
workload does its iterations; `steady` is what verify says of the steady state, without a range, where both
recordings have one and their iterations can be matched, and `run` what it says of the whole run, start-up
and all.  `uncorrected` is the range with what recording added, and `either` the steady state, or the range
where there is none.  `varies` is how far the speedups of the untraced runs beside the recordings are apart,
the greatest by the least: no recording can tell it better than that.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import predictions


def ratio_error(found, truth):
    return found / truth - 1 if found else None


def percent(error):
    return "-" if error is None else f"{100 * error:+.1f}%"


def beside(runs, roles, *variant):
    """The untraced runs right before and right after that recording."""
    return runs[variant][:2] if roles[variant] == "before" else runs[variant][-2:]


def varies(before, after):
    return max(before) / min(before) * max(after) / min(after) - 1


def uncorrected(result):
    compared = result["compared"]
    return compared["before_ns"] / compared["after_ns"]


def verify(before, after, *options):
    done = predictions.run_tool("verify", "--force", *options, *predictions.CEILINGS, before, after)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return predictions.json.loads(done.stdout)


def pairs_of(folder):
    """Each once, also where several changes are predicted for it."""
    found = dict.fromkeys((workload, before, after) for workload, before, after, _ in predictions.PAIRS)
    return [
        (workload, before, after)
        for workload, before, after in found
        if all(predictions.is_recorded(folder / f"{workload}.{variant}") for variant in (before, after))
    ]


def summary(name, errors):
    known = [abs(error) for error in errors if error is not None]
    near = sum(error <= 0.10 for error in known)
    return (
        f"{name:11} {len(known):2} pairs, {near:2} within 10% ({100 * near / len(known):.0f}%), "
        f"median {100 * predictions.statistics.median(known):.1f}%, "
        f"nine of ten within {100 * sorted(known)[int(0.9 * len(known))]:.1f}%"
    )


def print_steady(name, errors, variations):
    """Of pairs whose untraced runs agree."""
    pairs = zip(errors, variations, strict=True)
    steady = [error for error, variation in pairs if variation <= 0.10]
    print(f"\nof those whose untraced speedup varies by at most 10%:\n{summary(name, steady)}")


def main(folder, paths=None):
    runs, roles = predictions.all_medians(paths), predictions.variants()
    layout = "{:21} {:13} {:14} {:>8} {:>6} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7}"
    heads = "workload before after untraced varies run off range off steady off"
    print(layout.format(*heads.split()))
    variations = []
    errors = {"run": [], "uncorrected": [], "range": [], "steady": [], "either": []}
    for workload, before, after in pairs_of(folder):
        paths = [folder / f"{workload}.{variant}" for variant in (before, after)]
        truth = predictions.untraced(runs[workload, before], "before") / predictions.untraced(
            runs[workload, after], roles[workload, after]
        )
        variations.append(
            varies(beside(runs, roles, workload, before), beside(runs, roles, workload, after))
        )
        ranges, run = verify(*paths, "--range", "run"), verify(*paths)
        steady = run["steady"]["measured"]
        errors["run"].append(ratio_error(run["measured"], truth))
        errors["uncorrected"].append(ratio_error(uncorrected(ranges), truth))
        errors["range"].append(ratio_error(ranges["measured"], truth))
        errors["steady"].append(ratio_error(steady, truth))
        errors["either"].append(ratio_error(steady or ranges["measured"], truth))
        print(
            layout.format(
                workload,
                before,
                after,
                predictions.times(truth),
                f"{100 * variations[-1]:.0f}%",
                predictions.times(run["measured"]),
                percent(errors["run"][-1]),
                predictions.times(ranges["measured"]),
                percent(errors["range"][-1]),
                predictions.times(steady),
                percent(errors["steady"][-1]),
            )
        )
    print()
    for name, found in errors.items():
        print(summary(name, found))
    print_steady("range", errors["range"], variations)


def without_untraced(folder, scratch):
    """The recordings of a folder, but for what tells what recording added."""
    for path in folder.glob("*.roofline"):
        recording = scratch / path.stem
        recording.mkdir()
        plain = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-xf", "-", "-C", recording], input=plain, check=True)
        for facts in recording.glob("*/process.csv"):
            if "run,5" in facts.read_text().splitlines():
                shutil.rmtree(facts.parent)
    return scratch


PAIRS = predictions.ROOT / "tests" / "pairs"

if __name__ == "__main__":
    if sys.argv[1:] == ["--estimated"]:
        with tempfile.TemporaryDirectory() as made:
            main(without_untraced(PAIRS, pathlib.Path(made)))
    elif len(sys.argv) == 4:
        predictions.CEILINGS += ["--ceilings", sys.argv[3]]
        main(pathlib.Path(sys.argv[1]), [pathlib.Path(sys.argv[2])])
    elif sys.argv[1:]:
        print("verified.py: wrong arguments; its first lines tell the right ones", file=sys.stderr)
        sys.exit(2)
    else:
        main(PAIRS)
