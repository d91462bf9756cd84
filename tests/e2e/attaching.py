"""The client's side of an attach session, frame by frame (container-driver.md §18.3, §18.4)."""
import json
import os
import select
import socket
import struct
import time

SECONDS = 20
TYPES = {0x11: "ready", 0x12: "output", 0x13: "stderr", 0x14: "exit", 0x15: "error"}


def control_path(stage, handle):
    return (stage.home / "runs" / handle / "control").resolve()


def connect(stage, handle):
    s = socket.socket(socket.AF_UNIX)
    s.connect(str(control_path(stage, handle)))
    return s


class Session:
    """One `attach`; `answer` is what came first, and if it is ok, frames follow."""

    def __init__(self, stage, handle, *argv, early=b"", **request):
        self.socket = connect(stage, handle)
        self.bytes, self.frames, self.ended = b"", [], False
        text = json.dumps({"op": "attach", "argv": argv, **request}).encode()
        self.asked = time.monotonic()
        self.socket.sendall(struct.pack("<I", len(text)) + text + early)
        size, = struct.unpack("<I", self.exactly(4))
        self.answer = json.loads(self.exactly(size))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def exactly(self, n):
        self.socket.settimeout(SECONDS)
        got = b""
        while len(got) < n:
            more = self.socket.recv(n - len(got))
            assert more, "the connection ended"
            got += more
        return got

    # To the shim.

    def send(self, kind, payload=b""):
        self.socket.sendall(struct.pack("<BI", kind, len(payload)) + payload)

    def type(self, data):
        self.send(0x01, data)

    def resize(self, rows, columns):
        self.send(0x02, struct.pack("<HH", rows, columns))

    def eof(self):
        self.send(0x03)

    def close(self):
        self.send(0x04)

    # From it.

    def decode(self):
        while len(self.bytes) >= 5:
            kind, size = struct.unpack("<BI", self.bytes[:5])
            if len(self.bytes) < 5 + size:
                return
            self.frames.append((TYPES[kind], self.bytes[5:5 + size]))
            self.bytes = self.bytes[5 + size:]

    def read(self, seconds=SECONDS):
        """False: nothing came, or the end did."""
        if not select.select([self.socket], [], [], max(seconds, 0))[0]:
            return False
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        self.ended = not data
        self.bytes += data
        self.decode()
        return bool(data)

    def read_until(self, condition, what, seconds=SECONDS):
        end = time.monotonic() + seconds
        while not (value := condition()):
            assert self.read(end - time.monotonic()), f"no {what}: {self.frames[-5:]}"
        return value

    def of(self, kind):
        return [payload for k, payload in self.frames if k == kind]

    def text(self, kind="output"):
        return b"".join(self.of(kind))

    def expect(self, word, seconds=SECONDS):
        self.read_until(lambda: word in self.text(), word, seconds)

    def json(self, kind, seconds=SECONDS):
        self.read_until(lambda: self.of(kind), kind, seconds)
        return json.loads(self.of(kind)[-1])

    def ready(self):
        return self.json("ready")

    def exit(self, seconds=SECONDS):
        """The last frame; nothing comes after it."""
        told = self.json("exit", seconds)
        while self.read():
            pass
        assert self.ended and self.frames[-1][0] == "exit" and not self.bytes
        return told


def both_ways(session, data, chunk=50000):
    """Sends and reads at the same time; what came back."""
    session.socket.setblocking(False)
    out = b"".join(struct.pack("<BI", 1, len(part)) + part
                   for part in (data[i:i + chunk] for i in range(0, len(data), chunk)))
    out += struct.pack("<BI", 3, 0)
    end = time.monotonic() + SECONDS
    while not session.of("exit"):
        assert time.monotonic() < end, len(session.text())
        readable, writable, _ = select.select(
            [session.socket], [session.socket] if out else [], [], SECONDS)
        if writable:
            out = out[session.socket.send(out[:100000]):]
        if readable and not session.read():
            break
    return session.text()


class Terminal:
    """`cloop attach` at a terminal of its own, as a person would have it."""

    def __init__(self, stage, *words, rows=24, columns=80):
        import fcntl
        import pty
        import termios
        self.master, slave = pty.openpty()
        os.fchown(slave, stage.engine.uid, -1)
        self.winsize = lambda r, c: fcntl.ioctl(
            self.master, termios.TIOCSWINSZ, struct.pack("HHHH", r, c, 0, 0))
        self.winsize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.modes = lambda: termios.tcgetattr(slave)
        self.slave, self.seen = slave, b""
        self.process = stage.popen(
            *words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.slave)
        os.close(self.master)

    def type(self, data):
        os.write(self.master, data)

    def expect(self, word, seconds=SECONDS):
        end = time.monotonic() + seconds
        while word not in self.seen:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.master], [], [], left)[0], self.seen
            self.seen += os.read(self.master, 65536)

    def wait(self, seconds=SECONDS):
        """The exit status; what is still shown is read."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, self.seen
            if select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 65536)
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 65536)
        return self.process.returncode

    def is_restored(self):
        return self.modes() == self.before
