"""browser.py - a page in headless Chromium, used as a reader uses it: by the DevTools protocol, over pipes.

Needs Python's standard library alone.  find() says which program there is, None where there is none.
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run",
         "--mute-audio", "--disable-background-networking", "--disable-component-update",
         "--remote-debugging-pipe"]


def find():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """with Browser() as browser: browser.open(path); ..."""

    def __init__(self, width=1400, height=1000, is_dark=False):
        self.folder = tempfile.mkdtemp()
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()
        self.child = self.start(to_child, from_child)
        os.close(to_child)
        os.close(from_child)
        self.number = 0
        self.rest = b""
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")
        self.emulate(width, height, is_dark)

    def start(self, to_child, from_child):
        def place():  # where --remote-debugging-pipe looks for them
            ends = [os.dup(to_child), os.dup(from_child)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        return subprocess.Popen([find(), *FLAGS, f"--user-data-dir={self.folder}"], preexec_fn=place,
                                close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the protocol ----

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.back, 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    # ---- what a reader does ----

    def emulate(self, width, height, is_dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("performance.getEntriesByName('ready').length > 0")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, limit_s=60):
        end = time.monotonic() + limit_s
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        codes = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9,
                 "Escape": 27}
        code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def point(self, x, y, kind="mouseMoved", **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """What the browser's console was told: errors, and what the page's policy forbade."""
        told = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                told.append(event["params"]["exceptionDetails"].get("text", "exception"))
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                told.append(event["params"]["entry"]["text"])
        return told
