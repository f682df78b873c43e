#!/usr/bin/env python3
r"""Languages: how often the right one is found, and at what cost, next to other tools.

Every tool reads the same translated texts, as plain text, so that no page can say its own language. The right answer is the language of the folder that
a text was found in (links to other folders, like Slovak to Czech in libreoffice-help, do not count). Pages are chosen by a hash of their path, so that all
languages have the same ones where they can. Left out are short ones, and those of which too much stands word for word, three words or more, in the
English page, since nobody has translated them.

Sets of texts (none is part of the repository; the packages are those of Debian 12):
  html=DIR      DIR/LANGUAGE/…/*.html, as in libreoffice-help-* (usr/share/libreoffice/help), gimp-help-* (usr/share/gimp/2.0/help) and
                installation-guide-amd64 (usr/share/doc/installation-guide-amd64)
  mallard=DIR   DIR/LANGUAGE/…/*.page, as in gnome-user-docs (usr/share/help)
  man=DIR       DIR/LANGUAGE/man?/*.gz, as in manpages-* (usr/share/man)
  mo=DIR        DIR/LANGUAGE/LC_MESSAGES/*.mo, as in vlc-l10n (usr/share/locale): messages of programs, some at a time
  jsonl=FILE    lines of {"file", "text", "language"}, as --write makes them
The model was not trained on any of them. Its constants were chosen by libreoffice-help; the cost of words in src/language/near.rs, of two values, by all
packages named here, and the words by frequencies, some of them in vlc-l10n. Only measured, and nothing chosen by them: wesnoth-1.16-data
(usr/share/games/wesnoth/1.16/locale), gnucash-common and inkscape (usr/share/locale of each).

Tools: every `--tool NAME=COMMAND`: the command gets {"file", "text"} on standard input, as JSON lines, prints {"file", "language"} for each (ISO 639, two or
three letters), and {"cpu_s": seconds} as the last one. If that also has "knows", a list, it names all the languages that the tool can find; otherwise
they are those that it has found in any text. The example `language` is our own; language_peers.py runs whatlang and lingua.

Printed, for each set and each length: the share of right answers over all texts, over those in languages that the tool knows, and over those in languages
that all tools know (in brackets: how many texts), then the mean of the shares of these languages, and microseconds of CPU per text.

From the top of the repository, on Debian 12:

  python3 -m venv target/languages
  target/languages/bin/pip install lxml whatlang-pyo3==0.6.0 lingua-language-detector==2.1.1
  (cd target/languages && apt-get download $(apt-cache search --names-only '^libreoffice-help-..(-..)?$' | cut -d' ' -f1))
  for package in target/languages/*.deb; do dpkg -x "$package" target/languages/help; done
  cargo build --release -p mattock-analyze --example language
  peers="target/languages/bin/python crates/analyze/bench/language_peers.py"
  target/languages/bin/python crates/analyze/bench/language.py --set office:html=target/languages/help/usr/share/libreoffice/help --cut 200 --cut 60 \
    --tool ours=target/release/examples/language --tool whatlang="$peers whatlang" --tool lingua="$peers lingua"
"""

import argparse
import collections
import gettext
import gzip
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys

import lxml.etree
import lxml.html

# Two letters, and members of macrolanguages that are taken as one, to what is compared.
CODES = dict(pair.split(":") for pair in """
af:afr am:amh an:arg ar:ara as:asm az:aze be:bel bg:bul bn:ben bo:bod br:bre bs:bos ca:cat co:cos cs:ces cy:cym da:dan de:deu dz:dzo el:ell en:eng
eo:epo es:spa et:est eu:eus fa:fas ff:ful fi:fin fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg gu:guj gv:glv ha:hau he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye
ia:ina id:ind ie:ile ig:ibo io:ido is:isl it:ita iw:heb ja:jpn jv:jav ka:kat kk:kaz km:khm kn:kan ko:kor ku:kur kw:cor ky:kir la:lat lb:ltz lg:lug li:lim
ln:lin lo:lao lt:lit lv:lav mg:mlg mi:mri mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt my:mya nb:nor ne:nep nl:nld nn:nno no:nor ny:nya oc:oci om:orm or:ori
os:oss pa:pan pl:pol ps:pus pt:por qu:que rm:roh ro:ron ru:rus rw:kin sa:san sc:srd sd:snd si:sin sk:slk sl:slv sn:sna so:som sq:sqi sr:srp st:sot su:sun
sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn tr:tur ts:tso tt:tat ug:uig uk:ukr ur:urd uz:uzb vi:vie wa:wln wo:wol xh:xho yi:yid
yo:yor zh:zho zu:zul cmn:zho pes:fas nob:nor arb:ara lvs:lav ekk:est azj:aze als:sqi uzn:uzb ydd:yid npi:nep ory:ori khk:mon plt:mlg swh:swa kmr:kur
ckb:kur zsm:msa gax:orm fil:tgl
""".split())
BLOCKS = set("address article aside blockquote body br caption dd div dl dt figcaption figure form h1 h2 h3 h4 h5 h6 hr item li main ol p pre section table td "
             "th title tr ul".split())
DROPPED = {"script", "style", "noscript", "template", "header", "footer", "nav", "aside", "head", "info"}


def code(tag):
    """The language of a folder or an answer; nothing for variants like `sr@latin`, whose script tells more than their name."""
    first, *rest = re.split(r"[-_.]", tag)
    if "@" in tag or not re.fullmatch("[a-z]{2,3}", first):
        return "eng" if tag == "C" else ""
    return CODES.get(first, first if len(first) == 3 else "")


def blocks_of(root):
    """The texts of the blocks in a tree, without what frames a page."""
    blocks = [""]

    def walk(node):
        if isinstance(node.tag, str):
            name = lxml.etree.QName(node).localname
            if name not in DROPPED and node.get("class") not in ("navheader", "navfooter"):
                if name in BLOCKS:
                    blocks.append("")
                blocks[-1] += node.text or ""
                for child in node:
                    walk(child)
                if name in BLOCKS:
                    blocks.append("")
        blocks[-1] += node.tail or ""

    for child in root:
        walk(child)
    return [text for text in (" ".join(block.split()) for block in blocks) if text]


def of_html(path):
    root = lxml.html.document_fromstring(path.read_bytes(), parser=lxml.html.HTMLParser(encoding="utf-8"))
    main = root.xpath("//*[@id='DisplayArea']") or root.xpath("//body")
    return blocks_of(main[0]) if main else []


def of_mallard(path):
    return blocks_of(lxml.etree.fromstring(path.read_bytes(), lxml.etree.XMLParser(recover=True, resolve_entities=False)))


def of_man(path):
    """Text lines, and arguments of the requests that have words; no comments and no tables."""
    data = gzip.decompress(path.read_bytes())
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError:
        return []
    source = re.sub(r"(?ms)^\.(TS|EQ|nf|EX)\b.*?^\.(TE|EN|fi|EE)\b", "", source)
    lines = []
    for line in source.split("\n"):
        words = re.match(r"[.'](?:SH|SS|[BI]|[BIR]{2}|Sh|Ss)\s+(.*)", line)
        if line[:1] in (".", "'") and not words:
            continue
        line = (words.group(1).replace('"', "") if words else line)
        line = re.sub(r"\\(?:f(?:\[\w*\]|\(..|.)|s[-+]?\d|[&/,:|^%c])", "", line)
        lines.append(re.sub(r"\\(?:\[\w+\]|\(..|.)", " ", line))
    return [" ".join(lines)]


def of_mo(path, letters_min):
    """Messages of a catalogue, together as long as a paragraph or two."""
    try:
        with path.open("rb") as file:
            catalogue = gettext.GNUTranslations(file)._catalog
    except (OSError, UnicodeDecodeError, ValueError):
        return
    texts, letters = [], 0
    for key in sorted((key for key in catalogue if isinstance(key, str) and key), key=digest):
        text = catalogue[key]
        if text and text not in key:
            texts.append(re.sub(r"<[^>]*>|%[-\w.]|[&_]|https?:\S+", lambda found: "" if found.group() in "&_" else " ", text))
            letters += sum(map(str.isalpha, texts[-1]))
        if letters >= 3 * letters_min:
            yield [" ".join(" ".join(texts).split())]
            texts, letters = [], 0


def runs_of(blocks):
    """Runs of three words, and the place of each."""
    words = " ".join(blocks).split()
    return [(tuple(words[at:at + 3]), at) for at in range(len(words) - 2)]


def untranslated(blocks, known):
    """Letters in runs that the English page has too."""
    words = " ".join(blocks).split()
    places = {at + step for run, at in runs_of(blocks) if run in known for step in range(3)}
    return sum(sum(map(str.isalpha, words[place])) for place in places)


def digest(text):
    return hashlib.sha1(text.encode()).digest()


KINDS = {"html": (of_html, "**/*.html"), "mallard": (of_mallard, "**/*.page"), "man": (of_man, "man?/*.gz"), "mo": (None, "LC_MESSAGES/*.mo")}


def texts_of(kind, place, options):
    """The texts of a set: file, text, language."""
    if kind == "jsonl":
        return [json.loads(line) for line in pathlib.Path(place).read_text().split("\n") if line]
    if kind not in KINDS:
        sys.exit(f"no kind of set: {kind}")
    place, (read, pattern) = pathlib.Path(place), KINDS[kind]
    english = next((place / name for name in ("en-US", "en", "C") if (place / name).is_dir()), None)
    english_runs, found = {}, []
    for folder in sorted(path for path in place.iterdir() if path.is_dir() and not path.is_symlink() and code(path.name)):
        taken = 0
        for path in sorted(folder.glob(pattern), key=lambda path: digest(str(path.relative_to(folder)))):
            if taken >= options.pages:
                break
            for number, blocks in enumerate([read(path)] if read else of_mo(path, options.letters_min)):
                below = str(path.relative_to(folder))
                if english and read and folder != english and below not in english_runs:
                    twin = english / below
                    english_runs[below] = {run for run, _ in runs_of(read(twin))} if twin.exists() else set()
                known = english_runs.get(below, set()) if code(folder.name) != "eng" else set()
                letters = sum(map(str.isalpha, "".join(blocks)))
                if letters >= options.letters_min and untranslated(blocks, known) <= options.english * letters and taken < options.pages:
                    taken += 1
                    found.append({"file": f"{path.relative_to(place)}#{number}", "text": "\n".join(blocks), "language": code(folder.name)})
    return found


def ask(command, texts):
    given = "".join(json.dumps({"file": text["file"], "text": text["text"]}) + "\n" for text in texts)
    run = subprocess.run(shlex.split(command), input=given, stdout=subprocess.PIPE, text=True, check=True)
    lines = [json.loads(line) for line in run.stdout.split("\n") if line]
    last = next(line for line in lines if "cpu_s" in line)
    answers = {line["file"]: code(line["language"] or "") for line in lines if "file" in line}
    return answers, last["cpu_s"], {code(language) for language in last.get("knows", [])}


def share(right):
    return f"{sum(right) / len(right):.4f}" if right else "-"


def print_errors(texts, answers):
    """Languages with wrong answers, the worst first, and what was answered instead."""
    wrong, count = collections.defaultdict(collections.Counter), collections.Counter()
    for text in texts:
        count[text["language"]] += 1
        if answers.get(text["file"]) != text["language"]:
            wrong[text["language"]][answers.get(text["file"]) or "none"] += 1
    for language, instead in sorted(wrong.items(), key=lambda item: -item[1].total()):
        print(f"    {language} {instead.total()}/{count[language]}: " + ", ".join(f"{name} {times}" for name, times in instead.most_common(6)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", required=True, metavar="[NAME:]KIND=PLACE")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--pages", type=int, default=110, help="texts of a folder, at most")
    parser.add_argument("--letters-min", type=int, default=100, help="texts with fewer are left out")
    parser.add_argument("--english", type=float, default=0.2, help="leave out pages of which more than this share is in the English page too")
    parser.add_argument("--cut", type=int, action="append", default=[], help="also with the first so many characters of each text")
    parser.add_argument("--errors", action="append", default=[], metavar="TOOL", help="list the wrong answers of this tool by language")
    parser.add_argument("--write", help="write the texts of all sets here, as JSON lines")
    options = parser.parse_args()
    tools = dict(text.split("=", 1) for text in options.tool)
    sets = {}
    for text in options.set:
        kind, place = text.split("=", 1)
        name, _, kind = kind.rpartition(":")
        sets[name or kind] = texts_of(kind, place, options)
    if options.write:
        lines = [json.dumps(text | {"file": f"{name}/{text['file']}"}, ensure_ascii=False) for name, texts in sets.items() for text in texts]
        pathlib.Path(options.write).write_text("".join(line + "\n" for line in lines))
    runs, knows, named = {}, {}, collections.defaultdict(set)
    for name, texts in sets.items():
        for cut in [None, *options.cut]:
            texts_cut = [text | {"text": text["text"][:cut]} for text in texts]
            for tool, command in tools.items():
                answers, cpu_s, knows[tool] = ask(command, texts_cut)
                runs[name, cut, tool] = texts_cut, answers, cpu_s
                named[tool].update(answers.values())
    knows = {tool: knows[tool] or named[tool] for tool in tools}
    common = set.intersection(*knows.values()) if knows else set()
    for name, texts in sets.items():
        print(f"{name}: {len(texts)} texts, {len({text['language'] for text in texts})} languages")
        for cut in [None, *options.cut]:
            length = f"first {cut} characters" if cut else "whole texts"
            print(f"  {length:<22}{'all':>8}{'its own':>16}{'common':>16}{'by language':>13}{'us/text':>10}")
            for tool in tools:
                members, answers, cpu_s = runs[name, cut, tool]
                right = [(text["language"], answers.get(text["file"]) == text["language"]) for text in members]
                own = [hit for language, hit in right if language in knows[tool]]
                shared = [hit for language, hit in right if language in common]
                each = collections.defaultdict(list)
                for language, hit in right:
                    if language in common:
                        each[language].append(hit)
                means = [sum(hits) / len(hits) for hits in each.values()]
                print(f"  {tool:<22}{share([hit for _, hit in right]):>8}{share(own):>8} ({len(own):>5}){share(shared):>8} ({len(shared):>5})"
                      f"{share(means):>13}{cpu_s / max(1, len(members)) * 1e6:>10.0f}")
                if tool in options.errors:
                    print_errors(members, answers)


if __name__ == "__main__":
    main()
