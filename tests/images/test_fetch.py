"""scripts/fetch-pinned: only what the pin says gets a name."""
import os
import pathlib
import subprocess

import pytest

from engines import ROOT
from registry import sri, tarball

NAME, VERSION, PLATFORM = "@acme/tool-linux-x64", "1.0.0", "linux/amd64"


class Fetch:
    def __init__(self, registry, place):
        self.registry, self.place = registry, place
        self.file = registry.add(NAME, VERSION, data=b"#!program")
        self.integrity = sri(registry.files[self.file])
        self.dir, self.pins = place / "tarballs", place / "pins"
        self.write([NAME, VERSION, PLATFORM, self.integrity, self.file])

    def write(self, *rows):
        self.pins.write_text("# a comment\n\n" + "".join(" ".join(r) + "\n" for r in rows))

    def call(self, platform=PLATFORM):
        env = self.registry.env({**os.environ, "npm_config_cache": str(self.place / "cache"),
                                 "npm_config_fetch_retries": "0"})
        return subprocess.run([ROOT / "scripts/fetch-pinned", self.pins, platform, self.dir],
                              env=env, capture_output=True, text=True, timeout=120)

    def refused(self, *says, **more):
        p = self.call(**more)
        assert p.returncode == 1 and "Traceback" not in p.stderr, p
        assert all(s in p.stderr for s in says), p

    def names(self):
        return sorted(os.listdir(self.dir))


@pytest.fixture
def fetch(registry, tmp_path):
    return Fetch(registry, tmp_path)


def test_fetched_once(fetch):
    p = fetch.call()
    assert p.returncode == 0, p
    path = pathlib.Path(p.stdout.strip())
    assert path.parent == fetch.dir and fetch.names() == ["acme-tool-linux-x64-1.0.0.tgz"]
    assert path.read_bytes() == fetch.registry.files[fetch.file]
    assert not (fetch.place / "cache/_cacache").exists()  # not kept twice
    fetch.registry.files.clear()
    assert fetch.call().stdout == p.stdout


def test_tampered_at_the_registry(fetch):
    fetch.registry.files[fetch.file] = tarball(b"#!other")
    fetch.refused("integrity mismatch", NAME, fetch.integrity)
    assert fetch.names() == []


def test_tampered_on_disk(fetch):
    path = pathlib.Path(fetch.call().stdout.strip())
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    fetch.refused("integrity mismatch", str(path))


def test_not_there(fetch):
    fetch.registry.files.clear()
    fetch.refused("could not be fetched", NAME)
    assert fetch.names() == []


def test_nothing_for_the_platform(fetch):
    fetch.refused("pins nothing for linux/arm64", platform="linux/arm64")


@pytest.mark.parametrize("column, value", [
    (0, "@acme/../tool"), (0, "--registry=x"), (0, "Tool"), (1, "latest"), (1, "1.0"),
    (2, "linux/riscv64"), (2, "windows/amd64"), (3, "sha512-AAAA"),
    (3, "sha1-L5VHkBq3Lbpf+cWGMXTSaqX6gY4="), (4, "../x.tgz"), (4, "/etc/x.tgz"),
    (4, "file:///x.tgz"), (4, "-x.tgz"), (4, "x.zip")])
def test_bad_row(fetch, column, value):
    row = [NAME, VERSION, PLATFORM, fetch.integrity, fetch.file]
    row[column] = value
    fetch.write(row)
    fetch.refused(f"{fetch.pins}:3: bad ")
    assert fetch.names() == []


def test_missing_column(fetch):
    fetch.write([NAME, VERSION, PLATFORM, fetch.integrity])
    fetch.refused("not 5 columns")


@pytest.mark.parametrize("pins", ["claude", "copilot"])
def test_own_pins_have_both_platforms(pins):
    rows = [line.split() for line in (ROOT / "images/pins" / pins).read_text().splitlines()
            if not line.startswith("#")]
    assert sorted(r[2] for r in rows) == ["linux/amd64", "linux/arm64"]
    assert len({r[1] for r in rows}) == 1
