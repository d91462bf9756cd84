"""Taking a lease back from a run, renewing its files, and how long it goes on (container-driver.md
§15.4, §15.5, disk-and-secrets.md §17, §18). start-material brings what a lease would."""
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import tempfile
import time

import pytest

import crashing
import granting
from attaching import control_path
from engines import children
from test_staging import (CANARY, DIR, LEASE, MASK, VALUE, canaries, file, host_dir, nothing_staged,
                          start, started)

NEW = "canary-55dd01-refreshed"
GRANTS = ["grant_" + c * 24 for c in "abc"]


def binding(grant, *files, kind="file", keys=()):
    return {"grant": grant, "kind": kind, "files": list(files), "env_keys": list(keys)}


def material(*files, bindings, variables=(), **more):
    return {"lease": LEASE, "dir": DIR if files else "", "files": list(files),
            "variables": list(variables), "bindings": bindings, "expires_at": 4102444800, **more}


def two_files(**more):
    return material(file("a"), file("b"), bindings=[binding(GRANTS[0], "a"), binding(GRANTS[1], "b")],
                    **more)


def with_variable():
    return material(file("a"), bindings=[binding(GRANTS[0], "a"),
                                         binding(GRANTS[1], kind="env", keys=["TOKEN"])],
                    variables=[{"name": "TOKEN", "value": VALUE}])


def ask(stage, handle, **request):
    """One request on the control socket, as the control plane sends it."""
    words = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(str(control_path(stage, handle)))
        s.sendall(struct.pack("<I", len(words)) + words)
        got = b""
        while len(got) < 4 or len(got) < 4 + struct.unpack("<I", got[:4])[0]:
            piece = s.recv(65536)
            assert piece, "the supervisor closed the connection"
            got += piece
    return json.loads(got[4:])


def revoke(stage, handle, **request):
    return ask(stage, handle, op="revoke", **{"lease": LEASE, **request})


def tool(stage, *words, data=b""):
    p = stage.engine.popen([stage.engine.bin / "start-material", *words], env=stage.cloop_env(),
                           stdin=-1, stdout=-1, stderr=-1)
    out, err = p.communicate(data, timeout=200)
    assert out, err
    return json.loads(out)


def driver_revoke(stage, handle, **request):
    """Through the executor: a run without a supervisor gets one."""
    return tool(stage, "--revoke", stage.home, stage.config_file, handle,
                data=json.dumps({"lease": LEASE, **request}).encode())


def refresh(stage, handle, data, lease=LEASE, name="a"):
    return tool(stage, "--refresh", stage.home, handle, lease, name,
                data=data if isinstance(data, bytes) else data.encode())


def containers(stage, handle):
    return stage.engine.lines("ps", "--all", "--quiet", f"--filter=label=cloop.handle={handle}")


WATCH = f"""echo ready
while [ -e {DIR}/a ]; do sleep 0.05; done
echo gone; ls -A {DIR}; cat {DIR}/b; while [ ! -e go ]; do sleep 0.05; done; exit 3"""


def ready(stage, handle, word=b"ready"):
    crashing.until(lambda: word in crashing.output(stage, handle)[0], word.decode())


@pytest.mark.parametrize("adopted", [False, True], ids=["first supervisor", "adopted"])
def test_scrub(stage, adopted):
    """The file is gone inside within a second, the other one stays, and the workload runs on."""
    handle = started(stage, two_files(), WATCH)
    ready(stage, handle)
    if adopted:
        crashing.kill_shim(stage, handle)
    begin = time.monotonic()
    answer = driver_revoke(stage, handle, grant=GRANTS[0], action="whatever") if adopted else \
        revoke(stage, handle, grant=GRANTS[0], action="scrub", reason="leaked")
    took = time.monotonic() - begin
    assert answer == {"ok": True, "outcome": "done", "held": True,
                      "effect": "scrub", "files": [f"{DIR}/a"], "sessions": False}, answer
    assert not (host_dir(stage, handle) / "a").exists() and (host_dir(stage, handle) / "b").exists()
    ready(stage, handle, b"gone")
    assert took < (10 if adopted else 1)
    again = revoke(stage, handle, grant=GRANTS[0])
    assert again["outcome"] == "done" and again["held"]
    other = revoke(stage, handle, lease="lease_" + "0" * 24)
    assert other == {"ok": True, "outcome": "done", "held": False, "effect": "none", "files": [],
                     "sessions": False}
    (stage.project / "go").touch()
    record = stage.wait(handle).record
    assert record["outcome"] == "nonzero" and record["exit_code"] == 3, record
    assert [w["code"] for w in record["warnings"]].count("lease_revoked") == 1, record["warnings"]
    assert crashing.output(stage, handle)[0] == b"ready\ngone\nb\n" + MASK
    nothing_staged(stage, handle)


def test_scrub_then_a_new_supervisor(stage):
    """What was taken back cannot be masked any more, and nobody waits for it."""
    handle = started(stage, two_files(), WATCH)
    ready(stage, handle)
    assert revoke(stage, handle, grant=GRANTS[0])["outcome"] == "done"
    crashing.kill_shim(stage, handle)
    (stage.project / "go").touch()
    record = stage.wait(handle).record
    assert record["exit_code"] == 3 and crashing.output(stage, handle)[0].endswith(MASK), record
    nothing_staged(stage, handle)


def test_supervisor_killed_while_scrubbing(stage):
    """It is on record before the file goes: a new supervisor finishes it."""
    answer = start(stage, two_files(), "/bin/sh", "-c", WATCH, env={"CLOOP_FAULT": "scrub:file=kill"})
    handle = answer["handle"]
    ready(stage, handle)
    with pytest.raises((AssertionError, ConnectionError)):
        revoke(stage, handle, grant=GRANTS[0])
    crashing.wait_unsupervised(stage, handle)
    assert (host_dir(stage, handle) / "a").exists()
    assert stage.cloop("ps").rc == 0
    ready(stage, handle, b"gone")
    (stage.project / "go").touch()
    assert stage.wait(handle).record["exit_code"] == 3
    nothing_staged(stage, handle)


KILLS = {"a variable": ({}, {}), "asked": ({"grant": GRANTS[0]}, {"action": "kill"}),
         "of a variable": ({"grant": GRANTS[1]}, {})}


@pytest.mark.parametrize("what", KILLS)
def test_kill(stage, what):
    """The answer comes when the container is removed; the run is `revoked`, 123."""
    handle = started(stage, with_variable(), "echo $TOKEN; trap '' TERM; sleep 60")
    ready(stage, handle, MASK)
    answer = revoke(stage, handle, **KILLS[what][0], **KILLS[what][1])
    assert answer["outcome"] == "done" and answer["held"] and answer["effect"] == "kill", answer
    assert containers(stage, handle) == []
    waited = stage.wait(handle)
    assert waited.rc == 123 and waited.record["outcome"] == "revoked", waited.record
    assert waited.record["state"] == "killed"
    nothing_staged(stage, handle)
    assert driver_revoke(stage, handle)["outcome"] == "done"


def test_kill_through_a_new_supervisor(stage):
    handle = started(stage, with_variable(), "echo $TOKEN; sleep 60")
    ready(stage, handle, MASK)
    crashing.kill_shim(stage, handle)
    answer = driver_revoke(stage, handle)
    assert answer["outcome"] == "done" and answer["effect"] == "kill", answer
    assert containers(stage, handle) == []
    assert stage.wait(handle).rc == 123


def test_refused(stage):
    handle = started(stage, two_files(), "sleep 60")
    answer = revoke(stage, handle, lease=" ")
    assert not answer["ok"] and answer["code"] == "lease_missing", answer
    assert driver_revoke(stage, handle, lease="")["code"] == "lease_missing"
    assert driver_revoke(stage, "c-000000000000")["code"] == "handle_not_found"
    assert stage.cloop("stop", "--grace", "0s", handle).rc == 0
    assert driver_revoke(stage, handle) == {"outcome": "done"}


def test_while_it_starts(stage):
    """The start is cancelled: nothing has seen the value."""
    cli = start(stage, two_files(), "/bin/sh", "-c", "touch ran", popen=True)
    shim = crashing.shim_of(cli)
    handle = crashing.handle_of(shim)
    client = crashing.until(lambda: [p for p in children(shim) if crashing.words_of(p)[1:2] == [b"run"]],
                            "client")[0]
    os.kill(client, signal.SIGSTOP)
    answer = revoke(stage, handle, grant=GRANTS[0])
    assert answer["outcome"] == "done" and answer["held"], answer
    out, _ = cli.communicate(timeout=60)
    assert json.loads(out)["code"] == "start_cancelled", out
    record = stage.status(handle)
    assert record["outcome"] == "start_failed" and "revoked" in record["error"], record
    assert not (stage.project / "ran").exists()
    nothing_staged(stage, handle)


@pytest.mark.parametrize("adopted", [False, True], ids=["first supervisor", "adopted"])
def test_refresh(stage, adopted):
    """The new content is there at once, with the file's mode and owner, and masked."""
    handle = started(stage, two_files(), f"""echo ready; while grep -q {CANARY} {DIR}/a; do sleep 0.05; done
cat {DIR}/a; echo; stat -c '%a %u:%g' {DIR}/a; ls -A {DIR}; cat {DIR}/b; exit 3""")
    ready(stage, handle)
    if adopted:
        crashing.kill_shim(stage, handle)
        assert stage.cloop("ps").rc == 0
        crashing.until(lambda: crashing.shims(handle), "supervisor")
        crashing.until(lambda: "code" not in refresh(stage, handle, CANARY), "listening supervisor")
    for lease, name in ((LEASE, "c"), ("lease_" + "0" * 24, "a"), (LEASE, "../a"), (LEASE, "")):
        assert refresh(stage, handle, NEW, lease, name)["code"] == "secret_not_delivered"
    assert refresh(stage, handle, b"x" * 262145)["code"] == "secret_too_large"
    assert refresh(stage, handle, NEW) == {}
    assert stage.wait(handle).record["exit_code"] == 3
    uid, gid = stage.engine.owner
    assert crashing.output(stage, handle)[0] == b"ready\n" + MASK + \
        f"\n600 {uid}:{gid}\na\nb\n".encode() + MASK
    assert canaries(stage, NEW) == []
    nothing_staged(stage, handle)


def test_refresh_of_what_was_taken_back(stage):
    handle = started(stage, two_files(), "sleep 60")
    assert revoke(stage, handle, grant=GRANTS[0])["outcome"] == "done"
    assert refresh(stage, handle, NEW)["code"] == "secret_not_delivered"
    assert refresh(stage, handle, b"any \0 byte" * 20000, name="b") == {}
    assert (host_dir(stage, handle) / "b").stat().st_size == 200000
    assert stage.cloop("stop", "--grace", "0s", handle).rc == 0
    nothing_staged(stage, handle)


# The extension of a lease, with a `cloop` that answers as it is told.

FAKE = """#!/bin/sh
echo "$@" >> {0}/asked
cat {0}/answer
"""


@pytest.fixture
def programs(stage):
    """cloop's programs, beside a cloop of our own."""
    place = stage.dir / "bin"
    shutil.copytree(stage.engine.bin, place)
    (place / "cloop").write_text(FAKE.format(place))
    (place / "cloop").chmod(0o755)
    (place / "asked").touch()
    for path in (place, place / "asked"):
        if os.geteuid() == 0:
            os.chown(path, stage.engine.uid, stage.engine.gid)
    return place


def says(programs, *results, left=900):
    answer = programs / "new"
    answer.write_text(json.dumps({"lease": LEASE, "expires_in_s": left, "grants": [
        {"grant": g, "result": r} for g, r in zip(GRANTS, results)]}))
    answer.rename(programs / "answer")


def extended(stage, programs, what, script):
    """A run whose supervisor asks every second and a half, and 0.15 s after no answer."""
    answer = start(stage, what, "/bin/sh", "-c", script, programs=programs,
                   env={"CLOOP_FAULT": "extend:soon"})
    assert "code" not in answer, answer
    return answer["handle"]


def asked(programs):
    return (programs / "asked").read_text().splitlines()


def warnings_of(record):
    return sorted(w["code"] for w in record["warnings"])


def test_extension(stage, programs):
    """All is well: nothing changes. Then one grant is revoked, and one expires."""
    says(programs, "ok", "ok")
    handle = extended(stage, programs, two_files(), WATCH.replace("cat", "true"))
    crashing.until(lambda: len(asked(programs)) >= 2, "two questions")
    assert asked(programs)[0].split() == ["lease", "extend", "--json", "--run", handle, "--home",
                                          str(stage.home)]
    where = host_dir(stage, handle)
    assert (where / "a").exists() and (where / "b").exists()
    says(programs, "revoked", "expired")
    crashing.until(lambda: not (where / "a").exists() and not (where / "b").exists(), "wiping")
    n = len(asked(programs))
    crashing.until(lambda: len(asked(programs)) >= n + 2, "two questions more")
    (stage.project / "go").touch()
    record = stage.wait(handle).record
    assert record["exit_code"] == 3 and warnings_of(record) == ["lease_expired", "lease_revoked"], record
    nothing_staged(stage, handle)


def test_the_answer_decides_at_the_end(stage, programs):
    """The lease ends with the first of its grants: what the others gave stays."""
    says(programs, "expired", "ok", left=0)
    handle = extended(stage, programs, two_files(), WATCH.replace("cat", "true"))
    where = host_dir(stage, handle)
    crashing.until(lambda: not (where / "a").exists(), "wiping")
    n = len(asked(programs))
    crashing.until(lambda: len(asked(programs)) >= n + 2, "two questions more")
    assert (where / "b").exists()
    assert stage.cloop("stop", "--grace", "0s", handle).rc == 0
    record = stage.wait(handle).record
    assert warnings_of(record) == ["lease_expired"], record
    nothing_staged(stage, handle)


@pytest.mark.parametrize("first", ["grant", "lease"])
def test_an_end_is_told_once(stage, programs, first):
    """The grant's and the lease's are one, whichever is heard of first."""
    says(programs, "expired", left=0)
    if first == "lease":
        (programs / "answer").write_text("no JSON")
    what = material(file("a"), bindings=[binding(GRANTS[0], "a")], expires_at=int(time.time()) + 2)
    handle = extended(stage, programs, what, "sleep 60")
    where = host_dir(stage, handle)
    crashing.until(lambda: not (where / "a").exists(), "wiping")
    if first == "lease":
        says(programs, "expired", left=0)
    else:
        (programs / "answer").write_text("no JSON")
    n = len(asked(programs))
    crashing.until(lambda: len(asked(programs)) >= n + 3, "three questions more")
    assert stage.cloop("stop", "--grace", "0s", handle).rc == 0
    record = stage.wait(handle).record
    assert warnings_of(record) == ["lease_expired"], record
    nothing_staged(stage, handle)


def test_revocation_by_extension(stage, programs):
    """It could not be pushed; a variable ends the run."""
    says(programs, "ok", "revoked")
    handle = extended(stage, programs, with_variable(), "sleep 60")
    waited = stage.wait(handle)
    assert waited.rc == 123 and waited.record["outcome"] == "revoked", waited.record


def test_nobody_can_be_asked(stage, programs):
    """Asked again soon; at the lease's end files are wiped, and the workload goes on."""
    (programs / "answer").write_text("no JSON")
    what = two_files(expires_at=int(time.time()) + 5)
    handle = extended(stage, programs, what, WATCH.replace("cat", "true"))
    where = host_dir(stage, handle)
    crashing.until(lambda: len(asked(programs)) >= 4, "four questions")
    assert (where / "a").exists() or time.time() >= what["expires_at"]
    crashing.until(lambda: not (where / "a").exists() and not (where / "b").exists(), "wiping")
    assert time.time() >= what["expires_at"]
    (stage.project / "go").touch()
    record = stage.wait(handle).record
    assert record["exit_code"] == 3 and warnings_of(record) == ["lease_expired"], record
    nothing_staged(stage, handle)


def test_an_answer_moves_the_end(stage, programs):
    """A lease that would have ended goes on, for a new supervisor, too."""
    says(programs, "ok", "ok")
    handle = extended(stage, programs, two_files(expires_at=int(time.time()) + 3),
                      WATCH.replace("cat", "true"))
    time.sleep(4)
    where = host_dir(stage, handle)
    assert (where / "a").exists()
    (programs / "answer").write_text("")
    crashing.kill_shim(stage, handle)
    assert stage.cloop("ps").rc == 0
    crashing.until(lambda: crashing.shims(handle), "supervisor")
    time.sleep(1)
    assert (where / "a").exists()
    assert stage.cloop("stop", "--grace", "0s", handle).rc == 0
    assert warnings_of(stage.wait(handle).record) == []
    nothing_staged(stage, handle)


# An engine that does not remove: the answer says so, and a later revocation finishes it.

@pytest.fixture
def broken(stage):
    """Words with which the engine refuses to remove anything, while the file is there."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-e2e-", dir="/usr/local/lib"))
    place.chmod(0o755)
    words = stage.dir / "broken"
    real = shutil.which(stage.engine.kind, path=stage.engine.env["PATH"])
    client = place / stage.engine.kind
    client.write_text(f'#!/bin/sh\nif [ "$1" = rm ] && [ -e {words} ]; then cat {words} >&2; exit 125; fi\n'
                      f'exec {real} "$@"\n')
    client.chmod(0o755)
    stage.config(runtime=str(client))
    yield words
    words.unlink(missing_ok=True)
    shutil.rmtree(place)


@pytest.mark.root
@pytest.mark.parametrize("words, outcome", [("Error: storage is locked", "failed"),
                                            ("Cannot connect to the Docker daemon", "unreachable")],
                         ids=["refuses", "is away"])
def test_removal_that_fails(stage, broken, words, outcome):
    handle = started(stage, with_variable(), "sleep 60")
    broken.write_text(words + "\n")
    answer = revoke(stage, handle)
    assert answer["outcome"] == outcome and words in answer["reason"], answer
    assert "rotate" in answer["remediation"]
    record = stage.wait(handle).record
    assert record["outcome"] == "revoked" and "container_left" in warnings_of(record), record
    assert len(containers(stage, handle)) == 1
    nothing_staged(stage, handle)
    stage.home_is_free()
    assert driver_revoke(stage, handle)["outcome"] == "unreachable"
    broken.unlink()
    assert driver_revoke(stage, handle) == {"outcome": "done"}
    assert containers(stage, handle) == []


# With the ledger itself.

def test_what_cannot_be_pushed_is_extended_away(stage):
    """The control socket is gone: the run itself asks, and gives back what was revoked."""
    granting.mint(stage, "key", "file", CANARY)
    grant = granting.grant(stage, "key")
    handle = stage.detach("/bin/sh", "-c", 'while [ -e "$CLOOP_SECRET_FILE_KEY" ]; do sleep 0.05; done; echo gone;'
                          ' while [ ! -e go ]; do sleep 0.05; done', env={"CLOOP_FAULT": "extend:soon"})
    ends = lambda: crashing.record_of(stage, handle)["supervision"]["lease_ends_boottime_ms"]
    first = ends()
    crashing.until(lambda: ends() > first, "extension")
    socket_path = control_path(stage, handle)
    socket_path.unlink()
    socket_path.touch()  # nobody listens there, and the supervisor sees a name
    r = stage.cloop("secret", "revoke", "--json", grant)
    assert json.loads(r.out)["state"] == "unreachable", r
    ready(stage, handle, b"gone")
    (stage.project / "go").touch()
    record = stage.wait(handle).record
    assert record["outcome"] == "ok" and warnings_of(record) == ["lease_revoked"], record
    assert crashing.output(stage, handle)[0] == b"gone\n"
    nothing_staged(stage, handle)
