"""What happens to a run whose table of nft somebody else changes (network.md §9.6)."""
import os
import signal
import subprocess
import time

import pytest

from filtering import Mounts, configure, in_a_box, networks, note, sleeper, stop, supervisor, tables, warned
from internet import interfaces, until
from refusing import HANG, REFUSE, engine_without
from test_journal import journal

LOST_SECONDS = 1
CUT_SECONDS = 10  # that the engine has to do it
SLACK = 3  # of a machine that does other things, too


@pytest.fixture
def net(stage):
    if stage.engine.key != "P":
        pytest.skip("podman rootful lives in a namespace of the test")
    with in_a_box(stage) as net:
        configure(stage)
        yield net


def lost(pid):
    """Seconds until only loopback is left."""
    begin = time.monotonic()
    until(lambda: interfaces(pid) == {"lo"})
    return time.monotonic() - begin


def of(net, words):
    return [tables(net)[0] if w == "TABLE" else w for w in words.split()]


@pytest.mark.parametrize("words", ["flush table inet TABLE", "delete table inet TABLE", "flush ruleset",
                                   "add rule inet TABLE refuse counter"])
def test_cut_off(stage, net, words):
    handle, pid = sleeper(stage)
    net.at(net.box, "nft", *of(net, words))
    assert lost(pid) < LOST_SECONDS * SLACK
    until(lambda: warned(stage.status(handle), "egress_filter_lost"))
    assert stage.status(handle)["state"] == "running"
    until(lambda: note(stage, handle)["lost"])
    stop(stage, handle)
    assert [row for row in journal(stage) if row["kind"] == "egress_filter_lost"]


def test_an_engine_that_hangs(stage, net):
    """The sandbox is off, that is on record, and the supervisor goes on meanwhile."""
    with engine_without(stage, "disconnect", HANG):
        handle, pid = sleeper(stage)
        net.at(net.box, "nft", *of(net, "delete table inet TABLE"))
        assert lost(pid) < LOST_SECONDS * SLACK
        until(lambda: note(stage, handle)["lost"])
        begin = time.monotonic()
        stop(stage, handle)
        assert time.monotonic() - begin < CUT_SECONDS
        assert stage.status(handle)["outcome"] == "cancelled"


def test_killed_where_nothing_cuts_it_off(stage, net):
    with engine_without(stage, "disconnect", REFUSE):
        handle, _ = sleeper(stage, env={"CLOOP_FAULT": "guard:port"})
        net.at(net.box, "nft", *of(net, "delete table inet TABLE"))
        record = stage.wait(handle).record
        assert record["state"] == "killed" and record["code"] == "egress_filter_lost", record
        assert "not this time" in record["error"], record
        stage.home_is_free()
    kinds = [row["kind"] for row in journal(stage)]
    assert kinds.count("egress_filter_lost") == 1, kinds


def test_nft_that_says_nothing(stage, net):
    """Three listings in a row that fail are as bad as a table that is gone."""
    with Mounts(stage.engine) as mounts:
        handle, pid = sleeper(stage)
        with mounts.without_nft():
            net.at(net.box, "nft", "add", "table", "inet", "other")
            time.sleep(0.5)
            assert "eth0" in interfaces(pid), "one failure is none"
            lost(pid)
            until(lambda: warned(stage.status(handle), "egress_filter_lost"))
        stop(stage, handle)


def test_other_tables_are_none_of_its_business(stage, net):
    handle, pid = sleeper(stage)
    for words in ("add table inet other", "add chain inet other c", "delete table inet other"):
        net.at(net.box, "nft", *words.split())
    time.sleep(0.7)
    assert "eth0" in interfaces(pid) and not stage.status(handle)["warnings"]
    stop(stage, handle)


def test_lost_among_changes_of_others(stage, net):
    """Changes that come faster than it looks do not keep it from looking."""
    handle, pid = sleeper(stage)
    script = "while :; do nft add table inet other; nft delete table inet other; sleep 0.005; done"
    busy = subprocess.Popen(["ip", "netns", "exec", net.box, "sh", "-c", script])
    try:
        time.sleep(0.5)
        net.at(net.box, "nft", *of(net, "flush table inet TABLE"))
        assert lost(pid) < LOST_SECONDS * SLACK
    finally:
        busy.kill()
        busy.wait()
    stop(stage, handle)


def test_new_supervisor_guards_again(stage, net):
    handle, pid = sleeper(stage)
    os.kill(supervisor(stage, handle), signal.SIGKILL)
    stage.cloop("ps")
    until(lambda: stage.status(handle)["state"] == "running")
    supervisor(stage, handle)
    time.sleep(0.3)
    assert "eth0" in interfaces(pid)
    net.at(net.box, "nft", "flush", "ruleset")
    lost(pid)
    stop(stage, handle)


def test_lost_while_nobody_looked(stage, net):
    handle, pid = sleeper(stage)
    os.kill(supervisor(stage, handle), signal.SIGKILL)
    net.at(net.box, "nft", "flush", "ruleset")
    stage.cloop("ps")
    lost(pid)
    stop(stage, handle)


def test_reaped_after_the_death_of_all(stage, net):
    handle, _ = sleeper(stage)
    os.kill(supervisor(stage, handle), signal.SIGKILL)
    stage.engine.call("kill", stage.container_of(handle))
    stage.cloop("executor", "reap")
    stage.home_is_free()
    until(lambda: not networks(stage) and not tables(net))
