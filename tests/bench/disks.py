"""The disk limit: what a sample costs, and by how much a run passes its limit until it is stopped."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import measure
import process
from measure import Here
from table import Row, ratios

FILES, EACH, LINKS = 200000, 500, 4  # names of the large tree: each file, and its further links
DEEP, BESIDE = 4000, 8
MIB = 1 << 20
SHARE_FILES, SHARE_SECONDS = 50000, 20
LIMIT_MB, PAUSE_S, LEAST_S = 512, 0.05, 5  # LEAST_S: docs/disk.md, the schedule near a limit


def many_files(tree, count=FILES):
    for i in range(count // EACH):
        folder = tree / str(i % 20) / str(i)
        folder.mkdir(parents=True)
        for k in range(EACH):
            os.close(os.open(folder / f"file-{k}", os.O_CREAT | os.O_WRONLY, 0o644))


def more_links(tree):
    for folder in tree.glob("*/*"):
        for k in range(EACH * LINKS):
            os.link(folder / f"file-{k % EACH}", folder / f"link-{k}")


def deep_tree(tree):
    """Directories in each other, with others beside each that are walked on the way back."""
    tree.mkdir()
    at = os.open(tree, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("d", dir_fd=at)
        for k in range(BESIDE):
            os.mkdir(f"{k}{'x' * 200}", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def walk(build, tree):
    """(names, KiB more than before) of a sample."""
    said = subprocess.run([build / "tests/bench/walk-bench", tree], capture_output=True, text=True,
                          check=True).stdout
    if "complete" not in said:
        raise SystemExit(f"the sample is not complete: {said}")
    return [int(n) for n in re.search(r"(\d+) entries.* (\d+) KiB more", said).groups()]


def remove(tree):
    subprocess.run(["rm", "-rf", tree], check=True)  # Python's own way ends at a depth of 1,000


@contextlib.contextmanager
def memory_folder():
    """Trees are made in memory: a disk takes minutes for some, and is not what is measured."""
    with tempfile.TemporaryDirectory(prefix="cloop-bench-", dir="/dev/shm") as place:
        os.chmod(place, 0o755)
        yield pathlib.Path(place)


def sample(build, n):
    """A sample of many files, against `du -s` of the same tree; memory, whatever the tree."""
    with memory_folder() as place:
        yield from sample_in(build, place / "tree", n)


def sample_in(build, tree, n):
    many_files(tree)

    def once(words):
        start = time.monotonic()
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - start

    both = measure.pairs(min(n, 5), lambda: once([build / "tests/bench/walk-bench", tree]),
                         lambda: once(["du", "-s", tree]))
    yield ratios(f"sample of {FILES:,} files; peer: `du -s`", Here, both, 0.7)
    more_links(tree)
    yield memory(f"{FILES:,} files with {LINKS + 1} links each", build, tree)
    deep_tree(tree)
    yield memory(f"{DEEP:,} directories deep, {BESIDE} long names beside each", build, tree)


def memory(of, build, tree):
    names, kib = walk(build, tree)
    remove(tree)
    return Row(f"memory of a sample: {of}", Here.title, f"{kib} KiB", "", kib, 8192, "KiB",
               f"{names:,} names")


def runs(engine, n):
    """With real runs; where the limit is asked for in the file, an engine of root."""
    if engine.uid == 0 and os.geteuid() == 0:
        yield share(engine)
        yield overshoot(engine)


def limit(engine, project, disk):
    """Makes a project of that limit of a folder."""
    (project / ".cloop").mkdir()
    (project / ".cloop/sandbox.yaml").write_text(json.dumps({"resources": {"disk": disk}}))
    for path in (project, project / ".cloop", project / ".cloop/sandbox.yaml"):
        os.chown(path, *engine.owner)


def whole_cpu_ms(pid):
    """Of all its threads, those that have ended included."""
    fields = process.text(pid, "stat").rpartition(")")[2].split()
    return sum(int(f) for f in fields[11:13]) * 1000 / os.sysconf("SC_CLK_TCK") if fields else 0.0


def share(engine):
    """The supervisor's CPU time while it measures as often as it lets itself: the cost alone
    decides, since the schedule's least and most are 0.2 and 1 s here."""
    project = engine.folder("share")  # not in /dev/shm, which is the system's
    limit(engine, project, "64g")
    many_files(project / "tree", SHARE_FILES)
    engine.env["CLOOP_FAULT"] = "disk:quick"
    engine.output(engine.cloop, "run", "-C", project, "--detach", "--", "sleep", "1000")
    del engine.env["CLOOP_FAULT"]
    [shim] = process.running([engine.shim])
    before, start = whole_cpu_ms(shim), time.monotonic()
    time.sleep(SHARE_SECONDS)
    passed = (time.monotonic() - start) * 1000
    spent = whole_cpu_ms(shim) - before
    measure.stop_runs(engine, 1)
    remove(project)
    percent = 100 * spent / passed
    return Row("sampling as often as the schedule allows, CPU", engine.title, f"{percent:.1f} %", "",
               percent, 10, "%", f"{spent:.0f} ms of {passed / 1000:.0f} s; {SHARE_FILES:,} files")


def held_mib(file):
    try:
        return file.stat().st_blocks * 512 / MIB
    except FileNotFoundError:
        return 0.0


def overshoot(engine):
    """A run that writes at an even rate past its limit, by the usual schedule."""
    project = engine.folder("overshoot")
    limit(engine, project, f"{LIMIT_MB}m")
    script = f"while :; do dd if=/dev/zero bs=1M count=1 2>/dev/null >> f; sleep {PAUSE_S}; done"
    client = engine.popen([engine.cloop, "run", "-C", project, "--", "sh", "-c", script])
    seen = []
    while client.poll() is None:
        seen.append((time.monotonic(), held_mib(project / "f")))
        time.sleep(0.1)
    process.wait([], 1)
    if client.returncode != 122:
        raise SystemExit(f"a run past its limit ended with {client.returncode}")
    last = [s for s in seen if s[1] > LIMIT_MB / 2]
    end = next(s for s in last if s[1] == last[-1][1])
    rate = (end[1] - last[0][1]) / (end[0] - last[0][0])
    over = held_mib(project / "f") - LIMIT_MB
    remove(project)
    return Row(f"overshoot past a limit of {LIMIT_MB} MB; peer: write rate × interval",
               engine.title, f"{over:.0f} MB", f"{rate * LEAST_S:.0f} MB", over / (rate * LEAST_S),
               1, "", f"{rate:.1f} MB/s, a sample each {LEAST_S} s near the limit")
