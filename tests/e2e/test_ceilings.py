"""Ceilings of fleet, executor and project on their way into runs (sandbox-spec.md §10), and limits
that an engine did not apply (container-driver.md §9.5, §25.10)."""
import json
import os
import pathlib
import shutil
import sqlite3
import tempfile

import pytest

from engines import IMAGE, on
from stage import parallel
from test_journal import journal
from test_limits import ceiling, limited, look
from test_projects import rows

MB = 1 << 20
AMOUNTS = ("cpu_millis", "memory_mb", "disk_mb", "pids")
NONE = dict.fromkeys(AMOUNTS, 0)
NOT_APPLIED = {  # what the fake engine loses, and what is missed then
    "--memory=*|--memory-swap=*": ["memory", "swap"],
    "--memory-swap=*": ["swap"],
    "--cpus=*": ["cpu"],
    "--pids-limit=*": ["pids"],
    "--memory=*|--memory-swap=*|--cpus=*|--pids-limit=*": ["memory", "swap", "cpu", "pids"],
}
FAKE = """#!/bin/sh
n=$#
while [ $n -gt 0 ]; do
	word=$1
	shift
	n=$((n - 1))
	case $word in
	{lost}) ;;
	*) set -- "$@" "$word" ;;
	esac
done
exec {engine} "$@"
"""


def once(stage):
    if stage.engine.key != "P":
        pytest.skip("the same for every engine")


def set_limits(stage, *options, project=None, **more):
    whose = [] if "--executor" in options else ["-C", project or stage.project]
    return stage.answer("limits", "set", *whose, *options, **more)


def listed(stage):
    return {(c["source"], c["executor"] or c["project"]): c
            for c in stage.answer("limits", "list")["ceilings"]}


def change(stage, sql, *values):
    """A statement on state.db by another hand."""
    with sqlite3.connect(stage.home / "state.db") as db:
        db.execute(sql, values)
    db.close()


def audited(stage):
    return [(r["action"], r["payload"]) for r in rows(stage) if r["action"].startswith("limits.")]


# Into a run.

def test_three_places(stage):
    if not limited(stage):
        pytest.skip("no limits here (test_limits.py)")
    ceiling(stage, {"max_memory": "512m", "max_pids": 100, "max_cpu": 0.7})
    set_limits(stage, "--executor", "container", "--memory", "256m", "--pids", "80")
    set_limits(stage, "--memory", "128m", "--pids", "90")
    stage.spec({"resources": {"memory": "1g", "pids": 200, "cpu": 0.5}})
    explained = stage.answer("sandbox", "explain", "-C", stage.project)["limits"]
    seen, record = look(stage)
    assert seen["memory"] == str(128 * MB) and seen["pids"] == "81" and seen["cpu"] == 0.5
    clamps = [(c["source"], c["resource"], c["requested"], c["effective"])
              for c in record["limits"]["clamps"]]
    assert clamps == [("fleet", "memory", 1024, 512), ("fleet", "pids", 200, 100),
                      ("executor", "memory", 512, 256), ("executor", "pids", 100, 80),
                      ("project", "memory", 256, 128)]
    assert record["limits"]["clamps"] == explained["clamps"]
    assert record["limits"]["effective"] == {**explained["effective"], "cpu_millis": 500}
    assert record["limits"]["source"] == explained["source"] == {
        "cpu": "spec", "memory": "project", "disk": "none", "pids": "executor"}
    assert explained["ceilings"]["project"] == {**NONE, "memory_mb": 128, "pids": 90}
    told = [w["message"] for w in record["warnings"] if w["code"] == "resource_ceiling"]
    kept = [r["message"] for r in journal(stage) if r["kind"] == "resource_ceiling"]
    assert told == kept and len(told) == len(clamps)
    assert "the project ceiling" in told[-1] and "128 MB" in told[-1] and "256 MB" in told[-1]


def test_without_a_request(stage):
    """A ceiling caps defaults and stands in where there is none; that is no clamp."""
    if not limited(stage):
        pytest.skip("no limits here (test_limits.py)")
    stage.config(memory="512m")
    set_limits(stage, "--memory", "96m", "--cpu", "0.25")
    seen, record = look(stage)
    assert seen["memory"] == str(96 * MB) and seen["cpu"] == 0.25
    assert record["limits"]["source"]["memory"] == record["limits"]["source"]["cpu"] == "project"
    assert record["limits"]["clamps"] == [] and journal(stage)[1:] == []
    # Another project has none of it, and this one none any more.
    other = stage.make_project("other")
    assert stage.run("true", project=other).record["limits"]["source"]["memory"] == "default"
    stage.answer("limits", "clear", "-C", stage.project)
    assert stage.run("true").record["limits"]["source"]["memory"] == "default"


def test_from_the_next_start_on(stage):
    once(stage)
    set_limits(stage, "--memory", "128m")
    handle = stage.detach("sleep", "60")
    set_limits(stage, "--memory", "64m")
    assert stage.status(handle)["limits"]["effective"]["memory_mb"] == 128
    assert look(stage)[0]["memory"] == str(64 * MB)
    stage.cloop("stop", "--signal", "kill", handle)
    stage.wait(handle)


def test_disk(stage):
    """A ceiling of the project, or of the executor, is the limit of a file that names none."""
    stage.write("big", b"x" * (70 * MB))
    for whose in (["-C", stage.project], ["--executor", "container"]):
        stage.answer("limits", "set", *whose, "--disk", "64m")
        refused = stage.refused("true", code="workspace_over_disk_limit")
        assert b"an operator's disk ceiling" in refused.err and b"64 MB" in refused.err
        assert b"executors.limits.max_disk" in refused.err
        assert journal(stage)[-1]["kind"] == "disk_limit"
        stage.answer("limits", "clear", *whose)
    if not limited(stage):
        return  # any key of resources is refused there
    stage.spec({"resources": {"disk": "2g"}})
    set_limits(stage, "--disk", "128m")
    r = stage.sh("true")
    assert r.rc == 0 and r.record["limits"]["effective"]["disk_mb"] == 128
    assert r.record["limits"]["source"]["disk"] == "project"
    set_limits(stage, "--disk", "0")
    stage.spec({"resources": {"disk": "64m"}})
    refused = stage.refused("true", code="workspace_over_disk_limit")
    assert b"from .cloop/sandbox.yaml resources.disk" in refused.err


def test_not_held_rootless(stage):
    """R on cgroup v1: cpu, memory and pids are not held; a row at every dispatch, and a warning."""
    if limited(stage):
        pytest.skip("limits can be held here")
    said = set_limits(stage, "--memory", "64m", "--pids", "50", "--disk", "1g")
    assert [w["code"] for w in said["warnings"]] == ["resource_ceiling"] * 2
    assert said["warnings"][0]["message"] == (
        "memory: a ceiling is set, and executor container cannot hold it")
    for n in (1, 2):
        r = stage.sh("true")
        assert r.rc == 0 and r.record["limits"]["unenforced"] == ["memory", "pids"]
        assert r.record["limits"]["effective"] == {**NONE, "disk_mb": 1024}
        mine = [j["message"] for j in journal(stage) if j["kind"] == "resource_ceiling"]
        assert len(mine) == 2 * n


def test_not_held_on_the_host(stage):
    once(stage)
    stage.config(sections={"executors": {
        "allow_host_process": True, "container": {"enabled": False},
        "limits": {"max_memory": "80m"}}})
    r = stage.cloop("limits", "set", "--executor", "localprocess", "--cpu", "1")
    assert r.rc == 0 and b"warning: cpu: a ceiling is set" in r.err and b"localprocess" in r.err
    set_limits(stage, "--disk", "1g")
    said = stage.answer("config", "set", "executors.limits.max_pids", "9")["warnings"]
    assert [w["message"].split(":")[0] for w in said] == ["memory", "pids"]
    assert stage.answer("config", "set", "executors.limits.max_pids")["warnings"][1:] == []
    unbound = stage.make_project("unbound")
    stage.config(sections={"executors": {
        "allow_host_process": True, "container": {"runtime": "podman", "image": IMAGE},
        "limits": {"max_memory": "80m"}}})
    stage.answer("executor", "bind", "-C", stage.project, "localprocess")
    assert len(set_limits(stage, "--disk", "2g")["warnings"]) == 1
    assert set_limits(stage, "--disk", "2g", project=unbound)["warnings"] == []
    for n in (1, 2):
        assert stage.run("/bin/true").record["limits"]["unenforced"] == ["cpu", "memory", "disk"]
        assert len([j for j in journal(stage) if j["kind"] == "resource_ceiling"]) == 3 * n


def refusal(stage, spec):
    stage.spec(spec)
    said = stage.answer("run", "-C", stage.project, "--", "/bin/true", status=125)
    return said["status"], said["code"], said["constraint"], bool(said["remediation"])


@pytest.mark.parametrize("resources", [
    {"cpu": 1}, {"memory": "1g"}, {"pids": 9}, {"disk": "1g"}])
def test_requests_that_nobody_holds(stage, resources):
    """The seeds' rows resources and resources.disk, of localprocess and of a container without
    limits: constraint resource_limits, since the executor holds none at all."""
    if stage.engine.key == "P":
        stage.config(sections={"executors": {
            "allow_host_process": True, "container": {"enabled": False}}})
        spec = {"resources": resources, "capabilities": {"network": "egress_" + "0" * 24}}
        assert refusal(stage, spec) == (409, "host_execution_denied", "resource_limits", True)
    elif limited(stage):
        assert stage.engine.key != "R"
        stage.spec({"resources": resources})
        assert stage.run("/bin/true").rc == 0
    else:
        assert refusal(stage, {"resources": resources}) == (
            409, "sandbox_unsupported", "resource_limits", True)
    assert len(stage.run_dirs()) == (stage.engine.key == "D")


# Bad input.

@pytest.mark.parametrize("value, rule", [
    ("nan", "not_a_size"), ("NaN", "not_a_size"), (".nan", "not_a_size"), ("inf", "not_a_size"),
    ("-1", "negative"), ("-1m", "negative"), ("2gb", "not_a_size"), ("1e3", "not_a_size"),
    ("0x40", "not_a_size"), ("63m", "below_minimum"), ("1", "below_minimum"),
    ("1025g", "too_large"), ("9223372036854775808", "too_large"),
    ("18446744073709551680m", "too_large"), ("", "empty"), ("64 m", "not_a_size"),
    ("9" * 100, "too_long")])
def test_bad_sizes(stage, value, rule):
    once(stage)
    for option in ("--memory", "--disk"):
        r = set_limits(stage, f"{option}={value}", status=1)
        assert r["code"] == "limits_configuration" and r["rule"] == rule and r["remediation"]
    assert list(listed(stage)) == [("fleet", None)] and not (stage.home / "state.db").exists()


@pytest.mark.parametrize("option, value, rule", [
    ("--cpu", "nan", "not_a_number"), ("--cpu", "infinity", "not_a_number"),
    ("--cpu", "1024.001", "too_large"), ("--cpu", "-0.5", "negative"),
    ("--cpu", "1e2", "not_a_number"), ("--cpu", "", "empty"),
    ("--pids", "65537", "too_large"), ("--pids", "-1", "negative"), ("--pids", "1.5", "not_a_number"),
    ("--pids", "4294967297", "too_large"), ("--pids", "18446744073709551617", "too_large"),
    ("--pids", "max", "not_a_number")])
def test_bad_numbers(stage, option, value, rule):
    once(stage)
    r = set_limits(stage, f"{option}={value}", status=1)
    assert r["code"] == "limits_configuration" and r["rule"] == rule


def test_usage(stage):
    once(stage)
    for words in (["set", "-C", stage.project], ["set", "-C", stage.project, "--executor", "container",
                                                 "--cpu", "1"],
                  ["clear", "-C", stage.project, "swap"], ["set", "cpu", "1"]):
        assert stage.cloop("limits", *words).rc == 2
    assert set_limits(stage, "--executor", "containre", "--cpu", "1",
                      status=1)["code"] == "executor_unknown"
    assert set_limits(stage, "--cpu", "1", project=stage.dir / "nowhere",
                      status=1)["code"] == "not_a_project"


def test_least_and_most(stage):
    """0 is no ceiling; 1 TiB is one, and an engine takes it."""
    once(stage)
    ceiling(stage, {"max_memory": "1t", "max_disk": "1t", "max_cpu": 1024, "max_pids": 65536})
    stage.spec({"resources": {"memory": "1t", "disk": "1t", "cpu": 1024, "pids": 65536}})
    seen, record = look(stage)
    assert seen["memory"] == str(1 << 40) and record["limits"]["effective"]["disk_mb"] == MB
    assert record["limits"]["effective"]["memory_mb"] == MB and record["limits"]["clamps"] == []
    ceiling(stage, {"max_memory": 0, "max_disk": 0, "max_cpu": 0, "max_pids": 0})
    assert set_limits(stage, "--memory", "0", "--cpu", "0", "--pids", "0", "--disk", "0") == {
        "source": "project", "executor": None, "project": str(stage.project), "limits": NONE,
        "text": "unlimited", "error": None, "changed": False, "warnings": []}
    assert look(stage)[0]["memory"] == str(1 << 40)
    set_limits(stage, "--memory", "1t", "--disk", "1t", "--cpu", "1024", "--pids", "65536")
    assert look(stage)[1]["limits"]["clamps"] == []


@pytest.mark.parametrize("limits", [
    '{max_cpu: .nan}', '{max_cpu: nan}', '{max_cpu: .inf}', '{max_cpu: -1}', '{max_memory: .NaN}',
    '{max_memory: 1e3}', '{max_memory: 2t}', '{max_pids: 0x10}', '{max_pids: 1.0}',
    '{max_disk: 1m}', '{max_disk: 99999999999999999999}', '{max_mem: 2g}', '[]', '4g',
    '{max_cpu: 1, max_cpu: 2}'])
def test_broken_section(stage, limits):
    """No run at all, and no ceiling is read as none."""
    once(stage)
    stage.config_file.write_text("executors: {limits: %s}\n" % limits)
    for words in (["run", "-C", stage.project, "--", "true"],
                  ["sandbox", "explain", "-C", stage.project], ["limits", "list"]):
        r = stage.answer(*words, status=125 if words[0] == "run" else 1)
        assert r["code"] in ("limits_configuration", "config_invalid") and r["remediation"], r
        if "max_cpu: 1, max" not in limits:
            assert r["code"] == "limits_configuration" and "executors.limits" in r["error"], r
    assert stage.run_dirs() == []


@pytest.mark.parametrize("column, value", [
    ("memory_mb", 3), ("memory_mb", -1), ("disk_mb", 1 << 40), ("pids", 65537), ("cpu_millis", -500),
    ("cpu_millis", 1 << 62), ("pids", -(1 << 63))])
def test_broken_row(stage, column, value):
    """A stored ceiling out of range refuses the runs that it would bound, by name, until it is
    mended; whoever mends is not refused."""
    once(stage)
    set_limits(stage, "--memory", "64m", "--pids", "50")
    set_limits(stage, "--executor", "container", "--cpu", "1")
    for source, clear in (("project", ["-C", stage.project]), ("executor", ["--executor", "container"])):
        change(stage, f"UPDATE ceiling SET {column} = ? WHERE source = ?", value, source)
        refused = stage.refused("true", code="limits_configuration")
        assert column in refused.record["error"] and str(value) in refused.record["error"]
        assert journal(stage)[-1]["kind"] == "refused"
        assert stage.answer("sandbox", "explain", "-C", stage.project,
                            status=1)["code"] == "limits_configuration"
        other = stage.run("true", project=stage.make_project(f"other-{source}"))
        assert other.rc == (0 if source == "project" else 125)
        broken = [c for c in listed(stage).values() if c["error"]]
        assert len(broken) == 1 and broken[0]["source"] == source and column in broken[0]["error"]
        assert broken[0]["text"] == "broken" and broken[0]["limits"][column] == value
        [fault] = [c for c in json.loads(stage.cloop("doctor", "--offline", "--json").out)["checks"]
                   if c["name"] == "limits"]
        assert fault["level"] == "fail" and str(value) in fault["message"] and fault["fix"]
        if column != "pids":
            assert stage.answer("limits", "set", *clear, "--pids", "60",
                                status=1)["code"] == "limits_configuration"
        resource = column.removesuffix("_mb").removesuffix("_millis")
        assert stage.answer("limits", "clear", *clear, resource)["limits"][column] == 0
        assert stage.sh("true").rc == 0


def test_store_that_cannot_be_read(stage):
    """Nobody knows whether there is a ceiling: no run."""
    once(stage)
    set_limits(stage, "--memory", "64m")
    (stage.home / "state.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert stage.run("true").rc == 125
    assert stage.run_dirs() == []


# Changing.

def test_on_record(stage):
    once(stage)
    assert set_limits(stage, "--memory", "2g", "--pids", "64")["changed"]
    assert not set_limits(stage, "--memory", "2048m")["changed"]
    assert set_limits(stage, "--executor", "container", "--cpu", "1.5")["changed"]
    there = ("-C", stage.project)
    assert stage.answer("limits", "clear", *there, "pids")["text"] == "memory 2 GB"
    assert stage.answer("project", "show", *there)["limits"] == {**NONE, "memory_mb": 2048}
    assert b"ceiling: memory 2 GB\n" in stage.cloop("project", "show", *there).out
    shown = listed(stage)
    assert shown["executor", "container"]["text"] == "cpu 1.5"
    assert shown["project", str(stage.project)]["set_by"] == "root"
    assert stage.answer("limits", "clear", *there)["changed"]
    assert not stage.answer("limits", "clear", *there)["changed"]
    assert ("project", str(stage.project)) not in listed(stage)
    both = {**NONE, "memory_mb": 2048, "pids": 64}
    one = {**NONE, "memory_mb": 2048}
    mine = {"project": str(stage.project)}
    assert audited(stage) == [
        ("limits.set", {**mine, "before": None, "after": both}),
        ("limits.set", {"executor": "container", "before": None, "after": {**NONE, "cpu_millis": 1500}}),
        ("limits.set", {**mine, "before": both, "after": one}),
        ("limits.clear", {**mine, "before": one, "after": None})]
    kept = journal(stage)
    assert [r["kind"] for r in kept] == ["limits.set", "limits.set", "limits.clear"]
    assert "memory 2 GB, pids 64 (was: unlimited)" in kept[0]["message"]
    assert stage.answer("audit", "verify")["ok"]


def test_of_the_resolved_directory(stage):
    """A link to a project is the project; one that moved is another, and its old row can go."""
    once(stage)
    link = stage.dir / "link"
    link.symlink_to(stage.project)
    set_limits(stage, "--memory", "64m", project=link)
    assert stage.sh("true").record["limits"]["source"]["memory"] == "project"
    moved = stage.dir / "moved"
    os.rename(stage.project, moved)
    assert stage.sh("true", project=moved).record["limits"]["source"]["memory"] != "project"
    assert stage.answer("limits", "clear", "-C", stage.project)["changed"]


def test_forgotten(stage):
    once(stage)
    set_limits(stage, "--memory", "64m")
    there = ("-C", stage.project)
    assert stage.answer("project", "forget", *there)["forgotten"]
    assert list(listed(stage)) == [("fleet", None)]
    assert [a for a, _ in audited(stage)] == ["limits.set", "limits.clear"]
    assert stage.answer("project", "show", *there)["limits"] == NONE
    assert stage.answer("project", "forget", *there, status=1)["code"] == "project_unknown"


def test_set_at_once(stage):
    """Whoever sets one resource keeps those that others set."""
    once(stage)
    words = [("--memory", "64m"), ("--disk", "64m"), ("--cpu", "1"), ("--pids", "5")]
    parallel(lambda w: set_limits(stage, *w), words, workers=4)
    assert listed(stage)["project", str(stage.project)]["limits"] == {
        "cpu_millis": 1000, "memory_mb": 64, "disk_mb": 64, "pids": 5}
    assert len(audited(stage)) == 4


def test_all_or_nothing(stage):
    """A change and its rows are there together, or none of them."""
    once(stage)
    set_limits(stage, "--memory", "64m")
    for n in range(1, 8):
        r = stage.cloop("limits", "set", "-C", stage.project, "--memory", f"{100 + n}m",
                        env={"CLOOP_FAULT": f"store-write:{n}=fail"})
        there = listed(stage)["project", str(stage.project)]["limits"]["memory_mb"]
        last = audited(stage)[-1][1]["after"]["memory_mb"]
        assert there == last == int(journal(stage)[-1]["message"].split()[5])
        if r.rc == 0:
            break
        assert there == 64
    assert n > 2 and r.rc == 0


# Limits read back.

@pytest.fixture
def fake(stage):
    """An engine that loses words of its line; in a directory that cloop trusts (/run may be noexec)."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-e2e-", dir="/opt"))
    place.chmod(0o755)

    def make(lost):
        path = place / stage.engine.kind
        real = shutil.which(stage.engine.kind, path=stage.engine.env["PATH"])
        path.write_text(FAKE.format(lost=lost, engine=real))
        path.chmod(0o755)
        stage.config(runtime=str(path))
    yield make
    shutil.rmtree(place)


@pytest.mark.parametrize("lost", NOT_APPLIED)
def test_engine_that_drops_limits(stage, fake, lost):
    if not limited(stage):
        pytest.skip("no limits here: test_engine_that_ignores_limits")
    stage.spec({"resources": {"cpu": 0.5, "memory": "96m", "pids": 40}})
    fake(lost)
    refused = stage.refused("touch", "ran", code="limits_not_applied")
    expected = NOT_APPLIED[lost]
    assert refused.record["error"].endswith(": " + ", ".join(expected)), refused.record
    assert not (stage.project / "ran").exists()
    row = journal(stage)[-1]
    assert row["kind"] == "refused" and row["message"] == refused.record["error"]


def test_engine_that_ignores_limits(stage):
    """Rootless podman on cgroup v1 takes limits with a warning and applies none. cloop, which knows
    it, is told otherwise; what it finds in the kernel stops the run."""
    if stage.engine.key != "R" or limited(stage):
        pytest.skip("limits can be held here")
    stage.spec({"resources": {"cpu": 0.5, "memory": "96m", "pids": 40}})
    refused = stage.refused("touch", "ran", code="limits_not_applied",
                            env={"CLOOP_FAULT": "limits:believed"})
    assert refused.record["error"].endswith(": memory, swap, cpu, pids"), refused.record
    assert not (stage.project / "ran").exists()


LOOSENED = {  # what a fake engine loses or adds, and what is found on the init's own process
    "--cap-drop=ALL": "confinement_mismatch",
    "--security-opt=no-new-privileges": "confinement_mismatch",
    "--env=HOME=*": "env_mismatch",
    "--mount=*target=/etc/hosts*": "mount_changed",
    '--workdir=*) set -- "$@" "$word" --volume=/etc:/mnt/host:ro ;; --nothing': "unexpected_mount",
}


@on("PD")
def test_engine_that_loosens(stage, fake):
    for words, code in LOOSENED.items():
        fake(words)
        refused = stage.refused("touch", "ran", code=code)
        assert code != "unexpected_mount" or '"/mnt/host"' in refused.record["error"]
        stage.home_is_free()  # the container is removed by the fake, too
    assert not (stage.project / "ran").exists()


def test_engine_that_adds_nothing(stage, fake):
    """The fake itself does no harm."""
    fake("--nothing-of-this")
    if limited(stage):
        stage.spec({"resources": {"memory": "96m"}})
    assert stage.sh("true").rc == 0


def test_record_says_what_was_read(stage, fake):
    """An engine that holds a run tighter than asked: the record has the kernel's number."""
    if not limited(stage):
        pytest.skip("no limits here")
    path = stage.config_file
    fake("--pids-limit=*) set -- \"$@\" --pids-limit=31 ;; --nothing")
    stage.spec({"resources": {"pids": 40}})
    r = stage.sh("true")
    assert r.rc == 0 and r.record["limits"]["effective"]["pids"] == 30, (r, path.read_text())
    assert r.record["limits"]["requested"]["pids"] == 40
