"""Attach sessions (container-driver.md §18, §25.17)."""
import contextlib
import itertools
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

import pytest

from attaching import Session, Terminal, both_ways
from crashing import kill_shim, processes, shims, state_of, until
from engines import once
from stage import parallel

SH = ("/bin/sh", "-c")
CANARY = "canary-71d0c5e3-value"


@pytest.fixture
def run(stage):
    """A run that goes on until the end of the test."""
    handle = stage.detach(*SH, "exec sleep 100000", options=["--env", "CANARY"],
                          env={"CANARY": CANARY})
    yield handle
    stage.cloop("stop", "--grace", "0s", handle)


def inside(stage, word):
    """Processes of this test's sandboxes with exactly this word on their command line."""
    return [p for p in processes(lambda w: word in w)
            if state_of(p) not in ("Z", None) and shares_project(stage, p)]


def shares_project(stage, pid):
    """Other tests run beside this one, with the same words."""
    project = os.fsencode(pathlib.Path(*stage.project.parts[-5:]))
    try:
        return project in pathlib.Path(f"/proc/{pid}/mountinfo").read_bytes()
    except OSError:
        return False


def running(stage, handle):
    return stage.status(handle)["state"] == "running"


def audit(stage):
    rows = stage.answer("audit", "list")["rows"]
    return [r["payload"] | r for r in rows if r["action"].startswith("attach.")]


# On pipes.

def test_pipes(stage, run):
    r = stage.cloop("attach", run, "--", *SH,
                    "echo out; echo err >&2; pwd; id -u; echo $TERM; cat; exit 7")
    uid = stage.cloop("attach", run, "--", "id", "-u").out
    assert r.rc == 7 and r.err == b"err\n"
    assert r.out == b"out\n/workspace\n" + uid + b"xterm-256color\n"
    rows = audit(stage)
    assert [(r["action"], r["run"], r["write"], r["tty"]) for r in rows] == [
        ("attach.open", run, False, False), ("attach.close", run, False, False)] * 2
    assert rows[1]["exit_code"] == 7 and rows[1]["left"] == 0 and rows[1]["reason"] == "ended"
    assert running(stage, run) and b"out" not in stage.cloop("logs", run).out


@once
def test_audited_while_the_ledger_is_busy(stage, run):
    """Held for longer than a statement waits (5 s): no row is lost."""
    with contextlib.closing(sqlite3.connect(stage.home / "state.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        p = stage.popen("attach", run, "--", *SH, "echo > began")
        until((stage.project / "began").exists, "session")
        time.sleep(6)
        db.execute("ROLLBACK")
    assert p.communicate(timeout=60) == (b"", b"") and p.returncode == 0
    assert [r["action"] for r in audit(stage)] == ["attach.open", "attach.close"]


def test_nothing_unrecorded(stage, run):
    """A ledger that takes no row of the trail (a trigger refuses it): the session that began is
    closed, with all that it started. One that cannot be opened: nothing is started."""
    with contextlib.closing(sqlite3.connect(stage.home / "state.db", isolation_level=None)) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
    r = stage.cloop("attach", run, "--", *SH, "echo > began; sleep 4711")
    assert r.rc == 1 and b"full" in r.err and inside(stage, "4711") == []
    (stage.home / "state.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    (stage.project / "began").unlink(missing_ok=True)
    answer = stage.answer("attach", run, "--", *SH, "echo > began", status=1)
    assert answer["code"] == "store_corrupt"
    assert not (stage.project / "began").exists() and running(stage, run)


def test_frames(stage, run):
    with Session(stage, run, *SH, "echo a; exit 3") as s:
        assert s.answer["ok"] and s.ready() == {"tty": False, "write": False, "session": 1}
        assert s.exit() == {"exit_code": 3, "left": 0, "reason": "ended"}
        assert s.text() == b"a\n"
    with Session(stage, run, *SH, "kill -TERM $$") as s:
        assert s.exit()["exit_code"] == 143
    with Session(stage, run, *SH, "exit 0", tty=True) as s:
        assert s.ready() == {"tty": True, "write": False, "session": 3}


def test_executor_says_so(stage):
    assert stage.answer("executor", "show", "container")["capabilities"]["attach"] is True


def test_default_is_a_shell(stage, run):
    p = stage.popen("attach", "--write", run, stdin=subprocess.PIPE)
    out, _ = p.communicate(b"echo $((6*7)); readlink /proc/$$/exe; exit 9\n", timeout=20)
    assert (p.returncode, out) == (9, b"42\n/bin/busybox\n")


@pytest.mark.parametrize("size", [10 << 20])
def test_binary_output(stage, run, size):
    data = os.urandom(size)
    stage.write("blob", data)
    r = stage.cloop("attach", run, "--", "cat", "blob")
    assert r.rc == 0 and r.out == data and r.err == b""


def test_both_ways(stage, run):
    data = os.urandom(1 << 20)
    p = stage.popen("attach", "--write", run, "--", "cat", stdin=subprocess.PIPE)
    out, err = p.communicate(data, timeout=60)
    assert (p.returncode, out, err) == (0, data, b"")
    with Session(stage, run, "cat", write=True) as s:
        assert both_ways(s, data) == data


def test_input_behind_the_request(stage, run):
    early = b"\x01\x05\0\0\0early\x03\0\0\0\0"
    with Session(stage, run, "cat", write=True, early=early) as s:
        assert s.exit()["exit_code"] == 0 and s.text() == b"early"


def test_program_that_does_not_read(stage, run):
    """Its input fills, the session can still be closed, and a closed stdin hurts nobody."""
    with Session(stage, run, "sleep", "77001", write=True) as s:
        s.ready()
        for _ in range(3):
            s.type(b"x" * 60000)
        s.socket.close()
    until(lambda: not inside(stage, b"77001"), "end of the session")
    with Session(stage, run, *SH, "exec <&-; sleep 1; echo done", write=True) as s:
        s.ready()
        for _ in range(4):
            s.type(b"x" * 60000)
            time.sleep(0.1)
        assert s.exit()["exit_code"] == 0 and s.text() == b"done\n"
    assert running(stage, run) and len(shims(run)) == 1


def test_read_only(stage, run):
    p = stage.popen("attach", run, "--", *SH, "cat; echo end", stdin=subprocess.PIPE)
    out, _ = p.communicate(b"typed\n", timeout=20)
    assert out == b"end\n"
    for tty in (False, True):
        with Session(stage, run, *SH, "sleep 1; echo still", tty=tty) as s:
            s.ready()
            s.type(b"x\n")
            assert s.json("error")["code"] == "attach_read_only"
            s.type(b"\x03")
            assert s.exit()["exit_code"] == 0 and s.text().split() == [b"still"]


# Refusals.

def test_fifth_session(stage, run):
    sessions = [Session(stage, run, "sleep", "77002") for _ in range(4)]
    for s in sessions:
        s.ready()
    answer = stage.answer("attach", run, status=1)
    assert (answer["code"], answer["status"]) == ("attach_busy", 429) and answer["remediation"]
    sessions[0].close()
    sessions[0].exit()
    with Session(stage, run, "true") as s:
        assert s.exit()["exit_code"] == 0
    for s in sessions:
        s.socket.close()
    until(lambda: not inside(stage, b"77002"), "end of the sessions")
    with Session(stage, run, "true") as s:
        assert s.exit()["exit_code"] == 0


def test_clients_that_leave_at_once(stage, run):
    """Whatever step they leave at, their places are free again and nothing of them runs."""
    def leave(i):
        with Session(stage, run, "sleep", "77007", tty=bool(i % 2), write=True) as s:
            if s.answer["ok"] and i % 3 == 0:
                s.ready()
            return s.answer["ok"]
    for i in range(24):
        until(lambda i=i: leave(i), "free place")
    until(lambda: not inside(stage, b"77007"), "end of the sessions")
    sessions = until(lambda: four(stage, run), "four free places")
    for s in sessions:
        s.socket.close()
    assert running(stage, run)


def four(stage, run):
    sessions = [Session(stage, run, "cat", write=True) for _ in range(4)]
    if all(s.answer["ok"] for s in sessions):
        return sessions
    for s in sessions:
        s.socket.close()
    return None


def test_counts_in_the_limits(stage):
    if stage.engine.key == "R":
        return  # a rootless engine on cgroup v1 has no limits: test_limits.py
    stage.spec({"resources": {"pids": 2}})
    handle = stage.detach(*SH, "sleep 100000 & wait")
    until(lambda: inside(stage, b"100000"), "two processes")
    assert stage.answer("attach", handle, "--", "true", status=125)["code"] == "exec_failed"
    stage.cloop("stop", "--grace", "0s", handle)


def test_after_the_end(stage, run):
    stage.cloop("stop", "--grace", "0s", run)
    begin = time.monotonic()
    answer = stage.answer("attach", run, status=1)
    assert time.monotonic() - begin < 1
    assert (answer["code"], answer["status"]) == ("attach_closed", 409)
    assert "cloop logs" in answer["remediation"]


@pytest.mark.parametrize("argv,code", [
    (["x"] * 65, "argv_too_large"), (["x" * 4064], "argv_too_large"),
    (["a\0b"], "argv_invalid"), ([1], "argv_invalid"), ([""], "argv_empty")])
def test_bad_words(stage, run, argv, code):
    with Session(stage, run, *argv) as s:
        assert s.answer["ok"] is False and s.answer["code"] == code
    assert stage.cloop("attach", run, "--", *(["x"] * 65)).rc == 1


def test_longest_words(stage, run):
    with Session(stage, run, "true", *["x"] * 63) as s:
        assert s.exit()["exit_code"] == 0
    with Session(stage, run, "echo", "x" * (4064 - 6)) as s:
        assert s.exit()["exit_code"] == 0 and s.text() == b"x" * 4058 + b"\n"


def test_command_that_cannot_be_started(stage, run):
    stage.write("data", "text", mode=0o644)
    for word, code, status in (("nosuch", "command_not_found", 127),
                               ("/workspace/data", "command_not_executable", 126)):
        answer = stage.answer("attach", run, "--", word, status=status)
        assert answer["code"] == code
    with Session(stage, run, "nosuch") as s:
        assert s.answer["ok"] and s.json("error")["code"] == "command_not_found"
        assert not s.read() and s.ended and not s.of("ready") and not s.of("exit")


def test_no_frame(stage, run):
    """What is no frame ends the session, not the run."""
    for bad in (b"\x7f\0\0\0\0", b"\x12\x01\0\0\0x", b"\x02\x03\0\0\0abc", b"\x01\0\0\x02\0"):
        with Session(stage, run, "sleep", "77003", write=True) as s:
            s.ready()
            s.socket.sendall(bad)
            assert s.json("error")["status"] == 400
            assert not s.read() and s.ended
    until(lambda: not inside(stage, b"77003"), "end of the sessions")
    assert running(stage, run)


# On a terminal.

def test_terminal(stage, run):
    with Terminal(stage, "attach", "--write", run, rows=33, columns=101) as t:
        t.type(b"tty; stty size; echo $TERM\n")
        t.expect(b"33 101")
        t.expect(b"xterm-256color")
        assert b"/dev/pts/" in t.seen and not t.is_restored()
        t.winsize(40, 90)
        t.type(b"sleep 0.5; stty size\n")
        t.expect(b"40 90")
        t.type(b"exit 5\n")
        assert t.wait() == 5 and t.is_restored()
    assert audit(stage)[-1]["exit_code"] == 5 and audit(stage)[-1]["tty"]


def test_sizes(stage, run):
    script = "sleep 0.3; stty size; read x; stty size; read x; stty size"
    with Session(stage, run, *SH, script, tty=True, write=True, rows=0, cols=0) as s:
        s.resize(50, 132)  # before the terminal is there
        s.expect(b"50 132")
        s.resize(0, 70)
        s.resize(5000, 0)
        s.type(b"\n")
        s.expect(b"1000 70")
        s.type(b"\n")
        assert s.exit()["exit_code"] == 0
    with Session(stage, run, "stty", "size", tty=True) as s:
        s.exit()
        assert s.text() == b"24 80\r\n"


def test_interrupt(stage, run):
    """^C ends the foreground process; the shell and the run go on."""
    with Session(stage, run, tty=True, write=True) as s:
        s.ready()
        s.type(b"sleep 77004\n")
        until(lambda: inside(stage, b"77004"), "command")
        s.type(b"\x03")
        until(lambda: not inside(stage, b"77004"), "end of the command")
        s.type(b"echo shell-$((40+2)); exit\n")
        s.expect(b"shell-42")
        s.exit()
    assert running(stage, run)


def test_end_of_file_on_a_terminal(stage, run):
    with Session(stage, run, "cat", tty=True, write=True) as s:
        s.type(b"abc\n")
        s.expect(b"abc\r\nabc\r\n")
        s.eof()
        assert s.exit()["exit_code"] == 0


def test_letters_of_several_bytes(stage, run):
    text = "äöü€🎉" * 2000
    stage.write("text", text)
    with Session(stage, run, "cat", "text", tty=True) as s:
        s.exit()
        assert s.text().decode() == text
    with Session(stage, run, "cat", write=True) as s:
        for byte in "€🎉".encode():
            s.type(bytes([byte]))
        s.eof()
        s.exit()
        assert s.text() == "€🎉".encode()


def test_read_only_terminal(stage, run):
    with Terminal(stage, "attach", run, "--", *SH, "echo ready; sleep 77005") as t:
        t.expect(b"ready")
        t.type(b"typed\n\x1a")
        t.type(b"\x03")
        assert t.wait() == 130 and t.is_restored() and b"typed" not in t.seen
    until(lambda: not inside(stage, b"77005"), "end of the session")
    assert running(stage, run) and audit(stage)[-1]["reason"] == "closed"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1])
def test_killed_client(stage, run, number):
    with Terminal(stage, "attach", "--write", run, "--", *SH, "echo ready; sleep 77006") as t:
        t.expect(b"ready")
        assert not t.is_restored()
        t.process.send_signal(number)
        assert t.wait() == 128 + number and t.is_restored()
    assert not inside(stage, b"77006") and running(stage, run)
    assert audit(stage)[-1]["left"] == 0


# Ends.

BACKGROUND = "sleep 7NN0 & setsid sleep 7NN1 & (trap '' HUP; setsid sleep 7NN2) & " \
             "(setsid setsid sleep 7NN3 >/dev/null 2>&1 &) & echo up; "
# Without the mark, it is known by its parent, as long as it has that one.
UNMARKED = "env -i setsid sleep 7NN4 & "


def closing(stage, run, number, tty, how):
    last = "until [ -e /workspace/goNN ]; do sleep 0.1; done" if how == "leader" else UNMARKED + "sleep 100"
    wanted = 4 if how == "leader" else 5
    script = (BACKGROUND + last).replace("NN", str(number))

    def background():
        return [p for n in range(5) for p in inside(stage, b"7%d%d" % (number, n))]
    with Session(stage, run, *SH, script, tty=tty) as s:
        s.expect(b"up")
        until(lambda: len(background()) == wanted, f"background of {how}, tty {tty}")
        if how == "gone":
            s.socket.close()
            until(lambda: not background(), f"end of the background, tty {tty}")
        else:
            if how == "close":
                s.close()
            else:
                stage.write(f"go{number}")
            told = s.exit()
            assert told["left"] == 0 and not background(), (how, tty, told)
            assert told["exit_code"] == (0 if how == "leader" else 129), (how, tty, told)
            assert told["reason"] == ("ended" if how == "leader" else "closed"), (how, tty, told)


def test_closing_ends_everything(stage, run):
    """Of this session, and of no other."""
    sessions = itertools.product((False, True), ("close", "gone", "leader"))
    parallel(lambda s: closing(stage, run, *s),
             [(n, *session) for n, session in enumerate(sessions, 710)], 3)
    assert running(stage, run)


def test_end_of_the_run(stage):
    handle = stage.detach(*SH, "read x < go; exit 4", project=fifo(stage))
    with Session(stage, handle, *SH, "echo here; sleep 100") as s:
        s.expect(b"here")
        with open(stage.project / "go", "w") as go:
            go.write("now\n")
        told = s.exit()
        assert told == {"exit_code": 137, "left": 0, "reason": "run_ended"}
    assert stage.wait(handle).rc == 4


def fifo(stage):
    os.mkfifo(stage.project / "go")
    stage.engine.own(stage.project / "go")
    return stage.project


def test_kill_of_the_run(stage, run):
    p = stage.popen("attach", run, "--", *SH, "echo here; sleep 100")
    assert p.stdout.readline() == b"here\n"
    stage.cloop("stop", "--signal", "kill", run)
    _, err = p.communicate(timeout=20)
    assert p.returncode == 137 and b"the run has ended" in err


@pytest.mark.parametrize("tty", [False, True])
def test_last_words(stage, run, tty):
    """All of the output comes before the end, however much of it, and however late it is read."""
    with Session(stage, run, *SH, "seq 1 200000", tty=tty) as s:
        s.ready()
        time.sleep(0.5)
        s.exit()
        assert s.text().replace(b"\r", b"") == b"".join(b"%d\n" % i for i in range(1, 200001))


def test_own_devices(stage, run):
    """Standard streams can be opened by name, and a terminal is the session's own."""
    with Session(stage, run, *SH, "echo o > /dev/stdout; echo e > /dev/stderr; cat /dev/stdin",
                 write=True) as s:
        s.type(b"i\n")
        s.eof()
        s.exit()
        assert s.text() == b"o\ni\n" and s.text("stderr") == b"e\n"
    with Session(stage, run, *SH, "echo t > /dev/tty; ps -o pid,tty,comm | grep sh", tty=True) as s:
        s.exit()
        assert s.text().startswith(b"t\r\n")


def test_supervisor_dies(stage, run):
    p = stage.popen("attach", "--write", run, "--", *SH, "echo here; sleep 77020",
                    stdin=subprocess.PIPE)
    assert p.stdout.readline() == b"here\n"
    kill_shim(stage, run)
    _, err = p.communicate(timeout=20)
    assert p.returncode == 1 and b"supervisor" in err and b"  fix: " in err
    rows = audit(stage)
    assert rows and rows[-1]["left"] is None and rows[-1]["reason"] == "lost", (rows, err)
    until(lambda: not inside(stage, b"77020"), "end of the old session")
    # The next command gives the run a new supervisor, and waits until that one has the init.
    assert stage.cloop("attach", run, "--", "echo", "again").out == b"again\n"
    assert running(stage, run)


def test_init_does_not_answer(stage):
    """A mute init cannot be asked for a session."""
    handle = stage.detach(*SH, "exec sleep 100000")
    pid = int(json.loads((stage.home / "runs" / handle / "status.json").read_text())
              ["supervision"]["init_pid"])
    kill_shim(stage, handle)
    os.kill(pid, signal.SIGSTOP)
    try:
        answer = stage.answer("attach", handle, status=1, timeout=40)
        assert answer["code"] == "attach_closed" and "does not answer" in answer["error"]
    finally:
        os.kill(pid, signal.SIGCONT)
        stage.cloop("stop", "--grace", "0s", handle)


# Masking, clients that do not behave, limits of time.

def test_masked(stage, run):
    script = 'printf "%s" "$CANARY" | while read -n 1 c; do printf "%s" "$c"; done; echo; ' \
             'echo "a${CANARY}b"; echo "$CANARY" >&2; printf "%.10s" "$CANARY"'
    for tty in (False, True):
        with Session(stage, run, *SH, script, tty=tty) as s:
            s.exit()
            shown = s.text() + s.text("stderr")
            assert CANARY.encode() not in shown
            assert shown.count(b"[redacted]") == 3 and shown.endswith(CANARY[:10].encode()) or \
                not tty and s.text().endswith(CANARY[:10].encode())


def mint(stage, name, value, *options):
    read, write = os.pipe()
    os.write(write, value.encode())
    os.close(write)
    stage.answer("secret", "mint", name, *options, stdin=read)
    os.close(read)
    stage.answer("secret", "grant", name, "--to", "any")


def test_leased_values_are_masked(stage):
    mint(stage, "token", CANARY, "--kind", "env", "--env", "LEASED")
    mint(stage, "keys", CANARY[::-1] + "\nsecond line\n", "--kind", "file")
    handle = stage.detach(*SH, "exec sleep 100000")
    for tty in (False, True):
        with Session(stage, handle, *SH, 'echo "a${LEASED}b"; cat $CLOOP_LEASE_DIR/keys; echo ${#LEASED}',
                     tty=tty) as s:
            s.exit()
            assert s.text().split() == [b"a[redacted]b", b"[redacted]", b"%d" % len(CANARY)]
    stage.cloop("stop", "--grace", "0s", handle)


def test_client_that_does_not_read(stage):
    """It stops its session only, and is dropped in the end."""
    handle = stage.detach(*SH, "for i in $(seq 1 200); do echo $i; sleep 0.05; done; sleep 10000",
                          env={"CLOOP_FAULT": "attach:stuck"})
    with Session(stage, handle, "yes", "77030") as s:
        until(lambda: inside(stage, b"77030"), "writer")
        until(lambda: not inside(stage, b"77030"), "end of the session")
        assert stage.cloop("logs", handle).out
    assert running(stage, handle)
    stage.cloop("stop", "--grace", "0s", handle)


def test_idle(stage):
    handle = stage.detach(*SH, "sleep 10000", env={"CLOOP_FAULT": "attach:idle"})
    p = stage.popen("attach", handle, "--", "sleep", "77031")
    _, err = p.communicate(timeout=20)
    assert p.returncode == 129 and b"30 minutes" in err and not inside(stage, b"77031")
    assert audit(stage)[-1]["reason"] == "idle"
    stage.cloop("stop", "--grace", "0s", handle)


def test_reader_that_goes_away(stage, run):
    p = stage.popen("attach", run, "--", "yes", "77032")
    assert p.stdout.readline() == b"77032\n"
    p.stdout.close()
    p.wait(20)
    until(lambda: not inside(stage, b"77032"), "end of the session")
    p.stdout = None


def test_reader_that_stops(stage, run):
    """A signal ends the client though nobody reads what it has to say."""
    p = stage.popen("attach", run, "--", "yes", "77033")
    until(lambda: inside(stage, b"77033"), "writer")
    time.sleep(0.5)
    p.send_signal(signal.SIGTERM)
    assert p.wait(20) == 128 + signal.SIGTERM
    until(lambda: not inside(stage, b"77033"), "end of the session")


def test_nothing_of_it_on_command_lines_or_in_files(stage, run):
    """Only the sandbox's own process has the mark; nothing that was shown is in cloop's files."""
    with Session(stage, run, *SH, 'echo "shown-$((1000+1))"; sleep 77034') as s:
        s.expect(b"shown-1001")
        pid = until(lambda: inside(stage, b"77034"), "command")[0]
        environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        mark = [v for v in environ if v.startswith(b"CLOOP_ATTACH=")]
        assert len(mark) == 1 and len(mark[0]) == 13 + 32
        assert not list(processes(lambda w: any(mark[0][13:] in x for x in w)))
        for file in (stage.home / "runs" / run).rglob("*"):
            if file.is_file():
                assert b"shown-1001" not in file.read_bytes(), file
