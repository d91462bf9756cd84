"""Each fuzz target has a row in tests/fuzz/targets.tsv that names sources which exist, and
docs/internals/fuzzing.md is what scripts/fuzz-page says."""
import subprocess


def rows(root, name):
    return [line.split("\t") for line in (root / "tests/fuzz" / name).read_text().splitlines()[1:]]


def problems(root, build):
    there = {p.stem for p in (root / "tests/fuzz").glob("fuzz-*.c")}
    named = [r[0] for r in rows(root, "targets.tsv")]
    bad = [f"tests/fuzz/targets.tsv: {t} has no row, or too many, or none is there"
           for t in sorted(there | set(named)) if t not in there or named.count(t) != 1]
    bad += [f"tests/fuzz/targets.tsv: {r[0]}: there is no {glob}"
            for r in rows(root, "targets.tsv") for glob in r[3].split() if not any(root.glob(glob))]
    bad += [f"tests/fuzz/{name}: there is no {r[column]}" for name, column in (("hours.tsv", 2), ("findings.tsv", 1))
            for r in rows(root, name) if r[column] not in there]
    page = subprocess.run([root / "scripts/fuzz-page"], capture_output=True, text=True, check=True).stdout
    if page != (root / "docs/internals/fuzzing.md").read_text():
        bad.append("docs/internals/fuzzing.md is stale: make docs, and review the diff")
    return bad
