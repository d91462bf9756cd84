"""An accepted subject_regexp compiles in RE2 (Go's, which cosign uses) and matches no text inside
of a longer one."""
import os
import pathlib
import random
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
GO = shutil.which("go", path=os.environ["PATH"] + ":/usr/local/go/bin")
PATTERNS, SEED = 8000, 20

ATOMS = ["a", "b", "/", "-", "x", "9", r"\.", r"\$", r"\^", r"\|", r"\d", r"\D", r"\w", r"\W", r"\s",
         r"\S", ".", "[ab]", "[^a]", "[a-z]", "[-a]", "[a-]", r"[\d-]", r"[\]]", "[$^|]", "[+--]",
         "[--a]", r"[\--a]", "[a^]", r"\_", r"\-", r"\b", r"\1", "[a-b-c]", "[", "]", "{", "}", "(?i)",
         "(?=a)", "(?P<n>a)", "[[:alpha:]]", "[]a]", r"\x41"]
QUANTIFIERS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{2,}", "{2,3}", "{0}", "{0,0}",
               "{2}?", "{1,4}?", "{1001}", "{01}", "{,2}", "**", "{3,2}", "+{2}"]
# As large as they get; too slow to match in numbers.
LARGE = ["^a{1000}$", "^(abc|[d-f]){1000}$", "^a([b-d]*e?){1000}.*", "^" + "(ab)" * 250 + "$"]


def sequence(r, depth):
    return "".join(item(r, depth) for _ in range(r.randint(0 if depth else 1, 4)))


def item(r, depth):
    kind = r.random()
    if kind < 0.15 and depth < 9:
        inner = "|".join(sequence(r, depth + 1) for _ in range(r.choice([1, 1, 2, 3])))
        atom = r.choice(["(", "(?:"]) + inner + ")"
    elif kind < 0.18:
        atom = r.choice(["^", "$", "|"])
    else:
        # Mostly what is accepted: else nearly nothing of any length would be.
        atom = r.choice(ATOMS[:31] if r.random() < 0.96 else ATOMS)
    return atom + (r.choice(QUANTIFIERS[:16]) if r.random() < 0.97 else r.choice(QUANTIFIERS))


def pattern(r):
    body = sequence(r, 0)
    return r.choice(["^", "^", "^", "^", ""]) + body + r.choice(["$", "$", ".*", ".+", ".*?", ""])


def test_accepted_patterns_are_anchored_in_re2():
    assert GO, "Go is missing: apt install golang-go"
    r = random.Random(SEED)
    patterns = sorted({pattern(r) for _ in range(PATTERNS)}) + LARGE
    said = subprocess.run([BUILD / "tests/re2/regexp-lines"], input="\n".join(patterns) + "\n",
                          capture_output=True, text=True, check=True).stdout.split()
    assert len(said) == len(patterns)
    accepted = [p for p, word in zip(patterns, said) if word == "ok"]
    assert len(accepted) > PATTERNS / 20, "the generator gives too little that is accepted"
    done = subprocess.run([GO, "run", ROOT / "tests/re2/re2.go"], input="\n".join(accepted) + "\n",
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
