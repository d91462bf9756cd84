"""Images for `setup:` on real engines (image-trust.md §11, §14.14-15): built once, exactly as
written, with no more than the run has, and stopped without a trace."""
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import tarfile
import tempfile
import time

import pytest

import crashing
import filtering
from engines import IMAGE, rootfs
from stage import parallel

NAME = "localhost/cloop-sandbox"
SIX = 0xdb  # CHOWN DAC_OVERRIDE FOWNER FSETID SETGID SETUID


def tags(stage):
    """Of derived images, finished or not."""
    listed = stage.engine.call("images", "--format={{.Repository}}:{{.Tag}}").split()
    return sorted(t.rsplit(":", 1)[1] for t in listed if t.startswith(NAME + ":"))


def containers(stage):
    external = ["--external"] if stage.engine.kind == "podman" else []
    return stage.engine.lines("ps", "--all", "--quiet", *external)


def drop_derived(stage):
    found = tags(stage)
    for tag in found:
        stage.engine.call("rmi", f"{NAME}:{tag}")
    assert [t for t in found if t.startswith("build-")] == []


def log_of(stage, key):
    return (stage.home / "builds" / f"{key}.log").read_text()


@pytest.fixture(autouse=True)
def clean(stage):
    """No derived image, working container or build file is left by any test."""
    for stray in containers(stage):  # of a podman that another test killed (engines.py)
        stage.engine.call("rm", "--force", stray)
    yield
    stage.home_is_free()
    left = containers(stage)
    drop_derived(stage)
    assert left == []
    left = [p.name for p in (stage.home / "builds").glob("*") if not p.name.endswith(".log")]
    assert left == []
    dangling = stage.engine.lines("images", "--quiet", "--filter=dangling=true",
                                  "--filter=label=io.cloop.sandbox.setup")
    assert dangling == []


def test_built_once_and_run_by_id(stage):
    stage.spec({"setup": ["echo made > /made", "cat /made; echo $$ > /second"]})
    r = stage.sh("cat /made")
    assert (r.rc, r.out) == (0, b"made\n"), r
    assert b"cat /made" in r.err
    [key] = tags(stage)
    assert re.fullmatch("[0-9a-f]{64}", key)
    found = json.loads(stage.engine.call("image", "inspect", f"{NAME}:{key}"))[0]
    assert r.record["image_id"] == "sha256:" + found["Id"].removeprefix("sha256:")
    assert r.record["image"] == IMAGE and r.record["setup_sha256"]
    assert r.record["image_digest"] is None and not r.record["reproducible"]
    assert found["Config"]["Labels"]["io.cloop.sandbox.setup"] == key
    log = stage.home / "builds" / f"{key}.log"
    assert log.stat().st_mode & 0o777 == 0o600 and "made" in log.read_text()
    log.unlink()
    again = stage.sh("cat /second")
    assert again.rc == 0 and again.record["image_id"] == r.record["image_id"]
    assert again.err == b"" and not log.exists()
    assert tags(stage) == [key]


def test_two_homes_build_one_key(stage):
    """They have one store: whoever comes second finds the image, and both run it."""
    homes = [stage.dir / f"home-{i}" for i in range(2)]
    for n in range(4):
        stage.spec({"setup": [f"sleep 0.{n}; echo {n} > /made"]})
        runs = parallel(lambda h: stage.sh("cat /made", env={"CLOOP_HOME": str(h)}), homes)
        assert [(r.rc, r.out) for r in runs] == [(0, b"%d\n" % n)] * 2, runs
        assert len({r.record["image_id"] for r in runs}) == 1
        assert sorted(bool(r.err) for r in runs) == [False, True]
    crashing.until(lambda: not any(p for h in homes for p in (h / "runs").glob("c-*/ctl")), "end")


def test_explain(stage):
    stage.spec({"setup": ["true"]})
    shown = stage.answer("sandbox", "explain", "-C", stage.project)
    assert shown["image"]["build_needed"] is True and shown["build_network"] == "none"
    assert tags(stage) == [] and not (stage.home / "locks").exists()
    assert shown["argv"][-2].startswith("sha256:000")
    r = stage.sh("true")
    assert r.rc == 0, r
    shown = stage.answer("sandbox", "explain", "-C", stage.project)
    assert shown["image"]["build_needed"] is False
    assert shown["image"]["setup_key"] == tags(stage)[0]
    assert shown["argv"][-2] == r.record["image_id"]
    stage.spec({})
    shown = stage.answer("sandbox", "explain", "-C", stage.project)
    assert "build_needed" not in shown["image"] and shown["build_network"] is None


def test_ten_first_runs_build_once(stage):
    stage.spec({"setup": ["sleep 1; cat /proc/sys/kernel/random/uuid > /uuid"]})
    runs = parallel(lambda _: stage.sh("cat /uuid"), range(10), workers=10)
    assert {r.rc for r in runs} == {0}, runs
    assert len({r.out for r in runs}) == 1
    assert len({r.record["image_id"] for r in runs}) == 1
    assert sum(1 for r in runs if r.err) == 1, [r.err for r in runs]


def test_failure(stage):
    """Its exit status and last lines; what an earlier good build left stays."""
    stage.spec({"setup": ["for i in $(seq 30); do echo line-$i; done; "
                          "printf 'esc\\033[31m\\n' >&2; exit 7"]})
    r = stage.refused("true", code="setup_failed")
    assert "exit status 7" in r.record["error"] and "line-30" in r.record["error"]
    assert b"line-1\n" in r.err and b"\x1b" not in r.err and b"esc\\x1b[31m" in r.err
    assert r.record["remediation"].startswith("look at the output of the setup command, ")
    answer = stage.answer("run", "-C", stage.project, "--", "/bin/true", status=125)
    assert answer["status"] == 400 and answer["exit_status"] == 7
    lines = answer["output"].split("\n")
    assert len(lines) <= 12 and "line-30" in lines and len(answer["output"]) <= 4096
    assert tags(stage) == []
    stage.spec({"setup": ["false"]})
    stage.refused("true", code="setup_failed")
    assert tags(stage) == []


def sleepers(stage, mark):
    """Processes of a build's command."""
    found = []
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (proc / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(proc.name))
        except OSError:
            pass
    return found


@pytest.fixture
def sleeping(stage):
    """A run whose build sleeps, and the mark of its processes."""
    mark = f"98765 {os.getpid()} {stage.engine.stages}"  # seconds, and whose they are

    def start(env=None, before=""):
        stage.spec({"setup": [f"{before}sleep {mark} & sleep {mark}1"]})
        p = stage.popen("run", "-C", stage.project, "--record", stage.dir / "r.json", "--", "true",
                        env=env)
        crashing.until(lambda: sleepers(stage, mark + "1") or p.poll() is not None, "the command")
        return p
    yield start, mark
    assert sleepers(stage, mark) == []


def ended(stage, p, code):
    out, err = p.communicate(timeout=60)
    assert p.returncode == 125, (p.returncode, err)
    record = json.loads((stage.dir / "r.json").read_text())
    assert record["code"] == code, record
    assert containers(stage) == [] and tags(stage) == []
    return record


def test_cancelled(stage, sleeping):
    start, _ = sleeping
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGRTMAX):
        p = start()
        began = time.monotonic()
        p.send_signal(number)
        ended(stage, p, "start_cancelled")
        assert time.monotonic() - began < 15


def test_terminal_that_nobody_reads(stage):
    """Its progress is dropped, the build goes on, and neither is the run's output in its way."""
    ours, theirs = pty.openpty()
    if os.geteuid() == 0:
        os.fchown(theirs, stage.engine.uid, stage.engine.gid)
    stage.spec({"setup": ["yes 0123456789 | head -n 40000; echo end of it"]})
    try:
        p = stage.popen("run", "-C", stage.project, "--", "true", stderr=theirs)
        assert p.wait(timeout=60) == 0
        [key] = tags(stage)
        assert "end of it" in log_of(stage, key)
        stage.spec({})
        p = stage.popen("run", "-C", stage.project, "--", "sh", "-c",
                        "yes 0123456789 | head -n 40000 >&2; sleep 600", stderr=theirs)
        handle = crashing.until(lambda: [r["handle"] for r in stage.answer("ps")["runs"]
                                         if r["state"] == "running"], "the run")[0]
        time.sleep(1)
        p.send_signal(signal.SIGTERM)
        assert stage.wait(handle, timeout=30).record["state"] != "running"
        os.set_blocking(ours, False)
        while p.poll() is None:
            try:
                os.read(ours, 65536)
            except BlockingIOError:
                time.sleep(0.01)
    finally:
        os.close(ours)
        os.close(theirs)


def test_too_late(stage, sleeping):
    start, _ = sleeping
    for _ in range(4):
        p = start({"CLOOP_FAULT": "build:deadline"})
        began = p.poll() is None  # on a busy machine, not within the deadline of three seconds
        record = ended(stage, p, "setup_timeout")
        assert ".cloop/sandbox.yaml" in record["error"] and "input" in record["remediation"]
        if began:
            return
    assert False, "its command never began in time"


def test_too_late_while_it_waits(stage, sleeping):
    """The wait for another's build counts; a cancel ends it, too."""
    start, _ = sleeping
    first = start()
    answer = stage.answer("run", "-C", stage.project, "--", "true", status=125,
                          env={"CLOOP_FAULT": "build:deadline"})
    assert answer["code"] == "setup_timeout"
    second = stage.popen("run", "-C", stage.project, "--", "true")
    time.sleep(1)
    second.send_signal(signal.SIGINT)
    assert second.communicate(timeout=20)[1].startswith(b"cloop: ") and second.returncode == 125
    first.send_signal(signal.SIGTERM)
    ended(stage, first, "start_cancelled")


def test_cancelled_of_another_user(stage, sleeping):
    """Rootless, its number is not the caller's."""
    start, _ = sleeping
    name = "localhost/cloop-e2e-user:1"
    stage.engine.call("build", "--tag", name, "-", env={"DOCKER_BUILDKIT": "0"},
                      data=f"FROM {IMAGE}\nUSER 65533:65533\n".encode())
    stage.config(image=name)
    try:
        p = start(before="id -u; ")
        time.sleep(0.5)  # for the words to arrive
        p.send_signal(signal.SIGTERM)
        assert b"65533\n" in p.communicate(timeout=60)[1] and p.returncode == 125
    finally:
        stage.engine.call("rmi", name)


def test_stubborn_commands(stage, sleeping):
    """They ignore signals, and the next one begins as soon as one is killed."""
    start, mark = sleeping
    p = start(before="trap '' INT TERM HUP; ")
    p.send_signal(signal.SIGTERM)
    ended(stage, p, "start_cancelled")


# ---- What a command sees ----

REPORT = ("cat /proc/self/status > /r-status; env > /r-env; "
          "sed -n 's/:.*//p' /proc/net/dev > /r-net; "
          "cat /proc/self/mountinfo > /r-mounts; id > /r-id; ulimit -n > /r-files; "
          "ls -a / > /r-root; true")


def reported(stage, *names):
    r = stage.sh("for f; do cat /r-$f; echo ---; done", *names)
    assert r.rc == 0, r
    return dict(zip(names, r.out.decode().split("---\n")))


def test_what_commands_see(stage):
    secret = {"SECRET_OF_CALLER": "x1", "http_proxy": "http://proxy.invalid:1",
              "HTTPS_PROXY": "http://proxy.invalid:2", "BUILDAH_ISOLATION": "chroot"}
    stage.write("mark-of-project")
    stage.spec({"setup": [REPORT], "env": ["SECRET_OF_CALLER"]})
    r = stage.sh("true", env=secret, options=["--env", "SECRET_OF_CALLER"])
    assert r.rc == 0, r
    got = reported(stage, "status", "env", "net", "mounts", "id", "root", "files")
    assert got["net"].split() == ["lo"]
    assert got["id"].startswith("uid=0")
    names = {line.split("=")[0] for line in got["env"].splitlines()}
    assert names <= {"PATH", "HOME", "HOSTNAME", "PWD", "SHLVL", "OLDPWD", "container"}, names
    assert "x1" not in got["env"] and "proxy.invalid" not in got["env"]
    if stage.engine.kind == "podman":
        caps = dict(line.split(":\t") for line in got["status"].splitlines() if "Cap" in line)
        assert int(caps["CapBnd"], 16) == int(caps["CapEff"], 16) == SIX, caps
    assert "workspace" not in got["root"]
    assert str(stage.dir) not in got["mounts"]
    line = next(w for w in stage.answer("sandbox", "explain", "-C", stage.project)["argv"]
                if w.startswith("--ulimit=nofile="))
    assert got["files"].strip() in line


def test_host_is_untouched(stage):
    mark = f"cloop-e2e-mark-{os.getpid()}"
    stage.spec({"setup": [f"for d in / /tmp /etc /workspace /proc/1/root/var/tmp; do "
                          f"mkdir -p $d; touch $d/{mark}; done; rm -f /etc/passwd"]})
    r = stage.sh(f"ls /{mark}")
    assert r.rc == 0, r
    for folder in ("/", "/tmp", "/etc", "/var/tmp", stage.project):
        assert not (pathlib.Path(folder) / mark).exists()
    assert pathlib.Path("/etc/passwd").exists()


def in_container(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return len(re.search(r"^NSpid:(.*)$", status, re.M)[1].split()) > 1


def cgroup_value(pid, controller, name):
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(","):
            return (pathlib.Path("/sys/fs/cgroup") / controller / path[1:] / name).read_text()
    v2 = {"memory.limit_in_bytes": "memory.max", "cpu.cfs_quota_us": "cpu.max"}[name]
    return pathlib.Path(f"/sys/fs/cgroup{path}/{v2}").read_text()


def test_limits(stage, sleeping):
    """Read back from the control groups of the process of RUN."""
    if stage.engine.key == "R" and pathlib.Path("/sys/fs/cgroup/memory").exists():
        pytest.skip("rootless podman has no limits on cgroup v1")
    _, mark = sleeping
    stage.spec({"setup": [f"sleep {mark}1"], "resources": {"memory": "96m", "cpu": 0.5}})
    p = stage.popen("run", "-C", stage.project, "--record", stage.dir / "r.json", "--", "true")
    pid = crashing.until(lambda: [s for s in sleepers(stage, mark + "1") if in_container(s)],
                         "the command")[0]
    assert cgroup_value(pid, "memory", "memory.limit_in_bytes").strip() == str(96 << 20)
    assert cgroup_value(pid, "cpu", "cpu.cfs_quota_us").split()[0] == "50000"
    p.send_signal(signal.SIGTERM)
    ended(stage, p, "start_cancelled")


def test_limits_are_part_of_the_key(stage):
    stage.spec({"setup": ["true"]})
    assert stage.sh("true").rc == 0
    first = tags(stage)
    stage.spec({"setup": ["true", "true"]})
    assert stage.sh("true").rc == 0
    assert len(tags(stage)) == 2 and set(first) < set(tags(stage))


def test_no_more_network_than_the_run(stage):
    """The executor has one, the file asks for none of it."""
    if stage.engine.kind == "docker":
        pytest.skip("the test's dockerd has no bridge")
    stage.config(network="bridge")
    stage.spec({"setup": [REPORT]})
    r = stage.sh("cat /r-net")
    assert (r.rc, r.out.split()) == (0, [b"lo"]), r
    assert "build_without_network" not in [w["code"] for w in r.record["warnings"]]
    # Unfiltered, and so the run's under a grant, whose proxy binds only those who use it.
    grant = stage.answer("egress", "grant", "--to", "any", "--hosts", "a.example")["id"]
    stage.spec({"setup": [REPORT], "capabilities": {"network": grant}})
    told = stage.answer("sandbox", "explain", "-C", stage.project)
    assert told["build_network"] == "private", told
    assert "build_without_network" not in [w["code"] for w in told["warnings"]]
    if stage.engine.uid == 0:  # rootless needs a device that not every host opens to its users
        r = stage.sh("cat /r-net")
        assert (r.rc, sorted(r.out.split())) == (0, [b"eth0", b"lo"]), r
        # A filtered one a builder would attach without the filter.
        stage.config(network="bridge", egress_filter=filtering.FILTER)
        told = stage.answer("sandbox", "explain", "-C", stage.project)
        assert told["build_network"] == "none", told
        assert "build_without_network" in [w["code"] for w in told["warnings"]]


# ---- Text of the commands ----

ODD = ["x \\", "<<EOF", "$HOME ${PATH:-x} $$ $(id) `id`", "\"quoted\" 'single'", "ä€😀",
       "\\u0041\\n", "] , [", "a\tb", "%s %d", "--mount=type=bind,from=x", "# escape=`",
       "{{.ID}} ${!x}", "&& || ;; > < |", "\\\\", " ", "~*?[a]"]


def test_text_arrives_exactly(stage):
    """One RUN per command, whose shell got exactly the given words."""
    commands = [f"cat /proc/1/cmdline > /c{i:02}; true # {text}" for i, text in enumerate(ODD)]
    commands += ["[ -n x ] && cat /proc/1/cmdline > /c90; true", "# syntax=docker/dockerfile:1",
                 "\"cat\" /proc/1/cmdline > /c91; true \\", "# escape=`", "# FROM scratch",
                 "\t true \t", "true; true; RUN=1 COPY=2 true"]
    stage.spec({"setup": commands})
    r = stage.sh("for f in /c??; do cat $f; echo; done")
    assert r.rc == 0, r
    seen = r.out.decode().split("\0\n")
    wanted = [f"/bin/sh\0-c\0{c.strip(' ' + chr(9))}" for c in commands if "cmdline" in c]
    assert seen[:-1] == wanted
    [key] = tags(stage)
    if stage.engine.kind == "podman":
        text = stage.engine.call("image", "inspect", f"{NAME}:{key}")
        history = [h["created_by"] for h in json.loads(text)[0]["History"]]
    else:
        text = stage.engine.call("history", "--no-trunc", "--format={{.CreatedBy}}",
                                 "--human=false", f"{NAME}:{key}")
        history = text.splitlines()
    # The base has one entry, the labels two.
    assert len(history) == 1 + 2 + len(commands), history


@pytest.mark.parametrize("command", [
    "--mount=type=bind,from=localhost/other,target=/x cat /x", " --network=host true", "--",
    "true\ntrue", "true\rtrue", "true\u0085true", "true\u2028x", "\u001b[31m", "", "  ",
    "x" * 4097])
def test_refused_text(stage, command):
    stage.spec({"setup": [command]})
    r = stage.refused("true", code="sandbox_invalid_spec")
    assert tags(stage) == [] and not (stage.home / "builds").exists(), r


# ---- Images that are not what they seem ----

def test_onbuild(stage):
    name = "localhost/cloop-e2e-onbuild:1"
    flags = ["--format=docker"] if stage.engine.kind == "podman" else []
    stage.engine.call("build", "--tag", name, *flags, "-", env={"DOCKER_BUILDKIT": "0"},
                      data=f"FROM {IMAGE}\nONBUILD RUN touch /triggered\n".encode())
    try:
        stage.spec({"image": name, "setup": ["true"]})
        stage.refused("true", code="setup_onbuild")
        assert tags(stage) == []
        stage.spec({"image": name})
        assert stage.sh("ls /triggered").rc == 1
    finally:
        stage.home_is_free()
        stage.engine.call("rmi", name)


def import_with(stage, name, data, **labels):
    changes = [w for k, v in labels.items()
               for w in ("--change", f"LABEL io.cloop.sandbox.{k}={v}")]
    stage.engine.call("import", *changes, "-", name, data=data)


def test_foreign_image_under_the_name(stage):
    stage.spec({"setup": ["echo good > /which"]})
    shown = stage.answer("sandbox", "explain", "-C", stage.project)
    key = shown["image"]["setup_key"]
    stage.engine.call("tag", IMAGE, f"{NAME}:{key}")
    r = stage.sh("cat /which")
    assert (r.rc, r.out) == (0, b"good\n"), r
    stage.home_is_free()
    stage.engine.call("rmi", f"{NAME}:{key}")
    other = io.BytesIO(rootfs())
    with tarfile.open(fileobj=other, mode="a") as tar:
        tar.addfile(tarfile.TarInfo("other"))
    import_with(stage, f"{NAME}:{key}", other.getvalue(), setup=key, base=IMAGE)
    r = stage.sh("cat /which")
    assert (r.rc, r.out) == (0, b"good\n"), r


def test_log_that_cannot_be_written(stage):
    """A build that fills the disk under its log goes on; a long one's log is cut."""
    if os.geteuid() != 0 or stage.engine.key == "R":
        pytest.skip("mounts a small file system")
    builds = stage.home / "builds"
    stage.answer("ps")
    builds.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=0700", "tmpfs", builds],
                   check=True)
    try:
        stage.spec({"setup": ["yes 012345678901234567890123456789 | head -n 50000; false"]})
        r = stage.refused("true", code="setup_failed")
        assert "exit status 1" in r.record["error"]
    finally:
        subprocess.run(["umount", builds], check=True)
    stage.spec({"setup": ["yes 012345678901234567890123456789 | head -n 99999; echo END"]})
    assert stage.sh("true").rc == 0
    log = builds / f"{tags(stage)[0]}.log"
    assert (1 << 19) < log.stat().st_size <= 1 << 20
    assert "END" in log.read_text() and log.read_text().startswith("0123")


def test_no_space(stage):
    """Words of the engine in a command's output do not make another error of it."""
    stage.spec({"setup": ["dd if=/dev/zero of=/dev/shm/x bs=1M; "
                          "echo 'Cannot connect to the Docker daemon' >&2; exit 3"]})
    r = stage.refused("true", code="setup_failed")
    assert "exit status 3" in r.record["error"] and b"No space left" in r.err


def test_no_shell(stage):
    name = "localhost/cloop-e2e-empty:1"
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("empty"))
    stage.engine.call("import", "-", name, data=data.getvalue())
    try:
        stage.spec({"image": name, "setup": ["true"]})
        r = stage.refused("true", code="setup_failed")
        assert "/bin/sh" in r.record["remediation"], r.err
    finally:
        stage.engine.call("rmi", name)


@pytest.mark.parametrize("command, hint", [
    ("echo 'sh: x: no such file or directory'; cat /nothing; exit 2", "output of the setup command"),
    ("wget -O /x http://name.invalid/ || exit 3", "had no network"),
    ("true network; echo 'connections: 0' > /x; exit 4", "output of the setup command")])
def test_hints(stage, command, hint):
    """A remedy is about what the output says, not about what the command reads like; that there was
    no network is told in each."""
    stage.spec({"setup": [command]})
    r = stage.refused("true", code="setup_failed")
    assert hint in r.record["remediation"], r.record
    assert "the build had no network" in r.record["remediation"], r.record


def test_home_is_not_the_commands_fault(stage):
    """A full or vanished folder of builds."""
    stage.spec({"setup": ["echo hanging; sleep 2"]})
    p = stage.popen("run", "-C", stage.project, "--record", stage.dir / "r.json", "--", "true")
    crashing.until(lambda: b"hanging\n" in os.read(p.stderr.fileno(), 4096), "the command")
    shutil.rmtree(stage.home / "builds")
    ended(stage, p, "io")
    assert str(stage.home) in json.loads((stage.dir / "r.json").read_text())["remediation"]
    if os.geteuid() != 0 or stage.engine.key == "R":
        return
    builds = stage.home / "builds"
    builds.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", builds],
                   check=True)
    try:
        stage.spec({"setup": ["yes 012345678901234567890123456789 | head -n 9999"]})
        stage.refused("true", code="no_space")
    finally:
        subprocess.run(["umount", builds], check=True)


# ---- Reaping ----

def reap(stage):
    stage.home_is_free()  # else the container of the last run is what it removes
    return stage.answer("executor", "reap")["removed"]


def test_reaping(stage):
    stage.spec({"setup": ["true"]})
    assert stage.sh("true").rc == 0
    [key] = tags(stage)
    lock = stage.home / "locks" / f"setup-{key}"
    assert reap(stage) == []
    long_ago = time.time() - 31 * 86400
    os.utime(lock, (long_ago, long_ago))
    stage.config(derived_image_days=0)
    assert reap(stage) == []
    stage.config(derived_image_days=32)
    assert reap(stage) == []
    stage.config()
    user = stage.detach("sleep", "60")
    os.utime(lock, (long_ago, long_ago))
    assert stage.answer("executor", "reap")["removed"] == [] and tags(stage) == [key]
    stage.cloop("stop", "--signal", "kill", user)
    stage.home_is_free()
    assert stage.sh("true").rc == 0  # used just now
    stage.home_is_free()
    assert reap(stage) == []
    os.utime(lock, (long_ago, long_ago))
    stage.engine.call("tag", IMAGE, f"{NAME}:{'0' * 64}")  # of another home
    assert reap(stage) == [f"{NAME}:{key}"]
    assert tags(stage) == ["0" * 64] and not lock.exists()
    assert not (stage.home / "builds" / f"{key}.log").exists()


def test_reaping_of_locks(stage):
    """That of an image which went another way goes; that of another engine's stays."""
    stage.spec({"setup": ["true"]})
    assert stage.sh("true").rc == 0
    [key] = tags(stage)
    lock = stage.home / "locks" / f"setup-{key}"
    written = lock.read_text()
    assert written.split()[0] == stage.engine.kind
    long_ago = time.time() - 31 * 86400
    stage.home_is_free()
    stage.engine.call("rmi", f"{NAME}:{key}")
    assert reap(stage) == [] and lock.exists()
    for words in ("other\n", "docker unix:///other.sock\n"):
        lock.write_text(words)
        os.utime(lock, (long_ago, long_ago))
        assert reap(stage) == [] and lock.exists()
    lock.write_text(written)
    os.utime(lock, (long_ago, long_ago))
    assert reap(stage) == [] and not lock.exists()


def test_stale_tags(stage):
    """A build's tag goes when the lock of its key is free, whoever made it."""
    stage.spec({"setup": ["true"]})
    assert stage.sh("true").rc == 0
    [key] = tags(stage)
    ours, strange = "build-0123456789abcdef", "build-0123456789abcde0"
    stage.engine.call("tag", f"{NAME}:{key}", f"{NAME}:{ours}")
    stage.engine.call("tag", IMAGE, f"{NAME}:{strange}")
    lock = open(stage.home / "locks" / f"setup-{key}", "r+b")
    take = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    with lock:
        fcntl.fcntl(lock, 37, take)  # F_OFD_SETLK
        assert reap(stage) == [f"{NAME}:{strange}"]
    assert reap(stage) == [f"{NAME}:{ours}"]
    assert tags(stage) == [key]


@pytest.mark.parametrize("point", ["build:begin", "build:built", "build:tagged"])
def test_starter_dies(stage, point):
    """What it leaves is reaped, and in nobody's way."""
    stage.spec({"setup": ["echo made > /made"]})
    p = stage.popen("run", "-C", stage.project, "--", "true", env={"CLOOP_FAULT": f"{point}=kill"})
    p.communicate(timeout=60)
    assert p.returncode == -9
    left = [t for t in tags(stage) if t.startswith("build-")]
    assert len(left) == (0 if point == "build:begin" else 1)
    assert [n for n in reap(stage) if "build-" in n] == [f"{NAME}:{t}" for t in left]
    r = stage.sh("cat /made")
    assert (r.rc, r.out) == (0, b"made\n"), r


def kill_starter(stage, command):
    """kill -9 of `cloop run` once its command says so. The client."""
    stage.spec({"setup": [command]})
    p = stage.popen("run", "-C", stage.project, "--", "true")
    seen = b""
    while b"\nhanging\n" not in seen:
        more = os.read(p.stderr.fileno(), 4096)
        assert more, seen
        seen += more
    client = builder(stage)
    p.kill()
    p.wait()
    return client


@pytest.mark.parametrize("ender", ["reap", "build"])
@pytest.mark.parametrize("then", ["sleep 2; echo x > /y", "sleep {mark}1"])
def test_starter_is_killed(stage, sleeping, then, ender):
    """podman dies of SIGPIPE at its next word and leaves its container, or never ends. The reaper,
    or the next build of the key, ends both, and a stranger's build of that base goes well."""
    if stage.engine.kind != "podman":
        pytest.skip("a container of podman's build")
    _, mark = sleeping
    client = kill_starter(stage, "echo hanging; " + then.format(mark=mark))
    if "/y" in then:
        crashing.until(lambda: crashing.state_of(client) in (None, "Z"), "end of the client")
        assert len(containers(stage)) == 1
    runtime = stage.engine.oci_runtime
    flags = [f"--runtime={runtime}"] if runtime else []
    other = stage.engine.popen(["podman", *flags, "build", "--network=none", "--layers=false",
                                "--tag=localhost/cloop-e2e-other:1", "-"],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    other.stdin.write(f"FROM {IMAGE}\nRUN sleep 7; echo {mark}2\n".encode())
    other.stdin.close()
    crashing.until(lambda: len(containers(stage)) == 2, "the stranger's build")
    if ender == "reap":
        assert len(reap(stage)) == 1
        assert len(containers(stage)) == 1
    else:
        ends = "/y" in then
        r = stage.sh("true", env=None if ends else {"CLOOP_FAULT": "build:deadline"})
        assert r.rc == (0 if ends else 125), r
        stage.home_is_free()
    assert crashing.state_of(client) in (None, "Z")
    assert other.wait(30) == 0
    stage.engine.call("rmi", "localhost/cloop-e2e-other:1")
    assert containers(stage) == []


@pytest.mark.parametrize("point", ["spawn", "lock", "file-memfd", "file-dirs", "file-write"])
def test_every_seam_fails_once(stage, point):
    """A refusal or a run, and nothing is in the way of the next one."""
    if stage.engine.key != "P":
        pytest.skip("the same for every engine")
    stage.spec({"setup": ["echo made > /made"]})
    for n in range(1, 12 if point == "spawn" else 5):
        r = stage.sh("cat /made", env={"CLOOP_FAULT": f"{point}:{n}"})
        assert r.rc in (0, 125), (n, r)
        stage.home_is_free()
        reap(stage)
        assert [t for t in tags(stage) if t.startswith("build-")] == [], n
        for tag in tags(stage):
            stage.engine.call("rmi", f"{NAME}:{tag}")
    r = stage.sh("cat /made")
    assert (r.rc, r.out) == (0, b"made\n"), r


# ---- Clients that do not end, and what a second run costs ----

def builder(stage):
    """The engine's client of a build: the leader of its session."""
    ours = os.fsencode(f"--iidfile={stage.home}/")
    return next(crashing.processes(lambda w: b"build" in w and any(x.startswith(ours) for x in w)))


def test_client_that_hangs(stage, sleeping):
    """It is killed after ten seconds, and what it could not remove is removed for it."""
    start, _ = sleeping
    place = stage.dir / "tmp"  # podman's files of a command stay there
    place.mkdir(mode=0o755)
    if os.geteuid() == 0:
        os.chown(place, stage.engine.uid, stage.engine.gid)
    p = start({"TMPDIR": str(place)})
    client = builder(stage)
    os.kill(client, signal.SIGSTOP)
    began = time.monotonic()
    p.send_signal(signal.SIGTERM)
    ended(stage, p, "start_cancelled")
    assert 9 < time.monotonic() - began < 30
    assert crashing.state_of(client) is None


def test_people_containers_stay(stage, sleeping):
    """docker: one of an image with the key's label; podman: a working container of the base."""
    start, mark = sleeping
    if stage.engine.kind == "docker":
        stage.spec({"setup": [f"sleep {mark} & sleep {mark}1"]})
        key = stage.answer("sandbox", "explain", "-C", stage.project)["image"]["setup_key"]
        import_with(stage, "localhost/cloop-e2e-mine:1", rootfs(), setup=key)
        p = start()
        theirs = stage.engine.call("run", "--detach", "--network=none",
                                   "localhost/cloop-e2e-mine:1", "sleep", "600").strip()
    else:
        other = stage.engine.popen(
            ["podman", *([f"--runtime={stage.engine.oci_runtime}"] if stage.engine.oci_runtime
                         else []), "build", "--network=none", "--ulimit=nofile=256:256",
             "--ulimit=nproc=256:256", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        other.stdin.write(f"FROM {IMAGE}\nRUN sleep {mark}\n".encode())
        other.stdin.close()
        theirs = crashing.until(lambda: containers(stage), "the other's")[0]
        p = start()
        os.kill(builder(stage), signal.SIGSTOP)
    try:
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=60)
        assert [c[:12] for c in containers(stage)] == [theirs[:12]]
    finally:
        if stage.engine.kind == "podman":
            for pid in sleepers(stage, mark):
                os.kill(pid, signal.SIGKILL)
            other.wait(timeout=30)
        else:
            stage.engine.call("rm", "--force", theirs)
            stage.engine.call("rmi", "localhost/cloop-e2e-mine:1")


@pytest.fixture
def counting(stage):
    """Counts the calls of the engine by the name of their first word."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-count-", dir="/opt"))
    place.chmod(0o755)
    log = stage.dir / "calls"
    client = place / stage.engine.kind
    real = shutil.which(stage.engine.kind, path=stage.engine.env["PATH"])
    client.write_text(f'#!/bin/sh\nfor w; do case $w in --*) ;; *) echo "$w" >> {log}; break ;; '
                      f'esac; done\nexec {real} "$@"\n')
    client.chmod(0o755)
    stage.config(runtime=str(client))

    def calls(script):
        log.unlink(missing_ok=True)
        r = stage.sh(script)
        assert r.rc == 0, r
        stage.home_is_free()
        return log.read_text().split()
    yield calls
    shutil.rmtree(place)


@pytest.mark.root
def test_calls_of_a_second_run(stage, counting):
    if stage.engine.key == "R":
        pytest.skip("the program below /opt is root's to make")
    plain_first, plain = counting("true"), counting("true")
    stage.spec({"setup": ["true"]})
    assert "build" in counting("true")
    second, third = counting("true"), counting("true")
    assert len(second) <= len(plain_first) + 1, (plain_first, second)
    assert third == plain, (plain, third)
