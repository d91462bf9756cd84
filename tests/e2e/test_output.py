"""What a workload prints arrives complete and in order per stream, and what nobody reads blocks
nobody (container-driver.md §11, §25.11)."""
import hashlib
import json
import os
import random
import signal
import time

import pytest

from attaching import Terminal
from engines import once
from stage import parallel

# Runs of the flood of short ones; CLOOP_E2E_RUNS sets another number for every engine.
RUNS = {"P": 800, "R": 100, "D": 100}
MB = 1 << 20


def frames(stage, handle, *words):
    r = stage.cloop("logs", "--json", *words, handle)
    assert r.rc == 0, r
    return [json.loads(line) for line in r.out.splitlines()]


def handle_of(r):
    return r.record["handle"]


SHORT = """
i=0
while [ $i -lt $2 ]; do
	echo "out $1 $i"
	echo "err $1 $i" >&2
	i=$((i+1))
done
"""


def test_short_runs(stage):
    """Thousand short runs over the three engines: every line, once, in order."""
    count = int(os.environ.get("CLOOP_E2E_RUNS", RUNS[stage.engine.key]))

    def one(i):
        lines = 1 + i % 40
        r = stage.cloop(*stage.run_words(["/bin/sh", "-c", SHORT, "sh", str(i), str(lines)]))
        assert r.rc == 0, r
        assert r.out.decode() == "".join(f"out {i} {n}\n" for n in range(lines))
        assert r.err.decode() == "".join(f"err {i} {n}\n" for n in range(lines))
    parallel(one, range(count), workers=3)


def test_long_line(stage):
    r = stage.sh("dd if=/dev/zero bs=1M count=10 2>/dev/null | tr '\\0' x; echo; printf end")
    assert r.rc == 0
    assert r.out == b"x" * (10 * MB) + b"\nend"
    assert r.record["log"] == {"bytes": len(r.out), "dropped_bytes": 0,
                               "last_seq": r.record["log"]["last_seq"]}


def test_letters_are_not_cut(stage):
    text = "ä€𝄞z" * 4000  # one line of 40,000 bytes
    stage.write("text", text * 3)
    r = stage.sh("cat text")
    assert r.out.decode() == text * 3
    got = frames(stage, handle_of(r))
    assert all("text" in f for f in got if f["stream"] == "stdout")
    assert "".join(f.get("text", "") for f in got) == text * 3
    assert [f["seq"] for f in got] == list(range(1, len(got) + 1))
    assert got[-1]["stream"] == "end" and got[-1]["seq"] == r.record["log"]["last_seq"]


def test_binary(stage):
    data = random.Random(1).randbytes(300_000) + b"\0\xff\xc3"
    stage.write("data", data)
    r = stage.sh("cat data; cat data >&2")
    assert r.out == data and r.err == data
    assert stage.cloop("logs", handle_of(r)).out == data


def test_both_streams_at_once(stage):
    r = stage.sh("seq 200000 & seq 200000 >&2; wait")
    wanted = "".join(f"{n}\n" for n in range(1, 200_001)).encode()
    assert hashlib.sha256(r.out).digest() == hashlib.sha256(wanted).digest()
    assert hashlib.sha256(r.err).digest() == hashlib.sha256(wanted).digest()


def test_opened_by_path(stage):
    r = stage.sh("echo a >/dev/stdout; echo b >/dev/stderr; echo c >>/proc/self/fd/1")
    assert (r.rc, r.out, r.err) == (0, b"a\nc\n", b"b\n")


def test_background_child_is_heard_until_the_end(stage):
    """What a child still wrote when the first process ended is there; the child is not."""
    r = stage.sh("(echo child; sleep 60) & sleep 0.3; printf last")
    assert r.rc == 0 and r.out == b"child\nlast"
    assert r.record["usage"]["wall_ms"] < 20000


def test_resume_by_seq(stage):
    script = "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.2; done"
    handle = stage.detach("/bin/sh", "-c", script)
    seen, since = [], 0
    while not seen or seen[-1]["stream"] != "end":
        more = frames(stage, handle, "--since-seq", str(since))
        seen += more
        since = seen[-1]["seq"] if seen else 0
        time.sleep(0.1)
    whole = frames(stage, handle)
    assert seen == whole
    assert [f["text"] for f in whole[:-1]] == [f"line {i}\n" for i in range(1, 7)]
    for n in range(len(whole) + 2):
        assert frames(stage, handle, "--since-seq", str(n)) == whole[n:]
    assert frames(stage, handle, "--follow", "--since-seq", "3") == whole[3:]


def test_follow_a_live_run(stage):
    handle = stage.detach("/bin/sh", "-c", "seq 3; sleep 1; seq 4 6")
    followers = [stage.popen("logs", "--follow", handle) for _ in range(3)]
    for f in followers:
        out, _ = f.communicate(timeout=30)
        assert f.returncode == 0 and out == b"1\n2\n3\n4\n5\n6\n"


def test_reader_that_never_reads(stage):
    """Neither a follower nor `cloop run` itself, both with full pipes, slow the workload."""
    script = "i=0; while [ $i -lt 40 ]; do dd if=/dev/zero bs=100k count=1 2>/dev/null; i=$((i+1));"
    p = stage.popen(*stage.run_words(["/bin/sh", "-c", script + " done; touch done; sleep 1"]))
    end = time.monotonic() + 30
    while not (stage.project / "done").exists():
        assert time.monotonic() < end, "the workload waits for its reader"
        time.sleep(0.05)
    handle = stage.run_dirs()[0].name
    follower = stage.popen("logs", "--follow", handle)
    r = stage.wait(handle, timeout=30)
    assert r.rc == 0 and r.record["log"]["bytes"] == 40 * 100 * 1024
    assert p.poll() is None and follower.poll() is None
    for reader in (p, follower):
        out, _ = reader.communicate(timeout=30)
        assert reader.returncode == 0 and out == bytes(40 * 100 * 1024)


def stop_for(process, seconds):
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def test_reader_that_gets_no_processor(stage):
    """A log of 16 MiB is full within milliseconds; who is only behind is waited for (output.h)."""
    stage.config(log_max_mb=16)
    count = 400
    (stage.project / "block").write_bytes(random.Random(1).randbytes(MB))
    blocks = " ".join(["/workspace/block"] * count)
    with open(stage.dir / "flood", "wb") as flood:
        p = stage.popen(*stage.run_words(["/bin/sh", "-c", f"exec cat {blocks}"]), stdout=flood)
        while flood.seek(0, os.SEEK_END) < MB:
            time.sleep(0.005)
            assert p.poll() is None
        stop_for(p, 0.25)
        assert p.wait(60) == 0
    r = stage.wait(stage.run_dirs()[0].name)
    assert r.record["log"]["bytes"] == count * MB
    assert (stage.dir / "flood").read_bytes() == (stage.project / "block").read_bytes() * count


def test_reader_that_goes_away(stage):
    p = stage.popen(*stage.run_words(["/bin/sh", "-c", "echo up; sleep 0.5; seq 20000; exit 4"]))
    assert p.stdout.read(3) == b"up\n"
    p.stdout.close()
    assert p.wait(30) == 4
    handle = stage.run_dirs()[0].name
    assert stage.cloop("logs", handle).out.endswith(b"\n20000\n")


def test_log_is_bounded(stage):
    stage.config(log_max_mb=1)
    r = stage.sh("seq 700000; echo last")
    assert r.rc == 0 and r.out.endswith(b"\n700000\nlast\n")
    total = sum(len(str(n)) + 1 for n in range(1, 700_001)) + 5
    log = r.record["log"]
    assert log["bytes"] == total and log["dropped_bytes"] > 0
    got = frames(stage, handle_of(r))
    assert got[0]["stream"] == "gap" and got[0]["lost_bytes"] == log["dropped_bytes"]
    kept = "".join(f.get("text", "") for f in got)
    assert len(kept) + log["dropped_bytes"] == total
    assert kept.endswith("\n699999\n700000\nlast\n")
    later = frames(stage, handle_of(r), "--since-seq", "1")
    assert later[0]["stream"] == "gap" and later[0]["lost_bytes"] is None
    on_disk = sum(f.stat().st_size for f in (stage.run_dirs()[0] / "log").iterdir())
    assert on_disk <= 2.2 * MB


def test_json_prints_the_record_only(stage):
    r = stage.sh("echo hidden; exit 3", options=["--json"])
    assert r.rc == 3
    assert json.loads(r.out) == r.record and b"hidden" not in r.out + r.err


@once
def test_warnings_are_told_on_a_terminal_only(stage):
    """In a pipe stderr is what the workload wrote, byte for byte."""
    stage.config(network="bridge")
    stage.spec({"env": []})
    r = stage.sh("echo x >&2")
    assert [w["code"] for w in r.record["warnings"]] == ["network_off"] and r.err == b"x\n", r
    with Terminal(stage, *stage.run_words(["/bin/sh", "-c", "echo x >&2"])) as t:
        assert t.wait() == 0
    assert b"x\r\n" in t.seen and t.seen.count(b"(network_off)") == 1, t.seen
    assert b"cloop: warning:" in t.seen
