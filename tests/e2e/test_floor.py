"""The free-space floor (disk-and-secrets.md §11, §21.9): workspaces on a small tmpfs."""
import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest

import crashing
from engines import children
from refusing import REFUSE, engine_without
from test_journal import journal

QUICK = {"CLOOP_FAULT": "space:quick"}  # looks again every 200 ms instead of every minute
SIZE, FLOOR = 200, 100  # MB; what was stopped goes on from 110 MB
TICK = "while :; do date +%s%N >t.new; mv t.new t; sleep 0.02; done"


class Small:
    """The project's filesystem."""

    def __init__(self, stage):
        self.stage = stage
        self.fill_file = stage.project / "fill"

    def leave(self, free_mb):
        """Fills it up, or empties it, to this much free space."""
        st = os.statvfs(self.stage.project)
        more = st.f_bavail * st.f_frsize - (free_mb << 20)
        fd = os.open(self.fill_file, os.O_CREAT | os.O_WRONLY)
        size = os.fstat(fd).st_size
        if more > 0:
            os.posix_fallocate(fd, size, more)
        else:
            os.ftruncate(fd, size + more)
        os.close(fd)

    def ticks(self, seconds=1):
        """Whether the workload's clock goes on."""
        before = (self.stage.project / "t").read_bytes()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if (self.stage.project / "t").read_bytes() != before:
                return True
            time.sleep(0.02)
        return False

    def detach(self, env=QUICK):
        handle = self.stage.detach("/bin/sh", "-c", TICK, env=env)
        crashing.until((self.stage.project / "t").exists, "tick")
        return handle


def renew_namespace(engine):
    """Rootless podman keeps a mount namespace, which sees no mount that is made later."""
    if engine.key == "R":
        engine.call("system", "migrate")


@pytest.fixture
def small(stage):
    if os.geteuid() != 0:
        pytest.skip("mounts a tmpfs, which needs root")
    stage.config({"orchestrator": {"min_free_disk_mb": FLOOR}})
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}m,mode=755", "cloop-floor",
                    stage.project], check=True)
    try:
        stage.engine.own(stage.project)
        renew_namespace(stage.engine)
        yield Small(stage)
    finally:
        subprocess.run(["umount", "--lazy", stage.project], check=True)
        renew_namespace(stage.engine)


def record(stage):
    [run] = stage.run_dirs()
    return json.loads((run / "status.json").read_text())


def waits(stage):
    return any((run / "status.json").exists() and
               json.loads((run / "status.json").read_text()).get("reason") == "disk_low"
               for run in stage.run_dirs())


def audited(stage):
    with sqlite3.connect(stage.home / "state.db") as db:
        rows = db.execute("SELECT payload FROM audit WHERE action = 'disk_low'").fetchall()
    db.close()
    return [json.loads(row[0])["message"] for row in rows]


def crossings(stage, handle):
    """What the journal says, which the audit trail says, too."""
    said = [row["message"] for row in journal(stage)
            if row["kind"] == "disk_low" and row["run"] == handle]
    assert said == audited(stage)
    return said


def frozen(stage, handle):
    crossed = crashing.until(lambda: record(stage).get("reason") == "disk_low" or None, "freeze")
    return crossed and stage.status(handle)["reason"] == "disk_low"


def end(stage, handle):
    assert stage.cloop("stop", handle).rc == 0
    r = stage.wait(handle)
    assert "reason" not in r.record
    return r


def test_waits_before_it_starts(stage, small):
    small.leave(FLOOR - 10)
    p = stage.popen(*stage.run_words(["true"]), env=QUICK)
    crashing.until(lambda: waits(stage), "wait")
    assert record(stage)["state"] == "pending"
    [listed] = stage.answer("ps")["runs"]
    assert listed["state"] == "pending"
    small.leave(FLOOR + 5)  # above the floor, below what it takes to go on
    time.sleep(1)
    assert p.poll() is None and waits(stage)
    small.leave(FLOOR + 20)
    _, said = p.communicate(timeout=60)
    assert p.returncode == 0, said
    assert re.search(rb"has (89|90) MB free, and the floor is 100 MB.*waits", said), said
    assert b"orchestrator.min_free_disk_mb" in said and b"again, at least 110 MB" in said
    rows = crossings(stage, listed["handle"])
    assert len(rows) == 2 and str(stage.project) in rows[0] and "again" in rows[1]
    assert "reason" not in record(stage)


def test_decided_anew_after_a_wait(stage, small):
    """The file, a ceiling: what holds is what they say when the run begins."""
    if stage.engine.key == "R":
        pytest.skip("rootless podman has no limits on cgroup v1")
    small.leave(FLOOR - 10)
    p = stage.popen(*stage.run_words(["true"]), env=QUICK)
    crashing.until(lambda: waits(stage), "wait")
    stage.spec("resources: {cpu: 0.5, pids: 90}\n")
    stage.answer("limits", "set", "-C", stage.project, "--pids", "70")
    small.leave(FLOOR + 20)
    _, said = p.communicate(timeout=60)
    assert p.returncode == 0, said
    now = record(stage)
    assert now["limits"]["effective"]["cpu_millis"] == 500, now["limits"]
    assert now["limits"]["effective"]["pids"] == 70 and now["sandbox_sha256"]
    assert "resource_ceiling" in [row["kind"] for row in journal(stage)]


def test_a_policy_that_came_during_a_wait(stage, small):
    """Of a process of the host: no engine is asked."""
    policy = {"orchestrator": {"min_free_disk_mb": FLOOR},
              "executors": {"allow_host_process": True, "container": {"enabled": False}}}
    stage.config(policy)
    small.leave(FLOOR - 10)
    p = stage.popen("run", "-C", stage.project, "--executor", "localprocess", "--", "touch",
                    "began", env=QUICK)
    crashing.until(lambda: waits(stage), "wait")
    policy["executors"]["allow_host_process"] = False
    stage.config(policy)
    small.leave(FLOOR + 20)
    _, said = p.communicate(timeout=60)
    assert p.returncode == 125, said
    assert record(stage)["code"] == "host_execution_denied" and "reason" not in record(stage)
    assert not (stage.project / "began").exists()


def test_a_wait_is_cancelled(stage, small):
    small.leave(FLOOR - 10)
    p = stage.popen(*stage.run_words(["true"]))
    crashing.until(lambda: waits(stage), "wait")
    time.sleep(0.2)
    p.send_signal(signal.SIGTERM)
    _, said = p.communicate(timeout=20)
    assert p.returncode == 125 and b"cancelled" in said
    last = record(stage)
    assert last["state"] == "failed" and last["code"] == "start_cancelled"
    assert "reason" not in last


def test_frozen_by_a_reading_apart(stage, small):
    """As on a filesystem whose server may not answer."""
    handle = small.detach(env={"CLOOP_FAULT": "space:apart"})
    small.leave(FLOOR - 10)
    assert frozen(stage, handle)
    end(stage, handle)


@pytest.mark.parametrize("words", [["stop"], ["stop", "--signal", "interrupt"]])
def test_a_wait_is_stopped(stage, small, words):
    """From elsewhere, by the handle that one who waits is told."""
    small.leave(FLOOR - 10)
    p = stage.popen(*stage.run_words(["true"], options=["--detach"]))
    crashing.until(lambda: waits(stage), "wait")
    [run] = stage.run_dirs()
    begun = time.monotonic()
    assert stage.cloop(*words, run.name, timeout=20).rc == 0
    assert time.monotonic() - begun < 8
    _, said = p.communicate(timeout=20)
    assert p.returncode == 125 and b"cancelled" in said, said
    assert f"run {run.name} waits".encode() in said and b"HANDLE" not in said, said
    assert record(stage)["code"] == "start_cancelled" and "reason" not in record(stage)


def test_killed_while_it_waits(stage, small):
    """The task that waited is pending again, and its run failed."""
    stage.answer("task", "add", "-C", stage.project, "--", "true")
    small.leave(FLOOR - 10)
    p = stage.popen("run", "-C", stage.project)
    crashing.until(lambda: waits(stage), "wait")
    p.kill()
    p.wait()
    stage.cloop("ps")
    last = crashing.until(lambda: record(stage) if record(stage)["state"] == "failed" else None,
                          "end")
    assert last["outcome"] == "start_failed" and "reason" not in last
    small.leave(FLOOR + 50)
    r = stage.cloop("run", "-C", stage.project)
    assert r.rc == 0, r
    [task] = stage.answer("task", "list", "-C", stage.project)["tasks"]
    assert task["state"] == "done"


def test_full_meanwhile(stage, small):
    """The workspace is measured again after the wait."""
    whole = json.loads(stage.config_file.read_text())
    whole["executors"]["limits"] = {"max_disk": "64m"}
    stage.config_file.write_text(json.dumps(whole))
    fill = stage.project / "fill"
    small.leave(FLOOR - 10)
    os.rename(fill, stage.project / "x")
    subprocess.run(["mkdir", stage.project / ".cloop"], check=True)
    os.rename(stage.project / "x", stage.project / ".cloop/x")  # what is there before is free
    p = stage.popen(*stage.run_words(["true"]), env=QUICK)
    crashing.until(lambda: waits(stage), "wait")
    os.truncate(stage.project / ".cloop/x", (SIZE - FLOOR - 3) << 20)  # never enough room while it is filled
    small.leave(FLOOR + 3 - 70)
    os.truncate(stage.project / ".cloop/x", 1 << 20)
    _, said = p.communicate(timeout=60)
    assert p.returncode == 125 and b"refusing to start" in said, said
    assert [row["kind"] for row in journal(stage)] == ["disk_low", "disk_low", "disk_limit"]


def test_frozen_and_goes_on(stage, small):
    handle = small.detach()
    small.leave(FLOOR - 10)
    assert frozen(stage, handle)
    time.sleep(0.5)
    assert not small.ticks()
    small.leave(FLOOR + 5)
    assert not small.ticks()
    small.leave(FLOOR + 30)
    crashing.until(lambda: "reason" not in record(stage), "release")
    assert small.ticks(5)
    assert record(stage)["state"] == "running"
    end(stage, handle)
    rows = crossings(stage, handle)
    assert len(rows) == 2 and "again" in rows[1]


def test_frozen_within_two_seconds(stage, small):
    handle = small.detach(env=None)
    time.sleep(1.5)
    small.leave(FLOOR - 10)
    begun = time.monotonic()
    crashing.until(lambda: not small.ticks(0.3), "standstill")
    assert time.monotonic() - begun < 4  # 2 s, and what a loaded machine adds
    end(stage, handle)


@pytest.mark.parametrize("how", ["terminate", "timeout"])
def test_ended_while_frozen(stage, small, how):
    options = ["--timeout", "6"] if how == "timeout" else []
    handle = stage.detach("/bin/sh", "-c", f"trap 'echo got; exit 7' TERM; {TICK}", env=QUICK,
                          options=options)
    crashing.until((stage.project / "t").exists, "tick")
    small.leave(FLOOR - 10)
    assert frozen(stage, handle)
    if how == "terminate":
        assert stage.cloop("stop", handle).rc in (0, 7)
    r = stage.wait(handle)
    assert r.record["outcome"] == ("timeout" if how == "timeout" else "cancelled"), r
    assert "reason" not in r.record


def test_adopted_while_frozen(stage, small):
    """A new supervisor lets it go on, so that its init can connect, and freezes it again, also where
    it would not have been frozen yet."""
    handle = small.detach()
    small.leave(FLOOR - 10)
    assert frozen(stage, handle)
    [shim] = crashing.shims(handle)
    crashing.kill(shim)
    small.leave(FLOOR + 5)
    crashing.until(lambda: not crashing.shims(handle), "end of the supervisor")
    waiting = stage.popen("wait", handle, env={"CLOOP_FAULT_ADOPT": "space:quick"})  # who looks adopts
    crashing.until(lambda: crashing.shims(handle), "new supervisor")
    crashing.until(lambda: record(stage).get("reason") == "disk_low" and not small.ticks(1),
                   "freeze", 60)
    small.leave(FLOOR + 30)
    crashing.until(lambda: small.ticks(1), "release", 90)
    assert "init_mute" not in [w["code"] for w in record(stage)["warnings"]]
    end(stage, handle)
    waiting.communicate(timeout=30)
    rows = crossings(stage, handle)
    assert len(rows) == 2 and "again" in rows[1], rows


def test_stopped_by_signals(stage, small):
    """Where the engine cannot pause."""
    with engine_without(stage, "pause"):
        handle = small.detach()
        small.leave(FLOOR - 10)
        assert frozen(stage, handle)
        crashing.until(lambda: not small.ticks(0.3), "standstill")
        pid = stage.engine.inspect(stage.container_of(handle))["State"]["Pid"]
        assert crashing.state_of(pid) == "T"
        assert {crashing.state_of(child) for child in children(pid)} == {"T"}
        small.leave(FLOOR + 30)
        crashing.until(lambda: "reason" not in record(stage), "release")
        assert small.ticks(5)
        end(stage, handle)


def test_ended_where_it_cannot_be_frozen(stage, small):
    """No pause by the engine, and no signals: ended, and the task is pending again."""
    with engine_without(stage, "pause"):
        stage.answer("task", "add", "-C", stage.project, "--", "/bin/sh", "-c", TICK)
        p = stage.popen("run", "-C", stage.project, env={"CLOOP_FAULT": "floor:stop"})
        crashing.until((stage.project / "t").exists, "tick")
        small.leave(FLOOR - 10)
        _, said = p.communicate(timeout=60)
        last = record(stage)
        assert last["state"] == "killed" and last["code"] == "disk_low", (last, said)
        assert "disk_low" in last["error"] and "min_free_disk_mb" in last["remediation"]
        [task] = stage.answer("task", "list", "-C", stage.project)["tasks"]
        assert task["state"] == "pending", task


def test_off(stage, small):
    stage.config({"orchestrator": {"min_free_disk_mb": 0}})
    small.leave(10)
    assert stage.sh("true").rc == 0


@contextlib.contextmanager
def no_unpause(stage, tmp_path):
    """An engine that does not unpause as long as the file it yields exists."""
    if stage.engine.key == "R":
        pytest.skip("rootless podman cannot pause without delegated control groups")
    refused = tmp_path / "refused"
    refused.touch()
    with engine_without(stage, "unpause", f"[ ! -e {refused} ] || {{ {REFUSE}; }}"):
        try:
            yield refused
        finally:
            refused.unlink(missing_ok=True)


def paused(stage, container):
    return stage.engine.inspect(container)["State"]["Status"] == "paused"


def test_adopted_while_the_engine_does_not_unpause(stage, small, tmp_path):
    with no_unpause(stage, tmp_path) as refused:
        handle = small.detach()
        container = stage.container_of(handle)
        small.leave(FLOOR - 10)
        assert frozen(stage, handle)
        crashing.until(lambda: paused(stage, container), "pause")
        small.leave(FLOOR + 30)
        crashing.kill_shim(stage, handle)
        waiting = stage.popen("wait", handle)
        crashing.until(lambda: crashing.shims(handle), "new supervisor")
        time.sleep(3)
        assert record(stage)["reason"] == "disk_low"
        refused.unlink()
        crashing.until(lambda: small.ticks(1), "release")
        crashing.until(lambda: "reason" not in record(stage), "record")
        end(stage, handle)
        waiting.communicate(timeout=30)


def test_signalled_while_frozen(stage, small, tmp_path):
    """It survives the signal; the engine unpauses only later, and the record follows."""
    with no_unpause(stage, tmp_path) as refused:
        p = stage.popen(*stage.run_words(["/bin/sh", "-c", f"trap 'echo got >> s' INT; {TICK}"]),
                        env=QUICK)
        crashing.until((stage.project / "t").exists, "tick")
        [run] = stage.run_dirs()
        container = stage.container_of(run.name)
        small.leave(FLOOR - 10)
        assert frozen(stage, run.name)
        crashing.until(lambda: paused(stage, container), "pause")
        p.send_signal(signal.SIGINT)
        time.sleep(2)
        assert record(stage)["reason"] == "disk_low"
        assert stage.engine.key == "D" or not small.ticks(0.3)  # docker's `kill` unpauses
        small.leave(FLOOR + 30)
        refused.unlink()
        crashing.until((stage.project / "s").exists, "signal inside")
        assert small.ticks(5)
        crashing.until(lambda: "reason" not in record(stage), "record")
        assert not record(stage)["supervision"].get("frozen")
        end(stage, run.name)
        p.communicate(timeout=30)


def test_adoption_finds_a_supervisor(stage, small):
    handle = small.detach()
    [shim] = crashing.shims(handle)
    program = os.readlink(f"/proc/{shim}/exe")
    assert stage.engine.popen([program, "--home", stage.home, "--adopt", handle]).wait(30) == 0
    end(stage, handle)


def test_each_crossing_has_its_rows(stage, small):
    """Three freezes at the same free space are three, with the times at which they were."""
    handle = small.detach()
    for _ in range(3):
        small.leave(FLOOR - 10)
        assert frozen(stage, handle)
        small.leave(FLOOR + 30)
        crashing.until(lambda: "reason" not in record(stage), "release")
    end(stage, handle)
    assert len(crossings(stage, handle)) == 6
    times = [row["time"] for row in journal(stage) if row["kind"] == "disk_low"]
    assert times == sorted(times) and times[0] < times[-1]


def test_shown_and_not_attached_to(stage, small):
    handle = small.detach()
    small.leave(FLOOR - 10)
    assert frozen(stage, handle)
    assert re.search(rb"(?m)^reason +disk_low$", stage.cloop("status", handle).out)
    r = stage.cloop("attach", handle, "--", "true", timeout=20)
    assert r.rc == 1 and b"is frozen" in r.err, r
    assert b"min_free_disk_mb" in r.err
    small.leave(FLOOR + 30)
    crashing.until(lambda: "reason" not in record(stage), "release")
    assert stage.cloop("attach", handle, "--", "true", timeout=20).rc == 0
    end(stage, handle)
