"""Signatures (image-trust.md §8, §14.9) with a script in cosign's place, which records what it is
called with and behaves as told. The real program: scripts/check-cosign."""
import fcntl
import json
import os
import pathlib
import signal
import sqlite3
import time

import pytest

import crashing
from engines import IMAGE, PATH, once, rootfs
from fake_cosign import FAIL, FakeCosign
from local_registry import LocalRegistry

STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code])
open(place + "/child", "w").write(str(child.pid))
"""


@pytest.fixture(scope="module")
def image(engine, tmp_path_factory):
    """An image of the store that has one digest there: on docker only a registry gives it one; on
    podman every digest that the common image ever got is listed for all its names."""
    if engine.kind == "podman":
        name = "ghcr.io/acme/signed:1"
        engine.call("import", "--change", "ENV PATH=/bin", "--change", "LABEL own=signed", "-",
                    name, data=rootfs())
        yield name
        engine.call("rmi", name)
        return
    with LocalRegistry(tmp_path_factory.mktemp("registry") / "r") as registry:
        name = f"{registry.host}/acme/signed:1"
        engine.call("tag", IMAGE, name)
        engine.call("push", name)
        yield name
        engine.call("rmi", name)


class Signed:
    """A stage whose project names an image that has to be signed."""

    def __init__(self, stage, image):
        self.stage, self.image = stage, image
        self.cosign = FakeCosign(stage.dir / "fake")
        self.key = stage.dir / "a.pub"
        self.key.write_text("a key\n")
        stage.engine.own(self.key) if os.geteuid() == 0 and stage.engine.key == "R" else None
        self.policy()
        stage.spec({"image": image})

    def policy(self, **keys):
        base = {"require_signature": True, "cosign_public_keys": [str(self.key)]}
        self.stage.config({"sandbox": {"image_policy": {**base, **keys}}})

    def passes(self, env=None):
        r = self.stage.run("/bin/true", env={**self.cosign.env, **(env or {})})
        assert r.rc == 0, r
        return r

    def refused(self, detail, rule="signature-required", env=None, **more):
        r = self.stage.refused("/bin/true", code="sandbox_image_denied",
                               env={**self.cosign.env, **(env or {})}, **more)
        assert f"(rule: {rule})" in r.err.decode()
        a = self.stage.answer("sandbox", "explain", "-C", self.stage.project, status=1,
                              env={**self.cosign.env, **(env or {})})
        assert (a["code"], a["rule"], a.get("detail")) == ("sandbox_image_denied", rule, detail), a
        assert (a["image"], a["origin"]) == (self.image, "project")
        return r, a


def no_logins_stay():
    """Those of other parts of the suite come and go."""
    def there():
        return set(pathlib.Path("/dev/shm").glob("cloop-cosign-*"))

    seen = there()
    crashing.until(lambda: not seen & there(), "end of cosign's logins")


@pytest.fixture
def signed(stage, image):
    yield Signed(stage, image)
    no_logins_stay()


def gone(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_verified_digest_runs(signed):
    r = signed.passes(env={"COSIGN_EXPERIMENTAL": "1", "COSIGN_REPOSITORY": "evil.example/x",
                           "SIGSTORE_REKOR_PUBLIC_KEY": "/r", "SIGSTORE_NO_CACHE": "true",
                           "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1",
                           "SSL_CERT_FILE": "/c", "SSL_CERT_DIR": "/d", "AWS_SECRET": "x",
                           "DOCKER_CONFIG": "/nonexistent", "LD_PRELOAD": ""})
    digest = r.record["image_digest"]
    name = signed.image.rsplit(":", 1)[0]
    assert r.record["image"] == f"{name}@{digest}" and r.record["reproducible"]
    [call] = signed.cosign.calls()
    assert call["argv"][1:] == ["verify", "--key", str(signed.key), "--output", "text", "--",
                                f"{name}@{digest}"]
    home = signed.stage.home.resolve()
    login = call["env"].pop("DOCKER_CONFIG")
    assert call["env"].pop("PATH").split(":")[0] == str(signed.cosign.place)
    call["env"].pop("LC_CTYPE", None)  # Python's own
    assert call["env"] == {
        "LANG": "C", "HOME": f"{home}/cosign", "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1", "SSL_CERT_FILE": "/c", "SSL_CERT_DIR": "/d",
        "SIGSTORE_REKOR_PUBLIC_KEY": "/r", "SIGSTORE_NO_CACHE": "true"}
    assert (call["home_mode"], call["login_mode"]) == (0o700, 0o700)
    assert login.startswith("/dev/shm/") and not os.path.exists(login)
    assert call["login"] == {"auths": {}}
    assert (call["stdin"], call["pgid"], call["one_pipe"]) == ("/dev/null", call["pid"], True)
    assert not list((signed.stage.home / "locks").glob("verify-*"))


@once
def test_order_of_attempts(signed):
    """Keys, then identities, each once; the first success ends it."""
    other = signed.stage.dir / "b.pub"
    other.write_text("another\n")
    issuer, subject = "https://issuer.example", "^https://github\\.com/acme/.+$"
    signed.policy(cosign_public_keys=[str(other), str(signed.key), str(other)],
                  cosign_identities=[{"issuer": issuer, "subject_regexp": subject}],
                  cosign_ignore_tlog=True)
    signed.cosign.tell("sys.exit('--key' in sys.argv)")
    signed.passes()
    words = [c["argv"][2:-4] for c in signed.cosign.calls()]
    flag = "--insecure-ignore-tlog"
    assert words == [["--key", str(other), flag], ["--key", str(signed.key), flag],
                     ["--certificate-oidc-issuer", issuer, "--certificate-identity-regexp",
                      subject]]
    signed.policy(cosign_public_keys=[str(signed.key), str(other)])
    signed.cosign.tell("sys.exit(0)")
    signed.passes()
    assert len(signed.cosign.calls()) == 1


@once
def test_login_is_the_only_one(signed):
    """And no credential helper is run, by cosign neither."""
    host = signed.image.split("/")[0]
    config = signed.stage.dir / "docker"
    config.mkdir()
    (config / "config.json").write_text(json.dumps({
        "credsStore": "canary", "credHelpers": {host: "canary"},
        "auths": {host: {"auth": "dXNlcjpzZWNyZXQtd29yZA=="},
                  "other.example": {"auth": "bzpv"}}}))
    for name in ("canary", "secretservice", "pass"):
        canary = signed.cosign.place / f"docker-credential-{name}"
        canary.write_text(f"#!/bin/sh\n: >{signed.cosign.place}/canary\n")
        canary.chmod(0o755)
    signed.cosign.tell(FAIL)
    r, _ = signed.refused("verification_failed", env={"DOCKER_CONFIG": str(config)})
    call = signed.cosign.calls()[0]
    assert call["login"] == {"auths": {host: {"auth": "dXNlcjpzZWNyZXQtd29yZA=="}}}
    assert not (signed.cosign.place / "canary").exists()
    assert b"secret" not in r.err and "secret" not in json.dumps(r.record)
    (config / "config.json").write_text("{")
    broken = signed.stage.run("/bin/true", env={**signed.cosign.env,
                                                "DOCKER_CONFIG": str(config)})
    assert broken.record["code"] == "auth_file_broken" and not signed.cosign.calls()


@once
def test_stale_logins_go(signed):
    """What a killed process left is removed, what another one uses now is not."""
    old, new = (pathlib.Path(f"/dev/shm/cloop-cosign-{n}-{os.getpid()}") for n in ("old", "new"))
    for path in (old, new):
        path.mkdir(mode=0o700)
        (path / "config.json").write_text("{}")
        os.chown(path, signed.stage.engine.uid, signed.stage.engine.gid)
        os.chown(path / "config.json", signed.stage.engine.uid, signed.stage.engine.gid)
    user = os.open(new, os.O_RDONLY)
    fcntl.flock(user, fcntl.LOCK_EX)
    os.utime(new, (1, 1))
    signed.passes()
    assert not old.exists() and new.exists()
    os.close(user)
    signed.passes()  # from the cache
    assert not new.exists()


def test_missing(signed):
    relative = signed.stage.dir / "cosign"  # "." would be this, and a directory is no program
    relative.mkdir()
    for path in (f"/nonexistent:{PATH}", f"{signed.stage.dir}:{PATH}", f".::fake:{PATH}"):
        _, a = signed.refused("cosign_missing", env={"PATH": path})
        assert "https://docs.sigstore.dev" in a["remediation"]
    signed.cosign.program.chmod(0o644)
    signed.refused("cosign_missing")
    assert not signed.cosign.calls()
    rows = [r for r in signed.stage.answer("audit", "list", "--limit", "0")["rows"]
            if r["action"] == "sandbox.image_denied"]
    assert len(rows) == 4  # of the runs, not of explaining them
    assert (rows[0]["payload"]["rule"], rows[0]["payload"]["detail"]) == (
        "signature-required", "cosign_missing")


@once
def test_junk(signed):
    """Its last line is quoted, and does nothing to who reads it; a failure is not kept."""
    signed.cosign.tell(r"""
sys.stdout.buffer.write(b'first\n\x1b]0;title\x07 \xff \xc2\x9b31m caf\xc3\xa9 ' + b'x' * 700)
sys.stdout.buffer.write(b'\n \r\n\n')
sys.exit(1)""")
    r, a = signed.refused("verification_failed")
    shown = r"\x1b]0;title\x07 \xff \xc2\x9b31m café xx"
    assert shown in a["error"] and shown in r.err.decode() and "first" not in a["error"]
    assert a["attempts"][0]["output"].startswith(shown)
    assert len(a["attempts"][0]["output"].encode()) <= 500
    for text in (r.err, json.dumps(r.record, ensure_ascii=False).encode()):
        assert not set(text) & set(range(0x20)) - {0x0a} and 0x7f not in text
    assert len(signed.cosign.calls()) == 2
    signed.cosign.tell("sys.exit(0)")
    signed.passes()
    assert len(signed.cosign.calls()) == 1


@once
def test_old_version_is_named(signed):
    signed.cosign.tell(
        "print('GitVersion:    v2.4.1') if sys.argv[1] == 'version' else sys.exit(1)")
    _, a = signed.refused("verification_failed")
    assert "v2.4.1" in a["remediation"]
    signed.cosign.tell(
        "print('GitVersion:    v3.1.3') if sys.argv[1] == 'version' else sys.exit(1)")
    _, a = signed.refused("verification_failed")
    assert "3.1.3" not in a["remediation"]


@once
def test_endless_output(signed):
    signed.cosign.tell("""
chunk = b'y' * (1 << 20)
for i in range(1024):
    os.write(1 + i % 2, chunk)
""")
    signed.passes()


def test_deadline(signed):
    """A program and its child that ignore SIGTERM and hold the pipe."""
    child = signed.cosign.place / "child"
    for after in ("time.sleep(600)", "child.wait()"):
        signed.cosign.tell(STUBBORN + after)
        child.unlink(missing_ok=True)
        for _ in range(10):  # in 1.5 s of a busy machine it may not get so far
            start = time.monotonic()
            r = signed.stage.refused("/bin/true", code="sandbox_image_denied",
                                     env={**signed.cosign.env, "CLOOP_FAULT": "trust:deadline"})
            assert 1 < time.monotonic() - start < 60
            assert "(rule: signature-required)" in r.err.decode()
            calls = signed.cosign.calls()
            if child.exists():
                break
        assert gone(calls[-1]["pid"])
        crashing.until(lambda: gone(child.read_text()), "end of the child")  # a killed orphan is gone a moment later
    # One that has ended leaves nothing either; only its exit status counts.
    signed.cosign.tell(STUBBORN + "sys.exit(0)")
    start = time.monotonic()
    signed.passes()
    assert time.monotonic() - start < 60
    crashing.until(lambda: gone(child.read_text()), "end of the child")


def started(signed, *words):
    """A cloop that waits for a cosign that does not end."""
    signed.cosign.tell(STUBBORN + "time.sleep(600)")
    (signed.cosign.place / "child").unlink(missing_ok=True)
    p = signed.stage.popen(*words, env=signed.cosign.env)
    end = time.monotonic() + 20
    while not (signed.cosign.place / "child").exists() and time.monotonic() < end:
        time.sleep(0.05)
    return p


def nothing_left(signed):
    [call] = signed.cosign.calls()
    end = time.monotonic() + 5  # a killed orphan is gone a moment later
    while not gone((signed.cosign.place / "child").read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    assert gone(call["pid"]) and gone((signed.cosign.place / "child").read_text())
    no_logins_stay()
    assert not list((signed.stage.home / "locks").glob("verify-*"))


def test_cancelled(signed):
    record = signed.stage.dir / "cancelled.json"
    p = started(signed, *signed.stage.run_words(["/bin/true"], options=["--record", record]))
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=20)
    assert p.returncode in (125, 130) and b"signature-required" not in err, err
    assert json.loads(record.read_text())["code"] == "start_cancelled"
    nothing_left(signed)


@once
def test_reap_after_kill(signed):
    """The login and the lock that a killed cloop left go at once, whatever cosign is doing; what
    another one uses does not."""
    p = started(signed, *signed.stage.run_words(["/bin/true"]))
    p.kill()
    p.communicate(timeout=20)
    [call] = signed.cosign.calls()
    locks = signed.stage.home / "locks"
    login = pathlib.Path(call["env"]["DOCKER_CONFIG"])
    try:
        assert login.exists() and len(list(locks.glob("verify-*"))) == 1
        assert signed.stage.answer("executor", "reap") == {"removed": []}
        assert not login.exists() and not list(locks.glob("verify-*"))
    finally:
        os.killpg(call["pgid"], signal.SIGKILL)
    p = started(signed, *signed.stage.run_words(["/bin/true"]))
    logins = pathlib.Path("/dev/shm").glob("cloop-cosign-*")
    before = [*logins, *locks.glob("verify-*")]
    assert signed.stage.answer("executor", "reap") == {"removed": []}
    assert len(before) >= 2 and all(path.exists() for path in before)
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=20)
    nothing_left(signed)


@once
def test_explaining_is_cancelled(signed):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        p = started(signed, "sandbox", "explain", "--json", "-C", signed.stage.project)
        p.send_signal(number)
        out, err = p.communicate(timeout=20)
        assert p.returncode > 0 and json.loads(out)["code"] == "start_cancelled", (out, err)
        nothing_left(signed)


@once
def test_waiting_ends(signed):
    """Whoever waits for another's answer: its own deadline is a denial, a signal is none."""
    first = started(signed, *signed.stage.run_words(["/bin/true"]))
    [lock] = (signed.stage.home / "locks").glob("verify-*")
    assert len(lock.name) == len("verify-") + 64
    r = signed.stage.refused("/bin/true", code="sandbox_image_denied",
                             env={**signed.cosign.env, "CLOOP_FAULT": "trust:deadline"})
    assert "within 2 minutes" in r.err.decode()
    second = signed.stage.popen("sandbox", "explain", "--json", "-C", signed.stage.project,
                                env=signed.cosign.env)
    time.sleep(1)
    second.send_signal(signal.SIGTERM)
    assert json.loads(second.communicate(timeout=20)[0])["code"] == "start_cancelled"
    assert lock.exists()
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=20)
    nothing_left(signed)


def test_twenty_at_once(signed):
    """One of them asks; later ones need no cosign at all."""
    signed.cosign.tell("time.sleep(1)")
    runs = [signed.stage.popen(*signed.stage.run_words(["/bin/true"]), env=signed.cosign.env)
            for _ in range(20)]
    ends = [p.communicate(timeout=120) and p.returncode for p in runs]
    assert ends == [0] * 20
    assert len(signed.cosign.calls()) == 1
    signed.cosign.program.unlink()
    signed.passes()


@once
def test_asked_again(signed):
    """When it is another question, or the answer is of another boot or too old."""
    def change(sql, *values):
        with sqlite3.connect(signed.stage.home / "state.db") as db:
            assert db.execute(sql, values).rowcount == 1
        db.close()

    def asked(times):
        signed.passes()
        assert len(signed.cosign.calls()) == times
    asked(1)
    asked(0)
    signed.key.write_text("another key\n")
    asked(1)
    signed.policy(allowed_registries=["*"])
    asked(1)
    signed.policy()
    asked(0)
    where = "WHERE number = (SELECT min(number) FROM verified)"
    signed.key.write_text("a key\n")
    asked(0)
    change(f"UPDATE verified SET boot_id = 'other' {where}")
    asked(1)
    last = "WHERE number = (SELECT max(number) FROM verified)"
    change(f"UPDATE verified SET boottime_ms = boottime_ms - 3590000 {last}")
    asked(0)
    change(f"UPDATE verified SET boottime_ms = boottime_ms - 10000 {last}")
    asked(1)


@once
def test_bad_keys(signed):
    """Refused at use, whatever was verified before."""
    signed.passes()
    signed.cosign.calls()

    def denied(words):
        _, a = signed.refused(None, rule="policy-configuration")
        assert words in a["error"] and str(signed.key) in a["error"], a
    signed.key.chmod(0o664)
    denied("written by its group")
    signed.key.chmod(0o644)
    signed.key.write_text("x" * 65537)
    denied("64 KiB")
    signed.key.unlink()
    denied("missing")
    signed.key.mkdir()
    denied("no regular file")
    signed.key.rmdir()
    os.mkfifo(signed.key)
    denied("no regular file")
    if os.geteuid() == 0:
        signed.key.unlink()
        signed.key.write_text("a key\n")
        os.chown(signed.key, 4242, 4242)
        denied("belongs to")
    assert not signed.cosign.calls()


@once
def test_key_changed_meanwhile(signed):
    """What cosign verified with is not what was read: refused, and not kept."""
    old = signed.key.with_suffix(".old")
    for change in (f"os.rename({str(signed.key)!r}, {str(old)!r})\n"
                   f"open({str(signed.key)!r}, 'w').write('my key\\n')",
                   f"open({str(signed.key)!r}, 'w').write('my key\\n')",
                   f"os.unlink({str(signed.key)!r})"):
        signed.key.write_text("a key\n")
        signed.cosign.tell(change)
        r = signed.stage.refused("/bin/true", code="sandbox_image_denied", env=signed.cosign.env)
        assert b"(rule: policy-configuration)" in r.err and str(signed.key) in r.err.decode()
        signed.cosign.tell(FAIL)
        signed.key.write_text("a key\n")
        signed.refused("verification_failed")
        signed.key.write_text("my key\n")
        signed.refused("verification_failed")
        signed.cosign.calls()


@once
def test_key_in_open_directory(signed):
    place = signed.stage.dir / "open"
    place.mkdir()
    place.chmod(0o777)
    signed.key.rename(place / "a.pub")
    signed.key = place / "a.pub"
    signed.policy()
    _, a = signed.refused(None, rule="policy-configuration")
    assert "directory" in a["error"] and not signed.cosign.calls()
    place.chmod(0o1777)
    signed.passes()


def test_no_digest(signed, stage):
    """What could not be signed is refused; an operator's image only under the same rules."""
    stage.spec({"image": IMAGE})
    signed.image = IMAGE
    signed.refused(None)
    (stage.project / ".cloop/sandbox.yaml").unlink()
    signed.passes()
    signed.policy(govern_operator_images=True)
    r = stage.refused("/bin/true", code="sandbox_image_denied", env=signed.cosign.env)
    assert "(rule: signature-required)" in r.err.decode()
    assert not signed.cosign.calls()
