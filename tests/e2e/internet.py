"""Network namespaces as the Internet: `box`, where cloop, the engine and its bridges live, and
`outside`, which answers at every address there is. Nothing leaves the two."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 20


def run(*words, check=True, **more):
    p = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    assert p.returncode == 0 or not check, (words, p.stderr)
    return p


class Internet:
    """Everything of a namespace goes with it: bridges, routes, tables of nft."""

    def __init__(self):
        self.box, self.outside = (f"cloop-e2e-{name}-{os.getpid()}" for name in ("box", "out"))
        self.listeners = []

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        for ns in (self.box, self.outside):
            run("ip", "netns", "add", ns)
            run("ip", "-n", ns, "link", "set", "lo", "up")
        run("ip", "-n", self.box, "link", "add", "uplink", "type", "veth", "peer", "name", "uplink",
            "netns", self.outside)
        self.link(self.box, "198.51.100.1/30", "198.51.100.2", "2001:db8:ffff::1/64", "2001:db8:ffff::2")
        self.link(self.outside, "198.51.100.2/30", "198.51.100.1", "2001:db8:ffff::2/64",
                  "2001:db8:ffff::1")
        # Whatever address arrives is its own; what it sends goes by the main table alone.
        for family, everything in (("-4", "0.0.0.0/0"), ("-6", "::/0")):
            run("ip", "-n", self.outside, family, "route", "add", "local", everything, "dev", "lo",
                "table", "local")
            run("ip", "-n", self.outside, family, "rule", "add", "iif", "uplink", "lookup", "local",
                "prio", "1")
            run("ip", "-n", self.outside, family, "rule", "del", "prio", "0")
        self.sysctl(self.box, "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")

    def __exit__(self, *_):
        for p in self.listeners:
            p.kill()
            p.wait()
            p.stdout.close()
        for ns in (self.box, self.outside):
            for pid in run("ip", "netns", "pids", ns, check=False).stdout.split():
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            run("ip", "netns", "del", ns, check=False)

    def link(self, ns, address, peer, address6, peer6):
        run("ip", "-n", ns, "addr", "add", address, "dev", "uplink")
        run("ip", "-n", ns, "addr", "add", address6, "dev", "uplink", "nodad")
        run("ip", "-n", ns, "link", "set", "uplink", "up")
        run("ip", "-n", ns, "route", "add", "default", "via", peer)
        run("ip", "-n", ns, "-6", "route", "add", "default", "via", peer6)

    def sysctl(self, ns, *settings):
        run("ip", "netns", "exec", ns, "sysctl", "-q", "-w", *settings)

    def at(self, ns, *words, check=True):
        return run("ip", "netns", "exec", ns, *words, check=check)

    def listen(self, ns, *ports, log=None):
        """Answers TCP at these ports of every address; UDP that arrives goes into the log."""
        words = ["ip", "netns", "exec", ns, sys.executable, HERE / "listener.py", log or "/dev/null", *ports]
        p = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE)
        self.listeners.append(p)
        assert p.stdout.readline() == b"ready\n"
        return p

    def enter(self, engine):
        """From here on the engine's user works in the box."""
        before = engine.popen

        def popen(words, **more):
            return before(["/usr/bin/nsenter", f"--net=/run/netns/{self.box}", "--", *words], **more)
        engine.popen = popen
        return lambda: setattr(engine, "popen", before)


def probe(namespace, probes, seconds=3):
    """What is reached from there (a pid, or the name of a namespace): for each [address, port, kind] an
    answer, "open" or the name of an error, and the seconds that it took."""
    path = f"/proc/{namespace}/ns/net" if isinstance(namespace, int) else f"/run/netns/{namespace}"
    p = run("nsenter", f"--net={path}", "--", sys.executable, HERE / "prober.py",
            input=json.dumps({"probes": probes, "seconds": seconds}))
    return [tuple(answer) for answer in json.loads(p.stdout)]


def addresses(namespace, name="eth0"):
    """Every address of an interface there."""
    found = json.loads(run("nsenter", f"--net=/proc/{namespace}/ns/net", "--", "ip", "-j", "addr", "show",
                           "dev", name).stdout)
    return [a["local"] for a in found[0]["addr_info"]]


def interfaces(pid):
    return {line.split(":")[0].strip()
            for line in pathlib.Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]}


def until(condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)
