"""Every n-th start of a program, write of a file, lock and database call of a run's life fails, in
`cloop run` and its supervisor alike (issue 5, must show 2): no run is lost, nothing is left, and no
failure is told as success. The points are those of the seams (docs/internals/faults.md)."""
import pytest

import crashing
import leaks
from granting import VALUE, grant, mint

POINTS = ("spawn", "file-write", "file-replace", "file-memfd", "file-dirs", "lock",
          "store-open", "store-exec", "store-write")
SCRIPT = 'test -s "$CLOOP_SECRET_FILE_KEY" && echo begin; echo ran > "ran-$1"; echo middle >&2; echo end'
# A point is met no more when so many runs in a row are whole; failures that may be survived (an
# answer that is only remembered) count as whole, too.
CALM = 4
MOST = 80


def settled(stage, handle):
    """The record that the next commands find."""
    crashing.wait_unsupervised(stage, handle)
    stage.cloop("status", handle)
    return crashing.wait_final(stage, handle)


def judge(stage, name, r, fresh):
    """True: the run was whole."""
    what = (name, r)
    ran = (stage.project / f"ran-{name}").exists()
    for handle in fresh:
        record = settled(stage, handle)
        assert ran == (record["outcome"] not in ("start_failed", None)), (what, record)
        if record["outcome"] == "ok":
            assert crashing.output(stage, handle) == (b"begin\nend\n", b"middle\n"), what
        else:
            assert record["code"] and record["remediation"], (what, record)
    assert fresh or not ran, what
    if r.rc == 0:
        # What is said afterwards (the ledger takes the run over later) does not change its end.
        assert ran and r.out == b"begin\nend\n" and b"middle\n" in r.err, what
        return b"cloop: " not in r.err
    assert r.rc == 125 or r.rc == 1, what
    assert b"cloop: " in r.err and b"fix: " in r.err, what
    return False


def lease(stage):
    """Every run holds a file, too: it is staged, told of in the ledger, and wiped."""
    mint(stage, "key", "file", VALUE)
    grant(stage, "key")


def walk(stage, point):
    lease(stage)
    calm = failed = 0
    known = set()
    for n in range(1, MOST):
        name = f"{point}-{n}"
        r = stage.cloop(*stage.run_words(["/bin/sh", "-c", SCRIPT, "sh", name]),
                        env={"CLOOP_FAULT": f"{point}:{n}"})
        fresh = {run.name for run in stage.run_dirs()} - known
        known |= fresh
        whole = judge(stage, name, r, fresh)
        failed += not whole
        calm = calm + 1 if whole else 0
        if calm == CALM:
            return failed
        stage.home_is_free()
        left = leaks.check(stage)
        assert not left, (name, r, left)
    raise AssertionError(f"{point}: never passes")


@pytest.mark.parametrize("point", POINTS)
def test_every_call_fails_once(stage, point):
    assert walk(stage, point) > 0, f"{point} is never met"


def test_every_call_of_an_adoption_fails_once(stage):
    """The one who takes a run over fails; who looks next ends it with its true code and output."""
    lease(stage)
    for point in ("spawn", "file-write", "file-replace", "file-dirs", "lock"):
        for n in (1, 2, 3):
            name = f"adopt-{point}-{n}"
            handle = stage.detach("/bin/sh", "-c", f"sleep 0.5; {SCRIPT}; exit 7", "sh", name)
            crashing.kill_shim(stage, handle)
            stage.cloop("status", handle, env={"CLOOP_FAULT_ADOPT": f"{point}:{n}"})
            record = settled(stage, handle)
            assert (record["outcome"], record["exit_code"]) == ("nonzero", 7), (name, record)
            assert crashing.output(stage, handle) == (b"begin\nend\n", b"middle\n"), name
