#!/usr/bin/env python3
"""Main text on pages of WCXB (Foley, "WCXB: A Multi-Type Web Content Extraction Benchmark", 2026), by type of page.

DATA is a file of pages, one JSON object a line (`id`, `type`, `url`, `text`, `with`, `without`, `html`), plain or in Zstandard: 362 pages of the
development half of WCXB (CC-BY-4.0, https://github.com/Murrough-Foley/web-content-extraction-benchmark). The repository has none of them; where they
are absent the script says so and ends well. Whoever makes rules may look at these pages, so that a rule must hold on those of `typed.py`, too.

The score is WCXB's own: words are `\\w+` of the text in lower case, counted with their multiplicity; F1 of each page, and its mean over the pages of a type
and over all pages. A page without content scores 1 if nothing was found, else 0. `with` and `without`: the share of passages found of those
that must be there and of those that must not.

  cargo build --release -p mattock-analyze --example text
  wcxb.py --tool ours=target/release/examples/text
  wcxb.py --tool before=OLD --tool ours=target/release/examples/text --changed 20 --runs 5

With `--runs` the tools take turns, and pages per CPU second have the mean, the least and the most of all runs.
"""

import argparse
import collections
import importlib.util
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("text", HERE / "text.py")
text = importlib.util.module_from_spec(spec)
spec.loader.exec_module(text)

DATA = HERE / "../../../../shared/data/wcxb/dev362.jsonl.zst"
TYPES = ["article", "forum", "product", "collection", "listing", "documentation", "service"]
WORD = re.compile(r"\w+")


def read(data):
    if data.suffix != ".zst":
        return [json.loads(line) for line in data.open(encoding="utf-8")]
    lines = subprocess.run(["zstd", "-dcq", data], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in lines.decode("utf-8").split("\n") if line]


def words(text):
    return collections.Counter(WORD.findall((text or "").lower()))


def score(found, page):
    """F1, precision, recall, and the shares of passages."""
    have, want = words(found), words(page["text"])
    passages = [sum(one.lower() in found.lower() for one in page[kind]) / len(page[kind]) if page[kind] else None
                for kind in ("with", "without")]
    if not want:
        return [float(not have)] * 3 + passages
    common = sum((have & want).values())
    if not common:
        return [0.0] * 3 + passages
    precision, recall = common / sum(have.values()), common / sum(want.values())
    return [2 * precision * recall / (precision + recall), precision, recall] + passages


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / max(1, len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--tool", action="append", required=True, metavar="NAME=COMMAND", help="see text.py")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--changed", type=int, default=0, help="also list so many pages on which the last two tools differ most")
    parser.add_argument("--worst", type=int, default=0, help="also list so many worst pages of the last tool")
    parser.add_argument("--json", type=pathlib.Path, help="write each page's scores and texts here")
    options = parser.parse_args()
    if not options.data.exists():
        print(f"skipped: {options.data} is absent", file=sys.stderr)
        return
    pages = read(options.data)
    tools = dict(tool.split("=", 1) for tool in options.tool)
    speeds, results = {name: [] for name in tools}, {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(pathlib.Path(folder) / f"{at}.html") for at in range(len(pages))]
        for path, page in zip(paths, pages):
            pathlib.Path(path).write_text(page["html"], "utf-8")
        for _ in range(options.runs):
            for name, command in tools.items():
                found, cpu_s = text.with_command(command, paths)
                speeds[name].append(len(pages) / cpu_s)
                results[name] = [found[path] for path in paths]
    print(f"{'tool':<10}" + "".join(f"{kind[:10]:>11}" for kind in ["all", *TYPES])
          + f"{'precision':>11}{'recall':>8}{'with':>7}{'without':>9}  pages per CPU second")
    scores = {}
    for name, found in results.items():
        scores[name] = each = [score(one, page) for one, page in zip(found, pages)]
        kinds = [[one[0] for one, page in zip(each, pages) if page["type"] == kind] for kind in TYPES]
        total = [mean(one[at] for one in each) for at in range(5)]
        speed = speeds[name]
        print(f"{name:<10}{total[0]:>11.4f}" + "".join(f"{mean(kind):>11.4f}" for kind in kinds)
              + f"{total[1]:>11.3f}{total[2]:>8.3f}{total[3]:>7.3f}{total[4]:>9.3f}"
              + f"  {statistics.mean(speed):.0f} ({min(speed):.0f} to {max(speed):.0f})")
    last = list(scores)[-1]
    for at in sorted(range(len(pages)), key=lambda at: scores[last][at][0])[: options.worst]:
        f1, precision, recall = scores[last][at][:3]
        print(f"{f1:.3f} precision {precision:.3f} recall {recall:.3f} {pages[at]['type']} {pages[at]['id']} {pages[at]['url']}")
    if len(scores) > 1:
        before, after = list(scores.values())[-2:]
        gains = [(after[at][0] - before[at][0], at) for at in range(len(pages))]
        for gain, at in sorted(gains, key=lambda gain: -abs(gain[0]))[: options.changed]:
            if gain:
                print(f"{gain:+.3f} {before[at][0]:.3f} to {after[at][0]:.3f} {pages[at]['type']} {pages[at]['id']} {pages[at]['url']}")
    if options.json:
        options.json.write_text(json.dumps({name: {page["id"]: {"score": one, "found": result} for page, one, result
                                                    in zip(pages, scores[name], results[name])} for name in results}))


if __name__ == "__main__":
    main()
