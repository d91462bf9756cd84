"""Egress grants: who holds one, what a run gets by it, and how it ends (network.md §11-§14)."""
import json
import re

import granting


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
    stage.config(network="bridge")
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


def test_a_disabled_proxy(stage):
    stage.config({"executors": {"egress": {"enabled": False}, "container": {
        "runtime": stage.engine.kind, "network": "bridge",
        **({"oci_runtime": stage.engine.oci_runtime} if stage.engine.oci_runtime else {})}}})
    name(stage, allow(stage, "--hosts", "a.example")["id"])
    r = refused(stage)
    assert r.record["code"] == "sandbox_egress_unavailable", r
    assert "executors.egress.enabled" in r.record["error"] + r.record["remediation"]
