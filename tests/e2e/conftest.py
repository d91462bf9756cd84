"""Fixtures of the end-to-end tests: `engine` (one of P, R, D for the session) and `stage` (what one
test works with; nothing of it may be left afterwards)."""
import os
import pathlib
import shutil
import tempfile

import pytest

import leaks
from engines import ENGINES, network_backend, params
from stage import Stage


# On podman rootful, which has the most, in two halves by the files' names (networks are all in the
# first); on podman rootless; everything else.
PARTS = ("P", "P1", "P2", "R", "rest")
SECOND_HALF = "test_o"


def pytest_addoption(parser):
    parser.addoption("--part", choices=PARTS, help="P, R: what runs on that engine; P1, P2: half of it")


def pytest_report_header():
    return f"networks of podman: {network_backend()}"


def parts_of(item):
    key = item.callspec.params.get("engine") if hasattr(item, "callspec") else None
    if key == "P":
        return {"P", "P2" if item.path.name >= SECOND_HALF else "P1"}
    return {key if key == "R" else "rest"}


def keep_part(config, items):
    """The parts share nothing, so they can run at once (scripts/check)."""
    part = config.getoption("part")
    if not part:
        return
    config.hook.pytest_deselected(items=[i for i in items if part not in parts_of(i)])
    items[:] = [i for i in items if part in parts_of(i)]


def pytest_collection_modifyitems(config, items):
    keep_part(config, items)
    if os.geteuid() != 0:
        skip = pytest.mark.skip(reason="needs root (a system-wide engine)")
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def session_dir():
    """Short, since sockets lie below it, and readable by the user of R."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="cloop-e2e-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session", params=params("PRD"))
def engine(request, session_dir):
    e = ENGINES[request.param](session_dir / request.param)
    try:
        e.open()
        yield e
    finally:
        e.close()


@pytest.fixture
def stage(engine):
    engine.stages += 1
    s = Stage(engine, engine.place / "stages" / f"{engine.stages:03}")
    try:
        yield s
    finally:
        s.end()
    engine.mend()
    left = leaks.check(s)
    if left:
        leaks.sweep(s)
    shutil.rmtree(s.dir, ignore_errors=True)
    assert not left, "left behind:\n" + "\n".join(left)
