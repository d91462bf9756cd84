"""Keys of config.yaml that a remedy, a message or a document names by their path are there."""
import re

import texts

NAMED = re.compile(r"(?<![\w./`<-])`?((?:executors|orchestrator|sandbox\.image_policy)(?:\.[a-z_][a-z0-9_]*)+)")
NOT_YET = "executors.kubernetes."  # of the driver that this version refuses
PAGE = re.compile(r"^## `([\w.\[\]]+)`|^\| `(\w+)` \|", re.M)


def keys(root):
    found, section = set(), ""
    for head, key in PAGE.findall((root / "docs/reference/config.md").read_text()):
        section = f"{head}." if head else section
        found.add(head or section + key)
    return found | {section.replace("[]", "") for section in found}


def problems(root, build):
    known = keys(root)
    said = [(f"{path}:{line}", text) for path, source in texts.sources(root)
            for line, text in texts.strings(source) if "reference" not in path.parts]
    said += [(str(path), text) for path, text in texts.pages(root)]
    return [f"{where}: there is no key {m[1]}" for where, text in said for m in NAMED.finditer(text)
            if m[1].rstrip("_") not in known and not m[1].startswith(NOT_YET) and m[1].rsplit(".", 1)[-1] not in ("yaml", "md")]
