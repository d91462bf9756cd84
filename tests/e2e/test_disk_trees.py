"""Workspaces that are filesystems of their own, deep, or in motion while they are measured
(disk-and-secrets.md §4, §21.2). What is measured does not depend on the engine."""
import os
import shutil
import subprocess

import pytest

from engines import on
from test_disk import FILL, source, stopped  # noqa: F401

SIZE_MB = 400
MAKERS = {"tmpfs": None, "ext4": "mkfs.ext4", "xfs": "mkfs.xfs", "btrfs": "mkfs.btrfs"}
OPTIONAL = {"xfs", "btrfs"}  # their programs are no part of what the tests need
PATH = "/usr/sbin:/sbin"


def mount_words(kind, image):
    if not MAKERS[kind]:
        return ["-t", kind, "-o", f"size={SIZE_MB}m,mode=755", "cloop-disk"]
    program = shutil.which(MAKERS[kind], path=PATH)
    if not program and kind in OPTIONAL:
        pytest.skip(f"no {MAKERS[kind]} here")
    with open(image, "wb") as f:
        f.truncate(SIZE_MB << 20)
    subprocess.run([program, "-q", image], check=True, stdout=subprocess.DEVNULL)
    return ["-t", kind, "-o", "loop", image]


@pytest.fixture(params=MAKERS)
def filesystem(request, stage, source):  # noqa: F811
    """The project is a filesystem of its own, of each kind that the kernel mounts."""
    words = mount_words(request.param, stage.dir / "image")
    stage.config({"orchestrator": {"min_free_disk_mb": 0}})  # it is smaller than the floor
    shutil.rmtree(stage.project / ".cloop")
    subprocess.run(["mount", *words, stage.project], check=True)
    try:
        stage.engine.own(stage.project)
        stage.spec({"resources": {"disk": "64m"}})
        yield
    finally:
        stage.home_is_free()
        subprocess.run(["umount", stage.project], check=True)


@on("P")
@pytest.mark.root
def test_filesystems(stage, filesystem):
    r = stopped(stage, FILL)
    assert 64 < r.record["usage"]["disk_used_mb"] <= 150
    # On a tmpfs, whose folders have no size, 64 files of 1 MiB are the limit exactly, and what the
    # run added to .cloop was over it: the next run begins without that.
    stage.write("more", bytes(1 << 20))
    stage.refused("true", code="workspace_over_disk_limit")


DEPTH = 4000
STORM = """mkdir a b
for n in 1 2; do
    (while :; do mkdir -p a/$n/x/y b/$n; mv a/$n b/$n/z; mv b/$n/z/x a/$n; rm -rf b/$n; done) &
done 2>/dev/null
"""
WRITE = "dd if=/dev/zero bs=1M count=%d of=%s 2>/dev/null; "


@on("P")
@pytest.mark.parametrize("script", [
    STORM + FILL,
    f"{WRITE % (40, 'f')}mkdir -p .cloop/d d; ln f .cloop/d/f; ln f d/f; ln -s / out; sleep 2; "
    f"{WRITE % (40, 'g')}sleep 60",
    f"mkdir m n; {WRITE % (80, 'm/f')}chmod 0 n m; sleep 60",
], ids=["renamed", "linked", "mode-0"])
def test_trees(stage, script):
    """Over the limit is seen: among renames, past links, beside what is closed."""
    r = stopped(stage, script)
    assert 64 < r.record["usage"]["disk_used_mb"] <= 150


@pytest.fixture
def bottom(stage):
    """A directory 4,000 below the project: further down than a path reaches."""
    at = os.open(stage.project, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    yield at
    os.close(at)
    # Python's own way ends at a depth of 1,000.
    subprocess.run(["rm", "-rf", stage.project / "d"], check=True)


@on("P")
def test_depth(stage, bottom):
    """What lies that deep counts before the run and while it goes on."""
    for name in ("f", "g"):
        fd = os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=bottom)
        os.posix_fallocate(fd, 0, 40 << 20)
        os.close(fd)
        if name == "f":
            stopped(stage, WRITE % (40, "f") + "sleep 60")
            (stage.project / "f").unlink()
    stage.refused("true", code="workspace_over_disk_limit")
