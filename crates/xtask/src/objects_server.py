"""An S3 server in memory (moto) for the `objects` step.

usage: objects_server.py LOG STALL

Prints its address when it is ready, and serves until it is killed. Every request goes to LOG: method, path, range, status, bytes. While the
file STALL exists, objects are put only as long as LOG has fewer of them than the number in it; the others wait.
"""

import os
import sys
import threading
import time

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

log_path, stall_path = sys.argv[1:]
lock = threading.Lock()
log = open(log_path, "w", buffering=1)
puts = 0


def limit():
    try:
        with open(stall_path) as file:
            return int(file.read())
    except (FileNotFoundError, ValueError):
        return None


class Handler(MotoRequestHandler):
    def log(self, *_):
        pass


class Watched:
    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start_response):
        global puts
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if method == "PUT" and path.count("/") > 1:
            with lock:
                puts += 1
                number = puts
            while (most := limit()) is not None and number > most:
                time.sleep(0.02)
        said = []

        def start(status, headers, *rest):
            said.append((status.split(" ")[0], dict(headers).get("Content-Length", "0")))
            return start_response(status, headers, *rest)

        answer = self.app(environ, start)
        status, length = said[0] if said else ("0", "0")
        with lock:
            log.write("\t".join([method, path, environ.get("HTTP_RANGE", "-"), status, length]) + "\n")
        return answer


server = make_server(
    "127.0.0.1", 0, Watched(DomainDispatcherApplication(create_backend_app)), True, request_handler=Handler
)
address = f"http://127.0.0.1:{server.server_port}"
threading.Thread(target=server.serve_forever, daemon=True).start()
keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
boto3.client("s3", endpoint_url=address, **keys).create_bucket(Bucket="archive")
print(address, flush=True)
# Whoever started it holds the other end.
sys.stdin.read()
os._exit(0)
