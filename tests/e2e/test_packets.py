"""The script of nft on real packets, without an engine (network.md §17.3): a host with a bridge for each of
two sandboxes, and an outside that has every address there is. No socket sends to most of the addresses that
are closed, so packets are written byte by byte, and what arrives is seen at the outside itself."""
import contextlib
import ipaddress
import json
import os
import socket
import subprocess

import pytest

from engines import BUILD
from internet import Internet, probe, run, until
from proxyproc import in_netns, listening
from wire import RST, Capture, send

pytestmark = pytest.mark.root

# network.md §5.1, §5.2.
METADATA = """100.100.100.200 168.63.129.16 169.254.0.23 169.254.42.42 169.254.169.252 169.254.169.254
    169.254.170.2 169.254.170.23 192.0.0.192 fd00:42::42 fd00:a9fe:a9fe::1 fd00:ec2::23 fd00:ec2::254
    fd20:ce::254 fe80::a9fe:a9fe""".split()
BLOCKS = """0.0.0.0/32 0.0.0.0/8 127.0.0.0/8 224.0.0.0/4 169.254.0.0/16 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16
    100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 192.88.99.0/24 198.18.0.0/15
    255.255.255.255/32 240.0.0.0/4 ::/128 ::1/128 ff00::/8 fe80::/10 fec0::/10 fc00::/7 100::/64 100:0:0:1::/64
    2001::/23 2001:db8::/32 3fff::/20 5f00::/16""".split()
TRANSLATION = "64:ff9b::/96 64:ff9b:1::/48 ::ffff:0:0:0/96 2002::/16 ::/96 2001::/32".split()
# A filter with a rule of every sort.
ALLOW, DENY = "10.8.0.0/24 198.18.5.0/24 fd00:8::/64 2002:a08::/32".split(), "8.8.8.0/24 10.8.0.128/25".split()
RESOLVER, BROKER = "9.9.9.9", "10.66.7.9"
FLAGS = ["--cidrs", ",".join(ALLOW), "--deny-cidrs", ",".join(DENY), "--ports", "80", "--resolver", RESOLVER,
         "--broker", f"{BROKER}:3128"]
FILTER = ["--internet", *FLAGS]
# Linux itself forwards nothing to these: here no filter makes a difference.
NOWHERE = "0.0.0.0/32 127.0.0.0/8 224.0.0.0/4 255.255.255.255/32 ::1/128 ff00::/8 fe80::/10".split()
LAST = [("93.184.217.9", 80, "tcp"), ("2606:4700::1111", 80, "tcp")]  # allowed; sent behind all others
POOL = "10.213.{}.{}", "fd63:6c6f:6f70:{}::{}"
CHECKS_AT_ONCE = 200


def edges(text):
    """First, last and one inside of a range, and its two neighbours."""
    net = ipaddress.ip_network(text)
    first, last = int(net[0]), int(net[-1])
    numbers = {first, last, (first + last) // 2 | 1, first - 1, last + 1}
    kind = type(net[0])
    return {str(kind(n)) for n in numbers if 0 <= n < 1 << net.max_prefixlen}


def every_edge():
    return sorted(set().union(*map(edges, [*METADATA, *BLOCKS, *TRANSLATION, *ALLOW, *DENY])))


def within(address, ranges):
    return any(ipaddress.ip_address(address) in ipaddress.ip_network(r) for r in ranges)


def forwarded(address):
    return not within(address, NOWHERE)


def opened(address, port, kind):
    """By the table of network.md §4.4, for the filter above."""
    if within(address, DENY):
        return False
    if (address, port, kind) == (BROKER, 3128, "tcp") or (address, port) == (RESOLVER, 53):
        return True
    return (kind, port) == ("tcp", 80) and not within(address, TRANSLATION) and (
        within(address, ALLOW) or not within(address, BLOCKS + METADATA))


def cloop(*words):
    env = {"PATH": os.environ["PATH"], "CLOOP_HOME": "/nonexistent", "CLOOP_CONFIG": "/nonexistent"}
    return subprocess.run([BUILD / "src/cli/cloop", "egress", "firewall", *words], env=env, capture_output=True,
                          text=True, timeout=60, check=False)


def allowed(probes, flags):
    """Those that cloop says may pass."""
    found = set()
    for i in range(0, len(probes), CHECKS_AT_ONCE):
        part = probes[i:i + CHECKS_AT_ONCE]
        checks = [word for a, p, k in part
                  for word in ("--check", f"[{a}]:{p}/{k}" if ":" in a else f"{a}:{p}/{k}")]
        answer = json.loads(cloop("--json", *flags, *checks).stdout)
        found |= {p for p, c in zip(part, answer["checks"]) if c["verdict"] == "allow"}
    return found


class Yard(Internet):
    # Public, so that no range that is asked about is the host's.
    uplink4 = ("93.184.216.1", "93.184.216.2")
    uplink6 = ("2a00:1450::1", "2a00:1450::2")

    def __init__(self):
        super().__init__()
        self.rooms = [f"cloop-e2e-room{n}-{os.getpid()}" for n in (0, 1)]
        self.namespaces += self.rooms
        self.port = 20000

    def prepare(self, ns):
        # Else nothing goes by IPv6 in the first seconds.
        self.sysctl(ns, "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0")

    def make(self):
        super().make()
        for n, room in enumerate(self.rooms):
            run("ip", "-n", self.box, "link", "add", f"br{n}", "type", "bridge")
            run("ip", "-n", self.box, "link", "add", f"port{n}", "master", f"br{n}", "type", "veth", "peer", "name",
                "eth0", "netns", room)
            for ns, link, host in ((self.box, f"br{n}", 1), (room, "eth0", 2)):
                run("ip", "-n", ns, "addr", "add", f"{POOL[0].format(n, host)}/28", "dev", link)
                run("ip", "-n", ns, "addr", "add", f"{POOL[1].format(n, host)}/64", "dev", link, "nodad")
                run("ip", "-n", ns, "link", "set", link, "up")
            run("ip", "-n", self.box, "link", "set", f"port{n}", "up")
            for family, pool in (("-4", POOL[0]), ("-6", POOL[1])):
                run("ip", "-n", room, family, "route", "add", "default", "via", pool.format(n, 1))
        run("ip", "-n", self.outside, "route", "add", "10.213.0.0/16", "via", self.uplink4[0])
        run("ip", "-n", self.outside, "route", "add", "fd63:6c6f:6f70::/48", "via", self.uplink6[0])

    def apply(self, flags=FILTER):
        """The tables of both rooms, as a driver applies them."""
        for n in (0, 1):
            r = cloop(*flags, "--format", "nft-bridge", "--bridge", f"br{n}", "--table", f"cloop_sbx_{n}")
            self.at(self.box, "nft", "-f", "-", input=r.stdout)

    def open(self):
        self.at(self.box, "nft", "flush", "ruleset")

    def arriving(self, probes, wanted):
        """What of them arrives outside, and what the first room hears back at once as resets."""
        self.port += 1
        probe(self.rooms[0], LAST)  # fills the caches of neighbours
        mac = json.loads(run("ip", "-n", self.box, "-j", "link", "show", "br0").stdout)[0]["address"]
        sources = [pool.format(0, 2) for pool in POOL]
        with Capture(self.outside) as out, Capture(self.rooms[0]) as back:
            send(self.rooms[0], "eth0", mac, sources, [*probes, *LAST], self.port)
            with contextlib.suppress(AssertionError):
                until(lambda: wanted | set(LAST) <= out.probes())
        asked = set(probes)
        return out.probes() & asked, {p for p in back.probes(RST, source=True) if p in asked}


@pytest.fixture(scope="module")
def yard():
    with Yard() as y:
        yield y


@pytest.fixture(autouse=True)
def nothing_left(yard):
    yield
    yard.quiet()
    yard.open()


def test_every_block(yard):
    """First, last, inside and just outside of every range that a rule has: what cloop says is what happens, and
    without the table all of it arrives that Linux forwards at all. A refusal of TCP comes back."""
    addresses = every_edge()
    probes = [(a, port, kind) for a in addresses for port, kind in ((80, "tcp"), (81, "tcp"), (80, "udp"))]
    probes += [(RESOLVER, 53, "tcp"), (RESOLVER, 53, "udp"), (RESOLVER, 54, "udp"), (BROKER, 3128, "tcp"),
               (BROKER, 3128, "udp"), (BROKER, 80, "tcp")]
    everything = {p for p in probes if forwarded(p[0])}
    assert len(probes) > 600 and len(everything) > 500
    assert yard.arriving(probes, everything)[0] == everything
    wanted = {p for p in probes if opened(*p)}
    assert len(wanted) > 60 and len(everything - wanted) > 400
    assert allowed(probes, FILTER) == wanted
    yard.apply()
    arrived, resets = yard.arriving(probes, wanted)
    assert arrived == wanted
    refused = {p for p in everything - wanted if p[2] == "tcp" and p[0] != "::"}  # which nothing comes from
    assert refused <= resets, refused - resets


MORE = "93.184.220.7 10.1.1.1 10.8.0.7 169.254.169.254 2a00:1451::7 fd00:8::7 fd00:ec2::254".split()
OF_THE_HOST = [Yard.uplink4[0], Yard.uplink6[0], *(pool.format(n, 1) for pool in POOL for n in (0, 1)), *MORE]


def test_the_host_is_not_the_internet(yard):
    """What the machine itself has is judged without the rule for the public Internet."""
    for word in ("add", "del"):
        for a in MORE:
            run("ip", "-n", yard.box, "addr", word, f"{a}/{128 if ':' in a else 32}", "dev", "lo")
        if word == "add":
            yard.listen(yard.box, 80, 22)
            probes = [(a, port, "tcp") for a in OF_THE_HOST for port in (80, 22)]
            assert {got for got, _ in probe(yard.rooms[0], probes)} == {"open"}
            yard.apply()
            found = {p for p, (got, _) in zip(probes, probe(yard.rooms[0], probes)) if got == "open"}
            assert found == allowed(probes, FLAGS) == {("10.8.0.7", 80, "tcp"), ("fd00:8::7", 80, "tcp")}


def test_nobody_comes_in(yard):
    """From outside and from the neighbour; the host itself may."""
    rooms = [[(pool.format(n, 2), 80, "tcp") for pool in POOL] for n in (0, 1)]
    for room in yard.rooms:
        yard.listen(room, 80)
    ways = [(yard.outside, rooms[0]), (yard.rooms[0], rooms[1]), (yard.rooms[1], rooms[0])]
    for filtered, expected in ((False, "open"), (True, "ECONNREFUSED")):
        if filtered:
            yard.apply()
        for way, probes in ways:
            assert {got for got, _ in probe(way, probes)} == {expected}, (way, filtered)
        assert {got for got, _ in probe(yard.box, rooms[0])} == {"open"}


def test_ipv6_with_empty_caches(yard):
    """Neighbour discovery passes, though multicast and link-local addresses do not."""
    yard.apply()
    yard.listen(yard.outside, 80)
    for ns in (yard.box, yard.rooms[0]):
        run("ip", "-n", ns, "neigh", "flush", "all")
    assert [got for got, _ in probe(yard.rooms[0], LAST)] == ["open", "open"]


def test_what_is_established_goes_on(yard):
    """Where a table comes that allows less, connections go on and new ones are refused."""
    yard.apply()
    with in_netns(yard.outside, lambda: listening("0.0.0.0", 80)) as server:
        def connect():
            return in_netns(yard.rooms[0], lambda: socket.create_connection(("1.1.1.1", 80), timeout=30))
        with connect() as client, server.accept()[0] as peer:
            yard.apply(["--internal"])
            for one, other in ((client, peer), (peer, client)):
                one.sendall(b"still there")
                other.settimeout(30)
                assert other.recv(100) == b"still there"
            assert probe(yard.rooms[0], [("1.1.1.1", 80, "tcp")])[0][0] == "ECONNREFUSED"


def test_inside_the_namespace(yard):
    """The form for a namespace of its own, on the sockets there."""
    yard.listen(yard.outside, 80, 81)
    probes = [(a, port, "tcp") for a in every_edge() if forwarded(a) for port in (80, 81)]
    wanted = allowed(probes, FILTER)
    script = cloop(*FILTER, "--format", "nft").stdout
    try:
        yard.at(yard.rooms[0], "nft", "-f", "-", input=script)
        answers = dict(zip(probes, probe(yard.rooms[0], probes)))
    finally:
        yard.at(yard.rooms[0], "nft", "flush", "ruleset")
    assert {p for p, (got, _) in answers.items() if got == "open"} == wanted
    assert "timeout" not in {got for got, _ in answers.values()}
