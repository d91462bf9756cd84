"""HACKING.md records what `make metrics` measures: a row for each, whatever its number."""
import re
import subprocess


def problems(root, build):
    names = subprocess.run([root / "scripts/metrics", "--names"], capture_output=True, text=True,
                           timeout=60)
    text = (root / "HACKING.md").read_text()
    section = re.search(r"^## Measures.*?(?=^## |\Z)", text, re.M | re.S)
    rows = re.findall(r"^\| ([^|]+) \|", section[0], re.M) if section else []
    return [f"HACKING.md: Measures has no row {name}: make metrics" for name in
            names.stdout.splitlines() or ["at all"] if name not in rows]
