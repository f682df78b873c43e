#!/usr/bin/env python3
"""Asks another library for the languages of texts, in the way that language.py speaks to its tools.

  language_peers.py whatlang   the Rust crate whatlang 0.16.4, in the Python package whatlang-pyo3 0.6.0 (the package `whatlang` is another program)
  language_peers.py lingua     the Rust library lingua, in the Python package lingua-language-detector 2.1.1, with all languages and high accuracy

Measured is the processor time of finding languages, no more: lingua reads its models before.
"""

import json
import sys
import time


def whatlang():
    import whatlang

    # One letter of each script that it tells.
    letters = "aбبहאαあア漢한ไமతಕമબਅঅଅසကខაԱአ"
    knows = {language for letter in letters for language in whatlang.detect_script(letter).langs}

    def detect(text):
        try:
            return whatlang.detect(text).lang
        except ValueError:
            # It found none.
            return ""

    return detect, knows


def lingua():
    from lingua import Language, LanguageDetectorBuilder

    detector = LanguageDetectorBuilder.from_all_languages().with_preloaded_language_models().build()

    def code(language):
        return language.iso_code_639_3.name.lower() if language else ""

    return lambda text: code(detector.detect_language_of(text)), set(map(code, Language.all()))


def main():
    tools = {"whatlang": whatlang, "lingua": lingua}
    if len(sys.argv) != 2 or sys.argv[1] not in tools:
        sys.exit(f"usage: language_peers.py {'|'.join(tools)}")
    detect, knows = tools[sys.argv[1]]()
    spent_s = 0.0
    for line in sys.stdin:
        page = json.loads(line)
        start_s = time.process_time()
        language = detect(page["text"])
        spent_s += time.process_time() - start_s
        print(json.dumps({"file": page["file"], "language": language}))
    print(json.dumps({"cpu_s": spent_s, "knows": sorted(knows)}))


if __name__ == "__main__":
    main()
