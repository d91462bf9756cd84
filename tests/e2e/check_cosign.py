"""Signatures with the real program cosign, versions 2 and 3, against docker-registry: what
test_signatures.py shows with a script. Run by scripts/check-cosign, which brings the programs."""
import hashlib
import json
import os
import pathlib
import subprocess
import urllib.request

import pytest

from engines import PATH, once, rootfs
from local_registry import LocalRegistry

BUILT = pathlib.Path(os.environ["COSIGN_DIR"])  # v2.4.1/cosign, v3.1.3/cosign, forge
VERSIONS = {"v2": "v2.4.1", "v3": "v3.1.3"}
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
PAYLOAD = "application/vnd.dev.cosign.simplesigning.v1+json"
ISSUER = "https://token.actions.example"
SUBJECT = "https://github.com/acme/images/.github/workflows/release.yml@refs/tags/v1"
SUBJECT_RE = "^https://github\\.com/acme/images/\\.github/workflows/release\\.yml@refs/tags/v.+$"
SECONDS = 120

pytestmark = once


def sha256(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def call(*words, **env):
    p = subprocess.run([str(w) for w in words], env={"PATH": PATH, **env}, capture_output=True,
                       timeout=SECONDS, check=False)
    assert p.returncode == 0, (words, p.stdout, p.stderr)
    return p.stdout


class World:
    """A registry, keys, and two programs that sign."""

    def __init__(self, registry, place):
        self.host, self.place = registry.host, place
        self.keys = place / "keys"
        for name in ("one", "other"):
            (self.keys / name).mkdir(parents=True)
            call(BUILT / "forge", "keys", self.keys / name)
        self.cosign_home = place / "home"
        self.cosign_home.mkdir()
        self.signing = place / "signing.json"
        for name in ("one", "other"):
            self.cosign("v3", "import-key-pair", "--key", self.keys / name / "signer.pem",
                        "--output-key-prefix", self.keys / name / "cosign")
        self.cosign("v3", "signing-config", "create", "--out", self.signing)
        self.count = 0

    def cosign(self, version, *words):
        return call(BUILT / VERSIONS[version] / "cosign", *words, COSIGN_PASSWORD="",
                    HOME=str(self.cosign_home))

    def ask(self, path, method="GET", data=None, kind=None):
        url = path if path.startswith("http") else f"http://{self.host}/v2/{path}"
        request = urllib.request.Request(url, data=data, method=method,
                                         headers={"Content-Type": kind} if kind else {})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read(), answer.headers

    # Images.

    def image(self):
        """A new one, pushed with skopeo: its name and digest."""
        self.count += 1
        place = self.place / f"oci-{self.count}"
        blobs = place / "blobs/sha256"
        blobs.mkdir(parents=True)

        def blob(data):
            (blobs / sha256(data).split(":")[1]).write_bytes(data)
            return {"digest": sha256(data), "size": len(data)}
        layer = blob(rootfs())
        config = blob(json.dumps({
            "architecture": "amd64", "os": "linux", "config": {
                "Env": ["PATH=/bin"], "Labels": {"number": str(self.count)}},
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode())
        manifest = {"mediaType": MANIFEST, **blob(json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": {"mediaType": CONFIG, **config},
            "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", **layer}],
        }).encode())}
        (place / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
        (place / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        name = f"{self.host}/acme/image-{self.count}"
        call("skopeo", "--insecure-policy", "copy", "--quiet", "--preserve-digests",
             "--dest-tls-verify=false", f"oci:{place}", f"docker://{name}:1")
        return name, manifest["digest"]

    # Signatures.

    def sign(self, version, name, digest, key="one"):
        """As the program does it by itself, without a log."""
        how = ["--tlog-upload=false"] if version == "v2" else ["--signing-config", self.signing]
        self.cosign(version, "sign", "--key", self.keys / key / "cosign.key", "--yes", *how,
                    f"{name}@{digest}")

    def upload(self, repository, data):
        _, headers = self.ask(f"{repository}/blobs/uploads/", "POST", b"")
        where = headers["Location"]
        self.ask(f"{where}{'&' if '?' in where else '?'}digest={sha256(data)}", "PUT", data,
                 "application/octet-stream")
        return {"digest": sha256(data), "size": len(data)}

    def put_signature(self, repository, digest, payload, annotations):
        layer = {"mediaType": PAYLOAD, **self.upload(repository, payload),
                 "annotations": annotations}
        config = self.upload(repository, json.dumps({
            "architecture": "", "os": "", "config": {},
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode())
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST,
                    "config": {"mediaType": CONFIG, **config}, "layers": [layer]}
        self.ask(f"{repository}/manifests/{digest.replace(':', '-')}.sig", "PUT",
                 json.dumps(manifest).encode(), MANIFEST)

    def forge(self, name, digest, *who, keys="one", signed=None):
        """With a log, and for an identity with an authority, of the test."""
        made = json.loads(call(BUILT / "forge", "sign", self.keys / keys, name, signed or digest,
                               *who))
        self.put_signature(name.split("/", 1)[1], digest, made["payload"].encode(),
                           made["annotations"])

    def sigstore(self, keys="one", log=None):
        return {"SIGSTORE_REKOR_PUBLIC_KEY": str(self.keys / (log or keys) / "log.pub"),
                "SIGSTORE_ROOT_FILE": str(self.keys / keys / "authority.crt"),
                "SIGSTORE_CT_LOG_PUBLIC_KEY_FILE": str(self.keys / keys / "certificate-log.pub")}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    place = tmp_path_factory.mktemp("world")
    for parent in (place, *place.parents):
        if parent.stat().st_uid == os.geteuid() and parent != pathlib.Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    with LocalRegistry(place / "registry") as registry:
        yield World(registry, place)


class Host:
    """A stage on which one version of cosign is on PATH."""

    def __init__(self, stage, world, version):
        self.stage, self.world, self.version = stage, world, version
        folder = stage.dir / "path"
        folder.mkdir()
        (folder / "cosign").symlink_to(BUILT / VERSIONS[version] / "cosign")
        for name in ("canary", "secretservice", "pass"):
            helper = folder / f"docker-credential-{name}"
            helper.write_text(f"#!/bin/sh\n: >{stage.dir}/helper-was-run\n")
            helper.chmod(0o755)
        docker = stage.dir / "docker"
        docker.mkdir()
        (docker / "config.json").write_text(json.dumps({"credsStore": "canary", "credHelpers": {
            world.host: "canary"}}))
        self.env = {"PATH": f"{folder}:{PATH}", "DOCKER_CONFIG": str(docker)}
        self.pulled = []

    def pull(self, name):
        self.stage.engine.call("pull", "--quiet", "--tls-verify=false", f"{name}:1")
        self.pulled.append(f"{name}:1")
        self.stage.spec({"image": f"{name}:1"})

    def policy(self, **keys):
        self.stage.config({"sandbox": {"image_policy": {"require_signature": True, **keys}}})

    def by_key(self, key="one", **more):
        self.policy(cosign_public_keys=[str(self.world.keys / key / "signer.pub")], **more)

    def by_identity(self, issuer=ISSUER, subject=SUBJECT_RE):
        self.policy(cosign_identities=[{"issuer": issuer, "subject_regexp": subject}])

    def passes(self, name, digest, env=None):
        self.pull(name)
        r = self.stage.run("/bin/true", env={**self.env, **(env or {})})
        assert r.rc == 0, r
        assert r.record["image"] == f"{name}@{digest}" and not r.record["warnings"]

    def refused(self, name, env=None, detail="verification_failed", words=""):
        self.pull(name)
        a = self.stage.answer("run", "-C", self.stage.project, "--", "/bin/true", status=125,
                              env={**self.env, **(env or {})})
        assert (a["rule"], a["detail"]) == ("signature-required", detail), a
        assert words in a["error"], a
        return a

    def end(self):
        self.stage.home_is_free()
        for name in set(self.pulled):
            self.stage.engine.call("rmi", "--force", name)
        assert not (self.stage.dir / "helper-was-run").exists()


@pytest.fixture(params=["v2", "v3"])
def host(request, stage, world):
    h = Host(stage, world, request.param)
    yield h
    h.end()


def test_by_key(host, world):
    """What either version has signed; the newer form is not found by the older program."""
    host.by_key(cosign_ignore_tlog=True)
    for signer in ("v2", "v3"):
        name, digest = world.image()
        world.sign(signer, name, digest)
        if (host.version, signer) == ("v2", "v3"):
            a = host.refused(name, words="no signatures found")
            assert "v2.4.1" in a["remediation"] and "version 3" in a["remediation"]
        else:
            host.passes(name, digest)


def test_unsigned(host, world):
    host.by_key(cosign_ignore_tlog=True)
    host.refused(world.image()[0], words="no signatures found")


@pytest.mark.parametrize("signer", ["v2", "v3"])
def test_signed_by_somebody_else(host, world, signer):
    name, digest = world.image()
    world.sign(signer, name, digest, key="other")
    host.by_key(cosign_ignore_tlog=True)
    host.refused(name)
    if (host.version, signer) != ("v2", "v3"):
        host.by_key("other", cosign_ignore_tlog=True)
        host.passes(name, digest)


def test_signature_for_another_digest(host, world):
    """It is under this digest's tag, and the key is right."""
    host.by_key(cosign_ignore_tlog=True)
    name, digest = world.image()
    _, another = world.image()
    world.forge(name, digest, "key", signed=another)
    host.refused(name)
    world.forge(name, digest, "key")
    host.passes(name, digest)


def test_by_key_and_log(host, world):
    """The operator's own transparency log."""
    host.by_key()
    name, digest = world.image()
    world.forge(name, digest, "key")
    host.refused(name, env=world.sigstore(log="other"))
    host.passes(name, digest, env=world.sigstore())
    # Signed and in no log.
    name, digest = world.image()
    world.sign("v2", name, digest)
    host.refused(name, env=world.sigstore())


def test_bundle_in_a_log(host, world):
    """Why docs/images.md sends who wants this to TUF: keys alone are no trusted root."""
    host.by_key()
    name, digest = world.image()
    world.sign("v3", name, digest)
    words = {"v2": "no signatures found", "v3": "trusted root is required"}[host.version]
    host.refused(name, env=world.sigstore(), words=words)


def test_by_identity(host, world):
    """The operator's own authority, certificate log and transparency log."""
    name, digest = world.image()
    world.forge(name, digest, ISSUER, SUBJECT)
    host.by_identity(issuer="https://issuer.example")
    host.refused(name, env=world.sigstore())
    host.by_identity(subject="^https://github\\.com/evil/.+$")
    host.refused(name, env=world.sigstore())
    host.by_identity()
    host.refused(name, env=world.sigstore("other"))
    host.passes(name, digest, env=world.sigstore())
    # A key of somebody is no identity.
    name, digest = world.image()
    world.forge(name, digest, "key")
    host.refused(name, env=world.sigstore())


def test_provenance(host, world):
    """cloop's own images: signed by who publishes them, by somebody else, by nobody."""
    names = [world.image() for _ in range(4)]
    world.forge(*names[0], ISSUER, SUBJECT)
    world.forge(*names[1], ISSUER, "https://github.com/evil/x")
    if host.version == "v3":
        world.sign("v3", *names[1], key="other")
    world.sign("v3", *names[2])

    def config(mode):
        host.stage.config()
        whole = json.loads(host.stage.config_file.read_text())
        whole["executors"].update(image_provenance=mode, published_images={
            "repositories": [n for n, _ in names], "issuer": ISSUER, "subject_regexp": SUBJECT_RE})
        whole["sandbox"] = {"image_policy": {"insecure_registries": [world.host]}}
        host.stage.config_file.write_text(json.dumps(whole))
    env = world.sigstore()
    config("required")
    host.passes(*names[0], env=env)
    host.refused(names[3][0], env=env, detail="provenance_unsigned")
    config("warn")
    for name, _ in names[1:3]:  # the second of them in the form that only version 3 reads
        host.refused(name, env=env, detail="provenance_wrong")
    host.pull(names[3][0])
    r = host.stage.run("/bin/true", env={**host.env, **env})
    assert r.rc == 0 and [w["code"] for w in r.record["warnings"]] == ["image_unsigned"]
