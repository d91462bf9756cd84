"""Something swaps a mount source and .git for links to a foreign directory while runs start
(container-driver.md §25.8, sandbox-spec.md §16.12): no run ever reads a foreign byte."""
import ctypes
import multiprocessing
import os
import time

from stage import parallel

# Starts per engine and target; two targets and three engines make 200.
STARTS = {"P": 40, "R": 30, "D": 30}
# An engine that looks in the moment of the exchange may fail at it by itself.
REFUSALS = {"mount_changed", "mount_source_missing", "engine_failed"}
FOREIGN = "foreign bytes"
RENAME_EXCHANGE = 2
AT_FDCWD = -100


def swap_forever(one, other, stop):
    libc = ctypes.CDLL(None, use_errno=True)
    n = 0
    while not stop.is_set():
        if libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) != 0:
            os._exit(1)
        n += 1
        if n % 31 == 0:  # odd: it rests on the directory and on the link in turn
            time.sleep(0.001 * (n // 31 % 40))


class Swapper:
    """Exchanges two names, atomically and all the time, with rests of up to 40 ms."""

    def __init__(self, one, other):
        self.stop = multiprocessing.Event()
        self.process = multiprocessing.get_context("fork").Process(
            target=swap_forever, args=(os.fsencode(one), os.fsencode(other), self.stop))

    def __enter__(self):
        self.process.start()

    def __exit__(self, *_):
        self.stop.set()
        self.process.join(10)
        assert self.process.exitcode == 0


def prepare(stage, name):
    """NAME, a directory of the project, and a link of another name to a foreign one."""
    foreign = stage.dir / "foreign"
    foreign.mkdir()
    for file in ("marker", "config"):
        (foreign / file).write_text(FOREIGN)
        stage.write(f"{name}/{file}", "own bytes")
    (foreign / "hooks").mkdir()
    (stage.project / name / "hooks").mkdir()
    (stage.project / "other").symlink_to(foreign)
    stage.engine.own(stage.project, recursive=True)
    stage.engine.own(foreign, recursive=True)
    return foreign


def start_often(stage, name, script, refusals):
    outcomes = {}

    def one(_):
        r = stage.sh(script)
        assert FOREIGN.encode() not in r.out + r.err, r
        key = r.record["code"] or r.record["outcome"]
        outcomes[key] = outcomes.get(key, 0) + 1
        if r.record["outcome"] == "start_failed":
            assert r.rc == 125 and r.record["code"] in refusals, (r.err, r.record["code"])
        elif name == ".git":
            # The host may move the mount point itself away, below a workload that runs.
            assert r.out in (b"own bytes", b""), r
        else:
            assert (r.rc, r.out) == (0, b"own bytes"), r
    with Swapper(stage.project / name, stage.project / "other"):
        parallel(one, range(STARTS[stage.engine.key]), workers=3)
    return outcomes


def untouched(foreign):
    return {p.name: p.read_text() for p in foreign.iterdir() if p.is_file()} == {
        "marker": FOREIGN, "config": FOREIGN} and not list((foreign / "hooks").iterdir())


def test_mount_source_is_swapped(stage):
    foreign = prepare(stage, "source")
    stage.spec({"mounts": [{"source": "source", "target": "/mnt/x"}]})
    outcomes = start_often(stage, "source", "cat /mnt/x/marker; echo x >/mnt/x/written",
                           {"mount_escapes"} | REFUSALS)
    print(outcomes)
    assert untouched(foreign)
    assert not (foreign / "written").exists()


def test_git_is_swapped(stage):
    foreign = prepare(stage, ".git")
    outcomes = start_often(stage, ".git", "cat .git/marker; echo x >.git/written",
                           {"protected_path_unsafe"} | REFUSALS)
    print(outcomes)
    assert untouched(foreign)
    assert not (foreign / "written").exists()
