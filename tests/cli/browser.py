"""browser.py - a headless Chromium, told what to do over two pipes.

It speaks the DevTools protocol: JSON messages that end with a NUL, on the
browser's descriptors 3 and 4. No driver and no port is needed. The browser has
a folder of its own that goes with it, and no network: the one that a page may
want is a proxy that is not there.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser",
         "google-chrome")


def find():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Failed(Exception):
    """The browser or the page did not do what was asked."""


class Browser:
    def __init__(self, limit=60):
        self.end = time.monotonic() + limit
        self.folder = tempfile.mkdtemp(prefix="plim-browser.")
        self.number = 0
        self.held = b""
        self.events = []
        self.session = None
        self.context = None  # of a frame's scripts; None: the page's own
        theirs_in, self.write = os.pipe()
        self.read, theirs_out = os.pipe()
        # A shell sets them to the numbers that Chromium expects.
        ends = [fcntl.fcntl(one, fcntl.F_DUPFD, 7)
                for one in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "sh", find(),
             "--headless", "--remote-debugging-pipe", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-component-update",
             "--disable-background-networking", "--disable-sync",
             "--proxy-server=127.0.0.1:9", "--hide-scrollbars",
             f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=ends, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.folder),
            start_new_session=True)
        for one in ends:
            os.close(one)
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        while b"\0" not in self.held:
            rest = self.end - time.monotonic()
            if rest <= 0 or not select.select([self.read], [], [], rest)[0]:
                raise Failed("the browser does not answer in time")
            data = os.read(self.read, 1 << 20)
            if not data:
                raise Failed("the browser has ended")
            self.held += data
        one, self.held = self.held.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        told = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            told["sessionId"] = self.session
        data = json.dumps(told).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def before(self, script):
        """Runs in each page before its own scripts."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def size(self, width, height, dark=False, ratio=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=ratio, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression):
        where = {} if self.context is None else {"contextId": self.context}
        result = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True, **where)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(details.get("exception", {})
                         .get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, expression):
        while not self.evaluate(expression):
            if time.monotonic() > self.end:
                raise Failed(f"in vain: {expression}")
            time.sleep(0.05)

    def key(self, key, code=0, text="", modifiers=0):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      windowsVirtualKeyCode=code, modifiers=modifiers,
                      text=text if kind == "keyDown" else "")

    def click(self, x, y):
        for kind in "mouseMoved", "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def wrong(self):
        """What the page complained of, and what it tried to load besides."""
        found = []
        for event in self.events:
            told = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                details = told["exceptionDetails"]
                found.append(details.get("exception", {})
                             .get("description", details["text"]))
            if event.get("method") == "Log.entryAdded" and \
                    told["entry"]["level"] == "error":
                found.append(told["entry"]["text"])
            if event.get("method") == "Network.requestWillBeSent" and \
                    not told["request"]["url"].startswith(
                        ("file:", "data:", "blob:", "about:")):
                found.append("loads " + told["request"]["url"])
        return found
