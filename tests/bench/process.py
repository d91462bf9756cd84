"""What the kernel knows of processes. The bench is the reaper of everything it starts, so that the
CPU time of a supervisor, whose parent is long gone, can be read before it disappears."""
import ctypes
import os
import pathlib
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
END_SECONDS = 180
CLIENT_SECONDS = 30


def become_reaper():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def text(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def cpu_ms(pid):
    """CPU time of a process itself, without its children; also of one that is not reaped yet."""
    words = text(pid, "schedstat").split()
    return int(words[0]) / 1e6 if words else 0.0


def reaped_cpu_ms():
    """CPU time of everything that was started from here and has ended, and its children's."""
    times = os.times()
    return (times.children_user + times.children_system) * 1000


def pss_kib(pid):
    """The process's share of memory."""
    lines = [line.split() for line in text(pid, "smaps_rollup").splitlines()]
    return next((int(w[1]) for w in lines if w[0] == "Pss:"), 0)


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def program(pid):
    """Device and inode of what a process runs: an init's path is that of its sandbox."""
    return identity(f"/proc/{pid}/exe")


def identity(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def parent(pid):
    words = text(pid, "stat").rpartition(")")[2].split()
    return int(words[1]) if words else 0


def running(paths):
    """Processes of these programs: {pid: path}."""
    wanted = {identity(path): path for path in paths}
    found = {pid: wanted.get(program(pid)) for pid in pids()}
    return {pid: path for pid, path in found.items() if path}


def descendants(root):
    """Of a process, itself included."""
    parents = {pid: parent(pid) for pid in pids()}
    found = {root}
    while True:
        more = {p for p, up in parents.items() if up in found} - found
        if not more:
            return found
        found |= more


def kill(programs):
    for pid in running(programs):
        os.kill(pid, signal.SIGKILL)


def wait_gone(path):
    """Until no program of that name is below us; an engine's clean-up runs on its own."""
    wanted, deadline = identity(path), time.monotonic() + CLIENT_SECONDS
    while any(program(pid) == wanted for pid in descendants(os.getpid())):
        if time.monotonic() > deadline:
            return
        time.sleep(0.1)


class Ended:
    """How processes ended: exit status by pid, CPU time and moment by pid."""

    def __init__(self):
        self.status, self.cpu, self.name, self.at = {}, {}, {}, {}

    def of(self, name):
        return [pid for pid, n in self.name.items() if n == name]


def on_alarm(*_):
    raise SystemExit(f"a run has not ended after {END_SECONDS} s")


def wait(started, supervisors):
    """Reaps until these processes (Popen) and so many supervisors have ended."""
    ended, waiting = Ended(), {p.pid: p for p in started}
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(END_SECONDS)
    while waiting or len(ended.of("cloop-shim")) < supervisors:
        pid = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
        ended.at[pid] = time.monotonic()
        ended.cpu[pid] = cpu_ms(pid)
        ended.name[pid] = text(pid, "comm").strip()
        ended.status[pid] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if pid in waiting:
            waiting.pop(pid).returncode = ended.status[pid]
    signal.alarm(0)
    return ended
