"""Every command that a remedy, a message, a help text or the code of a document names exists with
those words and those options. `cloop` as the subject of a sentence is known by its verb (PROSE)."""
import re

import texts

# Words behind "cloop" in the strings of the sources that make no command of it.
PROSE = set("""
access and as contradicts did does failed has itself keeps knows leaves never permission reads takes
that then wrote preview init
""".split())
# "cloop egress" is a program's name, too (network.md §7, §13.5). The hub belongs to Kubernetes,
# which this version refuses; sandbox-spec.md §12.2 wants the words.
NAMES = re.compile(r"cloop egress(?=:| filter, mode|: %)|cloop hub doctor --probe-network-policy")
NAMED = re.compile(r"(?<![\w./-])cloop +([a-z][a-z-]*)((?: +[a-z][a-z-]*)?)([^\n]*)")
ENDS = re.compile(r"[;:,()`|&>\"#]|\. |\.$| -- | or | and |\bcloop\b|%s")
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`]+`", re.S | re.M)


def judge(known, m):
    groups = {name.split()[0] for name in known if " " in name}
    first, second = m[1], m[2].strip()
    if first in groups and f"{first} {second}" in known:
        name, rest = f"{first} {second}", m[3]
    elif first in known:
        name, rest = first, m[2] + m[3]
    elif first in groups:
        return f"cloop {first} {second}" if second else None  # the group itself
    else:
        return None if first in PROSE else f"cloop {first}"
    rest = ENDS.split(rest)[0]
    bad = [o for o in re.findall(r"(?<=\s)(--?[A-Za-z][a-z0-9-]*)", rest) if o not in known[name]]
    return f"cloop {name} {' '.join(bad)}" if bad else None


def in_text(known, text):
    text = NAMES.sub("", text)
    for m in NAMED.finditer(text):
        said = judge(known, m)
        if said:
            yield said


def problems(root, build):
    known = texts.verbs(root)
    bad = [f"{path}:{line}: {said}" for path, text in texts.sources(root)
           for line, words in texts.strings(text) for said in in_text(known, words)]
    for path, text in texts.pages(root):
        for m in CODE.finditer(text):
            line = text.count("\n", 0, m.start()) + 1
            bad += [f"{path}:{line}: {said}" for said in in_text(known, m[0])]
    return bad
