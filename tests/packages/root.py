"""A Debian 12 of its own: build-root/root with what a test writes on top, in namespaces of its own
(mounts, processes, IPC, network), so nothing of it reaches the host, and what a package changed is what
lies in the upper folder."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BASE = ROOT / "build-root/root"
SECONDS = 300
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# PID 1 of it. An engine's storage does not lie on an overlay; sockets and secrets on file systems of
# their own, as on any host.
INIT = """
set -eu
place=$1
cd "$place"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$place/upper,workdir=$place/work" root
mount -t proc proc root/proc
mount --rbind /sys root/sys
mount --rbind /dev root/dev
mount -t tmpfs -o mode=1777 tmpfs root/dev/shm
mount -t tmpfs -o mode=755 tmpfs root/run
mount -t tmpfs -o mode=1777 tmpfs root/tmp
mkdir -p root/var/lib/containers root/srv
mount --bind storage root/var/lib/containers
mount --bind srv root/srv
ip link set lo up
cd root
pivot_root . mnt
umount -l /mnt
echo ready >/run/ready
sleep infinity &
while :; do wait -n; done
"""


class Root:
    def __init__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-packages-", dir="/var/tmp"))
        self.place.chmod(0o755)
        for name in ("upper", "work", "root", "storage", "srv"):
            (self.place / name).mkdir()
        self.upper, self.srv = self.place / "upper", self.place / "srv"
        (self.upper / "etc").mkdir(mode=0o755)
        shutil.copy("/etc/resolv.conf", self.upper / "etc/resolv.conf")
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--ipc",
             "--net", "bash", "-c", INIT, "init", self.place, BASE],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.pid = self.first_child()

    def first_child(self):
        """The init, once it is where it belongs."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        while self.process.poll() is None:
            pids = children.read_text().split()
            if pids and self.enter(pids[0], ["test", "-e", "/run/ready"]).returncode == 0:
                return pids[0]
            time.sleep(0.05)
        raise AssertionError(self.process.stderr.read().decode())

    @staticmethod
    def enter(pid, words, network=True, **more):
        kinds = ["--mount", "--pid", "--ipc"] + (["--net"] if network else [])
        env = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
               **more.pop("env", {})}
        return subprocess.run(["nsenter", f"--target={pid}", *kinds, "--wdns=/", *words], env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, **more)

    def run(self, *words, status=0, **more):
        """stdout of a command there; network=False is the host's network, for apt."""
        r = self.enter(self.pid, words, text=True, **more)
        assert status is None or r.returncode == status, f"{words}: {r.returncode}\n{r.stdout}\n{r.stderr}"
        return r.stdout if status is not None else r

    def sh(self, script, *args, **more):
        return self.run("bash", "-c", script, "bash", *args, **more)

    def user(self, name, *words, **more):
        """A command as an ordinary user, with an environment as of a login."""
        uid = self.run("id", "-u", name).strip()
        return self.run("setpriv", f"--reuid={uid}", f"--regid={uid}", "--init-groups", "env",
                        f"HOME=/srv/{name}", f"XDG_RUNTIME_DIR=/run/user/{uid}", f"USER={name}", *words, **more)

    def apt(self, *words, **more):
        return self.run("apt-get", "-qq", "-y", "--no-install-recommends", *words, network=False, **more)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        shutil.rmtree(self.place, ignore_errors=True)
