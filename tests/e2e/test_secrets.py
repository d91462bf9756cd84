"""A value given by --env: never on a command line, in our files, or unmasked in output
(container-driver.md §8, §12, §25.2; issue 3, must show 5)."""
import os
import pathlib
import subprocess
import threading

import pytest

from crashing import until
from engines import once

CANARY = "canary-5e1f0a77-value"
MASK = b"[redacted]"
# Who may hold the value in its environment: the caller, and the one engine call that starts.
ENGINE_CALLS = {"podman", "docker"}
HOLDERS = {"cloop"} | ENGINE_CALLS


def program(pid):
    """By its file: a name changes later than the environment when a process becomes another program."""
    return pathlib.Path(os.readlink(f"/proc/{pid}/exe")).name


def identity(pid):
    """Parent, start time and program."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[1], fields[19], program(pid)


def asked_by(pid):
    """The engine call that waits for what this parent started, or None."""
    try:
        return name if (name := program(pid)) in ENGINE_CALLS else None
    except OSError:  # not ours to see
        return None


class Watcher(threading.Thread):
    """Reads every command line of the host, and every environment that it may."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stopping = threading.Event()
        self.command_lines, self.holders, self.rounds = [], {}, 0

    def look(self, pid):
        proc = pathlib.Path("/proc") / pid
        words = (proc / "cmdline").read_bytes()
        if CANARY.encode() in words:
            self.command_lines.append(words)
        before = identity(pid)
        if CANARY.encode() not in (proc / "environ").read_bytes():
            return
        status = (proc / "status").read_text()
        nspid = next(line for line in status.splitlines() if line.startswith("NSpid"))
        if len(nspid.split()) > 2:  # inside a sandbox
            return
        # What podman asks of its helpers (conmon --version) inherits its environment, and ends first.
        name = asked_by(before[0]) or before[2]
        # The environment is this program's only if it is the same program before and after.
        if identity(pid) == before:
            self.holders.setdefault(name, words)

    def run(self):
        own = str(os.getpid())
        while not self.stopping.is_set():
            for pid in os.listdir("/proc"):
                if pid.isdigit() and pid != own:
                    try:
                        self.look(pid)
                    except (OSError, StopIteration):
                        pass
            self.rounds += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.join()
        assert self.rounds > 5


def run_with_secret(stage, name):
    """Start, output, stop; the answers of all commands that tell of it."""
    env = {name: CANARY}
    said = []
    r = stage.sh(f'echo "$1 ${name}"; echo "err ${name}" >&2; printf "${name}" | cut -c1-20;'
                 f' test "${name}" = "$(printf %s canary-5e1f; echo 0a77-value | sed s/^/-/)"', "out",
                 options=["--env", name], env=env)
    said += [r.out, r.err]
    assert r.out.startswith(b"out " + MASK + b"\n") and r.err == b"err " + MASK + b"\n"
    handle = stage.detach("/bin/sh", "-c", f"while :; do echo ${name}; sleep 0.05; done",
                          options=["--env", name], env=env)
    for words in (["status", handle], ["ps", "--all"], ["logs", handle], ["logs", "--json", handle],
                  ["status", "--json", handle], ["stop", handle], ["logs", handle]):
        done = stage.cloop(*words)
        assert done.rc == 0
        said += [done.out, done.err]
    return said


def files_with_the_canary(stage):
    for path in [*stage.home.rglob("*"), *stage.dir.glob("record*")]:
        if path.is_file() and CANARY.encode() in path.read_bytes():
            yield path


@once
def test_watcher_sees_a_holder(stage):
    with Watcher() as watcher, subprocess.Popen(
            ["cat", "-", CANARY], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "TOKEN": CANARY}):
        until(lambda: "cat" in watcher.holders and watcher.command_lines and watcher.rounds > 5,
              "holder in sight")


@pytest.mark.parametrize("name", ["TOKEN", "DOCKER_AUTH"], ids=["by name", "by file"])
def test_value_stays_hidden(stage, name):
    with Watcher() as watcher:
        said = run_with_secret(stage, name)
    assert watcher.command_lines == []
    allowed = {"cloop"} if name == "DOCKER_AUTH" else HOLDERS
    assert watcher.holders.keys() <= allowed, watcher.holders
    assert not any(CANARY.encode() in words for words in said)
    assert list(files_with_the_canary(stage)) == []


def test_value_in_a_refusal(stage):
    """Errors tell names, never values."""
    with Watcher() as watcher:
        for name in ("TOKEN", "LD_X"):
            r = stage.refused("no-such-program", code="command_not_found", status=127,
                              options=["--env", name], env={name: CANARY})
            assert CANARY.encode() not in r.out + r.err
        r = stage.refused("/bin/true", code="env_reserved_multiline",
                          options=["--env", "LD_X"], env={"LD_X": CANARY + "\nmore"})
        assert b"LD_X" in r.err and CANARY.encode() not in r.out + r.err
    assert watcher.command_lines == [] and list(files_with_the_canary(stage)) == []


def test_value_on_the_command_line_is_no_option(stage):
    r = stage.cloop(*stage.run_words(["/bin/true"], options=["--env", "TOKEN=" + CANARY]))
    assert r.rc == 2 and r.record is None and CANARY.encode() not in r.out + r.err


def test_masked_in_every_cut(stage):
    """The value written byte by byte, repeated, and at the very end."""
    script = """
i=0
while [ $i -lt ${#TOKEN} ]; do
	printf %s "$TOKEN" | dd bs=1 skip=$i count=1 2>/dev/null
	i=$((i+1))
done
echo; printf %s "$TOKEN$TOKEN"; echo; printf %s "x$TOKEN"
"""
    r = stage.sh(script, options=["--env", "TOKEN"], env={"TOKEN": CANARY})
    assert r.out == MASK + b"\n" + MASK + b"\nx" + MASK
    part = stage.sh("printf %s ${TOKEN%??}", options=["--env", "TOKEN"], env={"TOKEN": CANARY})
    assert part.out == CANARY[:-2].encode()  # a part of a value is no value


def test_short_values_are_told(stage):
    r = stage.sh("echo $PIN", options=["--env", "PIN"], env={"PIN": "1234567"})
    assert b"1234567" in r.out and b"[cloop] " in r.err


def test_multi_line_value(stage):
    value = "-----BEGIN-----\nfirst line of it\nsecond line of it\n-----END-----"
    r = stage.sh('echo "$KEY"; echo "$KEY" | head -n 1', options=["--env", "KEY"], env={"KEY": value})
    assert r.out == MASK + b"\n-----BEGIN-----\n"
