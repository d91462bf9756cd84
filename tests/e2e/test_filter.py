"""The egress filter of a run, on real packets (network.md §9, §17)."""
import json
import os
import signal
import subprocess

import pytest

import crashing
from engines import children
from filtering import (FILTER, INTERNAL, Mounts, configure, in_a_box, networks, note, plain, rendered, rules, sleeper,
                       stop, supervisor, tables, warned)
from internet import addresses, interfaces, probe, until
from wire import Capture

pytestmark = pytest.mark.root

# One address of every class that is closed, and of the Internet.
CLOSED = """10.1.2.3 172.16.9.9 192.168.7.7 100.64.1.1 100.100.100.200 168.63.129.16 169.254.0.23
    169.254.42.42 169.254.169.252 169.254.169.254 169.254.170.2 169.254.170.23 169.254.1.1 192.0.0.192
    192.0.0.8 192.0.2.1 198.51.100.77 203.0.113.1 192.88.99.1 198.18.0.1 198.19.255.254 240.0.0.1
    255.255.255.255 224.0.0.1 0.0.0.1 fd00:42::42 fd00:a9fe:a9fe::1 fd00:ec2::23 fd00:ec2::254
    fd20:ce::254 fd12:3456::1 fec0::1 100::1 100:0:0:1::1 2001:4::1 2001:db8::1 3fff::1 5f00::1
    64:ff9b::a00:1 64:ff9b::5db8:d822 64:ff9b:1::a00:1 2002:a00:1::1 2001::1 ::10.1.2.3
    ::ffff:0:10.1.2.3 ff0e::1""".split()
OPEN = "93.184.216.34 1.1.1.1 8.8.8.8 100.128.0.1 172.32.0.1 2606:4700::1111 2620:fe::fe".split()


@pytest.fixture
def net(stage):
    if stage.engine.key != "P":
        pytest.skip("podman rootful lives in a namespace of the test")
    with in_a_box(stage) as net:
        yield net


def check(stage, probes):
    """What cloop says that the filter does with them."""
    texts = [f"[{a}]:{p}/{k}" if ":" in a else f"{a}:{p}/{k}" for a, p, k in probes]
    flags = [word for text in texts for word in ("--check", text)]
    answer = json.loads(stage.cloop("egress", "firewall", "--json", *flags).out)
    return [c["verdict"] == "allow" for c in answer["checks"]]


def test_verdicts_are_what_packets_meet(stage, net):
    """Every class, both families, allowed and other ports; and the sandbox seen from outside."""
    configure(stage, {**FILTER, "ipv6": True, "resolvers": ["9.9.9.9"], "allow_cidrs": ["10.8.0.0/24"],
                      "deny_cidrs": ["8.8.8.8/32"]})
    handle, pid = sleeper(stage)
    log = stage.dir / "udp.log"
    net.listen(net.outside, 53, 80, 443, log=log)
    probes = [[a, port, "tcp"] for a in [*CLOSED, *OPEN, "10.8.0.7"] for port in (80, 443)]
    probes += [["9.9.9.9", 53, "tcp"], ["1.1.1.1", 53, "tcp"]]
    for p, wanted, (got, seconds) in zip(probes, check(stage, probes), probe(pid, probes)):
        assert (got == "open") == wanted, (p, wanted, got)
        assert got != "timeout", p
    probe(pid, [["9.9.9.9", 53, "udp"], ["1.1.1.1", 53, "udp"], ["10.8.0.7", 80, "udp"]])
    until(lambda: log.stat().st_size > 0)
    assert len(log.read_text().splitlines()) == 1
    inside = [a for a in addresses(pid) if not a.startswith("fe80")]
    assert len(inside) == 2
    net.listen(pid, 80)
    net.at(net.outside, "ip", "route", "add", "10.213.0.0/16", "via", "198.51.100.1")
    for got, _ in probe(net.outside, [[a, 80, "tcp"] for a in inside]):
        assert got in ("ECONNREFUSED", "EHOSTUNREACH", "EACCES"), got
    assert probe(net.box, [[inside[0], 80, "tcp"]])[0][0] == "open"
    # test_packets.py shows what these rules do with every address that matters.
    [table], there, here = tables(net), ["ip", "netns", "exec", net.box], ["ip", "netns", "exec", net.outside]
    assert rules(there, table) == rendered(stage, here, table, note(stage, handle)["bridge"])
    stop(stage, handle)


def test_scope_public(stage, net):
    """The Internet at every port and the section's resolver; what the section allows besides is left out."""
    held = stage.answer("egress", "grant", "--to", f"project:{stage.project}", "--hosts", "a.example")["id"]
    configure(stage, {"enabled": False, "resolvers": ["9.9.9.9"], "allow_cidrs": ["10.8.0.0/24"],
                      "allow_ports": ["80"]})
    stage.spec({"capabilities": {"egress": "public", "network": held}})
    (handle, pid), (other, neighbour) = (sleeper(stage) for _ in range(2))
    log = stage.dir / "udp.log"
    net.listen(net.outside, 53, 80, 8080, log=log)
    net.listen(net.box, 80)
    v4 = [a for a in OPEN if ":" not in a]
    hosts = [note(stage, h)["gateway"] for h in (handle, other)]
    closed = [a for a in CLOSED if ":" not in a] + ["10.8.0.7", *hosts, *addresses(neighbour)]
    probes = [[a, port, "tcp"] for a in v4 for port in (80, 8080)] + [[a, 80, "tcp"] for a in closed]
    for p, (got, _) in zip(probes, probe(pid, probes)):
        assert (got == "open") == (p[0] in v4) and got != "timeout", (p, got)
    probe(pid, [["1.1.1.1", 53, "udp"], ["1.1.1.1", 80, "udp"], ["9.9.9.9", 80, "udp"],
                ["9.9.9.9", 53, "udp"]])
    until(lambda: log.stat().st_size > 0)
    assert len(log.read_text().splitlines()) == 1
    stop(stage, handle, other)


def test_neighbours_and_the_host_are_out_of_reach(stage, net):
    """Two runs at a time are on two networks; the gateway and other addresses of the host are closed."""
    configure(stage, {**FILTER, "ipv6": True})
    runs = [sleeper(stage) for _ in range(2)]
    net.listen(net.box, 80, 22)
    for _, pid in runs:
        net.listen(pid, 80)
    assert len(networks(stage)) == len(tables(net)) == 2
    for (_, pid), (_, other) in (runs, runs[::-1]):
        theirs = [a for a in addresses(other)]
        gateways = json.loads(net.at(net.box, "ip", "-j", "addr").stdout)
        hosts = [a["local"] for i in gateways for a in i["addr_info"]
                 if i["ifname"] != "lo" and not a["local"].startswith("fe80")]
        probes = [[a, 80, "tcp"] for a in theirs + hosts if not a.startswith("fe80")]
        assert len(probes) > 6
        for p, (got, _) in zip(probes, probe(pid, probes)):
            assert got not in ("open", "timeout"), (p, got)
        for address in (a + "%eth0" for a in theirs if a.startswith("fe80")):
            assert probe(pid, [[address, 80, "tcp"]], seconds=1)[0][0] != "open"
    stop(stage, *(handle for handle, _ in runs))


def test_no_address_without_ipv6(stage, net):
    configure(stage)
    handle, pid = sleeper(stage)
    assert len(addresses(pid)) == 1
    stop(stage, handle)


def test_names(stage, net):
    """Without a resolver a look-up fails at once and nobody hears of it; with one only that is asked."""
    log = stage.dir / "udp.log"
    net.listen(net.box, 53, log=log)
    zone = [net.outside, "dnsmasq", "--no-daemon", "--no-resolv", "--no-hosts", "--log-facility=-",
            "--bind-interfaces", "--listen-address=9.9.9.9", "--address=/canary.example/93.184.216.34"]
    configure(stage)
    r = stage.sh("nslookup canary.example; echo $?; cat /etc/resolv.conf")
    assert b"93.184.216.34" not in r.out and b"nameserver 127.0.0.1" in r.out, r
    assert r.record["usage"]["wall_ms"] < 3000
    net.at(net.outside, "ip", "addr", "add", "9.9.9.9/32", "dev", "lo")
    server = subprocess.Popen(["ip", "netns", "exec", *zone], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        configure(stage, {**FILTER, "resolvers": ["9.9.9.9"]})
        r = stage.sh("for i in 1 2 3 4 5; do nslookup canary.example && break; sleep 0.3; done")
        assert b"93.184.216.34" in r.out, r
    finally:
        server.kill()
        server.wait()
    assert log.read_text() == ""
    stage.home_is_free()


@pytest.mark.parametrize("resolver", ["127.0.0.53", "9.9.9.9"])
def test_no_query_leaves_the_host(stage, net, resolver):
    """Wherever the host's own resolver is: a look-up of a program ends in the sandbox, and one that asks a server
    by itself on the host."""
    conf, log = stage.write("resolv.conf", f"nameserver {resolver}\n"), stage.dir / "udp.log"
    net.listen(net.box, 53, log=log)
    with Mounts(stage.engine) as mounts:
        mounts.over(conf, "/etc/resolv.conf")
        configure(stage, INTERNAL)
        handle, pid = sleeper(stage)
        servers = ["9.9.9.9", "198.51.100.1", note(stage, handle)["gateway"]]
        with Capture(net.box, 53) as seen, Capture(net.outside, 53) as out:
            for rules_ in (INTERNAL, FILTER):
                configure(stage, rules_)
                stage.sh("nslookup canary.example")
            probe(pid, [[a, 53, "udp"] for a in servers])
        assert not seen.has(b"canary") and not out.rows and log.read_text() == ""
        assert seen.has(b"probe"), "nothing was to be seen at all"
        stop(stage, handle)
        if resolver == "9.9.9.9":
            with Capture(net.outside, 53) as out:
                plain(stage, "podman", "sh", "-c", "timeout 3 nslookup canary.example")
            assert out.has(b"canary")


def test_internal(stage, net):
    """No route off the host, and with nft not even the gateway."""
    configure(stage, INTERNAL)
    handle, pid = sleeper(stage)
    net.listen(net.outside, 80)
    net.listen(net.box, 80, 53)
    gateway = json.loads((stage.home / "runs" / handle / "network.json").read_text())["gateway"]
    probes = [[a, 80, "tcp"] for a in (*OPEN, "10.1.1.1", "198.51.100.1", gateway)]
    assert not [p for p, (got, _) in zip(probes, probe(pid, probes)) if got in ("open", "timeout")]
    stop(stage, handle)


def test_internal_without_nft(stage, net):
    """It works all the same, and says what is open."""
    configure(stage, INTERNAL)
    with Mounts(stage.engine) as mounts:
        with mounts.without_nft():
            told = stage.cloop("executor", "test").out
            handle, pid = sleeper(stage)
        assert b"internal_host_open" in told, told
        assert warned(stage.status(handle), "internal_host_open") and not tables(net)
        net.listen(net.outside, 80)
        net.listen(net.box, 80)
        got = [g for g, _ in probe(pid, [[note(stage, handle)["gateway"], 80, "tcp"], *([a, 80, "tcp"] for a in OPEN)])]
        assert got[0] == "open" and not {"open", "timeout"} & set(got[1:]), got
        stop(stage, handle)


def test_pool(stage, net):
    """What the host uses is left out; where nothing is left the run says so, and leaves nothing."""
    net.at(net.box, "ip", "addr", "add", "10.77.0.1/28", "dev", "lo")
    configure(stage, {**FILTER, "subnet_pool": "10.77.0.0/27"})
    handle, pid = sleeper(stage)
    assert addresses(pid)[0].startswith("10.77.0.")
    assert 16 < int(addresses(pid)[0].split(".")[3]) < 32
    stage.refused("/bin/true", code="egress_subnet_exhausted")
    assert len(networks(stage)) == len(tables(net)) == 1
    assert interfaces(pid) == {"lo", "eth0"}
    stop(stage, handle)


@pytest.mark.parametrize("point", ["network:recorded", "network:made", "network:applied",
                                   "start:9-files", "start:11-called"])
def test_failed_starts_leave_nothing(stage, net, point):
    configure(stage)
    for action in ("fail", "kill"):
        r = stage.run("/bin/true", env={"CLOOP_FAULT": f"{point}={action}"})
        assert r.rc == 125, r
    stage.cloop("ps", "--all")
    stage.home_is_free()


def test_operators_own_resolvers_are_left_out(stage, net):
    configure(stage, extra_args=["--dns=10.9.9.9"])
    explained = stage.answer("sandbox", "explain", "-C", stage.project, "--", "true")
    assert explained["network"]["mode"] == "run" and explained["network"]["filter"] == "filtered"
    assert not networks(stage)
    r = stage.sh("cat /etc/resolv.conf")
    assert b"10.9.9.9" not in r.out and warned(r.record, "extra_dns_ignored"), r


def test_rootless_refuses_a_filter(stage):
    """Before anything is made: packets of a rootless engine never come by the host's rules."""
    if stage.engine.key != "R":
        pytest.skip("of the rootless engine")
    configure(stage)
    r = stage.refused("/bin/true", code="executor_unsupported")
    assert b"rootful" in r.err and not stage.run_dirs()
    stage.spec({"env": []})
    assert stage.run("/bin/true").rc == 0


BROKER = {"enabled": True, "internal": True, "broker": "10.66.7.9:80"}


POOL = "10.66.7.0/24"
SHARED = "cloop-sbx-container"


def test_shared_with_a_broker(stage, net):
    """One network for all: the broker is reached, the host and a neighbour are not."""
    configure(stage, {**BROKER, "subnet_pool": POOL})
    (one, pid), (two, other) = (sleeper(stage) for _ in range(2))
    [name] = networks(stage)
    assert name == SHARED and len(tables(net)) == 1
    stage.engine.call("run", "--detach", "--name=broker", f"--network={name}", "--ip=10.66.7.9",
                      *([f"--runtime={stage.engine.oci_runtime}"] if stage.engine.oci_runtime else []),
                      "--ulimit=nofile=256:256", "--ulimit=nproc=256:256", "--cgroupns=private",
                      "localhost/cloop-e2e:1", "/bin/sh", "-c", "while :; do nc -l -p 80; done")
    try:
        net.listen(net.box, 80)
        net.listen(other, 80)
        # By their ports alone: the rules do not see what a bridge forwards, unless br_netfilter shows it to them.
        net.at(net.box, "sysctl", "-q", "-w", "net.bridge.bridge-nf-call-iptables=0", check=False)
        neighbour = addresses(other)[0]
        until(lambda: probe(pid, [["10.66.7.9", 80, "tcp"]])[0][0] == "open")
        got = [g for g, _ in probe(pid, [["10.66.7.1", 80, "tcp"], [neighbour, 80, "tcp"]], seconds=1)]
        assert "open" not in got and got[0] != "timeout", got
        assert not warned(stage.status(two), "neighbours_open")
        stop(stage, one, two)
        assert networks(stage) == [name], "the broker is still on it"
        assert len(tables(net)) == 1
    finally:
        stage.engine.call("rm", "--force", "--time=0", "broker")
    handle, _ = sleeper(stage)
    stop(stage, handle)
    assert not networks(stage)


def test_what_a_neighbour_knows_is_neither_asked_nor_applied_again(stage, net):
    """As long as it lives on the network, and the bridge and the table are those that it knows."""
    configure(stage, {**BROKER, "subnet_pool": POOL})
    one, _ = sleeper(stage)
    file = stage.home / "runs" / one / "network.json"
    known = note(stage, one)
    assert known["ifindex"] > 0 and known["bits"] == 24, known

    def table():
        found = json.loads(net.at(net.box, "nft", "-j", "-a", "list", "tables").stdout)["nftables"]
        return [t["table"]["handle"] for t in found if "cloop_sbx_" in t.get("table", {}).get("name", "")]

    def the_next(**changed):
        """The prefix that it took for the network's, and whether it applied the table anew."""
        before = table()
        file.write_text(json.dumps({**known, "bits": 25, **changed}))
        handle, pid = sleeper(stage)
        assert not warned(stage.status(handle), "neighbours_open")
        bits = note(stage, handle)["bits"]
        assert probe(pid, [[known["gateway"], 80, "tcp"]])[0][0] != "open"
        after = table()
        stage.answer("stop", "--grace", "0", handle)
        until(lambda: not (stage.home / "runs" / handle / "network.json").exists())
        return bits, before != after

    net.listen(net.box, 80)
    assert the_next() == (25, False)
    for stale in ({"ifindex": known["ifindex"] + 1}, {"bridge": "none0"}, {"boot_id": "another"},
                  {"engine": "another"}, {"lost": True}):
        assert the_next(**stale) == (24, True), stale
    for stale in ({"script": "0" * 64}, {"fingerprint": "0" * 64}):
        assert the_next(**stale) == (25, True), stale
    file.write_text(json.dumps(known))
    stop(stage, one)


def test_network_of_another(stage, net):
    """A network of our name that is not ours is neither used nor removed."""
    configure(stage, {**BROKER, "subnet_pool": POOL})
    stage.engine.call("network", "create", "--internal", "--subnet=10.66.9.0/24", SHARED)
    try:
        stage.refused("/bin/true", code="egress_network_conflict")
        assert SHARED in stage.engine.lines("network", "ls", "--format={{.Name}}")
    finally:
        stage.engine.call("network", "rm", SHARED)


def test_network_of_the_operator(stage, net):
    """One with our labels is used as it is: the host has one address in it, with its own prefix."""
    configure(stage, {**BROKER, "subnet_pool": POOL})
    assert stage.cloop("ps").rc == 0
    home = (stage.home / "id").read_text().strip()
    labels = ("managed=true", "executor=container", f"home={home}")
    stage.engine.call("network", "create", "--internal", "--disable-dns", "--subnet=10.66.10.0/26",
                      "--gateway=10.66.10.1", *(f"--label=cloop.{label}" for label in labels), SHARED)
    handle, pid = sleeper(stage)
    assert addresses(pid)[0].startswith("10.66.10.")
    shown = json.loads(net.at(net.box, "ip", "-j", "-4", "addr", "show", note(stage, handle)["bridge"]).stdout)
    assert [(a["local"], a["prefixlen"]) for a in shown[0]["addr_info"]] == [("10.66.10.1", 26)]
    stop(stage, handle)


def test_network_of_another_after_a_crash(stage, net):
    """What came under the name of a run's network while nobody looked is not removed."""
    configure(stage)
    r = stage.run("/bin/true", env={"CLOOP_FAULT": "network:recorded=kill"})
    assert r.rc == 125, r
    [handle] = stage.run_dirs()
    name = note(stage, handle.name)["name"]
    stage.engine.call("network", "create", "--subnet=10.66.11.0/24", name)
    try:
        stage.cloop("ps", "--all")
        stage.home_is_free()
        assert name in stage.engine.lines("network", "ls", "--format={{.Name}}")
    finally:
        stage.engine.call("network", "rm", name)


SPACES = ("isolated", {"enabled": True, "internal": True}), ("filtered", FILTER)


@pytest.mark.parametrize("kind,rules", SPACES, ids=[kind for kind, _ in SPACES])
def test_only_the_proxy_is_open(stage, net, kind, rules):
    """A run with a grant reaches its own proxy at the gateway, and nothing else of the host."""
    configure(stage, rules)
    grant = stage.answer("egress", "grant", "--to", f"project:{stage.project}", "--hosts",
                         "93.184.216.34", "--ports", "80")["id"]
    stage.spec({"capabilities": {"network": grant}})
    net.listen(net.outside, 80)
    net.listen(net.box, 80)
    handle, pid = sleeper(stage)
    proxy = note(stage, handle)["proxy"]
    gateway, port = proxy.rsplit(":", 1)
    probes = [[gateway, int(port), "tcp"], [gateway, 80, "tcp"], ["198.51.100.1", int(port), "tcp"],
              ["10.1.1.1", 80, "tcp"]]
    probes += [["198.51.100.1", 80, "tcp"]]
    got = [answer for answer, _ in probe(pid, probes)]
    assert got[0] == "open" and not {"open", "timeout"} & set(got[1:]), got
    # Killed, it leaves nothing open.
    [egress] = [p for p in children(supervisor(stage, handle)) if crashing.words_of(p)[:1] == [b"cloop-egress"]]
    os.kill(egress, signal.SIGKILL)
    until(lambda: warned(stage.status(handle), "egress_proxy_failed"))
    assert not {"open", "timeout"} & {answer for answer, _ in probe(pid, probes)}
    stop(stage, handle)
    r = stage.sh("wget -q -O - http://93.184.216.34/ 2>&1; echo; echo $HTTP_PROXY | cut -d@ -f2")
    assert r.rc == 0 and b"10.213." in r.out, r
    stage.home_is_free()
