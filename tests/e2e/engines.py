"""The three engines of the end-to-end tests (container-driver.md §25): P podman rootful, R podman
rootless as an ordinary user, D docker with a dockerd of our own. Each has storage of its own below
the session's directory, and a local busybox image."""
import io
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tarfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
PROGRAMS = ("src/cli/cloop", "src/shim/cloop-shim", "src/guest/cloop-guest", "src/egress/cloop-egress",
            "tests/staging/start-material", "src/lib/libcloop.so.0", "tests/library/library-user")
IMAGE = "localhost/cloop-e2e:1"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USER = "cloop-e2e"
OWNER = (54321, 54322)  # of the projects that a rootful engine runs
BUSYBOX = "/bin/busybox"
CALL_SECONDS = 120
DOCKERD_SECONDS = 60
USUAL_CONF, HOST_CONF = map(pathlib.Path, ("/usr/share/containers/containers.conf",
                                           "/etc/containers/containers.conf"))
# `podman info` asks dpkg six times whose its programs are, for a quarter of a second in each home.
# With nothing to look in, dpkg answers at once.
NATIVE_OVERLAY = (5, 13)  # in a user namespace
QUICK_INFO = '[engine]\nenv = ["DPKG_ADMINDIR=/nonexistent"]\n'
# The folder of netavark; without it podman's networks are CNI's.
NETAVARK = os.environ.get("CLOOP_E2E_NETAVARK", "/usr/lib/podman")
# Taken out of the environment: where it is set, pytest compares megabytes line by line when an
# assertion fails, for a quarter of an hour and with gigabytes of memory.
IN_CI = bool(os.environ.pop("CI", None))
ROOTFS_FILES = {"etc/passwd": "root:x:0:0:root:/:/bin/sh\n", "etc/group": "root:x:0:\n"}


def missing(what, package):
    """An engine that is not there fails the run; outside CI it may be left out."""
    words = f"{what} is not installed: apt-get install {package}"
    if IN_CI:
        pytest.fail(words)
    pytest.skip(f"runtime_missing: {words}")


def rootfs():
    """A root filesystem as tar: busybox and its applets."""
    if not os.access(BUSYBOX, os.X_OK):
        pytest.fail("no static busybox: apt-get install busybox-static")
    applets = subprocess.run([BUSYBOX, "--list"], capture_output=True, check=True, text=True)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        def add(name, kind, mode, data=b"", link=""):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(data), link
            tar.addfile(entry, io.BytesIO(data))
        for name, mode in (("bin", 0o755), ("etc", 0o755), ("tmp", 0o1777)):
            add(name, tarfile.DIRTYPE, mode)
        add("bin/busybox", tarfile.REGTYPE, 0o755, pathlib.Path(BUSYBOX).read_bytes())
        for applet in applets.stdout.split():
            if applet != "busybox":
                add(f"bin/{applet}", tarfile.SYMTYPE, 0o777, link="busybox")
        for name, text in ROOTFS_FILES.items():
            add(name, tarfile.REGTYPE, 0o644, text.encode())
    return out.getvalue()


class Engine:
    """One engine: its environment, the user who calls it, and what it can do here."""

    key = kind = package = None
    oci_runtime = ""

    def __init__(self, place):
        self.place = place
        self.bin = place / "bin"
        self.uid, self.gid = os.geteuid(), os.getegid()
        self.owner = OWNER
        self.env = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": str(place / "user")}
        self.networks = None  # there from the beginning
        self.stages = 0

    # What a test needs.

    def popen(self, words, env=None, **more):
        """Starts a program as the engine's user, in the engine's environment."""
        if os.geteuid() != self.uid:
            more.update(user=self.uid, group=self.gid, extra_groups=[self.gid])
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("cwd", "/")
        return subprocess.Popen([os.fsencode(str(w)) if not isinstance(w, bytes) else w
                                 for w in words], env={**self.env, **(env or {})}, **more)

    def call(self, *words, data=None, check=True, env=None):
        """One call of the engine's own command line."""
        p = self.popen([self.kind, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       stdin=subprocess.PIPE)
        out, err = p.communicate(data, timeout=CALL_SECONDS)
        if check and p.returncode != 0:
            raise AssertionError(f"{self.kind} {words}: {err.decode(errors='replace')}")
        return out.decode(errors="replace")

    def lines(self, *words):
        return self.call(*words).split()

    def mend(self):
        """After a test: what the engine itself did wrong."""

    def left(self):
        """Containers, volumes and networks that are there and were not in the beginning."""
        found = [f"container {n}" for n in self.lines("ps", "--all", "--quiet", "--no-trunc")]
        found += [f"volume {n}" for n in self.lines("volume", "ls", "--quiet")]
        return found + self.left_networks()

    def left_networks(self):
        return [f"network {n}" for n, labels in self.network_labels().items()
                if n not in self.networks and self.is_ours(labels)]

    def network_labels(self):
        """The labels of each network, by its name."""
        raise NotImplementedError

    def is_ours(self, labels):
        """Not of another run of the tests at the same time."""
        return True

    def inspect(self, name):
        return json.loads(self.call("inspect", "--type=container", name))[0]

    def own(self, path, recursive=False):
        """Gives a path to the user that a sandbox here runs as."""
        paths = [path]
        if recursive:
            paths += [os.path.join(d, n) for d, ds, fs in os.walk(path) for n in ds + fs]
        for p in paths:
            if os.geteuid() == 0:
                os.lchown(p, *self.owner)

    # The life of an engine.

    def open(self):
        if not shutil.which(self.kind, path=PATH):
            missing(self.kind, self.package)
        self.bin.mkdir(parents=True)
        for program in PROGRAMS:
            shutil.copy(BUILD / program, self.bin)
        for name in ("user", "stages"):
            (self.place / name).mkdir()
            if os.geteuid() == 0:
                os.chown(self.place / name, self.uid, self.gid)
        self.start()
        self.call("import", "--change", "ENV PATH=/bin", "-", IMAGE, data=rootfs())
        self.find_oci_runtime()
        self.networks = set(self.network_labels())

    def start(self):
        pass

    def stop(self):
        pass

    def find_oci_runtime(self):
        pass

    def pids(self):
        """Processes of the engine itself that live between two tests."""
        return set()

    def close(self):
        left = Engine.left(self) if self.networks is not None else []
        self.stop()
        shutil.rmtree(self.place, ignore_errors=True)
        assert not left, left


class Podman(Engine):
    kind, package = "podman", "podman crun runc uidmap slirp4netns"

    def __init__(self, place):
        super().__init__(place)
        self.known = set()  # files of its storage behind which podman found nothing

    def find_oci_runtime(self):
        """Not every installed runtime can start a container: crun 1.8 fails on cgroup v1."""
        failures = []
        for name in ("", "crun", "runc"):
            flags = [f"--runtime={name}"] if name else []
            p = self.popen(["podman", *flags, "run", "--rm", "--network=none",
                            "--ulimit=nofile=256:256", "--ulimit=nproc=256:256",
                            "--cgroupns=private", IMAGE, "/bin/true"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            _, err = p.communicate(timeout=CALL_SECONDS)
            if p.returncode == 0:
                self.oci_runtime = name
                return
            failures.append(f"{name or 'default'}: {err.decode(errors='replace').strip()}")
        pytest.fail("podman starts no container here\n" + "\n".join(failures))

    def left(self):
        """From the files of its storage: calls after each of hundreds of tests are slow."""
        storage = self.storage()
        entries = {e["id"] for f in storage.glob("*-containers/containers.json")
                   for e in read_json(f)} | set(storage.glob("volumes/*"))
        if entries <= self.known and self.networks is not None:
            return self.left_networks()
        # A podman that is killed while it makes a container can leave one in its storage that
        # podman itself does not list (4.3.1); what it lists is what counts.
        found = super().left()
        if not found:
            self.known |= entries
        return found

    def network_labels(self):
        """From the files of CNI or netavark."""
        found = {}
        for file in [f for d in self.network_dirs() for f in d.glob("*.*") if d.is_dir()]:
            network = read_json(file)
            if isinstance(network, dict) and "name" in network:
                found[network["name"]] = (network.get("labels") or
                                          network.get("args", {}).get("podman_labels") or {})
        return found

    def storage(self):
        return self.place / "storage"

    def stop(self):
        self.call("rm", "--force", "--all", "--time=0", check=False)
        # podman leaves the mount of its storage.
        subprocess.run(["umount", "-l", self.place / "storage/overlay"], capture_output=True)


class Rootful(Podman):
    key = "P"

    def start(self):
        """Storage of our own, by the files that cloop passes on to its engine."""
        conf = self.place / "storage.conf"
        conf.write_text(f'[storage]\ndriver = "overlay"\nrunroot = "{self.place}/run"\n'
                        f'graphroot = "{self.place}/storage"\n')
        self.env["CONTAINERS_STORAGE_CONF"] = str(conf)
        if USUAL_CONF.exists() and not HOST_CONF.exists():  # it replaces both
            conf = self.place / "containers.conf"
            conf.write_text(network_conf(USUAL_CONF.read_text().replace("[engine]\n", QUICK_INFO, 1)))
            self.env["CONTAINERS_CONF"] = str(conf)

    def network_dirs(self):
        return [pathlib.Path("/etc/cni/net.d"), pathlib.Path("/etc/containers/networks")]

    def is_ours(self, labels):
        """All rootful podmans of the machine share their networks."""
        return labels.get("cloop.home") in {f.read_text().strip()
                                            for f in self.place.glob("stages/*/*/id")}


class Rootless(Podman):
    """An ordinary user with an environment as of a login; as an ordinary user, ourselves."""

    key = "R"

    def __init__(self, place):
        super().__init__(place)
        user = self.find_user()
        self.uid, self.gid = user.pw_uid, user.pw_gid
        self.owner = (self.uid, self.gid)
        self.env.update(USER=user.pw_name, LOGNAME=user.pw_name, SHELL="/bin/sh",
                        XDG_RUNTIME_DIR=str(place / "runtime"))

    @staticmethod
    def find_user():
        if os.geteuid() != 0:
            return pwd.getpwuid(os.geteuid())
        try:
            return pwd.getpwnam(USER)
        except KeyError:
            subprocess.run(["useradd", "-m", "-s", "/bin/sh", USER], check=True)
        text = pathlib.Path("/etc/subuid").read_text()
        if not any(line.startswith(USER + ":") for line in text.splitlines()):
            subprocess.run(["usermod", "--add-subuids", "700000-765535", "--add-subgids",
                            "700000-765535", USER], check=True)
        return pwd.getpwnam(USER)

    def start(self):
        if not shutil.which("newuidmap", path=PATH):
            missing("newuidmap", "uidmap")
        runtime = self.place / "runtime"
        runtime.mkdir(mode=0o700)
        conf = self.place / "user/.config/containers"
        conf.mkdir(parents=True)
        (conf / "containers.conf").write_text(network_conf(QUICK_INFO + "[network]\n"))
        if kernel() >= NATIVE_OVERLAY:  # else it may be vfs, which copies the image for each run
            (conf / "storage.conf").write_text('[storage]\ndriver = "overlay"\n')
        for path in (runtime, conf.parent, conf, *conf.iterdir()):
            if os.geteuid() == 0:
                os.chown(path, self.uid, self.gid)

    def storage(self):
        return self.place / "user/.local/share/containers/storage"

    def hidden_layers(self):
        """Mounts of layers below a later mount of the directory that they are in."""
        overlay = str(self.storage() / "overlay")
        try:
            pause = int((self.place / "runtime/libpod/tmp/pause.pid").read_text())
            mounts = [line.split() for line in
                      pathlib.Path(f"/proc/{pause}/mountinfo").read_text().splitlines()]
        except (OSError, ValueError):
            return []
        over = [m[0] for m in mounts if m[4] == overlay]
        return [m[4] for m in mounts if over and m[4].startswith(overlay + "/") and m[1] != over[-1]]

    def mend(self):
        """A fault of podman's (docs/internals/engines.md); nothing of it runs any more."""
        if self.hidden_layers():
            self.call("system", "migrate")

    def network_dirs(self):
        return [self.place / "user/.config/cni/net.d", self.storage() / "networks"]

    def pause_pid(self):
        try:
            return int((self.place / "runtime/libpod/tmp/pause.pid").read_text())
        except (OSError, ValueError):
            return None

    def pids(self):
        return {self.pause_pid()} - {None}

    def stop(self):
        self.call("rm", "--force", "--all", "--time=0", check=False)
        self.call("unshare", "rm", "-rf", f"{self.env['HOME']}/.local/share/containers",
                  check=False)
        pause = self.pause_pid()
        if pause:
            os.kill(pause, signal.SIGKILL)


class Docker(Engine):
    key, kind, package = "D", "docker", "docker.io"

    def start(self):
        if not shutil.which("dockerd", path=PATH):
            missing("dockerd", "docker.io")
        endpoint = f"unix://{self.place}/d.sock"
        self.env["DOCKER_HOST"] = endpoint
        self.log = open(self.place / "dockerd.log", "wb")
        self.daemon = subprocess.Popen(
            ["dockerd", "--host", endpoint, "--data-root", self.place / "data",
             "--exec-root", self.place / "exec", "--pidfile", self.place / "dockerd.pid",
             "--iptables=false", "--ip6tables=false", "--bridge=none",
             "--add-runtime", f"runsc={self.place}/runsc"],
            env={"PATH": PATH, "HOME": self.env["HOME"]}, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, start_new_session=True)
        self.wait_for_daemon()

    def wait_for_daemon(self):
        end = time.monotonic() + DOCKERD_SECONDS
        while time.monotonic() < end and self.daemon.poll() is None:
            p = self.popen(["docker", "version"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            if p.wait(CALL_SECONDS) == 0:
                return
            time.sleep(0.1)
        pytest.fail("dockerd does not start:\n" +
                    (self.place / "dockerd.log").read_text(errors="replace")[-2000:])

    def ask(self, path):
        """The daemon itself: three clients after each test are slow."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(CALL_SECONDS)
            s.connect(f"{self.place}/d.sock")
            s.sendall(f"GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
            answer = b"".join(iter(lambda: s.recv(1 << 16), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        assert b" 200 " in head.splitlines()[0], answer
        return json.loads(body)

    def left(self):
        found = [f"container {c['Id']}" for c in self.ask("/containers/json?all=1")]
        found += [f"volume {v['Name']}" for v in self.ask("/volumes")["Volumes"] or ()]
        return found + self.left_networks()

    def network_labels(self):
        return {n["Name"]: n["Labels"] or {} for n in self.ask("/networks")}

    def pids(self):
        """The daemon and its containerd."""
        return {self.daemon.pid} | children(self.daemon.pid)

    def stop(self):
        self.daemon.terminate()
        try:
            self.daemon.wait(30)
        except subprocess.TimeoutExpired:
            for pid in self.pids():
                os.kill(pid, signal.SIGKILL)
            self.daemon.wait()
        self.log.close()


def network_backend():
    return "netavark" if NETAVARK and os.access(f"{NETAVARK}/netavark", os.X_OK) else "cni"


def network_conf(text):
    """This containers.conf, with the network backend that is there."""
    dirs = json.dumps([NETAVARK, "/usr/libexec/podman", "/usr/lib/podman"])
    text = text.replace("[engine]\n", f"[engine]\nhelper_binaries_dir = {dirs}\n", 1)
    # Not the range of CNI's default network, which another podman of the machine can have.
    network = f'network_backend = "{network_backend()}"\ndefault_subnet = "10.91.0.0/16"\n'
    return text.replace("[network]\n", f"[network]\n{network}", 1)


def kernel():
    return tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2])


def read_json(path):
    """A list; empty while the file is being replaced."""
    try:
        return json.loads(path.read_text() or "[]")
    except (OSError, ValueError):
        return []


def children(parent):
    found = set()
    for task in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            found |= set(map(int, task.read_text().split()))
        except OSError:  # it ended
            pass
    return found


ENGINES = {"P": Rootful, "R": Rootless, "D": Docker}


def params(keys):
    return [pytest.param(k, marks=pytest.mark.root) if k != "R" else k for k in keys]


def on(keys):
    """The test runs on these engines only: on("PD")."""
    return pytest.mark.parametrize("engine", params(keys), indirect=True, scope="session")


# For tests that have nothing to do with the engine.
once = on("P" if os.geteuid() == 0 else "R")
