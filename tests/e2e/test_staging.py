"""Files and variables of a lease in a run (container-driver.md §12, §15, §25.15): delivered as
promised, masked, and gone from the host at every end. start-material brings what a lease would."""
import json
import os
import pathlib
import signal
import stat
import subprocess

import pytest

import crashing
from engines import on

CANARY = "canary-77aa31-of-a-file"
VALUE = "canary-90bb12-of-a-variable"
MULTI = "canary-first-line\n\tsecond \"line\"\nthird-line-canary\n"
MASK = b"[redacted]"
LEASE = "lease_" + "ab" * 12
GRANT = "grant_" + "cd" * 12
DIR = "/run/cloop/cloop-lease-" + "12" * 12
SHM = pathlib.Path("/dev/shm")


def file(name, text=CANARY, mode=0o600, **more):
    return {"name": name, "mode": mode, **({"text": text} if "hex" not in more else {}), **more}


def material(*files, variables=(), **more):
    binding = {"grant": GRANT, "kind": "file", "files": [f["name"] for f in files],
               "env_keys": [v["name"] for v in variables]}
    return {"lease": LEASE, "dir": DIR if files else "", "files": list(files),
            "variables": list(variables), "bindings": [binding], "expires_at": 4102444800, **more}


def start(stage, what, *argv, env=None, popen=False, programs=None):
    p = stage.engine.popen([(programs or stage.engine.bin) / "start-material", stage.home, stage.config_file,
                            stage.project, *argv], env=stage.cloop_env(env),
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stage.started.append(p)
    if popen:
        p.stdin.write(json.dumps(what).encode())
        p.stdin.close()
        p.stdin = None
        return p
    out, err = p.communicate(json.dumps(what).encode(), timeout=120)
    assert out, err
    return json.loads(out)


def started(stage, what, script, **more):
    answer = start(stage, what, "/bin/sh", "-c", script, **more)
    assert "error" not in answer, answer
    return answer["handle"]


def ran(stage, what, script):
    """Record and output of a run that came to its end."""
    handle = started(stage, what, script)
    record = stage.wait(handle).record
    return record, *crashing.output(stage, handle)


def request_of(stage, handle):
    return json.loads((stage.home / "runs" / handle / "request.json").read_text())


def host_dir(stage, handle):
    return pathlib.Path(request_of(stage, handle)["lease"]["stage"])


def nothing_staged(stage, handle):
    """At the latest when the record is final."""
    assert not host_dir(stage, handle).exists()
    assert not (stage.home / "runs" / handle / "stage.json").exists()


def canaries(stage, *values):
    """Files of the home that hold a value."""
    return [path for path in stage.home.rglob("*") if path.is_file()
            and any(v.encode() in path.read_bytes() for v in values)]


def test_files_as_promised(stage):
    """Names, modes, owner, bytes; read-only; what the workload prints of them is masked."""
    odd = bytes(range(256)).hex()
    what = material(file("a", mode=0o400), file("run.sh", "#!/bin/sh\necho ran\n", 0o500),
                    file("b", mode=0o700), file("raw", hex=odd), file("empty", ""), file("c-d.e f"))
    record, out, err = ran(stage, what, f"""
cd {DIR} && stat -c '%n %a %u:%g' . && stat -c '%n %a %u:%g %s' a run.sh b raw empty 'c-d.e f'
id -u; id -g; ./run.sh; od -An -v -tx1 raw | tr -d ' \\n'; echo
for change in '> new' '>> b' ; do sh -c "echo x $change" 2>/dev/null && echo written; done
for change in 'rm -f b' 'mv b d' 'chmod 700 a' 'ln a e'; do $change 2>/dev/null && echo changed; done
cat a; echo; ls -A; grep -c ' {DIR} ro,' /proc/self/mountinfo""")
    uid, gid = stage.engine.owner
    size = lambda f: len(f["hex"]) // 2 if "hex" in f else len(f["text"])
    lines = out.decode().splitlines()
    assert record["outcome"] == "ok" and err == b"", (record, err)
    assert lines == [
        f". 700 {uid}:{gid}",
        *(f"{f['name']} {f['mode']:o} {uid}:{gid} {size(f)}" for f in what["files"]),
        str(uid), str(gid), "ran", odd, MASK.decode(), *sorted(f["name"] for f in what["files"]), "1"]
    assert canaries(stage, CANARY) == []


def test_host_side(stage):
    """Where it lies while the run goes on, what is on record of it, and who can see values."""
    what = material(file("key"), variables=[{"name": "TOKEN", "value": VALUE}])
    handle = started(stage, what, "echo $TOKEN; cat " + DIR + "/key; sleep 60")
    where = host_dir(stage, handle)
    uid, gid = stage.engine.owner
    for path, mode in ((where, 0o700), (where / "key", 0o600)):
        st = path.lstat()
        assert (stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid) == (mode, uid, gid)
    assert where.parent == SHM and (where / "key").read_text() == CANARY
    # docker lists a container a moment after its workload runs.
    listed = lambda: stage.engine.lines("ps", "--quiet", f"--filter=label=cloop.handle={handle}")
    inspected = json.dumps(stage.engine.inspect(crashing.until(listed, "container")[0]))
    assert CANARY not in inspected and str(where) in inspected
    request = request_of(stage, handle)
    assert request["lease"]["bindings"] == [
        {"grant": GRANT, "kind": "file", "files": ["key"], "env_keys": ["TOKEN"]}]
    assert request["redact"] == ["TOKEN"]
    for proc in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert CANARY.encode() not in proc.read_bytes() and VALUE.encode() not in proc.read_bytes()
        except OSError:
            pass
    assert stage.cloop("stop", "--signal", "kill", handle).rc == 0
    stage.wait(handle)
    assert crashing.output(stage, handle)[0] == MASK + b"\n" + MASK
    assert canaries(stage, CANARY, VALUE) == []
    nothing_staged(stage, handle)


ENDS = {"exit": ("exit 3", None), "signal": ("kill -9 $$", None), "kill": ("sleep 60", ["stop", "--signal", "kill"]),
        "stop": ("trap 'exit 1' TERM; sleep 60 & wait", ["stop"])}


@pytest.mark.parametrize("how", ENDS)
def test_gone_at_every_end(stage, how):
    script, command = ENDS[how]
    handle = started(stage, material(file("key")), script)
    if command:
        assert stage.cloop(*command, handle).rc == 0
    stage.wait(handle)
    nothing_staged(stage, handle)


@pytest.mark.parametrize("point", ["start:7-secrets", "stage:recorded", "stage:file", "stage:written",
                                   "start:8-network", "start:11-engine", "verify:mounts",
                                   "start:15-record"])
def test_gone_after_a_failed_start(stage, point):
    answer = start(stage, material(file("a"), file("b")), "/bin/true",
                   env={"CLOOP_FAULT": f"{point}=fail"})
    assert answer["code"] in ("shim_failed", "secret_stage_failed"), answer
    nothing_staged(stage, answer["handle"])
    assert stage.status(answer["handle"])["outcome"] == "start_failed"


def test_command_that_is_not_there(stage):
    answer = start(stage, material(file("a")), CANARY + "/prog")
    assert answer["code"] == "command_not_found" and CANARY not in json.dumps(answer), answer
    nothing_staged(stage, answer["handle"])
    assert CANARY not in json.dumps(stage.status(answer["handle"]))


def test_no_tmpfs(stage):
    """Another tmpfs, or none: then nothing is made at all. P: the shim's runtime directory is none."""
    answer = start(stage, material(file("a")), "/bin/true",
                   env={"CLOOP_FAULT": "stage:no-shm=fail", "XDG_RUNTIME_DIR": str(stage.dir)})
    assert answer["code"] == "secret_stage_unavailable" and answer["handle"] == "", answer
    assert stage.run_dirs() == []


@pytest.mark.parametrize("bad, code", [
    (file("a/b"), "secret_name_invalid"), (file("a", "x" * 262145), "secret_too_large"),
    (file("a", mode=0o640), "secret_mode_invalid")], ids=["name", "size", "mode"])
def test_refused_before_anything(stage, bad, code):
    answer = start(stage, material(bad), "/bin/true")
    assert answer["code"] == code and answer["handle"] == "" and stage.run_dirs() == []


def test_hold(stage):
    """It is asked once there is a directory; its refusal ends the start."""
    answer = start(stage, material(file("a"), hold="refuse"), "/bin/true")
    assert answer["code"] == "secret_store" and answer["handle"], answer
    assert stage.status(answer["handle"])["outcome"] == "start_failed"
    nothing_staged(stage, answer["handle"])
    # Written by it, as the engine's user, into its own folder.
    held = stage.dir / "held"
    handle = started(stage, material(file("a"), hold=str(held)), "true")
    stage.wait(handle)
    assert held.read_text() == handle


POINTS = ["start:7-secrets", "stage:recorded", "stage:made", "stage:file", "stage:file:2",
          "stage:written", "stage:given", "start:8-network", "start:11-called", "start:15-go"]


@pytest.mark.parametrize("point", POINTS)
def test_supervisor_killed_while_staging(stage, point):
    """The next command leaves nothing of it; the workload never ran, but perhaps at the last."""
    cli = start(stage, material(file("a"), file("b")), "/bin/true", popen=True,
                env={"CLOOP_FAULT": f"{point}=stop"})
    shim = crashing.shim_of(cli)
    handle = crashing.handle_of(shim)
    assert crashing.wait_stopped(shim)
    cli.kill()
    cli.wait()
    crashing.kill(shim)
    crashing.wait_unsupervised(stage, handle)
    assert stage.cloop("ps").rc == 0
    record = crashing.wait_final(stage, handle, 10)
    assert record["outcome"] in ("start_failed", "lost"), record
    nothing_staged(stage, handle)


@pytest.mark.parametrize("point", ["finish:stage", "wipe:file", "wipe:file:2", "wipe:directory",
                                   "wipe:record", "finish:record"])
def test_supervisor_killed_while_wiping(stage, point):
    cli = start(stage, material(file("a"), file("b")), "/bin/sh", "-c", "echo x; exit 4", popen=True,
                env={"CLOOP_FAULT": f"{point}=kill"})
    shim = crashing.shim_of(cli)
    handle = crashing.handle_of(shim)
    crashing.until(lambda: crashing.state_of(shim) in ("Z", None), "death of the supervisor")
    cli.communicate(timeout=60)
    crashing.wait_unsupervised(stage, handle)
    assert stage.cloop("ps").rc == 0
    record = crashing.wait_final(stage, handle, 10)
    assert record["outcome"] == "nonzero" and record["exit_code"] == 4, record
    nothing_staged(stage, handle)


def test_sweep_after_a_final_record(stage):
    """A stage that is on record of a run that ended, and one that is on nobody's."""
    handle = started(stage, material(file("a")), "true")
    stage.wait(handle)
    stage.home_is_free()
    ours, other = (SHM / ("cloop-lease-" + c * 24) for c in "ef")
    for path in (ours, other):
        path.mkdir(mode=0o700)
        (path / "x").write_text(CANARY)
        (path / "link").symlink_to(stage.config_file)
        if os.geteuid() == 0:
            for p in (path, path / "x"):
                os.chown(p, stage.engine.uid, stage.engine.gid)
    record = stage.home / "runs" / handle / "stage.json"
    record.write_text(json.dumps({"path": str(ours)}))
    try:
        assert stage.cloop("ps").rc == 0
        assert not ours.exists() and not record.exists() and (other / "x").read_text() == CANARY
        assert stage.config_file.exists()
        record.write_text(json.dumps({"path": str(stage.dir / "cloop-lease-x")}))
        assert stage.cloop("ps").rc == 0 and record.exists()
    finally:
        record.unlink()
        for path in (other / "x", other / "link"):
            path.unlink()
        other.rmdir()


def test_masked_at_every_cut(stage):
    """Byte by byte, many lines, as a terminal shows it, escaped for JSON, and at the very end."""
    what = material(file("m", MULTI), variables=[{"name": "TOKEN", "value": VALUE}])
    script = f"""cut() {{ i=0; while [ $i -lt $2 ]; do dd if=$1 bs=1 skip=$i count=1 2>/dev/null; i=$((i+1)); done; }}
printf %s "$TOKEN" > /tmp/v
cut {DIR}/m {len(MULTI)}; echo '|'; cut /tmp/v {len(VALUE)}; echo '|'
sed 's/$/\\r/' {DIR}/m; echo '|'; printf 'x%sy%s' "$TOKEN" "$TOKEN"; cat {DIR}/m >&2"""
    record, out, err = ran(stage, what, script)
    assert out == MASK + b"\n|\n" + MASK + b"|\n" + MASK + b"\r\n|\nx" + MASK + b"y" + MASK, out
    assert err == MASK + b"\n" and record["outcome"] == "ok"


def test_short_values_are_told(stage):
    what = material(file("a", "short"), variables=[{"name": "PIN", "value": "1234"},
                                                   {"name": "TOKEN", "value": VALUE}])
    handle = started(stage, what, "echo $PIN $TOKEN")
    stage.wait(handle)
    r = stage.cloop("logs", handle)
    assert r.out == b"1234 " + MASK + b"\n"
    assert b"[cloop] 2 values are shorter than 8 bytes and are not masked in the output" in r.err


def test_adopted_run_stays_masked(stage):
    """A new supervisor masks before it reads; and what it wipes at the end is the old one's."""
    what = material(file("key"), file("multi", MULTI), variables=[{"name": "TOKEN", "value": VALUE}])
    script = f"""while [ ! -e go ]; do sleep 0.05; done
echo $TOKEN; cat {DIR}/key; echo; cat {DIR}/multi; exit 5"""
    handle = started(stage, what, script)
    crashing.kill_shim(stage, handle)
    (stage.project / "go").touch()
    record = stage.wait(handle).record
    assert record["exit_code"] == 5, record
    out = crashing.output(stage, handle)[0]
    assert out == MASK + b"\n" + MASK + b"\n" + MASK + b"\n", out
    nothing_staged(stage, handle)
    assert canaries(stage, CANARY, VALUE, "third-line-canary") == []


def test_nothing_is_read_without_the_masks(stage):
    """A file that is gone from the stage cannot be masked: the workload waits at the pipe."""
    script = f"read x < {DIR}/key; while [ ! -e go ]; do sleep 0.05; done; echo $x; exit 5"
    handle = started(stage, material(file("key")), script)
    where = host_dir(stage, handle) / "key"
    crashing.kill_shim(stage, handle)
    kept = where.stat()
    where.rename(where.parent / "away")
    (stage.project / "go").touch()
    assert stage.cloop("ps").rc == 0
    crashing.until(lambda: crashing.record_of(stage, handle)["state"] == "unknown", "unknown")
    assert crashing.output(stage, handle)[0] == b""
    (where.parent / "away").rename(where)
    assert where.stat().st_ino == kept.st_ino
    assert stage.wait(handle).record["exit_code"] == 5
    assert crashing.output(stage, handle)[0] == MASK + b"\n"
    nothing_staged(stage, handle)


@on("P")
@pytest.mark.parametrize("how", ["stopped", "ended"])
def test_a_run_without_its_masks_ends(stage, how):
    """They do not come back: nothing is read, and everything else of the run goes on."""
    script = f"read x < {DIR}/key; while [ ! -e go ]; do sleep 0.05; done; echo $x; exit 5"
    handle = started(stage, material(file("key")), script)
    crashing.kill_shim(stage, handle)
    (host_dir(stage, handle) / "key").unlink()
    if how == "stopped":
        assert stage.cloop("stop", "--grace", "1s", handle).rc == 0
    else:
        (stage.project / "go").touch()
        assert stage.cloop("status", handle, env={"CLOOP_FAULT_ADOPT": "adopt:no-masks"}).rc == 0
    record = stage.wait(handle).record
    expected = ("cancelled", 143) if how == "stopped" else ("nonzero", 5)
    assert (record["outcome"], record["exit_code"]) == expected, record
    assert "output_unread" in [w["code"] for w in record["warnings"]], record
    assert crashing.output(stage, handle)[0] == b""
    nothing_staged(stage, handle)


def test_no_core_and_no_look_inside(stage):
    """The supervisor cannot be dumped while it holds values, and what it has is not readable."""
    cli = start(stage, material(file("a")), "/bin/true", popen=True,
                env={"CLOOP_FAULT": "stage:made=stop"})
    shim = crashing.shim_of(cli)
    handle = crashing.handle_of(shim)
    assert crashing.wait_stopped(shim)
    limits = pathlib.Path(f"/proc/{shim}/limits").read_text()
    assert [line.split()[4:6] for line in limits.splitlines() if "core file" in line] == [["0", "0"]]
    mapped = pathlib.Path(f"/proc/{shim}/smaps").read_text()
    area = mapped[mapped.index("memfd:secrets"):].split("VmFlags:")[1].splitlines()[0].split()
    assert "dd" in area and "lo" in area and "wr" not in area, area
    os.kill(shim, signal.SIGCONT)
    cli.communicate(timeout=60)
    stage.wait(handle)
    nothing_staged(stage, handle)
