"""Other people's tools on a crawl: DuckDB and pyarrow on its index, pywb on its CDXJ and archive.

Usage: table_check.py MATTOCK CRAWL SCRATCH KEYS

KEYS is a file of made URLs with their keys: an import of these is asked for by pywb, too.

Prints a JSON object with what was compared; what differs goes to stderr, and the exit code is 1.
"""

import glob
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zipfile

import duckdb
import pyarrow.parquet

# The kinds of questions that users of Common Crawl's index ask, with its columns; only the table's name differs.
QUESTIONS = [
    "SELECT url_host_tld, COUNT(*) AS n FROM {table} GROUP BY url_host_tld ORDER BY n DESC, url_host_tld",
    "SELECT content_mime_type, content_mime_detected, COUNT(*) AS n FROM {table} GROUP BY 1, 2 ORDER BY n DESC, 1, 2",
    "SELECT fetch_status, COUNT(*) AS n, COUNT(DISTINCT url_host_name) AS hosts FROM {table} GROUP BY fetch_status ORDER BY 1",
    "SELECT content_charset, COUNT(*) AS n FROM {table} WHERE fetch_status = 200 GROUP BY content_charset ORDER BY n DESC, 1",
    "SELECT url_host_registered_domain, COUNT(*) AS n, COUNT(DISTINCT url) AS urls, SUM(warc_record_length) AS bytes "
    "FROM {table} GROUP BY url_host_registered_domain ORDER BY n DESC, 1 LIMIT 20",
    "SELECT url, warc_filename, warc_record_offset, warc_record_length FROM {table} "
    "WHERE url_host_tld = 'com' AND fetch_status = 200 AND content_mime_detected = 'text/html' ORDER BY url LIMIT 100",
    "SELECT LENGTH(url_host_name) AS characters, COUNT(*) AS n FROM {table} GROUP BY 1 ORDER BY 1",
    "SELECT url_protocol, url_port, COUNT(*) AS n FROM {table} GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT content_digest, COUNT(*) AS n FROM {table} WHERE content_digest IS NOT NULL "
    "GROUP BY content_digest HAVING COUNT(*) > 1 ORDER BY n DESC, content_digest LIMIT 50",
    "SELECT COUNT(*) AS n FROM {table} WHERE url_path LIKE '%.html' AND url_query IS NULL",
    "SELECT MIN(fetch_time) < MAX(fetch_time) AS spread, COUNT(DISTINCT crawl) AS crawls, MIN(subset) AS subset FROM {table}",
    "SELECT url_host_2nd_last_part, url_host_3rd_last_part, COUNT(*) AS n FROM {table} GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT 20",
]

REPLAYED = 60


def mattock(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True).stdout


def ours(program, crawl, question):
    printed = mattock(program, "query", crawl, "--format", "jsonl", "--sql", question.format(table="documents"))
    return [json.loads(line) for line in printed.splitlines()]


def duck(question, parts):
    cursor = duckdb.sql(question.format(table=f"read_parquet({parts!r}, hive_partitioning = true)"))
    return [dict(zip(cursor.columns, row)) for row in cursor.fetchall()]


def compare_tables(program, crawl, wrong):
    parts = sorted(glob.glob(f"{crawl}/index/**/*.parquet", recursive=True))
    rows = sum(pyarrow.parquet.read_table(part).num_rows for part in parts)
    counted = ours(program, crawl, "SELECT COUNT(*) AS n FROM {table}")[0]["n"]
    if rows != counted:
        wrong.append(f"pyarrow reads {rows} rows, and a query counts {counted}")
    for question in QUESTIONS:
        told, known = ours(program, crawl, question), duck(question, parts)
        if not told or told != json.loads(json.dumps(known, default=int)):
            wrong.append(f"{question}\n  ours:   {told[:5]}\n  DuckDB: {known[:5]}")
    # Languages are worked out from the pages when they are asked for.
    languages = ours(program, crawl, "SELECT content_languages, COUNT(*) AS n FROM {table} GROUP BY 1 ORDER BY n DESC")
    if not any(row["content_languages"] for row in languages):
        wrong.append(f"no page has a language: {languages}")
    sample = ours(program, crawl, "SELECT url FROM {table} ORDER BY random() LIMIT 10")
    if len(sample) != 10:
        wrong.append(f"a random sample of 10 has {len(sample)} rows")
    return rows


PRINTED = "".join(map(chr, range(33, 127)))


def made(program, scratch, keys):
    """A repository of one page for each URL, and what pywb is to find them in: an index beside the archive, and a WACZ taken apart."""
    source, repository = os.path.join(scratch, "source"), os.path.join(scratch, "made")
    os.makedirs(source)
    # pywb cannot send the names of others on.
    urls = [urllib.parse.quote(line.split("\t")[0], safe=PRINTED) for line in open(keys, encoding="utf-8")]
    with open(os.path.join(source, "made.warc.gz"), "wb") as archive:
        for number, url in enumerate(urls):
            page = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\npage %d" % number
            head = (
                f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{uuid.UUID(int=number)}>\r\n"
                f"WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: {url}\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(page)}\r\n\r\n"
            )
            archive.write(gzip.compress(head.encode() + page + b"\r\n\r\n"))
    mattock(program, "import", repository, os.path.join(source, "made.warc.gz"))
    beside, packed = (os.path.join(scratch, "collections", name) for name in ["beside", "packed"])
    os.makedirs(os.path.join(beside, "indexes"))
    mattock(program, "export", repository, "--format", "cdxj", "--output", os.path.join(beside, "indexes", "index.cdxj"))
    os.symlink(source, os.path.join(beside, "archive"))
    wacz = os.path.join(scratch, "made.wacz")
    mattock(program, "export", repository, "--format", "wacz", "--output", wacz)
    with zipfile.ZipFile(wacz) as members:
        members.extractall(packed)
    os.rename(os.path.join(packed, "indexes", "index.cdx"), os.path.join(packed, "indexes", "index.cdxj"))
    return urls


def as_sent(url):
    """A URL as browsers send it: scheme and host in small letters and ASCII, without its fragment."""
    scheme, rest = url.split("#")[0].split("://", 1)
    authority, slash, path = re.match("([^/?]*)([/?]?)(.*)", rest, re.S).groups()
    user, at, server = authority.rpartition("@")
    host, port = re.fullmatch(r"(\[.*\]|[^:]*):?(.*)", server).groups()
    host = urllib.parse.unquote(host).encode("idna").decode().lower() + (port and ":" + port)
    # An empty part behind the host it does not take from anybody.
    path = path.lstrip("/") if slash == "/" else path
    return f"{scheme.lower()}://{user}{at}{host}{slash}{path}"


def asked(port, urls, wrong):
    """Every made URL: pywb answers with a page of this key."""
    for collection in ["beside", "packed"]:
        for number, url in enumerate(urls):
            sent = as_sent(url)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{collection}/20260102030405id_/{sent}", timeout=20) as answer:
                    page = answer.read()
            except urllib.error.URLError as error:
                wrong.append(f"pywb does not find {url[:200]} in {collection}: {error}")
                continue
            # Keys join pages; and of schemes in capitals it takes the whole record for the page.
            if b"page " not in page[-9:]:
                wrong.append(f"pywb finds another page for {url[:200]} in {collection}")


def replay(program, crawl, scratch, keys, wrong):
    """Pages out of pywb, byte for byte what `mattock get` prints."""
    collection = os.path.join(scratch, "collections", "crawl")
    os.makedirs(os.path.join(collection, "indexes"))
    mattock(program, "export", crawl, "--format", "cdxj", "--output", os.path.join(collection, "indexes", "index.cdxj"))
    os.symlink(os.path.abspath(os.path.join(crawl, "warc")), os.path.join(collection, "archive"))
    urls = made(program, scratch, keys)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = "from pywb.apps.cli import wayback; wayback()"
    command = [sys.executable, "-c", start, "-b", "127.0.0.1", "-p", str(port), "-d", scratch]
    log = open(os.path.join(scratch, "wayback.log"), "wb")
    server = subprocess.Popen(command, stdout=log, stderr=log)
    question = (
        "SELECT url, strftime_utc AS stamp, record_type FROM (SELECT url, record_type, "
        "to_char(fetch_time, '%Y%m%d%H%M%S') AS strftime_utc FROM {table} WHERE fetch_status = 200) ORDER BY url"
    )
    pages = ours(program, crawl, question)
    revisits = [page for page in pages if page["record_type"] == "revisit"]
    step = max(1, len(pages) // REPLAYED)
    chosen = pages[::step] + revisits[:10]
    try:
        wait(port, server)
        asked(port, urls, wrong)
        for page in chosen:
            url = f"http://127.0.0.1:{port}/crawl/{page['stamp']}id_/{page['url']}"
            try:
                with urllib.request.urlopen(url, timeout=20) as answer:
                    replayed = answer.read()
            except urllib.error.URLError as error:
                wrong.append(f"pywb does not replay {page}: {error}")
                continue
            stored = mattock(program, "get", crawl, page["url"])
            if replayed != stored:
                wrong.append(f"pywb replays {len(replayed)} bytes of {page}, and {len(stored)} are stored")
    finally:
        server.terminate()
        server.wait()
    return len(chosen), len(revisits[:10]), len(urls)


def wait(port, server):
    """Until the server answers."""
    for _ in range(300):
        if server.poll() is not None:
            raise SystemExit("pywb ended at once")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("pywb does not answer")


def main():
    program, crawl, scratch, keys = sys.argv[1:]
    wrong = []
    mattock(program, "index", crawl)
    rows = compare_tables(program, crawl, wrong)
    # pywb does not read Zstandard.
    packed = glob.glob(f"{crawl}/warc/*.warc.gz")
    replayed, revisits, urls = replay(program, crawl, scratch, keys, wrong) if packed else (0, 0, 0)
    for problem in wrong:
        print(problem, file=sys.stderr)
    print(json.dumps({"rows": rows, "questions": len(QUESTIONS), "replayed": replayed, "revisits": revisits, "made": urls}))
    sys.exit(1 if wrong else 0)


main()
