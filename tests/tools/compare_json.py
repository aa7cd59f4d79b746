#!/usr/bin/env python3
"""compare_json.py BEFORE AFTER - compares by key what two versions of rooflinectl wrote as JSON.

BEFORE and AFTER are files, or folders of *.json with the same names, such as a report, advise and
whatif of every recording.  Keys may come in another order and may be new; a key that went, a number
that differs and a text that differs are told, one a line with where it stands.  Texts for people may
differ.  Exit code 1 when anything was told.
"""
import json
import pathlib
import sys

# What a newer version calls differently: keys, and texts that are names.
RENAMED = {
    "synchronisation": "synchronization",
    "kernel_shared_ns": "kernel_concurrent_ns",
    "looked_at_count": "measured_count",
    "is_beside": "is_concurrent",
    "is_asked": "is_counted",
    "fuse_neighbours": "fuse_neighbors",
}

# Sentences for people: words may change.
SENTENCES = {"evidence", "note", "not_visible", "pattern", "reason", "refusal", "risk", "target", "title",
             "differences", "obstacles", "warnings", "verify"}

# The version of the keys, and where a file of this machine lies.
EXPECTED = {"schema", "path"}


def concurrency_rows(devices):
    """Schema 2 had one object a device with a list of times: since 3 each time is a row."""
    return [{"device": device["device"], "operation_count": count, "time_ns": time_ns}
            for device in devices for count, time_ns in enumerate(device["time_ns"])]


def as_newest(report):
    """A report of an older schema in the form of the newest one."""
    if report.get("schema", 0) < 3 and "concurrency" in report:
        report["concurrency"] = concurrency_rows(report["concurrency"])
    return report


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def differences(before, after, where, key=None):
    """Lines that tell what differs; key: the nearest one above."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            new = RENAMED.get(name, name) if name not in after else name
            if name in EXPECTED:
                continue
            if new in after:
                yield from differences(value, after[new], f"{where}.{new}", new)
            else:
                yield f"{where}: no {new} any more"
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{where}: {len(before)} items before, {len(after)} after"
        for i, pair in enumerate(zip(before, after)):
            yield from differences(*pair, f"{where}[{i}]", key)
    elif isinstance(before, str) and isinstance(after, str):
        if after not in (before, RENAMED.get(before)) and key not in SENTENCES:
            yield f"{where}: '{before}' before, '{after}' after"
    elif before is None and key == "name" and after in ("memset", "graph"):
        pass  # an operation before or after a gap: each has a name since schema 3
    elif is_number(before) != is_number(after) or before != after:
        yield f"{where}: {before} before, {after} after"


def load(path):
    text = path.read_text()
    return as_newest(json.loads(text)) if text else None


def pairs(before, after):
    if not before.is_dir():
        return [(before, after)]
    names = {path.name for folder in (before, after) for path in folder.glob("*.json")}
    return [(before / name, after / name) for name in sorted(names)]


def compare(before, after):
    """Lines about one pair of files."""
    for path in (before, after):
        if not path.exists():
            return [f"{path} is missing"]
    return [f"{after.name}: {line}" for line in differences(load(before), load(after), "$")]


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    files = pairs(*map(pathlib.Path, arguments))
    told = [line for before, after in files for line in compare(before, after)]
    print("\n".join(told + [f"{len(files)} files compared, {len(told)} differences"]))
    return 1 if told or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
