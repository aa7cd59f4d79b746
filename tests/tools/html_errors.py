#!/usr/bin/env python3
"""html_errors.py PAGE... - opens each page in Chromium and prints what it could not show; exit code 1."""
import sys

from browser import Browser

SHOWN = "[...document.querySelectorAll('.error')].map((what) => what.textContent).join('; ')"
is_wrong = False
with Browser() as browser:
    for page in sys.argv[1:]:
        browser.open(page)
        what = "; ".join(filter(None, [browser.evaluate(SHOWN), *browser.complaints()]))
        if what:
            print(f"{page}: {what}")
            is_wrong = True
sys.exit(is_wrong)
