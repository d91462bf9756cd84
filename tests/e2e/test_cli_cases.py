"""The cases of file and reference parsing through the command line: the library and
`cloop … --json` give one answer."""
import base64
import collections
import json
import os
import pathlib
import socket
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CLOOP = ROOT / os.environ.get("BUILD", "build") / "src/cli/cloop"
MAX_SECONDS = 20


def cases(path, *kinds):
    files = [f for f in (ROOT / "tests" / folder / path for folder in ("cases", "cases-own"))
             if f.exists()]
    assert files, path
    found = [json.loads(line) for f in files for line in f.read_text().splitlines() if line.strip()]
    return [pytest.param(c, id=c["name"]) for c in found if c["kind"] in kinds and not has_nul(c)]


def has_nul(case):
    """No argument of a program holds NUL."""
    return b"\0" in reference(case)


def reference(case):
    if "ref_b64" in case:
        return base64.b64decode(case["ref_b64"])
    return case.get("ref", "").encode()


def cloop(tmp_path, *words):
    """Exit status and answer, with an empty home and no config."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "nobody"), "LC_ALL": "C.UTF-8",
           "CLOOP_HOME": str(tmp_path / "home"), "CLOOP_CONFIG": str(tmp_path / "absent.yaml")}
    done = subprocess.run([CLOOP, *words], env=env, capture_output=True, timeout=MAX_SECONDS,
                          stdin=subprocess.DEVNULL)
    return done.returncode, json.loads(done.stdout), done.stdout + done.stderr


def has_subset(expected, got):
    if isinstance(expected, dict):
        return isinstance(got, dict) and all(has_subset(v, got.get(k)) for k, v in expected.items())
    return type(expected) is type(got) and expected == got


def error_matches(expected, got):
    for key, value in expected.items():
        if key == "remediation_contains":
            if value not in got["remediation"]:
                return False
        elif got[key] != value:
            return False
    return True


def check_answer(expect, status, got):
    assert got["ok"] == expect["ok"], got
    assert status == (0 if expect["ok"] else 1)
    assert got["path"] == ".cloop/sandbox.yaml"
    if "warnings" in expect:
        count = lambda items: collections.Counter((w["path"], w["code"]) for w in items)
        assert count(got["warnings"]) == count(expect["warnings"])
    if not expect["ok"]:
        assert "spec" not in got
        check_errors(expect, got["errors"])
        return
    assert got["errors"] == []
    for key in ("present", "requirements", "sha256", "setup_sha256"):
        if key in expect:
            assert got[key] == expect[key]
    assert has_subset(expect.get("spec", {}), got["spec"])


def check_errors(expect, got):
    wanted = expect.get("errors", [])
    for error in got:
        assert set(error) >= {"path", "line", "column", "code", "message", "remediation"}
        assert len(error["message"].encode()) <= 1024
    if expect.get("exact"):
        assert len(got) == len(wanted), got
        assert all(error_matches(w, g) for w, g in zip(wanted, got)), got
    for w in wanted:
        assert any(error_matches(w, g) for g in got), (w, got)
    if "error_count" in expect:
        assert len(got) == expect["error_count"]


def yaml_bytes(case):
    if "yaml_b64" in case:
        return base64.b64decode(case["yaml_b64"])
    if "yaml_parts" in case:
        return "".join(p if isinstance(p, str) else p["repeat"] * p["times"]
                       for p in case["yaml_parts"]).encode()
    return case["yaml"].encode()


@pytest.mark.parametrize("case", cases("sandbox/parse.jsonl", "parse"))
def test_sandbox_check_parse(case, tmp_path):
    project = tmp_path / "project"
    (project / ".cloop").mkdir(parents=True)
    (project / ".cloop/sandbox.yaml").write_bytes(yaml_bytes(case))
    status, got, _ = cloop(tmp_path, "sandbox", "check", "--json", str(project))
    check_answer(case["expect"], status, got)


def make_entry(entry, place):
    path = place(entry["path"])
    kind = entry["type"]
    if kind == "dir":
        path.mkdir(parents=True)
    elif kind == "file":
        fill = entry.get("fill")
        data = entry.get("text", "").encode()
        if fill:
            byte = fill["byte"]
            data += (byte.encode() if isinstance(byte, str) else bytes([byte])) * fill["count"]
        path.write_bytes(data)
        if "sparse" in entry:
            os.truncate(path, entry["sparse"])
    elif kind == "symlink":
        target = entry["target"]
        path.symlink_to(place(target) if target.startswith("@out/") else target)
    elif kind == "hardlink":
        os.link(place(entry["target"]), path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        # The address of a socket is short: bind it by a relative name.
        here = os.getcwd()
        os.chdir(path.parent)
        try:
            socket.socket(socket.AF_UNIX).bind(path.name)
        finally:
            os.chdir(here)
    if "mode" in entry:
        mode = entry["mode"]
        path.chmod(int(mode, 8) if isinstance(mode, str) else mode)


@pytest.mark.parametrize("case", cases("sandbox/load.jsonl", "load"))
def test_sandbox_check_load(case, tmp_path):
    if case.get("skip_if_root") and os.geteuid() == 0:
        pytest.skip("root reads every file")
    project, out = tmp_path / "project", tmp_path / "out"
    project.mkdir()
    out.mkdir()
    place = lambda p: out / p[5:] if p.startswith("@out/") else project / p
    for entry in case["tree"]:
        make_entry(entry, place)
    status, got, said = cloop(tmp_path, "sandbox", "check", "--json", str(project))
    check_answer(case["expect"], status, got)
    if "must_not_output" in case:
        assert case["must_not_output"].encode() not in said


@pytest.mark.parametrize("case", cases("image/parse.jsonl", "parse"))
@pytest.mark.parametrize("dashes", [[], ["--"]], ids=["word", "after dashes"])
def test_image_parse(case, dashes, tmp_path):
    ref, expect = reference(case), case["expect"]
    status, got, _ = cloop(tmp_path, "image", "parse", "--json", *dashes, ref)
    if "error" in expect:
        assert status == 1 and got["ok"] is False
        assert got["error"]["code"] == expect["error"]
        return
    assert status == 0 and got["ok"] is True
    assert has_subset(expect, got)


@pytest.mark.parametrize("case", cases("image/parse.jsonl", "parse"))
def test_image_check_without_policy(case, tmp_path):
    ref, expect = reference(case), case["expect"]
    status, got, _ = cloop(tmp_path, "image", "check", "--json", "--", ref)
    assert got["policy_active"] is False and got["needs_signature"] is False
    if "error" in expect:
        assert (status, got["allowed"], got["rule"]) == (1, False, "reference-syntax")
        assert got["detail"] == expect["error"] and got["run_as"] == ""
        return
    assert (status, got["allowed"], got["rule"]) == (0, True, "")
    assert got["needs_pin"] == (expect.get("digest", "") == "")
    assert got["run_as"]


def write_policy(tmp_path, policy):
    """A config file whose image_policy is the section of a case."""
    config = tmp_path / "config.yaml"
    config.write_text("" if policy is None else
                      "sandbox: {image_policy: %s}\n" % json.dumps(policy, ensure_ascii=False))
    config.chmod(0o600)
    return ["--config", str(config)]


@pytest.mark.parametrize("case", cases("image/check.jsonl", "check"))
def test_image_check(case, tmp_path):
    words = write_policy(tmp_path, case["policy"])
    status, got, _ = cloop(tmp_path, "image", "check", "--json", *words, "--", case["ref"])
    assert has_subset(case["expect"], got), got
    assert status == (0 if got["allowed"] else 1)
    assert got["allowed"] or (got["reason"] and got["remediation"])
    assert set(got) >= {"image", "registry", "repository", "tag", "digest", "policy_active"}


@pytest.mark.parametrize("case", cases("image/policy.jsonl", "policy"))
def test_config_check_policy(case, tmp_path):
    prefix = "sandbox.image_policy"
    words = write_policy(tmp_path, case["policy"])
    status, got, _ = cloop(tmp_path, "config", "check", "--json", *words)
    expect = case["expect"]
    assert got["ok"] == expect.get("ok", False), got
    assert status == (0 if got["ok"] else 1)
    if "\x7f" in json.dumps(case["policy"], ensure_ascii=False):  # no such byte in a YAML file
        assert [e["code"] for e in got["errors"]] == ["control_character"]
        return
    for kind in ("errors", "warnings"):
        found = [(e["path"], e["code"]) for e in got[kind]]
        for e in expect.get(kind, []):
            path = f"{prefix}.{e['path']}" if e["path"] else prefix
            assert (path, e["code"]) in found, found
    places = [(e["line"], e["column"]) for e in got["errors"]]
    assert places == sorted(places)


def test_config_set_loses_nothing(tmp_path):
    """Several at once: each says that it is set, and each is."""
    keys = {"executors.container.memory": "2g", "sandbox.image_policy.require_digest": "true",
            "executors.container.pids_limit": "77", "executors.limits.max_cpu": "2"}
    config = tmp_path / "config.yaml"
    for _ in range(10):
        config.write_text("executors: {}\n")
        setters = [subprocess.Popen([CLOOP, "config", "set", "--config", config, *pair],
                                    stdout=subprocess.DEVNULL) for pair in keys.items()]
        assert [p.wait() for p in setters] == [0] * len(keys)
        assert all(key.rsplit(".", 1)[1] in config.read_text() for key in keys)


def test_config_below_a_file(tmp_path):
    """What cannot be reached is not what is absent: no defaults instead of a policy."""
    (tmp_path / "file").write_text("")
    status, got, _ = cloop(tmp_path, "config", "check", "--json", "--config", str(tmp_path / "file/x"))
    assert status == 1 and got["code"] == "io"


def through_cli(case):
    """A probe that leaves the sandbox, of a filter that a person can write."""
    words = ("example", "127.", "[::1]")
    return not (any(w in case["probe"] for w in words) or case.get("to_host") or
                "proxies" in case["filter"])


def filter_words(filter):
    yield from (["--internet"] if filter.get("allow_public_internet") else [])
    yield from (["--broker", filter["broker"]] if filter.get("broker") else [])
    for key, option in (("allow_cidrs", "--cidrs"), ("deny_cidrs", "--deny-cidrs"),
                        ("allow_ports", "--ports")):
        if filter.get(key):
            yield from [option, ",".join(map(str, filter[key]))]
    for resolver in filter.get("resolvers", []):
        yield from ["--resolver", resolver]
    if filter.get("allow_all_ports"):
        yield from ["--ports", "all"]
    if not filter:
        yield "--internal"


@pytest.mark.parametrize("case", [c for c in cases("net/evaluate.jsonl", "evaluate")
                                  if through_cli(c.values[0])])
def test_egress_firewall(tmp_path, case):
    words = list(filter_words(case["filter"]))
    status, got, _ = cloop(tmp_path, "egress", "firewall", "--json", "--check", case["probe"],
                           *words)
    if got.get("code") == "egress_cidr_metadata":
        return  # flags refuse what a compiler carves
    assert status == (0 if case["expect"] == "allow" else 1)
    assert got["verdict"] == case["expect"]
    assert set(got) == {"verdict", "reason", "address", "port", "protocol"}
    assert case.get("reason_contains", "") in got["reason"]
