"""scripts/*-cli-pins.sh: what they print, and what they say when there is nothing to pin."""
import os
import shutil
import subprocess

import pytest

from engines import ROOT
from registry import sri

PACKAGE = "@github/copilot"
NATIVE = {f"{PACKAGE}-linux-{a}": "1.2.3" for a in ("x64", "arm64")}


def pins(env, *words, script="copilot-cli-pins.sh"):
    return subprocess.run([ROOT / "scripts" / script, *words], env=env, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=120)


@pytest.fixture
def env(registry, tmp_path):
    return registry.env({**os.environ, "npm_config_cache": str(tmp_path / "cache")})


@pytest.fixture
def copilot(registry):
    """A complete version, of which a test spoils something."""
    registry.add(PACKAGE, "1.2.3", optionalDependencies={**NATIVE, f"{PACKAGE}-darwin-x64": "1.2.3"})
    for name in NATIVE:
        registry.add(name, "1.2.3", data=name.encode())
    return registry


def refused(env, *words, says):
    p = pins(env, *words)
    assert p.returncode != 0 and p.stdout == "", p
    for text in says:
        assert text in p.stderr, p
    assert "Traceback" not in p.stderr


def test_rows(copilot, env):
    p = pins(env, "1.2.3")
    assert p.returncode == 0, p
    rows = [line.split() for line in p.stdout.splitlines() if not line.startswith("#")]
    wanted = []
    for arch, short in (("amd64", "x64"), ("arm64", "arm64")):
        name = f"{PACKAGE}-linux-{short}"
        file = f"{name}/-/copilot-linux-{short}-1.2.3.tgz"
        wanted.append([name, "1.2.3", f"linux/{arch}", sri(copilot.files[file]), file])
    assert rows == wanted
    assert f"# {PACKAGE} 1.2.3 loader sha512-" in p.stdout
    assert copilot.url not in p.stdout


def test_tarball_of_another_host_is_given_in_full(copilot, env):
    url = "https://elsewhere.invalid/copilot.tgz"
    copilot.add(f"{PACKAGE}-linux-x64", "1.2.3", dist={"tarball": url})
    assert f" {url}\n" in pins(env, "1.2.3").stdout


def test_unknown_version(copilot, env):
    refused(env, "9.9.9", says=[f"has no {PACKAGE} 9.9.9", "the newest is 1.2.3"])


@pytest.mark.parametrize("version", ["latest", "^1.2.3", "1.2", "1.x", "v1.2.3", "1.2.3 ", "1.2.3\n"])
def test_no_pin_by_tag_or_range(copilot, env, version):
    refused(env, version, says=["is not a version"])


@pytest.mark.parametrize("words", [[], ["1.2.3", "1.2.3"]])
def test_usage(env, words):
    refused(env, *words, says=["usage: ", "copilot-cli-pins.sh VERSION"])


def test_no_network(env):
    refused({**env, "npm_config_registry": "http://127.0.0.1:9/"}, "1.2.3",
            says=["cannot be reached", "ECONNREFUSED"])


@pytest.mark.parametrize("name, integrity, says", [
    *((name, None, "gives no integrity") for name in (PACKAGE, *NATIVE)),
    (PACKAGE, "", "gives no integrity"),
    (PACKAGE, "sha1-L5VHkBq3Lbpf+cWGMXTSaqX6gY4=", "is not one sha512"),
    (PACKAGE, "sha512-AAAA", "is not one sha512"),
    (PACKAGE, sri(b"a") + " " + sri(b"b"), "is not one sha512")])
def test_missing_integrity(copilot, env, name, integrity, says):
    more = {"optionalDependencies": NATIVE} if name == PACKAGE else {}
    copilot.add(name, "1.2.3", dist={"integrity": integrity}, **more)
    refused(env, "1.2.3", says=[says, name])


def test_missing_platform(copilot, env):
    copilot.add(PACKAGE, "1.2.3", optionalDependencies={f"{PACKAGE}-linux-x64": "1.2.3"})
    refused(env, "1.2.3", says=["names no package for linux/arm64"])


def test_platform_by_range(copilot, env):
    copilot.add(PACKAGE, "1.2.3", optionalDependencies={n: "^1.2.3" for n in NATIVE})
    refused(env, "1.2.3", says=["not one version"])


def test_without_npm(env, tmp_path):
    for program in ("python3", "dirname", "sh", "env"):
        (tmp_path / program).symlink_to(shutil.which(program))
    refused({**env, "PATH": str(tmp_path)}, "1.2.3", says=["npm is not installed"])
