"""Reads the archives of a crawl with two readers that Mattock's authors did not write.

usage: warc_check.py DIRECTORY      prints one JSON object; exits 1, with a line for each complaint, if any

Each *.warc.gz in DIRECTORY must be whole gzip, pass `warcio check`, carry digests that warcio could verify on every
response, and look the same to warcio and to FastWARC: the same records in the same order, byte for byte, and the same payloads
where HTTP is taken apart (but for heads without carriage returns, which FastWARC does not see the end of). A revisit must name a response of the archive that has its payload. warcio does not read *.warc.zst: it
gets what FastWARC unpacks, and FastWARC reads the records from the file itself.
"""

import gzip
import hashlib
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


def fingerprint(stream):
    """Of everything that a stream gives."""
    digest = hashlib.sha1()
    while chunk := stream.read(CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


def seen_by_warcio(path, take_apart):
    """Type, URI and contents of every record: of its block, or of its payload where the HTTP head is taken off."""
    with open(path, "rb") as stream:
        for record in WarcioIterator(stream, no_record_parse=not take_apart):
            uri = record.rec_headers.get_header("WARC-Target-URI")
            yield record.rec_type, uri, fingerprint(record.raw_stream)


def seen_by_fastwarc(path, take_apart):
    with open(path, "rb") as stream:
        for record in FastWarcIterator(stream, parse_http=take_apart, auto_decode="none"):
            yield record.headers.get("WARC-Type"), record.headers.get("WARC-Target-URI"), fingerprint(record.reader)


def bare_heads(path):
    """Which records have a block whose first line ends in a line feed alone."""
    with open(path, "rb") as stream:
        for number, record in enumerate(WarcioIterator(stream, no_record_parse=True)):
            line = record.raw_stream.readline()
            if line.endswith(b"\n") and not line.endswith(b"\r\n"):
                yield number


def compare_readers(path, plain, types):
    bare = set(bare_heads(plain))
    for take_apart in (False, True):
        warcio, fastwarc = list(seen_by_warcio(plain, take_apart)), list(seen_by_fastwarc(path, take_apart))
        what = "payload" if take_apart else "block"
        if not take_apart:
            types.update(record_type for record_type, _, _ in warcio)
        if len(warcio) != len(fastwarc):
            yield f"warcio reads {len(warcio)} records, FastWARC {len(fastwarc)}"
        pairs = enumerate(zip(warcio, fastwarc))
        differing = [pair for number, pair in pairs if pair[0] != pair[1] and not (take_apart and number in bare)]
        for first, second in differing[:5]:
            yield f"a record that the readers do not agree on ({what}): warcio {first}, FastWARC {second}"


def check_revisits(path, originals):
    """Files come in the order in which they were written, so that `originals` has what a revisit may refer to."""
    with open(path, "rb") as stream:
        for record in WarcioIterator(stream):
            head = record.rec_headers.get_header
            digest = head("WARC-Payload-Digest")
            if record.rec_type == "response":
                originals[head("WARC-Record-ID")] = (head("WARC-Target-URI"), head("WARC-Date"), digest)
            elif record.rec_type == "revisit":
                named = (head("WARC-Refers-To-Target-URI"), head("WARC-Refers-To-Date"), digest)
                if originals.get(head("WARC-Refers-To")) != named:
                    yield f"a revisit of what is not there: {head('WARC-Target-URI')} of {named}"


def check_file(path, directory, types, originals):
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
        lambda: check_revisits(plain, originals),
    )
    for check in checks:
        found = [f"{path.name}: {complaint}" for complaint in check()]
        if found:
            return found
    return []


def main(directory):
    paths = sorted(path for path in Path(directory).glob("*.warc.*") if path.suffix in (".gz", ".zst"))
    types, complaints, originals = Counter(), [], {}
    if not paths:
        complaints.append(f"{directory}: holds no *.warc.gz and no *.warc.zst")
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            complaints += check_file(path, scratch, types, originals)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    suffixes = sorted({path.suffix for path in paths})
    print(json.dumps({"files": len(paths), "suffixes": suffixes, "records": sum(types.values()), "types": types}))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
