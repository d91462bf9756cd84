"""cloop's own images (image-trust.md §9, §14.10): a script in cosign's place, a real registry."""
import hashlib
import json
import urllib.request

import pytest

from engines import IMAGE, PATH
from fake_cosign import FAIL, FakeCosign
from local_registry import LocalRegistry

ISSUER, SUBJECT = "https://issuer.example", "^https://github\\.com/acme/.+$"
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFESTS = ("application/vnd.oci.image.manifest.v1+json, "
             "application/vnd.docker.distribution.manifest.v2+json")


def push(engine, name):
    words = ["push", name] if engine.kind == "docker" else ["push", "--tls-verify=false", name]
    engine.call("tag", IMAGE, name)
    engine.call(*words)


class Own:
    """A stage whose registry holds an image that the operator calls cloop's own."""

    def __init__(self, stage, registry):
        self.stage, self.registry = stage, registry
        self.name = f"{registry.host}/acme/own"
        self.cosign = FakeCosign(stage.dir / "fake")
        push(stage.engine, f"{self.name}:1")
        self.spec = {"image": f"{self.name}:1"}
        self.config()
        stage.spec(self.spec)

    def config(self, mode="warn", policy=None, **options):
        policy = {"insecure_registries": [self.registry.host], **(policy or {})}
        self.stage.config(**options)
        whole = json.loads(self.stage.config_file.read_text())
        whole["executors"].update(image_provenance=mode, published_images={
            "repositories": [self.name], "issuer": ISSUER, "subject_regexp": SUBJECT})
        whole["sandbox"] = {"image_policy": policy}
        self.stage.config_file.write_text(json.dumps(whole))

    def runs(self, *warnings, env=None):
        r = self.stage.run("/bin/true", env=env or self.cosign.env)
        assert r.rc == 0, r
        assert [w["code"] for w in r.record["warnings"]] == list(warnings)
        return r.record

    def refused(self, detail, env=None):
        self.stage.refused("/bin/true", code="sandbox_image_denied", env=env or self.cosign.env)
        a = self.stage.answer("run", "-C", self.stage.project, "--", "/bin/true", status=125,
                              env=env or self.cosign.env)
        assert (a["rule"], a["origin"], a["detail"]) == ("signature-required", "published", detail)
        return a

    def ask(self, path, method="GET", data=None, **headers):
        request = urllib.request.Request(f"http://{self.registry.host}/v2/acme/own/{path}",
                                         data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read(), answer.headers["Content-Type"]

    def tag_signature(self, form, digest):
        """Something that is there under a name at which signatures of the digest are."""
        body, kind = self.ask("manifests/1", Accept=MANIFESTS)
        tag = digest.replace(":", "-")
        if form == "tag":
            self.ask(f"manifests/{tag}.sig", "PUT", body, **{"Content-Type": kind})
            return
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{
            "mediaType": kind, "digest": f"sha256:{hashlib.sha256(body).hexdigest()}",
            "size": len(body),
            "artifactType": "application/vnd.dev.sigstore.bundle.v0.3+json"}]}
        self.ask(f"manifests/{tag}", "PUT", json.dumps(index).encode(), **{"Content-Type": INDEX})


@pytest.fixture
def own(stage):
    with LocalRegistry(stage.dir / "registry") as registry:
        o = Own(stage, registry)
        yield o
        stage.home_is_free()
        stage.engine.call("rmi", f"{o.name}:1")


def without_cosign(own):
    return {"PATH": f"{own.cosign.place}/nothing:{PATH}"}


def test_verified(own):
    own.config("required")
    record = own.runs()
    [call] = own.cosign.calls()
    assert call["argv"][1:] == [
        "verify", "--certificate-oidc-issuer", ISSUER, "--certificate-identity-regexp", SUBJECT,
        "--output", "text", "--", f"{own.name}@{record['image_digest']}"]
    own.runs()
    assert not own.cosign.calls()
    own.config("off")
    own.cosign.tell(FAIL)
    own.runs()
    assert not own.cosign.calls()


def test_unsigned(own):
    own.cosign.tell(FAIL)
    own.runs("image_unsigned")
    assert len(own.cosign.calls()) == 1
    own.config("required")
    own.refused("provenance_unsigned")
    # Another image is nobody's business.
    own.stage.spec({"image": IMAGE})
    own.runs()


@pytest.mark.parametrize("form", ["tag", "index"])
def test_wrong(own, form):
    own.cosign.tell(FAIL)
    own.tag_signature(form, own.runs("image_unsigned")["image_digest"])
    for mode in ("warn", "required"):
        own.config(mode)
        own.refused("provenance_wrong")
    own.config("off")
    own.runs()


def test_unchecked(own):
    """There is no cosign, it takes too long, or the registry does not say."""
    own.runs("image_unchecked", env=without_cosign(own))
    own.cosign.tell("time.sleep(600)")
    slow = {**own.cosign.env, "CLOOP_FAULT": "trust:deadline"}
    own.runs("image_unchecked", env=slow)
    own.config("required")
    a = own.refused("provenance_unchecked", env=without_cosign(own))
    assert "https://docs.sigstore.dev" in a["remediation"]
    own.refused("provenance_unchecked", env=slow)
    own.cosign.tell(FAIL)
    own.registry.process.kill()
    own.registry.process.wait()
    own.refused("provenance_unchecked")
    own.config("warn")
    own.runs("image_unchecked")


def test_operators_choice(own):
    """Published images are not governed, whatever the policy says; a project's are."""
    own.cosign.tell(FAIL)
    (own.stage.project / ".cloop/sandbox.yaml").unlink()
    own.config("warn", {"allowed_registries": ["ghcr.io"], "govern_operator_images": True},
               image=f"{own.name}:1")
    own.runs("image_unsigned")
    own.stage.spec(own.spec)
    r = own.stage.refused("/bin/true", code="sandbox_image_denied", env=own.cosign.env)
    assert b"(rule: registry-allowlist)" in r.err


def test_with_the_policys_rule(own):
    """Both must pass."""
    key = own.stage.dir / "a.pub"
    key.write_text("a key\n")
    if own.stage.engine.key == "R":
        own.stage.engine.own(key)
    policy = {"require_signature": True, "cosign_public_keys": [str(key)]}
    own.config("warn", policy)
    own.cosign.tell("sys.exit('--key' not in sys.argv)")
    own.runs("image_unsigned")
    assert len(own.cosign.calls()) == 2
    own.config("required", policy)
    own.refused("provenance_unsigned")
    own.config("warn", {**policy, "cosign_ignore_tlog": True})
    own.cosign.tell("sys.exit('--key' in sys.argv)")
    r = own.stage.refused("/bin/true", code="sandbox_image_denied", env=own.cosign.env)
    assert r.record["error"].count("signature-required") == 1
    own.cosign.tell("sys.exit(0)")
    own.runs()


def test_without_digest(own):
    """On podman every name has one."""
    if own.stage.engine.kind == "podman":
        return
    name = f"{own.name}-local:1"
    own.name = name.rsplit(":", 1)[0]
    own.stage.engine.call("tag", IMAGE, name)
    own.stage.spec({"image": name})
    own.config("warn")
    own.runs("image_unchecked")
    own.config("required")
    own.refused("provenance_unchecked")
    own.stage.home_is_free()
    own.stage.engine.call("rmi", name)
    own.name = own.name.removesuffix("-local")
    assert not own.cosign.calls()


def test_digest_that_is_verified_runs(own):
    """An index and the image in it: podman lists both digests under the name."""
    engine = own.stage.engine
    if engine.kind != "podman":
        return
    name = f"{own.registry.host}/acme/multi:1"
    engine.call("manifest", "create", "localhost/cloop-multi:1")
    engine.call("manifest", "add", "localhost/cloop-multi:1", f"containers-storage:{IMAGE}")
    engine.call("manifest", "push", "--all", "--tls-verify=false", "localhost/cloop-multi:1",
                f"docker://{name}")
    engine.call("manifest", "rm", "localhost/cloop-multi:1")
    engine.call("pull", "--tls-verify=false", name)
    try:
        asked = json.loads(engine.call("image", "inspect", name))[0]["RepoDigests"]
        digests = sorted({d.split("@")[1] for d in asked if d.startswith(name.rsplit(":", 1)[0])})
        own.name = name.rsplit(":", 1)[0]
        own.stage.spec({"image": name})
        own.config("required")
        own.cosign.tell(FAIL)
        own.refused("provenance_unsigned")
        order = [c["argv"][-1].split("@")[1] for c in own.cosign.calls()][:len(digests)]
        assert sorted(order) == digests and len(order) > 1
        for wanted in reversed(order):
            own.cosign.tell(f"sys.exit(not sys.argv[-1].endswith({wanted!r}))")
            record = own.runs()
            assert (record["image_digest"], record["image"]) == (wanted, f"{own.name}@{wanted}")
            own.stage.home.joinpath("state.db").unlink()
        assert len(own.cosign.calls()) == sum(range(len(order) + 1))
    finally:
        own.stage.home_is_free()
        engine.call("rmi", name)
        own.name = f"{own.registry.host}/acme/own"
