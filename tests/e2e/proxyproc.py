"""A cloop-egress of the test's own: started, told and listened to as its owner does
(src/egress/owner.h), without a run."""
import base64
import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import secrets
import socket
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CLOOP_BUILD", ROOT / "build")) / "src/egress/cloop-egress"
CLONE_NEWNET = 0x40000000


def in_netns(name, work):
    """work() in a thread whose sockets are of that network namespace; None: ours."""
    if name is None:
        return work()
    answer = []

    def run():
        with open(f"/run/netns/{name}", "rb") as place:
            if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), CLONE_NEWNET) < 0:
                raise OSError(ctypes.get_errno(), "setns")
        answer.append(work())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answer[0]


def listening(address="127.0.0.1", port=0, backlog=1024):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(backlog)
    return s


def boottime_ms(seconds):
    """So many seconds from now."""
    return int((time.clock_gettime(time.CLOCK_BOOTTIME) + seconds) * 1000)


class Session:
    def __init__(self, hosts=(), cidrs=(), ports=(80, 443), methods=("*",), up=0, down=0):
        self.id = "sess_" + secrets.token_hex(12)
        self.token = secrets.token_hex(32)
        self.grant = {"id": "egress_" + secrets.token_hex(12), "subject": "any", "scope": "",
                      "hosts": list(hosts), "cidrs": list(cidrs), "ports": list(ports),
                      "methods": list(methods), "max_bytes_up": up, "max_bytes_down": down,
                      "session_ttl_s": 900}

    @property
    def userinfo(self):
        return f"{self.id}:{self.token}"

    @property
    def header(self):
        value = base64.b64encode(self.userinfo.encode()).decode()
        return f"Proxy-Authorization: Basic {value}\r\n"


class Proxy:
    def __init__(self, netns=None, nofile=None, keep_events=True):
        self.netns = netns
        self.control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(5)
        events, its_events = os.pipe()
        enter = ["ip", "netns", "exec", netns] if netns else []
        limit = f"ulimit -n {nofile}; " if nofile else ""
        self.process = subprocess.Popen(
            [*enter, "bash", "-c",
             f'{limit}exec "$0" 3<&{control.fileno()} 4>&{its_events}', str(PROGRAM)],
            pass_fds=(control.fileno(), its_events), stdin=subprocess.DEVNULL)
        control.close()
        os.close(its_events)
        self.seq = 0
        self.events = []
        self.keep_events = keep_events
        self.reader = threading.Thread(target=self._read, args=(events,), daemon=True)
        self.reader.start()
        self.ask(op="stats")

    def _read(self, events):
        if not self.keep_events:
            while os.read(events, 1 << 20):
                pass
            os.close(events)
            return
        with open(events, encoding="utf-8") as lines:
            for line in lines:
                self.events.append(json.loads(line))

    def ask(self, fd=None, **request):
        self.seq += 1
        message = [json.dumps({**request, "seq": self.seq}).encode()]
        if fd is None:
            self.control.sendmsg(message)
        else:
            socket.send_fds(self.control, message, [fd])
        answer = json.loads(self.control.recv(1 << 18))
        assert answer["seq"] == self.seq, answer
        return answer

    def told(self, fd=None, **request):
        answer = self.ask(fd, **request)
        assert answer["ok"], answer
        return answer

    def listen(self, name="run", address="127.0.0.1", port=0):
        """Port; the socket stays ours, too, as the owner keeps it."""
        s = in_netns(self.netns, lambda: listening(address, port))
        self.told(s.fileno(), op="add_listener", id=name)
        self.listeners = [*getattr(self, "listeners", []), s]
        return s.getsockname()[1]

    def open(self, session, listener="run", seconds=600, connections=64, dial=15, used=(0, 0)):
        self.told(op="open", session=session.id, listener=listener, grant=session.grant,
                  token_sha256=hashlib.sha256(session.token.encode()).hexdigest(),
                  deadline_boottime_ms=boottime_ms(seconds), grant_expires_ns=0, max_connections=connections,
                  dial_timeout_s=dial, bytes_up=used[0], bytes_down=used[1], handle="h-1",
                  project="/srv/a project", executor_id="container", subject="any")
        return session

    def close_session(self, session, reason="run_ended"):
        return self.told(op="close", session=session.id, reason=reason)

    def rows(self, action, wait=2.0, **members):
        """The rows so far with these members; waits for the first one."""
        until = time.monotonic() + wait
        while True:
            found = [e for e in self.events if e["action"] == action and
                     all(e.get(k) == v for k, v in members.items())]
            if found or time.monotonic() > until:
                return found
            time.sleep(0.01)

    def stop(self):
        self.control.close()
        try:
            status = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.reader.join(5)
        for s in getattr(self, "listeners", []):
            s.close()
        return status


@contextlib.contextmanager
def proxy(**how):
    p = Proxy(**how)
    try:
        yield p
    finally:
        p.stop()
