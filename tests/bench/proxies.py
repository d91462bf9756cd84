"""The egress proxy next to tinyproxy and squid (Debian's, installed where they are missing), each
alone on loopback. Each figure is the median of rounds in which the proxies take turns."""
import contextlib
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import time

from engines import ROOT
from table import Row

sys.path.insert(0, str(ROOT / "tests/e2e"))
import proxyproc  # noqa: E402

PACKAGES = {"tinyproxy": "tinyproxy", "squid": "squid"}
# What, how many of it, on how many connections.
LOADS = {"requests": (4000, 8), "connects": (300, 8), "stream": (1024, 2)}
TARGETS = {"requests": -1.5, "stream": -1.5}
LATENCY = 4000
IDLE = 2000


def install():
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    missing = [p for command, p in PACKAGES.items() if not shutil.which(command, path=path)]
    if missing:
        subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing],
                       check=True, env={"PATH": path, "DEBIAN_FRONTEND": "noninteractive"},
                       stdout=subprocess.DEVNULL)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    until = time.monotonic() + 20
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if time.monotonic() > until:
            raise RuntimeError(f"nothing listens on {port}")
        time.sleep(0.05)


@contextlib.contextmanager
def program(port, *argv):
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port, ""
    finally:
        child.terminate()
        child.wait()


def tinyproxy(place, _origin):
    port = free_port()
    conf = place / "tinyproxy.conf"
    conf.write_text(f"Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\nMaxClients 1000\nTimeout 600\n"
                    "LogLevel Critical\nDisableViaHeader Yes\n")
    return program(port, "tinyproxy", "-d", "-c", str(conf))


def squid(place, _origin):
    port = free_port()
    conf = place / "squid.conf"
    conf.write_text(f"http_port 127.0.0.1:{port}\nhttp_access allow all\ncache deny all\n"
                    "cache_mem 0 MB\naccess_log none\ncache_log /dev/null\npid_filename none\n"
                    "shutdown_lifetime 0 seconds\nvia off\nforwarded_for delete\n")
    return program(port, "/usr/sbin/squid", "-N", "-f", str(conf))


@contextlib.contextmanager
def cloop(_place, origin):
    with proxyproc.proxy(keep_events=False) as p:
        s = p.open(proxyproc.Session(cidrs=["127.0.0.1/32"], ports=[origin]), listener="run",
                   connections=1024)
        port = p.listen()
        yield port, s.header.split()[-1]


def ask(build, port, origin, credentials, mode, n, connections):
    said = subprocess.run([build / "tests/bench/proxy-bench", str(port), str(origin), credentials, mode,
                           str(n), str(connections)], capture_output=True, text=True, check=True)
    return float(said.stdout.split()[0])


def compare(build, proxies, origin, rounds):
    """Rows of one load each: ours, and the better of the others."""
    for mode, (n, connections) in LOADS.items():
        got = {name: [] for name in proxies}
        for _ in range(rounds):
            for name, (port, credentials) in proxies.items():
                got[name].append(ask(build, port, origin, credentials, mode, n, connections))
        middle = {name: statistics.median(v) for name, v in got.items()}
        best = max((v, name) for name, v in middle.items() if name != "cloop")
        unit = {"requests": "requests/s", "connects": "tunnels/s", "stream": "MiB/s"}[mode]
        others = ", ".join(f"{name} {v:.0f}" for name, v in middle.items() if name != "cloop")
        yield Row(f"proxy: {mode}; peer: {best[1]}", "loopback", f"{middle['cloop']:.0f} {unit}",
                  f"{best[0]:.0f} {unit}", middle["cloop"] / best[0], TARGETS.get(mode),
                  notes=f"{rounds} rounds, {connections} connections; {others}")


def latency(build, proxies, origin, rounds):
    """In pairs, each of one round: straight to the origin and through a proxy, in changing order."""
    def added(name, turn):
        ways = [(0, ""), proxies[name]]
        if turn % 2:
            ways.reverse()
        got = {port: ask(build, port, origin, credentials, "latency", LATENCY, 1)
               for port, credentials in ways}
        return got[proxies[name][0]] - got[0]

    more = {name: [] for name in proxies}
    for turn in range(2 * rounds):
        for name in proxies:
            more[name].append(added(name, turn))
    middle = {name: statistics.median(v) for name, v in more.items()}
    others = ", ".join(f"{name} {v:.2f} ms" for name, v in middle.items() if name != "cloop")
    ours = middle["cloop"]
    return Row("proxy: latency added to a request, 99th percentile", "loopback", f"{ours:.2f} ms", "",
               ours, 1, "ms", f"{2 * rounds} pairs of {LATENCY} requests, {min(more['cloop']):.2f} … "
               f"{max(more['cloop']):.2f} ms; {others}")


def anonymous_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise RuntimeError("no RssAnon")


def idle_tunnels():
    held = []
    with proxyproc.proxy() as p, proxyproc.listening() as origin:
        port = p.listen()
        sessions = [p.open(proxyproc.Session(cidrs=["127.0.0.1/32"], ports=[origin.getsockname()[1]]),
                           connections=1000) for _ in range(IDLE // 1000)]
        before = anonymous_kib(p.process.pid)
        for i in range(IDLE):
            s = socket.create_connection(("127.0.0.1", port))
            s.sendall(f"CONNECT 127.0.0.1:{origin.getsockname()[1]} HTTP/1.1\r\n"
                      f"{sessions[i // 1000].header}\r\n".encode())
            held += [s, origin.accept()[0]]
            if b" 200 " not in s.recv(4096):
                raise RuntimeError("no tunnel")
        each = (anonymous_kib(p.process.pid) - before) / IDLE
        for s in held:
            s.close()
    return Row("proxy: memory of an idle tunnel", "loopback", f"{each:.1f} KiB", "", each, 16, "KiB",
               f"{IDLE} tunnels, anonymous memory of the process")


def measure(build, place, rounds):
    install()
    proxyproc.PROGRAM = build / "src/egress/cloop-egress"
    origin = free_port()
    with contextlib.ExitStack() as stack:
        proxies = {name: stack.enter_context(start(place, origin)) for name, start in
                   (("cloop", cloop), ("tinyproxy", tinyproxy), ("squid", squid))}
        yield from compare(build, proxies, origin, rounds)
        yield latency(build, proxies, origin, rounds)
    yield idle_tunnels()
