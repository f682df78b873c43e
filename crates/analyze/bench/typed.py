#!/usr/bin/env python3
"""Main text by type of page: articles, threads, products, collections, listings, service pages and documentation.

The pages are real ones that packages bring along, most of them as material for tests; `typed.tsv` names them and says which elements are their
main content. It was written by looking at the pages alone, never at what a tool makes of them, after the notion of WCXB (Foley, "WCXB: A
Multi-Type Web Content Extraction Benchmark", 2026), whose own pages no registry has:

  article        the body with its headings; not the headline, byline, teasers, comments
  forum          what was posted; not who posted it, when, and with what signature
  product        name, price, description, specification; not reviews, delivery, other goods
  collection     the goods of a shop's category with their prices; not the filters
  listing        the entries of an index of articles, boards or adverts, with what is said of each
  service        all that a company says of itself or its offer, over all sections of the page
  documentation  the text with code and tables; not the tree of chapters beside it

Controls (lists of choices, buttons, fields) are never content. Half of the pages, chosen by a hash of their place, is `dev`: look at it as you like. The other
half is `held`: measure it and look no closer, or it becomes worthless. `unseen` are the pages of `unseen.tsv`, most of them of other sites: somebody
wrote their gold who knew neither our rules nor what any tool makes of a page, and after the rules. It takes WCXB's ground truths at their word
where they differ from the above: author and date of a post are content, and so is the title of a question. Do not look at these pages either.

  pip install trafilatura resiliparse lxml cssselect lxml_html_clean
  cargo build --release -p mattock-analyze --example text
  typed.py DIR --half dev --tool ours=target/release/examples/text

Packages are fetched by name and version through pip, npm, cargo and apt-get, once, and unpacked below DIR; where a Debian release has dropped the version that is
named, the one it has is taken. Other options are those of text.py, which does the measuring.
"""

import argparse
import csv
import hashlib
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile

import lxml.html

HERE = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("text", HERE / "text.py")
text = importlib.util.module_from_spec(spec)
spec.loader.exec_module(text)

TYPES = ["article", "forum", "product", "collection", "listing", "service", "documentation"]
CONTROLS = "select, textarea, button, datalist"


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def fetch(package, root):
    """The folder with what is in a package; None if it cannot be had."""
    registry, name = package.split(":", 1)
    folder = root / package.replace("/", "_").replace(":", "_")
    if folder.exists():
        return folder
    load = folder.with_name(folder.name + ".part")
    shutil.rmtree(load, ignore_errors=True)
    load.mkdir(parents=True)
    if registry == "crate":
        return vendored(name, load, folder)
    tries = {
        "pip": [[sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", name]],
        "npm": [["npm", "pack", name]],
        "apt": [["apt-get", "download", name], ["apt-get", "download", name.split("=")[0]]],
    }[registry]
    for command in tries:
        got = run(command, load)
        archives = [file for file in load.iterdir() if file.suffix in (".gz", ".tgz", ".deb")]
        if archives:
            break
        print(f"{' '.join(command)}: {got.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    else:
        return None
    inner = load / "inner"
    inner.mkdir()
    if archives[0].suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", archives[0], inner], check=True)
    else:
        with tarfile.open(archives[0]) as archive:
            archive.extractall(inner, filter="data")
        # Archives of sources have one folder with everything in it.
        inner = next(inner.iterdir())
    inner.rename(folder)
    shutil.rmtree(load)
    return folder


def vendored(name, load, folder):
    """The folder of a crate, by a crate that depends on it."""
    crate, version = name.split("@")
    (load / "Cargo.toml").write_text(f'[package]\nname = "x"\n[lib]\npath = "lib.rs"\n[dependencies]\n{crate} = "={version}"\n')
    (load / "lib.rs").touch()
    got = run(["cargo", "vendor", "--versioned-dirs"], load)
    if got.returncode == 0:
        (load / "vendor" / f"{crate}-{version}").rename(folder)
    else:
        print(f"cargo vendor {name}: {got.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    shutil.rmtree(load)
    return folder if got.returncode == 0 else None


def gold(page, keep, leave):
    """The text of the elements that are the main content."""
    html = text.decode(page).encode("utf-8", "replace")
    tree = lxml.html.document_fromstring(html, parser=lxml.html.HTMLParser(encoding="utf-8"))
    for element in tree.cssselect(", ".join(filter(None, [CONTROLS, leave]))):
        if element.getparent() is not None:
            element.drop_tree()
    chosen = tree.cssselect(keep)
    outermost = [element for element in chosen if not any(above in chosen for above in element.iterancestors())]
    return " ".join(text.text_of(element) for element in outermost)


def half(package, page):
    """Which half a page is in, whatever the version of its package. This byte of the hash parts every type about evenly."""
    name = package.split("=")[0].rpartition("@")[0] or package.split("=")[0]
    return "held" if hashlib.sha256(f"{name}/{page}".encode()).digest()[10] & 1 else "dev"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path, help="where packages are unpacked")
    parser.add_argument("--half", choices=["dev", "held", "all", "unseen"], default="dev")
    options, rest = parser.parse_known_args()
    sets, missing = {kind: [] for kind in TYPES}, 0
    with open(HERE / ("unseen.tsv" if options.half == "unseen" else "typed.tsv"), newline="") as file:
        for row in csv.reader(list(file)[1:], delimiter="\t", quoting=csv.QUOTE_NONE):
            package, page, kind, keep, leave = (row + [""])[:5]
            folder = fetch(package, options.dir.resolve())
            if folder is None or not (folder / page).exists():
                missing += 1
                print(f"not to be had: {package} {page}", file=sys.stderr)
            elif options.half in ("all", "unseen", half(package, page)):
                sets[kind].append({"file": str(folder / page), "gold": gold(folder / page, keep, leave)})
    if missing:
        print(f"{missing} pages are missing: figures are not comparable", file=sys.stderr)
    sys.argv = [sys.argv[0], *rest]
    for kind, pages in sets.items():
        place = options.dir / f"{kind}-{options.half}.jsonl"
        place.write_text("".join(json.dumps(page) + "\n" for page in pages))
        sys.argv += ["--set", f"{kind}:jsonl={place}"]
    text.main()


if __name__ == "__main__":
    main()
