"""The ledger of a home: what happened in a project (journal), and final records of runs that nobody
waited for (architecture §3, sandbox-spec.md §10.3)."""
import json
import sqlite3

import pytest

import crashing
from stage import parallel
from test_limits import limited


def journal(stage, project=None, **more):
    answer = stage.answer("journal", "-C", project or stage.project, "--limit", "0", **more)
    return answer["rows"]


def kinds(stage, **more):
    return [row["kind"] for row in journal(stage, **more)]


@pytest.fixture
def ledger(stage):
    """Statements on state.db by another hand."""
    def execute(sql, *values):
        with sqlite3.connect(stage.home / "state.db") as db:
            found = db.execute(sql, values).fetchall()
        db.close()
        return found
    return execute


def test_a_plain_run_is_no_event(stage, ledger):
    assert stage.answer("journal", "-C", stage.project)["rows"] == []
    assert not (stage.home / "state.db").exists()
    r = stage.sh("exit 3")
    assert r.rc == 3
    assert journal(stage) == []
    [row] = ledger("SELECT handle, project, state, outcome, exit_code, task, image, started_at, "
                   "finished_at FROM run")
    assert row == (r.record["handle"], str(stage.project), "exited", "nonzero", 3, None,
                   r.record["image"], r.record["started_at"], r.record["finished_at"])


def test_clamps_and_refusals(stage):
    if not limited(stage):
        pytest.skip("no limits here (test_limits.py)")
    whole = json.loads(stage.config_file.read_text())
    whole["executors"]["limits"] = {"max_memory": "80m", "max_pids": 300}
    stage.config_file.write_text(json.dumps(whole))
    stage.spec({"resources": {"memory": "100m"}})
    handle = stage.detach("sleep", "60")
    [row] = journal(stage)
    assert row["kind"] == "resource_ceiling" and row["run"] == handle and row["task"] is None
    assert "memory" in row["message"] and "100 MB" in row["message"]
    assert "fleet ceiling" in row["message"] and "80 MB" in row["message"]
    stage.cloop("stop", "--signal", "kill", handle)
    stage.wait(handle)
    assert kinds(stage) == ["resource_ceiling"]
    stage.sh("true")
    assert kinds(stage) == ["resource_ceiling"] * 2
    stage.spec({"resources": {"memory": "2gb"}})
    refusal = stage.refused("true", code="sandbox_invalid_spec")
    last = journal(stage)[-1]
    assert last["kind"] == "refused" and last["run"] is None
    assert last["message"] == refusal.record["error"]
    stage.spec({"image": "localhost/nobody/has:this"})
    r = stage.run("true")
    assert r.rc == 125
    last = journal(stage)[-1]
    assert last["kind"] == "refused" and last["message"] == r.record["error"]
    assert last["run"] == r.record["handle"]


def test_unenforced_ceiling(stage):
    """A ceiling that the executor cannot hold: a row at every dispatch."""
    if stage.engine.key != "P":
        pytest.skip("the same for every engine")
    whole = json.loads(stage.config_file.read_text())
    whole["executors"].update(allow_host_process=True, limits={"max_memory": "80m"},
                              default="localprocess")
    stage.config_file.write_text(json.dumps(whole))
    for n in (1, 2):
        r = stage.sh("true")
        assert r.rc == 0, r
        rows = journal(stage)
        assert [row["kind"] for row in rows] == ["resource_ceiling"] * n
        assert rows[-1]["run"] == r.record["handle"] and "memory" in rows[-1]["message"]


def test_ends_that_nobody_waited_for(stage, ledger):
    """The next command that looks takes them over, once, however many look at once."""
    handles = [stage.detach("sh", "-c", f"exit {n}") for n in range(4)]
    slow = stage.detach("sh", "-c", "sleep 60", options=("--timeout", "1"))
    for handle in [*handles, slow]:
        crashing.wait_final(stage, handle)
    assert ledger("SELECT count(*) FROM run WHERE handle = ?", slow) == [(0,)]
    looks = [("ps",), ("journal", "-C", stage.project), ("status", handles[0]),
             ("wait", handles[1])] * 2
    parallel(lambda words: stage.cloop(*words), looks, 4)
    assert sorted(ledger("SELECT handle FROM run")) == sorted((h,) for h in [*handles, slow])
    assert [(row["kind"], row["run"]) for row in journal(stage)] == [("timeout", slow)]
    for name in ("status", "wait", "logs"):
        stage.cloop(name, slow)
    assert kinds(stage) == ["timeout"]


def test_killed_while_importing(stage, ledger):
    """kill -9 at every step: the next command goes on, nothing is there twice."""
    for step in ("begin", "rows", "committed", "marked"):
        handle = stage.detach("sh", "-c", "sleep 60", options=("--timeout", "100ms"))
        crashing.wait_final(stage, handle)
        stage.cloop("ps", env={"CLOOP_FAULT": f"import:{step}=kill"})
        stage.answer("ps")
        assert ledger("SELECT count(*) FROM run WHERE handle = ?", handle) == [(1,)]
        assert [r["kind"] for r in journal(stage) if r["run"] == handle] == ["timeout"]


def test_killed_before_the_ledger(stage, ledger):
    """cloop dies after the start: its rows come with the end of the run."""
    stage.spec({"env": None})
    p = stage.popen(*stage.run_words(["true"]), env={"CLOOP_FAULT": "ledger:started=kill"})
    assert p.wait(30) == -9
    [run] = stage.run_dirs()
    crashing.wait_final(stage, run.name)
    stage.answer("ps")
    assert ledger("SELECT path FROM project") == [(str(stage.project),)]
    assert [(r["kind"], r["run"]) for r in journal(stage)] == [("null_env", run.name)]


def test_a_record_that_is_damaged(stage, ledger):
    """What is no record of the run is said and left out; no command fails for it."""
    good = stage.detach("true")
    crashing.wait_final(stage, good)
    crashing.wait_unsupervised(stage, good)
    record = json.loads((stage.home / "runs" / good / "status.json").read_text())
    damages = [{"handle": "c-ffffffffffff"}, {"outcome": "splendid"}, {"project": "relative"},
               {"exit_code": 99999, "signal": -4, "image": 7, "started_at": "yesterday",
                "title": "a\x00b", "usage": [], "warnings": {"a": 1}, "task_id": "../../1"}]
    for n, damage in enumerate(damages):
        run = stage.home / "runs" / f"c-{n:012x}"
        run.mkdir(mode=0o700)
        changed = {**record, "handle": run.name, **damage}
        changed["supervision"] = {k: v for k, v in record["supervision"].items()
                                  if k != "project"}
        (run / "status.json").write_text(json.dumps(changed))
        (run / "lock").touch()
        for path in (run, run / "status.json", run / "lock"):
            stage.engine.own(path)
    r = stage.cloop("ps", "--all")
    assert r.rc == 0 and r.err.count(b"run c-") == 3, r
    assert stage.cloop("ps").err == b""
    assert {h for (h,) in ledger("SELECT handle FROM run")} == {good, "c-000000000003"}
    [row] = ledger("SELECT exit_code, signal, image, started_at, title, task FROM run "
                   "WHERE handle = 'c-000000000003'")
    assert row == (None,) * 6


def test_messages_are_scrubbed(stage):
    stage.write(".cloop/sandbox.yaml", 'image: "\\e[31mred\\u0007"\n')
    stage.run("true")
    raw = stage.cloop("journal", "-C", stage.project).out
    assert b"\x1b" not in raw and b"\x07" not in raw and b"refused" in raw


def test_forgotten_with_its_project(stage, ledger):
    stage.spec("colour: red")
    stage.run("true")
    assert kinds(stage) == ["refused"]
    other = stage.make_project("other")
    assert journal(stage, project=other) == []
    stage.answer("project", "set", "-C", stage.project, "provider", "none")
    stage.answer("project", "forget", "-C", stage.project)
    assert journal(stage) == [] and ledger("SELECT count(*) FROM run") == [(0,)]
