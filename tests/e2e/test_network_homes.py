"""Two homes on one engine: neither touches the other's networks, tables and locks (network.md §9.7, §17.8)."""
import hashlib
import json
import os
import pathlib
import signal

import pytest

from engines import IMAGE, network_backend
from filtering import configure, in_a_box, locks, networks, sleeper, stop, supervisor, tables, warned
from internet import interfaces, run, until
from test_two_homes import Home

pytestmark = pytest.mark.root

SHARED = "cloop-sbx-container"
BROKER = {"enabled": True, "internal": True, "broker": "10.66.7.9:80", "subnet_pool": "10.66.7.0/24"}


@pytest.fixture
def net(stage):
    if stage.engine.key != "P":
        pytest.skip("podman rootful lives in a namespace of the test")
    with in_a_box(stage) as net:
        yield net


def own_home(stage):
    return (stage.home / "id").read_text().strip()


@pytest.fixture
def other(stage):
    home = Home(stage, "second")
    home.answer("ps")
    return home


def test_of_the_dead(stage, net, other):
    """What a run of the one leaves when all of it is killed."""
    configure(stage)
    handle, _ = sleeper(stage)
    os.kill(supervisor(stage, handle), signal.SIGKILL)
    stage.engine.call("kill", stage.container_of(handle))
    [name], [table] = networks(stage), tables(net)
    r = other.cloop("run", "-C", stage.project, "--", "true")
    assert r.rc == 0, r
    until(lambda: not networks(stage, other.path) and tables(net) == [table])
    other.answer("executor", "reap")
    assert networks(stage) == [name] and tables(net) == [table]
    stage.cloop("executor", "reap")
    stage.home_is_free()


def test_of_the_living(stage, net, other):
    """The same name of a shared network: the second is refused, and the first goes on."""
    configure(stage, BROKER)
    handle, pid = sleeper(stage)
    [table], files = tables(net), sorted(locks())
    assert len(files) == 2
    r = other.cloop("run", "-C", stage.project, "--", "true")
    assert r.rc == 125 and b"is not ours" in r.err, r
    other.answer("executor", "reap")
    assert networks(stage) == [SHARED] and tables(net) == [table] and sorted(locks()) == files
    assert "eth0" in interfaces(pid) and not warned(stage.status(handle), "egress_filter_lost")
    stop(stage, handle)


def test_of_another_engine(stage, net):
    """The shared network of a home whose engine is another has the same table's name: who comes second is
    refused, and changes nothing of the first one's."""
    table = "cloop_sbx_" + hashlib.sha256(SHARED.encode()).hexdigest()[:16]
    theirs = ('table inet %s { comment "cloop %s %s"; chain to_host { drop; }; chain input { type filter hook input '
              'priority filter; policy accept; iifname "%s" goto to_host; }; }')
    configure(stage, BROKER)
    stage.answer("ps")
    run("ip", "-n", net.box, "link", "add", "br-theirs", "type", "bridge")
    for home, bridge, refused in (("0123456789abcdef", "br-gone", True), (own_home(stage), "br-theirs", True),
                                  (own_home(stage), "br-gone", False)):
        net.at(net.box, "nft", "-f", "-", input=theirs % (table, home, SHARED, bridge))
        before = net.at(net.box, "nft", "-s", "list", "table", "inet", table).stdout
        if refused:
            stage.refused("/bin/true", code="egress_network_conflict")
            assert net.at(net.box, "nft", "-s", "list", "table", "inet", table).stdout == before
            net.at(net.box, "nft", "delete", "table", "inet", table)
        else:
            assert stage.run("/bin/true").rc == 0
        stage.home_is_free()
        assert not networks(stage)


def test_shared_network_that_nobody_removed(stage, net, other):
    """`executor reap`: once it is old and no container is on it, with its table and its lock."""
    if network_backend() != "netavark":
        pytest.skip("the age of a network of CNI is its file's")
    configure(stage, BROKER)
    handle, _ = sleeper(stage)
    guest = stage.engine.call("create", f"--network={SHARED}", IMAGE, "true").strip()
    stop(stage, handle)
    assert networks(stage) == [SHARED] and len(tables(net)) == 1 and len(locks()) == 2
    stage.engine.call("rm", "--force", guest)
    stage.answer("executor", "reap")
    assert networks(stage) == [SHARED], "it is young"
    file = pathlib.Path("/etc/containers/networks") / f"{SHARED}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "created": "2026-01-01T00:00:00Z"}))
    other.answer("executor", "reap")
    assert networks(stage) == [SHARED]
    stage.answer("executor", "reap")
    until(lambda: not networks(stage) and not tables(net) and not locks())
