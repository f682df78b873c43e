#!/usr/bin/env python3
"""Main text: how good, and at what cost, next to other tools.

Every tool reads the same pages; what it gives is compared with the page's gold text by word F1: words are runs of letters and digits in
lower case (single characters of scripts without blanks), counted with their multiplicity; F1 is computed per page, and its mean per set and over all sets is printed,
beside pages per CPU second of one core.

Sets of pages (none is part of the repository):
  readability=DIR   folders with source.html and expected.html, as Mozilla's Readability has them
  pairs=DIR         html/NAME.html and txt/NAME.txt, as in the tests of newspaper4k
  select=FILE       lines of "PATH XPATH": gold is the text of the elements that the XPath names
  jsonl=FILE        lines of {"file": PATH, "gold": TEXT}
  segments=FILE     lines of {"file": PATH, "with": [TEXT, …], "without": [TEXT, …]}: passages that the text must have, and such that it must
                    not, as Trafilatura's tests list them. Precision and recall are counted in passages
Tools: trafilatura and resiliparse if they can be imported, and every `--tool NAME=COMMAND`: the command gets the pages' paths on
standard input, a line each, prints {"file", "text"} as JSON lines, and {"cpu_s": seconds} as the last one.

  pip install trafilatura resiliparse lxml lxml_html_clean
  cargo build --release -p mattock-analyze --example text
  text.py --set readability=DIR --tool ours=target/release/examples/text
"""

import argparse
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

import lxml.html

WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+")


def words(text):
    text = text.replace("\u00ad", "")  # a soft hyphen parts no words
    return collections.Counter(WORD.findall(re.sub(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]",
                                                   lambda m: f" {m.group()} ", text.lower())))


def passages(found, gold):
    found = " ".join(found.split())
    right, wrong = (sum(" ".join(passage.split()) in found for passage in gold[kind]) for kind in ("with", "without"))
    if not right:
        return 0.0, 0.0, 0.0
    precision, recall = right / (right + wrong), right / len(gold["with"])
    return 2 * precision * recall / (precision + recall), precision, recall


def f1(found, gold):
    if isinstance(gold, dict):
        return passages(found, gold)
    found, gold = words(found), words(gold)
    common = sum((found & gold).values())
    if not common:
        return (1.0, 1.0, 1.0) if not found and not gold else (0.0, 0.0, 0.0)
    precision, recall = common / sum(found.values()), common / sum(gold.values())
    return 2 * precision * recall / (precision + recall), precision, recall


BLOCKS = "address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul".split()


def text_of(element):
    """The text of an element, blanks where blocks part words, without scripts and styles."""
    parts = []

    def walk(node):
        if not isinstance(node.tag, str):
            parts.append(node.tail or "")
            return
        if node.tag not in ("script", "style", "noscript", "template"):
            block = node.tag in BLOCKS
            parts.append((" " if block else "") + (node.text or ""))
            for child in node:
                walk(child)
            parts.append(" " if block else "")
        parts.append(node.tail or "")

    tail, element.tail = element.tail, None
    walk(element)
    element.tail = tail
    return "".join(parts)


def decode(path):
    data = pathlib.Path(path).read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        found = re.search(rb"charset=[\"']?([\w-]+)", data[:4096])
        try:
            return data.decode(found.group(1).decode() if found else "cp1252", "replace")
        except LookupError:
            return data.decode("latin-1")


def pages(kind, place):
    place = pathlib.Path(place)
    if kind == "readability":
        for folder in sorted(place.iterdir()):
            if (folder / "expected.html").exists():
                yield folder / "source.html", text_of(lxml.html.fromstring(decode(folder / "expected.html") or "<p>"))
    elif kind == "pairs":
        for gold in sorted((place / "txt").glob("*.txt")):
            page = place / "html" / (gold.stem + ".html")
            if page.exists():
                yield page, gold.read_text("utf-8", "replace")
    elif kind == "select":
        for line in place.read_text().splitlines():
            page, xpath = line.split(" ", 1)
            tree = lxml.html.document_fromstring(pathlib.Path(page).read_bytes())
            gold = " ".join(text_of(element) for element in tree.xpath(xpath))
            if gold.strip():
                yield page, gold
    elif kind == "jsonl":
        for line in place.read_text().splitlines():
            page = json.loads(line)
            yield page["file"], page["gold"]
    elif kind == "segments":
        for line in place.read_text().splitlines():
            page = json.loads(line)
            if page["with"]:
                yield page["file"], page
    else:
        sys.exit(f"no kind of set: {kind}")


def with_trafilatura(paths, **settings):
    import trafilatura
    return in_python(paths, lambda html: trafilatura.extract(html, **settings) or "")


def with_resiliparse(paths):
    from resiliparse.extract.html2text import extract_plain_text
    return in_python(paths, lambda html: extract_plain_text(html, main_content=True))


def in_python(paths, extract):
    found, cpu_s = {}, 0.0
    for path in paths:
        html = decode(path)
        start = time.process_time()
        try:
            found[path] = extract(html)
        except Exception as error:  # whatever a tool does, it has no text for this page
            print(f"{path}: {error!r}", file=sys.stderr)
            found[path] = ""
        cpu_s += time.process_time() - start
    return found, cpu_s


def with_command(command, paths):
    run = subprocess.run(shlex.split(command), input="\n".join(paths) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    lines = [json.loads(line) for line in run.stdout.split("\n") if line]
    return {line["file"]: line["text"] for line in lines if "file" in line}, next(line["cpu_s"] for line in lines if "cpu_s" in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", required=True, metavar="[NAME:]KIND=PLACE")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--only-tools", action="store_true", help="leave trafilatura and resiliparse out")
    parser.add_argument("--settings", action="store_true", help="also trafilatura as it comes, with comments, and with favor_recall")
    parser.add_argument("--keep", help="a folder: what the Python tools gave is kept there and not computed again")
    parser.add_argument("--worst", type=int, default=0, help="also list so many worst pages of the last tool")
    parser.add_argument("--json", help="write scores per page here")
    options = parser.parse_args()
    sets = {}
    for text in options.set:
        kind, place = text.split("=", 1)
        name, _, kind = kind.rpartition(":")
        sets[name or kind] = [(str(page), gold) for page, gold in pages(kind, place)]
    # Comments are no part of the main text of an article, neither in the gold texts nor here.
    tools = {"trafilatura": lambda paths: with_trafilatura(paths, include_comments=False), "resiliparse": with_resiliparse}
    if options.settings:
        tools["its defaults"] = with_trafilatura
        tools["its recall"] = lambda paths: with_trafilatura(paths, favor_recall=True)
    if options.only_tools:
        tools = {}
    for text in options.tool:
        name, command = text.split("=", 1)
        tools[name] = lambda paths, command=command: with_command(command, paths)
    print(f"{'tool':<16}" + "".join(f"{name:>14}" for name in sets) + f"{'all':>8}{'sets':>8}{'precision':>11}{'recall':>8}{'pages/s':>9}{'cpu_s':>8}")
    scores = {}
    for name, tool in tools.items():
        total, means, cpu_s, count = [], [], 0.0, 0
        row = f"{name:<16}"
        for set_name, members in sets.items():
            kept = pathlib.Path(options.keep) / f"{name}-{set_name}.json" if options.keep and not any(name == t.split("=")[0] for t in options.tool) else None
            if kept and kept.exists():
                found, spent = json.loads(kept.read_text())
            else:
                found, spent = tool([page for page, _ in members])
                if kept:
                    kept.write_text(json.dumps([found, spent]))
            each = [(f1(found.get(page) or "", gold), page) for page, gold in members]
            scores.setdefault(name, {}).update({page: score for score, page in each})
            mean = sum(score[0] for score, _ in each) / max(1, len(each))
            means.append(mean)
            total += each
            cpu_s, count = cpu_s + spent, count + len(members)
            row += f"{mean:>8.4f}/{len(each):<5}"
        average = [sum(score[place] for score, _ in total) / max(1, len(total)) for place in range(3)]
        print(f"{row}{average[0]:>8.4f}{sum(means) / len(means):>8.4f}{average[1]:>11.4f}{average[2]:>8.4f}{count / cpu_s:>9.1f}{cpu_s:>8.3f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(scores))
    for (score, precision, recall), page in sorted(total)[: options.worst]:
        print(f"{score:.3f} precision {precision:.3f} recall {recall:.3f} {page}")


if __name__ == "__main__":
    main()
