#!/usr/bin/env python3
"""Gold texts for text.py out of the npm package @postlight/parser (2.2.2 ships its tests' pages).

Its authors wrote, for each of some 150 sites, which elements of a page are the content, and which of them are not. Where one of these rules fits the stored
page of its site, the text that it names is that page's gold. Prints {"file", "gold"} as JSON lines.

  pip install lxml cssselect
  postlight.py parser-2.2.2 > postlight.jsonl
"""

import importlib.util
import json
import pathlib
import re
import sys

import lxml.html

HERE = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("text", HERE / "text.py")
text = importlib.util.module_from_spec(spec)
spec.loader.exec_module(text)


def array(source, name):
    """The array behind `name:` as a list, by its brackets."""
    at = re.search(name + r":\s*\[", source)
    if not at:
        return []
    depth, end = 0, at.end() - 1
    while end < len(source):
        depth += (source[end] == "[") - (source[end] == "]")
        end += 1
        if depth == 0:
            break
    inner = re.sub(r"//.*", "", source[at.end() - 1:end])
    found = []
    for part in re.finditer(r"\[([^\[\]]*)\]|'([^']*)'|\"([^\"]*)\"", inner[1:-1]):
        if part.group(1) is not None:
            found.append([one or two for one, two in re.findall(r"'([^']*)'|\"([^\"]*)\"", part.group(1))])
        else:
            found.append([part.group(2) or part.group(3)])
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    rules = {}
    for rule in root.glob("src/extractors/custom/*/index.js"):
        source = rule.read_text()
        content = re.search(r"\n  content: \{(.*?)\n  \},", source, re.S)
        if content:
            rules[rule.parent.name] = (array(content.group(1), "selectors"), array(content.group(1), "clean"))
    for page in sorted(root.glob("fixtures/**/*.html")):
        site = page.relative_to(root / "fixtures").parts[0].removesuffix(".html")
        selectors, clean = rules.get(site, ([], []))
        try:
            tree = lxml.html.document_fromstring(text.decode(page).encode(), parser=lxml.html.HTMLParser(encoding="utf-8"))
            for group in selectors:
                found = [tree.cssselect(selector) for selector in group]
                if all(found):
                    elements = found[0][:1] if len(group) == 1 else [element for each in found for element in each]
                    break
            else:
                continue
            for selector in [one for group in clean for one in group]:
                for element in elements:
                    for waste in element.cssselect(selector):
                        waste.drop_tree()
        except Exception as error:
            print(f"{page}: {error!r}", file=sys.stderr)
            continue
        gold = " ".join(text.text_of(element) for element in elements)
        if len(gold.split()) >= 40:
            print(json.dumps({"file": str(page), "gold": gold}))


main()
