"""The console in a headless browser: a crawl of the simulated Web is watched and steered, and hostile pages are looked at.

Usage: browser.py MATTOCK SCRATCH SHOTS [hostile]

With `hostile` only the hostile pages. Ends with exit code 0 if all of it holds, and leaves pictures of every page in SHOTS.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import hostile
from webdriver import Browser

# Everything that was started: none of it may outlive this script.
STARTED = []

MATTOCK, SCRATCH, SHOTS = (pathlib.Path(argument) for argument in sys.argv[1:4])
WIDTHS = [1280, 390]
TOKEN = "correct-horse-battery-staple"
# Without a place to break it, as directories have none.
LONG_NAME = "crawl-of-somebody-who-likes-long-names"
# What reaches beyond the right edge of the window, unless something around it scrolls or hides it.
WIDE = """
const inside = (element) => { for (let at = element.parentElement; at; at = at.parentElement) if (getComputedStyle(at).overflowX !== "visible" && at !== document.body) return true; return false; };
return [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > innerWidth && !inside(element))
  .map((element) => `${element.tagName} ${element.className} ${element.textContent.slice(0, 120)}`).slice(-3);
"""


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def start(command, **places):
    process = subprocess.Popen(command, **places)
    STARTED.append(process)
    return process


def told(text):
    print(text, file=sys.stderr, flush=True)


def ask(address, token, path):
    request = urllib.request.Request(f"{address}api/v1/{path}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


class Crawl:
    """A crawl with a console at a port of the system's choice."""

    def __init__(self, name, arguments):
        self.directory = SCRATCH / name
        self.log = SCRATCH / f"{name}.stderr"
        command = [MATTOCK, *arguments, "--out", self.directory, "--console", "127.0.0.1:0"]
        self.process = start(command, stdout=subprocess.DEVNULL, stderr=self.log.open("w"))
        self.address, self.token = address_in(self.log, self.process)

    def end(self, seconds=60):
        return self.process.wait(timeout=seconds)


def address_in(log, process):
    """Where a console is, and its token, if that is a new one."""
    for _ in range(600):
        found = re.search(r"(http://[^\s/]+/)(?:\?token=(\w+))?\s", log.read_text())
        if found:
            return found.groups()
        check(process.poll() is None, f"it ended at once: {log.read_text()}")
        time.sleep(0.1)
    raise AssertionError(f"no address in {log}")


class World:
    """The simulated Web, and what it saw."""

    def __init__(self):
        self.audit = SCRATCH / "audit.log"
        command = [MATTOCK, "simweb", "serve", "--preset", "small", "--seed", "11", "--audit", self.audit]
        self.process = start(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        words = shlex.split(self.process.stdout.readline())
        check(words[1:2] == ["crawl"], f"no crawl command: {words}")
        place = words.index("--out")
        self.crawl = words[1:place] + words[place + 2:]

    def requests(self):
        """Host and path of every request so far."""
        rows = [line.split("\t") for line in self.audit.read_text(errors="replace").splitlines()]
        return [(row[2], row[4] if len(row) > 4 else "") for row in rows if len(row) > 3 and row[0].isdigit()]


def number(text):
    return int(re.sub(r"\D", "", text or "") or 0)


def steer(browser, world):
    """Numbers move; pause; block a host, which is not asked again; resume; look up a URL; checkpoint; stop."""
    crawl = Crawl(LONG_NAME, [*world.crawl, "--delay", "300ms", "--max-pages", "1000000"])
    check(re.fullmatch(r"[0-9a-f]{32}", crawl.token or ""), f"no token in {crawl.log.read_text()}")
    browser.size(1280, False)
    browser.open(crawl.address)
    browser.wait(lambda: browser.find("#token"), "to be asked for the token")
    browser.open(f"{crawl.address}?token={crawl.token}#/overview")
    browser.wait(lambda: browser.text("#state") == "Running", "the crawl to run")
    check(browser.run("return location.href") == crawl.address + "#/overview", "the token has left the address")
    kept = browser.run("return document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
    check(crawl.token not in kept and "mattock-" + crawl.address.split(":")[2].strip("/") not in kept, f"scripts see the session in {kept}")
    told("the address with the token opens the console")
    browser.wait(lambda: number(browser.text("#pages")) > 20, "pages")
    before = number(browser.text("#pages"))
    browser.wait(lambda: number(browser.text("#pages")) > before, "the number of pages to move")
    browser.wait(lambda: browser.find("svg.flowchart .count"), "the flow diagram")
    told("numbers move")

    # Keys: the first Tab leads to the skip link, a slash to the search.
    browser.press("\ue004")
    check(browser.run("return document.activeElement.className") == "skip", "the first Tab stop is the skip link")
    browser.press("/")
    check(browser.run("return document.activeElement.id") == "find-text", "a slash leads to the search")
    browser.press("\ue00c")

    browser.open(crawl.address + "#/control")
    browser.type("#pause-reason", "lunch <b>break</b>")
    browser.click("#pause")
    browser.wait(lambda: browser.text("#state") == "Paused", "the pause")
    quiet = len(world.requests())
    for _ in range(100):
        time.sleep(0.5)
        now = len(world.requests())
        if now == quiet:
            break
        quiet = now
    time.sleep(2)
    check(len(world.requests()) == quiet, "nothing is asked while it is paused")
    told("paused: the Web is not asked")

    waiting = ask(crawl.address, crawl.token, "hosts?sort=queued&limit=50")["items"]
    blocked = next(host["name"] for host in waiting if (host["queued"] or 0) >= 3)
    browser.open(f"{crawl.address}#/host/{urllib.parse.quote(blocked, safe='')}")
    browser.wait(lambda: browser.text("h1") == blocked, "the host's page")
    browser.click("#block")
    browser.wait(lambda: "locked" in (browser.text(".said") or ""), "the block")
    name = urllib.parse.urlsplit(blocked).netloc
    mark = len(world.requests())

    browser.open(crawl.address + "#/control")
    browser.wait(lambda: blocked in (browser.text("#main") or ""), "the block in the list")
    browser.click("#resume")
    browser.wait(lambda: browser.text("#state") == "Running", "the crawl to go on")
    browser.wait(lambda: len(world.requests()) > mark + 200, "two hundred more requests", 120)
    asked = [host for host, _ in world.requests()[mark:] if host.split(":")[0] == name.split(":")[0]]
    check(not asked, f"the blocked host {name} was asked {len(asked)} times")
    told(f"{blocked} is blocked, and was not asked again in {len(world.requests()) - mark} requests")

    browser.wait(lambda: browser.text("#checkpoint-number"), "the number of the last checkpoint")
    last = number(browser.text("#checkpoint-number").split(",")[0])
    browser.click("#checkpoint")
    browser.wait(lambda: number(browser.text("#checkpoint-number").split(",")[0]) > last, "a checkpoint", 60)
    told("a checkpoint is made")

    browser.type("#speed-pages", "7.5")
    browser.run("document.querySelector('#speed-pages').form.requestSubmit()")
    browser.wait(lambda: "7.5" in (browser.text("#speed-now") or ""), "the speed limit")
    browser.run("[...document.querySelectorAll('button')].find((button) => button.textContent === 'As configured').click()")
    browser.wait(lambda: browser.text("#speed-now") == "no limit", "no speed limit")

    seed = next(word for word in world.crawl if word.startswith("http://"))
    browser.open(crawl.address)
    browser.type("#find-text", seed)
    browser.press("\ue007")
    browser.wait(lambda: browser.text("#answer") == "fetched", "the answer of why")
    frame = browser.wait(lambda: browser.find("iframe.page"), "the stored page")
    check(browser.run("return arguments[0].getAttribute('sandbox')", frame) == "", "the frame is a sandbox")
    browser.call("POST", "/frame", {"id": frame})
    browser.wait(lambda: len(browser.text("body") or "") > 20, "the text of the stored page")
    browser.call("POST", "/frame", {"id": None})
    told("a URL is looked up, and its page is shown")

    pictures(browser, crawl.address, "running", seed, blocked)

    browser.size(1280, False)
    browser.open(crawl.address + "#/control")
    browser.click("#stop")
    browser.wait(lambda: browser.text("#stop") == "Really stop the crawl", "the question")
    check(crawl.process.poll() is None, "one click does not stop it")
    browser.click("#stop")
    check(crawl.end() == 0, f"it ended in good order: {crawl.log.read_text()[-2000:]}")
    check(not (crawl.directory / "control.sock").exists(), "its socket is gone")
    told("stopped")
    return crawl.directory, seed, blocked


def pictures(browser, address, name, url, host):
    """Every page, light and dark, wide and narrow; nothing is wider than the screen."""
    quoted = urllib.parse.quote(url, safe="")
    domain = urllib.parse.urlsplit(host).hostname
    pages = {
        "overview": "overview", "hosts": "hosts", "domains": "hosts?kind=domains", "host": "host/" + urllib.parse.quote(host, safe=""),
        "domain": "domain/" + ".".join(domain.split(".")[-2:]), "url": "url?u=" + quoted, "outcomes": "outcomes", "log": "log", "control": "control",
    }
    for width in WIDTHS:
        for dark in (False, True):
            browser.size(width, dark)
            for page, route in pages.items():
                browser.open("about:blank")
                browser.open(f"{address}#/{route}")
                browser.wait(lambda: browser.find("#main h1, #main h2, #main .notice") and "…" not in (browser.text("#main .notice") or ""), f"the page {page}")
                browser.wait(lambda: (browser.text("#state") or "") != "", "its state")
                time.sleep(1.2 if page in ("overview", "control", "url") else 0.2)
                over = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                check(over <= 0, f"{page} is {over} pixels wider than a screen of {width}: {over and browser.run(WIDE)}")
                browser.shoot(SHOTS / f"{name}-{page}-{width}-{'dark' if dark else 'light'}.png")
    told(f"pictures of {len(pages)} pages in {SHOTS}")


def stopped(browser, directory, url, host):
    """The console of a crawl that does not run, behind a token."""
    log = SCRATCH / "console.stdout"
    command = [MATTOCK, "console", directory, "--listen", "127.0.0.1:0", "--console-token", TOKEN]
    process = start(command, stdout=log.open("w"), stderr=subprocess.DEVNULL)
    try:
        address, token = address_in(log, process)
        check(token is None, "a token that was given is not printed")
        browser.size(1280, False)
        browser.open(f"{address}#/url?u={urllib.parse.quote(url, safe='')}")
        browser.type("#token", "a wrong token of some length")
        browser.run("document.querySelector('#token').form.requestSubmit()")
        browser.wait(lambda: browser.run("return document.querySelector('#token')?.value") == "", "to be asked again")
        browser.type("#token", TOKEN)
        browser.run("document.querySelector('#token').form.requestSubmit()")
        browser.wait(lambda: browser.text("#answer") == "fetched", "the answer of why")
        frame = browser.wait(lambda: browser.find("iframe.page"), "the stored page")
        browser.call("POST", "/frame", {"id": frame})
        browser.wait(lambda: len(browser.text("body") or "") > 20, "the stored page, by a ticket")
        browser.call("POST", "/frame", {"id": None})
        check(browser.text("#state") == "Not running", "it is not running")
        pictures(browser, address, "stopped", url, host)
    finally:
        process.terminate()
        process.wait()
    told("a crawl that does not run is shown to who has the token")


def attacked(browser, elsewhere):
    """Hostile pages run nothing and load nothing, wherever they are shown."""
    site = hostile.serve(hostile.Site).server_address[1]
    seed = f"http://127.0.0.1:{site}/"
    crawl = Crawl("hostile", ["crawl", "--allow-address", "127.0.0.0/8", "--delay", "0s", "--retries", "0", "--scope", "host", seed])
    # Shown as they are, such pages do call: so a call would be seen.
    browser.open(f"{seed}control.html")
    browser.wait(lambda: any("elsewhere.example/" in call for call in elsewhere.calls), "a hostile page to call elsewhere")
    browser.open("about:blank")
    time.sleep(1)
    elsewhere.calls.clear()
    # It is over at once, or waits to be looked at: either way there is the console of the directory.
    crawl.end(120)
    log = SCRATCH / "hostile.stdout"
    process = start([MATTOCK, "console", crawl.directory, "--listen", "127.0.0.1:0"], stdout=log.open("w"), stderr=subprocess.DEVNULL)
    try:
        address, token = address_in(log, process)
        browser.open(f"{address}?token={token}")
        urls = [row["url"] for row in ask(address, token, "hosts/" + urllib.parse.quote(seed[:-1], safe=""))["urls"]]
        check(len(urls) >= len(hostile.PAGES), f"all hostile pages were fetched, and not only {urls}")
        browser.size(1280, False)
        pages = [f"{address}#/host/{urllib.parse.quote(seed[:-1], safe='')}", f"{address}#/outcomes", f"{address}#/hosts?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E"]
        for url in urls:
            pages.append(f"{address}#/url?u={urllib.parse.quote(url, safe='')}")
            pages.append(f"{address}view?u={urllib.parse.quote(url, safe='')}")
        framed = 0
        for page in pages:
            browser.open("about:blank")
            browser.open(page)
            if "#/url" in page:
                browser.wait(lambda: browser.find("#answer"), f"the answer on {page}")
                if "missing" not in page:
                    frame = browser.wait(lambda: browser.find("iframe.page"), f"the frame on {page}")
                    browser.wait(lambda: "X-Evil" in browser.text("#main"), "the headers")
                    browser.call("POST", "/frame", {"id": frame})
                    browser.wait(lambda: browser.run("return document.readyState") == "complete", "the stored page")
                    # The click of an operator who is curious.
                    browser.run("document.querySelector('#go')?.click(); document.querySelector('a')?.click()")
                    framed += 1
                    browser.call("POST", "/frame", {"id": None})
            time.sleep(0.4)
            innocent(browser, page, address)
            check(not elsewhere.calls, f"{page} called elsewhere: {elsewhere.calls[:20]}")
        check(framed >= len(hostile.PAGES), f"only {framed} hostile pages were shown")
        check(not elsewhere.calls, f"somebody called elsewhere: {elsewhere.calls[:20]}")
        browser.open(pages[3])
        browser.wait(lambda: browser.find("iframe.page"), "the frame")
        browser.shoot(SHOTS / "hostile-url-1280-light.png")
    finally:
        process.terminate()
        process.wait()
    told(f"{framed} hostile pages were shown: nothing ran, nothing was loaded")


def innocent(browser, page, address):
    """No trace of a script."""
    check(browser.alert() is None, f"a dialog on {page}")
    here = browser.run("return location.href")
    check(here.startswith(address), f"{page} has led to {here}")
    check(browser.run("return window.pwned ?? null") is None, f"a mark in the window on {page}")
    check(browser.run("return document.title") != "pwned", f"another title on {page}")
    if "/view" not in page:
        check(browser.run("return localStorage.getItem('pwned')") is None, f"a mark in the storage on {page}")
        check(browser.run("return document.cookie") == "", f"a cookie on {page}")
        check(browser.run("return document.querySelectorAll('#main script, #main img, #main [onerror], #main [onload]').length") == 0, f"markup on {page}")
    check(len(browser.call("GET", "/window/handles")) == 1, f"another window on {page}")


def main():
    SHOTS.mkdir(parents=True, exist_ok=True)
    elsewhere = hostile.Elsewhere()
    world = World()
    browser = Browser(elsewhere.port, (SCRATCH / "chromedriver.log").open("w"))
    try:
        if sys.argv[4:] != ["hostile"]:
            directory, url, host = steer(browser, world)
            stopped(browser, directory, url, host)
        broken = [line for line in browser.complaints() if "Uncaught" in line or "SyntaxError" in line]
        check(not broken, f"the pages' scripts are broken: {broken}")
        attacked(browser, elsewhere)
        check(not elsewhere.calls, f"somebody called elsewhere: {elsewhere.calls[:20]}")
    except BaseException:
        try:
            browser.shoot(SHOTS / "failure.png")
        except Exception:  # The browser may be what is broken.
            pass
        raise
    finally:
        browser.close()
        for process in STARTED:
            process.kill()
            process.wait()


main()
