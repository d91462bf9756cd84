"""Secrets at rest from outside: where payloads and keys may be seen, and where not
(disk-and-secrets.md §12, §13, §19, §21.10-11)."""
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import time

import pytest

CANARY = b"canary-71d0c9e4-payload"
PASSPHRASE = "a passphrase that is a canary, too"


def mint(stage, name="token", payload=CANARY, *options, kind="file", status=0, env=None):
    read, write = os.pipe()
    os.write(write, payload)
    os.close(write)
    try:
        return stage.answer("secret", "mint", name, "--kind", kind, *options, stdin=read, env=env,
                            status=status)
    finally:
        os.close(read)


def files_with(stage, *needles):
    for path in stage.dir.rglob("*"):
        if path.is_file() and any(n in path.read_bytes() for n in needles):
            yield path


def test_never_in_the_clear(stage):
    said = [mint(stage), mint(stage, "other", b'{"A": "%s"}' % CANARY, kind="env")]
    for words in (["secret", "list"], ["secret", "list", "--json"], ["secret", "rekey"],
                  ["audit", "list", "--json"], ["audit", "export"], ["secret", "delete", "other"]):
        r = stage.cloop(*words)
        assert r.rc == 0, r
        said += [r.out, r.err]
    assert not any(CANARY.decode() in str(s) for s in said)
    assert list(files_with(stage, CANARY)) == []
    [row] = stage.answer("secret", "list")["secrets"]
    assert set(row) == {"id", "name", "kind", "owner", "created_at", "created_by"}
    assert (row["name"], row["kind"], row["owner"]) == ("token", "file", None)
    actions = [r["action"] for r in stage.answer("audit", "list")["rows"]]
    assert actions == ["secret.mint", "secret.mint", "secret.rekey", "secret.delete"]
    assert stage.answer("audit", "verify")["ok"]


@pytest.mark.parametrize("words, code, rc", [
    (["bad/name", "--kind", "env"], "secret_name_invalid", 1),
    (["..", "--kind", "env"], "secret_name_invalid", 1),
    (["x", "--kind", "password"], "secret_kind_unknown", 1),
    (["x", "--kind", "host_device"], "secret_payload_invalid", 1),
    (["x", "--kind", "file", "--mode", "0644"], "secret_mode_invalid", 1),
    (["x", "--kind", "file", "--file-name", "a/b"], "secret_name_invalid", 1),
    (["x", "--kind", "env", "--env", "CLOOP_X"], "secret_payload_invalid", 1),
    (["x", "--kind", "env", "--format", "object"], "secret_payload_invalid", 1),
    (["x", "--kind", "env", "--env", "A", "--format", "object"], "usage", 2),
    (["x", "--kind", "env", "--mode", "0600"], "usage", 2),
    (["x", "--kind", "env", "--file", "/dev/null", "--value", "v"], "usage", 2),
    (["x"], "usage", 2),
], ids=lambda v: " ".join(v) if isinstance(v, list) else None)
def test_refused_before_anything_is_made(stage, words, code, rc):
    name, *options = words
    read, write = os.pipe()
    os.write(write, CANARY)
    os.close(write)
    try:
        e = stage.answer("secret", "mint", name, *options, stdin=read, status=rc)
    finally:
        os.close(read)
    assert e["code"] == code and e["remediation"] and CANARY.decode() not in str(e)
    assert not (stage.home / "keys").exists() and not (stage.home / "state.db").exists()


def test_sizes(stage):
    assert mint(stage, payload=b"", status=1)["reason"] == "empty"
    big = stage.write("big", b"x" * (256 * 1024 + 1))
    words = ["secret", "mint", "big", "--kind", "file", "--file", big]
    assert stage.answer(*words, status=1)["code"] == "secret_payload_invalid"
    big.write_bytes(b"x" * 256 * 1024)
    stage.answer(*words)
    assert stage.answer(*words, status=1)["code"] == "secret_exists"


def test_terminal_is_refused(stage):
    ours, theirs = os.openpty()
    try:
        e = stage.answer("secret", "mint", "x", "--kind", "env", stdin=theirs, status=2)
    finally:
        os.close(ours)
        os.close(theirs)
    assert e["code"] == "usage" and "terminal" in e["error"]


def test_value_warns(stage):
    r = stage.cloop("secret", "mint", "x", "--kind", "env", "--value", "v")
    assert r.rc == 0 and b"warning" in r.err and b"nothing is granted yet" in r.out


def test_wrong_and_missing_keys(stage):
    good = {"CLOOP_SECRET_KEY": PASSPHRASE}
    assert mint(stage, env={"CLOOP_SECRET_KEY": "short"}, status=1)["code"] == "secret_key_weak"
    mint(stage, env=good)
    assert not (stage.home / "keys").exists()
    before = (stage.home / "state.db").read_bytes()
    for env, code in (({"CLOOP_SECRET_KEY": PASSPHRASE + "."}, "secret_key_wrong"),
                      ({}, "secret_key_missing")):
        assert mint(stage, "more", env=env, status=1)["code"] == code
        assert stage.answer("secret", "rekey", env=env, status=1)["code"] == code
        assert stage.answer("secret", "list", env=env)["secrets"]
    assert (stage.home / "state.db").read_bytes() == before
    assert not (stage.home / "keys").exists()
    mint(stage, "more", env=good)
    stage.answer("secret", "rekey", "--to-key-file", env=good)
    mint(stage, "third")
    key = stage.home / "keys/secret.key"
    assert key.stat().st_mode & 0o777 == 0o600 and key.stat().st_size == 78
    key.chmod(0o644)
    assert mint(stage, "fourth", status=1)["code"] == "secret_key_wrong"
    key.unlink()
    assert mint(stage, "fourth", status=1)["code"] == "secret_key_missing"
    assert list(files_with(stage, PASSPHRASE.encode())) == []


def holders(needle):
    """Processes whose environment or command line has it, but this one's."""
    found = []
    for proc in pathlib.Path("/proc").iterdir():
        if not proc.name.isdigit() or int(proc.name) == os.getpid():
            continue
        try:
            if needle in (proc / "environ").read_bytes() + (proc / "cmdline").read_bytes():
                found.append((proc / "comm").read_text().strip())
        except OSError:
            pass
    return found


def test_passphrase_is_in_no_environment(stage):
    env = {"CLOOP_SECRET_KEY": PASSPHRASE}
    p = stage.popen(*stage.run_words(["/bin/sh", "-c", "env; echo up; sleep 3"]), env=env)
    out = b""
    while b"up\n" not in out:
        line = p.stdout.readline()
        assert line, p.stderr.read()
        out += line
    assert holders(PASSPHRASE.encode()) == []
    assert PASSPHRASE.encode() not in out
    p.communicate(timeout=60)
    assert p.returncode == 0


def test_no_core(stage):
    """A process that waits for a payload holds none yet, but is dumped by nothing any more."""
    if pathlib.Path("/proc/sys/kernel/core_pattern").read_text().startswith("|"):
        where = None  # a program gets them; the flag of the process is what counts
    else:
        where = stage.project
    read, write = os.pipe()
    os.write(write, CANARY)
    p = stage.popen("secret", "mint", "x", "--kind", "env", stdin=read, cwd=where,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))
    os.close(read)
    try:
        end = time.monotonic() + 10
        # Not dumpable: its files in /proc are root's, whoever runs it.
        while not reads_stdin(p.pid):
            assert time.monotonic() < end and p.poll() is None
            time.sleep(0.02)
        p.send_signal(signal.SIGSEGV)
        p.communicate(timeout=10)
    finally:
        os.close(write)
    assert p.returncode == -signal.SIGSEGV or p.returncode == 128 + signal.SIGSEGV
    assert list(files_with(stage, CANARY)) == []
    if where:
        assert [f for f in where.iterdir() if "core" in f.name] == []


def reads_stdin(pid):
    for task in [pid, *children(pid)]:
        try:
            if (pathlib.Path(f"/proc/{task}/syscall").read_text().startswith("0 0x0 ") and
                    pathlib.Path(f"/proc/{task}/comm").read_text() == "cloop\n"):
                return True
        except OSError:
            pass
    return False


def children(pid):
    r = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    found = [int(w) for w in r.stdout.split()]
    return found + [c for f in found for c in children(f)]


def test_rows_moved(stage):
    """By another hand: a payload in another row's place is found by the next rekey of all rows or
    the next who reads; the key table with two primaries opens nothing."""
    mint(stage)
    mint(stage, "other")
    with sqlite3.connect(stage.home / "state.db") as db:
        db.execute("UPDATE secret SET dek = (SELECT dek FROM secret WHERE name = 'other') "
                   "WHERE name = 'token'")
    db.close()
    e = stage.answer("secret", "rekey", status=1)
    assert e["code"] == "secret_store" and e["status"] == 500
    stage.answer("secret", "delete", "token")
    stage.answer("secret", "rekey")
    with sqlite3.connect(stage.home / "state.db") as db:
        db.execute("UPDATE kek SET state = 'retired'")
    db.close()
    assert mint(stage, "x", status=1)["code"] == "secret_key_state"
    stage.answer("secret", "delete", "other")
