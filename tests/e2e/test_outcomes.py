"""How a run ended (container-driver.md §13, §25.13): codes are the workload's own, signals, time,
memory and stops are told apart."""
import signal
import time

import pytest

from engines import IMAGE
from stage import parallel

OWN_CODES = (1, 3, 125, 126, 127, 128, 137, 139, 143, 255)


def check_record(record, state, outcome, exit_code, signal=None):
    got = {k: record[k] for k in ("state", "outcome", "exit_code", "signal")}
    assert got == {"state": state, "outcome": outcome, "exit_code": exit_code, "signal": signal}
    assert record["finished_at"] >= record["started_at"]
    assert record["error"] is None and record["code"] is None


def check_usage(engine, record, wall_ms=0):
    usage = record["usage"]
    assert usage["wall_ms"] >= wall_ms
    assert usage["cpu_ms"] >= 0 and usage["memory_peak_bytes"] > 0


def test_exit_0(stage):
    r = stage.sh("echo hi; echo oops >&2")
    assert (r.rc, r.out, r.err) == (0, b"hi\n", b"oops\n")
    check_record(r.record, "exited", "ok", 0)
    check_usage(stage.engine, r.record)
    assert r.record["warnings"] == []
    assert r.record["isolation"] == "container" and r.record["executor_kind"] == "container"
    assert r.record["log"]["bytes"] == len(b"hi\noops\n")


def test_codes_of_the_workload(stage):
    for code, r in zip(OWN_CODES, parallel(lambda c: stage.sh(f"exit {c}"), OWN_CODES)):
        assert r.rc == code
        check_record(r.record, "exited", "nonzero", code)


def test_codes_by_script(stage):
    """126 and 127 that a shell in the sandbox says are the workload's."""
    stage.write("plain", "no program", mode=0o644)
    for script, code in (("/workspace/plain", 126), ("no-such-program", 127)):
        r = stage.sh(script)
        assert r.rc == code
        check_record(r.record, "exited", "nonzero", code)


CANNOT_RUN = (
    ("no-such-program", "command_not_found", 127),
    ("/workspace/no-such-program", "command_not_found", 127),
    ("x" * 300, "command_not_found", 127),
    ("/workspace/plain", "command_not_executable", 126),
    ("/workspace/folder", "command_not_executable", 126),
    ("/workspace/interpreter", "command_not_executable", 126),
    ("/workspace/text", "command_not_executable", 126),
)


def test_command_cannot_run(stage):
    stage.write("plain", "#!/bin/sh\n", mode=0o644)
    stage.write("folder/file")
    stage.write("interpreter", "#!/no/such/shell\n", mode=0o755)
    stage.write("text", "echo without a first line\n", mode=0o755)

    def check(case):
        word, code, status = case
        r = stage.refused(word, code=code, status=status)
        assert word[:40] in r.err.decode() and IMAGE in r.record["error"]
        searched = code == "command_not_found" and "/" not in word
        assert (', looked for on PATH "/bin"' in r.record["error"]) is searched, r.record
        by_interpreter = "interpreter of its first line" in r.record["remediation"]
        assert by_interpreter is (word == "/workspace/interpreter"), r.record
    parallel(check, CANNOT_RUN)


def test_dies_of_a_signal(stage):
    r = stage.sh("kill -SEGV $$")
    assert r.rc == 139
    check_record(r.record, "killed", "signal", 139, signal.SIGSEGV)


def test_signal_of_a_grandchild(stage):
    """A shell turns the death of its child into a code, and that is its own."""
    r = stage.sh("sh -c 'kill -SEGV $$'; exit $?")
    assert r.rc == 139
    check_record(r.record, "exited", "nonzero", 139)


def test_workload_kills_itself(stage):
    """SIGKILL from inside is a signal; only the kernel's own killing is `oom`."""
    r = stage.sh("kill -KILL $$")
    assert r.rc == 137
    check_record(r.record, "killed", "signal", 137, signal.SIGKILL)


def test_timeout_with_handler(stage):
    r = stage.sh("trap 'echo bye; exit 5' TERM; echo up; sleep 60 & wait",
                 options=["--timeout", "1s"])
    assert r.rc == 124 and r.out == b"up\nbye\n"
    check_record(r.record, "killed", "timeout", 5)
    check_usage(stage.engine, r.record, wall_ms=1000)


def test_timeout_without_handler(stage):
    stage.config(stop_grace_seconds=1)
    r = stage.sh("trap '' TERM; echo up; while :; do sleep 0.1; done", options=["--timeout", "1s"])
    assert r.rc == 124 and r.out == b"up\n"
    check_record(r.record, "killed", "timeout", 137, signal.SIGKILL)
    assert 2000 <= r.record["usage"]["wall_ms"] < 20000
    if not no_limits(stage):  # its group is there; an init that is killed says nothing
        check_usage(stage.engine, r.record)


def test_timeout_not_reached(stage):
    r = stage.sh("exit 3", options=["--timeout", "60s"])
    assert r.rc == 3
    check_record(r.record, "exited", "nonzero", 3)


EATER = "awk 'BEGIN { s = \"0123456789abcdef\"; while (1) s = s s }'"


def no_limits(stage):
    return not stage.answer("executor", "show")["capabilities"]["resource_limits"]


def test_oom_of_the_workload(stage):
    """Where a rootless engine cannot limit memory (cgroup v1), the wish is refused: test_limits."""
    if no_limits(stage):
        return
    stage.spec({"resources": {"memory": "64m"}})
    r = stage.sh("exec " + EATER)
    assert r.rc == 137
    check_record(r.record, "killed", "oom", 137, signal.SIGKILL)


def test_oom_of_a_child(stage):
    if no_limits(stage):
        return
    stage.spec({"resources": {"memory": "64m"}})
    r = stage.sh(EATER + "; echo child: $?; exit 0")
    assert r.rc == 0 and b"child: 137" in r.out
    check_record(r.record, "exited", "ok", 0)
    assert [w["code"] for w in r.record["warnings"]] == ["oom_kill"]


def wait_for_output(stage, handle, text, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if text in stage.cloop("logs", handle).out:
            return
        time.sleep(0.1)
    raise AssertionError(f"{handle} does not print {text}")


def test_stop_runs_the_trap(stage):
    handle = stage.detach("/bin/sh", "-c", "trap 'echo bye; exit 9' TERM; echo up; sleep 60")
    wait_for_output(stage, handle, b"up")
    assert stage.cloop("stop", handle).rc == 0
    record = stage.status(handle)
    check_record(record, "killed", "cancelled", 9)
    assert stage.cloop("logs", handle).out == b"up\nbye\n"
    assert stage.wait(handle).rc == 9
    assert stage.cloop("stop", handle).rc == 0  # a second time is done, no error


def test_stop_has_a_grace(stage):
    handle = stage.detach("/bin/sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done")
    wait_for_output(stage, handle, b"up")
    assert stage.cloop("stop", "--grace", "500ms", handle).rc == 0
    check_record(stage.status(handle), "killed", "cancelled", 137, signal.SIGKILL)


def test_stop_by_kill(stage):
    handle = stage.detach("/bin/sh", "-c", "trap 'echo no' TERM; echo up; sleep 60")
    wait_for_output(stage, handle, b"up")
    assert stage.cloop("stop", "--signal", "kill", handle).rc == 0
    r = stage.wait(handle)
    assert r.rc == 137
    check_record(r.record, "killed", "cancelled", 137, signal.SIGKILL)
    assert stage.cloop("logs", handle).out == b"up\n"


def test_interrupt_reaches_the_foreground_command(stage):
    """Sent to the shell alone, its trap would run after the 60 seconds."""
    handle = stage.detach("/bin/sh", "-c", "trap 'echo trapped; exit 4' INT; echo up; sleep 60")
    wait_for_output(stage, handle, b"up")
    before = time.monotonic()
    assert stage.cloop("stop", "--signal", "interrupt", handle).rc == 0
    r = stage.wait(handle)
    assert time.monotonic() - before < 20
    assert r.rc == 4
    check_record(r.record, "exited", "nonzero", 4)
    assert stage.cloop("logs", handle).out == b"up\ntrapped\n"


def test_terminated_by_a_user(stage):
    handle = stage.detach("/bin/sleep", "60")
    assert stage.cloop("stop", "--signal", "terminate", handle).rc == 0
    r = stage.wait(handle)
    assert r.rc == 143
    check_record(r.record, "killed", "cancelled", 143, signal.SIGTERM)


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_to_cloop_run(stage, number, code):
    """An interrupt of the foreground command is the workload's; so is a terminate."""
    p = stage.popen(*stage.run_words(["/bin/sh", "-c", "echo up; exec sleep 60"]))
    assert p.stdout.read(3) == b"up\n"
    p.send_signal(number)
    p.communicate(timeout=30)
    assert p.returncode == code


def test_engine_kills_the_container(stage):
    """The engine's own stop reaches the workload, and its end is seen."""
    handle = stage.detach("/bin/sh", "-c", "trap 'exit 6' TERM; echo up; sleep 60")
    wait_for_output(stage, handle, b"up")
    stage.engine.call("kill", "--signal=TERM", stage.container_of(handle))
    r = stage.wait(handle)
    assert r.rc == 6
    check_record(r.record, "exited", "nonzero", 6)


def test_container_removed_behind_our_back(stage):
    handle = stage.detach("/bin/sh", "-c", "echo up; sleep 60")
    wait_for_output(stage, handle, b"up")
    stage.engine.call("rm", "--force", stage.container_of(handle))
    r = stage.wait(handle)
    assert r.record["outcome"] in ("lost", "signal") and r.rc in (125, 137, 143)
    assert stage.cloop("logs", handle).out == b"up\n"
