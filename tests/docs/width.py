"""Help texts fit into 80 columns."""
import subprocess

import texts


def problems(root, build):
    bad = []
    names = list(texts.verbs(root))
    for words in [[]] + [n.split() for n in names] + sorted({n.split()[0] for n in names if " " in n}):
        words = [words] if isinstance(words, str) else words
        r = subprocess.run([build / "src/cli/cloop", "help", *words], capture_output=True, text=True,
                           timeout=60)
        if r.returncode != 0:
            bad.append(f"cloop help {' '.join(words)}: exit {r.returncode}")
        bad += [f"cloop help {' '.join(words)}: {line}" for line in r.stdout.splitlines()
                if len(line) > 80]
    return bad
