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

    # Of the cable between the two: the first ones are the box's.
    uplink4 = ("198.51.100.1", "198.51.100.2")
    uplink6 = ("2001:db8:ffff::1", "2001:db8:ffff::2")

    def __init__(self):
        self.box, self.outside = (f"cloop-e2e-{name}-{os.getpid()}" for name in ("box", "out"))
        self.namespaces = [self.box, self.outside]
        self.listeners = []

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        for ns in self.namespaces:
            run("ip", "netns", "add", ns)
            run("ip", "-n", ns, "link", "set", "lo", "up")
            self.prepare(ns)
        run("ip", "-n", self.box, "link", "add", "uplink", "type", "veth", "peer", "name", "uplink",
            "netns", self.outside)
        for ns, own in ((self.box, 0), (self.outside, 1)):
            self.link(ns, f"{self.uplink4[own]}/30", self.uplink4[1 - own], f"{self.uplink6[own]}/64",
                      self.uplink6[1 - own])
        # Whatever address arrives is its own; what it sends goes by the main table alone.
        for family, everything in (("-4", "0.0.0.0/0"), ("-6", "::/0")):
            run("ip", "-n", self.outside, family, "route", "add", "local", everything, "dev", "lo",
                "table", "local")
            run("ip", "-n", self.outside, family, "rule", "add", "iif", "uplink", "lookup", "local",
                "prio", "1")
            run("ip", "-n", self.outside, family, "rule", "del", "prio", "0")
        self.sysctl(self.box, "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")

    def prepare(self, ns):
        """Before it has a link."""

    def __exit__(self, *_):
        self.quiet()
        for ns in self.namespaces:
            for pid in run("ip", "netns", "pids", ns, check=False).stdout.split():
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            run("ip", "netns", "del", ns, check=False)

    def quiet(self):
        """Nobody listens any more."""
        for p in self.listeners:
            p.kill()
            p.wait()
            p.stdout.close()
        self.listeners = []

    def link(self, ns, address, peer, address6, peer6):
        run("ip", "-n", ns, "addr", "add", address, "dev", "uplink")
        run("ip", "-n", ns, "addr", "add", address6, "dev", "uplink", "nodad")
        run("ip", "-n", ns, "link", "set", "uplink", "up")
        run("ip", "-n", ns, "route", "add", "default", "via", peer)
        run("ip", "-n", ns, "-6", "route", "add", "default", "via", peer6)

    def sysctl(self, ns, *settings):
        run("ip", "netns", "exec", ns, "sysctl", "-q", "-w", *settings)

    def at(self, ns, *words, check=True, **more):
        return run("ip", "netns", "exec", ns, *words, check=check, **more)

    def listen(self, ns, *ports, log=None):
        """Answers TCP at these ports of every address there (the name of a namespace, or a pid in it); UDP
        that arrives goes into the log."""
        words = ["nsenter", f"--net={place_of(ns)}", "--", sys.executable, HERE / "listener.py",
                 log or "/dev/null", *ports]
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


def place_of(namespace):
    """Of a pid, or of the name of a namespace."""
    return f"/proc/{namespace}/ns/net" if isinstance(namespace, int) else f"/run/netns/{namespace}"


def probe(namespace, probes, seconds=3):
    """What is reached from there (a pid, or the name of a namespace): for each [address, port, kind] an
    answer, "open" or the name of an error, and the seconds that it took."""
    p = run("nsenter", f"--net={place_of(namespace)}", "--", sys.executable, HERE / "prober.py",
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
