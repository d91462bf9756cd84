"""Devices, interfaces and repositories of the host in a run (container-driver.md §7.1, §17, §25.16;
disk-and-secrets.md §16.1-16.3, §21.13)."""
import itertools
import json
import os
import pathlib
import signal
import stat
import subprocess
import time

import pytest

import crashing
from engines import on

# Interfaces are moved by root only.
rooted = on("PD")
NET = pathlib.Path("/sys/class/net")
numbers = itertools.count()


def grant(stage, name, kind, payload, *options):
    file = stage.dir / f"payload-{name}"
    file.write_text(payload)
    stage.engine.own(file)
    stage.answer("secret", "mint", name, "--kind", kind, "--file", file)
    return stage.answer("secret", "grant", name, "--to", "any", *options)


def ip(*words, netns=None):
    where = ["ip", "-n", netns] if netns else ["ip"]
    return subprocess.run([*where, *words], check=True, capture_output=True, text=True).stdout


# ---- Devices ----

DEVICES = "zero0=/dev/zero:/dev/zero0:rw\nnull0=/dev/null:/dev/null0\n"


def test_devices(stage):
    grant(stage, "lab", "host_device", DEVICES, "--devices", "zero0,null0", "--writable")
    r = stage.sh("""stat -c '%F %t:%T' /dev/zero0 /dev/null0
head -c 3 /dev/zero0 | od -An -tx1; echo x > /dev/zero0 && echo written
cat /dev/null0; echo $CLOOP_HOST_DEVICES""")
    assert r.rc == 0 and r.out.decode().splitlines() == [
        "character special file 1:5", "character special file 1:3", " 00 00 00", "written",
        "zero0,null0"], r


def test_standard_nodes_stay_as_they_are(stage):
    """Every sandbox has them: a grant without --writable takes nothing away."""
    names = ["null", "zero", "full", "random", "urandom"]
    grant(stage, "lab", "host_device", "".join(f"{n}=/dev/{n}\n" for n in names),
          "--devices", ",".join(names))
    r = stage.sh("echo x > /dev/null && echo x > /dev/zero && head -c 2 /dev/urandom | wc -c\n"
                 "(echo x > /dev/full) 2>&1 | grep -o 'No space'; echo $CLOOP_HOST_DEVICES")
    assert (r.rc, r.out.decode().split("\n")[:3]) == (0, ["2", "No space", ",".join(names)]), r


def test_only_what_is_granted(stage):
    grant(stage, "lab", "host_device", DEVICES, "--devices", "zero0")
    r = stage.sh("ls /dev; echo $CLOOP_HOST_DEVICES")
    words = r.out.decode().split()
    assert r.rc == 0 and "zero0" in words and "null0" not in words, r


@rooted
def test_device_that_the_workload_cannot_open(stage):
    node = pathlib.Path(f"/dev/cloop-test-{os.getpid()}-{next(numbers)}")
    os.mknod(node, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    try:
        grant(stage, "lab", "host_device", f"zero0={node}\n", "--devices", "zero0")
        r = stage.refused("touch", "ran", code="device_inaccessible")
        assert str(node) in r.err.decode() and "group_add" in r.err.decode()
        node.chmod(0o604)
        assert stage.sh(f"head -c 1 {node} | wc -c").out == b"1\n"
    finally:
        node.unlink()
    assert not (stage.project / "ran").exists()


@pytest.mark.parametrize("make, code", [
    (None, "device_missing"),
    (lambda node: node.mkdir(), "device_not_a_node"),
    (lambda node: node.write_text(""), "device_not_a_node"),
    (lambda node: node.symlink_to("/etc/passwd"), "device_outside_dev"),
    (lambda node: node.symlink_to("shm"), "device_forbidden"),
    (lambda node: os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 1)), "device_forbidden"),
    (lambda node: os.mknod(node, stat.S_IFBLK | 0o666, os.makedev(7, 250)), "device_block_not_granted"),
], ids=["missing", "directory", "file", "link-out", "link-shm", "mem", "disk"])
@rooted
def test_what_is_never_given(stage, make, code):
    node = pathlib.Path(f"/dev/cloop-test-{os.getpid()}-{next(numbers)}")
    try:
        if make:
            make(node)
        grant(stage, "lab", "host_device", f"a={node}", "--devices", "a")
        stage.refused("touch", "ran", code=code)
        denied = stage.answer("secret", "lease", "-C", stage.project)["denied"]
        assert [(d["reason"], d["code"]) for d in denied] == [("constraint", code)]
    finally:
        subprocess.run(["rm", "-rf", node], check=True)
    assert not (stage.project / "ran").exists() and not stage.run_dirs()


# ---- Repositories ----

def test_repositories(stage):
    root = stage.dir / "git"
    for name in ("api", "lib-a", "lib-b", "other"):
        (root / name / ".git").mkdir(parents=True)
        (root / name / "file").write_text(name)
    stage.engine.own(root, recursive=True)
    grant(stage, "code", "local_repo", str(root), "--repos", "lib-*")
    r = stage.sh("""ls /repos; cat $CLOOP_LOCAL_REPO_LIB_A/file; echo; env | grep ^CLOOP_LOCAL | sort
touch /repos/lib-a/new 2>/dev/null || echo read-only""")
    assert r.rc == 0 and r.out.decode().splitlines() == [
        "lib-a", "lib-b", "lib-a", "CLOOP_LOCAL_REPOS=lib-a,lib-b",
        "CLOOP_LOCAL_REPO_LIB_A=/repos/lib-a", "CLOOP_LOCAL_REPO_LIB_B=/repos/lib-b",
        "CLOOP_LOCAL_REPO_ROOT=/repos", "read-only"], r
    grant(stage, "more", "local_repo", str(root), "--repos", "api", "--writable")
    assert stage.sh("echo new > /repos/api/new").rc == 0
    assert (root / "api/new").read_text() == "new\n"


def test_repository_that_holds_the_project(stage):
    (stage.dir / ".git").mkdir()
    stage.engine.own(stage.dir / ".git")
    grant(stage, "code", "local_repo", str(stage.dir.parent), "--repos", stage.dir.name)
    stage.refused("true", code="host_mount_overlaps_project")


# ---- Interfaces ----

class Veth:
    """A pair: one end of the host, the other in a namespace of the test."""

    def __init__(self):
        n = next(numbers)
        self.name = f"ctv{os.getpid() % 100000}x{n}"
        self.netns = f"cloop-test-{os.getpid()}-{n}"
        ip("netns", "add", self.netns)
        ip("link", "add", self.name, "mtu", "1400", "type", "veth", "peer", "name", "peer0", "netns", self.netns)
        ip("link", "set", self.name, "up")
        ip("addr", "add", "10.99.7.1/24", "dev", "peer0", netns=self.netns)
        ip("link", "set", "peer0", "up", netns=self.netns)
        self.before = self.state()
        self.way = f"cloop{(NET / self.name / 'ifindex').read_text().strip()}"  # its name on the way

    def state(self):
        """None while it is not here."""
        try:
            flags = int((NET / self.name / "flags").read_text(), 16)
            return {"mtu": int((NET / self.name / "mtu").read_text()), "up": flags & 1,
                    "mac": (NET / self.name / "address").read_text()}
        except OSError:
            return None

    def is_back(self):
        assert self.before and self.state() == self.before, (self.before, self.state())
        assert not (NET / self.way).exists(), "it is stranded"

    def end(self):
        subprocess.run(["ip", "link", "del", self.name], capture_output=True)
        subprocess.run(["ip", "netns", "del", self.netns], capture_output=True)


@pytest.fixture
def veth():
    v = Veth()
    try:
        yield v
    finally:
        v.end()


def give(stage, veth, more=",target=lan0,address=10.99.7.2/24,mtu=1300"):
    return grant(stage, "net", "host_interface", f"dut={veth.name}{more}\n", "--interfaces", "dut")


def nothing_kept(stage):
    for run in stage.run_dirs():
        assert not (run / "interfaces.json").exists() and not (run / "netns").exists(), run
    assert str(stage.home) not in pathlib.Path("/proc/self/mountinfo").read_text()


# Bit 1 of the flags is IFF_UP; `operstate` follows it when the kernel comes to it (seen at a load of 20).

@rooted
def test_interface_before_the_first_instruction(stage, veth):
    give(stage, veth, ",target=lan0,address=10.99.7.2/24,gateway=10.99.7.1,mtu=1300")
    r = stage.sh("""cat /sys/class/net/lan0/mtu; echo $(($(cat /sys/class/net/lan0/flags) & 1))
ip -o -4 addr show dev lan0 | grep -o '10.99.7.2/24'; ip route show | grep default
ping -c 1 -W 5 10.99.7.1 >/dev/null 2>&1; echo $CLOOP_HOST_INTERFACES""")
    assert r.rc == 0 and r.out.decode().splitlines() == [
        "1300", "1", "10.99.7.2/24", "default via 10.99.7.1 dev lan0 ", "dut"], r
    veth.is_back()
    nothing_kept(stage)
    assert r.record["warnings"] == []


@rooted
def test_interface_as_it_is(stage, veth):
    give(stage, veth, "")
    r = stage.sh(f"cat /sys/class/net/{veth.name}/mtu; ls /sys/class/net | tr '\\n' ' '")
    assert r.rc == 0 and r.out.decode().splitlines()[0] == "1400", r
    veth.is_back()


@rooted
def test_interface_that_was_down_stays_down(stage, veth):
    ip("link", "set", veth.name, "down")
    veth.before = veth.state()
    give(stage, veth)
    assert stage.sh("echo $(($(cat /sys/class/net/lan0/flags) & 1))").out == b"1\n"
    veth.is_back()


@rooted
def test_two_that_swap_names(stage, veth):
    other = Veth()
    try:
        grant(stage, "net", "host_interface",
              f"a={veth.name},target={other.name}\nb={other.name},target={veth.name}\n",
              "--interfaces", "a,b")
        r = stage.sh(f"cat /sys/class/net/{veth.name}/address /sys/class/net/{other.name}/address")
        veth.is_back()
        other.is_back()
        assert r.rc == 0 and r.out.decode() == other.before["mac"] + veth.before["mac"], r
    finally:
        other.end()


@rooted
@pytest.mark.parametrize("how", ["kill", "stop", "timeout", "revoke", "engine-kill", "init-kill", "engine-rm"])
def test_interface_at_every_end(stage, veth, how):
    granted = give(stage, veth)
    options = ["--timeout", "2s"] if how == "timeout" else []
    handle = stage.detach("/bin/sh", "-c", "touch up; exec sleep 60", options=options)
    crashing.until((stage.project / "up").exists, "workload")
    assert veth.state() is None
    if how == "kill":
        assert stage.cloop("stop", "--signal", "kill", handle).rc == 0
    elif how == "stop":
        assert stage.cloop("stop", "--grace", "1s", handle).rc == 0
    elif how == "revoke":
        stage.answer("secret", "revoke", granted["id"])
        assert crashing.wait_final(stage, handle)["outcome"] == "revoked"
    elif how == "engine-kill":
        stage.engine.call("kill", stage.container_of(handle))
    elif how == "engine-rm":
        stage.engine.call("rm", "--force", stage.container_of(handle))
    elif how == "init-kill":
        record = json.loads((stage.home / "runs" / handle / "status.json").read_text())
        os.kill(record["supervision"]["init_pid"], signal.SIGKILL)
    stage.wait(handle)
    veth.is_back()
    stage.home_is_free()
    nothing_kept(stage)


@rooted
def test_interface_whose_name_was_taken(stage, veth):
    """It is named, and back as soon as it can be."""
    give(stage, veth)
    handle = stage.detach("/bin/sh", "-c", "touch up; while [ ! -e go ]; do sleep 0.1; done")
    crashing.until((stage.project / "up").exists, "workload")
    ip("link", "add", veth.name, "type", "bridge")
    (stage.project / "go").touch()
    record = stage.wait(handle).record
    assert record["outcome"] == "ok"
    [warning] = [w for w in record["warnings"] if w["code"] == "interface_stranded"]
    assert veth.name in warning["message"]
    crashing.wait_unsupervised(stage, handle)
    ip("link", "del", veth.name)
    stage.status(handle)
    crashing.until(veth.state, "interface")
    crashing.wait_unsupervised(stage, handle)
    veth.is_back()
    nothing_kept(stage)


@rooted
def test_interface_of_a_command_that_is_not_there(stage, veth):
    give(stage, veth)
    stage.refused("/no/such/command", code="command_not_found", status=127)
    veth.is_back()
    nothing_kept(stage)


@rooted
@pytest.mark.parametrize("point", ["down", "move", "mtu", "address", "up", "route"])
def test_failing_step_leaves_nothing_moved(stage, veth, point):
    give(stage, veth, ",target=lan0,address=10.99.7.2/24,gateway=10.99.7.1,mtu=1300")
    r = stage.refused("touch", "ran", code="interface_failed",
                      env={"CLOOP_FAULT": f"interface:{point}"})
    veth.is_back()
    stage.home_is_free()
    nothing_kept(stage)
    assert not (stage.project / "ran").exists() and b"stranded" not in r.err


@rooted
@pytest.mark.parametrize("point", ["flush", "down", "rename", "move"])
def test_taking_back_is_tried_again(stage, veth, point):
    give(stage, veth)
    r = stage.run("true", env={"CLOOP_FAULT": f"interface-back:{point}"})
    assert r.rc == 0 and r.record["warnings"] == [], r
    veth.is_back()


@rooted
def test_the_second_fails_and_the_first_comes_back(stage, veth):
    grant(stage, "net", "host_interface", f"a={veth.name},target=lan0\nb=no-such-if\n",
          "--interfaces", "a,b")
    r = stage.refused("true", code="interface_in_use")
    assert b"no-such-if" in r.err and b"no such interface" in r.err and b"ip link" in r.err
    assert b"routes" not in r.err
    veth.is_back()


@rooted
def test_interface_with_a_default_route(stage, veth):
    give(stage, veth)
    ip("route", "add", "default", "dev", veth.name, "table", "4242")
    r = stage.refused("touch", "ran", code="interface_in_use")
    assert b"4242" in r.err
    ip("route", "flush", "table", "4242")
    ip("-6", "route", "add", "default", "dev", veth.name, "table", "4243")
    r = stage.refused("touch", "ran", code="interface_in_use")
    assert b"4243" in r.err
    ip("-6", "route", "flush", "table", "4243")
    veth.is_back()
    assert stage.run("true").rc == 0
    veth.is_back()


@rooted
def test_enslaved_interface(stage, veth):
    bridge = f"ctb{os.getpid() % 100000}"
    ip("link", "add", bridge, "type", "bridge")
    try:
        ip("link", "set", veth.name, "master", bridge)
        give(stage, veth)
        r = stage.refused("true", code="interface_in_use")
        assert bridge.encode() in r.err
    finally:
        ip("link", "del", bridge)
    veth.is_back()


@rooted
def test_interface_and_a_network_that_is_switched_off(stage, veth):
    give(stage, veth)
    stage.spec({"capabilities": {"egress": "none"}})
    stage.refused("true", code="interfaces_without_network")
    veth.is_back()


@rooted
@pytest.mark.parametrize("meanwhile", ["nothing", "ends", "killed", "removed"])
def test_interface_and_a_supervisor_that_dies(stage, veth, meanwhile):
    """Also where the sandbox ends while nobody watches: the namespace is kept."""
    give(stage, veth)
    handle = stage.detach("/bin/sh", "-c", "touch up; while [ ! -e go ]; do sleep 0.1; done")
    crashing.until((stage.project / "up").exists, "workload")
    container = stage.container_of(handle)
    crashing.kill_shim(stage, handle)
    if meanwhile == "ends":
        (stage.project / "go").touch()
        time.sleep(0.5)
    elif meanwhile == "killed":
        stage.engine.call("kill", container)
    elif meanwhile == "removed":
        stage.engine.call("rm", "--force", container)
    if meanwhile == "nothing":
        stage.status(handle)
        crashing.until(lambda: crashing.shims(handle), "new supervisor")
        assert veth.state() is None
        (stage.project / "go").touch()
    stage.cloop("status", handle)
    crashing.wait_final(stage, handle)
    crashing.wait_unsupervised(stage, handle)
    veth.is_back()
    nothing_kept(stage)


@rooted
@pytest.mark.parametrize("point", ["interface:down", "interface:move", "interface:address",
                                   "interface:up", "start:15-record", "start:15-go",
                                   "interface-back:begin", "interface-back:rename",
                                   "interface-back:move"])
def test_supervisor_killed_at_a_step(stage, veth, point):
    give(stage, veth)
    stage.run("true", env={"CLOOP_FAULT": f"{point}=kill"})
    [run] = stage.run_dirs()
    crashing.wait_unsupervised(stage, run.name)  # the killed one's lock goes later than its answer
    stage.cloop("status", run.name)
    crashing.wait_final(stage, run.name)
    crashing.wait_unsupervised(stage, run.name)
    veth.is_back()
    stage.home_is_free()
    nothing_kept(stage)
