"""The package on a system that systemd runs: what the timer starts, under the restrictions of its unit,
and what the removal ends."""
import json
import os
import pathlib
import subprocess

import pytest

from machine import CONFIG, MAKE_IMAGE

PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "build-deb"


def call(*words, status=0):
    p = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert p.returncode == status, p
    return p.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    [package] = PACKAGES.glob("cloop_*.deb")
    call("dpkg", "--install", package)
    place = tmp_path_factory.mktemp("project")
    call("sh", "-c", f"cd {place} && {MAKE_IMAGE}")
    os.chown(place, 1234, 1234)
    pathlib.Path("/etc/cloop").mkdir(exist_ok=True)
    pathlib.Path("/etc/cloop/config.yaml").write_text(json.dumps(CONFIG))
    yield place
    call("dpkg", "--purge", "cloop")


def sleeper(project):
    return call("cloop", "run", "--detach", "-C", project, "--", "sleep", "1000").strip()


def supervisors(handle):
    p = subprocess.run(["pgrep", "--full", f"^cloop-shim .*{handle}"], capture_output=True, text=True, check=False)
    return p.stdout.split()


def test_timer_is_on(project):
    assert call("systemctl", "is-active", "cloop-reap.timer") == "active\n"


def test_service_gives_a_run_a_supervisor(project):
    """It outlives the service, and works under its restrictions."""
    handle = sleeper(project)
    [old] = supervisors(handle)
    call("kill", "-KILL", old)
    call("systemctl", "start", "cloop-reap.service")
    assert call("systemctl", "show", "--property=Result", "cloop-reap.service") == "Result=success\n"
    [new] = supervisors(handle)
    assert new != old and "cloop-reap.service" in pathlib.Path(f"/proc/{new}/cgroup").read_text()
    assert call("cloop", "attach", handle, "--", "echo", "there") == "there\n"
    call("cloop", "stop", "--grace", "1s", handle)
    record = json.loads(call("cloop", "status", "--json", handle))
    assert record["outcome"] == "cancelled" and record["warnings"] == [], record


def test_service_ends_what_ended_without_a_supervisor(project):
    handle = sleeper(project)
    call("sh", "-c", f"kill -KILL {supervisors(handle)[0]}; podman kill -a")
    call("systemctl", "start", "cloop-reap.service")
    call("cloop", "wait", handle, status=137)
    call("systemctl", "start", "cloop-reap.service")
    assert call("podman", "ps", "--all", "--quiet") == ""


def test_removal_ends_runs(project):
    handle = sleeper(project)
    call("dpkg", "--remove", "cloop")
    assert supervisors(handle) == [] and call("podman", "ps", "--all", "--quiet") == ""
