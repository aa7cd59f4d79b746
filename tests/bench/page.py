#!/usr/bin/env python3
"""How large a page of report --html is, how long it takes to write, and when a browser shows it.

KERNELS (default "10000 1000000 10000000") names the sizes of recordings (tests/tools/make_trace.c), REPEATS
(default 5) how often the page is opened in headless Chromium, each time in a new one; medians are shown.
First paint is what the browser says of the first text or picture (first-contentful-paint), from the page's
opening on; ready is when every part stands.  A zoom is the time from a key to the frame that shows it drawn,
the median of 20.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
import browser  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
SIZES = [int(word) for word in os.environ.get("KERNELS", "10000 1000000 10000000").split()]
REPEATS = int(os.environ.get("REPEATS", "5"))

PAINT = "performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)[0]"
READY = "performance.getEntriesByName('ready')[0].startTime"
ZOOMS = """(async () => {
    const canvas = document.querySelector('canvas.timeline'), times = [];
    for (let i = 0; i < 20; i++) {
        const begin = performance.now();
        const key = i < 14 ? '+' : 'ArrowRight';
        canvas.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        times.push(performance.now() - begin);
    }
    return times.sort((a, b) => a - b)[10];
})()"""


def write_page(folder, kernels):
    recording, page = folder / "recording", folder / "page.html"
    make, program = BUILD / "tests/tools/make_trace", BUILD / "bin/rooflinectl"
    subprocess.run([make, recording, str(kernels)], check=True, stdout=subprocess.DEVNULL)
    start = time.monotonic()
    subprocess.run([program, "report", recording, "--html", page], check=True, stderr=subprocess.DEVNULL)
    return page, time.monotonic() - start


def open_page(page):
    with browser.Browser() as opened:
        opened.open(page)
        opened.wait(f"{PAINT} !== undefined")
        return [opened.evaluate(what) for what in (PAINT, READY, ZOOMS)]


def measure(kernels):
    with tempfile.TemporaryDirectory() as folder:
        page, write_s = write_page(pathlib.Path(folder), kernels)
        opened = [open_page(page) for _ in range(REPEATS)]
        paint, ready, zoom = map(statistics.median, zip(*opened))
        print(f"{kernels:>12,} {page.stat().st_size / 1e6:>8.1f} {write_s:>9.1f} {paint:>14.0f} "
              f"{ready:>9.0f} {zoom:>9.0f}", flush=True)


def main():
    if not browser.find():
        print("html: skipped, no Chromium found: make check-html installs it")
        return
    print(f"{'kernels':>12} {'page_MB':>8} {'written_s':>9} {'first_paint_ms':>14} "
          f"{'ready_ms':>9} {'zoom_ms':>9}")
    for kernels in SIZES:
        measure(kernels)


if __name__ == "__main__":
    main()
