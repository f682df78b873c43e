"""What reading an archive costs with FastWARC and warcio, as `examples/scan.rs` prints it for Mattock.

usage: readers.py ARCHIVE [ROUNDS]      needs: pip install fastwarc==1.1.0 warcio==1.8.1

Every response is read to its end. FastWARC runs in each of its ways to open a file, without checking digests; the fastest
is the one to compare with.
"""

import json
import statistics
import sys
import time
from pathlib import Path

from fastwarc.stream_io import FileStream, GZipStream, ZstdReader
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator


def fastwarc(path, stream, parse_http):
    records = payload_bytes = 0
    for record in ArchiveIterator(stream(path), record_types=WarcRecordType.response, parse_http=parse_http, inplace=True):
        payload_bytes += len(record.reader.read())
        records += 1
    return records, payload_bytes


def warcio(path):
    records = payload_bytes = 0
    with open(path, "rb") as stream:
        for record in WarcioIterator(stream):
            if record.rec_type == "response":
                payload_bytes += len(record.content_stream().read())
                records += 1
    return records, payload_bytes


def ways(suffix):
    opens = {"by name": str}
    if suffix == ".gz":
        opens["FileStream"] = lambda path: FileStream(str(path), "rb")
        opens["GZipStream"] = lambda path: GZipStream(FileStream(str(path), "rb"))
        opens["open()"] = lambda path: open(path, "rb")
        yield "warcio", warcio
    for name, opened in opens.items():
        for parse_http in (False, True):
            label = f"fastwarc {name}{', HTTP parsed' if parse_http else ''}"
            yield label, lambda path, opened=opened, parse_http=parse_http: fastwarc(path, opened, parse_http)


def main(archive, rounds=3):
    paths = sorted(path for path in Path(archive).iterdir() if ".warc" in path.name)
    found, failed = {}, set()
    for _ in range(rounds):
        for name, way in ways(paths[0].suffix):
            if name in failed:
                continue
            begin = time.process_time()
            try:
                counts = [way(path) for path in paths]
            except Exception as error:
                print(f"{name}: {error!r}", file=sys.stderr)
                failed.add(name)
                continue
            seconds = time.process_time() - begin
            found.setdefault(name, []).append((seconds, *map(sum, zip(*counts))))
    for name, results in found.items():
        seconds = statistics.median(seconds for seconds, _, _ in results)
        _, records, payload_bytes = results[0]
        line = {"reader": name, "archive": archive, "cpu_seconds": round(seconds, 4), "records": records}
        print(json.dumps(line | {"payload_bytes": payload_bytes, "records_per_cpu_second": round(records / seconds)}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
