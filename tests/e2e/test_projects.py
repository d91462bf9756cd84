"""Projects and the audit trail of a home (config.md §4, image-trust.md §12, §14.16)."""
import json
import os
import sqlite3

import pytest

from engines import IMAGE


def policy(**keys):
    return {"sandbox": {"image_policy": keys}}


def rows(stage):
    return stage.answer("audit", "list", "--limit", "0")["rows"]


@pytest.fixture
def database(stage):
    """Statements on state.db by another hand."""
    def execute(sql, *values):
        with sqlite3.connect(stage.home / "state.db") as db:
            found = db.execute(sql, values).fetchall()
        db.close()
        return found
    return execute


def test_known_from_the_first_run(stage):
    assert stage.answer("project", "list") == {"projects": []}
    assert not (stage.home / "state.db").exists()
    assert stage.sh("true").rc == 0
    assert stage.sh("true").rc == 0
    [project] = stage.answer("project", "list")["projects"]
    assert project["project"] == str(stage.project) and project["provider"] == "none"
    mode = (stage.home / "state.db").stat().st_mode & 0o777
    assert mode == 0o600
    assert rows(stage) == []


def test_not_forgotten_while_it_runs(stage):
    there = ("-C", stage.project)
    task = stage.answer("task", "add", *there, "--", "sleep", "60")["id"]
    begun = stage.cloop("run", *there, "--detach")
    assert begun.rc == 0, begun
    run = begun.out.decode().strip()
    said = stage.answer("project", "forget", *there, status=1)
    assert said["code"] == "task_state" and f"task {task} " in said["error"] and run in str(said)
    stage.answer("stop", run)
    single = stage.cloop("run", *there, "--detach", "--", "sleep", "60").out.decode().strip()
    said = stage.answer("project", "forget", *there, status=1)
    assert said["code"] == "task_state" and f"run {single} " in said["error"]
    assert single in said["remediation"]
    for n in range(1, 12):  # also where its directory cannot be opened
        stage.answer("project", "forget", *there, status=1, env={"CLOOP_FAULT": f"rundir:open:{n}"})
    stage.answer("stop", single)
    assert stage.answer("project", "forget", *there)["forgotten"]


def test_set_show_forget(stage):
    there = ("-C", stage.project)
    assert stage.answer("project", "show", *there) == {
        "project": str(stage.project), "known": False, "executor": None, "provider": "none",
        "first_seen": None,
        "limits": {"cpu_millis": 0, "memory_mb": 0, "disk_mb": 0, "pids": 0}}
    link = stage.dir / "link"
    link.symlink_to(stage.project)
    for provider in ("claudecode", "copilot", "none"):
        stage.answer("project", "set", "-C", link, "provider", provider)
        shown = stage.answer("project", "show", *there)
        assert (shown["known"], shown["provider"]) == (True, provider)
    for words in (("provider", "gpt"), ("provider",), ("colour", "red"), ("provider", "")):
        assert stage.cloop("project", "set", *there, *words).rc == 2
    stage.answer("project", "set", *there, "provider", "copilot")
    stage.write("kept")
    moved = stage.dir / "moved"
    os.rename(stage.project, moved)
    assert not stage.answer("project", "show", "-C", moved)["known"]
    assert stage.answer("project", "show", *there)["provider"] == "copilot"
    assert stage.answer("project", "forget", *there)["forgotten"]
    assert stage.answer("project", "forget", *there, status=1)["code"] == "project_unknown"
    assert stage.answer("project", "set", *there, "provider", "none",
                        status=1)["code"] == "not_a_project"
    assert stage.answer("project", "list") == {"projects": []}
    assert (moved / "kept").exists()


def test_a_store_that_cannot_be_used_refuses(stage, database):
    """Who cannot tell what an image must carry does not run it; nothing is lost."""
    stage.answer("project", "set", "-C", stage.project, "provider", "none")
    [(version,)] = database("PRAGMA user_version")
    database("PRAGMA user_version = 1000")
    stage.refused("/bin/true", code="store_newer")
    database(f"PRAGMA user_version = {version}")
    assert stage.sh("true").rc == 0
    file = stage.home / "state.db"
    content = b"never a database" * 100
    file.write_bytes(content)
    r = stage.refused("/bin/true", code="store_corrupt")
    assert str(file) in r.err.decode() and ".recover" in r.err.decode()
    assert file.read_bytes() == content


def test_one_row_per_refused_project(stage):
    image = "Quay.IO/Acme/tool:1".lower().replace("quay.io", "QUAY.io")
    stage.config(policy(allowed_registries=["ghcr.io"]))
    projects = [stage.make_project(f"p{i}") for i in range(6)]
    for project in projects:
        stage.spec({"image": image}, project)
        stage.refused("/bin/true", code="sandbox_image_denied", project=project)
        stage.cloop("sandbox", "check", "--json", project)
        stage.cloop("image", "check", "--json", image)
        stage.cloop("sandbox", "explain", "-C", project)
    written = rows(stage)
    assert [r["payload"]["project"] for r in written] == [str(p) for p in projects]
    for row in written:
        assert (row["action"], row["entity"], row["actor"]) == (
            "sandbox.image_denied", "project", "system")
        reason = row["payload"].pop("reason")
        assert "quay.io" in reason and "allowed_registries" in reason
        row["payload"].pop("project")
        assert row["payload"] == {
            "image": image, "rule": "registry-allowlist", "detail": "", "origin": "project",
            "registry": "quay.io", "repository": "acme/tool", "executor_id": "container"}
    assert stage.answer("audit", "verify") == {
        "ok": True, "rows": 6, "seq": None, "reason": None, "last_hash": written[-1]["hash"]}


def test_homograph(stage):
    image = "gh\u0441r.io/acme/tool"
    stage.spec({"image": image})
    answer = stage.answer("run", "-C", stage.project, "--", "/bin/true", status=125)
    assert (answer["code"], answer["status"]) == ("sandbox_invalid_spec", 400)
    assert (answer["rule"], answer["detail"], answer["image"]) == (
        "reference-syntax", "not_ascii", image)
    for words in ("(rule: reference-syntax)", "malformed image reference"):
        assert words in answer["error"]
    [row] = rows(stage)
    payload = row["payload"]
    assert (payload["image"], payload["rule"], payload["detail"]) == (
        image, "reference-syntax", "not_ascii")
    assert (payload["registry"], payload["repository"]) == ("", "")
    # Both views show that it is not ASCII.
    for words in (("list",), ("list", "--json"), ("export",)):
        r = stage.cloop("audit", *words)
        assert r.rc == 0 and r.out.isascii() and b"\x1b" not in r.out


def test_what_a_row_holds(stage):
    """The default registry of a bare name, 512 bytes, the operator's own image, a broken config."""
    stage.config(policy(allowed_registries=["quay.io"], default_registry="docker.io"))
    stage.spec({"image": "alpine"})
    stage.refused("/bin/true", code="sandbox_image_denied")
    stage.spec({"image": "\u00e4\u001b[31m" + "a" * 504 + "\u20ac" * 9})
    stage.refused("/bin/true", code="sandbox_invalid_spec")
    stage.spec({})
    stage.config(policy(allowed_registries=["ghcr.io"], govern_operator_images=True))
    stage.refused("/bin/true", code="sandbox_image_denied")
    stage.spec({"image": "quay.io/acme/tool:1"})
    stage.config(policy(require_digest="yes"))
    stage.refused("/bin/true", code="sandbox_image_denied")
    stage.spec({"env": ["bad name"]})
    stage.config()
    stage.refused("/bin/true", code="sandbox_invalid_spec")
    bare, long, operator, broken = (r["payload"] for r in rows(stage))
    assert (bare["image"], bare["registry"], bare["repository"]) == (
        "alpine", "docker.io", "library/alpine")
    assert long["image"] == "\u00e4\u001b[31m" + "a" * 504 + "\\xe2" and long["rule"] == "reference-syntax"
    assert (operator["image"], operator["origin"]) == (IMAGE, "operator")
    assert (broken["image"], broken["rule"], broken["origin"], broken["repository"]) == (
        "quay.io/acme/tool:1", "policy-configuration", "project", "acme/tool")


def test_a_row_that_cannot_be_written(stage):
    stage.config(policy(allowed_registries=["ghcr.io"]))
    stage.spec({"image": "quay.io/a/b"})
    for fault in ("store-open", "store-write", "store-exec:2"):
        r = stage.refused("/bin/true", code="sandbox_image_denied", env={"CLOOP_FAULT": fault})
        assert "not in the audit trail" in r.err.decode(), (fault, r)
    assert rows(stage) == []


def test_a_chain_that_was_tampered_with(stage, database):
    stage.config(policy(allowed_registries=["ghcr.io"]))
    stage.spec({"image": "quay.io/a/b"})
    for _ in range(4):
        stage.refused("/bin/true", code="sandbox_image_denied")
    whole = database("SELECT * FROM audit")
    lines = stage.cloop("audit", "export").out.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3, 4]
    for sql, seq in (("UPDATE audit SET actor = 'nobody' WHERE seq = 2", 2),
                     ("DELETE FROM audit WHERE seq = 3", 3),
                     ("DELETE FROM audit WHERE seq = 4", 4),
                     ("DELETE FROM audit", 1)):
        database(sql)
        answer = stage.answer("audit", "verify", status=1)
        assert not answer["ok"] and answer["seq"] == seq and answer["reason"], (sql, answer)
        database("DELETE FROM audit")
        for row in whole:
            database("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
        assert stage.answer("audit", "verify")["ok"]
