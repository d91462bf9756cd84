"""The disk limit of a run (disk-and-secrets.md §2-§9, §21.3-21.7)."""
import json
import re
import signal
import sqlite3
import time

import pytest

import crashing
from refusing import HANG, REFUSE, engine_without
from stage import parallel
from test_journal import journal
from test_limits import limited

QUICK = {"CLOOP_FAULT": "disk:quick"}  # samples every 200 ms to 1 s
FILL = "i=0; while :; do dd if=/dev/zero of=f$i bs=1M count=1 2>/dev/null; i=$((i+1)); sleep 0.02; done"
SLEEP = "; sleep 60"
MB = 1 << 20


def ceiling(stage, size):
    whole = json.loads(stage.config_file.read_text())
    whole["executors"]["limits"] = {"max_disk": size}
    stage.config_file.write_text(json.dumps(whole))


@pytest.fixture(autouse=True)
def source(stage):
    """64 MB; by a ceiling where an executor that holds no cpu and memory takes no `resources`."""
    if limited(stage):
        stage.spec({"resources": {"disk": "64m"}})
        return "spec"
    stage.spec({"env": []})
    ceiling(stage, "64m")
    return "ceiling"


def stopped(stage, script):
    """A run that ends at its limit, by the quick schedule."""
    r = stage.sh(script, env=QUICK)
    assert r.rc == 122, (r, r.record)
    assert r.record["outcome"] == "disk_limit" and r.record["state"] == "killed"
    assert r.record["exit_code"] == 137 and r.record["signal"] == signal.SIGKILL
    assert r.record["error"].startswith("stopped at its disk limit: ")
    assert b"[cloop] disk limit:" in r.err
    return r


def audit(stage):
    with sqlite3.connect(stage.home / "state.db") as db:
        rows = db.execute("SELECT payload FROM audit WHERE action = 'task.finish'").fetchall()
    db.close()
    return [json.loads(row[0]) for row in rows]


def test_stopped_then_refused_then_runs(stage, source):
    r = stopped(stage, FILL)
    breach, used = r.record["breach"], r.record["usage"]["disk_used_mb"]
    assert 64 < used <= 150 and breach["limit_mb"] == 64 and breach["source"] == source
    assert used == -(-breach["used_bytes"] // MB)
    assert breach["path"] == str(stage.project) and breach["measured_at"]
    assert f"{used} MB" in r.record["error"] and "64 MB" in r.record["error"]
    last = journal(stage)[-1]
    assert last["kind"] == "disk_limit" and last["run"] == r.record["handle"]
    assert last["message"] == r.record["error"]
    runs = len(stage.run_dirs())
    again = stage.refused("true", code="workspace_over_disk_limit")
    words = again.record["error"]
    held = re.fullmatch(
        f"executor container: refusing to start: the workspace {stage.project} already holds "
        r"(\d+) MB, over this workload's disk limit of 64 MB "
        r"\((from \.cloop/sandbox\.yaml resources\.disk|an operator's disk ceiling)\)", words)
    assert held and used <= int(held[1]) <= 150, words
    assert ("ceiling" in held[2]) == (source == "ceiling")
    assert "free space in the workspace, or " in again.record["remediation"]
    assert ("resources.disk" if source == "spec" else "max_disk") in again.record["remediation"]
    assert journal(stage)[-1]["kind"] == "disk_limit" and journal(stage)[-1]["run"] is None
    assert len(stage.run_dirs()) == runs
    for file in stage.project.glob("f*"):
        file.unlink()
    r = stage.sh("true")
    assert r.rc == 0 and "breach" not in r.record
    assert r.record["usage"]["disk_state"] == "ok"


def test_a_task_goes_back(stage):
    r = stage.cloop("task", "add", "-C", stage.project, "--", "/bin/sh", "-c", FILL)
    assert r.rc == 0, r
    r = stage.cloop("run", "-C", stage.project, env=QUICK)
    assert r.rc == 122, r
    [row] = audit(stage)
    assert row["stop"] == "disk_limit" and row["disk_limit_mb"] == 64
    assert 64 < row["disk_used_mb"] <= 150 and row["status"] == "pending"
    [task] = stage.answer("task", "list", "-C", stage.project)["tasks"]
    assert task["state"] == "pending"
    assert "64 MB" in task["note"] and f"{row['disk_used_mb']} MB" in task["note"]


@pytest.mark.parametrize("script", [
    "exec 3>x; rm x; dd if=/dev/zero bs=1M count=80 >&3 2>/dev/null",
    "mkdir -p .cloop/a; dd if=/dev/zero of=.cloop/a/f bs=1M count=80 2>/dev/null",
    "fallocate -l 83886080 f",
], ids=["deleted", "state-directory", "preallocated"])
def test_ways_to_fill(stage, script):
    r = stopped(stage, script + SLEEP)
    assert 64 < r.record["usage"]["disk_used_mb"] <= 90


def test_names(stage):
    r = stopped(stage, "mkdir d; cd d; seq 1 110000 | xargs -n 10000 touch" + SLEEP)
    breach = r.record["breach"]
    assert breach["entries"] > breach["entries_limit"] == 100000


def test_what_does_not_count(stage):
    explained = stage.answer("sandbox", "explain", "-C", stage.project)["limits"]["disk"]
    assert explained["enforcement"] == "sampled" and len(explained["not_covered"]) == 4
    assert "quota" in explained["reason"]
    r = stage.sh("dd if=/dev/zero of=s bs=1 count=1 seek=1T 2>/dev/null; "
                 "dd if=/dev/zero of=/tmp/f bs=1M count=80 2>/dev/null; sleep 3", env=QUICK)
    assert r.rc == 0, r
    assert r.record["usage"]["disk_used_mb"] < 64


def test_a_ceiling_is_named(stage):
    ceiling(stage, "64m")
    stage.spec({"env": []})
    with open(stage.project / "large", "wb") as f:
        f.write(b"x" * (70 * MB))
    r = stage.refused("true", code="workspace_over_disk_limit")
    assert "an operator's disk ceiling" in r.record["error"]
    assert "executors.limits.max_disk" in r.record["remediation"]


def test_an_exit_of_its_own_stays(stage):
    """Over the limit between two samples, and gone before the next."""
    r = stage.sh("dd if=/dev/zero of=f bs=1M count=80 2>/dev/null")
    assert r.rc == 0 and r.record["outcome"] == "ok" and "breach" not in r.record


def nearly_full(stage, source, name):
    """A project with a task that passes its limit at once, which the first sample sees after 5 s."""
    project = stage.make_project(name)
    if source == "spec":
        stage.spec({"resources": {"disk": "64m"}}, project=project)
    stage.write("held", bytes(60 * MB), project=project)
    stage.answer("task", "add", "-C", project, "--", "/bin/sh", "-c",
                 "dd if=/dev/zero of=more bs=1M count=20 2>/dev/null; sleep 600")
    return project


def break_stop(stage, source, point, victim):
    """The supervisor, or it and its client, die at a point of the stop; others end the run."""
    project = nearly_full(stage, source, f"{point.replace(':', '-')}-{victim}")
    cli = stage.popen("run", "-C", project, env={"CLOOP_FAULT": f"{point}=stop"})
    shim = crashing.shim_of(cli)
    handle = crashing.handle_of(shim)
    assert crashing.wait_stopped(shim), point
    on_record = "breach" in crashing.record_of(stage, handle)["supervision"]
    assert on_record == (point not in ("disk:over", "finish:end")), point
    if victim == "both":
        cli.kill()
        cli.wait()
    crashing.kill(shim)
    if victim == "both":
        crashing.wait_unsupervised(stage, handle)
        stage.answer("ps")
    else:
        _, err = cli.communicate(timeout=60)
        assert cli.returncode == 122, (point, err)
    return project, handle


def check_stop(stage, project, handle, source):
    r = stage.wait(handle)
    record, used = r.record, r.record["usage"]["disk_used_mb"]
    assert r.rc == 122 and record["outcome"] == "disk_limit" and record["state"] == "killed", r
    assert (record["exit_code"], record["signal"]) == (137, signal.SIGKILL), record
    assert 80 <= used <= 82 and record["breach"]["source"] == source
    assert record["breach"]["used_bytes"] > 80 * MB and record["breach"]["limit_mb"] == 64
    assert record["error"].startswith("stopped at its disk limit: ")
    assert f"{used} MB" in record["error"] and "64 MB" in record["error"]
    [row] = [row for row in journal(stage, project) if row["kind"] == "disk_limit"]
    assert row["run"] == handle and row["message"] == record["error"]
    [task] = stage.answer("task", "list", "-C", project)["tasks"]
    assert task["state"] == "pending", task
    assert f"{used} MB" in task["note"] and "64 MB" in task["note"], task
    again = stage.cloop("run", "-C", project)
    assert again.rc == 125 and b"refusing to start" in again.err, again
    rows = [row["run"] for row in journal(stage, project) if row["kind"] == "disk_limit"]
    assert rows == [handle, None]
    return used


STOP_POINTS = [("disk:over", "shim"), ("disk:breach", "shim"), ("stop:killed", "shim"),
               ("stop:killed", "both"), ("finish:record", "both"), ("finish:end", "shim")]


def test_supervisor_killed_in_its_stop(stage, source):
    """Before the breach is on record, before the kill, after it, before the final record, after."""
    broken = parallel(lambda p: break_stop(stage, source, *p), STOP_POINTS, len(STOP_POINTS))
    used = [check_stop(stage, project, handle, source) for project, handle in broken]
    told = [row for row in audit(stage) if row.get("stop") == "disk_limit"]
    assert sorted(row["disk_used_mb"] for row in told) == sorted(used)
    assert all(row["disk_limit_mb"] == 64 and row["status"] == "pending" for row in told)


@pytest.mark.root
@pytest.mark.parametrize("instead", [REFUSE, HANG], ids=["refuses", "hangs"])
def test_engine_that_does_not_kill(stage, instead):
    """The stop does not need the engine: the init is killed by its pidfd."""
    with engine_without(stage, "kill", instead):
        r = stopped(stage, FILL)
        assert 64 < r.record["usage"]["disk_used_mb"] <= 150


def test_measured_on_after_adoption(stage):
    handle = stage.detach("/bin/sh", "-c", "until [ -e go ]; do sleep 0.1; done; "
                          "dd if=/dev/zero of=f bs=1M count=80 2>/dev/null; touch done; sleep 600")
    [shim] = crashing.shims(handle)
    crashing.kill(shim)
    crashing.until(lambda: not crashing.shims(handle), "end of the supervisor")
    stage.write("go")
    crashing.until((stage.project / "done").exists, "filled workspace")
    begun = time.monotonic()
    r = stage.wait(handle)
    assert r.record["outcome"] == "disk_limit" and r.rc == 122
    assert time.monotonic() - begun < 20


def test_unreadable(stage):
    """A directory of mode 000 hides from an ordinary user: unknown, never stopped for it."""
    if stage.engine.key != "R":
        pytest.skip("root reads it")
    handle = stage.detach("/bin/sh", "-c", "mkdir a; touch a/f; chmod 000 a; "
                          "until [ -e go ]; do sleep 0.1; done", env=QUICK)
    crashing.until(lambda: crashing.record_of(stage, handle)["usage"]["disk_state"] == "unknown",
                   "unknown use")
    crashing.kill_shim(stage, handle)
    stage.answer("status", handle)
    crashing.until(lambda: crashing.shims(handle), "new supervisor")
    crashing.until(lambda: stage.cloop("attach", handle, "--", "true").rc == 0, "adoption")
    stage.write("go")
    r = stage.wait(handle)
    (stage.project / "a").chmod(0o700)
    assert r.rc == 0 and r.record["usage"]["disk_state"] == "unknown", r
    [row] = [row for row in journal(stage) if row["kind"] == "disk_unknown"]
    assert "unreadable" in row["message"] and '"a"' in row["message"]
    assert [w["code"] for w in r.record["warnings"]].count("disk_unknown") == 1
