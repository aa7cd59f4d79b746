#!/usr/bin/env python3
"""html_try.py PAGE [dark] - uses a page of report --html as a reader does, in Chromium.

By the keyboard, the wheel and the mouse; it writes as JSON texts that the page shows.
"""
import json
import sys

from browser import Browser

CANVAS = "document.querySelector('canvas.timeline')"
STATUS = "document.querySelector('#timeline_section .bar .count').textContent"
COLORS = f"""(() => {{ const canvas = {CANVAS}, context = canvas.getContext('2d');
    return new Set(new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
}})()"""
SECTIONS = "[...document.querySelectorAll('main > section')].map(({id}) => id)"
INFO = "document.querySelector('.info').textContent"
ROWS = "[...document.querySelectorAll('#%s tbody tr')].map((row) => row.cells[%d].textContent)"


def settle(browser):
    """Until what it shows has stayed the same for some frames: blocks are unpacked when they are needed."""
    browser.evaluate("new Promise((done) => setTimeout(done, 120))")


def press(browser, *keys):
    for key in keys:
        browser.evaluate(f"{CANVAS}.focus()")
        browser.press(key)
    settle(browser)
    return browser.evaluate(STATUS)


def place(browser):
    return json.loads(browser.evaluate(f"JSON.stringify({CANVAS}.getBoundingClientRect())"))


def wheel(browser):
    at = place(browser)
    browser.point(at["x"] + at["width"] / 2, at["y"] + 30, "mouseWheel", deltaX=0, deltaY=-400, modifiers=2)
    settle(browser)
    return browser.evaluate(STATUS)


def hover(browser):
    """What is told of what the pointer meets, from the top down at some places."""
    at, told = place(browser), set()
    for share in (0.3, 0.6, 0.8, 0.97):
        for y in range(24, int(at["height"]), 6):
            browser.point(at["x"] + share * at["width"], at["y"] + y)
            told.add(browser.evaluate("document.getElementById('tip').hidden ? '' : "
                                      "document.getElementById('tip').firstChild.textContent"))
    return sorted(told - {""})


def timeline(browser):
    browser.evaluate("document.getElementById('timeline_section').scrollIntoView()")
    return {
        "all": press(browser, "0"),
        "zoomed": press(browser, "+", "+"),
        "moved": press(browser, "ArrowRight"),
        "wheel": wheel(browser),
        "home": press(browser, "0"),
        "hover": hover(browser),
        "chosen": press(browser, "ArrowDown", "n") and browser.evaluate(INFO),
        "closest": press(browser, "Enter"),
        "paintedColors": browser.evaluate(COLORS),
    }


def type_into(browser, box, text):
    browser.evaluate(f"document.querySelector('#{box} input').focus()")
    for letter in text:
        browser.press(letter)


def clear(browser, box):
    browser.evaluate(f"{{ const box = document.querySelector('#{box} input'); box.value = '';"
                     " box.dispatchEvent(new Event('input')); }")


def tables(browser):
    result = {"kernels": browser.evaluate(ROWS % ("kernels", 0))}
    browser.evaluate("document.querySelector('#kernels th button').click()")
    result["byName"] = browser.evaluate(ROWS % ("kernels", 0))
    result["sort"] = browser.evaluate("document.querySelector('#kernels th').getAttribute('aria-sort')")
    type_into(browser, "gaps", "module")
    result["found"] = browser.evaluate("document.querySelector('#gaps .count').textContent")
    if not browser.evaluate("document.querySelector('#gaps tbody tr') !== null"):  # none has the word
        clear(browser, "gaps")
    browser.evaluate("document.querySelector('#gaps tbody tr:last-child').focus()")
    browser.press("Enter")
    settle(browser)
    result["gap"] = browser.evaluate(STATUS)
    return result


ROOF_TEXTS = """(() => {
    const texts = [...document.querySelectorAll('#%s .rooftext')].map((text) =>
        [text.textContent, text.getBoundingClientRect()]);
    const end = document.querySelector('#main section').getBoundingClientRect().right;
    const cross = ([, a], [, b]) => a.left < b.right && b.left < a.right &&
        a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2;
    return {texts: texts.map(([text]) => text),
        crossed: texts.filter((one) => texts.some((other) => other !== one && cross(one, other))).length,
        beyond: texts.filter(([, box]) => box.right > end).length};
})()"""


def roofline(browser):
    if not browser.evaluate("!!document.querySelector('#roofline select')"):
        return None
    drawn = "document.querySelector('#roofline svg').textContent"
    first, roofs, launching = browser.evaluate(drawn), browser.evaluate(ROOF_TEXTS % "roofline"), \
        browser.evaluate(ROOF_TEXTS % "launch_roofline")
    browser.evaluate("""(() => { const select = document.querySelector('#roofline select');
        select.value = 'l2'; select.dispatchEvent(new Event('change')); })()""")
    browser.evaluate("document.querySelector('#roofline circle').focus()")
    return {"first": first, "l2": browser.evaluate(drawn), "roofs": roofs, "launching": launching,
            "tip": browser.evaluate("document.getElementById('tip').textContent")}


HAS_FOCUS = "document.activeElement && document.activeElement.matches('%s')"
DIALOG = "!!document.querySelector('dialog[open]')"


def keys(browser):
    """The dialog of keys: by ? and by its button, closed by Escape; not where something is typed."""
    browser.evaluate(f"{CANVAS}.focus()")
    browser.press("?")
    result = {"open": browser.evaluate(DIALOG), "hasFocus": browser.evaluate(HAS_FOCUS % "dialog *"),
              "name": browser.evaluate("document.getElementById(document.querySelector('dialog')"
                                       ".getAttribute('aria-labelledby')).textContent"),
              "shown": browser.evaluate("[...document.querySelectorAll('dialog kbd')]"
                                        ".map((key) => key.textContent)")}
    browser.press("Tab")
    result["staysInside"] = not browser.evaluate(HAS_FOCUS % "main *")
    browser.press("Escape")
    result["closed"] = not browser.evaluate(DIALOG)
    result["focusIsBack"] = browser.evaluate(HAS_FOCUS % "canvas.timeline")
    clear(browser, "gaps")
    type_into(browser, "gaps", "?")
    typed = browser.evaluate("document.querySelector('#gaps input').value")
    result["typed"] = [typed, browser.evaluate(DIALOG)]
    clear(browser, "gaps")
    browser.evaluate("document.querySelector('.keysbutton').click()")
    result["byButton"] = browser.evaluate(DIALOG)
    browser.press("Escape")
    return result


def moments(browser):
    """Heads and cells of the tables that were folded."""
    return browser.evaluate("""[...document.querySelectorAll('#details table')].map((table) => ({
        caption: table.getAttribute('aria-label'),
        texts: [...table.querySelectorAll('th, tbody tr:first-child td, .upright td')]
            .map((cell) => cell.textContent)
        }))""")


WIDTH = "document.documentElement.scrollWidth - window.innerWidth"
SMALLEST_TEXT = """Math.min(...[...document.querySelectorAll('svg.plane text')]
    .map((text) => text.getBoundingClientRect()).map(({width, height}) => Math.min(width, height)), 99)"""


# Links of the navigation that can be seen and are under the button of the keys.
COVERED = """(() => {
    const keys = document.querySelector('.keysbutton').getBoundingClientRect();
    const links = document.querySelector('nav a').parentNode;
    const right = links.getBoundingClientRect().right;
    return [...links.querySelectorAll('a')].filter((link) => {
        const {left, right: end} = link.getBoundingClientRect();
        return left < right && Math.min(end, right) > keys.left;
    }).map((link) => link.textContent);
})()"""


def narrow(browser):
    """Nothing is wider than a telephone, and figures in pictures are no smaller than beside them."""
    browser.emulate(600, 800, False)
    settle(browser)
    covered = browser.evaluate(COVERED)
    browser.emulate(400, 800, False)
    settle(browser)
    return {"beyond": browser.evaluate(WIDTH), "smallestText": browser.evaluate(SMALLEST_TEXT),
            "covered": [*covered, *browser.evaluate(COVERED)]}


def main():
    with Browser(is_dark="dark" in sys.argv[2:]) as browser:
        browser.open(sys.argv[1])
        result = {
            "sections": browser.evaluate(SECTIONS),
            "title": browser.evaluate("document.title"),
            "verdict": browser.evaluate("document.querySelector('.verdict').textContent"),
            "pictures": browser.evaluate("document.querySelectorAll('canvas.whatif').length"),
            "background": browser.evaluate("getComputedStyle(document.body).backgroundColor"),
            "timeline": timeline(browser), "tables": tables(browser), "roofline": roofline(browser),
        }
        browser.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        settle(browser)
        result["keys"] = keys(browser)
        result["moments"] = moments(browser)
        result["opened"] = browser.evaluate("document.querySelectorAll('#details table').length")
        result["titleAtEnd"] = browser.evaluate("document.title")
        result["narrow"] = narrow(browser)
        result["nameless"] = browser.evaluate(
            "[...document.querySelectorAll('button, a')].filter((each) => !each.textContent.trim()).length")
        for key, what in (("strange", "img, b > *, svg:not(.plane)"), ("scripts", "script:not([type])"),
                          ("errors", ".error")):
            result[key] = browser.evaluate(f"document.querySelectorAll({json.dumps(what)}).length")
        result["complaints"] = browser.complaints()
        json.dump(result, sys.stdout, indent=1)


main()
