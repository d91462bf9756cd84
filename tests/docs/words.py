"""One word for one thing: the words that docs/glossary.md refuses stand in no document and in nothing
that a program prints. Identifiers are no words: what holds no blank, and code."""
import re

import texts

ROW = re.compile(r"^\| ([^|]+) \| [^|]* \| ([^|]+) \|$", re.M)
CODE = re.compile(r"^```.*?^```|`[^`]*`", re.S | re.M)
# For who changes the program: folders of the source tree, fields of other programs.
NOT_FOR_USERS = {"ARCHITECTURE.md", "HACKING.md", "docs/glossary.md"}


def refused(root):
    page = (root / "docs/glossary.md").read_text()
    found = {}
    for word, banned in ROW.findall(page)[1:]:
        found.update({b.strip(): word for b in banned.split(",") if b.strip()})
    return found


def problems(root, build):
    words = refused(root)
    pattern = re.compile(r"(?<![\w./`-])(" + "|".join(map(re.escape, words)) + r")(?:e?s)?(?![\w/`-]|\.\w)",
                         re.I)
    bad = []
    said = [(f"{path}:{line}", text) for path, source in texts.sources(root)
            for line, text in texts.strings(source) if " " in text]
    said += [(str(path), CODE.sub("", text)) for path, text in texts.pages(root)
             if str(path) not in NOT_FOR_USERS and not str(path).startswith("docs/internals/")]
    for where, text in said:
        bad += [f"{where}: {m[0]}: say {words[m[1].lower()]}" for m in pattern.finditer(text)]
    return bad
