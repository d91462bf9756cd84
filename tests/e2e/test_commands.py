"""What commands promise about a run comes true: explain, executor list, show, test, doctor, config
init, ps, status (cli.md)."""
import json
import re
import shutil
import subprocess

from crashing import kill_shim, until
from engines import IMAGE, on, once, rootfs
from granting import mint

HANDLE = "c-000000000000"
SPEC = {"resources": {"memory": "96m", "cpu": 0.5, "pids": 40}, "env": ["TOKEN"],
        "mounts": [{"source": "data", "target": "/mnt/data", "read_only": True}]}


def prepare(stage):
    """A file that this engine can hold."""
    limited = stage.answer("executor", "show")["capabilities"]["resource_limits"]
    spec = SPEC if limited else {k: v for k, v in SPEC.items() if k != "resources"}
    stage.write("data/file")
    stage.write(".git/config")
    stage.spec(spec)
    return spec


def test_explained_line_is_what_runs(stage):
    """The argv of explain but for the handle is the argv of the run's own plan, and the container
    that the engine shows is made of it."""
    prepare(stage)
    words = ["/bin/sh", "-c", "sleep 60", "", "-x"]
    explained = stage.answer("sandbox", "explain", "-C", stage.project, "--", *words)
    assert stage.run_dirs() == []
    argv = explained["argv"]
    assert argv[:3] == [stage.engine.kind, "run", "--detach"] and argv[-len(words):] == words
    handle = stage.detach(*words)
    request = json.loads((stage.home / "runs" / handle / "request.json").read_text())
    ran = find_argv(request)
    short = handle.replace("c-", "")
    assert [w.replace(short, HANDLE[2:]) for w in ran] == argv
    check_container(stage, stage.engine.inspect(stage.container_of(handle)), explained, handle)
    assert stage.cloop("stop", "--signal", "kill", handle).rc == 0
    assert stage.wait(handle).rc == 137


def find_argv(request):
    """The engine line in the plan that the supervisor got."""
    for value in request.values():
        if isinstance(value, list) and value[1:3] == ["run", "--detach"]:
            return value
    raise AssertionError(request.keys())


def check_container(stage, seen, explained, handle):
    config, host = seen["Config"], seen["HostConfig"]
    labels = {k: v for k, v in config["Labels"].items() if k.startswith("cloop.")}
    wanted = {}
    for word in explained["argv"]:
        if word.startswith("--label="):
            key, value = word[len("--label="):].split("=", 1)
            wanted[key] = value
    assert labels == {**wanted, "cloop.handle": handle}
    mounts = {m["Destination"]: m["RW"] for m in seen["Mounts"]}
    for m in explained["mounts"]:
        assert mounts[m["target"]] is not m["read_only"], m
    assert set(mounts) - {m["target"] for m in explained["mounts"]} <= {"/etc/hosts"}
    assert host["ReadonlyRootfs"] is True and host["Privileged"] is False
    assert host["NetworkMode"] == "none"
    effective = explained["limits"]["effective"]
    assert host["Memory"] == effective["memory_mb"] << 20
    assert host["PidsLimit"] == effective["pids"] + 1 or not effective["pids"]


def test_explain_tells_why(stage):
    spec = prepare(stage)
    explained = stage.answer("sandbox", "explain", "-C", stage.project)
    needs = explained["requirements"]
    assert "sandbox_mounts" in needs and "network_off" in needs
    assert ("resource_limits" in needs) == ("resources" in spec)
    assert explained["network"]["mode"] == "none" and explained["placement"]["selected"]
    assert [m for m in explained["mounts"] if m["target"] == "/mnt/data" and m["read_only"]]
    assert explained["image"]["run_as"]


def test_explain_refuses_as_run_does(stage):
    stage.spec({"env": None, "mounts": [{"source": "up", "target": "/mnt/x"}]})
    (stage.project / "up").symlink_to("/etc")
    r = stage.cloop("sandbox", "explain", "--json", "-C", stage.project)
    answer = json.loads(r.out)
    assert r.rc == 1 and answer["code"] == "mount_escapes"
    record = stage.refused("/bin/true", code="mount_escapes").record
    # Nothing was made, and yet it is told what was decided.
    assert record["handle"] is None and record["executor_id"] == "container"
    assert record["sandbox_sha256"] == stage.answer("sandbox", "check", stage.project)["sha256"]
    assert [w["code"] for w in record["warnings"]] == ["null_env"]


def test_executor_commands(stage):
    shown = stage.answer("executor", "list")["executors"]
    assert [e["id"] for e in shown] == ["container"] and shown[0]["available"] is True
    able = stage.answer("executor", "show", "container")["capabilities"]
    assert able["isolation"] == "container" and able["network_off"] == "enforced"
    assert able["sandbox_mounts"] is True and able["kernel_isolated"] is False
    assert able["stream"] is True and able["signal"] is True
    r = stage.cloop("executor", "show", "nobody", "--json")
    assert r.rc == 1 and json.loads(r.out)["code"] == "executor_unknown"


def test_smoke_test(stage):
    report = stage.answer("executor", "test", "container", "-C", stage.project)
    shown = "podman (rootless)" if stage.engine.key == "R" else stage.engine.kind
    assert (report["executor_id"], report["runtime"]) == ("container", shown)
    assert report["oci_runtime"] == report["smoke"]["oci_runtime"] == stage.engine.oci_runtime
    assert all(f["level"] in ("ok", "warn") for f in report["findings"])
    assert all(f["fix"] for f in report["findings"] if f["level"] == "warn")
    smoke = report["smoke"]
    assert smoke["container_name"].startswith("cloop-") and smoke["runtime"] == shown, smoke
    assert smoke["exit_code"] == 0 and smoke["output"] and smoke["duration_ms"] > 0
    version = stage.answer("version")["version"]
    assert version in smoke["output"]
    # … and no project of anybody's.
    assert "cloop-smoke-" not in str(stage.answer("project", "list")["projects"])


def test_smoke_test_of_a_missing_image(stage):
    stage.config(image="localhost/cloop-e2e-none:1")
    r = stage.cloop("executor", "test", "--json")
    report = json.loads(r.out)
    assert r.rc in (1, 2) and (report.get("smoke_error") or [
        f for f in report["findings"] if f["level"] == "fail" and f["fix"]])
    assert report["smoke"] is None or report["smoke"]["output"] is None


@on("P")
def test_smoke_test_of_another_machine_s_image(stage):
    """cloop's own program would run in it; what the image brings would not."""
    name = "localhost/cloop-e2e-foreign:1"
    stage.engine.call("import", "--arch=s390x", "-", name, data=rootfs())
    stage.config(image=name)
    try:
        answer = stage.answer("executor", "test", status=1)
    finally:
        stage.engine.call("rmi", name)
    told = answer["smoke_error"]
    assert told["code"] == "command_not_executable" and "s390x" in told["error"], answer
    assert name in told["error"] and "executors.container.image" in told["remediation"], told
    assert stage.run_dirs() == []


@once
def test_an_engine_that_is_not_there(stage):
    stage.config(runtime="/nonexistent/podman")
    answer = stage.answer("executor", "test", status=2)
    [found] = answer["findings"]
    assert (found["name"], found["level"], answer["ok"]) == ("runtime", "fail", False), answer
    assert "/nonexistent/podman" in found["message"] and found["fix"]
    assert answer["code"] == "runtime_missing" and answer["runtime"] == "<none>"
    human = stage.cloop("executor", "test")
    assert human.rc == 2 and b"fail  runtime" in human.out and b"fix: " in human.out, human
    answer = stage.answer("executor", "reap", status=1)
    assert answer["code"] == "runtime_missing" and answer["removed"] == [], answer


def old_runc(stage):
    """By its own words; the docker of the tests is not judged by it."""
    if stage.engine.kind != "podman" or stage.engine.oci_runtime != "runc":
        return False
    words = subprocess.run(["runc", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.match(r"runc version (\d+)\.(\d+)\.(\d+)", words).groups())) < (1, 3, 6)


def findings(stage):
    """The ones of the container executor, by doctor."""
    report = stage.answer("doctor")
    start = "executor.container."
    return {c["name"][len(start):]: c for c in report["checks"] if c["name"].startswith(start)}


def test_old_runc(stage):
    assert (findings(stage)["runtime"]["level"] == "warn") == old_runc(stage)
    if old_runc(stage):
        assert "1.3.6" in findings(stage)["runtime"]["message"]
        stage.config({"sandbox": {"image_policy": {"require_digest": True}}})
        assert findings(stage)["runtime"]["level"] == "warn"  # the operator's own is a tag


@once
def test_granted_devices(stage):
    """Whoever has one: a read-only one may not be held to that."""
    assert "devices" not in findings(stage)
    mint(stage, "lab", "host_device", "zero0=/dev/zero\n")
    assert "devices" not in findings(stage)
    held = stage.answer("secret", "grant", "lab", "--to", "project:/nowhere", "--devices", "zero0")
    found = findings(stage)["devices"]
    assert found["level"] == "warn" and found["fix"], found
    assert stage.cloop("secret", "revoke", held["id"]).rc == 0
    assert "devices" not in findings(stage)


def test_doctor(stage):
    r = stage.cloop("doctor", "--json")
    report = json.loads(r.out)
    assert r.rc == 0 and report["ok"] is True
    levels = {c["name"]: c["level"] for c in report["checks"]}
    assert levels["executor.container.image"] == "ok"
    assert levels["executor.container.runtime"] == ("warn" if old_runc(stage) else "ok")
    human = stage.cloop("doctor")
    assert human.rc == 0 and b"executor.container.runtime: " in human.out


def test_config_init_finds_what_works(stage):
    """podman's values work here; docker is only looked at where podman does not."""
    if stage.engine.key == "D":
        return
    stage.config_file.unlink()
    r = stage.cloop("config", "init")
    assert r.rc == 0, r
    text = stage.config_file.read_text()
    assert re.search(r"runtime:\s*\"?podman", text)
    assert b"found: nft" in r.err
    assert (b"found: own ranges of user and group ids" in r.err) == (stage.engine.key == "R")
    assert stage.cloop("config", "init").rc == 1  # never over an existing one
    assert stage.cloop("config", "check").rc == 0
    stage.spec({"image": IMAGE})
    assert stage.sh("exit 7").rc == 7


def test_ps_and_status(stage):
    handles = [stage.detach("/bin/sleep", "60", options=["--title", f"t{i}"]) for i in range(2)]
    done = stage.sh("exit 3").record["handle"]
    live = stage.answer("ps")["runs"]
    assert {r["handle"] for r in live} == set(handles)
    assert {r["handle"] for r in stage.answer("ps", "--all")["runs"]} == {*handles, done}
    for handle in handles:
        record = stage.status(handle[:8])
        assert record["state"] == "running" and record["handle"] == handle
        assert "supervision" not in record
        assert stage.cloop("stop", "--grace", "0", handle).rc == 0
    assert stage.answer("ps")["runs"] == []
    r = stage.cloop("status", "c-00000000000f", "--json")
    assert r.rc == 1 and json.loads(r.out)["code"] == "handle_not_found"


@on("R")
def test_reached_from_another_session(stage):
    """A run that cron began, which sets no XDG_RUNTIME_DIR, and a user who has one, or the other way."""
    handle = stage.detach("/bin/sleep", "60")
    assert stage.cloop("stop", "--grace", "0", handle, env={"XDG_RUNTIME_DIR": ""}).rc == 0
    assert stage.wait(handle).record["outcome"] == "cancelled"


@on("R")
def test_adopted_from_another_session(stage):
    handle = stage.detach("/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; exit 7")
    kill_shim(stage, handle)
    other = {"XDG_RUNTIME_DIR": ""}
    assert stage.answer("ps", env=other)["runs"][0]["handle"] == handle
    (stage.project / "go").touch()
    assert stage.cloop("wait", handle, env=other).rc == 7
    assert stage.status(handle)["warnings"] == []


@on("PR")
def test_reached_when_its_socket_was_removed(stage):
    """As $XDG_RUNTIME_DIR is when the user's last session ends: the supervisor listens anew."""
    handle = stage.detach("/bin/sleep", "60")
    socket = stage.home / "runs" / handle / "control"
    first = socket.resolve()
    if stage.engine.uid == 0:
        first.unlink()  # /run/cloop is of all the machine's runs
    else:
        shutil.rmtree(first.parent)
    until(lambda: socket.exists(), "socket")
    assert stage.cloop("stop", "--grace", "0", handle).rc == 0
    assert stage.wait(handle).record["outcome"] == "cancelled"


@on("R")
def test_reached_when_the_runtime_directory_is_gone(stage):
    """Then there is a folder in the home."""
    place = stage.dir / "runtime"
    place.mkdir()
    stage.engine.own(place)
    handle = stage.detach("/bin/sleep", "60", env={"XDG_RUNTIME_DIR": str(place)})
    socket = stage.home / "runs" / handle / "control"
    assert socket.resolve().parent.parent == place
    shutil.rmtree(place)
    until(lambda: socket.exists(), "socket")
    assert socket.resolve().parent == stage.home / "sockets"
    assert stage.cloop("stop", "--grace", "0", handle).rc == 0
    assert stage.wait(handle).record["outcome"] == "cancelled"


def test_record_and_labels(stage):
    r = stage.sh("true", options=["--title", "hello", "--label", "team=blue", "--label", "we ird=x"])
    assert r.rc == 0 and r.record["title"] == "hello"
    handle = stage.detach("/bin/sleep", "60", options=["--label", "team=blue"])
    labels = stage.engine.inspect(stage.container_of(handle))["Config"]["Labels"]
    assert labels["cloop.spec.team"] == "blue" and labels["cloop.managed"] == "true"
    assert labels["cloop.project"] == str(stage.project)
    assert stage.cloop("stop", "--signal", "kill", handle).rc == 0
    stage.refused("/bin/true", code="label_collision",
                  options=["--label", "a b=1", "--label", "a_b=2"])
