"""Images for `setup:` on real engines (image-trust.md §11, §14.14-15): built once, exactly as
written, with no more than the run has, and stopped without a trace."""
import json
import os
import pathlib
import re
import signal
import time

import pytest

import crashing
from engines import IMAGE
from stage import parallel

NAME = "localhost/cloop-sandbox"
SIX = 0xdb  # CHOWN DAC_OVERRIDE FOWNER FSETID SETGID SETUID


def tags(stage):
    """Of derived images, finished or not."""
    listed = stage.engine.call("images", "--format={{.Repository}}:{{.Tag}}").split()
    return sorted(t.rsplit(":", 1)[1] for t in listed if t.startswith(NAME + ":"))


def containers(stage):
    external = ["--external"] if stage.engine.kind == "podman" else []
    return stage.engine.lines("ps", "--all", "--quiet", *external)


def log_of(stage, key):
    return (stage.home / "builds" / f"{key}.log").read_text()


@pytest.fixture(autouse=True)
def clean(stage):
    """No derived image, working container or build file is left by any test."""
    yield
    stage.home_is_free()
    assert containers(stage) == []
    left = [p.name for p in (stage.home / "builds").glob("*") if not p.name.endswith(".log")]
    assert left == []
    found = tags(stage)
    assert [t for t in found if t.startswith("build-")] == []
    for tag in found:
        stage.engine.call("rmi", f"{NAME}:{tag}")
    dangling = stage.engine.lines("images", "--quiet", "--filter=dangling=true",
                                  "--filter=label=io.cloop.sandbox.setup")
    assert dangling == []


def test_built_once_and_run_by_id(stage):
    stage.spec({"setup": ["echo made > /made", "cat /made; echo $$ > /second"]})
    r = stage.sh("cat /made")
    assert (r.rc, r.out) == (0, b"made\n"), r
    assert b"cat /made" in r.err
    [key] = tags(stage)
    assert re.fullmatch("[0-9a-f]{64}", key)
    found = json.loads(stage.engine.call("image", "inspect", f"{NAME}:{key}"))[0]
    assert r.record["image_id"] == "sha256:" + found["Id"].removeprefix("sha256:")
    assert r.record["image"] == IMAGE and r.record["setup_sha256"]
    assert r.record["image_digest"] is None and not r.record["reproducible"]
    assert found["Config"]["Labels"]["io.cloop.sandbox.setup"] == key
    log = stage.home / "builds" / f"{key}.log"
    assert log.stat().st_mode & 0o777 == 0o600 and "made" in log.read_text()
    log.unlink()
    again = stage.sh("cat /second")
    assert again.rc == 0 and again.record["image_id"] == r.record["image_id"]
    assert again.err == b"" and not log.exists()
    assert tags(stage) == [key]


def test_explain(stage):
    stage.spec({"setup": ["true"]})
    shown = stage.answer("sandbox", "explain", "-C", stage.project)
    assert shown["image"]["build_needed"] is True and shown["build_network"] == "none"
    assert tags(stage) == [] and not (stage.home / "locks").exists()
    assert shown["argv"][-2].startswith("sha256:000")
    r = stage.sh("true")
    assert r.rc == 0, r
    shown = stage.answer("sandbox", "explain", "-C", stage.project)
    assert shown["image"]["build_needed"] is False
    assert shown["image"]["setup_key"] == tags(stage)[0]
    assert shown["argv"][-2] == r.record["image_id"]
    stage.spec({})
    shown = stage.answer("sandbox", "explain", "-C", stage.project)
    assert "build_needed" not in shown["image"] and shown["build_network"] is None


def test_ten_first_runs_build_once(stage):
    stage.spec({"setup": ["sleep 1; cat /proc/sys/kernel/random/uuid > /uuid"]})
    runs = parallel(lambda _: stage.sh("cat /uuid"), range(10), workers=10)
    assert {r.rc for r in runs} == {0}, runs
    assert len({r.out for r in runs}) == 1
    assert len({r.record["image_id"] for r in runs}) == 1
    assert sum(1 for r in runs if r.err) == 1, [r.err for r in runs]


def test_failure(stage):
    """Its exit status and last lines; what an earlier good build left stays."""
    stage.spec({"setup": ["for i in $(seq 30); do echo line-$i; done; printf 'esc\\033[31m\\n' >&2; exit 7"]})
    r = stage.refused("true", code="setup_failed")
    assert "exit status 7" in r.record["error"] and "line-30" in r.record["error"]
    assert b"line-1\n" in r.err and b"\x1b" not in r.err and b"esc\\x1b[31m" in r.err
    assert "no network" in r.record["remediation"]
    answer = stage.answer("run", "-C", stage.project, "--", "/bin/true", status=125)
    assert answer["status"] == 400 and answer["exit_status"] == 7
    lines = answer["output"].split("\n")
    assert len(lines) <= 12 and "line-30" in lines and len(answer["output"]) <= 4096
    assert tags(stage) == []
    stage.spec({"setup": ["false"]})
    stage.refused("true", code="setup_failed")
    assert tags(stage) == []
