#!/usr/bin/env python3
"""html_data.py PAGE - reads what a page of report --html has, without a browser, and writes it as JSON.

What the page's scripts read in data.js, and in the same order: the report, and of each row of the finest
level how many items it has and how long they are together.  Also what a browser would run and load.
"""
import base64
import hashlib
import html.parser
import json
import sys
import zlib

CLASS_LIST = 32
LOADING = ("src", "srcset", "data")
COLUMNS = ["starts", "lengths", "counts", "busy", "classes", "names", "calls"]


class Page(html.parser.HTMLParser):
    """Elements as a browser finds them."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.blocks, self.loads, self.tags, self.policy = [], {}, [], [], None
        self.inside, self.styles = None, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.tags.append(tag)
        self.inside = (tag, known) if tag in ("script", "style") else None
        self.loads += [f"{tag} {name}" for name in known if name in LOADING or name.startswith("on")]
        if known.get("http-equiv") == "Content-Security-Policy":
            self.policy = known["content"]

    def handle_data(self, data):
        if not self.inside:
            return
        tag, known = self.inside
        if tag == "style":
            self.styles.append(data)
        elif "type" in known:
            self.blocks[known["id"]] = data
        else:
            self.scripts.append(data)

    def handle_endtag(self, tag):
        self.inside = None

    def packed(self, name):
        return zlib.decompress(base64.b64decode(self.blocks[name]))


def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def columns_of(page, entry):
    data, at, columns = page.packed(entry["block"]), 0, {}
    for name, size in zip(COLUMNS, entry["columns"]):
        columns[name] = data[at:at + size]
        at += size
    assert at == len(data)
    return columns


def times_by_class(columns, lengths, counts):
    """Of a row whose entries are items: how long each class is in all, as colors have it."""
    times, data, at = {}, columns["classes"], 0
    for length, count in zip(lengths, counts):
        assert count == 1
        first, at = data[at], at + 1
        pairs, rest = [(first, 0)], length
        if first >= CLASS_LIST:
            pairs, at = [(data[at], 0)], at + 1
            for _ in range(first - CLASS_LIST - 1):
                end = at + 1
                while data[end] >= 0x80:
                    end += 1
                pairs.append((data[at], next(numbers(data[at + 1:end + 1]))))
                at = end + 1
        for which, time in pairs[1:]:
            times[which] = times.get(which, 0) + time
            rest -= time
        times[pairs[0][0]] = times.get(pairs[0][0], 0) + rest
    assert at == len(data)
    return times


def row_of(page, row, entry):
    if not entry:
        return {**row, "count": 0, "total_ns": 0}
    columns = columns_of(page, entry)
    starts, lengths = list(numbers(columns["starts"])), list(numbers(columns["lengths"]))
    assert len(starts) == len(lengths) == entry["count"] == len(columns["busy"])
    counts = [count + 1 for count in numbers(columns["counts"])]
    times = times_by_class(columns, lengths, counts) if row["kind"] == "idle" and max(counts) == 1 else {}
    return {**row, "count": sum(counts), "total_ns": sum(lengths), "first_ns": starts[0],
            "by_class": [times.get(which, 0) for which in range(CLASS_LIST)]}


def hash_of(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        page = Page(file.read())
    timeline = json.loads(page.packed("timeline"))
    level = timeline["levels"][-1]
    json.dump({
        "scripts": len(page.scripts),
        "is_in_policy": [f"'sha256-{hash_of(text)}'" in page.policy for text in page.scripts + page.styles],
        "policy": page.policy,
        "loads": page.loads,
        "tags": sorted(set(page.tags)),
        "report": json.loads(page.blocks["report"]),
        "texts": timeline["kernels"] + timeline["names"],
        "levels": [{"column_ns": each["column_ns"],
                    "entries": sum(row["count"] for row in each["rows"] if row)}
                   for each in timeline["levels"]],
        "rows": [row_of(page, row, entry) for row, entry in zip(timeline["rows"], level["rows"])],
        "steps": json.loads(page.packed("whatif"))["steps"],
    }, sys.stdout)


if __name__ == "__main__":
    main()
