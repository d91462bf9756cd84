"""Sources that a page for who changes cloop names are there: `runlog/log-format.h`, `src/store`; so are the
fault points, in some source."""
import re

import texts

NAMED = re.compile(r"`((?:src|tests)/[\w./-]+|[\w-]+/[\w./-]+\.[ch])`")
POINT = re.compile(r"`([a-z]+(?:-[a-z]+)*:[\w-]+)`")
POINTS = "docs/internals/faults.md"


def problems(root, build):
    files = [str(p.relative_to(root)) for d in ("src", "tests") for p in (root / d).rglob("*")]
    text = "\n".join(source for _, source in texts.sources(root, "*.c"))
    bad = []
    for path, page in texts.pages(root):
        if not str(path).startswith("docs/internals/"):
            continue
        bad += [f"{path}: there is no {m[1]}" for m in NAMED.finditer(page)
                if not re.search("[*]|NAME", m[1]) and not any(("/" + f).endswith("/" + m[1].rstrip("/")) for f in files)]
        if str(path) == POINTS:
            bad += [f"{path}: no source meets {m[1]}" for m in POINT.finditer(page)
                    if f'"{m[1]}"' not in text and f'"{m[1].split(":")[0]}:%s"' not in text]
    return bad
