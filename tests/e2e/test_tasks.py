"""Tasks of a project: added, run in order, once each, whatever is killed when (docs/tasks.md); their
artifacts and .cloop/sandbox-run.json, which lie where the workload can write (sandbox-yaml)."""
import json
import os
import shutil
import signal
import stat

import pytest
import yaml

import crashing
from stage import parallel


def add(stage, *argv, title=None):
    words = ["task", "add", "-C", stage.project]
    words += ["--title", title] if title is not None else []
    return stage.answer(*words, *(["--", *argv] if argv else []))["id"]


def show(stage, task):
    return stage.answer("task", "show", "-C", stage.project, str(task))


def states(stage):
    tasks = stage.answer("task", "list", "-C", stage.project)["tasks"]
    return {t["id"]: t["state"] for t in tasks}


def run_tasks(stage, *options, **more):
    return stage.cloop("run", "-C", stage.project, *options, **more)


def journal(stage):
    return stage.answer("journal", "-C", stage.project, "--limit", "0")["rows"]


def artifact(stage, task):
    text = (stage.project / show(stage, task)["artifact"]).read_text()
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), front, body


def log_of(stage):
    """Lines that tasks added to the file `log` of the project."""
    path = stage.project / "log"
    return path.read_text().split() if path.exists() else []


def writes(word, more="true"):
    return ("sh", "-c", f"echo {word} >> log; {more}")


def test_in_order_until_one_fails(stage):
    assert run_tasks(stage).rc == 2
    one = add(stage, *writes("one"), title="the first")
    two = add(stage, *writes("two", "exit 7"))
    three = add(stage, *writes("three"))
    assert states(stage) == {one: "pending", two: "pending", three: "pending"}
    r = run_tasks(stage)
    assert r.rc == 7 and log_of(stage) == ["one", "two"], r
    assert f"task {one}: the first" in r.err.decode()
    assert states(stage) == {one: "done", two: "failed", three: "pending"}
    shown = show(stage, two)
    assert shown["exit_code"] == 7 and shown["outcome"] == "nonzero"
    assert shown["note"] == "it ended with status 7" and shown["run"].startswith("c-")
    assert shown["started_at"] <= shown["finished_at"]
    assert run_tasks(stage).rc == 0 and log_of(stage) == ["one", "two", "three"]
    r = run_tasks(stage)
    assert r.rc == 0 and b"no task is pending (0 running, 2 done, 1 failed)" in r.err
    assert stage.answer("task", "reset", "-C", stage.project, str(two))["state"] == "pending"
    assert stage.answer("task", "reset", "-C", stage.project, str(two))["state"] == "pending"
    r = run_tasks(stage, "--json")
    assert r.rc == 7
    [record] = json.loads(r.out)["runs"]
    assert record["task_id"] == two and record["title"] == shown["title"]
    kinds = [(row["kind"], row["task"]) for row in journal(stage) if row["task"] == two]
    assert [k for k, _ in kinds] == ["task.add", "task.start", "task.finish", "task.reset",
                                     "task.start", "task.finish"]


def test_one_of_them(stage):
    one, two = add(stage, *writes("one")), add(stage, *writes("two"))
    named = add(stage, title="no words of its own")
    assert run_tasks(stage, "--task", str(two)).rc == 0 and log_of(stage) == ["two"]
    r = run_tasks(stage, "--task", str(two), "--json")
    assert r.rc == 125 and json.loads(r.out)["code"] == "task_state"
    record = stage.dir / f"record-{stage.unique()}.json"
    r = run_tasks(stage, "--task", "999", "--json", "--record", record)
    assert r.rc == 125 and json.loads(r.out)["code"] == "task_not_found"
    refused = json.loads(record.read_text())
    assert (refused["code"], refused["outcome"], refused["project"]) == \
        ("task_not_found", "start_failed", str(stage.project))
    for words in (("--task", "x"), ("--task", "0"), ("--task", "-1"), ("--task", ""),
                  ("--task", str(one), "--title", "t"), ("--title", "t"), ("--", )):
        assert run_tasks(stage, *words).rc == 2, words
    r = run_tasks(stage, "--task", str(named))
    assert r.rc == 125 and f"cloop run --task {named} -- ARGV" in r.err.decode()
    assert states(stage)[named] == "pending"
    r = run_tasks(stage, "--task", str(named), "--", *writes("given"))
    assert r.rc == 0 and log_of(stage) == ["two", "given"]
    assert states(stage) == {one: "pending", two: "done", named: "done"}
    r = run_tasks(stage, "--detach")
    assert r.rc == 0 and show(stage, one)["run"] == r.out.decode().strip()
    assert stage.wait(show(stage, one)["run"]).rc == 0
    assert states(stage)[one] == "done" and log_of(stage)[-1] == "one"


def test_what_add_refuses(stage):
    for words in ((), ("--title", ""), ("--title", "  "), ("--title", "a\nb"),
                  ("--title", "a\x1b[31m"), ("--title", "x" * 201), ("--title", b"\xff")):
        r = stage.cloop("task", "add", "-C", stage.project, *words)
        assert r.rc == 2, (words, r)
    for words in (("show", "7"), ("reset", "7")):
        assert stage.answer("task", *words, "-C", stage.project,
                            status=1)["code"] == "task_not_found"
    assert stage.cloop("task", "show", "x").rc == 2
    assert states(stage) == {}
    one = add(stage, "true", title="ü" * 100)
    other = stage.make_project("other")
    assert stage.answer("task", "show", "-C", other, str(one), status=1)["code"] == "task_not_found"
    assert stage.answer("task", "list", "-C", other)["tasks"] == []


def test_words_without_loss(stage):
    words = ["printf", "%s|", "", "a b", "-x", "ü", b"\xff\xfe", "\n", "'\"\\"]
    one = add(stage, *words)
    r = run_tasks(stage)
    assert r.rc == 0 and r.out == stage.run(*words).out, r  # engines may change what is no UTF-8
    assert r.out.startswith(b"|a b|-x|\xc3\xbc|") and r.out.endswith(b"|\n|'\"\\|")
    assert states(stage) == {one: "done"}


def test_refused_is_pending_again(stage):
    """Nothing of it ran: no cause to fail the task, and a note says why."""
    one = add(stage, *writes("one"))
    stage.spec("colour: red")
    r = run_tasks(stage)
    assert r.rc == 125
    shown = show(stage, one)
    assert shown["state"] == "pending" and "invalid spec" in shown["note"]
    stage.spec({"image": "localhost/nobody/has:this"})
    r = run_tasks(stage, "--json")
    answer = json.loads(r.out)
    assert r.rc == 125 and answer["runs"] == [] and answer["error"]
    shown = show(stage, one)
    assert shown["state"] == "pending" and answer["code"] == "image_missing"
    assert "did not start" in shown["note"] and "nobody/has:this" in shown["note"]
    stage.spec({})
    assert run_tasks(stage).rc == 0 and log_of(stage) == ["one"]
    two = add(stage, "/no/such/program")
    assert run_tasks(stage).rc == 127
    assert show(stage, two)["state"] == "failed"


def test_artifact(stage):
    """The front matter of sandbox-yaml "Reproducibility", in its order, and the end."""
    stage.spec({"env": []})
    title = 'Add "a" retry: \\ to the # upload-path é \u202e'
    one = add(stage, "sh", "-c", "echo out; echo err >&2; printf 'a\\033[31m```\\n'; exit 3",
              title=title)
    assert run_tasks(stage).rc == 3
    record = stage.status(show(stage, one)["run"])
    front, raw, body = artifact(stage, one)
    assert [line.split(":")[0] for line in raw.splitlines()] == [
        "id", "title", "status", "executor_id", "executor_kind", "sandbox_spec_sha256",
        "sandbox_image_requested", "sandbox_image", "sandbox_reproducible",
        "sandbox_setup_sha256"]
    assert front == {
        "id": one, "title": title, "status": "failed", "executor_id": "container",
        "executor_kind": "container", "sandbox_spec_sha256": record["sandbox_sha256"],
        "sandbox_image_requested": record["image_requested"], "sandbox_image": record["image"],
        "sandbox_reproducible": record["reproducible"],
        "sandbox_setup_sha256": record["setup_sha256"] or ""}
    assert "exit code: 3" in body and f"run: {record['handle']}\n" in body
    assert "````text\nout\n" in body and "\nerr\n" in body and "\na\\x1b[31m```\n" in body
    path = stage.project / show(stage, one)["artifact"]
    assert path.name == f"{one}-add-a-retry-to-the-upload-path.md"
    owner = os.stat(stage.project)
    for p in (path, path.parent, stage.project / ".cloop" / "sandbox-run.json"):
        assert (p.stat().st_uid, p.stat().st_gid) == (owner.st_uid, owner.st_gid), p
    run = json.loads((stage.project / ".cloop" / "sandbox-run.json").read_text())
    assert run["handle"] == record["handle"] and run["task_id"] == one
    assert run["sandbox_image"] == record["image"]


def test_sandbox_run_json_is_there_inside(stage):
    """Before the workload's first instruction, of the run that it is; without .cloop no file."""
    assert stage.sh("test ! -e .cloop").rc == 0
    stage.spec({"env": []})
    r = stage.sh("cat .cloop/sandbox-run.json")
    inside = json.loads(r.out)
    assert inside["handle"] == r.record["handle"] and inside["task_id"] is None
    assert inside["sandbox_image"] == r.record["image"]
    assert inside["sandbox_spec_sha256"] == r.record["sandbox_sha256"]


TRAPS = {
    "a link to a file": lambda path, outside: path.symlink_to(outside / "victim"),
    "a link to a folder": lambda path, outside: path.symlink_to(outside),
    "a FIFO": lambda path, outside: os.mkfifo(path),
    "a device": lambda path, outside: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5)),
    "a folder": lambda path, outside: (path / "x").mkdir(parents=True),
}
PLACES = (".cloop", ".cloop/artifacts", "artifact", ".cloop/sandbox-run.json")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("trap", TRAPS)
def test_traps(stage, place, trap):
    """What lies in the way when a file is written is not followed, opened or waited for."""
    if trap == "a device" and os.geteuid() != 0:
        pytest.skip("only root makes devices")
    outside = stage.dir / "outside"
    outside.mkdir()
    (outside / "victim").write_text("untouched")
    for path in (outside, outside / "victim"):
        stage.engine.own(path)
    one = add(stage, "sleep", "1", title="t")
    path = stage.project / (show(stage, one)["artifact"] if place == "artifact" else place)
    at_start = place.endswith(".json")
    if at_start:
        set_trap(stage, path, trap, outside)
    r = run_tasks(stage, "--detach", timeout=60)
    assert r.rc == 0, r
    run = r.out.decode().strip()
    if not at_start:
        set_trap(stage, path, trap, outside)
    assert stage.wait(run, timeout=60).rc == 0
    assert show(stage, one)["state"] == "done"
    assert [p.name for p in outside.iterdir()] == ["victim"]
    assert (outside / "victim").read_text() == "untouched"
    r = stage.cloop("ps")
    assert r.rc == 0 and r.err == b"", r
    said = [row["message"] for row in journal(stage) if row["kind"] == "artifact"]
    folder = trap == "a folder"
    blocked = folder if place == "artifact" else not folder and not at_start
    assert (show(stage, one)["artifact"] is None) == blocked
    assert len(said) == blocked and all("is not written" in m for m in said), said
    if not blocked:
        assert artifact(stage, one)[0]["status"] == "done"
    if at_start and not folder:
        assert json.loads(path.read_text())["handle"] == run and not path.is_symlink()


def set_trap(stage, path, trap, outside):
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    TRAPS[trap](path, outside)
    for made in (path.parent, path):
        stage.engine.own(made)


def remove(path):
    if os.path.islink(path) or not os.path.isdir(path):
        if os.path.lexists(path):
            os.unlink(path)
    else:
        shutil.rmtree(path)


def test_two_at_once(stage):
    """They share the list; no task is run twice."""
    ids = [add(stage, *writes(f"n{n}", "sleep 0.2")) for n in range(6)]
    results = parallel(lambda _: run_tasks(stage), range(3), 3)
    assert [r.rc for r in results] == [0, 0, 0], results
    assert sorted(log_of(stage)) == sorted(f"n{n}" for n in range(6))
    assert set(states(stage).values()) == {"done"} and sorted(states(stage)) == ids


def claims(stage):
    folder = stage.home / "claims"
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


KILLS = ["task:lock", "task:claim", "start:1-request", "start:3-directory", "start:5-record",
         "start:6-handover", "ledger:started", "import:begin", "import:rows", "import:committed",
         "import:artifact", "import:marked"]


@pytest.mark.parametrize("point", KILLS)
def test_killed_at_every_step(stage, point):
    """kill -9 of cloop: the task is run once, by that run or by the next one."""
    one = add(stage, *writes("one"), title="once")
    r = run_tasks(stage, env={"CLOOP_FAULT": f"{point}=kill"})
    assert r.rc == -9, r
    for run in stage.run_dirs():
        crashing.until(lambda: crashing.record_of(stage, run.name)["state"] == "none" or
                       crashing.is_final(crashing.record_of(stage, run.name)) or
                       not crashing.shims(run.name), "end")
    state = crashing.until(lambda: (s := states(stage)[one]) != "running" and s, "end of the attempt")
    assert (state == "done") == (log_of(stage) == ["one"]), (state, log_of(stage))
    if state == "pending":
        assert show(stage, one)["note"] or point == "task:lock"
        assert run_tasks(stage).rc == 0
    assert log_of(stage) == ["one"] and states(stage) == {one: "done"}
    assert artifact(stage, one)[0]["status"] == "done"
    finishes = [row for row in journal(stage) if row["kind"] == "task.finish"
                and "done" in row["message"]]
    assert len(finishes) == 1
    rows = stage.answer("audit", "list", "--limit", "0")["rows"]
    [row] = [r["payload"] for r in rows if r["action"] == "task.finish"
             and r["payload"]["status"] == "done"]
    assert row["task"] == one and row["outcome"] == "ok"
    assert claims(stage) == []


def test_killed_while_it_runs(stage):
    """The run goes on without its cloop; who looks sees how it ended, and nobody runs it again."""
    one = add(stage, *writes("one", "sleep 3; echo end >> log; exit 5"))
    p = stage.popen("run", "-C", stage.project)
    crashing.until(lambda: log_of(stage) == ["one"], "start")
    crashing.until(lambda: show(stage, one)["run"], "run of the task")
    p.kill()
    p.wait()
    assert states(stage) == {one: "running"}
    r = run_tasks(stage)
    assert r.rc == 0 and b"1 running" in r.err and states(stage) == {one: "running"}
    r = stage.cloop("task", "reset", "-C", stage.project, str(one))
    assert r.rc == 1 and f"cloop stop {show(stage, one)['run']}" in r.err.decode()
    crashing.wait_final(stage, show(stage, one)["run"])
    assert show(stage, one)["state"] == "failed" and show(stage, one)["exit_code"] == 5
    assert log_of(stage) == ["one", "end"]


def test_rebooted(stage):
    """Another boot: the run is lost, the task failed; nothing says that it succeeded."""
    one = add(stage, *writes("one", "sleep 100"))
    r = run_tasks(stage, "--detach")
    run = r.out.decode().strip()
    crashing.until(lambda: log_of(stage) == ["one"], "start")
    crashing.kill_shim(stage, run)
    stage.engine.call("rm", "--force", stage.container_of(run))
    path = stage.home / "runs" / run / "status.json"
    record = json.loads(path.read_text())
    record["supervision"]["boot_id"] = "00000000-0000-0000-0000-000000000000"
    path.write_text(json.dumps(record))
    shown = show(stage, one)
    assert shown["state"] == "failed" and shown["outcome"] == "lost", shown
    assert "lost" in shown["note"]
    assert [row["kind"] for row in journal(stage)][-2:] == ["task.finish", "lost"]
    assert run_tasks(stage).rc == 0 and log_of(stage) == ["one"]


def test_run_directory_gone(stage):
    one = add(stage, "sleep", "100")
    run = run_tasks(stage, "--detach").out.decode().strip()
    crashing.kill_shim(stage, run)
    stage.engine.call("rm", "--force", stage.container_of(run))
    path = stage.home / "runs" / run
    (path / "status.json").write_text("{")
    crashing.until(lambda: show(stage, one)["state"] == "failed", "end of the task")
    # Whoever comes first: this command, or the supervisor that ends the run.
    assert "record" in show(stage, one)["note"]
    two = add(stage, "sleep", "100")
    run = run_tasks(stage, "--detach").out.decode().strip()
    crashing.kill_shim(stage, run)
    stage.engine.call("rm", "--force", stage.container_of(run))
    remove(stage.home / "runs" / run)
    shown = show(stage, two)
    assert shown["state"] == "failed" and shown["note"] == "its run is gone"
    remove(path)


def test_stopped_at_its_disk_limit(stage):
    """The seam of the disk limit: a record that says so makes the task pending, with both sizes."""
    one = add(stage, "sleep", "2")
    run = run_tasks(stage, "--detach").out.decode().strip()
    crashing.wait_final(stage, run)
    crashing.wait_unsupervised(stage, run)
    path = stage.home / "runs" / run / "status.json"
    record = json.loads(path.read_text())
    record.update(state="killed", outcome="disk_limit", exit_code=137,
                  error="stopped at its disk limit: 73 MB used, 64 MB allowed",
                  breach={"used_bytes": 73 << 20, "limit_mb": 64, "source": "spec"})
    record["usage"]["disk_used_mb"] = 73
    path.write_text(json.dumps(record))
    shown = show(stage, one)
    assert shown["state"] == "pending" and "73 MB" in shown["note"] and "64 MB" in shown["note"]
    assert ("disk_limit", run) in [(r["kind"], r["run"]) for r in journal(stage)]
    rows = stage.answer("audit", "list", "--limit", "0")["rows"]
    [row] = [r["payload"] for r in rows if r["action"] == "task.finish"]
    assert (row["stop"], row["disk_used_mb"], row["disk_limit_mb"]) == ("disk_limit", 73, 64)


def test_interrupted(stage):
    """Ctrl-C ends the series: the next task does not begin."""
    one = add(stage, "sh", "-c", "trap 'exit 0' INT; echo up; while :; do sleep 0.1; done")
    two = add(stage, *writes("two"))
    p = stage.popen("run", "-C", stage.project)
    assert p.stdout.readline() == b"up\n"
    p.send_signal(signal.SIGINT)
    assert p.wait(30) == 130
    assert states(stage) == {one: "done", two: "pending"} and log_of(stage) == []
