"""The man pages are what groff and mandoc take without a word: of each command, of both files, of
the library."""
import subprocess
import tempfile
import pathlib

import texts

READERS = (["mandoc", "-Tlint", "-Wwarning"], ["groff", "-man", "-ww", "-Wbreak", "-z", "-Tutf8"])


def write(root, build, work):
    subprocess.run([build / "src/cli/cloop", "generate-man", work], check=True, timeout=60)
    headers = sorted((root / "include/cloop").glob("*.h"))
    page = subprocess.run([root / "scripts/library-page", "0", "2026-11-30", *headers],
                          capture_output=True, check=True, timeout=60).stdout
    (work / "man3").mkdir()
    (work / "man3/libcloop.3").write_bytes(page)


def problems(root, build):
    with tempfile.TemporaryDirectory(prefix="cloop-man-") as work:
        work = pathlib.Path(work)
        write(root, build, work)
        pages = sorted(work.rglob("*.[135]"))
        bad = []
        for reader in READERS:
            r = subprocess.run([*reader, *pages], capture_output=True, text=True, timeout=120)
            said = (r.stdout + r.stderr).replace(str(work) + "/", "").splitlines()
            bad += [f"{reader[0]}: {line}" for line in said[:20]]
        for page in sorted(work.rglob("*.5")):
            r = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-rLL=78n", page],
                               capture_output=True, text=True, timeout=120)
            bad += [f"{page.name}: over 80 columns: {line.strip()}"
                    for line in r.stdout.splitlines() if len(line) > 80]
        wanted = {f"cloop-{name.replace(' ', '-')}.1" for name in texts.verbs(root)}
        wanted |= {"cloop.1", "cloop.yaml.5", "sandbox.yaml.5", "libcloop.3"}
        return bad + [f"there is no page {name}" for name in sorted(wanted - {p.name for p in pages})]
