"""cloop doctor (image-trust.md §13): what it says of a policy, of cosign and its keys, of registries,
of a configuration that is broken."""
import json
import socket
import subprocess

import pytest

from engines import BUILD, PATH
from fake_cosign import FakeCosign
from fake_registry import Answer, FakeRegistry, endless, redirect

CLOOP = BUILD / "src/cli/cloop"
VERSION = "print('GitVersion:    v3.0.2')"
IMAGES = ["images.policy", "images.digest_pinning", "images.signature", "images.configured",
          "images.registry"]


class Place:
    """A configuration without an executor, and `cloop doctor`."""

    def __init__(self, path):
        self.path, self.env = path, {"PATH": PATH}
        self.policy()

    def policy(self, **keys):
        self.write(json.dumps({
            "executors": {"container": {"enabled": False}, "image_provenance": "required"},
            "sandbox": {"image_policy": keys}}))

    def write(self, text):
        (self.path / "config.yaml").write_text(text)

    def call(self, *words):
        done = subprocess.run(
            [CLOOP, "doctor", *words, "--home", self.path / "home",
             "--config", self.path / "config.yaml"], capture_output=True, timeout=120,
            stdin=subprocess.DEVNULL, env={"HOME": str(self.path), "LC_ALL": "C.UTF-8", **self.env})
        assert b"\x1b" not in done.stdout + done.stderr and not done.stderr
        return done.returncode, done.stdout.decode()

    def checks(self, name, *words):
        """Those of this name; what all of them say together is held against the exit status."""
        status, said = self.call("--json", *words)
        report = json.loads(said)
        assert list(report) == ["ok", "checks"]
        assert all(list(c) == ["name", "level", "message", "fix"] for c in report["checks"])
        fails = any(c["level"] == "fail" for c in report["checks"])
        assert (report["ok"], status) == (not fails, int(fails)), said
        return [c for c in report["checks"] if c["name"] == name]

    def one(self, name, *words):
        [check] = self.checks(name, *words)
        assert bool(check["fix"]) == (check["level"] != "ok"), check
        return check["level"], check["message"]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def registry(place):
    r = FakeRegistry()
    place.policy(allowed_registries=[r.name], insecure_registries=[r.name], require_digest=True)
    yield r
    r.close()


@pytest.fixture
def cosign(place):
    c = FakeCosign(place.path / "fake")
    place.env = c.env
    c.tell(VERSION)
    key = place.path / "a.pub"
    key.write_text("a key\n")
    key.chmod(0o644)
    place.policy(require_signature=True, cosign_public_keys=[str(key)])
    return c


# ---- The policy ----

def test_all_is_well(place):
    place.policy(allowed_registries=["*.example.com"], require_digest=True)
    status, said = place.call()
    lines = said.splitlines()
    assert status == 0 and [line.split()[:2] for line in lines] == [
        ["ok", f"{n}:"] for n in [*IMAGES, "limits"]]


def test_absent_configuration_is_the_defaults(place):
    (place.path / "config.yaml").unlink()
    assert place.one("images.policy", "--offline")[0] == "warn"


def test_any_registry(place):
    place.policy(allowed_registries=["*"], allowed_repos=["acme/app"])
    checks = place.checks("images.policy", "--offline")
    assert {c["level"] for c in checks} == {"warn"}
    assert any("registry.invalid/acme/app@sha256:" in c["message"] for c in checks)


def break_section(place):
    place.policy(allowed_registries=[""], other=1)


def break_elsewhere(place):
    place.write("executors: {container: {memory: [1]}}")


def break_yaml(place):
    place.write("sandbox: {\x1b")


def replace_by_directory(place):
    (place.path / "config.yaml").unlink()
    (place.path / "config.yaml").mkdir()


@pytest.mark.parametrize("damage", [break_section, break_elsewhere, break_yaml,
                                    replace_by_directory])
def test_broken_configuration(place, damage):
    damage(place)
    checks = place.checks("images.policy")
    assert checks and {c["level"] for c in checks} == {"fail"}
    for name in IMAGES[1:]:
        assert place.one(name) == ("warn", "not checked: the configuration is broken")
    status, said = place.call()
    assert status == 1 and said.startswith("fail  images.policy: ")


def test_configuration_with_a_metadata_service(place):
    place.write("executors: {container: {egress_filter: {allow_cidrs: [10.0.0.0/8, 169.254.0.0/16],"
                " allow_ports: [80]}}}")
    level, message = place.one("firewall.metadata")
    assert level == "fail" and "egress_filter.allow_cidrs[1]: 169.254.0.0/16 contains" in message
    place.write("executors: {container: {egress_filter: {allow_cidrs: [10.0.0.0/8]}}}")
    assert place.checks("firewall.metadata") == []


def test_home_that_cannot_be_used(place):
    (place.path / "home").write_text("")
    assert place.one("home")[0] == "fail"
    assert place.one("images.policy")[0] == "ok"


# ---- cosign ----

def test_cosign_is_named(place, cosign):
    level, message = place.one("images.signature")
    assert level == "ok" and "v3.0.2" in message
    assert cosign.calls() == []  # nothing was verified


def test_no_cosign(place, cosign):
    place.env = {"PATH": PATH}
    level, message = place.one("images.signature")
    assert level == "fail" and "no cosign" in message


@pytest.mark.parametrize("code", ["sys.exit(1)", "print('v3')", "print('GitVersion: v3\\x1b[2J')"])
def test_cosign_without_a_version(place, cosign, code):
    cosign.tell(code)
    assert place.one("images.signature")[0] == "warn"


@pytest.mark.parametrize("damage", [lambda k: k.unlink(), lambda k: k.chmod(0o666)])
def test_key_that_cannot_be_used(place, cosign, damage):
    damage(place.path / "a.pub")
    level, message = place.one("images.signature")
    assert level == "fail" and "a.pub" in message


def test_cosign_without_a_home(place, cosign):
    (place.path / "home").write_text("")
    assert place.one("images.signature")[0] == "warn"


# ---- Registries ----

@pytest.mark.parametrize("status,level", [(200, "ok"), (204, "ok"), (401, "ok"), (403, "ok"),
                                          (404, "warn"), (429, "warn"), (500, "warn")])
def test_registry_answers(place, registry, status, level):
    registry.answers["/v2/"] = Answer(status, b"\x1b[2J" if status == 500 else b"{}")
    assert place.one("images.registry") == (level, f"{registry.name} answers with {status}")
    [seen] = registry.requests
    assert (seen.method, seen.target) == ("GET", "/v2/")
    assert "authorization" not in seen.headers


def test_redirect_is_an_answer_and_not_followed(place, registry):
    registry.answers["/v2/"] = redirect(f"{registry.url}/elsewhere")
    assert place.one("images.registry")[0] == "ok"
    assert len(registry.requests) == 1


def test_each_host_once(place, registry):
    registry.answers["/v2/"] = Answer(200)
    place.policy(allowed_registries=[registry.name, "*.example.com"],
                 allowed_repos=[f"{registry.name}/a", f"{registry.name}/b/*", "acme/app"],
                 insecure_registries=[registry.name], require_digest=True)
    assert place.one("images.registry")[0] == "ok" and len(registry.requests) == 1


def test_registry_is_silent(place):
    with socket.create_server(("127.0.0.1", 0)) as s:
        name = f"127.0.0.1:{s.getsockname()[1]}"
    place.policy(allowed_registries=[name], insecure_registries=[name])
    level, message = place.one("images.registry")
    assert level == "fail" and name in message


def test_something_else_speaks_there(place, registry):
    registry.answers["/v2/"] = Answer(raw=endless)
    assert place.one("images.registry")[0] == "warn"


def test_private_address_only_for_a_registry_that_is_named(place, registry):
    place.policy(allowed_registries=["*"], allowed_repos=[f"{registry.name}/a"])
    level, message = place.one("images.registry")
    assert level == "fail" and registry.name in message
    assert registry.connections == 0


def test_offline(place, registry):
    assert place.one("images.registry", "--offline") == ("warn", "no registry was asked")
    assert registry.connections == 0
