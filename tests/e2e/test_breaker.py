"""What an attacker's walk through the product found: each of these once failed."""
import fcntl
import os
import shutil
import signal
import subprocess
import time

import pytest

from engines import BUILD



def test_record_replaces_a_link_of_the_workload(stage):
    """--record in the workspace, where the workload leaves a link to a file of the caller."""
    victim = stage.dir / "victim"
    victim.write_text("precious")
    if os.geteuid() == 0:
        os.chown(victim, stage.engine.uid, stage.engine.gid)
    record = stage.project / "record.json"
    r = stage.cloop(*stage.run_words(["/bin/ln", "-s", victim, "/workspace/record.json"],
                                     options=["--record", record]))
    assert r.rc == 0, r
    assert victim.read_text() == "precious"
    assert not record.is_symlink() and '"exit_code": 0' in record.read_text()


def test_record_folder_is_held(stage):
    """The workload swaps the record's folder for a link to one of the caller's."""
    stage.write("out/keep")
    r = stage.cloop(*stage.run_words(["/bin/sh", "-c", f"mv out moved; ln -s {stage.dir} out"],
                                     options=["--record", stage.project / "out/record.json"]))
    assert r.rc == 0, r
    assert not (stage.dir / "record.json").exists()
    assert (stage.project / "moved/record.json").exists()


@pytest.mark.parametrize("path", ["nowhere/record.json", "."])
def test_record_that_cannot_be_written_refuses_the_run(stage, path):
    r = stage.cloop(*stage.run_words(["/bin/touch", "/workspace/ran"],
                                     options=["--record", stage.dir / path]))
    assert r.rc == 125
    assert r.err.count(b"writing the record") == 1 and b"fix: " in r.err
    assert not (stage.project / "ran").exists()


def test_record_streams(stage):
    r = stage.cloop(*stage.run_words(["/bin/true"], options=["--record", "/dev/stdout"]))
    assert r.rc == 0 and b'"outcome": "ok"' in r.out
    fifo = stage.project / "fifo"
    os.mkfifo(fifo)
    r = stage.cloop(*stage.run_words(["/bin/true"], options=["--record", fifo]), timeout=20)
    assert r.rc == 125, r  # nobody reads: not waited for


def pause(stage, handle):
    """Rootless podman cannot on control groups v1."""
    try:
        stage.engine.call("pause", stage.container_of(handle))
    except AssertionError as e:
        stage.cloop("stop", handle, "--signal", "kill")
        pytest.skip(str(e))


@pytest.mark.parametrize("words", [["--grace", "1s"], ["--grace", "0s"], ["--signal", "kill"]])
def test_stop_wakes_a_paused_sandbox(stage, words):
    handle = stage.detach("/bin/sleep", "100")
    pause(stage, handle)
    assert stage.cloop("stop", handle, *words, timeout=20).rc == 0
    record = stage.wait(handle, timeout=20).record
    assert (record["state"], record["outcome"]) == ("killed", "cancelled")


def test_deadline_of_a_paused_sandbox(stage):
    handle = stage.detach("/bin/sleep", "100", options=["--timeout", "2s"])
    pause(stage, handle)
    r = stage.wait(handle, timeout=20)
    assert (r.rc, r.record["outcome"]) == (124, "timeout")


@pytest.fixture
def small_home(stage):
    """A home on a filesystem of 2 MB."""
    if os.geteuid() != 0 or stage.engine.key == "R":
        pytest.skip("needs root, and podman in our own mount namespace (mounts a tmpfs)")
    stage.config({"orchestrator": {"min_free_disk_mb": 0}})
    stage.home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=2m,mode=755,uid={stage.engine.uid}",
                    "tmpfs", stage.home], check=True)
    yield stage
    end = time.monotonic() + 10  # supervisors go a moment after their answer
    while subprocess.run(["umount", stage.home], capture_output=True).returncode:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_full_home_keeps_the_exit_status(small_home):
    """11.3: output is dropped and counted, the workload goes on, its end is on record."""
    r = small_home.sh("head -c 6000000 /dev/zero | tr '\\0' x; exit 9")
    assert r.rc == 9, r.err
    assert r.record["outcome"] == "nonzero" and r.record["exit_code"] == 9
    assert [w["code"] for w in r.record["warnings"]] == ["log_write_failed"]
    assert r.record["log"]["dropped_bytes"] > 0


def fill(home, leave=0):
    with open(home / "fill", "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 4096)
        except OSError:
            pass
    if leave:
        os.truncate(home / "fill", os.path.getsize(home / "fill") - leave)


def test_start_without_room_for_its_end(small_home):
    assert small_home.run("/bin/true").rc == 0  # whatever is made once is there
    fill(small_home.home, leave=40 << 10)
    r = small_home.run("/bin/true")
    assert (r.rc, r.record["code"]) == (125, "no_space"), r
    (small_home.home / "fill").unlink()


def test_end_waits_for_room(small_home):
    """Somebody took the room for the final record as well: only the supervisor knows the end."""
    handle = small_home.detach("/bin/sh", "-c", "while ! [ -e go ]; do sleep 0.1; done; exit 4")
    (small_home.home / "runs" / handle / "reserve").unlink()
    fill(small_home.home)
    small_home.write("go", "")
    time.sleep(4)
    assert small_home.status(handle)["state"] == "running"
    (small_home.home / "fill").unlink()
    r = small_home.wait(handle, timeout=30)
    assert (r.rc, r.record["exit_code"]) == (4, 4)


def test_logs_that_cannot_be_written(stage):
    assert stage.run("/bin/echo", "x").rc == 0
    with open("/dev/full", "wb") as full:
        r = stage.cloop("logs", stage.run_dirs()[0].name, stdout=full)
    assert r.rc == 1 and b"No space left on device" in r.err


def test_output_that_cannot_be_passed_on_is_told(stage):
    with open("/dev/full", "wb") as full:
        r = stage.cloop(*stage.run_words(["/bin/echo", "x"]), stdout=full)
    assert r.rc == 0 and b"No space left on device" in r.err


def test_stdout_that_does_not_block_loses_nothing(stage):
    read, write = os.pipe()
    os.set_blocking(write, False)
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    p = stage.popen(*stage.run_words(["/bin/sh", "-c", "head -c 2000000 /dev/zero; exit 4"]),
                    stdout=write)
    os.close(write)
    time.sleep(1)
    with open(read, "rb") as out:
        assert len(out.read()) == 2000000
    assert p.wait(60) == 4


def test_signals_while_the_reader_sleeps(stage):
    read, write = os.pipe()
    p = stage.popen(*stage.run_words(["/bin/yes"]), stdout=write)
    os.close(write)
    os.set_blocking(read, False)
    end = time.monotonic() + 60
    while time.monotonic() < end:  # started
        try:
            if os.read(read, 1):
                break
        except BlockingIOError:
            time.sleep(0.1)
    time.sleep(1)
    p.send_signal(signal.SIGTERM)
    handle = stage.run_dirs()[0].name
    assert stage.wait(handle, timeout=20).rc == 143
    os.close(read)
    assert p.wait(20) == 143


def test_text_of_others_does_not_steer_the_terminal(stage):
    project = stage.make_project("a\x1b[31mb\nc")
    assert stage.run("/bin/true", project=project, options=["--title", "t\x1bx"]).rc == 0
    handle = stage.run_dirs()[0].name
    for words in (["ps", "--all"], ["status", handle], ["sandbox", "explain", "-C", project]):
        out = stage.cloop(*words).out
        assert b"\x1b" not in out, words
    assert stage.cloop("ps", "--all").out.count(b"\n") == 2


def test_damaged_record_is_told(stage):
    assert stage.run("/bin/true").rc == 0
    [run] = stage.run_dirs()
    (run / "status.json").write_text("garbage")
    listed = stage.cloop("ps", "--all")
    assert listed.rc == 0 and run.name.encode() in listed.err and bytes(run) in listed.err, listed
    one = stage.cloop("status", run.name)
    assert one.rc == 1 and bytes(run / "status.json") in one.err, one


def test_installed_tree_can_be_moved(stage):
    """As `make install DESTDIR=…` lays it out, in another place."""
    tree = stage.dir / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "libexec/cloop").mkdir(parents=True)
    shutil.copy(BUILD / "src/cli/cloop", tree / "bin")
    for name in ("shim", "guest"):
        shutil.copy(BUILD / f"src/{name}/cloop-{name}", tree / "libexec/cloop")
    p = stage.engine.popen([tree / "bin/cloop", *stage.run_words(["/bin/sh", "-c", "exit 3"])],
                           env=stage.cloop_env())
    assert p.wait(60) == 3


def test_file_size_limit_is_an_error(stage):
    """SIGXFSZ killed the client; engines with files of their own may refuse the start."""
    p = subprocess.run(["sh", "-c", 'ulimit -f 0; exec "$0" "$@"', stage.engine.bin / "cloop",
                        *stage.run_words(["/bin/true"])], capture_output=True,
                       env={**stage.engine.env, **stage.cloop_env()})
    assert p.returncode == 125 and b"cloop: " in p.stderr, p
