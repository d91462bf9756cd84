"""What the rules read: the strings of the sources, the documents, the verb table."""
import re

STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
ESCAPES = {r"\n": "\n", r"\"": '"', r"\\": "\\", r"\t": "\t"}
NO_STRINGS = re.compile(r'//[^\n]*|/\*.*?\*/|#include[^\n]*', re.S)
PAGES = ("README.md", "SECURITY.md", "ARCHITECTURE.md", "HACKING.md", "CHANGELOG.md")


def sources(root, pattern="*.[ch]"):
    for path in sorted((root / "src").rglob(pattern)):
        yield path.relative_to(root), path.read_text()


def strings(text):
    """(line, text) of each string of a C source; adjacent literals are one."""
    text = NO_STRINGS.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for m in STRINGS.finditer(text):
        parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', m[0])
        joined = re.sub(r'\\["\\nt]', lambda e: ESCAPES[e[0]], "".join(parts))
        yield text.count("\n", 0, m.start()) + 1, joined


def pages(root):
    """The documents that people read."""
    paths = [root / name for name in PAGES] + sorted((root / "docs").rglob("*.md"))
    for path in paths:
        yield path.relative_to(root), path.read_text()


def verbs(root):
    """{"secret mint": {"--file", …}}, from the generated page."""
    text = (root / "docs/reference/commands.md").read_text()
    common = set(re.findall(r"^\| `(-[^ `]+)", text.split("\n## cloop ")[0], re.M)) | {"-h"}
    found = {}
    for part in re.split(r"^## cloop ", text, flags=re.M)[1:]:
        found[part.split("\n")[0]] = common | set(re.findall(r"^\| `(-[^ `]+)", part, re.M))
    return found
