"""What a workload finds around itself (container-driver.md §7, §25.3)."""
import json
import os
import re

import pytest

from engines import on

LOOK = r"""
echo "uid $(id -u) $(id -g)"
echo "groups $(id -G)"
grep -E '^(Uid|Gid|Cap[A-Z][a-z]+|NoNewPrivs|Seccomp):' /proc/self/status
echo "home $HOME"
echo "cwd $(pwd)"
echo "hostname $(hostname)"
echo "links $(ls /sys/class/net 2>/dev/null | tr '\n' ' ')"
echo "net $(sed -n 's/:.*//p' /proc/net/dev | tr -d ' ' | tr '\n' ' ')"
echo "ctl $(ls -A /run/cloop/ctl | wc -l)"
echo "first $(tr '\0' ' ' </proc/1/cmdline)"
for f in environ fd mem maps cwd root; do
	if cat /proc/1/$f >/dev/null 2>&1 || ls /proc/1/$f/ >/dev/null 2>&1; then echo "readable $f"; fi
done
for d in / /bin /etc /run /run/cloop /run/cloop/ctl /var /dev /usr/local/bin /proc/sys/kernel; do
	if touch $d/probe 2>/dev/null; then echo "writable $d"; rm -f $d/probe; fi
done
for d in /tmp /dev/shm /workspace; do
	if touch $d/probe 2>/dev/null; then rm -f $d/probe; else echo "closed $d"; fi
done
for f in /run/cloop/init /run/cloop/ctl/x /etc/hosts /etc/resolv.conf; do
	if (: >>$f) 2>/dev/null; then echo "writable $f"; fi
done
echo "tmp $(df -k /tmp | tail -n 1 | awk '{print $2}')"
echo "shm $(df -k /dev/shm | tail -n 1 | awk '{print $2}')"
echo "resolv $(wc -c </etc/resolv.conf)"
"""


@pytest.fixture
def seen(stage):
    r = stage.sh(LOOK, env={"CLOOP_E2E_HOST": "1"})
    assert r.rc == 0, r
    lines = [re.split(r"[:\s]\s*", line, maxsplit=1) for line in r.out.decode().splitlines()]
    found = {}
    for key, *value in lines:
        found.setdefault(key, []).append(value[0].strip() if value else "")
    return found


def test_identity_and_places(stage, seen):
    uid, gid = stage.engine.owner
    assert seen["uid"] == [f"{uid} {gid}"] and set(seen["groups"][0].split()) == {str(gid)}
    assert seen["Uid"] == ["\t".join([str(uid)] * 4)]
    assert seen["Gid"] == ["\t".join([str(gid)] * 4)]
    caps = {k: v for k, v in seen.items() if k.startswith("Cap")}
    assert len(caps) == 5 and all(int(v[0], 16) == 0 for v in caps.values())
    assert seen["NoNewPrivs"] == ["1"] and seen["Seccomp"] == ["2"]
    assert seen["home"] == ["/tmp"] and seen["cwd"] == ["/workspace"]
    assert seen["hostname"] == ["cloop-sandbox"]
    assert seen["net"] == ["lo"]
    assert seen["ctl"] == ["0"]
    assert seen["first"][0].startswith("/run/cloop/init")
    assert "readable" not in seen and "writable" not in seen and "closed" not in seen
    assert seen["tmp"] == [str(512 << 10)] and seen["shm"] == [str(64 << 10)]
    assert seen["resolv"] == ["0"]


def test_hosts(stage):
    """Ours, whatever the host's file says."""
    r = stage.sh("cat /etc/hosts")
    assert r.out == (b"127.0.0.1\tlocalhost cloop-sandbox\n"
                     b"::1\tlocalhost ip6-localhost ip6-loopback\n")


def test_mounts(stage):
    """Nothing of the host but what cloop put there (§9.4)."""
    r = stage.sh("cat /proc/self/mountinfo")
    kernel = {"proc", "sysfs", "cgroup", "cgroup2", "tmpfs", "devtmpfs", "devpts", "mqueue"}
    ours = {"/workspace", "/run/cloop/init", "/run/cloop/ctl", "/etc/hosts", "/etc/resolv.conf"}
    found = set()
    for line in r.out.decode().splitlines():
        fields, after = line.split(" - ")
        root, target = fields.split()[3:5]
        found.add(target)
        if target in ours or target == "/" or re.search("[0-9a-f]{64}", root):
            continue
        assert after.split()[0] in kernel, line
        assert target == "/tmp" or target.startswith(("/proc", "/sys", "/dev")), line
    assert ours <= found


def test_files_belong_to_the_project(stage):
    before = {p: (p.stat().st_uid, p.stat().st_gid) for p in (stage.project,)}
    stage.write("kept", "x", mode=0o640)
    r = stage.sh("mkdir -p a/b; echo hi >a/b/c; ln -s c a/b/d; chmod 0600 a/b/c")
    assert r.rc == 0
    for path in ("a", "a/b", "a/b/c", "a/b/d"):
        st = (stage.project / path).lstat()
        assert (st.st_uid, st.st_gid) == stage.engine.owner
    assert (stage.project / "kept").stat().st_mode & 0o777 == 0o640
    assert all((p.stat().st_uid, p.stat().st_gid) == owner for p, owner in before.items())


def test_other_processes_are_out_of_reach(stage):
    r = stage.sh("ps | wc -l; kill -9 1; kill -TERM 1; sleep 0.2; echo alive")
    assert r.rc in (0, 143) and int(r.out.split()[0]) < 8


def test_no_privileges_to_gain(stage):
    r = stage.sh("mount -t tmpfs x /tmp; echo $?; chroot / true; echo $?; mknod /tmp/n c 1 3; "
                 "echo $?; chown 0:0 /workspace; echo $?; ip link set lo mtu 1000; echo $?")
    assert all(code != "0" for code in r.out.decode().split())


def test_descriptors(stage):
    """0-2 and nothing else: the one that ls itself opens has no target any more."""
    r = stage.run("/bin/ls", "-l", "/proc/self/fd")
    seen = [line.split(" -> ") for line in r.out.decode().splitlines() if " -> " in line]
    seen = {left.split()[-1]: right for left, right in seen}
    assert sorted(seen) == ["0", "1", "2"] and seen["0"] == "/dev/null"
    assert seen["1"].endswith("stdout.fifo") and seen["2"].endswith("stderr.fifo")


@on("D")
@pytest.mark.root
def test_docker_of_an_ordinary_user(stage):
    """Only for projects of one's own: nothing could be handed to another owner's sandbox."""
    uid, other = 12345, 12346
    place = stage.dir / "user"
    place.mkdir()
    os.chown(place, uid, uid)
    (stage.engine.place / "d.sock").chmod(0o666)
    for owner, code in (((uid, uid), None), ((other, uid), "owner_not_self"),
                        ((uid, other), "owner_not_self"), ((0, 0), "root_user")):
        os.chown(stage.project, *owner)
        r = stage.cloop("run", "-C", stage.project, "--record", place / "record", "--", "id", "-u",
                        env={"HOME": str(place), "CLOOP_HOME": str(place / "home")},
                        user=uid, group=uid, extra_groups=[])
        record = json.loads((place / "record").read_text())
        assert record["code"] == code and r.rc == (125 if code else 0), r
        assert code or r.out == f"{uid}\n".encode()


def test_root_project_is_refused(stage):
    """A rootful engine never runs as root; a rootless one runs as its user whoever owns it."""
    if stage.engine.key == "R":
        return
    os.chown(stage.project, 0, 0)
    stage.refused("/bin/true", code="root_user")
    # Mounts come after that, whatever is wrong with them.
    (stage.project / "away").symlink_to("/etc")
    stage.spec({"mounts": [{"source": "away", "target": "/x", "read_only": True}]})
    stage.refused("/bin/true", code="root_user")
