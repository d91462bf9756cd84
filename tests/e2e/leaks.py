"""What a test may not leave behind (container-driver.md §25): looked for until it is gone, since the
removal of a container follows the answer. Ten seconds where nobody is at work; a supervisor that still
is may wait for an engine that is busy."""
import fcntl
import os
import pathlib
import re
import signal
import stat
import struct
import time

EXEC_SECONDS = 3
SECONDS = 10  # twice the reference's: three suites and a compiler share two processors
AT_WORK_SECONDS = 60  # of one removal of a container (remove.c)


def young(pid):
    """Whether it may be just becoming a program; one that is traced is a process inside of gVisor, which
    never has words."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return fields[0] != "t" and age < EXEC_SECONDS


def command_line(pid):
    """Its bytes; nothing when there is no such program. A process that is just becoming a program has
    an empty one for a moment, of tens of milliseconds where the processor is busy (measured), and its
    parent goes on meanwhile: that is waited for, so nobody is missed who was there before."""
    while True:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read()
            if words:
                return words
            os.readlink(f"/proc/{pid}/exe")  # not of the kernel's own, nor of one that has ended
            if not young(pid):
                return b""
        except OSError:
            return b""
        time.sleep(0.001)


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def processes(stage):
    """Pid and command line of programs that name the engine's directory, and inits of this home's sandboxes."""
    place, own = os.fsencode(stage.engine.place), {os.getpid()} | stage.engine.pids()
    guests = {(s.st_dev, s.st_ino) for s in map(os.stat, stage.home.glob("guest/*/cloop-guest"))}
    for pid in pids():
        words = command_line(pid)
        try:
            exe = os.stat(f"/proc/{pid}/exe")
        except OSError:
            continue
        if pid not in own and (place in words or (exe.st_dev, exe.st_ino) in guests):
            yield pid, words.replace(bytes(1), b" ").decode(errors="replace")


def locked(path):
    """Somebody holds the lock of a run (an open file description lock)."""
    if not path.exists():
        return False
    with open(path, "r+b") as f:
        ask = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind = struct.unpack("hhqqi4x", fcntl.fcntl(f, 36, ask))[0]  # F_OFD_GETLK
    return kind != fcntl.F_UNLCK


def of_live_runs_only(path):
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or path.name in ("cid", "ctl", "control")


def files(stage):
    runs = stage.home / "runs"
    for run in sorted(runs.glob("c-*")) if runs.is_dir() else ():
        entries = [pathlib.Path(d, n) for d, ds, fs in os.walk(run) for n in ds + fs]
        yield from (f"file {entry}" for entry in entries if of_live_runs_only(entry))
        if locked(run / "lock"):
            yield f"lock {run}/lock"
        for folder in ("/run/cloop", stage.engine.env.get("XDG_RUNTIME_DIR", "") + "/cloop",
                       stage.home / "sockets"):
            control = pathlib.Path(folder) / f"{run.name}.sock"
            if os.path.exists(control):  # of a folder that is closed to us: not ours
                yield f"socket {control}"
    # Of this home alone: other tests of the machine stage files at the same time.
    for note in runs.glob("c-*/stage.json"):
        for name in set(re.findall("cloop-lease-[0-9a-f]{24}", note.read_text())):
            for root in {"/dev/shm", stage.engine.env.get("XDG_RUNTIME_DIR", "/dev/shm")}:
                if os.path.lexists(f"{root}/{name}"):
                    yield f"stage {root}/{name}"


def mounts(stage):
    namespaces = ["self", *map(str, stage.engine.pids())]
    for pid in namespaces:
        try:
            text = pathlib.Path(f"/proc/{pid}/mountinfo").read_text(errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            target = line.split()[4]
            if str(stage.dir) in target or target.endswith("/merged"):
                if str(stage.engine.place) in target:
                    yield f"mount {target}"


def find(stage):
    left = [f"process {pid}: {words[:300]}" for pid, words in processes(stage)]
    left += [*files(stage), *mounts(stage)]
    return left or stage.engine.left()


def check(stage):
    """The list of what is left SECONDS after the last supervisor, or after AT_WORK_SECONDS."""
    begin = time.monotonic()
    end = begin + SECONDS
    while (left := find(stage)) and time.monotonic() < end:
        if any(what.startswith("lock ") for what in left):
            end = min(time.monotonic(), begin + AT_WORK_SECONDS - SECONDS) + SECONDS
        time.sleep(0.1)
    return left


def sweep(stage):
    """What is left was told; it shall not be told of every test that follows."""
    for pid, words in processes(stage):
        if str(stage.dir) in words:
            os.kill(pid, signal.SIGKILL)
    for container in stage.engine.lines("ps", "--all", "--quiet", "--no-trunc"):
        stage.engine.call("rm", "--force", container, check=False)
