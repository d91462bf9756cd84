"""The tests that a document names are there: `test_x.py`, `test_x.py::test_y`, `unit/AREA/test-x`,
`fuzz-x`."""
import re

import texts

NAMED = re.compile(r"`(test_\w+\.py)(?:::(\w+))?`|`(?:tests/)?(unit/[\w/-]+)`|`(fuzz-[\w-]+)`")


def missing(root, m):
    if m[1]:
        file = root / "tests/e2e" / m[1]
        return not file.exists() or bool(m[2]) and f"def {m[2]}(" not in file.read_text()
    return not (root / "tests" / (m[3] or f"fuzz/{m[4]}")).with_suffix(".c").exists()


def problems(root, build):
    return [f"{path}: there is no {m[0]}" for path, text in texts.pages(root)
            for m in NAMED.finditer(text) if missing(root, m)]
