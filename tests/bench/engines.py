"""The engines that cloop is measured against, each with storage of its own below a temporary
folder: P podman rootful, R podman rootless as an ordinary user, D docker with its own dockerd."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time

import process

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROGRAMS = ("src/cli/cloop", "src/shim/cloop-shim", "src/guest/cloop-guest")
IMAGE = "localhost/cloop-bench:1"
USER = "cloop-bench"
OWNER = (54321, 54322)  # of the project that a rootful engine runs
CALL_SECONDS = 120
DOCKERD_SECONDS = 60


class Engine:
    """One engine: its environment and the user who calls it."""

    kind = title = None
    oci_runtime = ""

    def __init__(self, place, build):
        self.place, self.build = place, build
        self.cloop, self.shim = place / "bin/cloop", place / "bin/cloop-shim"
        self.uid, self.gid = os.geteuid(), os.getegid()
        self.owner = OWNER if self.uid == 0 else (self.uid, self.gid)
        self.env = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": str(place / "user"),
                    "CLOOP_HOME": str(place / "home"), "CLOOP_CONFIG": str(place / "config")}

    @property
    def program(self):
        return shutil.which(self.kind, path=PATH)

    @property
    def guest(self):
        """The init as the home keeps it; made by the first run."""
        return next((self.place / "home/guest").glob("*/cloop-guest"), None)

    def popen(self, words, **more):
        """Starts a program as the engine's user in the engine's environment."""
        if os.geteuid() != self.uid:
            more.update(user=self.uid, group=self.gid, extra_groups=[self.gid])
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.DEVNULL)
        more.setdefault("cwd", "/")
        return subprocess.Popen([str(w) for w in words], env=self.env, **more)

    def output(self, *words, check=True):
        """What a program says; one that fails ends the bench with its words."""
        p = self.popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = p.communicate(timeout=CALL_SECONDS)
        if check and p.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: {err.decode(errors='replace')}")
        return out.decode(errors="replace")

    def folder(self, name, owner=None, mode=0o755):
        path = self.place / name
        path.mkdir(mode=mode)
        if os.geteuid() == 0:
            os.chown(path, *(owner or (self.uid, self.gid)))
        return path

    def open(self):
        if not self.program:
            raise SystemExit(f"{self.kind} is missing: run make deps")
        self.place.mkdir(parents=True)
        self.place.chmod(0o755)
        for name in ("bin", "user", "home"):
            self.folder(name)
        for program in PROGRAMS:
            shutil.copy(self.build / program, self.place / "bin")
        self.project = self.folder("project", self.owner)
        self.start()
        script = shutil.copy(ROOT / "scripts/busybox-image", self.place / "bin")
        self.output(script, self.kind, IMAGE)
        self.find_oci_runtime()
        return self

    def start(self):
        pass

    def stop(self):
        pass

    def find_oci_runtime(self):
        pass

    def close(self):
        """Also of a bench that is broken off."""
        process.kill([self.cloop, self.shim])
        process.wait_gone(self.program)
        self.stop()
        shutil.rmtree(self.place, ignore_errors=True)


class Podman(Engine):
    kind, title = "podman", "podman"

    def start(self):
        conf = self.place / "storage.conf"
        conf.write_text(f'[storage]\ndriver = "overlay"\nrunroot = "{self.place}/run"\n'
                        f'graphroot = "{self.place}/storage"\n')
        self.env["CONTAINERS_STORAGE_CONF"] = str(conf)

    def find_oci_runtime(self):
        """The first that really starts a container here: crun 1.8 fails on cgroup v1."""
        for name in ("", "crun", "runc"):
            flags = [f"--runtime={name}"] if name else []
            p = self.popen(["podman", *flags, "run", "--rm", "--network=none",
                            "--ulimit=nofile=256:256", "--ulimit=nproc=256:256",
                            "--cgroupns=private", IMAGE, "/bin/true"], stderr=subprocess.DEVNULL)
            if p.wait(CALL_SECONDS) == 0:
                self.oci_runtime = name
                return
        raise SystemExit("podman starts no container here")

    def stop(self):
        self.output("podman", "rm", "--force", "--all", "--time=0", check=False)
        process.wait_gone(self.program)
        subprocess.run(["umount", "-l", self.place / "storage/overlay"], capture_output=True)


class Rootless(Podman):
    """An ordinary user, made for the time of the bench when root runs it."""

    title = "podman (rootless)"

    def __init__(self, place, build):
        super().__init__(place, build)
        self.made_user = False
        user = self.find_user()
        self.uid, self.gid = user.pw_uid, user.pw_gid
        self.owner = (self.uid, self.gid)
        self.env.update(USER=user.pw_name, LOGNAME=user.pw_name,
                        XDG_RUNTIME_DIR=str(place / "runtime"))

    def find_user(self):
        if os.geteuid() != 0:
            return pwd.getpwuid(os.geteuid())
        try:
            return pwd.getpwnam(USER)
        except KeyError:
            subprocess.run(["useradd", "--create-home", USER], check=True)
        self.made_user = True
        if not any(line.startswith(USER + ":") for line in open("/etc/subuid")):
            subprocess.run(["usermod", "--add-subuids", "900000-965535",
                            "--add-subgids", "900000-965535", USER], check=True)
        return pwd.getpwnam(USER)

    def start(self):
        self.folder("runtime", mode=0o700)
        # Debian's podman chooses vfs, a copy of the image for each run, where nothing is set up.
        self.env["STORAGE_DRIVER"] = "overlay"

    def stop(self):
        self.output("podman", "rm", "--force", "--all", "--time=0", check=False)
        process.wait_gone(self.program)
        self.output("podman", "unshare", "rm", "-rf", f"{self.place}/user/.local", check=False)
        try:
            os.kill(int((self.place / "runtime/libpod/tmp/pause.pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            pass
        if os.geteuid() == 0:
            pathlib.Path(f"/dev/shm/libpod_rootless_lock_{self.uid}").unlink(missing_ok=True)
        if self.made_user:
            subprocess.run(["userdel", "--remove", USER], capture_output=True)


class Docker(Engine):
    kind, title = "docker", "docker"

    def start(self):
        endpoint = f"unix://{self.place}/d.sock"
        self.env["DOCKER_HOST"] = endpoint
        with open(self.place / "dockerd.log", "wb") as log:
            self.daemon = subprocess.Popen(
                ["dockerd", "--host", endpoint, "--data-root", self.place / "data",
                 "--exec-root", self.place / "exec", "--pidfile", self.place / "dockerd.pid",
                 "--iptables=false", "--ip6tables=false", "--bridge=none"],
                env={"PATH": PATH, "HOME": self.env["HOME"]}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + DOCKERD_SECONDS
        while time.monotonic() < end and self.daemon.poll() is None:
            p = self.popen(["docker", "version"], stderr=subprocess.DEVNULL)
            if p.wait(CALL_SECONDS) == 0:
                return
            time.sleep(0.1)
        raise SystemExit("dockerd does not start:\n" + (self.place / "dockerd.log").read_text())

    def stop(self):
        self.daemon.terminate()
        try:
            self.daemon.wait(30)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()


ENGINES = {"P": Podman, "R": Rootless, "D": Docker}
