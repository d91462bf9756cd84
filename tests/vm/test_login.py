"""Rootless podman of a user that systemd keeps: limits by the user's own manager, and what a run is
when sessions come and go. In a machine of its own (scripts/check-vm): users are made here, and their
sessions ended."""
import json
import os
import pathlib
import pwd
import subprocess
import time

import pytest

from machine import CONFIG, MAKE_IMAGE

CLOOP = pathlib.Path(__file__).resolve().parents[2] / "build/src/cli/cloop"
SECONDS = 120  # the machine's processor may be computed


def until(condition, what):
    end = time.monotonic() + SECONDS
    while not (value := condition()):
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.5)
    return value


class User:
    """A user whose manager goes on without a session, as `loginctl enable-linger` has it, or without one."""

    def __init__(self, name, linger=True):
        subprocess.run(["useradd", "-m", name], check=True)
        self.name, entry = name, pwd.getpwnam(name)
        self.home, self.runtime = pathlib.Path(entry.pw_dir), pathlib.Path(f"/run/user/{entry.pw_uid}")
        (self.home / "config.yaml").write_text(json.dumps(CONFIG))
        (self.home / "project").mkdir()
        os.chown(self.home / "project", entry.pw_uid, entry.pw_gid)
        if linger:
            self.linger("enable")
        self.service(f"cd && {MAKE_IMAGE}")

    def linger(self, word):
        subprocess.run(["loginctl", f"{word}-linger", self.name], check=True)
        until(lambda: (self.runtime / "bus").exists() is (word == "enable"), "change of the user's manager")

    def variables(self, session):
        own = {"CLOOP_CONFIG": self.home / "config.yaml", "CLOOP_HOME": self.home / "state"}
        return own | ({"XDG_RUNTIME_DIR": self.runtime, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.runtime}/bus"}
                      if session else {})

    def shell(self, script, session=True, check=True):
        """In a session of its own; without variables of one it is as a job of cron."""
        words = ["unset XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS",
                 *(f"export {name}={value}" for name, value in self.variables(session).items()), script]
        p = subprocess.run(["su", "-", self.name, "-c", "; ".join(words)], capture_output=True, text=True,
                           timeout=SECONDS)
        assert p.returncode == 0 or not check, p
        return p

    def service(self, script):
        """As a service of the system with `User=`, which is in no session."""
        variables = {"HOME": self.home} | self.variables(self.runtime.exists())
        words = ("systemd-run", "--quiet", "--pipe", "--wait", f"--uid={self.name}", "--property=KillMode=process",
                 *(f"--setenv={name}={value}" for name, value in variables.items()))
        return subprocess.run([*words, "sh", "-c", f"cd {self.home}/project && {script}"], capture_output=True,
                              text=True, check=True, timeout=SECONDS).stdout

    def cloop(self, words, **more):
        return self.shell(f"cd project && {CLOOP} {words}", **more)

    def spec(self, text):
        path = self.home / "project/.cloop/sandbox.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="module")
def user():
    made = User("tried")
    yield made
    subprocess.run(["loginctl", "terminate-user", made.name], check=False)


def test_machine_is_as_promised():
    assert os.path.exists("/sys/fs/cgroup/cgroup.controllers") and os.path.exists("/run/systemd/system")


def test_limits_of_a_rootless_run(user):
    user.spec("resources:\n  memory: 96m\n  pids: 40\n  cpu: 0.5\n")
    files = " ".join(f"/sys/fs/cgroup/{f}" for f in ("memory.max", "pids.max", "cpu.max"))
    assert user.cloop(f"run -- cat {files}").stdout.split() == [str(96 << 20), "41", "50000", "100000"]


def test_oom_of_a_rootless_run(user):
    user.spec("resources:\n  memory: 64m\n")
    r = user.cloop("""run --json -- awk 'BEGIN { s = "0123456789abcdef"; while (1) s = s s }'""", check=False)
    record = json.loads(user.cloop("ps --all --json").stdout)["runs"][0]
    assert r.returncode == 137 and record["outcome"] == "oom", (r, record)


def test_reached_from_a_job_of_cron(user):
    user.spec("")
    handle = user.cloop("run --detach -- sleep 1000").stdout.strip()
    user.cloop(f"stop --grace 0 {handle}", session=False)
    record = json.loads(user.cloop(f"status --json {handle}").stdout)
    assert record["outcome"] == "cancelled" and record["usage"]["cpu_ms"] is not None, record
    handle = user.cloop("run --detach -- sleep 1000", session=False).stdout.strip()
    user.cloop(f"stop --grace 0 {handle}")


def test_a_service_of_a_user_without_a_manager():
    """podman says that it has controllers, and applies no limit (4.3.1, with cgroupfs): cloop knows better."""
    other = User("served", linger=False)
    executor = json.loads(other.service(f"{CLOOP} executor show --json"))
    assert executor["capabilities"]["resource_limits"] is False
    assert other.service(f"{CLOOP} run -- sh -c 'echo ran'") == "ran\n"
    other.spec("resources:\n  memory: 96m\n")
    refused = json.loads(other.service(f"{CLOOP} run --json -- sh -c 'echo ran' || true"))
    assert refused["code"] == "sandbox_unsupported", refused


def test_a_run_without_its_users_manager(user):
    """systemd ends it with the manager, and takes podman's files of it away; cloop says so."""
    handle = user.service(f"{CLOOP} run --detach -- sleep 1000").strip()
    user.linger("disable")
    until(lambda: not user.runtime.exists(), "end of the runtime directory")

    def final():
        record = json.loads(user.cloop(f"status --json {handle}", session=False).stdout)
        return record["finished_at"] and record
    record = until(final, "end of the run")
    assert record["outcome"] in ("lost", "signal"), record
    user.linger("enable")
    assert user.cloop("ps").returncode == 0
