"""What is wrong before a run: a clear error with a way out, status 125, and nothing left
(issue 3, bad input; the traces are looked for after every test)."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

import pytest

from engines import on

HOSTILE = {
    "collections": b"[" * 65536, "NUL": b"image: a\0b\n", "UTF-16": "image: a\n".encode("utf-16"),
    "anchor": b"image: &a x\nenv: [*a]\n", "duplicate": b"env: []\nenv: [A]\n",
    "too large": b"#" * 65537, "latin": b"image: \xe4\n", "lone CR": b"image: a\rsetup: [x]\n",
    "sequence": b"- a\n", "documents": b"env: []\n---\nenv: []\n", "tag": b"image: !!str x\n",
    "unknown": b"privileged: true\n", "pattern": b"env: ['*']\n", "LF in a name": b'env: ["A\\nB"]\n',
    "bidi": "image: a\u202e\n".encode(), "tab": b"resources:\n\tcpu: 1\n",
    "absolute": b"mounts: [{source: /etc, target: /x}]\n", "dots": b"mounts: [{source: a/../../b, target: /x}]\n",
    "socket": b"mounts: [{source: a, target: /run/cloop/ctl}]\n", "memory": b"resources: {memory: 1.5g}\n",
}


def test_hostile_files(stage):
    for name, text in HOSTILE.items():
        stage.spec(text)
        r = stage.refused("/bin/true", code="sandbox_invalid_spec")
        assert b".cloop/sandbox.yaml" in r.err, (name, r.err)
        assert len(r.err) < 4096
        stage.answer("sandbox", "check", str(stage.project), status=1)
    assert stage.run_dirs() == []


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


KINDS = {
    "fifo": make_fifo, "socket": make_socket, "directory": pathlib.Path.mkdir,
    "zero": lambda p: p.symlink_to("/dev/zero"), "shadow": lambda p: p.symlink_to("/etc/shadow"),
    "dangling": lambda p: p.symlink_to("nowhere"), "sparse": lambda p: (p.touch(), os.truncate(p, 8 << 30)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_kinds(stage, kind):
    folder = stage.project / ".cloop"
    folder.mkdir()
    KINDS[kind](folder / "sandbox.yaml")
    stage.engine.own(stage.project, recursive=True)
    r = stage.refused("/bin/true", code="sandbox_invalid_spec", timeout=20)
    assert b"root:" not in r.err and b"\0" not in r.err
    assert stage.run_dirs() == []


def test_hostile_folder(stage):
    (stage.project / ".cloop").symlink_to("/etc")
    stage.refused("/bin/true", code="sandbox_invalid_spec")


def test_missing_engine(stage):
    r = stage.refused("/bin/true", code="runtime_missing", env={"PATH": str(stage.dir)})
    assert stage.engine.kind.encode() in r.err
    shown = stage.answer("executor", "list", env={"PATH": str(stage.dir)})["executors"]
    assert [e["available"] for e in shown] == [False] and shown[0]["reason"]
    assert not (stage.home / "runs").exists() or stage.run_dirs() == []


def test_unsafe_engine(stage):
    """A program that anybody could replace is not run, although it is found first."""
    folder = stage.dir / "bin"
    folder.mkdir()
    program = folder / stage.engine.kind
    program.write_text("#!/bin/sh\necho podman version 4; touch /tmp/cloop-e2e-ran\n")
    program.chmod(0o777)
    path = f"{folder}:{stage.engine.env['PATH']}"
    stage.refused("/bin/true", code="runtime_unsafe", env={"PATH": path})
    assert not os.path.exists("/tmp/cloop-e2e-ran")


@pytest.fixture
def trusted_bin(stage):
    """A folder for programs that are trusted: not below /tmp, which everybody may write."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="cloop-e2e-", dir="/opt"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.root  # for a place that only root can write
def test_wrong_program(stage, trusted_bin):
    """Nothing is taken for an engine by its name alone."""
    program = trusted_bin / stage.engine.kind
    codes = {"echo something 1.0": "runtime_unsupported", "exit 3": None, "sleep 1; kill $$": None}
    if stage.engine.kind == "docker":
        codes["echo podman version 4.3.1"] = "runtime_masquerade"
    for words, code in codes.items():
        program.write_text(f"#!/bin/sh\n{words}\n")
        program.chmod(0o755)
        r = stage.run("/bin/true", env={"PATH": f"{trusted_bin}:{stage.engine.env['PATH']}"})
        assert r.rc == 125 and b"fix: " in r.err, r
        assert code is None or r.record["code"] == code, r.record


def test_dead_daemon(stage):
    """podman has none."""
    if stage.engine.key != "D":
        return
    env = {"DOCKER_HOST": f"unix://{stage.dir}/nobody.sock"}
    stage.refused("/bin/true", code="engine_unreachable", env=env)
    stage.refused("/bin/true", code="runtime_remote", env={"DOCKER_HOST": "tcp://127.0.0.1:1"})
    for client in ("docker", "/usr/bin/docker"):  # Debian's ends `info` with 0 all the same
        stage.config(runtime=client)
        report = stage.answer("executor", "test", env=env, status=2)
        last = report["findings"][-1]
        assert (last["name"], last["level"]) == ("daemon", "fail") and last["fix"], report


@on("D")
@pytest.mark.root
def test_daemon_that_maps_users(stage, trusted_bin):
    """The project's uid would be another one outside. A good daemon is remembered, a bad one is not."""
    program = trusted_bin / "docker"
    real = shutil.which("docker", path=stage.engine.env["PATH"])
    stage.config(runtime=str(program))
    change = 's/"SecurityOptions":./&"name=userns",/'
    for word, code in (("info", "docker_userns"), ("none", None)):
        program.write_text(f'#!/bin/sh\n[ "$1" = {word} ] || exec {real} "$@"\n'
                           f"{real} \"$@\" | sed '{change}'\n")
        program.chmod(0o755)
        if code:
            stage.refused("touch", "ran", code=code)
            assert not (stage.project / "ran").exists()
        else:
            assert stage.sh("true").rc == 0
    stage.home_is_free()  # the container is removed by this client, too


def test_missing_image(stage):
    name = "localhost/cloop-e2e-no-such-image:1"
    stage.spec({"image": name})
    r = stage.refused("/bin/true", code="image_missing")
    assert f"{stage.engine.kind} pull".encode() in r.err and name.encode() in r.err
    handle = r.record["handle"]
    assert stage.status(handle)["outcome"] == "start_failed"


def test_broken_config(stage):
    for text in ("executors: [", "executors: {container: {network: host}}", "nonsense: 1\n",
                 "executors: {container: {extra_args: ['--privileged']}}"):
        stage.config_file.write_text(text)
        r = stage.cloop(*stage.run_words(["/bin/true"]))
        assert r.rc == 125 and b"config.yaml:" in r.err and b"fix: " in r.err, r
    stage.config()
    stage.config_file.chmod(0o666)
    r = stage.cloop(*stage.run_words(["/bin/true"]))
    assert r.rc == 125 and b"fix: " in r.err
    assert stage.run_dirs() == []


def test_unwritable_home(stage):
    file = stage.dir / "file"
    file.write_text("")
    for home in (file / "home", "/proc/cloop", file):
        r = stage.refused("/bin/true", code="home_unusable", options=["--home", home])
        assert str(home).encode() in r.err or b"home" in r.err
    open_home = stage.dir / "open"
    open_home.mkdir()
    open_home.chmod(0o777)
    stage.refused("/bin/true", code="home_unusable", options=["--home", open_home])


@pytest.fixture
def small_home(stage):
    """A home on a filesystem of 3 MB."""
    stage.config({"orchestrator": {"min_free_disk_mb": 0}})
    stage.home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=3m,mode=0700,uid={stage.engine.uid},"
                    f"gid={stage.engine.gid}", "cloop-e2e", stage.home], check=True)
    if stage.engine.key == "R":
        # The namespace that podman keeps open does not see mounts that come later.
        stage.engine.call("system", "migrate")
    try:
        yield stage.home
    finally:
        stage.home_is_free()
        if stage.engine.key == "R":
            stage.engine.call("system", "migrate")
        subprocess.run(["umount", stage.home], check=True)


@pytest.mark.root  # for the mount
def test_full_disk_for_the_log(stage, small_home):
    r = stage.sh("seq 900000; echo last; exit 5")
    assert r.rc == 5, r
    record = r.record
    assert record["outcome"] == "nonzero" and record["exit_code"] == 5
    assert "log_write_failed" in [w["code"] for w in record["warnings"]]
    assert record["log"]["dropped_bytes"] > 0
    r = stage.cloop("logs", record["handle"])
    assert r.rc == 0 and r.out.startswith(b"1\n2\n3\n") and b"[cloop] " in r.err


@pytest.mark.root
def test_full_disk_for_the_run(stage, small_home):
    """No space for the files of a run: refused, and the little that was made is gone."""
    assert stage.sh("true").rc == 0
    stage.home_is_free()
    filler = small_home / "filler"
    fd = os.open(filler, os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError):
        while os.write(fd, bytes(4096)):
            pass
    os.close(fd)
    r = stage.cloop(*stage.run_words(["/bin/true"]))
    assert r.rc == 125 and b"fix: " in r.err, r
    filler.unlink()
    assert stage.sh("true").rc == 0


def test_command_line(stage):
    """Words that cannot be run, and a project that is none."""
    stage.refused("", code="argv_empty")
    stage.refused("x", *["y" * 1000] * 1100, code="argv_too_large")
    r = stage.cloop("run", "-C", stage.project)
    assert r.rc == 2 and b"fix: " in r.err
    stage.refused("/bin/true", code="executor_unknown", options=["--executor", "nobody"])
    assert stage.run_dirs() == []


ARGUMENTS = {
    "run": ["--", "/bin/true"], "status": ["c"], "logs": ["c"], "stop": ["c"], "wait": ["c"],
    "image check": ["a"], "image resolve": ["--local", "a"], "executor show": ["container"],
    "executor test": ["container"], "executor reap": ["container"],
    "attach": ["c"], "task show": ["1"], "task reset": ["1"],
    "secret mint": ["n", "--kind", "env", "--value", "v"], "secret delete": ["n"],
    "secret grant": ["n", "--to", "any"], "secret revoke": ["g"], "lease revoke": ["l"],
    "lease extend": ["--run", "c"], "egress revoke": ["g"], "egress test": ["http://a/"], "project set": ["provider", "none"], "config set": ["executors.container.memory", "1g"],
}


def commands_with(stage, option):
    """Of the verb table, as the completion has it."""
    shown = stage.cloop("completion", "bash").out.decode()
    rows = re.findall(r'^\t"([a-z ]+)"\) opts="([^"]*)"', shown, re.MULTILINE)
    return [name for name, options in rows if option in options.split()]


def file_names(folder):
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else None


@pytest.mark.parametrize("option,at_least", [("--home", 22), ("--config", 13)])
def test_path_that_names_nothing(stage, option, at_least):
    """An empty path is an unset variable in somebody's script; it must not mean the default."""
    default = pathlib.Path("/var/lib/cloop")
    before = file_names(default)
    stage.config_file.write_text("{")  # so that a run would be refused, with a row in the trail
    commands = commands_with(stage, option)
    assert len(commands) >= at_least, commands
    for name in commands:
        words = [*name.split(), f"{option}="]
        r = stage.cloop(*words, *ARGUMENTS.get(name, []))
        assert r.rc == 2 and f"{option} names no path".encode() in r.err, (name, r)
        assert b"  fix: see: cloop help " in r.err and r.out == b"", (name, r)
    assert file_names(default) == before and not stage.home.exists()
