"""Links between documents lead somewhere, headings included, and every page of docs/ can be reached
from README.md."""
import re

import texts

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.S | re.M)


def anchors(text):
    heads = re.findall(r"^#+ +(.*?) *$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}


def links(path, text):
    for target in LINK.findall(FENCE.sub("", text)):
        if not re.match(r"[a-z]+:", target):
            where, _, anchor = target.partition("#")
            yield target, (path.parent / where).resolve() if where else path.resolve(), anchor


def problems(root, build):
    pages = {(root / p).resolve(): text for p, text in texts.pages(root)}
    bad, reached, ahead = [], set(), [(root / "README.md").resolve()]
    for path, text in pages.items():
        for target, where, anchor in links(path, text):
            name = path.relative_to(root)
            if not where.exists():
                bad.append(f"{name}: {target} is not there")
            elif anchor and where in pages and anchor not in anchors(pages[where]):
                bad.append(f"{name}: {target}: no such heading")
    while ahead:
        path = ahead.pop()
        if path not in reached:
            reached.add(path)
            ahead += [w for _, w, _ in links(path, pages.get(path, "")) if w in pages]
    return bad + [f"{p.relative_to(root)} cannot be reached from README.md"
                  for p in sorted(set(pages) - reached)]
