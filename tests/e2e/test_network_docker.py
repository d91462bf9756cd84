"""What docker's networks must be, too: its daemon lives in the host's own namespace, so what answers is a
namespace at the end of a pair of the test, and nothing else is asked."""
import contextlib
import json
import os
import signal

import pytest

from filtering import configure, locks, networks, note, plain, rendered, rules, sleeper, stop, supervisor, warned
from internet import addresses, interfaces, place_of, probe, run, until
from test_journal import journal
from wire import Capture

NAME = f"ce2e{os.getpid()}"
OUTSIDE = "10.99.77.2"
OURS = {"enabled": True, "allow_cidrs": [f"{OUTSIDE}/32"], "allow_ports": ["80"]}


def tables(stage):
    home = (stage.home / "id").read_text().strip()
    rules = run("nft", "list", "ruleset", "inet").stdout
    return [line for line in rules.splitlines() if f'comment "cloop {home} ' in line]


@pytest.fixture
def outside(stage):
    if stage.engine.key != "D":
        pytest.skip("of docker")
    run("ip", "netns", "add", NAME)
    try:
        run("ip", "link", "add", NAME, "type", "veth", "peer", "name", "uplink", "netns", NAME)
        run("ip", "addr", "add", "10.99.77.1/30", "dev", NAME)
        run("ip", "link", "set", NAME, "up")
        run("ip", "-n", NAME, "addr", "add", f"{OUTSIDE}/30", "dev", "uplink")
        run("ip", "-n", NAME, "link", "set", "uplink", "up")
        run("ip", "-n", NAME, "link", "set", "lo", "up")
        run("ip", "-n", NAME, "route", "add", "default", "via", "10.99.77.1")
        yield NAME
        until(lambda: not tables(stage) and not networks(stage))
    finally:
        with contextlib.suppress(AssertionError):
            run("ip", "link", "del", NAME)
        run("ip", "netns", "del", NAME, check=False)


@contextlib.contextmanager
def listening(namespace, port):
    import subprocess
    import sys
    from internet import HERE
    words = ["nsenter", f"--net={place_of(namespace)}", "--"] if namespace else []
    p = subprocess.Popen([*words, sys.executable, str(HERE / "listener.py"), "/dev/null", str(port)],
                         stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    try:
        yield
    finally:
        p.kill()
        p.wait()
        p.stdout.close()


def test_filtered(stage, outside):
    """The one address that is open, the host that is not, and a neighbour."""
    configure(stage, OURS)
    (one, pid), (two, other) = (sleeper(stage) for _ in range(2))
    gateway = json.loads((stage.home / "runs" / one / "network.json").read_text())["gateway"]
    with listening(outside, 80), listening(None, 8099), listening(other, 8099):
        probes = [[OUTSIDE, 80, "tcp"], [OUTSIDE, 81, "tcp"], [gateway, 8099, "tcp"],
                  ["10.99.77.1", 8099, "tcp"], ["169.254.169.254", 80, "tcp"],
                  [addresses(other)[0], 8099, "tcp"]]
        got = [answer for answer, _ in probe(pid, probes)]
    assert got[0] == "open" and not {"open", "timeout"} & set(got[1:]), got
    table = run("nft", "list", "tables").stdout.split()
    mine = [t for t in table if t.startswith("cloop_sbx_") and f'"cloop {home(stage)} ' in
            run("nft", "list", "table", "inet", t).stdout]
    assert len(mine) == 2
    # test_packets.py shows what these rules do with every address that matters.
    bridges = {t: note(stage, h)["bridge"] for t in mine for h in (one, two)
               if f'"{note(stage, h)["bridge"]}"' in run("nft", "list", "table", "inet", t).stdout}
    for table, bridge in bridges.items():
        assert rules([], table) == rendered(stage, ["ip", "netns", "exec", outside], table, bridge)
    run("nft", "delete", "table", "inet", mine[0])
    until(lambda: {"lo"} in (interfaces(pid), interfaces(other)))
    cut = one if interfaces(pid) == {"lo"} else two
    until(lambda: warned(stage.status(cut), "egress_filter_lost"))
    assert stage.status(cut)["state"] == "running"
    stop(stage, one, two)
    assert [row["run"] for row in journal(stage) if row["kind"] == "egress_filter_lost"] == [cut]


def home(stage):
    return (stage.home / "id").read_text().strip()


def test_internal_and_names(stage, outside):
    """docker's own resolver asks from the host's namespace: nobody may be asked at all."""
    configure(stage, {"enabled": True, "internal": True})
    handle, pid = sleeper(stage)
    with listening(outside, 80):
        [(got, _)] = probe(pid, [[OUTSIDE, 80, "tcp"]], seconds=1)
    assert got != "open"
    stop(stage, handle)
    canary = f"canary{os.getpid()}"
    with Capture(os.getpid(), 53) as seen:
        r = stage.sh(f"timeout 2 nslookup {canary}.example")
    assert r.rc != 0 and not seen.has(canary.encode()), r
    stage.home_is_free()
    stage.engine.call("network", "create", "--subnet=10.99.77.64/28", NAME)
    try:
        with Capture(os.getpid(), 53) as seen:
            plain(stage, NAME, "sh", "-c", f"timeout 2 nslookup {canary}.example")
        assert seen.has(canary.encode()), "it would not be seen"
    finally:
        stage.engine.call("network", "rm", NAME)


def test_pool(stage, outside):
    """What the host uses is left out, though docker itself takes it; then no subnet is left."""
    configure(stage, {**OURS, "subnet_pool": "10.99.77.0/27"})
    handle, pid = sleeper(stage)
    assert 16 < int(addresses(pid)[0].split(".")[3]) < 32
    stage.refused("/bin/true", code="egress_subnet_exhausted")
    stop(stage, handle)


def test_killed_and_reaped(stage, outside):
    """Supervisor and container die: what is left goes at the next look."""
    configure(stage, OURS)
    handle, _ = sleeper(stage)
    os.kill(supervisor(stage, handle), signal.SIGKILL)
    stage.engine.call("kill", stage.container_of(handle))
    assert len(networks(stage)) == len(tables(stage)) == 1
    stage.cloop("executor", "reap")
    stage.home_is_free()
    until(lambda: not networks(stage) and not tables(stage) and not locks())
    assert stage.status(handle)["state"] != "running"
