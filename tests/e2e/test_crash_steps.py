"""SIGKILL of `cloop run`, of its supervisor, and of both, at every step of a run (container-driver.md
§25.12): it ends with its true code and complete output, or as start_failed without having run; and
nothing is left after the next command."""
import collections
import ctypes
import itertools
import os
import signal
import time

import pytest

import crashing
import leaks
from engines import on
from stage import parallel

WORKERS = 4
CODE = 7
PIDFD_GETFD, LOCK_FD = 438, 3
SCRIPT = 'echo begin; echo ran > "ran-$1"; echo middle >&2; sleep 0.1; echo end; exit 7'
# An init whose workload has ended waits 5 s for a supervisor, which is little for the next one to come on a
# busy machine: where the first one dies while the workload runs, it runs until then.
WAITING = SCRIPT.replace("sleep 0.1", 'until [ -e "go-$1" ]; do sleep 0.1; done')

# Steps of the dispatcher, of a supervisor before `go`, after it, and of the end.
DISPATCH = ("start:3-directory", "start:4-image", "start:5-record", "start:6-shim",
            "start:6-handover")
GATED = ("start:7-secrets", "start:8-network", "start:9-files", "start:10-sources",
         "start:11-engine", "start:11-called", "start:12-init", "verify:mounts", "verify:limits",
         "verify:environment", "verify:confinement", "start:14-interfaces", "start:15-record")
BETWEEN = "start:15-go"  # `released` is on record, `go` was not sent
RUNNING = ("start:15-gone", "start:16-started", "start:17-answer", "start:17-answered")
RELEASED = (*RUNNING, "finish:begin", "finish:drained", "finish:stage", "finish:record", "finish:end",
            "finish:ended", "finish:remove", "finish:removed", "finish:files", "finish:done")
ADOPTION = ("adopt:lock", "adopt:ask", "adopt:asked", "adopt:go-on", "adopt:listen",
            "finish:begin", "finish:record", "finish:end", "finish:removed", "finish:files")

Case = collections.namedtuple("Case", "point victim")
CASES = [Case(*c) for c in itertools.product((*GATED, BETWEEN, *RELEASED),
                                             ("shim", "cli", "both"))]


def cases(stage):
    """All of them on one engine; elsewhere each step with one victim, unless all are wanted."""
    if stage.engine.key == "P" or os.environ.get("CLOOP_E2E_ALL"):
        return CASES
    return [c for n, c in enumerate(CASES) if n % 3 == n // 3 % 3]


def check(stage, handle, name, allowed):
    """The record says the truth about a run whose workload leaves a file when it runs."""
    record = crashing.wait_final(stage, handle)
    ran = (stage.project / f"ran-{name}").exists()
    outcome = record["outcome"]
    assert outcome in allowed, (allowed, record)
    assert ran == (outcome == "nonzero"), (name, record)
    if ran:
        assert record["exit_code"] == CODE and record["state"] == "exited", record
        assert crashing.output(stage, handle) == (b"begin\nend\n", b"middle\n"), record
    else:
        assert record["state"] == "failed" and record["exit_code"] is None, record
        assert record["code"] and record["remediation"], record


def allowed(case):
    if case.point in GATED:
        return ("start_failed",)
    if case.point == BETWEEN:  # §13.2 row 4: nobody knows whether `go` arrived
        return ("start_failed",) if case.victim == "cli" else ("start_failed", "lost")
    return ("nonzero",)


def break_run(stage, case):
    name = case.point.replace(":", "-") + "-" + case.victim
    waits = case.point in RUNNING and case.victim != "cli"
    words = stage.run_words(["/bin/sh", "-c", WAITING if waits else SCRIPT, "sh", name])
    cli = stage.popen(*words, env={"CLOOP_FAULT": f"{case.point}=stop"})
    shim = crashing.shim_of(cli)
    handle = crashing.handle_of(shim)
    assert crashing.wait_stopped(shim), (case, crashing.record_of(stage, handle), cli.poll())
    if case.victim in ("cli", "both"):
        cli.kill()
        cli.wait()
    crashing.kill(shim, signal.SIGCONT if case.victim == "cli" else signal.SIGKILL)
    if case.victim == "both":
        crashing.wait_unsupervised(stage, handle)
        stage.cloop("status", handle)
    if waits:
        crashing.until(lambda: set(crashing.shims(handle)) - {shim}, f"successor at {case}")
        stage.write(f"go-{name}")
    if case.victim == "shim":
        # The client starts a successor by itself, and tells how it ended.
        out, err = cli.communicate(timeout=60)
        assert cli.returncode in (CODE, 125), (case, err)
        assert (cli.returncode == CODE) == (crashing.record_of(stage, handle)["outcome"] ==
                                            "nonzero"), (case, err)
    check(stage, handle, name, allowed(case))


def test_every_step(stage):
    parallel(lambda c: break_run(stage, c), cases(stage), WORKERS)
    stage.answer("ps")


def borrow_lock(shim):
    """A descriptor of the supervisor's lock, which is held until that is closed, too."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(shim)
    lock = libc.syscall(PIDFD_GETFD, pidfd, LOCK_FD, 0)
    assert lock >= 0, os.strerror(ctypes.get_errno())
    os.close(pidfd)
    return lock


@on("P")
def test_successor_that_finds_the_lock_held(stage):
    """By a supervisor that is not quite dead, or another command's: the client waits for it."""
    words = stage.run_words(["/bin/sh", "-c", WAITING, "sh", "held"])
    cli = stage.popen(*words, env={"CLOOP_FAULT": "start:16-started=stop"})
    shim = crashing.shim_of(cli)
    assert crashing.wait_stopped(shim)
    lock = borrow_lock(shim)
    crashing.kill(shim)
    crashing.until(lambda: crashing.state_of(shim) in ("Z", None), "end of the supervisor")
    time.sleep(2)
    assert cli.poll() is None, cli.communicate()
    os.close(lock)
    stage.write("go-held")
    assert cli.wait(timeout=60) == CODE


@pytest.mark.parametrize("point", DISPATCH)
def test_dispatcher(stage, point):
    name = point.replace(":", "-")
    words = stage.run_words(["/bin/sh", "-c", SCRIPT, "sh", name])
    r = stage.cloop(*words, env={"CLOOP_FAULT": f"{point}=kill"})
    assert r.rc == -signal.SIGKILL
    stage.answer("ps")
    [run] = stage.run_dirs()
    check(stage, run.name, name, ("start_failed",))


def break_adoption(stage, point):
    """The successor dies, too, and the one after it ends the run."""
    name = "adopt-" + point.replace(":", "-")
    at_the_end = point.startswith("finish:")
    handle = stage.detach("/bin/sh", "-c", f"sleep 0.5; {WAITING}", "sh", name)
    crashing.kill_shim(stage, handle)
    stage.cloop("status", handle, env={"CLOOP_FAULT_ADOPT": f"{point}=stop"})
    if at_the_end:
        stage.write(f"go-{name}")
    crashing.until(lambda: [p for p in crashing.shims(handle) if crashing.state_of(p) == "T"],
                   lambda: f"successor at {point}: {crashing.tell(stage, handle)}")
    crashing.kill_shim(stage, handle)
    stage.cloop("status", handle)
    if not at_the_end:
        stage.write(f"go-{name}")
    check(stage, handle, name, ("nonzero",))


def test_every_step_of_an_adoption(stage):
    parallel(lambda p: break_adoption(stage, p), ADOPTION, WORKERS)
    stage.answer("ps")


def test_program_that_has_just_begun_is_seen():
    """Its parent goes on before the words are there (leaks.command_line)."""
    for _ in range(50):
        pid = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
        words = leaks.command_line(pid)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        assert words == b"sleep\x0060\x00"
    assert leaks.command_line(pid) == b""
