"""Host processes: the localprocess executor, real processes and no engine."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CLOOP = ROOT / os.environ.get("BUILD", "build") / "src/cli/cloop"
ON = "executors: {allow_host_process: true, container: {enabled: false}}\n"
SLEEP = "86400"  # longer than any test: whoever survives is found by it


class Host:
    def __init__(self, folder):
        self.project = folder / "project"
        self.home = folder / "home"
        self.config = folder / "config.yaml"
        self.project.mkdir()
        self.config.write_text(ON)
        self.config.chmod(0o600)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8",
                    "CLOOP_HOME": str(self.home), "CLOOP_CONFIG": str(self.config)}

    def cloop(self, *words, timeout=60, **more):
        return subprocess.run([CLOOP, *map(str, words)], env={**self.env, **more},
                              capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL)

    def run(self, *command, options=(), **more):
        return self.cloop("run", "-C", self.project, *options, "--", *command, **more)

    def sh(self, script, options=(), **more):
        return self.run("sh", "-c", script, options=options, **more)

    def detach(self, script, options=()):
        done = self.sh(script, options=["--detach", *options])
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    def record(self, handle=None):
        if not handle:
            handle = json.loads(self.cloop("ps", "--all", "--json").stdout)["runs"][0]["handle"]
        return json.loads(self.cloop("status", "--json", handle).stdout)

    def supervision(self, handle):
        return json.loads((self.home / "runs" / handle / "status.json").read_text())["supervision"]

    def logs(self, handle):
        return self.cloop("logs", handle)

    def path(self, name):
        return self.project / name

    def pid(self, name):
        """The number that a script wrote into a file of the project."""
        return int(eventually(lambda: self.path(name).exists() and self.path(name).read_text().strip()))


@pytest.fixture
def host(tmp_path):
    made = Host(tmp_path)
    yield made
    for pid in processes_in(made.project):
        os.kill(pid, signal.SIGKILL)


def eventually(check, seconds=10):
    until = time.monotonic() + seconds
    while True:
        value = check()
        if value or time.monotonic() > until:
            assert value, "it did not come"
            return value
        time.sleep(0.02)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def processes_in(folder):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if pathlib.Path(os.readlink(entry / "cwd")) == folder and alive(entry.name):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def supervisor_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def test_not_there_by_default(host):
    host.config.write_text("executors: {container: {enabled: false}}\n")
    assert json.loads(host.cloop("executor", "list", "--json").stdout)["executors"] == []
    done = host.run("true", options=["--executor", "localprocess"])
    assert done.returncode == 125 and b"localprocess" in done.stderr
    assert not host.home.joinpath("runs").exists() or not os.listdir(host.home / "runs")


@pytest.mark.parametrize("script, status, outcome", [
    ("exit 0", 0, "ok"), ("exit 1", 1, "nonzero"), ("exit 3", 3, "nonzero"),
    ("exit 126", 126, "nonzero"), ("exit 127", 127, "nonzero"), ("exit 139", 139, "nonzero"),
    ("exit 255", 255, "nonzero"),
    ("kill -SEGV $$", 139, "signal"), ("kill -TERM $$", 143, "signal"),
    ("kill -KILL $$", 137, "signal")])
def test_exit_status(host, script, status, outcome):
    assert host.sh(script).returncode == status
    record = host.record()
    assert (record["outcome"], record["exit_code"]) == (outcome, status)
    assert record["executor_kind"] == "localprocess" and record["isolation"] == "none"
    assert record["image"] is None and record["image_requested"] is None
    assert record["signal"] == (status - 128 if outcome == "signal" else None)
    usage = record["usage"]
    assert usage["wall_ms"] >= 0 and usage["cpu_ms"] >= 0 and usage["memory_peak_bytes"] > 0


@pytest.mark.parametrize("command, status, code", [
    ("no-such-program", 127, "command_not_found"), ("./absent", 127, "command_not_found"),
    ("/etc/passwd/x", 127, "command_not_found"),
    ("/", 126, "command_not_executable"), ("./data", 126, "command_not_executable"),
    ("./empty", 126, "command_not_executable"), ("./bad-interpreter", 126, "command_not_executable")])
def test_cannot_execute(host, command, status, code):
    host.path("data").write_text("x")
    host.path("empty").touch(mode=0o755)
    host.path("bad-interpreter").write_text("#!/no/such/program\n")
    host.path("bad-interpreter").chmod(0o755)
    assert host.run(command).returncode == status
    record = host.record()
    assert (record["state"], record["outcome"], record["code"]) == ("failed", "start_failed", code)
    assert record["exit_code"] is None and record["started_at"] is None


def test_not_a_project(host):
    assert host.cloop("run", "-C", host.path("absent"), "--", "true").returncode != 0


def test_no_attach(host):
    handle = host.detach("sleep 30")
    done = host.cloop("attach", "--json", handle)
    answer = json.loads(done.stdout)
    assert done.returncode == 1 and answer["code"] == "executor_unsupported", answer
    assert "attach" in answer["error"] and host.cloop("stop", handle).returncode == 0


def test_environment_is_not_inherited(host):
    done = host.sh("env; echo; pwd; umask; cat; id -u", options=["--env", "GIVEN"], GIVEN="given value",
                   LEAK="leaked value", LD_LIBRARY_PATH="/nowhere")
    assert b"leaked" not in done.stdout and b"LD_LIBRARY_PATH" not in done.stdout
    variables, rest = done.stdout.decode().split("\n\n")
    names = {line.split("=", 1)[0] for line in variables.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"GIVEN", "PATH", "HOME"}
    assert rest.split() == [str(host.project), "0022", str(os.getuid())]
    assert "GIVEN=[redacted]" in variables


def test_given_path_wins(host):
    tool = host.path("tool")
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    done = host.run("tool", options=["--env", "PATH", "--env", "HOME"],
                    PATH=f"{host.project}:/usr/bin:/bin", HOME="/somewhere")
    assert done.returncode == 9


def test_preload_reaches_no_process_of_ours(host):
    done = host.run("/bin/echo", "said", options=["--env", "LD_PRELOAD"],
                    LD_PRELOAD="/nowhere/canary.so")
    assert done.returncode == 0 and done.stdout == b"said\n"
    assert done.stderr.count(b"ERROR: ld.so") == 2  # cloop itself, and the workload


def test_descriptors_are_not_inherited(host):
    done = host.sh("ls /proc/$$/fd; tty")
    assert done.stdout.split()[:3] == [b"0", b"1", b"2"]
    assert b"not a tty" in done.stdout


def test_output_in_order_and_apart(host):
    done = host.sh("i=0; while [ $i -lt 5000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done")
    assert done.stdout == b"".join(b"out %d\n" % i for i in range(5000))
    assert done.stderr == b"".join(b"err %d\n" % i for i in range(5000))


def test_much_output(host):
    done = host.sh("head -c 20000000 /dev/zero | tr '\\0' x; printf end")
    assert len(done.stdout) == 20000003 and done.stdout.endswith(b"xend")


def test_many_short_runs(host):
    for i in range(20):
        done = host.sh(f"echo {i}; echo e{i} >&2")
        assert (done.stdout, done.stderr) == (b"%d\n" % i, b"e%d\n" % i)


def test_a_session_of_its_own(host):
    done = host.sh("cut -d' ' -f1,5,6 /proc/$$/stat")
    pid, group, session = done.stdout.split()
    assert pid == group == session


def test_timeout(host):
    began = time.monotonic()
    assert host.sh(f"sleep {SLEEP}", options=["--timeout", "300ms"]).returncode == 124
    assert time.monotonic() - began < 8
    record = host.record()
    assert (record["state"], record["outcome"], record["exit_code"]) == ("killed", "timeout", 143)


def test_stop_ends_with_the_ladder(host):
    handle = host.detach(f"trap '' TERM; echo $$ > pid; sleep {SLEEP} & wait; sleep {SLEEP}")
    pid = host.pid("pid")
    began = time.monotonic()
    assert host.cloop("stop", "--grace", "500ms", handle).returncode == 0
    assert 0.4 < time.monotonic() - began < 5
    record = host.record(handle)
    assert (record["outcome"], record["exit_code"]) == ("cancelled", 137)
    assert not alive(pid) and not processes_in(host.project)
    assert host.cloop("stop", handle).returncode == 0  # ended: no error
    assert host.cloop("wait", handle).returncode == 137


def test_stop_gives_time_to_clean_up(host):
    handle = host.detach("trap 'echo cleaned; exit 0' TERM; touch ready; while :; do sleep 0.1; done")
    eventually(host.path("ready").exists)
    assert host.cloop("stop", handle).returncode == 0
    record = host.record(handle)
    assert (record["state"], record["outcome"], record["exit_code"]) == ("killed", "cancelled", 0)
    assert host.logs(handle).stdout == b"cleaned\n"
    assert host.cloop("wait", handle).returncode == 143


# `: > ready`, not touch: dash forgets an interrupt that comes while it waits for a command.
@pytest.mark.parametrize("word, status", [("interrupt", 130), ("terminate", 143), ("kill", 137)])
def test_signals(host, word, status):
    handle = host.detach(f": > ready; exec sleep {SLEEP}")
    eventually(host.path("ready").exists)
    assert host.cloop("stop", "--signal", word, handle).returncode == 0
    assert host.cloop("wait", handle).returncode == status
    assert host.record(handle)["outcome"] == "cancelled"


def test_a_signal_that_is_handled_changes_nothing(host):
    handle = host.detach("trap 'touch heard' INT; touch ready; while ! [ -e heard ]; do sleep 0.05; done; exit 4")
    eventually(host.path("ready").exists)
    assert host.cloop("stop", "--signal", "interrupt", handle).returncode == 0
    assert host.cloop("wait", handle).returncode == 4
    assert host.record(handle)["outcome"] == "nonzero"


@pytest.mark.parametrize("leave", [
    "sleep {0} &", "setsid sleep {0} &", "(setsid sh -c 'sleep {0} & sleep {0}' &)",
    "setsid sh -c 'exec >/dev/null 2>&1; echo $$ > left; cd /; sleep {0}' & while ! [ -s left ]; do :; done",
    "trap '' TERM INT HUP; (setsid sleep {0} > /dev/null 2>&1 &)"])
def test_nothing_outlives_the_first_process(host, leave):
    began = time.monotonic()
    assert host.sh(leave.format(SLEEP) + "\nexit 5").returncode == 5
    assert time.monotonic() - began < 10
    assert not processes_in(host.project)
    if host.path("left").exists():
        assert not alive(host.pid("left"))
    assert host.record()["outcome"] == "nonzero"


def test_a_comet_is_caught(host):
    """A process that is never the same for long: it forks, and its parent ends."""
    comet = host.path("comet.py")
    comet.write_text("import os\nwhile True:\n if os.fork(): os._exit(0)\n os.setsid()\n")
    began = time.monotonic()
    assert host.sh("python3 comet.py & sleep 0.3; exit 5").returncode == 5
    assert time.monotonic() - began < 8
    assert not processes_in(host.project) and host.record()["warnings"] == []


def test_a_deep_and_wide_family_is_ended(host):
    script = host.path("family.sh")
    script.write_text(f'[ $1 = 0 ] && exec sleep {SLEEP}\nfor i in 1 2 3; do setsid sh $0 $(($1 - 1)) & done; sleep {SLEEP}\n')
    assert host.sh("sh family.sh 4 & sleep 1; exit 5").returncode == 5
    assert not processes_in(host.project) and host.record()["warnings"] == []


def test_orphans_are_collected_while_it_runs(host):
    done = host.sh("for i in 1 2 3 4 5; do (setsid true &) ; done; sleep 0.5; "
                   "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | while read f; do "
                   "grep -q \"^PPid:.$PPID$\" $f && echo zombie; done; exit 0")
    assert done.returncode == 0 and b"zombie" not in done.stdout


def kill_supervisor(pid):
    shim = supervisor_of(pid)
    assert "cloop-shim" in pathlib.Path(f"/proc/{shim}/comm").read_text()
    os.kill(shim, signal.SIGKILL)
    eventually(lambda: not alive(shim))


def test_supervisor_killed(host):
    handle = host.detach(f"echo first; setsid sh -c 'echo $$ > far; exec sleep {SLEEP}' & "
                         f"sh -c 'echo $$ > near; exec >/dev/null 2>&1; exec sleep {SLEEP}' & "
                         f"echo $$ > pid; sleep {SLEEP}")
    first, near, far = host.pid("pid"), host.pid("near"), host.pid("far")
    kill_supervisor(first)
    eventually(lambda: not alive(first))
    assert host.cloop("wait", handle).returncode == 125
    assert not alive(near) and not alive(far) and not processes_in(host.project)
    record = host.record(handle)
    assert (record["state"], record["outcome"], record["code"]) == ("failed", "lost", "lost")
    assert record["exit_code"] is None
    said = host.logs(handle)
    assert said.stdout == b"first\n" and b"supervisor of this run died" in said.stderr
    eventually(lambda: not (host.home / "runs" / handle / "stdout.fifo").exists())


@pytest.mark.parametrize("name, words", [("status.json", "record of the run"), ("request.json", "request.json")])
@pytest.mark.parametrize("content", [b"", b"{"])
def test_damaged_directory(host, name, words, content):
    handle = host.detach(f"echo $$ > pid; exec sleep {SLEEP}")
    first = host.pid("pid")
    kill_supervisor(first)
    (host.home / "runs" / handle / name).write_bytes(content)
    assert host.cloop("wait", handle).returncode == 125
    record = host.record(handle)
    assert (record["outcome"], record["executor_kind"]) == ("lost", "localprocess") and words in record["error"]
    assert not alive(first)


def test_supervisor_killed_under_a_foreground_run(host):
    with subprocess.Popen([CLOOP, "run", "-C", host.project, "--", "sh", "-c",
                           f"echo $$ > pid; sleep {SLEEP}"], env=host.env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        first = host.pid("pid")
        kill_supervisor(first)
        assert run.wait(timeout=20) == 125
    assert not alive(first) and not processes_in(host.project)


@pytest.mark.parametrize("point, status, outcome", [
    ("local:begin", 125, "start_failed"), ("local:record", 125, "start_failed"),
    ("local:go", 125, "lost"), ("local:started", 125, "lost"),
    ("local:ended", 7, "nonzero"), ("local:final", 7, "nonzero"), ("local:end", 7, "nonzero")])
def test_supervisor_dies_at_every_step(host, point, status, outcome):
    done = host.sh("echo ran > ran; sleep 0.2; exit 7", CLOOP_FAULT=f"{point}=kill")
    assert done.returncode == status, done.stderr
    assert host.record()["outcome"] == outcome
    assert not processes_in(host.project)
    if outcome == "start_failed":
        time.sleep(0.3)
        assert not host.path("ran").exists()
    [run] = (host.home / "runs").iterdir()
    eventually(lambda: not (run / "stdout.fifo").exists())


def test_somebody_elses_session_is_left_alone(host):
    """The recorded pid belongs to another process now."""
    handle = host.detach(f"echo $$ > pid; sleep {SLEEP}")
    first = host.pid("pid")
    kill_supervisor(first)
    eventually(lambda: not alive(first))
    with subprocess.Popen(["sleep", SLEEP], start_new_session=True, cwd="/") as other:
        status = host.home / "runs" / handle / "status.json"
        record = json.loads(status.read_text())
        record["supervision"]["pid"] = other.pid
        status.write_text(json.dumps(record))
        assert host.cloop("wait", handle).returncode == 125
        assert other.poll() is None
        other.kill()


def test_every_file_without_network_is_refused(host):
    host.path(".cloop").mkdir()
    host.path(".cloop/sandbox.yaml").write_text("env: []\n")
    done = host.cloop("run", "-C", host.project, "--json", "--", "true")
    assert done.returncode == 125
    answer = json.loads(done.stdout)
    assert (answer["code"], answer["constraint"]) == ("host_execution_denied", "network_off")


def test_labels_are_refused(host):
    done = host.run("true", options=["--label", "a=b"])
    assert done.returncode == 125 and b"labels" in done.stderr


def test_explain(host):
    """The network is this host's; what only an engine has is there, and empty."""
    shown = json.loads(host.cloop("sandbox", "explain", "-C", host.project, "--json").stdout)
    assert shown["network"]["mode"] == "host"
    assert (shown["image"], shown["mounts"], shown["argv"]) == (None, [], None)
    text = host.cloop("sandbox", "explain", "-C", host.project).stdout.decode()
    assert "argv" not in text and '"mode":"host"' in text


def test_executor_commands(host):
    [listed] = json.loads(host.cloop("executor", "list", "--json").stdout)["executors"]
    assert (listed["id"], listed["kind"], listed["available"], listed["default"]) == \
        ("localprocess", "localprocess", True, True)
    able = listed["capabilities"]
    assert able["isolation"] == "none" and able["network_off"] == "no"
    assert {k for k, v in able.items() if v is True} == \
        {"network_egress", "shares_host_filesystem", "stream", "signal"}
    tested = host.cloop("executor", "test", "--json", "localprocess")
    assert tested.returncode == 0, tested.stderr
    answer = json.loads(tested.stdout)
    finding = answer["findings"][0]
    assert (finding["name"], finding["level"]) == ("isolation", "warn")
    assert "nothing is isolated" in finding["message"]
    assert answer["smoke"]["output"].startswith("cloop ")
    assert (answer["oci_runtime"], answer["smoke"]["oci_runtime"]) == (None, None)


def test_interrupt_of_the_command_line(host):
    with subprocess.Popen([CLOOP, "run", "-C", host.project, "--", "sh", "-c",
                           f": > ready; exec sleep {SLEEP}"], env=host.env,
                          stderr=subprocess.PIPE) as run:
        eventually(host.path("ready").exists)
        eventually(lambda: host.record()["state"] == "running")  # before that it cancels the start
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=20) == 130
    assert host.record()["outcome"] == "cancelled"


def test_cli_killed_run_goes_on(host):
    with subprocess.Popen([CLOOP, "run", "-C", host.project, "--", "sh", "-c",
                           "touch ready; while ! [ -e go ]; do sleep 0.05; done; echo done; exit 6"],
                          env=host.env, stdout=subprocess.DEVNULL) as run:
        eventually(host.path("ready").exists)
        run.kill()
    host.path("go").touch()
    handle = host.record()["handle"]
    assert host.cloop("wait", handle).returncode == 6
    assert host.logs(handle).stdout == b"done\n"


def test_parallel_runs(host):
    runs = [subprocess.Popen([CLOOP, "run", "-C", host.project, "--", "sh", "-c",
                              f"echo {i}; exit {i}"], env=host.env, stdout=subprocess.PIPE)
            for i in range(24)]
    for i, run in enumerate(runs):
        assert run.communicate(timeout=60)[0] == b"%d\n" % i
        assert run.returncode == i


def test_values_stay_out_of_the_files(host):
    value = "a-very-secret-value-0123456789"
    assert host.sh("printf '%s' \"$TOKEN\"", options=["--env", "TOKEN"], TOKEN=value).stdout == b"[redacted]"
    for path in host.home.rglob("*"):
        if path.is_file():
            assert value.encode() not in path.read_bytes(), path


def test_what_a_start_puts_on_record(host):
    """A denied grant, and for the project what ran; a grant that holds refuses the run."""
    (host.project / ".cloop").mkdir()
    assert host.cloop("secret", "mint", "token", "--kind", "env", "--value", "abcdefgh").returncode == 0
    granted = json.loads(host.cloop("secret", "grant", "token", "--to", "any", "--json").stdout)["id"]
    assert host.run("true").returncode == 125
    assert host.cloop("secret", "revoke", granted).returncode == 0
    assert host.run("true").returncode == 0
    rows = json.loads(host.cloop("audit", "list", "--json").stdout)["rows"]
    denied = [row["payload"] for row in rows if row["action"] == "lease.open"]
    assert [(d["decision"], d["reason"], d["grant"]) for d in denied] == [
        ("deny", "revoked", granted)]
    ran = json.loads((host.project / ".cloop" / "sandbox-run.json").read_text())
    assert ran["handle"] == denied[0]["handle"] and ran["executor_kind"] == "localprocess"
