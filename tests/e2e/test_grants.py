"""Secrets that runs get by grants (disk-and-secrets.md §14-§17)."""
import json
import pathlib
import re

from engines import once
from granting import MASK, VALUE, actions, grant, mint


def own_stages(stage):
    """Stages of this home's runs that are on the host now."""
    notes = stage.home.glob("runs/c-*/stage.json")
    names = set(re.findall("cloop-lease-[0-9a-f]{24}", "".join(n.read_text() for n in notes)))
    return [pathlib.Path("/dev/shm") / n for n in names if (pathlib.Path("/dev/shm") / n).exists()]


# What each kind brings.

def test_a_variable(stage):
    mint(stage, "api-token", "env", VALUE)
    grant(stage, "api-token", f"project:{stage.project}")
    r = stage.sh('test "$API_TOKEN" = "$1" && echo equal; echo "id $CLOOP_LEASE_ID"; '
                 'echo "end $CLOOP_LEASE_EXPIRES_AT"; echo "dir ${CLOOP_LEASE_DIR-none}"; '
                 'echo "out $API_TOKEN"', VALUE)
    assert r.rc == 0, r
    lines = r.out.splitlines()
    assert lines[0] == b"equal"
    assert re.fullmatch(rb"id lease_[0-9a-f]{24}", lines[1])
    assert re.fullmatch(rb"end \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", lines[2])
    assert lines[3] == b"dir none"
    assert lines[4] == b"out " + MASK
    # Another project gets nothing.
    other = stage.make_project("other")
    r = stage.sh('echo "${API_TOKEN-none} ${CLOOP_LEASE_ID-none}"', project=other)
    assert r.out == b"none none\n", r


def test_files(stage):
    mint(stage, "deploy.key", "file", "key " + VALUE + "\n", "--mode", "0400")
    mint(stage, "tool", "file", "#!/bin/sh\necho run\n", "--file-name", "helper", "--mode", "0700")
    grant(stage, "deploy.key")
    grant(stage, "tool")
    r = stage.sh('test "$(cat "$CLOOP_SECRET_FILE_DEPLOY_KEY")" = "key $1" && echo equal; stat -c "%a %u %F" '
                 '"$CLOOP_SECRET_FILE_DEPLOY_KEY" "$CLOOP_SECRET_FILE_TOOL"; id -u; '
                 '"$CLOOP_SECRET_FILE_TOOL"; echo "$CLOOP_LEASE_DIR"; '
                 'echo x > "$CLOOP_LEASE_DIR/new" || echo read-only', VALUE)
    assert r.rc == 0, r
    lines = r.out.decode().splitlines()
    uid = lines[3]
    assert lines[0] == "equal"
    assert lines[1] == f"400 {uid} regular file"
    assert lines[2] == f"700 {uid} regular file"
    assert lines[4] == "run"
    assert re.fullmatch("/run/cloop/cloop-lease-[0-9a-f]{24}", lines[5])
    assert lines[6] == "read-only"
    assert own_stages(stage) == []


def test_logins(stage):
    """registry and kubeconfig."""
    mint(stage, "reg", "registry", "robot:" + VALUE)
    config = {"apiVersion": "v1", "kind": "Config", "current-context": "prod",
              "clusters": [{"name": "c", "cluster": {"server": "https://k.example.com"}}],
              "users": [{"name": "u", "user": {"token": VALUE}}],
              "contexts": [{"name": n, "context": {"cluster": "c", "user": "u"}}
                           for n in ("dev", "prod")]}
    mint(stage, "kube", "kubeconfig", json.dumps(config))
    grant(stage, "reg", "any", "--registries", "r.example.com")
    grant(stage, "kube", "any", "--contexts", "dev")
    r = stage.sh('grep -c r.example.com "$DOCKER_CONFIG/config.json"; grep -c \'"dev"\' "$KUBECONFIG"; '
                 'grep -c \'"prod"\' "$KUBECONFIG"; stat -c %a "$KUBECONFIG"')
    assert r.out.split() == [b"1", b"1", b"0", b"600"], r


def test_what_the_file_leaves(stage):
    """sandbox-spec.md §16.11: env: [] forwards nothing, and stages nothing."""
    mint(stage, "pair", "env", json.dumps({"A_ONE": "1" + VALUE, "B_TWO": "2" + VALUE}))
    mint(stage, "key", "file", VALUE)
    mint(stage, "reg", "registry", "robot:" + VALUE)
    grant(stage, "pair")
    grant(stage, "key")
    grant(stage, "reg", "any", "--registries", "r.example.com")
    show = 'env | cut -d= -f1 | sort | tr "\\n" " "; ls /run/cloop | tr "\\n" " "'
    stage.spec({"env": []})
    words = stage.sh(show).out.decode().split()
    assert not [w for w in words if w in ("A_ONE", "B_TWO", "DOCKER_CONFIG") or "LEASE" in w
                or "SECRET" in w or "cloop-lease" in w], words
    assert stage.answer("lease", "list")["leases"] == []
    stage.spec({"env": ["A_ONE"]})
    words = stage.sh(show).out.decode().split()
    assert "A_ONE" in words and "B_TWO" not in words and "CLOOP_LEASE_ID" in words, words
    assert not [w for w in words if "cloop-lease" in w or "SECRET_FILE" in w], words
    shown = stage.answer("secret", "lease", "--project", stage.project)
    assert len(shown["granted"]) == 1 and len(shown["filtered"]) == 2


def test_denied(stage):
    """What fails is on record, and the others go on."""
    mint(stage, "one", "env", VALUE)
    mint(stage, "reg", "registry", '{"auths":{"a.example.com":{"auth":"eA=="}}}')
    grant(stage, "one")
    grant(stage, "reg", "any", "--registries", "b.example.com")
    gone = grant(stage, "one", f"project:{stage.project}")
    assert stage.answer("secret", "revoke", gone)["state"] == "revoked"
    r = stage.sh('echo "${ONE:+there} ${DOCKER_CONFIG-none}"')
    assert (r.rc, r.out) == (0, b"there none\n"), r
    rows = [row["payload"] for row in stage.answer("audit", "list")["rows"]
            if row["action"] == "lease.open"]
    assert sorted(row.get("reason", row["decision"]) for row in rows) == [
        "allow", "constraint", "revoked"]
    assert next(r for r in rows if r.get("reason") == "constraint")["code"] == "registry_none"


def test_what_is_named_and_not_granted(stage):
    stage.spec({"capabilities": {"devices": ["serial0"]}})
    r = stage.run("true")
    assert r.rc == 125 and r.record["code"] == "sandbox_device_not_granted", r
    assert f"cloop secret grant SECRET --subject project:{stage.project} --devices serial0" in \
        r.record["remediation"]


def test_a_home_without_grants_pays_nothing(stage):
    """No key, no lease; and a run of a home with secrets that nobody granted derives none."""
    assert stage.run("true").rc == 0
    assert not (stage.home / "keys").exists()
    mint(stage, "one", "env", VALUE)
    (stage.home / "keys/secret.key").unlink()
    assert stage.run("true").rc == 0
    grant(stage, "one")
    r = stage.run("true")
    assert r.rc == 125 and r.record["code"] == "secret_key_missing", r
    assert stage.answer("lease", "list")["leases"] == []


@once
def test_what_stands_before_a_lease_refuses_first(stage):
    """sandbox-spec.md §9.1: mounts, then the image, then the lease, then the session."""
    stage.config(network="bridge", egress_filter={"enabled": False})
    whole = json.loads(stage.config_file.read_text())
    whole["executors"]["egress"] = {"enabled": False}
    stage.config_file.write_text(json.dumps(whole))
    held = stage.answer("egress", "grant", "--to", f"project:{stage.project}", "--hosts",
                        "a.example")["id"]
    mint(stage, "one", "env", VALUE)
    grant(stage, "one")
    key = stage.home / "keys/secret.key"
    key.rename(key.with_name("gone"))
    (stage.project / "up").symlink_to("/etc")
    spec = {"image": "localhost/cloop-e2e-absent:1", "capabilities": {"network": held},
            "mounts": [{"source": "up", "target": "/mnt/x"}]}
    for code, mended in (("mount_escapes", "mounts"), ("image_missing", "image"),
                         ("secret_key_missing", None), ("sandbox_egress_unavailable", None)):
        stage.spec(spec)
        stage.refused("true", code=code)
        if code == "secret_key_missing":
            key.with_name("gone").rename(key)
        spec.pop(mended, None)
    assert stage.run_dirs() == [] and stage.answer("lease", "list")["leases"] == []


# Leases.

def test_list_and_end(stage):
    mint(stage, "one", "env", VALUE)
    given = grant(stage, "one")
    handle = stage.detach("sleep", "60")
    leases = stage.answer("lease", "list")["leases"]
    assert [(x["run"], x["state"], [g["grant"] for g in x["grants"]]) for x in leases] == [
        (handle, "open", [given])]
    for n in range(1, 4):  # one whose directory cannot be opened has not ended
        said = stage.answer("lease", "list", env={"CLOOP_FAULT": f"rundir:open:{n}"})
        assert said["leases"] == leases
    extended = stage.answer("lease", "extend", "--run", handle)
    assert [(g["grant"], g["result"]) for g in extended["grants"]] == [(given, "ok")]
    assert extended["expires_at"] >= leases[0]["expires_at"]
    assert 0 < extended["expires_in_s"] <= 900
    assert stage.cloop("stop", handle).rc == 0
    stage.wait(handle)
    assert stage.answer("lease", "list")["leases"] == []
    assert "lease.release" in actions(stage)
    r = stage.cloop("lease", "extend", "--run", handle)
    assert r.rc == 1 and b"holds no lease" in r.err


def test_foreground_releases(stage):
    mint(stage, "one", "env", VALUE)
    grant(stage, "one")
    assert stage.run("true").rc == 0
    assert "lease.release" in actions(stage)


# What is of the host.

def test_devices(stage):
    mint(stage, "nodes", "host_device", "zero=/dev/zero:/dev/nought:rw\nnull=/dev/null:rw\n")
    grant(stage, "nodes", f"project:{stage.project}", "--devices", "zero,null", "--writable")
    shown = stage.answer("sandbox", "explain", "-C", stage.project)["grants"]
    assert [(g["secret"], g["kind"], g["result"]) for g in shown] == [
        ("nodes", "host_device", "ok")]
    r = stage.sh('echo "$CLOOP_HOST_DEVICES"; head -c 3 /dev/nought | od -An -tx1')
    assert (r.rc, r.out.split()) == (0, [b"zero,null", b"00", b"00", b"00"]), r
    stage.spec({"capabilities": {"devices": ["null"]}})
    r = stage.sh('echo "$CLOOP_HOST_DEVICES"; ls /dev/nought 2>/dev/null || echo not there')
    assert (r.rc, r.out) == (0, b"null\nnot there\n"), r
    stage.spec({"capabilities": {"devices": []}})
    r = stage.sh('echo "${CLOOP_HOST_DEVICES-none} ${CLOOP_LEASE_ID-none}"')
    assert (r.rc, r.out) == (0, b"none none\n"), r


def test_a_device_that_the_host_refuses(stage):
    """A disk without --block, a directory, nothing: refused before anything starts."""
    for source, code in (("/dev/cloop-not-there", "device_missing"),
                         ("/dev/pts0", "device_missing"), ("/dev/net", "device_not_a_node")):
        mint(stage, "node", "host_device", f"x={source}\n")
        grant(stage, "node", "any", "--devices", "x")
        r = stage.run("true")
        assert r.rc == 125 and r.record["code"] == code, (source, r)
        denied = stage.answer("secret", "lease", "--project", stage.project)["denied"]
        assert [d["code"] for d in denied if "code" in d] == [code]
        stage.answer("secret", "delete", "node")
    assert stage.engine.left() == []


def test_repositories(stage):
    root = stage.make_project("repos")
    for name in ("lib-a", "lib-b", "app"):
        stage.write(f"{name}/.git/HEAD", "ref: refs/heads/main\n", project=root)
        stage.write(f"{name}/file", name, project=root)
    mint(stage, "repos", "local_repo", str(root))
    grant(stage, "repos", "any", "--repos", "lib-*")
    r = stage.sh('echo "$CLOOP_LOCAL_REPO_ROOT $CLOOP_LOCAL_REPOS $CLOOP_LOCAL_REPO_LIB_A"; '
                 'cat /repos/lib-b/file; echo; ls /repos; touch /repos/lib-a/x || echo read-only')
    assert (r.rc, r.out.split()) == (0, [b"/repos", b"lib-a,lib-b", b"/repos/lib-a", b"lib-b",
                                         b"lib-a", b"lib-b", b"read-only"]), r
