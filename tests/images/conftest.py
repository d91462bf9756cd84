"""Fixtures of the tests of images/: a registry of our own for what must go wrong, and the real
images, each built once a session into the storage of an engine of the end-to-end tests."""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import leaks  # noqa: E402
from engines import BUILD, PATH, ROOT, Docker, Rootful  # noqa: E402
from registry import Registry  # noqa: E402
from stage import Stage  # noqa: E402

BUILD_SECONDS = 1200
REGISTRY_SECONDS = 60


def pytest_collection_modifyitems(items):
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="needs root"))


@pytest.fixture
def registry():
    r = Registry()
    yield r
    r.close()


def opened(kind):
    place = pathlib.Path(tempfile.mkdtemp(prefix="cloop-images-", dir="/tmp"))
    place.chmod(0o755)
    e = kind(place / kind.key)
    try:
        e.open()
        yield e
    finally:
        e.close()
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def engine():
    yield from opened(Rootful)


@pytest.fixture(scope="session")
def docker():
    yield from opened(Docker)


@pytest.fixture
def docker_registry(tmp_path):
    """HOST:PORT of Debian's docker-registry on loopback, with plain HTTP."""
    program = shutil.which("docker-registry", path=PATH)
    assert program, "docker-registry is not installed: apt-get install docker-registry"
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        host = "127.0.0.1:%d" % s.getsockname()[1]
    config = tmp_path / "registry.json"
    config.write_text(json.dumps({"version": "0.1", "http": {"addr": host}, "storage": {
        "filesystem": {"rootdirectory": str(tmp_path / "registry")}}}))
    p = subprocess.Popen([program, "serve", config], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_answer(f"http://{host}/v2/")
        yield host
    finally:
        p.kill()
        p.wait()
        shutil.rmtree(tmp_path / "registry", ignore_errors=True)


def wait_for_answer(url):
    end = time.monotonic() + REGISTRY_SECONDS
    while True:
        try:
            return urllib.request.urlopen(url, timeout=REGISTRY_SECONDS).close()
        except OSError:
            assert time.monotonic() < end, f"{url} does not answer"
            time.sleep(0.05)


@contextlib.contextmanager
def on_stage(engine):
    """What `stage` is, on an engine of one's choice."""
    engine.stages += 1
    s = Stage(engine, engine.place / "stages" / f"{engine.stages:03}")
    try:
        yield s
    finally:
        s.end()
    left = leaks.check(s)
    shutil.rmtree(s.dir, ignore_errors=True)
    assert not left, "left behind:\n" + "\n".join(left)


@pytest.fixture
def stage(engine):
    with on_stage(engine) as s:
        yield s


@pytest.fixture(scope="session")
def build(engine):
    """Calls scripts/build-harness-image with the storage of an engine, podman's by default."""
    names = ("CONTAINERS_STORAGE_CONF", "CONTAINERS_CONF", "DOCKER_HOST")

    def call(*words, engine=engine, env=None):
        flags = ["--oci-runtime", engine.oci_runtime] if engine.oci_runtime else []
        own = {name: engine.env[name] for name in names if name in engine.env}
        return subprocess.run(
            [ROOT / "scripts/build-harness-image", *words, "--engine", engine.kind,
             "--cloop", BUILD / "src/cli/cloop", *flags], env={**os.environ, **own, **(env or {})},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BUILD_SECONDS)
    return call


@pytest.fixture(scope="session")
def images(build):
    """images(variant): the name of a built image."""
    built = {}

    def get(variant):
        if variant not in built:
            tag = f"localhost/cloop-images-{variant}:1"
            built[variant] = build(variant, "--tag", tag)
        p = built[variant]
        assert p.returncode == 0, f"{variant} was not built:\n{p.stderr}"
        return p.stdout.strip()
    return get
