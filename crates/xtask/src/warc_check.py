"""Reads the archives of a crawl with two readers that Mattock's authors did not write.

usage: warc_check.py DIRECTORY      prints one JSON object; exits 1, with a line for each complaint, if any

Each *.warc.gz in DIRECTORY must be whole gzip, pass `warcio check`, carry digests that warcio could verify on every
response, and look the same to warcio and to FastWARC: as many records, and the same response target URIs.
"""

import gzip
import json
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastWarcIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

CHUNK_BYTES = 1 << 20


def check_gzip(path):
    try:
        with gzip.open(path) as stream:
            while stream.read(CHUNK_BYTES):
                pass
    except (OSError, EOFError, zlib.error) as error:
        yield f"gzip: {error}"


def check_with_warcio(path):
    command = [sys.executable, "-m", "warcio.cli", "check", str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        yield f"warcio check: {(result.stdout + result.stderr).strip()}"


def check_digests(path):
    """`warcio check` passes a record without digests: here a response must have some, and they must be right."""
    with open(path, "rb") as stream:
        for record in WarcioIterator(stream, check_digests=True):
            body = record.content_stream()
            while body.read(CHUNK_BYTES):
                pass
            if record.rec_type == "response" and record.digest_checker.passed is not True:
                yield f"no verified digest: {record.rec_headers.get_header('WARC-Target-URI')}"


def seen_by_warcio(path):
    with open(path, "rb") as stream:
        return [(record.rec_type, record.rec_headers.get_header("WARC-Target-URI")) for record in WarcioIterator(stream)]


def seen_by_fastwarc(path):
    with open(path, "rb") as stream:
        records = FastWarcIterator(stream, parse_http=False)
        return [(record.headers.get("WARC-Type"), record.headers.get("WARC-Target-URI")) for record in records]


def compare_readers(path, types):
    warcio, fastwarc = seen_by_warcio(path), seen_by_fastwarc(path)
    types.update(record_type for record_type, _ in warcio)
    if len(warcio) != len(fastwarc):
        yield f"warcio reads {len(warcio)} records, FastWARC {len(fastwarc)}"
    first = {uri for record_type, uri in warcio if record_type == "response"}
    second = {uri for record_type, uri in fastwarc if record_type == "response"}
    for uri in sorted(first ^ second, key=str)[:5]:
        yield f"a response that only {'warcio' if uri in first else 'FastWARC'} sees: {uri}"


def main(directory):
    paths = sorted(Path(directory).glob("*.warc.gz"))
    types, complaints = Counter(), []
    if not paths:
        complaints.append(f"{directory}: holds no *.warc.gz")
    for path in paths:
        # What gzip cannot read, the others need not try.
        for check in (check_gzip, check_with_warcio, check_digests, lambda path: compare_readers(path, types)):
            found = [f"{path.name}: {complaint}" for complaint in check(path)]
            complaints += found
            if found:
                break
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(json.dumps({"files": len(paths), "records": sum(types.values()), "types": types}))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
