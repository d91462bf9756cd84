"""cloop-egress itself, without a run (network.md §12, §13, §17.10): the real program on loopback,
its origin in the test. What needs names is in test_proxy_clients.py, what needs a resolver that
lies in tests/unit/egress/test-proxy.c."""
import json
import os
import re
import resource
import signal
import socket
import struct
import threading
import time

import pytest

from proxyproc import ROOT, Proxy, Session, boottime_ms, listening, proxy

AUTHORITIES = ROOT / "tests/cases/net/authority.jsonl"
LOOPBACK = ("127.0.0.1/32", "::1/128")
pytestmark = pytest.mark.root


class Origin:
    """Answers each connection in a thread of its own with serve(socket)."""

    def __init__(self, serve):
        self.socket = listening()
        self.port = self.socket.getsockname()[1]
        self.accepted = 0
        self.serve = serve
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._one, args=(s,), daemon=True).start()

    def _one(self, s):
        with s:
            try:
                self.serve(s)
            except OSError:
                pass


def head(s):
    """A request's head, and what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = s.recv(65536)
        if not more:
            return data, b""
        data += more
    h, _, rest = data.partition(b"\r\n\r\n")
    return h + b"\r\n\r\n", rest


def echo(s):
    while data := s.recv(65536):
        s.sendall(data)


def everything(s):
    data = bytearray()
    while more := s.recv(1 << 20):
        data += more
    return bytes(data)


def answering(body=b"hello", seen=None, extra=b""):
    """An HTTP origin that keeps its connections."""
    def serve(s):
        while True:
            h, _ = head(s)
            if not h:
                return
            if seen is not None:
                seen.append(h)
            s.sendall(b"HTTP/1.1 200 OK\r\n" + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    return serve


class Stage:
    def __init__(self, p):
        self.proxy = p
        self.port = p.listen()
        self.origins = []
        self.sockets = []

    def origin(self, serve):
        self.origins.append(Origin(serve))
        return self.origins[-1]

    def session(self, *origins, how=None, **grant):
        grant.setdefault("cidrs", LOOPBACK)
        return self.proxy.open(Session(ports=[o.port for o in origins] or [80], **grant),
                               **(how or {}))

    def client(self, port=None, timeout=10):
        s = socket.create_connection(("127.0.0.1", port or self.port), timeout=timeout)
        self.sockets.append(s)
        return s

    def send(self, raw, **how):
        s = self.client(**how)
        s.sendall(raw if isinstance(raw, bytes) else raw.encode())
        return s

    def ask(self, raw):
        """The whole answer to raw bytes; the proxy closes."""
        return everything(self.send(raw)).decode("latin-1")

    def connect(self, session, origin, then=b"", **how):
        s = self.send(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\n{session.header}\r\n".encode() +
                      then, **how)
        h, rest = head(s)
        return s, h.decode(), rest

    def get(self, session, origin, path="/", fields=""):
        return (f"GET http://127.0.0.1:{origin.port}{path} HTTP/1.1\r\n{session.header}{fields}"
                "\r\n").encode()


@pytest.fixture
def stage():
    with proxy() as p:
        s = Stage(p)
        yield s
        for x in s.sockets:
            x.close()
        for o in s.origins:
            o.socket.close()
        assert p.process.poll() is None, "the proxy has ended"


def verdict(answer):
    for line in answer.split("\r\n\r\n")[0].split("\r\n"):
        if line.lower().startswith("x-cloop-egress-verdict: "):
            return line.split(": ")[1]
    return None


# ---- Budgets, sessions, revocation ----

def test_connections_beyond_the_limit_are_refused(stage):
    o = stage.origin(echo)
    s = stage.session(o, how={"connections": 64})
    tunnels = [stage.connect(s, o) for _ in range(64)]
    assert all("200 Connection established" in t[1] for t in tunnels)
    refused = stage.ask(f"CONNECT 127.0.0.1:{o.port} HTTP/1.1\r\n{s.header}\r\n")
    assert verdict(refused) == "too_many_connections" and "503" in refused
    assert "Retry-After: 1\r\n" in refused
    tunnels[0][0].close()
    until = time.monotonic() + 5
    while stage.proxy.ask(op="stats")["sessions"][0]["connections"] == 64:
        assert time.monotonic() < until
    assert "200" in stage.connect(s, o)[1]


@pytest.mark.parametrize("tunnel", [False, True])
def test_a_download_ends_at_its_budget(stage, tunnel):
    def serve(s):
        head(s)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + b"x" * 1048576)
    o = stage.origin(serve)
    s = stage.session(o, down=65536)
    if tunnel:
        c, _, got = stage.connect(s, o)
        c.sendall(b"GET / HTTP/1.1\r\n\r\n")
        got += everything(c)
    else:
        got = everything(stage.send(stage.get(s, o)))
    assert 60000 < len(got) <= 65536
    assert stage.proxy.ask(op="stats")["sessions"][0]["bytes_down"] == 65536
    again = stage.ask(stage.get(s, o))
    assert verdict(again) == "quota_exceeded" and "--max-down" in again
    row = stage.proxy.rows("egress.connect" if tunnel else "egress.request", verdict="quota_exceeded")[0]
    assert row["decision"] == "deny" and row["bytes_down"] == 65536
    assert row["reason"] == ("mid-tunnel" if tunnel else "mid-request")


@pytest.mark.parametrize("tunnel", [False, True])
def test_an_upload_never_exceeds_its_budget(stage, tunnel):
    got = []
    over = threading.Event()

    def serve(s):
        try:
            while data := s.recv(65536):
                got.append(data)
        finally:
            over.set()
    o = stage.origin(serve)
    s = stage.session(o, up=1024)
    if tunnel:
        c, _, _ = stage.connect(s, o)
        c.sendall(b"y" * 5000)
        everything(c)
    else:
        answer = stage.ask(f"POST http://127.0.0.1:{o.port}/ HTTP/1.1\r\n{s.header}"
                           "Content-Length: 5000\r\n\r\n" + "y" * 5000)
        assert verdict(answer) == "quota_exceeded"
    assert over.wait(5) and sum(map(len, got)) == 1024
    assert stage.proxy.ask(op="stats")["sessions"][0]["bytes_up"] == 1024
    assert verdict(stage.ask(stage.get(s, o))) == "quota_exceeded"


def test_a_budget_that_is_met_exactly_is_no_cut(stage):
    answer = (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Cloop-Egress-Verdict: allow\r\n\r\nhello")
    o = stage.origin(answering())
    s = stage.session(o, down=len(answer))
    c = stage.send(stage.get(s, o))
    assert c.recv(4096) == answer
    c.sendall(stage.get(s, o))
    assert verdict(everything(c).decode()) == "quota_exceeded"


def test_bytes_used_before_count(stage):
    o = stage.origin(answering())
    s = stage.session(o, up=100, how={"used": (100, 0)})
    assert verdict(stage.ask(stage.get(s, o))) == "quota_exceeded"


def test_opening_again_keeps_the_tighter_budget(stage):
    o = stage.origin(answering())
    s = stage.session(o, up=5000)
    s.grant["max_bytes_up"] = 9000
    stage.proxy.open(s, used=(4000, 7))
    s.grant["max_bytes_up"] = 0
    stage.proxy.open(s)
    told = stage.proxy.ask(op="stats")["sessions"][0]
    assert (told["bytes_up"], told["bytes_down"]) == (4000, 7)
    answer = stage.ask(f"POST http://127.0.0.1:{o.port}/ HTTP/1.1\r\n{s.header}Content-Length: 4000"
                       "\r\n\r\n" + "y" * 4000)
    assert verdict(answer) == "quota_exceeded"
    assert stage.proxy.ask(op="stats")["sessions"][0]["bytes_up"] == 5000


def test_a_session_ends_with_its_deadline(stage):
    o = stage.origin(echo)
    s = stage.session(o, how={"seconds": 1})
    c, _, _ = stage.connect(s, o)
    c.sendall(b"ping")
    assert c.recv(10) == b"ping"
    began = time.monotonic()
    assert everything(c) == b""
    assert time.monotonic() - began < 2
    cut = stage.proxy.rows("egress.connect", decision="deny")[0]
    assert (cut["verdict"], cut["reason"]) == ("session_expired", "mid-tunnel")
    assert (cut["bytes_up"], cut["bytes_down"]) == (4, 4)
    close = stage.proxy.rows("egress.close")[0]
    assert (close["bytes_up"], close["bytes_down"]) == (4, 4)
    late = stage.ask(stage.get(s, o))
    assert verdict(late) == "session_expired" and late.startswith("HTTP/1.1 407")
    assert not stage.proxy.ask(op="renew", session=s.id, deadline_boottime_ms=boottime_ms(1000))["ok"]
    stage.proxy.close_session(s)
    assert len(stage.proxy.rows("egress.close")) == 1
    assert verdict(stage.ask(stage.get(s, o))) == "unauthenticated"


def test_a_renewal_moves_the_deadline_and_never_back(stage):
    o = stage.origin(answering())
    s = stage.session(o, how={"seconds": 1})
    stage.proxy.told(op="renew", session=s.id, deadline_boottime_ms=boottime_ms(600))
    stage.proxy.told(op="renew", session=s.id, deadline_boottime_ms=boottime_ms(-1))
    time.sleep(1.2)
    assert b"hello" in stage.send(stage.get(s, o)).recv(4096)
    assert not stage.proxy.ask(op="renew", session="sess_" + "0" * 24, deadline_boottime_ms=1)["ok"]


def test_closing_cuts_a_running_download(stage):
    def serve(s):
        while True:
            s.sendall(b"x" * 65536)
    o = stage.origin(serve)
    s = stage.session(o)
    c, _, _ = stage.connect(s, o)
    assert c.recv(65536)
    began = time.monotonic()
    counters = stage.proxy.close_session(s, "revoked")
    with pytest.raises(OSError):
        while c.recv(1 << 20):
            pass
        raise ConnectionResetError
    assert time.monotonic() - began < 1
    row = stage.proxy.rows("egress.close")[0]
    assert row["reason"] == "revoked" and row["bytes_down"] == counters["bytes_down"] > 0
    assert stage.proxy.close_session(s).get("known") is False


def test_the_grant_command_stands_where_a_grant_helps(stage):
    o = stage.origin(lambda s: (head(s), s.sendall(b"nonsense\r\n\r\n")))
    free = listening()
    closed = free.getsockname()[1]
    free.close()

    def told(session, target, n=0):
        answer = stage.ask(f"GET http://{target}/ HTTP/1.1\r\n{session.header}\r\n")
        return verdict(answer), "cloop egress grant" in answer, f"Rule: {verdict(answer)}" in answer
    s = stage.proxy.open(Session(cidrs=LOOPBACK, ports=[o.port, closed]))
    assert told(s, f"127.0.0.1:{closed}") == ("dial_failed", False, True)
    assert told(s, f"127.0.0.1:{o.port}") == ("bad_upstream", False, True)
    assert told(s, "127.0.0.1:1") == ("port_not_allowed", True, True)
    assert told(s, f"10.0.0.1:{o.port}") == ("destination_blocked", True, True)
    assert told(stage.session(o, how={"connections": 0}), f"127.0.0.1:{o.port}") == (
        "too_many_connections", False, True)
    assert told(stage.session(o, how={"seconds": -1}), f"127.0.0.1:{o.port}") == (
        "session_expired", False, True)


def test_an_open_session_stays_on_its_listener(stage):
    o = stage.origin(answering())
    s = stage.session(o)
    other = stage.proxy.listen("other")
    with pytest.raises(AssertionError, match="another listener"):
        stage.proxy.open(s, listener="other")
    assert verdict(everything(stage.send(stage.get(s, o), port=other)).decode()) == "unauthenticated"


def test_a_token_is_good_on_its_own_listener_only(stage):
    o = stage.origin(answering())
    s = stage.session(o)
    other = stage.proxy.listen("other")
    answer = everything(stage.send(stage.get(s, o), port=other)).decode()
    assert answer.startswith("HTTP/1.1 407") and verdict(answer) == "unauthenticated"
    assert b"hello" in stage.send(stage.get(s, o)).recv(4096)


def test_strangers_are_told_nothing(stage):
    o = stage.origin(answering())
    s = stage.session(o)
    wrong = Session()
    wrong.id = s.id
    answers = {stage.ask(f"GET http://127.0.0.1:{o.port}/ HTTP/1.1\r\n{h}\r\n") for h in (
        "", wrong.header, Session().header, "Proxy-Authorization: Bearer x\r\n",
        f"Proxy-Authorization: Basic {'A' * 2000}\r\n",
        s.header.replace("Proxy-", ""))}
    assert len(answers) == 1
    answer = answers.pop()
    assert 'Proxy-Authenticate: Basic realm="cloop-egress"\r\n' in answer
    assert s.grant["id"] not in answer and o.accepted == 0
    rows = stage.proxy.rows("egress.unauthenticated")
    assert len(rows) == 1 and rows[0]["reason"] == "1 attempt from 127.0.0.1"
    status = stage.proxy.stop()
    rows = stage.proxy.rows("egress.unauthenticated")
    assert status == 0 and rows[1]["reason"] == "5 attempts from 127.0.0.1"
    stage.proxy.process.poll = lambda: None


# ---- Tunnels and plain HTTP ----

def test_bytes_behind_a_connect_are_sent_first(stage):
    o = stage.origin(echo)
    s = stage.session(o)
    c, _, got = stage.connect(s, o, then=b"early, ")
    c.sendall(b"late")
    c.shutdown(socket.SHUT_WR)
    assert got + everything(c) == b"early, late"


def test_an_end_is_passed_on_by_itself(stage):
    def serve(s):
        data = everything(s)
        s.sendall(b"got %d" % len(data))
    o = stage.origin(serve)
    c, _, _ = stage.connect(stage.session(o), o)
    c.sendall(b"x" * 300000)
    c.shutdown(socket.SHUT_WR)
    assert everything(c) == b"got 300000"


def test_who_does_not_read_stalls_nobody_else(stage):
    def serve(s):
        head(s)
        s.sendall(b"x" * (64 << 20))
    o = stage.origin(serve)
    s = stage.session(o)
    stuck = [stage.connect(s, o)[0] for _ in range(4)]
    for c in stuck:
        c.sendall(b"GET / HTTP/1.1\r\n\r\n")
    time.sleep(0.3)
    began = time.monotonic()
    c, _, got = stage.connect(s, o)
    c.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert len(got) + len(everything(c)) == 64 << 20
    assert time.monotonic() - began < 5
    with open(f"/proc/{stage.proxy.process.pid}/stat", encoding="ascii") as f:
        used = sum(int(x) for x in f.read().split()[13:15])
    time.sleep(0.5)
    with open(f"/proc/{stage.proxy.process.pid}/stat", encoding="ascii") as f:
        assert sum(int(x) for x in f.read().split()[13:15]) - used <= 5, "it spins"


def test_connections_are_kept_and_requests_come_in_order(stage):
    seen = []
    o = stage.origin(answering(seen=seen))
    s = stage.session(o)
    c = stage.send(b"".join(stage.get(s, o, f"/{i}") for i in range(5)))
    got = b""
    while got.count(b"hello") < 5:
        got += c.recv(4096)
    assert [h.split(b" ")[1] for h in seen] == [b"/0", b"/1", b"/2", b"/3", b"/4"]
    assert o.accepted == 1
    assert got.count(b"X-Cloop-Egress-Verdict: allow\r\n") == 5
    assert all(b"Proxy-Authorization" not in h and b"Host: 127.0.0.1:" in h for h in seen)


def test_a_kept_connection_that_closed_is_made_anew(stage):
    def serve(s):
        head(s)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    o = stage.origin(serve)
    s = stage.session(o)
    c = stage.client()
    for i in range(20):
        c.sendall(stage.get(s, o))
        got = b""
        while not got.endswith(b"ok"):
            more = c.recv(4096)
            assert more, f"closed at request {i}"
            got += more
    assert o.accepted == 20


@pytest.mark.parametrize("method, verdict_then, connections", [
    *((m, "allow", 2) for m in ("GET", "OPTIONS", "TRACE", "PUT", "DELETE")),
    ("POST", "bad_upstream", 1), ("PATCH", "bad_upstream", 1), ("LOCK", "bad_upstream", 1)])
def test_only_what_may_be_done_twice_is_sent_again(stage, method, verdict_then, connections):
    """The origin reads the second request of its first connection, and closes."""
    def serve(s):
        head(s)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        head(s)
    o = stage.origin(serve)
    s = stage.session(o)
    c = stage.send(stage.get(s, o))
    assert c.recv(4096).endswith(b"ok")
    c.sendall(stage.get(s, o).replace(b"GET", method.encode()))
    assert verdict(c.recv(4096).decode()) == verdict_then
    assert o.accepted == connections


def test_a_kept_connection_is_of_one_session(stage):
    o = stage.origin(answering())
    may, may_not = stage.session(o), stage.session(o, hosts=["*"], cidrs=[])
    c = stage.send(stage.get(may, o))
    assert b"hello" in c.recv(4096)
    c.sendall(stage.get(may_not, o))
    assert verdict(c.recv(4096).decode()) == "destination_blocked"
    other = stage.session(o)
    c = stage.send(stage.get(may, o))
    assert b"hello" in c.recv(4096)
    c.sendall(stage.get(other, o))
    assert b"hello" in c.recv(4096) and o.accepted == 3


def chunks_of(n, each=16000):
    """A body of n bytes in chunks as the proxy frames them, too."""
    whole = b"%x\r\n%s\r\n" % (each, b"x" * each)
    rest = b"%x\r\n%s\r\n" % (n % each, b"x" * (n % each)) if n % each else b""
    return whole * (n // each) + rest + b"0\r\n\r\n"


@pytest.mark.parametrize("before", [
    b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", b"X-Big: " + b"a" * 9000 + b"\r\n"])
def test_a_chunked_answer_of_any_length_ends(stage, before):
    """The end of a body may be read where it is others' turn."""
    line = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
    answer = before + line if before.startswith(b"HTTP") else line + before

    def serve(s):
        while h := head(s)[0]:
            s.sendall(answer + b"\r\n" + chunks_of(int(h.split(b" ")[1][1:])))
    o = stage.origin(serve)
    s = stage.session(o)
    c = stage.client(timeout=5)
    for total in range(400000, 1050000, 4000):
        c.sendall(stage.get(s, o, f"/{total}"))
        got = bytearray()
        while not got.endswith(b"\r\n0\r\n\r\n"):
            got += c.recv(1 << 20)
        assert got.count(b"x") >= total


def test_a_chunked_request_of_any_length_ends(stage):
    def serve(s):
        while h := head(s):
            got = bytearray(h[1])
            while not got.endswith(b"\r\n0\r\n\r\n"):
                got += s.recv(1 << 20)
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    o = stage.origin(serve)
    s = stage.session(o)
    c = stage.client(timeout=5)
    for total in range(400000, 1050000, 20000):
        c.sendall(stage.get(s, o, fields="Transfer-Encoding: chunked\r\n").replace(b"GET", b"PUT") +
                  chunks_of(total))
        assert c.recv(4096).endswith(b"ok"), total


@pytest.mark.parametrize("status", ["200 OK", "304 Not Modified"])
def test_a_length_without_a_body_is_written_as_a_number(stage, status):
    def serve(s):
        head(s)
        s.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 000123\r\n\r\n".encode())
    o = stage.origin(serve)
    s = stage.session(o)
    answer = stage.send(stage.get(s, o).replace(b"GET", b"HEAD")).recv(4096)
    assert b"\r\nContent-Length: 123\r\n" in answer


CHUNKED = b"5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: gone\r\n\r\n"


def test_chunks_are_framed_anew_in_both_directions(stage):
    got = []

    def serve(s):
        h, rest = head(s)
        while not rest.endswith(b"0\r\n\r\n"):
            rest += s.recv(4096)
        got.append((h, rest))
        s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED)
    o = stage.origin(serve)
    s = stage.session(o)
    raw = (f"POST http://127.0.0.1:{o.port}/ HTTP/1.1\r\n{s.header}Connection: close\r\n"
           "Transfer-Encoding: chunked\r\n\r\n").encode()
    c = stage.client()
    for byte in raw + CHUNKED:
        c.send(bytes([byte]))
    plain = b"5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\n"
    answer = everything(c)
    assert answer.endswith(b"\r\n\r\n" + plain)
    assert got[0][1] == plain and b"Transfer-Encoding: chunked\r\n" in got[0][0]
    old = everything(stage.send(raw.replace(b"HTTP/1.1", b"HTTP/1.0").replace(
        b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n") + b"0\r\n\r\n"))
    assert old.endswith(b"\r\n\r\nhello0123456789") and b"chunked" not in old


def test_a_body_until_the_end_closes(stage):
    def serve(s):
        head(s)
        s.sendall(b"HTTP/1.0 200\r\nX-CLOOP-egress-verdict: forged\r\n\r\n" + b"z" * 200000)
    o = stage.origin(serve)
    answer = everything(stage.send(stage.get(stage.session(o), o)))
    h, _, body = answer.partition(b"\r\n\r\n")
    assert len(body) == 200000 and b"forged" not in h and b"Connection: close" in h


def test_an_origin_does_not_speak_for_the_proxy(stage):
    o = stage.origin(answering(extra=b"x-cloop-egress-verdict: denied\r\n"))
    answer = stage.ask(stage.get(stage.session(o), o, fields="Connection: close\r\n")).lower()
    assert re.findall(r"x-cloop-egress-verdict: (\w+)", answer) == ["allow"]


def test_head_and_interim_answers(stage):
    def serve(s):
        while (h := head(s)[0]):
            if h.startswith(b"HEAD"):
                s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
            else:
                s.sendall(b"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" * 8 +
                          b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    o = stage.origin(serve)
    s = stage.session(o)
    c = stage.send(stage.get(s, o).replace(b"GET", b"HEAD"))
    assert b"Content-Length: 1234" in c.recv(4096)
    c.sendall(stage.get(s, o))
    got = b""
    while not got.endswith(b"ok"):
        got += c.recv(4096)
    assert got.count(b"103 Hints") == 8 and got.count(b"X-Cloop-Egress-Verdict") == 9


@pytest.mark.parametrize("answer", [
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 101 Switching\r\n\r\n", b"HTTP/2 200\r\n\r\n", b"garbage", b"",
    b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100000 + b"\r\n\r\n",
    b"HTTP/1.1 103 Hints\r\n\r\n" * 9 + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
])
def test_a_broken_answer_is_not_passed_on(stage, answer):
    def serve(s):
        head(s)
        s.sendall(answer)
    o = stage.origin(serve)
    got = stage.ask(stage.get(stage.session(o), o))
    final = [a for a in got.split("HTTP/1.1 ") if a and not a.startswith("103")]
    assert len(final) == 1 and final[0].startswith("502 cloop egress: bad_upstream\r\n")


def test_an_answer_cut_short_looks_short(stage):
    def serve(s):
        head(s)
        s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
    o = stage.origin(serve)
    got = everything(stage.send(stage.get(stage.session(o), o)))
    assert b"hel" in got and not got.endswith(b"0\r\n\r\n")


# ---- Bad input ----

def raw_requests(port, session):
    h = session.header
    url = f"http://127.0.0.1:{port}/"
    return {
        "CL+TE": f"POST {url} HTTP/1.1\r\n{h}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "two lengths": f"POST {url} HTTP/1.1\r\n{h}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "TE twice": f"POST {url} HTTP/1.1\r\n{h}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "long line": f"GET {url}{'a' * 100000} HTTP/1.1\r\n{h}\r\n",
        "long field": f"GET {url} HTTP/1.1\r\n{h}X: {'a' * 100000}\r\n\r\n",
        "many fields": f"GET {url} HTTP/1.1\r\n{h}" + "X: y\r\n" * 100 + "\r\n",
        "bare LF": f"GET {url} HTTP/1.1\n{h}\n",
        "NUL": f"GET {url} HTTP/1.1\r\n{h}X: \0\r\n\r\n",
        "folded": f"GET {url} HTTP/1.1\r\n{h}X: a\r\n b\r\n\r\n",
        "blank first": f"\r\nGET {url} HTTP/1.1\r\n{h}\r\n",
        "origin form": f"GET / HTTP/1.1\r\n{h}\r\n",
        "https": f"GET https://127.0.0.1:{port}/ HTTP/1.1\r\n{h}\r\n",
        "TLS": "\x16\x03\x01\x02\x00\x01",
        "connect with a body": f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{h}Content-Length: 3\r\n\r\nabc",
        "connect without port": f"CONNECT 127.0.0.1 HTTP/1.1\r\n{h}\r\n",
        "userinfo": f"GET http://a@127.0.0.1:{port}/ HTTP/1.1\r\n{h}\r\n",
        "decimal": f"CONNECT 2130706433:{port} HTTP/1.1\r\n{h}\r\n",
        "hexadecimal": f"CONNECT 0x7f.1:{port} HTTP/1.1\r\n{h}\r\n",
        "octal": f"CONNECT 0177.0.0.1:{port} HTTP/1.1\r\n{h}\r\n",
        "short": f"CONNECT 127.1:{port} HTTP/1.1\r\n{h}\r\n",
        "zone": f"CONNECT [fe80::1%25lo]:{port} HTTP/1.1\r\n{h}\r\n",
    }


def test_malformed_requests_are_refused_and_not_echoed(stage):
    o = stage.origin(echo)
    s = stage.session(o)
    for name, raw in raw_requests(o.port, s).items():
        answer = stage.ask(raw.encode("latin-1"))
        assert verdict(answer) == "malformed_request", (name, answer[:200])
        assert answer.startswith("HTTP/1.1 400 cloop egress: malformed_request\r\n"), name
        assert "127.0.0.1" not in answer and s.token not in answer, name
    assert o.accepted == 0


def test_every_case_of_an_authority(stage):
    """As the target of a CONNECT, on the wire."""
    s = stage.session(hosts=["nobody.example"], cidrs=[])
    rows = [json.loads(line) for line in AUTHORITIES.read_text().splitlines()]
    for row in (r for r in rows if r["form"] == "connect"):
        answer = stage.ask(f"CONNECT {row['authority']} HTTP/1.1\r\n{s.header}\r\n".encode())
        malformed = row["expect"] == "malformed"
        if "\r\n" in row["authority"]:  # then it is a line of its own that is no field
            malformed = True
        assert (verdict(answer) == "malformed_request") == malformed, (row, answer)
    assert not stage.proxy.rows("egress.connect", decision="allow", wait=0)


def test_what_follows_a_refused_connect_is_no_request(stage):
    o = stage.origin(answering())
    s = stage.session(o)
    raw = f"CONNECT nobody.example:{o.port} HTTP/1.1\r\n{s.header}\r\n".encode() + stage.get(s, o)
    answer = stage.ask(raw)
    assert answer.count("HTTP/1.1 ") == 1 and " 200 " not in answer and o.accepted == 0


@pytest.mark.parametrize("body", [b"5\r\nhelloX", b"g\r\n", b"\r\n", b"5 \r\nhello\r\n",
                                  b"1000000000000000\r\n", b"5;" + b"x" * 300 + b"\r\n",
                                  b"0\r\n" + b"T: x\r\n" * 2000, b"5\nhello\r\n", b"-1\r\n"])
def test_broken_chunks_end_a_request(stage, body):
    got = []

    def serve(s):
        got.append(everything(s))
    o = stage.origin(serve)
    s = stage.session(o)
    answer = stage.ask(f"POST http://127.0.0.1:{o.port}/ HTTP/1.1\r\n{s.header}"
                       "Transfer-Encoding: chunked\r\n\r\n".encode() + body)
    assert verdict(answer) == "malformed_request"
    until = time.monotonic() + 5
    while not got and time.monotonic() < until:
        time.sleep(0.01)
    assert not got[0].endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("authority", [
    "169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
    "10.0.0.1", "[::ffff:10.0.0.1]", "100.64.0.1", "192.168.1.1", "[fd00:ec2::254]", "[fe80::1]",
    "0.0.0.0", "[::]", "[::7f00:1]", "224.0.0.1", "255.255.255.255", "127.0.0.2"])
def test_addresses_that_are_not_public_are_blocked_in_any_spelling(stage, authority):
    s = stage.session(hosts=["*"], cidrs=[])
    answer = stage.ask(f"CONNECT {authority}:80 HTTP/1.1\r\n{s.header}\r\n")
    assert verdict(answer) == "destination_blocked"
    assert "capabilities.network" in answer and "--ports 80" in answer
    assert stage.proxy.rows("egress.connect", verdict="destination_blocked")[0]["address"]


def test_a_refusal_says_how_to_ask(stage):
    hosts = [f"h{i:03}.example" for i in range(200)] + ["*." + "z" * 60 + ".example"]
    s = stage.session(hosts=hosts, cidrs=[])
    answer = stage.ask(f"GET http://Evil.Example./secret?key=1 HTTP/1.1\r\n{s.header}\r\n")
    h, _, body = answer.partition("\r\n\r\n")
    assert h.startswith("HTTP/1.1 403 cloop egress: host_not_allowed\r\n")
    assert "Content-Type: text/plain; charset=utf-8" in h and "Connection: close" in h
    assert f"Content-Length: {len(body)}" in h and len(body) <= 4096
    for part in ("evil.example:80", "host_not_allowed", s.grant["id"], "h030.example", "and 169 more",
                 "cloop egress grant --to project:<this project> --hosts evil.example --ports 80",
                 "capabilities.network"):
        assert part in body, part
    for part in ("secret", "key=1", "/srv", "h031.example"):
        assert part not in answer, part
    row = stage.proxy.rows("egress.request")[0]
    assert (row["host"], row["port"], row["decision"]) == ("evil.example", 80, "deny")
    assert "secret" not in str(row)


def test_methods(stage):
    o = stage.origin(answering())
    s = stage.session(o, methods=["GET"])
    assert b"hello" in stage.send(stage.get(s, o)).recv(4096)
    answer = stage.ask(f"CONNECT 127.0.0.1:{o.port} HTTP/1.1\r\n{s.header}\r\n")
    assert verdict(answer) == "method_not_allowed" and "--methods CONNECT" in answer


def test_nobody_listens(stage):
    free = listening()
    port = free.getsockname()[1]
    free.close()
    s = stage.proxy.open(Session(cidrs=LOOPBACK, ports=[port]))
    answer = stage.ask(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{s.header}\r\n")
    assert verdict(answer) == "dial_failed" and answer.startswith("HTTP/1.1 502")


def test_a_slow_head_is_not_waited_for_for_ever(stage):
    o = stage.origin(answering())
    s = stage.session(o)
    slow = stage.client(timeout=40)
    began = time.monotonic()
    slow.sendall(b"GET http://127.0.0.1/")
    assert b"hello" in stage.send(stage.get(s, o)).recv(4096)
    closed = []

    def drip():
        while not closed:
            try:
                slow.sendall(b"a")
            except OSError:
                return
            time.sleep(1)
    threading.Thread(target=drip, daemon=True).start()
    with pytest.raises(OSError):
        if not slow.recv(10):
            raise ConnectionResetError
    closed.append(True)
    assert 18 < time.monotonic() - began < 25


def test_accepting_stops_at_the_descriptor_limit_and_goes_on():
    with proxy(nofile=100) as p:
        stage = Stage(p)
        o = stage.origin(answering())
        s = stage.session(o)
        crowd = [stage.client() for _ in range(120)]
        time.sleep(0.3)
        held = len(os.listdir(f"/proc/{p.process.pid}/fd"))
        assert 70 <= held <= 92
        for c in crowd:
            c.close()
        assert b"hello" in stage.send(stage.get(s, o)).recv(4096)
        for x in stage.sockets:
            x.close()
        o.socket.close()


def test_pipes_count_as_descriptors_too():
    """Tunnels whose clients do not read hold a pipe each; without one they are served, too."""
    with proxy(nofile=100) as p:
        stage = Stage(p)
        o = stage.origin(lambda s: s.sendall(b"x" * (16 << 20)))
        s = stage.session(o)
        crowd = [stage.send(f"CONNECT 127.0.0.1:{o.port} HTTP/1.1\r\n{s.header}\r\n") for _ in range(36)]
        time.sleep(1)
        held = len(os.listdir(f"/proc/{p.process.pid}/fd"))
        assert 70 <= held <= 92
        for c in crowd:
            assert len(everything(c)) > 16 << 20
        o.serve = answering()
        assert b"hello" in stage.send(stage.get(s, o)).recv(4096)
        for x in stage.sockets:
            x.close()
        o.socket.close()


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return sum(int(x) for x in f.read().split()[13:15])


def test_without_a_descriptor_it_pauses():
    """No connection is there whose end would free one."""
    with proxy(nofile=24) as p:
        port = p.listen()
        n = 0
        with listening() as more:
            while p.ask(more.fileno(), op="add_listener", id=f"more{n}")["ok"]:
                n += 1
        assert n > 0
        c = socket.create_connection(("127.0.0.1", port), timeout=5)
        c.sendall(b"GET http://127.0.0.1/ HTTP/1.1\r\n\r\n")
        used = cpu_ticks(p.process.pid)
        time.sleep(1)
        assert cpu_ticks(p.process.pid) - used <= 10, "it spins"
        p.told(op="remove_listener", id="more0")
        assert verdict(everything(c).decode()) == "unauthenticated"
        c.close()


def anonymous_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    raise AssertionError


def test_idle_tunnels_cost_little(stage):
    """As many of 10,000 as descriptors allow: here, in the proxy, and in the origin."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    n = min(10000, hard * 9 // 10 // 2 - 100, (hard - 500) // 2)
    held = []

    def serve(s):
        s.sendall(s.recv(1))
        held.append(s.dup())
    o = stage.origin(serve)
    sessions = [stage.session(o, how={"connections": 1024}) for _ in range(n // 1000 + 1)]
    before = anonymous_kib(stage.proxy.process.pid)
    try:
        for i in range(n):
            c, h, _ = stage.connect(sessions[i // 1000], o)
            assert " 200 " in h
            c.sendall(b"x")
            assert c.recv(1) == b"x"
        each = (anonymous_kib(stage.proxy.process.pid) - before) / n
        print(f"{n} idle tunnels, {each:.2f} KiB each")
        assert each <= 16
        assert len(os.listdir(f"/proc/{stage.proxy.process.pid}/fd")) < 2 * n + 100
        assert stage.proxy.ask(op="stats")["ok"]
    finally:
        for s in (*held, *stage.sockets):
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# ---- The process ----

def test_it_gives_root_up(stage):
    with open(f"/proc/{stage.proxy.process.pid}/status", encoding="ascii") as f:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    assert status["Uid"].split() == ["65534"] * 4 and status["Gid"].split() == ["65534"] * 4
    assert status["Groups"].strip() == "" and status["NoNewPrivs"] == "1"
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapAmb"], 16) == 0


def test_it_ends_with_its_owner():
    p = Proxy()
    assert p.stop() == 0
    p = Proxy()
    p.told(op="stop")
    assert p.process.wait(5) == 0
    p.stop()


def test_the_port_survives_a_proxy_that_is_killed(stage):
    o = stage.origin(echo)
    s = stage.session(o, up=100)
    c, _, _ = stage.connect(s, o)
    c.sendall(b"12345")
    assert c.recv(10) == b"12345"
    used = stage.proxy.ask(op="stats")["sessions"][0]
    stage.proxy.process.send_signal(signal.SIGKILL)
    stage.proxy.process.wait()
    with pytest.raises(OSError):
        if not c.recv(10):
            raise ConnectionResetError
    with proxy() as second:
        second.told(stage.proxy.listeners[0].fileno(), op="add_listener", id="run")
        second.open(s, used=(used["bytes_up"], used["bytes_down"]))
        c, h, _ = stage.connect(s, o)
        assert " 200 " in h
        c.sendall(b"x" * 200)
        everything(c)
        assert second.ask(op="stats")["sessions"][0]["bytes_up"] == 100
    stage.proxy.process.poll = lambda: None


def test_owners_mistakes_are_answered(stage):
    ask = stage.proxy.ask
    assert not ask(op="nonsense")["ok"]
    assert not ask()["ok"]
    assert not ask(op="open", session="sess_x")["ok"]
    assert not ask(op="add_listener", id="run")["ok"]
    assert ask(op="remove_listener", id="nobody")["ok"]
    stage.proxy.control.send(b"{not json")
    assert not json.loads(stage.proxy.control.recv(4096))["ok"]
    broken = Session(cidrs=["127.0.0.1/33"])
    with pytest.raises(AssertionError):
        stage.proxy.open(broken)


def test_a_reset_in_any_state_is_survived(stage):
    o = stage.origin(echo)
    s = stage.session(o)
    whole = f"CONNECT 127.0.0.1:{o.port} HTTP/1.1\r\n{s.header}\r\nsome bytes".encode()
    for n in range(0, len(whole), 7):
        c = stage.send(whole[:n])
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.close()
    c, _, _ = stage.connect(s, o)
    c.sendall(b"alive")
    assert c.recv(10) == b"alive"


def test_who_goes_away_before_a_connection_leaves_no_row_of_it(stage):
    """127.0.0.1 answers or refuses at once: a full backlog does neither."""
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    port = full.getsockname()[1]
    fill = []
    for _ in range(3):
        fill.append(socket.socket())
        fill[-1].setblocking(False)
        fill[-1].connect_ex(("127.0.0.1", port))
    s = stage.proxy.open(Session(cidrs=LOOPBACK, ports=[port]), dial=2)
    c = stage.send(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{s.header}\r\n")
    time.sleep(0.2)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.close()
    began = time.monotonic()
    answer = stage.ask(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{s.header}\r\n")
    assert verdict(answer) == "dial_failed" and 1.5 < time.monotonic() - began < 4
    assert not [e for e in stage.proxy.rows("egress.connect") if e["decision"] == "allow"]
    for x in (full, *fill):
        x.close()


def test_clients_that_show_no_session_are_only_so_many(stage):
    o = stage.origin(answering())
    s = stage.session(o)
    crowd = [stage.send(b"GET http://127.0.0.1/" + b"a" * 8000) for _ in range(1100)]
    time.sleep(0.5)
    held = len(os.listdir(f"/proc/{stage.proxy.process.pid}/fd"))
    assert 1024 <= held < 1060
    for c in crowd:
        c.close()
    assert b"hello" in stage.send(stage.get(s, o)).recv(4096)
