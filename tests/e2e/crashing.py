"""Breaking programs on purpose: waiting for a fault point, killing, and what may come of it."""
import json
import os
import pathlib
import signal
import time

import leaks
from engines import children

SECONDS = 30


def until(condition, what, seconds=SECONDS):
    """The condition's first true value. A costly one is asked less often: others need the machine.
    What it is may be told by a function, at the end."""
    end = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if value := condition():
            return value
        now = time.monotonic()
        assert now < end, f"no {what() if callable(what) else what} after {seconds} s"
        time.sleep(max(0.01, 2 * (now - began)))


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def words_of(pid):
    line = leaks.command_line(pid)
    return line.split(b"\0") if line else []


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def processes(test):
    for pid in leaks.pids():
        words = words_of(pid)
        if words and test(words):
            yield pid


def shims(handle):
    """Supervisors of a run that live."""
    wanted = os.fsencode(handle)
    return [p for p in processes(lambda w: w[0] == b"cloop-shim" and wanted in w)
            if state_of(p) not in ("Z", None)]


def shim_of(cli):
    """The supervisor that this `cloop run` started."""
    def find():
        return [p for p in children(cli.pid) if words_of(p)[:1] == [b"cloop-shim"]]
    try:
        return until(find, "supervisor")[0]
    except AssertionError as e:
        held = [(p, words_of(p), state_of(p)) for p in children(cli.pid)]
        raise AssertionError(f"{e}: {cli.poll()}, children {held}") from None


def handle_of(shim):
    return words_of(shim)[-2].decode()


def wait_stopped(pid):
    until(lambda: state_of(pid) in ("T", "Z", None), "stop at the fault point")
    return state_of(pid) == "T"


def record_of(stage, handle):
    try:
        return json.loads((stage.home / "runs" / handle / "status.json").read_text())
    except FileNotFoundError:
        return {"state": "none"}


def tell(stage, handle):
    """What is to be known of a run that does not go on."""
    run = stage.home / "runs" / handle
    log = run / "shim.log"
    facts = {
        "record": record_of(stage, handle),
        "locked": leaks.locked(run / "lock"),
        "supervisors": [(p, state_of(p), words_of(p)) for p in shims(handle)],
        "files": sorted(f"{p.relative_to(run)} {p.lstat().st_size}" for p in run.rglob("*")),
        "shim.log": log.read_text(errors="replace")[-2000:] if log.exists() else None,
    }
    return "\n".join(f"{name}: {fact}" for name, fact in facts.items())


def is_final(record):
    return record["state"] in ("exited", "failed", "killed")


def wait_final(stage, handle, seconds=SECONDS):
    return until(lambda: (r := record_of(stage, handle)) and is_final(r) and r,
                 lambda: f"final record of {handle}: {tell(stage, handle)}", seconds)


def wait_unsupervised(stage, handle):
    """Its lock goes later than its words in /proc."""
    lock = stage.home / "runs" / handle / "lock"
    until(lambda: not leaks.locked(lock) and not shims(handle),
          lambda: f"end of the supervisor of {handle}: {tell(stage, handle)}")


def kill_shim(stage, handle):
    for pid in shims(handle):
        kill(pid)
    wait_unsupervised(stage, handle)


def output(stage, handle):
    """What a run printed, by stream."""
    r = stage.cloop("logs", handle)
    assert r.rc == 0, r
    return r.out, b"".join(line for line in r.err.splitlines(True)
                           if not line.startswith(b"[cloop] "))
