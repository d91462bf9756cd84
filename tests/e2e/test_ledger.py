"""state.db when the disk is full, a writer is killed or hangs, many write at once, and the file is
not the one it was (issue 5, must show: the ledger survives)."""
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

MINT = ["secret", "mint"]


def mint_words(name, size=8):
    return [*MINT, name, "--kind", "file", "--value", "v" * size]


def names(stage):
    return [s["name"] for s in stage.answer("secret", "list")["secrets"]]


def whole(stage):
    answer = stage.answer("audit", "verify")
    assert answer["ok"], answer
    with sqlite3.connect(stage.home / "state.db") as db:
        [(sound,)] = db.execute("PRAGMA integrity_check").fetchall()
    db.close()
    assert sound == "ok"
    return answer["rows"]


def fold(home):
    """Everything is in state.db itself: the last one to close it takes the log away."""
    with sqlite3.connect(home / "state.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.close()
    assert not (home / "state.db-wal").exists()


@pytest.fixture
def small_home(stage):
    """A home of 640 KiB."""
    stage.home.mkdir(mode=0o700)
    words = ["mount", "-t", "tmpfs", "-o", "size=640k,mode=0700", "tmpfs", stage.home]
    subprocess.run(words, check=True)
    os.chown(stage.home, stage.engine.uid, stage.engine.gid)
    yield stage.home
    stage.home_is_free()
    subprocess.run(["umount", stage.home], check=True)


@pytest.mark.root
def test_full_disk(stage, small_home):
    minted = []
    payload = stage.write("payload", b"x" * 50000)
    for i in range(40):
        r = stage.cloop(*MINT, f"s{i}", "--kind", "file", "--file", payload)
        if r.rc != 0:
            break
        minted.append(f"s{i}")
    assert minted and r.rc == 1, r
    e = stage.answer(*MINT, "more", "--kind", "file", "--file", payload, status=1)
    assert (e["code"], e["status"]) == ("no_space", 507) and "free space" in e["remediation"]
    # Full to the last byte.
    filler = small_home / "filler"
    with open(filler, "wb", buffering=0) as f:
        try:
            while f.write(b"x" * 4096):
                pass
        except OSError:
            pass
    for words in (mint_words("tiny"), ["project", "set", "-C", stage.project, "provider", "none"],
                  ["secret", "rekey"], ["secret", "delete", minted[0]]):
        r = stage.cloop(*words)
        assert r.rc in (0, 1), r
        if r.rc == 1:
            assert b"fix: free space" in r.err, r
    subprocess.run(["mount", "-o", "remount,size=2m", small_home], check=True)
    left = set(names(stage))
    assert set(minted[1:]) <= left <= {*minted, "tiny"}
    whole(stage)
    stage.answer("secret", "rekey")
    stage.answer("secret", "delete", minted[-1])
    whole(stage)


def test_killed_writer(stage):
    """At each statement of a mint: the secret is there with its row of the trail, or neither is."""
    stage.answer(*mint_words("first"))
    for point in ("store-exec", "store-write"):
        for n in range(1, 40):
            r = stage.cloop(*mint_words(f"{point}{n}"), env={"CLOOP_FAULT": f"{point}:{n}=kill"})
            if r.rc == 0:
                break
            assert r.rc in (-signal.SIGKILL, 128 + signal.SIGKILL), r
            rows = whole(stage)
            assert rows == len(names(stage))
        assert 1 < n < 39
    stage.answer("secret", "rekey")


def test_hanging_writer(stage):
    """One that is stopped in the middle keeps writers waiting, for a time, and readers not at all."""
    p = stage.popen(*mint_words("slow"), env={"CLOOP_FAULT": "key:row=stop"})
    pid = waiting_cloop(p)
    began = time.monotonic()
    e = stage.answer("project", "set", "-C", stage.project, "provider", "copilot", status=1)
    assert (e["code"], e["status"]) == ("store_busy", 503) and "try again" in e["remediation"]
    assert 4 < time.monotonic() - began < 30
    assert names(stage) == [] and stage.answer("audit", "list")["rows"] == []
    os.kill(pid, signal.SIGCONT)
    p.communicate(timeout=60)
    assert p.returncode == 0 and names(stage) == ["slow"]
    stage.answer("project", "set", "-C", stage.project, "provider", "copilot")
    whole(stage)


def waiting_cloop(p):
    """The process of the command that is stopped; a rootless engine's has others above it."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        todo = [p.pid]
        while todo:
            pid = todo.pop()
            stat = open(f"/proc/{pid}/stat").read()
            if "(cloop)" in stat and stat.rsplit(")", 1)[1].split()[0] == "T":
                return pid
            r = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
            todo += [int(w) for w in r.stdout.split()]
        time.sleep(0.02)
    raise AssertionError("nothing stopped")


def test_many_at_once(stage):
    """Into a home that has no ledger yet."""
    waiting = [stage.popen(*mint_words(f"s{i}")) for i in range(6)]
    waiting += [stage.popen("project", "set", "-C", stage.make_project(f"p{i}"), "provider", "none")
                for i in range(6)]
    for p in waiting:
        out, err = p.communicate(timeout=120)
        assert p.returncode == 0, (out, err)
    waiting = [stage.popen(*(["secret", "rekey"] if i % 2 else mint_words(f"t{i}")))
               for i in range(6)]
    for p in waiting:
        out, err = p.communicate(timeout=120)
        assert p.returncode == 0 or b"at the same time" in err, (out, err)
    assert names(stage) == [*(f"s{i}" for i in range(6)), *(f"t{i}" for i in (0, 2, 4))]
    assert len(stage.answer("project", "list")["projects"]) == 6
    assert whole(stage) >= 10


def test_an_older_copy(stage):
    """A database that is put back: the trail says that rows are missing, whatever follows."""
    stage.answer(*mint_words("kept"))
    copy = stage.dir / "copy.db"
    fold(stage.home)
    shutil.copy2(stage.home / "state.db", copy)
    stage.answer(*mint_words("later"))
    fold(stage.home)
    shutil.copy2(copy, stage.home / "state.db")
    answer = stage.answer("audit", "verify", status=1)
    assert (answer["ok"], answer["seq"]) == (False, 2) and "missing at the end" in answer["reason"]
    for name in ("one", "two"):
        stage.answer(*mint_words(name))
        assert stage.answer("audit", "verify", status=1)["seq"] == 2
    assert names(stage) == ["kept", "one", "two"]
    # On purpose: whoever does it says so by removing the note.
    (stage.home / "audit-head").unlink()
    whole(stage)


def test_the_database_of_another_home(stage):
    """Its secrets do not open with the key of this one, and nothing is sealed beside them."""
    stage.answer(*mint_words("mine"))
    other = {"CLOOP_HOME": str(stage.dir / "other")}
    stage.answer(*mint_words("theirs"), env=other)
    for home in (stage.home, stage.dir / "other"):
        fold(home)
    shutil.copy2(stage.dir / "other/state.db", stage.home / "state.db")
    for words in (mint_words("new"), ["secret", "rekey"]):
        assert stage.answer(*words, status=1)["code"] == "secret_key_wrong"
    assert stage.answer("audit", "verify", status=1)["seq"] == 1
    assert names(stage) == ["theirs"]


@pytest.mark.parametrize("part", [0.3, 0.8, 100])
def test_truncated(stage, part):
    """Refused with what can be done, and left as it is."""
    stage.answer(*mint_words("first", 3000))
    fold(stage.home)
    file = stage.home / "state.db"
    content = file.read_bytes()[:int(part if part > 1 else part * file.stat().st_size)]
    file.write_bytes(content)
    for words in (["secret", "list"], mint_words("second"), ["secret", "rekey"],
                  ["audit", "verify"], ["secret", "delete", "first"]):
        e = stage.answer(*words, status=1)
        assert e["code"] == "store_corrupt" and ".recover" in e["remediation"], (words, e)
    assert file.read_bytes() == content
