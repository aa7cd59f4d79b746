#!/usr/bin/env python3
"""html_compare_try.py PAGE [dark] - uses a page of compare --html as a reader does, in Chromium.

It writes as JSON texts that the page shows.
"""
import json
import sys

from browser import Browser

SECTIONS = "[...document.querySelectorAll('main > section')].map(({id}) => id)"
HEADS = "[...document.querySelectorAll('#kernels th')].map((head) => head.textContent)"
SORTED_HEAD = "document.querySelectorAll('#kernels th')[2]"
NAMES = "[...document.querySelectorAll('#kernels tbody tr')].map((row) => row.cells[0].textContent)"
COUNTS = (("strange", "img, b > *, svg:not(.plane)"), ("errors", ".error"), ("bars", ".sidebar canvas"))


def main():
    with Browser(is_dark="dark" in sys.argv[2:]) as browser:
        browser.open(sys.argv[1])
        result = {
            "title": browser.evaluate("document.title"),
            "background": browser.evaluate("getComputedStyle(document.body).backgroundColor"),
            "sections": browser.evaluate(SECTIONS),
            "verdict": browser.evaluate("document.querySelector('.verdict').textContent"),
            "heads": browser.evaluate(HEADS),
            "kernels": browser.evaluate(NAMES),
        }
        browser.evaluate(SORTED_HEAD + ".querySelector('button').click()")
        result["sort"] = browser.evaluate(SORTED_HEAD + ".getAttribute('aria-sort')")
        result["sorted"] = browser.evaluate(NAMES)
        browser.evaluate("document.querySelector('#kernels input').focus()")
        for letter in "median":
            browser.press(letter)
        result["found"] = browser.evaluate("document.querySelector('#kernels .count').textContent")
        result["titleAtEnd"] = browser.evaluate("document.title")
        browser.emulate(400, 800, False)
        result["beyond"] = browser.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        for key, what in COUNTS:
            result[key] = browser.evaluate(f"document.querySelectorAll({json.dumps(what)}).length")
        result["complaints"] = browser.complaints()
        json.dump(result, sys.stdout, indent=1)


main()
