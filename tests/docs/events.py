"""docs/reference/events.md names what the sources write into the audit trail and the journal, and
the warnings of records, and nothing else."""
import re

import texts

TOPICS = "attach|egress|executor|lease|limits|sandbox|secret|task"
NAME = re.compile(rf"(?:{TOPICS})\.[a-z_]+")
# Paths of keys, and names of files; no events.
OTHERS = {"sandbox.yaml", "sandbox.yml", "sandbox.image_policy", "secret.key"}
KINDS = re.compile(r'record_warn\([^,;]*,\s*"([a-z_]+)"|\[OUTCOME_\w+\] = "([a-z_]+)"')


def written(root):
    events, kinds = set(), set()
    for path, text in texts.sources(root, "*.c"):
        if "reference" in path.parts:
            continue
        events |= {s for _, s in texts.strings(text) if NAME.fullmatch(s)}
        if path.name != "classify.c":
            kinds |= {a or b for a, b in KINDS.findall(text)}
    return events - OTHERS, kinds


def problems(root, build):
    page = (root / "docs/reference/events.md").read_text()
    told = set(re.findall(r"^\| `([a-z._]+)`", page, re.M))
    events, kinds = written(root)
    bad = [f"{name} is not in docs/reference/events.md" for name in sorted((events | kinds) - told)]
    return bad + [f"docs/reference/events.md: nothing writes {name}"
                  for name in sorted(told - events) if "." in name]
