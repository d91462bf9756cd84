"""Runs under gVisor, for real (container-driver.md §9.2): the sandbox has a kernel of its own, so
there is no gate, and everything goes through the engine."""
import json
import pathlib
import shutil
import time

import pytest

from attaching import Session
from crashing import (is_final, kill, kill_shim, output, processes, record_of, shims, until,
                      wait_final, wait_unsupervised, words_of)
from engines import PATH, missing
from test_disk import QUICK, ceiling
from test_revoking import GRANTS, ask, binding, material
from test_staging import CANARY, DIR, LEASE, MASK, file, started

# The kernel of a real host is newer than what the Sentry says it is.
SENTRY = b"4.4.0"
BOOT = b"Starting gVisor..."


def wrapper(engine):
    """The one of docs/gvisor.md: runsc 2022 refuses a network of its own on kernels where every
    network namespace has rmem_default, and does not know `exec --tty`, which podman says; rootless
    it may not write control groups."""
    flags = "--network=none" + (" --ignore-cgroups" if engine.key == "R" else "")
    path = engine.place / "runsc"
    path.write_text('#!/bin/sh\n'
                    'for word; do shift; [ "$word" = --tty ] || set -- "$@" "$word"; done\n'
                    f'exec {shutil.which("runsc", path=PATH)} {flags} "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def gvisor(engine, stage, monkeypatch):
    """The stage, with `oci_runtime: runsc`."""
    if not shutil.which("runsc", path=PATH):
        missing("runsc", "runsc")
    path = wrapper(engine)
    if engine.kind == "podman":
        conf = engine.place / "gvisor.conf"
        conf.write_text(f'[engine.runtimes]\nrunsc = ["{path}"]\n')
        monkeypatch.setitem(engine.env, "CONTAINERS_CONF", str(conf))
    monkeypatch.setattr(engine, "oci_runtime", "runsc")
    stage.config()
    return stage


def test_the_sentry_is_the_kernel(gvisor):
    r = gvisor.sh("uname -r; dmesg; id -u; echo oops >&2; exit 7")
    assert r.rc == 7, r
    lines = r.out.splitlines()
    assert lines[0] == SENTRY and BOOT in r.out, r
    assert lines[-1] == str(gvisor.engine.owner[0]).encode()
    assert r.err == b"oops\n"
    got = {k: r.record[k] for k in ("state", "outcome", "exit_code", "signal", "error")}
    assert got == {"state": "exited", "outcome": "nonzero", "exit_code": 7, "signal": None,
                   "error": None}
    assert r.record["isolation"] == "container"
    assert r.record["started_at"] <= r.record["finished_at"]
    # docker's limits are read when it is known to run; it may have ended by then.
    late = {"limits_unread"} if gvisor.engine.kind == "docker" else set()
    assert {w["code"] for w in r.record["warnings"]} <= late


def check(record, state, outcome, exit_code, signal=None):
    got = {k: record[k] for k in ("state", "outcome", "exit_code", "signal")}
    assert got == {"state": state, "outcome": outcome, "exit_code": exit_code, "signal": signal}


def running(stage, script, options=()):
    """A detached run that has printed `up`."""
    handle = stage.detach("/bin/sh", "-c", f"echo up; {script}", options=options)
    until(lambda: b"up" in output(stage, handle)[0], "first output")
    return handle


def test_codes_and_commands(gvisor):
    """The engine's code is all there is: 137 may be a signal, a missing command is 127."""
    r = gvisor.sh("true")
    assert r.rc == 0
    check(r.record, "exited", "ok", 0)
    r = gvisor.sh("kill -9 $$")
    assert r.rc == 137
    check(r.record, "killed", "signal", 137, 9)
    r = gvisor.run("no-such-program")
    assert r.rc == 127 and b"command not found" in r.err, r
    check(r.record, "exited", "nonzero", 127)


def test_output_is_complete(gvisor):
    r = gvisor.sh("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; printf end")
    assert r.rc == 0
    assert r.out == b"".join(b"line %d\n" % i for i in range(20000)) + b"end"


def test_limits_are_read_back(gvisor):
    if gvisor.engine.key == "R":
        gvisor.spec({"resources": {"memory": "300m"}})
        gvisor.refused("true", code="sandbox_unsupported")
        return
    gvisor.spec({"resources": {"cpu": 0.5, "memory": "300m", "pids": 500}})
    r = gvisor.sh("true")
    assert r.rc == 0, r
    effective = r.record["limits"]["effective"]
    assert {k: effective[k] for k in ("cpu_millis", "memory_mb", "pids")} == {
        "cpu_millis": 500, "memory_mb": 300, "pids": 500}


def test_signals_go_through_the_engine(gvisor):
    trap = "trap 'echo got; exit 3' TERM; while :; do sleep 0.1; done"
    handle = running(gvisor, trap)
    assert gvisor.cloop("stop", "--signal", "terminate", handle).rc == 0
    r = gvisor.wait(handle)
    check(r.record, "exited", "nonzero", 3)
    assert output(gvisor, handle)[0] == b"up\ngot\n"
    handle = running(gvisor, "trap '' TERM; while :; do sleep 0.1; done")
    assert gvisor.cloop("stop", "--grace", "1", handle).rc in (0, 137)
    check(gvisor.wait(handle).record, "killed", "cancelled", 137, 9)


def test_timeout(gvisor):
    r = gvisor.sh("sleep 100", options=["--timeout", "2s"])
    assert r.rc == 124, r
    assert r.record["outcome"] == "timeout" and r.record["state"] == "killed"


def test_kill(gvisor):
    handle = running(gvisor, "sleep 100")
    assert gvisor.cloop("stop", "--signal", "kill", handle).rc == 0
    check(gvisor.wait(handle).record, "killed", "cancelled", 137, 9)


def test_a_dead_supervisor_is_replaced(gvisor):
    """The workload waits at the pipe meanwhile, or goes on; nothing it prints is lost."""
    script = "i=0; while [ $i -lt 100 ]; do echo $i; i=$((i+1)); sleep 0.05; done; exit 5"
    handle = running(gvisor, script)
    kill_shim(gvisor, handle)
    r = gvisor.wait(handle)
    check(r.record, "exited", "nonzero", 5)
    assert output(gvisor, handle)[0] == b"up\n" + b"".join(b"%d\n" % i for i in range(100))


def test_ended_while_nobody_watched(gvisor):
    handle = running(gvisor, "sleep 1; exit 9")
    kill_shim(gvisor, handle)
    time.sleep(3)
    check(gvisor.wait(handle).record, "exited", "nonzero", 9)


def clients(stage, handle):
    name = (stage.home / "runs" / handle / "cid").read_text().encode()
    # `start --attach` or `attach`; an `inspect` may be under way as well.
    return list(processes(lambda w: w[:1] == [b"docker"] and name in w and any(b"attach" in x for x in w)))


COUNT = "i=0; until [ -e go ]; do i=$((i+1)); echo $i; echo $i > n; sleep 0.1; done; echo later; exit 4"


def counted(stage):
    """How far it has come, seen or not."""
    file = stage.project / "n"
    return int((file.exists() and file.read_text()) or 0)


def end_behind_a_gap(stage, handle):
    """Lets COUNT end when a new client prints it: numbers are missing."""
    def missing():
        numbers = [int(w) for w in output(stage, handle)[0].split() if w.isdigit()]
        return numbers and numbers[-1] - numbers[0] >= len(numbers)
    until(missing, lambda: f"output behind a gap: {output(stage, handle)}")
    stage.write("go")


def test_death_of_the_writer(gvisor):
    """podman's monitor takes the exit code with it; docker's client is replaced, behind a gap."""
    if gvisor.engine.kind == "docker":
        handle = running(gvisor, COUNT)
        until(lambda: counted(gvisor), "number")
        kill(clients(gvisor, handle)[0])
        end_behind_a_gap(gvisor, handle)
        check(gvisor.wait(handle).record, "exited", "nonzero", 4)
        frames = gvisor.cloop("logs", "--json", handle).out.splitlines()
        gaps = [f for f in map(json.loads, frames) if f["stream"] == "gap"]
        assert [g["lost_bytes"] for g in gaps] == [None], frames
        assert b"later\n" in output(gvisor, handle)[0]
        return
    handle = running(gvisor, "sleep 100")
    monitor = int((gvisor.home / "runs" / handle / "conmon.pid").read_text())
    kill(monitor)
    record = gvisor.wait(handle).record
    assert record["state"] == "failed" and record["outcome"] == "lost", record


def test_docker_client_and_supervisor_gone(gvisor):
    if gvisor.engine.kind != "docker":
        handle = running(gvisor, "sleep 100")
        monitor = int((gvisor.home / "runs" / handle / "conmon.pid").read_text())
        for pid in shims(handle):
            kill(pid)
        kill(monitor)
        wait_unsupervised(gvisor, handle)
        assert gvisor.wait(handle).record["outcome"] == "lost"
        return
    handle = running(gvisor, COUNT)
    until(lambda: counted(gvisor), "number")
    for pid in shims(handle) + clients(gvisor, handle):
        kill(pid)
    wait_unsupervised(gvisor, handle)
    before = counted(gvisor)
    until(lambda: counted(gvisor) > before + 2, "output that nobody takes")
    gvisor.cloop("status", handle)
    end_behind_a_gap(gvisor, handle)
    check(gvisor.wait(handle).record, "exited", "nonzero", 4)
    assert b"later\n" in output(gvisor, handle)[0]


def test_kernel_isolated_is_placed_here_and_refused_on_runc(gvisor, monkeypatch):
    gvisor.spec({"capabilities": {"kernel_isolated": True}})
    r = gvisor.sh("uname -r")
    assert (r.rc, r.out) == (0, SENTRY + b"\n"), r
    gvisor.spec({"capabilities": {"virtualized": True}})
    r = gvisor.refused("true", code="sandbox_unsupported")
    gvisor.spec({"capabilities": {"kernel_isolated": True}})
    monkeypatch.setattr(gvisor.engine, "oci_runtime", "runc")
    gvisor.config()
    r = gvisor.refused("true", code="sandbox_unsupported")
    assert b"executors.container.oci_runtime" in r.err and b"gVisor" in r.err, r.err


def test_explain_and_capabilities(gvisor):
    answer = gvisor.answer("sandbox", "explain", "-C", gvisor.project, "--", "true")
    assert answer["argv"][1] == "create" and "--runtime=runsc" in answer["argv"]
    assert any("wait status" in words for words in answer["ungated"])
    able = gvisor.answer("executor", "show", "container")["capabilities"]
    assert able["gated"] is False and able["kernel_isolated"] is True
    assert able["isolation"] == "container" and able["devices"] is False


def test_attach_on_pipes(gvisor):
    """By the engine's exec: confined as the workload is; what is left then is not known."""
    handle = running(gvisor, "sleep 100")
    r = gvisor.cloop("attach", handle, "--", "/bin/sh", "-c",
                     "uname -r; id -u; grep Cap /proc/self/status; cat; echo err >&2; exit 7")
    assert r.rc == 7, r
    lines = r.out.splitlines()
    assert lines[:2] == [SENTRY, str(gvisor.engine.owner[0]).encode()], r
    assert all(line.split()[1] == b"0" * 16 for line in lines[2:]), r
    assert r.err == b"err\n"
    rows = [row["payload"] for row in gvisor.answer("audit", "list")["rows"]
            if row["action"] == "attach.close"]
    assert rows[-1]["leftover"] == "unknown" and rows[-1]["exit_code"] == 7, rows
    assert gvisor.cloop("stop", "--grace", "0s", handle).rc == 0


def test_attach_on_a_terminal(gvisor):
    """Its size is there from the beginning; closing it ends what it started."""
    handle = running(gvisor, "sleep 100")
    with Session(gvisor, handle, "/bin/sh", tty=True, write=True, rows=33, cols=77) as session:
        assert session.ready()["tty"] is True
        session.type(b"stty size; sleep 77 & echo $((40+2))\n")
        session.expect(b"33 77")
        session.expect(b"42")
        session.close()
        assert session.exit()["reason"] == "closed"
    r = gvisor.cloop("attach", handle, "--", "ps")
    assert b"sleep 100" in r.out and b"sleep 77" not in r.out, r
    assert gvisor.cloop("stop", "--grace", "0s", handle).rc == 0


def test_attached_program_of_a_dead_supervisor(gvisor):
    """Its session is over with it: the next supervisor ends what it left inside."""
    handle = running(gvisor, "sleep 100")
    with Session(gvisor, handle, "/bin/sh", "-c", "echo here; sleep 79 & sleep 78", write=True) as s:
        s.ready()
        s.expect(b"here")
        kill_shim(gvisor, handle)
    gvisor.cloop("status", handle)
    until(lambda: b"sleep 7" not in gvisor.cloop("attach", handle, "--", "ps").out, "its end")
    assert b"sleep 100" in gvisor.cloop("attach", handle, "--", "ps").out
    assert gvisor.cloop("stop", "--grace", "0s", handle).rc == 0


def test_files_of_a_lease(gvisor):
    """They are in memory of the host, gone inside when they are wiped, and hidden in the output."""
    staged = material(file("a"), file("b"),
                      bindings=[binding(GRANTS[0], "a"), binding(GRANTS[1], "b")])
    handle = started(gvisor, staged, f"cat {DIR}/a; while [ -e {DIR}/a ]; do sleep 0.1; done; "
                   f"ls {DIR}; exit 6")
    until(lambda: MASK in output(gvisor, handle)[0], "masked content")
    answer = ask(gvisor, handle, op="revoke", lease=LEASE, grant=GRANTS[0], action="scrub",
                 reason="test")
    assert answer["ok"] is True, answer
    check(gvisor.wait(handle).record, "exited", "nonzero", 6)
    out = output(gvisor, handle)[0]
    assert CANARY.encode() not in out and out.endswith(b"b\n"), out


def disk_limit(stage):
    """64 MB; R, which holds no other limit here, has it by a ceiling."""
    if stage.engine.key == "R":
        ceiling(stage, "64m")
    else:
        stage.spec({"resources": {"disk": "64m"}})


def test_disk_limit(gvisor):
    """The workspace is measured from the host."""
    disk_limit(gvisor)
    r = gvisor.sh("i=0; while :; do dd if=/dev/zero of=f$i bs=1M count=4 2>/dev/null; "
                  "i=$((i+1)); sleep 0.05; done", env=QUICK)
    assert r.rc == 122 and r.record["outcome"] == "disk_limit", json.dumps(r.record) + repr(r.err)


def test_deleted_and_open_files_count(gvisor):
    """The sandbox and what opens files for it hold them; on R nobody knows which processes those
    are, and that is said."""
    disk_limit(gvisor)
    script = "exec 3>f; rm f; dd if=/dev/zero bs=1M count=200 >&3 2>/dev/null; sleep 6; exit 5"
    if gvisor.engine.key == "R":
        script = "dd if=/dev/zero of=g bs=1M count=60 2>/dev/null; sleep 12; " + script
        r = gvisor.sh(script, env=QUICK)
        [words] = [w["message"] for w in r.record["warnings"] if w["code"] == "disk_unknown"]
        assert r.rc == 5 and "fds" in words, r.record
        return
    r = gvisor.sh(script, env=QUICK)
    assert r.rc == 122 and r.record["outcome"] == "disk_limit", json.dumps(r.record) + repr(r.err)
    # Measured anew, or while a step of `dd` is under way: never the room of others.
    assert 64 < r.record["usage"]["disk_used_mb"] <= 210


def test_open_files_of_others_do_not_count(gvisor, tmp_path):
    """Not even before docker has said which process is the sandbox."""
    disk_limit(gvisor)
    with open(gvisor.project / "of-another", "wb") as other:
        (gvisor.project / "of-another").unlink()
        other.write(b"x" * (100 << 20))
        other.flush()
        r = gvisor.sh("sleep 3; exit 4", env=QUICK)
    assert r.rc == 4, json.dumps(r.record) + repr(r.err)
    assert r.record["usage"]["disk_used_mb"] < 64


def test_limits_of_an_unknown_sandbox(gvisor):
    """docker: what runs and cannot be looked at is not known to be held."""
    if gvisor.engine.kind == "podman":
        pytest.skip("podman's sandbox is judged before its workload runs")
    gvisor.spec({"resources": {"memory": "300m"}})
    env = {"CLOOP_FAULT": "standalone:unknown"}
    r = gvisor.refused("sleep", "60", code="limits_not_applied", env=env)
    assert "memory" in r.record["error"]
    r = gvisor.run("true", env=env)
    assert r.rc == 0, r
    assert [w["code"] for w in r.record["warnings"]] == ["limits_unread"], r.record


def test_timeout_before_it_is_known_to_run(gvisor):
    r = gvisor.sh("sleep 100", options=["--timeout", "100ms"])
    assert r.rc == 124, r
    assert r.record["outcome"] == "timeout" and r.record["state"] == "killed", r.record


def podmans_step(stage, point):
    if stage.engine.kind == "docker" and point == "start:12-init":
        pytest.skip("docker has no such step")


@pytest.mark.parametrize("point", ["start:11-called", "start:12-init", "verify:mounts",
                                   "verify:limits", "start:15-record", "start:15-go"])
def test_a_step_that_fails_leaves_nothing(gvisor, point):
    podmans_step(gvisor, point)
    script = "touch /workspace/ran; sleep 1"
    r = gvisor.sh(script, env={"CLOOP_FAULT": f"{point}=fail"})
    assert r.rc == 125 and r.record["outcome"] == "start_failed", r
    # docker has its limits judged when the workload runs.
    late = gvisor.engine.kind == "docker" and point == "verify:limits"
    assert late or not (gvisor.project / "ran").exists()


@pytest.mark.parametrize("point", ["start:11-called", "start:12-init", "start:15-record",
                                   "start:15-go", "start:15-gone", "start:16-started",
                                   "start:17-answered", "finish:begin", "finish:record"])
def test_a_supervisor_that_dies_at_a_step(gvisor, point):
    podmans_step(gvisor, point)
    r = gvisor.sh("echo out; exit 3", env={"CLOOP_FAULT": f"{point}=kill"})
    handle = gvisor.run_dirs()[-1].name if gvisor.run_dirs() else None
    record = gvisor.wait(handle).record
    assert is_final(record), record
    if record_of(gvisor, handle)["supervision"].get("released"):
        assert record["outcome"] in ("nonzero", "lost"), record
    else:
        assert record["outcome"] == "start_failed", record
    assert r.rc != 0


def test_runtime_that_is_not_there(gvisor, monkeypatch):
    monkeypatch.setattr(gvisor.engine, "oci_runtime", "runsc-none")
    gvisor.config()
    gvisor.refused("true", code="oci_runtime_missing")


def test_executor_test(gvisor):
    """Preflight, and the smoke run under the Sentry."""
    answer = gvisor.cloop("executor", "test", "--json", "container")
    found = {f["name"]: f["level"] for f in json.loads(answer.out)["findings"]}
    assert found["gvisor"] == "ok" and found["init"] == "ok", answer
    assert found["oci-runtime"] == ("ok" if gvisor.engine.kind == "docker" else "warn")
    assert "kvm" not in found and "oci-runtime-isolation" not in found
    assert answer.rc in (0, 2), answer
