"""Programs that die, stall or are hostile while a run goes on (container-driver.md §25.12, §25.13):
nothing is lost but what is documented, and the record says the truth."""
import json
import os
import random
import signal
import subprocess
import time

import pytest

import crashing
from engines import on
from stage import parallel

LINES = 40
READ = 65536  # of one stream, which a killed supervisor may take with it
PIPES = 1 << 20  # more than both pipes hold

COUNT = 'i=0; while [ $i -lt "$1" ]; do echo "line $i"; i=$((i+1)); sleep 0.01; done; exit "$2"'
FLOOD = 'i=0; while [ $i -lt "$1" ]; do echo "line $i ........................................"; ' \
        'i=$((i+1)); done; exit "$2"'


def numbers(out):
    return [int(line.split()[1]) for line in out.splitlines() if line.startswith(b"line ")]


def check_output(out, count, line_bytes=50):
    """In order, and but for at most one read complete: more only if the supervisor was killed."""
    got = numbers(out)
    assert got == sorted(set(got))
    assert (count - len(got)) * line_bytes <= READ + line_bytes, (count, len(got))


def shell(script, *args):
    return ["/bin/sh", "-c", script, "sh", *map(str, args)]


def ended(stage, handle, outcome, exit_code, signal=None):
    record = crashing.wait_final(stage, handle)
    got = {k: record[k] for k in ("outcome", "exit_code", "signal")}
    assert got == {"outcome": outcome, "exit_code": exit_code, "signal": signal}, record
    return record


def random_run(stage, number):
    rng = random.Random(number)
    code = 11 + number
    cli = stage.popen(*stage.run_words(shell(COUNT, LINES, code)),
                      env={"CLOOP_FAULT": ""}, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL)
    victim = rng.choice(("shim", "cli", "both"))
    time.sleep(rng.uniform(0, 1.5))
    found = [p for p in crashing.children(cli.pid)
             if crashing.words_of(p)[:1] == [b"cloop-shim"]]
    if victim != "shim":
        cli.kill()
    if victim != "cli":
        for pid in found:
            crashing.kill(pid)
    if victim != "shim":
        cli.wait()


def test_random_kills_under_load(stage):
    count = 24
    parallel(lambda n: random_run(stage, n), range(count), 6)
    stage.answer("ps")
    handles = [d.name for d in stage.run_dirs()]
    codes = []
    for handle in handles:
        # A supervisor that was dying when `ps` looked is found by whoever looks next.
        stage.cloop("wait", handle, timeout=60)
        if crashing.record_of(stage, handle)["state"] == "none":
            continue  # killed before its first record
        record = crashing.wait_final(stage, handle)
        assert record["outcome"] in ("nonzero", "start_failed"), record
        out, _ = crashing.output(stage, handle)
        if record["outcome"] == "nonzero":
            codes.append(record["exit_code"])
            check_output(out, LINES, 8)
        else:
            assert out == b""
    assert len(codes) == len(set(codes)) and set(codes) <= set(range(11, 11 + count))
    if any(crashing.record_of(stage, d.name)["state"] == "none" for d in stage.run_dirs()):
        time.sleep(11)  # one that may still be beginning is let alone for 10 s
        stage.answer("ps")
    for d in stage.run_dirs():
        assert crashing.is_final(crashing.record_of(stage, d.name)), d.name


def test_ends_without_supervisor(stage):
    """Within 5 s its init still has the exact status; later the engine's code is all there is."""
    def check(wait):
        handle = stage.detach(*shell("sleep 0.5; echo line 0; exit 139"))
        crashing.kill_shim(stage, handle)
        time.sleep(wait)
        stage.status(handle)
        return handle

    early, late = parallel(check, (1.5, 7))
    ended(stage, early, "nonzero", 139)
    assert crashing.output(stage, early)[0] == b"line 0\n"
    ended(stage, late, "signal", 139, signal.SIGSEGV)
    frames = stage.cloop("logs", "--json", late).out.splitlines()
    assert any(json.loads(f)["stream"] == "gap" for f in frames), "lost output is not told"


def test_blocks_without_supervisor(stage):
    count = 20000
    handle = stage.detach(*shell(f"sleep 0.4; {FLOOD}", count, 3))
    crashing.kill_shim(stage, handle)
    time.sleep(1.5)
    assert stage.engine.inspect(stage.container_of(handle))["State"]["Running"]
    assert stage.cloop("wait", handle).rc == 3
    ended(stage, handle, "nonzero", 3)
    assert numbers(crashing.output(stage, handle)[0]) == list(range(count))


def test_supervisor_stands_still(stage):
    count = 20000
    handle = stage.detach(*shell(f"sleep 0.4; {FLOOD}", count, 4))
    [shim] = crashing.shims(handle)
    crashing.kill(shim, signal.SIGSTOP)
    time.sleep(1)
    crashing.kill(shim, signal.SIGCONT)
    assert stage.cloop("wait", handle).rc == 4
    assert numbers(crashing.output(stage, handle)[0]) == list(range(count))


def test_killed_in_a_flood(stage):
    count = 40000
    handle = stage.detach(*shell(FLOOD, count, 5))
    for _ in range(3):
        time.sleep(0.1)
        for pid in crashing.shims(handle):
            crashing.kill(pid)
        stage.status(handle)
    assert stage.cloop("wait", handle).rc == 5
    got = numbers(crashing.output(stage, handle)[0])
    assert got == sorted(set(got))
    assert (count - len(got)) * 48 <= 3 * (READ + 48)


def test_monitor_killed(stage):
    if stage.engine.kind != "podman":
        pytest.skip("podman's monitor")
    handle = stage.detach(*shell(COUNT, 100, 6))
    container = os.fsencode(stage.container_of(handle))
    monitors = list(crashing.processes(lambda w: w[0].endswith(b"conmon") and container in w))
    assert monitors
    for pid in monitors:
        crashing.kill(pid)
    assert stage.cloop("wait", handle).rc == 6
    assert numbers(crashing.output(stage, handle)[0]) == list(range(100))


def kill_client(stage, delay):
    """The engine's client dies: refused, or it was done already."""
    cli = stage.popen(*stage.run_words(["/bin/true"]))
    shim = crashing.shim_of(cli)
    wanted = f"--cidfile={stage.home}/runs/{crashing.handle_of(shim)}/cid".encode()

    def find():
        return list(crashing.processes(lambda w: wanted in w)) or cli.poll() is not None
    found = crashing.until(find, "client of the engine")
    time.sleep(delay)
    for pid in found if isinstance(found, list) else ():
        crashing.kill(pid)
    cli.communicate(timeout=60)
    assert cli.returncode in (0, 125)
    return cli.returncode


def test_client_killed_during_start(stage):
    statuses = parallel(lambda d: kill_client(stage, d), (0, 0.02, 0.05, 0.1, 0.15, 0.25))
    assert 125 in statuses
    stage.answer("ps")


def test_removed_behind_our_back(stage):
    handle = stage.detach("/bin/sleep", "100")
    name = stage.container_of(handle)
    flags = ["--time=0"] if stage.engine.kind == "podman" else []
    stage.engine.call("rm", "--force", *flags, name)
    r = stage.wait(handle)
    assert r.record["outcome"] in ("lost", "signal"), r.record
    assert r.rc == (125 if r.record["outcome"] == "lost" else 128 + r.record["signal"])


def test_stopped_behind_our_back(stage):
    handle = stage.detach("/bin/sleep", "100")
    stage.engine.call("stop", "--time=5", stage.container_of(handle))
    stage.wait(handle)
    ended(stage, handle, "signal", 143, signal.SIGTERM)


HOSTILE = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>
int main(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/run/cloop/ctl/sock"};
	time_t end = time(NULL) + 4;
	for (int n = 1; n < 65; n++)
		signal(n, SIG_IGN);
	puts("line 0");
	fflush(stdout);
	while (time(NULL) < end) {
		int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
		if (connect(s, (struct sockaddr *)&a, sizeof(a)) == 0)
			send(s, "\1\4\0\0\0\0\0\0", 8, MSG_NOSIGNAL);
		close(s);
		for (int n = 1; n < 65; n++)
			kill(1, n);
		if (ptrace(PTRACE_ATTACH, 1, 0, 0) == 0 || open("/proc/1/mem", O_RDWR) >= 0)
			return 99;
	}
	puts("line 1");
	return 23;
}
"""


def test_hostile_workload(stage):
    """It floods the socket of an adoption, signals and traces PID 1."""
    source = stage.write("hostile.c", HOSTILE)
    subprocess.run(["musl-gcc", "-static", "-O1", "-w", source, "-o", stage.project / "hostile"],
                   check=True)
    handle = stage.detach("/workspace/hostile")
    time.sleep(0.3)
    crashing.kill_shim(stage, handle)
    stage.status(handle)
    assert stage.cloop("wait", handle).rc == 23
    ended(stage, handle, "nonzero", 23)
    assert numbers(crashing.output(stage, handle)[0]) == [0, 1]


def change_record(stage, handle, **members):
    path = stage.home / "runs" / handle / "status.json"
    record = json.loads(path.read_text())
    record["supervision"].update(members)
    path.write_text(json.dumps(record))


def test_reboot(stage):
    handle = stage.detach("/bin/sleep", "100")
    crashing.kill_shim(stage, handle)
    change_record(stage, handle, boot_id="00000000-0000-0000-0000-000000000000")
    stage.status(handle)
    ended(stage, handle, "lost", None)
    assert stage.cloop("wait", handle).rc == 125
    frames = [json.loads(f) for f in stage.cloop("logs", "--json", handle).out.splitlines()]
    assert [f["stream"] for f in frames] == ["note", "gap", "end"], frames
    assert frames[1]["lost_bytes"] is None


@on("P")
def test_power_cut(stage):
    """What was decided was not on the disk yet: nobody can go on, and nothing stays."""
    handle = stage.detach("/bin/sleep", "100")
    crashing.kill_shim(stage, handle)
    change_record(stage, handle, boot_id="00000000-0000-0000-0000-000000000000")
    (stage.home / "runs" / handle / "request.json").write_bytes(b"")
    assert stage.wait(handle).rc == 125
    record = ended(stage, handle, "lost", None)
    assert [w["code"] for w in record["warnings"]] == ["container_left"], record
    crashing.wait_unsupervised(stage, handle)
    assert len(stage.answer("executor", "reap")["removed"]) == 1
    assert not crashing.shims(handle)


def damage(stage, handle, name, content):
    """content: of the file; None: it is removed."""
    crashing.kill_shim(stage, handle)
    path = stage.home / "runs" / handle / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)


@on("P")
@pytest.mark.parametrize("content", (b"", b"{", b"[]", None))
def test_damaged_request(stage, content):
    """Nobody can take the run over: it ends, and what is left of it is named and can be removed."""
    handle = stage.detach("/bin/sleep", "100")
    damage(stage, handle, "request.json", content)
    assert stage.wait(handle).rc == 125
    record = ended(stage, handle, "lost", None)
    assert "request.json" in record["error"] and "cloop executor reap" in record["remediation"]
    assert [w["code"] for w in record["warnings"]] == ["container_left"], record
    crashing.wait_unsupervised(stage, handle)
    assert len(stage.answer("executor", "reap")["removed"]) == 1


@on("P")
def test_damaged_record_and_request(stage):
    handle = stage.detach("/bin/sleep", "100")
    (stage.home / "runs" / handle / "request.json").unlink()
    damage(stage, handle, "status.json", b"{")
    assert stage.wait(handle).rc == 125
    ended(stage, handle, "lost", None)
    crashing.wait_unsupervised(stage, handle)
    assert len(stage.answer("executor", "reap")["removed"]) == 1


@on("PD")
@pytest.mark.parametrize("content", (b"", b'{"handle":', b"5", None))
def test_damaged_record(stage, content):
    """How far it had come is not known: it ends, and its container with it."""
    handle = stage.detach(*shell("echo line 0; sleep 100"))
    crashing.until(lambda: b"line 0" in stage.cloop("logs", handle).out, "output")
    damage(stage, handle, "status.json", content)
    assert stage.wait(handle).rc == 125
    record = ended(stage, handle, "lost", None)
    assert "record of the run was damaged" in record["error"] and record["project"] == str(stage.project)
    assert b"line 0" in stage.cloop("logs", handle).out
    crashing.wait_unsupervised(stage, handle)
    assert stage.answer("executor", "reap")["removed"] == []


def test_deadline_outlives_the_supervisor(stage):
    handle = stage.detach("/bin/sleep", "100", options=["--timeout", "1s"])
    crashing.kill_shim(stage, handle)
    time.sleep(1.2)
    assert stage.cloop("wait", handle).rc == 124
    assert ended(stage, handle, "timeout", 143, signal.SIGTERM)


def test_stop_outlives_the_supervisor(stage):
    """A request on record is taken up; past its grace by SIGKILL."""
    handle = stage.detach(*shell("trap 'echo line 0' TERM; >ready; while :; do sleep 0.1; done"))
    crashing.until((stage.project / "ready").exists, "trap")
    stop = stage.popen("stop", "--grace", "2s", handle)
    crashing.until(lambda: "delivered" in crashing.record_of(stage, handle)["supervision"], "stop")
    crashing.kill_shim(stage, handle)
    stop.communicate(timeout=60)
    assert stage.cloop("wait", handle).rc == 137
    ended(stage, handle, "cancelled", 137, signal.SIGKILL)
    assert stage.cloop("stop", handle).rc == 0


def test_signals_after_an_adoption(stage):
    handle = stage.detach(*shell("trap 'exit 9' INT; >ready; while :; do sleep 0.1; done"))
    crashing.until((stage.project / "ready").exists, "trap")
    crashing.kill_shim(stage, handle)
    assert stage.cloop("stop", "--signal", "interrupt", handle).rc == 0
    assert stage.cloop("wait", handle).rc == 9
    ended(stage, handle, "nonzero", 9)


def test_paused_run_is_stopped(stage):
    if stage.engine.key == "R":
        pytest.skip("rootless podman cannot pause without delegated control groups")
    handle = stage.detach("/bin/sleep", "100")
    stage.engine.call("pause", stage.container_of(handle))
    assert stage.cloop("stop", "--grace", "10s", handle, timeout=30).rc == 0
    ended(stage, handle, "cancelled", 143, signal.SIGTERM)
