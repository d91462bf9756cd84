"""Egress grants: who holds one, what a run gets by it, and how it ends (network.md §11-§14)."""
import base64
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import time

import pytest

import crashing
import egressing
import granting
from engines import IMAGE, children, once


def allow(stage, *options, to=None):
    """A grant's answer."""
    return stage.answer("egress", "grant", "--to", to or f"project:{stage.project}", *options)


def name(stage, grant, **more):
    stage.spec({"capabilities": {"network": grant, **more}})


def refused(stage, *options):
    r = stage.run("true", options=options)
    assert r.rc == 125, r
    return r


# Grants.

def test_made_shown_and_revoked(stage):
    g = allow(stage, "--hosts", "B.example.org.,*.a.example.org", "--ports", "443", "--max-up", "64k",
              "--scope", "web")
    assert re.fullmatch("egress_[0-9a-f]{24}", g["id"])
    assert g["policy"] == "hosts=*.a.example.org|b.example.org ports=443 methods=* up<=64k"
    newer = allow(stage, "--cidrs", "10.0.0.0/8", to="any")
    assert "10.0.0.0/8" in newer["notes"][0]
    r = stage.cloop("egress", "grant", "--to", "any", "--hosts", "*")
    third = r.out.split()[0].decode()
    assert r.out.decode().splitlines()[-1] == f"capabilities.network: {third}"

    rows = stage.answer("egress", "list")["grants"]
    assert [row["id"] for row in rows] == [third, newer["id"], g["id"]]
    mine = stage.answer("egress", "list", "--to", f"project:{stage.project}/")["grants"]
    assert [row["id"] for row in mine] == [g["id"]]

    for _ in range(2):
        got = stage.answer("egress", "revoke", g["id"])
        assert (got["state"], got["known"]) == ("revoked", False)
    assert g["id"] not in json.dumps(stage.answer("egress", "list"))
    rows = {row["id"]: row for row in stage.answer("egress", "list", "--all")["grants"]}
    assert rows[g["id"]]["status"] == "revoked"
    assert granting.actions(stage) == ["egress.grant"] * 3 + ["egress.revoke"]
    kinds = [row["kind"] for row in stage.answer("journal", "-C", stage.project)["rows"]]
    assert kinds == ["egress.grant", "egress.revoke"]


def test_refused_grants(stage):
    rows = [
        (["--hosts", "a.example", "--to", "me"], "grant_subject_invalid"),
        ([], "egress_grant_empty"),
        (["--hosts", "http://a.example"], "egress_host_invalid"),
        (["--cidrs", "169.254.0.0/16"], "egress_cidr_metadata"),
        (["--hosts", "a.example", "--ports", "443,0"], "egress_port_invalid"),
        (["--hosts", "a.example", "--ports", "443\n"], "egress_port_invalid"),
        (["--hosts", "a.example", "--scope", "a\x9bb"], "egress_grant_invalid"),
        (["--hosts", "a.example", "--methods", "GE T"], "egress_method_invalid"),
        (["--hosts", "a.example", "--max-down", "-1"], "egress_quota_invalid"),
        (["--hosts", "a.example", "--session-ttl", "5h"], "egress_ttl_invalid"),
        (["--hosts", "a.example", "--ttl", "10s"], "ttl_out_of_range"),
        (["--hosts", ",".join(f"h{i}.example" for i in range(257))], "egress_too_many"),
    ]
    for options, code in rows:
        to = [] if "--to" in options else ["--to", "any"]
        got = stage.answer("egress", "grant", *to, *options, status=1)
        assert got["code"] == code and got["remediation"], (options, got)
    got = stage.answer("egress", "revoke", "egress_" + "0" * 24, status=1)
    assert (got["code"], got["status"]) == ("egress_grant_not_found", 404)
    assert stage.answer("egress", "list", "--all")["grants"] == []


def test_in_packets(stage):
    g = allow(stage, "--cidrs", "10.1.0.0/16", "--ports", "443")
    for probe, verdict in [("10.1.2.3:443", "allow"), ("10.1.2.3:80", "drop"), ("9.9.9.9:443", "drop")]:
        got = stage.answer("egress", "firewall", "--grant", g["id"], "--check", probe,
                           status=verdict == "drop")
        assert got["verdict"] == verdict, probe
    g = allow(stage, "--hosts", "a.example")
    assert stage.answer("egress", "firewall", "--grant", g["id"], "--check", "9.9.9.9:443")["verdict"] == "allow"
    got = stage.answer("egress", "firewall", "--cidrs", "10.0.0.0/8\n", "--ports", "80", status=1)
    assert got["code"] == "egress_cidr_invalid"
    got = stage.answer("egress", "firewall", "--grant", "egress_" + "0" * 24, status=1)
    assert got["code"] == "egress_grant_not_found"


def test_a_stored_grant_that_is_none(stage):
    g = allow(stage, "--cidrs", "10.1.0.0/16")
    assert "firewall.metadata" not in json.dumps(stage.cloop("doctor", "--json").out.decode())
    with sqlite3.connect(stage.home / "state.db") as db:
        db.execute("UPDATE egress_grant SET policy = replace(policy, '10.1.0.0', '169.254.0.0')")
    db.close()
    checks = json.loads(stage.cloop("doctor", "--json").out)["checks"]
    found, = [c for c in checks if c["name"] == "firewall.metadata"]
    assert found["level"] == "fail" and g["id"] in found["message"] and found["fix"]
    shown = stage.answer("egress", "firewall", "--grant", g["id"])
    assert [w["code"] for w in shown["warnings"]] == ["metadata_carved"]
    got = stage.answer("egress", "firewall", "--grant", g["id"], "--check", "169.254.169.254:80", status=1)
    assert (got["verdict"], "inside an allowed range" in got["reason"]) == ("drop", True)
    stage.config(network="bridge")
    name(stage, g["id"])
    assert refused(stage).record["code"] == "sandbox_grant_denied"


# Who holds one.

def test_held_by_the_project_only(stage):
    stage.config(network="bridge")
    here = allow(stage, "--hosts", "a.example", "--scope", "web")["id"]
    there = allow(stage, "--hosts", "a.example", to=f"project:{stage.dir}/elsewhere")["id"]
    over = allow(stage, "--hosts", "a.example")["id"]
    stage.answer("egress", "revoke", over)
    for named in [there, over, "web", here[:-1], here.upper(), "egress_" + "0" * 24]:
        name(stage, named)
        r = refused(stage)
        assert r.record["code"] == "sandbox_grant_denied", (named, r)
        assert here in r.record["remediation"] and over not in r.record["remediation"]
        got = stage.answer("sandbox", "explain", "-C", stage.project, status=1)
        assert got["code"] == "sandbox_grant_denied"
    name(stage, here)
    proxy = stage.answer("sandbox", "explain", "-C", stage.project)["network"]["proxy"]
    assert proxy["grant"] == here and proxy["policy"]["hosts"] == ["a.example"]


def test_held_by_label_and_executor(stage):
    stage.config(network=a_network(stage))
    for to, options in [("label:team=web", ["--label", "team=web"]), ("executor:container", [])]:
        name(stage, allow(stage, "--hosts", "a.example", to=to)["id"])
        if stage.engine.uid == 0:
            r = stage.run("true", options=options)
            assert r.rc == 0, r
        if options:
            assert refused(stage).record["code"] == "sandbox_grant_denied"


def test_nothing_turns_a_network_on(stage):
    name(stage, allow(stage, "--hosts", "a.example")["id"])
    assert refused(stage).record["code"] == "sandbox_unsupported"
    got = stage.answer("sandbox", "explain", "-C", stage.project, status=1)
    assert (got["code"], got["constraint"]) == ("sandbox_unsupported", "network_egress")


def proxy_row(stage):
    """Level of preflight's row about the proxy."""
    r = stage.cloop("executor", "test", "container", "--json")
    row, = [f for f in json.loads(r.out)["findings"] if f["name"] == "egress-proxy"]
    assert (row["level"] == "ok") == (row["fix"] == ""), row
    return row["level"]


def test_a_disabled_proxy(stage):
    stage.config({"executors": {"egress": {"enabled": False}, "container": {
        "runtime": stage.engine.kind, "network": "bridge", "image": IMAGE,
        **({"oci_runtime": stage.engine.oci_runtime} if stage.engine.oci_runtime else {})}}})
    name(stage, allow(stage, "--hosts", "a.example")["id"])
    r = refused(stage)
    assert r.record["code"] == "sandbox_egress_unavailable", r
    assert "executors.egress.enabled" in r.record["error"] + r.record["remediation"]
    assert proxy_row(stage) == "warn"


# A session.

# Of this process: parts of the suite run at the same time.
ORIGIN = f"10.78.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"


def has_network(engine):
    """A rootless run with a network needs a device that not every host opens to its users."""
    return engine.key != "R" or engine.popen(["/bin/sh", "-c", "exec 3<>/dev/net/tun"],
                                             stderr=subprocess.DEVNULL).wait() == 0


@pytest.fixture
def origin(stage):
    """An HTTP server on an address of its own: /N is N bytes, /slow never ends."""
    if os.geteuid() != 0:
        pytest.skip("needs root: an address of the test's own")
    if not has_network(stage.engine):
        pytest.skip("no network for rootless runs: /dev/net/tun is closed to their user")
    server = egressing.Origin(ORIGIN)
    yield server
    server.close()


@pytest.fixture(autouse=True)
def over(stage):
    """Whatever a test started has ended, and is removed."""
    yield
    for run in stage.answer("ps")["runs"]:
        stage.cloop("stop", run["handle"], "--signal", "kill")
        stage.cloop("wait", run["handle"])
    granting.wait_until(lambda: without_network(stage.engine))


NETWORK = "cloop-e2e-egress"


def without_network(engine):
    """Whether ours is gone: a container that is being removed may still be on it."""
    if NETWORK in engine.network_labels():
        engine.call("network", "rm", NETWORK, check=False)
    return NETWORK not in engine.network_labels()


def a_network(stage):
    """One that the engine has; the tests' docker has none of its own."""
    if stage.engine.kind != "docker":
        return "bridge"
    stage.engine.call("network", "create", "--subnet=10.77.4.0/24", NETWORK)
    return NETWORK


def on_a_network(stage, *options, ttl=(), **more):
    stage.config(network=a_network(stage), **more)
    g = allow(stage, "--cidrs", f"{ORIGIN}/32", "--ports", "8000", *options, *ttl)
    name(stage, g["id"])
    return g["id"]


def test_a_session_reaches_what_is_granted(stage, origin):
    grant = on_a_network(stage)
    r = stage.sh(f'wget -q -O /tmp/x http://{ORIGIN}:8000/1000; wc -c < /tmp/x; '
                 'echo "$CLOOP_EGRESS_GRANT_ID $CLOOP_EGRESS_ALLOW_CIDRS $NODE_USE_ENV_PROXY"; '
                 'echo "$http_proxy" | tr h H; test "$HTTP_PROXY" = "$https_proxy" && echo same; '
                 f'wget -O - http://{ORIGIN}:8001/ 2>&1')
    lines = r.out.decode().splitlines()
    assert r.rc == 0 or lines, r
    assert lines[0].strip() == "1000", r
    assert lines[1] == f"{grant} {ORIGIN}/32 1", r
    assert "same" in lines, r
    assert "port_not_allowed" in r.out.decode(), r
    told = r.record["egress"]
    assert told["grant"] == grant and told["reason"] == "run_ended" and told["bytes_down"] > 1000
    assert "egress_unenforced" in [w["code"] for w in r.record["warnings"]]
    foreseen = stage.answer("sandbox", "explain", "-C", stage.project, "--", "true")["warnings"]
    assert foreseen == r.record["warnings"]
    rows = stage.answer("audit", "list", "--limit", "0")["rows"]
    actions = [row["action"] for row in rows]
    assert actions.count("egress.open") == actions.count("egress.close") == 1, actions
    assert "egress.request" in actions, actions


def slow_run(stage, *options, **more):
    """The handle of a run whose download goes on, and then writes how it ended."""
    grant = on_a_network(stage, *options, **more)
    handle = stage.detach("/bin/sh", "-c", f"wget -q -O /dev/null http://{ORIGIN}:8000/slow; "
                          f"echo ended; wget -O - http://{ORIGIN}:8000/1 2>&1; sleep 300")
    return grant, handle


def log_of(stage, handle):
    r = stage.cloop("logs", handle)
    return (r.out + r.err).decode()


def test_a_revocation_cuts_a_download(stage, origin):
    grant, handle = slow_run(stage)
    granting.wait_until(lambda: origin.sent > 4096)
    begun = time.monotonic()
    got = stage.answer("egress", "revoke", grant)
    assert (got["state"], got["runs"][0]["effect"]) == ("revoked", "scrub"), got
    granting.wait_until(lambda: origin.cut, 60)
    assert origin.cut[0] - begun < 1
    granting.wait_until(lambda: "ended" in log_of(stage, handle), 60)
    # The workload lives on, and what it asks for is refused.
    granting.wait_until(lambda: "wget: " in log_of(stage, handle), 60)
    assert stage.answer("status", handle)["state"] == "running"
    assert len(origin.seen) == 1
    lease = stage.answer("lease", "list")["leases"][0]
    assert [(g["grant"], g["kind"], g["taken_back"]) for g in lease["grants"]] == [(grant, "egress", True)]
    stage.cloop("stop", handle, "--signal", "kill")
    stage.cloop("wait", handle)
    rows = stage.answer("audit", "list", "--limit", "0")["rows"]
    close = [row for row in rows if row["action"] == "egress.close"]
    assert len(close) == 1 and close[0]["payload"]["reason"] == "revoked", close
    assert close[0]["payload"]["handle"] == handle
    assert close[0]["payload"]["bytes_down"] > 4096, close


def requests_told(stage):
    """Verdicts of the requests in the trail, without asking cloop, which would take them over."""
    db = sqlite3.connect(stage.home / "state.db")
    rows = db.execute("SELECT payload FROM audit WHERE action = 'egress.request' ORDER BY seq").fetchall()
    db.close()
    return [json.loads(row[0])["verdict"] for row in rows]


def test_the_trail_while_the_run_lives(stage, origin):
    """Its supervisor brings what the proxy told, at most once a minute; who reads the trail, at once."""
    on_a_network(stage)
    gate = stage.write("go", "")
    gate.unlink()
    handle = stage.detach("/bin/sh", "-c", f"wget -q -O /dev/null http://{ORIGIN}:8000/1; "
                          f"wget -O - http://{ORIGIN}:8001/; while ! test -e go; do sleep 0.1; done; "
                          f"wget -q -O /dev/null http://{ORIGIN}:8000/2; echo second; sleep 300")
    told = ["allow", "port_not_allowed"]
    granting.wait_until(lambda: requests_told(stage) == told, 60)
    stage.write("go", "")
    granting.wait_until(lambda: "second" in log_of(stage, handle), 30)
    granting.wait_until(lambda: granting.actions(stage).count("egress.request") == 3, 30)
    assert requests_told(stage) == [*told, "allow"]
    assert stage.answer("status", handle)["state"] == "running"
    stage.cloop("stop", handle, "--signal", "kill")
    stage.cloop("wait", handle)
    actions = granting.actions(stage)
    assert actions.count("egress.request") == 3 and actions.count("egress.close") == 1, actions
    assert stage.answer("audit", "verify")["ok"]


def test_lease_revoke_cuts_it_too(stage, origin):
    _, handle = slow_run(stage)
    granting.wait_until(lambda: origin.sent > 4096)
    lease = stage.answer("lease", "list")["leases"][0]["id"]
    assert stage.answer("lease", "revoke", lease)["state"] == "revoked"
    granting.wait_until(lambda: origin.cut, 3)
    assert stage.answer("status", handle)["state"] == "running"


def test_a_dead_proxy_opens_nothing(stage, origin):
    _, handle = slow_run(stage)
    granting.wait_until(lambda: origin.sent > 4096)
    shim = crashing.shims(handle)[0]
    proxy, = [p for p in children(shim) if crashing.words_of(p)[:1] == [b"cloop-egress"]]
    os.kill(proxy, signal.SIGKILL)
    granting.wait_until(lambda: origin.cut, 60)
    granting.wait_until(lambda: "ended" in log_of(stage, handle), 60)
    granting.wait_until(lambda: "wget: " in log_of(stage, handle), 60)
    assert session_end(stage, handle)["reason"] == "proxy_failed"
    record = stage.answer("status", handle)
    assert record["state"] == "running"
    assert "egress_proxy_failed" in [w["code"] for w in record["warnings"]]
    assert len(origin.seen) == 1


def test_a_session_survives_its_supervisor(stage, origin):
    on_a_network(stage, "--max-down", "64k")
    gate = stage.write("go", "")
    gate.unlink()
    handle = stage.detach("/bin/sh", "-c", f"wget -q -O /dev/null http://{ORIGIN}:8000/40000; echo first $?; "
                          "while ! test -e go; do sleep 0.1; done; "
                          # Until the new proxy is there, nobody listens.
                          f"until test -s /tmp/x; do sleep 0.1; wget -q -O /tmp/x http://{ORIGIN}:8000/40000; done; "
                          "echo second; "
                          f"wget -O - http://{ORIGIN}:8000/1 2>&1; sleep 300")
    granting.wait_until(lambda: "first 0" in log_of(stage, handle))
    granting.wait_until(lambda: stage.answer("status", handle)["egress"]["bytes_down"] > 40000)
    before = stage.answer("status", handle)["egress"]
    os.kill(crashing.shims(handle)[0], signal.SIGKILL)
    granting.wait_until(lambda: not crashing.shims(handle))
    stage.cloop("ps")
    granting.wait_until(lambda: "replaced" in log_of(stage, handle), 60)
    stage.write("go", "")
    granting.wait_until(lambda: "second" in log_of(stage, handle), 60)
    granting.wait_until(lambda: "quota_exceeded" in log_of(stage, handle), 60)
    after = stage.answer("status", handle)["egress"]
    assert (after["session"], after["port"]) == (before["session"], before["port"])
    assert after["bytes_down"] <= 65536
    stage.cloop("stop", handle, "--signal", "kill")
    stage.cloop("wait", handle)
    rows = {row["action"]: row["payload"] for row in stage.answer("audit", "list", "--limit", "0")["rows"]}
    assert rows["egress.restore"]["handle"] == handle, rows
    assert rows["egress.restore"]["bytes_down"] == before["bytes_down"], rows


def test_rows_that_do_not_fit(stage, origin):
    """A flood of allowed requests hides no refusal, and what is left out is counted."""
    on_a_network(stage)
    gate = stage.write("go", "")
    gate.unlink()
    handle = stage.detach("/bin/sh", "-c", f"while ! test -e go; do sleep 0.1; done; "
                          f"wget -q -O /dev/null http://{ORIGIN}:8000/1; wget -O - http://{ORIGIN}:8001/; sleep 300")
    (stage.home / "runs" / handle / "egress-events").write_bytes(b'{"action":"x"}\n' * 60000 + b'{"torn')
    os.kill(crashing.shims(handle)[0], signal.SIGKILL)
    granting.wait_until(lambda: not crashing.shims(handle))
    stage.cloop("ps")
    granting.wait_until(lambda: "replaced" in log_of(stage, handle), 60)
    stage.write("go", "")
    granting.wait_until(lambda: "port_not_allowed" in log_of(stage, handle), 60)
    stage.cloop("stop", handle, "--signal", "kill")
    stage.cloop("wait", handle)
    assert "egress_events_lost" in [w["code"] for w in stage.answer("status", handle)["warnings"]]
    rows = [row["payload"] for row in stage.answer("audit", "list", "--limit", "0")["rows"]
            if row["action"] == "egress.request"]
    assert [row["verdict"] for row in rows] == ["port_not_allowed"], rows
    assert rows[0]["handle"] == handle and rows[0]["project"] == str(stage.project), rows


def session_end(stage, handle):
    """What the record has of the session, a moment after its connections were cut."""
    return granting.wait_until(lambda: (e := stage.answer("status", handle)["egress"])["reason"] and e)


def test_an_expired_grant_ends_the_session(stage, origin):
    on_a_network(stage, ttl=["--ttl", "60s"])
    handle = stage.detach("/bin/sh", "-c", f"wget -q -O /dev/null http://{ORIGIN}:8000/slow; sleep 300",
                          env={"CLOOP_FAULT": "extend:soon"})
    granting.wait_until(lambda: origin.sent > 4096)
    # Its end comes now.
    db = sqlite3.connect(stage.home / "state.db")
    with db:
        db.execute("UPDATE egress_grant SET expires_at = unixepoch() - 1")
    db.close()
    granting.wait_until(lambda: origin.cut, 60)
    assert session_end(stage, handle)["reason"] == "expired"
    assert stage.answer("status", handle)["state"] == "running"


def test_tokens_are_not_exchangeable(stage, origin):
    on_a_network(stage)
    for shown in ("a", "b"):
        (stage.project / shown).unlink(missing_ok=True)
        stage.detach("/bin/sh", "-c", f'echo "$http_proxy" > {shown}; sleep 300')
    granting.wait_until(lambda: all((stage.project / n).exists() and (stage.project / n).read_text().strip()
                                    for n in "ab"))
    a, b = ((stage.project / n).read_text().strip() for n in "ab")
    credentials, _ = a.removeprefix("http://").split("@")
    _, at = b.split("@")
    for url, status in [(a, b"200"), (b, b"200"), (f"http://{credentials}@{at}", b"407"),
                        (a.replace(credentials[-4:], "0000"), b"407")]:
        assert ask(url, f"http://{ORIGIN}:8000/1").split()[1] == status, url


def ask(proxy, url):
    """The status line of a GET through a proxy, from the host."""
    words, at = proxy.removeprefix("http://").split("@")
    host, port = at.rsplit(":", 1)
    secret = base64.b64encode(words.encode()).decode()
    with socket.create_connection((host, int(port)), timeout=10) as s:
        s.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic {secret}\r\n\r\n".encode())
        return s.makefile("rb").readline()


def test_the_token_is_nowhere(stage, origin):
    on_a_network(stage)
    handle = stage.detach("/bin/sh", "-c", 'echo "out $http_proxy"; echo "${http_proxy#*:*:}"; '
                          'echo "$http_proxy" > token; '
                          'u=${http_proxy#http://}; printf %s "${u%@*}" | base64 | tr -d "\\n" | cat; sleep 300')
    granting.wait_until(lambda: (stage.project / "token").exists()
                        and (stage.project / "token").read_text().strip())
    token = (stage.project / "token").read_text().split("@")[0].split(":")[-1]
    assert re.fullmatch("[0-9a-f]{64}", token)
    (stage.project / "token").unlink()
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert token.encode() not in file.read_bytes(), file
        except OSError:
            continue
    granting.wait_until(lambda: log_of(stage, handle).count("[redacted]") == 3)
    assert token not in log_of(stage, handle)
    stage.cloop("stop", handle, "--signal", "kill")
    stage.cloop("wait", handle)
    for file in [f for f in stage.dir.rglob("*") if f.is_file()]:
        assert token.encode() not in file.read_bytes(), file


def test_a_proxy_that_cannot_start(stage, origin):
    on_a_network(stage)
    r = stage.run("true", env={"CLOOP_FAULT": "egress:start"})
    assert (r.rc, r.record["code"]) == (125, "sandbox_egress_unavailable"), r
    assert "could not start" in r.record["error"]
    assert stage.run("true").rc == 0


def test_no_route_from_the_network(stage, origin):
    if stage.engine.uid != 0:
        pytest.skip("the proxy of a rootless engine is not on its network")
    on_a_network(stage)
    assert proxy_row(stage) == "ok"
    stage.config(network="not-there")
    r = refused(stage)
    assert r.record["code"] == "sandbox_egress_unavailable", r
    assert "no route" in r.record["error"] and "not-there" in r.record["error"], r
    assert proxy_row(stage) == "warn"


def test_a_rootless_network_needs_tun(stage):
    if stage.engine.uid == 0 or has_network(stage.engine):
        pytest.skip("for a rootless engine whose user cannot open /dev/net/tun")
    stage.config(network="bridge")
    answer = stage.answer("executor", "test", "container", status=2)
    found = {f["name"]: f for f in answer["findings"]}
    assert found["rootless-network"]["level"] == "fail", found
    assert "/dev/net/tun" in found["rootless-network"]["message"] and found["rootless-network"]["fix"]
    name(stage, allow(stage, "--hosts", "a.example")["id"])
    refused(stage)


def test_revoked_while_the_run_was_prepared(stage, origin):
    grant = on_a_network(stage)
    run = stage.popen(*stage.run_words(["true"]), env={"CLOOP_FAULT": "start:5-record=sleep:3000"})
    granting.wait_until(lambda: list(stage.home.glob("runs/c-*/request.json")))
    stage.cloop("egress", "revoke", grant)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 125 and b"revoked" in err, err
    assert not origin.seen


@once
@pytest.mark.parametrize("point", ["store-exec", "store-write"])
def test_the_ledger_fails_in_between(stage, origin, point):
    """The n-th statement fails: a run is whole or refused, and no session stays open."""
    on_a_network(stage)
    calm = failed = 0
    for n in range(1, 60):
        r = stage.run("true", env={"CLOOP_FAULT": f"{point}:{n}"})
        assert r.rc in (0, 1, 125), (n, r)
        failed += r.rc != 0
        calm = calm + 1 if r.rc == 0 and b"cloop: " not in r.err else 0
        if calm == 4:
            break
        stage.cloop("ps")
        with sqlite3.connect(stage.home / "state.db") as db:
            states = [row[0] for row in db.execute("SELECT state FROM egress_session")]
        db.close()
        assert "open" not in states, (n, r)
        actions = granting.actions(stage)
        assert actions.count("egress.open") == actions.count("egress.close") == len(states), (n, r)
    assert calm == 4 and failed, (calm, failed)


def test_asked_as_a_run_would(stage, origin):
    g = allow(stage, "--cidrs", f"{ORIGIN}/32", "--ports", "8000")
    got = stage.answer("egress", "test", f"http://{ORIGIN}:8000/1", "--grant", g["id"])
    assert (got["verdict"], got["status"], got["reason"]) == ("allow", "200", None)
    got = stage.answer("egress", "test", f"https://{ORIGIN}:8000/", "--to", f"project:{stage.project}")
    assert got["allowed"] and got["grant"] == g["id"]
    for url, verdict in [(f"http://{ORIGIN}/", "port_not_allowed"), ("https://10.9.9.9:8000", "host_not_allowed")]:
        got = stage.answer("egress", "test", url, "--grant", g["id"], status=1)
        assert got["verdict"] in (verdict, "destination_blocked") and "cloop egress grant" in got["reason"], got
    actions = granting.actions(stage)
    assert actions.count("egress.open") == actions.count("egress.close") == 4
    stage.answer("egress", "revoke", g["id"])
    assert stage.answer("egress", "test", f"http://{ORIGIN}:8000/", "--grant", g["id"], status=1)["code"] == "grant_revoked"
    assert stage.cloop("egress", "test", "ftp://x", "--grant", g["id"]).rc == 2
