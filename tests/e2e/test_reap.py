"""Reaping, and an engine that does not answer (container-driver.md §16, §25.14): nothing of another
home is touched, nothing is declared dead while nobody knows."""
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time

import pytest

import crashing
import refusing
from engines import IMAGE, once
from stage import parallel

OLD = time.time() - 3600


def home_id(stage):
    return (stage.home / "id").read_text().strip()


def labels(stage, **changes):
    found = {"cloop.managed": "true", "cloop.executor": "container", "cloop.home": home_id(stage),
             "cloop.handle": "c-0123456789ab", **changes}
    return [f"--label={k}={v}" for k, v in found.items()]


def make(stage, verb, name, *words, command=("sleep", "300"), **changes):
    runtime = [f"--runtime={stage.engine.oci_runtime}"] if stage.engine.oci_runtime else []
    limits = ["--ulimit=nofile=256:256"]
    if stage.engine.kind == "podman":
        limits += ["--ulimit=nproc=256:256", "--cgroupns=private"]
    flags = ["--detach"] if verb == "run" else []
    stage.engine.call(verb, *flags, f"--name={name}", "--network=none", *runtime, *limits,
                      *labels(stage, **changes), *words, IMAGE, *command)
    return name


def reap(stage, **more):
    return stage.answer("executor", "reap", **more)["removed"]


def there(stage):
    return set(stage.engine.call("ps", "--all", "--format={{.Names}}").split())


def test_every_status(stage):
    """The table of §16.3 on real containers; what is not ours stays."""
    stage.answer("ps")
    stage.config(orphan_grace_period_seconds=3600)
    can_pause = stage.engine.key != "R"
    make(stage, "create", "created")
    make(stage, "run", "running")
    make(stage, "run", "exited", command=("true",))
    make(stage, "run", "nameless", **{"cloop.handle": "nobody"})
    make(stage, "run", "elsewhere", **{"cloop.executor": "another"})
    make(stage, "create", "strange", **{"cloop.home": "ffffffffffffffff"})
    make(stage, "create", "unmanaged", **{"cloop.managed": "false"})
    if can_pause:
        make(stage, "run", "paused")
        stage.engine.call("pause", "paused")
    paused = {"paused"} if can_pause else set()
    crashing.until(lambda: stage.engine.inspect("exited")["State"]["Status"] == "exited", "end")
    assert reap(stage) == ["exited"]
    rest = {"created", "running", "nameless", "elsewhere", "strange", "unmanaged"} | paused
    assert there(stage) == rest
    time.sleep(1.1)
    stage.config(orphan_grace_period_seconds=1)
    assert reap(stage) == sorted(["created", "running (running)",
                                  *(f"{p} (running)" for p in paused)])
    assert there(stage) == {"nameless", "elsewhere", "strange", "unmanaged"}
    stage.engine.call("rm", "--force", *there(stage))


def test_known_runs(stage):
    """A run that lives is kept, one without supervisor adopted, a final one's container removed."""
    alive = stage.detach("sleep", "100")
    orphan = stage.detach("sh", "-c", "sleep 1; exit 5")
    crashing.kill_shim(stage, orphan)
    final = stage.detach("true")
    stage.wait(final)
    crashing.wait_unsupervised(stage, final)  # its own container goes after the answer
    make(stage, "run", "late", **{"cloop.handle": final})
    assert reap(stage) == ["late (running)"]
    assert crashing.wait_final(stage, orphan)["exit_code"] == 5
    assert stage.status(alive)["state"] == "running"
    stage.cloop("stop", "--signal", "kill", alive)


@once
def test_what_cannot_be_looked_at_is_kept(stage):
    """A run directory that cannot be opened is no reason to remove the container of a live run."""
    stage.config(orphan_grace_period_seconds=1)
    handle = stage.detach("sleep", "100")
    time.sleep(1.1)
    errors = 0
    for n in range(1, 6):
        r = stage.cloop("executor", "reap", "--json", env={"CLOOP_FAULT": f"rundir:open:{n}"})
        errors += r.rc != 0
        assert json.loads(r.out).get("removed", []) == [], r
    assert 0 < errors < 5  # each of its looks, and there are fewer than that
    assert stage.status(handle)["state"] == "running"
    stage.cloop("stop", "--signal", "kill", handle)


def reap_beside(stage, how):
    """The supervisor of an ended run is broken before it removes the container."""
    handle = stage.detach("true", env={"CLOOP_FAULT": f"finish:remove={how}"})
    crashing.wait_final(stage, handle)
    assert len(there(stage)) == 1
    names = reap(stage)
    assert not there(stage)
    for shim in crashing.shims(handle):
        crashing.kill(shim, signal.SIGCONT)
    crashing.wait_unsupervised(stage, handle)
    assert crashing.record_of(stage, handle)["warnings"] == []
    return names


def test_supervisor_removes_its_container_itself(stage):
    assert reap_beside(stage, "sleep:1500") == []


@once
def test_supervisor_that_hangs_is_not_waited_for_long(stage):
    began = time.monotonic()
    assert len(reap_beside(stage, "stop")) == 1
    assert 5 <= time.monotonic() - began < 30


@once
def test_one_that_cannot_be_removed(stage):
    """It stops no other, and what was removed is told with the error."""
    stage.answer("ps")
    for name in ("left", "right"):
        make(stage, "run", name, command=("true",))
        crashing.until(lambda n=name: stage.engine.inspect(n)["State"]["Status"] == "exited", "end")
    refuse = f'case "$*" in *{stage.engine.inspect("left")["Id"]}*) {refusing.REFUSE};; esac'
    with refusing.engine_without(stage, "rm", refuse):
        answer = stage.answer("executor", "reap", status=1)
        assert answer["removed"] == ["right"] and answer["code"] == "engine_failed", answer
        human = stage.cloop("executor", "reap")
        assert human.rc == 1 and human.out == b"" and b"not this time" in human.err, human
    assert there(stage) == {"left"}
    stage.config()
    assert reap(stage) == ["left"]


def test_two_homes(stage):
    """Strangers on one engine: both run and reap, neither touches the other."""
    other = {"CLOOP_HOME": str(stage.dir / "second")}
    stage.answer("ps")
    stage.answer("ps", env=other)
    ours = stage.detach("sh", "-c", "sleep 3; exit 3")
    theirs = stage.detach("sh", "-c", "sleep 3; exit 4", env=other)
    make(stage, "run", "left", command=("true",))
    crashing.until(lambda: stage.engine.inspect("left")["State"]["Status"] == "exited", "end")
    assert reap(stage, env=other) == []
    parallel(lambda env: reap(stage, env=env), [{}, other] * 2)
    assert "left" not in there(stage)
    assert stage.cloop("wait", ours).rc == 3
    assert stage.cloop("wait", theirs, env=other).rc == 4
    assert stage.cloop("status", ours, env=other).rc != 0


def test_start_without_record(stage):
    """It died before its first record: nothing else was made."""
    stage.answer("ps")
    run = stage.home / "runs" / "c-00000000000a"
    run.mkdir(mode=0o700)
    (run / "lock").touch()
    stage.engine.own(run)
    assert stage.cloop("status", run.name).rc != 0 and run.exists()
    os.utime(run, (OLD, OLD))
    stage.answer("ps")
    assert not run.exists()
    assert stage.cloop("wait", run.name, timeout=20).rc != 0


@once
def test_256_finished_runs_are_kept(stage):
    first = stage.sh("true").record["handle"]
    crashing.wait_unsupervised(stage, first)
    origin = stage.home / "runs" / first
    for n in range(258):
        copy = stage.home / "runs" / f"c-{n:012x}"
        shutil.copytree(origin, copy)
        for name in ("request.json", "."):
            os.utime(copy / name, (OLD - n, OLD - n))
    stage.sh("true")
    stage.sh("true")
    kept = {d.name for d in stage.run_dirs()}
    assert 256 <= len(kept) <= 258 and first in kept and f"c-{257:012x}" not in kept


@pytest.fixture
def switch(stage):
    """An engine whose client can be told not to answer: the file makes it fail; another one,
    `slow`, delays the answer to a `kill` that was done."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-e2e-", dir="/usr/local/lib"))
    place.chmod(0o755)
    down = stage.dir / "down"
    real = shutil.which(stage.engine.kind, path=stage.engine.env["PATH"])
    client = place / stage.engine.kind
    client.write_text(f'#!/bin/sh\nif [ -e {down} ]; then\n'
                      '\techo "Cannot connect to the engine: it is down" >&2; exit 125\nfi\n'
                      f'[ -e {down.with_name("slow")} ] || exec {real} "$@"\n{real} "$@"; code=$?\n'
                      'case " $* " in *" kill "*) sleep 1 ;; esac\nexit $code\n')
    client.chmod(0o755)
    stage.config(runtime=str(client))
    yield down
    down.unlink(missing_ok=True)
    for run in stage.run_dirs():  # their supervisors still need the client
        crashing.wait_unsupervised(stage, run.name)
    shutil.rmtree(place)


@pytest.mark.root
def test_engine_does_not_answer(stage, switch):
    """`unknown`, then correct; a stop that comes meanwhile is kept."""
    ends = stage.detach("sh", "-c", "until [ -e go ]; do sleep 0.1; done; echo end; exit 6")
    stays = stage.detach("sleep", "100")
    final = stage.detach("true")
    crashing.until(lambda: crashing.is_final(crashing.record_of(stage, final)), "end")
    crashing.wait_unsupervised(stage, final)
    for handle in (ends, stays):
        crashing.kill_shim(stage, handle)
    switch.touch()
    stage.answer("ps")
    for handle in (ends, stays):
        crashing.until(lambda h=handle: crashing.record_of(stage, h)["state"] == "unknown",
                       "state unknown")
    stage.write("go")
    stop = stage.popen("stop", "--grace", "5s", stays)
    crashing.until(lambda: "why" in crashing.record_of(stage, stays)["supervision"], "request")
    switch.unlink()
    assert stage.cloop("wait", ends).rc == 6
    assert crashing.output(stage, ends) == (b"end\n", b"")
    stop.communicate(timeout=60)
    assert stop.returncode == 0
    assert crashing.wait_final(stage, stays)["outcome"] == "cancelled"


@pytest.mark.root
def test_engine_tells_of_a_signal_after_the_end(stage, switch):
    """A successor's first signals go by the engine, whose client answers when the run has ended."""
    handle = stage.detach("sleep", "100")
    crashing.kill_shim(stage, handle)
    switch.touch()
    stage.answer("ps")
    crashing.until(lambda: crashing.record_of(stage, handle)["state"] == "unknown", "state unknown")
    stop = stage.popen("stop", "--grace", "60s", handle)
    crashing.until(lambda: "why" in crashing.record_of(stage, handle)["supervision"], "request")
    switch.with_name("slow").touch()
    switch.unlink()
    assert stop.wait(60) == 0
    assert crashing.wait_final(stage, handle)["outcome"] == "cancelled"


@pytest.mark.root
def test_engine_does_not_answer_at_the_end(stage, switch):
    """The record is right without it; what could not be removed is told, and reaped later."""
    handle = stage.detach("sh", "-c", "until [ -e go ]; do sleep 0.1; done; exit 8")
    switch.touch()
    stage.write("go")
    assert stage.cloop("wait", handle).rc == 8
    crashing.wait_unsupervised(stage, handle)
    warnings = [w["code"] for w in crashing.record_of(stage, handle)["warnings"]]
    assert warnings == ["container_left"]
    switch.unlink()
    assert len(reap(stage)) == 1
