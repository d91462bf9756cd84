"""The registry client against a registry of our own (image-trust.md §6, §7, §14.5-8): every attack
of the table ends with its code, in time, and no credential goes where it does not belong."""
import base64
import contextlib
import ctypes
import http.client as http_client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest

import fake_registry as fake
from engines import BUILD, IMAGE, PATH
from fake_registry import Answer, FakeRegistry, digest, image, redirect

CLOOP = BUILD / "src/cli/cloop"
USER, PASSWORD = "robot", "hunter2-and-more"
IDENTITY = "identity-of-the-robot"
TOKEN = "the-token-that-was-given"
OTHER = "127.0.0.2"
CERTS = pathlib.Path("/etc/containers/certs.d")
SECRETS = (PASSWORD, IDENTITY, TOKEN, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())


class Place:
    """A home, a policy, login files, and `cloop image resolve`."""

    def __init__(self, path):
        self.path = path
        self.extra = {}
        self.program = [CLOOP]
        for folder in ("home", "docker", "bin"):
            (path / folder).mkdir()
        self.policy()

    def policy(self, **keys):
        (self.path / "config.yaml").write_text(json.dumps({"sandbox": {"image_policy": keys}}))

    def login(self, key, file="docker/config.json", **entry):
        entry = entry or {"auth": base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}
        target = self.path / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps({"auths": {key: entry}}))

    def env(self):
        return {"PATH": f"{self.path}/bin:{PATH}", "HOME": str(self.path), "LC_ALL": "C.UTF-8",
                "DOCKER_CONFIG": str(self.path / "docker"),
                "XDG_RUNTIME_DIR": str(self.path / "run"),
                "CLOOP_HOME": str(self.path / "home"),
                "CLOOP_CONFIG": str(self.path / "config.yaml"), **self.extra}

    def call(self, *words):
        done = subprocess.run([*self.program, "image", "resolve", *words], env=self.env(),
                              capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        said = (done.stdout + done.stderr).decode()
        for secret in SECRETS:
            assert secret not in said
        assert "\x1b" not in said and "\x9b" not in said
        return done.returncode, said

    def ok(self, *words):
        status, said = self.call("--json", *words)
        assert status == 0, said
        return json.loads(said)

    def fails(self, code, *words):
        status, said = self.call("--json", *words)
        answer = json.loads(said)
        assert (status, answer.get("code")) == (1, code), said
        assert answer["remediation"]
        return answer["error"]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def registry(place):
    """Plain, on loopback, and listed as such."""
    r = FakeRegistry()
    place.policy(insecure_registries=[r.name])
    yield r
    r.close()


@contextlib.contextmanager
def trusted(ca, *names):
    """These hosts' certificates may come from this CA."""
    made = [d for d in (CERTS.parent, CERTS) if not d.exists()]
    folders = [CERTS / name for name in names]
    try:
        for folder in folders:
            folder.mkdir(parents=True)
            shutil.copy(ca, folder / "ca.crt")
        yield
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        for d in reversed(made):
            d.rmdir()


@pytest.fixture
def tls(place, tmp_path):
    """Two registries with TLS, at 127.0.0.1 and 127.0.0.2, of which the policy names the first."""
    if os.geteuid() != 0:
        pytest.skip("needs root: puts a CA into /etc/containers/certs.d")
    certificate, ca = fake.make_certificate(tmp_path, "127.0.0.1", OTHER)
    pair = [FakeRegistry("127.0.0.1", certificate), FakeRegistry(OTHER, certificate)]
    place.policy(allowed_registries=[pair[0].name])
    with trusted(ca, *(r.name for r in pair)):
        yield pair
    for r in pair:
        r.close()


def no_authorization(registry):
    assert registry.requests
    assert all("authorization" not in r.headers for r in registry.requests)


# ---- Digests ----

@pytest.mark.parametrize("media", [fake.INDEX, fake.LIST, fake.IMAGE, fake.DOCKER])
def test_tag_to_digest(place, registry, media):
    body = fake.manifest(media)
    registry.tag("1", image(body, media))
    answer = place.ok(f"{registry.name}/x:1")
    assert answer == {
        "image": f"{registry.name}/x:1", "registry": registry.name, "repository": "x", "tag": "1",
        "digest": digest(body), "canonical": f"{registry.name}/x@{digest(body)}",
        "media_type": media, "source": "registry", "login": None}
    [seen] = registry.requests
    assert (seen.method, seen.target) == ("HEAD", "/v2/x/manifests/1")
    assert seen.headers["accept"] == ", ".join(
        [fake.INDEX, fake.LIST, fake.IMAGE, fake.DOCKER])
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.headers["user-agent"].startswith("cloop/")
    assert "authorization" not in seen.headers and "cookie" not in seen.headers


def test_text_answer_is_what_one_pastes(place, registry):
    body = fake.manifest()
    registry.tag("latest", image(body))
    assert place.call(f"{registry.name}/x") == (0, f"{registry.name}/x@{digest(body)}\n")


@pytest.mark.parametrize("head", [
    image(Docker_Content_Digest=None), image(Docker_Content_Digest="sha256:short"),
    image(Content_Type="text/html"), Answer(405), Answer(400), Answer(406), Answer(501),
    Answer(200, b"", [("Content-Type", fake.IMAGE), ("Docker-Content-Digest", digest(b"a")),
                      ("Docker-Content-Digest", digest(b"b"))])])
def test_head_says_too_little(place, registry, head):
    body = fake.manifest()
    registry.answers["HEAD", "/v2/x/manifests/1"] = head
    registry.answers["GET", "/v2/x/manifests/1"] = image(body)
    assert place.ok(f"{registry.name}/x:1")["digest"] == digest(body)
    assert [r.method for r in registry.requests] == ["HEAD", "GET"]


def by_get(registry, answer):
    registry.answers["HEAD", "/v2/x/manifests/1"] = Answer(405)
    registry.answers["GET", "/v2/x/manifests/1"] = answer


def test_get_hashes_the_body(place, registry):
    """Without a digest header, with one by SHA-512, and with wrong ones."""
    body = fake.manifest()
    for header, code in ((None, None), (digest(body, "sha512"), None),
                         (digest(b"else"), "digest_mismatch"), ("md5:0", "digest_mismatch"),
                         (digest(b"else", "sha512"), "digest_mismatch")):
        by_get(registry, image(body, Docker_Content_Digest=header))
        if code:
            place.fails(code, f"{registry.name}/x:1")
        else:
            assert place.ok(f"{registry.name}/x:1")["digest"] == digest(body)


@pytest.mark.parametrize("body, media", [
    (fake.manifest(), fake.SCHEMA1), (fake.manifest(), None), (fake.manifest(), "text/html"),
    (fake.manifest(fake.INDEX), fake.IMAGE), (b'{"schemaVersion":1}', fake.DOCKER),
    (b'{"mediaType":7}', fake.IMAGE), (b"<html>hello</html>", "text/html"),
    (b"<html>hello</html>", fake.IMAGE), (b"[]", fake.IMAGE)])
def test_unsupported_manifests(place, registry, body, media):
    registry.tag("1", image(body, Content_Type=media, Docker_Content_Digest=None))
    place.fails("unsupported_manifest", f"{registry.name}/x:1")


def test_by_digest(place, registry):
    body, other = fake.manifest(), fake.manifest(fake.INDEX)
    registry.tag(digest(body), image(body))
    assert place.ok(f"{registry.name}/x:1@{digest(body)}")["digest"] == digest(body)
    registry.tag(digest(body), image(other, fake.INDEX))
    place.fails("digest_mismatch", f"{registry.name}/x@{digest(body)}")
    registry.answers["HEAD", f"/v2/x/manifests/{digest(body)}"] = Answer(405)
    registry.answers["GET", f"/v2/x/manifests/{digest(body)}"] = image(
        other, fake.INDEX, Docker_Content_Digest=None)
    place.fails("digest_mismatch", f"{registry.name}/x@{digest(body)}")


# ---- Statuses and bounds ----

@pytest.mark.parametrize("status, code, requests", [
    (404, "tag_not_found", 1), (403, "registry_unauthorized", 1),
    (429, "registry_rate_limited", 1), (503, "registry_server_error", 2),
    (206, "registry_bad_answer", 1), (418, "registry_bad_answer", 1)])
def test_statuses(place, registry, status, code, requests):
    registry.tag("1", Answer(status))
    place.fails(code, f"{registry.name}/x:1")
    assert len(registry.requests) == requests


def test_server_error_once(place, registry):
    registry.tag("1", [Answer(503), image()])
    place.ok(f"{registry.name}/x:1")
    assert len(registry.requests) == 2


def test_words_of_the_registry_are_tame(place, registry):
    by_get(registry, Answer(404, b'{"errors":[{"message":"no \\u001b[31msuch \\u009b tag"}]}'))
    assert "such" in place.fails("tag_not_found", f"{registry.name}/x:1")
    by_get(registry, Answer(404, b"\x1b[2Jplain\n" + b"x" * 9000))
    assert "plain" in place.fails("tag_not_found", f"{registry.name}/x:1")
    by_get(registry, Answer(404, raw=fake.endless))
    place.fails("tag_not_found", f"{registry.name}/x:1")


def test_bounds(place, registry):
    media = {"Content-Type": fake.IMAGE}
    by_get(registry, Answer(200, b"{", media, raw=fake.endless))
    assert "bytes" in place.fails("registry_bad_answer", f"{registry.name}/x:1")
    by_get(registry, image(b'{"a":"' + b"x" * ((4 << 20) - 8) + b'"}'))
    place.ok(f"{registry.name}/x:1")
    by_get(registry, image(b'{"a":"' + b"x" * ((4 << 20) - 7) + b'"}'))
    place.fails("registry_bad_answer", f"{registry.name}/x:1")
    registry.answers.clear()
    registry.tag("1", image(X="y" * (33 << 10)))
    assert "headers" in place.fails("registry_bad_answer", f"{registry.name}/x:1")
    registry.tag("1", image(**{f"X-{i}": "y" * 1000 for i in range(30)}))
    place.ok(f"{registry.name}/x:1")


def test_a_byte_a_second(place, registry):
    by_get(registry, Answer(200, b"{", {"Content-Type": fake.IMAGE}, raw=fake.trickle))
    begin = time.monotonic()
    place.fails("registry_timeout", f"{registry.name}/x:1")
    assert 14 < time.monotonic() - begin < 18


def test_gzip_is_not_taken(place, registry):
    by_get(registry, image(Content_Encoding="gzip"))
    assert "compressed" in place.fails("registry_bad_answer", f"{registry.name}/x:1")


def test_truncated_and_no_http(place, registry):
    by_get(registry, Answer(200, b"{", {"Content-Type": fake.IMAGE, "Content-Length": "99"},
                            length=False))
    place.fails("registry_unreachable", f"{registry.name}/x:1")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        name = f"127.0.0.1:{closed.getsockname()[1]}"
    place.policy(insecure_registries=[name])
    place.fails("registry_unreachable", f"{name}/x:1")


def test_trailers_are_no_headers(place, registry):
    """What comes behind the body says nothing of it."""
    body = fake.manifest()

    def send(connection):
        connection.sendall(f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n"
                           b"Docker-Content-Digest: " + digest(b"x").encode() + b"\r\n\r\n")
    by_get(registry, Answer(200, b"", {"Content-Type": fake.IMAGE,
                                       "Transfer-Encoding": "chunked"}, raw=send))
    assert place.ok(f"{registry.name}/x:1")["digest"] == digest(body)


def test_a_handshake_that_hangs(place):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        name = f"127.0.0.1:{silent.getsockname()[1]}"
        place.policy(allowed_registries=[name])
        begin = time.monotonic()
        assert "5 s" in place.fails("registry_timeout", f"{name}/x:1")
        assert 4 < time.monotonic() - begin < 8


def test_eight_requests(place, registry):
    for method, last in (("HEAD", Answer(405)), ("GET", [image(), Answer(503)])):
        for i in range(1, 4):
            registry.answers[method, f"/v2/x/manifests/{i}"] = redirect(f"{i + 1}")
        registry.answers[method, "/v2/x/manifests/4"] = last
    place.ok(f"{registry.name}/x:1")
    assert len(registry.requests) == 8
    assert "8 requests" in place.fails("registry_bad_answer", f"{registry.name}/x:1")
    assert len(registry.requests) == 16


# ---- Redirects ----

def test_redirects_are_counted(place, registry):
    registry.tag("1", redirect("/v2/x/manifests/2", 301))
    registry.tag("2", redirect("3", 302))
    registry.tag("3", redirect(f"{registry.url}/v2/x/manifests/4", 308))
    registry.tag("4", image())
    place.ok(f"{registry.name}/x:1")
    assert len(registry.requests) == 4
    registry.tag("4", redirect("5", 303))
    registry.tag("5", image())
    place.fails("registry_redirect_refused", f"{registry.name}/x:1")
    assert not registry.seen(path="/v2/x/manifests/5")


@pytest.mark.parametrize("location", [
    "http://127.0.0.2:1/x", "http://127.0.0.1:1/x", "https://127.0.0.1/x", "//127.0.0.2/x",
    "http://user@127.0.0.1/x", "http://169.254.169.254/", "ftp://127.0.0.1/", "", "a b",
    "/" + "x" * 2048, "http://127.1/x", "http:/x"])
def test_redirects_of_a_plain_registry(place, registry, location):
    """A plain registry leads to itself only."""
    registry.tag("1", redirect(location))
    place.fails("registry_redirect_refused", f"{registry.name}/x:1")
    assert len(registry.requests) == 1


def test_redirects_leave_credentials_behind(place, tls):
    first, second = tls
    place.login(first.name)
    first.tag("1", lambda r: redirect(f"{second.url}/elsewhere") if "authorization" in r.headers
              else fake.challenge('Basic realm="x"'))
    second.answers["/elsewhere"] = redirect(f"{first.url}/back")
    first.answers["/back"] = image()
    place.ok(f"{first.name}/x:1")
    no_authorization(second)
    [back] = first.seen(path="/back")
    assert "authorization" not in back.headers
    assert first.seen()[1].headers["authorization"].startswith("Basic ")


def test_redirect_to_another_port(place, tls, tmp_path_factory):
    first, _ = tls
    certificate, ca = fake.make_certificate(tmp_path_factory.mktemp("port"), "127.0.0.1")
    third = FakeRegistry("127.0.0.1", certificate)
    place.login(first.name)
    first.tag("1", [fake.challenge("Basic"), redirect(f"{third.url}/v2/x/manifests/1")])
    third.tag("1", image())
    with trusted(ca, third.name):
        place.ok(f"{first.name}/x:1")
    no_authorization(third)
    third.close()


@pytest.mark.parametrize("location, code", [
    ("http://127.0.0.1:1/x", "registry_redirect_refused"),
    (f"https://user:word@{OTHER}/x", "registry_redirect_refused"),
    ("https://169.254.169.254/latest/", "registry_address_blocked"),
    ("https://[fd00:ec2::254]/", "registry_address_blocked"),
    ("https://[::ffff:169.254.169.254]/", "registry_redirect_refused")])
def test_redirects_with_tls(place, tls, location, code):
    tls[0].tag("1", redirect(location))
    place.fails(code, f"{tls[0].name}/x:1")
    assert not tls[1].requests


def test_a_challenge_from_elsewhere_is_not_answered(place, tls):
    first, second = tls
    place.login(first.name)
    first.tag("1", redirect(f"{second.url}/v2/x/manifests/1"))
    second.tag("1", fake.challenge(f'Bearer realm="{second.url}/token"', 'Basic realm="x"'))
    place.fails("registry_unauthorized", f"{first.name}/x:1")
    no_authorization(second)
    no_authorization(first)
    assert not second.seen(path="/token")


def test_tls_is_verified(place, tls, tmp_path_factory):
    """An unknown CA, and a name that the certificate does not have."""
    certificate, ca = fake.make_certificate(tmp_path_factory.mktemp("wrong"), "127.0.0.9")
    stranger = FakeRegistry("127.0.0.1", certificate)
    place.policy(allowed_registries=[stranger.name])
    place.fails("registry_tls", f"{stranger.name}/x:1")
    with trusted(ca, stranger.name):
        place.fails("registry_tls", f"{stranger.name}/x:1")
    assert stranger.connections == 2 and not stranger.requests
    stranger.close()


# ---- Addresses ----

def test_special_addresses(place, tls, registry):
    """Loopback, by number and by name, only where somebody named it."""
    first, port = tls[0], tls[0].port
    first.tag("1", image())
    for keys in ({}, {"allowed_registries": ["*"]}, {"allowed_repos": [f"{first.name}/*",
                                                                f"localhost:{port}/*"]}):
        place.policy(**keys)
        for host in ("127.0.0.1", "localhost"):
            place.fails("registry_address_blocked", f"{host}:{port}/x:1")
    assert first.connections == 0
    place.policy()
    place.ok("--origin", "operator", f"{first.name}/x:1")
    place.policy(allowed_registries=["*", first.name])
    place.ok(f"{first.name}/x:1")
    place.policy()
    for host in ("10.0.0.1", "[::1]:5000", "169.254.169.254", "[64:ff9b::a00:1]"):
        place.fails("registry_address_blocked", f"{host}/x:1")


def test_special_addresses_through_a_proxy(place):
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        place.extra = {"HTTPS_PROXY": f"http://user:word@127.0.0.1:{proxy.getsockname()[1]}"}
        for host in ("10.0.0.1", "169.254.169.254"):
            place.fails("registry_address_blocked", f"{host}/x:1")
        place.fails("registry_address_blocked", "localhost:5000/x:1")
        proxy.settimeout(0.1)
        with pytest.raises(TimeoutError):
            proxy.accept()


def test_proxy_is_used(place):
    """It is asked to connect, and gets no header that is the registry's."""
    proxy = FakeRegistry()
    proxy.answers["CONNECT", "registry.example:443"] = Answer(502)
    try:
        place.extra = {"HTTPS_PROXY": f"http://u:proxy-word@{proxy.name}"}
        error = place.fails("registry_unreachable", "registry.example/x:1")
        assert "proxy-word" not in error
        assert [(r.method, r.target) for r in proxy.requests] == [
            ("CONNECT", "registry.example:443")]
        for bypass in ("registry.example", ".example", "a,example", "*"):
            place.extra["NO_PROXY"] = bypass
            place.fails("registry_unreachable", "registry.example/x:1")
        assert len(proxy.requests) == 1
    finally:
        proxy.close()


def test_a_refused_verdict_asks_nobody(place, registry):
    for keys in ({"allowed_registries": ["ghcr.io"]}, {"allowed_repos": ["ghcr.io/acme/*"]},
                 {"require_digest": True}):
        place.policy(insecure_registries=[registry.name], **keys)
        if "allowed_repos" in keys:
            place.policy(insecure_registries=[registry.name], allowed_registries=[registry.name],
                         allowed_repos=[f"{registry.name}/other"])
        for words in ([], ["--local"]):
            answer = place.fails("sandbox_image_denied", *words, f"{registry.name}/x:1")
            assert "(rule: " in answer
    place.policy(insecure_registries=["10.0.0.1"])
    assert "policy-configuration" in place.fails("sandbox_image_denied", f"{registry.name}/x:1")
    place.policy()
    place.fails("sandbox_invalid_spec", f"{registry.name}/x@sha256:1")
    assert registry.connections == 0


def test_no_registry(place):
    place.fails("registry_unnamed", "alpine")
    place.policy(default_registry="127.0.0.1:1")
    place.fails("registry_address_blocked", "alpine")


# ---- Tokens ----

def bearer(registry, *, realm=None, token=TOKEN, scope="repository:x:pull,push,delete",
           field="token"):
    """A registry that wants a token, and gives it at /token."""
    realm = realm or f"{registry.url}/token"
    registry.tag("1", lambda r: image() if r.headers.get("authorization") == f"Bearer {token}"
                 else fake.challenge(f'Bearer realm="{realm}",service="reg & co",scope="{scope}"'))
    registry.answers["/token"] = Answer(200, json.dumps({field: token}).encode())


def asked(request):
    return urllib.parse.parse_qs(request.target.partition("?")[2], strict_parsing=True)


@pytest.mark.parametrize("field", ["token", "access_token"])
def test_token_anonymously(place, registry, field):
    bearer(registry, field=field)
    place.ok(f"{registry.name}/x:1")
    [token] = registry.seen(path="/token")
    assert token.method == "GET" and "authorization" not in token.headers
    assert asked(token) == {"service": ["reg & co"], "scope": ["repository:x:pull"]}
    assert "scope=repository%3Ax%3Apull" in token.target
    assert len(registry.requests) == 3


def test_token_with_a_login(place, registry):
    bearer(registry, realm=f"{registry.url}/token?a=b")
    place.login(registry.name)
    answer = place.ok(f"{registry.name}/x:1")
    assert answer["login"] == {"file": str(place.path / "docker/config.json"),
                               "key": registry.name}
    [token] = registry.seen(path="/token")
    assert token.headers["authorization"] == f"Basic {SECRETS[3]}"
    assert token.target.startswith("/token?a=b&service=")


def test_token_with_an_identity(place, registry):
    bearer(registry)
    place.login(registry.name, auth=base64.b64encode(b"robot:").decode(), identitytoken=IDENTITY)
    place.ok(f"{registry.name}/x:1")
    [token] = registry.seen(path="/token")
    assert (token.method, token.target) == ("POST", "/token")
    assert "authorization" not in token.headers
    assert urllib.parse.parse_qs(token.body.decode(), strict_parsing=True) == {
        "grant_type": ["refresh_token"], "service": ["reg & co"],
        "scope": ["repository:x:pull"], "client_id": ["cloop"], "refresh_token": [IDENTITY]}


def test_token_realms(place, registry):
    for realm, code in (("http://127.0.0.2:1/token", "registry_bad_answer"),
                        (f"http://u:p@{registry.name}/token", "registry_bad_answer"),
                        (f"{registry.url}/token#a", "registry_bad_answer"),
                        ("/token", "registry_bad_answer"),
                        (f"{registry.url}/{'x' * 2048}", "registry_bad_answer"),
                        ("https://169.254.169.254/token", "registry_address_blocked")):
        registry.requests.clear()
        bearer(registry, realm=realm)
        place.login(registry.name)
        place.fails(code, f"{registry.name}/x:1")
        assert len(registry.requests) == 1
        no_authorization(registry)


def test_token_of_a_foreign_realm(place, tls):
    """The login goes where the registry sends it, the token only to the registry."""
    first, second = tls
    place.login(first.name)
    bearer(first, realm=f"{second.url}/token")
    second.answers["/token"] = first.answers.pop("/token")
    place.ok(f"{first.name}/x:1")
    assert [r.headers.get("authorization") for r in second.requests] == [f"Basic {SECRETS[3]}"]
    assert [r.headers.get("authorization") for r in first.requests] == [None, f"Bearer {TOKEN}"]


def test_token_redirected_elsewhere(place, tls):
    first, second = tls
    place.login(first.name)
    bearer(first)
    second.answers["/token"] = first.answers["/token"]
    first.answers["/token"] = redirect(f"{second.url}/token")
    place.ok(f"{first.name}/x:1")
    no_authorization(second)
    place.login(first.name, auth=base64.b64encode(b"robot:").decode(), identitytoken=IDENTITY)
    second.requests.clear()
    place.fails("registry_redirect_refused", f"{first.name}/x:1")
    assert not second.requests


@pytest.mark.parametrize("answer, code", [
    (Answer(200, json.dumps({"token": "x" * 16385}).encode()), "registry_bad_answer"),
    (Answer(200, json.dumps({"token": "a b"}).encode()), "registry_bad_answer"),
    (Answer(200, b'{"token":"a\\r\\nX: y"}'), "registry_bad_answer"),
    (Answer(200, b"{}"), "registry_bad_answer"), (Answer(200, b"<html>"), "registry_bad_answer"),
    (Answer(200, b'{"token":7}'), "registry_bad_answer"),
    (Answer(200, b" " * (65 << 10)), "registry_bad_answer"),
    (Answer(401), "registry_unauthorized"), (Answer(403), "registry_unauthorized"),
    (Answer(429), "registry_rate_limited"), (Answer(500), "registry_server_error"),
    (Answer(404), "registry_bad_answer")])
def test_token_answers(place, registry, answer, code):
    bearer(registry)
    registry.answers["/token"] = answer
    place.fails(code, f"{registry.name}/x:1")
    no_authorization(registry)


def test_token_of_the_longest_kind(place, registry):
    bearer(registry, token="x" * 16384)
    place.ok(f"{registry.name}/x:1")


def test_second_challenge(place, registry):
    place.login(registry.name)
    for line in (f'Bearer realm="{registry.url}/token"', "Basic"):
        registry.requests.clear()
        registry.answers["/token"] = Answer(200, json.dumps({"token": TOKEN}).encode())
        registry.tag("1", fake.challenge(line))
        error = place.fails("registry_unauthorized", f"{registry.name}/x:1")
        assert registry.name in error and "config.json" in error
        assert len(registry.seen(path="/v2/")) == 2


def test_an_echo_of_the_credential_is_not_shown(place, registry):
    place.login(registry.name)

    def echo(request):
        sent = request.headers.get("authorization")
        return Answer(418, f"you sent {sent}".encode()) if sent else fake.challenge("Basic")
    registry.answers["HEAD", "/v2/x/manifests/1"] = Answer(405)
    registry.answers["GET", "/v2/x/manifests/1"] = echo
    assert "you sent" not in place.fails("registry_bad_answer", f"{registry.name}/x:1")


def test_a_credential_in_a_location_goes_nowhere(place, tls):
    first, second = tls
    place.login(first.name)
    second.answers["/e"] = image()
    first.tag("1", lambda r: redirect(f"{second.url}/e?{r.headers['authorization'].split()[1]}")
              if "authorization" in r.headers else fake.challenge("Basic"))
    place.fails("registry_bad_answer", f"{first.name}/x:1")
    first.tag("1", lambda r: redirect(f"{second.url}/e?{PASSWORD}"))
    place.fails("registry_bad_answer", f"{first.name}/x:1")
    assert not second.requests


@pytest.mark.parametrize("lines, code", [
    (["Digest realm=x"], "registry_bad_answer"), ([], "registry_bad_answer"),
    (["Basic"], "registry_unauthorized"), (["Bearer x=" + "y" * 8192], "registry_bad_answer"),
    (["x"] * 300 + ["Basic"], "registry_unauthorized")])
def test_challenges_that_cannot_be_answered(place, registry, lines, code):
    registry.tag("1", fake.challenge(*lines))
    error = place.fails(code, f"{registry.name}/x:1")
    assert ("anonymously" in error) == (code == "registry_unauthorized")


def test_first_header_with_a_blank(place, registry):
    """It continues no header of the answer before it: libcurl 7.88 keeps a pointer to one that is
    freed when a handle is used again. What was freed is no address here."""
    place.extra["MALLOC_PERTURB_"] = "165"
    registry.tag("1", redirect("/again"))
    for name in (" ", "\t", " Location"):
        registry.answers["/again"] = Answer(200, b"", [(name, "y" * 100), ("X", "1")])
        place.fails("registry_bad_answer", f"{registry.name}/x:1")


# ---- Logins ----

def test_login_of_the_longest_key(place, registry):
    by_key = {f"{registry.name}/x/y": "long", registry.name: "short"}
    (place.path / "docker/config.json").write_text(json.dumps({"auths": {
        k: {"auth": base64.b64encode(f"{u}:word".encode()).decode()} for k, u in by_key.items()}}))
    for repository, user in (("x/y/z", "long"), ("x/y", "long"), ("x", "short"), ("x/yz", "short")):
        registry.requests.clear()
        registry.tag("1", lambda r: image() if "authorization" in r.headers
                     else fake.challenge("Basic"), repository)
        place.ok(f"{registry.name}/{repository}:1")
        sent = registry.requests[1].headers["authorization"].split()[1]
        assert base64.b64decode(sent).decode() == f"{user}:word"


def test_broken_logins_are_not_none(place, registry):
    registry.tag("1", image())
    for content, code in (("", "auth_file_broken"), ("[]", "auth_file_broken"),
                          ('{"auths":7}', "auth_file_broken"),
                          (json.dumps({"auths": {registry.name: {"auth": PASSWORD}}}),
                           "auth_entry_broken"),
                          (PASSWORD, "auth_file_broken"), (" " * ((1 << 20) + 1),
                                                           "auth_file_broken")):
        (place.path / "docker/config.json").write_text(content)
        assert "config.json" in place.fails(code, f"{registry.name}/x:1")
    assert registry.connections == 0


def test_helpers_are_never_run(place, registry):
    """They are only named, where a login would have been wanted."""
    canary, ran = place.path / "bin/docker-credential-canary", place.path / "ran"
    canary.write_text(f"#!/bin/sh\ntouch {ran}\n")
    canary.chmod(0o755)
    for content in ({"credsStore": "canary"}, {"credHelpers": {registry.name: "canary"}},
                    {"auths": {registry.name: {}}, "credsStore": "canary"}):
        (place.path / "docker/config.json").write_text(json.dumps(content))
        registry.tag("1", fake.challenge("Basic"))
        error = place.fails("registry_unauthorized", f"{registry.name}/x:1")
        assert "anonymously" in error and "canary" in error
    assert not ran.exists()


def test_secrets_are_in_no_command_line(place, registry):
    """What other users of the machine can read while it asks."""
    place.login(registry.name)
    seen = []

    def look(request):
        for proc in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                seen.append((proc / "cmdline").read_bytes())
            except OSError:
                pass
        return image() if "authorization" in request.headers else fake.challenge("Basic")
    registry.tag("1", look)
    place.ok(f"{registry.name}/x:1")
    assert any(b"resolve" in words for words in seen)
    assert not any(s.encode() in words for s in SECRETS for words in seen)


# ---- Public and private addresses, in a network of our own ----

HOSTS = {"public.example": "8.8.8.8", "other.example": "8.8.4.4", "inside.example": "10.0.0.1"}
CLONE_FS, CLONE_NEWNS, CLONE_NEWNET = 0x200, 0x20000, 0x40000000


def in_own_network(body, *arguments):
    """Runs it in a thread with a network and mounts of its own, in which HOSTS are here. Sockets
    and children of that thread belong there."""
    failure = []

    def enter():
        try:
            if ctypes.CDLL(None, use_errno=True).unshare(CLONE_FS | CLONE_NEWNS | CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "unshare")
            for words in (["mount", "--make-rprivate", "/"], ["ip", "link", "set", "lo", "up"],
                          *(["ip", "addr", "add", a, "dev", "lo"] for a in HOSTS.values()),
                          *(["mount", "--bind", arguments[0].path / f, f"/etc/{f}"]
                            for f in ("hosts", "resolv.conf"))):
                subprocess.run(words, check=True, capture_output=True)
            body(*arguments)
        except BaseException as e:
            failure.append(e)
    (arguments[0].path / "hosts").write_text("".join(f"{a} {n}\n" for n, a in HOSTS.items()))
    (arguments[0].path / "resolv.conf").write_text("nameserver 127.0.0.1\noptions attempts:1 timeout:30\n")
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]


def meet_private_addresses(place, folder):
    """A public registry leads nobody inside; one that is inside may be named by an operator."""
    certificate, ca = fake.make_certificate(folder, *HOSTS, *HOSTS.values())
    servers = {n: FakeRegistry(a, certificate) for n, a in HOSTS.items()}
    names = {n: f"{n}:{r.port}" for n, r in servers.items()}
    with trusted(ca, *names.values()):
        meet_redirects_and_realms(place, servers, names)
        meet_the_operator(place, servers["inside.example"], names["inside.example"])
    for r in servers.values():
        r.close()


def meet_redirects_and_realms(place, servers, names):
    public, inside = servers["public.example"], servers["inside.example"]
    name = names["public.example"]
    public.tag("1", image())
    assert place.ok(f"{name}/x:1")
    for target in (f"https://{names['inside.example']}", f"https://{inside.name}"):
        public.tag("1", redirect(f"{target}/v2/x/manifests/1"))
        place.fails("registry_address_blocked", f"{name}/x:1")
        place.login(name)
        bearer(public, realm=f"{target}/token")
        place.fails("registry_address_blocked", f"{name}/x:1")
        no_authorization(public)
    bearer(public, realm=f"https://{names['other.example']}/token")
    servers["other.example"].answers["/token"] = public.answers["/token"]
    assert place.ok(f"{name}/x:1")
    assert inside.connections == 0


def meet_the_operator(place, inside, name):
    place.fails("registry_address_blocked", f"{name}/x:1")
    assert inside.connections == 0
    inside.tag("1", image())
    place.policy(allowed_registries=[f"*.example:{inside.port}"])
    assert place.ok(f"{name}/x:1")
    place.policy()
    assert place.ok("--origin", "operator", f"{name}/x:1")


def test_private_addresses(place, tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("needs root: a network of its own")
    in_own_network(meet_private_addresses, place, tmp_path_factory.mktemp("own"))


def meet_a_name_server(place):
    """It counts questions, and knows nothing; when it is silent, it is not waited for."""
    questions, silent = [], []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 53))

        def answer():
            while True:
                question, peer = server.recvfrom(512)
                if peer[1] == own.getsockname()[1]:
                    return
                questions.append(question)
                if not silent:
                    server.sendto(question[:2] + b"\x81\x83" + question[4:], peer)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.bind(("127.0.0.1", 0))
            thread = threading.Thread(target=answer)
            thread.start()
            place.policy(allowed_registries=["ghcr.io"])
            for name in ("evil.example/x:1", "evil.example/x@" + digest(b"x"), "ghcr.io.evil/x"):
                place.fails("sandbox_image_denied", name)
            assert not questions
            place.policy()
            place.fails("registry_unreachable", "evil.example/x:1")
            assert questions
            silent.append(True)
            begin = time.monotonic()
            place.fails("registry_timeout", "evil.example/x:1")
            assert time.monotonic() - begin < 8
            own.sendto(b"", ("127.0.0.1", 53))
            thread.join()


def test_a_refused_verdict_resolves_no_name(place):
    if os.geteuid() != 0:
        pytest.skip("needs root: a network of its own")
    in_own_network(meet_a_name_server, place)


# ---- What no command shows ----

def ask(place, *words):
    done = subprocess.run([BUILD / "tests/registry/registry-ask", *words], env=place.env(),
                          capture_output=True, timeout=60, text=True, check=True)
    return done.stdout.strip()


SIGSTORE = "application/vnd.dev.sigstore.bundle.v0.3+json"
COSIGN = "application/vnd.dev.cosign.artifact.sig.v1+json"


def listing(*kinds):
    return Answer(200, json.dumps({"schemaVersion": 2, "mediaType": fake.INDEX, "manifests": [
        {"mediaType": fake.IMAGE, "digest": digest(b"s"), "size": 1, "artifactType": k}
        for k in kinds]}).encode(), {"Content-Type": fake.INDEX})


NONE, BROKEN = Answer(404), Answer(500)


@pytest.mark.parametrize("referrers, index, tag, expect", [
    (listing(SIGSTORE), NONE, NONE, "present"), (listing("text/x", COSIGN), NONE, NONE, "present"),
    (listing(), NONE, image(), "present"), (NONE, listing(COSIGN), NONE, "present"),
    (NONE, NONE, image(), "present"), (BROKEN, NONE, image(), "present"),
    (listing(), listing(COSIGN), NONE, "absent"), (listing("application/spdx+json"), NONE, NONE,
                                                   "absent"),
    (NONE, NONE, NONE, "absent"), (NONE, listing("text/x"), NONE, "absent"),
    (NONE, image(), NONE, "absent"),
    (BROKEN, NONE, NONE, "unknown registry_server_error"),
    (NONE, BROKEN, NONE, "unknown registry_server_error"),
    (NONE, NONE, Answer(403), "unknown registry_unauthorized"),
    (Answer(200, b"<html>"), NONE, NONE, "unknown registry_bad_answer"),
    (Answer(200, b"{}"), NONE, NONE, "unknown registry_bad_answer"),
    (NONE, Answer(200, b"x", {"Content-Type": "text/html"}), NONE, "unknown registry_bad_answer")])
def test_signatures(place, registry, referrers, index, tag, expect):
    d = digest(b"image")
    registry.answers[f"/v2/x/referrers/{d}"] = referrers
    registry.tag(d.replace(":", "-"), index)
    registry.tag(d.replace(":", "-") + ".sig", tag)
    assert ask(place, "signature", f"{registry.name}/x", d) == expect
    assert len(registry.requests) <= 8


def test_signatures_of_nobody(place):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        name = f"127.0.0.1:{closed.getsockname()[1]}"
    assert ask(place, "signature", f"{name}/x", digest(b"i")) == "unknown registry_unreachable"


def labelled(registry, labels, platforms=None):
    """An image with these labels in the registry: its digest; or of an index of these."""
    def put(kind, body, media):
        registry.answers[f"/v2/x/{kind}/{digest(body)}"] = Answer(
            200, body, {"Content-Type": media})
        return digest(body)
    config = put("blobs", json.dumps({"config": {"Labels": labels}}).encode(), "text/plain")
    one = put("manifests", fake.manifest(fake.IMAGE, config={"digest": config}), fake.IMAGE)
    if platforms is None:
        return one
    entries = [{"digest": one if p[2] else digest(p[1].encode()),
                "platform": {"os": p[0], "architecture": p[1]}} for p in platforms]
    return put("manifests", fake.manifest(fake.INDEX, manifests=entries), fake.INDEX)


def test_labels(place, registry):
    own = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    name, label = f"{registry.name}/x", {"org.cloop.harnesses": "claude,git"}
    for platforms in (None, [("linux", "none", False), ("linux", own, True)],
                      [("windows", own, False), ("linux", "none", True)]):
        assert ask(place, "label", name, labelled(registry, label, platforms)) == "claude,git"
    for labels in (None, {}, {"other": "x"}, {"org.cloop.harnesses": 7}):
        assert ask(place, "label", name, labelled(registry, labels)) == "-"
    assert ask(place, "label", name, labelled(registry, label, [("windows", own, True)])) == \
        "error unsupported_manifest"
    registry.answers.clear()
    d = labelled(registry, label)
    for target in list(registry.answers):
        if target.endswith(d) or "/blobs/" in target:
            kept, registry.answers[target] = registry.answers[target], Answer(
                200, fake.manifest(), {"Content-Type": fake.IMAGE})
            assert ask(place, "label", name, d) == "error digest_mismatch"
            registry.answers[target] = kept
    assert ask(place, "label", name, digest(b"gone")) == "error tag_not_found"


def test_cancelled(place, registry):
    """While bytes trickle, and while it waits before the second attempt."""
    by_get(registry, Answer(200, b"{", {"Content-Type": fake.IMAGE}, raw=fake.trickle))
    for answer in (None, Answer(503)):
        if answer:
            registry.answers.clear()
            registry.tag("1", answer)
        begin = time.monotonic()
        assert ask(place, "cancel", f"{registry.name}/x:1") == "start_cancelled"
        assert time.monotonic() - begin < 3


# ---- Debian's docker-registry ----

@pytest.fixture
def docker_registry(tmp_path):
    """The real program, with or without a password: a function that starts one."""
    running = []

    def start(password=False):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        config = {"version": 0.1, "log": {"level": "error"}, "http": {"addr": f"127.0.0.1:{port}"},
                  "storage": {"filesystem": {"rootdirectory": str(tmp_path / f"store-{port}")}}}
        if password:
            users = tmp_path / "htpasswd"
            users.write_bytes(subprocess.run(["htpasswd", "-Bbn", USER, PASSWORD], check=True,
                                             capture_output=True).stdout)
            config["auth"] = {"htpasswd": {"realm": "test", "path": str(users)}}
        (tmp_path / f"{port}.yml").write_text(json.dumps(config))
        running.append(subprocess.Popen(["docker-registry", "serve", tmp_path / f"{port}.yml"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL))
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    return f"127.0.0.1:{port}"
            time.sleep(0.05)
        pytest.fail("docker-registry does not start")
    yield start
    for p in running:
        p.terminate()
        p.wait(10)


def http(name, method, path, body=None, **headers):
    c = http_client.HTTPConnection(name, timeout=10)
    c.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    answer = c.getresponse()
    answer.read()
    assert answer.status < 300, (path, answer.status)
    return answer


def push(name, body, media, tag, **headers):
    http(name, "PUT", f"/v2/a/b/manifests/{tag}", body, Content_Type=media, **headers)


def push_image(name, **headers):
    """A blob, an image of it, and an index of that: their digests."""
    blob = b"{}"
    where = http(name, "POST", "/v2/a/b/blobs/uploads/", b"", **headers).headers["Location"]
    target = where.partition(name)[2] or where
    http(name, "PUT", f"{target}{'&' if '?' in target else '?'}digest={digest(blob)}", blob,
         Content_Type="application/octet-stream", **headers)
    one = fake.manifest(fake.IMAGE, layers=[], config={
        "mediaType": "application/vnd.oci.image.config.v1+json", "size": 2,
        "digest": digest(blob)})
    push(name, one, fake.IMAGE, "one", **headers)
    index = fake.manifest(fake.INDEX, manifests=[{
        "mediaType": fake.IMAGE, "digest": digest(one), "size": len(one),
        "platform": {"os": "linux", "architecture": "amd64"}}])
    push(name, index, fake.INDEX, "many", **headers)
    return digest(one), digest(index)


def test_docker_registry(place, docker_registry):
    name = docker_registry()
    one, index = push_image(name)
    place.policy(insecure_registries=[name], require_digest=False)
    assert place.ok(f"{name}/a/b:one")["digest"] == one
    assert place.ok(f"{name}/a/b:many")["digest"] == index
    assert place.ok(f"{name}/a/b@{index}")["canonical"] == f"{name}/a/b@{index}"
    place.fails("tag_not_found", f"{name}/a/b:none")
    assert ask(place, "signature", f"{name}/a/b", index) == "absent"
    assert ask(place, "label", f"{name}/a/b", index) == "-"


def test_docker_registry_with_a_password(place, docker_registry):
    name = docker_registry(password=True)
    push_image(name, Authorization=f"Basic {SECRETS[3]}")
    place.policy(insecure_registries=[name])
    assert "anonymously" in place.fails("registry_unauthorized", f"{name}/a/b:one")
    place.login(f"{name}/a", file="run/containers/auth.json")
    answer = place.ok(f"{name}/a/b:one")
    assert answer["login"] == {"file": str(place.path / "run/containers/auth.json"),
                               "key": f"{name}/a"}
    place.login(name, auth=base64.b64encode(b"robot:wrong").decode())
    assert f"{name}" in place.fails("registry_unauthorized", f"{name}/a/b:one")


# ---- The engine's store ----

def test_local(stage, place):
    """What a run would get; no registry is asked for it."""
    def resolve(*words):
        r = stage.cloop("image", "resolve", "--json", "--local", *words)
        return r.rc, json.loads(r.out)
    status, answer = resolve(IMAGE)
    assert status == 0
    assert answer == {"image": IMAGE, "registry": "localhost", "repository": "cloop-e2e",
                      "tag": "1", "digest": "", "canonical": "", "source": "local", "login": None}
    server = FakeRegistry()
    name = f"{server.name}/x:1"
    try:
        status, answer = resolve(name)
        assert (status, answer["code"]) == (1, "image_missing")
        assert f"pull {name}" in answer["remediation"]
        stage.config({"sandbox": {"image_policy": {"allowed_registries": ["ghcr.io"],
                                                   "insecure_registries": [server.name]}}})
        status, answer = resolve(name)
        assert (status, answer["code"]) == (1, "sandbox_image_denied")
        stage.spec({"image": name})
        stage.refused("/bin/true", code="sandbox_image_denied")
        assert server.connections == 0
    finally:
        server.close()
