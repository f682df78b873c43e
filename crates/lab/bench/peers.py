"""What `mattock bench query` compares with: FastWARC's reading loop and DuckDB, each with its own clock.

peers.py fastwarc FILE...      reads every response of the files, payloads decoded
peers.py duckdb GLOB THREADS   reads queries from stdin, one a line, and runs each several times on the table `documents`

Prints one JSON object.
"""

import glob
import json
import resource
import sys
import time


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def fastwarc(files):
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    records = size = 0
    begun, wall = cpu(), time.monotonic()
    for name in files:
        with open(name, "rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                records += 1
                size += len(record.reader.read())
    return {"records": records, "bytes": size, "cpu_s": cpu() - begun, "wall_s": time.monotonic() - wall}


def duckdb(pattern, threads):
    import duckdb as engine

    connection = engine.connect()
    connection.execute(f"SET threads = {int(threads)}")
    files = sorted(glob.glob(pattern))
    connection.execute(f"CREATE VIEW documents AS SELECT * FROM read_parquet({files!r})")
    results = []
    for query in sys.stdin.read().splitlines():
        times = []
        rows = 0
        for _ in range(6):
            begun = time.monotonic()
            rows = len(connection.execute(query).fetchall())
            times.append(time.monotonic() - begun)
        results.append({"rows": rows, "seconds": sorted(times[1:])[2]})
    return {"queries": results}


print(json.dumps({"fastwarc": lambda rest: fastwarc(rest), "duckdb": lambda rest: duckdb(*rest)}[sys.argv[1]](sys.argv[2:])))
