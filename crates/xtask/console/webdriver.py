"""A browser driven over the WebDriver protocol, with nothing but the standard library."""

import base64
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Problem(Exception):
    """What the driver complains of."""

    def __init__(self, error, message):
        super().__init__(f"{error}: {message}")
        self.error = error


class Browser:
    """One headless window. Names that end in `.example` lead to `elsewhere`, so that whatever is asked of them is seen there."""

    def __init__(self, elsewhere, log):
        port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=log, stderr=log)
        self.base = f"http://127.0.0.1:{port}"
        self.session = None
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
            "--disable-extensions", "--window-size=1280,900",
            # What the browser asks its maker by itself leads nowhere.
            f"--host-resolver-rules=MAP *.example 127.0.0.1:{elsewhere}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]
        options = {"args": arguments}
        capabilities = {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}, "unhandledPromptBehavior": "ignore",
        }}
        deadline = time.monotonic() + 60
        while True:
            try:
                answer = self.call("POST", "/session", {"capabilities": capabilities})
                break
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self.session = answer["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        if method == "POST" and data is None:
            data = b"{}"
        place = self.base + (f"/session/{self.session}" if self.session else "") + path
        request = urllib.request.Request(place, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise Problem(value["error"], value["message"]) from None

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def cdp(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector):
        """The element, or None."""
        try:
            return self.call("POST", "/element", {"using": "css selector", "value": selector})
        except Problem as problem:
            if problem.error in ("no such element", "stale element reference"):
                return None
            raise

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def click(self, selector):
        element = self.wait(lambda: self.find(selector), f"{selector} to be there")
        self.run("arguments[0].scrollIntoView({ block: 'center' })", element)
        self.call("POST", f"/element/{element[ELEMENT]}/click")

    def type(self, selector, text):
        element = self.wait(lambda: self.find(selector), f"{selector} to be there")
        self.call("POST", f"/element/{element[ELEMENT]}/clear")
        self.call("POST", f"/element/{element[ELEMENT]}/value", {"text": text})

    def press(self, key):
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})

    def wait(self, look, what, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            try:
                found = look()
                if found:
                    return found
            except Problem as problem:
                if problem.error not in ("stale element reference", "javascript error", "element click intercepted"):
                    raise
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {seconds} s for {what}")
            time.sleep(0.1)

    def alert(self):
        """The text of a dialog that a script has opened, or None."""
        try:
            return self.call("GET", "/alert/text")
        except Problem as problem:
            if problem.error == "no such alert":
                return None
            raise

    def complaints(self):
        """What the pages' own scripts have complained of."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] == "SEVERE"]

    def size(self, width, dark, height=None):
        """A screen of this width, which prefers light or dark."""
        phone = width < 600
        self.width, self.dark = width, dark
        height = height or (844 if phone else 900)
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.cdp("Emulation.setScrollbarsHidden", hidden=True)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def shoot(self, path):
        """A picture of the whole page: the screen is made as high as that is."""
        height = min(6000, max(600, self.run("return document.documentElement.scrollHeight")))
        self.size(self.width, self.dark, height)
        time.sleep(0.3)
        path.write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"]))
        self.size(self.width, self.dark)

    def close(self):
        try:
            if self.session:
                self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
