"""Leased credentials of every kind that has a value, from the minting to the restart (issue 5, must
show 3; disk-and-secrets.md §21.11): present where promised, and nowhere else of what is ours."""
import hashlib
import json
import pathlib

import crashing
from granting import MASK, grant, mint, wait_until

KINDS = ("variable", "file", "login", "cluster")
CANARY = {kind: f"canary-{n}f3a91c7e-{kind}" for n, kind in enumerate(KINDS)}
HOLDS = """
printf %s "$TOKEN" | sha256sum
sha256sum < "$CLOOP_SECRET_FILE_KEY"
grep -c '"token"' "$KUBECONFIG"; grep -c '"auth"' "$DOCKER_CONFIG/config.json"
echo "$TOKEN"; cat "$CLOOP_SECRET_FILE_KEY"; echo; cat "$KUBECONFIG"
touch ready
while [ -e "$CLOOP_SECRET_FILE_KEY" ]; do sleep 0.05; done; touch gone
sleep 100
"""


def mint_all(stage):
    """The grants by kind."""
    config = {"apiVersion": "v1", "kind": "Config",
              "clusters": [{"name": "c", "cluster": {"server": "https://k.example.com"}}],
              "users": [{"name": "u", "user": {"token": CANARY["cluster"]}}],
              "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]}
    mint(stage, "token", "env", CANARY["variable"])
    mint(stage, "key", "file", CANARY["file"])
    mint(stage, "login", "registry", "robot:" + CANARY["login"])
    mint(stage, "cluster", "kubeconfig", json.dumps(config))
    return {"variable": grant(stage, "token"), "file": grant(stage, "key"),
            "login": grant(stage, "login", "any", "--registries", "r.example.com"),
            "cluster": grant(stage, "cluster", "any", "--contexts", "x")}


def found(stage):
    """Where canaries lie: files of ours and of the project, what commands say, command lines."""
    wanted = [c.encode() for c in CANARY.values()]
    hits = []
    for root in (stage.home, stage.project):
        for path in (p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
            hits += [f"{path}" for c in wanted if c in path.read_bytes()]
    for words in (("audit", "export"), ("journal", "-C", stage.project), ("ps", "--all", "--json"),
                  ("secret", "list", "--json"), ("secret", "grants", "--all", "--json"),
                  ("lease", "list", "--json"), ("secret", "lease", "-C", stage.project)):
        r = stage.cloop(*words)
        hits += [" ".join(map(str, words)) for c in wanted if c in r.out + r.err]
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            hits += [f"{path}" for c in wanted if c in path.read_bytes()]
        except OSError:
            pass
    return hits


def stage_of(stage, handle):
    return pathlib.Path(json.loads((stage.home / "runs" / handle / "stage.json").read_text())["path"])


def digest(kind):
    return hashlib.sha256(CANARY[kind].encode()).hexdigest()


def test_nowhere_but_where_promised(stage):
    grants = mint_all(stage)
    handle = stage.detach("/bin/sh", "-c", HOLDS)
    wait_until(lambda: (stage.project / "ready").exists(), 30)
    where = stage_of(stage, handle)
    assert (where / "key").read_text() == CANARY["file"]
    assert found(stage) == []

    # Revoked while it runs: gone inside, and it goes on.
    answer = stage.answer("secret", "revoke", grants["file"])
    assert answer["state"] == "revoked", answer
    wait_until(lambda: (stage.project / "gone").exists(), 60)
    assert stage.status(handle)["state"] == "running"

    # Everything is killed; the next command is the restart.
    container = stage.container_of(handle)
    crashing.kill_shim(stage, handle)
    stage.engine.call("kill", "--signal=KILL", container, check=False)
    stage.cloop("status", handle)
    assert crashing.wait_final(stage, handle)["outcome"] in ("signal", "lost")
    wait_until(lambda: not where.exists())
    lines = crashing.output(stage, handle)[0].split(b"\n")
    assert [x.split()[0].decode() for x in lines[:2]] == [digest("variable"), digest("file")]
    assert lines[2:4] == [b"1", b"1"] and lines[4:6] == [MASK, MASK], lines
    assert found(stage) == []
