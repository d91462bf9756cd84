"""Taking back what runs got by grants (disk-and-secrets.md §18)."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import tempfile
import time

import pytest

import crashing
from attaching import control_path
from granting import VALUE, actions, grant, mint, wait_until


def test_scrub(stage):
    """A file goes within a second, and the workload runs on."""
    mint(stage, "key", "file", VALUE)
    given = grant(stage, "key")
    handle = stage.detach("/bin/sh", "-c",
                          'while [ -e "$CLOOP_SECRET_FILE_KEY" ]; do sleep 0.05; done; '
                          'touch gone; sleep 3; exit 7')
    begin = time.monotonic()
    answer = stage.answer("secret", "revoke", given, "--reason", "password=hunter2secret")
    wait_until(lambda: (stage.project / "gone").exists(), 60)
    assert time.monotonic() - begin < 2
    assert answer["state"] == "revoked" and answer["known"]
    assert [(r["run"], r["result"], r["effect"]) for r in answer["runs"]] == [
        (handle, "done", "scrub")]
    row = stage.cloop("lease", "list").out.decode().splitlines()[1].split()
    assert row[1:3] == [handle, "0"], row
    assert stage.wait(handle).record["exit_code"] == 7
    said = actions(stage)
    assert [said.count(a) for a in ("secret.revoke", "lease.revoke_sent", "lease.revoke_acked")] \
        == [1, 1, 1]
    assert b"hunter2secret" not in stage.cloop("audit", "export").out
    again = stage.answer("secret", "revoke", given)
    assert again["state"] == "revoked"
    assert actions(stage).count("secret.revoke") == 1


def test_a_variable_kills(stage):
    mint(stage, "token", "env", VALUE)
    given = grant(stage, "token")
    handle = stage.detach("sleep", "100")
    answer = stage.answer("secret", "revoke", given)
    assert [(r["result"], r["effect"]) for r in answer["runs"]] == [("done", "kill")], answer
    record = stage.wait(handle).record
    assert (record["state"], record["outcome"]) == ("killed", "revoked"), record
    assert stage.cloop("wait", handle).rc == 123
    assert stage.engine.left() == []


def test_one_lease_only(stage):
    mint(stage, "key", "file", VALUE)
    given = grant(stage, "key")
    first, second = (stage.detach("/bin/sh", "-c", 'while [ ! -e stop ]; do sleep 0.1; done; '
                                  'test -e "$CLOOP_SECRET_FILE_KEY"') for _ in range(2))
    lease = next(x["id"] for x in stage.answer("lease", "list")["leases"] if x["run"] == first)
    answer = stage.answer("lease", "revoke", lease, "--grant", given)
    assert [(r["run"], r["result"]) for r in answer["runs"]] == [(first, "done")]
    (stage.project / "stop").touch()
    assert stage.wait(first).record["exit_code"] == 1
    assert stage.wait(second).record["exit_code"] == 0
    assert stage.answer("secret", "grants")["grants"][0]["state"] == "active"


def test_deleting_a_secret_revokes(stage):
    mint(stage, "token", "env", VALUE)
    grant(stage, "token")
    handle = stage.detach("sleep", "100")
    answer = stage.answer("secret", "delete", "token")
    assert [x["state"] for x in answer["revoked"]] == ["revoked"]
    assert stage.wait(handle).record["outcome"] == "revoked"


def test_nobody_holds_it(stage):
    mint(stage, "token", "env", VALUE)
    given = grant(stage, "token")
    answer = stage.answer("secret", "revoke", given)
    assert (answer["state"], answer["known"], answer["runs"]) == ("revoked", False, [])
    r = stage.cloop("secret", "revoke", "grant_" + "0" * 24)
    assert r.rc == 1 and b"there is no grant" in r.err
    r = stage.cloop("lease", "revoke", "lease_" + "0" * 24)
    assert r.rc == 1 and b"there is no lease" in r.err


def test_a_dead_supervisor_is_replaced(stage):
    mint(stage, "key", "file", VALUE)
    given = grant(stage, "key")
    handle = stage.detach("/bin/sh", "-c", 'while [ -e "$CLOOP_SECRET_FILE_KEY" ]; do sleep 0.05; '
                          'done; exit 5')
    for pid in crashing.shims(handle):
        os.kill(pid, signal.SIGKILL)
    answer = stage.answer("secret", "revoke", given)
    assert [(r["result"], r["effect"]) for r in answer["runs"]] == [("done", "scrub")], answer
    assert stage.wait(handle).record["exit_code"] == 5


def test_a_crash_between_store_and_send(stage):
    """The next command finishes what another one began."""
    mint(stage, "key", "file", VALUE)
    for point, following in (("revoke:stored", ["secret", "grants"]),
                             ("revoke:announced", ["secret", "list"]),
                             ("revoke:told", ["audit", "list"])):
        given = grant(stage, "key")
        handle = stage.detach("/bin/sh", "-c", 'while [ -e "$CLOOP_SECRET_FILE_KEY" ]; do '
                              'sleep 0.05; done; exit 5')
        r = stage.cloop("secret", "revoke", given, env={"CLOOP_FAULT": f"{point}=kill"})
        assert r.rc == -signal.SIGKILL, (point, r)
        stage.answer(*following)
        assert crashing.wait_final(stage, handle)["exit_code"] == 5, point
        with sqlite3.connect(stage.home / "state.db") as db:
            states = db.execute("SELECT state FROM revocation").fetchall()
        db.close()
        assert set(states) == {("revoked",)}, (point, states)
        every = stage.answer("secret", "grants", "--all")["grants"]
        assert every[-1]["revocation"] == "revoked", (point, every[-1])
        assert stage.cloop("run", "-C", stage.project, "--", "/bin/sh", "-c",
                           'test -z "$CLOOP_SECRET_FILE_KEY"').rc == 0


def test_revoked_while_it_is_prepared(stage):
    """Between the judgement and the record of who holds it."""
    mint(stage, "key", "file", VALUE)
    given = grant(stage, "key")
    p = stage.popen(*stage.run_words(["true"]), env={"CLOOP_FAULT": "start:5-record=sleep:2000"})
    wait_until(lambda: stage.run_dirs() and (stage.run_dirs()[-1] / "status.json").exists())
    assert stage.answer("secret", "revoke", given)["state"] == "revoked"
    out, err = p.communicate(timeout=60)
    assert p.returncode == 125 and b"was revoked while the run was prepared" in err, err
    assert stage.answer("lease", "list")["leases"] == []
    assert stage.engine.left() == []


def test_without_a_socket(stage):
    """Whoever cannot be told asks by himself: the extension."""
    mint(stage, "key", "file", VALUE)
    given = grant(stage, "key")
    r = stage.cloop(*stage.run_words(["/bin/sh", "-c", 'touch ready; while [ -e '
                                     '"$CLOOP_SECRET_FILE_KEY" ]; do sleep 0.05; done; exit 6'],
                                     options=["--detach"]), env={"CLOOP_FAULT": "extend:soon"})
    handle = r.out.decode().strip()
    wait_until(lambda: (stage.project / "ready").exists())
    control_path(stage, handle).unlink()
    # Whether it is before or behind the extension: the run is not waited for for ever.
    r = stage.cloop("secret", "revoke", "--json", given)
    assert (json.loads(r.out)["state"], r.rc) in (("unreachable", 1), ("revoked", 0)), r
    assert stage.wait(handle).record["exit_code"] == 6
    stage.answer("ps")
    assert stage.answer("secret", "grants", "--all")["grants"][-1]["revocation"] == "revoked"


@pytest.fixture
def engine_down(stage):
    """An engine that stops to answer while this file is there; with words in it, it hangs."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cloop-e2e-", dir="/opt"))
    try:
        folder.chmod(0o755)
        program = folder / stage.engine.kind
        program.write_text(f"#!/bin/sh\nwhile [ -s {folder}/down ]; do sleep 0.1; done\n"
                           f"if [ -e {folder}/down ]; then\n"
                           "echo 'Cannot connect to the engine: connection refused' >&2\n"
                           f"exit 125; fi\nexec /usr/bin/{stage.engine.kind} \"$@\"\n")
        program.chmod(0o755)
        stage.config(runtime=str(program))
        yield folder / "down"
    finally:
        shutil.rmtree(folder)


@pytest.mark.root
def test_a_dead_engine(stage, engine_down):
    """unreachable, then revoked when it is back."""
    mint(stage, "token", "env", VALUE)
    given = grant(stage, "token")
    handle = stage.detach("sleep", "100")
    engine_down.touch()
    try:
        answer = stage.answer("secret", "revoke", given, status=1)
        assert answer["state"] == "unreachable", answer
        assert [g["revocation"] for g in stage.answer("secret", "grants")["grants"]] == [
            "unreachable"]
    finally:
        engine_down.unlink()
    wait_until(lambda: not stage.answer("secret", "grants")["grants"], 30)
    assert stage.wait(handle).record["outcome"] == "revoked"
    assert actions(stage).count("lease.revoke_sent") == 1


def takes_at_most(seconds, stage, *words):
    begin = time.monotonic()
    r = stage.cloop(*words)
    assert time.monotonic() - begin < seconds, (words, time.monotonic() - begin)
    return r


@pytest.mark.root
@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_a_dead_engine_and_a_dead_supervisor(stage, engine_down, how):
    """Who takes the run over says so at once, and nobody waits for an engine that hangs."""
    mint(stage, "token", "env", VALUE)
    given = grant(stage, "token")
    handle = stage.detach("sleep", "100")
    engine_down.write_text("" if how == "refuses" else "hang")
    try:
        crashing.kill_shim(stage, handle)
        if how == "refuses":
            r = takes_at_most(5, stage, "secret", "revoke", given)
            assert r.rc == 1 and b": unreachable" in r.out, r
            assert takes_at_most(5, stage, "secret", "revoke", given).rc == 1
        else:
            r = stage.cloop("secret", "revoke", given, env={"CLOOP_FAULT": "revoke:stored=kill"})
            assert r.rc == -signal.SIGKILL, r
        for words in (["ps"], ["secret", "grants"], ["lease", "list"]):
            assert takes_at_most(4, stage, *words).rc == 0
        assert [g["revocation"] for g in stage.answer("secret", "grants")["grants"]] == [
            "unreachable"]
    finally:
        engine_down.unlink()
    wait_until(lambda: not stage.answer("secret", "grants")["grants"], 40)
    assert stage.wait(handle).record["outcome"] == "revoked"
    assert actions(stage).count("lease.revoke_sent") == 1
