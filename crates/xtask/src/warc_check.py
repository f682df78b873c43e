"""Reads the archives of a crawl with two readers that Mattock's authors did not write.

usage: warc_check.py DIRECTORY      prints one JSON object; exits 1, with a line for each complaint, if any

Each *.warc.gz in DIRECTORY must be whole gzip, pass `warcio check`, carry digests that warcio could verify on every
response, and look the same to warcio and to FastWARC: as many records, and the same response target URIs. warcio does
not read *.warc.zst: it gets what FastWARC unpacks, and FastWARC reads the records from the file itself.
"""

import gzip
import json
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

from fastwarc.stream_io import FastWARCError, ZstdReader
from fastwarc.warc import ArchiveIterator as FastWarcIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

CHUNK_BYTES = 1 << 20


def unpack(path, out):
    """Writes a *.warc.zst to `out` without its compression."""
    try:
        stream = ZstdReader(str(path))
        with open(out, "wb") as plain:
            while chunk := stream.read(CHUNK_BYTES):
                plain.write(chunk)
    except (OSError, FastWARCError) as error:
        yield f"zstd: {error}"


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


def compare_readers(path, plain, types):
    warcio, fastwarc = seen_by_warcio(plain), seen_by_fastwarc(path)
    types.update(record_type for record_type, _ in warcio)
    if len(warcio) != len(fastwarc):
        yield f"warcio reads {len(warcio)} records, FastWARC {len(fastwarc)}"
    first = {uri for record_type, uri in warcio if record_type == "response"}
    second = {uri for record_type, uri in fastwarc if record_type == "response"}
    for uri in sorted(first ^ second, key=str)[:5]:
        yield f"a response that only {'warcio' if uri in first else 'FastWARC'} sees: {uri}"


def check_file(path, directory, types):
    """What is wrong with a file. What cannot be unpacked, the others need not try."""
    plain = path
    if path.suffix == ".zst":
        plain = Path(directory) / path.stem
        first = lambda: unpack(path, plain)
    else:
        first = lambda: check_gzip(path)
    checks = (
        first,
        lambda: check_with_warcio(plain),
        lambda: check_digests(plain),
        lambda: compare_readers(path, plain, types),
    )
    for check in checks:
        found = [f"{path.name}: {complaint}" for complaint in check()]
        if found:
            return found
    return []


def main(directory):
    paths = sorted(path for path in Path(directory).glob("*.warc.*") if path.suffix in (".gz", ".zst"))
    types, complaints = Counter(), []
    if not paths:
        complaints.append(f"{directory}: holds no *.warc.gz and no *.warc.zst")
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            complaints += check_file(path, scratch, types)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    suffixes = sorted({path.suffix for path in paths})
    print(json.dumps({"files": len(paths), "suffixes": suffixes, "records": sum(types.values()), "types": types}))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
